"""Every page does what it says for a reader who types it into an empty folder."""

import gzip
from pathlib import Path

import pytest

from tests.docs.run_as_reader import ROOT, empty_folder, page_reading, pages, read, rooms


@pytest.mark.parametrize("page", [page.relative_to(ROOT).as_posix() for page in pages()])
def test_page(page: str) -> None:
    """A page runs from top to bottom, and its commands print what stands below them."""
    faults, text = read(ROOT / page)
    assert not faults, f"run: python -m tests.docs.run_as_reader {page} --paste"
    assert text == (ROOT / page).read_text("utf-8")


@pytest.mark.parametrize("room", rooms())
def test_docstrings(room: str) -> None:
    """The examples in docstrings run, those of public names with nothing but what they import."""
    assert not read(room).faults


PAGE = """# A page

```python
>>> word = "read"
```

```console
$ rosenblatt --version
rosenblatt 0.0
$ python -c "print(1); print(2); print(3)"
1
…
```

<!-- not run: opens a browser -->
```console
$ rosenblatt lab
```

```python
>>> word, word.upper()
('read', 'READ ')
```
"""


def test_a_page_that_is_not_true(tmp_path: Path) -> None:
    """Wrong output of a command is found and put right, wrong output of Python is found."""
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    faults, text = read(page)
    assert len(faults) == 2
    assert "'rosenblatt --version' prints\nrosenblatt " in faults[0]
    assert "Expected:\n    ('read', 'READ ')\nGot:\n    ('read', 'READ')" in faults[1]
    assert text != PAGE
    page.write_text(text.replace("READ ", "READ"))
    assert read(page) == ([], page.read_text())


def test_a_page_that_cannot_run(tmp_path: Path) -> None:
    """A command that cannot run is a fault, and so is an example that no reader sees."""
    page = tmp_path / "page.md"
    page.write_text("```console\n$ rosenblatt weights no.model\n```\n\n<!--\n>>> 1\n1\n-->\n")
    hidden, failed, *_ = read(page).faults
    assert "where no reader sees" in hidden
    assert "ended with 2: Error: no.model cannot be read" in failed


def test_data_that_a_reader_downloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block on data is run where the folder of data has them, and else left as it is."""
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- data: mail.txt = mail.txt.gz -->\n```python\n"
        ">>> from pathlib import Path\n>>> Path('mail.txt').read_text()\n'spam'\n```\n"
    )
    monkeypatch.setenv("ROSENBLATT_DATA", str(tmp_path))
    with empty_folder():
        assert page_reading(page).faults == []
    (tmp_path / "mail.txt.gz").write_bytes(gzip.compress(b"ham"))
    with empty_folder():
        (fault,) = page_reading(page).faults
    assert "Got:\n    'ham'" in fault

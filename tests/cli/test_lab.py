"""The command lab: a page in one file, opened in a browser."""

import json
import os
import re
import tempfile
import webbrowser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rosenblatt.cli import main
from rosenblatt.lab.page import page_text
from rosenblatt.lab.toy_sets import toy_set
from tests.cli.running import run

TABLE = "width,height,kind\n1,2,a\n2,1,b\n3,3,a\n"


def lab(*arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, ["lab", *arguments], catch_exceptions=False)


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write temporary files to the folder of the test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def opened(monkeypatch: pytest.MonkeyPatch, *, succeeds: bool = True) -> list[str]:
    """Collect the addresses that a browser is asked to open."""
    addresses: list[str] = []

    def collect(url: str) -> bool:
        addresses.append(url)
        return succeeds

    monkeypatch.setattr(webbrowser, "open", collect)
    return addresses


def test_opens_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is one file, which a browser opens, and the command ends."""
    addresses = opened(monkeypatch)
    result = lab("--toy", "xor")
    assert result.exit_code == 0, result.stderr
    written = re.fullmatch(r"Wrote (.*lab\.html)\.\n", result.stderr)
    assert written is not None
    assert addresses == [Path(written[1]).as_uri()]
    assert Path(written[1]).read_text(encoding="utf-8") == page_text(toy_set("xor"))


def test_no_browser_prints_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """With --no-browser the path is all that is printed, also as JSON."""
    addresses = opened(monkeypatch)
    result = lab("--no-browser")
    assert (result.exit_code, result.stderr) == (0, "")
    page = Path(result.stdout.removesuffix("\n"))
    assert page.read_text(encoding="utf-8") == page_text(toy_set("separable"))
    assert Path(json.loads(lab("--no-browser", "--json").stdout)["file"]).exists()
    assert addresses == []


def test_without_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no browser opens, the address is said."""
    addresses = opened(monkeypatch, succeeds=False)
    result = lab()
    assert f"No browser could be opened; open {addresses[-1]} yourself." in result.stderr


def test_export(tmp_path: Path) -> None:
    """--export writes one file and opens nothing."""
    table, page = tmp_path / "table.csv", tmp_path / "lab.html"
    table.write_text(TABLE)
    chosen = ("--x", "height", "--y", "width", "--label", "kind", "--positive", "a")
    result = lab(str(table), *chosen, "--export", str(page), "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["file"] == str(page)
    text = page.read_text(encoding="utf-8")
    assert '"points": [[2.0, 1.0, 1], [1.0, 2.0, -1], [3.0, 3.0, 1]]' in text
    assert '"names": ["height", "width"]' in text


def test_standard_input(tmp_path: Path) -> None:
    """A table may come from standard input."""
    done = run("lab", "-", "--export", "lab.html", folder=tmp_path, text=TABLE, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert '"names": ["width", "height"]' in (tmp_path / "lab.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--x", "width"], "--x has no effect without DATA."),
        (["--scale"], "--scale has no effect without DATA."),
        (["none.csv"], "none.csv"),
        (["--toy", "moons"], "'moons' is not one of 'separable', 'xor'"),
    ],
)
def test_bad_options(arguments: list[str], words: str) -> None:
    """What cannot be is refused before anything is written."""
    result = lab("--no-browser", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr

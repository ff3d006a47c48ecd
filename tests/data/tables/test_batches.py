import gzip
import importlib.util
import io
import os
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from rosenblatt.data.files import table_batches
from rosenblatt.data.formats import Layout
from rosenblatt.data.tables import table
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError
from tests.processes import printed


class Pipe:
    """A pipe that is standard input."""

    def __init__(self, writing: int) -> None:
        self._writing = writing

    def write(self, text: bytes) -> None:
        """Let text arrive."""
        os.write(self._writing, text)

    def close(self) -> None:
        """Let it end, so that no thread waits for more."""
        os.close(self._writing)


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipe]:
    """Return a pipe that is standard input."""
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield Pipe(writing)


def _values(table: Table) -> list[tuple[object, ...]]:
    return table.frame.rows()


def test_rows_of_csv_arrive_while_standard_input_is_still_open(pipe: Pipe) -> None:
    """Asked to be prompt, a table comes for the rows that are there, without waiting for more."""
    pipe.write(b"b,a\n1,2\n3,")
    tables = table_batches("-", names=["a", "b"], prompt=True)
    assert _values(next(tables)) == [("2", "1")]
    pipe.write(b'"4\n')
    pipe.write(b'5"\n')
    assert _values(next(tables)) == [("4\n5", "3")]
    pipe.write(b"6,7\n")
    assert next(tables).place(0) == "standard input, line 5"
    pipe.close()
    assert list(tables) == []


def test_a_header_that_comes_alone_is_a_header(pipe: Pipe) -> None:
    """With the names known, the first line is enough to know it for a header."""
    pipe.write(b"text,label\n")
    tables = table_batches("-", names=["text", "label"], optional=["label"], prompt=True)
    pipe.write(b"hello\x2cx\n")
    assert _values(next(tables)) == [("hello", "x")]
    pipe.close()
    assert list(tables) == []


def test_json_lines_arrive_while_standard_input_is_still_open(pipe: Pipe) -> None:
    """An object that comes alone may lack keys, also the first."""
    pipe.write(b'{"a": 1}\n')
    tables = table_batches("-", names=["a", "b"], prompt=True)
    assert _values(next(tables)) == [(1, None)]
    pipe.write(b'{"b": "x", "a": 2}\n')
    assert _values(next(tables)) == [(2, "x")]
    pipe.close()
    assert list(tables) == []


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_is_a_source(pack: type[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash reads standard input, packed or not, finds out its format and names it so."""
    stdin = io.TextIOWrapper(io.BytesIO(pack(b"a\tb\n1\tx\n")))
    monkeypatch.setattr(sys, "stdin", stdin)
    (table,) = table_batches("-")
    assert table.frame.to_dict(as_series=False) == {"a": ["1"], "b": ["x"]}
    assert table.place(0) == "standard input, line 2"


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.jsonl"])
def test_memory_does_not_grow_with_the_file(name: str, tmp_path: Path) -> None:
    """A file four times as long takes no more memory."""
    lines = {
        "rows.csv": '{k},"some, text"\n',
        "rows.tsv": "{k}\tsome text\n",
        "rows.jsonl": '{{"a": {k}, "b": "some text"}}\n',
    }
    rows = "".join(lines[name].format(k=k) for k in range(10_000)).encode()
    peaks = []
    for times in (4, 16):
        file = tmp_path / name
        file.write_bytes(b"".join(gzip.compress(rows, 1) for _ in range(times)))
        tracemalloc.start()
        tables = table_batches(file, Layout(header=False), block_bytes=1 << 15)
        n_rows = sum(found.frame.height for found in tables)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert n_rows == 10_000 * times
    assert peaks[1] < 1.6 * peaks[0]


def test_leaving_early_leaves_nothing_behind(tmp_path: Path) -> None:
    """Whoever stops after the first table leaves neither a thread nor an open file."""
    file = tmp_path / "rows.csv"
    file.write_text("1,2\n" * 10_000)
    before = set(threading.enumerate())
    for _ in range(5):
        for _table in table_batches(file, block_bytes=100):
            break
    for thread in set(threading.enumerate()) - before:
        thread.join()  # for ever, if one of them stayed


def test_what_to_install_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where polars is missing, the error names the extra that has it."""

    def find_spec(name: str) -> object:
        return None if name == "polars" else importlib.util.find_spec(name)

    monkeypatch.setattr(table, "find_spec", find_spec)
    file = tmp_path / "rows.csv"
    file.write_text("1,2\n")
    with pytest.raises(InputError, match=r"rows\.csv needs polars: pip install "):
        table_batches(file)


def test_polars_is_imported_only_to_read() -> None:
    """Whoever imports the reader does not wait for polars, nor for numba."""
    program = (
        "import sys; import rosenblatt.data.tables, rosenblatt.data.sources;"
        "print({'polars', 'numba'} & set(sys.modules))"
    )
    assert printed(program) == "set()\n"

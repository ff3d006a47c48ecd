import gzip
import io
import random
import sys
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from rosenblatt.data.files import table_batches
from rosenblatt.data.formats import Format, Layout
from rosenblatt.data.tables import columnar
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError

FRAME = pl.DataFrame(
    {
        "number": [k / 7 for k in range(3000)],
        "text": [f"word {k} é" if k % 5 else None for k in range(3000)],
        "kind": pl.Series([["u", "v", "w"][k % 3] for k in range(3000)], dtype=pl.Categorical),
        "flag": [k % 2 == 0 for k in range(3000)],
        "^d$": [date(2001, 1, 1 + k % 28) for k in range(3000)],
    }
)


WRITERS: dict[str, Any] = {
    "parquet": lambda file: FRAME.write_parquet(file, row_group_size=700),
    "arrow": FRAME.write_ipc,
    "feather": lambda file: FRAME.write_ipc(file, compression="zstd"),
}


def _bytes(kind: str) -> bytes:
    file = io.BytesIO()
    WRITERS[kind](file)
    return file.getvalue()


def _joined(tables: list[Table]) -> pl.DataFrame:
    row = 1
    for table in tables:
        assert table.first_row == row
        assert table.lines is None
        row += table.frame.height
    return pl.concat([table.frame for table in tables])


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_what_polars_writes_is_read(
    kind: str, pack: type[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows come back in order with their types, from files, packed ones and standard input."""
    monkeypatch.setattr(columnar, "STRIDE", 1100)
    monkeypatch.setattr(columnar, "TEXT_ROWS", 300)
    file = tmp_path / f"[rows].{kind}"
    file.write_bytes(pack(_bytes(kind)))
    tables = list(table_batches(file))
    assert_frame_equal(_joined(tables), FRAME)
    assert 0 <= file.stat().st_size - tables[-1].bytes_read <= 8  # a mark may end the file
    assert tables[0].place(2) == f"{file}, row 3"
    stdin = io.TextIOWrapper(io.BytesIO(pack(_bytes(kind))))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert_frame_equal(_joined(list(table_batches("-"))), FRAME)


@pytest.mark.parametrize("kind", WRITERS)
def test_columns_come_in_the_order_that_is_asked_for(kind: str, tmp_path: Path) -> None:
    """Only the columns that are asked for are read; a missing one is named."""
    file = tmp_path / f"rows.{kind}"
    file.write_bytes(_bytes(kind))
    frame = _joined(list(table_batches(file, names=["^d$", "label", "number"], optional=["label"])))
    assert_frame_equal(frame, FRAME.select(pl.nth(4, 0)))
    with pytest.raises(InputError, match=r"rows\.\w+ has no column 'label'; it has 'number', 'te"):
        list(table_batches(file, names=["label"]))


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_without_rows_yields_nothing(kind: str, tmp_path: Path) -> None:
    """A file of a schema alone is no error."""
    file = tmp_path / f"rows.{kind}"
    writer = {"parquet": "write_parquet"}.get(kind, "write_ipc")
    getattr(FRAME.clear(), writer)(file)
    assert list(table_batches(file)) == []


@pytest.mark.parametrize("name", ["rows.arrows", "rows.csv"])
def test_a_stream_of_arrow_is_named(name: str, tmp_path: Path) -> None:
    """A stream is refused by a sentence that says how to write it as a file, which is read."""
    FRAME.write_ipc_stream(tmp_path / name)
    with pytest.raises(
        InputError,
        match=rf"{name} is not an Arrow file\. If it is a stream of Arrow messages, write it as a"
        r" file: polars\.read_ipc_stream\(source\)\.write_ipc\('rows\.arrow'\)\.$",
    ):
        list(table_batches(tmp_path / name))
    pl.read_ipc_stream(tmp_path / name).write_ipc(tmp_path / "rows.arrow")
    assert_frame_equal(_joined(list(table_batches(tmp_path / "rows.arrow"))), FRAME)


def test_long_text_makes_shorter_tables(tmp_path: Path) -> None:
    """Tables of long text have few rows, so that each is a few megabytes at most."""
    file = tmp_path / "rows.parquet"
    pl.DataFrame({"text": [f"{k} " + "x" * 20_000 for k in range(2000)]}).write_parquet(file)
    tables = list(table_batches(file))
    assert sum(table.frame.height for table in tables) == 2000
    assert max(table.frame.height for table in tables) < 400


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_that_was_cut_off_is_an_error(kind: str, tmp_path: Path) -> None:
    """Rows that are missing at the end never go unnoticed."""
    file, whole = tmp_path / f"rows.{kind}", _bytes(kind)
    for length in (len(whole) - 9, len(whole) // 2, 200, 7):
        file.write_bytes(whole[:length])
        with pytest.raises(InputError, match=rf"rows\.{kind} .*\.$"):
            list(table_batches(file))


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_damaged_file_is_an_error_or_rows(kind: str, tmp_path: Path) -> None:
    """Wrong bytes end in one sentence, or in other values, but in no crash and no hang."""
    generator, whole = random.Random(5), _bytes(kind)  # noqa: S311  # no secret
    file = tmp_path / f"rows.{kind}"
    for _ in range(60):
        wrong = bytearray(whole)
        wrong[generator.randrange(8, len(wrong))] ^= generator.randrange(1, 256)
        file.write_bytes(wrong)
        try:
            layout = Layout(Format(kind))
            tables = list(table_batches(file, layout))
        except InputError as error:
            assert str(error).endswith(".")  # noqa: PT017  # either is right
        else:
            assert sum(table.frame.height for table in tables) <= 3000

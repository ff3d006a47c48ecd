import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rosenblatt import train_files
from rosenblatt.data.files import table_batches
from rosenblatt.data.tables.frames import frame_tables
from rosenblatt.data.tables.table import MOST_FIELDS, Selection
from rosenblatt.errors import InputError

ROWS: list[Any] = [
    {"user": {"age": 31, "home": {"city": "Rome"}}, "tags": ["a", "b"], "y": 1},
    {"user": {"age": None}, "tags": [], "y": 0},
    {"user": None, "tags": None, "y": 1},
]
FLAT = {
    "user.age": [31, None, None],
    "user.home.city": ["Rome", None, None],
    "tags": [["a", "b"], [], None],
    "y": [1, 0, 1],
}


def _written(folder: Path, form: str, rows: list[Any]) -> Path:
    file = folder / f"rows.{form.replace(' ', '.')}"
    if form == "jsonl":
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    elif form == "json":
        file.write_text(json.dumps(rows, indent=1))
    else:
        frame = pl.DataFrame(rows, infer_schema_length=None)
        frame.write_parquet(file) if form == "parquet" else frame.write_ipc(file)
    return file


def _columns(tables: Any) -> dict[str, list[Any]]:
    frame = pl.concat([table.frame for table in tables])
    return {name: frame[name].to_list() for name in sorted(frame.columns)}


@pytest.mark.parametrize("form", ["jsonl", "json", "parquet", "feather"])
def test_values_of_nested_objects_are_columns(form: str, tmp_path: Path) -> None:
    """The object user with an age is the column user.age, in files of every kind, at any depth."""
    file = _written(tmp_path, form, ROWS)
    assert _columns(table_batches(file)) == dict(sorted(FLAT.items()))
    (table,) = table_batches(file, names=["user.home.city", "z"], optional=["z"])
    assert table.frame.to_dict(as_series=False) == {"user.home.city": ["Rome", None, None]}
    with pytest.raises(InputError, match=r"has no column 'user.size'; it has .*'user.age'"):
        list(table_batches(file, names=["user.size"]))


def test_rows_in_memory_are_as_those_of_files() -> None:
    """Dictionaries and frames of polars and pandas with objects in cells have the same columns."""
    pandas = pytest.importorskip("pandas")
    for X in (ROWS, pl.DataFrame(ROWS), pandas.DataFrame(ROWS)):
        assert _columns(frame_tables(X)) == dict(sorted(FLAT.items()))
        wanted = Selection(("user.home.city",), frozenset())
        assert _columns(frame_tables(X, wanted)) == {"user.home.city": ["Rome", None, None]}


@pytest.mark.parametrize("form", ["jsonl", "json", "parquet", "memory", "pandas"])
def test_a_name_may_not_come_twice(form: str, tmp_path: Path) -> None:
    """Where an object and a plain key give one name, the error says which."""
    rows = [{"a": {"b": 1}, "a.b": 2, "y": k} for k in range(3)]
    message = "'a.b' is a column by itself and inside of an object; rename one of them"
    message = "more than one column 'a.b'" if form == "pandas" else message
    frame = rows if form == "memory" else None
    if form == "pandas":
        frame = pytest.importorskip("pandas").DataFrame(rows)
    with pytest.raises(InputError, match=re.escape(message)):
        list(
            table_batches(_written(tmp_path, form, rows)) if frame is None else frame_tables(frame)
        )


@pytest.mark.parametrize("form", ["jsonl", "parquet", "memory"])
def test_an_object_of_many_keys_is_no_columns(form: str, tmp_path: Path) -> None:
    """Objects that count or name things, with a key of its own a row, stay one column."""
    rows = [{"a": {"n": {f"k{k}": 1}, "b": k}, "y": k} for k in range(MOST_FIELDS + 1)]
    tables = frame_tables(rows)
    if form != "memory":
        tables = table_batches(_written(tmp_path, form, rows))
    assert sorted(_columns(tables)) == ["a.b", "a.n", "y"]


def test_an_object_of_many_keys_is_said_to_have_them(tmp_path: Path) -> None:
    """What is left out for its size is told with the number that it exceeds."""
    rows = [
        {"u": {f"k{k}": k for k in range(MOST_FIELDS + 1)}, "label": "xy"[n % 2]} for n in range(9)
    ]
    with pytest.raises(InputError, match=f"'u': .* an object of more than {MOST_FIELDS} fields"):
        train_files(_written(tmp_path, "jsonl", rows))


def test_what_is_nested_too_deep_is_an_error(tmp_path: Path) -> None:
    """Lists and objects of thousands of levels are refused with their line."""
    file = tmp_path / "rows.jsonl"
    good, deep = '{"u": {"a": 1}}\n', '{"u": '
    for odd, reason in {
        f'{{"u": {"[" * 5000}{"]" * 5000}}}': "line 2: .* nested too deep",
        f"{deep * 5000} 1{'}' * 5000}": "line 2: .* nested too deep",
    }.items():
        file.write_text(f"{good}{odd}\n")
        with pytest.raises(InputError, match=reason):
            list(table_batches(file))

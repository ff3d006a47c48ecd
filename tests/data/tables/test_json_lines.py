import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.batch import BadRows
from rosenblatt.data.files import table_batches
from rosenblatt.errors import InputError
from rosenblatt.models.train import model_from_files
from tests.data.tables.fuzzing import check_json, json_tables

SIZES = [1, 7, 40, 1 << 16]
TEXT = st.text(st.characters(codec="utf-8"), max_size=10)
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "number": st.none()
        | st.integers(-(2**40), 2**40)
        | st.floats(allow_nan=False, allow_infinity=False),
        "text": st.none() | TEXT,
        "flag": st.none() | st.booleans(),
        "whole": st.integers(-(2**63), 2**63 - 1),
    },
)
FULL = {"number": 1, "text": "x", "flag": True, "whole": 0}


@given(st.lists(OBJECTS), st.sampled_from(SIZES), st.booleans())
def test_what_the_json_module_writes_is_read(
    objects: list[dict[str, Any]], size: int, ascii_only: bool
) -> None:
    """Values come back as they were, with nulls where a key is missing, for blocks of any size."""
    rows = [FULL, *objects]
    text = "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows).encode()
    assert check_json(text, size)
    tables = json_tables(text, size)
    assert sum(table.frame.height for table in tables) == len(rows)
    assert tables[-1].frame.columns == list(FULL)
    assert [row["whole"] for table in tables for row in table.frame.rows(named=True)] == [
        row.get("whole") for row in rows
    ]


def test_columns_have_types() -> None:
    """Whole numbers, fractions, text, truth values and nothing but nulls each have their type."""
    text = b'{"i": 1, "f": 1, "t": "x", "b": true, "n": null}\n{"f": 2.5, "new": 1}\n'
    (table,) = json_tables(text, 1 << 16)
    assert table.frame.schema == {
        "i": pl.Int64,
        "f": pl.Float64,
        "t": pl.String,
        "b": pl.Boolean,
        "n": pl.Null,
        "new": pl.Int64,
    }
    assert table.frame.row(1) == (None, 2.5, None, None, None, 1)


def test_whole_numbers_give_way_to_fractions_and_nulls_to_anything() -> None:
    """A later block may have the first fraction, or the first value, of a column."""
    first, second = json_tables(b'{"a": 1, "b": null}\n{"a": 0.5, "b": "x"}\n', 5)
    assert first.frame.schema == {"a": pl.Int64, "b": pl.Null}
    assert second.frame.schema == {"a": pl.Float64, "b": pl.String}
    (huge,) = json_tables(b'{"a": 9223372036854775808}\n', 99)
    assert huge.frame["a"].to_list() == ["9223372036854775808"]


def test_a_number_is_its_value() -> None:
    """3.10 is 3.1 in JSON, and of two equal keys the last counts, however the line is read."""
    text = b'{"a": 3.1, "b": 1}\n{"a": 3.10, "b": 2, "b": 3}\n{"a": NaN, "b": 2, "b": 4}\n'
    (whole,) = json_tables(text, 999)
    assert whole.frame["a"].to_list() == [3.1, 3.1, None]
    assert whole.frame["b"].to_list() == [1, 3, 4]


@pytest.mark.parametrize("place", [0, 5])
@pytest.mark.parametrize("odd", ["{}", "[]", '["x"]', "[1, 2]"])
def test_one_list_does_not_make_lists_of_a_column(odd: str, place: int, tmp_path: Path) -> None:
    """A list or an object among plain values is a bad row, wherever it stands."""
    lines = [f'{{"a": {odd if k == place else k}}}\n' for k in range(9)]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(lines))
    with pytest.raises(InputError, match=f"line {place + 1}: key 'a' has the value .* only plain"):
        list(table_batches(file))
    bad = BadRows(skip=True, max_share=1.0)
    (table,) = table_batches(file, bad_rows=bad)
    assert table.frame["a"].to_list() == [k for k in range(9) if k != place]
    assert [row.place for row in table.bad] == [f"{file}, line {place + 1}"]


def test_a_plain_value_among_lists_of_texts_is_a_list_of_one() -> None:
    """A row may write its only label without brackets."""
    (table,) = json_tables(b'{"a": ["x", "y"]}\n{"a": "z"}\n{"a": []}\n', 999)
    assert table.frame["a"].to_list() == [["x", "y"], ["z"], []]


def test_bad_rows_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Line 9 before line 10, though its text is greater."""
    lines = [f'{{"y": "{"ab"[k % 2]}", "v": [{k}, 1]}}\n' for k in range(60)]
    lines[8] = lines[9] = lines[10] = '{"y": "a", "v": [1]}\n'
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(lines))
    model = model_from_files(str(file), label="y", bad_rows="skip", max_bad_share=0.1)
    places = [row["place"].split()[-1] for row in model.training["bad_rows"]["first"]]
    assert places == ["9", "10", "11"]


def test_named_columns_are_taken_and_others_ignored(tmp_path: Path) -> None:
    """Asked for columns, a reader takes them in this order and no others, whenever those come."""
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": 1, "b": 2, "x": [1]}\n\n{"b": 3, "later": {}}\n')
    tables = list(table_batches(file, names=["b", "a", "c"], optional=["c"], block_bytes=10))
    assert [table.frame.rows() for table in tables] == [[(2, 1)], [(3, None)]]
    assert tables[0].frame.columns == ["b", "a"]
    assert tables[1].place(0).endswith("rows.jsonl, line 3")
    with pytest.raises(InputError, match=r"rows\.jsonl has no column 'c'; it has 'a', 'b', 'x'"):
        list(table_batches(file, names=["b", "c"], block_bytes=10))


CASES = [
    ('{"a": 1}\n{"a": 1,}\n', r"rows\.jsonl, line 2: no JSON: .* at column \d+\.$"),
    ('{"a": 1}\n\n[1, 2]\n', r"line 3: expected an object {…}, found '\[1, 2\]'; write one object"),
    ('[{"a": 1},\n{"a" 2}]\n', r"rows\.jsonl, row 2: no JSON: expecting ':' delimiter\."),
    ('[{"a": 1}] {"a": 2}\n[', r"rows\.jsonl, row 3: no JSON: expecting value\."),
    ('[{"a": 1}, 5]', r"row 2: expected an object {…}, found '5'"),
    ('{"a": 1}\n{"a": 2} {"a": 3}\n', r"line 2: no JSON: extra data at column 10"),
    ('{"a": 1},{"a": 2}\n{"a": [{}\n{}]}\n', r"line 1: no JSON"),
    (
        '{"n": 2, "rows": [{"a": 1}, {"a": 2}]}\n',
        (
            r"single JSON object, so a single row; the rows may be in 'rows': take them out with"
            r" jq -c '\.rows\[\]' "
        ),
    ),
    ('{\n"a": {"0": 1},\n"b": {"0": 2}}\n', "a single row; write one object for each row"),
    ('{"a": 1}\n{"a": 1, "\\ud800": 2}\n', r"line 2: key '.*' (has half of|is in none)"),
    ('{"a": Infinity}\n', r"line 1: Infinity is not a number in JSON; write null"),
    ('{"a": 1e400}\n', r"line 1: key 'a' has a number beyond the range of float64"),
    ('{"a": "x"}\n{"a": 1e400}\n', r"line 2: key 'a' has a number beyond the range of float64"),
    ('{"a": 1' + "0" * 400 + "}\n", r"line 1: key 'a' has a number beyond the range of float64"),
    ('{"a": 1' + "0" * 5000 + "}\n", r"line 1: .* cannot be read: Exceeds the limit"),
    ('{"a": "\\ud800"}\n', r"line 1: key 'a' has half of a character in"),
    ('{"a": "x\ty"}\n', r"line 1: no JSON: invalid control character at column"),
    ('{"a": ' + "[" * 100_000 + "\n", r"line 1: .* is nested too deep"),
    ("1 2 3\n", r"line 1: no JSON"),
]


@pytest.mark.parametrize(("text", "sentence"), CASES)
def test_bad_lines_are_named(text: str, sentence: str, tmp_path: Path) -> None:
    """The error says file, line, key and value, and what was expected."""
    file = tmp_path / "rows.jsonl"
    for size in (4, 1 << 20):
        file.write_text(text)
        with pytest.raises(InputError, match=sentence):
            list(table_batches(file, block_bytes=size))


def test_bytes_that_are_no_utf_8_are_named(tmp_path: Path) -> None:
    """The line with the wrong bytes is said."""
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'{"a": "x"}\n{"a": "caf\xe9"}\n')
    with pytest.raises(InputError, match=r"line 2: .*caf\\xe9.* is not UTF-8 text"):
        list(table_batches(file))


def test_a_new_key_in_a_later_block_is_an_error(tmp_path: Path) -> None:
    """Columns are those of the first block; the error names line and key, and the way out."""
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": 1}\n' * 100 + '{"a": 1, "b": 2}\n')
    sentence = r"line 101: key 'b' is in none of the first \d+ rows; put the rows with"
    with pytest.raises(InputError, match=sentence):
        list(table_batches(file, block_bytes=100))
    (table,) = table_batches(file)
    assert table.frame.columns == ["a", "b"]
    bad_rows = BadRows(skip=False)
    tables = [*table_batches(file, block_bytes=100, bad_rows=bad_rows)]
    assert tables[-1].frame.columns == ["a"]
    (note,) = bad_rows.notes()
    assert note.startswith("Left out 'b': in none of the first rows, which decide on the columns.")


@given(st.lists(OBJECTS, min_size=1), st.sampled_from(SIZES), st.sampled_from([None, 1]))
def test_an_array_is_read_as_its_objects_one_a_line(
    objects: list[dict[str, Any]], size: int, indent: int | None
) -> None:
    """However the array is broken into lines and blocks; so are objects on several lines."""
    rows = [FULL, *objects]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    expected = [row for table in json_tables(lines, 1 << 16) for row in table.frame.rows()]
    array = json.dumps(rows, indent=indent)
    spread = "\n".join(json.dumps(row, indent=1) for row in rows)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        for text in (array, spread):
            file.write_text(text)
            tables = [*table_batches(file, block_bytes=size)]
            found = [row for table in tables for row in table.frame.rows()]
            assert [[*map(_plain, row)] for row in found] == [[*map(_plain, r)] for r in expected]
            assert tables[0].place(0) == f"{file}, row 1"


def _plain(value: Any) -> Any:
    """Return a number as a fraction, which it may be from a later block on."""
    return float(value) if type(value) is int else value


def test_several_kinds_become_text_and_nested_values_are_not_kept() -> None:
    """A number here and text there is text in all of a block; NaN is missing."""
    lines = b'{"a": 1, "b": true, "c": [1], "d": NaN}\n{"a": "x", "b": 2.5, "c": {}, "d": 1}\n'
    (table,) = json_tables(lines, 1 << 16)
    assert table.frame.rows() == [("1", "true", None, None), ("x", "2.5", None, 1)]
    assert table.frame.schema["c"] == pl.List(pl.Null)
    first, second = json_tables(lines, 5)
    assert first.frame["a"].to_list() == [1]
    assert second.frame["a"].to_list() == ["x"]
    with pytest.raises(
        InputError, match=r"line 2: key 'a' has the value '\[1\]'; only plain values"
    ):
        json_tables(b'{"a": 1}\n{"a": [1]}\n', 5)


def test_lists_of_numbers_and_of_texts_are_kept() -> None:
    """The first rows decide; what is no list of numbers later is an empty one, a fault if used."""
    lines = b'{"a": [1, 2.5], "b": ["x"]}\n{"a": [3], "b": []}\n'
    later = b'{"a": ["x"], "b": [1, "y"]}\n{"a": {}, "b": null}\n'
    frame = pl.concat(table.frame for table in json_tables(lines + later, len(lines)))
    assert frame["a"].to_list() == [[1.0, 2.5], [3.0], [], []]
    assert frame["b"].to_list() == [["x"], [], ["1", "y"], None]

"""Real files are dirty: what is understood, what is said, and what is left out when one asks."""

import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest

from rosenblatt.data.batch import BadRow, BadRows
from rosenblatt.data.files import Files, table_batches
from rosenblatt.data.formats import Format, Layout, detect_format
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError
from rosenblatt.models.train import model_from_files


def _file(folder: Path, text: str | bytes, name: str = "rows.csv") -> Path:
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def _table(file: Path, **layout: Any) -> Table:
    (table,) = table_batches(file, Layout(**layout))
    return table


def _columns(file: Path, **layout: Any) -> dict[str, list[Any]]:
    return _table(file, **layout).frame.to_dict(as_series=False)


ROWS = {"a": ["1", "3"], "b": ["x", "é"]}


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("a,b\n1,x\n3,é\n".encode("latin-1"), {"encoding": "latin-1"}),
        ("a,b\n1,x\n3,é\n".encode("utf-16"), {}),
        ("a,b\n1,x\n3,é\n".encode("utf-16-le"), {"encoding": "utf-16-le"}),
        ("a,b\n1,x\n3,é\n".encode("utf-32"), {}),
        ("a,b\n1,x\n3,é\n".encode("utf-8-sig"), {}),
        ("a,b\r1,x\r3,é\r".encode(), {}),
        ("a,b\r\n1,x\r\n3,é\r\n".encode(), {}),
        ("# made by hand\n# on a Monday\na,b\n1,x\n3,é\n".encode(), {}),
        ("#a,b\n1,x\n3,é\n".encode(), {}),
        ("sep=;\na;b\n1;x\n3;é\n".encode(), {}),
    ],
)
def test_text_is_understood_as_it_comes(
    text: bytes, layout: dict[str, Any], tmp_path: Path
) -> None:
    """Encodings, line ends, comments and the line of a spreadsheet program change no value."""
    assert _columns(_file(tmp_path, text), **layout) == ROWS


def test_a_nul_is_a_blank(tmp_path: Path) -> None:
    """One NUL in a text does not make it unreadable."""
    assert _columns(_file(tmp_path, b"a,b\n1,x\0y\n3,\0\n")) == {
        "a": ["1", "3"],
        "b": ["x y", None],
    }


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["a,b\n1,x\n2,y\n", "город,b\nКиев,x\n", "城市,b\n上海,x\n"])
def test_wide_text_without_a_mark_is_named(tmp_path: Path, text: str, encoding: str) -> None:
    """Text of 16 or 32 bits a character is no CSV of one column, and no unknown file."""
    file = _file(tmp_path, text.encode(encoding))
    for layout in ({}, {"format": Format.CSV}):
        with pytest.raises(InputError) as error:
            _table(file, **layout)
        bits = encoding[4:6]
        assert str(error.value).endswith(
            f" looks like text of {bits} bits a character; name its encoding:"
            f" encoding='{encoding}'."
        )


@pytest.mark.parametrize("word", ["Berlin", "Київ", "北京", "دمشق"])
def test_wide_text_with_a_mark_is_read(tmp_path: Path, word: str) -> None:
    """A byte order mark says how text of 16 bits is to be read, whatever its script."""
    file = _file(tmp_path, f"{word},b\n1,x\n".encode("utf-16"))
    assert detect_format(file) is Format.CSV
    assert _columns(file) == {word: ["1"], "b": ["x"]}


def test_a_header_among_the_rows_is_skipped(tmp_path: Path) -> None:
    """Where tables were put together each begins with the header, which is no row; it is said."""
    rows = [f"{'pq'[k % 2]},{k},{'yes' if k % 2 else 'no'}" for k in range(40)]
    lines = ["colour,x,bought", *rows[:20], "", "colour,x,bought", *rows[20:]]
    file = _file(tmp_path, "\n".join(lines) + "\n")
    table = _table(file)
    assert table.frame["x"].to_list() == [str(k) for k in range(40)]
    assert table.place(20) == f"{file}, line 24"
    model = model_from_files(file, label="bought", numeric="x")
    assert model.training["n_rows"] == 40
    assert "1 row skipped, as the header stands again." in model.training["notes"]
    assert model.training["bad_rows"]["count"] == 0
    # Rows of words alone may be equal to the first one
    words = _file(tmp_path, "colour,bought\nred,no\ncolour,bought\n", "words.csv")
    assert _table(words, header=True).frame.height == 2


def test_rows_may_end_with_a_separator(tmp_path: Path) -> None:
    """If all rows but the first one do, names stand for the columns that they are above."""
    file = _file(tmp_path, "a,b\n1,x,\n3,é,\n")
    assert _columns(file) == {**ROWS, "column_3": [None, None]}
    named = _file(tmp_path, "a,b\nr1,1,x\nr2,3,é\n", "names.csv")
    assert _columns(named) == {"column_1": ["r1", "r2"], **ROWS}


def test_bytes_that_are_no_text_are_replaced_when_asked(tmp_path: Path) -> None:
    """With encoding_errors="replace" a broken byte is U+FFFD; without it the error names that."""
    file = _file(tmp_path, b"a,b\n1,caf\xe9\n")
    assert _columns(file, encoding_errors="replace") == {"a": ["1"], "b": ["caf\ufffd"]}
    with pytest.raises(InputError, match=r"line 2: .*encoding_errors='replace'\.$"):
        _table(file)
    with pytest.raises(InputError, match=r"is not ascii|is not UTF-8 text"):
        _table(file, encoding="ascii")
    with pytest.raises(InputError, match=r"is not cp1250 text: byte 0x81"):
        _table(_file(tmp_path, b"a\n\x81\n"), encoding="cp1250")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"encoding": "no-such"}, "encoding must name a text encoding, such as utf-8 or latin-1"),
        ({"encoding": "base64"}, "encoding must name a text encoding"),
        ({"encoding_errors": "ignore"}, "encoding_errors must be 'strict' or 'replace'"),
        ({"bad_rows": "drop"}, "bad_rows must be 'error' or 'skip'; got 'drop'"),
        ({"max_bad_share": 2}, "max_bad_share must be from 0 to 1; got 2"),
    ],
)
def test_what_a_layout_can_not_be_is_said(options: dict[str, Any], sentence: str) -> None:
    """A value that cannot be used is refused with the values that can."""
    with pytest.raises(InputError, match=sentence):
        Layout(**options)


def test_blanks_separate_numbers(tmp_path: Path) -> None:
    """Columns that are lined up by spaces are columns."""
    text = "  5.1   3.5 a\n 4.9   3.0 b\n10.2 -3.0\tc  \n"
    assert _columns(_file(tmp_path, text, "rows.txt")) == {
        "column_1": ["5.1", "4.9", "10.2"],
        "column_2": ["3.5", "3.0", "-3.0"],
        "column_3": ["a", "b", "c"],
    }


def test_names_can_be_given_to_a_file_without_a_header(tmp_path: Path) -> None:
    """As many as there are columns; they replace a header, too."""
    assert _columns(_file(tmp_path, "1,x\n3,y\n"), names=("a", "b")) == {
        "a": ["1", "3"],
        "b": ["x", "y"],
    }
    assert _columns(_file(tmp_path, "A,B\n1,x\n"), names=("a", "b")) == {"a": ["1"], "b": ["x"]}
    with pytest.raises(InputError, match="has 2 columns, but names= has 3 names"):
        _table(_file(tmp_path, "1,x\n"), names=("a", "b", "c"))


def test_a_name_that_comes_twice_is_numbered(tmp_path: Path) -> None:
    """Duplicate names make a header all the same, and it is said what they became."""
    table = _table(_file(tmp_path, "a,b,a,a\n1,2,3,4\n"))
    assert table.frame.columns == ["a", "b", "a_2", "a_3"]
    assert table.heading is not None
    assert table.heading.notes == (
        f"{tmp_path / 'rows.csv'} has more than one column 'a'; the second is called 'a_2'.",
    )


def test_row_names_as_r_writes_them_are_a_column(tmp_path: Path) -> None:
    """A header with one name less than there are columns leaves the first without one."""
    text = '"x" "y"\n"1" 5 7\n"2" 6 8\n"3" 6 9\n'
    assert _columns(_file(tmp_path, text, "rows.txt"), separator=" ") == {
        "column_1": ["1", "2", "3"],
        "x": ["5", "6", "6"],
        "y": ["7", "8", "9"],
    }


def test_lines_above_the_header_are_skipped_and_said(tmp_path: Path) -> None:
    """A title is no row."""
    text = "Results of 2024\n\nage,kind\n" + "31,a\n41,b\n" * 10
    table = _table(_file(tmp_path, text))
    assert table.frame.columns == ["age", "kind"]
    assert table.lines is not None
    assert table.lines[0] == 4
    assert table.heading is not None
    assert "begins with text that is not a row of the table" in table.heading.notes[0]


def test_a_header_line_of_nearly_64_kib_is_a_header(tmp_path: Path) -> None:
    """However long the first lines are, they are read to their end before anything is decided."""
    for length in (65_400, 65_530, 65_536, 65_540, 140_000):
        names = [f"name_{k:06}".ljust(119, "_") for k in range(length // 120)]
        names[0] += "x" * (length - 120 * len(names))
        row = ",".join("7" for _ in names)
        for block_bytes in (1 << 12, 1 << 22):
            file = _file(tmp_path, f"{','.join(names)}\n{row}\n{row}\n")
            tables = list(table_batches(file, block_bytes=block_bytes))
            assert tables[0].frame.columns == names
            assert sum(table.frame.height for table in tables) == 2


BAD = 'a,b\n1,x\n2\n3,"y"z\n4,caf\xe9\n5,w\n6,"open\n7,v\n8,u\n'.encode("latin-1")


@pytest.mark.parametrize("block_bytes", [8, 1 << 20])
def test_bad_rows_are_left_out_with_their_lines_and_reasons(
    block_bytes: int, tmp_path: Path
) -> None:
    """A row that cannot be read costs itself and no other."""
    bad_rows = BadRows(skip=True)
    file = _file(tmp_path, BAD)
    tables = list(table_batches(file, bad_rows=bad_rows, block_bytes=block_bytes))
    rows = [row for table in tables for row in table.frame.rows()]
    lines = [line for table in tables for line in table.lines]  # type: ignore[union-attr]
    assert rows == [("1", "x"), ("5", "w"), ("7", "v"), ("8", "u")]
    assert lines == [2, 6, 8, 9]
    bad = [row for table in tables for row in table.bad]
    assert [row.place.rpartition(" ")[2] for row in bad] == ["3", "4", "5", "7"]
    assert "1 field where 2 were expected" in bad[0].reason
    assert "'z' follows the quote" in bad[1].reason
    assert "is not UTF-8 text" in bad[2].reason
    assert "is never closed" in bad[3].reason


def test_bad_lines_of_json_are_left_out(tmp_path: Path) -> None:
    """Lines that are no objects; a value of another kind than before makes text of all."""
    file = _file(tmp_path, '{"a": 1}\n{"a": \n{"a": "x"}\n[]\n{"a": 2}\n', "rows.jsonl")
    (table,) = table_batches(file, bad_rows=BadRows(skip=True))
    assert table.frame["a"].to_list() == ["1", "x", "2"]
    assert [(row.before, row.place.rpartition(" ")[2]) for row in table.bad] == [(1, "2"), (2, "4")]


def test_the_error_of_a_bad_row_names_the_way_on(tmp_path: Path) -> None:
    """Strict by default, and the sentence says how not to be."""
    files = Files([str(_file(tmp_path, "a,b\n1,2\n3\n"))], Layout())
    with pytest.raises(InputError, match=r"line 3: .* Leave such rows out with bad_rows='skip'\.$"):
        list(files.tables())


def test_too_many_bad_rows_are_an_error_all_the_same() -> None:
    """One bad row is let pass, more only up to a share of all rows."""
    bad_rows = BadRows(skip=True, max_share=0.01)
    row = BadRow(0, "f, line 1", "odd")
    bad_rows.add([row])
    bad_rows.pass_by(9)
    bad_rows.check()
    bad_rows.add([row])
    with pytest.raises(
        InputError,
        match=r"^2 of 11 rows cannot be read, more than 1 %. The first: f, line 1: odd. Allow more",
    ):
        bad_rows.check()
    bad_rows.pass_by(200)
    bad_rows.check()
    assert bad_rows.as_json() == {
        "count": 2,
        "without_label": 0,
        "first": 2 * [{"place": "f, line 1", "reason": "odd"}],
    }


def test_lines_for_fasttext_are_read(tmp_path: Path) -> None:
    """Words with the mark are labels, several, none or last in a line; the rest is the text."""
    file = _file(tmp_path, "__label__spam win a car\n\n__label__ham see  you\n", "rows.txt")
    assert detect_format(file) is Format.FASTTEXT
    assert _columns(file) == {"label": ["spam", "ham"], "text": ["win a car", "see you"]}
    file = _file(tmp_path, "__label__a __label__b x\n__label__a y\n", "rows.txt")
    assert _columns(file) == {"label": ["a\x1fb", "a"], "text": ["x", "y"]}
    lines = "no label\n__label__a x, z __label__b\n__label__a y\n"
    file = _file(tmp_path, lines, "rows.txt")
    assert detect_format(file) is Format.FASTTEXT
    assert _columns(file) == {"label": [None, "a\x1fb", "a"], "text": ["no label", "x, z", "y"]}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"1 |f a:0.5 b\n-1 |f c\n", "looks like text for Vowpal Wabbit, which is not read"),
        (b"1 | some words here\n0 | and more\n", "looks like text for Vowpal Wabbit"),
        (b"PK\x03\x04rest", "is a damaged zip archive: File is not a zip file"),
        (b"<!DOCTYPE html><p>", "is a web page; download the data themselves"),
        (b"\x89PNG\r\n\x1a\n", "is a picture; write its features as CSV, a row for each picture"),
        (b"\xff\xd8\xff\xe0", "is a picture; write its features"),
        (bytes(range(1, 256)) * 9, "is not text, and none of the formats that are read"),
        (b"%PDF-1.7", "is a PDF document; write its table as CSV"),
        (b"7z\xbc\xaf\x27\x1c", "is an archive; unpack it and name a file"),
        (b"x" * 257 + b"ustar\x00", "is an archive; unpack it and name a file"),
        (pickle.dumps({"a": 1}), "is a pickle, which is never loaded; write it as Parquet or CSV"),
        (pickle.dumps([1], 2), "is a pickle, which is never loaded"),
        (
            b'\x10\x02\0\0\0\0\0\0{"__metadata__":{"format":"rosenblatt","format_version":"1"',
            "is a rosenblatt model, not data; name it before the data in predict or evaluate",
        ),
    ],
)
def test_what_is_not_read_is_named(content: bytes, sentence: str, tmp_path: Path) -> None:
    """A format that is known and not read is called by its name."""
    with pytest.raises(InputError, match=sentence):
        detect_format(_file(tmp_path, content, "rows"))


def test_a_table_with_bars_is_no_vowpal_wabbit(tmp_path: Path) -> None:
    """Fields between bars are fields."""
    assert _columns(_file(tmp_path, "1 | 2 | 3\n4 | 5 | 6\n", "rows")) == {
        "column_1": ["1", "4"],
        "column_2": ["2", "5"],
        "column_3": ["3", "6"],
    }


def test_any_name_of_a_column_can_be_read(tmp_path: Path) -> None:
    """A name that polars takes for a pattern is a name."""
    assert _columns(_file(tmp_path, "^x$,*,label\n1,2,a\n3,4,b\n")) == {
        "^x$": ["1", "3"],
        "*": ["2", "4"],
        "label": ["a", "b"],
    }


def _zipped(file: Path, **contents: str) -> str:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in contents.items():
            archive.writestr(name, text)
    return str(file)


def test_the_one_file_of_a_zip_archive_is_read(tmp_path: Path) -> None:
    """By the name that it has there; what a system adds to an archive does not count."""
    text = "a\tb\n" + "1\tx\n" * 30_000
    added = {"__MACOSX/._t.tsv": "?", ".DS_Store": "?", "folder/": ""}
    name = _zipped(tmp_path / "t.zip", **{"folder/t.tsv": text}, **added)
    files = Files([name], Layout())
    assert files.format is Format.TSV
    tables = [*files.tables()]
    assert sum(table.frame.height for table in tables) == 30_000
    assert files.n_bytes == tables[-1].bytes_read == len(text)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["a.csv", "b.csv"], r"is a zip archive of 2 files \('a.csv' and 'b.csv'\): unpack it and"),
        (["[Content_Types].xml", "xl/workbook.xml"], "is a spreadsheet; save its table as CSV"),
        (["x.npy"], "is an archive of NumPy arrays; write the array with numpy.save"),
    ],
)
def test_other_archives_are_named(names: list[str], sentence: str, tmp_path: Path) -> None:
    """What an archive is, and what to do with it."""
    name = _zipped(tmp_path / "t.zip", **dict.fromkeys(names, "1"))
    with pytest.raises(InputError, match=sentence):
        Files([name], Layout())


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_words_that_come_late_in_a_column_of_numbers(tmp_path: Path, ending: str) -> None:
    """They make it a category, which is said; a pipe, or who says numeric, gets the error."""
    rows = [(k % 50 if k < 30_000 else "new", "ab"[k % 3 == 0]) for k in range(30_010)]
    lines = [f"{n},{'x' * 200},{y}" for n, y in rows]
    text = "\n".join(["n,pad,y", *lines])
    if ending == "jsonl":
        text = "\n".join(json.dumps({"n": n, "pad": "x" * 200, "y": y}) for n, y in rows)
    file = str(_file(tmp_path, text, f"t.{ending}"))
    model = model_from_files(file)
    assert model.training["decisions"]["columns"]["category"] == ["n", "pad"]
    line = 30_002 if ending == "csv" else 30_001
    assert (
        f"{file}, line {line}: 'new' in column 'n' is not a finite number, so the column is taken"
        " for a category. If it should hold numbers, use numeric='n'."
    ) in model.training["notes"]
    with pytest.raises(InputError, match="for a column of words use category='n'"):
        model_from_files(file, numeric="n")


def test_quoted_fields_between_tabs(tmp_path: Path) -> None:
    """Quotes that enclose all fields of a column are no part of them; others are characters."""
    text = '"a"\t"b"\n' + '1\t"x\ty"\n2\t"z"\n' * 5
    assert _columns(_file(tmp_path, text, "t.tsv")) == {"a": ["1", "2"] * 5, "b": ["x\ty", "z"] * 5}
    text = 'a\tb\n1\t"x"\n2\t"so\n3\tsay "hi"\n'
    assert _columns(_file(tmp_path, text, "t.tsv"))["b"] == ['"x"', '"so', 'say "hi"']


def test_a_name_that_may_be_a_missing_value(tmp_path: Path) -> None:
    """Over numbers, among other names, Na is sodium."""
    rows = "".join(f"{k}.5,{k % 7},{k % 3},{k % 5},{'ab'[k % 2]}\n" for k in range(30))
    file = _file(tmp_path, f"RI,Na,Mg,Al,type\n{rows}")
    assert _table(file).frame.columns == ["RI", "Na", "Mg", "Al", "type"]

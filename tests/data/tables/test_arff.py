"""ARFF: names, types and missing values come from the header, rows are dense or sparse."""

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rosenblatt import train_files
from rosenblatt.cli import main
from rosenblatt.data.encoding import EncodingFit
from rosenblatt.data.files import Files, table_batches
from rosenblatt.data.formats import Format, Layout, detect_format
from rosenblatt.data.tables import arff
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError

WEATHER = """% made by hand

@RELATION weather
@attribute 'the outlook' {sunny, 'very rainy'}
@attribute temperature REAL
@ATTRIBUTE "it's \\"windy\\"" {0,1}
@attribute remark STRING
@attribute day date "dd/MM/yyyy"
@attribute play{yes, no}

@DATA
sunny,85.5,0,none,03/04/2020,no
% a comment
'very rainy',?, 1 ,'it\\'s wet, and\\n cold',"12/04/2020", yes

sunny,70,1,?,05/04/2020,yes
"""
HEADER = "@relation r\n@attribute a numeric\n@attribute b {x,'y z'}\n@attribute c string\n@data\n"


def _file(folder: Path, text: str | bytes, name: str = "rows.arff") -> Path:
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def _tables(file: Path, **layout: Any) -> list[Table]:
    return [*table_batches(file, Layout(**layout))]


def _rows(folder: Path, rows: str) -> list[tuple[Any, ...]]:
    return [row for table in _tables(_file(folder, HEADER + rows)) for row in table.frame.rows()]


def test_header_and_rows_are_read(tmp_path: Path) -> None:
    """Quotes, escapes, comments, blank lines and question marks are those of ARFF."""
    (table,) = _tables(_file(tmp_path, WEATHER))
    assert table.frame.to_dict(as_series=False) == {
        "the outlook": ["sunny", "very rainy", "sunny"],
        "temperature": ["85.5", None, "70"],
        'it\'s "windy"': ["0", "1", "1"],
        "remark": ["none", "it's wet, and\n cold", None],
        "day": ["03/04/2020", "12/04/2020", "05/04/2020"],
        "play": ["no", "yes", "yes"],
    }
    assert table.lines is not None
    assert table.lines.tolist() == [12, 14, 16]


def test_the_header_says_what_columns_are(tmp_path: Path) -> None:
    """A nominal attribute of digits is a category, and the date's day comes before its month."""
    (table,) = _tables(_file(tmp_path, WEATHER))
    encoding = EncodingFit.from_sample(table)
    assert {one.name: (one.role, one.form) for one in encoding.columns} == {
        "the outlook": ("category", ""),
        "temperature": ("numeric", ""),
        'it\'s "windy"': ("category", ""),
        "remark": ("text", ""),
        "day": ("category", "dmy"),
        "play": ("label", ""),
    }
    assert encoding.label_guess is not None
    assert encoding.label_guess.reason == "the last attribute, which is nominal"


def test_a_class_by_name_comes_first(tmp_path: Path) -> None:
    """An attribute called class is the label, wherever it stands; KEEL names it in the header."""
    text = "@relation r\n@attribute Class {p,e}\n@attribute a {x,y}\n@data\np,x\ne,y\n"
    (table,) = _tables(_file(tmp_path, text))
    assert EncodingFit.from_sample(table).label == "Class"
    keel = text.replace("Class", "first").replace("@data", "@inputs a\n@outputs first\n@data")
    (table,) = _tables(_file(tmp_path, keel.replace("e,y", "e,<null>"), "rows.dat"))
    assert EncodingFit.from_sample(table).label == "first"
    assert table.frame["a"].to_list() == ["x", None]


def test_sparse_rows_have_zeros_and_first_values(tmp_path: Path) -> None:
    """What a sparse row leaves out is 0, the first nominal value, or a missing text."""
    rows = "{0 2.5, 2 'p, q'}\n{}\n{ 1 'y z' , 2 ? }\n1,x,dense\n"
    assert _rows(tmp_path, rows) == [
        ("2.5", "x", "p, q"),
        ("0", "x", None),
        ("0", "y z", None),
        ("1", "x", "dense"),
    ]


def test_many_sparse_rows_come_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparse rows of many attributes are read few at a time, with their lines."""
    monkeypatch.setattr(arff, "MOST_CELLS", 6)
    tables = _tables(_file(tmp_path, HEADER + "".join(f"{{0 {k}}}\n" for k in range(5))))
    assert [table.frame["a"].to_list() for table in tables] == [["0", "1"], ["2", "3"], ["4"]]
    assert [int(table.lines[0]) for table in tables if table.lines is not None] == [6, 8, 10]


def test_quotes_are_those_of_arff(tmp_path: Path) -> None:
    """Fields in quotes are read alike by polars and line by line; an apostrophe is ordinary."""
    quoted = [("1", "y z", "50% , a")]
    assert _rows(tmp_path, "1,'y z','50% , a'\n") == quoted
    rows = "1,'y z','50% , a'\n?,x,O'Brien\n"
    assert _rows(tmp_path, rows) == [*quoted, (None, "x", "O'Brien")]


def test_blanks_may_separate(tmp_path: Path) -> None:
    """Where the first row has no comma, blanks and tabs stand between fields."""
    assert _rows(tmp_path, "1\t'y z'  p\n2 x ?\n") == [("1", "y z", "p"), ("2", "x", None)]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("1,x\n", "line 6: 2 fields where 3 were expected (separated by ',')."),
        ("1,x,a\n1,'x,a\n", r"line 7: the quotes of ''x,a' are not in order; a quote within"),
        ("{0 1}\n{7 1}\n", "line 7: index 7 of a sparse row is too large; the last attribute is"),
        ("{0 1, 0 2}\n", "line 6: index 0 of a sparse row stands twice."),
        ("{0 1, y}\n", "line 6: ' y' is no entry of a sparse row; expected {INDEX VALUE, …}."),
        ("1,x,a,{2}\n", "line 6: a weight {…} behind the row is not read; make it an attribute,"),
        ("{0 1, 1 x\n", "line 6: a sparse row must end in }."),
        ("{0 1} junk\n", "line 6: a sparse row must end in }."),
        ("{0 1}, {2}\n", "line 6: a weight {…} behind the row is not read"),
        ("1,'x',\xff\n", r"line 6: '\xff' is not UTF-8 text"),
    ],
)
def test_a_bad_row_is_named_by_its_line(rows: str, sentence: str, tmp_path: Path) -> None:
    """What cannot be read is an error with file and line, or is left out if one asks for that."""
    file = _file(tmp_path, (HEADER + rows).encode("latin-1" if "\xff" in rows else "utf-8"))
    with pytest.raises(InputError, match=re.escape(f"rows.arff, {sentence}")):
        _tables(file)
    files = Files([str(file)], Layout(bad_rows="skip", max_bad_share=1.0))
    (table,) = files.tables()
    assert len(table.bad) == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("@relation r\n@attribute a real\n", "rows.arff has no line @data, behind which the rows"),
        ("@relation r\n@data\n1\n", "line 2: no @attribute stands before @data, so that the rows"),
        (
            "@relation r\n@attribute areal\n@data\n",
            "line 2: 'areal' declares no attribute; expected a name",
        ),
        ("@relation r\n1,2\n@data\n", "line 2: '1,2' stands before @data; expected @attribute."),
        (
            "@relation r\n@attribute a relational\n",
            "line 2: attribute 'a' is of the type 'relational', which is not read; types that are",
        ),
        ("@relation r\n" + 2 * "@attribute a real\n", "attribute 'a' is declared a second time."),
    ],
)
def test_a_bad_header_is_named_by_its_line(text: str, sentence: str, tmp_path: Path) -> None:
    """What is wrong in a header is said with file and line."""
    with pytest.raises(InputError, match=re.escape(sentence)):
        _tables(_file(tmp_path, text))


def test_several_labels_are_told(tmp_path: Path) -> None:
    """The relation of MEKA says how many attributes are labels; that one is learned is said."""
    header = "@relation 'r: -C -2'\n@attribute a real\n@attribute p {0,1}\n@attribute q {0,1}\n"
    (table,) = _tables(_file(tmp_path, f"{header}@data\n1,0,1\n2,1,0\n"))
    assert table.heading is not None
    assert "rows.arff has 2 attributes that are labels; one is learned" in table.heading.notes[0]


@pytest.mark.parametrize("name", ["iris.arff", "iris.txt", "iris.csv", "iris.arff.gz"])
def test_arff_is_recognised(name: str, tmp_path: Path) -> None:
    """ARFF is known by its first lines, also behind a long comment, and by its name."""
    text = ("% a long comment\n" * 500 + WEATHER).encode()
    assert detect_format(_file(tmp_path, gzip.compress(text), name)) is Format.ARFF
    assert detect_format(_file(tmp_path, "", "empty.arff")) is Format.ARFF


def _iris(folder: Path) -> Path:
    lines = ["@relation iris", "@attribute 'petal length' REAL", "@attribute width NUMERIC"]
    lines += ["@attribute class {Iris-setosa,Iris-virginica}", "@data"]
    for k in range(40):
        lines += [
            f"{1 + k % 7 / 10},{k % 5 / 10},Iris-setosa",
            f"{5 + k % 7 / 10},?,Iris-virginica",
        ]
    return _file(folder, "\n".join(lines), "iris.arff")


def test_commands_read_arff(tmp_path: Path) -> None:
    """Train, evaluate and predict read ARFF, also packed and from standard input."""
    file, model, run = _iris(tmp_path), str(tmp_path / "iris.model"), CliRunner()
    trained = run.invoke(main, ["train", str(file), "-o", model], catch_exceptions=False)
    assert "  read as: arff\n  label: 'class', by its name\n" in trained.output
    assert "  numbers: 2: 'petal length', 'width'\n" in trained.output
    result = run.invoke(main, ["evaluate", model, str(file)], catch_exceptions=False)
    assert result.stdout.startswith("Error 0.00%")
    packed = gzip.compress(file.read_bytes())
    result = run.invoke(main, ["predict", model, "-"], input=packed, catch_exceptions=False)
    assert result.stdout == "Iris-setosa\nIris-virginica\n" * 40


def test_a_model_is_the_same_from_csv(tmp_path: Path) -> None:
    """The same rows as CSV give the same weights."""
    file = _iris(tmp_path)
    rows = file.read_text().partition("@data\n")[2]
    csv = _file(tmp_path, f"petal length,width,class\n{rows}", "iris.csv")
    first, second = (train_files(str(one)).coef_ for one in (file, csv))
    assert first.tobytes() == second.tobytes()

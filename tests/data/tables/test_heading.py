import unicodedata
from pathlib import Path
from typing import Literal

import pytest

from rosenblatt import train_files
from rosenblatt.data.files import Columns, table_batches
from rosenblatt.data.tables import heading
from rosenblatt.data.tables.heading import has_fixed_width, has_header, separator_of
from rosenblatt.data.tables.table import Selection
from rosenblatt.errors import InputError

HEADERS = [
    "a,b\n1,2\n",
    "name,age\nAnn,31\nBob,?\n",
    ",date,class\n0,0.5,UP\n1,0.7,DOWN\n",
    "day,text\n2001-02-03,hello\n2001-02-04,bye\n",
    "label,text\nspam,free money\nham,see you\nspam,win\n",
    "x y (cm),kind\n1.5,a\n2,b\n",
    "a,a\n1,2\n",
    "a,,b,,c\n1,,2,,3\n",
    "question,answer\nwhere is it from,from before it was\nwho is to say so,whoever sees it\n",
    "title,what is it about?\nMoby Dick,a whale\nEmma,love\n",
]
NO_HEADERS = [
    "1,2\n3,4\n",
    "a,1\nb,2\n",
    "spam,free money now\nham,see you\nspam,win\n",
    "red,apple\ngreen,pear\nred,apple\n",
    "x,NA\ny,5\nz,7\n",
    "x,?\ny,5\nz,7\n",
    "one,two\n",
    "a,b\nc,d\n",
    "country,2015,2016\nFrance,1.5,2\nSpain,7,8\n",
    "0,1,2,label\n5.1,3.5,1.4,a\n4.9,3,1.4,b\n",
    "fonts,usr/share/a.png\ndoc,usr/share/b\ndoc,usr/c\n",
    "",
]


def _rows(text: str) -> list[list[str]]:
    return [line.split(",") for line in text.splitlines()]


@pytest.mark.parametrize("text", HEADERS)
def test_a_header_is_known_by_the_rows_below_it(text: str) -> None:
    """Names over numbers, or names that do not recur over categories that do, are a header."""
    assert has_header(_rows(text), None)


@pytest.mark.parametrize("text", NO_HEADERS)
def test_a_first_row_like_the_others_is_a_row(text: str) -> None:
    """Numbers, missing values, repeated or recurring values and long text are no header."""
    assert not has_header(_rows(text), None)


def test_a_header_is_known_by_the_names_that_are_asked_for() -> None:
    """Half of the required names are enough, so that a missing one is said to be missing."""
    wanted = Selection(("a", "b", "label"), frozenset({"label"}))
    assert has_header([["b", "c"]], wanted)
    assert has_header([["label", "b", "a"], ["x", "y", "z"]], wanted)
    assert not has_header([["c", "d"]], wanted)
    assert has_header(_rows("0,1,2,label\n5.1,3.5,1.4,a\n"), None, frozenset({"label"}))


def test_a_name_that_is_said_proves_a_header(tmp_path: Path) -> None:
    """A name by label= or text= that stands in line 1 makes it a header; a number does not."""
    file = tmp_path / "mail.csv"
    rows = "".join(f"spam,buy this now {k}\nham,see you soon {k}\n" for k in range(20))
    file.write_text(f"is it?,what it says!\n{rows}")
    with pytest.raises(InputError, match="the first line may be a header"):
        train_files(str(file), label="1")
    assert train_files(str(file), label="is it?").classes_.tolist() == ["ham", "spam"]
    trained = train_files(str(file), label="1", text=["what it says!"])
    assert trained.classes_.tolist() == ["ham", "spam"]
    assert Columns(label="1", text=["a,b", 2]).names() == {"a,b", "a", "b"}


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_header_is_known_however_its_names_are_composed(
    tmp_path: Path, form: Literal["NFC", "NFD"]
) -> None:
    """A name that is said or that a model wants proves a header, composed or not."""
    file = tmp_path / "film.tsv"
    other: Literal["NFC", "NFD"] = "NFD" if form == "NFC" else "NFC"
    rows = "".join(f"tốt\tphim này rất vui {k}\ntệ\tphim này rất buồn {k}\n" for k in range(20))
    file.write_text(unicodedata.normalize(form, f"nhãn?\tvăn bản?\n{rows}"))
    trained = train_files(str(file), label=unicodedata.normalize(other, "nhãn?"))
    assert len(trained.classes_) == 2
    wanted = Selection(("nhãn?", "văn bản?"), frozenset())
    assert has_header([[unicodedata.normalize(form, one) for one in wanted.names]], wanted)


@pytest.mark.parametrize("names", ["लेबल,मूल्य", "ป้าย,ข้อความ", "النَّوع,النص", "تعداد,می‌شود"])
def test_names_of_a_header_may_have_marks(names: str) -> None:
    """Vowels and marks of a script are parts of a name."""
    assert has_header(_rows(f"{names}\na,c\nb,d\na,d\nb,c"), None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a,b\n1,2\n", ","),
        (b"a;b\n1,5;2,5\n2,0;3,5\n", ";"),
        (b"a|b|c\n1|2|3\n", "|"),
        (b"a\tb\n1\t2\n", "\t"),
        (b'1,2,"a;b"\n3,4,"c;d"\n', ","),
        (b'"a,b";c\n"d";e\n', ";"),
        (b"a^b^c\n1^2^3\n", "^"),
        (b"a:b:c\n1:x y:3\n", ":"),
        (b"a:b,c\n1:2,3\n", ","),
        (b"so: yes\nand: no\n", ","),
        (b"words\nmore words, here\n", ","),
        (b"", ","),
    ],
)
def test_the_separator_parts_all_rows_alike(text: bytes, expected: str) -> None:
    """The separator is the one that gives every row the same number of fields."""
    assert separator_of(text, quoting=True, wanted=None) == expected


def test_the_separator_that_finds_the_wanted_columns_is_taken() -> None:
    """Where two separators part the rows alike, the names that are asked for decide."""
    text = b"a;b,c;d\n1;2,3;4\n"
    assert separator_of(text, quoting=True, wanted=Selection(("b,c",), frozenset())) == ";"
    assert separator_of(text, quoting=True, wanted=Selection(("a;b",), frozenset())) == ","


WITH_HEADER = {"covtype.csv.gz": 581_012, "elec2.csv.gz": 45_312}
WITHOUT = {
    "kdd99.train.csv.gz": 494_021,
    "kdd99.test.csv.gz": 311_029,
    "debian_paths.test.tsv.gz": 165_695,
    "imdb.train.tsv.gz": 25_000,
    "imdb.test.tsv.gz": 25_000,
    "20news.train.tsv.gz": 11_293,
    "20news.test.tsv.gz": 7_528,
    "sms_spam.tsv.gz": 5_574,
    "adult.train.csv.gz": 32_561,
    "adult.test.csv.gz": 16_281,
    "small/banknote_authentication.csv": 1_372,
    "small/breast-cancer-wisconsin.csv": 699,
    "small/german.csv": 1_000,
    "small/glass.csv": 214,
    "small/haberman.csv": 306,
    "small/ionosphere.csv": 351,
    "small/iris.csv": 150,
    "small/mammography.csv": 11_183,
    "small/phoneme.csv": 5_404,
    "small/pima-indians-diabetes.csv": 768,
    "small/sonar.csv": 208,
    "small/wine.csv": 178,
}


@pytest.mark.data
@pytest.mark.parametrize("name", WITH_HEADER | WITHOUT)
def test_real_files_have_all_their_rows_and_their_header(name: str, data_folder: Path) -> None:
    """Every row of the real files is read, and the header of those that have one, and no other."""
    n_rows = 0
    for table in table_batches(data_folder / name):
        n_rows += table.frame.height
        assert table.frame.columns[1].startswith("column_2") == (name in WITHOUT)
        last_line = table.lines[-1] if table.lines is not None else 0
    assert n_rows == (WITH_HEADER | WITHOUT)[name]
    assert last_line == n_rows + (name in WITH_HEADER)


@pytest.mark.parametrize(
    ("header", "row", "separator"),
    [
        ("Betrag;Gruppe;Antwort", "1.234,56;A;ja", ";"),
        ("Betrag;Gruppe;Antwort", "1.234,56 €;A;ja", ";"),
        ("amount\tgroup\tanswer", "7,082\tA\tyes", "\t"),
        ("amount|group|answer", "7,082|A|yes", "|"),
        ("Preis, netto;Gruppe", "1.234,56;A", ";"),
        ("name,parts,answer", "x,a;b;c,yes", ","),
        (None, "1.234,56;A;ja", ";"),
        (None, "7,082\tA\tyes", "\t"),
        (None, "x,a;b;c,yes", ","),
    ],
)
def test_a_comma_before_decimals_or_thousands_is_no_separator(
    header: str | None, row: str, separator: str
) -> None:
    """The header decides; without one, the separator that leaves fewer others in its fields."""
    lines = [*([] if header is None else [header]), *[row] * 40]
    text = "".join(line + "\n" for line in lines).encode()
    assert separator_of(text, quoting=True, wanted=None) == separator


def test_blank_lines_before_the_rows_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many blank lines a file begins with, no guess reads them, and lines are counted."""
    texts: list[bytes] = []
    monkeypatch.setattr(heading, "check_width", lambda text, _: texts.append(text))
    path = tmp_path / "rows.csv"
    path.write_text("\n" * 100_000 + " \r\n" * 1000 + "a,b\n1,2\n")
    (table,) = table_batches(path)
    assert table.lines is not None
    assert table.lines.tolist() == [101_002]
    assert texts == [b"a,b\n1,2\n"]


def test_too_many_columns_are_refused_with_their_number(tmp_path: Path) -> None:
    """A file of more columns than can be judged one by one says how many it may have."""
    table, lines = tmp_path / "a.csv", tmp_path / "a.jsonl"
    table.write_text(",".join(f"c{k}" for k in range(50_001)) + "\n" + "1," * 50_000 + "1\n")
    lines.write_text("{" + ", ".join(f'"c{k}": 1' for k in range(50_001)) + "}\n" * 1)
    for path in (table, lines):
        with pytest.raises(InputError, match="has 50,001 columns; a table may have at most 50,000"):
            list(table_batches(path))


def test_columns_of_fixed_width_are_called_that(tmp_path: Path) -> None:
    """Fields that stand at the same places without a separator are named, with a way out."""
    file, form = tmp_path / "people.txt", "{:<9}{:>4} {:<10}{:<4}"
    people = [("Ann Lee", "New York"), ("Bob", "Rome"), ("Emily", "Oslo")]
    rows = [
        form.format(name, 10 + k, city, "yn"[k % 2]) for k, (name, city) in enumerate(people * 5)
    ]
    file.write_text("".join(f"{row}\n" for row in rows))
    expected = f"{file} has columns of fixed width, without a separator between them; make it CSV"
    with pytest.raises(InputError, match=expected):
        train_files(str(file))
    (table,) = table_batches(file, names=["text"])  # one column alone may look so
    assert table.frame.height == 15


def test_lines_of_text_have_no_fixed_width() -> None:
    """Words of any length are no columns, nor are numbers or too few lines."""
    assert not has_fixed_width(b"to be or not\nthat is the question\nwhether it is\n" * 5)
    assert not has_fixed_width(b"12345\n23456\n" * 20)
    assert not has_fixed_width(b"a b\nc d\n")
    assert has_fixed_width(b"12345M044Y\n23456F051N\n" * 20)

"""The parts of the page that need no browser: links, tables, downloads, sentences, scenes."""

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.lab.columns import document_of_table, read_table
from rosenblatt.lab.document import Document
from rosenblatt.lab.toy_sets import toy_set
from rosenblatt.tracing import trace
from tests.lab.documents import documents
from tests.lab.engine import Engine

MADE_BY_HAND = replace(
    toy_set("xor"),
    names=("länge & breite", "größe=1"),
    labels=("nein", "ja"),
    held_out=((0.5, -1e-7, 1),),
    start=(0.1, -2.0, 0.5),
    bias=False,
    seed=4294967295,
    order="once",
)


def check_link(engine: Engine, document: Document, at: int) -> None:
    """Write a link, open it, and hold it against what was written."""
    found = engine.ask("open", address=f"#{engine.ask('link', document=document.plain(), at=at)}")
    assert Document.from_plain(found["document"]) == document
    assert found["at"] == at


@given(documents(), st.integers(0, 9))
def test_links(engine: Engine, document: Document, at: int) -> None:
    """A link brings back every part of a document, to the last digit."""
    check_link(engine, document, at)


def test_link_of_every_part(engine: Engine) -> None:
    """So it does with names that are not plain, held-out points and weights set by hand."""
    check_link(engine, MADE_BY_HAND, 3)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("#points=0,0,p~1,", "1,"),
        ("#points=0,0,p~x,1,n", '"x" is not a number'),
        ("#rule=pa1", "it has no points"),
        ("#points=0,0,p&view=%5B1", "its view cannot be read"),
        ("#points=0,0,p&rule=cw&kernel=rbf", "The rule cw has no kernel; choose the kernel none."),
        ("#points=0,0,p&rule=svm", "rule must be one of perceptron, margin"),
        ("#points=0,0,p&max_iter=1e9", "max_iter must be a whole number from 1 to 1000"),
        ("#points=0,0,p&start=1", "start must be 3 numbers, the bias last"),
        ("#points=" + "~".join(["0,0,p"] * 501), "at most 500 points; got 501"),
        ("#points=0,0,p&names=%", "it was cut off, or changed on its way"),
    ],
)
def test_damaged_links(engine: Engine, address: str, words: str) -> None:
    """A damaged link is told of in a sentence."""
    assert words in engine.ask("open", address=address)["error"]


def test_same_checks_as_in_python(engine: Engine) -> None:
    """What Python refuses the page refuses, by the same limits."""
    for part in ({"eta0": 0}, {"degree": 2.5}, {"bias": 1}, {"names": ["a", "a"]}, {"x": 1}):
        assert "error" in engine.ask("check", document={**toy_set("xor").plain(), **part})
    assert "error" not in engine.ask("check", document=MADE_BY_HAND.plain())


TABLES: list[tuple[str, dict[str, Any], list[list[float]], list[str]]] = [
    ("a,b,label\n1,2,x\n3,4,y\n", {}, [[1, 2, -1], [3, 4, 1]], []),
    (
        "a;b;label\n1,5;2;x\n2,25;3;y\n",
        {},
        [[1.5, 2, -1], [2.25, 3, 1]],
        ["The commas in column a were read as decimal points."],
    ),
    (
        'a,b,label\n"1,5",2,x\n2,3,y\n',
        {},
        [[1.5, 2, -1], [2, 3, 1]],
        ["The commas in column a were read as decimal points."],
    ),
    (
        "a,b,label\n1,2,x\nNA,3,y\n2,2,y\n4,,x\n5,5,\n",
        {},
        [[1, 2, -1], [2, 2, 1]],
        ["3 rows with a missing value were left out."],
    ),
    ("1\t2\tx\n3\t4\ty\n", {}, [[1, 2, -1], [3, 4, 1]], []),
    ('{"a": 1, "b": 2, "k": "x"}\n{"a": 3, "b": 4, "k": "y"}\n', {}, [[1, 2, -1], [3, 4, 1]], []),
    (
        'kind,"x, m",y\r\n"a ""b""",1e1,-2\r\nc,.5,3\r\n',
        {},
        [[10, -2, -1], [0.5, 3, 1]],
        [],
    ),
    ("a,b,c\n1,2,0\n3,4,10\n5,6,2\n", {"positive": "2"}, [[1, 2, -1], [3, 4, -1], [5, 6, 1]], []),
]


@pytest.mark.parametrize(("text", "chosen", "points", "notes"), TABLES)
def test_tables(
    engine: Engine, text: str, chosen: dict[str, Any], points: list[Any], notes: list[str]
) -> None:
    """Tables are read as they were meant; what is left out or changed is said."""
    found = engine.ask("table", text=text, name="t.csv", chosen=chosen)
    assert found["document"]["points"] == points
    assert found["notes"] == notes


@pytest.mark.parametrize(
    ("text", "chosen", "words"),
    [
        ("", {}, "t.csv is empty."),
        ("a,b,label\n", {}, "t.csv has a line of names and no rows."),
        ("a,label\n1,x\n", {}, "t.csv has 2 columns; the lab needs two of numbers"),
        ("a,b,label\n1,2,x\n3,4\n", {}, "t.csv, line 3: 2 fields, where the first line has 3."),
        ("a,b,label\nfoo,2,x\n3,4,y\n", {}, "a column for y is needed"),
        ("a,b,l\nfoo,2,x\n3,4,y\n", {"x": "a", "y": "b"}, "line 2: “foo” in column a is not a"),
        ("a,b,label\n1,2,x\n3,4,x\n", {}, "column label has only one label; it must have 2 to"),
        ('a,b,label\n1,"2,x\n', {}, "t.csv, line 2: a quotation mark is never closed."),
        ("a,b,label\n1e9,2,x\n3,4,y\n", {}, "numbers must be at most 1,000,000"),
        ("a,b,label\nNA,2,x\nNA,4,y\n", {}, "is needed"),
    ],
)
def test_bad_tables(engine: Engine, text: str, chosen: dict[str, Any], words: str) -> None:
    """What is wrong with a table is said with its name and line."""
    assert words in engine.ask("table", text=text, name="t.csv", chosen=chosen)["error"]


def test_same_rows_as_the_command(engine: Engine, tmp_path: Any) -> None:
    """Of a large table the page draws the rows that the command draws."""
    text = "x,z,label\n" + "".join(f"{i},{-i % 7},{'ab'[i % 2]}\n" for i in range(1200))
    path = tmp_path / "large.csv"
    path.write_text(text)
    document, notes = document_of_table(read_table(str(path)))
    found = engine.ask("table", text=text, name="large.csv")
    assert [tuple(point) for point in found["document"]["points"]] == list(document.points)
    assert found["document"]["view"] == list(document.view)
    assert found["notes"] == notes


def test_downloads(engine: Engine) -> None:
    """Data come back as the same points, a trace is that of the library; a minus is a hyphen."""
    document = toy_set("separable")
    data, steps = (
        engine.ask("file", name=name, document=document.plain())
        for name in ("data.csv", "trace.csv")
    )
    assert "−" not in data + steps
    again = engine.ask("table", text=data, name="data.csv")
    assert [tuple(point) for point in again["document"]["points"]] == list(document.points)
    rows = list(csv.DictReader(io.StringIO(steps)))
    expected = trace(document.X, document.y, averaged=True)
    for row, step in zip(rows, expected, strict=True):
        assert (row["y"], int(row["row"]), float(row["b"])) == (f"{step.y:+}", step.row + 1, step.b)
        assert [float(row["w x₁"]), float(row["average_w x₂"])] == [step.w[0], step.average_w[1]]  # type: ignore[index]
    surely = replace(document, rule="arow").plain()
    records = json.loads(engine.ask("file", name="trace.json", document=surely))
    last = trace(document.X, document.y, rule="arow")[len(records) - 1]
    assert last.variance_w is not None
    assert records[-1]["variance_w"] == last.variance_w.tolist()
    assert (records[-1]["variance"], records[-1]["beta"]) == (last.variance, last.beta)
    plain = json.loads(engine.ask("file", name="data.json", document=document.plain()))
    assert Document.from_plain(plain) == document


def test_sentences(engine: Engine) -> None:
    """A sentence says what a step met and did, and how it ended; a cycle is announced."""
    said = engine.ask("sentences", document=replace(toy_set("xor"), max_iter=2).plain())
    assert said[0] == "Before the first row all weights are 0, and so is every activation."
    assert said[2] == (
        "Pass 1, row 2 (class +1): the activation is −1, on the wrong side. The row is added to "
        "the weights: w = (0, 1), b = 0."
    )
    assert said[4].endswith(
        "The weights are again what they were at the start: from here on every pass repeats this "
        "one, for ever."
    )
    assert said[8].endswith("That was the last pass allowed: training has ended.")
    surely = engine.ask("sentences", document=replace(toy_set("xor"), rule="arow").plain())
    assert surely[1].endswith(
        "0.5 times Σx is subtracted from the weights: "
        "w = (0, 0), b = −0.5, deviations (1, 1, 0.7071)."
    )
    margin = replace(toy_set("separable"), rule="pa1", zero="negative", max_iter=1)
    told = " ".join(engine.ask("sentences", document=margin.plain()))
    assert "on the right side but too close" in told
    assert (
        "0, which counts as class −1: right. Nothing changes." not in told.split("Pass 1, row 2")[1]
    )


def test_scenes(engine: Engine) -> None:
    """Every scene has words on every page, and a question stands before its answer."""
    scenes = engine.ask("scenes")
    assert len({scene["name"] for scene in scenes}) == len(scenes) >= 7
    for scene in scenes:
        assert any("question" in page for page in scene["pages"]), scene["name"]
        for page in scene["pages"]:
            assert all(page["words"])
            assert ("question" in page) == ("answer" in page)
            plain = {**toy_set(page.get("toy", "xor")).plain(), **page.get("document", {})}
            Document.from_plain(plain)

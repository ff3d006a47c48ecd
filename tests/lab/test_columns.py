"""Points from a table, as the command reads it."""

from pathlib import Path

import numpy as np
import pytest

from rosenblatt.errors import InputError
from rosenblatt.lab.columns import document_of_table, read_table
from rosenblatt.lab.document import MOST_POINTS, Document

FLOWERS = """sepal,petal,kind,id
5.1,1.4,setosa,a1
7.0,4.7,versicolor,a2
6.3,6.0,virginica,a3
4.9,1.4,setosa,a4
6.4,4.5,versicolor,a5
5.8,5.1,virginica,a6
5.0,,setosa,a7
"""


def points_of(folder: Path, text: str, **chosen: object) -> tuple[Document, list[str]]:
    """Return the points of a text and what is said of them."""
    path = folder / "flowers.csv"
    path.write_text(text, encoding="utf-8")
    return document_of_table(read_table(str(path)), **chosen)  # type: ignore[arg-type]


def test_points(tmp_path: Path) -> None:
    """Two columns become coordinates, one label a class against the others; gaps are left out."""
    chosen = {"x": "petal", "y": "sepal", "label": "kind", "positive": "setosa"}
    document, notes = points_of(tmp_path, FLOWERS, **chosen)
    assert document.points[:3] == ((1.4, 5.1, 1), (4.7, 7.0, -1), (6.0, 6.3, -1))
    assert document.names == ("petal", "sepal")
    assert document.labels == ("not setosa", "setosa")
    assert notes == ["1 row with a missing value was left out."]
    left, right, bottom, top = document.view
    assert all(left < x < right and bottom < y < top for x, y, _ in document.points)


def test_scale(tmp_path: Path) -> None:
    """Scaled coordinates have mean 0 and deviation 1, and their names say so."""
    document, notes = points_of(tmp_path, FLOWERS, label="kind", scale=True)
    np.testing.assert_allclose(document.X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(document.X.std(axis=0), 1.0)
    assert document.names == ("sepal (scaled)", "petal (scaled)")
    assert notes[-1] == "Both coordinates were brought to mean 0 and deviation 1."


def test_many_rows(tmp_path: Path) -> None:
    """Of more rows than the lab takes some are drawn, the same each time, in their order."""
    lines = [f"{i},{-i},{'ab'[i % 2]}" for i in range(2000)]
    document, notes = points_of(tmp_path, "\n".join(["x,z,label", *lines]))
    assert len(document.points) == MOST_POINTS
    assert notes == ["500 of 2,000 rows were drawn at random."]
    assert list(document.X[:, 0]) == sorted(document.X[:, 0])


def test_typed_files(tmp_path: Path) -> None:
    """Files of other formats that have columns are taken too."""
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1, "b": 2.5, "label": "x"}\n{"a": 3, "b": 1, "label": "y"}\n')
    document, _ = document_of_table(read_table(str(path)))
    assert document.points == ((1.0, 2.5, -1), (3.0, 1.0, 1))


@pytest.mark.parametrize(
    ("text", "chosen", "words"),
    [
        (FLOWERS, {"x": "width"}, "a column for x is needed; there is no 'width'. The columns are"),
        (FLOWERS, {"x": "kind", "label": "id"}, "'setosa' in column 'kind' is not a finite number"),
        (FLOWERS, {"x": "petal", "y": "petal"}, "x, y and label must be three columns; got"),
        (FLOWERS, {"label": "sepal", "x": "petal"}, "there is no other column of numbers"),
        (FLOWERS, {"label": "kind", "positive": "rose"}, "has no label 'rose'; it has setosa"),
        ("a,b,label\n1,2,x\n3,4,x\n", {}, "must have 2 to 50 values; it has 1"),
        ("a,b,label\n1e9,2,x\n3,4,y\n", {}, "coordinates must be at most 1e+06; scale them."),
        ("a;b;label\n1,5;2;x\n2,5;3;y\n", {}, "in 'a' have decimal commas, write 1.5"),
        ("a,b,label\n", {"label": "label"}, "the lab needs rows of two classes"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, chosen: dict[str, str], words: str) -> None:
    """What is wrong with a table is said with its name."""
    with pytest.raises(InputError) as caught:
        points_of(tmp_path, text, **chosen)
    assert words in str(caught.value)
    assert "flowers.csv" in str(caught.value)

from typing import Any
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest

from rosenblatt.errors import InputError
from rosenblatt.lab import Lab
from rosenblatt.lab.page import module_text

X = [[0, 0], [0, 1], [1, 0], [1, 1]]
Y = ["no", "no", "no", "yes"]


def test_traits() -> None:
    """The widget carries the module, the style and the document to the browser."""
    lab = Lab(toy="xor")
    state = lab.get_state()
    assert state["_esm"] == module_text()
    assert ".rosenblatt-lab" in state["_css"]
    assert state["document"]["points"] == [[0, 0, -1], [0, 1, 1], [1, 1, -1], [1, 0, 1]]


def test_follows_the_page() -> None:
    """What a person does on the page is there in Python."""
    lab = Lab(X, Y)
    assert lab.y.tolist() == Y
    lab.set_state({"document": {**lab.document, "points": [[2, 3, 1]], "rule": "pa"}})
    assert lab.X.tolist() == [[2.0, 3.0]]
    assert lab.y.tolist() == ["yes"]
    assert lab.document["rule"] == "pa"


def test_still_picture() -> None:
    """Beside the widget goes a picture, for where widgets do not run, and one line of text."""
    lab = Lab(X, ["<no>", "<no>", "<no>", "yes"], held_out=[[0.5, 0.5, 1]])
    data, _ = lab._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"] == (
        "<The lab with 4 points, 3 of <no> and 1 of yes; run the notebook to train on them.>"
    )
    picture = fromstring(data["image/svg+xml"])  # noqa: S314  # our own
    kinds = [node.tag.rpartition("}")[2] for node in picture]
    assert (kinds.count("circle"), kinds.count("path")) == (2, 3)
    assert picture[0].text == data["text/plain"][1:-1]


def test_settings() -> None:
    """Settings are parts of the document, checked as they come."""
    lab = Lab(X, Y, rule="pa1", C=0.5, kernel="rbf")
    assert (lab.document["rule"], lab.document["C"], lab.document["kernel"]) == ("pa1", 0.5, "rbf")
    with pytest.raises(InputError, match="The part rule of the document must be one of"):
        Lab(X, Y, rule="svm")
    with pytest.raises(InputError, match="The part zero of the document must be one of"):
        lab.document = {**lab.document, "zero": "none"}


@pytest.mark.parametrize(
    ("rows", "labels", "words"),
    [
        ([[0, 0, 0]], [1], r"X must have the shape \(n, 2\) with n from 1 to 500; got \(1, 3\)"),
        (np.zeros((501, 2)), [0] * 501, "with n from 1 to 500; got"),
        (X, [1, 2, 3, 4], "y must have one label for each of the 4 rows of X, and two values"),
        (X, None, "y must have one label for each of the 4 rows"),
        ([[0, np.nan], [1, 1]], [0, 1], "Point 1 must be two numbers"),
    ],
)
def test_bad_rows(rows: Any, labels: Any, words: str) -> None:
    """Rows that are no points of two classes are refused."""
    with pytest.raises(InputError, match=words):
        Lab(rows, labels)

from typing import Any

import pytest
from hypothesis import given

from rosenblatt.errors import InputError
from rosenblatt.lab.document import MOST_POINTS, Document
from rosenblatt.lab.toy_sets import TOY_SETS, toy_set
from tests.lab.documents import documents


@given(documents())
def test_plain_and_back(document: Document) -> None:
    """A document that is written as plain values and read again is the same one."""
    assert Document.from_plain(document.plain()) == document


@pytest.mark.parametrize("name", TOY_SETS)
def test_toy_sets(name: str) -> None:
    """Every toy set has both classes and all its points in view, and is the same each time."""
    document = toy_set(name)
    left, right, bottom, top = document.view
    assert {side for _, _, side in document.points} == {-1, 1}
    assert all(left < x < right and bottom < y < top for x, y, _ in document.points)
    assert toy_set(name) == document


def test_unknown_toy_set() -> None:
    """A set that there is not is answered with those that there are."""
    with pytest.raises(InputError, match="There is no toy set 'moons'; there are separable, xor"):
        toy_set("moons")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1], "A document must be an object with points and settings; got [1]."),
        ({"colour": 1}, "The document has no part 'colour'; it has C, bias,"),
        ({"points": "x"}, "The part points must be a list of [x, y, class]; got 'x'."),
        ({"points": [[0, 0, 1]] * (MOST_POINTS + 1)}, "The lab takes at most 500 points; got 501."),
        ({"points": [[0, 0, 1], [0, 0, 2]]}, "Point 2 must be two numbers up to 1e+06 and a class"),
        ({"points": [[0, float("nan"), 1]]}, "Point 1 must be two numbers"),
        ({"points": [[0, 10**400, 1]]}, "Point 1 must be two numbers"),
        ({"points": [[0, True, 1]]}, "Point 1 must be two numbers"),
        ({"rule": "svm"}, "The part rule of the document must be one of 'perceptron', 'margin'"),
        (
            {"rule": "arow", "kernel": "rbf"},
            "The rule 'arow' has no kernel; choose the kernel 'none'",
        ),
        ({"confidence": 0.65}, "The part confidence of the document must be one of 0.6, 0.7, 0.8"),
        ({"rule": ["pa"]}, "The part rule of the document must be one of"),
        ({"memory": None}, "The part memory of the document must be one of 'last', 'average'"),
        ({"eta0": 0}, "The part eta0 of the document must be a number from 1e-06 to 1e+06; got 0."),
        ({"C": "1"}, "The part C of the document must be a number from 1e-06 to 1e+06; got '1'."),
        ({"seed": 1.5}, "The part seed of the document must be a whole number from 0 to"),
        ({"max_iter": 10**9}, "must be a whole number from 1 to 1000; got 1000000000."),
        ({"bias": 1}, "The part bias of the document must be one of True, False; got 1."),
        ({"start": [1, "x", 0]}, "must be a list of numbers up to 1e+06, the bias last, or empty"),
        ({"start": [1, 0]}, "must have 3 numbers with the map 'none', the bias last; got 2."),
        ({"held_out": [[0, 0, 0]]}, "Point 1 must be two numbers up to 1e+06 and a class"),
        ({"view": [0, 0, 1, 2]}, "must be four numbers: left < right and bottom < top; got"),
        ({"view": [1e6, 1e6 + 1e-9, 0, 1]}, "must be four numbers: left < right"),
        ({"names": ["a", "a"]}, "The part names of the document must be two different names"),
        ({"labels": ["", "b"]}, "The part labels of the document must be two different names"),
        ({"labels": ["x" * 61, "b"]}, "of at most 60 characters; got ['xxxx"),
    ],
)
def test_bad_documents(given: Any, words: str) -> None:
    """What cannot be is refused by a sentence with the part, what it must be and what came."""
    with pytest.raises(InputError) as caught:
        Document.from_plain(given)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 400

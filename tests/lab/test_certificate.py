"""Python's own verdict on what the page shows."""

from dataclasses import replace
from typing import Any

import pytest

from rosenblatt.errors import InputError
from rosenblatt.lab.certificate import certificate_lines
from rosenblatt.lab.document import Document
from rosenblatt.lab.toy_sets import toy_set


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "inseparable (4 rows, 2 features, 2 classes)"),
        ({"map": "conjunction"}, "separable (4 rows, 3 features, 2 classes)"),
        ({"map": "pairs"}, "separable (4 rows, 5 features, 2 classes)"),
        ({"kernel": "polynomial"}, "separable"),
        ({"kernel": "rbf"}, "separable (4 rows, 4 features, 2 classes)"),
    ],
)
def test_verdicts(changes: dict[str, Any], words: str) -> None:
    """XOR is inseparable by a line, and separable in the features of maps and kernels."""
    assert words in certificate_lines(replace(toy_set("xor"), **changes))[0]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (Document(points=((0.0, 0.0, 1),)), "A verdict needs points of both classes."),
        (replace(toy_set("xor"), bias=False), "switch the bias on"),
    ],
)
def test_no_verdict(document: Document, words: str) -> None:
    """What cannot be decided is said."""
    with pytest.raises(InputError, match=words):
        certificate_lines(document)

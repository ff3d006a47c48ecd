"""Documents for the tests of the lab, drawn by Hypothesis or made by hand."""

from typing import Any

from hypothesis import strategies as st

from rosenblatt.lab.document import Document
from rosenblatt.rules import RULES

coordinates = st.one_of(st.integers(-3, 3).map(float), st.floats(-5, 5).map(lambda v: round(v, 3)))
points = st.tuples(coordinates, coordinates, st.sampled_from([-1, 1]))


@st.composite
def documents(draw: st.DrawFn, /, **fixed: Any) -> Document:
    """Draw a small document with any settings; ``fixed`` ones are given."""
    drawn = {
        "points": draw(st.lists(points, min_size=1, max_size=8)),
        "rule": draw(st.sampled_from(sorted(RULES))),
        "eta0": draw(st.sampled_from([1.0, 0.25, 3.0])),
        "C": draw(st.sampled_from([1.0, 0.1])),
        "margin": draw(st.sampled_from([0.0, 1.0])),
        "r": draw(st.sampled_from([1.0, 0.1])),
        "confidence": draw(st.sampled_from([0.6, 0.9, 0.99])),
        "order": draw(st.sampled_from(["given", "once", "every pass"])),
        "seed": draw(st.integers(0, 5)),
        "zero": draw(st.sampled_from(["mistake", "negative", "positive"])),
        "max_iter": draw(st.integers(1, 5)),
    }
    return Document.from_plain({**drawn, **fixed})


def labels_of(document: Document) -> list[int]:
    """Return labels as the library takes them."""
    return [int(side) for side in document.y]

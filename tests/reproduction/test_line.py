"""Verdicts."""

import pytest

from reproduction.estimate import Estimate
from reproduction.line import (
    Line,
    Relation,
    Verdict,
    higher_error,
    means_of_sets,
    number,
    paper_cell,
)


def line(
    ours: float, relation: Relation, tolerance: float, uncertainty: float, paper: float = 20.0
) -> Line:
    """Return a line with these figures."""
    return Line("claim", "set", paper, Estimate(ours, 1.0, 4), relation, tolerance, uncertainty)


@pytest.mark.parametrize(
    ("ours", "tolerance", "uncertainty", "verdict"),
    [
        (29.0, 10.0, 0.0, "reproduced"),
        (11.0, 10.0, 5.0, "reproduced"),
        (31.0, 10.0, 0.5, "differs"),
        (5.0, 10.0, 2.0, "differs"),
        (31.0, 10.0, 2.0, "undecided"),  # it may well be within
        (21.0, 10.0, 11.0, "undecided"),  # too uncertain to say that it is within
    ],
)
def test_figures(ours: float, tolerance: float, uncertainty: float, verdict: Verdict) -> None:
    """A figure is reproduced within the tolerance, and differs beyond it and our uncertainty."""
    assert line(ours, "about", tolerance, uncertainty).verdict == verdict


@pytest.mark.parametrize(
    ("ours", "tolerance", "uncertainty", "verdict"),
    [
        (21.0, 0.0, 0.5, "reproduced"),
        (20.4, 0.0, 0.5, "undecided"),
        (19.6, 0.0, 0.5, "undecided"),
        (19.0, 0.0, 0.5, "differs"),
        (20.0, 0.1, 0.05, "differs"),  # if it is above, then by less than matters
        (20.0, 0.1, 0.2, "undecided"),
        (20.08, 0.1, 0.05, "reproduced"),
    ],
)
def test_claims_of_more(
    ours: float, tolerance: float, uncertainty: float, verdict: Verdict
) -> None:
    """More is reproduced beyond the uncertainty, and differs where it is less than matters."""
    assert line(ours, "above", tolerance, uncertainty).verdict == verdict
    mirrored = line(40.0 - ours, "below", tolerance, uncertainty)
    assert mirrored.verdict == verdict


def test_json_and_back() -> None:
    """A line comes back from its document as it was, and the document says the verdict."""
    one = higher_error("last less average", "a9a", Estimate(1.5, 0.5, 10), "1 pass")
    document = one.as_json()
    assert document["verdict"] == "reproduced"
    assert document["difference"] == 1.5
    assert Line.from_json(document) == one


def test_means_of_sets() -> None:
    """Lines of one claim and variant are averaged, with the uncertainty between the sets."""
    lines = [
        higher_error(claim, f"set {k}", Estimate(value, 9.0, 5), variant)
        for claim, variant, values in (("a", "last", [1, 2, 3]), ("a", "average", [5]))
        for k, value in enumerate(values)
    ]
    (mean,) = means_of_sets(lines)
    assert mean.ours == Estimate(2.0, 1.0, 3)
    assert mean.uncertainty == pytest.approx(4.3027 / 3**0.5, rel=1e-4)
    assert mean.is_mean
    assert mean.name == "mean of the 3 sets (last)"
    assert mean.tolerance == lines[0].tolerance


def test_cells() -> None:
    """Figures are printed with their decimals, claims with their sign, and nothing as −0."""
    assert paper_cell(line(1.0, "about", 0.0, 0.0, paper=2489.0)) == "2,489.0"
    assert paper_cell(line(1.0, "above", 0.0, 0.0, paper=1.0)) == "> 1"
    assert paper_cell(line(1.0, "below", 0.0, 0.0, paper=0.5)) == "< 0.5"
    assert number(-0.04, 1) == "0.0"

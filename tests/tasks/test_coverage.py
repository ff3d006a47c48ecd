"""Errors against coverage."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.tasks.metrics import coverage_curve

answers = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=40)


@given(answers, st.randoms())
def test_points_are_counted_one_by_one(drawn: list[tuple[int, bool]], chance: object) -> None:
    """Each point is what counting the rows of at least that margin gives, in any order."""
    margin, wrong = (np.array(side) for side in zip(*drawn, strict=True))
    curve = coverage_curve(margin, wrong)
    assert curve.threshold.tolist() == sorted({float(m) for m in margin}, reverse=True)
    for coverage, error, threshold in zip(*curve, strict=True):
        answered = margin >= threshold
        assert coverage == answered.sum() / len(margin)
        assert error == wrong[answered].sum() / answered.sum()
    chance.shuffle(drawn)  # type: ignore[attr-defined]
    again = coverage_curve(*zip(*drawn, strict=True))
    assert all((a == b).all() for a, b in zip(curve, again, strict=True))


@given(answers, st.integers(1, 10))
def test_a_thinned_curve_reaches_every_part(drawn: list[tuple[int, bool]], parts: int) -> None:
    """For each part of the rows there is the first point that covers so much, and no other."""
    curve = coverage_curve(*zip(*drawn, strict=True))
    thin = curve.thinned(parts)
    wanted = {min(c for c in curve.coverage if c >= (k + 1) / parts) for k in range(parts)}
    assert thin.coverage.tolist() == sorted(wanted)
    assert thin.coverage[-1] == 1.0


def test_no_rows_have_no_points() -> None:
    """Nothing to judge by gives a curve without points, thinned or not."""
    curve = coverage_curve([], [])
    assert [len(column) for column in curve.thinned()] == [0, 0, 0]

import statistics
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.encoding.statistics import ColumnStatistics

VALUES = st.one_of(
    st.floats(-1e140, 1e140, allow_subnormal=False),
    st.floats(1e9, 1e9 + 1),
    st.just(float("nan")),
    st.integers(-5, 5).map(float),
)


@given(st.lists(VALUES, min_size=1, max_size=40), st.data())
def test_any_cuts_give_the_statistics_of_the_whole(
    values: list[float], data: st.DataObject
) -> None:
    """Mean and deviation are those of exact fractions to 1e-12, however rows are cut."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=5)))
    found = ColumnStatistics.empty(1)
    for start, stop in zip([0, *cuts], [*cuts, len(values)], strict=True):
        found.add(np.array(values[start:stop]).reshape(-1, 1))
    present = [x for x in values if x == x]  # noqa: PLR0124  # all but NaN
    count, _, _, low, high, n_missing = found.values[:, 0]
    assert (count, n_missing) == (len(present), len(values) - len(present))
    if not present:
        assert (found.mean[0], found.deviation[0]) == (0, 1)
        return
    exact = [Fraction(x) for x in present]
    size = max(abs(x) for x in present)
    assert (low, high) == (min(present), max(present))
    assert abs(Fraction(float(found.mean[0])) - statistics.mean(exact)) <= size * 1e-12
    if low < high:
        spread = float(statistics.pvariance(exact)) ** 0.5
        assert abs(found.deviation[0] - spread) <= 1e-12 * size or spread < 1e-150
    else:
        assert found.deviation[0] == 1


def test_equal_values_have_no_deviation() -> None:
    """What rounding leaves of a constant column is not blown up to a scale."""
    found = ColumnStatistics.empty(1)
    for n in (3, 7, 1000):
        found.add(np.full((n, 1), 0.1))
    assert (found.mean[0], found.deviation[0]) == (0.1, 1)

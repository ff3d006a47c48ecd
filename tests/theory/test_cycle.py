"""Cycles of training in a fixed order."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from rosenblatt.errors import InputError
from rosenblatt.theory.cycle import find_cycle
from rosenblatt.theory.diagnosis import diagnose
from tests.examples import tries

CORNERS = np.array([[0, 0], [0, 1], [1, 1], [1, 0]])  # in the order of the printed table
XOR = np.array([0, 1, 0, 1])


def test_the_printed_table() -> None:
    """XOR in the order of the table is back at its weights after the second pass."""
    cycle = find_cycle(CORNERS, XOR, zero="negative")
    assert cycle is not None
    assert (cycle.first, cycle.again, cycle.length) == (1, 2, 1)
    assert cycle.weights() == {(i, 1 - y): Fraction(1, 4) for i, y in enumerate(XOR.tolist())}
    assert "after pass 2 are those after pass 1" in str(cycle)


def test_sparse_rows_go_round_alike() -> None:
    """CSR rows have the same cycle."""
    assert find_cycle(sparse.csr_array(CORNERS), XOR) == find_cycle(CORNERS, XOR)


def test_no_cycle_where_it_converges() -> None:
    """Separable rows end in no cycle."""
    assert find_cycle(CORNERS, [0, 0, 1, 0]) is None


def test_integers_only() -> None:
    """Other data are refused, since rounding would blur the answer."""
    with pytest.raises(InputError, match=r"Cycles are found on integers only; X holds 0\.5"):
        find_cycle([[0.5], [1]], [0, 1])
    with pytest.raises(InputError, match="zero must be one of 'mistake'"):
        find_cycle(CORNERS, XOR, zero="none")


@tries(40)
@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(0, 2)), min_size=2))
def test_a_cycle_proves_inseparability(rows: list[tuple[int, int, int]]) -> None:
    """The updates of a cycle add up to nothing, and the verdict agrees."""
    X, y = np.array([row[:2] for row in rows]), [row[2] for row in rows]
    if len(set(y)) < 2:
        y[0] += 1
    cycle = find_cycle(X, y, max_passes=200)
    if cycle is None:
        return
    total: dict[int, np.ndarray] = {}
    for row, rival, count in cycle.updates:
        assert rival != y[row]
        change = count * np.append(X[row], 1)
        total[y[row]] = total.get(y[row], np.zeros(3)) + change
        total[rival] = total.get(rival, np.zeros(3)) - change
    assert not any(change.any() for change in total.values())
    assert diagnose(X, y).status == "inseparable"

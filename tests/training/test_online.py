"""One row at a time, in a buffer."""

from math import inf, nan

import numpy as np
import pytest

from rosenblatt.kernels.single_rows import MISTAKE, NOT_FINITE, OUT_OF_RANGE, OVERFLOW, RIGHT
from rosenblatt.rules import PA, Perceptron
from rosenblatt.training.online import RowLearner
from rosenblatt.training.state import State


def test_learn_says_whether_it_was_a_mistake() -> None:
    """The first row always is one, the same again is not, another class is; then all tie."""
    learner = RowLearner(State.zeros(2, 3, averaged=True), Perceptron())
    learner.values[0] = 1.0, 0.0
    assert [learner.learn(k) for k in (2, 2, 0, 0)] == [MISTAKE, RIGHT, MISTAKE, MISTAKE]
    assert learner.state.count == 5


@pytest.mark.parametrize(("value", "what"), [(nan, NOT_FINITE), (-inf, NOT_FINITE)])
@pytest.mark.parametrize("room", [0, 4])
def test_bad_values_change_nothing(value: float, what: int, room: int) -> None:
    """A row that cannot be learned or decided says why and leaves the state alone."""
    learner = RowLearner(State.zeros(2, 3, averaged=True), Perceptron(), room=room)
    if room:
        learner.row.put([1, 0], [1.0, 2.0])
    else:
        learner.values[0] = 2.0, 1.0
    learner.learn(1)
    before = learner.state.weights.copy()
    (learner.row.data if room else learner.values[0])[1] = value
    assert learner.learn(2) == what
    assert learner.predict() == -what
    assert np.array_equal(learner.state.weights, before)
    assert learner.state.count == 2


@pytest.mark.parametrize("index", [-1, 2, 2**31 - 1])
def test_features_out_of_range_are_refused(index: int) -> None:
    """An index beyond the weights is seen before anything is read there."""
    learner = RowLearner(State.zeros(2, 3, averaged=True), Perceptron(), room=4)
    learner.row.put([0, index], [1.0, 2.0])
    assert learner.learn(1) == OUT_OF_RANGE
    assert learner.predict() == -OUT_OF_RANGE
    assert not learner.state.weights.any()


def test_rows_come_in_any_order() -> None:
    """Features are sorted, and two values of one are added; long rows too."""
    learner = RowLearner(State.zeros(200, 3, averaged=True), Perceptron(), room=256)
    learner.row.put([7, 3, 7, 5], [1.0, 2.0, 4.0, 8.0])
    learner.learn(1)
    assert learner.row.indices[:3].tolist() == [3, 5, 7]
    assert learner.row.data[:3].tolist() == [2.0, 8.0, 5.0]
    learner.row.put(range(199, -1, -1), range(200))
    learner.predict()
    assert learner.row.indices[:200].tolist() == list(range(200))
    assert learner.row.data[:200].tolist() == list(range(199, -1, -1))


def test_overflow_is_reported() -> None:
    """A step beyond float64 is not taken, and the row is not learned."""
    learner = RowLearner(State.zeros(1, 2, averaged=False), PA())
    learner.values[0] = 1e200
    assert learner.learn(1) == OVERFLOW
    assert learner.state.weights.tolist() == [0.0, 0.0]
    assert learner.state.count == 1

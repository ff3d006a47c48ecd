"""One row at a time."""

import numpy as np
import pytest

from rosenblatt.errors import InputError, WeightOverflowError
from rosenblatt.rules import PA, Perceptron
from rosenblatt.training.online import OnlineLearner
from rosenblatt.training.state import State


@pytest.fixture
def learner() -> OnlineLearner:
    """Return a learner of two features and three classes."""
    return OnlineLearner(State.zeros(2, 3, averaged=True), Perceptron())


def test_learn_says_whether_it_was_a_mistake(learner: OnlineLearner) -> None:
    """The first row always is one, the same again is not, another class is; then all tie."""
    assert [learner.learn([1.0, 0.0], k) for k in (2, 2, 0, 0)] == [True, False, True, True]
    assert learner.state.count == 5


@pytest.mark.parametrize(
    ("x", "label", "message"),
    [
        ([1.0], 0, "A row must be 2 numbers; got"),
        ([1.0, 2.0, 3.0], 0, "A row must be 2 numbers; got"),
        (["a", "b"], 0, "A row must be 2 numbers; got"),
        ([1.0, float("nan")], 0, "Feature 1 of the row is nan; it must be a finite number."),
        ([float("inf"), 0.0], 0, "Feature 0 of the row is inf; it must be a finite number."),
        ([1.0, 2.0], 3, "Label 3 is not a class number from 0 to 2."),
        ([1.0, 2.0], -1, "Label -1 is not a class number from 0 to 2."),
    ],
)
def test_bad_rows_change_nothing(
    learner: OnlineLearner, x: list[float], label: int, message: str
) -> None:
    """A row that cannot be learned is refused in words and leaves the state alone."""
    learner.learn([1.0, 2.0], 1)
    before = learner.state.snapshot()
    with pytest.raises(InputError, match=message.replace(".", r"\.")):
        learner.learn(x, label)
    assert np.array_equal(learner.state.weights.T, before.weights)
    assert learner.state.count == before.count


def test_one_class_is_refused() -> None:
    """There is nothing to learn from one class."""
    with pytest.raises(InputError, match="needs at least two classes; the state has 1"):
        OnlineLearner(State.zeros(2, 1, averaged=False), Perceptron())


def test_overflow_is_reported() -> None:
    """A step beyond float64 raises, and the row is not learned."""
    learner = OnlineLearner(State.zeros(1, 2, averaged=False), PA())
    with pytest.raises(WeightOverflowError, match="overflowed"):
        learner.learn([1e200], 1)
    assert learner.state.weights.tolist() == [0.0, 0.0]
    assert learner.state.count == 1

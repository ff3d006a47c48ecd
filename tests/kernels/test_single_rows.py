"""What the C module makes of single rows, against the definitions in plain Python."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.kernels.compiling.calling import calls, machine
from rosenblatt.kernels.single_rows import SingleRow, fill_in_python
from rosenblatt.rules import Perceptron
from rosenblatt.training.online import RowLearner
from rosenblatt.training.state import State

needs_c = pytest.mark.skipif(machine is None, reason=f"kernels are called by {calls}")

NUMBERS = {"a": 3, "b": 1, 7: 2, "c": 0, "long": 5}
NAMES = st.sampled_from([*NUMBERS, "new", ("a",), 8, "al"])
VALUES = st.one_of(
    st.floats(),
    st.floats().map(np.float64),
    st.booleans(),
    st.integers(-(2**64), 2**64),
    st.sampled_from([None, "text", np.float32(1), np.int64(1), 1j]),
)


def items(row: SingleRow) -> list[tuple[int, float]]:
    """Return the features of a row and their values, in order."""
    n = row.indptr[1]
    return sorted(zip(row.indices[:n].tolist(), row.data[:n].tolist(), strict=True))


@needs_c
@given(st.lists(st.dictionaries(NAMES, VALUES, max_size=5), max_size=6), st.booleans())
def test_dicts_become_the_rows_of_the_definition(
    dicts: list[dict[Any, Any]], remembers: bool
) -> None:
    """Whatever rows came before, a dict fits and has the items that plain Python gives it."""
    one, other = SingleRow(4), SingleRow(4)
    if remembers:
        one.remember(NUMBERS)
    for features in (features for features in dicts for _ in range(3)):
        fitted = machine.fill_row(one.native, NUMBERS, features)
        assert fitted is fill_in_python(other, NUMBERS, features)
        if fitted:
            assert str(items(one)) == str(items(other))


@needs_c
def test_equal_numbers_keep_the_order_of_the_dict() -> None:
    """Two names of one number, as by hashing, stand in the order of the dict, also when ranked."""
    row, numbers = SingleRow(4), {"x": 2, "y": 0, "z": 2}
    row.remember(numbers)
    for _ in range(4):
        assert row.fill(numbers, {"x": 1.0, "y": 2.0, "z": 3.0})
    assert row.indices[:3].tolist() == [0, 2, 2]
    assert row.data[:3].tolist() == [2.0, 1.0, 3.0]


@needs_c
def test_names_are_let_go_with_the_row() -> None:
    """A row holds the names of one row before, and none once it is gone."""
    from sys import getrefcount

    name = "a name of its own".replace("own", "ours")
    numbers = {name: 0}
    before = getrefcount(name), getrefcount(numbers)
    row = SingleRow(2)
    row.remember(numbers)
    for _ in range(3):
        row.fill(numbers, {name: 1.0})
    row.remember({})
    assert (getrefcount(name), getrefcount(numbers)) == before
    row.remember(numbers)
    row.fill(numbers, {name: 1.0})
    del row
    assert (getrefcount(name), getrefcount(numbers)) == before


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_are_learned_as_by_the_definition(
    n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Learned by the C module and by plain Python, rows give the same weights and answers."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 4)) * 10.0 ** rng.integers(0, 3, (60, 1))
    rows[13, 1], rows[29:31] = np.nan, (0.0, 1e308, 0.0, 0.0)
    labels = rng.integers(0, n_classes, 60).tolist()
    labels[29:31] = 0, 1

    def trained() -> list[Any]:
        learner = RowLearner(State.zeros(4, n_classes, averaged=True), Perceptron(1e300))
        found: list[Any] = []
        for x, label in zip(rows, labels, strict=True):
            learner.dense[...] = x
            found += [learner.predict(), learner.learn(label)]
        return [found, learner.state.weights.tobytes(), learner.state.ledger.tobytes()]  # type: ignore[union-attr]

    expected = trained()
    assert {0, 1, 2, 3} <= set(expected[0])
    monkeypatch.setattr("rosenblatt.kernels.single_rows.machine", None)
    assert trained() == expected

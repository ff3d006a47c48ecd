"""Differences, whole or sparse."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.distributed.changes import Change, fixed
from tests.examples import same_bits

arrays = st.integers(1, 40).flatmap(
    lambda n: st.lists(
        st.lists(
            st.one_of(st.just(0.0), st.just(0.0), st.floats(-1e9, 1e9)), min_size=n, max_size=n
        ),
        min_size=2,
        max_size=2,
    )
)


@given(arrays)
def test_both_forms_add_alike(drawn: list[list[float]]) -> None:
    """A sum has the bits of the sum of whole arrays, whichever form each side and it have."""
    a, b = np.array(drawn)
    whole = a + b
    forms = [[Change.of(x), Change(x, None, len(x))] for x in (a, b)]
    for left in forms[0]:
        for right in forms[1]:
            assert same_bits(left.plus(right).whole((len(a),)), whole)


def test_the_smaller_form_is_sent() -> None:
    """Twelve bytes a value that is not zero, or eight a value: whichever is less."""
    array = np.zeros((3, 100))
    array[1, 5:9] = 1.5
    sparse = Change.of(array)
    assert sparse.nbytes == 4 * 12
    assert same_bits(sparse.whole(array.shape), array)
    assert Change.of(np.ones((3, 100))).nbytes == 300 * 8


def test_a_sum_shares_no_memory() -> None:
    """What a worker keeps of a share is not changed by adding it to another."""
    for array in (np.ones(10), np.eye(1, 10)[0]):
        one, other = Change.of(array.copy()), Change.of(array.copy())
        total = one.plus(other)
        total.values[:] = -7.0
        assert same_bits(one.whole((10,)), array)
        assert same_bits(other.whole((10,)), array)


def test_a_fixed_array_is_a_copy_that_cannot_be_written() -> None:
    """The weights of the coordinator can go on while those that were sent stay."""
    weights = np.arange(4.0)
    sent = fixed(weights)
    weights += 1
    assert sent.tolist() == [0, 1, 2, 3]
    assert not sent.flags.writeable

import threading
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import BoundCall, calling, compiled


class Pair(NamedTuple):
    """A tuple within the arguments."""

    first: Any
    second: Any


TRUE, FALSE = True, False


class Sums(NamedTuple):
    """A result."""

    whole: int
    real: float
    right: bool
    word: Any


@compiled
def everything(
    grid: NDArray[Any], pair: Pair, nothing: None, whole: Any, real: float, right: Any, word: Any
) -> Sums:
    """Return something of every argument."""
    total = 0.0
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            total += grid[i, j] * (i + 1)
    if nothing is None:
        total += real
    return Sums(whole + len(pair.first), total + pair.second, not right, word)


@compiled
def divided(numbers: Any, by: int) -> int:
    """Raise where the divisor is 0, which no kernel may do."""
    if by == 0:
        raise ValueError
    return len(numbers) // by


@compiled
def slow_sum(numbers: NDArray[Any], out: NDArray[Any]) -> float:
    """Return a sum that takes a while, and write it too."""
    total = 0.0
    for _ in range(200):
        for j in range(len(numbers)):
            total += numbers[j]
    out[0] = total
    return total


@pytest.fixture(params=["C", "ctypes"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Call kernels by the C module, and by what stands in for it."""
    if request.param == "ctypes":
        monkeypatch.setattr(calling, "machine", None)
        monkeypatch.setattr(calling, "call", calling.call_by_ctypes)
        monkeypatch.setattr(calling, "flatten", calling.flatten_in_python)
    elif calling.machine is None:
        pytest.skip(f"kernels are called by {calling.calls}")
    return str(request.param)


WORDS = st.integers(-(2**63), 2**63 - 1)
ARRAYS = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.int32, np.uint8, np.bool_]),
    hnp.array_shapes(min_dims=1, max_dims=4, max_side=3),
)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        WORDS,
        st.floats(),
        WORDS.map(np.int64),
        st.floats().map(np.float64),
        st.integers(0, 2**64 - 1).map(np.uint64),
        ARRAYS,
        ARRAYS.map(lambda array: array.T),
        ARRAYS.map(lambda array: array[::2]),
    ),
    lambda inner: st.one_of(st.builds(Pair, inner, inner), st.lists(inner, max_size=3).map(tuple)),
    max_leaves=8,
)


@given(st.lists(VALUES, max_size=6).map(tuple))
def test_the_c_module_sees_arguments_as_plain_python_does(arguments: tuple[Any, ...]) -> None:
    """Its ``flatten`` returns the key and the words of the definition."""
    if calling.machine is None:
        pytest.skip(f"kernels are called by {calling.calls}")
    assert calling.machine.flatten(arguments) == calling.flatten_in_python(arguments)


@pytest.mark.parametrize("flatten", [calling.flatten, calling.flatten_in_python])
def test_arguments_without_a_form(flatten: Any) -> None:
    """What is no number, array or tuple has no key, nor what takes more words than a frame has."""
    nested: tuple[Any, ...] = ()
    for _ in range(100):
        nested = (nested,)
    huge = (0.5,) * 247
    for argument in ("", [1], np.float32(1), np.zeros((1,) * 5), nested, huge, 1j, bytearray(8)):
        assert flatten((argument,)) is None, argument
    assert flatten(huge[:180]) is not None
    for argument in (1 << 63, -(1 << 63) - 1):
        with pytest.raises(OverflowError):
            flatten((argument,))


def test_keys_tell_arrays_apart() -> None:
    """Element type, dimensions, layout, alignment and permission to write are in the key."""
    grid = np.zeros((4, 4))
    fixed = np.zeros((4, 4))
    fixed.flags.writeable = False
    shifted = np.zeros(129, np.uint8)[1:].view(np.float64).reshape(4, 4)
    forms = (grid, fixed, shifted, np.asfortranarray(grid), grid[::2], grid[0], grid.view(np.int64))
    keys = {calling.flatten((array,)) and calling.flatten((array,))[0] for array in forms}  # type: ignore[index]
    assert None not in keys
    assert len(keys) == len(forms)
    assert calling.flatten((grid,))[0] == calling.flatten((np.ones((2, 3)),))[0]  # type: ignore[index]


def test_damaged_calls_of_the_c_module_raise() -> None:
    """Whatever it is given that is not what it asks for is an exception."""
    module = calling.machine
    if module is None:
        pytest.skip(f"kernels are called by {calling.calls}")
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (module.call, ({},)),
        (module.call, ({}, [1])),
        (module.call, ([], (1,))),
        (module.call, ({module.flatten(())[0]: ()}, ())),
        (module.bind, ({}, [1], 0)),
        (module.run, (None, 1)),
        (module.row, (np.zeros(3), np.zeros(3), np.zeros(2, np.int64))),
        (module.row, (np.zeros(3), np.zeros(3, np.int32))),
        (module.remember, (None, {}, True)),
        (module.fill_row, (None, {}, {})),
        (module.learn_row, (None, None, None, 1)),
        (module.decide_row, (None, 1, None, {}, {})),
        (module.decide_row, (1,)),
    ]
    row = module.row(np.zeros(3), np.zeros(3, np.int32), np.zeros(2, np.int64))
    calls += [(module.fill_row, (row, {}, [])), (module.fill_row, (row, [], {"a": 1.0}))]
    for function, arguments in calls:
        with pytest.raises((TypeError, ValueError, SystemError, IndexError)):
            function(*arguments)


@pytest.mark.parametrize("grid", [np.ones((2, 3)), np.ones((3, 2)).T, np.ones((4, 3))[::2]])
def test_arguments_and_results(way: str, grid: NDArray[Any]) -> None:
    """Arrays of any layout, tuples, None and numbers arrive, and a named tuple comes back."""
    word = np.uint64(2**63 + 1)
    found = everything(grid, Pair(np.zeros(5), 0.5), None, -7, 0.25, TRUE, word)
    assert found == Sums(-2, 9.75, FALSE, 2**63 + 1), way
    assert [type(value) for value in found] == [int, float, bool, int]
    assert found == everything.plain(  # type: ignore[attr-defined]
        grid, Pair(np.zeros(5), 0.5), None, -7, 0.25, TRUE, word
    )


def test_values_of_numpy_and_files_in_memory(way: str, tmp_path: Path) -> None:
    """Numbers of NumPy's types count as Python's, and a file in memory as an array."""
    np.save(tmp_path / "grid.npy", np.ones((2, 3)))
    grid = np.load(tmp_path / "grid.npy", mmap_mode="r")
    pair = Pair(np.zeros(5, np.float32), np.float32(0.5))
    found = everything(
        grid, pair, None, np.int32(-7), np.float64(0.25), np.bool_(TRUE), np.uint64(3)
    )
    assert found == Sums(-2, 9.75, FALSE, 3), way


@pytest.mark.usefixtures("way")
def test_what_has_no_form_is_refused() -> None:
    """A word, an array of objects or a number of more than 64 bits is an error that names it."""
    with pytest.raises(TypeError, match="No kernel takes a str: 'word'"):
        divided("word", 1)
    with pytest.raises(TypeError, match="No kernel takes an array of object"):
        divided(np.array([None]), 1)
    with pytest.raises(TypeError, match="No kernel takes an array of >f8"):
        divided(np.zeros(3, ">f8"), 1)
    with pytest.raises(OverflowError):
        divided(np.zeros(3), 2**64)
    assert divided(np.zeros(3), 1) == 3


@pytest.mark.usefixtures("way")
def test_an_exception_in_a_kernel_is_noticed() -> None:
    """A kernel that raises, against the rule, is an error and not a result."""
    with pytest.raises(RuntimeError, match="divided raised an exception"):
        divided(np.zeros(3), 0)
    assert divided(np.zeros(3), 2) == 1


@pytest.mark.usefixtures("way")
def test_threads_have_calls_of_their_own() -> None:
    """Threads that call one kernel at the same time each get their own result."""
    results: dict[int, list[bool]] = {}

    def call(k: int) -> None:
        numbers, out = np.full(500, float(k)), np.zeros(1)
        sums = [(slow_sum(numbers, out), float(out[0])) for _ in range(100)]
        results[k] = [pair == (100_000.0 * k, 100_000.0 * k) for pair in sums]

    threads = [threading.Thread(target=call, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all(all(found) for found in results.values())


@pytest.mark.usefixtures("way")
def test_a_bound_call_varies_one_number() -> None:
    """A bound call gives what the kernel gives, again and again, and raises where that does."""
    numbers = np.arange(12.0)
    call = BoundCall(divided, numbers, 1, varying="by")
    assert [call(by) for by in (1, 2, 3, 5, 12, 13)] == [12, 6, 4, 2, 1, 0]
    with pytest.raises(RuntimeError, match="divided raised an exception"):
        call(0)
    out = np.zeros(1)
    total = BoundCall(slow_sum, numbers, out)
    assert [total(), total(), out[0]] == [13200.0] * 3
    numbers[0] = 1.0
    assert total() == 13400.0

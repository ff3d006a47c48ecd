"""The dot product in lanes."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import compiled
from rosenblatt.kernels.vector import lane_dot, lane_dot_reference
from tests.examples import same_bits
from tests.reference import lane_sum


@compiled
def dot(x: NDArray[Any], y: NDArray[Any], start: int, length: int) -> float:
    """Call the intrinsic, which only compiled code can."""
    total: float = lane_dot(x, start, y, start, length)
    return total


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 31, 32, 100, 1000])
def test_lanes_add_in_a_fixed_order(dtype: type, length: int) -> None:
    """The compiled product, its Python twin and plain lists in 16 lanes agree to the last bit."""
    rng = np.random.default_rng(length)
    x: NDArray[Any] = (rng.standard_normal(length + 3) * 50 + 100).astype(dtype)
    y = rng.standard_normal(length + 3)
    ours = dot(x, y, 3, length)
    listed = [float(a) * float(b) for a, b in zip(x[3:], y[3:], strict=True)]
    assert same_bits(ours, lane_dot_reference(x[3:], y[3:]))
    assert same_bits(ours, lane_sum(listed, 16))

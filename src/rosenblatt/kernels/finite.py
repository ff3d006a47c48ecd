"""A look for values that are not finite."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import compiled


@compiled
def first_not_finite(values: NDArray[Any]) -> int:
    """Return the position of the first NaN or infinity in array.flat, or −1."""
    flat = values.flat
    for p in range(values.size):
        if not np.isfinite(flat[p]):
            return p
    return -1

"""Labels as the kernels read them: −1 and +1 for two classes, class numbers for more."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 16  # rows at a time, so that a wide intermediate never has the length of the data


def encode(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the target of each row; what a label that is no class becomes is not defined."""
    binary = len(classes) == 2
    targets = np.empty(len(y), np.int8 if binary else np.int32)
    for start in range(0, len(y), BLOCK):
        numbers = np.searchsorted(classes, y[start : start + BLOCK]).clip(max=len(classes) - 1)
        targets[start : start + BLOCK] = 2 * numbers - 1 if binary else numbers
    return targets

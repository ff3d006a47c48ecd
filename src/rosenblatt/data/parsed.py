"""What a parser makes of a block of text, before it is known where in a file the block stands."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Label
from rosenblatt.data.line import Numbering

# What rounds to the infinity of float32: half a step above its largest number.
FLOAT32_LIMIT = float(np.ldexp(2 - 2.0**-24, 127))


class Parsed(NamedTuple):
    """The rows of a block; ``labels`` are numbers into ``distinct``."""

    data: NDArray[Any]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    labels: NDArray[np.int32]
    distinct: list[Label]  # in order of appearance; +1 and 1 may both be there, as two
    queries: NDArray[np.int64] | None
    lowest: int  # of the indices; where there is none, the highest there can be
    n_features: int  # one more than the highest index
    n_lines: int


def numbering_for(base: int, dtype: np.dtype[Any], *, detected: bool = False) -> Numbering:
    """Return how features are numbered and what values there can be in this type."""
    limit = FLOAT32_LIMIT if dtype == np.float32 else np.inf
    return Numbering(base, limit, detected)

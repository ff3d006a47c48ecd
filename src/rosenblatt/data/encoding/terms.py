"""The distinct terms of each row of a text column."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Terms(NamedTuple):
    """Row i has the terms keys[indptr[i]:indptr[i + 1]], each once, in order of appearance."""

    keys: NDArray[np.uint64]  # the lower bits of the hash, as many as were asked for
    counts: NDArray[np.float32]  # how often the row has it; with a minus sign for a pair
    indptr: NDArray[np.int64]
    starts: NDArray[np.int32]  # where in ``spelled`` the term stands
    stops: NDArray[np.int32]
    spelled: NDArray[np.uint8]  # words in lower case, one space between them, in UTF-8

    def held(self) -> "Terms":
        """Return a copy that nobody writes to."""
        return Terms(
            self.keys.copy(),
            self.counts.copy(),
            self.indptr,
            self.starts.copy(),
            self.stops.copy(),
            self.spelled.copy(),
        )

"""What terms weigh in their rows, compiled; ``shares.plain_shares`` is the definition."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import compiled


def scanned_shares(
    numbers: NDArray[Any], counts: NDArray[np.float32], indptr: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]:
    """Return indices, values and indptr, the same as ``plain_shares``."""
    indices, values = np.empty(len(numbers), np.int32), np.empty(len(numbers), np.float32)
    kept = np.empty(len(indptr), np.int64)
    n_known = _write_shares(numbers, counts, indptr, indices, values, kept)
    return indices[:n_known], values[:n_known], kept


@compiled
def _write_shares(
    numbers: NDArray[Any],
    counts: NDArray[np.float32],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float32],
    kept: NDArray[np.int64],
) -> Any:
    """Write the known terms of each row; return how many there are."""
    n_known = 0
    kept[0] = 0
    for row in range(len(indptr) - 1):
        start, stop = indptr[row], indptr[row + 1]
        row_numbers, row_counts = numbers[start:stop], counts[start:stop]
        row_indices, row_values = indices[n_known:], values[n_known:]
        n_own = 0
        for k in range(stop - start):  # what is unknown is written over by what comes next
            row_indices[n_own] = row_numbers[k]
            row_values[n_own] = row_counts[k]
            n_own += row_numbers[k] >= 0
        own = row_values[:n_own]
        n_words, n_pairs = 0, 0
        for k in range(n_own):
            count = int(own[k])
            n_words += max(count, 0)
            n_pairs += min(count, 0)
        of_words, of_pairs = np.float32(1 / n_words), np.float32(1 / n_pairs)
        for k in range(n_own):
            own[k] = np.sqrt(own[k] * (of_words if own[k] > 0 else of_pairs))
        n_known += n_own
        kept[row + 1] = n_known
    return n_known

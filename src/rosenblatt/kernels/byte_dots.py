"""Dot products of rows of bytes in whole numbers: exact, and faster than BLAS in float32.

Features are taken in pairs. A row on the left is the list of its pairs that are not zero; rows on
the right stand in panels of 32, feature by feature, so that one pair on the left meets 32 rows in
four instructions that multiply 16 numbers of 16 bits and add them by twos. Nothing is done for what
is zero on the left, which in pictures is most. Measured on MNIST, 2,048 × 256 rows: 1.6 ms in one
thread, against 4.8 ms for BLAS in float32 in two, which at this size is not even exact by itself.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled, instruction

LANES = 32  # rows of a panel; with 16 or 64 the same takes 2.0 ms
MOST_FEATURES = (2**31 - 1) // 255**2  # beyond, a sum could leave 32 bits


@instruction("rosenblatt.kernels.emission.byte_dots")
def pair_sums(
    words: NDArray[Any],
    places: NDArray[Any],
    start: int,
    stop: int,
    panel: NDArray[Any],
    first: int,
    out: NDArray[Any],
    where: int,
) -> None:
    """Write to out.flat[where:] the dot products of one row on the left with the 32 of a panel.

    ``words`` and ``places`` from start to stop are its pairs, two numbers of 16 bits in each word;
    the panel begins at panel.flat[first].
    """
    rows = panel.reshape(-1)[first:].reshape(-1, LANES, 2)
    low, high = words[start:stop] & 0xFFFF, words[start:stop] >> 16
    pairs = rows[places[start:stop]].astype(np.int32)
    sums = (low[:, None] * pairs[..., 0] + high[:, None] * pairs[..., 1]).sum(axis=0)
    out.reshape(-1)[where : where + LANES] = sums


@compiled
def pack_pairs(
    rows: NDArray[Any],  # of bytes
    words: Changed[NDArray[Any]],  # int32, room for every pair
    places: Changed[NDArray[Any]],  # uint16, likewise
    ends: Changed[NDArray[Any]],  # where each row's pairs end
) -> int:
    """Write the pairs of features that are not zero, and return how many they are."""
    n_features, p = rows.shape[1], 0
    for i in range(len(rows)):
        for j in range(0, n_features, 2):
            word = np.int32(rows[i, j])
            if j + 1 < n_features:
                word |= np.int32(rows[i, j + 1]) << 16
            if word != 0:
                words[p] = word
                places[p] = j // 2
                p += 1
        ends[i] = p
    return p


@compiled
def fill_panels(rows: NDArray[Any], panels: Changed[NDArray[Any]]) -> None:
    """Change panels, zeros of shape (n_panels, n_pairs, 32, 2), to hold these rows of bytes."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            panels[i // LANES, j // 2, i % LANES, j % 2] = rows[i, j]


@compiled
def panel_dots(
    words: NDArray[Any],
    places: NDArray[Any],
    bounds: NDArray[Any],  # where the pairs of each packed row begin, and the last ends
    chosen: NDArray[Any],  # which of the packed rows
    panels: NDArray[Any],
    begin: int,
    end: int,  # of the chosen ones, so that threads can share the work
    out: Changed[NDArray[Any]],  # int32, (chosen, 32·panels)
) -> None:
    """Write the dot products of packed rows with all rows of the panels."""
    size = panels.shape[1] * LANES * 2
    for panel in range(panels.shape[0]):
        for i in range(begin, end):
            start, stop = bounds[chosen[i]], bounds[chosen[i] + 1]
            where = i * out.shape[1] + panel * LANES
            pair_sums(words, places, start, stop, panels, panel * size, out, where)

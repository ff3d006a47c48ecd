"""Rows with the cells of blocks of columns behind their own features; see ``encoding.grids``."""

from typing import Any

from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled
from rosenblatt.kernels.rows import CSR


@compiled
def write_cells(
    rows: CSR,
    owners: NDArray[Any],  # the column that each feature is a level of, −1: none
    codes: NDArray[Any],  # of each feature within its column
    default: NDArray[Any],  # the code of each column in a row without a level
    places: NDArray[Any],  # (n_blocks, most columns) of a block, −1 behind the last
    starts: NDArray[Any],  # where the cells of the codes of such a column begin in ``numbers``
    sizes: NDArray[Any],  # how many cells it has
    numbers: NDArray[Any],
    lookups: NDArray[Any],  # (n_blocks,), where the features of a block begin in ``features``
    features: NDArray[Any],
    row: Changed[NDArray[Any]],  # room for a code a column
    data: Changed[NDArray[Any]],
    indices: Changed[NDArray[Any]],
) -> None:
    """Write the values and features of each row, and then one feature of value 1 a block."""
    place = 0
    for i in range(len(rows.indptr) - 1):
        for k in range(len(default)):
            row[k] = default[k]
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            feature = rows.indices[p]
            if owners[feature] >= 0:
                row[owners[feature]] = codes[feature]
            data[place] = rows.data[p]
            indices[place] = feature
            place += 1
        for b in range(len(lookups)):
            cell = 0
            for k in range(places.shape[1]):
                if places[b, k] >= 0:
                    cell = cell * sizes[b, k] + numbers[starts[b, k] + row[places[b, k]]]
            data[place] = 1.0
            indices[place] = features[lookups[b] + cell]
            place += 1

"""Rows with the cells of blocks of columns behind their own features; see ``encoding.grids``."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled
from rosenblatt.kernels.rows import CSR


class LevelCodes(NamedTuple):
    """The columns that features are levels of."""

    owners: NDArray[Any]  # of each feature, −1: none
    codes: NDArray[Any]  # of each feature within its column
    default: NDArray[Any]  # the code of each column in a row without a level


class CellPlaces(NamedTuple):
    """Where the features of the cells of blocks are looked up."""

    places: NDArray[Any]  # (n_blocks, most columns) of a block, −1 behind the last
    starts: NDArray[Any]  # where the cells of the codes of such a column begin in ``numbers``
    sizes: NDArray[Any]  # how many cells it has
    numbers: NDArray[Any]
    lookups: NDArray[Any]  # (n_blocks,), where the features of a block begin in ``features``
    features: NDArray[Any]


@compiled
def write_cells(
    rows: CSR,
    levels: LevelCodes,
    cells: CellPlaces,
    codes: Changed[NDArray[Any]],  # room for one a column
    data: Changed[NDArray[Any]],
    indices: Changed[NDArray[Any]],
) -> None:
    """Write the values and features of each row, and then one feature of value 1 a block."""
    place = 0
    for i in range(len(rows.indptr) - 1):
        for k in range(len(levels.default)):
            codes[k] = levels.default[k]
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            feature = rows.indices[p]
            if levels.owners[feature] >= 0:
                codes[levels.owners[feature]] = levels.codes[feature]
            data[place] = rows.data[p]
            indices[place] = feature
            place += 1
        for b in range(len(cells.lookups)):
            cell = 0
            for k in range(cells.places.shape[1]):
                column = cells.places[b, k]
                if column >= 0:
                    number = cells.numbers[cells.starts[b, k] + codes[column]]
                    cell = cell * cells.sizes[b, k] + number
            data[place] = 1.0
            indices[place] = cells.features[cells.lookups[b] + cell]
            place += 1

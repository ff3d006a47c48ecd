"""A list of mistakes as arrays of a model file, and back.

Files are not trusted: everything read is checked before use.
"""

from collections.abc import Mapping
from math import inf, ulp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.stored_arrays import ArraySpec, StoredArrays
from rosenblatt.kernels.counts import Log
from rosenblatt.kernels.rows import CSR, Dense, Rows
from rosenblatt.kernels.shapes import row_arrays
from rosenblatt.mistakes.updates import Mistakes, Support

PREFIX = "mistakes."
KERNEL_PREFIX = "kernel."  # of arrays that stand in place of weights
OWNER = "The list of mistakes in the model"
VALUES = (np.float64, np.float32, np.uint8)
WHOLE = (np.int64, np.int32)
ABOVE_ZERO = ulp(0.0)
MOST_ROWS = int(np.iinfo(np.int64).max)
LIST_ARRAYS = {
    "numbers": ArraySpec((np.int64,), ("rows",), 0, "met"),  # of the rows that taught, in training
    "tau": ArraySpec((np.float64,), ("updates",), ABOVE_ZERO),
    "row": ArraySpec((np.int64,), ("updates",), 0, "rows"),  # among those rows
    "seen": ArraySpec((np.int64,), ("updates",), "start", "count"),
    "label": ArraySpec((np.int32,), ("updates",), "class", "last class"),
    "rival": ArraySpec((np.int32,), ("updates",), "class", "last class"),
    "values": ArraySpec(VALUES, ("rows", "features"), -inf),  # of dense rows
    "data": ArraySpec(VALUES, ("entries",), -inf),  # of sparse rows
    "indices": ArraySpec(WHOLE, ("entries",), 0, "features"),
    "indptr": ArraySpec(WHOLE, ("rows+1",), 0, order="rising"),
}
Arrays = dict[str, NDArray[Any]]


def list_arrays(mistakes: Mistakes) -> Arrays:
    """Return the updates, and once each row that made one, under names for a file."""
    found = mistakes.updates._asdict()
    if mistakes.support is not None:
        found |= support_arrays(mistakes.support.numbers, mistakes.support.rows)
    return {f"{PREFIX}{name}": array.copy() for name, array in found.items()}


def support_arrays(numbers: NDArray[Any], rows: Rows | None) -> Arrays:
    """Return rows that taught, with their numbers in training, by name."""
    return {"numbers": numbers} | ({} if rows is None else row_arrays(rows))


def read_list(
    arrays: Mapping[str, NDArray[Any]],
    n_vectors: int,
    n_features: int,
    constant: float,
    count: int,
    *,
    joint: bool = True,
) -> Mistakes:
    """Return the updates of a linear learner up to a count of rows, or raise InputError.

    Not ``joint``: each vector has updates of its own.
    """
    found = StoredArrays(arrays, LIST_ARRAYS, OWNER, PREFIX)
    # 0 is the count of updates before a late average began
    found.expect({"met": MOST_ROWS, "start": 0, "count": MOST_ROWS})
    numbers = found["numbers"]
    support = Support(read_rows(found, n_features, constant), numbers)
    mistakes = Mistakes(read_updates(found, n_vectors, joint=joint), count, support)
    return Mistakes(mistakes.before(count), count, support)  # early stopping may have gone back


def read_updates(found: StoredArrays, width: int, *, joint: bool) -> Log:
    """Return the updates of a learner with so many scores a row, in the order of time."""
    between = joint and width > 1  # of classes by their numbers, else ±(column + 1)
    end = width if between else width + 1
    found.expect({"class": 0 if between else 1 - end, "last class": end})
    tau, row, seen, label, rival = (
        found[name] for name in ("tau", "row", "seen", "label", "rival")
    )
    fits = label != rival if between else (label == -rival) & (label != 0)
    found.check("rival", fits.all())
    one_at_a_time = joint or width == 1  # else learners may step together
    n_before = np.count_nonzero(seen == 0)  # the average began
    apart = np.diff(seen[n_before:]) >= int(one_at_a_time)
    found.check("seen", apart.all() and not seen[:n_before].any())
    return Log(row, label, rival, tau, seen)


def read_rows(found: StoredArrays, n_features: int, constant: float) -> Rows:
    """Return the rows that taught, dense or sparse."""
    found.expect({"features": n_features})
    if "values" in found:
        return Dense(found["values"], constant)
    data, indices = found["data"], found["indices"]
    indptr = found.ends("indptr", len(data)).astype(np.int64, copy=False)
    return CSR(data, indices, indptr, n_features, constant)

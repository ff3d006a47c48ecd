"""Some rows of many as a matrix of their own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.rows import CSR


def chosen_rows(rows: CSR, numbers: NDArray[Any]) -> CSR:
    """Return the rows of these numbers, in their order."""
    starts, ends = rows.indptr[numbers], rows.indptr[numbers + 1]
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - starts, dtype=np.int64)])
    places = np.repeat(starts - indptr[:-1], ends - starts) + np.arange(indptr[-1])
    return rows._replace(data=rows.data[places], indices=rows.indices[places], indptr=indptr)

"""Rows that a model is asked about."""

import numpy as np
from scipy import sparse

from rosenblatt.models.rows import batch_of


def test_a_sparse_matrix_stays_as_it_is() -> None:
    """A value given twice is summed in the batch, never in the caller's own arrays."""
    data, indices, indptr = np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])
    matrix = sparse.csr_array((data, indices, indptr), shape=(1, 3))
    batch = batch_of(matrix)
    assert (batch.indices.tolist(), batch.data.tolist()) == ([0, 2], [2.0, 5.0])
    assert (data.tolist(), indices.tolist()) == ([1.0, 2.0, 4.0], [2, 0, 2])

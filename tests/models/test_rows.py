"""Rows that a model is asked about."""

from pathlib import Path

import numpy as np
from scipy import sparse

from rosenblatt.data.files import Columns, Files, Layout, encoded
from rosenblatt.models.rows import batch_of, read_rows


def test_a_sparse_matrix_stays_as_it_is() -> None:
    """A value given twice is summed in the batch, never in the caller's own arrays."""
    data, indices, indptr = np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])
    matrix = sparse.csr_array((data, indices, indptr), shape=(1, 3))
    batch = batch_of(matrix)
    assert (batch.indices.tolist(), batch.data.tolist()) == ([0, 2], [2.0, 5.0])
    assert (data.tolist(), indices.tolist()) == ([1.0, 2.0, 4.0], [2, 0, 2])


def test_rows_are_encoded_as_those_that_were_read(tmp_path: Path) -> None:
    """The same file, read beside rows that were read and scaled, gives the same rows."""
    path = tmp_path / "t.csv"
    lines = [f"{k % 7 * 100},{'abc'[k % 3]},{'yes' if k % 7 > 3 else 'no'}\n" for k in range(60)]
    path.write_text("x,c,label\n" + "".join(lines))
    trained = read_rows([str(path)], Layout(), Columns(label="label"))
    assert trained.encoding is not None
    files = Files([str(path)], Layout())
    (batch,) = encoded(files, trained.encoding, trained.classes, learn=True)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(batch, name), getattr(trained.rows, name))
    assert batch.labels.tolist() == trained.numbers.tolist()

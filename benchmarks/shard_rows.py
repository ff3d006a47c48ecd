"""Rows that workers make up themselves, so that no client ever holds them."""

import numpy as np

from rosenblatt.distributed.parts import Part
from rosenblatt.kernels.rows import CSR

VALUES_PER_ROW = 50
BYTES_PER_VALUE = 8  # a float32 and a 32-bit index
NOISE = 0.4  # of the spread of the scores: every pass errs on about one row in six


def made_part(number: int, n_rows: int, n_features: int) -> Part:
    """Return rows with one value in each of fifty ranges of features, and labels that overlap."""
    generator = np.random.default_rng(number)
    width = n_features // VALUES_PER_ROW
    starts = np.arange(VALUES_PER_ROW, dtype=np.int32) * width
    indices = generator.integers(0, width, (n_rows, VALUES_PER_ROW), dtype=np.int32) + starts
    data = generator.standard_normal((n_rows, VALUES_PER_ROW), dtype=np.float32)
    hidden = np.random.default_rng(2**32).standard_normal(n_features).astype(np.float32)
    scores = np.einsum("ij,ij->i", data, hidden[indices])
    blur = NOISE * scores.std() * generator.standard_normal(n_rows)
    rows = CSR(
        data.reshape(-1),
        indices.reshape(-1),
        np.arange(n_rows + 1, dtype=np.int64) * VALUES_PER_ROW,
        n_features,
        1.0,
    )
    return Part(rows, (scores + blur > 0).astype(np.int32))

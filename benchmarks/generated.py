"""Rows made up to overlap, so that every pass of a perceptron errs on about one row in six.

Mistakes cost time, and a learner that runs out of them stops: both would blur a comparison.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

RANK = 50  # of dense rows: as many rows as features would be separable if they spanned all of it
NOISE = 0.4  # of the spread of the scores


def dense_rows(n_rows: int, n_features: int, dtype: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return an array and its labels; bytes are like those of an image, half of them zero."""
    generator = np.random.default_rng(0)
    rank = min(RANK, n_features)
    hidden = generator.standard_normal((n_rows, rank), dtype=np.float32)
    spread = generator.standard_normal((rank, n_features), dtype=np.float32)
    X = hidden @ (spread / np.float32(np.sqrt(rank)))
    y = _noisy_labels(hidden @ generator.standard_normal(rank), NOISE, generator)
    if np.dtype(dtype) == np.uint8:
        X = (X * 60).clip(0, 255)
    return np.ascontiguousarray(X, dtype=dtype), y


def zipf_rows(
    n_rows: int, dtype: Any, n_features: int = 47_000, draws: int = 63
) -> tuple[sparse.csr_matrix, NDArray[Any]]:
    """Return a CSR matrix like one of words: a few columns in most rows, most columns in few.

    The columns of frequent words are scattered, as they are in any real vocabulary.
    """
    generator = np.random.default_rng(0)
    popularity = 1.0 / np.arange(10, n_features + 10)
    ends = np.cumsum(popularity)
    words = np.searchsorted(ends, generator.random(n_rows * draws) * ends[-1])
    columns = generator.permutation(n_features)[words].reshape(n_rows, draws)
    columns.sort(axis=1)
    kept = np.ones(columns.shape, bool)
    kept[:, 1:] = columns[:, 1:] != columns[:, :-1]
    indptr = np.concatenate(([0], kept.sum(axis=1).cumsum())).astype(np.int32)
    indices = columns[kept].astype(np.int32)
    data = generator.exponential(size=len(indices)).astype(dtype)
    X = sparse.csr_matrix((data, indices, indptr), shape=(n_rows, n_features))
    return X, _noisy_labels(X @ generator.standard_normal(n_features), NOISE, generator)


def _noisy_labels(
    scores: NDArray[Any], noise: float, generator: np.random.Generator
) -> NDArray[Any]:
    """The side of a hyperplane, blurred by noise of this share of the spread of the scores."""
    blur = noise * scores.std() * generator.standard_normal(len(scores))
    labels: NDArray[Any] = (scores - np.median(scores) + blur > 0).astype(np.int64)
    return labels

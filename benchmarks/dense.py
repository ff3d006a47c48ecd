"""An epoch over dense rows, against scikit-learn's perceptron and against the limit."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.figure import Figure, share_of_limit, speed_up
from benchmarks.generated import dense_rows
from benchmarks.peers import limit_of, perceptron, sklearn_perceptron
from benchmarks.stopwatch import Scale, epoch_times

PASSES = 9

# rows, features, type, how many times as fast as scikit-learn
CASES: tuple[tuple[int, int, Any, float], ...] = (
    (300_000, 100, np.float32, 6.0),
    (60_000, 784, np.float32, 3.7),
    (60_000, 784, np.float64, 2.7),
    (60_000, 784, np.uint8, 8.5),
    (10_000, 5_000, np.float32, 4.0),
    (10_000, 5_000, np.float64, 2.6),
)


def figures(scale: Scale) -> Iterator[Figure]:
    """Yield the speed-up and the share of the limit for each shape and type."""
    for case in CASES:
        yield from epoch(*case, scale)


def epoch(
    n_rows: int, n_features: int, dtype: Any, target: float, scale: Scale
) -> Iterator[Figure]:
    """Yield the speed-up and the share of the limit."""
    X, y = dense_rows(scale.rows(n_rows), n_features, dtype)
    theirs = X.astype(np.float32) if dtype is np.uint8 else X  # bytes they would turn to double
    times = epoch_times(
        {"ours": perceptron(X, y), "sklearn": sklearn_perceptron(theirs, y)},
        PASSES,
        scale,
        others={"limit": limit_of(X)},
    )
    what = f"{len(X):,} × {n_features:,} {np.dtype(dtype)}"
    peer = f"sklearn Perceptron ({theirs.dtype})"
    yield speed_up(what, times["ours"], times["sklearn"], peer, target)
    yield share_of_limit(f"{what}: share of the limit", times["ours"], times["limit"])

"""An epoch over data much larger than the cache: shuffled by groups against shuffled as a whole."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.figure import Figure, speed_up
from benchmarks.generated import dense_rows, zipf_rows
from benchmarks.stopwatch import Fit, Scale, epoch_times

SPEED_UP = 2.0
PASSES = 4
DENSE_ROWS, CSR_ROWS = 5_000_000, 2_700_000  # 2 GB each

Source = Callable[[], tuple[Any, NDArray[Any]]]


def figures(scale: Scale) -> Iterator[Figure]:
    """Yield the speed-up for dense and for CSR rows."""
    cases: dict[str, Source] = {
        "dense, 100 float32 a row": partial(dense_rows, scale.rows(DENSE_ROWS), 100, np.float32),
        "CSR, 60 float64 a row": partial(zipf_rows, scale.rows(CSR_ROWS), np.float64),
    }
    for name, source in cases.items():
        X, y = source()
        times = epoch_times(
            {"groups": _perceptron(X, y, order=True), "whole": _perceptron(X, y, "full")},
            PASSES,
            scale,
        )
        what = f"shuffle=True: {name}, {X.shape[0]:,} rows"
        yield speed_up(what, times["groups"], times["whole"], 'shuffle="full"', SPEED_UP)
        del X, y


def _perceptron(X: Any, y: NDArray[Any], order: Any) -> Fit:
    from rosenblatt import Perceptron

    return lambda passes: Perceptron(max_iter=passes, shuffle=order).fit(X, y)

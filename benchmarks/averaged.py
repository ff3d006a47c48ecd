"""What averaging and variances add to an epoch, and how it stands against scikit-learn's."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.figure import Figure, price, speed_up
from benchmarks.generated import dense_rows, zipf_rows
from benchmarks.peers import averaged, perceptron, second_order, sklearn_averaged
from benchmarks.stopwatch import Scale, epoch_times

PASSES = 4  # AROW has learned a tenth of the CSR rows by heart after five
PRICE = 1.3  # of an averaged pass, times a plain one at most
SECOND_ORDER = 2.2  # times an averaged pass at most: it has twice the weights

Source = Callable[[Scale], tuple[Any, NDArray[Any]]]
CASES: dict[str, tuple[Source, float]] = {  # and how many times as fast as scikit-learn
    "dense, 100": (lambda scale: dense_rows(scale.rows(300_000), 100, np.float32), 2.0),
    "dense, 784": (lambda scale: dense_rows(scale.rows(60_000), 784, np.float32), 2.0),
    "CSR": (lambda scale: zipf_rows(scale.rows(300_000), np.float64), 4.0),
}


def figures(scale: Scale) -> Iterator[Figure]:
    """Yield the prices and the speed-up, dense and CSR."""
    for name in CASES:
        yield from epoch(name, scale)


def epoch(name: str, scale: Scale) -> Iterator[Figure]:
    """Yield the speed-up of an averaged pass, its price, and that of second order."""
    source, target = CASES[name]
    X, y = source(scale)
    what = f"{name}, {X.shape[0]:,} × {X.shape[1]:,} {X.dtype}"
    times = epoch_times(
        {
            "averaged": averaged(X, y),
            "plain": perceptron(X, y),
            "sklearn": sklearn_averaged(X, y),
            "arow": second_order(X, y),
        },
        PASSES,
        scale,
    )
    ours = times["averaged"]
    yield speed_up(f"{what}, averaged", ours, times["sklearn"], "sklearn SGD, averaged", target)
    mistakes = perceptron(X, y)(PASSES).history_[-1].mistakes / len(y)
    base, note = "our Perceptron", f"{mistakes:.0%} mistakes"
    yield price(f"{what}: price of the average", ours, times["plain"], base, PRICE, note)
    base = "our averaged pass"
    yield price(f"{what}, AROW", times["arow"], ours, base, SECOND_ORDER)

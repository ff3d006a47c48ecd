"""What averaging and variances add to an epoch, and how it stands against scikit-learn's."""

from collections.abc import Iterator

import numpy as np

from benchmarks.figure import Figure, price, speed_up
from benchmarks.generated import dense_rows, zipf_rows
from benchmarks.peers import averaged, perceptron, second_order, sklearn_averaged
from benchmarks.stopwatch import Scale, epoch_times

PASSES = 4  # AROW has learned a tenth of the CSR rows by heart after five
SECOND_ORDER = 2.2  # times an averaged pass at most: it has twice the weights


def figures(scale: Scale) -> Iterator[Figure]:
    """Yield the price and the speed-up, dense and CSR."""
    for kind, (X, y) in (
        ("dense", dense_rows(scale.rows(300_000), 100, np.float32)),
        ("dense", dense_rows(scale.rows(60_000), 784, np.float32)),
        ("CSR", zipf_rows(scale.rows(300_000), np.float64)),
    ):
        name = f"{kind}, {X.shape[0]:,} × {X.shape[1]:,} {X.dtype}"
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
        yield price(
            f"{name}: price of the average",
            times["averaged"],
            times["plain"],
            "our Perceptron",
            1.3,
            note=f"{perceptron(X, y)(PASSES).history_[-1].mistakes / len(y):.0%} mistakes",
        )
        yield speed_up(name, times["averaged"], times["sklearn"], "sklearn SGD, averaged", 2.0)
        yield price(
            f"{name}: price of second order",
            times["arow"],
            times["averaged"],
            "our AveragedPerceptron",
            SECOND_ORDER,
        )

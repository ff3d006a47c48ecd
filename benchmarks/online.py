"""One row at a time, 30 features: rows a second through each door, and through those of peers."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.figure import Amount, Figure, Target
from benchmarks.generated import dense_rows
from benchmarks.stopwatch import Scale, best_times

N_FEATURES = 30
N_ROWS = 20_000
SLOW_ROWS = 1_000  # for scikit-learn, at about a thousand a second
CLASSES = np.array([0, 1])


def figures(scale: Scale) -> Iterator[Figure]:
    """Yield ``partial_fit`` against scikit-learn and river, then the training layer's own call."""
    n_rows = scale.rows(N_ROWS)
    X, y = dense_rows(n_rows, N_FEATURES, np.float64)
    slow = scale.rows(SLOW_ROWS)
    times = best_times(
        {
            "partial_fit": _partial_fit(X, y),
            "learn": _learn(X, y),
            "river": _river(X, y),
            "sklearn": _sklearn_partial_fit(X[:slow], y[:slow]),
        },
        scale,
    )
    rate = {
        name: (slow if name == "sklearn" else n_rows) / seconds for name, seconds in times.items()
    }
    sklearn, river = ("sklearn", "sklearn partial_fit"), ("river", "river Perceptron.learn_one")
    for ours, what, target, peers in (
        ("partial_fit", "Perceptron.partial_fit", 20_000, (sklearn, river)),
        ("learn", "OnlineLearner.learn", 300_000, (river,)),
    ):
        for peer, peer_name in peers:
            yield Figure(
                what,
                Amount(rate[ours], "rows/s"),
                Amount(rate[peer], "rows/s"),
                peer_name,
                Amount(rate[ours] / rate[peer], "×"),
                Target("≥", target, bounds="ours") if peer == peers[0][0] else None,
            )


def _partial_fit(X: NDArray[Any], y: NDArray[Any]) -> Callable[[], object]:
    from rosenblatt import Perceptron

    return lambda: _row_by_row(Perceptron(), X, y)


def _sklearn_partial_fit(X: NDArray[Any], y: NDArray[Any]) -> Callable[[], object]:
    from sklearn.linear_model import Perceptron

    return lambda: _row_by_row(Perceptron(), X, y)


def _row_by_row(estimator: Any, X: NDArray[Any], y: NDArray[Any]) -> None:
    estimator.partial_fit(X[:1], y[:1], classes=CLASSES)
    for i in range(1, len(X)):
        estimator.partial_fit(X[i : i + 1], y[i : i + 1])


def _learn(X: NDArray[Any], y: NDArray[Any]) -> Callable[[], object]:
    from rosenblatt.rules import Perceptron
    from rosenblatt.training.online import OnlineLearner
    from rosenblatt.training.state import State

    labels = y.tolist()

    def learn_all() -> None:
        learner = OnlineLearner(State.zeros(N_FEATURES, 2, averaged=False), Perceptron())
        for x, label in zip(X, labels, strict=True):
            learner.learn(x, label)

    return learn_all


def _river(X: NDArray[Any], y: NDArray[Any]) -> Callable[[], object]:
    from river.linear_model import Perceptron

    rows = [dict(enumerate(row)) for row in X.tolist()]  # made before the clock starts
    labels = [bool(label) for label in y]

    def learn_all() -> None:
        learner = Perceptron()
        for x, label in zip(rows, labels, strict=True):
            learner.learn_one(x, label)

    return learn_all

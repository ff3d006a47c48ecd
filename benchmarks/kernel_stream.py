"""A stream with a budget of 500 rows: time and memory at its end are those of its beginning."""

import pickle
from collections.abc import Iterator
from time import process_time

import numpy as np

from benchmarks.figure import Amount, Figure, Target
from benchmarks.stopwatch import Scale

BUDGET, BATCH, N_FEATURES = 500, 100, 20
N_ROWS = 100_000
TESTED = 20_000  # rows to predict before and after
MOST = 10.0  # % more at the end


def figures(scale: Scale) -> Iterator[Figure]:
    """Yield learning, prediction and memory over the last fifth against the second fifth."""
    from rosenblatt import KernelPerceptron

    n_rows = scale.rows(N_ROWS)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, N_FEATURES))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.standard_normal(n_rows) / 2 > 0).astype(int)
    fifth = n_rows // 5 // BATCH * BATCH
    for budget in ("forgetron", "projectron", "random"):
        clf = KernelPerceptron(gamma=0.1, max_support=BUDGET, budget=budget, memory="last")
        clf.partial_fit(X[:2], y[:2], classes=[0, 1])
        learned, predicted, size = [], [], []
        for start in range(0, 5 * fifth, fifth):
            begun = process_time()
            for at in range(start, start + fifth, BATCH):
                clf.partial_fit(X[at : at + BATCH], y[at : at + BATCH])
            learned.append(process_time() - begun)
            predicted.append(min(_seconds(clf, X[:TESTED]) for _ in range(7)))
            size.append(len(pickle.dumps(clf)) / 1e6)
        error = 100 * (1 - clf.score(X[:TESTED], y[:TESTED]))
        for what, unit, amounts, most in (
            (f"learning {fifth:,} rows", "s", learned, MOST),
            (f"predicting {TESTED:,} rows", "s", predicted, MOST),
            ("size of the model", "MB", size, 1.0),
        ):
            yield Figure(
                f"{budget}, budget {BUDGET}, stream of {n_rows:,}: {what}",
                Amount(amounts[-1], unit),
                Amount(amounts[1], unit),
                "three fifths before",
                Amount(100 * (amounts[-1] / amounts[1] - 1), "%"),
                Target("≤", most),
                f"{len(clf.support_)} rows kept, {error:.1f} % errors",
            )


def _seconds(clf: object, X: object) -> float:
    begun = process_time()
    clf.predict(X)  # type: ignore[attr-defined]
    return process_time() - begun

"""One row at a time, 30 features: rows a second through each door, and through those of peers."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.figure import Amount, Figure, Target
from benchmarks.generated import dense_rows
from benchmarks.stopwatch import Scale, median_times

N_FEATURES = 30
N_ROWS = 20_000
FEW_ROWS = 4_000  # made in advance as frames and matrices of one row
SLOW_ROWS = 1_000  # for scikit-learn, at about a thousand a second
LEAST = 40_000  # rows/s through an estimator, whatever the row and the label are
TIMES_RIVER = 3.0

Learn = Callable[[Any, Any], object]


def figures(scale: Scale) -> Iterator[Figure]:
    """Yield ``OnlineLearner`` against river, then estimators on every kind of row and label."""
    yield from _streams(scale)
    yield from _estimators(scale)


def _streams(scale: Scale) -> Iterator[Figure]:
    X, y = dense_rows(scale.rows(N_ROWS), N_FEATURES, np.float64)
    labels = [bool(label) for label in y]
    names = [f"feature {j}" for j in range(N_FEATURES)]  # the same objects, as of csv.DictReader
    dicts = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    learn = {
        "dicts": partial(_learn_all, _online, dicts, labels),
        "hashed dicts": partial(_learn_all, partial(_online, hash_bits=18), dicts, labels),
        "arrays": partial(_learn_all, _online, list(X), labels),
        "river": partial(_learn_all, _river, dicts, labels),
    }
    fitted = {name: call() for name, call in learn.items()}
    rows = {"arrays": list(X)}
    predict = {
        name: partial(_each, learner.predict_one, rows.get(name, dicts))
        for name, learner in fitted.items()
    }
    for verb, contenders in (("learn_one", learn), ("predict_one", predict)):
        times = median_times(contenders, scale)
        rate = {name: len(dicts) / seconds for name, seconds in times.items()}
        for name in ("dicts", "hashed dicts", "arrays"):
            yield Figure(
                f"OnlineLearner.{verb}, {name}",
                Amount(rate[name], "rows/s"),
                Amount(rate["river"], "rows/s"),
                f"river Perceptron.{verb}, dicts",
                Amount(rate[name] / rate["river"], "×"),
                Target("≥", TIMES_RIVER),
            )


def _online(**options: Any) -> Any:
    from rosenblatt import OnlineLearner

    return OnlineLearner("perceptron", memory="last", classes=[False, True], **options)


def _river() -> Any:
    from river.linear_model import Perceptron

    return Perceptron()


def _learn_all(make: Callable[[], Any], rows: Sequence[Any], labels: Sequence[Any]) -> Any:
    learner = make()
    learn = learner.learn_one
    for x, label in zip(rows, labels, strict=True):
        learn(x, label)
    return learner


def _each(predict: Callable[[Any], object], rows: Sequence[Any]) -> None:
    for x in rows:
        predict(x)


def _estimators(scale: Scale) -> Iterator[Figure]:
    X, y = dense_rows(scale.rows(FEW_ROWS), N_FEATURES, np.float64)
    numbers = y.astype(np.int64) - y.min()
    slow = scale.rows(SLOW_ROWS)
    single = labels_of_kinds(numbers)["whole numbers"]
    peer = {
        "partial_fit": partial(_row_by_row, _sklearn, single_rows(X[:slow])["array"], single),
        "predict": partial(_predict, _sklearn().fit(X, numbers), single_rows(X[:slow])["array"]),
    }
    peer_rate = {name: slow / seconds for name, seconds in median_times(peer, scale).items()}
    for kind, row in single_rows(X).items():
        for name, labels in labels_of_kinds(numbers).items():
            if kind != "array" and name != "whole numbers":
                continue
            clf = _row_by_row(_ours, row, labels)
            times = median_times(
                {
                    "partial_fit": partial(_row_by_row, _ours, row, labels),
                    "predict": partial(_predict, clf, row),
                },
                scale,
            )
            for verb, seconds in times.items():
                rate = len(row) / seconds
                yield Figure(
                    f"{verb} of one row, {kind}, {name}",
                    Amount(rate, "rows/s"),
                    Amount(peer_rate[verb], "rows/s"),
                    f"sklearn {verb}, array, whole numbers",
                    Amount(rate / peer_rate[verb], "×"),
                    Target("≥", LEAST, bounds="ours"),
                )


def single_rows(X: NDArray[Any]) -> dict[str, list[Any]]:
    """Return the rows one by one, as each kind of thing that an estimator takes."""
    import pandas as pd
    import polars as pl
    from scipy import sparse

    names = [f"feature {j}" for j in range(X.shape[1])]
    arrays = [X[i : i + 1] for i in range(len(X))]
    frame = pd.DataFrame(X, columns=names)
    table = pl.DataFrame(X, schema=names)
    return {
        "array": arrays,
        "float32 array": [row.astype(np.float32) for row in arrays],
        "CSR": [sparse.csr_matrix(row) for row in arrays],
        "list": [row.tolist() for row in arrays],
        "pandas": [frame.iloc[i : i + 1] for i in range(len(X))],
        "polars": [table[i : i + 1] for i in range(len(X))],
    }


def labels_of_kinds(numbers: NDArray[Any]) -> dict[str, list[Any]]:
    """Return the labels one by one, as arrays of each kind, and in lists."""
    kinds = {
        "whole numbers": numbers,
        "float labels": numbers.astype(np.float64),
        "text labels": np.array(["no", "yes"])[numbers],
        "bool labels": numbers.astype(bool),
    }
    found = {name: [y[i : i + 1] for i in range(len(y))] for name, y in kinds.items()}
    return found | {"text labels in lists": [y.tolist() for y in found["text labels"]]}


def _ours() -> Any:
    from rosenblatt import Perceptron

    return Perceptron()


def _sklearn() -> Any:
    from sklearn.linear_model import Perceptron

    return Perceptron()


def _row_by_row(make: Callable[[], Any], rows: Sequence[Any], labels: Sequence[Any]) -> Any:
    estimator = make()
    estimator.partial_fit(rows[0], labels[0], classes=np.unique(np.concatenate(labels)))
    learn: Learn = estimator.partial_fit
    for i in range(1, len(rows)):
        learn(rows[i], labels[i])
    return estimator


def _predict(estimator: Any, rows: Sequence[Any]) -> None:
    _each(estimator.predict, rows)

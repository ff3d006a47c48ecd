"""Ten digits in one machine, against scikit-learn's ten machines: time, and errors on test rows."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.figure import Amount, Figure, Skipped, Target, share_of_limit, speed_up
from benchmarks.peers import averaged, limit_of, perceptron, sklearn_averaged, sklearn_perceptron
from benchmarks.problems import DataSet, texts
from benchmarks.stopwatch import Scale, epoch_times, median_times
from reproduction.data_sets import DataFolder, MissingDataError

TIMED_PASSES = 4
TEST_PASSES = 10
N_CLASSES = 10


def figures(scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield the figures of ten digits, then those of twenty classes of text."""
    yield from digits(scale)
    yield from digit_errors(scale)
    yield from newsgroups(scale)
    yield from newsgroup_fits(scale)


def newsgroups(scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield the speed-up of an epoch over word counts in twenty classes."""
    try:
        data = texts("20news.train.tsv.gz")
    except MissingDataError as missing:
        yield Skipped("20news", str(missing))
        return
    X, y = data.X, data.y
    fits = {"ours": perceptron(X, y), "sklearn": sklearn_perceptron(X, y)}
    times = epoch_times(fits, TIMED_PASSES, scale)
    what = f"20news, {X.shape[0]:,} × {X.shape[1]:,}, 20 classes"
    yield speed_up(what, times["ours"], times["sklearn"], "sklearn one-vs-all", None)


def newsgroup_fits(scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield whole fits by default and with early stopping, whose averages and copies count."""
    from sklearn.linear_model import Perceptron

    from rosenblatt import AveragedPerceptron

    try:
        data = texts("20news.train.tsv.gz")
    except MissingDataError as missing:
        yield Skipped("20news", str(missing))
        return
    for early_stopping, what in ((False, "by default"), (True, "with early stopping")):
        times = median_times(
            {
                "ours": partial(_fit, AveragedPerceptron(early_stopping=early_stopping), data),
                "sklearn": partial(_fit, Perceptron(early_stopping=early_stopping), data),
            },
            scale,
        )
        peer = f"sklearn Perceptron {what}"
        yield speed_up(f"20news, 20 classes, {what}", times["ours"], times["sklearn"], peer, 2.0)


def _fit(estimator: Any, data: DataSet) -> None:
    estimator.fit(data.X, data.y)


def digits(scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield the speed-up for bytes and for floats."""
    try:
        X, y = DataFolder.from_environment().images("train")
    except MissingDataError as missing:
        yield Skipped("MNIST", str(missing))
        return
    X, y = X[: scale.rows(len(X))], y[: scale.rows(len(X))]
    X_float = X.astype(np.float32) / np.float32(255)

    times = epoch_times(
        {
            "uint8": perceptron(X, y),
            "float32": perceptron(X_float, y),
            "sklearn": sklearn_perceptron(X_float, y),
        },
        TIMED_PASSES,
        scale,
        others={
            "limit of uint8": limit_of(X, N_CLASSES),
            "limit of float32": limit_of(X_float, N_CLASSES),
        },
    )
    for dtype, target in (("uint8", None), ("float32", 9.0)):
        what = f"MNIST {len(X):,} × 784 {dtype}, 10 classes"
        peer = "sklearn one-vs-all (float32)"
        yield speed_up(what, times[dtype], times["sklearn"], peer, target)
        yield share_of_limit(
            f"{what}: share of the limit", times[dtype], times[f"limit of {dtype}"]
        )


def digit_errors(scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield the errors after ten passes."""
    try:
        folder = DataFolder.from_environment()
        (X, y), (X_test, y_test) = folder.images("train"), folder.images("t10k")
    except MissingDataError as missing:
        yield Skipped("MNIST", str(missing))
        return
    X, y = X[: scale.rows(len(X))], y[: scale.rows(len(X))]
    X_float = X.astype(np.float32) / np.float32(255)
    X_test = X_test.astype(np.float32) / np.float32(255)
    errors = {
        name: 100 * (1 - float(fit(TEST_PASSES).score(X_test, y_test)))
        for name, fit in {
            "AveragedPerceptron": averaged(X_float, y),
            "Perceptron": perceptron(X_float, y),
            "sklearn Perceptron": sklearn_perceptron(X_float, y),
            "sklearn SGD, averaged": sklearn_averaged(X_float, y),
        }.items()
    }
    theirs = [name for name in errors if name.startswith("sklearn")]
    better = min(theirs, key=errors.__getitem__)
    for ours in ("AveragedPerceptron", "Perceptron"):
        for peer in theirs:
            promised = ours == "AveragedPerceptron" and peer == better
            yield Figure(
                f"test errors, {TEST_PASSES} passes: {ours}",
                Amount(errors[ours], "%"),
                Amount(errors[peer], "%"),
                peer,
                Amount(errors[ours] / errors[peer], "×"),
                Target("<", 1.0) if promised else None,
            )

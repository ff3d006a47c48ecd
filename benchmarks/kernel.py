"""Freund & Schapire's digits: one pass with the kernel (1 + x·x′)², and all three predictions.

Times are those of the wall, since BLAS and our own loops use every core: they mean something on a
quiet machine only.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.figure import Amount, Figure, Skipped, Target, speed_up
from benchmarks.file_memory import PROGRAM, UNIT
from benchmarks.stopwatch import Scale
from reproduction.data_sets import DataFolder, MissingDataError

# Table 2 of the paper, degree 2: % of test rows after a whole pass and after a tenth of one.
PAPER = {
    60_000: {"vote": 2.8, "average": 2.8, "last": 4.0},
    6_000: {"vote": 6.0, "average": 6.0, "last": 8.6},
}
ROUNDS = 3
MOST_MEMORY = 2000.0  # MB
Times = dict[str, tuple[float, float]]  # seconds of training, and of all three predictions
N_CLASSES = 10
BLOCK = 512  # rows at a time; 256 and 1024 were no faster


class BlockedPerceptron:
    """The kernel perceptron of Freund & Schapire in NumPy, blocked by BLAS, one class against rest.

    What somebody writes who knows NumPy well: products of matrices for whole blocks of rows, a loop
    in Python over the rows of a block, and votes by cumulative sums. One pass over rows with the
    kernel (1 + x·x′)^degree, and the three ways to predict.
    """

    def __init__(self, degree: int, dtype: Any) -> None:
        self.degree, self.dtype = degree, dtype

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> "BlockedPerceptron":
        """Make one pass in the order given."""
        X = X.astype(self.dtype)
        signs = np.where(y[:, None] == np.arange(N_CLASSES), 1, -1).astype(self.dtype)
        self.support, coef = np.empty_like(X), np.zeros((len(X), N_CLASSES), self.dtype)
        seen, n = np.empty(len(X), np.int64), 0
        for start in range(0, len(X), BLOCK):
            rows, sides = X[start : start + BLOCK], signs[start : start + BLOCK]
            scores = self._kernel(rows, self.support[:n]) @ coef[:n]
            among = self._kernel(rows, rows)
            for t in range(len(rows)):
                wrong = sides[t] * scores[t] <= 0
                if wrong.any():
                    coef[n] = np.where(wrong, sides[t], 0)
                    self.support[n], seen[n] = rows[t], start + t
                    scores[t + 1 :] += np.outer(among[t, t + 1 :], coef[n])
                    n += 1
        self.support, self.coef, self.seen = self.support[:n], coef[:n], seen[:n]
        self.end = len(X)
        return self

    def decision_functions(self, X: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return the scores of the last vector, the average and the vote."""
        found = {name: np.empty((len(X), N_CLASSES)) for name in ("last", "average", "vote")}
        steps = [np.flatnonzero(self.coef[:, k]) for k in range(N_CLASSES)]
        lasted = [np.diff(self.seen[s], append=self.end).astype(self.dtype) for s in steps]
        for start in range(0, len(X), BLOCK):
            here = slice(start, start + BLOCK)
            gram = self._kernel(self.support, X[here].astype(self.dtype))
            for k, (at, count) in enumerate(zip(steps, lasted, strict=True)):
                prefix = np.cumsum(self.coef[at, k, None] * gram[at], axis=0)
                found["last"][here, k] = prefix[-1]
                found["average"][here, k] = count @ prefix
                found["vote"][here, k] = count @ np.sign(prefix)
        return found

    def _kernel(self, left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
        values = left @ right.T
        values += 1
        return np.asarray(values**self.degree)


def figures(scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield times against NumPy in float32 and float64, the errors, and the peak memory."""
    try:
        X, y = shuffled_digits(scale.rows(60_000))
        X_test, y_test = DataFolder.from_environment().images("t10k")
    except MissingDataError as missing:
        yield Skipped("MNIST", str(missing))
        return
    contenders: dict[str, Callable[[], Any]] = {
        "ours": freund_schapire,
        "NumPy, float32": lambda: BlockedPerceptron(2, np.float32),
        "NumPy, float64": lambda: BlockedPerceptron(2, np.float64),
    }
    freund_schapire().fit(X[:600], y[:600]).decision_functions(X_test[:100])  # compiles
    times: Times = {}
    errors: dict[str, dict[str, float]] = {}
    for _ in range(ROUNDS):
        for name, make in contenders.items():
            begun = perf_counter()
            model = make().fit(X, y)
            trained = perf_counter()
            scores = model.decision_functions(X_test)
            took = trained - begun, perf_counter() - trained
            times[name] = min(times.get(name, took), took, key=sum)
            errors[name] = {
                memory: 100 * float((found.argmax(axis=1) != y_test).mean())
                for memory, found in scores.items()
            }
    what = f"MNIST {len(X):,} rows, degree 2, one against all"
    peers = sorted((name for name in times if name != "ours"), key=lambda name: sum(times[name]))
    for peer in peers:
        for part, number in (("training", 0), (f"three predictions of {len(X_test):,}", 1)):
            ours, theirs = times["ours"][number], times[peer][number]
            yield speed_up(f"{what}: {part}", ours, theirs, peer, None)
        target = 2.0 if peer == peers[0] else None
        yield speed_up(f"{what}: both", sum(times["ours"]), sum(times[peer]), peer, target)
    for memory, paper in PAPER.get(len(X), {}).items():
        found = errors["ours"][memory]
        yield Figure(
            f"{what}: test errors, {memory}",
            Amount(found, "%"),
            Amount(paper, "%"),
            "the paper",
            Amount(found / paper, "×"),
        )
    peak = peak_megabytes(len(X))
    yield Figure(
        f"{what}: peak memory of both",
        Amount(peak, "MB"),
        Amount(MOST_MEMORY, "MB"),
        "limit",
        Amount(100 * peak / MOST_MEMORY, "%"),
        Target("<", 100.0),
    )


def freund_schapire() -> Any:
    """Return the learner of the paper: (1 + x·x′)², each class against the rest, one pass."""
    from rosenblatt import KernelPerceptron

    return KernelPerceptron(
        kernel="poly",
        degree=2,
        gamma=1.0,
        coef0=1.0,
        fit_intercept=False,
        multi_class="one-vs-rest",
        max_iter=1,
        shuffle=False,
    )


def shuffled_digits(n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the first rows of the digits in one random order, as bytes."""
    X, y = DataFolder.from_environment().images("train")
    order = np.random.default_rng(0).permutation(len(X))[:n_rows]
    return np.ascontiguousarray(X[order]), y[order]


def peak_megabytes(n_rows: int) -> float:
    """Learn and predict in a process of its own and return the most memory that it held."""
    command = (sys.executable, "-m", "benchmarks.kernel", str(n_rows))
    measured = subprocess.run(  # noqa: S603
        [sys.executable, "-c", PROGRAM, *command], check=True, capture_output=True
    )
    return int(measured.stdout) * UNIT / 1e6


if __name__ == "__main__":
    freund_schapire().fit(*shuffled_digits(int(sys.argv[1]))).decision_functions(
        DataFolder.from_environment().images("t10k")[0]
    )

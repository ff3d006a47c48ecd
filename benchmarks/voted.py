"""Voted prediction on MNIST: by prefix sums of the mistakes, against keeping every weight matrix.

Both sides use all cores, so it is the time on the wall that counts: they take turns, and the best
of each is what they need when nothing else interferes. The naive way is timed on some of the weight
matrices, which all cost the same, and its time is scaled up to all of them.
"""

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.figure import Amount, Figure, Skipped, speed_up
from benchmarks.peers import averaged, perceptron
from benchmarks.stopwatch import FULL, Scale
from reproduction.data_sets import DataFolder, MissingDataError
from rosenblatt import VotedPerceptron

TIMED_VECTORS = 200  # of the naive way
STACKED = 64  # weight matrices in one product, for the less naive way
N_CLASSES = 10
AT_LEAST = 20.0


class Naive:
    """Forms the weight matrices one after the other and lets each vote on all the rows."""

    def __init__(self, clf: VotedPerceptron, X: NDArray[Any], X_test: NDArray[Any]) -> None:
        self.log = clf.mistakes_.updates
        self.survival = clf.survival_[1:]
        self.X = X
        self.rows = np.hstack([X_test, np.ones((len(X_test), 1))]).astype(np.float64)
        self.places = np.arange(len(X_test))

    def matrices(self, n_vectors: int) -> Iterator[NDArray[Any]]:
        """Yield the weights after each of the first updates; always the same array."""
        w = np.zeros((N_CLASSES, self.rows.shape[1]))
        for row, label, rival in zip(*(c[:n_vectors] for c in self.log[:3]), strict=True):
            w[label, :-1] += self.X[row]
            w[rival, :-1] -= self.X[row]
            w[label, -1] += 1
            w[rival, -1] -= 1
            yield w

    def one_by_one(self, n_vectors: int) -> NDArray[Any]:
        """Count the votes: for each matrix a product by BLAS, the best class, its count added."""
        votes = np.zeros((len(self.rows), N_CLASSES))
        for w, count in zip(self.matrices(n_vectors), self.survival, strict=False):
            votes[self.places, (self.rows @ w.T).argmax(axis=1)] += count
        return votes

    def stacked(self, n_vectors: int) -> NDArray[Any]:
        """Count the votes with many matrices in one product, which BLAS likes better."""
        votes = np.zeros((len(self.rows), N_CLASSES))
        stack: list[NDArray[Any]] = []
        for k, w in enumerate(self.matrices(n_vectors)):
            stack.append(w.copy())
            if len(stack) == STACKED or k + 1 == n_vectors:
                scores = self.rows @ np.concatenate(stack).T
                best = scores.reshape(len(self.rows), -1, N_CLASSES).argmax(axis=2)
                for place in range(len(stack)):
                    number = k + 1 - len(stack) + place
                    votes[self.places, best[:, place]] += self.survival[number]
                stack = []
        return votes


def figures(scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield the speed-up for bytes and for floats, and the errors of vote, average and last."""
    try:
        folder = DataFolder.from_environment()
        (X, y), (X_test, y_test) = folder.images("train"), folder.images("t10k")
    except MissingDataError as missing:
        yield Skipped("MNIST", str(missing))
        return
    X, y = X[: scale.rows(len(X))], y[: scale.rows(len(X))]
    X_test, y_test = X_test[: scale.rows(len(X_test))], y_test[: scale.rows(len(X_test))]
    clf = VotedPerceptron(max_iter=1).fit(X, y)
    n_vectors = len(clf.mistakes_)
    naive = Naive(clf, X, X_test)
    check_equal(clf, naive, X_test)

    X_float, test_float = (part.astype(np.float32) / np.float32(255) for part in (X, X_test))
    floats = VotedPerceptron(max_iter=1).fit(X_float, y)
    some = min(TIMED_VECTORS, n_vectors)
    times = wall_times(
        {
            "uint8": lambda: clf.predict(X_test),
            "float32": lambda: floats.predict(test_float),
            "naive": lambda: naive.one_by_one(some),
            "stacked": lambda: naive.stacked(some),
        },
        rounds=3 if scale is FULL else 2,
    )
    share = n_vectors / some
    note = f"{n_vectors:,} vectors; the naive way timed on {some:,} of them"
    what = f"MNIST vote, {len(X_test):,} rows"
    one = "one BLAS product a vector"
    yield speed_up(f"{what}, uint8", times["uint8"], share * times["naive"], one, AT_LEAST, note)
    yield speed_up(f"{what}, float32", times["float32"], share * times["naive"], one, None, note)
    many = f"{STACKED} vectors in a product"
    yield speed_up(f"{what}, uint8", times["uint8"], share * times["stacked"], many, None, note)
    vote = 100 * (1 - clf.score(X_test, y_test))
    for name, fit in (("average", averaged(X, y)), ("last", perceptron(X, y))):
        other = 100 * (1 - float(fit(1).score(X_test, y_test)))
        ratio = Amount(vote / other, "×")
        title = "test errors, one pass: vote"
        yield Figure(title, Amount(vote, "%"), Amount(other, "%"), name, ratio)


def check_equal(clf: VotedPerceptron, naive: Naive, X_test: NDArray[Any]) -> None:
    """Raise unless both ways count the same votes, on some rows and all vectors."""
    n = 64
    naive_votes = Naive(clf, naive.X, X_test[:n]).one_by_one(len(clf.mistakes_))
    votes = clf.decision_function(X_test[:n]) * clf.survival_.sum()
    if not (np.rint(votes) == naive_votes).all():
        msg = "The votes differ from those of the naive way: nothing to be timed."
        raise RuntimeError(msg)


def wall_times(contenders: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the best seconds of each contender, which take turns."""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, contender in contenders.items():
            started = perf_counter()
            contender()
            best[name] = min(best[name], perf_counter() - started)
    return best

"""The book's picture of weight vectors that live long, are good, and are ruined in the end."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproduction.data_sets import ENCODING, Problem
from reproduction.estimate import estimate
from reproduction.experiment import Experiment, Setting, train
from reproduction.line import (
    NEGLIGIBLE,
    Line,
    higher_error,
    means_of_sets,
    ratio_above_one,
)
from reproduction.table import Cell, Grid

PASSES = 10
SEEDS, QUICK_SEEDS = 20, 5
SETS = ("a9a", "adult", "imdb", "sms_spam", "german", "pima", "MNIST 3/5", "MNIST 0/1")
QUICK_SETS = ("a9a", "sms_spam", "german", "MNIST 0/1")
SHARES = (0.01, 0.1)  # of the vectors: the longest-lived
MOST_TRIED = 100  # of the longest-lived hundredth


class Lives(NamedTuple):
    """The lives of the weight vectors of one training."""

    survival: NDArray[Any]  # rows that each lasted, in the order of the training
    errors: tuple[float, float, float]  # before, during and after long lives, held-out, in %


def lives(problem: Problem, seed: int, n_passes: int) -> Lives:
    """Return how long the vectors of a training lived, and what the longest-lived ones err."""
    outcome = train(problem.learned, 2, seed, max_iter=n_passes, record=True)
    mistakes = outcome.mistakes
    if mistakes is None:
        msg = "A training that is asked to record its mistakes has a list of them."
        raise TypeError(msg)
    survival = mistakes.survival
    steps = mistakes.updates.tau * mistakes.updates.label
    numbers = longest_lived(survival)
    before, during, after = (
        float(vector_errors(problem, mistakes.updates.row, steps, numbers + k).mean())
        for k in (-1, 0, 1)
    )
    return Lives(survival, (before, during, after))


def longest_lived(survival: NDArray[Any]) -> NDArray[Any]:
    """Return which vectors lived longest, of those that have one before and one after them."""
    n = max(1, min(MOST_TRIED, round(SHARES[0] * len(survival))))
    found = 1 + np.argsort(-survival[1:-1], kind="stable")[:n]
    return np.sort(found)


def vector_errors(
    problem: Problem, rows: NDArray[Any], steps: NDArray[Any], numbers: NDArray[Any]
) -> NDArray[Any]:
    """Return what the vectors after updates of these numbers, in order, err on held-out rows.

    The vectors are made from the list of updates, w = Σ τᵢ·yᵢ·xᵢ: from one to the next is a sum of
    the rows between.
    """
    w, b, done = np.zeros(problem.X_train.shape[1]), 0.0, 0
    errors = []
    for number in numbers.tolist():
        part = slice(done, number + 1)
        w += problem.X_train[rows[part]].T @ steps[part]
        b += float(steps[part].sum())
        done = number + 1
        guess = np.where(problem.X_test @ w + b > 0, 1, -1)
        errors.append(100 * float(np.mean(guess != problem.y_test)))
    return np.array(errors)


def held_share(survival: NDArray[Any], share: float) -> float:
    """Return how many per cent of all rows the longest-lived vectors lasted together.

    >>> held_share(np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 91]), 0.1)
    91.0
    """
    n = max(1, round(share * len(survival)))
    return 100 * float(np.sort(survival)[-n:].sum() / survival.sum())


def growth(survival: NDArray[Any]) -> float:
    """Return the mean life of the last tenth of the vectors over that of the first tenth."""
    n = max(1, len(survival) // 10)
    return float(survival[-n:].mean() / survival[:n].mean())


def compare(subject: str, found: Sequence[Lives]) -> Iterator[Line]:
    """Yield the claims on one set."""
    claim = "Mean life of the last tenth of the vectors, divided by that of the first"
    grown = estimate([growth(one.survival) for one in found])
    yield ratio_above_one(claim, subject, grown)
    claim = "Error in % of the vector {} a long life less that of the long-lived"
    for when, k in (("before", 0), ("after", 2)):
        lost = estimate([one.errors[k] - one.errors[1] for one in found])
        yield higher_error(claim.format(when), subject, lost)


def described(subject: str, found: Sequence[Lives]) -> list[Cell]:
    """Return the figures of a set for the grid."""
    counts = [len(one.survival) for one in found]
    quantiles = np.mean([np.quantile(one.survival, (0.5, 0.9, 0.99, 1)) for one in found], axis=0)
    shares = [np.mean([held_share(one.survival, share) for one in found]) for share in SHARES]
    errors = np.mean([one.errors for one in found], axis=0)
    return [
        subject,
        round(float(np.mean(counts))),
        *(f"{q:,.0f}" for q in quantiles),
        *(f"{share:.1f}" for share in shares),
        *(f"{error:.2f}" for error in errors),
    ]


def run(setting: Setting) -> Iterator[Line | Grid | str]:
    """Yield the lines of every set, and how long the vectors lived."""
    n_seeds = setting.runs(SEEDS, QUICK_SEEDS)
    lines: list[Line] = []
    rows = []
    for name in QUICK_SETS if setting.quick else SETS:
        data = setting.folder.read(name)
        found = []
        for seed in range(n_seeds):
            setting.tell(f"{name}, seed {seed + 1} of {n_seeds}")
            found.append(lives(data.problem(seed), seed, PASSES))
        of_set = list(compare(name, found))
        yield from of_set
        lines += of_set[1:]  # errors; a mean of ratios from 1 to 50 would say nothing
        rows.append(described(name, found))
    yield from means_of_sets(lines)
    lived = ("median life", "90 %", "99 %", "longest")
    shares = [f"rows of the longest-lived {share:.0%}, in %" for share in SHARES]
    errors = ("error before a long life", "during", "after")
    headings = ("rows", "vectors", *lived, *shares, *errors)
    yield Grid("Lives in rows, and errors in % (means of the seeds)", headings, rows)


EXPERIMENT = Experiment(
    name="survival",
    title="How long weight vectors live",
    source=(
        "H. Daumé III, A Course in Machine Learning, section 4.6: weights that survive long should "
        "have more say; a good classifier may live very long and be ruined by the update that ends "
        "it."
    ),
    method=(
        f"{PASSES} passes of the perceptron, shuffled every time, with a bias, or fewer where one "
        "makes no mistake. The life of a vector is the number of rows from its update to the next. "
        f"The longest-lived hundredth (at most {MOST_TRIED}) are made again from the list of "
        "mistakes and tried on held-out rows, and so are the vectors just before and just after "
        f"each of them, which had learned from as many rows. {ENCODING}"
    ),
    tolerance=(
        "The uncertainty is the 95 % interval of the mean over the seeds, of a mean of sets over "
        f"the sets; of errors {NEGLIGIBLE} percentage points do not matter."
    ),
    run=run,
)

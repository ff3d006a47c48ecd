"""The book's claim that the average is as good as the vote, and both better than the last."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from reproduction.data_sets import ENCODING, Problem
from reproduction.estimate import estimate
from reproduction.experiment import Experiment, Setting
from reproduction.line import NEGLIGIBLE, Line, higher_error, means_of_sets
from reproduction.table import Cell, Grid

PASSES = (1, 10)
TESTED, QUICK_TESTED = 4000, 1000  # held-out rows at most: each is a dot product with every vector
AS_GOOD = 0.5  # percentage points that the vote and the average may differ by
SEEDS, QUICK_SEEDS = 10, 5
SPLITS = 50  # seeds where every one splits the rows anew; these sets are small
SETS = (
    "a9a",
    "adult",
    "imdb",
    "sms_spam",
    "german",
    "pima",
    "ionosphere",
    "sonar",
    "wine",
    "MNIST 3/5",
    "MNIST",
)
QUICK_SETS = ("a9a", "sms_spam", "german", "pima", "wine")


class Errors(NamedTuple):
    """Errors on held-out rows in per cent, of one training."""

    last: float
    average: float
    vote: float


def errors(problem: Problem, seed: int, n_passes: int) -> Errors:
    """Return what the three memories of the same training err.

    The estimators of one seed meet the rows in the same order, so their weights are the same all
    along, and only what they make of them in the end differs.
    """
    from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron

    kinds: Sequence[Any] = (Perceptron, AveragedPerceptron, VotedPerceptron)
    return Errors(*(_error(kind(max_iter=n_passes, random_state=seed), problem) for kind in kinds))


def _error(estimator: Any, problem: Problem) -> float:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of passes is what is asked
        estimator.fit(problem.X_train, problem.y_train)
    if estimator.stop_reason_ == "interrupted":
        raise KeyboardInterrupt
    return float(100 * np.mean(estimator.predict(problem.X_test) != problem.y_test))


def compare(subject: str, variant: str, found: Sequence[Errors]) -> Iterator[Line]:
    """Yield the paired differences over the seeds."""
    last, average, vote = (np.array(column) for column in zip(*found, strict=True))
    claim = "Error in % of the last weights less that of the {}"
    for name, other in (("average", average), ("vote", vote)):
        ours = estimate(list(last - other))
        yield higher_error(claim.format(name), subject, ours, variant)
    ours = estimate(list(average - vote))
    yield Line(
        "Error in % of the average less that of the vote",
        subject,
        0.0,
        ours,
        tolerance=AS_GOOD,
        uncertainty=ours.uncertainty,
        decimals=2,
        variant=variant,
    )


def run(setting: Setting) -> Iterator[Line | Grid | str]:
    """Yield the lines of every set and number of passes, and the errors themselves."""
    n_tested = QUICK_TESTED if setting.quick else TESTED
    lines: list[Line] = []
    rows: list[list[Cell]] = []
    for name in QUICK_SETS if setting.quick else SETS:
        data = setting.folder.read(name)
        n_seeds = setting.runs(SEEDS if data.n_train else SPLITS, QUICK_SEEDS)
        for n_passes in PASSES:
            variant = f"{n_passes} pass{'es' if n_passes > 1 else ''}"
            found = []
            for seed in range(n_seeds):
                setting.tell(f"{name}, {variant}, seed {seed + 1} of {n_seeds}")
                problem = data.problem(seed).with_fewer_held_out(n_tested, seed)
                found.append(errors(problem, seed, n_passes))
            of_set = list(compare(name, variant, found))
            yield from of_set
            lines += of_set
            means = [estimate(column) for column in zip(*found, strict=True)]
            cells = (f"{one.mean:.2f} ± {one.deviation:.2f}" for one in means)
            rows.append([name, variant, *cells])
    yield from means_of_sets(lines)
    headings = ("rows", "figure", "last", "average", "vote")
    yield Grid("Errors on held-out rows in % (mean ± deviation over seeds)", headings, rows)


EXPERIMENT = Experiment(
    name="averaging",
    title="The last weights, their average and their vote",
    source=(
        "H. Daumé III, A Course in Machine Learning, section 4.6: voting generalizes better than "
        "the last weights, averaging is its practical form and almost always better than the last."
    ),
    method=(
        f"After {PASSES[0]} and {PASSES[1]} passes, shuffled every time, with a bias; the same "
        "training for all three. Sets without a test file are split anew for every seed, three "
        f"tenths held out; of larger test files every seed draws {TESTED:,} rows ({QUICK_TESTED:,} "
        f"with --quick). {ENCODING}"
    ),
    tolerance=(
        "The uncertainty is the 95 % interval of the mean paired difference over the seeds, of a "
        f"mean of sets over the sets; {NEGLIGIBLE} percentage points do not matter. The average is "
        f"as good as the vote where they differ by no more than {AS_GOOD} percentage points."
    ),
    run=run,
)

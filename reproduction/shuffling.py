"""The book's claims on the order of rows: shuffle every pass, and never sort by label."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproduction.data_sets import ENCODING, DataFolder, rows_of, separable_rows, standardised
from reproduction.estimate import Estimate, estimate, ratio
from reproduction.experiment import Experiment, Setting, train
from reproduction.line import Line, pooled, ratio_above_one
from reproduction.table import Cell, Grid
from rosenblatt.training.examples import Examples
from rosenblatt.training.loop import Shuffle

ABOUT = 10.0  # per cent: "about 20 %" is taken for 10 % to 30 %
PRACTICE, THEORY = 20.0, 50.0  # the savings that the book names
SEEDS, QUICK_SEEDS = 100, 20
LONG = 10  # passes from which on a training counts as long
ORDERS: dict[str, Shuffle] = {
    "shuffled every pass": "full",
    "shuffled once": "once",
    "as given": False,
    "sorted by label": False,
}


class Separable(NamedTuple):
    """Rows that a plane separates."""

    X: Any
    y: NDArray[np.int8]
    most_passes: int  # after which a training is given up
    share: float = 1.0  # of the seeds that are run, where a run takes long


class Course(NamedTuple):
    """What trainings from different seeds took."""

    passes: Sequence[int]
    updates: Sequence[int]
    n_stopped: int  # how many were given up

    @property
    def told(self) -> str:
        """The mean number of passes, for people."""
        mean = estimate(self.passes)
        sign = "≥ " if self.n_stopped else ""
        spread = f" ± {mean.deviation:.1f}" if mean.n > 1 else ""
        told = f"{sign}{mean.mean:,.1f}{spread}"
        return f"{told} ({self.n_stopped} of {mean.n} stopped)" if self.n_stopped else told


def course(rows: Separable, order: str, n_seeds: int) -> Course:
    """Return what it takes in this order; "as given" there is just one."""
    outcomes = []
    for seed in range(1 if order == "as given" else n_seeds):
        X, y = rows.X, rows.y
        if order == "sorted by label":  # positives first, as in the book; a random order in each
            numbers = np.random.default_rng(seed).permutation(len(y))
            numbers = numbers[np.argsort(-y[numbers], kind="stable")]
            X, y = X[numbers], y[numbers]
        examples = Examples(rows_of(X), y)
        outcomes.append(train(examples, 2, seed, max_iter=rows.most_passes, shuffle=ORDERS[order]))
    return Course(
        [len(one.history) for one in outcomes],
        [sum(record.updates for record in one.history) for one in outcomes],
        sum(not one.converged for one in outcomes),
    )


def compare(subject: str, courses: dict[str, Course]) -> Iterator[Line]:
    """Yield the claims on one set of rows."""
    every, once, _, by_label = (courses[order] for order in ORDERS)
    yield _saving(subject, saving(every, once))
    slower = ratio(by_label.passes, every.passes)
    if by_label.n_stopped:
        subject += " (at least)"
    claim = "Passes sorted by label, divided by passes shuffled every time"
    yield ratio_above_one(claim, subject, slower)


def saving(every: Course, once: Course) -> Estimate:
    """Return how many per cent of the passes shuffling every time saves."""
    kept = ratio(every.passes, once.passes)
    return Estimate(100 * (1 - kept.mean), 100 * kept.deviation, kept.n)


def _saving(subject: str, found: Estimate) -> Line:
    claim = "Passes saved by shuffling every time, not once, in %"
    return Line(claim, subject, PRACTICE, found, tolerance=ABOUT, uncertainty=found.uncertainty)


def read_sets(folder: DataFolder, *, quick: bool) -> Iterator[tuple[str, Separable]]:
    """Yield the sets by name; ``diagnose`` proves them separable, or their trainings do."""
    for n_features, margin in ((2, 0.05), (10, 0.05), (100, 0.02), (100, 0.001)):
        X, y = separable_rows(1000, n_features, margin, seed=0)
        yield f"sphere in {n_features} dimensions with γ = {margin}", Separable(X, y, 20_000)
    iris, wine, sonar = (folder.read(name) for name in ("iris", "wine", "sonar"))
    yield "iris: setosa or not", Separable(iris.X, _sides(iris.y == "Iris-setosa"), 1000)
    (X,) = standardised(wine.X)
    yield "wine: kind 1 or not", Separable(X, _sides(wine.y == "1"), 1000)
    yield "wine: kind 3 or not", Separable(X, _sides(wine.y == "3"), 1000)
    X, y = folder.read("mushrooms").training()
    yield "mushrooms", Separable(X, _sides(y == 1), 1000)
    spam = folder.read("sms_spam")
    yield "sms_spam", Separable(spam.X, _sides(spam.y == "spam"), 2000)
    X, y = folder.read("MNIST 0/1").training()
    yield "MNIST 0/1", Separable(X, _sides(y == 1), 1000)
    if not quick:
        (X,) = standardised(sonar.X)
        yield "sonar", Separable(X, _sides(sonar.y == "R"), 50_000, 0.2)
        X, y = folder.read("imdb").training()
        yield "imdb", Separable(X, _sides(y == "pos"), 500, 0.2)


def _sides(positive: NDArray[Any]) -> NDArray[np.int8]:
    return np.where(positive, 1, -1).astype(np.int8)


def run(setting: Setting) -> Iterator[Line | Grid | str]:
    """Yield the lines of every set, their mean, and what the trainings took."""
    savings: list[Line] = []
    of_long: list[Line] = []  # a training that ends in its third pass has no pass to save
    passes: list[list[Cell]] = []
    updates: list[list[Cell]] = []
    for subject, rows in read_sets(setting.folder, quick=setting.quick):
        courses = {}
        n_seeds = setting.runs(round(rows.share * SEEDS), max(2, round(rows.share * QUICK_SEEDS)))
        for order in ORDERS:
            setting.tell(f"{subject}, {order}")
            courses[order] = course(rows, order, n_seeds)
        lines = list(compare(subject, courses))
        yield from lines
        savings.append(lines[0])
        if estimate(courses["shuffled once"].passes).mean >= LONG:
            of_long.append(lines[0])
        passes.append([subject, *(one.told for one in courses.values())])
        updates.append([subject, *(round(float(np.mean(c.updates))) for c in courses.values())])
    yield from means(savings, of_long)
    yield Grid("Passes until one makes no mistake (mean ± deviation)", ("rows", *ORDERS), passes)
    yield Grid("Updates until then (mean)", ("rows", *ORDERS), updates)


def means(savings: Sequence[Line], of_long: Sequence[Line]) -> Iterator[Line]:
    """Yield the savings on the mean of all sets and of those that take long."""
    for lines, subject in (
        (savings, f"mean of the {len(savings)} sets"),
        (of_long, f"mean of the {len(of_long)} sets that take {LONG} passes or more"),
    ):
        if len(lines) > 1:
            line = pooled(lines, subject)
            yield line
            claim = "The same where theory says that it is about twice as fast"
            yield replace(line, claim=claim, paper=THEORY)


EXPERIMENT = Experiment(
    name="shuffling",
    title="The order of the rows",
    source=(
        "H. Daumé III, A Course in Machine Learning, section 4.2: permuting in each iteration "
        "saves about 20 % of the iterations in practice and half of them in theory; rows sorted by "
        "label are a bad idea."
    ),
    method=(
        "The perceptron with a bias, until a pass makes no mistake, on sets that a plane separates;"
        " all orders of a seed begin with the same permutation. Trainings that need very many "
        f"passes are stopped, and counted with the passes they had. {ENCODING}"
    ),
    tolerance=(
        f"“About” is taken for {ABOUT:.0f} percentage points either way. The uncertainty is the "
        "95 % interval of the ratio of the means over seeds; of a mean of sets, over the sets."
    ),
    run=run,
)

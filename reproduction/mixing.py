"""The paper's ordering of ways to train on shards, and what shards cost."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproduction.data_sets import Problem, separable_rows
from reproduction.estimate import Estimate, estimate
from reproduction.experiment import Experiment, Setting
from reproduction.line import NEGLIGIBLE, Line, higher_error
from reproduction.table import Cell, Grid
from rosenblatt.distributed.mixing import (
    EpochSettings,
    VirtualShards,
    fit_shards,
    simulate,
    virtual_shards,
)
from rosenblatt.kernels.rows import Dense
from rosenblatt.rules import Perceptron
from rosenblatt.training.examples import Examples
from rosenblatt.training.loop import Plan
from rosenblatt.training.state import State, count_mistakes

N_SHARDS, EPOCHS = 10, 10
SEEDS, QUICK_SEEDS = 10, 3
QUICK_SHARE = 0.2  # of the rows to learn from
AS_GOOD = 0.5  # percentage points that do not matter between serial and iterative averages
MEMORIES = ("last", "average")
ZERO = -1  # what an activation of 0 predicts
PRICE_SHARDS, PRICE_EPOCHS = (1, 2, 4, 8, 16, 32, 64), 5
MARGINS, MARGIN_SHARDS = (0.005, 0.02, 0.1), (1, 2, 4, 16, 64)
MARGIN_ROWS, MARGIN_FEATURES, MOST_EPOCHS = 2000, 20, 3000


class Way(NamedTuple):
    """Errors on held-out rows in per cent of one way to train, for each memory."""

    last: float
    average: float


def _errors(weights: Sequence[NDArray[Any]], state: State, problem: Problem) -> Way:
    held_out = problem.held_out
    rows = held_out.numbers()
    wrong = (count_mistakes(state, one, held_out, rows, ZERO) for one in weights)
    return Way(*(100 * count / len(rows) for count in wrong))


def ways(problem: Problem, seed: int) -> dict[str, Way]:
    """Return what the ways to train err: on all rows, on one shard, mixed once, mixed each epoch.

    The averaged weights that are mixed once are the means of the averages of all shards.
    """
    learned, n_classes = problem.learned, problem.n_classes
    plan = Plan(Perceptron(), EPOCHS, shuffle="full")
    found = {}
    for name, n_shards in (("serial", 1), ("iterative mixing", N_SHARDS)):
        state, _ = simulate(learned, n_classes, n_shards, plan, averaged=True, seed=seed)
        found[name] = _errors((state.weights, state.average()), state, problem)
    settings = EpochSettings(plan.rule, plan.zero, plan.shuffle, seed, averaged=True)
    ends = []
    for shard in virtual_shards(learned, N_SHARDS, seed=seed):
        state = State.zeros(learned.rows.shape[1], n_classes, averaged=True)
        state.arrange_for(learned.rows)
        fit_shards(state, VirtualShards([shard]), plan, settings)
        ends.append((state.weights, state.average()))
    found["one shard"] = _errors(ends[0], state, problem)
    mixed = [np.mean(vectors, axis=0) for vectors in zip(*ends, strict=True)]
    found["one mix at the end"] = _errors(mixed, state, problem)
    return found


def compare(subject: str, found: Sequence[dict[str, Way]]) -> Iterator[Line]:
    """Yield the paper's ordering as paired differences over the seeds."""

    def apart(more: str, less: str, memory: str) -> Estimate:
        return estimate([getattr(one[more], memory) - getattr(one[less], memory) for one in found])

    for memory in MEMORIES:
        for more, less in (
            ("one shard", "serial"),
            ("one shard", "one mix at the end"),
            ("one mix at the end", "iterative mixing"),
        ):
            claim = f"Error in % of {more} less that of {less}"
            yield higher_error(claim, subject, apart(more, less, memory), memory)
    last = apart("serial", "iterative mixing", "last")
    yield higher_error("Error in % of serial less that of iterative mixing", subject, last, "last")
    ours = apart("iterative mixing", "serial", "average")
    yield Line(
        "Error in % of iterative mixing less that of serial",
        subject,
        0.0,
        ours,
        tolerance=AS_GOOD,
        uncertainty=ours.uncertainty,
        decimals=2,
        variant="average",
    )


def price(setting: Setting, n_seeds: int) -> Grid:
    """Return what the averaged perceptron errs on imdb with more and more shards."""
    data = setting.folder.read("imdb")
    rows: list[list[Cell]] = []
    problem = data.problem(0)
    plan = Plan(Perceptron(), PRICE_EPOCHS, shuffle="full")
    for n_shards in PRICE_SHARDS:
        setting.tell(f"imdb, {n_shards} shards")
        found = []
        for seed in range(n_seeds):
            state, _ = simulate(
                problem.learned, 2, n_shards, plan, averaged=True, shuffled=True, seed=seed
            )
            found.append(_errors((state.weights, state.average()), state, problem))
        means = [estimate(column) for column in zip(*found, strict=True)]
        rows.append([n_shards, *(f"{one.mean:.2f} ± {one.deviation:.2f}" for one in means)])
    title = f"The price of shards: errors in % on imdb after {PRICE_EPOCHS} epochs, rows dealt out"
    return Grid(title, ("shards", "last", "average"), rows)


def convergence(setting: Setting, n_seeds: int) -> Grid:
    """Return how many epochs separable rows of known margins need with more and more shards."""
    rows: list[list[Cell]] = []
    plan = Plan(Perceptron(), MOST_EPOCHS, shuffle="full")
    for margin in MARGINS:
        cells: list[Cell] = [f"{margin:g}"]
        for n_shards in MARGIN_SHARDS:
            setting.tell(f"margin {margin:g}, {n_shards} shards")
            epochs = []
            for seed in range(n_seeds):
                X, y = separable_rows(MARGIN_ROWS, MARGIN_FEATURES, margin, seed)
                examples = Examples(Dense(X, 1.0), y)
                _, outcome = simulate(examples, 2, n_shards, plan, seed=seed)
                epochs.append(len(outcome.history) if outcome.converged else np.inf)
            cells.append(f"{np.median(epochs):g}")
        rows.append(cells)
    title = (
        f"Epochs to convergence, median of the seeds: {MARGIN_ROWS:,} unit rows of "
        f"{MARGIN_FEATURES} features, separable by a margin"
    )
    return Grid(title, ("margin", *(f"{n} shards" for n in MARGIN_SHARDS)), rows)


def run(setting: Setting) -> Iterator[Line | Grid | str]:
    """Yield the ordering on MNIST, the errors behind it, and the two grids on shards."""
    n_seeds = setting.runs(SEEDS, QUICK_SEEDS)
    data = setting.folder.read("MNIST")
    found = []
    for seed in range(n_seeds):
        setting.tell(f"MNIST, seed {seed + 1} of {n_seeds}")
        problem = data.problem(seed)
        if setting.quick:
            n_rows = round(QUICK_SHARE * len(problem.y_train))
            problem = replace(
                problem, X_train=problem.X_train[:n_rows], y_train=problem.y_train[:n_rows]
            )
        found.append(ways(problem, seed))
    yield from compare("MNIST", found)
    rows: list[list[Cell]] = []
    for name in ("serial", "one shard", "one mix at the end", "iterative mixing"):
        means = [estimate([getattr(one[name], memory) for one in found]) for memory in MEMORIES]
        rows.append([name, *(f"{one.mean:.2f} ± {one.deviation:.2f}" for one in means)])
    title = f"Test errors in % on MNIST, {N_SHARDS} shards, {EPOCHS} epochs"
    yield Grid(title, ("figure", *MEMORIES), rows)
    yield convergence(setting, setting.runs(5, 3))
    if not setting.quick:
        yield price(setting, setting.runs(5, 5))


EXPERIMENT = Experiment(
    name="mixing",
    title="Training on shards",
    source=(
        "R. McDonald, K. Hall & G. Mann, Distributed training strategies for the structured "
        "perceptron, NAACL 2010, Tables 1 and 2: one shard is worse than all the data, mixing the "
        "shards once at the end is better than one shard, mixing after every epoch is better still,"
        " better than serial training for the last weights and as good as it for averaged ones. "
        "(There on names and on parses; here on digits.)"
    ),
    method=(
        f"All 60,000 digits in {N_SHARDS} shards of successive rows ({QUICK_SHARE:.0%} of them with"
        f" --quick), {EPOCHS} epochs, shuffled every time, with a bias, shares mixed uniformly. "
        "Virtual shards in one process, which a cluster matches to the last bit. Of imdb the words "
        "are counted, and the counts taken as they are."
    ),
    tolerance=(
        "The uncertainty is the 95 % interval of the mean paired difference over the seeds; "
        f"{NEGLIGIBLE} percentage points do not matter, and {AS_GOOD} between two averages."
    ),
    run=run,
)

"""The book's sweet spot: the pass after which the error on held-out rows grows again."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproduction.data_sets import ENCODING, Problem
from reproduction.estimate import estimate
from reproduction.experiment import Experiment, Setting
from reproduction.line import NEGLIGIBLE, Line, higher_error, means_of_sets
from reproduction.table import Cell, Grid
from rosenblatt.rules import Perceptron
from rosenblatt.training.examples import Examples, Order
from rosenblatt.training.state import State, count_mistakes, run_pass

PASSES, QUICK_PASSES = 50, 10
SEEDS, QUICK_SEEDS = 20, 10
SPLITS = 100  # seeds where every one splits the rows anew; these sets are small
SETS = ("a9a", "adult", "imdb", "sms_spam", "german", "pima", "ionosphere", "sonar", "MNIST 3/5")
QUICK_SETS = ("a9a", "sms_spam", "german", "pima", "ionosphere")
SHOWN = (1, 2, 3, 5, 10, 20, 50)  # passes in the grids
CHOICE_SHARE = 0.5  # of the held-out rows, which choose the pass; the others judge the choice
MEMORIES = ("last", "average")
OVERFITTING = "Error in % after the last pass less error at the sweet spot"
UNDERFITTING = "Error in % after the first pass less error at the sweet spot"
STOPPING = "Error in % after the last pass less error at the pass that held-out rows choose"
ZERO = -1  # what an activation of 0 predicts


class Curves(NamedTuple):
    """Errors in per cent after each pass, of the last weights and of their average."""

    training: NDArray[Any]  # (memory, pass)
    choosing: NDArray[Any]
    judging: NDArray[Any]


def curves(problem: Problem, seed: int, n_passes: int) -> Curves:
    """Return what a training from zero, shuffled every pass, errs after each pass."""
    learned, held_out = problem.learned, problem.held_out
    halves = np.random.default_rng(0).permutation(held_out.numbers())  # the same for every seed
    cut = round(CHOICE_SHARE * len(halves))
    parts = ((learned, learned.numbers()), (held_out, halves[:cut]), (held_out, halves[cut:]))
    state = State.zeros(problem.X_train.shape[1], problem.n_classes, averaged=True)
    order = Order(learned.numbers(), shuffle=True, generator=np.random.default_rng(seed))
    errors = np.empty((len(parts), len(MEMORIES), n_passes))
    for pass_ in range(n_passes):
        run_pass(state, learned, order.next(), Perceptron(), 0)
        for k, (examples, rows) in enumerate(parts):
            errors[k, :, pass_] = _errors(state, examples, rows)
    return Curves(*errors)


def _errors(state: State, examples: Examples, rows: NDArray[Any]) -> list[float]:
    return [
        100 * count_mistakes(state, weights, examples, rows, ZERO) / len(rows)
        for weights in (state.weights, state.average())
    ]


def sweet_spots(found: Sequence[Curves], memory: int) -> list[int]:
    """Return for each training the pass, from 0, with the least mean error in the others.

    Trainings of even and of odd numbers choose for each other, by the rows that choose: what is
    measured at that pass then owes nothing to the luck of the same weights or the same rows.
    """
    choosing = np.array([one.choosing[memory] for one in found])
    chosen = [int(choosing[1 - fold :: 2].mean(axis=0).argmin()) for fold in (0, 1)]
    return [chosen[k % 2] for k in range(len(found))]


def compare(subject: str, found: Sequence[Curves]) -> Iterator[Line]:
    """Yield what is lost by training too long and not long enough."""
    for m, memory in enumerate(MEMORIES):
        spots = sweet_spots(found, m)
        own = [int(one.choosing[m].argmin()) for one in found]
        first, end = [0] * len(found), [-1] * len(found)
        for claim, passes, others in (
            (OVERFITTING, end, spots),
            (UNDERFITTING, first, spots),
            (STOPPING, end, own),
        ):
            lost = [
                float(one.judging[m][k] - one.judging[m][other])
                for one, k, other in zip(found, passes, others, strict=True)
            ]
            yield higher_error(claim, subject, estimate(lost), memory)


def shown(subject: str, found: Sequence[Curves]) -> Iterator[list[Cell]]:
    """Yield for each memory the mean errors after some passes, and where they are least."""
    for m, memory in enumerate(MEMORIES):
        training = np.mean([one.training[m] for one in found], axis=0)
        held_out = np.mean([(one.choosing[m] + one.judging[m]) / 2 for one in found], axis=0)
        spots = sorted({pass_ + 1 for pass_ in sweet_spots(found, m)})
        for name, curve in (("training", training), ("held-out", held_out)):
            cells = [f"{curve[k - 1]:.2f}" for k in SHOWN if k <= len(curve)]
            least = f"{curve.min():.2f} in pass {int(curve.argmin()) + 1}"
            spot = "" if name == "training" else " or ".join(map(str, spots))
            yield [subject, memory, name, *cells, least, spot]


def run(setting: Setting) -> Iterator[Line | Grid | str]:
    """Yield the lines and curves of every set."""
    n_passes = QUICK_PASSES if setting.quick else PASSES
    lines: list[Line] = []
    rows: list[list[Cell]] = []
    for subject in QUICK_SETS if setting.quick else SETS:
        data = setting.folder.read(subject)
        n_seeds = setting.runs(SEEDS if data.n_train else SPLITS, QUICK_SEEDS)
        found = []
        for seed in range(n_seeds):
            setting.tell(f"{subject}, seed {seed + 1} of {n_seeds}")
            found.append(curves(data.problem(seed), seed, n_passes))
        of_set = list(compare(subject, found))
        yield from of_set
        lines += of_set
        rows += shown(subject, found)
    yield from means_of_sets(lines)
    passes = [str(k) for k in SHOWN if k <= n_passes]
    headings = ("rows", "weights", "error on", *passes, "least", "sweet spot")
    yield Grid("Errors in % after so many passes, mean of the seeds", headings, rows)


EXPERIMENT = Experiment(
    name="early-stopping",
    title="The sweet spot of early stopping",
    source=(
        "H. Daumé III, A Course in Machine Learning, section 4.2 and Figure 4.3: one pass may "
        "underfit, very many overfit, and there is a sweet spot between; section 4.6: the averaged "
        "perceptron, too, will eventually overfit."
    ),
    method=(
        f"{PASSES} passes ({QUICK_PASSES} with --quick), shuffled every time, with a bias. Half of "
        "the held-out rows choose passes, the other half judges the choice. The sweet spot is the "
        "pass with the least mean error in the trainings of other seeds, so that luck in the choice"
        " saves nothing; early stopping chooses a pass of the very training, and may choose lucky "
        "weights too. Sets without a test file are split anew for every seed, three tenths held "
        f"out. {ENCODING}"
    ),
    tolerance=(
        "The uncertainty is the 95 % interval of the mean difference over the seeds, of a mean of "
        f"sets over the sets; {NEGLIGIBLE} percentage points do not matter."
    ),
    run=run,
)

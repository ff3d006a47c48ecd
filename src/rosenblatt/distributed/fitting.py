"""From parts or files in the workers to a model: shards, their checks, epochs, what is proved."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.files import Columns, Layout
from rosenblatt.distributed.files import ClusterFiles, read_files
from rosenblatt.distributed.mixing import EpochSettings, Mixing, Start, fit_shards
from rosenblatt.distributed.shards import ClusterRows, Recipe, Shard, unlike_shards
from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.shapes import matrix_of
from rosenblatt.models.checkpoint import Checkpoint
from rosenblatt.models.file_rows import StoredEncoding
from rosenblatt.models.learner import Learner
from rosenblatt.models.learner_record import LearnerRecord, options_of, plain_options
from rosenblatt.models.model import Model, Spread
from rosenblatt.models.record import Facts, source_facts
from rosenblatt.models.weights import Weights
from rosenblatt.rules import RULES
from rosenblatt.tasks.held_out_fits import TriedRows
from rosenblatt.tasks.leads import class_numbers
from rosenblatt.theory.exact import root_bounds, rounded_up, squared_norm
from rosenblatt.theory.inequalities import Inequalities
from rosenblatt.theory.labelled_rows import LabelledRows
from rosenblatt.theory.verdict import Verdict
from rosenblatt.theory.widest_margin import squared_radius
from rosenblatt.training.history import Observer, Outcome, PassRecord, ProgressBar
from rosenblatt.training.loop import Progress
from rosenblatt.training.state import State

if TYPE_CHECKING:
    from distributed import Client

    from rosenblatt.distributed.engine import DaskEngine


def extent(shard: Shard, start: Start) -> tuple[Fraction | None, Fraction] | None:
    """Return the least lead of a true class in a shard, and R² = max ‖x‖² + 1, both exact.

    The lead is None where it is beyond float64; all is None without rows to learn from.
    """
    state, rows, learning = start.state(), shard.examples.rows, shard.division.learned
    if not len(learning):
        return None
    X = matrix_of(rows)
    if len(learning) < rows.shape[0]:
        X = X[learning]
    targets = shard.examples.targets[learning]
    numbers = class_numbers(targets, state.n_classes)
    labelled = LabelledRows(X, numbers, np.arange(state.n_classes))
    v = np.ascontiguousarray(state.by_class(state.weights)).reshape(-1)
    return Inequalities(labelled).least(v), squared_radius(labelled)


@dataclass(frozen=True)
class ClusterPlan:
    """All that decides, with the data, what a training gives; and where it is kept."""

    learner: Learner  # whose random_state is a number
    n_shards: int | None = None  # None: as many as workers, or rows
    mixing: Mixing = "uniform"
    shuffled: bool = False
    class_weight: NDArray[Any] | None = None  # by the number of the class
    checkpoint: str | None = None
    checkpoint_seconds: float = 0.0
    described: dict[str, Any] = field(default_factory=dict)  # what else decides how data are read

    def __post_init__(self) -> None:
        """Raise InputError for what shards cannot learn."""
        rule = self.learner.rule
        if self.learner.voted:
            raise InputError(
                f"{Parameter('memory', 'vote')} keeps the rows of all mistakes in one place: train"
                " in one process."
            )
        if self.mixing == "mistakes" and not RULES[rule].fixed_step:
            raise InputError(
                f"{Parameter('mixing', 'mistakes')} is not available with the rule {rule}, whose"
                f" steps differ in length; use {Parameter('mixing', 'uniform')}."
            )


class ClusterOutcome(NamedTuple):
    """What a training on a cluster gives."""

    model: Model
    outcome: Outcome
    n_shards: int
    n_held_out: int
    n_wrong: int  # rows learned from that the weights to be returned misclassify
    verdict: Verdict | None  # where the last weights are kept and separate all rows
    spread: Spread | None  # of the features of sparse rows, measured on the first shard


def fit_cluster(
    client: "Client",
    collected: ClusterRows,
    run: ClusterPlan,
    *,
    tell: Callable[[str], object],
    observers: Sequence[Observer] = (),
    progress: Callable[[int], AbstractContextManager[Any]] | None = None,
) -> ClusterOutcome:
    """Train on parts that are in the workers.

    ``tell`` receives warnings; ``progress`` makes a progress bar for a number of shards.
    """
    from rosenblatt.distributed.engine import DaskEngine, shards_of

    classes, n_classes = collected.classes, len(collected.classes)
    learner, seed = run.learner, run.learner.random_state
    n_shards = int(run.n_shards or min(len(client.nthreads()), sum(collected.lengths)))
    recipe = Recipe(collected.n_features, n_classes, seed, learner.plan().holdout, run.class_weight)
    shards = shards_of(
        client, collected.parts, collected.lengths, n_shards, recipe, shuffled=run.shuffled
    )
    with nullcontext() if progress is None else progress(n_shards) as bar:
        engine = DaskEngine(client, shards, n_classes, None if bar is None else bar.watch)
        collected.parts.clear()  # the workers may forget them
        if recipe.holdout and not engine.n_held_out:
            raise InputError(
                f"validation_fraction={recipe.holdout} of {engine.n_rows} rows leaves no row to "
                "validate on; give more rows, a larger fraction, or early_stopping=False."
            )
        in_order = learner.shuffle is False
        if unlike := unlike_shards(engine.facts, classes.tolist(), in_order=in_order):
            tell(unlike)
        state, course = learner.start(recipe.n_features, n_classes), Progress((*classes.tolist(),))
        point = None if run.checkpoint is None else _checkpoint(run.checkpoint, run, engine)
        resumed = None if point is None else point.read()
        if resumed is not None:
            state, course = resumed.state, resumed.progress
        state.arrange(by_feature=engine.sparse)
        plan = learner.plan()
        outcome = fit_shards(
            state,
            engine,
            plan,
            EpochSettings(plan.rule, plan.zero, plan.shuffle, seed, learner.averaged, run.mixing),
            observers if bar is None else [*observers, bar],
            progress=course,
            watch=None if point is None else point.writer(run.checkpoint_seconds),
        )
        n_wrong = engine.wrong(Start.deciding(state), plan.zero or -1, tried=False)
        verdict = _verdict(engine, state, classes, outcome) if outcome.converged else None
        spread = engine.spread()
    model = Model.empty(LearnerRecord.of(learner), classes, Weights(state, learner.constant))
    model.record.note(outcome)
    return ClusterOutcome(model, outcome, n_shards, engine.n_held_out, n_wrong, verdict, spread)


def _checkpoint(path: str, run: ClusterPlan, engine: "DaskEngine") -> Checkpoint:
    """Return the checkpoint of this run on these rows and no others."""
    described = {
        "n_shards": engine.n_shards,
        "mixing": run.mixing,
        "shuffle_shards": run.shuffled,
        "rows": [[fact.n_learned, fact.n_held_out, fact.fingerprint] for fact in engine.facts],
        "class_weight": None if run.class_weight is None else run.class_weight.tolist(),
        **plain_options(options_of(run.learner)),
        **run.described,
    }
    return Checkpoint(path, described, lambda: run.learner)


def _verdict(
    engine: "DaskEngine", state: State, classes: NDArray[Any], outcome: Outcome
) -> Verdict | None:
    """Return the verdict "separable" with the last weights as witness, if they prove it exactly."""
    if outcome.best_pass != len(outcome.history):
        return None  # the weights that were kept are not those that separate
    known = [one for one in engine.gathered(extent, Start.of(state)) if one is not None]
    leasts = [least for least, _ in known if least is not None]
    if len(leasts) < len(known) or not leasts or min(leasts) <= 0:
        return None
    least, square = min(leasts), max(squared for _, squared in known)
    V = np.array(state.by_class(state.weights))
    two = state.n_classes == 2
    gammas = []
    for part in (V[:, :-1], V):
        length = squared_norm(part.reshape(-1))
        gammas.append(root_bounds(least * least / length)[0] if length else inf)
    low, augmented = gammas
    made = sum(record.mistakes for record in outcome.history)
    times = "" if engine.n_shards == 1 else f"; with {engine.n_shards} shards it is as many times"
    return Verdict(
        status="separable",
        classes=tuple(classes.tolist()),
        n_rows=engine.n_rows,
        n_features=state.n_features,
        radius=root_bounds(square)[1],
        margin_low=low,
        margin_high=inf,
        augmented_low=augmented,
        augmented_high=inf,
        bound=rounded_up((1 if two else 2) * square / Fraction(augmented) ** 2),
        w=V[0, :-1] if two else V[:, :-1],
        b=float(V[0, -1]) if two else V[:, -1],
        notes=(f"{made:,} mistakes were made, and the bound is that of one shard{times}",),
    )


def train_files(
    client: "Client",
    paths: Sequence[str],
    layout: Layout,
    columns: Columns,
    plan: ClusterPlan,
    *,
    progress: Callable[[int], AbstractContextManager[Any]] | None = None,
    tell: Callable[[str], object] = lambda _: None,
    prove: Callable[[Verdict], object] = lambda _: None,
) -> Model:
    """Return the model that a learner makes of the rows of files.

    The workers read the files, each of which they must find under its name. ``progress`` makes a
    bar, ``tell`` is handed a sentence for the user, and ``prove`` the verdict where the last
    weights separate all rows.
    """
    described = {"layout": asdict(layout), "columns": asdict(columns)}
    read = read_files(client, paths, layout, columns, plan.learner.constant)
    plan = replace(plan, described=described)
    fitted = fit_cluster(client, read.collected, plan, tell=tell, progress=progress)
    if fitted.verdict is not None:
        prove(fitted.verdict)
    model = with_files(fitted.model, read, fitted)
    return model.with_facts({"n_shards": fitted.n_shards, "title": plan.learner.title})


def with_files(model: Model, read: ClusterFiles, fitted: ClusterOutcome) -> Model:
    """Return the model with what the files it learned from say of it."""
    encoding, verdict, collected = read.encoding, fitted.verdict, read.collected
    facts: tuple[Facts, ...] = (
        source_facts(read.names, read.format),
        {
            "n_rows": int(sum(collected.lengths)),
            "class_counts": collected.class_counts.tolist(),
        },
        TriedRows(fitted.n_held_out, fitted.outcome.tried_error).record(),
        {"n_wrong": fitted.n_wrong, "notes": read.notes},
    )
    record = replace(
        model.record.with_facts(*facts),
        verdict=None if verdict is None else verdict.as_json(),
        outcome=model.outcome | {"n_learned": fitted.outcome.n_rows},
    )
    return replace(
        model,
        stored_encoding=StoredEncoding.of(encoding),
        spread=fitted.spread,
        record=record,
    )


class ShardBar(ProgressBar):
    """Shards done in the epoch under way, mistakes so far; use it as a context manager."""

    def __init__(self, n_shards: int) -> None:
        super().__init__(n_shards, "loading", "shards")
        self._n_shards = n_shards

    def watch(self, epoch: int, n_done: int) -> None:
        """Show how many shards are done."""
        self._progress.update(self._task, description=f"epoch {epoch}", completed=n_done)

    def __call__(self, record: PassRecord) -> None:
        """Show what an epoch did."""
        text = f", {self._figures(record)}"
        self._progress.update(self._task, completed=self._n_shards, text=text)

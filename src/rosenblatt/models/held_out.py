"""What held-out rows decide once weights are trained: probabilities, a threshold, fewer bits."""

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter, WeightOverflowError, warn_caller
from rosenblatt.kernels.rows import CSR
from rosenblatt.kernels.shapes import between, take
from rosenblatt.models.bias import with_calibration, with_threshold
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import Model
from rosenblatt.models.record import TrainingFacts
from rosenblatt.models.weights import Weights, deciding_weights
from rosenblatt.parameters import COUNTED
from rosenblatt.tasks import task_of
from rosenblatt.tasks.held_out_fits import HeldOutFits, Wanted
from rosenblatt.tasks.label_sets import SIGMOIDS
from rosenblatt.tasks.label_thresholds import THRESHOLDS
from rosenblatt.training.examples import ArraySupply
from rosenblatt.training.history import ENDED_EARLY
from rosenblatt.training.holdout import HoldOut, some_folds
from rosenblatt.training.room import lack_of_room
from rosenblatt.training.state import State, copied, fit_supply, is_finite
from rosenblatt.training.streaming import StreamFit

FEW_HELD_OUT = 200  # rows; what fewer decide is decided by chance
MOST_SCORES = 1 << 26  # of held-out rows and labels that thresholds are fitted to
FEW_WEIGHTS = 1 << 20  # which fit into any memory
FEWEST_WEIGHTS = 1 << 13  # of fewer the file is small anyway
MOST_TRIED = 1 << 18  # scores of labels by which it is decided whether weights have fewer bits


def with_held_out(model: Model, found: HeldOutFits) -> Model:
    """Return the model with what was fitted to held-out rows."""
    judged: TrainingFacts = {}
    if found.folds:
        by = (model.training.get("held_out_by") or {}) | {"folds": found.folds}
        judged = {"held_out_rows": found.n_rows, "held_out_by": by}
    if found.arrays is not None:
        judged["held_out_labels"] = found.figures
        arrays = model.arrays | found.arrays
        return model.with_facts(judged, calibration=found.calibration, arrays=arrays)
    if found.threshold is not None:
        model = model.with_facts(judged, calibration=found.calibration)
        return with_threshold(model, found.threshold)
    if found.calibration is None:
        return model
    model = with_calibration(model, found.calibration)
    return (
        model if found.error is None else model.with_facts(judged | {"held_out_error": found.error})
    )


@dataclass(frozen=True)
class HeldOutFit:
    """Fits what is asked for: probabilities, and the threshold that is best by a metric."""

    learner: Learner
    calibrate: bool
    threshold: str | None

    def __post_init__(self) -> None:
        if self.threshold is None:
            return
        if self.threshold not in COUNTED:
            msg: str = f"A threshold is chosen by {', '.join(COUNTED)}; got {self.threshold!r}."
            raise InputError(msg)
        if (other := self.learner.fixes_bias) is not None:
            chosen = Parameter("threshold", self.threshold)
            raise InputError(chosen, " moves the bias and is not available with ", other, ".")

    def __bool__(self) -> bool:
        needed = self.learner.answer.needs_held_out and self.learner.early_stopping
        return self.calibrate or self.threshold is not None or needed

    def start(self, n_features: int, n_classes: int) -> State:
        """Return the initial state for rows of files; raise unless a threshold can be used."""
        if self.threshold is not None and n_classes != 2:
            raise InputError(f"{Parameter('threshold')} needs two classes; got {n_classes}.")
        learner = self.learner
        if n_features * n_classes > FEW_WEIGHTS:
            n_kinds = 1 + learner.averaged + learner.second_order
            lack = lack_of_room(n_features, task_of(learner.task, n_classes), n_kinds)
            if lack is not None:
                warn_caller(lack)
        return learner.start(n_features, n_classes, by_feature=True)

    def fit(self, trained: StreamFit, *, in_folds: bool = False) -> HeldOutFits:
        """Return what the scores of the held-out rows give, or of all rows in turn."""
        if not trained.n_held_out:
            asked = self.calibrate or self.threshold is not None
            if asked and trained.outcome.stop_reason not in ENDED_EARLY:
                calibrate = Parameter("calibrate", value=True)
                raise InputError(
                    calibrate if self.calibrate else Parameter("threshold"),
                    " needs held-out rows, and there are too few rows to hold any out.",
                )
            return HeldOutFits()
        scores, numbers = self._scores(trained)
        tried, n_folds = self._fold_scores(trained) if in_folds else ((scores, numbers), 0)
        learner, reading = self.learner, trained.reading
        wanted = Wanted(
            calibrate=bool(self.calibrate),
            threshold=self.threshold,
            moves=learner.fixes_bias is None,
            positive=learner.zero == "positive",
        )
        sets, classes = reading.met.sets, reading.classes
        fitted = trained.state.task.fit(tried, (scores, numbers), sets, classes, wanted)
        return fitted._replace(folds=n_folds, n_rows=len(tried[1]))

    def _fold_scores(self, trained: StreamFit) -> tuple[tuple[NDArray[Any], NDArray[Any]], int]:
        """Return scores and class numbers of all rows, by trainings as long as that to come.

        And the number of folds, each of which was one training's rows to judge.
        """
        learner, seed, n_classes = self.learner, self.learner.random_state, trained.state.n_classes
        examples = next(iter(trained.supply.tried()))
        n_rows, n_features = examples.rows.shape
        strata = trained.state.task.strata(trained.state.task.numbers(examples.targets))
        divisions = some_folds(strata, seed, trained.reading.kept.groups)
        plan = replace(learner.plan(), early_stopping=None, time_limit=None, record=False)
        shuffle, scores = bool(plan.shuffle), []
        for _, tried in divisions:
            divided = replace(examples, holdout=HoldOut.of_rows(tried, n_rows))
            state = learner.start(n_features, n_classes)
            fit_supply(state, ArraySupply(divided, shuffle, np.random.default_rng(seed)), plan)
            scores.append(state.scores(take(examples.rows, tried)))
        tried = np.concatenate([division.tried for division in divisions])
        numbers = trained.state.task.numbers(examples.targets[tried])
        return (np.concatenate(scores), numbers), len(divisions)

    def _scores(self, trained: StreamFit) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return scores and class numbers of the held-out rows."""
        learner, positive = self.learner, self.learner.zero == "positive"
        machine = deciding_weights(learner, trained)
        task = machine.task
        most = task.rows_within(MOST_SCORES)
        parts, n_rows = [], 0
        for part in trained.supply.tried():
            rows, numbers = take(part.rows, part.order), task.numbers(part.targets[part.order])
            parts.append((machine.tried_scores(rows, positive=positive), numbers))
            n_rows += len(part.order)
            if n_rows > most:
                break
        scores, numbers = (np.concatenate(side) for side in zip(*parts, strict=True))
        return scores, numbers

    def notes(self, fits: HeldOutFits) -> list[str]:
        """Return notes on what could not be fitted."""
        missing = []
        if self.calibrate and fits.calibration is None:
            missing.append("calibration was fitted")
        if self.threshold is not None and fits.threshold is None:
            missing.append("threshold was chosen")
        return [f"No {what}: training ended before any row was held out." for what in missing]


def few_held_out(learner: Learner, n_held_out: int) -> bool:
    """Return whether too few rows are held out to choose a pass by them."""
    settles = learner.averaged or learner.second_order  # of other weights the last may be bad
    return settles and 0 < n_held_out < FEW_HELD_OUT


def rounded(model: Model, rows: CSR) -> Model:
    """Return a model whose numbers are those of float32, if all these rows are predicted as before.

    They stand in the memory of the old ones. What it says of the training has the number of rows
    then, the first ones where each has many labels. A small model is returned as it is.
    """
    others = model.arrays.keys() - {THRESHOLDS, SIGMOIDS}
    if not model.is_linear or _n_weights(model) < FEWEST_WEIGHTS or others:
        return model
    most = model.task.rows_within(MOST_TRIED)
    if rows.shape[0] > most:  # each score is to be on the same side: few rows are many trials
        rows = cast("CSR", between(rows, 0, most))
    state = model.state
    with np.errstate(over="ignore"):
        short: Any = {name: copied(part, dtype=np.float32) for name, part in state.taken.items()}
    if not all(map(is_finite, short.values())):
        return model
    wide = CSR(rows.data, rows.indices, rows.indptr, model.n_features, rows.constant)
    try:
        old, new = (
            model.answers(replace(state, **parts, _average=None).scores(wide, lasting=False))
            for parts in (state.taken, short)
        )
    except WeightOverflowError:
        return model
    if not np.array_equal(old, new):
        return model
    own: Any = {name: copied(part, room=state.taken[name]) for name, part in short.items()}
    machine = Weights(replace(state, **own, _average=None), model.linear.constant)
    return model.with_facts({"float32_rows": rows.shape[0]}, machine=machine)


def _n_weights(model: Model) -> int:
    return (model.n_features + 1) * model.task.n_vectors


def coarse(numbers: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return numbers of float32 to a two-thousandth, which deflate well; for what is only shown."""
    bits = numbers.astype(np.float32).view(np.uint32) + np.uint32(1 << 11)
    return np.asarray((bits & ~np.uint32((1 << 12) - 1)).view(np.float32))

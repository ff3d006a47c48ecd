"""Going on with a model: new classes, rows in memory, and files whose rows are predicted first."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding import SvmlightEncoding
from rosenblatt.data.files import Files, Layout
from rosenblatt.data.sources import Paths
from rosenblatt.errors import InputError, WeightOverflowError
from rosenblatt.kernels.rows import CSR
from rosenblatt.kernels.shapes import touched_features
from rosenblatt.models.bias import bias_shift
from rosenblatt.models.file_rows import StoredEncoding
from rosenblatt.models.guarantee import certainty_of
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import Class, Model
from rosenblatt.models.record import EARLIER, Record, file_record
from rosenblatt.rules import ZERO_CONVENTIONS, Rule, pair_scale
from rosenblatt.tasks.held_out_fits import TriedRows
from rosenblatt.tasks.leads import numbers_of
from rosenblatt.tasks.task import Truths
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import StopReason
from rosenblatt.training.loop import hold_interrupt
from rosenblatt.training.state import State, recorded_pass, run_pass
from rosenblatt.wording import counted, word_list

TEXT = "OSUT"  # NumPy's kinds of labels that do not compare with numbers
MOST_NAMED = 8  # new classes
AHEAD = 64  # rows that are predicted together before they are learned


def model_with_classes(model: Model, seen: NDArray[Any], rule: Rule) -> Model:
    """Return a copy of a model that knows these classes as well, and no more of its old rows."""
    classes = with_labels(model.labels, seen)
    kept, moved = np.searchsorted(classes, model.labels), bias_shift(model)
    return replace(
        model,
        **_no_record(model, classes),
        classes=tuple(classes.tolist()),
        machine=model.machine.with_classes(kept, len(classes), pair_scale(rule), moved),
    )


def _no_record(model: Model, labels: NDArray[Any]) -> dict[str, Any]:
    """Return the fields of a model that say what its rows were, without any."""
    nothing: dict[str, Any] = dict.fromkeys(("spread", "calibration"))
    old = model.record
    record = Record(old.history, old.outcome.copy(), {"label_type": labels.dtype.str})
    return nothing | {"record": record, "arrays": model.arrays_among(labels)}


def learn_batch(model: Model, learner: Learner, examples: Examples) -> int:
    """Change a model by one pass in the order given, or not at all where it would overflow.

    Returns the number of updates.
    """
    moved, mistakes = bias_shift(model), model.linear.listed
    state, rows, numbers = model.state, examples.rows, examples.numbers()
    if moved:  # what was learned is where it was before
        state.move_bias(moved)
    state.keep_average(learner.averaged)
    state.arrange_for(rows)
    features = touched_features(rows)
    before = state.snapshot(features)
    visit = state, examples, numbers, learner.step, ZERO_CONVENTIONS[learner.zero]
    if mistakes is None:
        counts, updates = run_pass(*visit), None
    else:
        counts, updates = recorded_pass(*visit)
    if counts.updates:
        try:
            when = "in these rows, which are not learned"
            state.check_finite(counts.loss, features, when, learner.step)
        except WeightOverflowError:
            state.restore(before)
            if moved:
                state.move_bias(-moved)
            raise
        if mistakes is not None and updates is not None:
            first = before.count - 1 + mistakes.shift
            mistakes.extend_by(updates, rows, state.count, first)
    if mistakes is not None:
        mistakes.reach(state.count)
    model.learned_on(1, counts.mistakes, moved=counts.updates > 0)
    return counts.updates


def all_known(y: NDArray[Any], classes: NDArray[Any]) -> bool:
    """Return whether every label is one of the classes."""
    if len(classes) == 0 or not _comparable(y, classes):
        return False
    return bool((classes[numbers_of(y, classes)] == y).all())


def first_classes(seen: NDArray[Any], named: ArrayLike | None) -> NDArray[Any]:
    """Return the classes of a first batch: those named, which must hold all that came."""
    if named is None:
        return seen
    classes = np.unique(np.asarray(named))
    strange = np.setdiff1d(seen, classes)
    if len(strange):
        msg = f"The label {strange.tolist()[0]!r} in y is not in classes={classes.tolist()}."
        raise InputError(msg)
    return classes


def with_labels(classes: NDArray[Any], seen: NDArray[Any]) -> NDArray[Any]:
    """Return classes and labels together, sorted; raise InputError for labels of another type."""
    if len(classes) == 0 or len(seen) == 0:
        return np.unique(seen) if len(seen) else classes
    if not _comparable(seen, classes):
        raise InputError(
            f"The labels {seen.tolist()[:3]} are of another type than the classes learned so far, "
            f"{classes.tolist()[:3]}: give labels of one type."
        )
    return np.union1d(classes, seen)


def _comparable(y: NDArray[Any], classes: NDArray[Any]) -> bool:
    return (y.dtype.kind in TEXT) == (classes.dtype.kind in TEXT)


class Milestone(NamedTuple):
    """How well the rows up to some number were predicted before they were learned."""

    n_rows: int
    n_wrong: int
    n_rows_since: int  # the last milestone
    n_wrong_since: int
    label: Any  # of the last of these rows
    predicted: Any
    n_features: int  # that are in it

    @property
    def error(self) -> float:
        """The share of all rows so far that were predicted wrongly."""
        return self.n_wrong / self.n_rows

    @property
    def error_since(self) -> float:
        """The share of the rows since the last milestone."""
        return self.n_wrong_since / self.n_rows_since


class ProgressiveError:
    """Counts rows and wrong predictions; there is a milestone at 1, 2, 4, 8, … rows."""

    def __init__(self, watch: Callable[[Milestone], object]) -> None:
        self._watch, self.n_rows, self.n_wrong = watch, 0, 0
        self.milestones: list[Milestone] = []
        self._last: tuple[Any, Any, int] = (None, None, 0)

    def room(self, most: int) -> int:
        """Return how many rows may come before the next milestone."""
        return min(most, (1 << self.n_rows.bit_length()) - self.n_rows) if self.n_rows else 1

    def add(self, n_rows: int, n_wrong: int, last: tuple[Any, Any, int]) -> None:
        """Count rows, of which the last has this label, prediction and number of features."""
        self.n_rows += n_rows
        self.n_wrong += n_wrong
        self._last = last
        if self.n_rows & (self.n_rows - 1) == 0:
            self._note()

    def end(self) -> None:
        """Note the rows since the last milestone."""
        if self.n_rows and (not self.milestones or self.milestones[-1].n_rows < self.n_rows):
            self._note()

    def _note(self) -> None:
        before = self.milestones[-1] if self.milestones else Milestone(0, 0, 0, 0, *self._last)
        since = self.n_rows - before.n_rows, self.n_wrong - before.n_wrong
        self.milestones.append(Milestone(self.n_rows, self.n_wrong, *since, *self._last))
        self._watch(self.milestones[-1])


def continuable(path: str) -> Model:
    """Return the model of a file, which can go on learning."""
    model = Model.load(path)
    _ = model.state  # raises where there are no weights
    return model


def learn_files(
    model: Model,
    paths: Paths,
    *,
    layout: Layout | None = None,
    watch: Callable[[Milestone], object] = lambda _: None,
    tell: Callable[[str], object] = lambda _: None,
    ahead: int = AHEAD,
) -> Model:
    """Return a model that has learned the rows of files as well, once and in their order.

    Each row is predicted before it is learned, by weights at most ``ahead`` rows old; a voted model
    predicts here by the average of its vectors. Words and categories that are new to the model are
    left out, unless they are hashed; new features of svmlight files and new classes get weights.
    A list of mistakes goes on; rows are then numbered after those of the model's own files.
    ``watch`` is called after 1, 2, 4, 8, … rows and at the end, ``tell`` with sentences.
    """
    files = Files(paths, layout or Layout())
    new, batches = _copy(model, files)
    learner = model.made_by.learner
    class_weights = model.class_weights()
    tally, truths = ProgressiveError(watch), model.task.truths(model.classes)
    counts = dict(zip(model.classes, model.training.get("class_counts", ()), strict=False))
    with hold_interrupt() as interrupt:
        for batch in batches:
            for met, n in zip(batch.classes, np.bincount(batch.labels).tolist(), strict=False):
                for label in truths.labels(met):
                    counts[label] = counts.get(label, 0) + n
            _widen(new, batch)
            start = 0
            while start < batch.n_rows and not interrupt.pressed:
                stop = min(batch.n_rows, start + tally.room(ahead))
                part = batch.block(start, stop)
                new = _learn(truths, new, learner, part, tally, _weights(part, class_weights))
                start = stop
            if interrupt.pressed:
                break
    tally.end()
    if not tally.n_rows:
        raise InputError("There are no rows to learn from: the input is empty.")
    notes = [*_news(model, new), *files.reading_notes()]
    for note in notes:
        tell(note)
    record = new.record.with_facts(
        file_record(files, model.training.get("title"), map(str, notes)),
        {
            "n_rows": tally.n_rows,
            "class_counts": [counts.get(label, 0) for label in new.classes],
        },
        TriedRows().record(),
        {
            "began_with": [name for key in EARLIER for name in model.training.get(key, [])],
            "began_with_rows": _n_earlier(model),
            "progressive": [milestone._asdict() for milestone in tally.milestones],
        },
    )
    reason: StopReason = "interrupted" if interrupt.pressed else "max_iter"
    ending = record.outcome | {"n_learned": tally.n_rows, "stop_reason": reason}
    new.record = replace(record, outcome=ending)
    return new


def _copy(model: Model, files: Files) -> tuple[Model, Any]:
    """Return a model to be changed, and the batches that it reads of files, with their labels."""
    own, shift = model.copy(), _n_earlier(model) - (model.count - 1)
    machine = own.linear.growing(shift)
    encoding = replace(own.stored_encoding)  # which counts what is new in these files alone
    nothing = _no_record(model, model.labels)
    new = replace(own, machine=machine, stored_encoding=encoding, **nothing)
    if moved := bias_shift(model):
        new.state.move_bias(moved)
    return new, new.rows(files, learn=True)


def _n_earlier(model: Model) -> int:
    """Return how many rows the files had that a model was made from, one after the other."""
    return model.training.get("began_with_rows", 0) + model.training.get("n_rows", 0)


def _widen(model: Model, batch: Batch) -> None:
    if isinstance(model.encoder, SvmlightEncoding) and batch.n_features > model.n_features:
        model.state.widen(batch.n_features)
        document = model.encoder.as_json() | {"n_features": batch.n_features}
        model.stored_encoding = StoredEncoding(document)


def _learn(
    truths: Truths,
    model: Model,
    learner: Learner,
    batch: Batch,
    tally: ProgressiveError,
    weights: NDArray[Any] | None,
) -> Model:
    """Predict the rows of a batch, then learn them; return the model, a new one if it grew.

    A row with a set of labels is wrong unless all are right.
    """
    known = batch.below(model.n_features)
    rows = known.csr(model.n_features, learner.constant)
    lesson = truths.lesson(batch, model.classes, model.answers(_scores(model.state, rows)))
    last = lesson.given, lesson.predicted, int(np.diff(known.indptr)[-1])
    tally.add(batch.n_rows, lesson.n_wrong, last)
    if lesson.new:
        model = model_with_classes(model, np.array(lesson.new), learner.step)
    targets, sets = truths.targets(batch, model.classes)
    learn_batch(model, learner, Examples(rows, targets, weights, sets=sets))
    return model


def _weights(batch: Batch, class_weights: dict[Class, float]) -> NDArray[Any] | None:
    """Return what multiplies the steps of rows: their own weights and those of classes."""
    if not class_weights:
        return batch.weights
    of_class = np.array([class_weights.get(label, 1.0) for label in batch.classes])
    of_row: NDArray[Any] = of_class[batch.labels]
    return of_row if batch.weights is None else batch.weights * of_row


def _scores(state: State, rows: CSR) -> NDArray[Any]:
    """Return the scores of rows by the weights that decide, at the cost of these rows alone."""
    state.arrange_for(rows)
    return state.scores(rows, lasting=False)


def _news(old: Model, new: Model) -> list[str]:
    notes = []
    classes = [label for label in new.classes if label not in old.classes]
    if classes:
        notes.append(f"New {new.task.nouns} were learned: {word_list(classes, MOST_NAMED)}.")
    if new.n_features > old.n_features:
        n = counted(new.n_features - old.n_features, "new feature")
        notes.append(f"{n[0].upper()}{n[1:]} got weights.")
    table = new.table
    if table is not None and table.n_unknown:
        notes.append(
            f"{table.n_unknown:,} words and categories, counted once a row, are new to the model "
            "and were left out; to learn them, train a new model on all files."
        )
    if "threshold" in old.training:
        notes.append("The threshold of the old model is dropped: it was chosen for its weights.")
    if old.calibration is not None:
        notes.append("The probabilities of the old model are dropped: they were those of its rows.")
    if certainty_of(old) is not None:
        notes.append("The guarantee of the old model is dropped: it held for the old weights.")
    return notes

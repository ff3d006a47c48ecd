"""The one fitted thing: weights, what they mean, and all that training needs to go on."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding import SvmlightEncoding, TableEncoding, encoding_from
from rosenblatt.data.encoding.numbered import check_width
from rosenblatt.data.files import Encoding, Files, Layout, encoded
from rosenblatt.data.labels import sides_of
from rosenblatt.data.sources import Paths, kept_names, places_digest
from rosenblatt.errors import InputError, Parameter, WeightOverflowError
from rosenblatt.kernels.rows import Rows
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.models.learner import Learner
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.rows import input_rows
from rosenblatt.models.weights import Weights, weights_of
from rosenblatt.tasks import CLASSES, Task
from rosenblatt.tasks.calibration import (
    Calibration,
)
from rosenblatt.tasks.label_sets import SIGMOIDS, unfitted
from rosenblatt.tasks.label_thresholds import THRESHOLDS
from rosenblatt.training.history import Outcome, PassRecord
from rosenblatt.training.state import State
from rosenblatt.wording import word_list

if TYPE_CHECKING:
    from rosenblatt.models.explanation import Explanation
    from rosenblatt.models.kernel_machine import Machine
    from rosenblatt.tasks.evaluation import Evaluation, LabelEvaluation
    from rosenblatt.tasks.metrics import Threshold

Json = Any  # None, bool, int, float, str, and lists and dictionaries of them
Class = int | float | str | bool
SPREAD_PARTS = ("low", "high", "deviation")
NOTHING_LEARNED = Outcome([], "max_iter", 0)
MOVED = "bias_moved"  # under which a training holds the threshold that the bias was moved by


@dataclass(frozen=True)
class Spread:
    """How the values of each feature spread over the rows that were measured, after any scaling."""

    low: NDArray[Any]  # (n_features,), a value that a row does not have counts as 0
    high: NDArray[Any]
    deviation: NDArray[Any]  # standard deviation
    n_rows: int  # how many rows were measured


@dataclass
class Model:
    """What predicts, and what it means. Only learning on changes it; all else returns a new one.

    What must fit together is checked by ``rosenblatt.models.file`` whenever a model is written or
    read.

    Every fitted estimator holds one, ``model_``.
    """

    made_by: LearnerRecord
    classes: tuple[Class, ...]  # sorted as NumPy sorts them
    machine: "Machine"
    feature_names: tuple[str, ...] | None = None  # as given by the user
    encoding: dict[str, Json] | None = None  # how a file's columns become features
    encoding_arrays: dict[str, NDArray[Any]] = field(default_factory=dict)  # and its large parts
    spread: Spread | None = None
    calibration: Calibration | None = None
    history: tuple[dict[str, Json], ...] = ()  # the fields of one PassRecord each
    outcome: dict[str, Json] = field(default_factory=dict)  # stop_reason, best_pass, n_iter, …
    training: dict[str, Json] = field(default_factory=dict)  # files, class_counts, held_out, …
    verdict: dict[str, Json] | None = None
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)  # what else a file holds

    @classmethod
    def fitted(
        cls,
        made_by: LearnerRecord,
        classes: NDArray[Any],
        machine: "Machine",
        outcome: Outcome,
        **parts: Any,
    ) -> "Model":
        """Return what a training from arrays gives."""
        record = record_of(outcome) | {"training": {"label_type": classes.dtype.str}} | parts
        return cls(made_by, tuple(classes.tolist()), machine, **record)

    @classmethod
    def empty(
        cls,
        name: str,
        learner: Learner,
        classes: NDArray[Any],
        n_features: int,
        *,
        by_feature: bool = False,
    ) -> "Model":
        """Return the model of an estimator of this name before its first row."""
        state = learner.start(n_features, len(classes), by_feature=by_feature)
        machine = weights_of(learner, state)
        made_by = LearnerRecord.of(learner, name, {})
        return cls.fitted(made_by, classes, machine, NOTHING_LEARNED)

    def note(self, outcome: Outcome) -> None:
        """Change the record to that of another training."""
        record = record_of(outcome)
        self.history, self.outcome = record["history"], record["outcome"]

    def learned_on(self, n_passes: int, n_mistakes: int, *, moved: bool) -> None:
        """Count passes over more rows; drop what was of other rows and, once moved, the ending."""
        self.outcome["n_iter"] += n_passes
        self.outcome["n_mistakes"] += n_mistakes
        if moved:
            self.outcome["stop_reason"] = "max_iter"  # one pass is what it is for
        self.spread = self.calibration = self.verdict = None
        if not self.of_arrays:
            self.training, self.arrays = self.without_rows(self.labels)
            self.outcome.pop("n_learned", None)

    @property
    def of_arrays(self) -> bool:
        """Whether its record says no more of its rows than the type of their labels."""
        return self.training.keys() == {"label_type"}

    def without_rows(self, labels: NDArray[Any]) -> tuple[dict[str, Json], dict[str, NDArray[Any]]]:
        """Return the record of a training and the arrays of a model of these labels, without rows.

        Thresholds of labels stay as they are; those of new labels are 0.
        """
        arrays = {}
        if THRESHOLDS in self.arrays:
            *own, of_best = self.thresholds
            arrays[THRESHOLDS] = np.append(np.zeros(len(labels)), of_best)
            arrays[THRESHOLDS][np.searchsorted(labels, self.labels)] = own
        return {"label_type": labels.dtype.str}, arrays

    def copy(self) -> "Model":
        """Return a model of its own memory."""
        other = replace(self, machine=self.machine.copy(), outcome=dict(self.outcome))
        if "encoder" in self.__dict__:  # it does not change, and takes time to make
            other.encoder = self.encoder
        return other

    def with_threshold(self, threshold: "Threshold") -> "Model":
        """Return a model of two classes whose scores are above 0 where they were above this."""
        moved = self._moved(threshold.value)
        moved.training |= {"threshold": threshold._asdict(), "held_out_error": threshold.error}
        return moved

    def with_calibration(self, calibration: Calibration) -> "Model":
        """Return a model with probabilities; of two classes the bias moves to where both are ½."""
        slope, offset = calibration.slope, calibration.offset
        if offset == 0.0:
            return replace(self, calibration=calibration)
        at_zero = replace(calibration, offset=0.0)  # slope 0: the scores say nothing
        model = self if slope == 0.0 else self._moved(-offset / slope)
        return replace(model, calibration=at_zero)

    def _moved(self, threshold: float) -> "Model":
        """Return a model whose scores are lower by this; learning on takes it back."""
        calibration = self.calibration
        training = self.training | {MOVED: self.training.get(MOVED, 0.0) + threshold}
        if calibration is not None:
            offset = calibration.offset + calibration.slope * threshold
            calibration = replace(calibration, offset=offset)
        machine = self.linear.moved(-threshold)
        return replace(self, machine=machine, calibration=calibration, training=training)

    @classmethod
    def load(cls, path: "str | Path") -> "Model":
        """Return the model of a file, which this version can use; ``-`` is standard input."""
        from rosenblatt.models.file import read

        model, name = read(path), "standard input" if path == "-" else str(path)
        model.made_by.check(name)
        return model

    def save(self, path: "str | Path") -> None:
        """Write the model file, whole or not at all; ``-`` is standard output."""
        from rosenblatt.models.file import write

        write(self, path)

    def class_weights(self) -> dict[Class, float]:
        """Return what multiplied the steps of each class in training; those left out have 1."""
        return self.made_by.class_weights(self.classes, self.training.get("class_counts"))

    @property
    def learner(self) -> str:
        """The name of the estimator that learned it."""
        return self.made_by.name

    @property
    def options(self) -> dict[str, Json]:
        """The parameters of that estimator, by their Python names."""
        return self.made_by.options

    @property
    def linear(self) -> Weights:
        """The weights; raises InputError where there are none."""
        return self.machine.linear

    @property
    def state(self) -> State:
        """The weights as training goes on from them; likewise."""
        return self.linear.state

    @property
    def weights(self) -> NDArray[Any]:
        """The last weights, (n_vectors, n_features + 1); of two classes those of the second.

        The bias stands last in each vector and is 0 where the learner has none.
        """
        return self.state.by_class(self.state.weights)

    @property
    def ledger(self) -> NDArray[Any] | None:
        """Algorithm 7's u and β, where an average is kept."""
        return self.state.vectors.get("ledger")

    @property
    def variance(self) -> NDArray[Any] | None:
        """Of each weight; second-order rules keep it."""
        return self.state.vectors.get("variance") if self.has_weights else None

    @property
    def deciding_weights(self) -> NDArray[Any]:
        """The weights that predict: the average w − u/c where one is kept, else the last."""
        return self.state.by_class(self.state.average())

    @property
    def count(self) -> int:
        """Algorithm 7's c: one more than the rows seen."""
        return self.state.count

    @property
    def mistakes(self) -> Mistakes | None:
        """The updates, with the rows that made them, where they are kept."""
        return self.machine.mistakes

    @property
    def by_vote(self) -> bool:
        """Whether all weight vectors decide."""
        return self.machine.by_vote

    @property
    def task(self) -> Task:
        """What an answer is."""
        return self.machine.task

    def one_class(self, name: str = "The model") -> "Model":
        """Return the model; raise InputError where it gives a row more or less than one class."""
        self.task.check_one_class(name)
        return self

    def of_label(self, label: Class) -> "Model":
        """Return the model of two classes that tells rows with one of several labels from others.

        Its scores are lower by the threshold of the label, which is then 0; where no label is above
        its own, the best one may be predicted all the same, and that is left out here.
        """
        if label not in self.classes:
            known = word_list(self.classes)
            raise InputError(f"The model knows no label {label!r}; it knows {known}.")
        number, learner = self.classes.index(label), replace(self.made_by.learner, task=CLASSES)
        calibration = self.calibration
        if calibration is not None:
            slope, offset = self.arrays[SIGMOIDS][:, number].tolist()
            calibration = replace(calibration, slope=slope, offset=offset)
        training = self.training | {"title": learner.title}
        if "class_counts" in training:
            own = training["class_counts"][number]
            training["class_counts"] = [training["n_rows"] - own, own]
        alone = replace(
            self,
            machine=self.linear.of_label(number),
            made_by=LearnerRecord.of(learner),
            classes=sides_of(label),
            calibration=calibration,
            training={name: value for name, value in training.items() if name != "label_type"},
            history=(),  # which counts rows with any label on the wrong side
            arrays={},
        )
        return alone._moved(self.thresholds[number].item())  # noqa: SLF001  # its own

    def alone(self, number: int) -> "Model":
        """Return what decides on a class: itself, or of labels the model of that one."""
        return self if self.task.contrasts else self.of_label(self.classes[number])

    @property
    def label_separator(self) -> str:
        """What stands between the labels of a row that is written, where it may have several."""
        own = "" if self.table is None else self.table.label_separator
        return own if own.isprintable() and own else ";"

    @property
    def thresholds(self) -> NDArray[Any]:
        """The score of each label above which it is predicted, where a row may have several.

        The last one is for the best label of rows where none is; see ``above``.
        """
        found = self.arrays.get(THRESHOLDS)
        return unfitted(len(self.classes)) if found is None else found

    @cached_property
    def labels(self) -> NDArray[Any]:
        """The classes as an array, of the type that the labels had, or one that holds them."""
        found: NDArray[Any] = np.array(self.classes, self.training.get("label_type"))
        if found.dtype == object and "label_type" not in self.training:
            return np.array(self.classes, np.float64)  # integers beyond int64, as readers take them
        return found

    @property
    def records(self) -> list[PassRecord]:
        """What each pass did."""
        return [PassRecord(**record) for record in self.history]

    @cached_property
    def encoder(self) -> Encoding | None:
        """What makes features of the columns of files; None for a model of arrays."""
        if self.encoding is None:
            return None
        check_width(self.encoding, self.n_features)  # before anything is made of that size
        return encoding_from(self.encoding, self.encoding_arrays)

    @property
    def table(self) -> TableEncoding | None:
        """What makes features of columns; None for a model of numbered features."""
        return None if self.encoder is None else self.encoder.table

    @property
    def encodes(self) -> bool:
        """Whether rows in memory are columns, or are conjoined, before they meet the weights."""
        return self.encoding is not None and self.encoding["kind"] != "svmlight"

    @property
    def n_features(self) -> int:
        """Number of features, without the constant one of the bias."""
        return self.machine.n_features

    @property
    def constant(self) -> float:
        """The constant feature: 1 where a bias is learned, else 0."""
        return self.made_by.constant

    @property
    def positive(self) -> bool:
        """Whether a score of zero predicts the second class, and a tie the last of its classes."""
        return self.made_by.positive

    @property
    def has_weights(self) -> bool:
        """Whether it predicts by weights, not by kernel values."""
        return isinstance(self.machine, Weights)

    @property
    def is_linear(self) -> bool:
        """Whether one weight vector decides, or one a class."""
        return self.has_weights and not self.by_vote

    @property
    def kind(self) -> str:
        """The kind of the model in words that need no knowledge of learners."""
        return self.machine.kind

    @property
    def weights_title(self) -> str:
        """Whose weights stand for the model: where vectors vote, those of their average."""
        return self.linear.title or self.learner

    def rows(
        self,
        paths: Paths | Files,
        *,
        layout: Layout | None = None,
        prompt: bool = False,
        need_labels: bool = True,
        learn: bool = False,
        keep: Sequence[str] = (),
        tell: Callable[[str], object] | None = None,
    ) -> Iterator[Batch]:
        """Yield the rows of files in batches, as features that the model knows.

        In them the classes of the model come first, in its order, then labels that it does not
        know; a row without a label has −1. Where rows may have several labels, classes are sets of
        them, as they are written, in the order in which they come. With ``prompt`` rows come as
        soon as they arrive. The columns of ``keep`` come along as they are; ``tell`` is a function
        of sentences on what was unusual. ``Files`` have a layout of their own, and know
        afterwards how they were read. To ``learn``, every row needs a label.
        """
        files = paths
        if not isinstance(files, Files):
            files = Files(files, layout or Layout(), prompt=prompt)
        files.answers = not need_labels
        encoding, zero_based = self.encoder, files.layout.zero_based
        if encoding is None:  # learned from arrays: rows there have numbered features
            if zero_based is None:
                raise InputError(
                    "The model was saved from Python, where features count from 0, and does not "
                    "know from where the file counts: say "
                    f"{Parameter('zero_based', value=True)} or "
                    f"{Parameter('zero_based', value=False)}."
                )
            encoding = SvmlightEncoding(zero_based=zero_based, n_features=self.n_features)
        how: dict[str, Any] = {"need_labels": need_labels, "learn": learn, "keep": keep}
        batches = encoded(files, encoding, self.task.known(self.classes), **how)
        return batches if tell is None else _with_notes(batches, files, tell)

    def scores(self, X: Any) -> NDArray[Any]:
        """Return the score of each row: above 0 for the second of two classes, else one a class.

        Parameters
        ----------
        X : data frame, list of dictionaries or list of texts
            With the columns of training; or an array or a sparse matrix, where it was trained on
            one; or a batch of ``rows``.
        """
        batch, n = input_rows(self, X), self.n_features
        try:  # features that it has not met count for nothing
            return self.row_scores(batch.below(n).csr(n, self.constant), positive=self.positive)
        except WeightOverflowError as error:
            msg = f"{batch.file}, from line {batch.first_line} on: {error}"
            raise WeightOverflowError(msg) from error

    def row_scores(self, rows: Rows, *, positive: bool) -> NDArray[Any]:
        """Return the score of rows of its features; see ``positive``."""
        return self.machine.scores(rows, positive=positive)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row of ``X``, which is what ``scores`` takes.

        Where a row may have several, it is a tuple of labels, in an array of objects.
        """
        return self.task.labels_of(self.answers(self.scores(X)), self.labels)

    def form_of_y(self, X: Any) -> NDArray[Any]:
        """Return predictions in the form of y: labels, or an indicator of them."""
        return self.task.form_of_y(self.answers(self.scores(X)), self.labels)

    def answers(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return what rows are by their scores: class numbers, or which row has which label."""
        return self.task.answers(scores, self.thresholds, positive=self.positive)

    def probabilities(self, X: Any) -> NDArray[Any]:
        """Return the probability of each class on each row of ``X``, (n_rows, n_classes).

        Where weight vectors vote and no probabilities were fitted, they are the shares of votes.
        """
        if not self.has_probabilities:
            raise InputError(
                "The model has no probabilities: train it with "
                f"{Parameter('calibrate', value=True)}."
            )
        return self.probabilities_of(self.scores(X))

    @property
    def has_probabilities(self) -> bool:
        """Whether probabilities were fitted, or weight vectors vote."""
        return self.calibration is not None or self.by_vote

    def probabilities_of(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the probability of each class, (n_rows, n_classes), by the scores of rows."""
        return self.task.probabilities(self.calibration, self.arrays, scores)

    def evaluate(
        self, paths: Paths, *, layout: Layout | None = None
    ) -> "Evaluation | LabelEvaluation":
        """Return how good the model is on the rows of files, which have labels."""
        from rosenblatt.models.judging import evaluation_of

        told: list[str] = []
        rows = self.rows(paths, layout=layout, tell=told.append)
        found: Evaluation | LabelEvaluation = evaluation_of(self, rows, told=told)
        return found

    def explain(
        self, x: Any, label: Class | None = None, against: Class | None = None
    ) -> "Explanation":
        """Return what each feature of the row ``x`` adds to the decision on it, by name.

        Or to the lead or the score of one ``label``; see ``rosenblatt.explain``.
        """
        from rosenblatt.models.explanation import explain

        return explain(self, x, label, against)


def _with_notes(
    batches: Iterator[Batch], files: Files, tell: Callable[[str], object]
) -> Iterator[Batch]:
    yield from batches
    for note in files.notes if files.prompt else files.reading_notes():
        tell(note)


def record_of(outcome: Outcome) -> dict[str, Any]:
    """Return what a model keeps of how a training went, by the names of its fields."""
    return {
        "history": tuple(record._asdict() for record in outcome.history),
        "outcome": {
            "stop_reason": outcome.stop_reason,
            "best_pass": outcome.best_pass,
            "n_iter": len(outcome.history),
            "n_mistakes": sum(record.mistakes for record in outcome.history),
        },
    }


def file_record(files: Files, title: str | None, notes: Iterable[str]) -> dict[str, Any]:
    """Return what a model says of the files that it learned from, and of how they were read."""
    return {
        "files": kept_names(files.names),
        "places": places_digest(files.names),
        "format": str(files.format),
        "title": title,
        "decisions": None if files.decisions is None else files.decisions.as_json(),
        "read_as": [list(line) for line in files.decided()],
        "bad_rows": files.bad_rows.as_json(),
        "notes": list(notes),
    }


def model_of(fitted: Any) -> Model:
    """Return the model that a fitted estimator of this package holds, or the model given."""
    model = fitted if isinstance(fitted, Model) else getattr(fitted, "model_", None)
    if isinstance(model, Model):
        return model
    raise InputError(
        f"A fitted estimator of rosenblatt or a Model is needed; got a {type(fitted).__name__}."
    )

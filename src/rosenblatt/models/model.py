"""The one fitted thing: weights, what they mean, and all that training needs to go on."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter, WeightOverflowError
from rosenblatt.models.file_rows import StoredEncoding, encoder_of, merged_of, rows_of, table_of
from rosenblatt.models.judging import evaluation_of_files
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.record import NOTHING_LEARNED, Ending, Json, PassFacts, Record, TrainingFacts
from rosenblatt.models.rows import answered_rows
from rosenblatt.models.weights import Weights
from rosenblatt.tasks import Task
from rosenblatt.tasks.calibration import Calibration
from rosenblatt.tasks.label_thresholds import thresholds_among, thresholds_of
from rosenblatt.training.state import State

if TYPE_CHECKING:
    from rosenblatt.models.explanation import Explanation
    from rosenblatt.models.kernel_machine import Machine

Class = int | float | str | bool
SPREAD_PARTS = ("low", "high", "deviation")
NO_ENCODING = StoredEncoding()


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
    stored_encoding: StoredEncoding = NO_ENCODING  # how a file's columns become features
    spread: Spread | None = None
    calibration: Calibration | None = None
    record: Record = field(default_factory=Record)
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)  # what else a file holds

    @classmethod
    def empty(cls, made_by: LearnerRecord, classes: NDArray[Any], machine: "Machine") -> "Model":
        """Return the model before its first row in memory."""
        record = Record.of(NOTHING_LEARNED, {"label_type": classes.dtype.str})
        return cls(made_by, tuple(classes.tolist()), machine, record=record)

    def learned_on(self, n_passes: int, n_mistakes: int, *, moved: bool) -> None:
        """Count passes over more rows; drop what was of other rows and, once moved, the ending."""
        self.record.count(n_passes, n_mistakes, moved=moved)
        self.spread = self.calibration = None
        if not self.record.of_arrays:
            self.arrays = self.arrays_among(self.labels)
            self.record.forget_rows(self.labels.dtype.str)

    def arrays_among(self, labels: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model of these labels that learns on.

        Thresholds of labels stay as they are; those of new labels are 0.
        """
        places = np.searchsorted(labels, self.labels)
        return thresholds_among(self.arrays, places, len(labels))

    def with_facts(self, facts: TrainingFacts, **parts: Any) -> "Model":
        """Return a model with these parts that says this of its training as well."""
        return replace(self, record=self.record.with_facts(facts), **parts)

    def copy(self) -> "Model":
        """Return a model of its own memory."""
        return replace(self, machine=self.machine.copy(), record=self.record.copy())

    @classmethod
    def load(cls, path: "str | Path", *, to_learn: bool = True) -> "Model":
        """Return the model of a file, which this version can use; ``-`` is standard input.

        Not ``to_learn``: without what only learning on needs.
        """
        from rosenblatt.models.file import read

        model, name = read(path, to_learn=to_learn), "standard input" if path == "-" else str(path)
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
    def history(self) -> Sequence[PassFacts]:
        """What each pass did, as a file has it."""
        return self.record.history

    @property
    def outcome(self) -> Ending:
        """How training ended: ``stop_reason``, ``best_pass``, ``n_iter`` and more."""
        return self.record.outcome

    @property
    def training(self) -> TrainingFacts:
        """What is known of its rows: ``files``, ``n_rows``, ``class_counts`` and more."""
        return self.record.training

    @property
    def verdict(self) -> dict[str, Json] | None:
        """Whether its rows can be separated, where that was asked for."""
        return self.record.verdict

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
    def mistakes(self) -> Any:
        """The updates, with the rows that made them (``Mistakes``); None where none are kept."""
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
        """Return the model of two classes that tells rows with one of several labels."""
        from rosenblatt.models.multilabel import of_label

        return of_label(self, label)

    @property
    def thresholds(self) -> NDArray[Any]:
        """The score of each label above which it is predicted, where a row may have several.

        The last one is for the best label of rows where none is; see ``predicted_labels``.
        """
        return thresholds_of(self.arrays, len(self.classes))

    @cached_property
    def labels(self) -> NDArray[Any]:
        """The classes as an array, of the type that the labels had, or one that holds them."""
        found: NDArray[Any] = np.array(self.classes, self.training.get("label_type"))
        if found.dtype == object and "label_type" not in self.training:
            return np.array(self.classes, np.float64)  # integers beyond int64, as readers take them
        return found

    encoder = cached_property(encoder_of)
    table = cached_property(table_of)
    merged = property(merged_of)

    @property
    def encoding(self) -> dict[str, Json] | None:
        """How columns become features, as a file has it; None where it learned from arrays."""
        return self.stored_encoding.document

    @property
    def encoding_arrays(self) -> dict[str, NDArray[Any]]:
        """The large parts of that."""
        return self.stored_encoding.arrays

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

    rows = rows_of

    def scores(self, X: Any) -> NDArray[Any]:
        """Return the score of each row: above 0 for the second of two classes, else one a class.

        Parameters
        ----------
        X : data frame, list of dictionaries or list of texts
            With the columns of training; or an array or a sparse matrix, where it was trained on
            one; or a batch of ``rows``.
        """
        reader, batch = answered_rows(self, X)
        n = reader.n_features
        try:  # features that it has not met count for nothing
            rows = batch.below(n).csr(n, self.constant)
            return reader.machine.scores(rows, positive=self.positive)
        except WeightOverflowError as error:
            msg = f"{batch.file}, from line {batch.first_line} on: {error}"
            raise WeightOverflowError(msg) from error

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

    evaluate = evaluation_of_files

    def explain(
        self, x: Any, label: Class | None = None, against: Class | None = None
    ) -> "Explanation":
        """Return what each feature of the row ``x`` adds to the decision on it, by name.

        Or to the lead or the score of one ``label``; see ``rosenblatt.explain``.
        """
        from rosenblatt.models.explanation import explain

        return explain(self, x, label, against)


def model_of(fitted: Any) -> Model:
    """Return the model that a fitted estimator of this package holds, or the model given."""
    model = fitted if isinstance(fitted, Model) else getattr(fitted, "model_", None)
    if isinstance(model, Model):
        return model
    raise InputError(
        f"A fitted estimator of rosenblatt or a Model is needed; got a {type(fitted).__name__}."
    )

"""The one fitted thing: weights, what they mean, and all that training needs to go on."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding import SvmlightEncoding, TableEncoding, encoding_from
from rosenblatt.data.encoding.numbered import check_width
from rosenblatt.data.files import Encoding, Files, Layout, encoded
from rosenblatt.data.labels import sides_of
from rosenblatt.data.sources import Paths, kept_names, places_digest
from rosenblatt.errors import InputError, Parameter, WeightOverflowError
from rosenblatt.kernels.binary import activations
from rosenblatt.kernels.multiclass import class_scores
from rosenblatt.kernels.rows import CSR
from rosenblatt.mistakes.arrays import KERNEL_PREFIX, PREFIX, list_arrays, read_list
from rosenblatt.mistakes.updates import Mistakes, label_steps
from rosenblatt.models.learner import SPELLINGS, Learner
from rosenblatt.models.rows import input_rows
from rosenblatt.parameters import check_parameters
from rosenblatt.tasks import CLASSES, Task, task_of
from rosenblatt.tasks.calibration import (
    Calibration,
)
from rosenblatt.tasks.label_sets import SIGMOIDS, unfitted
from rosenblatt.tasks.label_thresholds import THRESHOLDS
from rosenblatt.tasks.leads import winners
from rosenblatt.training.examples import class_weights
from rosenblatt.training.history import Outcome, PassRecord
from rosenblatt.training.state import State
from rosenblatt.wording import word_list

if TYPE_CHECKING:
    from rosenblatt.mistakes.kernel import Kernel
    from rosenblatt.mistakes.machine import DualState
    from rosenblatt.models.explanation import Explanation
    from rosenblatt.tasks.evaluation import Evaluation, LabelEvaluation
    from rosenblatt.tasks.metrics import Threshold

Json = Any  # None, bool, int, float, str, and lists and dictionaries of them
Class = int | float | str | bool
SPREAD_PARTS = ("low", "high", "deviation")
MOVED = "bias_moved"  # under which a training holds the threshold that the bias was moved by


@dataclass(frozen=True)
class Spread:
    """How the values of each feature spread over the rows that were measured, after any scaling."""

    low: NDArray[Any]  # (n_features,), a value that a row does not have counts as 0
    high: NDArray[Any]
    deviation: NDArray[Any]  # standard deviation
    n_rows: int  # how many rows were measured


class KernelMachine(NamedTuple):
    """What predicts by kernel values: a list of mistakes, and the kernel."""

    state: "DualState"
    kernel: "Kernel"


@dataclass
class Model:
    """Weights, and what they mean. Only learning on changes it; all else returns a new one.

    Two classes share one vector, whose positive side is the second class; K classes have K. The
    bias stands last in each vector and is 0 where the learner has none. What must fit together is
    checked by ``rosenblatt.models.file`` whenever a model is written or read.

    Every fitted estimator holds one, ``model_``.
    """

    learner: str  # name of what learned it: "AveragedPerceptron", …
    options: dict[str, Json]  # its parameters, by their Python names
    classes: tuple[Class, ...]  # sorted as NumPy sorts them
    weights: NDArray[Any]  # the last ones, (n_vectors, n_features + 1), float64
    ledger: NDArray[Any] | None = None  # Algorithm 7's u and β, where an average is kept
    count: int = 1  # Algorithm 7's c
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
    mistakes: Mistakes | None = None  # the list that a learner grows; ``arrays`` in a file
    machine: "KernelMachine | None" = None  # in place of weights; ``arrays`` in a file
    variance: NDArray[Any] | None = None  # of each weight; second-order rules keep it
    described: dict[str, Json] | None = None  # the learner, where the options do not spell it

    @classmethod
    def fitted(
        cls,
        learner: str,
        options: dict[str, Json],
        classes: NDArray[Any],
        state: State,
        outcome: Outcome,
        **parts: Any,
    ) -> "Model":
        """Return what a training from arrays gives; the weights stay in the memory of the state."""
        record = record_of(outcome) | {"training": {"label_type": classes.dtype.str}} | parts
        return cls(
            learner, options, tuple(classes.tolist()), **state.vectors(copied=False), **record
        )

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
        mistakes = Mistakes.sparse(n_features, learner.constant) if learner.voted else None
        described = learner.description_beside(name)
        state = learner.start(n_features, len(classes), by_feature=by_feature)
        nothing = Outcome([], "max_iter", 0)
        return cls.fitted(name, {}, classes, state, nothing, mistakes=mistakes, described=described)

    def follow(self, state: State, outcome: Outcome | None = None) -> None:
        """Change to what the state of this model is now, after a training of this outcome."""
        record = {} if outcome is None else record_of(outcome)
        for name, value in (state.vectors(copied=False) | record).items():
            setattr(self, name, value)

    def file_arrays(self) -> dict[str, NDArray[Any]]:
        """Return ``arrays`` with what a learner grows: its list of mistakes, a kernel machine."""
        arrays = self.arrays
        if self.mistakes is not None:
            arrays = arrays | list_arrays(self.mistakes)
        if self.machine is not None:
            from rosenblatt.mistakes.machine_arrays import machine_arrays  # wanted by few

            arrays = arrays | machine_arrays(*self.machine)
        return arrays

    @property
    def vectors(self) -> dict[str, Any]:
        """What is kept for each weight, by the names of fields: those that there are."""
        found = {name: getattr(self, name) for name in ("weights", "ledger", "variance")}
        return {name: array for name, array in found.items() if array is not None}

    def copy(self) -> "Model":
        """Return a model of its own memory, with all that it holds as a file has it."""
        other = replace(
            self,
            **{name: array.copy() for name, array in self.vectors.items()},
            count=self.count if self.machine is None else self.machine.state.count,
            outcome=dict(self.outcome),
            arrays=self.file_arrays(),
            mistakes=None,
            machine=None,
        )
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
        weights, calibration = self.weights.copy(), self.calibration
        weights[0, -1] -= threshold
        training = self.training | {MOVED: self.training.get(MOVED, 0.0) + threshold}
        if calibration is not None:
            offset = calibration.offset + calibration.slope * threshold
            calibration = replace(calibration, offset=offset)
        return replace(self, weights=weights, calibration=calibration, training=training)

    def move_bias(self, by: float) -> None:
        """Change the bias of two classes, and with it the state that training goes on from."""
        self.state.by_class(self.state.weights)[0, -1] += by

    @classmethod
    def load(cls, path: "str | Path") -> "Model":
        """Return the model of a file, which this version can use; ``-`` is standard input."""
        from rosenblatt.models.file import read

        model, name = read(path), "standard input" if path == "-" else str(path)
        model.check_learner(name)
        return model

    def save(self, path: "str | Path") -> None:
        """Write the model file, whole or not at all; ``-`` is standard output."""
        from rosenblatt.models.file import write

        write(self, path)

    def check_learner(self, name: str) -> None:
        """Raise InputError where a model file of this name holds a learner that is not known."""
        if self.described is None and self.learner not in SPELLINGS:
            raise InputError(
                f"{name} holds a {self.learner!r:.60}, and this version of rosenblatt knows "
                f"{word_list(SPELLINGS, joint=' or ')}: upgrade it."
            )
        try:
            self.usable_options()
            if self.described is not None:
                Learner.described(self.described)
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise InputError(f"{name} cannot be used: {error}") from error

    def usable_options(self) -> dict[str, Any]:
        """Return the parameters of the learner, checked."""
        options = dict(self.options)
        for name in ("class_weight", "parameters"):
            if isinstance(options.get(name), list):
                options[name] = dict(options[name])
        if self.described is None:  # else its class knows more of its parameters
            for name in sorted(options.keys() - SPELLINGS[self.learner].names):
                msg = f"{self.learner} has no parameter {name!r:.60}; upgrade rosenblatt."
                raise InputError(msg)
        named = {name: value for name, value in options.items() if name != "goal"}
        check_parameters(self.learner, named)  # the description says the task, and is checked
        return options

    def class_weights(self) -> dict[Class, float]:
        """Return what multiplied the steps of each class in training; those left out have 1."""
        class_weight = self.usable_options().get("class_weight")
        counts = self.training.get("class_counts")
        if class_weight == "balanced" and counts is None:
            raise InputError(
                "The model was trained with class_weight='balanced' and does not say how many rows "
                "each class had; train it with a weight for each class."
            )
        weights = class_weights(class_weight, self.classes, np.asarray(counts or (), np.float64))
        return {} if weights is None else dict(zip(self.classes, weights.tolist(), strict=True))

    @cached_property
    def state(self) -> State:
        """The weights as training goes on from them, in the same memory."""
        parts = self.weights, self.ledger, self.variance
        return State.of_vectors(*parts, self.task, self.count)

    @property
    def task(self) -> Task:
        """What an answer is."""
        name = "" if self.described is None else str(self.described.get("labels", ""))
        return task_of(name, len(self.classes))

    @property
    def several(self) -> str:
        """How a mistake on a row with several labels is read; empty where each row has one."""
        return self.task.name

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
        number, learner = self.classes.index(label), replace(self.how, task=CLASSES)
        calibration, mistakes = self.calibration, None
        if calibration is not None:
            slope, offset = self.arrays[SIGMOIDS][:, number].tolist()
            calibration = replace(calibration, slope=slope, offset=offset)
        if self.is_recorded:
            every = self.votes
            mistakes = Mistakes(label_steps(every.updates, number), every.end, every.support)
        training = self.training | {"title": learner.title}
        if "class_counts" in training:
            own = training["class_counts"][number]
            training["class_counts"] = [training["n_rows"] - own, own]
        alone = replace(
            self,
            **{name: part[number : number + 1] for name, part in self.vectors.items()},
            learner=learner.estimator,
            options=learner.options(),
            described=learner.description_beside(learner.estimator),
            classes=sides_of(label),
            calibration=calibration,
            training={name: value for name, value in training.items() if name != "label_type"},
            history=(),  # which counts rows with any label on the wrong side
            arrays={},
            mistakes=mistakes,
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
        return int(self.weights.shape[1]) - 1

    @property
    def constant(self) -> float:
        """The constant feature: 1 where a bias is learned, else 0."""
        return 1.0 if self.options.get("fit_intercept", True) else 0.0

    @property
    def positive(self) -> bool:
        """Whether a score of zero predicts the second class, and a tie the last of its classes."""
        return bool(self.options.get("zero") == "positive")

    @property
    def voted(self) -> bool:
        """Whether all weight vectors of training decide, by vote."""
        if self.described is not None:
            return bool(self.described["memory"] == "vote")
        return self.learner in SPELLINGS and SPELLINGS[self.learner].memories == ("vote",)

    @property
    def votes(self) -> Mistakes:
        """The updates that it holds, with the rows that made them, checked."""
        if self.mistakes is not None:
            return self.mistakes
        shape = self.task.n_vectors, self.n_features, self.constant
        return read_list(self.arrays, *shape, self.count, joint=self.task.joint)

    @property
    def n_voting(self) -> int | None:
        """How many weight vectors vote; None where one alone decides."""
        return self.votes.n_vectors if self.voted else None

    @property
    def how(self) -> Learner:
        """The learner that made it, by which it goes on learning."""
        if self.described is not None:
            return Learner.described(self.described)
        return Learner.of_parameters(self.options, SPELLINGS[self.learner].memories[0])

    @property
    def deciding_weights(self) -> NDArray[Any]:
        """The weights that predict: the average w − u/c where one is kept, else the last."""
        self.check_weights()
        return self.weights if self.ledger is None else self.weights - self.ledger / self.count

    def check_weights(self) -> None:
        """Raise InputError where there are no weights, for the model predicts by a kernel."""
        if self.is_kernel:
            raise InputError(
                f"A {self.learner} has no weights: it predicts by kernel values, and does so with "
                "predict and evaluate alone."
            )

    @property
    def is_recorded(self) -> bool:
        """Whether it holds its mistakes, with the rows that made them."""
        return self.mistakes is not None or f"{PREFIX}row" in self.arrays

    @property
    def is_kernel(self) -> bool:
        """Whether a kernel machine stands in place of weights."""
        stored = any(name.startswith(KERNEL_PREFIX) for name in self.arrays)
        return stored or self.machine is not None

    @property
    def kind(self) -> str:
        """The kind of the model in words that need no knowledge of learners."""
        if self.is_kernel:
            return "kernel model"
        return "vote of linear models" if self.voted else "linear model"

    @property
    def weights_title(self) -> str:
        """Whose weights stand for the model: where vectors vote, those of their average."""
        return "Average of a voted perceptron" if self.voted else self.learner

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
        return Scorer(self).scores(input_rows(self, X))

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
        return self.calibration is not None or self.voted

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


class Scorer:
    """Scores rows by the weights of a model, or by its kernel machine.

    The scores of a voted perceptron are shares of votes, or with ``by_weights`` those of the
    average of its vectors.
    """

    def __init__(self, model: Model, *, by_weights: bool = False) -> None:
        self.voted = model.voted and not by_weights
        self._by_votes = _vote_scores(model) if self.voted else None
        by_kernel = model.is_kernel and not by_weights
        self._by_kernel = _kernel_scores(model) if by_kernel else None
        weights = model.weights if by_kernel else model.deciding_weights
        self._binary = model.task.flat
        self._weights = weights[0] if self._binary else np.ascontiguousarray(weights.T)
        self._n_features = model.n_features
        self._constant = model.constant
        self._positive = model.positive

    def scores(self, batch: Batch) -> NDArray[Any]:
        """Return the activation of each row: (n,) for two classes, else (n, K).

        Features that the model has not met have no weight and count for nothing.
        """
        known = batch.below(self._n_features)
        if self._by_votes is not None:
            try:
                return self._by_votes(known.csr(self._n_features, self._constant))
            except WeightOverflowError as error:
                msg = f"{batch.file}, from line {batch.first_line} on: {error}"
                raise WeightOverflowError(msg) from error
        if self._by_kernel is not None:
            scores = self._by_kernel(known.csr(self._n_features, self._constant))
        else:
            scores = np.empty((batch.n_rows, *self._weights.shape[1:]))
            rows = known.csr(self._n_features, 1.0)
            (activations if self._binary else class_scores)(rows, self._weights, scores)
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores).reshape(batch.n_rows, -1).all(axis=1))[0])
            raise WeightOverflowError(
                f"{batch.file}: the activation of row {row + 1} from line {batch.first_line} on "
                "overflowed: its values are too large."
            )
        return scores

    def numbers(self, scores: NDArray[Any]) -> NDArray[np.intp]:
        """Return the number of the class that each score predicts."""
        return winners(scores, positive=self._positive)


def _vote_scores(model: Model) -> Callable[[CSR], NDArray[Any]]:
    from rosenblatt.mistakes.scores import vote_counter, vote_scores  # wanted by few

    shape = len(model.classes), model.count
    count = vote_counter(model.votes, *shape, positive=model.positive)
    return lambda rows: vote_scores(count(rows))


def _kernel_scores(model: Model) -> Callable[[CSR], NDArray[Any]]:
    from rosenblatt.models.kernel_machine import machine_scores, stored_machine

    parameters = SimpleNamespace(**model.usable_options())
    if parameters.kernel == "precomputed":
        raise InputError(
            'The model was trained with kernel="precomputed", on kernel values that were computed '
            "elsewhere: load it in Python with rosenblatt.load to predict from such values."
        )
    machine, memory = stored_machine(model, parameters), parameters.memory
    return lambda rows: machine_scores(machine, parameters, rows, (memory,))[memory]


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

"""The kinds of pictures, and what they are of: the rows of files, a model, or both."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rosenblatt
from rosenblatt import plots
from rosenblatt.cli.diagnose import matrix_of
from rosenblatt.cli.options import COLUMNS
from rosenblatt.data.batch import Batch, join
from rosenblatt.data.encoding.table_encoding import TableEncoding
from rosenblatt.data.files import Columns, Files, Layout, encoded
from rosenblatt.data.labels import SetNumbers
from rosenblatt.errors import InputError, Parameter
from rosenblatt.models.explanation import of_one_class
from rosenblatt.models.learner import Learner
from rosenblatt.models.learner_record import estimator_of, own_options
from rosenblatt.models.model import NO_ENCODING, Model
from rosenblatt.models.rows import FileRows, read_rows
from rosenblatt.rules import rule_parameters
from rosenblatt.tasks.label_sets import has_one

Options = dict[str, Any]  # those that were given, by name

ONE_CLASS = frozenset({"class_"})
PLANE = frozenset({"x", "y", "plane"})
MOST_NAMES = 5000
VOTE = "vote"  # a memory of pictures: no single weight vector is left of it
RULE = frozenset({"rule", "max_iter", "fit_intercept", *rule_parameters()})
LEARNER = RULE | {"memory", "random_state"}
NEITHER, DATA, BOTH = (), ("data",), ("data", "a model")  # what a picture is of


class LabelledMatrix(NamedTuple):
    """Rows as the displays take them."""

    X: Any
    y: Any


@dataclass
class Subject:
    """A file that is either rows or a model, and perhaps rows beside it."""

    path: str
    test_paths: Sequence[str]
    layout: Layout
    columns: Columns
    whole: bool = False  # whether the picture takes a model as it is, whatever it answers
    label: str | None = None  # that is drawn, where each is a problem of its own
    against_rest: bool = False  # whether it is drawn against all other classes

    @cached_property
    def _stored(self) -> Model | None:
        """The model of the file; None where it holds rows, or is standard input."""
        if self.path == "-" or not Path(self.path).is_file():
            return None
        with Path(self.path).open("rb") as file:
            head = file.read(9)
        if head[8:9] != b"{" or b"\0" not in head[:8]:  # the length of a header, and the header
            return None
        return Model.load(self.path)

    @cached_property
    def model(self) -> Model | None:
        """The model of the file, or of the label that is drawn; None where it holds rows."""
        stored = self._stored
        if stored is None or self.whole:
            return stored
        return of_one_class(stored, self.label, self.path)

    @property
    def chosen(self) -> bool:
        """Whether what is drawn is one label of those that the file has."""
        if self._stored is not None:
            return self.model is not self._stored
        return self._read.known is not self._read.classes

    @cached_property
    def _read(self) -> FileRows:
        if self.model is not None:
            raise InputError(f"{self.path} is a model; this picture needs a data file.")
        return read_rows([self.path], self.layout, self.columns)

    @cached_property
    def _file_rows(self) -> FileRows:
        rows = self._read
        return (rows.of_class if self.against_rest else rows.of_one_class)(self.label)

    @cached_property
    def rows(self) -> LabelledMatrix:
        """The rows of the file."""
        return LabelledMatrix(matrix_of(self._file_rows.rows), np.array(self._file_rows.labels))

    @cached_property
    def test(self) -> LabelledMatrix | None:
        """The rows beside it, encoded as the file's; None where none are named."""
        if not self.test_paths:
            return None
        batches: Iterable[Batch]
        if self._stored is not None:
            n_features, classes = self._stored.n_features, self._stored.classes
            batches = self._stored.rows(self.test_paths, layout=self.layout)
        else:
            trained, files = self._read, Files(self.test_paths, self.layout)
            n_features, classes = trained.rows.n_features, trained.classes
            batches = encoded(files, trained.encoding, trained.known, learn=True)
        parts = list(batches)
        if not any((batch.labels >= 0).any() for batch in parts):
            raise InputError("The test data have no labels; this picture needs them.")
        rows = join(parts).below(n_features)
        labelled = rows.labels >= 0
        X = matrix_of(rows._replace(data=rows.data.astype(np.float64)).csr(n_features, 0.0))
        if not self.chosen:
            return LabelledMatrix(X[labelled], rows.label_values()[labelled])
        sides = np.array((self.model or self._file_rows).classes)  # which check the label
        number = [str(one) for one in classes].index(str(self.label))
        own = has_one(SetNumbers(classes).sets(rows.classes), rows.labels[labelled], number)
        return LabelledMatrix(X[labelled], sides[own.astype(int)])

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features, where they are not too many to be listed."""
        if self.model is None:
            return self._file_rows.names or None
        encoder = self.model.encoder
        if encoder is None or self.model.n_features > MOST_NAMES:
            return self.model.feature_names
        return tuple(encoder.names(range(self.model.n_features)))

    @property
    def titles(self) -> tuple[str, ...] | None:
        """The names with a word for numbers that are scaled, as axes are titled."""
        names, model = self.names, self.model
        table = self._file_rows.encoding if model is None else model.table
        if names is None or not isinstance(table, TableEncoding) or not table.settings.scale:
            return names
        n = table.n_numeric
        return (*(f"{name} (scaled)" for name in names[:n]), *names[n:])

    @property
    def rows_to_draw(self) -> LabelledMatrix:
        """The rows beside it, which a model cannot be drawn without, else its own."""
        if self.model is None and self.test is None:
            return self.rows
        if self.test is None:
            raise InputError(
                f"{self.path} is a model; this picture also needs data. Name a file with "
                f"{Parameter('test')}."
            )
        return self.test

    def estimator(self, options: Options, **extra: Any) -> Any:
        """Return the estimator of the model, or one that is trained on the rows."""
        if self.model is None:
            return learner(options, **extra).fit(self.rows.X, self.rows.y)
        from rosenblatt.estimators.storage import estimator_of

        # Rows beside a model are encoded here, so the estimator takes them as they are.
        return estimator_of(replace(self.model, stored_encoding=NO_ENCODING))


class PictureKind(NamedTuple):
    """A kind of picture."""

    sentence: str
    display: str  # its class in plots
    draw: Callable[[Any, Subject, Options, Options], plots.Display]  # by that class
    options: frozenset[str]
    subjects: Sequence[str] = BOTH  # what it can be drawn of
    beside: Sequence[str] = BOTH  # what --test goes with

    def picture(self, subject: Subject, options: Options) -> plots.Display:
        """Return the picture of a subject."""
        own = {name: options[name] for name in options.keys() - LEARNER - PLANE}
        if self.options >= PLANE:
            pair = (options.get("x"), options.get("y"))
            if (pair[0] is None) != (pair[1] is None):
                raise InputError("--x and --y must be given together.")
            names = subject.names or ()
            drawn = [names.index(name) if name in names else name for name in pair]
            own |= {"features": None if pair[0] is None else drawn, "plane": options.get("plane")}
            own["feature_names"] = subject.titles
        return self.draw(getattr(plots, self.display), subject, options, own)


def learner(options: Options, **extra: Any) -> Any:
    """Return the estimator that the options name, with extra parameters unless it votes."""
    rule, memory = options.get("rule", "perceptron"), options.get("memory", "last")
    named = ("random_state", "fit_intercept", "max_iter")
    given = {"random_state": 0} | {name: options[name] for name in named if name in options}
    chosen = Learner(rule, memory, {name: options.get(name) for name in rule_parameters()})
    if memory != VOTE:  # which records its mistakes anyway, and whose votes are probabilities
        given |= extra
    return getattr(rosenblatt, estimator_of(chosen))(**own_options(chosen) | given)


def _among_rows(display: Any, subject: Subject, options: Options, own: Options) -> Any:
    """Return a picture of an estimator; what is trained here sees two columns if two are drawn."""
    rows = subject.rows_to_draw
    if subject.model is not None or own["features"] is None:
        return display.from_estimator(subject.estimator(options), *rows, **own)
    from rosenblatt.plots.plane import named_features

    columns, names = named_features(*subject.rows, own["feature_names"], own["features"])
    estimator = learner(options).fit(subject.rows.X[:, columns], subject.rows.y)
    return display.from_estimator(estimator, rows.X[:, columns], rows.y, feature_names=names)


def _of_rows(display: Any, subject: Subject, options: Options, own: Options) -> Any:
    given = {name: options[name] for name in options.keys() & LEARNER}
    return display.from_data(*subject.rows, **given, **own)


def _by_passes(display: Any, subject: Subject, options: Options, own: Options) -> Any:
    if subject.model is not None and subject.chosen:
        raise InputError("A model counts the mistakes of a pass for all labels together.")
    if subject.model is not None:
        return display.from_estimator(subject.estimator(options))
    given = {name: options[name] for name in options.keys() & {"max_iter", "random_state"}}
    rows = (*subject.rows, *(subject.test or ()))
    return display.from_data(*rows, estimator=learner(options), **given, **own)


def _weights(display: Any, subject: Subject, options: Options, own: Options) -> Any:
    if subject.model is not None:
        return display.from_estimator(subject.model, **own)
    return display.from_estimator(subject.estimator(options), feature_names=subject.names, **own)


def _shape(display: Any, subject: Subject, _: Options, own: Options) -> Any:
    if subject.model is None:  # what ``train`` makes of the file
        from rosenblatt.models.train import model_from_files

        said = {name: getattr(subject.columns, name) for name in COLUMNS}
        return display.from_estimator(
            model_from_files(subject.path, **vars(subject.layout) | said), **own
        )
    return display.from_estimator(subject.model, **own)


def _contributions(display: Any, subject: Subject, options: Options, own: Options) -> Any:
    rows, number = subject.rows_to_draw, own.pop("row", 1)
    if number > rows.X.shape[0]:
        raise InputError(f"Row {number:,} does not exist; there are {rows.X.shape[0]:,} rows.")
    return display.from_estimator(
        subject.model or subject.estimator(options),
        rows.X[[number - 1]],
        feature_names=None if subject.model is not None else subject.titles,
        title=f"Row {number:,}",
        **own,
    )


def _survival(display: Any, subject: Subject, options: Options, _: Options) -> Any:
    model = subject.model or subject.estimator(options, record_mistakes=True)
    return display.from_estimator(model)


def _judged(display: Any, subject: Subject, options: Options, own: Options, **extra: Any) -> Any:
    from rosenblatt.plots.error_curves import split_rows

    if subject.model is not None or subject.test is not None:
        rows = subject.rows_to_draw
        return display.from_estimator(subject.estimator(options, **extra), *rows, **own)
    split = split_rows(*subject.rows, seed=options.get("random_state", 0))
    model = learner(options, **extra).fit(split.X, split.y)
    return display.from_estimator(model, split.X_test, split.y_test, **own)


def _reliability(display: Any, subject: Subject, options: Options, own: Options) -> Any:
    """Return a picture of the probabilities that a model, or one trained here, promises."""
    if subject.model is not None and not subject.model.has_probabilities:
        raise InputError(f"{subject.path} has no probabilities; train it with --calibrate.")
    return _judged(display, subject, options, own, calibrate=True)


REST = ("boundary", "separability", "mistakes", "angle")  # of one class against all others

KINDS = {
    "boundary": PictureKind(
        "Decision boundary of two classes, with weight vector, margin and bias.",
        *("BoundaryDisplay", _among_rows, PLANE | LEARNER | ONE_CLASS),
    ),
    "regions": PictureKind(
        "Predicted class at every point of the plane, for any number of classes.",
        *("RegionsDisplay", _among_rows, PLANE | LEARNER),
    ),
    "projections": PictureKind(
        "Projections of the rows onto the weight vector.",
        *("ProjectionsDisplay", _among_rows, PLANE | LEARNER),
    ),
    "update": PictureKind(
        "Boundary and weight vector before and after one update.",
        *("UpdateDisplay", _of_rows, PLANE | RULE | {"update"}, DATA, NEITHER),
    ),
    "separability": PictureKind(
        "Whether two classes are linearly separable, with the rows that prove it.",
        *("SeparabilityDisplay", _of_rows, PLANE | ONE_CLASS, DATA, NEITHER),
    ),
    "errors": PictureKind(
        "Training and test error after each pass.",
        *("ErrorsDisplay", _by_passes, LEARNER, BOTH, DATA),
    ),
    "orders": PictureKind(
        "Error with and without shuffling, over several random seeds.",
        *("OrdersDisplay", _by_passes, LEARNER | {"n_seeds"}, DATA, DATA),
    ),
    "mistakes": PictureKind(
        "Number of mistakes and the bound of the convergence theorem.",
        *("MistakesDisplay", _of_rows, ONE_CLASS | {"max_iter"}, DATA, NEITHER),
    ),
    "angle": PictureKind(
        "Angle between the weights and those of the largest margin, after each update.",
        *("AngleDisplay", _of_rows, ONE_CLASS | {"max_iter"}, DATA, NEITHER),
    ),
    "weights": PictureKind(
        "The largest weights, by feature name.",
        *("WeightsDisplay", _weights, LEARNER | {"n", "class_"}, BOTH, NEITHER),
    ),
    "contributions": PictureKind(
        "Contribution of each feature to the score of one row.",
        *("ContributionsDisplay", _contributions, LEARNER | {"n", "row"}),
    ),
    "shape": PictureKind(
        "What columns of a table add to the score over their values, with pairs as maps.",
        *("ShapeDisplay", _shape, frozenset({"column", "class_", "n"}), BOTH, NEITHER),
    ),
    "survival": PictureKind(
        "Number of rows that each weight vector survived, which is its number of votes.",
        *("SurvivalDisplay", _survival, LEARNER, BOTH, NEITHER),
    ),
    "coverage": PictureKind(
        "Error when the model answers only where it is most certain.",
        *("CoverageDisplay", _judged, LEARNER),
    ),
    "precision-recall": PictureKind(
        "Precision and recall of a class at every threshold.",
        *("PrecisionRecallDisplay", _judged, LEARNER | {"class_"}),
    ),
    "roc": PictureKind(
        "ROC curve of a class: rows that are found against false alarms.",
        *("RocDisplay", _judged, LEARNER | {"class_"}),
    ),
    "reliability": PictureKind(
        "Probabilities against the shares that came true.",
        *("ReliabilityDisplay", _reliability, LEARNER),
    ),
    "confusion": PictureKind(
        "Number of rows by true and predicted class.", *("ConfusionDisplay", _judged, LEARNER)
    ),
    "comparison": PictureKind(
        "Last, averaged and voted perceptron beside a decision tree and nearest neighbours.",
        *("ComparisonDisplay", _of_rows, PLANE | {"max_iter", "random_state"}, DATA, NEITHER),
    ),
}

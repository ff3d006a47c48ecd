"""The kinds of pictures, and what they are of: the rows of files, a model, or both."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rosenblatt.data.files import Columns, Files, Layout, encoded
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import Model
from rosenblatt.models.rows import FileRows, model_rows, read_rows
from rosenblatt.rules import rule_parameters

if TYPE_CHECKING:
    from rosenblatt.data.batch import Batch
    from rosenblatt.plots import Display

Options = dict[str, Any]  # those that were given, by name

PLANE = frozenset({"x", "y", "plane"})
MOST_NAMES = 5000
VOTE = "vote"  # a memory of pictures: no single weight vector is left of it
LEARNER = frozenset(
    {"rule", "memory", "max_iter", "random_state", "fit_intercept", *rule_parameters()}
)


@dataclass(frozen=True)
class LabelledMatrix:
    """Rows as the displays take them."""

    X: Any
    y: Any
    names: tuple[str, ...] | None  # of the features


@dataclass
class Subject:
    """A file that is either rows or a model, and perhaps rows beside it."""

    path: str
    test_paths: Sequence[str]
    layout: "Layout"
    columns: "Columns"

    @cached_property
    def model(self) -> "Model | None":
        """The model of the file; None where it holds rows."""
        return model_at(self.path)

    @cached_property
    def _file_rows(self) -> "FileRows":
        return read_rows([self.path], self.layout, self.columns)

    @cached_property
    def rows(self) -> LabelledMatrix:
        """The rows of the file."""
        if self.model is not None:
            msg = f"{self.path} is a model; this picture needs a data file."
            raise InputError(msg)
        import numpy as np

        from rosenblatt.cli.diagnose import matrix_of

        found = self._file_rows
        return LabelledMatrix(matrix_of(found), np.array(found.labels), found.names or None)

    @cached_property
    def test(self) -> LabelledMatrix | None:
        """The rows beside it, encoded as the file's; None where none are named."""
        if not self.test_paths:
            return None
        if self.model is not None:
            batches: Iterable[Any] = model_rows(self.model, self.test_paths, layout=self.layout)
            return _matrix(batches, self.model.n_features, None)
        trained = self._file_rows
        if trained.encoding is None:
            msg = f"{self.path} has no rows; without them the test data cannot be read."
            raise InputError(msg)
        files = Files(self.test_paths, self.layout)
        batches = encoded(files, trained.encoding, trained.classes, learn=True)
        return _matrix(batches, trained.rows.n_features, trained.names or None)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features, where they are not too many to be listed."""
        if self.model is None:
            return self.rows.names
        encoder = self.model.encoder
        if encoder is None or self.model.n_features > MOST_NAMES:
            return self.model.feature_names
        return tuple(encoder.names(range(self.model.n_features)))

    @property
    def needed_test(self) -> LabelledMatrix:
        """The rows beside it, which a model cannot be drawn without."""
        if self.test is None:
            msg = Sentence(
                f"{self.path} is a model; this picture also needs data. Name a file with "
                f"{Parameter('test')}."
            )
            raise InputError(msg)
        return self.test


def model_at(path: str) -> "Model | None":
    """Return the model that a file holds; None where it is something else, or standard input."""
    if path == "-" or not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        head = file.read(9)
    if head[8:9] == b"{" and b"\0" in head[:8]:  # the length of a header, and the header
        return Model.load(path)
    return None


def _matrix(
    batches: "Iterable[Batch]", n_features: int, names: tuple[str, ...] | None
) -> LabelledMatrix:
    """Return batches as one matrix of the known features, without rows that have no label."""
    import numpy as np
    from scipy import sparse

    parts, labels = [], []
    for batch in batches:
        width = max(n_features, int(batch.indices.max(initial=-1)) + 1)
        arrays = (np.asarray(batch.data, np.float64), batch.indices, batch.indptr)
        X = sparse.csr_array(arrays, shape=(batch.n_rows, width))
        numbers = np.asarray(batch.labels)
        parts.append(X[numbers >= 0][:, :n_features])
        labels += [batch.classes[number] for number in numbers[numbers >= 0].tolist()]
    if not labels:
        msg = "The test data have no labels; this picture needs them."
        raise InputError(msg)
    X = sparse.vstack(parts, format="csr")
    if X.nnz >= X.shape[0] * X.shape[1] / 2:
        X = X.toarray()
    return LabelledMatrix(X, np.array(labels), names)


class PictureKind(NamedTuple):
    """A kind of picture."""

    sentence: str
    display: str  # its class in plots
    draw: "Callable[[Any, Subject, Options], Display]"  # by that class
    options: frozenset[str]
    of_model: bool = True  # whether a model will do
    beside_model: bool = True  # whether --test goes with a model
    beside_data: bool = True  # and with data

    def picture(self, subject: Subject, options: Options) -> "Display":
        """Return the picture of a subject."""
        from rosenblatt import plots

        return self.draw(getattr(plots, self.display), subject, options)


def subject_estimator(subject: Subject, options: Options, *, recorded: bool = False) -> Any:
    """Return the estimator of a model, or one that is trained on the rows."""
    if subject.model is not None:
        from rosenblatt.estimators.storage import estimator_of

        # Rows beside a model are encoded here, so the estimator takes them as they are.
        return estimator_of(replace(subject.model, encoding=None))
    return learner(options, recorded=recorded).fit(subject.rows.X, subject.rows.y)


def learner(options: Options, *, recorded: bool = False) -> Any:
    """Return the estimator that the options name; ``recorded`` has it know its mistakes."""
    import rosenblatt

    rule, memory = options.get("rule", "perceptron"), options.get("memory", "last")
    named = ("random_state", "fit_intercept", "max_iter")
    given: Options = {"random_state": 0} | {n: options[n] for n in named if n in options}
    if options.get("calibrate") and memory != VOTE:  # whose votes are probabilities
        given["calibrate"] = True
    if recorded and memory != VOTE:  # which knows them anyway
        given["record_mistakes"] = True
    chosen = Learner(rule, memory, {name: options.get(name) for name in rule_parameters()})
    return getattr(rosenblatt, chosen.estimator)(**chosen.parameters() | given)


def rows_to_draw(subject: Subject) -> LabelledMatrix:
    """Return the rows to draw: those beside it, else its own."""
    if subject.model is not None:
        return subject.needed_test
    return subject.rows if subject.test is None else subject.test


def plane(subject: Subject, options: Options) -> Options:
    """Return what the displays are told of the plane."""
    pair = (options.get("x"), options.get("y"))
    if (pair[0] is None) != (pair[1] is None):
        msg = "--x and --y must be given together."
        raise InputError(msg)
    names = subject.names
    features = None if pair[0] is None else pair
    return {"features": features, "plane": options.get("plane"), "feature_names": names}


def _among_rows(display: Any, subject: Subject, options: Options) -> Any:
    rows = rows_to_draw(subject)
    model = subject_estimator(subject, options)
    return display.from_estimator(model, rows.X, rows.y, **plane(subject, options))


def _update(display: Any, subject: Subject, options: Options) -> Any:
    names = ("rule", *rule_parameters(), "max_iter", "fit_intercept", "update")
    given = {name: options[name] for name in names if name in options}
    rows = subject.rows
    return display.from_data(rows.X, rows.y, **plane(subject, options), **given)


def _separability(display: Any, subject: Subject, options: Options) -> Any:
    return display.from_data(subject.rows.X, subject.rows.y, **plane(subject, options))


def _errors(display: Any, subject: Subject, options: Options) -> Any:
    if subject.model is not None:
        return display.from_estimator(subject_estimator(subject, options))
    return display.from_data(**_curve(subject, options, 30))


def _orders(display: Any, subject: Subject, options: Options) -> Any:
    given = _curve(subject, options, 20)
    return display.from_data(**given, n_seeds=options.get("seeds", 10))


def _curve(subject: Subject, options: Options, max_iter: int) -> dict[str, Any]:
    rows, test = subject.rows, subject.test
    return {
        "X": rows.X,
        "y": rows.y,
        "X_test": None if test is None else test.X,
        "y_test": None if test is None else test.y,
        "estimator": learner(options),
        "max_iter": options.get("max_iter", max_iter),
        "random_state": options.get("seed", 0),
    }


def _theorem(display: Any, subject: Subject, options: Options) -> Any:
    given = {"max_iter": options["max_iter"]} if "max_iter" in options else {}
    return display.from_data(subject.rows.X, subject.rows.y, **given)


def _weights(display: Any, subject: Subject, options: Options) -> Any:
    return display.from_estimator(
        subject.model or subject_estimator(subject, options),
        n=options.get("n", 10),
        class_=options.get("class_"),
        feature_names=None if subject.model is not None else subject.rows.names,
    )


def _contributions(display: Any, subject: Subject, options: Options) -> Any:
    rows, number = rows_to_draw(subject), options.get("row", 1)
    if number > rows.X.shape[0]:
        msg = f"Row {number:,} does not exist; there are {rows.X.shape[0]:,} rows."
        raise InputError(msg)
    return display.from_estimator(
        subject.model or subject_estimator(subject, options),
        rows.X[[number - 1]],
        n=options.get("n", 10),
        feature_names=None if subject.model is not None else subject.rows.names,
        title=f"Row {number:,}",
    )


def _survival(display: Any, subject: Subject, options: Options) -> Any:
    return display.from_estimator(
        subject.model or subject_estimator(subject, options, recorded=True)
    )


def _judged(display: Any, subject: Subject, options: Options) -> Any:
    """Return a picture of an estimator on rows with labels that it has not learned from."""
    from rosenblatt.plots.error_curves import Split, train_and_test

    given = {"class_": options["class_"]} if "class_" in options else {}
    if subject.model is not None or subject.test is not None:
        rows = subject.needed_test
        model = subject_estimator(subject, options)
        return display.from_estimator(model, rows.X, rows.y, **given)
    halves = train_and_test(subject.rows.X, subject.rows.y, None, None)
    split = Split(*halves, options.get("seed", 0))
    model = learner(options).fit(split.X, split.y)
    return display.from_estimator(model, split.X_test, split.y_test, **given)


def _reliability(display: Any, subject: Subject, options: Options) -> Any:
    """Return a picture of the probabilities that a model, or one trained here, promises."""
    model = subject.model
    if model is not None and not model.has_probabilities:
        msg = f"{subject.path} has no probabilities; train it with --calibrate."
        raise InputError(msg)
    return _judged(display, subject, options | {"calibrate": True})


def _comparison(display: Any, subject: Subject, options: Options) -> Any:
    rows = subject.rows
    given = {"random_state": options.get("seed", 0), "max_iter": options.get("max_iter", 10)}
    return display.from_data(rows.X, rows.y, **plane(subject, options), **given)


KINDS = {
    "boundary": PictureKind(
        "Decision boundary of two classes, with weight vector, margin and bias.",
        *("BoundaryDisplay", _among_rows, PLANE | LEARNER),
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
        *("UpdateDisplay", _update),
        PLANE | {"rule", *rule_parameters(), "max_iter", "fit_intercept", "update"},
        of_model=False,
        beside_data=False,
    ),
    "separability": PictureKind(
        "Whether two classes are linearly separable, with the rows that prove it.",
        *("SeparabilityDisplay", _separability, PLANE),
        of_model=False,
        beside_data=False,
    ),
    "errors": PictureKind(
        "Training and test error after each pass.",
        *("ErrorsDisplay", _errors, LEARNER),
        beside_model=False,
    ),
    "orders": PictureKind(
        "Error with and without shuffling, over several random seeds.",
        *("OrdersDisplay", _orders, LEARNER | {"seeds"}),
        of_model=False,
    ),
    "mistakes": PictureKind(
        "Number of mistakes and the bound of the convergence theorem.",
        *("MistakesDisplay", _theorem, frozenset({"max_iter"})),
        of_model=False,
        beside_data=False,
    ),
    "angle": PictureKind(
        "Angle between the weights and those of the largest margin, after each update.",
        *("AngleDisplay", _theorem, frozenset({"max_iter"})),
        of_model=False,
        beside_data=False,
    ),
    "weights": PictureKind(
        "The largest weights, by feature name.",
        *("WeightsDisplay", _weights, LEARNER | {"n", "class_"}),
        beside_model=False,
        beside_data=False,
    ),
    "contributions": PictureKind(
        "Contribution of each feature to the score of one row.",
        *("ContributionsDisplay", _contributions, LEARNER | {"n", "row"}),
    ),
    "survival": PictureKind(
        "Number of rows that each weight vector survived, which is its number of votes.",
        *("SurvivalDisplay", _survival, LEARNER),
        beside_model=False,
        beside_data=False,
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
        "Number of rows by true and predicted class.",
        *("ConfusionDisplay", _judged, LEARNER),
    ),
    "comparison": PictureKind(
        "Last, averaged and voted perceptron beside a decision tree and nearest neighbours.",
        *("ComparisonDisplay", _comparison, PLANE | {"max_iter", "seed"}),
        of_model=False,
        beside_data=False,
    ),
}

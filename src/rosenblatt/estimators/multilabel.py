"""Several labels a row: one weight vector a label, learned in the same pass."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from rosenblatt.errors import InputError, Parameter, warn_caller
from rosenblatt.estimators.base import Trained
from rosenblatt.estimators.documentation import ATTRIBUTES, PARAMETERS, estimator_class
from rosenblatt.estimators.held_out import scores_apart
from rosenblatt.estimators.linear import RULE_PARAMETERS, AveragedPerceptron, RuleClassifier
from rosenblatt.estimators.validation import check_classes, check_rows, check_sample_weight
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import matrix_of
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import Model
from rosenblatt.models.search import EncodedRows
from rosenblatt.tasks.calibration import Calibration
from rosenblatt.tasks.label_sets import has_label, label_arrays, several_labels
from rosenblatt.tasks.label_thresholds import predicted_labels
from rosenblatt.tasks.task import MANY
from rosenblatt.training.examples import Examples, class_weights, encode
from rosenblatt.training.holdout import HoldOut

ONE_COLUMN = (  # begins as scikit-learn's own warning
    "A column-vector y was passed when a 1d array was expected: an array of one column is one label"
    " a row, such as 0 or 1, and predict returns one for each row. Use y.ravel(), or for rows that "
    "have a single label or none a list of labels for each row, [label] or []."
)


class LabelRows(NamedTuple):
    """The labels of rows: rows with the same ones share a set."""

    classes: NDArray[Any]  # labels, sorted
    numbers: NDArray[Any]  # of the set of each row
    sets: tuple[NDArray[Any], NDArray[Any]]  # places among the classes, set by set, and their ends

    def indicator(self) -> NDArray[np.bool_]:
        """Return which row has which label."""
        return has_label(self.sets, self.numbers, len(self.classes))

    def label_sets(self) -> tuple[tuple[Any, ...], ...]:
        """Return the labels of each set."""
        places, ends = self.sets
        return tuple(tuple(self.classes[own].tolist()) for own in np.split(places, ends[1:-1]))

    def take(self, rows: NDArray[Any]) -> "LabelRows":
        """Return the labels of some rows."""
        return self._replace(numbers=self.numbers[rows])


def label_rows(y: Any) -> LabelRows:
    """Return the labels that an indicator, or a collection of labels for each row, gives."""
    if isinstance(y, LabelRows):
        return y
    wide = sparse.issparse(y) or getattr(y, "ndim", 1) == 2
    lists = [] if wide else [r.tolist() if isinstance(r, np.ndarray) else r for r in y]
    if not wide and _is_indicator(lists):
        y, wide = np.array(lists), True
    if wide:
        rows = sparse.csr_array(y if sparse.issparse(y) else np.asarray(y))
        if not np.isin(rows.data, (0, 1)).all():
            raise InputError(
                "y, one column a label, must be 1 where a row has the label and 0 elsewhere."
            )
        rows.eliminate_zeros()
        rows.sort_indices()
        places = np.split(rows.indices, rows.indptr[1:-1])
        return LabelRows(np.arange(rows.shape[1]), *_shared(places))
    if not all(isinstance(row, MANY) for row in lists):
        raise InputError(
            "y must hold a list of labels for each row, or be an indicator, one column a label; "
            "where each row has one label use Perceptron or another one of the family."
        )
    every = [label for row in lists for label in row]
    if len({isinstance(label, str) for label in every}) > 1:
        raise InputError("The labels in y must be of one type, words or numbers.")
    classes = np.unique(every) if every else np.empty(0, "<U1")
    return LabelRows(classes, *_shared([np.unique(classes.searchsorted([*row])) for row in lists]))


def _is_indicator(lists: list[Any]) -> bool:
    """Return whether nested lists are rows of zeros and ones, all of one length."""
    rows = [row for row in lists if isinstance(row, list)]
    return (
        bool(rows)
        and len(rows) == len(lists)
        and {len(row) for row in rows} == {len(rows[0]) or -1}
        and {type(x) for row in rows for x in row} <= {int, float, bool}
        and {x for row in rows for x in row} <= {0, 1}
    )


def _shared(places: list[NDArray[Any]]) -> tuple[NDArray[Any], tuple[NDArray[Any], NDArray[Any]]]:
    """Return the number of the set of each row, and each set once."""
    known: dict[bytes, int] = {}
    keys = [np.asarray(place, np.int32).tobytes() for place in places]
    numbers = np.array([known.setdefault(key, len(known)) for key in keys], np.int32)
    sets = [np.frombuffer(key, np.int32) for key in known]
    return numbers, (
        np.concatenate([np.empty(0, np.int32), *sets]),
        np.cumsum([0, *map(len, sets)]),
    )


def has_several(y: Any) -> bool:
    """Return whether y gives each row any number of labels, not exactly one."""
    if isinstance(y, LabelRows):
        return True
    shape = getattr(y, "shape", None)
    if shape is not None and len(shape) == 2:
        return bool(sparse.issparse(y) or shape[1] != 1)
    if hasattr(y, "dtype") and y.dtype != object:
        return False
    return isinstance(y, (list, tuple, np.ndarray)) and any(isinstance(row, MANY) for row in y)


@estimator_class(
    PARAMETERS
    | RULE_PARAMETERS
    | {
        "parameters": (
            "The rule's own parameters by name; those that are missing have their defaults, C of "
            "PA-I 0.3 where each of several labels is learned by itself."
        ),
        "goal": (
            'When a row of several labels is right: "each" where every label is on its side of '
            'zero, "ranking" where those that it has stand above all others.'
        ),
        "thresholds": (
            "Choose for each label the score above which it is predicted, by micro F1 and exact "
            "rows among those that were not learned from, a share of ``validation_fraction``; and "
            "whether the best label is predicted where none is above its own. The weights are "
            "those of all rows. Else it is 0."
        ),
    },
    ATTRIBUTES | {"thresholds_": "The score of each label above which it is predicted."},
)
class MultilabelClassifier(RuleClassifier):
    """Labels for rows that may have several, or none: a weight vector for each, in one pass.

    With the goal "each", every label is a two-class problem of its own over the same row, for any
    rule. With "ranking" a row is right where each of its labels scores above each other one: those
    at fault share the step, as in the topic-ranking perceptron MMP. The first tells labels, the
    second orders them, and its thresholds make labels of the order.

    ``fit`` takes y as an array or a sparse matrix of shape (n_rows, n_labels), 1 where a row has a
    label and 0 elsewhere; or as a set, tuple or list of labels for each row, which may be empty.
    Lists of as many zeros and ones each are taken as an indicator. Where y holds one label for each
    row, as an array of one column does, it is the classifier that ``RuleClassifier`` is; X_val,
    y_val and groups are for such rows.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from rosenblatt import MultilabelClassifier
    >>> X = [[1, 0], [0, 1], [1, 1], [0, 0]] * 10
    >>> y = [{"red"}, {"round"}, {"red", "round"}, set()] * 10
    >>> clf = MultilabelClassifier().fit(X, y)
    >>> clf.predict([[1, 1], [0, 1]])
    array([[1, 1],
           [0, 1]])
    >>> clf.predict_labels([[1, 1], [0, 0]])
    [('red', 'round'), ()]

    References
    ----------
    K. Crammer & Y. Singer, "A family of additive online algorithms for category ranking", JMLR 3
    (2003).
    """

    rule: str = "pa1"
    goal: str = "each"
    thresholds: bool = True
    _several = False  # whether y gave each row any number of labels

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        own: tuple[Any, Any, Any],
        **start: ArrayLike | None,
    ) -> Trained:
        y = self._meet(y, goes_on=self.warm_start)
        if self._several and any(part is not None for part in own):
            raise InputError(
                "X_val, y_val and groups are for rows of one label each: leave them out."
            )
        if not (self._several and (self.thresholds or self.calibrate)):
            given = label_rows(y) if self._several else y
            return super()._fit(X, given, sample_weight, own, **start)
        goes_on = self.warm_start and "_model" in vars(self)
        rows, labels = self._check_rows(X, y, reset=not goes_on)
        weight = check_sample_weight(sample_weight, len(labels.numbers))
        with ThreadPoolExecutor(1) as other:  # kernels let go of the interpreter: both run at once
            apart = other.submit(self._held_out_fit, rows, labels, weight, **start)
            trained = super()._fit(X, labels, sample_weight, own, **start)
            arrays, calibration = apart.result()
            self._model = replace(self._model, arrays=arrays, calibration=calibration)
        return trained

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go on learning: one pass over these rows, in the order given.

        Labels that have not come up before begin with weights of zero; thresholds stay as they
        are, 0 for new labels. See ``RuleClassifier.partial_fit``.
        """
        y = self._meet(y, goes_on=True)
        return super().partial_fit(X, y, classes, sample_weight)

    def _meet(self, y: Any, *, goes_on: bool) -> Any:
        """Decide by y whether rows have several labels; what goes on stays what it is.

        An array of one column is one label a row, and returned so.
        """
        several = has_several(y)
        if goes_on and "_model" in vars(self):
            if several != self._several:
                raise InputError(
                    "y must have the form that it had at first: several labels a row, or one."
                )
        elif several != self._several:
            self._several = several
            self.__dict__.pop("_checked", None)
        if not several and len(getattr(y, "shape", ())) == 2:
            warn_caller(ONE_COLUMN, DataConversionWarning)
            return np.ravel(y)
        return y

    def _held_out_fit(
        self,
        rows: Rows,
        labels: LabelRows,
        weight: NDArray[Any] | None,
        **start: ArrayLike | None,
    ) -> tuple[dict[str, NDArray[Any]], Calibration | None]:
        """Return thresholds and probabilities for the scores of rows that were not learned from.

        Nothing where there are too few rows to hold any out.
        """
        share, n_rows = float(self.validation_fraction), len(labels.numbers)
        holdout = HoldOut.of_classes(np.zeros(n_rows), share, np.random.default_rng(0))
        parts = holdout.between(0, n_rows)
        if not len(parts.tried):
            if self.calibrate:
                raise InputError("calibrate needs held-out rows, and there are too few of them.")
            return {}, None
        others = ("thresholds", "warm_start", "calibrate", "record_mistakes")
        changed = dict.fromkeys(others, False)
        scores = scores_apart(
            self, matrix_of(rows), labels.take(parts.learned), weight, parts, changed, **start
        )
        truth, wanted = labels.take(parts.tried).indicator(), bool(self.calibrate)
        return label_arrays(scores, truth, thresholds=self.thresholds, calibrate=wanted)

    @property
    def thresholds_(self) -> NDArray[Any]:
        """The score of each label above which it is predicted."""
        return self._fitted.thresholds[:-1]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return an indicator of shape (n_rows, n_labels), or the label of each row, if it has one.

        A label is predicted where its score is above its threshold. Where none is, held-out rows
        decide the score above which the best label is predicted.
        """
        check_is_fitted(self)
        if not self._several:
            return super().predict(X)
        scores, positive = self.decision_function(X), self.zero == "positive"
        return predicted_labels(scores, self._model.thresholds, positive=positive).astype(np.int64)

    def predict_labels(self, X: Any) -> list[tuple[Any, ...]]:
        """Return the labels of each row."""
        if not self._several:
            return [(label,) for label in self.predict(X).tolist()]
        return [tuple(self.classes_[row].tolist()) for row in self.predict(X).astype(bool)]

    def _learner(self) -> Learner:
        learner = super()._learner()
        if not self._several:
            return learner
        if self.class_weight:
            raise several_labels("class_weight")
        if self.calibrate not in (False, True, "sigmoid"):
            raise several_labels(f"calibrate={self.calibrate!r}")
        return learner.of_task(self.goal)

    def _restore(self, model: Model) -> None:
        super()._restore(model)
        self._several = bool(model.task.name)

    def _check_rows(self, X: Any, y: Any, *, reset: bool) -> tuple[Rows, Any]:
        if not self._several:
            return super()._check_rows(X, y, reset=reset)
        labels = label_rows(y)
        rows, _ = check_rows(self, X, np.zeros(len(labels.numbers), np.int8), reset=reset)
        return rows, labels

    def _counted(self, y: Any, weight: NDArray[Any] | None) -> NDArray[Any]:
        return y.classes if self._several else super()._counted(y, weight)

    @property
    def _fewest(self) -> int:  # type: ignore[override]
        """How many classes there must be."""
        return 1 if self._several else 2

    def _examples(
        self,
        rows: Rows,
        y: Any,
        weight: NDArray[Any] | None,
        classes: NDArray[Any],
        *,
        streamed: bool = False,
    ) -> Examples:
        if not self._several:
            return super()._examples(rows, y, weight, classes, streamed=streamed)
        places, ends = y.sets
        places = classes.searchsorted(y.classes).astype(np.int32)[places]
        return Examples(rows, y.numbers, weight, sets=(places, ends))

    def _learn_single_row(self, *row: Any) -> bool:
        return not self._several and super()._learn_single_row(*row)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def usual_learner(y: Any, goal: str | None) -> Learner:
    """Return the learner that is usual for labels of this form."""
    if has_several(y):
        return Learner(MultilabelClassifier.rule).of_task(goal or MultilabelClassifier.goal)
    if goal is not None:
        raise InputError(f"{Parameter('goal', goal)} is for rows with several labels.")
    return Learner()


def encoded_rows(X: Any, y: Any, class_weight: Any) -> EncodedRows:
    """Return the rows of arrays with their labels, of which there may be several a row."""
    if has_several(y):
        classes, numbers, sets = label_rows(y)
        rows, _ = check_rows(MultilabelClassifier(), X, np.zeros(len(numbers), np.int8), reset=True)
        check_classes(classes, len(numbers), None, fewest=1)
        return EncodedRows(Examples(rows, numbers, sets=sets), numbers, len(classes))
    rows, labels = check_rows(AveragedPerceptron(), X, y, reset=True)
    classes, numbers = np.unique(labels, return_inverse=True)
    check_classes(classes, len(labels), None)
    weights = class_weights(class_weight, classes.tolist(), np.bincount(numbers))
    weight = None if weights is None else weights[numbers]
    return EncodedRows(Examples(rows, encode(labels, classes), weight), numbers, len(classes))

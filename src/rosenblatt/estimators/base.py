"""What all online linear classifiers share: fit, partial_fit, decision_function, predict."""

import copy
import sys
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from operator import is_, itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.files import Encoding
from rosenblatt.estimators.documentation import ATTRIBUTES
from rosenblatt.estimators.held_out import HeldOutRows, with_probabilities
from rosenblatt.estimators.scikit import BaseEstimator, ClassifierMixin
from rosenblatt.estimators.single_row import learn_single_row, predict_single_row
from rosenblatt.estimators.validation import (
    check_classes,
    check_rows,
    check_sample_weight,
    is_plain,
    row_weights,
    rows_of,
    set_start,
    tell_of_weights,
)
from rosenblatt.kernels.rows import Rows
from rosenblatt.lazy import public_name
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.models.continuation import (
    all_known,
    first_classes,
    learn_batch,
    model_with_classes,
)
from rosenblatt.models.learner import Learner, check_online, generator_from
from rosenblatt.models.learner_record import LearnerRecord, learner_of
from rosenblatt.models.model import Model
from rosenblatt.models.weights import weights_of
from rosenblatt.parameters import CHECKS, Check, check_parameters
from rosenblatt.rules import Interval
from rosenblatt.tasks.leads import winners
from rosenblatt.training.examples import Examples, distinct, encode
from rosenblatt.training.history import (
    RAISE_MAX_ITER,
    Observer,
    Outcome,
    PassRecord,
    ProgressBar,
    StopReason,
    advice,
    ending,
)
from rosenblatt.training.loop import Shuffle
from rosenblatt.training.memory import Vote
from rosenblatt.training.state import State, count_mistakes, fit


@cache
def _values_of(kind: type[BaseEstimator]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what takes the parameters of an estimator from its attributes."""
    return itemgetter(*kind._get_param_names())  # noqa: SLF001  # scikit-learn's name for it


@dataclass(kw_only=True, eq=False, repr=False)
class TrainingParameters:
    """The parameters that every learner has, in one process or on a cluster."""

    max_iter: int = 10
    shuffle: Shuffle = True
    zero: str = "mistake"
    fit_intercept: bool = True
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    time_limit: float | None = None
    class_weight: Mapping[Any, float] | str | None = None
    random_state: Any = 0
    verbose: bool | int = False
    observers: Sequence[Observer] | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class ClassifierParameters(TrainingParameters):
    """The parameters of every learner in one process."""

    calibrate: bool | str = False
    warm_start: bool = False


def recorded(name: str, text: str) -> Any:
    """Return the attribute that reads an entry of the outcome of the last fit."""
    return property(lambda estimator: estimator._fitted.outcome[name], doc=text)  # noqa: SLF001


Trained = tuple[Outcome, Callable[[], int] | None]  # and what counts mistakes of the last weights
CLASSES: dict[str, Any] = {}  # of the models that ``load`` reads, by name


class FittedClassifier(ClassifierParameters, ClassifierMixin, BaseEstimator):
    """What every classifier has that holds a ``Model``: attributes that are read from it.

    A subclass makes a model before its first row, ``_empty``, checks or sets where learning begins,
    ``_begin``, and changes the model by passes, ``_train``, or by one pass, ``_learn_batch``.
    """

    _warns = True  # of a training that ended before it was done
    _cure = RAISE_MAX_ITER  # what to do about that
    _model: Model  # its options are those of the moment: see model_
    _encode = staticmethod(encode)  # makes targets of labels
    _fewest: ClassVar[int] = 2  # classes that there must be
    _memory: ClassVar[str] = "last"  # where no parameter says which weights decide
    n_features_in_: int
    feature_names_in_: NDArray[Any]  # where the columns have names
    n_iter_: int = recorded("n_iter", ATTRIBUTES["n_iter_"])
    best_iter_: int = recorded("best_pass", ATTRIBUTES["best_iter_"])
    n_mistakes_: int = recorded("n_mistakes", ATTRIBUTES["n_mistakes_"])
    stop_reason_: StopReason = recorded("stop_reason", ATTRIBUTES["stop_reason_"])

    if TYPE_CHECKING:  # what else it has depends on its kind and on what it was fitted to

        def __getattr__(self, name: str) -> Any: ...

    def __init_subclass__(cls, *, stored: bool = True, **others: Any) -> None:
        """Enter the class into CLASSES, unless another one has its name."""
        super().__init_subclass__(**others)
        known = CLASSES.get(cls.__name__, cls)
        same = (known.__module__, known.__qualname__) == (cls.__module__, cls.__qualname__)
        if stored and same:  # a cell of a notebook defines it again
            CLASSES[cls.__name__] = cls

    @property
    def model_(self) -> Model:
        """A copy of the fitted ``Model``: what ``rosenblatt.save`` writes."""
        model = self._fitted.copy()
        names = getattr(self, "feature_names_in_", None)
        if names is not None and not model.encodes:
            model.feature_names = tuple(str(name) for name in names)
        parameters = self.get_params(deep=False)
        model.made_by = model.made_by.of_parameters(parameters, self._learner)
        return model

    def __sklearn_clone__(self) -> Any:
        """Return one to be fitted to the same kind of rows: of columns ``Classifier``."""
        if "_model" in vars(self) and self._model.table is not None:
            return public_name("Classifier").of_columns(self._model)
        return super().__sklearn_clone__()

    @property
    def classes_(self) -> NDArray[Any]:
        """Sorted labels."""
        return self._fitted.labels

    @property
    def history_(self) -> list[PassRecord]:
        """One record a pass."""
        return self._fitted.record.passes

    @property
    def converged_(self) -> bool:
        """Whether the last weights were seen to classify every training row."""
        return self.stop_reason_ == "converged"

    @property
    def encoding_(self) -> Encoding:
        """What makes features of the columns of files, where it was trained on those."""
        encoder = self._fitted.encoder
        if encoder is None:
            msg = f"This {type(self).__name__} was fitted on arrays: it has no encoding."
            raise AttributeError(msg)
        return encoder

    @property
    def predict_proba(self) -> Callable[[Any], NDArray[Any]]:
        """Return the probability of each class on each row, (n_rows, n_classes).

        Raises
        ------
        AttributeError
            Where no probabilities were fitted.
        """
        fitted = "_model" in self.__dict__
        if not (self._model.has_probabilities if fitted else self._gives_probabilities):
            raise AttributeError(
                f"This {type(self).__name__} has no probabilities: fit it with calibrate=True, "
                "or use CalibratedClassifierCV of scikit-learn."
            )
        return self._probabilities

    def _probabilities(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        return self._model.probabilities_of(self.decision_function(X))

    @abstractmethod
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the score of each row, or one for each class."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row.

        A zero score predicts the first class, or the second if ``zero="positive"``; a tie of
        several classes goes to the first of them, or likewise to the last.
        """
        return self.labels_of(self.decision_function(X))

    def labels_of(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the label that each row's scores predict; see ``predict``."""
        labels: NDArray[Any] = self.classes_[winners(scores, positive=self.zero == "positive")]
        return labels

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn from the rows of X and their labels y.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            float32, float64 and uint8 are used without a copy.
        y : array of shape (n_rows,)
            Labels: numbers or strings, two classes or more.
        sample_weight : array of shape (n_rows,), default None
            Multiplies the step of each row. A row of weight 0 is left out altogether.
        X_val, y_val : rows like those of X and their labels, default None
            Held out in place of random rows, for early stopping and ``calibrate``.
        groups : array of shape (n_rows,), default None
            Rows of equal value are held out together, or not.
        """
        self._tell(*self._fit(X, y, sample_weight, (X_val, y_val, groups)))
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        own: tuple[Any, Any, Any],  # rows to hold out, their labels, and groups of rows
        **start: ArrayLike | None,
    ) -> Trained:
        """Learn, and return how it went and what counts the mistakes of weights that decide."""
        given = any(part is not None for part in own)
        held_out = HeldOutRows.checked(*own) if given else None
        warm = self.warm_start and "_model" in vars(self)
        learner = self._checked_learner(goes_on=warm)
        rows, y = self._check_rows(X, y, reset=not warm)
        weight = check_sample_weight(sample_weight, rows.shape[0])
        seen = distinct(self._counted(y, weight))
        if warm:
            model = model_with_classes(self._model, seen, learner.step)
        else:
            model = self._empty(learner, seen, rows)
        check_classes(model.labels, len(y), weight, self._fewest)
        self._begin(model, learner, **start)
        examples = self._examples(rows, y, weight, model.labels)
        tell_of_weights(learner, examples.weight)
        if held_out is not None:
            examples = held_out.chosen(self, examples, model.labels)
        observers = list(self.observers or ())
        with ExitStack() as stack:
            if self.verbose:
                observers.append(stack.enter_context(ProgressBar(self.max_iter)))
            outcome, held = self._train(model, learner, examples, observers)
        self._model = model
        if self.calibrate and model.task.contrasts:
            self._model = with_probabilities(self, rows, y, weight, held_out, **start)
        return outcome, held

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go on learning: one pass over these rows, in the order given.

        Any sequence of calls gives the model of one pass over all the rows together. New classes
        may appear at any call, with weights that have been zero until then; where you know them,
        name them all in ``classes`` at the first call, since a row teaches nothing while its class
        is the only one known. What was fitted with early stopping goes on without it. Each call
        adds to ``n_iter_`` and ``n_mistakes_``; ``history_`` stays that of the last ``fit``, so
        that a stream does not grow it without end.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        classes : array of labels, default None
            Classes that are yet to come.
        sample_weight : array of shape (n_rows,), default None
            Multiplies the step of each row. A row of weight 0 is left out altogether.
        """
        first = "_model" not in vars(self)
        learner = self._checked_learner(goes_on=not first)
        check_online(first and self.early_stopping, self.class_weight, self.calibrate)
        if not first and self._learn_single_row(learner, X, y, classes, sample_weight):
            return self
        if not first and is_plain(self, X, y):
            rows = rows_of(X, self)
        else:
            rows, y = self._check_rows(X, y, reset=first)
        weight = check_sample_weight(sample_weight, rows.shape[0])
        counted = self._counted(y, weight)
        if first:
            model = self._empty(learner, first_classes(distinct(counted), classes), rows)
        elif classes is None and all_known(counted, self._model.labels):
            model = self._model
        else:
            seen = np.union1d(distinct(counted), counted[:0] if classes is None else classes)
            model = model_with_classes(self._model, seen, learner.step)
        self._begin(model, learner)
        self._model = model
        examples = self._examples(rows, y, weight, self._model.labels, streamed=True)
        tell_of_weights(learner, examples.weight)
        self._learn_batch(learner, examples)
        return self

    def _check_rows(self, X: Any, y: Any, *, reset: bool) -> tuple[Rows, Any]:
        return check_rows(self, X, y, reset=reset)

    def _counted(self, y: Any, weight: NDArray[Any] | None) -> NDArray[Any]:
        """Return the labels of the rows that count."""
        counted: NDArray[Any] = y if weight is None else y[weight != 0.0]
        return counted

    def _learn_single_row(self, *_row: Any) -> bool:
        """Learn from one row by a short way; return whether there is one."""
        return False

    @property
    def _gives_probabilities(self) -> bool:
        """Whether there will be probabilities once it is fitted."""
        return bool(self.calibrate)

    def _learner(self) -> Learner:
        """Return the learner that the parameters describe."""
        return learner_of(vars(self), self._memory)

    def _parameter_checks(self) -> Mapping[str, Check | Interval]:
        return CHECKS

    def _checked_learner(self, *, goes_on: bool = False) -> Learner:  # noqa: ARG002
        """Return the learner, the one of the last call if the parameters are the very same."""
        given = vars(self)
        values = _values_of(type(self))(given)  # type: ignore[arg-type]  # mypy's hash of a type
        checked, learner = given.get("_checked", ((self,), None))
        if learner is None or not all(map(is_, values, checked)):
            parameters = self.get_params(deep=False)
            check_parameters(type(self).__name__, parameters, self._parameter_checks())
            learner = self._learner()
            self._checked = values, learner
        found: Learner = learner
        return found

    @classmethod
    def of_model(cls, model: Model) -> "FittedClassifier":
        """Return the estimator of a model whose record is complete, fitted as it was."""
        estimator = cls(**model.made_by.parameters())
        encoder = model.encoder  # an encoding that cannot be used is an error now
        names = model.feature_names if encoder is None else None
        estimator.n_features_in_ = (model if encoder is None else encoder.inner).n_features
        if model.table is not None:
            names = tuple(column.name for column in model.table.columns if column.required)
            estimator.n_features_in_ = len(names)
        if names is not None:
            estimator.feature_names_in_ = np.array(names, object)
        estimator._restore(model)  # its own
        return estimator

    def _restore(self, model: Model) -> None:
        """Become fitted by a model whose record has been checked."""
        self._model = model

    @property
    def _fitted(self) -> Model:
        if "_model" not in self.__dict__:
            raise AttributeError(f"This {type(self).__name__} is not fitted yet.")
        return self._model

    def _examples(
        self,
        rows: Rows,
        y: Any,
        weight: NDArray[Any] | None,
        classes: NDArray[Any],
        *,
        streamed: bool = False,
    ) -> Examples:
        """Encode labels and weights; rows of weight zero may have a label that is no class."""
        weight = row_weights(self.class_weight, weight, y, classes, streamed=streamed)
        return Examples(rows, self._encode(y, classes), weight)

    def _tell(self, outcome: Outcome, held: Callable[[], int] | None) -> None:
        """Say how a training ended, and warn where it ended before it was done."""
        if self.verbose:
            sys.stderr.write(f"{type(self).__name__} {ending(outcome)}\n")
        ended = outcome.stop_reason == "converged"
        warning = None if ended else advice(outcome, self.n_features_in_, held, self._cure)
        if warning is not None and self._warns:
            warnings.warn(f"{type(self).__name__} {warning}", ConvergenceWarning, stacklevel=3)

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__


class OnlineClassifier(FittedClassifier, stored=False):
    """A linear classifier that learns by steps on single examples.

    A subclass has its own parameters as fields, and says which learner all of them describe. What
    is fitted is a ``Model``, and the attributes are read from it.
    """

    mistakes_: Mistakes

    def fit(  # type: ignore[override]  # where to start comes first, as in scikit-learn
        self,
        X: Any,
        y: Any,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn from the rows of X and their labels y.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            float32, float64 and uint8 are used without a copy.
        y : array of shape (n_rows,)
            Labels: numbers or strings, two classes or more. ``MultilabelClassifier`` also takes
            several labels a row.
        coef_init, intercept_init : arrays like ``coef_`` and ``intercept_``, default None
            Where to start; from zero otherwise.
        sample_weight : array of shape (n_rows,), default None
            Multiplies the step of each row. A row of weight 0 is left out altogether.
        X_val, y_val : rows like those of X and their labels, default None
            Held out in place of random rows, for early stopping and ``calibrate``.
        groups : array of shape (n_rows,), default None
            Rows of equal value are held out together, or not.
        """
        start = {"coef_init": coef_init, "intercept_init": intercept_init}
        start = {} if coef_init is None and intercept_init is None else start
        whole = not start and not (self.warm_start and "_model" in vars(self))
        outcome, held = self._fit(X, y, sample_weight, (X_val, y_val, groups), **start)
        self.__dict__.pop("mistakes_", None)
        if outcome.mistakes is not None and whole:  # else it is not the whole list
            self.mistakes_ = outcome.mistakes
        self._tell(outcome, held)
        return self

    def _empty(self, learner: Learner, classes: NDArray[Any], rows: Rows) -> Model:
        made_by = LearnerRecord.of(learner, type(self).__name__, {})
        state = learner.start(rows.shape[1], len(classes), by_feature=rows.sparse)
        return Model.empty(made_by, classes, weights_of(learner, state))

    def _begin(self, model: Model, learner: Learner, **start: ArrayLike | None) -> None:
        if start:
            model.linear.check_start(type(self).__name__)
        model.state.keep_average(learner.averaged)
        set_start(model.state, **start)

    def _train(
        self, model: Model, learner: Learner, examples: Examples, observers: Sequence[Observer]
    ) -> Trained:
        state, plan = model.state, learner.plan()
        earlier = model.mistakes
        generator = generator_from(self.random_state)
        vote = Vote(plan.zero, earlier) if plan.by_vote else None
        outcome = fit(state, examples, plan, generator, observers, vote)
        model.record.note(outcome)
        if earlier is not None and outcome.mistakes is not None:  # all of them vote
            earlier.extend_by(outcome.mistakes.before(state.count), examples.rows, state.count)
        last_decide = not (learner.averaged or learner.second_order or self.early_stopping)

        def held_mistakes() -> int:
            return count_mistakes(state, state.weights, examples, examples.numbers(), plan.zero)

        return outcome, held_mistakes if last_decide else None

    def _learn_batch(self, learner: Learner, examples: Examples) -> None:
        if len(examples.numbers()) and learn_batch(self._model, learner, examples):
            self.__dict__.pop("mistakes_", None)  # the weights are made of more than that list

    def _learn_single_row(self, *row: Any) -> bool:
        return "mistakes_" not in vars(self) and learn_single_row(self, *row)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the activation of each row: above 0 for the second class, or one for each class.

        Returns
        -------
        array of shape (n_rows,) for two classes, else (n_rows, n_classes)
        """
        check_is_fitted(self)
        reader: Model = self._model.merged
        if reader is not self._model:
            return reader.scores(X)
        rows, _ = check_rows(self, X, reset=False, ordered=self._model.by_vote)
        return self._model.linear.scores(rows, positive=self.zero == "positive")

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row; see ``labels_of``."""
        usual = type(self).decision_function is OnlineClassifier.decision_function
        single = predict_single_row(self, X) if usual and "_model" in vars(self) else None
        return super().predict(X) if single is None else single

    @property
    def coef_(self) -> NDArray[Any]:
        """Weights: (1, n_features) for two classes, else (n_classes, n_features)."""
        return self._weights_by_class()[:, :-1].copy()

    @property
    def intercept_(self) -> NDArray[Any]:
        """Bias: (1,) for two classes, else (n_classes,)."""
        return self._weights_by_class()[:, -1].copy()

    @property
    def _state(self) -> State:
        return self._fitted.state

    def _with_model(self, model: Model) -> Self:
        """Return an estimator of the same parameters around another model."""
        other = copy.copy(self)
        other._model = model  # noqa: SLF001  # its own
        other.__dict__.pop("mistakes_", None)  # those of the other weights
        return other

    def _weights_by_class(self) -> NDArray[Any]:
        state = self._state
        return state.by_class(state.average())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

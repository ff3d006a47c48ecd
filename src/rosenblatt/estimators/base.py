"""What all online linear classifiers share: fit, partial_fit, decision_function, predict."""

import warnings
from abc import abstractmethod
from contextlib import ExitStack
from operator import is_
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rosenblatt.errors import WeightOverflowError
from rosenblatt.estimators.classes import all_known, first_classes, grown
from rosenblatt.estimators.recollection import Recollection
from rosenblatt.estimators.validation import (
    check_classes,
    check_rows,
    check_sample_weight,
    is_plain,
    row_weights,
    rows_of,
    set_start,
)
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import touched_features
from rosenblatt.models.parameters import (
    CHECKS,
    check_online,
    check_parameters,
    generator_from,
)
from rosenblatt.models.scoring import linear_scores, predicted_numbers
from rosenblatt.rules import ZERO_CONVENTIONS, Rule
from rosenblatt.training.advice import unfinished
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import Outcome, PassRecord, StopReason
from rosenblatt.training.labels import encode
from rosenblatt.training.linear import fit, run_pass
from rosenblatt.training.loop import EarlyStopping, Plan
from rosenblatt.training.observers import ProgressBar
from rosenblatt.training.state import State


class OnlineClassifier(Recollection, ClassifierMixin, BaseEstimator):
    """A linear classifier that learns by steps on single examples.

    Subclasses say which rule steps (``_rule``) and whether the average is what they return
    (``_averaged``); their constructors only store.
    """

    _state: State
    classes_: NDArray[Any]
    n_features_in_: int
    history_: list[PassRecord]
    n_iter_: int
    best_iter_: int
    n_mistakes_: int
    converged_: bool
    stop_reason_: StopReason

    @abstractmethod
    def _rule(self) -> Rule:
        """Return the rule that steps."""

    @abstractmethod
    def _averaged(self) -> bool:
        """Return whether the average of the weights is what is returned."""

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from the rows of X and their labels y.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            float32, float64 and uint8 are used without a copy.
        y : array of shape (n_rows,)
            Labels: numbers or strings, two classes or more.
        coef_init, intercept_init : arrays like ``coef_`` and ``intercept_``, default None
            Where to start; from zero otherwise.
        sample_weight : array of shape (n_rows,), default None
            Multiplies the step of each row. A row of weight 0 is left out altogether.

        Returns
        -------
        self
        """
        self._check_parameters()
        warm = self.warm_start and hasattr(self, "_state")
        rows, y = check_rows(self, X, y, reset=not warm)
        weight = check_sample_weight(sample_weight, rows.shape[0])
        seen = np.unique(y if weight is None else y[weight != 0.0])
        if warm:
            state, classes = grown(self._state, self.classes_, seen, self._rule())
        else:
            classes = seen
            state = State.zeros(rows.shape[1], len(classes), averaged=self._averaged())
        check_classes(classes, y, weight)
        state.keep_average(self._averaged())
        self._set_start(state, coef_init, intercept_init)
        examples = self._examples(rows, y, weight, classes)
        with ExitStack() as stack:
            observers = list(self.observers or ())
            if self.verbose:
                observers.append(stack.enter_context(ProgressBar(self.max_iter)))
            generator = generator_from(self.random_state)
            earlier = self._earlier(classes) if warm else None
            outcome = fit(
                state, examples, self._plan(), generator, observers, self._memory(state, earlier)
            )
        self._state, self.classes_ = state, classes
        self._keep(outcome)
        onward = warm or coef_init is not None or intercept_init is not None
        self._remember(outcome, rows, earlier, onward=onward)
        averaged, stopping = self._averaged(), self.early_stopping
        told = unfinished(outcome, averaged=averaged, early_stopping=stopping)
        if told is not None:
            warnings.warn(f"{type(self).__name__} {told}", ConvergenceWarning, stacklevel=2)
        return self

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
        is the only one known. Each call adds to ``n_iter_`` and ``n_mistakes_``; ``history_`` stays
        that of the last ``fit``, so that a stream does not grow it without end.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        classes : array of labels, default None
            Classes that are yet to come.
        sample_weight : array of shape (n_rows,), default None
            Multiplies the step of each row. A row of weight 0 is left out altogether.

        Returns
        -------
        self
        """
        first = not hasattr(self, "_state")
        self._check_parameters()
        check_online(self.early_stopping, self.class_weight)
        if not first and is_plain(self, X, y):
            rows = rows_of(X, self)
        else:
            rows, y = check_rows(self, X, y, reset=first)
        weight = check_sample_weight(sample_weight, rows.shape[0])
        counted = y if weight is None else y[weight != 0.0]
        self._meet_classes(counted, classes, rows.shape[1])
        if len(counted):
            self._learn(self._examples(rows, y, weight, self.classes_))
        return self

    def _learn(self, examples: Examples) -> None:
        """Make one pass in the order given, or none of it where it would overflow."""
        state = self._state
        state.keep_average(self._averaged())
        state.arrange_for(examples.rows)
        features = touched_features(examples.rows)
        before = state.snapshot(features)
        zero = ZERO_CONVENTIONS[self.zero]
        numbers = examples.numbers()
        log = self._room_for(len(numbers))
        counts = run_pass(state, examples, numbers, self._rule(), zero, log)
        if counts.updates:
            try:
                state.check_finite(counts.loss, features, "in these rows, which are not learned")
            except WeightOverflowError:
                state.restore(before)
                raise
            self.converged_, self.stop_reason_ = False, "max_iter"  # one pass is what it is for
            self._remember_more(examples.rows, log, counts.updates, before.count)
        self.n_iter_ += 1
        self.n_mistakes_ += counts.mistakes

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the activation of each row: above 0 for the second class, or one for each class.

        Returns
        -------
        array of shape (n_rows,) for two classes, else (n_rows, n_classes)
        """
        check_is_fitted(self)
        rows, _ = check_rows(self, X, reset=False)
        return linear_scores(self._state, rows)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row.

        A zero activation predicts the first class, or the second if ``zero="positive"``; a tie of
        several classes goes to the first of them, or likewise to the last.
        """
        numbers = predicted_numbers(self.decision_function(X), positive=self.zero == "positive")
        labels: NDArray[Any] = self.classes_[numbers]
        return labels

    @property
    def coef_(self) -> NDArray[Any]:
        """Weights: (1, n_features) for two classes, else (n_classes, n_features)."""
        return self._weights_by_class()[:, :-1].copy()

    @property
    def intercept_(self) -> NDArray[Any]:
        """Bias: (1,) for two classes, else (n_classes,)."""
        return self._weights_by_class()[:, -1].copy()

    def _weights_by_class(self) -> NDArray[Any]:
        if not hasattr(self, "_state"):
            msg = f"This {type(self).__name__} is not fitted yet."
            raise AttributeError(msg)
        return self._state.by_class(self._state.average())

    def _check_parameters(self) -> None:
        """Check the parameters, unless they are the very ones that were checked last."""
        given = vars(self)
        values = [given.get(name) for name in CHECKS]
        if not all(map(is_, values, getattr(self, "_checked", [self]))):
            check_parameters(type(self).__name__, self.get_params(deep=False))
            self._checked = values

    def _examples(
        self, rows: Rows, y: NDArray[Any], weight: NDArray[Any] | None, classes: NDArray[Any]
    ) -> Examples:
        """Encode labels and weights; rows of weight zero may have a label that is no class."""
        weight = row_weights(self.class_weight, weight, y, classes)
        return Examples(rows, encode(y, classes), weight)

    def _plan(self) -> Plan:
        stopping = EarlyStopping(self.validation_fraction, self.n_iter_no_change)
        return Plan(
            rule=self._rule(),
            max_iter=self.max_iter,
            zero=ZERO_CONVENTIONS[self.zero],
            shuffle=self.shuffle if self.shuffle == "once" else bool(self.shuffle),
            early_stopping=stopping if self.early_stopping else None,
            time_limit=self.time_limit,
            record=self.record_mistakes,
        )

    def _keep(self, outcome: Outcome) -> None:
        self.history_ = outcome.history
        self.n_iter_ = len(outcome.history)
        self.best_iter_ = outcome.best_pass
        self.n_mistakes_ = sum(record.mistakes for record in outcome.history)
        self.converged_ = outcome.converged
        self.stop_reason_ = outcome.stop_reason

    def _set_start(
        self, state: State, coef_init: ArrayLike | None, intercept_init: ArrayLike | None
    ) -> None:
        """Change a state to start from given weights."""
        set_start(state, coef_init, intercept_init)

    def _adopt(self, state: State, classes: NDArray[Any]) -> None:
        """Take over a state of these classes."""
        self._state, self.classes_ = state, classes

    def _meet_classes(self, y: NDArray[Any], named: ArrayLike | None, n_features: int) -> None:
        """Make sure that the state knows all these classes; start one where there is none."""
        if not hasattr(self, "_state"):
            classes = first_classes(y, named)
            self._adopt(State.zeros(n_features, len(classes), averaged=self._averaged()), classes)
            self._keep(Outcome([], "max_iter", 0))
        elif named is not None or not all_known(y, self.classes_):
            seen = np.unique(y) if named is None else np.union1d(y, np.asarray(named))
            self._adopt(*grown(self._state, self.classes_, seen, self._rule()))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

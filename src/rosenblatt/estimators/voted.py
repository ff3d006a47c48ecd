"""The voted perceptron, by the list of its mistakes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from rosenblatt.errors import InputError
from rosenblatt.estimators.classifiers import PerceptronRule
from rosenblatt.estimators.documentation import documented
from rosenblatt.estimators.validation import check_rows
from rosenblatt.kernels.counts import Log, empty_log
from rosenblatt.kernels.rows import Rows
from rosenblatt.rules import ZERO_CONVENTIONS
from rosenblatt.training.coverage import CoverageCurve, coverage_curve
from rosenblatt.training.history import Outcome
from rosenblatt.training.loop import Shuffle
from rosenblatt.training.memory import Vote
from rosenblatt.training.observers import Observer
from rosenblatt.training.state import State
from rosenblatt.training.vote_arrays import recorded_votes, vote_arrays
from rosenblatt.training.vote_count import count_votes, vote_margins, vote_scores
from rosenblatt.training.votes import Votes


@documented
class VotedPerceptron(PerceptronRule):
    """The voted perceptron: every weight vector of training votes, by the rows that it survived.

    Training is the perceptron's. It leaves w₀ = 0 and a vector w_k after each update, with the
    number c_k of rows until the next one. A row x is decided by (CIML, equation 4.17)::

        sign(Σ c_k·sign(w_k·x + b_k))

    and among more than two classes each vector votes for its best one. No vector is kept but the
    updates and, once each, the rows that made them: the activations of all vectors on x are prefix
    sums of τᵢ·yᵢ·⟨xᵢ, x⟩. The votes are exactly those of the definition; so K vectors cost as much
    as K dot products a row, whatever the number of classes.

    ``decision_function`` is the lead in votes, ``vote_margin`` how clear it is, from 0 to 1, and
    ``predict_or_abstain`` leaves out the rows where it is not clear enough. ``coef_`` and
    ``intercept_`` are those of the average of the vectors, the one linear classifier that comes
    nearest; they do not predict.

    {parameters}

    {attributes}
    survival_
        How many rows each weight vector lasted, w₀ first: its votes.
    n_vectors_
        How many weight vectors vote: the updates, and one.

    Examples
    --------
    >>> from rosenblatt import VotedPerceptron
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> clf = VotedPerceptron(shuffle=False).fit(X, ["no", "no", "no", "yes"])
    >>> clf.predict([[1, 1]])
    array(['yes'], dtype='<U3')
    >>> clf.n_vectors_, int(clf.survival_.sum())
    (19, 36)
    >>> clf.vote_margin([[1, 1], [0, 0]])
    array([0.33333333, 1.        ])
    >>> clf.predict_or_abstain([[1, 1], [0, 0]], threshold=0.5)
    array([None, 'no'], dtype=object)

    References
    ----------
    Y. Freund & R. Schapire, "Large margin classification using the perceptron algorithm", Machine
    Learning 37 (1999). H. Daumé III, *A Course in Machine Learning*, chapter 4.
    """

    record_mistakes = True  # it is made of them

    _votes: Votes

    def __init__(
        self,
        *,
        max_iter: int = 10,
        shuffle: Shuffle = True,
        zero: str = "mistake",
        eta0: float = 1.0,
        margin: float = 0.0,
        fit_intercept: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        time_limit: float | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        warm_start: bool = False,
        random_state: Any = 0,
        verbose: bool | int = False,
        observers: Sequence[Observer] | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.zero = zero
        self.eta0 = eta0
        self.margin = margin
        self.fit_intercept = fit_intercept
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.time_limit = time_limit
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.observers = observers

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the lead of the second class as a share of all votes, or the share of each class.

        Returns
        -------
        array of shape (n_rows,) with values from −1 to 1 for two classes, else (n_rows, n_classes)
        """
        return vote_scores(self._counts(X))

    def vote_margin(self, X: Any) -> NDArray[Any]:
        """Return how clear each vote is: the share of the winner less that of the second, 0 to 1.

        It ranks rows by confidence; it is no probability.
        """
        return vote_margins(vote_scores(self._counts(X)))

    def predict_or_abstain(self, X: Any, threshold: float, abstain: Any = None) -> NDArray[Any]:
        """Return the label of each row whose vote is clear, and ``abstain`` for the others.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        threshold : number from 0 to 1
            Rows with a ``vote_margin`` below it are not decided. See ``coverage_curve``.
        abstain : default None
            What stands for "not decided". With None, or with a value of another kind than the
            labels, the array is of type object.
        """
        if not 0.0 <= threshold <= 1.0:
            msg = f"threshold must be a number from 0 to 1, a vote_margin; got {threshold!r}."
            raise InputError(msg)
        labels, other = self.predict(X), np.asarray(abstain)
        numbers = "biuf"
        alike = other.dtype.kind == labels.dtype.kind or (
            other.dtype.kind in numbers and labels.dtype.kind in numbers
        )
        kind = np.result_type(labels, other) if alike else object
        answers: NDArray[Any] = labels.astype(kind)
        answers[self.vote_margin(X) < threshold] = abstain
        return answers

    def coverage_curve(self, X: Any, y: ArrayLike) -> CoverageCurve:
        """Return the error on the rows that are answered against how many are, by threshold.

        Returns
        -------
        CoverageCurve
            Arrays ``coverage``, ``error`` and ``threshold``, from the clearest votes to all rows.
        """
        labels = np.asarray(y)
        margin, predicted = self.vote_margin(X), self.predict(X)
        if labels.shape != predicted.shape:
            msg = f"y must have one label a row, {len(predicted)} in all; got shape {labels.shape}."
            raise InputError(msg)
        return coverage_curve(margin, predicted != labels)

    @property
    def survival_(self) -> NDArray[Any]:
        """How many rows each weight vector lasted, w₀ first."""
        return self._fitted_votes().survival(self._state.count)

    @property
    def n_vectors_(self) -> int:
        """How many weight vectors vote."""
        return self._fitted_votes().n_vectors

    def _counts(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        rows, _ = check_rows(self, X, reset=False)
        end, positive = self._state.count, self.zero == "positive"
        return count_votes(self._votes, rows, len(self.classes_), end, positive=positive)

    def _fitted_votes(self) -> Votes:
        if not hasattr(self, "_votes"):
            msg = f"This {type(self).__name__} is not fitted yet."
            raise AttributeError(msg)
        return self._votes

    def _averaged(self) -> bool:
        return True

    def _memory(self, state: State, earlier: Votes | None) -> Vote:
        return Vote(state, ZERO_CONVENTIONS[self.zero], earlier)

    def _set_start(
        self, state: State, coef_init: ArrayLike | None, intercept_init: ArrayLike | None
    ) -> None:
        super()._set_start(state, None, None)
        if coef_init is not None or intercept_init is not None:
            msg = (
                f"{type(self).__name__} starts from zero: its vectors are sums of its mistakes, "
                "which given weights are not; leave coef_init and intercept_init out."
            )
            raise InputError(msg)

    def _adopt(self, state: State, classes: NDArray[Any]) -> None:
        if hasattr(self, "_votes"):
            self._votes = self._earlier(classes)
        else:
            self._votes = Votes(state.n_features, 1.0 if self.fit_intercept else 0.0)
        super()._adopt(state, classes)

    def _earlier(self, classes: NDArray[Any]) -> Votes:
        if len(classes) == len(self.classes_):
            return self._votes
        return self._votes.with_classes(np.searchsorted(classes, self.classes_))

    def _remember(
        self, outcome: Outcome, rows: Rows, earlier: Votes | None, *, onward: bool
    ) -> None:
        super()._remember(outcome, rows, earlier, onward=onward)
        votes = Votes(rows.shape[1], rows.constant) if earlier is None else earlier
        if outcome.mistakes is not None:
            votes.extend(outcome.mistakes.before(self._state.count), rows)
        self._votes = votes

    def _room_for(self, n_rows: int) -> Log | None:
        return empty_log(n_rows)

    def _remember_more(self, rows: Rows, log: Log | None, n_updates: int, count: int) -> None:
        super()._remember_more(rows, log, n_updates, count)
        if log is not None:
            self._votes.extend(Log(*(column[:n_updates] for column in log)), rows, count - 1)

    def _stored_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a model file keeps beside the weights."""
        return vote_arrays(self._votes)

    def _restore_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Change to vote as a file says; raise InputError where that cannot be."""
        constant = 1.0 if self.fit_intercept else 0.0
        shape = len(self.classes_), self.n_features_in_, constant
        self._votes = recorded_votes(arrays, *shape, self._state.count)
        if self._state.ledger is None:
            msg = "its weights have no average, which a VotedPerceptron keeps."
            raise InputError(msg)

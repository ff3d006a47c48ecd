"""What a fitted kernel machine answers: scores, labels and what it is made of."""

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from rosenblatt.errors import WeightOverflowError
from rosenblatt.estimators.kernel_arrays import arrays_of, state_of
from rosenblatt.estimators.kernel_choice import MACHINE_PARTS, check_memory
from rosenblatt.estimators.validation import check_rows
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import matrix_of, take
from rosenblatt.models.model import Model
from rosenblatt.models.parameters import check_parameters, plain_options
from rosenblatt.training.dual.budget_state import BudgetState
from rosenblatt.training.dual.kernel import Kernel
from rosenblatt.training.dual.learning import State
from rosenblatt.training.dual.scoring import MEMORIES, scores_of
from rosenblatt.training.dual.sizes import sizes_within
from rosenblatt.training.history import PassRecord, StopReason


class FittedKernelMachine(ClassifierMixin, BaseEstimator):
    """Predictions and attributes from a state; learning is what its subclass adds."""

    _state: State
    _kernel: Kernel  # with the numbers that the first rows determined
    _made_with: dict[str, Any]
    classes_: NDArray[Any]
    n_features_in_: int
    history_: list[PassRecord]
    n_iter_: int
    best_iter_: int
    n_mistakes_: int
    converged_: bool
    stop_reason_: StopReason

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the score of each row: above 0 for the second class, or one for each class.

        By the memory that is set: an activation of the last or the average vector, or the balance
        of the votes, each worth as many rows as its vector survived.

        Returns
        -------
        array of shape (n_rows,) for two classes, else (n_rows, n_classes)
        """
        self._check_memory()
        return self._scores(X, (self.memory,))[self.memory]

    def decision_functions(self, X: Any) -> dict[str, NDArray[Any]]:
        """Return the scores by every memory, from one evaluation of the kernel.

        Returns
        -------
        dict
            "last", "average" and "vote": arrays as of ``decision_function``. With a budget no
            "vote", and "average" with the Projectron only. The average is the mean of all
            vectors; times one more than the rows seen it is Freund & Schapire's Σ cᵢ·vᵢ.
        """
        check_is_fitted(self)
        memories: tuple[str, ...] = MEMORIES
        if isinstance(self._state, BudgetState):
            memories = MEMORIES[:2] if self._state.has_average else MEMORIES[:1]
        return self._scores(X, memories)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row.

        A zero score predicts the first class, or the second if ``zero="positive"``; a tie of
        several classes goes to the first of them, or likewise to the last.
        """
        return self.labels_of(self.decision_function(X))

    def labels_of(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the label that each row's scores predict; see ``predict``."""
        positive = self.zero == "positive"
        if scores.ndim == 1:
            numbers = (scores >= 0 if positive else scores > 0).astype(np.intp)
        elif positive:
            numbers = scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1)
        else:
            numbers = scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[numbers]
        return labels

    @property
    def support_(self) -> NDArray[Any]:
        """Numbers of the rows that taught, or of those that are kept."""
        state = self._fitted_state()
        numbers = state.numbers if isinstance(state, BudgetState) else state.numbers.values
        return numbers.copy()

    @property
    def support_vectors_(self) -> Any:
        """The rows that taught, or that are kept: an array or a CSR matrix."""
        state = self._fitted_state()
        rows: Rows | None = None
        if isinstance(state, BudgetState):
            rows = state.rows
        elif state.store is not None:
            rows = state.store.rows
        if rows is None:
            return np.empty((0, 0))
        found = matrix_of(take(rows, np.arange(state.n_support)))
        return csr_matrix(found) if rows.sparse else found

    @property
    def n_support_(self) -> NDArray[Any]:
        """How many support rows are of each class."""
        state = self._fitted_state()
        labels = state.labels if isinstance(state, BudgetState) else state.labels.values
        return np.bincount(labels, minlength=len(self.classes_))

    @property
    def dual_coef_(self) -> NDArray[Any]:
        """What multiplies K(row, ·) of each support row: (1 or n_classes, n_support)."""
        state = self._fitted_state()
        if self.memory == "vote":
            msg = 'A vote has no coefficients: set memory="average" or "last" to see dual_coef_.'
            raise AttributeError(msg)
        return state.coefficients(averaged=self.memory == "average")

    def _fitted_state(self) -> State:
        if not hasattr(self, "_state"):
            msg = f"This {type(self).__name__} is not fitted yet."
            raise AttributeError(msg)
        return self._state

    def _check_memory(self) -> None:
        """Raise where the memory, which may have been set after fit, is not there."""
        check_is_fitted(self)
        check_parameters(type(self).__name__, {"memory": self.memory})
        check_memory(self)

    def _scores(self, X: Any, memories: tuple[str, ...]) -> dict[str, NDArray[Any]]:
        rows, _ = check_rows(self, X, reset=False)
        sizes = sizes_within(float(self.cache_size), rows.shape[1])
        positive = self.zero == "positive"
        found = scores_of(self._state, self._kernel, rows, sizes, memories, positive=positive)
        for scores in found.values():
            finite = np.isfinite(scores)
            if not finite.all():
                row = int(np.flatnonzero(~finite.all(axis=0))[0])
                msg = f"The activation of row {row} overflowed: its values are too large."
                raise WeightOverflowError(msg)
        one = self._state.n_columns == 1 and len(self.classes_) == 2
        return {
            memory: scores[0] if one else np.ascontiguousarray(scores.T)
            for memory, scores in found.items()
        }

    @property
    def model_(self) -> Model:
        """The fitted machine as ``rosenblatt.save`` writes it: a list of mistakes, no weights."""
        state, names = self._fitted_state(), getattr(self, "feature_names_in_", None)
        return Model(
            type(self).__name__,
            plain_options(self.get_params(deep=False)),
            tuple(self.classes_.tolist()),
            **state.vectors(),
            feature_names=None if names is None else tuple(str(name) for name in names),
            history=tuple(asdict(record) for record in self.history_),
            outcome={
                "stop_reason": self.stop_reason_,
                "best_pass": self.best_iter_,
                "n_iter": self.n_iter_,
                "n_mistakes": self.n_mistakes_,
            },
            training={"label_type": self.classes_.dtype.str},
            arrays=arrays_of(state, self._kernel),
        )

    def _restore(self, model: Model) -> None:
        """Change to be fitted as a model says, whose record has been checked."""
        self.classes_, self.history_ = model.labels, model.records
        self.n_iter_, self.best_iter_ = model.outcome["n_iter"], model.outcome["best_pass"]
        self.n_mistakes_, self.stop_reason_ = (
            model.outcome["n_mistakes"],
            model.outcome["stop_reason"],
        )
        self.converged_ = self.stop_reason_ == "converged"
        self._state, self._kernel = state_of(self, model.arrays, model.count)
        self._made_with = {name: getattr(self, name) for name in MACHINE_PARTS}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self.kernel == "precomputed" if isinstance(self.kernel, str) else False
        tags.input_tags.pairwise = given
        tags.input_tags.sparse = not given
        return tags

"""The kernel perceptron as a scikit-learn classifier."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rosenblatt.errors import InputError
from rosenblatt.estimators.base import FittedClassifier, Trained
from rosenblatt.estimators.documentation import ATTRIBUTES, PARAMETERS, estimator_class
from rosenblatt.estimators.validation import check_rows
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import matrix_of, take
from rosenblatt.mistakes.machine import DualState
from rosenblatt.models.kernel_machine import MACHINE_PARTS, KernelMachine
from rosenblatt.models.learner import Learner, generator_from
from rosenblatt.models.learner_record import LearnerRecord, learner_of
from rosenblatt.models.model import Model
from rosenblatt.parameters import CHECKS, Check, check_parameters, one_of
from rosenblatt.rules import Interval, additive_rules
from rosenblatt.tasks.leads import numbers_of
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import KERNEL_CURE, Observer

Kernels = str | Callable[[Any, Any], Any]
FIXED_PARTS = MACHINE_PARTS[:6]  # the others may be set after fit

KERNEL_PARAMETERS = PARAMETERS | {
    "rule": (
        'How far to step. "perceptron": by eta0 on a mistake. "margin": also on rows that are '
        'right by no more than margin. "pa", "pa1", "pa2": passive-aggressively, without a limit, '
        "with steps limited to C, softened by C."
    ),
    "memory": (
        'What predicts: the "last" vector, the "average" of all, or the "vote" of all, each for as '
        "long as it survived. It may be set after fit: all three come from one list of mistakes."
    ),
}

_SHARED = ("classes_", "n_features_in_", "feature_names_in_", "n_iter_", "converged_")

KERNEL_ATTRIBUTES = {
    "support_": (
        "Numbers of the rows that taught, in the order in which each first did; further calls of "
        "partial_fit count on."
    ),
    "support_vectors_": "Those rows; empty for a precomputed kernel.",
    "n_support_": "How many of them are of each class.",
    "dual_coef_": (
        "What multiplies K(row, ·) of each support row: (1, n_support) for two classes, else one "
        'line a class. Of the last or the average vector; a vote has none, so with memory="vote" '
        "the attribute is missing."
    ),
    **{name: ATTRIBUTES[name] for name in _SHARED},
    "n_mistakes_": 'Mistakes in all passes; with "one-vs-rest" those of all the learners.',
    "history_": ATTRIBUTES["history_"],
    "best_iter_": ATTRIBUTES["best_iter_"],
    "stop_reason_": ATTRIBUTES["stop_reason_"],
}


def can_stream(estimator: Any) -> bool:
    """Return whether there is a partial_fit, or raise AttributeError with the reason."""
    if estimator.kernel == "precomputed":
        raise AttributeError(
            "partial_fit cannot take a precomputed Gram matrix, which has no columns for rows that "
            "are yet to come: give the kernel as a function, or call fit."
        )
    return True


@estimator_class(KERNEL_PARAMETERS, KERNEL_ATTRIBUTES)
class KernelPerceptron(FittedClassifier):
    """The perceptron in the dual: it sees rows through a kernel, and so separates by curves.

    Its weights are the sum of the rows that it erred on, so that an activation is a sum of kernel
    values::

        a(x) = Σ τᵢ·yᵢ·K(xᵢ, x),    and on a mistake the row at hand joins the sum

    Any additive rule steps. The last vector predicts, or the average of all, or their vote, each
    for as long as it survived (Freund & Schapire 1999); all three are made of the same list. Kernel
    values are computed in blocks, and a pass needs only those of rows that teach in it.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from rosenblatt import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["same", "different", "different", "same"]
    >>> clf = KernelPerceptron(kernel="rbf", gamma=1.0, memory="last", shuffle=False).fit(X, y)
    >>> clf.predict(X).tolist(), clf.converged_
    (['same', 'different', 'different', 'same'], True)

    References
    ----------
    M. Aizerman, E. Braverman & L. Rozonoer, "Theoretical foundations of the potential function
    method", Automation and Remote Control 25 (1964). Y. Freund & R. Schapire, "Large margin
    classification using the perceptron algorithm", Machine Learning 37 (1999).
    """

    kernel: Kernels = "rbf"
    degree: int = 3
    gamma: float | str = "scale"
    coef0: float = 0.0
    rule: str = "perceptron"
    eta0: float = 1.0
    margin: float = 1.0
    C: float = 1.0
    memory: str = "average"
    multi_class: str = "joint"
    max_iter: int = 20
    cache_size: float = 200

    _encode = staticmethod(numbers_of)
    _cure = KERNEL_CURE

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(stored=False, **others)

    partial_fit = available_if(can_stream)(FittedClassifier.partial_fit)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the score of each row: above 0 for the second class, or one for each class.

        By the memory that is set: an activation of the last or the average vector, or the balance
        of the votes, each worth as many rows as its vector survived.

        Returns
        -------
        array of shape (n_rows,) for two classes, else (n_rows, n_classes)
        """
        check_is_fitted(self)
        check_parameters(type(self).__name__, {"memory": self.memory})
        return self._scores(X, (self.memory,))[self.memory]

    def decision_functions(self, X: Any) -> dict[str, NDArray[Any]]:
        """Return the scores by every memory, from one evaluation of the kernel.

        Returns
        -------
        dict
            "last", "average" and "vote": arrays as of ``decision_function``. The average is the
            mean of all vectors; times one more than the rows seen it is Freund & Schapire's
            Σ cᵢ·vᵢ.
        """
        check_is_fitted(self)
        return self._scores(X, ("last", "average", "vote"))

    @property
    def support_(self) -> NDArray[Any]:
        """Numbers of the rows that taught."""
        return self._state.numbers.copy()

    @property
    def support_vectors_(self) -> Any:
        """The rows that taught: an array or a CSR matrix."""
        rows = self._state.rows
        if rows is None:
            return np.empty((0, 0))
        found = matrix_of(take(rows, np.arange(rows.shape[0])))
        return csr_matrix(found) if rows.sparse else found

    @property
    def n_support_(self) -> NDArray[Any]:
        """How many support rows are of each class."""
        return np.bincount(self._state.row_classes, minlength=len(self.classes_))

    @property
    def dual_coef_(self) -> NDArray[Any]:
        """What multiplies K(row, ·) of each support row: (1 or n_classes, n_support)."""
        state = self._state
        if self.memory == "vote":
            msg = 'A vote has no coefficients: set memory="average" or "last" to see dual_coef_.'
            raise AttributeError(msg)
        return state.coefficients(averaged=self.memory == "average")

    @property
    def _state(self) -> DualState:
        return self._machine.dual

    @property
    def _machine(self) -> KernelMachine:
        return self._of_the_moment(self._fitted)

    def _of_the_moment(self, model: Model) -> KernelMachine:
        """Return the machine with what may be set after fit."""
        machine = cast("KernelMachine", model.machine)
        return replace(machine, memory=self.memory, cache_size=float(self.cache_size))

    def _scores(self, X: Any, memories: tuple[str, ...]) -> dict[str, NDArray[Any]]:
        rows, _ = check_rows(self, X, reset=False)
        return self._machine.scores_by(memories, rows, positive=self.zero == "positive")

    def _learner(self) -> Learner:
        return learner_of(vars(self) | {"memory": "last"})

    def _parameter_checks(self) -> Mapping[str, Check | Interval]:
        return CHECKS | {"rule": one_of(additive_rules())}

    def _checked_learner(self, *, goes_on: bool = False) -> Learner:
        learner = super()._checked_learner()
        if not goes_on:
            return learner
        for name in FIXED_PARTS:
            now, before = getattr(self, name), self._model.options[name]
            if now is not before and now != before:
                raise InputError(
                    f"{name} was {before!r} when this {type(self).__name__} began to learn "
                    f"and is {now!r} now: set it back, or fit anew."
                )
        if self.kernel == "precomputed":
            raise InputError(
                "warm_start cannot go on with a precomputed Gram matrix, whose rows are not those "
                "of the last fit: give the kernel as a function, or fit anew."
            )
        return learner

    def _check_gram(self, rows: Rows) -> None:
        """Raise where X cannot be the Gram matrix of training rows."""
        if rows.sparse:
            raise InputError(
                'With kernel="precomputed" a sparse X is not supported: X must be a dense array; '
                "call its method toarray."
            )
        n_rows, n_columns = rows.shape
        if n_rows != n_columns:
            raise InputError(
                'With kernel="precomputed" X must be a square matrix, the kernel values of all '
                f"rows against all rows; got shape ({n_rows}, {n_columns})."
            )

    def _empty(self, _: Learner, classes: NDArray[Any], rows: Rows) -> Model:
        if self.kernel == "precomputed":
            self._check_gram(rows)
        machine = KernelMachine.empty(self, rows, len(classes))
        return Model.empty(self._record(), classes, machine)

    def _begin(self, model: Model, learner: Learner, **_: Any) -> None:
        """Nothing: a machine goes on from its list."""

    def _train(
        self, model: Model, learner: Learner, examples: Examples, observers: Sequence[Observer]
    ) -> Trained:
        machine, plan = self._of_the_moment(model), learner.plan()
        generator = generator_from(self.random_state)
        training, outcome = machine.fit(examples, plan, generator, observers)
        model.record.note(outcome)
        last_decide = self.memory == "last" and not self.early_stopping
        return outcome, training.mistakes if last_decide else None

    def _learn_batch(self, learner: Learner, examples: Examples) -> None:
        state, rows = self._state, examples.rows
        self._model = replace(self._model, arrays={})  # a guarantee was of other scores
        if len(self.classes_) < 2:  # nothing to tell it from
            state.pass_by(len(examples.numbers()), rows.shape[0])
            self._model.record.count(1, 0, moved=False)
            return
        plan = replace(learner.plan(), max_iter=1, shuffle=False, early_stopping=None)
        training = self._machine.training(examples, plan, np.random.default_rng(0))  # not drawn
        counts = [training.learn(part).counts for part in training.parts()]
        training.finish()
        n_mistakes = sum(count.mistakes for count in counts)
        self._model.record.count(1, n_mistakes, moved=any(count.updates for count in counts))

    def _restore(self, model: Model) -> None:
        self._model = replace(model, made_by=self._record(), machine=model.machine.copy())

    def _record(self) -> LearnerRecord:
        """Return the parameters that a machine was made by, whatever they become."""
        own = {name: getattr(self, name) for name in FIXED_PARTS}
        return LearnerRecord(type(self).__name__, own)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self.kernel == "precomputed" if isinstance(self.kernel, str) else False
        tags.input_tags.pairwise = given
        tags.input_tags.sparse = not given
        return tags

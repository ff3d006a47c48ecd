"""The kernel perceptron as a scikit-learn classifier."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rosenblatt.errors import InputError
from rosenblatt.estimators.base import FittedClassifier
from rosenblatt.estimators.documentation import estimator_class
from rosenblatt.estimators.kernel_parameters import (
    KERNEL_ATTRIBUTES,
    KERNEL_PARAMETERS,
    MACHINE_PARTS,
    can_stream,
    check_choice,
    check_forgetron,
    check_given,
    check_memory,
    check_same,
    rule_of,
)
from rosenblatt.estimators.probabilities import with_probabilities
from rosenblatt.estimators.validation import check_classes, check_rows, check_sample_weight
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import matrix_of, take
from rosenblatt.mistakes.gram import sizes_within
from rosenblatt.mistakes.kernel import Kernel
from rosenblatt.models.fitting import all_known, first_classes, state_with_classes
from rosenblatt.models.kernel_machine import (
    empty_state,
    kernel_of,
    machine_scores,
    stored_machine,
    train_machine,
)
from rosenblatt.models.learner import check_online, generator_from
from rosenblatt.models.model import KernelMachine, Model, record_of
from rosenblatt.parameters import CHECKS, check_parameters, one_of
from rosenblatt.rules import ZERO_CONVENTIONS, additive_rules
from rosenblatt.training.examples import numbers_of, winners
from rosenblatt.training.history import KERNEL_CURE, Outcome
from rosenblatt.training.kernel import KernelState, kernel_training
from rosenblatt.training.loop import EarlyStopping, Plan

Kernels = str | Callable[[Any, Any], Any]


@estimator_class(KERNEL_PARAMETERS, KERNEL_ATTRIBUTES)
class KernelPerceptron(FittedClassifier):
    """The perceptron in the dual: it sees rows through a kernel, and so separates by curves.

    Its weights are the sum of the rows that it erred on, so that an activation is a sum of kernel
    values::

        a(x) = Σ τᵢ·yᵢ·K(xᵢ, x),    and on a mistake the row at hand joins the sum

    Any additive rule steps. The last vector predicts, or the average of all, or their vote, each
    for as long as it survived (Freund & Schapire 1999); all three are made of the same list. Kernel
    values are computed in blocks, and a pass needs only those of rows that teach in it. With
    ``max_support`` the list is kept short, and a stream may go on for ever.

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
    max_support: int | None = None
    budget: str | None = None
    eta: float = 0.1
    cache_size: float = 200

    _encode = staticmethod(numbers_of)

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(stored=False, **others)

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the rows of X and their labels y.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            float32, float64 and uint8 are used without a copy. With ``kernel="precomputed"`` the
            kernel values of all rows against all, (n_rows, n_rows).
        y : array of shape (n_rows,)
            Labels: numbers or strings, two classes or more.
        sample_weight : array of shape (n_rows,), default None
            Multiplies the step of each row. A row of weight 0 is left out altogether.

        Returns
        -------
        self
        """
        self._check_parameters()
        warm = self.warm_start and hasattr(self, "_state")
        if warm:
            check_same(self, self._made_with)
            self._check_warm()
        rows, y = check_rows(self, X, y, reset=not warm)
        check_given(self, rows)
        weight = check_sample_weight(sample_weight, rows.shape[0])
        seen = np.unique(y if weight is None else y[weight != 0.0])
        generator, plan = generator_from(self.random_state), self._plan()
        state: Any = getattr(self, "_state", None)
        if warm:
            kernel = self._kernel
            state, classes = state_with_classes(state, self.classes_, seen, plan.rule)
        else:
            kernel = kernel_of(self, rows)
            state, classes = empty_state(self, rows.shape[1], len(seen), generator), seen
        check_classes(classes, y, weight)
        check_forgetron(self, len(classes))
        examples = self._examples(rows, y, weight, classes)
        machine = KernelMachine(state, kernel)
        with self._watching() as observers:
            training, outcome = train_machine(machine, self, examples, plan, generator, observers)
        last_decide = self.memory == "last" and not self.early_stopping
        self._hold(machine, classes, outcome)
        if self.calibrate:
            self._model = with_probabilities(self, rows, y, weight)
        self._tell(outcome, training.mistakes if last_decide else None, KERNEL_CURE)
        return self

    @available_if(can_stream)  # type: ignore[untyped-decorator]
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go on learning: one pass over these rows, in the order given.

        Any sequence of calls gives the model of one pass over all the rows together, provided that
        ``gamma`` is not "scale", which looks at the first batch. New classes may appear at any
        call; where you know them, name them all in ``classes`` at the first, since a row teaches
        nothing while its class is the only one known.

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
        check_online(first and self.early_stopping, self.class_weight, self.calibrate)
        if not first:
            check_same(self, self._made_with)
        rows, y = check_rows(self, X, y, reset=first)
        weight = check_sample_weight(sample_weight, rows.shape[0])
        self._meet_classes(rows, y if weight is None else y[weight != 0.0], classes)
        examples = self._examples(rows, y, weight, self.classes_, streamed=True)
        if len(self.classes_) < 2:  # nothing to tell it from
            self._state.count += len(examples.numbers())
            self._state.n_met += rows.shape[0]
            self._model.outcome["n_iter"] += 1
            return self
        plan = replace(self._plan(), max_iter=1, shuffle=False, early_stopping=None)
        sizes = sizes_within(float(self.cache_size), rows.shape[1])
        nothing = np.random.default_rng(0)  # is drawn
        training = kernel_training(*self._machine, examples, plan, sizes, nothing)
        counts = [training.learn(part).counts for part in training.parts()]
        training.finish()
        record = self._model.outcome
        if any(count.updates for count in counts):
            record["stop_reason"] = "max_iter"  # one pass is what it is for
        record["n_iter"] += 1
        record["n_mistakes"] += sum(count.mistakes for count in counts)
        return self

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
        return self._scores(X, self._state.memories)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row.

        A zero score predicts the first class, or the second if ``zero="positive"``; a tie of
        several classes goes to the first of them, or likewise to the last.
        """
        return self.labels_of(self.decision_function(X))

    def labels_of(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the label that each row's scores predict; see ``predict``."""
        numbers = winners(scores, positive=self.zero == "positive")
        labels: NDArray[Any] = self.classes_[numbers]
        return labels

    @property
    def support_(self) -> NDArray[Any]:
        """Numbers of the rows that taught, or of those that are kept."""
        return self._state.numbers.copy()

    @property
    def support_vectors_(self) -> Any:
        """The rows that taught, or that are kept: an array or a CSR matrix."""
        rows = self._state.rows
        if rows is None:
            return np.empty((0, 0))
        found = matrix_of(take(rows, np.arange(rows.shape[0])))
        return csr_matrix(found) if rows.sparse else found

    @property
    def n_support_(self) -> NDArray[Any]:
        """How many support rows are of each class."""
        return np.bincount(self._state.labels, minlength=len(self.classes_))

    @property
    def dual_coef_(self) -> NDArray[Any]:
        """What multiplies K(row, ·) of each support row: (1 or n_classes, n_support)."""
        state = self._state
        if self.memory == "vote":
            msg = 'A vote has no coefficients: set memory="average" or "last" to see dual_coef_.'
            raise AttributeError(msg)
        return state.coefficients(averaged=self.memory == "average")

    @property
    def _state(self) -> KernelState:
        return self._machine.state

    @property
    def _kernel(self) -> Kernel:
        """The kernel with the numbers that the first rows determined."""
        return self._machine.kernel

    @property
    def _machine(self) -> KernelMachine:
        machine = self._fitted.machine
        if machine is None:
            msg = "A KernelPerceptron holds a kernel machine."
            raise AssertionError(msg)
        return machine

    def _check_memory(self) -> None:
        """Raise where the memory, which may have been set after fit, is not there."""
        check_is_fitted(self)
        check_parameters(type(self).__name__, {"memory": self.memory})
        check_memory(self)

    def _scores(self, X: Any, memories: tuple[str, ...]) -> dict[str, NDArray[Any]]:
        rows, _ = check_rows(self, X, reset=False)
        return machine_scores(self._machine, self, rows, memories)

    def _check_parameters(self) -> None:
        checks = CHECKS | {"rule": one_of(additive_rules())}
        checks["shuffle"] = one_of([True, False, "once"])  # blocks are for rows, not for a matrix
        check_parameters(type(self).__name__, self.get_params(deep=False), checks)
        check_choice(self)

    def _check_warm(self) -> None:
        if self.kernel == "precomputed":
            msg = (
                "warm_start cannot go on with a precomputed Gram matrix, whose rows are not those "
                "of the last fit: give the kernel as a function, or fit anew."
            )
            raise InputError(msg)

    def _machine_parts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in MACHINE_PARTS}

    def _meet_classes(self, rows: Rows, y: NDArray[Any], named: ArrayLike | None) -> None:
        """Make sure that the state knows all these classes; start one where there is none."""
        if not hasattr(self, "_state"):
            classes = first_classes(y, named)
            check_forgetron(self, len(classes))
            generator = generator_from(self.random_state)
            state = empty_state(self, rows.shape[1], len(classes), generator)
            machine = KernelMachine(state, kernel_of(self, rows))
            self._hold(machine, classes, Outcome([], "max_iter", 0))
        elif named is not None or not all_known(y, self.classes_):
            seen = np.unique(y) if named is None else np.union1d(y, np.asarray(named))
            known: Any = self._state
            grown_state: Any
            grown_state, classes = state_with_classes(known, self.classes_, seen, rule_of(self))
            check_forgetron(self, len(classes))
            self._model = replace(
                self._model,
                **grown_state.vectors(),
                classes=tuple(classes.tolist()),
                training={"label_type": classes.dtype.str},
                machine=KernelMachine(grown_state, self._kernel),
            )

    def _plan(self) -> Plan:
        stopping = EarlyStopping(self.validation_fraction, self.n_iter_no_change)
        return Plan(
            rule=rule_of(self),
            max_iter=self.max_iter,
            zero=ZERO_CONVENTIONS[self.zero],
            shuffle=self.shuffle,
            early_stopping=stopping if self.early_stopping else None,
            time_limit=self.time_limit,
        )

    def _hold(self, machine: KernelMachine, classes: NDArray[Any], outcome: Outcome) -> None:
        """Change to be fitted with this machine."""
        self._model = Model(
            type(self).__name__,
            {},
            tuple(classes.tolist()),
            **machine.state.vectors(),
            **record_of(outcome),
            training={"label_type": classes.dtype.str},
            machine=machine,
        )
        self._made_with = self._machine_parts()

    def _restore(self, model: Model) -> None:
        self._model = replace(model, arrays={}, machine=stored_machine(model, self))
        self._made_with = self._machine_parts()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self.kernel == "precomputed" if isinstance(self.kernel, str) else False
        tags.input_tags.pairwise = given
        tags.input_tags.sparse = not given
        return tags

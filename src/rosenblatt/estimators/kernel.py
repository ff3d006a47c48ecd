"""The kernel perceptron as a scikit-learn classifier."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from rosenblatt.estimators.documentation import described
from rosenblatt.estimators.kernel_choice import (
    can_stream,
    check_forgetron,
    check_given,
    check_same,
    check_stream,
    kernel_of,
    rule_of,
)
from rosenblatt.estimators.kernel_documentation import KERNEL_ATTRIBUTES, KERNEL_PARAMETERS
from rosenblatt.estimators.kernel_learning import LearningKernelMachine
from rosenblatt.estimators.validation import check_classes, check_rows
from rosenblatt.models.fitting import grown
from rosenblatt.models.parameters import generator_from
from rosenblatt.training.advice import unfinished_kernel
from rosenblatt.training.kernel import KernelTraining
from rosenblatt.training.loop import Shuffle, train
from rosenblatt.training.observers import Observer, ProgressBar

Kernels = str | Callable[[Any, Any], Any]


class KernelPerceptron(LearningKernelMachine):
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

    def __init__(
        self,
        *,
        kernel: Kernels = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        rule: str = "perceptron",
        eta0: float = 1.0,
        margin: float = 1.0,
        C: float = 1.0,
        memory: str = "average",
        multi_class: str = "joint",
        max_iter: int = 20,
        shuffle: Shuffle = True,
        zero: str = "mistake",
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
        max_support: int | None = None,
        budget: str | None = None,
        eta: float = 0.1,
        cache_size: float = 200,
        time_limit: float | None = None,
        warm_start: bool = False,
        random_state: Any = 0,
        verbose: bool | int = False,
        observers: Sequence[Observer] | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.rule = rule
        self.eta0 = eta0
        self.margin = margin
        self.C = C
        self.memory = memory
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.zero = zero
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_support = max_support
        self.budget = budget
        self.eta = eta
        self.cache_size = cache_size
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.observers = observers

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the rows of X and their labels y.

        Rows have no ``sample_weight``, which no learner that depends on the order of rows can make
        equal to giving a row twice; ``class_weight`` multiplies the steps of a class.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            float32, float64 and uint8 are used without a copy. With ``kernel="precomputed"`` the
            kernel values of all rows against all, (n_rows, n_rows).
        y : array of shape (n_rows,)
            Labels: numbers or strings, two classes or more.

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
        generator, seen, rule = generator_from(self.random_state), np.unique(y), rule_of(self)
        state: Any = getattr(self, "_state", None)
        if warm:
            kernel = self._kernel
            state, classes = grown(state, self.classes_, seen, rule)
        else:
            kernel = kernel_of(self, rows)
            state, classes = self._empty(rows, len(seen), generator), seen
        check_classes(classes, y, None)
        check_forgetron(self, len(classes))
        examples = self._examples(rows, y, classes)
        learning = self._learning(state, kernel, examples, passes=self.max_iter)
        training = KernelTraining(learning, examples, self._plan(), generator)
        with ExitStack() as stack:
            observers = list(self.observers or ())
            if self.verbose:
                observers.append(stack.enter_context(ProgressBar(self.max_iter)))
            outcome = train(training, self._plan(), observers)
        learning.finish()
        self._state, self._kernel, self.classes_ = state, kernel, classes
        self._made_with = self._machine_parts()
        self._keep(outcome)
        told = unfinished_kernel(outcome, self.memory)
        if told is not None:
            warnings.warn(f"{type(self).__name__} {told}", ConvergenceWarning, stacklevel=2)
        return self

    @available_if(can_stream)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None) -> Self:
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

        Returns
        -------
        self
        """
        first = not hasattr(self, "_state")
        self._check_parameters()
        check_stream(self)
        if not first:
            check_same(self, self._made_with)
        rows, y = check_rows(self, X, y, reset=first)
        self._meet_classes(rows, y, classes)
        examples = self._examples(rows, y, self.classes_)
        if len(self.classes_) < 2:  # nothing to tell it from
            self._state.count += rows.shape[0]
            self._state.n_met += rows.shape[0]
            self.n_iter_ += 1
            return self
        learning = self._learning(self._state, self._kernel, examples, passes=1)
        counts = [learning.visit(block) for block in learning.blocks(examples.numbers())]
        learning.finish()
        if any(count.updates for count in counts):
            self.converged_, self.stop_reason_ = False, "max_iter"  # one pass is what it is for
        self.n_iter_ += 1
        self.n_mistakes_ += sum(count.mistakes for count in counts)
        return self


described(KernelPerceptron, KERNEL_PARAMETERS, KERNEL_ATTRIBUTES)

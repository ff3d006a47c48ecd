"""The linear members of the family as scikit-learn classifiers."""

from collections.abc import Mapping
from typing import Any, cast

from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.estimators.base import OnlineClassifier
from rosenblatt.estimators.documentation import PARAMETERS, UNRECORDED, estimator_class
from rosenblatt.models.learner import Learner
from rosenblatt.rules import RULES


@estimator_class()
class Perceptron(OnlineClassifier):
    """The perceptron: look at one example at a time, and change the weights only when it is wrong.

    For each row x with label y = ±1 and activation a = w·x + b::

        if y·a ≤ 0:  w ← w + η·y·x,  b ← b + η·y

    until a whole pass makes no mistake: on separable data after at most R²/γ² of them. The last
    weights are what it returns. On data that overlap they depend on the last few rows, and
    ``AveragedPerceptron`` is the better choice. With more than two classes one machine learns them
    all: the true class gains η·x and the highest-scoring wrong class loses it.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> clf = Perceptron(shuffle=False).fit(X, ["no", "no", "no", "yes"])
    >>> clf.coef_, clf.intercept_
    (array([[3., 2.]]), array([-4.]))
    >>> clf.converged_, clf.n_iter_, clf.n_mistakes_
    (True, 9, 18)
    >>> clf.predict([[1, 1]])
    array(['yes'], dtype='<U3')

    References
    ----------
    F. Rosenblatt, "The perceptron", Psychological Review 65 (1958). H. Daumé III, *A Course in
    Machine Learning*, chapter 4, Algorithm 5.
    """

    max_iter: int = 200
    eta0: float = 1.0
    margin: float = 0.0
    record_mistakes: bool = False


@estimator_class()
class AveragedPerceptron(OnlineClassifier):
    """The averaged perceptron: train as the perceptron does, return the mean of all its weights.

    Weights that last for many rows count more than those soon replaced. The mean is
    kept as Algorithm 7 keeps it, by a ledger that is touched on mistakes only: with u ← u + η·y·c·x
    beside each step, c the number of the row, the mean of w₀ … w_T is w − u/c.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> clf = AveragedPerceptron(shuffle=False).fit(X, [0, 0, 0, 1])
    >>> clf.coef_, clf.intercept_  # the mean of 37 vectors: the first, and one for each row met
    (array([[2.02702703, 1.2972973 ]]), array([-2.48648649]))

    References
    ----------
    Y. Freund & R. Schapire, "Large margin classification using the perceptron algorithm", Machine
    Learning 37 (1999). H. Daumé III, *A Course in Machine Learning*, chapter 4, Algorithm 7.
    """

    max_iter: int = 20
    eta0: float = 1.0
    margin: float = 0.0
    record_mistakes: bool = False
    _memory = "average"


@estimator_class()
class PassiveAggressiveClassifier(OnlineClassifier):
    """Passive-aggressive: leave the weights alone while the margin is 1, else repair it at once.

    The step is the smallest that ends the hinge loss ℓ = max(0, 1 − y·a) of the row at hand, with a
    limit that keeps one noisy row from undoing what others taught::

        w ← w + τ·y·x,    τ = min(C, ℓ/‖x‖²)        loss="hinge" (PA-I)
                          τ = ℓ/(‖x‖² + 1/(2C))      loss="squared_hinge" (PA-II)

    With more than two classes the true class is set against the highest-scoring wrong one, with
    2‖x‖² for ‖x‖² (MIRA). It stands in for the class of the same name in scikit-learn, with four
    differences: the mean of all weights is returned unless ``average=False``, since the last ones
    depend on the last few rows; the bias counts in ‖x‖², so that the step really lands on margin 1;
    several classes are one machine; and nothing stops separable data early.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from rosenblatt import PassiveAggressiveClassifier
    >>> clf = PassiveAggressiveClassifier(average=False, shuffle=False)
    >>> clf = clf.fit([[0.0], [2.0]], [0, 1])
    >>> clf.decision_function([[0.0], [2.0]])  # the row met last stands on margin 1
    array([-0.92,  1.  ])

    References
    ----------
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz & Y. Singer, "Online passive-aggressive
    algorithms", JMLR 7 (2006).
    """

    C: float = 1.0
    loss: str = "hinge"
    average: bool = True
    record_mistakes: bool = False


CONFIDENCE = "Variance of each weight, of the shape of ``coef_``; 1 at first."


@estimator_class(attributes=UNRECORDED | {"confidence_": CONFIDENCE})
class ConfidenceWeightedClassifier(OnlineClassifier):
    """Second-order learners: each weight has a variance, and moves the more the larger it is.

    Weights of features that came often are nearly settled, those of rare ones still learn fast.
    That suits texts and other rows with many rare features, where few passes are enough. With the
    margin m = y·(w·x + b) and its variance v = xᵀΣx, a row that is not right enough changes both::

        w ← w + α·y·Σx,   Σ ← Σ − β·Σx(Σx)ᵀ

    where the rule says how far, from m and v. Σ is kept as its diagonal.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from rosenblatt import ConfidenceWeightedClassifier
    >>> X = [[1, 1, 0], [1, 0, 1], [1, 1, 0], [1, 0, 1]]
    >>> clf = ConfidenceWeightedClassifier(max_iter=1, shuffle=False).fit(X, [0, 1, 0, 1])
    >>> clf.coef_.round(2)
    array([[ 0.03, -0.48,  0.64]])
    >>> clf.confidence_.round(2)  # the variances: the first feature came in every row
    array([[0.39, 0.56, 0.52]])

    References
    ----------
    M. Dredze, K. Crammer & F. Pereira, "Confidence-weighted linear classification", ICML 2008.
    K. Crammer, A. Kulesza & M. Dredze, "Adaptive regularization of weight vectors", NIPS 2009.
    J. Wang, P. Zhao & S. Hoi, "Exact soft confidence-weighted learning", ICML 2012.
    """

    rule: str = "arow"
    r: float = 1.0
    confidence: float = 0.9
    C: float = 1.0
    average: bool = False
    max_iter: int = 5

    def _learner(self) -> Learner:
        if RULES[self.rule].order != 2:
            others = ", ".join(repr(name) for name, entry in RULES.items() if entry.order == 2)
            raise InputError(
                f"The parameter rule of {type(self).__name__} must be one of {others}; "
                f"got {self.rule!r}."
            )
        return super()._learner()

    @property
    def confidence_(self) -> NDArray[Any]:
        """The variance of each weight, like ``coef_``."""
        state = self._state
        return state.by_class(cast("NDArray[Any]", state.variance))[:, :-1].copy()


RULE_PARAMETERS = {
    "rule": "The name of a rule in ``rosenblatt.rules.RULES``.",
    "memory": 'The weights that decide: "average" for the mean of all, or "last".',
}


@estimator_class(PARAMETERS | RULE_PARAMETERS)
class RuleClassifier(OnlineClassifier):
    """Any rule of the table of rules, by its name.

    The other classes are each made for one family of rules, and have its parameters among their
    own. This one takes every rule, so also one that you put into the table yourself: a rule is a
    named tuple of numbers with a method ``step(margin, sqnorm)`` that says how far to go.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from rosenblatt import RuleClassifier
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> clf = RuleClassifier(rule="pa2", parameters=dict(C=10)).fit(X, [0, 0, 0, 1])
    >>> clf.predict([[1, 1], [0, 1]])
    array([1, 0])
    """

    rule: str = "perceptron"
    memory: str = "average"
    parameters: Mapping[str, float] | None = None
    record_mistakes: bool = False

    def _learner(self) -> Learner:
        if self.memory == "vote":
            msg = "RuleClassifier keeps no votes: use VotedPerceptron, or memory='average'."
            raise InputError(msg)
        return super()._learner()

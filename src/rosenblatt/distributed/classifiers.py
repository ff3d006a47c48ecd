"""The linear members of the family on a Dask cluster."""

from rosenblatt.distributed.estimators import DaskClassifier
from rosenblatt.estimators.documentation import PARAMETERS, UNRECORDED, estimator_class
from rosenblatt.estimators.linear import (
    CONFIDENCE,
    AveragedPerceptron,
    ConfidenceWeightedClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
)

ON_A_CLUSTER = PARAMETERS | {
    "client": "The cluster; None: the client that was made last.",
    "n_shards": (
        "Into how many shards the rows are divided; None: as many as there are workers. The model "
        "depends on it, and on nothing else of the cluster. More shards dilute what few rows teach."
    ),
    "mixing": (
        '"uniform": the mean of all shards, of second-order rules weighted by confidence. '
        '"mistakes": in proportion to the mistakes of each, which has the better bound, was slower '
        "on all data tried, and needs steps of equal length."
    ),
    "shuffle_shards": (
        "Deal the rows out to the shards at random. Else each has successive rows, and data sorted "
        "by label give shards that lack classes, of which a warning tells."
    ),
    "checkpoint": (
        "A file that is written after every epoch and removed at the end: where it is found, a run "
        "that was killed goes on from it, to the same bits."
    ),
}
FITTED_ON_A_CLUSTER = UNRECORDED | {
    "n_wrong_": (
        "Rows learned from that the weights returned, those of the mixture, misclassify. "
        "(``n_mistakes_`` and ``history_`` count what the shards got wrong by their own weights, "
        "which may be few while the mixture is poor.)"
    ),
    "verdict_": (
        "Where ``converged_``: the proof that the rows are separable, with the weights as witness."
    ),
}


@estimator_class(ON_A_CLUSTER, FITTED_ON_A_CLUSTER)
class DaskPerceptron(DaskClassifier):
    """The perceptron on a Dask cluster, by iterative parameter mixing.

    In each epoch every shard makes one pass over its rows from the mixed weights, and the mean of
    what they end with is where the next epoch starts. Separable data still end in an epoch without
    a mistake on any shard, after at most n_shards·R²/γ² of them; that epoch proves that the weights
    separate all the data. One shard is ``Perceptron`` to the last bit.

    {parameters}

    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt.distributed import DaskPerceptron
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> y = np.where(X @ [1, 2, -1] > 0, "up", "down")
    >>> clf = DaskPerceptron(n_shards=4)
    >>> plain = clf.simulate(X, y)  # what clf.fit would make of them on any cluster
    >>> plain.converged_, plain.score(X, y)
    (True, 1.0)

    References
    ----------
    R. McDonald, K. Hall & G. Mann, "Distributed training strategies for the structured perceptron",
    NAACL 2010.
    """

    _plain_class = Perceptron

    max_iter: int = 200
    eta0: float = 1.0
    margin: float = 0.0


@estimator_class(ON_A_CLUSTER, FITTED_ON_A_CLUSTER)
class DaskAveragedPerceptron(DaskClassifier):
    """The averaged perceptron on a Dask cluster, by iterative parameter mixing.

    Shards learn as those of ``DaskPerceptron`` do. What is returned is the mean of all the weight
    vectors that any shard had after any of its rows: sums and counts are added, so that one shard
    is ``AveragedPerceptron`` to the last bit.

    {parameters}

    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt.distributed import DaskAveragedPerceptron
    >>> X, y = np.eye(8), [0, 0, 1, 1] * 2
    >>> DaskAveragedPerceptron(n_shards=2, max_iter=3).simulate(X, y).predict(X)
    array([0, 0, 1, 1, 0, 0, 1, 1])

    References
    ----------
    R. McDonald, K. Hall & G. Mann, "Distributed training strategies for the structured perceptron",
    NAACL 2010.
    """

    _plain_class = AveragedPerceptron

    max_iter: int = 20
    eta0: float = 1.0
    margin: float = 0.0


@estimator_class(ON_A_CLUSTER, FITTED_ON_A_CLUSTER)
class DaskPassiveAggressiveClassifier(DaskClassifier):
    """Passive-aggressive learning on a Dask cluster, by iterative parameter mixing.

    Shards are mixed uniformly, and no theorem covers it: the proof of convergence is that of the
    perceptron. After an epoch without a mistake the mixture is tried on all rows, and only then
    ``converged_`` is True.

    {parameters}

    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt.distributed import DaskPassiveAggressiveClassifier
    >>> X, y = np.array([[0.0], [2.0]] * 10), [0, 1] * 10
    >>> clf = DaskPassiveAggressiveClassifier(n_shards=2, max_iter=50)
    >>> clf.simulate(X, y).converged_
    True

    References
    ----------
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz & Y. Singer, "Online passive-aggressive
    algorithms", JMLR 7 (2006).
    """

    _plain_class = PassiveAggressiveClassifier

    C: float = 1.0
    loss: str = "hinge"
    average: bool = True


@estimator_class(ON_A_CLUSTER, FITTED_ON_A_CLUSTER | {"confidence_": CONFIDENCE})
class DaskConfidenceWeightedClassifier(DaskClassifier):
    """Second-order learners on a Dask cluster, by iterative mixing weighted by confidence.

    After every epoch each weight is the mean of that weight of all shards, each counted by how sure
    it is, 1/variance; and the mixed variance is that of the mean of 1/variance. So a shard that
    never met a feature counts little where another has learned it. One shard is
    ``ConfidenceWeightedClassifier`` to the last bit.

    {parameters}

    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt.distributed import DaskConfidenceWeightedClassifier
    >>> X, y = np.eye(8), [0, 0, 1, 1] * 2
    >>> clf = DaskConfidenceWeightedClassifier(n_shards=2, max_iter=3).simulate(X, y)
    >>> clf.predict(X)
    array([0, 0, 1, 1, 0, 0, 1, 1])

    References
    ----------
    M. Dredze, A. Kulesza & K. Crammer, "Multi-domain learning by confidence-weighted parameter
    combination", Machine Learning 79 (2010).
    """

    _plain_class = ConfidenceWeightedClassifier

    rule: str = "arow"
    r: float = 1.0
    confidence: float = 0.9
    C: float = 1.0
    average: bool = False
    max_iter: int = 5

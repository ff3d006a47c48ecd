"""The linear members of the family on a Dask cluster."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

import numpy as np
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.multiclass import check_classification_targets

from rosenblatt.data.files import Columns, Layout
from rosenblatt.distributed.blocks import (
    blocks_of,
    common_classes,
    feature_names,
    numbered_block,
    predictions,
    survey,
)
from rosenblatt.distributed.files import read_files
from rosenblatt.distributed.fitting import (
    ClusterOutcome,
    ClusterPlan,
    ShardBar,
    fit_cluster,
    with_files,
)
from rosenblatt.distributed.mixing import Mixing, simulate
from rosenblatt.distributed.shards import ClusterRows, ShardWarning
from rosenblatt.errors import InputError, warn_caller
from rosenblatt.estimators.base import OnlineClassifier, TrainingParameters
from rosenblatt.estimators.documentation import PARAMETERS, UNRECORDED, estimator_class
from rosenblatt.estimators.linear import (
    CONFIDENCE,
    AveragedPerceptron,
    ConfidenceWeightedClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
)
from rosenblatt.estimators.scikit import BaseEstimator, ClassifierMixin
from rosenblatt.estimators.storage import save
from rosenblatt.estimators.validation import check_classes, check_rows
from rosenblatt.lazy import installing
from rosenblatt.models.file import Source
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.model import Model
from rosenblatt.models.weights import Weights
from rosenblatt.parameters import AT_LEAST_ONE, FLAG, Check, check_parameters, one_of, optional
from rosenblatt.training.examples import Examples, class_weights, encode
from rosenblatt.training.history import ENDED_EARLY, advice

if TYPE_CHECKING:
    from distributed import Client

CLUSTER_CHECKS = {
    "client": Check("None or a dask.distributed.Client", lambda v: v is None or _is_client(v)),
    "n_shards": optional(AT_LEAST_ONE),
    "mixing": one_of(get_args(Mixing)),
    "shuffle_shards": FLAG,
    "checkpoint": Check(
        "None or the name of a file", lambda v: v is None or isinstance(v, str | Path)
    ),
}
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


@dataclass(kw_only=True, eq=False, repr=False)
class DaskClassifier(TrainingParameters, ClassifierMixin, BaseEstimator):
    """A linear classifier that learns by iterative parameter mixing on a Dask cluster.

    Subclasses name the plain estimator that they train (``_plain_class``). What is fitted is such
    an estimator, and the attributes of this one are its attributes.
    """

    client: "Client | None" = None
    n_shards: int | None = None
    mixing: Mixing = "uniform"
    shuffle_shards: bool = False
    checkpoint: str | Path | None = None

    _plain_class: ClassVar[type[OnlineClassifier]]

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the rows of a Dask collection, where the workers have them.

        Parameters
        ----------
        X : Dask array (dense blocks, or blocks that are SciPy CSR matrices) or data frame
            Of shape (n_rows, n_features).
        y : Dask array or series of shape (n_rows,)
            Labels: numbers or strings, two classes or more.
        """
        (plain, plan), client = self._checked(), self._client()
        blocks = blocks_of(client, X, y, plan.learner.constant)
        surveys = client.gather(client.map(survey, blocks, pure=False))
        classes, counts = common_classes(surveys)
        check_classification_targets(classes)
        parts = client.map(numbered_block, blocks, classes=classes, pure=False)
        lengths = [one.n_rows for one in surveys]
        first = next(one for one in surveys if one.n_rows)
        collected = ClusterRows(parts, lengths, first.n_features, classes, counts)
        del blocks, parts
        names = feature_names(X)
        if names is not None:
            plain.feature_names_in_ = names
        self._train(plain, client, collected, plan)
        return self

    def fit_files(
        self,
        paths: str | Sequence[str],
        *,
        layout: Layout | None = None,
        columns: Columns | None = None,
    ) -> Self:
        """Learn from files, Parquet, CSV, svmlight and their kin, which the workers read.

        Every worker must find every file under the name given here. What the columns are is judged
        by the first rows of the first file; words, levels and the scale of numbers by all of them.

        Parameters
        ----------
        paths : str or sequence of str
            Files, or patterns of their names, all of one format.
        layout : rosenblatt.data.files.Layout, optional
            The format and its details, where the files do not tell by themselves.
        columns : rosenblatt.data.files.Columns, optional
            What the columns of a table are, where that is not to be found out.
        """
        (plain, plan), client = self._checked(), self._client()
        names = [paths] if isinstance(paths, str) else list(paths)
        constant = plan.learner.constant
        read = read_files(client, names, layout or Layout(), columns or Columns(), constant)
        fitted = self._train(plain, client, read.collected, plan)
        plain._model = with_files(plain._model, read, fitted)  # noqa: SLF001  # ours
        self.notes_ = read.notes
        return self

    def simulate(self, X: Any, y: Any) -> OnlineClassifier:
        """Return the plain estimator that ``fit`` would make of rows in memory, to the last bit.

        Virtual shards take turns in this process: to see what a number of shards costs before
        there is a cluster. ``n_shards`` must be given; nothing of this estimator changes.

        Parameters
        ----------
        X, y : as the plain estimators take them
        """
        plain, plan = self._checked()
        if self.n_shards is None:
            raise InputError("There are no workers to count here: give n_shards.")
        rows, y = check_rows(plain, X, y, reset=True)
        classes, counts = np.unique(y, return_counts=True)
        check_classes(classes, len(y), None)
        by_class = class_weights(self.class_weight, classes.tolist(), counts)
        weight = None if by_class is None else by_class[np.searchsorted(classes, y)]
        state, outcome = simulate(
            Examples(rows, encode(y, classes), weight),
            len(classes),
            int(self.n_shards),
            plan.learner.plan(),
            averaged=plan.learner.averaged,
            uncertain=plan.learner.second_order,
            mixing=self.mixing,
            shuffled=self.shuffle_shards,
            seed=plan.learner.random_state,
            observers=self.observers or (),
        )
        name = type(plain).__name__
        model = Model.empty(LearnerRecord(name, {}), classes, Weights(state))
        model.record.note(outcome)
        plain._model = model  # noqa: SLF001  # ours
        return plain

    def predict(self, X: Any) -> Any:
        """Return the label of each row: lazily for a Dask collection, at once for anything else."""
        return predictions(X, self.to_local(), "predict")

    def decision_function(self, X: Any) -> Any:
        """Return the activation of each row: lazily for a Dask collection, else at once."""
        return predictions(X, self.to_local(), "decision_function")

    def to_local(self) -> OnlineClassifier:
        """Return the plain estimator with these weights; it needs no cluster."""
        if "_local" not in self.__dict__:
            msg = f"This {type(self).__name__} is not fitted yet: call fit or fit_files first."
            raise NotFittedError(msg)
        return self._local

    def save(self, path: Source) -> None:
        """Write the ordinary model file; see ``rosenblatt.save``."""
        save(self.to_local(), path)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the fitted estimator behind."""
        local = self.__dict__.get("_local")
        if local is None or not name.endswith("_") or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(local, name)

    def __sklearn_is_fitted__(self) -> bool:
        return "_local" in self.__dict__

    def _checked(self) -> tuple[OnlineClassifier, ClusterPlan]:
        """Return the plain estimator of these parameters, which have been checked, and the plan."""
        given = self.get_params(deep=False)
        own = {name: given.pop(name) for name in CLUSTER_CHECKS}
        check_parameters(type(self).__name__, own, CLUSTER_CHECKS)
        check_parameters(type(self).__name__, given)
        plain = self._plain_class(**given)
        seed = seed_from(self.random_state)
        learner = replace(plain._learner(), random_state=seed)  # noqa: SLF001  # ours
        return plain, ClusterPlan(
            learner,
            self.n_shards,
            self.mixing,
            shuffled=self.shuffle_shards,
            checkpoint=None if self.checkpoint is None else str(self.checkpoint),
        )

    def _client(self) -> "Client":
        try:
            from distributed import default_client

            return default_client(self.client)
        except ModuleNotFoundError as error:
            msg = f"Training on a cluster needs Dask: {installing('dask')}"
            raise ModuleNotFoundError(msg, name=error.name) from None
        except ValueError:
            raise InputError(
                "There is no Dask client: give client=Client(...), or train inside "
                "'with rosenblatt.distributed.local_client(n_workers)'."
            ) from None

    def _train(
        self, plain: OnlineClassifier, client: "Client", collected: ClusterRows, plan: ClusterPlan
    ) -> ClusterOutcome:
        """Train the plain estimator on what has been collected, and keep it."""
        classes, counts = collected.classes.tolist(), collected.class_counts
        fitted = fit_cluster(
            client,
            collected,
            replace(plan, class_weight=class_weights(self.class_weight, classes, counts)),
            tell=lambda told: warn_caller(told, ShardWarning),
            observers=self.observers or (),
            progress=ShardBar if self.verbose else None,
        )
        made_by = LearnerRecord(type(plain).__name__, {})
        plain._model = replace(fitted.model, made_by=made_by)  # noqa: SLF001  # ours
        plain.n_features_in_ = collected.n_features
        self._local, self.n_wrong_, self.verdict_ = plain, fitted.n_wrong, fitted.verdict
        if plan.checkpoint is not None and fitted.outcome.stop_reason not in ENDED_EARLY:
            Path(plan.checkpoint).unlink(missing_ok=True)
        learner, n_wrong = plan.learner, fitted.n_wrong
        last_decide = not (learner.averaged or learner.second_order or self.early_stopping)
        held = (lambda: n_wrong) if last_decide else None
        told = advice(fitted.outcome, collected.n_features, held)
        if told is not None:
            warnings.warn(f"{type(self).__name__} {told}", ConvergenceWarning, stacklevel=3)
        return fitted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _is_client(value: Any) -> bool:
    from distributed import Client

    return isinstance(value, Client)


def seed_from(random_state: Any) -> int:
    """Return the number from which the orders of all epochs and shards follow."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if random_state is None or isinstance(random_state, np.random.Generator):
        return int(np.random.default_rng(random_state).integers(2**63))
    return int(random_state)


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

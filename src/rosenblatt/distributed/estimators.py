"""What the classifiers on a cluster share: fit, lazy predictions, the plain estimator behind."""

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
    agree,
    answers,
    blocks_of,
    feature_names,
    settle_block,
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
from rosenblatt.estimators.scikit import BaseEstimator, ClassifierMixin
from rosenblatt.estimators.storage import save
from rosenblatt.estimators.validation import check_classes, check_rows
from rosenblatt.models.file import Source
from rosenblatt.models.model import Model
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
        classes, counts = agree(surveys)
        check_classification_targets(classes)
        parts = client.map(settle_block, blocks, classes=classes, pure=False)
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
        plain._model = Model.fitted(name, {}, classes, state, outcome)  # noqa: SLF001  # ours
        return plain

    def predict(self, X: Any) -> Any:
        """Return the label of each row: lazily for a Dask collection, at once for anything else."""
        return answers(X, self.to_local(), "predict")

    def decision_function(self, X: Any) -> Any:
        """Return the activation of each row: lazily for a Dask collection, else at once."""
        return answers(X, self.to_local(), "decision_function")

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
        own = {name: given.pop(name) for name in CLUSTER_CHECKS if name in given}
        name = type(self).__name__
        check_parameters(name, own, CLUSTER_CHECKS)
        check_parameters(name, given)
        plain = self._plain_class(**given)
        seed = seed_from(self.random_state)
        learner = replace(plain._learner(), random_state=seed)  # noqa: SLF001  # ours
        kept = None if self.checkpoint is None else str(self.checkpoint)
        shuffled = self.shuffle_shards
        return plain, ClusterPlan(
            learner, self.n_shards, self.mixing, shuffled=shuffled, checkpoint=kept
        )

    def _client(self) -> "Client":
        try:
            from distributed import default_client

            return default_client(self.client)
        except ModuleNotFoundError as error:
            msg = "Training on a cluster needs Dask: pip install 'rosenblatt[dask]'"
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
        name = type(plain).__name__
        plain._model = replace(fitted.model, learner=name, options={})  # noqa: SLF001  # ours
        plain.n_features_in_ = collected.n_features
        self._local, self.n_wrong_, self.verdict_ = plain, fitted.n_wrong, fitted.verdict
        if plan.checkpoint is not None and fitted.outcome.stop_reason not in ENDED_EARLY:
            Path(plan.checkpoint).unlink(missing_ok=True)
        learner = plan.learner
        last_decide = not (learner.averaged or learner.second_order or self.early_stopping)
        n_wrong = fitted.n_wrong
        told = advice(fitted.outcome, (lambda: n_wrong) if last_decide else None)
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

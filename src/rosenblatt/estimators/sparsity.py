"""Sparser models: drop the features that decide least, and say what it costs."""

import copy
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rosenblatt.errors import InputError
from rosenblatt.estimators.base import OnlineClassifier
from rosenblatt.estimators.files import LEARNERS
from rosenblatt.estimators.stored import parameters_of, restore, told
from rosenblatt.estimators.validation import check_rows
from rosenblatt.estimators.voted import VotedPerceptron
from rosenblatt.kernels.spread import feature_moments
from rosenblatt.models.model import Model
from rosenblatt.training.state import State

EFFECT, WEIGHT = "weight × deviation", "weight"


class Moments(NamedTuple):
    """Mean and standard deviation of each feature, as far as they are known."""

    mean: NDArray[Any] | None
    deviation: NDArray[Any] | None


@dataclass(frozen=True)
class Sparsified:
    """A sparser model, and what it costs."""

    model: Any  # of the kind that was given, changed in a copy
    dropped: NDArray[Any]  # the numbers of the features that were dropped, the weakest first
    n_left: int  # features that still have a weight other than 0
    by: str  # "weight × deviation", or "weight" where no deviation is known
    n_rows: int = 0  # rows that the errors are of
    error_before: float | None = None  # share of the rows given that are predicted wrongly
    error_after: float | None = None

    def __str__(self) -> str:
        n_used = len(self.dropped) + self.n_left
        said = f"Dropped {len(self.dropped)} of {n_used} features, the weakest by {self.by}."
        if self.error_before is None or self.error_after is None:
            return f"{said} Give rows and labels to see what it costs."
        before, after = (f"{100 * error:.2f} %" for error in (self.error_before, self.error_after))
        return f"{said}\nError on {self.n_rows} rows: {before} before, {after} after."


def sparsify(model: Any, k: int, X: Any = None, y: Any = None) -> Sparsified:
    """Return the model without its k weakest features, and what that costs.

    The strength of a feature is how far its weight can move a decision: |weight| × deviation, where
    between K classes the weight is the largest difference of any two. The deviation is that of X,
    or the one that a stored model knows. Features whose weight is 0 are not counted among the k.
    With X, what a dropped feature did on average goes into the bias.

    Parameters
    ----------
    model : fitted estimator or stored Model
        It is not changed.
    k : int
        How many features to drop, at least 0.
    X, y : rows and their labels, default None
        To measure deviations and errors on; better not those of training.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.estimators.sparsity import sparsify
    >>> X = [[0, 0, 1], [0, 1, 0], [2, 0, 0], [2, 1, 1], [2, 1, 0]]
    >>> y = [0, 0, 1, 1, 1]
    >>> sparser = sparsify(Perceptron(shuffle=False).fit(X, y), 1, X, y)
    >>> sparser.dropped, sparser.model.coef_
    (array([1]), array([[ 2.,  0., -1.]]))
    >>> print(sparser)
    Dropped 1 of 3 features, the weakest by weight × deviation.
    Error on 5 rows: 0.00 % before, 0.00 % after.
    """
    if not _is_count(k):
        msg = f"The number of features to drop must be an integer of at least 0; got {k!r}."
        raise InputError(msg)
    if (X is None) != (y is None):
        msg = "sparsify needs X and y, or neither; got one of them."
        raise InputError(msg)
    estimator = _estimator(model)
    state = estimator._state  # noqa: SLF001  # ours
    moments = _moments(estimator, model, X, y)
    weights = state.by_class(state.weights).copy()
    ledger = None if state.ledger is None else state.by_class(state.ledger).copy()
    deciding = state.by_class(state.average())
    dropped = _weakest(deciding[:, :-1], moments.deviation, int(k))
    for part in (weights, ledger):
        if part is None:
            continue
        if moments.mean is not None and estimator.fit_intercept:
            part[:, -1] += part[:, dropped] @ moments.mean[dropped]
        part[:, dropped] = 0.0
    sparser = _with_weights(estimator, weights, ledger)
    before = after = None
    if y is not None:
        before, after = (
            float(np.mean(e.predict(X) != np.asarray(y))) for e in (estimator, sparser)
        )
    result = sparser
    if isinstance(model, Model):  # probabilities were fitted to other scores
        result = replace(model, weights=weights, ledger=ledger, calibration=None)
    return Sparsified(
        model=result,
        dropped=dropped,
        n_left=int(np.count_nonzero(deciding[:, :-1].any(axis=0))) - len(dropped),
        by=WEIGHT if moments.deviation is None else EFFECT,
        n_rows=0 if y is None else len(y),
        error_before=before,
        error_after=after,
    )


def _is_count(value: Any) -> bool:
    whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    return whole and bool(value >= 0)


def _estimator(model: Any) -> Any:
    """Return the estimator of a stored model, or the one that was given."""
    if isinstance(model, Model) and model.learner in LEARNERS:
        kind = LEARNERS[model.learner]
        estimator = kind(**parameters_of(kind, model.options))
        restore(estimator, model)
        model = estimator
    if isinstance(model, VotedPerceptron):
        msg = (
            "sparsify drops features of one weight vector, and a VotedPerceptron decides by many: "
            "fit an AveragedPerceptron for it."
        )
        raise InputError(msg)
    if not isinstance(model, OnlineClassifier):
        msg = f"sparsify takes a fitted classifier of rosenblatt or a Model; got {told(model)}."
        raise InputError(msg)
    check_is_fitted(model)
    return model


def _moments(estimator: Any, model: Any, X: Any, y: Any) -> Moments:
    """Return the moments of X, else what is known of those of training."""
    if X is None:
        spread = model.spread if isinstance(model, Model) else None
        return Moments(None, None if spread is None else np.asarray(spread.deviation))
    rows, _ = check_rows(estimator, X, reset=False)
    if np.shape(y) != (rows.shape[0],):
        msg = f"y must hold one label a row, {rows.shape[0]} in all; got shape {np.shape(y)}."
        raise InputError(msg)
    return Moments(*feature_moments(rows))


def _weakest(w: NDArray[Any], deviation: NDArray[Any] | None, k: int) -> NDArray[Any]:
    """Return the k weakest of the features that have a weight, the weakest first."""
    used = np.flatnonzero(w.any(axis=0))
    strength = np.abs(w[0]) if len(w) == 1 else w.max(axis=0) - w.min(axis=0)
    if deviation is not None:
        strength = strength * deviation
    return used[np.argsort(strength[used], kind="stable")[:k]]


def _with_weights(estimator: Any, weights: NDArray[Any], ledger: NDArray[Any] | None) -> Any:
    """Return a copy of the estimator with other weights, given by class."""
    sparser, state = copy.copy(estimator), estimator._state  # noqa: SLF001  # ours
    if state.n_classes == 2:
        weights, ledger = weights[0], None if ledger is None else ledger[0]
    sparser._state = State(weights, ledger, state.n_classes, state.count)  # noqa: SLF001
    loaded = getattr(estimator, "_loaded", None)
    if loaded is not None:
        parts = loaded.parts | {"calibration": None}
        sparser._loaded = replace(loaded, parts=parts)  # noqa: SLF001
    return sparser

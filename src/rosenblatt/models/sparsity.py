"""Sparser models: drop the features that decide least, and say what it costs."""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.spread import feature_moments
from rosenblatt.models.model import Model, model_of
from rosenblatt.models.rows import input_rows
from rosenblatt.parameters import is_flag
from rosenblatt.training.examples import check_count

EFFECT, WEIGHT = "weight × deviation", "weight"


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

    The strength of a feature is how far its weight can move a decision: ``|weight| × deviation``,
    where between K classes the weight is the largest difference of any two. The deviation is that
    of X, or the one that a stored model knows. Features whose weight is 0 are not counted among
    the k. With X, what a dropped feature did on average goes into the bias.

    Parameters
    ----------
    model : fitted estimator or Model, which is not changed
    k : int of at least 0, how many features to drop
    X, y : rows and their labels, default None
        To measure deviations and errors on; better not those of training.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.models.sparsity import sparsify
    >>> X = [[0, 0, 1], [0, 1, 0], [2, 0, 0], [2, 1, 1], [2, 1, 0]]
    >>> y = [0, 0, 1, 1, 1]
    >>> sparser = sparsify(Perceptron(shuffle=False).fit(X, y), 1, X, y)
    >>> sparser.dropped, sparser.model.coef_
    (array([1]), array([[ 2.,  0., -1.]]))
    >>> print(sparser)
    Dropped 1 of 3 features, the weakest by weight × deviation.
    Error on 5 rows: 0.00 % before, 0.00 % after.
    """
    count: Any = k
    if not isinstance(count, Integral) or is_flag(count) or k < 0:
        msg = f"The number of features to drop must be an integer of at least 0; got {k!r}."
        raise InputError(msg)
    if (X is None) != (y is None):
        raise InputError("sparsify needs X and y, or neither; got one of them.")
    known = model_of(model)
    if known.voted:
        msg = "sparsify needs one weight vector; a VotedPerceptron decides by many: average them."
        raise InputError(msg)
    deciding = known.deciding_weights
    mean, deviation = None, None if known.spread is None else np.asarray(known.spread.deviation)
    if X is not None:
        rows = input_rows(known, X)
        check_count(np.asarray(y), rows.n_rows)
        mean, deviation = feature_moments(rows.csr(known.n_features, known.constant))
    dropped = _weakest(deciding[:, :-1], deviation, int(k))
    sparser: Any = _without(known, dropped, mean)
    if not isinstance(model, Model):
        sparser = model._with_model(sparser)  # noqa: SLF001  # ours
    before = after = None
    if y is not None:
        before, after = (float(np.mean(m.predict(X) != np.asarray(y))) for m in (model, sparser))
    n_left = int(np.count_nonzero(deciding[:, :-1].any(axis=0))) - len(dropped)
    by = WEIGHT if deviation is None else EFFECT
    return Sparsified(sparser, dropped, n_left, by, 0 if y is None else len(y), before, after)


def _without(model: Model, dropped: NDArray[Any], mean: NDArray[Any] | None) -> Model:
    """Return a model without some features, whose means go into the bias."""
    parts: dict[str, Any] = {"weights": model.weights.copy()}
    if model.ledger is not None:
        parts["ledger"] = model.ledger.copy()
    for part in parts.values():
        if mean is not None and model.constant:
            part[:, -1] += part[:, dropped] @ mean[dropped]
        part[:, dropped] = 0.0
    return replace(model, **parts, calibration=None)  # which was fitted to other scores


def _weakest(w: NDArray[Any], deviation: NDArray[Any] | None, k: int) -> NDArray[Any]:
    """Return the k weakest of the features that have a weight, the weakest first."""
    used = np.flatnonzero(w.any(axis=0))
    strength = np.abs(w[0]) if len(w) == 1 else w.max(axis=0) - w.min(axis=0)
    if deviation is not None:
        strength = strength * deviation
    return used[np.argsort(strength[used], kind="stable")[:k]]

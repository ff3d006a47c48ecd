"""Smaller models: drop the features that decide least, and say what it costs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from io import BytesIO
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding import encoding_from
from rosenblatt.errors import InputError
from rosenblatt.kernels.spread import feature_moments
from rosenblatt.models.file import write_to
from rosenblatt.models.file_rows import StoredEncoding
from rosenblatt.models.guarantee import guarantee_arrays
from rosenblatt.models.model import SPREAD_PARTS, Model, model_of
from rosenblatt.models.rows import input_rows
from rosenblatt.parameters import is_flag
from rosenblatt.tasks.label_sets import SIGMOIDS
from rosenblatt.tasks.label_thresholds import THRESHOLDS
from rosenblatt.wording import size_text

MOST_TRIALS = 12  # sizes that are looked at
NEAR = 0.97  # of the size that is asked for, and good enough
EFFECT, WEIGHT = "weight × deviation", "weight"


@dataclass(frozen=True)
class Pruned:
    """A smaller model, and what it costs."""

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


def prune(model: Any, k: int, X: Any = None, y: Any = None) -> Pruned:
    """Return the model without its k weakest features, and what that costs.

    The strength of a feature is how far its weight can move a decision: ``|weight| × deviation``,
    where between K classes the weight is the largest difference of any two. The deviation is that
    of X, or the one that a stored model knows. Features whose weight is 0 are not counted among
    the k. With X, what a dropped feature did on average goes into the bias.

    Parameters
    ----------
    model : fitted estimator or Model, which is not changed
    k : int of at least 0, how many features to drop
    X, y : rows and their labels (an indicator where a row may have several), default None
        To measure deviations and errors on; better not those of training.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.models.pruning import prune
    >>> X = [[0, 0, 1], [0, 1, 0], [2, 0, 0], [2, 1, 1], [2, 1, 0]]
    >>> y = [0, 0, 1, 1, 1]
    >>> sparser = prune(Perceptron(shuffle=False).fit(X, y), 1, X, y)
    >>> sparser.dropped, sparser.model.coef_
    (array([2]), array([[ 2., -1.,  0.]]))
    >>> print(sparser)
    Dropped 1 of 3 features, the weakest by weight × deviation.
    Error on 5 rows: 0.00 % before, 0.00 % after.
    """
    count: Any = k
    if not isinstance(count, Integral) or is_flag(count) or k < 0:
        msg = f"The number of features to drop must be an integer of at least 0; got {k!r}."
        raise InputError(msg)
    if (X is None) != (y is None):
        raise InputError("prune needs X and y, or neither; got one of them.")
    known = model_of(model)
    if known.by_vote:
        msg = "prune needs one weight vector; a VotedPerceptron decides by many: average them."
        raise InputError(msg)
    deciding = known.deciding_weights
    mean, deviation = None, None if known.spread is None else np.asarray(known.spread.deviation)
    if X is not None:
        rows = input_rows(known, X)
        known.task.check_labels(np.asarray(y), rows.n_rows)
        mean, deviation = feature_moments(rows.csr(known.n_features, known.constant))
    dropped = _weakest(deciding[:, :-1], deviation, int(k), apart=not known.task.contrasts)
    sparser: Any = _without(known, dropped, mean)
    if not isinstance(model, Model):
        sparser = model._with_model(sparser)  # noqa: SLF001  # ours
    before = after = None
    if y is not None:
        before, after = (_error(m, X, np.asarray(y)) for m in (model, sparser))
    n_left = int(np.count_nonzero(deciding[:, :-1].any(axis=0))) - len(dropped)
    by = WEIGHT if deviation is None else EFFECT
    return Pruned(sparser, dropped, n_left, by, 0 if y is None else len(y), before, after)


def _error(model: Any, X: Any, y: NDArray[Any]) -> float:
    """Return the share of wrong rows; of those with several labels, of rows not exactly right."""
    predicted = model.form_of_y(X) if isinstance(model, Model) else model.predict(X)
    if predicted.shape != y.shape:
        msg = f"y must be an indicator of shape {predicted.shape}; got one of shape {y.shape}."
        raise InputError(msg)
    wrong = predicted != y
    return float(np.mean(wrong.any(axis=1) if wrong.ndim == 2 else wrong))


def pruned_to_size(model: Model, max_size: int) -> tuple[Model, int, int]:
    """Return a model whose file has at most ``max_size`` bytes, its size, and how many it dropped.

    The strongest features stay, with what is needed to learn on. Terms of texts that are dropped
    are forgotten; of other features the weights become 0. InputError says how small it can become.
    """
    others = model.arrays.keys() - guarantee_arrays(model).keys() - {THRESHOLDS, SIGMOIDS}
    if not model.is_linear or model.mistakes is not None or others:
        raise InputError("prune needs a model of weights that keeps no list of mistakes.")
    size = file_size(model)
    if size <= max_size:
        return model, size, 0
    deviation = None if model.spread is None else np.array(model.spread.deviation, np.float64)
    if deviation is not None:  # rows that were not measured may have the others
        deviation[deviation == 0.0] = deviation[deviation > 0.0].min(initial=1.0)
    weights, n = model.deciding_weights[:, :-1], model.n_features
    order = _weakest(weights, deviation, n, apart=not model.task.contrasts)
    unused = np.setdiff1d(np.arange(model.n_features), order)
    order = np.concatenate([unused, order])
    least = _forgetting(model, order)
    smallest = file_size(least)
    if smallest > max_size:
        raise InputError(
            f"A file of {size_text(max_size)} is too small: without any feature the model takes "
            f"{size_text(smallest)}, and {size_text(size)} with all."
        )
    ends = (0, size), (len(order), smallest)
    return largest_that_fits(lambda n: _forgetting(model, order[:n]), *ends, least, max_size)


def largest_that_fits(
    without: Callable[[int], Model],
    low: tuple[int, int],
    high: tuple[int, int],
    found: Model,
    max_size: int,
) -> tuple[Model, int, int]:
    """Return the model with most features that is small enough, its size, and what it dropped.

    ``without`` returns it with so many dropped; ``low`` and ``high`` are numbers that are, with the
    sizes then, the second of the model ``found``. Between them the size is nearly linear; where it
    is not, halves are tried.
    """
    slow = 0  # trials in a row that left more than half
    for _ in range(MOST_TRIALS):
        share = 0.5 if slow > 2 else (low[1] - max_size) / max(low[1] - high[1], 1)
        n_dropped = low[0] + int(np.ceil(share * (high[0] - low[0])))
        n_dropped = min(max(n_dropped, low[0] + 1), high[0] - 1)
        if high[0] - low[0] < 2 or high[1] > NEAR * max_size:
            break
        other = without(n_dropped)
        there, wide = (n_dropped, file_size(other)), high[0] - low[0]
        if there[1] <= max_size:
            high, found = there, other
        else:
            low = there
        slow = slow + 1 if 2 * (high[0] - low[0]) > wide else 0
    return found, high[1], high[0]


def _forgetting(model: Model, dropped: NDArray[Any]) -> Model:
    """Return a model without some features; terms of texts are not even known to it."""
    facts = {"features": len(dropped), "of": model.n_features}
    other = _without(model.with_facts({"pruned": facts}), dropped, None)
    if model.encoding is None or model.encoding["kind"] != "table":
        return other
    encoding: Any = encoding_from(model.encoding, model.encoding_arrays)
    gone = np.zeros(model.n_features, bool)
    gone[dropped] = True
    gone &= encoding.text_features()
    encoding = encoding.without(gone)
    parts: dict[str, Any] = {}
    kept = other.state.select(np.flatnonzero(~gone))
    parts["machine"] = replace(other.linear, state=kept)
    if other.spread is not None:
        spread = {name: getattr(other.spread, name)[~gone] for name in SPREAD_PARTS}
        parts["spread"] = replace(other.spread, **spread)
    return replace(other, stored_encoding=StoredEncoding.of(encoding), **parts)


def file_size(model: Model) -> int:
    """Return how many bytes a model takes in a file."""
    file = BytesIO()
    write_to(file, model, deflate=True)
    return file.tell()


def _without(model: Model, dropped: NDArray[Any], mean: NDArray[Any] | None) -> Model:
    """Return a model without some features, whose means go into the bias."""
    parts = model.state.vectors
    for name in parts.keys() - {"variance"}:
        part = parts[name] = parts[name].copy()
        if mean is not None and model.constant:
            part[:, -1] += part[:, dropped] @ mean[dropped]
        part[:, dropped] = 0.0
    of_scores = {*guarantee_arrays(model), SIGMOIDS}  # other ones
    arrays = {name: array for name, array in model.arrays.items() if name not in of_scores}
    machine = model.linear.with_vectors(parts)
    return replace(model, machine=machine, arrays=arrays, calibration=None)


def _weakest(
    w: NDArray[Any], deviation: NDArray[Any] | None, k: int, *, apart: bool = False
) -> NDArray[Any]:
    """Return the k weakest of the features that have a weight, the weakest first.

    Classes are held against each other, vectors that decide ``apart`` against zero.
    """
    used = np.flatnonzero(w.any(axis=0))
    apart = apart or len(w) == 1
    strength = np.abs(w).max(axis=0) if apart else w.max(axis=0) - w.min(axis=0)
    if deviation is not None:
        strength = strength * deviation
    return used[np.argsort(strength[used], kind="stable")[:k]]

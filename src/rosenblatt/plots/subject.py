"""The subject of a picture: rows with classes and feature names, weights of an estimator."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.estimators import Perceptron, VotedPerceptron
from rosenblatt.estimators.validation import check_rows
from rosenblatt.kernels.shapes import matrix_of
from rosenblatt.models.model import model_of
from rosenblatt.theory.labelled_rows import LabelledRows, check_labelled_rows
from rosenblatt.training.examples import known_numbers
from rosenblatt.training.holdout import Division, HoldOut

OTHERWISE = "draw its regions instead"
ASIDE = 0.25  # of the rows, to judge by


@dataclass(frozen=True)
class DrawnRows(LabelledRows):
    """Rows as an array or CSR matrix of float64, with the names of their features."""

    name: Callable[[int], str]  # of a feature, by its number

    @property
    def labels(self) -> NDArray[Any]:
        """The label of each row."""
        return np.asarray(self.classes[self.numbers])

    def divided(self, seed: int) -> Division:
        """Return the division that puts a quarter of the rows aside."""
        alike, generator = np.zeros(self.n_rows), np.random.default_rng(seed)
        return HoldOut.of_classes(alike, ASIDE, generator).between(0, self.n_rows)


def rows_of_data(X: Any, y: Any, feature_names: Sequence[str] | None = None) -> DrawnRows:
    """Return rows of at least two classes."""
    name = feature_namer(X, None, feature_names)
    rows = check_labelled_rows(X, y)
    return DrawnRows(rows.X.astype(np.float64), rows.numbers, rows.classes, name)


def rows_of_estimator(
    estimator: Any, X: Any, y: Any, feature_names: Sequence[str] | None = None
) -> DrawnRows:
    """Return rows with the classes of a fitted estimator; not all of them need occur."""
    check_fitted(estimator)
    if hasattr(estimator, "model_"):
        model_of(estimator).one_class()
    encoding: Any = getattr(estimator, "encoding_", None)
    encodes = encoding is not None and encoding.kind != "svmlight"  # rows come as columns
    name = encoding.name if encodes else feature_namer(X, estimator, feature_names)
    rows, labels = check_rows(estimator if encodes else Perceptron(), X, y, reset=not encodes)
    n_features = int(rows.shape[1])
    expected = n_features if encodes else getattr(estimator, "n_features_in_", n_features)
    if n_features != expected:
        raise InputError(f"X has {n_features} features; the model was trained on {expected}.")
    classes = np.asarray(estimator.classes_)
    numbers = known_numbers(labels, classes)
    return DrawnRows(matrix_of(rows).astype(np.float64), numbers, classes, name)


def check_fitted(estimator: Any) -> None:
    """Raise InputError unless an estimator is fitted."""
    if not hasattr(estimator, "classes_"):
        raise InputError(f"The {type(estimator).__name__} is not fitted; call fit first.")


def check_two_classes(rows: DrawnRows) -> None:
    """Raise InputError unless the rows are of two classes."""
    if len(rows.classes) > 2:
        raise InputError(f"This picture needs two classes; the rows have {len(rows.classes)}.")


def feature_namer(
    X: Any, estimator: Any, feature_names: Sequence[str] | None = None
) -> Callable[[int], str]:
    """Return a function from feature number to name: as passed, of X, of the model, or numbered."""
    names = feature_names
    if names is None:
        names = getattr(X, "columns", None)
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        listed = [str(name) for name in names]
        if X is not None and len(listed) != np.shape(X)[1]:
            msg = f"feature_names has {len(listed)} names for {np.shape(X)[1]} features."
            raise InputError(msg)
        return lambda index: listed[index]
    encoding = getattr(estimator, "encoding_", None)
    return (lambda index: f"feature {index}") if encoding is None else encoding.name


class Linear(NamedTuple):
    """Weights: w (d,) and b a number for two classes; w (K, d) and b (K,) for K."""

    w: NDArray[Any]
    b: Any


def linear_of(estimator: Any) -> Linear | None:
    """Return the weights of a fitted estimator, or None where they do not decide.

    A voted perceptron has the weights of its average; its votes are no linear function.
    """
    if isinstance(estimator, VotedPerceptron):
        return None
    if not (hasattr(estimator, "coef_") and hasattr(estimator, "intercept_")):
        return None
    w = np.asarray(estimator.coef_, np.float64)
    b = np.asarray(estimator.intercept_, np.float64)
    if w.ndim == 1 or len(w) == 1:
        return Linear(w.reshape(-1), float(b.reshape(-1)[0]))
    return Linear(w, np.broadcast_to(b, len(w)))


def two_class_weights(estimator: Any) -> Linear:
    """Return the weights of a linear estimator of two classes."""
    name = type(estimator).__name__
    weights = linear_of(estimator)
    if weights is None:
        raise InputError(f"{name} has no weight vector that decides; {OTHERWISE}.")
    if weights.w.ndim > 1:
        raise InputError(
            f"This picture shows one weight vector; {name} has {len(weights.w)}, one per class. "
            f"Use two classes, or {OTHERWISE}."
        )
    return weights


def unit(w: NDArray[Any], b: float) -> tuple[NDArray[Any], float] | None:
    """Return (w, b) divided by ‖w‖; None where w is 0, or so small beside b that it might be."""
    length = hypot(*w)
    if length == 0 or not np.isfinite(b / length):
        return None
    return w / length, b / length

"""Rows to be drawn: checked, with the numbers of their classes and the names of their features."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.estimators import Perceptron
from rosenblatt.estimators.validation import check_rows
from rosenblatt.kernels.shapes import matrix_of
from rosenblatt.theory.labelled_rows import check_labelled_rows
from rosenblatt.training.labels import numbers_of


@dataclass(frozen=True)
class DrawnRows:
    """Rows as an array or CSR matrix of float64, and what is written beside them."""

    X: Any
    numbers: NDArray[Any]  # of the class of each row
    classes: tuple[Any, ...]
    name: Callable[[int], str]  # of a feature, by its number

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def sides(self) -> NDArray[Any]:
        """−1.0 for the first of two classes and +1.0 for the second."""
        return 2.0 * self.numbers - 1.0

    @property
    def labels(self) -> NDArray[Any]:
        """The label of each row."""
        labels: NDArray[Any] = np.array(self.classes)[self.numbers]
        return labels


def rows_of_data(X: Any, y: Any, feature_names: Sequence[str] | None = None) -> DrawnRows:
    """Return rows of at least two classes."""
    name = feature_namer(X, None, feature_names)
    rows = check_labelled_rows(X, y)
    classes = tuple(rows.classes.tolist())
    return DrawnRows(rows.X.astype(np.float64), rows.numbers, classes, name)


def rows_of_estimator(
    estimator: Any, X: Any, y: Any, feature_names: Sequence[str] | None = None
) -> DrawnRows:
    """Return rows with the classes of a fitted estimator, of which not all need be there."""
    if not hasattr(estimator, "classes_"):
        msg = f"The {type(estimator).__name__} is not fitted: fit it before it is drawn."
        raise InputError(msg)
    name = feature_namer(X, estimator, feature_names)
    rows, labels = check_rows(Perceptron(), X, y, reset=True)
    n_features = int(rows.shape[1])
    expected = getattr(estimator, "n_features_in_", n_features)
    if n_features != expected:
        msg = f"X has {n_features} features; the model was trained on {expected}."
        raise InputError(msg)
    classes = np.asarray(estimator.classes_)
    strange = np.setdiff1d(labels, classes)
    if len(strange):
        msg = (
            f"The label {strange.tolist()[0]!r} in y is none of the model's classes, "
            f"{classes.tolist()}."
        )
        raise InputError(msg)
    numbers = numbers_of(labels, classes)
    return DrawnRows(matrix_of(rows).astype(np.float64), numbers, tuple(classes.tolist()), name)


def feature_namer(
    X: Any, estimator: Any, feature_names: Sequence[str] | None = None
) -> Callable[[int], str]:
    """Return what names a feature: given names, the columns, those of the model, its number."""
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
    if encoding is not None:
        name: Callable[[int], str] = encoding.name
        return name
    return lambda index: f"feature {index}"

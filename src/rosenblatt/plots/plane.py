"""The plane that a picture shows: two features, or two directions through many.

A point (s, t) of the plane is the row origin + s·e₁ + t·e₂. Weights (w, b) are there what they are
on those rows: (e₁·w, e₂·w) and the bias w·origin + b, so that the line is where the boundary really
meets the plane.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.errors import InputError, Parameter
from rosenblatt.plots.subject import DrawnRows, rows_of_data

PlaneName = Literal["pca", "weights"]
PLANES: tuple[PlaneName, ...] = ("pca", "weights")
Features = Sequence[int | str]

MOST_NAMES = 8  # of features, in an error
MOST_DENSE = 4_000_000  # values that are decomposed as an array


@dataclass(frozen=True)
class Plane:
    """Two perpendicular directions of length 1 through a point."""

    origin: NDArray[Any]  # (n_features,)
    axes: NDArray[Any]  # (2, n_features)
    labels: tuple[str, str]
    note: str = ""  # what the reader of the picture has to know of it
    true_origin: bool = True  # whether (0, 0) stands for zeros in the drawn directions

    def points(self, X: Any) -> NDArray[Any]:
        """Return where rows fall in the plane, (n_rows, 2)."""
        return np.asarray(X @ self.axes.T - self.axes @ self.origin)

    def rows(self, points: NDArray[Any]) -> NDArray[Any]:
        """Return the rows that points of the plane stand for."""
        return np.asarray(self.origin + points @ self.axes)

    def weights(self, w: NDArray[Any], b: Any) -> tuple[NDArray[Any], Any]:
        """Return weights in the plane; of several classes, (K, d) and (K,), those of each."""
        return np.asarray(w @ self.axes.T), w @ self.origin + b


def plane_of(
    rows: DrawnRows,
    features: Features | None = None,
    plane: str | None = None,
    w: NDArray[Any] | None = None,
) -> Plane:
    """Return the plane that is asked for.

    The default of more than two features is that of the weights, if they are given, are one vector
    and not all 0, and the direction in which the rows vary most beside them; else the leading one.
    """
    d = rows.n_features
    if plane is not None and plane not in PLANES:
        raise InputError(f"plane must be 'pca' or 'weights'; got {plane!r}.")
    if plane is not None and features is not None:
        raise InputError(f"{Parameter('features')} and {Parameter('plane')} exclude each other.")
    if not d:
        raise InputError("A picture of the plane needs a feature; the rows have none.")
    if d == 1:
        axes = np.array([[1.0], [0.0]])
        return Plane(np.zeros(1), axes, (rows.name(0), ""), "one feature, along a line")
    one = w is not None and w.ndim == 1 and w.any()
    if features is None and plane is None and d > 2 and one:
        plane = "weights"
    if features is not None or (d == 2 and plane is None):
        return _of_features(rows, (0, 1) if features is None else features)
    if plane == "weights":
        if w is None or not one:
            raise InputError(
                f"{Parameter('plane', 'weights')} needs one nonzero weight vector; use "
                f"{Parameter('plane', 'pca')}, or name two features with {Parameter('features')}."
            )
        unit = w / np.linalg.norm(w)
        # Sparse rows stay as they are: without their part along w they would be full.
        beside = rows.X if sparse.issparse(rows.X) else rows.X - np.outer(rows.X @ unit, unit)
        rest, _ = _leading(beside)
        second = rest[0] - (rest[0] @ unit) * unit
        labels = ("projection onto w, x·w/‖w‖", "leading direction perpendicular to w")
        return plane_through(unit, second, labels, f"the plane of w and one more of {d} directions")
    axes, shares = _leading(rows.X)
    labels = (f"direction 1 ({shares[0]:.0%} of the variance)", f"direction 2 ({shares[1]:.0%})")
    mean = np.asarray(rows.X.mean(axis=0)).reshape(-1)
    note = f"a slice along the two leading directions of {d} features"
    return Plane(mean, axes, labels, note, true_origin=False)


def plane_through(u: NDArray[Any], v: NDArray[Any], labels: tuple[str, str], note: str) -> Plane:
    """Return the plane of two directions through zero, the first of them along its first axis."""
    first = u / np.linalg.norm(u)
    rest = v - (v @ first) * first
    if not np.linalg.norm(rest) > 1e-9 * np.linalg.norm(v):  # along u, or 0: any other will do
        rest = np.zeros(len(u))
        rest[int(np.argmin(np.abs(first)))] = 1.0
        rest -= (rest @ first) * first
    axes = np.stack([first, rest / np.linalg.norm(rest)])
    return Plane(np.zeros(len(u)), axes, labels, note)


def named_features(
    X: Any, y: Any, names: Sequence[str] | None, features: Features
) -> tuple[list[int], list[str]]:
    """Return the numbers of two features and their names."""
    rows = rows_of_data(X, y, names)
    pair = _feature_numbers(rows, features)
    return pair, [rows.name(k) for k in pair]


def _feature_numbers(rows: DrawnRows, features: Features) -> list[int]:
    if len(features) != 2:
        got = list(features)
        raise InputError(f"{Parameter('features')} must be two names or numbers; got {got!r}.")
    i, j = (_feature_number(rows, feature) for feature in features)
    if i == j:
        twice = f"The two features to draw must differ; got {rows.name(i)!r} twice."
        raise InputError(twice)
    return [i, j]


def _of_features(rows: DrawnRows, features: Features) -> Plane:
    i, j = _feature_numbers(rows, features)
    d = rows.n_features
    axes = np.zeros((2, d))
    axes[0, i] = axes[1, j] = 1.0
    origin = np.asarray(rows.X.mean(axis=0)).reshape(-1)
    origin[[i, j]] = 0.0
    others = "the other feature" if d == 3 else f"the other {d - 2} features"
    note = f"{others} at the mean" if d > 2 else ""
    return Plane(origin, axes, (rows.name(i), rows.name(j)), note)


def _feature_number(rows: DrawnRows, feature: int | str) -> int:
    """Return the number of a feature, which may be given by name."""
    d = rows.n_features
    if isinstance(feature, str):
        found = next((k for k in range(d) if rows.name(k) == feature), None)
        if found is not None:
            return found
        if not feature.isdecimal():
            first = ", ".join(repr(rows.name(k)) for k in range(min(MOST_NAMES, d)))
            raise InputError(f"There is no feature {feature!r}; the first are {first}.")
    number = int(feature)
    if not 0 <= number < d:
        raise InputError(f"Feature {number} does not exist; the rows have features 0 to {d - 1}.")
    return number


def _leading(X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the two directions in which rows vary most, and their shares of the variance."""
    from sklearn.decomposition import PCA

    if sparse.issparse(X) and X.shape[0] * X.shape[1] <= MOST_DENSE:
        X = X.toarray()
    if min(X.shape) < 2:
        return np.eye(2, X.shape[1]), np.zeros(2)
    solver = "arpack" if sparse.issparse(X) else "full"
    scale = float(abs(X).max()) or 1.0  # squares of 1e200 or 1e-200 have no place in float64
    with np.errstate(divide="ignore", invalid="ignore"):  # shares of no variance at all
        found = PCA(2, svd_solver=solver, random_state=0).fit(X / scale)
    return found.components_, np.nan_to_num(found.explained_variance_ratio_)

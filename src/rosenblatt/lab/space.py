"""In which features points are learned: as they are, with conjunctions, or by a kernel."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.rows import Dense
from rosenblatt.lab.document import Document
from rosenblatt.lab.gram import Gram


class Space:
    """The features of a document: rows to learn from, and activations anywhere in the plane."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._mapped = mapped(document.X, document.map)
        self.has_kernel = document.kernel != "none"
        self.is_line = not self.has_kernel and document.map == "none"

    @property
    def names(self) -> tuple[str, ...]:
        """What the weights are called, without the bias; none where a kernel has no features."""
        a, b = self._document.names
        more = {"none": (), "conjunction": (f"{a}·{b}",), "pairs": (f"{a}²", f"{a}·{b}", f"{b}²")}
        return () if self.has_kernel else (a, b, *more[self._document.map])

    def rows(self) -> Dense:
        """Return the points as rows to learn from."""
        if self.has_kernel:
            return Gram(self.products(self._document.X), 0.0)
        return Dense(self._mapped, 1.0)

    def features(self) -> NDArray[Any]:
        """Return coordinates of the points that have their inner products, (n, d).

        For a kernel they come from the eigenvectors of its matrix, which has no negative
        eigenvalue beyond rounding.
        """
        if not self.has_kernel:
            return self._mapped
        values, vectors = np.linalg.eigh(self._kernel(self._mapped, self._mapped))
        kept = values > 1e-12 * max(float(values.max(initial=0.0)), 1e-300)
        return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))

    def products(self, places: NDArray[Any]) -> NDArray[Any]:
        """Return the inner product of each place of the plane with each point, (m, n).

        The constant feature counts in it: 1 is added.
        """
        there = mapped(places, self._document.map)
        if self.has_kernel:
            return self._kernel(there, self._mapped) + 1.0
        return np.asarray(there @ self._mapped.T + 1.0)

    def field(self, places: NDArray[Any]) -> Callable[[NDArray[Any]], NDArray[Any]]:
        """Return what gives the activations of weights, the bias last, at places of the plane."""
        there = self.products(places) if self.has_kernel else mapped(places, self._document.map)
        return lambda weights: np.asarray(there @ weights[:-1] + weights[-1])

    def length(self, weights: NDArray[Any], rows: Dense) -> float:
        """Return ‖w‖ without the bias, by which an activation becomes a distance."""
        w = weights[:-1]
        square = w @ (rows.values - 1.0) @ w if self.has_kernel else w @ w
        return float(np.sqrt(max(square, 0.0)))

    def _kernel(self, A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
        document = self._document
        if document.kernel == "polynomial":
            base = document.gamma * (A @ B.T) + document.coef0
            return np.asarray(base**document.degree)
        square = sum(np.subtract.outer(A[:, j], B[:, j]) ** 2 for j in range(A.shape[1]))
        return np.asarray(np.exp(-document.gamma * square))


def mapped(X: NDArray[Any], name: str) -> NDArray[Any]:
    """Return points with the features of a map beside their own.

    "conjunction" adds x₁·x₂, which is 1 where both indicators are; "pairs" adds every product of
    two coordinates, the squares too.
    """
    a, b = X[:, 0], X[:, 1]
    more = {"none": [], "conjunction": [a * b], "pairs": [a * a, a * b, b * b]}
    return np.ascontiguousarray(np.column_stack([a, b, *more[name]]), np.float64)

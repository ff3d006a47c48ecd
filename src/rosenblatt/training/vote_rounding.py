"""How far prefix sums of products can be from the activations that the definition computes."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.rows import Dense, Rows

EPSILON = float(np.finfo(np.float64).eps)
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
WHOLE = 2.0**52  # a sum of whole numbers, and the difference of two, is exact up to here


class Sizes(NamedTuple):
    """What the rounding of products of some rows depends on."""

    peak: NDArray[Any]  # the largest value of each row without its sign
    total: NDArray[Any]  # Σ of the values of each row without their signs
    whole: bool  # whether all values are whole numbers


def sizes_of(rows: Rows) -> Sizes:
    """Measure rows, the constant feature included."""
    if isinstance(rows, Dense):
        values = np.abs(rows.values, dtype=np.float64)
        with np.errstate(over="ignore"):
            peak, total = values.max(axis=1, initial=0.0), values.sum(axis=1)
    else:
        first, end = int(rows.indptr[0]), int(rows.indptr[-1])
        values = np.abs(rows.data[first:end], dtype=np.float64)
        number = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        peak = np.zeros(rows.shape[0])
        np.maximum.at(peak, number, values)
        total = np.bincount(number, values, rows.shape[0])
    whole = bool((np.floor(values) == values).all())
    return Sizes(np.maximum(peak, rows.constant), total + rows.constant, whole)


class Reach:
    """How large the terms of the activations have been, update by update."""

    def __init__(self) -> None:
        self.n_updates = 0
        self.steps = 0.0  # Σ|τ|
        self.terms = 0.0  # Σ|τ|·‖x‖₁
        self.whole = True

    def extend(self, amounts: NDArray[Any], totals: NDArray[Any], *, whole: bool) -> None:
        """Add updates of these amounts ±τ, by rows of these sums ‖x‖₁."""
        size = np.abs(amounts)
        with np.errstate(over="ignore"):
            self.steps += float(size.sum())
            self.terms += float((size * totals).sum())
        self.n_updates += len(amounts)
        self.whole = self.whole and whole and bool((np.floor(size) == size).all())

    def is_exact(self, rows: Sizes) -> bool:
        """Return whether no product with these rows, no weight and no sum has been rounded."""
        peak = float(rows.peak.max(initial=1.0))
        return self.whole and rows.whole and self.terms * peak < WHOLE

    def error(self, rows: Sizes, n_features: int) -> NDArray[Any]:
        """Bound how far the activations on rows can be from those of the definition.

        A sum of n products in any order is off by at most nu/(1 − nu) times the sum of their sizes,
        u = ε/2 (Higham, *Accuracy and stability of numerical algorithms*, 2002, §3.1). Let S be
        Σ|τᵢ|·⟨|xᵢ|, |x|⟩, at most Σ|τᵢ|‖xᵢ‖₁·‖x‖∞. The definition rounds each term of S up to k
        times in the weights and d + 1 times in their product with x; the prefix sums d + 2 times in
        the product of two rows and k times after it. Both together are within (k + d + 2)·ε·S;
        twice that and more is returned, which covers the rounding of the bound itself. The second
        part is for products below the normal numbers, which lose half of the smallest number each.
        """
        k, d = self.n_updates, n_features + 1
        with np.errstate(over="ignore", invalid="ignore"):
            terms = 2.0 * self.terms * rows.peak  # infinite where any sum could overflow
            lost = 4.0 * SMALLEST * d * (k + self.steps + 1.0) * (1.0 + rows.peak)
            bound: NDArray[Any] = terms * ((k + d + 4) * EPSILON) + lost
        return np.where(np.isnan(bound), np.inf, bound)

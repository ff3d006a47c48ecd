"""Rows that are known by their inner products alone: what a kernel makes of points.

A perceptron is the list of its mistakes, w = Σ τᵢ·yᵢ·φ(xᵢ). Where each training row has one weight,
the sum αᵢ of the steps τᵢ·yᵢ on it, the visits of the trace need no φ: the activation of a row is
Σ αⱼ·k(xⱼ, x), and an update on row i changes αᵢ. Every rule, order, memory and zero convention then
comes as it is.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.rows import Dense


class Gram(Dense):
    """The rows of a symmetric matrix of inner products; its weights are the αᵢ."""

    def dot(self, i: int, w: NDArray[Any]) -> float:
        """Return the activation of row i."""
        return float(np.dot(self.values[i], w[:-1]))

    def sqnorm(self, i: int) -> float:
        """Return ‖φ(x)‖² of row i."""
        return float(self.values[i, i])

    def add(self, i: int, step: float, w: NDArray[Any]) -> None:
        """Change w by step·φ(x) of row i."""
        w[i] += step

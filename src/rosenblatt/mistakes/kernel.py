"""Kernels: functions of two rows in place of their dot product."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.gram import exponents, polynomial
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import variance
from rosenblatt.mistakes.threads import run_in_parts


@dataclass(frozen=True)
class Kernel:
    """A kernel with its numbers; ``constant`` is added to every value, as a bias.

    linear: x·x′; poly: (γ·x·x′ + coef0)^degree; rbf: exp(−γ·‖x − x′‖²); precomputed: the values are
    given; or a symmetric function of two matrices that returns the matrix of values.
    """

    name: str | Callable[[Any, Any], Any]
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1
    constant: float = 0.0

    def of_dots(
        self,
        dots: NDArray[Any],
        left: NDArray[Any] | None,  # ‖x‖² where the kernel needs them
        right: NDArray[Any] | None,
    ) -> NDArray[Any]:
        """Return the values for these dot products, in their place where that is float64."""
        values = dots if dots.dtype == np.float64 else np.empty(dots.shape)
        is_poly = self.name == "poly"  # a linear kernel is a polynomial too
        numbers = (self.gamma, self.coef0, self.degree) if is_poly else (1.0, 0.0, 1)

        def part(begin: int, end: int) -> None:
            with np.errstate(over="ignore", invalid="ignore"):  # noticed in the scores
                if left is not None and right is not None:
                    exponents(dots, left, right, self.gamma, begin, end, values)
                    np.exp(values[begin:end], out=values[begin:end])
                    if self.constant:
                        values[begin:end] += self.constant
                else:
                    polynomial(dots, *numbers, self.constant, begin, end, values)

        run_in_parts(part, len(dots))
        return values

    def of_rows(self, left: Any, right: Any) -> NDArray[Any]:
        """Return the values that a function gives for two matrices, checked."""
        if not callable(self.name):
            raise TypeError(f"The kernel {self.name!r} is not a function of two matrices.")
        shape = left.shape[0], right.shape[0]
        values = np.asarray(self.name(left, right), np.float64, order="C")
        if values.shape != shape:
            raise InputError(
                f"The kernel function must return one value for each pair of rows, shape {shape}; "
                f"got shape {values.shape}."
            )
        if not np.isfinite(values).all():
            msg = "The kernel function returned NaN or an infinity; its values must be finite."
            raise InputError(msg)
        return values + self.constant


def scale_gamma(rows: Rows) -> float:
    """Return 1/(n_features · variance of all values), which is what γ = "scale" means."""
    spread = rows.shape[1] * variance(rows)
    return 1.0 / spread if spread > 0.0 else 1.0

"""AROW: adaptive regularisation of weights, a second-order rule that forgives noise."""

from math import inf, nan
from typing import NamedTuple


class AROW(NamedTuple):
    """Step towards margin 1, the less the surer the weights are; always grow surer.

    Crammer, Kulesza & Dredze, "Adaptive Regularization of Weight Vectors", NIPS 2009, Figure 1.
    See ``confidence_weighted`` for what alpha and beta do.
    """

    r: float = 1.0  # the larger, the slower: how much a single row is trusted

    @property
    def target(self) -> float:
        """Margin 1."""
        return 1.0

    @property
    def stops_by_itself(self) -> bool:
        """It approaches margin 1 by ever smaller steps."""
        return False

    def step(self, margin: float, variance: float) -> tuple[float, float]:
        """Return alpha = max(0, 1 − m)·beta and beta = 1/(v + r); nothing at margin 1."""
        if margin >= 1.0 or variance == 0.0:
            return 0.0, 0.0
        if not variance < inf:
            return nan, nan
        beta = 1.0 / (variance + self.r)
        return (1.0 - margin) * beta, beta

"""Passive-aggressive rules: the smallest step that repairs the hinge loss max(0, 1 − y·a).

The three are the lines of Figure 1 in Crammer, Dekel, Keshet, Shalev-Shwartz & Singer, "Online
Passive-Aggressive Algorithms", JMLR 7 (2006). On class pairs the vector that is added to the
weights is x for the true class and −x for its rival, so its squared length is 2‖x‖²; with that
length in place of ‖x‖² the same lines are MIRA (Crammer & Singer 2003) on one rival.

A row of length zero can't change any activation: the step is 0. A squared length that overflows
makes the step "not a number", which the training loop reports, where 1/inf = 0 would hide it.
"""

from math import inf, nan
from typing import NamedTuple


class PA(NamedTuple):
    """Land exactly on margin 1: tau = ℓ/‖x‖²."""

    target: float = 1.0  # the margin of the hinge loss; 1 in the paper

    @property
    def stops_by_itself(self) -> bool:
        """It approaches margin 1 for ever, by ever smaller steps."""
        return False

    def step(self, margin: float, sqnorm: float) -> float:
        """Return ℓ/‖x‖² with ℓ = max(0, 1 − y·a)."""
        if margin >= self.target or sqnorm == 0.0:
            return 0.0
        return (self.target - margin) / sqnorm if sqnorm < inf else nan


class PA1(NamedTuple):
    """PA-I: as PA, but never more than C: tau = min(C, ℓ/‖x‖²)."""

    C: float = 1.0

    @property
    def target(self) -> float:
        """The margin of the hinge loss."""
        return 1.0

    @property
    def stops_by_itself(self) -> bool:
        """As PA."""
        return False

    def step(self, margin: float, sqnorm: float) -> float:
        """Return min(C, ℓ/‖x‖²) with ℓ = max(0, 1 − y·a)."""
        if margin >= 1.0 or sqnorm == 0.0:
            return 0.0
        tau = (1.0 - margin) / sqnorm if sqnorm < inf else nan
        return min(tau, self.C)


class PA2(NamedTuple):
    """PA-II: softened by C everywhere: tau = ℓ/(‖x‖² + 1/(2C))."""

    C: float = 1.0

    @property
    def target(self) -> float:
        """The margin of the hinge loss."""
        return 1.0

    @property
    def stops_by_itself(self) -> bool:
        """As PA."""
        return False

    def step(self, margin: float, sqnorm: float) -> float:
        """Return ℓ/(‖x‖² + 1/(2C)) with ℓ = max(0, 1 − y·a)."""
        if margin >= 1.0 or sqnorm == 0.0:
            return 0.0
        return (1.0 - margin) / (sqnorm + 0.5 / self.C) if sqnorm < inf else nan

"""Confidence-weighted rules: weights with a variance each, which shrinks as they are confirmed.

A second-order rule keeps a normal distribution of weight vectors, mean w and covariance Σ. Its
step is again a scalar function, of the margin m = y·a and the variance v = xᵀΣx of that margin:
(m, v) → (alpha, beta), and then w ← w + alpha·y·Σx and Σ ← Σ − beta·Σx(Σx)ᵀ.

The confidence η is the required probability that a row is right under that distribution, and
φ = Φ⁻¹(η) its place on the normal curve: a row is right enough where m ≥ φ·√v.

All shrink Σ by β = αφ/(√u + vαφ) with √u = (−αvφ + √(α²v²φ² + 4v))/2 (Crammer, Dredze &
Pereira, NIPS 2008). With g = αvφ that is 2αφ/(g + √(g² + 4v)), where nothing cancels. The formulas
stand in each rule: a step is compiled as it stands, and calls nothing of ours.

The papers let Σ shrink without end. On rows that no weights separate CW then divides ever larger
steps by ever smaller variances, until they leave the range of float64, and rounding makes variances
negative. Here a variance falls to ``LEAST_VARIANCE`` and no further: from there on CW repairs the
margin of a row by the smallest change of w, as PA does. It is so low that squares and ratios of
variances stay far inside the range, and that rows which can be separated, AROW and SCW with a
moderate C do not come near it; until a variance does, all is as in the papers, bit for bit.
"""

from math import inf, nan, sqrt
from typing import NamedTuple

CONFIDENCE = 0.9  # η, where nothing else is said
PHI = 1.2815515655446008  # its φ
LEAST_VARIANCE = 2.0**-200


def phi_of(confidence: float) -> float:
    """Return φ = Φ⁻¹(η) for a confidence η above 1/2.

    >>> round(phi_of(0.975), 2), phi_of(CONFIDENCE) == PHI
    (1.96, True)
    """
    from statistics import NormalDist  # as long to import as five modules of ours

    return NormalDist().inv_cdf(confidence)


PAST_THE_GOAL = (
    "Weights of rows above 1 take cw past the step that makes a row right; where no weights are "
    "right on all rows, rounding then decides some of them. Use weights of at most 1, or scw1, "
    "whose C limits a step."
)


class SCW1(NamedTuple):
    """SCW-I: the smallest change after which the row is right with confidence η, α at most C.

    Wang, Zhao & Hoi (ICML 2012), Proposition 1. With C = ∞ it is CW, whatever the row costs:
    Dredze, Crammer & Pereira (ICML 2008), in the exact convex form with the standard deviation of
    Crammer, Dredze & Pereira (NIPS 2008), Figure 1.
    """

    phi: float = PHI
    C: float = 1.0

    @property
    def target(self) -> float:
        """No margin is enough for every row: what is wanted is φ times its deviation."""
        return inf

    @property
    def stops_by_itself(self) -> bool:
        """It approaches its goal by ever smaller steps."""
        return False

    def step(self, margin: float, variance: float) -> tuple[float, float]:
        """Return alpha = (−mψ + √(m²φ⁴/4 + vφ²ζ))/(vζ), at most C, and beta.

        ψ = 1 + φ²/2 and ζ = 1 + φ².
        """
        if margin >= self.phi * sqrt(variance) or variance == 0.0:
            return 0.0, 0.0
        if not variance < inf:
            return nan, nan
        square = self.phi * self.phi
        root = sqrt(margin * margin * square * square / 4.0 + variance * square * (1.0 + square))
        alpha = (root - margin * (1.0 + square / 2.0)) / (variance * (1.0 + square))
        alpha = min(alpha, self.C)
        g = alpha * variance * self.phi
        return alpha, 2.0 * alpha * self.phi / (g + sqrt(g * g + 4.0 * variance))


class SCW2(NamedTuple):
    """SCW-II: softened by C everywhere (Wang, Zhao & Hoi, ICML 2012, Proposition 2)."""

    phi: float = PHI
    C: float = 1.0

    @property
    def target(self) -> float:
        """No margin is enough for every row: what is wanted is φ times its deviation."""
        return inf

    @property
    def stops_by_itself(self) -> bool:
        """As SCW-I."""
        return False

    def step(self, margin: float, variance: float) -> tuple[float, float]:
        """Return alpha = (γ − m(2n + φ²v))/(2(n² + nvφ²)) with n = v + 1/(2C); and beta.

        γ = φ√(φ²m²v² + 4nv(n + vφ²)).
        """
        if margin >= self.phi * sqrt(variance) or variance == 0.0:
            return 0.0, 0.0
        if not variance < inf:
            return nan, nan
        square = self.phi * self.phi
        n = variance + 0.5 / self.C
        both = n + variance * square
        root = sqrt(square * margin * margin * variance * variance + 4.0 * n * variance * both)
        alpha = (self.phi * root - margin * (2.0 * n + square * variance)) / (2.0 * n * both)
        g = alpha * variance * self.phi
        return alpha, 2.0 * alpha * self.phi / (g + sqrt(g * g + 4.0 * variance))


def cw(confidence: float = CONFIDENCE) -> SCW1:
    """Return CW for a confidence."""
    return SCW1(phi_of(confidence), inf)


def scw1(confidence: float = CONFIDENCE, C: float = 1.0) -> SCW1:
    """Return SCW-I for a confidence."""
    return SCW1(phi_of(confidence), C)


def scw2(confidence: float = CONFIDENCE, C: float = 1.0) -> SCW2:
    """Return SCW-II for a confidence."""
    return SCW2(phi_of(confidence), C)

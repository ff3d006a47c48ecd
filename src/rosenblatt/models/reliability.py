"""How far probabilities can be relied on: what was promised against what came."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

N_BINS = 10


class ReliabilityBin(NamedTuple):
    """Rows of about the same probability."""

    low: float  # probabilities from here
    high: float  # to here
    probability: float  # their mean
    share: float  # of the rows that are of the class
    n_rows: int


class Reliability:
    """Judges probabilities batch by batch, in memory for the bins alone.

    Of two classes the bins are those of the probability of the second one, of more classes those of
    the most probable one. The Brier score is the mean of (p − y)², with y 1 for rows of the second
    class and else 0; of more classes it is the sum over all of them (Brier 1950).

    >>> reliability = Reliability(2)
    >>> reliability.add(np.array([[0.8, 0.2], [0.4, 0.6], [0.3, 0.7]]), np.array([0, 1, 0]))
    >>> f"{reliability.brier_score:.4f} {reliability.log_loss:.4f}"
    '0.2300 0.6460'
    >>> [(f"{one.probability:.1f}", one.share, one.n_rows) for one in reliability.bins]
    [('0.2', 0.0, 1), ('0.6', 1.0, 1), ('0.7', 0.0, 1)]
    """

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self._square = self._log = 0.0
        self._bins = np.zeros((3, N_BINS))  # rows, probabilities, rows of the class

    def add(self, shares: NDArray[Any], numbers: NDArray[Any]) -> None:
        """Count rows with these probabilities, (n, K); those of no known class are left out."""
        known = (numbers >= 0) & (numbers < self.n_classes)
        p, y = shares[known], numbers[known]
        own = p[np.arange(len(y)), y]
        if self.n_classes == 2:
            judged, came = p[:, 1], y == 1
            self._square += float(((1.0 - own) ** 2).sum())
        else:
            guess = p.argmax(axis=1)
            judged, came = p[np.arange(len(y)), guess], guess == y
            self._square += float((p**2).sum() - 2.0 * own.sum() + len(y))
        self._log -= float(np.log(np.maximum(own, np.finfo(float).tiny)).sum())
        place = np.minimum((judged * N_BINS).astype(np.intp), N_BINS - 1)
        self._bins += [np.bincount(place, amounts, N_BINS) for amounts in (None, judged, came)]

    @property
    def n_rows(self) -> int:
        """Rows that were judged."""
        return int(self._bins[0].sum())

    @property
    def brier_score(self) -> float:
        """The mean squared error of the probabilities; 0 is perfect, NaN without rows."""
        return self._mean(self._square)

    @property
    def log_loss(self) -> float:
        """The mean of −ln p of the class that a row has; 0 is perfect, NaN without rows."""
        return self._mean(self._log)

    @property
    def bins(self) -> list[ReliabilityBin]:
        """The bins that have rows, from low to high probabilities."""
        return [
            ReliabilityBin(k / N_BINS, (k + 1) / N_BINS, promised / n, came / n, int(n))
            for k, (n, promised, came) in enumerate(self._bins.T.tolist())
            if n
        ]

    @property
    def calibration_error(self) -> float:
        """The mean distance of promised and true shares, over the rows."""
        return self._mean(sum(abs(one.probability - one.share) * one.n_rows for one in self.bins))

    def _mean(self, total: float) -> float:
        return total / self.n_rows if self.n_rows else math.nan

    def report(self) -> dict[str, Any]:
        """Return everything as what JSON can hold."""
        return {
            "brier_score": self.brier_score,
            "log_loss": self.log_loss,
            "calibration_error": self.calibration_error,
            "bins": [one._asdict() for one in self.bins],
        }

"""Errors against coverage: what is gained where a classifier may abstain."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class CoverageCurve(NamedTuple):
    """One point for each margin that occurs, from the rows that are surest to all of them."""

    coverage: NDArray[Any]  # share of the rows that are answered: those of at least this margin
    error: NDArray[Any]  # share of those that are answered wrongly
    threshold: NDArray[Any]  # the margin

    def thinned(self, parts: int = 100) -> "CoverageCurve":
        """Return the points where the coverage first reaches 1/parts, 2/parts … of the rows."""
        wanted = np.arange(1, parts + 1) / parts
        places = np.unique(np.searchsorted(self.coverage, wanted))
        places = places[places < len(self.coverage)]
        return CoverageCurve(*(column[places] for column in self))


def coverage_curve(margin: ArrayLike, wrong: ArrayLike) -> CoverageCurve:
    """Return how the error falls as more rows, those of the lowest margin first, are abstained on.

    Rows of the same margin enter together, so that their order does not matter.

    >>> curve = coverage_curve([0.9, 0.1, 0.5, 0.1], [False, True, False, False])
    >>> curve.coverage, curve.error, curve.threshold
    (array([0.25, 0.5 , 1.  ]), array([0.  , 0.  , 0.25]), array([0.9, 0.5, 0.1]))
    """
    levels, where = np.unique(-np.asarray(margin, np.float64), return_inverse=True)
    answered = np.cumsum(np.bincount(where, minlength=len(levels)))
    errors = np.cumsum(np.bincount(where, np.asarray(wrong, np.float64), len(levels)))
    n_rows = max(len(where), 1)
    return CoverageCurve(answered / n_rows, errors / np.maximum(answered, 1), -levels)

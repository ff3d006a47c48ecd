"""The kernel perceptron of Freund & Schapire in NumPy, blocked by BLAS, one class against the rest.

What somebody writes who knows NumPy well: products of matrices for whole blocks of rows, a loop in
Python over the rows of a block, and votes by cumulative sums.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 512  # rows at a time; 256 and 1024 were no faster
N_CLASSES = 10


class BlockedPerceptron:
    """One pass over rows with the kernel (1 + x·x′)^degree, and the three ways to predict."""

    def __init__(self, degree: int, dtype: Any) -> None:
        self.degree, self.dtype = degree, dtype

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> "BlockedPerceptron":
        """Make one pass in the order given."""
        X = X.astype(self.dtype)
        signs = np.where(y[:, None] == np.arange(N_CLASSES), 1, -1).astype(self.dtype)
        self.support, coef = np.empty_like(X), np.zeros((len(X), N_CLASSES), self.dtype)
        seen, n = np.empty(len(X), np.int64), 0
        for start in range(0, len(X), BLOCK):
            rows, sides = X[start : start + BLOCK], signs[start : start + BLOCK]
            scores = self._kernel(rows, self.support[:n]) @ coef[:n]
            among = self._kernel(rows, rows)
            for t in range(len(rows)):
                wrong = sides[t] * scores[t] <= 0
                if wrong.any():
                    coef[n] = np.where(wrong, sides[t], 0)
                    self.support[n], seen[n] = rows[t], start + t
                    scores[t + 1 :] += np.outer(among[t, t + 1 :], coef[n])
                    n += 1
        self.support, self.coef, self.seen = self.support[:n], coef[:n], seen[:n]
        self.end = len(X)
        return self

    def decision_functions(self, X: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return the scores of the last vector, the average and the vote."""
        found = {name: np.empty((len(X), N_CLASSES)) for name in ("last", "average", "vote")}
        steps = [np.flatnonzero(self.coef[:, k]) for k in range(N_CLASSES)]
        lasted = [np.diff(self.seen[s], append=self.end).astype(self.dtype) for s in steps]
        for start in range(0, len(X), BLOCK):
            here = slice(start, start + BLOCK)
            gram = self._kernel(self.support, X[here].astype(self.dtype))
            for k, (at, count) in enumerate(zip(steps, lasted, strict=True)):
                prefix = np.cumsum(self.coef[at, k, None] * gram[at], axis=0)
                found["last"][here, k] = prefix[-1]
                found["average"][here, k] = count @ prefix
                found["vote"][here, k] = count @ np.sign(prefix)
        return found

    def _kernel(self, left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
        values = left @ right.T
        values += 1
        return np.asarray(values**self.degree)

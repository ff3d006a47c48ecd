"""Rows to learn from and rows held out."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.kernels.rows import CSR, Dense, Rows
from rosenblatt.training.examples import Examples
from rosenblatt.training.labels import encode


@dataclass(frozen=True)
class Problem:
    """Rows with their targets: −1 and +1 for two classes, class numbers for more."""

    X_train: Any  # array or CSR matrix
    y_train: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]
    n_classes: int

    @classmethod
    def of(cls, X_train: Any, y_train: Any, X_test: Any, y_test: Any) -> "Problem":
        """Return the problem of rows with these labels."""
        classes = np.unique(y_train)
        targets = (encode(np.asarray(y), classes) for y in (y_train, y_test))
        return cls(X_train, next(targets), X_test, next(targets), len(classes))

    def with_fewer_held_out(self, most: int, seed: int) -> "Problem":
        """Return the problem with at most so many held-out rows, drawn by the seed."""
        if len(self.y_test) <= most:
            return self
        drawn = np.random.default_rng(seed).choice(len(self.y_test), most, replace=False)
        return replace(self, X_test=self.X_test[drawn], y_test=self.y_test[drawn])

    @property
    def learned(self) -> Examples:
        """What is learned from, with a bias."""
        return Examples(rows_of(self.X_train), self.y_train)

    @property
    def held_out(self) -> Examples:
        """What the result is judged by."""
        return Examples(rows_of(self.X_test), self.y_test)


def rows_of(X: Any, constant: float = 1.0) -> Rows:
    """Return an array or a CSR matrix as rows; the constant feature is the bias."""
    if sparse.issparse(X):
        return CSR(X.data, X.indices, X.indptr, X.shape[1], constant)
    return Dense(np.ascontiguousarray(X), constant)


def standardised(X_train: NDArray[Any], *others: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return arrays with the columns of the first brought to mean 0 and deviation 1."""
    mean, deviation = X_train.mean(axis=0), X_train.std(axis=0)
    deviation = np.where(deviation == 0.0, 1.0, deviation)
    return tuple((X - mean) / deviation for X in (X_train, *others))

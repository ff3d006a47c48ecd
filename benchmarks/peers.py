"""The contenders, ours and scikit-learn's, as fits of a number of passes; the limit of a pass.

The limit is nothing but the dot products, rows in the order in which they are stored.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.stopwatch import Fit
from rosenblatt.kernels.compiling import compiled
from rosenblatt.kernels.rows import CSR, Dense, Rows


def perceptron(X: Any, y: NDArray[Any]) -> Fit:
    """Our perceptron."""
    from rosenblatt import Perceptron

    return lambda passes: Perceptron(max_iter=passes).fit(X, y)


def averaged(X: Any, y: NDArray[Any]) -> Fit:
    """Our averaged perceptron."""
    from rosenblatt import AveragedPerceptron

    return lambda passes: AveragedPerceptron(max_iter=passes).fit(X, y)


def second_order(X: Any, y: NDArray[Any]) -> Fit:
    """Our AROW, which has a variance for each weight."""
    from rosenblatt import ConfidenceWeightedClassifier

    return lambda passes: ConfidenceWeightedClassifier(rule="arow", max_iter=passes).fit(X, y)


def sklearn_perceptron(X: Any, y: NDArray[Any]) -> Fit:
    """scikit-learn's perceptron, which with ``tol=None`` makes all its passes."""
    from sklearn.linear_model import Perceptron

    return lambda passes: Perceptron(max_iter=passes, tol=None).fit(X, y)


def sklearn_averaged(X: Any, y: NDArray[Any]) -> Fit:
    """scikit-learn's way to an averaged perceptron."""
    from sklearn.linear_model import SGDClassifier

    return lambda passes: SGDClassifier(
        loss="perceptron",
        average=True,
        learning_rate="constant",
        eta0=1,
        penalty=None,
        max_iter=passes,
        tol=None,
        random_state=0,
    ).fit(X, y)


@compiled
def dot_products(rows: Rows, n_rows: int, w: NDArray[Any]) -> float:
    """Return the sum of all activations: without a use the compiler would drop them."""
    total = 0.0
    for i in range(n_rows):
        total += rows.dot(i, w)
    return total


@compiled
def class_dot_products(rows: Rows, n_rows: int, w: NDArray[Any], scores: NDArray[Any]) -> float:
    """Do the same with the weights of several classes."""
    total = 0.0
    for i in range(n_rows):
        rows.scores(i, w, 0, scores)
        total += scores[0]
    return total


def limit_of(X: Any, n_classes: int = 2) -> Callable[[], float]:
    """Return the call to time for a pass over X."""
    n_rows, n_features = X.shape
    generator = np.random.default_rng(0)
    if sparse.issparse(X):
        rows: Rows = CSR(X.data, X.indices, X.indptr, n_features, 1.0)
    else:
        rows = Dense(X, 1.0)
    if n_classes == 2:
        w = generator.standard_normal(n_features + 1)
        return lambda: dot_products(rows, n_rows, w)
    class_w = generator.standard_normal((n_classes, n_features + 1))
    scores = np.empty(n_classes)
    return lambda: class_dot_products(rows, n_rows, class_w, scores)

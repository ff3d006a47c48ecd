"""The contenders, ours and scikit-learn's, as fits of a number of passes shuffled every time."""

from typing import Any

from numpy.typing import NDArray

from benchmarks.stopwatch import Fit


def perceptron(X: Any, y: NDArray[Any]) -> Fit:
    """Our perceptron."""
    from rosenblatt import Perceptron

    return lambda passes: Perceptron(max_iter=passes).fit(X, y)


def averaged(X: Any, y: NDArray[Any]) -> Fit:
    """Our averaged perceptron."""
    from rosenblatt import AveragedPerceptron

    return lambda passes: AveragedPerceptron(max_iter=passes).fit(X, y)


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

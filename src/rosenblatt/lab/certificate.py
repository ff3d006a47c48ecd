"""Python's own verdict on a document, in the words of ``diagnose``."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.lab.document import Document
from rosenblatt.theory.diagnosis import diagnose

TIME_LIMIT = 30.0  # seconds; a person should not wait longer


def certificate_lines(document: Document) -> list[str]:
    """Return the verdict of ``diagnose`` on the points in the features that are learned."""
    if len(set(document.y.tolist())) < 2:
        msg = "A verdict needs points of both classes."
        raise InputError(msg)
    if not document.bias:
        msg = "rosenblatt.diagnose decides on boundaries with a bias only; switch the bias on."
        raise InputError(msg)
    return str(diagnose(_features(document), document.y, time_limit=TIME_LIMIT)).splitlines()


def _features(document: Document) -> NDArray[Any]:
    """Return coordinates of the points that have the inner products of the document's features.

    For a kernel they come from the eigenvectors of its matrix, which has no negative eigenvalue
    beyond rounding.
    """
    a, b = document.X.T
    more = {"none": [], "conjunction": [a * b], "pairs": [a * a, a * b, b * b]}[document.map]
    X = np.column_stack([a, b, *more])
    if document.kernel == "none":
        return X
    if document.kernel == "polynomial":
        gram = (document.gamma * (X @ X.T) + document.coef0) ** document.degree
    else:
        squares = (X * X).sum(axis=1)
        distances = squares[:, None] + squares[None, :] - 2.0 * (X @ X.T)
        gram = np.exp(-document.gamma * np.maximum(distances, 0.0))
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-12 * max(float(values.max(initial=0.0)), 1e-300)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))

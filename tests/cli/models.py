"""Small models and files for the commands."""

from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.data.encoding import SvmlightEncoding
from rosenblatt.models.file import write
from rosenblatt.models.model import Spread
from tests.models.models import linear

SPAM_ROWS = """\
spam 1:2 3:1
ham 2:3
spam 1:1 2:1
ham 1:1 2:2 3:1
spam 2:1 4:7
"""  # the scores of spam_model: 3.75, −3.5, 0.5, −0.25 and −1.5


def spam_model(folder: Path, **fields: Any) -> str:
    """Write a model of two classes: score = 2·money − meeting + 0.25·the − 0.5."""
    given: dict[str, Any] = {
        "learner": "AveragedPerceptron",
        "options": {"max_iter": 10},
        "classes": ("ham", "spam"),
        "weights": np.array([[2.0, -1.0, 0.25, -0.5]]),
        "feature_names": ("money", "meeting", "the"),
        "encoding": numbered(3),
        "training": {"class_counts": [30, 20]},
    }
    path = folder / "spam.model"
    write(linear(**(given | fields)), path)
    return str(path)


def fruit_model(folder: Path, n_classes: int = 3) -> str:
    """Write a model of several classes, one feature each."""
    weights = np.hstack([2.0 * np.eye(n_classes), np.zeros((n_classes, 1))])
    classes = ("apple", "banana", "cherry", *(f"fruit {i:02}" for i in range(3, n_classes)))
    path = folder / "fruit.model"
    write(
        linear("Perceptron", {}, classes[:n_classes], weights, encoding=numbered(n_classes)), path
    )
    return str(path)


def numbered(n_features: int) -> dict[str, Any]:
    """Return the encoding of svmlight files that count from 1."""
    return SvmlightEncoding(zero_based=False, n_features=n_features).as_json()


def spread(*deviations: float) -> Spread:
    """Return a spread with these deviations."""
    d = np.array(deviations)
    return Spread(-d, d, d, 50)


def rows_file(folder: Path, text: str, name: str = "rows.svm") -> str:
    """Write rows in svmlight text."""
    path = folder / name
    path.write_text(text)
    return str(path)

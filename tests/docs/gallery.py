"""Draws the pictures of the documentation into docs/gallery: ``python -m tests.docs.gallery``."""

import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt import (
    AveragedPerceptron,
    ConfidenceWeightedClassifier,
    Perceptron,
    VotedPerceptron,
    plots,
)
from rosenblatt.plots import Display, figure_of

FOLDER = Path(__file__).parents[2] / "docs" / "gallery"
INDEX = FOLDER / "README.md"
HEAD = """\
# Gallery

Every kind of picture, drawn by `python -m tests.docs.gallery`; [the page on pictures](../plots.md)
says how each is made from your own data.
"""
COLOURS = 128  # of a PNG; more are not to be told apart
DOTS = 100

Rows = tuple[NDArray[Any], NDArray[Any]]


class Picture(NamedTuple):
    """A picture of the gallery."""

    kind: str
    caption: str
    display: Callable[[], Display]


def irises(*species: str) -> tuple[Any, NDArray[Any]]:
    """Return sepal width and petal length of irises, as a data frame."""
    from sklearn.datasets import load_iris

    found = load_iris(as_frame=True)
    labels = found.target_names[found.target]
    chosen = np.isin(labels, species)
    return found.data.loc[chosen, ["petal length (cm)", "sepal width (cm)"]], labels[chosen]


def tumours() -> tuple[Any, NDArray[Any]]:
    """Return 30 measurements of 569 tumours, scaled, as a data frame."""
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer(as_frame=True)
    scaled = (found.data - found.data.mean()) / found.data.std()
    return scaled, found.target_names[found.target]


def moons() -> Rows:
    """Return two half-circles that overlap."""
    from sklearn.datasets import make_moons

    X, y = make_moons(160, noise=0.25, random_state=1)
    return X, np.array(["upper", "lower"])[y]


def clouds() -> Rows:
    """Return two clouds with room between them, away from the origin."""
    generator = np.random.default_rng(10)
    side = np.where(np.arange(50) % 2, 1.0, -1.0)
    X = 0.8 * generator.normal(size=(50, 2)) + np.outer(side, [1.5, 1.1]) + [1.2, 1.0]
    return X, np.where(side > 0, "yes", "no")


def noisy() -> Rows:
    """Return rows of 200 features of which five matter, with 15 labels in a hundred turned."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(1600, 200))
    y = X[:, :5].sum(axis=1) > 0
    return X, np.where(y ^ (generator.random(1600) < 0.15), "yes", "no")


def _of_clouds(kind: Any) -> Display:
    X, y = clouds()
    display: Display = kind.from_estimator(Perceptron().fit(X, y), X, y)
    return display


def _regions() -> Display:
    X, y = irises("setosa", "versicolor", "virginica")
    return plots.RegionsDisplay.from_estimator(AveragedPerceptron(max_iter=50).fit(X, y), X, y)


def _update() -> Display:
    X = [[1.0, 2.0], [2.0, 1.0], [-1.0, 1.5], [-2.0, -1.0], [-1.0, -2.0], [2.2, -0.8]]
    y = ["yes", "yes", "yes", "no", "no", "no"]
    return plots.UpdateDisplay.from_data(X, y, fit_intercept=False, update=2)


def _errors() -> Display:
    X, y = noisy()
    half = len(y) // 2
    parts = (X[:half], y[:half], X[half:], y[half:])
    return plots.ErrorsDisplay.from_data(*parts, estimator=AveragedPerceptron(), max_iter=25)


def _orders() -> Display:
    X, y = tumours()
    order = np.argsort(y, kind="stable")
    return plots.OrdersDisplay.from_data(X.iloc[order], y[order], max_iter=15)


def _weights() -> Display:
    return plots.WeightsDisplay.from_estimator(AveragedPerceptron().fit(*tumours()), n=8)


def messages() -> tuple[Any, list[str]]:
    """Return 40 made-up messages as the words that they have, as a data frame; some are rare."""
    import pandas as pd

    generator = np.random.default_rng(3)
    shares = {  # of the messages of either kind that have the word
        "the": (0.8, 0.7),
        "you": (0.6, 0.9),
        "free": (0.05, 0.75),
        "meeting": (0.6, 0.03),
        "prize": (0.0, 0.12),
        "dentist": (0.12, 0.0),
        "thanks": (0.4, 0.1),
        "call": (0.2, 0.6),
    }
    labels = ["ham", "spam"] * 20
    rows = [
        [float(generator.random() < s[label == "spam"]) for s in shares.values()]
        for label in labels
    ]
    return pd.DataFrame(rows, columns=list(shares)), labels


def _sureness() -> Display:
    learner = ConfidenceWeightedClassifier(random_state=0).fit(*messages())
    return plots.WeightsDisplay.from_estimator(learner)


def _contributions() -> Display:
    X, y = tumours()
    clf = AveragedPerceptron().fit(X, y)
    return plots.ContributionsDisplay.from_estimator(clf, X.iloc[13], n=8, title="Tumour 13")


def _coverage() -> Display:
    X, y = tumours()
    clf = VotedPerceptron(max_iter=5).fit(X[:150], y[:150])
    return plots.CoverageDisplay.from_estimator(clf, X[150:], y[150:])


def _precision_recall() -> Display:
    X, y = noisy()
    clf = AveragedPerceptron(max_iter=5).fit(X[:800], y[:800])
    return plots.PrecisionRecallDisplay.from_estimator(clf, X[800:], y[800:])


def _roc() -> Display:
    X, y = noisy()
    clf = AveragedPerceptron(max_iter=5).fit(X[:800], y[:800])
    return plots.RocDisplay.from_estimator(clf, X[800:], y[800:])


def _reliability() -> Display:
    X, y = noisy()
    clf = AveragedPerceptron(max_iter=5, calibrate=True).fit(X[:800], y[:800])
    return plots.ReliabilityDisplay.from_estimator(clf, X[800:], y[800:])


def _confusion() -> Display:
    X, y = irises("setosa", "versicolor", "virginica")
    clf = AveragedPerceptron().fit(X[::2], y[::2])
    return plots.ConfusionDisplay.from_estimator(clf, X[1::2], y[1::2])


PICTURES = {
    "boundary": Picture(
        "boundary",
        "Two classes: boundary, weight vector, margin and the shift by the bias "
        "(Figures 4.6, 4.8).",
        lambda: _of_clouds(plots.BoundaryDisplay),
    ),
    "projections": Picture(
        "projections",
        "The same rows projected onto the weight vector, and where they come to lie (Figure 4.7).",
        lambda: _of_clouds(plots.ProjectionsDisplay),
    ),
    "update": Picture("update", "One update of a perceptron without a bias (Figure 4.9).", _update),
    "separable": Picture(
        "separability",
        "Separable: the boundary of widest margin and the rows that prove it (Figure 4.10).",
        lambda: plots.SeparabilityDisplay.from_data(*irises("setosa", "versicolor")),
    ),
    "inseparable": Picture(
        "separability",
        "Inseparable: a mixture of the ringed rows of one class is a mixture of those of the other "
        "(Figure 4.11).",
        lambda: plots.SeparabilityDisplay.from_data(*moons()),
    ),
    "xor": Picture(
        "separability",
        "XOR: both diagonals meet in one point (Figure 4.12).",
        lambda: plots.SeparabilityDisplay.from_data(
            [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
        ),
    ),
    "errors": Picture(
        "errors",
        "Training and test error after each pass, with the sweet spot (Figure 4.3).",
        _errors,
    ),
    "orders": Picture(
        "orders",
        "Rows sorted by class: permuting them every pass or not, over ten seeds (Figure 4.4).",
        _orders,
    ),
    "mistakes": Picture(
        "mistakes",
        "Mistakes so far, what the proof allows at each moment, and the bound R²/γ².",
        lambda: plots.MistakesDisplay.from_data(*irises("setosa", "versicolor")),
    ),
    "angle": Picture(
        "angle",
        "The angle between the weights and those of widest margin.",
        lambda: plots.AngleDisplay.from_data(*irises("setosa", "versicolor")),
    ),
    "weights": Picture(
        "weights", "The weights that say most about 30 measurements of tumours.", _weights
    ),
    "sureness": Picture(
        "weights",
        "Weights of a second-order rule, and how sure each is: rare words are known less.",
        _sureness,
    ),
    "contributions": Picture("contributions", "What decided one of them.", _contributions),
    "survival": Picture(
        "survival",
        "How long the weight vectors of a voted perceptron lasted.",
        lambda: plots.SurvivalDisplay.from_estimator(VotedPerceptron().fit(*tumours())),
    ),
    "coverage": Picture(
        "coverage", "The error on the rows that the vote is clearest on.", _coverage
    ),
    "precision-recall": Picture(
        "precision-recall",
        "Rows of a class that are found, and alarms that are right, at every threshold.",
        _precision_recall,
    ),
    "roc": Picture("roc", "Rows of a class that are found against false alarms.", _roc),
    "reliability": Picture(
        "reliability", "Probabilities against the shares that came true.", _reliability
    ),
    "confusion": Picture("confusion", "Three kinds of iris: which is taken for which.", _confusion),
    "comparison": Picture(
        "comparison",
        "Last, averaged and voted weights beside a decision tree and a nearest neighbour.",
        lambda: plots.ComparisonDisplay.from_data(*moons()),
    ),
    "regions": Picture("regions", "Three kinds of iris, one machine.", _regions),
}


def index() -> str:
    """Return the page that shows all pictures."""
    return HEAD + "".join(
        f"\n## {name}\n\n{picture.caption}\n\n![{picture.caption}]({name}.png)\n"
        for name, picture in PICTURES.items()
    )


def draw(display: Display) -> bytes:
    """Return a display as a small PNG."""
    from PIL import Image

    file, packed = BytesIO(), BytesIO()
    figure_of(display).savefig(file, format="png", dpi=DOTS, bbox_inches="tight", pad_inches=0.08)
    image = Image.open(file).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    image.save(packed, "png", optimize=True)
    return packed.getvalue()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    INDEX.write_text(index())
    warnings.simplefilter("ignore")  # that irises overlap is what some pictures show
    for name, picture in PICTURES.items():
        (FOLDER / f"{name}.png").write_bytes(draw(picture.display()))

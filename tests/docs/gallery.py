"""Draws the pictures of the documentation into docs/gallery: ``python -m tests.docs.gallery``."""

import re
import warnings
from collections.abc import Callable
from contextlib import chdir
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from rosenblatt import plots
from rosenblatt.plots import Display, figure_of

FOLDER = Path(__file__).parents[2] / "docs" / "gallery"
INDEX = FOLDER / "README.md"
HEAD = """\
# Gallery

Every kind of picture. Each leads to a page with the picture in full and the program that draws it.
[Pictures](../plots.md) says how to draw your own data, also with `rosenblatt plot`.

```{toctree}
:hidden:

PAGES
```
"""
COLUMNS = 3
TEACHING = FOLDER.parent / "figures"
COLOURS = 128  # of a PNG; more are not to be told apart
DOTS = 100

# Rows that the pictures are of, as a reader can make them.
DATA = {
    "clouds": """\
generator = np.random.default_rng(10)
side = np.where(np.arange(50) % 2, 1.0, -1.0)
X = 0.8 * generator.normal(size=(50, 2)) + np.outer(side, [1.5, 1.1]) + [1.2, 1.0]
y = np.where(side > 0, "yes", "no")
""",
    "irises": """\
irises = load_iris(as_frame=True)
X = irises.data[["petal length (cm)", "sepal width (cm)"]]
y = irises.target_names[irises.target]
""",
    "two irises": """\
irises = load_iris(as_frame=True)
X = irises.data[["petal length (cm)", "sepal width (cm)"]][:100]
y = irises.target_names[irises.target[:100]]
""",
    "tumours": """\
tumours = load_breast_cancer(as_frame=True)
X = (tumours.data - tumours.data.mean()) / tumours.data.std()
y = tumours.target_names[tumours.target]
""",
    "moons": """\
X, y = make_moons(160, noise=0.25, random_state=1)
y = np.array(["upper", "lower"])[y]
""",
    "noisy": """\
generator = np.random.default_rng(0)
X = generator.normal(size=(1600, 200))  # five features matter
y = X[:, :5].sum(axis=1) > 0
y = np.where(y ^ (generator.random(1600) < 0.15), "yes", "no")  # 15 labels in a hundred are wrong
""",
    "messages": """\
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
y = ["ham", "spam"] * 20
rows = [[float(generator.random() < s[label == "spam"]) for s in shares.values()] for label in y]
X = pd.DataFrame(rows, columns=list(shares))
""",
    "houses": """\
generator = np.random.default_rng(0)  # the large are dear by the sea, and the small elsewhere
rooms, sea = generator.integers(1, 10, 3000), generator.integers(0, 2, 3000)
age = generator.gamma(3.0, 15.0, 3000).round(1)
score = np.where(sea, rooms - 5.0, 5.0 - rooms) + np.abs(age - 50.0) / 15.0 - 1.5
price = np.where(score + generator.logistic(size=3000) > 0.0, "dear", "cheap")
houses = {"rooms": rooms, "age": age, "sea": np.where(sea, "yes", "no"), "price": price}
pd.DataFrame(houses).to_csv("houses.csv", index=False)
clf = train_files("houses.csv", label="price", rule="arow", r=10.0, column_pairs=3)
""",
    "": "",
}
IMPORTS = {
    "np.": "import numpy as np",
    "pd.": "import pandas as pd",
    **{
        name: f"from sklearn.datasets import {name}"
        for name in ("load_breast_cancer", "load_iris", "make_moons")
    },
}
LEARNERS = (
    *("AveragedPerceptron", "ConfidenceWeightedClassifier", "Perceptron", "VotedPerceptron"),
    "train_files",
)


class Picture(NamedTuple):
    """A picture of the gallery, and the code that draws it."""

    kind: str
    caption: str
    data: str
    draw: str  # ends with an expression: the display

    @property
    def code(self) -> str:
        """The whole program."""
        body = DATA[self.data] + self.draw
        lines = [line for mark, line in IMPORTS.items() if mark in body]
        ours = [name for name in LEARNERS if re.search(rf"(?<!\w){name}\(", body)]
        lines.append(f"from rosenblatt import {', '.join([*ours, 'plots'])}")
        head, _, last = body.rstrip().rpartition("\n")
        return "\n".join([*lines, "", *head.splitlines(), f"display = {last}", "display.plot()"])

    def display(self) -> Display:
        """Run the program, without its last line."""
        names: dict[str, Any] = {}
        with TemporaryDirectory() as folder, chdir(folder):
            exec(self.code.rpartition("\n")[0], names)  # noqa: S102  # ours, written above
        found: Display = names["display"]
        return found


HALVES = "clf = AveragedPerceptron(max_iter=5).fit(X[:800], y[:800])\n"
PICTURES = {
    "boundary": Picture(
        "boundary",
        "Two classes: boundary, weight vector, margin and the shift by the bias.",
        "clouds",
        "clf = Perceptron().fit(X, y)\nplots.BoundaryDisplay.from_estimator(clf, X, y)",
    ),
    "projections": Picture(
        "projections",
        "The same rows projected onto the weight vector.",
        "clouds",
        "clf = Perceptron().fit(X, y)\nplots.ProjectionsDisplay.from_estimator(clf, X, y)",
    ),
    "update": Picture(
        "update",
        "One update of a perceptron without a bias.",
        "",
        "X = [[1.0, 2.0], [2.0, 1.0], [-1.0, 1.5], [-2.0, -1.0], [-1.0, -2.0], [2.2, -0.8]]\n"
        'y = ["yes", "yes", "yes", "no", "no", "no"]\n'
        "plots.UpdateDisplay.from_data(X, y, fit_intercept=False, update=2)",
    ),
    "separable": Picture(
        "separability",
        "Separable: the boundary of the widest margin, and the rows that prove it.",
        "two irises",
        "plots.SeparabilityDisplay.from_data(X, y)",
    ),
    "inseparable": Picture(
        "separability",
        "Inseparable: a mixture of the ringed rows of one class is a mixture of those of the "
        "other.",
        "moons",
        "plots.SeparabilityDisplay.from_data(X, y)",
    ),
    "xor": Picture(
        "separability",
        "XOR: both diagonals meet in one point.",
        "",
        'X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]\n'
        "plots.SeparabilityDisplay.from_data(X, y)",
    ),
    "errors": Picture(
        "errors",
        "Training and test error after each pass, and the best pass.",
        "noisy",
        "parts = X[:800], y[:800], X[800:], y[800:]\n"
        "plots.ErrorsDisplay.from_data(*parts, estimator=AveragedPerceptron(), max_iter=25)",
    ),
    "orders": Picture(
        "orders",
        "Rows sorted by class: shuffled before every pass or not, over ten seeds.",
        "tumours",
        'order = np.argsort(y, kind="stable")\n'
        "plots.OrdersDisplay.from_data(X.iloc[order], y[order], max_iter=15)",
    ),
    "mistakes": Picture(
        "mistakes",
        "Mistakes so far, what the proof allows, and the bound R²/γ².",
        "two irises",
        "plots.MistakesDisplay.from_data(X, y)",
    ),
    "angle": Picture(
        "angle",
        "The angle between the weights and those of the widest margin.",
        "two irises",
        "plots.AngleDisplay.from_data(X, y)",
    ),
    "weights": Picture(
        "weights",
        "The largest weights of 30 measurements of tumours.",
        "tumours",
        "clf = AveragedPerceptron().fit(X, y)\nplots.WeightsDisplay.from_estimator(clf, n=8)",
    ),
    "sureness": Picture(
        "weights",
        "Weights of a second-order rule, and how sure each is: rare words are known less.",
        "messages",
        "clf = ConfidenceWeightedClassifier().fit(X, y)\nplots.WeightsDisplay.from_estimator(clf)",
    ),
    "shape": Picture(
        "shape",
        "What the age of a house adds to the score, with the deviation of the weights.",
        "houses",
        'plots.ShapeDisplay.from_estimator(clf, column="age")',
    ),
    "shape-pair": Picture(
        "shape",
        "What rooms and the sea add together: houses are dear if large by the sea, or small.",
        "houses",
        'plots.ShapeDisplay.from_estimator(clf, column="rooms:sea")',
    ),
    "contributions": Picture(
        "contributions",
        "What decided one row.",
        "tumours",
        "clf = AveragedPerceptron().fit(X, y)\n"
        'plots.ContributionsDisplay.from_estimator(clf, X.iloc[13], n=8, title="Tumour 13")',
    ),
    "survival": Picture(
        "survival",
        "How long the weight vectors of a voted perceptron lasted, and which have the votes.",
        "tumours",
        "plots.SurvivalDisplay.from_estimator(VotedPerceptron().fit(X, y))",
    ),
    "coverage": Picture(
        "coverage",
        "The error if only the clearest votes count.",
        "tumours",
        "clf = VotedPerceptron(max_iter=5).fit(X[:150], y[:150])\n"
        "plots.CoverageDisplay.from_estimator(clf, X[150:], y[150:])",
    ),
    "precision-recall": Picture(
        "precision-recall",
        "Precision and recall at every threshold.",
        "noisy",
        HALVES + "plots.PrecisionRecallDisplay.from_estimator(clf, X[800:], y[800:])",
    ),
    "roc": Picture(
        "roc",
        "Rows of a class that are found against false alarms.",
        "noisy",
        HALVES + "plots.RocDisplay.from_estimator(clf, X[800:], y[800:])",
    ),
    "reliability": Picture(
        "reliability",
        "Probabilities against the shares that came true.",
        "noisy",
        HALVES.replace("max_iter=5", "max_iter=5, calibrate=True")
        + "plots.ReliabilityDisplay.from_estimator(clf, X[800:], y[800:])",
    ),
    "confusion": Picture(
        "confusion",
        "Three kinds of iris: which is taken for which.",
        "irises",
        "clf = AveragedPerceptron().fit(X[::2], y[::2])\n"
        "plots.ConfusionDisplay.from_estimator(clf, X[1::2], y[1::2])",
    ),
    "comparison": Picture(
        "comparison",
        "Last, averaged and voted weights beside a decision tree and a nearest neighbour.",
        "moons",
        "plots.ComparisonDisplay.from_data(X, y)",
    ),
    "regions": Picture(
        "regions",
        "Three kinds of iris, one machine.",
        "irises",
        "clf = AveragedPerceptron(max_iter=50).fit(X, y)\n"
        "plots.RegionsDisplay.from_estimator(clf, X, y)",
    ),
}


def draw_dot_product(ax: Any) -> None:
    """Draw a unit vector u, another v, and what v has along u and across it."""
    u, v = (0.96, 0.28), (0.5, 0.9)
    along = u[0] * v[0] + u[1] * v[1]
    foot = along * u[0], along * u[1]
    ax.set(xlim=(-0.1, 1.15), ylim=(-0.1, 1.05), aspect="equal")
    ax.set_axis_off()
    arrow: Any = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0}
    for tip, start, colour, width in (
        (u, (0, 0), "#1A1A1A", 1.5),
        (v, (0, 0), "#0072B2", 1.5),
        (foot, (0, 0), "#D55E00", 4.0),
        (v, foot, "#6E6E6E", 1.5),
    ):
        ax.annotate("", tip, start, arrowprops=arrow | {"color": colour, "linewidth": width})
    text: Any = {"fontsize": 12, "ha": "center"}
    ax.text(1.03, 0.27, "u", **text)
    ax.text(0.47, 0.95, "v", color="#0072B2", **text)
    ax.text(0.4, 0.0, f"u·v = {along:.3f}", color="#D55E00", **text)
    ax.text(0.72, 0.55, "across u", color="#6E6E6E", **text)


def draw_neuron(ax: Any, *, values: bool) -> None:
    """Draw inputs that are weighted and summed, with numbers or letters."""
    x, w, b = (1.0, -2.0, 0.5), (0.8, 0.3, -1.2), 0.9
    ax.set(xlim=(-0.5, 6.1), ylim=(-0.6, 3.6), aspect="equal")
    ax.set_axis_off()
    text: Any = {"ha": "center", "va": "center", "fontsize": 12}
    ring: Any = {"boxstyle": "circle,pad=0.45", "facecolor": "white", "edgecolor": "#1A1A1A"}
    for k in range(4):
        height, bias = 3.0 - k, k == 3
        size = abs(b if bias else w[k])
        colour = "#0072B2" if bias or w[k] > 0 else "#D55E00"
        ax.plot([0.3, 3.6], [height, 1.5], color=colour, linewidth=1 + 3 * size, zorder=1)
        shown = "1" if bias else f"{x[k]:g}".replace("-", "−") if values else f"$x_{k + 1}$"
        weight = "b" if bias else f"$w_{k + 1}$"
        if values:
            product = b if bias else w[k] * x[k]
            weight = f"{b if bias else w[k]:g} · {shown} = {product:g}".replace("-", "−")
        ax.text(0, height, shown, bbox=ring, zorder=2, **text)
        place: Any = {"ha": "center", "va": "center", "fontsize": 10, "zorder": 2}
        plate = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        ax.text(1.45, height + (1.5 - height) * 0.35, weight, bbox=plate, **place)
    total = sum(p * q for p, q in zip(w, x, strict=True)) + b
    ax.text(3.85, 1.5, "Σ", bbox=ring, zorder=2, **text | {"fontsize": 16})
    ax.annotate("", (5.0, 1.5), (4.25, 1.5), arrowprops={"arrowstyle": "-|>", "color": "#1A1A1A"})
    ax.text(5.5, 1.5, f"a = {total:.2g}".replace("-", "−") if values else "a", **text)


# Those of chapter 4 of the book, for teachers: by number, file name and what draws it.
CENTRED = "X = X - [1.2, 1.0]\nclf = Perceptron(fit_intercept=False).fit(X, y)\n"
FIGURES: dict[str, tuple[str, str | Picture | Callable[[Any], None]]] = {
    "4.1": ("A neuron", lambda ax: draw_neuron(ax, values=False)),
    "4.2": ("Features, weights, products and their sum", lambda ax: draw_neuron(ax, values=True)),
    "4.3": ("Training and test error, and early stopping", "errors"),
    "4.4": ("Shuffling or not", "orders"),
    "4.5": ("The dot product as a projection", draw_dot_product),
    "4.6": (
        "Data points, boundary and weight vector",
        Picture(
            *("boundary", "", "clouds"),
            CENTRED + "plots.BoundaryDisplay.from_estimator(clf, X, y)",
        ),
    ),
    "4.7": (
        "Projections onto the weight vector",
        Picture(
            *("projections", "", "clouds"),
            CENTRED + "plots.ProjectionsDisplay.from_estimator(clf, X, y)",
        ),
    ),
    "4.8": ("The bias shifts the boundary", "boundary"),
    "4.9": ("One update", "update"),
    "4.10": ("Separable data", "separable"),
    "4.11": ("Inseparable data", "inseparable"),
    "4.12": ("XOR", "xor"),
}


def index() -> str:
    """Return the page that shows all pictures, each with its caption."""
    names = [*PICTURES, *[""] * (-len(PICTURES) % COLUMNS)]
    lines = ["|" + " |" * COLUMNS, "|" + " --- |" * COLUMNS]
    for start in range(0, len(names), COLUMNS):
        row = names[start : start + COLUMNS]
        cells = (
            f"[![{n}]({n}.png)]({n}.md)<br>[**{n}**]({n}.md): {PICTURES[n].caption}" if n else ""
            for n in row
        )
        lines.append(f"| {' | '.join(cells)} |")
    return HEAD.replace("PAGES", "\n".join(PICTURES)) + "\n" + "\n".join(lines) + "\n"


def page(name: str) -> str:
    """Return the page of a picture, with its program."""
    picture = PICTURES[name]
    return (
        f"# {name}\n\n{picture.caption} See [{picture.kind}](../plots.md#{picture.kind}), and the "
        f"[gallery](README.md).\n\n![{picture.caption}]({name}.png)\n\n```py\n{picture.code}\n```\n"
    )


def write_figures() -> None:
    """Write the figures of the book as SVG."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    TEACHING.mkdir(exist_ok=True)
    for number, (title, what) in FIGURES.items():
        path = TEACHING / f"figure-{number}.svg"
        picture = PICTURES[what] if isinstance(what, str) else what
        if isinstance(picture, Picture):
            plots.write_picture(picture.display(), path, title="")
            continue
        figure = Figure(figsize=(6.4, 4.2), layout="tight")
        picture(figure.add_subplot())
        with rc_context({"svg.hashsalt": "rosenblatt"}):
            figure.savefig(path, metadata={"Title": title, "Date": None}, bbox_inches="tight")


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
    for name in PICTURES:
        (FOLDER / f"{name}.md").write_text(page(name))
    warnings.simplefilter("ignore")  # that irises overlap is what some pictures show
    for name, picture in PICTURES.items():
        (FOLDER / f"{name}.png").write_bytes(draw(picture.display()))
    write_figures()

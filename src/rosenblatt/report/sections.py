"""The tables and pictures of a report's sections; ``templates/sections.html`` has their words."""

import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np
from markupsafe import Markup

from rosenblatt import plots
from rosenblatt.models.column_shapes import has_shapes
from rosenblatt.models.model import Model
from rosenblatt.plots.palette import BLUE, FAINT, GREEN, GRID, INK, PAPER, VERMILION
from rosenblatt.report.findings import Findings
from rosenblatt.report.hardest import Teacher
from rosenblatt.report.markup import part, table
from rosenblatt.report.pixels import feature_grid
from rosenblatt.report.tables import confusion_list, ranking_list
from rosenblatt.tasks.certainty import Certainty
from rosenblatt.tasks.evaluation import Evaluation
from rosenblatt.wording import Bar, Cell, counted, percent, signed

MOST_CLASSES = 30
MOST_PASSES = 60  # lines of the table of passes; the picture has all
MOST_PROOF_ROWS = 16
MOST_IN_MATRIX = 8  # classes, whose counts fit a page; of more, a picture
MOST_IN_PICTURE = 40
MOST_CONFUSIONS = 10
IN_LINE = 8  # names in the line of a class
MEASURE = "lead of the best class"  # how sure a model is of a row
MOST_SHAPES = 6  # columns, and pairs of them, that are drawn

THEME = {  # what is drawn with, and what it becomes
    INK: "var(--ink)",
    FAINT: "var(--quiet)",
    GRID: "var(--line)",
    PAPER: "var(--paper)",
    BLUE: "var(--positive)",
    VERMILION: "var(--negative)",
    GREEN: "var(--third)",
}
NARROW = 6.2  # inches of a picture of few curves: letters are large enough on paper
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, searchable, in the font of the page
    "text.color": INK,
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


def class_counts(found: Findings) -> Markup:
    """Return how many rows of each class the model learned from."""
    model, counts = found.model, found.model.training["class_counts"]
    n_rows = model.task.n_counted(model.training)
    pairs = sorted(zip(model.classes, counts, strict=True), key=lambda pair: -pair[1])
    rows: list[list[Cell]] = [
        [str(label), n, percent(n / n_rows)] for label, n in pairs[:MOST_CLASSES]
    ]
    many = model.task.nouns
    kind = many.title() if len(rows) == len(counts) else f"The {len(rows)} most frequent {many}"
    return table((model.task.noun, "rows", "share"), rows, kind)


def is_bounded(model: Model) -> bool:
    """Return whether the theorem speaks of its mistakes: a perceptron's with a bias, any memory."""
    options = model.options
    plain = options.get("rule", "perceptron") == "perceptron" and not options.get("margin")
    return model.learner.endswith("Perceptron") and plain and options["fit_intercept"]


def proof(certificate: dict[str, Any]) -> Markup:
    """Return the weights on rows that no linear boundary can get round."""
    if "positive" in certificate:
        caption = "Proof: these mixtures of rows of the two classes are the same point"
        headings = ["class", "row", "weight"]
        negative, positive = certificate["labels"]
        lines = [
            [str(label), row + 1, _weight(weight)]
            for side, label in (("positive", positive), ("negative", negative))
            for row, weight in zip(*certificate[side].values(), strict=True)
        ]
    else:
        caption = (
            "Proof: with these weights, what the rows add to their class and subtract from its "
            "rival cancels in every class"
        )
        headings = ["class", "rival", "row", "weight"]
        columns = (certificate[name] for name in ("labels", "rivals", "rows", "weights"))
        lines = [
            [str(label), str(rival), row + 1, _weight(weight)]
            for label, rival, row, weight in zip(*columns, strict=True)
        ]
    shown: list[list[Cell]] = lines[:MOST_PROOF_ROWS]
    if len(lines) > len(shown):
        shown.append([counted(len(lines) - len(shown), "more row"), *[""] * (len(headings) - 1)])
    return table(headings, shown, caption, "proof")


def _weight(fraction: str) -> str:
    """Return an exact fraction, or its value where it is long.

    >>> _weight("1/2"), _weight("123456789/987654321")
    ('1/2', '0.125')
    """
    return fraction if len(fraction) <= 15 else f"{float(Fraction(fraction)):.4g}"


def _tried_error(score: float | None) -> str:
    return "" if score is None else percent(1.0 - score)


def passes(history: Sequence[dict[str, Any]]) -> Markup:
    """Return a line for each pass."""
    tried = any(record["validation_score"] is not None for record in history)
    headings = ["pass", "mistakes", "updates", "seconds"] + ["held-out error"] * tried
    rows: list[list[Cell]] = [
        [str(record["pass_"]), record["mistakes"], record["updates"], f"{record['seconds']:.3f}"]
        + [_tried_error(record["validation_score"])] * tried
        for record in history[:MOST_PASSES]
    ]
    caption = "Passes" if len(history) <= MOST_PASSES else f"The first {MOST_PASSES} passes"
    return table(headings, rows, caption)


def guarantee_curve(apart: Certainty) -> plots.Display:
    """Return error and bound on rows kept for a guarantee, against the share answered."""
    curve = apart.curve()
    known = *apart.coverage(), apart.measure, len(apart.lead), "guarantee"
    return plots.CoverageDisplay(*known, promised=(curve.coverage, curve.bound))


def curves(found: Findings, evaluation: Evaluation) -> Iterator[plots.Display]:
    """Yield precision and recall, the probabilities, and the error of the surest rows."""
    model, reliability, coverage = found.model, found.reliability, evaluation.coverage_curve
    two = len(model.classes) == 2
    scores, positive = evaluation.scores_for(1)
    if two and found.by_scores and positive.any():
        curve, label = (scores, positive, scores > 0), str(model.classes[1])
        yield plots.PrecisionRecallDisplay.from_scores(*curve, label=label)
    if reliability is not None:
        what = f"the row is {model.classes[1]}" if two else "the prediction is right"
        yield plots.ReliabilityDisplay.from_reliability(reliability, what=what)
    if coverage is not None:
        yield plots.CoverageDisplay(*coverage, MEASURE, evaluation.n_rows)


def confusions(evaluation: Evaluation) -> Markup:
    """Return the confusion matrix, each cell shaded by its share of the true class.

    Of many classes, it as a picture, and the most frequent confusions.
    """
    if len(evaluation.labels) > MOST_IN_MATRIX:
        most = table(*confusion_list(evaluation, MOST_CONFUSIONS))
        many = len(evaluation.labels) > MOST_IN_PICTURE
        if many or len(evaluation.labels) > len(evaluation.classes):
            return most
        drawn = plots.ConfusionDisplay.from_counts(evaluation.confusion, evaluation.classes)
        return picture(drawn) + most
    rows: list[list[Cell]] = []
    for true, counts in enumerate(evaluation.confusion.tolist()):
        total = max(sum(counts), 1)
        cells = []
        for guess, n in enumerate(counts):
            kind = "right" if true == guess else "wrong"
            share = math.sqrt(n / total)  # so that a few wrong ones still show
            cells.append(part("shaded", n, kind, share))
        rows.append([str(evaluation.labels[true]), *cells])
    caption = "Confusion table: one line per true class, one column per predicted class"
    headings = ("true \\ predicted", *map(str, evaluation.classes))
    return table(headings, rows, caption, "matrix")


def teachers(caption: str, taught: Sequence[Teacher]) -> str:
    """Return training rows behind a decision, with what they have in common with its row."""
    if not taught:
        return ""
    longest = max(abs(teacher.term.amount) for teacher in taught)
    rows: list[list[Cell]] = [
        [
            f"row {t.term.row + 1:,}",
            str(t.term.label),
            t.term.updates,
            signed(t.term.amount),
            Bar(t.term.amount, longest),
            part("names", ", ".join(f"{name} {signed(product)}" for name, product in t.shared)),
        ]
        for t in taught
    ]
    headings = ("learned from", "label", "times", "amount", "", "in common with this row")
    return table(headings, rows, caption, "taught")


def rankings(found: Findings) -> Markup:
    """Return a line for each class or label with its largest weights."""
    how: Any = {"noun": found.model.task.noun, "by_effect": found.by_effect}
    headings, rows, title = ranking_list(found.rankings, IN_LINE, **how)
    minus = re.compile(r" -(?=[\d.,e+-]+(?:, |$))")
    return table(
        headings, [[*row[:-1], part("names", minus.sub(" −", str(row[-1])))] for row in rows], title
    )


def columns(found: Findings) -> str:
    """Draw what columns add to the score over their values, but for straight lines."""
    model = found.model
    if not has_shapes(model) or feature_grid(model, found.largest) is not None:
        return ""
    display = plots.ShapeDisplay.from_estimator(model, n=MOST_SHAPES)
    curved = [one for one in display.shapes if not one.straight]
    return picture(replace(display, shapes=curved)) if curved else ""


def weight_pictures(found: Findings) -> str:
    """Draw the weights of each class where the features are the pixels of a picture."""
    model = found.model
    grid = feature_grid(model, found.largest)
    if grid is None:
        return ""
    weights = np.atleast_2d(model.weights)[:, : model.n_features]
    labels = model.classes if len(weights) == len(model.classes) else model.classes[1:]
    drawn = [grid.picture(w, str(label)) for w, label in zip(weights, labels, strict=True)]
    caption = f"The weights for {', '.join(map(str, labels))} as pictures: blue speaks for it"
    return part("figure", part("pictures", Markup("").join(drawn)), caption)


def code(value: Any) -> Markup:
    """Return the value of a parameter, so that the training can be done again."""
    return part("code", json.dumps(value, ensure_ascii=False))


def picture(display: plots.Display) -> Markup:
    """Return a display as a figure with its sentence."""
    from matplotlib import rc_context

    buffer = io.StringIO()
    # Ids are hashed from the salt: the same every time, and of no other picture on the page.
    with rc_context({**STYLE, "svg.hashsalt": display.sentence}):
        wide = max(display.shape) > 1 or isinstance(display, plots.ConfusionDisplay)
        drawn = plots.figure_of(display, None if wide else NARROW)
        metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
        drawn.savefig(buffer, format="svg", bbox_inches="tight", metadata=metadata)
    svg = Markup(page_svg(buffer.getvalue(), display.sentence))  # noqa: S704  # its text is escaped
    return part("figure", svg, display.sentence)


def page_svg(document: str, description: str) -> str:
    """Return the SVG element of a document, as wide as its place and in the colours of the page."""
    svg = document[document.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<title>.*?</title>", "", svg, flags=re.DOTALL)
    head, rest = svg.split(">", 1)
    head = re.sub(r' (?:height|width)="[^"]*"', "", head)
    for drawn, colour in THEME.items():
        rest = re.sub(drawn, colour, rest, flags=re.IGNORECASE)
    return f'{head} role="img" aria-label="{escape(description)}">{rest}'

"""The sections of a report: test, verdict, data, training, weights, worst mistakes, survival."""

import io
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from html import escape
from pathlib import PurePath
from typing import Any

import numpy as np
from markupsafe import Markup

from rosenblatt import plots
from rosenblatt.models.evaluation import Evaluation
from rosenblatt.models.model import Model
from rosenblatt.plots.palette import BLUE, FAINT, GREEN, GRID, INK, PAPER, VERMILION
from rosenblatt.report.findings import Findings
from rosenblatt.report.hardest import MisjudgedRow, Teacher
from rosenblatt.report.markup import part, table
from rosenblatt.report.pixels import feature_grid
from rosenblatt.report.summary import held_out_sentence
from rosenblatt.report.tables import (
    bias_sentence,
    class_table,
    confusion_list,
    contribution_table,
    interval,
    ranking_list,
    weight_tables,
)
from rosenblatt.training.history import REASONS
from rosenblatt.wording import Bar, Cell, counted, number, percent, signed

NO_TEST = "No test data were given."
MOST_CLASSES = 30
MOST_PASSES = 60  # lines of the table of passes; the picture has all
MOST_PROOF_ROWS = 16
MOST_IN_MATRIX = 20  # classes; of more, the most frequent confusions
MOST_CONFUSIONS = 20
MOST_TERMS = 8
LONG_VALUE = 60  # characters; a longer value is a text, on lines of its own
IN_HEADING = 25  # characters; a longer value names its row
MOST_TEXT = 1200  # characters of it
MOST_TABLES = 3  # classes; those of more are folded, below a line for each
IN_LINE = 8  # names in such a line
MOST_SHAPES = 24  # columns, and pairs of them, whose curves are drawn

Parts = list[str]  # of a section: sentences, and Markup of other shapes

THEME = {  # what is drawn with, and what it becomes
    INK: "var(--ink)",
    FAINT: "var(--quiet)",
    GRID: "var(--line)",
    PAPER: "var(--paper)",
    BLUE: "var(--positive)",
    VERMILION: "var(--negative)",
    GREEN: "var(--third)",
}
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, searchable, in the font of the page
    "text.color": INK,
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}
VERDICTS = {
    "separable": "A linear boundary separates the classes; the proof is below.",
    "inseparable": "No linear boundary separates the classes; the proof is below.",
    "undecided": "No proof was found that the classes are separable, nor that they are not.",
    "converged": "The training rows are separable: the last pass made no mistake, which proves it. "
    "The margin was not computed.",
    "unknown": "Unknown. Train with a verdict, or run a diagnosis of the data, to find out.",
}


def data_section(found: Findings) -> Parts:
    """Say what the model learned from."""
    model, training = found.model, found.model.training
    pairs = [("features", f"{model.n_features:,}"), ("classes", f"{len(model.classes):,}")]
    if "n_rows" in training:
        pairs.insert(0, ("rows", f"{training['n_rows']:,}"))
    if training.get("held_out_rows"):
        pairs.append(("held out", counted(training["held_out_rows"], "row")))
    if "files" in training:
        pairs.append(("files", ", ".join(map(file_name, training["files"]))))
        pairs.append(("format", training["format"]))
    if "title" in training:
        pairs.append(("learner", training["title"]))
    return [part("facts", pairs), _class_counts(found), *map(str, training.get("notes", ()))]


def file_name(path: str) -> str:
    """Return the name of a file without its folders, which are private."""
    return PurePath(path).name or path


def _class_counts(found: Findings) -> str:
    counts = found.model.training.get("class_counts")
    if counts is None:
        return ""
    total = sum(counts)
    pairs = sorted(zip(found.model.classes, counts, strict=True), key=lambda pair: -pair[1])
    rows: list[list[Cell]] = [
        [str(label), n, percent(n / total)] for label, n in pairs[:MOST_CLASSES]
    ]
    kind = "Classes" if len(rows) == len(counts) else f"The {len(rows)} most frequent classes"
    return table(("class", "rows", "share"), rows, kind)


def verdict_section(found: Findings) -> Parts:
    """Say whether a linear boundary separates the rows, with the proof where the model has one."""
    verdict = found.model.verdict
    if verdict is None:
        converged = found.model.outcome.get("stop_reason") == "converged"
        return [VERDICTS["converged" if converged else "unknown"]]
    status = part("paragraph", part("strong", f"{verdict['status'].capitalize()}."))
    facts = part("facts", _margin_facts(found.model, verdict))
    return [status, VERDICTS[verdict["status"]], facts, _proof(verdict), *verdict["notes"]]


def _margin_facts(model: Model, verdict: dict[str, Any]) -> list[tuple[str, str]]:
    pairs, bounded = [], is_bounded(model)
    if verdict["status"] == "separable":
        ends = [number(verdict[name]) for name in ("margin_low", "margin_high")]
        told = f"{ends[0]} to {ends[1]}" if verdict["margin_high"] else f"at least {ends[0]}"
        pairs += [("margin γ", told), ("radius R", number(verdict["radius"]))]
        if bounded and verdict["bound"] is not None:
            pairs.append(("mistakes allowed by the theorem", number(int(verdict["bound"]))))
    if bounded and verdict["mistakes"] is not None:
        pairs.append(("mistakes made", number(verdict["mistakes"])))
    if verdict["conflicts"]:
        pairs.append(("equal rows with different labels", f"{len(verdict['conflicts']):,} groups"))
    return pairs


def is_bounded(model: Model) -> bool:
    """Return whether the theorem speaks of its mistakes: a perceptron's with a bias, any memory."""
    options = model.options
    plain = options.get("rule", "perceptron") == "perceptron" and not options.get("margin")
    return model.learner.endswith("Perceptron") and plain and options["fit_intercept"]


def _proof(verdict: dict[str, Any]) -> str:
    """Show the weights on rows that no linear boundary can get round."""
    proof = verdict["certificate"]
    if proof is None:
        return ""
    if "positive" in proof:
        caption = "Proof: these mixtures of rows of the two classes are the same point"
        headings = ["class", "row", "weight"]
        lines = [
            [str(label), row + 1, _weight(weight)]
            for side, label in (("positive", proof["labels"][1]), ("negative", proof["labels"][0]))
            for row, weight in zip(proof[side]["rows"], proof[side]["weights"], strict=True)
        ]
    else:
        caption = (
            "Proof: with these weights, what the rows add to their class and subtract from its "
            "rival cancels in every class"
        )
        headings = ["class", "rival", "row", "weight"]
        columns = (proof[name] for name in ("labels", "rivals", "rows", "weights"))
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


def course_section(found: Findings) -> Parts:
    """Show how mistakes and the error on held-out rows went from pass to pass."""
    model, history = found.model, found.model.history
    if not history:
        return []
    outcome = model.outcome
    reason = REASONS.get(outcome.get("stop_reason", ""), "")
    sentence = f"{counted(len(history), 'pass')}"
    if reason:
        sentence += f"; training ended because {reason}"
    best = outcome.get("best_pass", len(history))
    if model.training.get("refit"):
        again, n_all = model.training["refit_passes"], model.training["n_rows"]
        sentence += f". Then the model was fitted to all {n_all:,} rows in {counted(again, 'pass')}"
    elif best != len(history):
        sentence += f". The model has the weights of pass {best}"
    if found.error_before_bias is not None:
        told = percent(model.training["held_out_error"])
        sentence += (
            f". The errors below are before the bias was moved on held-out rows (then {told})"
        )
    n_rows = outcome.get("n_learned")
    display = plots.ErrorsDisplay.from_history(model.records, n_rows)
    drawn = [] if display is None else [picture(display)]
    return [f"{sentence}.", *drawn, _passes(history)]


def _passes(history: tuple[dict[str, Any], ...]) -> str:
    held_out = any(record["validation_score"] is not None for record in history)
    headings = ["pass", "mistakes", "updates", "seconds"] + ["held-out error"] * held_out
    rows: list[list[Cell]] = [
        [str(record["pass_"]), record["mistakes"], record["updates"], f"{record['seconds']:.3f}"]
        + [percent(1.0 - (record["validation_score"] or 0.0))] * held_out
        for record in history[:MOST_PASSES]
    ]
    caption = "Passes" if len(history) <= MOST_PASSES else f"The first {MOST_PASSES} passes"
    return part("fold", "Every pass", table(headings, rows, caption))


def survival_section(found: Findings) -> Parts:
    """Show how long weight vectors lasted."""
    survival = found.survival
    if survival is None or not len(survival):
        return []
    sentence = (
        f"Training made {counted(len(survival), 'weight vector')}: the zero vector, and one with "
        "each update. Half of them survived "
        f"{counted(int(sorted(survival)[len(survival) // 2]), 'row')} or fewer, the longest "
        f"{counted(int(survival.max()), 'row')}."
    )
    return [sentence, picture(plots.SurvivalDisplay.from_survival(survival))]


def test_section(found: Findings) -> Parts:
    """Say how good the model is on new rows."""
    evaluation = found.judged
    if evaluation is None:
        told = held_out_sentence(found)
        given = "None of the test labels is known." if found.evaluation else NO_TEST
        return [f"{told}. The error on new data may be higher. {given}" if told else given]
    sentence = (
        f"{evaluation.n_wrong:,} of {counted(evaluation.n_rows, 'row')} wrong: error "
        f"{percent(evaluation.error)}, 95% interval "
        f"{interval(evaluation.n_wrong, evaluation.n_rows)}."
    )
    label, baseline = evaluation.baseline(found.model.training.get("class_counts"))
    sentence += f" Always predicting {label} has error {percent(baseline)}."
    if evaluation.roc_auc is not None:
        sentence += f" ROC AUC {evaluation.roc_auc:.4f}."
    if evaluation.n_unlabelled:
        sentence += f" {counted(evaluation.n_unlabelled, 'row')} without a label skipped."
    headings, rows, which = class_table(evaluation)
    caption = "Precision and recall" + ("" if which == "Classes" else f": {which}")
    names = ", ".join(map(file_name, found.test_names))
    where = f" Rows of {names}." if names else ""
    return [
        sentence + where,
        _matrix(evaluation)
        if len(evaluation.labels) <= MOST_IN_MATRIX
        else table(*confusion_list(evaluation, MOST_CONFUSIONS)),
        table(headings, rows, caption),
        *_curves(found, evaluation),
    ]


def _curves(found: Findings, evaluation: Evaluation) -> Iterator[Markup]:
    """Draw precision and recall, the probabilities, and the error of the clearest votes."""
    model, reliability, coverage = found.model, found.reliability, evaluation.coverage_curve
    two = len(model.classes) == 2
    scores, positive = evaluation.scores_for(1)
    if two and not model.voted and positive.any():
        curve, label = (scores, positive, scores > 0), str(model.classes[1])
        yield picture(plots.PrecisionRecallDisplay.from_scores(*curve, label=label))
    if reliability is not None:
        what = f"the row is {model.classes[1]}" if two else "the prediction is right"
        yield picture(plots.ReliabilityDisplay.from_reliability(reliability, what=what))
    if coverage is not None:
        yield picture(plots.CoverageDisplay(*coverage, "vote margin", evaluation.n_rows))


def _matrix(evaluation: Evaluation) -> str:
    """Return the confusion matrix, each cell shaded by its share of the true class."""
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


def hardest_section(found: Findings) -> Parts:
    """Show the rows that went most wrong, with the features and training rows that decided."""
    if not found.hardest:
        return []
    told = "Wrong rows whose wrong class was furthest ahead; rows are counted from 1."
    return [told, *(_row(found.model, row) for row in found.hardest)]


def _row(model: Model, row: MisjudgedRow) -> str:
    text = max((value for _, value in row.values), key=len, default="")
    beside = f", which was {number(row.lead)} ahead"
    if len(text) > IN_HEADING:
        beside = f": “{text[:LONG_VALUE]}{'…' * (len(text) > LONG_VALUE)}”"
    summary = f"Row {row.number:,}: {row.label} taken for {row.predicted}{beside}"
    teachers = (
        _teachers(f"Training rows that taught it to answer {row.predicted}", row.taught),
        _teachers("Training rows that taught it the opposite", row.opposed),
    )
    terms = ""
    if row.explanation is not None:
        headings, rows, title = contribution_table(model, row.explanation, MOST_TERMS)
        terms = table(headings, rows, f"What decided: {title}")
    return part("fold", summary, *([row.pixels] if row.pixels else _values(row)), terms, *teachers)


def _values(row: MisjudgedRow) -> list[Markup]:
    """Show what stands in the row: texts whole, if not too long, and values by column."""
    texts = [(name, value) for name, value in row.values if len(value) > LONG_VALUE]
    short = [(name, value) for name, value in row.values if len(value) <= LONG_VALUE]
    parts = [part("facts", short, "values")] if short else []
    for name, value in texts:
        cut = value if len(value) <= MOST_TEXT else f"{value[:MOST_TEXT]} …"
        parts.append(part("quote", name, cut))
    if row.n_more:
        parts.append(part("paragraph", f"and {counted(row.n_more, 'more value')}"))
    return parts


def _teachers(caption: str, teachers: list[Teacher]) -> str:
    if not teachers:
        return ""
    longest = max(abs(teacher.term.amount) for teacher in teachers)
    rows: list[list[Cell]] = [
        [
            f"row {t.term.row + 1:,}",
            str(t.term.label),
            t.term.updates,
            signed(t.term.amount),
            Bar(t.term.amount, longest),
            part("names", ", ".join(f"{name} {signed(product)}" for name, product in t.shared)),
        ]
        for t in teachers
    ]
    headings = ("learned from", "label", "times", "amount", "", "in common with this row")
    return table(headings, rows, caption, "taught")


def weight_section(found: Findings) -> Parts:
    """Show which features decide."""
    parts: Parts = []
    if found.by_effect:
        parts.append(
            "The features have very different ranges, so they are ranked by weight × standard "
            "deviation."
        )
    if found.model.voted:
        parts.append("The model decides by vote; these are the average weights.")
    folded = len(found.rankings) > MOST_TABLES
    parts.append(_weight_pictures(found))
    if folded:
        headings, rows, title = ranking_list(found.rankings, IN_LINE)
        parts.append(table(headings, [[*row[:-1], part("names", row[-1])] for row in rows], title))
    for ranking in found.rankings:
        tables = [table(*made) for made in weight_tables(ranking, by_effect=found.by_effect)]
        shapes = [part("paragraph", f"{bias_sentence(ranking)}."), *tables]
        parts += [part("fold", f"Weights of {ranking.label}", *shapes)] if folded else shapes
    return parts


def column_section(found: Findings) -> Parts:
    """Draw what each column adds to the score over its values, where the rows have columns."""
    model = found.model
    named = model.table is not None and model.table.owners() is not None
    if not named or model.is_kernel or feature_grid(model, found.largest) is not None:
        return []
    display = plots.ShapeDisplay.from_estimator(model, n=MOST_SHAPES)
    return [picture(display)] if display.shapes else []


def _weight_pictures(found: Findings) -> str:
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


def picture(display: plots.Display) -> Markup:
    """Return a display as a figure with its sentence."""
    from matplotlib import rc_context

    buffer = io.StringIO()
    # Ids are hashed from the salt: the same every time, and of no other picture on the page.
    with rc_context({**STYLE, "svg.hashsalt": display.sentence}):
        drawn = plots.figure_of(display)
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

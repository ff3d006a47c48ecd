"""Tables of an evaluation, a decision and weights, for the page and for terminals.

Each is its headings, its rows and its title. Columns without a heading and text are left out.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rosenblatt.models.evaluation import Evaluation, LabelEvaluation, wilson
from rosenblatt.models.explanation import Contribution, Explanation, Ranking
from rosenblatt.models.model import Model
from rosenblatt.wording import (
    Bar,
    Cell,
    counted,
    decimals,
    number,
    percent,
    printable,
    signed,
    unsure,
)

TableParts = tuple[Sequence[str], list[list[Cell]], str]

MOST_REPORTED = 30  # classes that are listed each


def interval(n_wrong: int, n_rows: int) -> str:
    """Return the interval that holds an error with 95% confidence (Wilson)."""
    low, high = wilson(n_wrong, n_rows) or (0.0, 1.0)
    return f"{percent(low)} to {percent(high)}"


def class_table(evaluation: Evaluation) -> TableParts:
    """Return precision, recall and F1 of the classes; of many, of the worst ones."""
    reports, title = evaluation.by_class, "Classes"
    if len(reports) > MOST_REPORTED:
        met = [report for report in reports if report.f1 is not None]
        reports = sorted(met, key=lambda report: report.f1 or 0.0)[:MOST_REPORTED]
        title = f"The {len(reports)} classes of {len(evaluation.labels):,} with the lowest F1"
    figures = ("precision", "recall", "f1")
    rows: list[list[Cell]] = [
        [str(r.label), *(decimals(getattr(r, name)) for name in figures), r.support]
        for r in reports
    ]
    headings = ["class", "precision", "recall", "F1", "rows"]
    if precisions := evaluation.average_precision:
        headings.append("average precision")
        values = [*precisions, *[None] * len(rows)]
        rows = [[*row, decimals(value)] for row, value in zip(rows, values, strict=False)]
    return headings, rows, title


def label_table(evaluation: LabelEvaluation) -> TableParts:
    """Return precision, recall and F1 of labels; of many, of the most frequent ones."""
    reports, title = evaluation.by_class, "Labels"
    if len(reports) > MOST_REPORTED:
        reports = sorted(reports, key=lambda report: -report.support)[:MOST_REPORTED]
        title = f"The {len(reports)} most frequent labels of {len(evaluation.labels):,}"
    figures = ("precision", "recall", "f1")
    rows: list[list[Cell]] = [
        [
            str(r.label),
            *(decimals(getattr(r, name)) for name in figures),
            decimals(evaluation.always_f1(r)),
            r.support,
        ]
        for r in reports
    ]
    headings = ("label", "precision", "recall", "F1", "F1 of always", "rows")
    return headings, rows, title


def label_figures(figures: Mapping[str, Any]) -> str:
    """Return in a sentence how good the labels of rows are that may have several."""
    places = [f"at {k} {decimals(value)}" for k, value in figures["precision_at"].items()]
    micro, macro = (decimals(figures[name]["f1"]) for name in ("micro", "macro"))
    return (
        f"micro F1 {micro}, macro F1 {macro}, precision {', '.join(places)}, exact match "
        f"{percent(figures['exact_match'])}, Hamming loss {percent(figures['hamming_loss'])}"
    )


def confusion_list(evaluation: Evaluation, most: int) -> TableParts:
    """Return the most frequent confusions."""
    rows: list[list[Cell]] = [
        [str(label), str(guess), n, percent(share)]
        for label, guess, n, share in evaluation.leading_confusions(most)
    ]
    return ("class", "predicted as", "rows", "of the class"), rows, "Most frequent confusions"


def contribution_table(model: Model, explanation: Explanation, n: int) -> TableParts:
    """Return the n largest contributions of features that vary, and the sums of all others."""
    constant: list[Contribution] = []
    varied: list[Contribution] = []
    spread = model.spread
    for term in explanation.terms:  # constant: all rows that were measured had the same value
        at = term.feature
        same = spread is not None and spread.low[at] == spread.high[at]
        (constant if same else varied).append(term)
    shown, rest = varied[:n], varied[n:]
    longest = max((abs(term.amount) for term in shown), default=0.0)
    scaled = any(term.raw is not None for term in shown)
    ones = all(term.value == 1 and term.raw is None for term in shown)
    rows: list[list[Cell]] = [
        [
            t.name,
            "" if ones else number(t.value if t.raw is None else t.raw),
            "" if t.raw is None else number(t.value),
            signed(t.weight),
            unsure(t.uncertainty),
            signed(t.amount),
            Bar(t.amount, longest),
        ]
        for t in shown
    ]
    # Sums
    alone = len(model.weights) == 1 or explanation.negative is None
    sums = [("(bias)", explanation.bias), ("= score" if alone else "= lead", explanation.total)]
    for terms, what in ((constant, "constant feature"), (rest, "other feature")):
        if terms:
            amount = math.fsum(term.amount for term in terms)
            sums.insert(0, (f"({counted(len(terms), what)})", amount))
    rows += [[name, "", "", "", "", signed(amount), ""] for name, amount in sums]
    # Headings
    product = "contribution" if ones else "weight × scaled" if scaled else "weight × value"
    sure = any(term.uncertainty is not None for term in shown)
    headings = (
        *("feature", "" if ones else "value", "scaled" if scaled else "", "weight"),
        *("±" if sure else "", product, ""),
    )
    positive = negative = printable(str(explanation.positive))
    if explanation.negative is not None:
        negative = printable(str(explanation.negative))
    sides = "against" if explanation.negative is None else "for"
    title = f"Positive contributions speak for {positive}, negative ones {sides} {negative}"
    return headings, rows, title


def _sides(ranking: Ranking) -> tuple[str, str]:
    """Return the meaning of positive and of negative weights."""
    label = f"for {printable(str(ranking.label))}"
    if ranking.against is not None:
        return label, f"for {printable(str(ranking.against))}"
    return label, f"against {printable(str(ranking.label))}"


def weight_tables(ranking: Ranking, *, by_effect: bool) -> list[TableParts]:
    """Return the largest weights of a class on either side."""
    shown = [*ranking.top, *ranking.bottom]
    sizes = {w.feature: (w.effect or 0.0) if by_effect else w.weight for w in shown}
    longest = max(map(abs, sizes.values()), default=0.0)
    sure = any(w.uncertainty is not None for w in shown)
    headings = ("feature", "weight", "±" if sure else "", "× deviation" if by_effect else "", "")
    tables: list[TableParts] = []
    for side, part in zip(_sides(ranking), (ranking.top, ranking.bottom), strict=True):
        rows: list[list[Cell]] = [
            [
                w.name,
                signed(w.weight),
                unsure(w.uncertainty),
                signed(w.effect or 0.0) if by_effect else "",
                Bar(sizes[w.feature], longest),
            ]
            for w in part
        ]
        tables += [(headings, rows, f"Speaks {side}")] * bool(rows)
    return tables


def bias_sentence(ranking: Ranking, noun: str = "class") -> str:
    """Return the number of weights of a class, its bias, and the meaning of its sign."""
    speaks = f", speaks {_sides(ranking)[ranking.bias < 0]}" if ranking.bias else ""
    named = f"{noun.capitalize()} {printable(str(ranking.label))}: "
    about = "" if ranking.against is not None else named
    weights = counted(ranking.n_nonzero, "weight")
    return f"{about}{weights} nonzero, bias {signed(ranking.bias)}{speaks}"


def ranking_list(rankings: Sequence[Ranking], most: int, noun: str = "class") -> TableParts:
    """Return a line for each of many classes or labels, with the names of its largest weights."""
    rows: list[list[Cell]] = [
        [
            str(ranking.label),
            signed(ranking.bias),
            ranking.n_nonzero,
            ", ".join(weight.name for weight in ranking.top[:most]),
        ]
        for ranking in rankings
    ]
    title = "Classes" if noun == "class" else "Labels"
    return (noun, "bias", "weights", "largest weights"), rows, title

"""Tables of confusions, a decision and weights, for the page and for terminals.

Each is its headings, its rows and its title. Columns without a heading and text are left out.
"""

import math
from collections.abc import Sequence

from rosenblatt.models.explanation import Contribution, Explanation, Ranking
from rosenblatt.models.model import Model
from rosenblatt.tasks.evaluation import ClassCounts, TableParts
from rosenblatt.wording import (
    Bar,
    Cell,
    counted,
    number,
    percent,
    printable,
    signed,
    unsure,
)


def confusion_list(evaluation: ClassCounts, most: int) -> TableParts:
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
    spread = model.merged.spread  # which the terms are of
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


def ranking_list(
    rankings: Sequence[Ranking], most: int, noun: str = "class", *, by_effect: bool = False
) -> TableParts:
    """Return a line for each of many classes or labels, with its largest weights and their sign."""

    def largest(ranking: Ranking) -> list[str]:
        shown = {w.feature: w for w in (*ranking.top, *ranking.bottom)}.values()
        by_size = sorted(shown, key=lambda w: -abs((by_effect and w.effect) or w.weight))
        return [f"{w.name} {signed(w.weight)}" for w in by_size[:most]]

    rows: list[list[Cell]] = [
        [
            str(ranking.label),
            signed(ranking.bias),
            ranking.n_nonzero,
            ", ".join(largest(ranking)),
        ]
        for ranking in rankings
    ]
    title = "Classes" if noun == "class" else "Labels"
    return (noun, "bias", "weights", "largest weights"), rows, title

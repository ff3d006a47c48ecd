"""The parts of the page on test rows: errors, confusion, and the rows that went most wrong."""

import math

from rosenblatt.models.evaluation import Evaluation, wilson
from rosenblatt.report.findings import Findings
from rosenblatt.report.hardest import HardRow
from rosenblatt.report.markup import Cell, bar, paragraph, section, table, text
from rosenblatt.report.pictures import coverage_picture
from rosenblatt.wording import counted, number, percent, signed

MOST_IN_MATRIX = 20  # classes; of more, the most frequent confusions
MOST_CONFUSIONS = 20
MOST_CLASSES = 30
MOST_TERMS = 8


def test_section(found: Findings) -> str:
    """Say how good the model is on rows that it has not seen."""
    evaluation = found.evaluation
    if evaluation is None or evaluation.error is None:
        error = found.model.training.get("held_out_error")
        if error is None:
            told = "No rows were given to judge the model by: name some with --test."
        else:
            told = f"Error on held-out rows: {percent(error)}. Test rows (--test) would say more."
        return section("test", "Test", paragraph(text(told)))
    low, high = wilson(evaluation.n_wrong, evaluation.n_rows) or (0.0, 1.0)
    sentence = (
        f"{evaluation.n_wrong:,} of {counted(evaluation.n_rows, 'row')} wrong: error "
        f"{percent(evaluation.error)}, with 95 % confidence between {percent(low)} and "
        f"{percent(high)}."
    )
    if evaluation.roc_auc is not None:
        sentence += f" ROC AUC {evaluation.roc_auc:.4f}."
    if evaluation.n_unlabelled:
        sentence += f" {counted(evaluation.n_unlabelled, 'row')} without a label left out."
    names = ", ".join(found.test_names)
    where = f" Rows of {names}." if names else ""
    return section(
        "test",
        "Test",
        paragraph(text(sentence + where)),
        _matrix(evaluation)
        if len(evaluation.labels) <= MOST_IN_MATRIX
        else _confusions(evaluation),
        _classes(evaluation),
        _coverage(evaluation, found.model.learner),
    )


def _coverage(evaluation: Evaluation, learner: str) -> str:
    curve = evaluation.coverage_curve
    return "" if curve is None else coverage_picture(curve, evaluation.n_rows, learner)


def _matrix(evaluation: Evaluation) -> str:
    """Return the confusion matrix, each cell shaded by its share of the true class."""
    rows: list[list[Cell]] = []
    for true, counts in enumerate(evaluation.confusion.tolist()):
        total = max(sum(counts), 1)
        cells = []
        for guess, n in enumerate(counts):
            kind = "right" if true == guess else "wrong"
            share = math.sqrt(n / total)  # so that a few wrong ones still show
            cells.append(f'<span class="cell {kind}" style="--share:{share:.3f}">{n:,}</span>')
        rows.append([text(evaluation.labels[true]), *cells])
    caption = "Confusion: a line for each true class, a column for each predicted one"
    matrix = table(caption, ("true \\ predicted", *map(str, evaluation.classes)), rows)
    return matrix.replace("<table>", '<table class="matrix">')


def _confusions(evaluation: Evaluation) -> str:
    support = evaluation.confusion.sum(axis=1)
    rows: list[list[Cell]] = [
        [
            text(evaluation.labels[true]),
            text(evaluation.classes[guess]),
            n,
            percent(n / int(support[true])),
        ]
        for n, true, guess in evaluation.confusions[:MOST_CONFUSIONS]
    ]
    headings = ("class", "predicted as", "rows", "of the class")
    return table("Most frequent confusions", headings, rows) if rows else ""


def _classes(evaluation: Evaluation) -> str:
    reports = sorted(
        (report for report in evaluation.by_class if report.f1 is not None),
        key=lambda report: report.f1 or 0.0,
    )[:MOST_CLASSES]
    rows: list[list[Cell]] = [
        [text(r.label), *(_three(v) for v in (r.precision, r.recall, r.f1)), r.support]
        for r in reports
    ]
    headings = ("class", "precision", "recall", "F1", "rows")
    return table("Classes, the least well recognised first", headings, rows)


def _three(value: float | None) -> str:
    return number(None) if value is None else f"{value:.3f}"


def hardest_section(found: Findings) -> str:
    """Show the rows that went most wrong, with the features and training rows that decided."""
    if not found.hardest:
        return ""
    return section(
        "hardest",
        "Hardest rows",
        paragraph("Wrong rows whose wrong class was furthest ahead; rows are counted from 1."),
        *(_row(row) for row in found.hardest),
    )


def _row(row: HardRow) -> str:
    summary = (
        f"Row {row.number:,}: {text(row.label)} taken for {text(row.predicted)}, "
        f"which was {number(row.lead)} ahead"
    )
    reasons = _terms(row) + _taught(row)
    if not reasons:  # many vectors voted, and none of them alone decided
        return paragraph(summary)
    return f"<details><summary>{summary}</summary>{reasons}</details>"


def _terms(row: HardRow) -> str:
    explanation = row.explanation
    if explanation is None:
        return ""
    shown, rest = explanation.terms[:MOST_TERMS], explanation.terms[MOST_TERMS:]
    longest = max((abs(term.amount) for term in shown), default=0.0)
    rows: list[list[Cell]] = [
        [text(t.name), number(t.value), signed(t.weight), signed(t.amount), bar(t.amount, longest)]
        for t in shown
    ]
    if rest:
        amount = math.fsum(term.amount for term in rest)
        rows.append([counted(len(rest), "other feature"), "", "", signed(amount), ""])
    rows.append(["bias", "", "", signed(explanation.bias), ""])
    rows.append(["total", "", "", signed(explanation.total), ""])
    caption = (
        f"What decided: above 0 speaks for {explanation.positive}, below for {explanation.negative}"
    )
    return table(caption, ("feature", "value", "weight", "weight × value", ""), rows)


def _taught(row: HardRow) -> str:
    provenance = row.provenance
    if provenance is None:
        return ""
    shown, rest = provenance.terms[:MOST_TERMS], provenance.terms[MOST_TERMS:]
    longest = max((abs(term.amount) for term in shown), default=0.0)
    rows: list[list[Cell]] = [
        [
            f"row {t.row + 1:,}",
            text(t.label),
            t.updates,
            signed(t.amount),
            bar(t.amount, longest),
        ]
        for t in shown
    ]
    if rest:
        amount = math.fsum(term.amount for term in rest)
        rows.append([counted(len(rest), "other row"), "", "", signed(amount), ""])
    caption = (
        f"Which training rows taught it so: above 0 speaks for {provenance.positive}, below for "
        f"{provenance.negative}"
    )
    return table(caption, ("learned from", "label", "times", "amount", ""), rows)

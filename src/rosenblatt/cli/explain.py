"""The command that explains the decision on one row."""

import math
from typing import Any

import click

from rosenblatt.cli import options, tagging
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding.features import TOKENS
from rosenblatt.data.encoding.text_column import Pieces, lower_text, token_spans
from rosenblatt.data.files import Layout
from rosenblatt.errors import InputError
from rosenblatt.mistakes.provenance import Provenance
from rosenblatt.models.explanation import (
    Explanation,
    contributions,
    decision,
    decision_report,
    explained_number,
    recorded_provenance,
    rival_of,
)
from rosenblatt.models.model import Model
from rosenblatt.models.record import EARLIER
from rosenblatt.report.tables import contribution_table
from rosenblatt.wording import UNSURE, Bar, Cell, counted, printable, signed

AROUND = 4  # words on either side of one that says much


@click.command(cls=ScreenCommand, example="rosenblatt explain spam.model test.csv --row 17")
@click.argument("model_path", metavar="MODEL", type=click.Path())
@click.argument("data", type=click.Path())
@options.number("--row", default=1, help="Number of the row, counted from 1.")
@options.number("-n", "n", default=10, help="Number of features to show.")
@options.value(
    "--class LABEL", "class_", shown="the best", help="Class or label whose score is explained."
)
@click.option(
    "--why",
    is_flag=True,
    help="Show the training rows behind the decision; needs train --record-mistakes.",
)
@options.layout
@tagging.number(
    "--word", shown="the least sure one", help="Of sentences: number of the word, counted from 1."
)
def explain(
    screen: Screen,
    model_path: str,
    data: str,
    row: int,
    n: int,
    class_: str | None,
    why: bool,
    layout: Layout,
) -> None:
    """Explain how MODEL decides one row of DATA ("-" for standard input).

    Each feature adds weight × value to the score. With more than two classes the lead over the
    second-best class is explained, or over the row's label if that is another one; where a row may
    have several labels, the score of the best one. For a voted model it is the average weights. Of
    sentences, DATA may be a sentence; explained is the tag of a word.
    """
    model = Model.load(model_path)
    batch = _row(model, data, row, layout)
    scores, winner = decision(model, batch)
    explained = winner if class_ is None else explained_number(model, class_)
    rival = rival_of(model, int(batch.labels[0]), winner) if class_ is None else None
    explanation = contributions(model, batch.indices, batch.data, winner=explained, rival=rival)
    document: dict[str, Any] = {
        "model": model_path,
        "data": data,
        "row": row,
        "label": batch.classes[batch.labels[0]] if batch.labels[0] >= 0 else None,
    }
    document |= decision_report(model, batch, scores, winner, explained)
    document |= explanation._asdict()
    provenance = None
    if why:
        score = scores[0] if scores.ndim > 1 else scores
        sides = [explained] if rival is None else [explained, rival]
        provenance = recorded_provenance(model, batch.indices, batch.data, score, sides)
        document["why"] = provenance.report()
    if screen.wants_json:
        screen.json(document)
        return
    for line in model.task.decision_lines(document):
        screen.show(line)
    old = model.table is not None and model.table.numbering.version < TOKENS
    pieces: Pieces = "words" if old else "tokens"
    for column, text in (batch.kept or {}).items():
        _show_text(screen, column, str(text[0] or ""), pieces, explanation, n)
    table = contribution_table(model, explanation, n)
    screen.table(*table)
    if "±" in table[0]:
        screen.say(f"\n{UNSURE}")
    if explanation.n_unknown:
        n_unknown = counted(explanation.n_unknown, "feature")
        screen.say(f"\n{n_unknown} of the row did not occur in the training data.")
    if provenance is not None:
        _show_provenance(screen, model, provenance, n)


def _show_provenance(screen: Screen, model: Model, provenance: Provenance, n: int) -> None:
    positive = printable(str(provenance.positive))
    against = f"for {provenance.negative}" if provenance.negative is not None else "against it"
    shown, rest = provenance.terms[:n], provenance.terms[n:]
    longest = max((abs(term.amount) for term in shown), default=0.0)
    rows: list[list[Cell]] = [
        [
            f"row {term.row + 1:,}",
            provenance.label_of(term),
            term.updates,
            signed(term.amount),
            Bar(term.amount, longest),
        ]
        for term in shown
    ]
    if rest:
        amount = math.fsum(term.amount for term in rest)
        rows.append([f"({counted(len(rest), 'other row')})", "", "", signed(amount), ""])
    if provenance.remainder:
        moved = "bias_moved" in model.training
        name = "(moved bias)" if moved else "(rounding)"
        rows.append([name, "", "", signed(provenance.remainder), ""])
    rows.append(["= total", "", "", signed(provenance.total), ""])
    files = [name for key in EARLIER for name in model.training.get(key, [])] or ["?"]
    screen.table(
        ("training row", "label", "updates", "amount", ""),
        rows,
        f"Training rows of {printable(' '.join(files))} behind the decision: positive amounts "
        f"speak for {positive}, negative ones {printable(against)}",
    )


def _row(model: Model, data: str, row: int, layout: Layout) -> Batch:
    columns, before = () if model.table is None else model.table.columns, 0
    keep = tuple(dict.fromkeys(column.name for column in columns if column.role == "text"))
    how: dict[str, Any] = {"layout": layout, "prompt": True, "need_labels": False, "keep": keep}
    for batch in model.rows([data], **how):
        if row <= before + batch.n_rows:
            return batch.block(row - before - 1, row - before)
        before += batch.n_rows
    raise InputError(f"Row {row:,} does not exist; {data} has {counted(before, 'row')}.")


def _show_text(
    screen: Screen, column: str, text: str, pieces: Pieces, explanation: Explanation, n: int
) -> None:
    """Print the tokens that say most where they stand in the text, each with its share.

    A term's contribution is shared equally among the words that it stands at.
    """
    tokens = token_spans(text, pieces)
    places: dict[str, list[int]] = {}
    before = None  # the word before, and which token it is
    for i, (start, stop, is_word) in enumerate(tokens):
        spelling = lower_text(text[start:stop], pieces)
        places.setdefault(spelling, []).append(i)
        if is_word and before is not None:
            places.setdefault(f"{before[0]} {spelling}", []).extend((before[1], i))
        before = (spelling, i) if is_word else before
    shares = [0.0] * len(tokens)
    for term in explanation.terms:
        stands_at = places.get(term.name.removeprefix(f"{column}: "), [])
        for i in stands_at:
            shares[i] += term.amount / len(stands_at)
    marked = {i for i in sorted(range(len(tokens)), key=lambda i: -abs(shares[i]))[:n] if shares[i]}
    near = [any(abs(i - k) <= AROUND for k in marked) for i in range(len(tokens))]
    parts, end = [], 0
    for i, (start, stop, _) in enumerate(tokens):
        if near[i]:
            whole = not i or near[i - 1]
            parts.append(text[end:stop] if whole else f" … {text[start:stop]}")
            parts.append(f" ({signed(shares[i])})" if i in marked else "")
        end = stop
    if marked:
        parts.append(text[end:] if near[-1] else " …")
        sentence = printable(" ".join("".join(parts).split()))
        screen.show(f"\n{printable(column)}: {sentence}")

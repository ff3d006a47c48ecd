"""A trace as a table: for the terminal, in Markdown, in HTML.

The cells of a step are words, written once; each kind of table sets them in its own way.
"""

from collections.abc import Callable, Iterable
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rosenblatt.tracing.convergence import ProofStep
    from rosenblatt.tracing.steps import Step, Trace

NARROW = 8  # features; wider rows show what is not 0
SHOWN = 6  # of them

ENDS = {
    "converged": "converged, the last pass made no mistake.",
    "max_iter": "stopped after max_iter passes.",
    None: "later steps were not asked for.",
}


class Column(NamedTuple):
    """A column of the table."""

    name: str
    cell: Callable[["Step"], str]
    side: str = "right"  # where numbers stand; words and vectors stand to the left


def terminal_table(trace: "Trace", most: int | None = None) -> str:
    """Return the steps as a table for the terminal; beyond ``most`` a line counts the others."""
    shown, left_out = _ends_of(trace, most)
    placed = []
    for column in _columns(trace):
        texts = [column.name, *map(column.cell, shown)]
        width = max(map(len, texts))
        move = str.ljust if column.side == "left" else str.rjust
        placed.append([move(text, width) for text in texts])
    lines = ["  ".join(cells).rstrip() for cells in zip(*placed, strict=True)]
    if left_out:
        lines.insert(1 + (len(shown) + 1) // 2, f"… {left_out} steps")
    return "\n".join([*lines, summary(trace)])


def markdown_table(trace: "Trace") -> str:
    """Return the steps as a Markdown table."""
    columns = _columns(trace)
    under = [":---" if column.side == "left" else "---:" for column in columns]
    texts = [[column.name for column in columns]]
    texts += [[column.cell(step) for column in columns] for step in trace]
    # no cell may end early, nor a label become markup
    marks = str.maketrans({"\\": "\\\\", "|": "\\|", "\n": " ", "[": "\\["})
    head, *rows = ([cell.translate(marks) for cell in cells] for cells in texts)
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in (head, under, *rows))
    return f"{table}\n\n{summary(trace)}"


def html_table(trace: "Trace", most: int | None = None) -> str:
    """Return the steps as an HTML table; those that changed the weights have the class "update"."""
    columns = _columns(trace)
    shown, left_out = _ends_of(trace, most)

    def cells(tag: str, texts: Iterable[str]) -> str:
        return "".join(
            f'<{tag} style="text-align:{column.side}">{escape(text)}</{tag}>'
            for column, text in zip(columns, texts, strict=True)
        )

    body = []
    for step in shown:
        look = ' class="update" style="font-weight:bold"' if step.step else ""
        body.append(f"<tr{look}>{cells('td', (column.cell(step) for column in columns))}</tr>")
    if left_out:
        body.insert(
            (len(shown) + 1) // 2, f'<tr><td colspan="{len(columns)}">… {left_out} steps</td></tr>'
        )
    head = cells("th", (column.name for column in columns))
    caption = f'<caption style="caption-side:bottom">{escape(summary(trace))}</caption>'
    return (
        f'<table class="rosenblatt-trace">{caption}<thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table>"
    )


def summary(trace: "Trace") -> str:
    """Return one sentence on the whole trace."""
    said = f"{len(trace)} step{'' if len(trace) == 1 else 's'}; {ENDS[trace.stop_reason]}"
    if trace.bound is not None:
        said += f" R²/γ² = {number(trace.bound)}."
    return said


def _ends_of(trace: "Trace", most: int | None) -> "tuple[tuple[Step, ...], int]":
    """Return the first and the last steps, as many as are shown, and how many stand between."""
    steps = trace.steps
    if most is None or len(steps) <= most:
        return steps, 0
    first = (most + 1) // 2
    return steps[:first] + steps[len(steps) - most + first :], len(steps) - most


def _columns(trace: "Trace") -> list[Column]:
    """Return the columns that the steps of a trace fill."""
    named = trace.names is not None and len(trace.names) <= NARROW
    of = f" [{' '.join(trace.names or ())}]" if named else ""
    columns = [
        Column("pass", lambda step: str(step.pass_)),
        Column("row", lambda step: str(step.row + trace.first_row)),
        Column(f"x{of}", lambda step: _row(step, trace), "left"),
        Column("y", lambda step: _label(step.y, trace)),
        Column("activation", lambda step: _numbers(step.activation)),
        Column("", _outcome, "left"),
    ]
    uncertain = bool(trace) and trace[0].variance is not None
    if uncertain:
        columns += [
            Column("margin", lambda step: number(step.margin)),
            Column("its variance", lambda step: number(step.variance)),
        ]
    columns.append(Column("α" if uncertain else "step", lambda step: _signed(step, trace)))
    if uncertain:
        columns.append(Column("β", lambda step: number(step.beta) if step.step else ""))
    columns += [
        Column(f"w{of}", lambda step: _weights(step.w, trace), "left"),
        Column("b", lambda step: _numbers(step.b)),
    ]
    if uncertain:
        columns += [
            Column("variance of w", lambda step: _weights(step.variance_w, trace, 1.0), "left"),
            Column("of b", lambda step: _numbers(step.variance_b)),
        ]
    if trace and trace[0].average_w is not None:
        columns += [
            Column("average w", lambda step: _weights(step.average_w, trace), "left"),
            Column("average b", lambda step: _numbers(step.average_b)),
        ]
    if trace.bound is not None:
        columns += [
            _proof("updates", lambda proof: str(proof.updates)),
            _proof("angle", lambda proof: f"{proof.angle:.1f}°"),
            _proof("w·w*", lambda proof: number(proof.projection)),
            _proof("at least", lambda proof: number(proof.projection_bound)),
            _proof("‖w‖²", lambda proof: number(proof.sqnorm)),
            _proof("at most", lambda proof: number(proof.sqnorm_bound)),
        ]
    return columns


def _proof(name: str, cell: Callable[["ProofStep"], str]) -> Column:
    """Return a column of the proof, which only updates fill."""
    return Column(name, lambda step: "" if step.proof is None else cell(step.proof))


def _outcome(step: "Step") -> str:
    """Return what came of a visit in a word or two."""
    if step.mistake:
        return "wrong"
    return "right, too close" if step.step else "right"


def _signed(step: "Step", trace: "Trace") -> str:
    """Return the step with the sign that it has in the weights, or who gains and loses by it."""
    if not step.step:
        return ""
    if len(trace.classes) > 2:
        return f"{step.y} +{number(step.step)}, {step.rival} -{number(step.step)}"
    return ("+" if step.y == trace.classes[1] else "-") + number(step.step)


def _label(label: Any, trace: "Trace") -> str:
    """Return a label as it was given; +1 where the other one is −1."""
    return f"{label:+d}" if trace.classes == (-1, 1) and isinstance(label, int) else str(label)


def _row(step: "Step", trace: "Trace") -> str:
    """Return the values of a row, or those that are not 0 where there are many."""
    if step.w.shape[-1] <= NARROW:
        return _vector(step.x)
    indices, values = step.entries
    nonzero = values != 0.0
    return _entries(indices[nonzero], values[nonzero], trace.names)


def _weights(w: Any, trace: "Trace", least: float = 0.0) -> str:
    """Return weights, class after class; of many features those furthest from ``least``.

    Variances are furthest from 1, with which they begin, where the weights are surest.
    """
    vectors = np.atleast_2d(w)
    if w.shape[-1] <= NARROW:
        return " ".join(_vector(v) for v in vectors)
    said = []
    for v in vectors:
        furthest = np.argsort(-np.abs(v - least), kind="stable")[: np.count_nonzero(v != least)]
        said.append(_entries(furthest, v[furthest], trace.names))
    return " ".join(said)


def _numbers(values: Any) -> str:
    """Return a number, or one for each class."""
    return number(values) if np.ndim(values) == 0 else _vector(values)


def number(value: Any) -> str:
    """Return a number with six digits at most, without a sign on zero.

    >>> number(-0.0), number(2.0), number(1 / 3)
    ('0', '2', '0.333333')
    """
    return f"{float(value) + 0.0:.6g}"


def _vector(values: Any) -> str:
    return f"[{' '.join(number(v) for v in values)}]"


def _entries(indices: NDArray[Any], values: NDArray[Any], names: tuple[str, ...] | None) -> str:
    said = [
        f"{i if names is None else names[i]}:{number(v)}"
        for i, v in zip(indices[:SHOWN].tolist(), values[:SHOWN].tolist(), strict=True)
    ]
    more = [f"… {len(indices) - SHOWN} more"] if len(indices) > SHOWN else []
    return f"[{' '.join(said + more)}]"

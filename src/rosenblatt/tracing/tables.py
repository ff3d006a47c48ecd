"""A trace as a table: for the terminal, in Markdown, in HTML.

The cells of a step are words, written once; each kind of table sets them in its own way.
"""

from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.tracing.steps import Step, Trace

NARROW = 8  # features; wider rows show what is not 0
SHOWN = 6  # of them

PROOF_HEADER = ["updates", "angle", "w·w*", "at least", "‖w‖²", "at most"]

LEFT = {
    "x",
    "",
    "w",
    "average w",
    "variance of w",
}  # columns of words and vectors; numbers stand to the right

ENDS = {
    "converged": "converged, the last pass made no mistake.",
    "max_iter": "stopped after max_iter passes.",
    None: "later steps were not asked for.",
}


def terminal_table(trace: Trace, most: int | None = None) -> str:
    """Return a table in columns; ``most`` steps at most, with a line for those left out."""
    columns = header(trace)
    shown, left_out = _ends_of(trace, most)
    texts = [columns, *lines(trace, shown)]
    widths = [max(len(cells[j]) for cells in texts) for j in range(len(columns))]
    out = []
    for cells in texts:
        placed = (
            cell.ljust(width) if _side(name) == "left" else cell.rjust(width)
            for name, cell, width in zip(columns, cells, widths, strict=True)
        )
        out.append("  ".join(placed).rstrip())
    if left_out:
        out.insert(1 + (len(shown) + 1) // 2, f"… {left_out} steps")
    return "\n".join([*out, summary(trace)])


def markdown_table(trace: Trace) -> str:
    """Return a Markdown table."""
    columns = header(trace)
    under = [":---" if _side(name) == "left" else "---:" for name in columns]
    head, *rows = ([_barred(cell) for cell in cells] for cells in (columns, *lines(trace, trace)))
    texts = [head, under, *rows]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in texts)
    return f"{table}\n\n{summary(trace)}"


def html_table(trace: Trace, most: int | None = None) -> str:
    """Return an HTML table; rows that changed the weights have the class "update"."""
    columns = header(trace)
    shown, left_out = _ends_of(trace, most)
    body = []
    for step, cells in zip(shown, lines(trace, shown), strict=True):
        placed = "".join(
            f'<td style="text-align:{_side(name)}">{escape(cell)}</td>'
            for name, cell in zip(columns, cells, strict=True)
        )
        look = ' class="update" style="font-weight:bold"' if step.step else ""
        body.append(f"<tr{look}>{placed}</tr>")
    if left_out:
        body.insert(
            (len(shown) + 1) // 2, f'<tr><td colspan="{len(columns)}">… {left_out} steps</td></tr>'
        )
    head = "".join(f'<th style="text-align:{_side(name)}">{escape(name)}</th>' for name in columns)
    caption = f'<caption style="caption-side:bottom">{escape(summary(trace))}</caption>'
    return (
        f'<table class="rosenblatt-trace">{caption}<thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table>"
    )


def summary(trace: Trace) -> str:
    """Return one sentence on the whole trace."""
    said = f"{len(trace)} step{'' if len(trace) == 1 else 's'}; {ENDS[trace.stop_reason]}"
    if trace.bound is not None:
        said += f" R²/γ² = {number(trace.bound)}."
    return said


def _ends_of(trace: Trace, most: int | None) -> tuple[tuple[Step, ...], int]:
    """Return the first and the last steps, as many as are shown, and how many stand between."""
    steps = trace.steps
    if most is None or len(steps) <= most:
        return steps, 0
    first = (most + 1) // 2
    return steps[:first] + steps[len(steps) - most + first :], len(steps) - most


def _side(name: str) -> str:
    return "left" if name.partition(" [")[0] in LEFT else "right"


def _barred(cell: str) -> str:
    """Return a cell in which Markdown sees no end of the cell and no markup of a label."""
    return cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("[", "\\[")


def header(trace: Trace) -> list[str]:
    """Return the names of the columns."""
    named = trace.names is not None and len(trace.names) <= NARROW
    of = f" [{' '.join(trace.names or ())}]" if named else ""
    columns = ["pass", "row", f"x{of}", "y", "activation", "", "step", f"w{of}", "b"]
    if trace and trace[0].variance is not None:
        columns[6:7] = ["margin", "its variance", "α", "β"]
        columns += ["variance of w", "of b"]
    if trace and trace[0].average_w is not None:
        columns += ["average w", "average b"]
    return columns + (PROOF_HEADER if trace.bound is not None else [])


def lines(trace: Trace, steps: Any) -> Iterator[list[str]]:
    """Yield the cells of each of these steps of the trace."""
    for step in steps:
        row = str(step.row + trace.first_row)
        cells = [str(step.pass_), row, row_cell(step, trace), label_cell(step.y, trace)]
        cells += [numbers_cell(step.activation), _outcome(step)]
        if step.variance is not None:
            cells += [number(step.margin), number(step.variance)]
        cells.append(signed_step(step, trace))
        if step.beta is not None:
            cells.append(number(step.beta) if step.step else "")
        cells += [weights_cell(step.w, trace), numbers_cell(step.b)]
        if step.variance_w is not None:
            cells += [weights_cell(step.variance_w, trace, 1.0), numbers_cell(step.variance_b)]
        if step.average_w is not None:
            cells += [weights_cell(step.average_w, trace), numbers_cell(step.average_b)]
        if trace.bound is not None:
            cells += _proof(step)
        yield cells


def _outcome(step: Step) -> str:
    """Return what came of a visit in a word or two."""
    if step.mistake:
        return "wrong"
    return "right, too close" if step.step else "right"


def signed_step(step: Step, trace: Trace) -> str:
    """Return the step with the sign that it has in the weights, or who gains and loses by it."""
    if not step.step:
        return ""
    if len(trace.classes) > 2:
        return f"{step.y} +{number(step.step)}, {step.rival} -{number(step.step)}"
    return ("+" if step.y == trace.classes[1] else "-") + number(step.step)


def label_cell(label: Any, trace: Trace) -> str:
    """Return a label as it was given; +1 where the other one is −1."""
    return f"{label:+d}" if trace.classes == (-1, 1) and isinstance(label, int) else str(label)


def row_cell(step: Step, trace: Trace) -> str:
    """Return the values of a row, or those that are not 0 where there are many."""
    if step.w.shape[-1] <= NARROW:
        return _vector(step.x)
    indices, values = step.entries
    nonzero = values != 0.0
    return _entries(indices[nonzero], values[nonzero], trace.names)


def weights_cell(w: NDArray[Any], trace: Trace, least: float = 0.0) -> str:
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


def numbers_cell(values: Any) -> str:
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


def _proof(step: Step) -> list[str]:
    proof = step.proof
    if proof is None:
        return [""] * len(PROOF_HEADER)
    values = (proof.projection, proof.projection_bound, proof.sqnorm, proof.sqnorm_bound)
    return [str(proof.updates), f"{proof.angle:.1f}°", *map(number, values)]

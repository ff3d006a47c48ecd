"""A trace as a table: for the terminal, in Markdown, in HTML."""

from html import escape

from rosenblatt.tracing.cells import header, lines, number
from rosenblatt.tracing.steps import Step, Trace

LEFT = {"x", "", "w", "average w"}  # columns of words and vectors; numbers stand to the right

ENDS = {
    "converged": "a pass without a mistake ended it.",
    "max_iter": "stopped after max_iter passes.",
    None: "not followed to its end.",
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
            cell.ljust(width) if name in LEFT else cell.rjust(width)
            for name, cell, width in zip(columns, cells, widths, strict=True)
        )
        out.append("  ".join(placed).rstrip())
    if left_out:
        out.insert(1 + (len(shown) + 1) // 2, f"… {left_out} steps")
    return "\n".join([*out, summary(trace)])


def markdown_table(trace: Trace) -> str:
    """Return a Markdown table."""
    columns = header(trace)
    under = [":---" if name in LEFT else "---:" for name in columns]
    texts = [columns, under, *([_barred(cell) for cell in cells] for cells in lines(trace, trace))]
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
    return "left" if name in LEFT else "right"


def _barred(cell: str) -> str:
    """Return a cell in which Markdown sees no end of the cell and no markup of a label."""
    return cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("[", "\\[")

"""The few shapes that the page is made of, as HTML."""

from collections.abc import Iterable, Sequence
from html import escape

from rosenblatt.wording import printable

Cell = str | int
BARS = "size"  # the name of a column of bars


def text(value: object) -> str:
    """Return any value as text that shows as it is."""
    return escape(printable(str(value)))


def paragraph(sentence: str) -> str:
    """Return a sentence, which may hold markup."""
    return f"<p>{sentence}</p>"


def section(identifier: str, title: str, *parts: str) -> str:
    """Return a titled part of the page, or nothing where it has no content."""
    content = "\n".join(part for part in parts if part)
    if not content:
        return ""
    return (
        f'<section id="{identifier}" aria-labelledby="{identifier}-title">\n'
        f'<h2 id="{identifier}-title">{text(title)}</h2>\n{content}\n</section>'
    )


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Return a table; cells are markup, and numbers stand to the right.

    The heading of a column of bars is for the ear alone: the eye sees what they are.
    """
    lines = list(rows)
    right = [any(_is_number(line[column]) for line in lines) for column in range(len(headings))]
    head = "".join(
        f'<th scope="col"{_kind(at_right)}>{_heading(heading)}</th>'
        for heading, at_right in zip(headings, [False, *right[1:]], strict=True)
    )
    body = "".join(f"<tr>{_cells(line, right)}</tr>\n" for line in lines)
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{escape(caption)}">'
        f"<table><caption>{text(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>"
    )


def _heading(heading: str) -> str:
    return f'<span class="unseen">{BARS}</span>' if heading == BARS else text(heading)


def _cells(line: Sequence[Cell], right: Sequence[bool]) -> str:
    cells = [f'<th scope="row">{line[0]}</th>']
    for cell, at_right in zip(line[1:], right[1:], strict=True):
        shown = f"{cell:,}" if isinstance(cell, int) else cell
        cells.append(f"<td{_kind(at_right)}>{shown}</td>")
    return "".join(cells)


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, int) or cell[:1] in tuple("+-−0123456789")


def _kind(at_right: bool) -> str:
    return ' class="number"' if at_right else ""


def bar(value: float, longest: float) -> str:
    """Return a bar: to the right and blue above zero, to the left and orange below."""
    share = min(abs(value) / longest, 1.0) * 50 if longest else 0.0
    left = 50.0 if value >= 0 else 50.0 - share
    side = "for" if value >= 0 else "against"
    return (
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="{side}" x="{left:.2f}" y="1" width="{share:.2f}" height="8"/>'
        '<line class="axis" x1="50" y1="0" x2="50" y2="10"/></svg>'
    )


def figure(svg: str, caption: str) -> str:
    """Return a picture with its sentence."""
    return f"<figure>{svg}<figcaption>{text(caption)}</figcaption></figure>"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names and values, which may hold markup, as a list of definitions."""
    items = "".join(f"<div><dt>{text(name)}</dt><dd>{value}</dd></div>" for name, value in pairs)
    return f'<dl class="facts">{items}</dl>'

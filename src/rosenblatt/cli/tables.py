"""Tables, bars, curves and numbers as text."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from math import inf

from click import style

from rosenblatt.wording import MISSING, Bar, Cell, number, printable

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII_LEVELS = "_.-=+*#@"
TELLING = 24  # characters of a name that tell it from others, as a rule
SPARE = ("scaled",)  # headings of columns that are left out before a name is cut
SIDE = 10  # characters that the longest bar takes on either side
NUMBER = re.compile(r"[+−-]?[0-9][0-9,.]*(e[+-]?[0-9]+)?\s?%?|[–-]")
GAP = "  "


LONGEST_CURVE = 40  # blocks


def draw_curve(values: Sequence[float], *, blocks: bool = True, draws: bool = True) -> str:
    """Return numbers as a line of blocks, the largest full, or themselves where nothing is drawn.

    Longer lists are drawn as the means of equal parts, and written with their middle left out.

    >>> draw_curve([8, 4, 0]), draw_curve([8, 4, 0], blocks=False)
    ('█▅▁', '@+_')
    >>> draw_curve(range(100), draws=False)
    '0 1 2 3 4 5 6 … 93 94 95 96 97 98 99'
    """
    if not draws:
        texts = [number(value) for value in values]
        if len(texts) > 15:
            texts[7:-7] = ["…" if blocks else "..."]
        return " ".join(texts)
    if not len(values):
        return ""
    n = min(LONGEST_CURVE, len(values))
    cuts = [i * len(values) // n for i in range(n + 1)]
    parts = [values[start:end] for start, end in pairwise(cuts)]
    means = [sum(part) / len(part) for part in parts]
    levels, top = BLOCKS if blocks else ASCII_LEVELS, max(means)
    steps = [round(mean / top * (len(levels) - 1)) if top > 0 else 0 for mean in means]
    return "".join(levels[max(step, 0)] for step in steps)


def draw_bar(bar: Bar, *, blocks: bool) -> str:
    """Return a bar around a line that stands for zero.

    >>> draw_bar(Bar(-0.5, 1.0), blocks=True), draw_bar(Bar(1.0, 1.0), blocks=False)
    ('     █████│          ', '          |##########')
    """
    share = abs(bar.value) / bar.longest if bar.longest > 0 else 0.0
    line = ("█" if blocks else "#") * round(min(share, 1.0) * SIDE)
    axis = "│" if blocks else "|"
    left, right = (line, "") if bar.value < 0 else ("", line)
    return f"{left:>{SIDE}}{axis}{right:<{SIDE}}"


def draw_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    blocks: bool = True,
    width: int | None = None,
) -> str:
    """Return a table as aligned lines; with a width, that of the terminal, coloured and with bars.

    Where the width does not suffice, names and headings are cut, never a number; bars, and then
    columns that can be spared, are left out before a name loses what tells it from others. (What
    rich would add to this it could not add to plain text, and its import takes 80 ms.)

    >>> print(draw_table(("class", "rows", ""), [("ham", 12, Bar(1, 1)), ("spam", 3, "")]), end="")
    class  rows
    ham      12
    spam      3
    """
    cells = [[row[k] for row in rows] for k in range(len(headings))]
    bars = [any(isinstance(cell, Bar) for cell in column) for column in cells]
    texts = [
        [_text(cell, blocks=blocks) for cell in (heading, *column)]
        for heading, column in zip(headings, cells, strict=True)
    ]
    kept = [k for k in range(len(headings)) if any(texts[k]) and (width or not bars[k])]
    if width:
        words = [k for k in kept if not bars[k]]
        beside = (2 * SIDE + 1 + len(GAP)) * (len(kept) - len(words))
        if _room(columns := [texts[k] for k in words], width - beside) < TELLING:
            kept = words
            if _room(columns, width) < inf:
                kept = [k for k in words if headings[k] not in SPARE]
                columns = [texts[k] for k in kept]
        _fit(columns, sum(bars[k] for k in kept), width, "…" if blocks else "~")
    columns = [_padded(texts[k], flush_right=_is_numeric(texts[k][1:])) for k in kept]
    if width:
        for k, column in zip(kept, columns, strict=True):
            column[0] = style(column[0], underline=True)
            column[1:] = map(_coloured, column[1:], cells[k])
    return "".join(f"{GAP.join(line).rstrip()}\n" for line in zip(*columns, strict=True))


def _room(columns: list[list[str]], width: int) -> float:
    """Return to how many characters the widest names would be cut; inf where nothing is."""
    names = max((_widest(one) for one in columns if not _is_numeric(one[1:])), default=0)
    excess = sum(_widest(column) + len(GAP) for column in columns) - len(GAP) - width
    return names - excess if excess > 0 else inf


def _fit(columns: list[list[str]], n_bars: int, width: int, mark: str) -> None:
    """Cut the columns of names, the widest first, then the headings of numbers, then names more."""
    numeric = [column for column in columns if _is_numeric(column[1:])]
    names = [column for column in columns if not _is_numeric(column[1:])]
    width -= n_bars * (2 * SIDE + 1 + len(GAP)) - len(GAP)

    def excess() -> int:
        return sum(_widest(column) + len(GAP) for column in columns) - width

    names.sort(key=_widest, reverse=True)
    for column in names:
        column[:] = _shortened(column, max(_widest(column) - excess(), 20), mark)
    if excess() > 0:
        for column in numeric:
            column[:1] = _shortened(column[:1], max(_widest(column[1:]), 4), mark)
    for column in names:
        column[:] = _shortened(column, max(_widest(column) - excess(), 8), mark)


def _shortened(texts: Sequence[str], room: int, mark: str) -> list[str]:
    short = []
    for text in texts:
        end = len(text)
        if _width(text) > room:
            while _width(text[:end]) >= room:
                end -= 1
        short.append(text if end == len(text) else text[:end] + mark)
    return short


def _coloured(text: str, cell: Cell) -> str:
    return style(text, fg="red" if cell.value < 0 else "green") if isinstance(cell, Bar) else text


def _text(cell: Cell, *, blocks: bool) -> str:
    if isinstance(cell, Bar):
        return draw_bar(cell, blocks=blocks)
    text = printable(cell) if isinstance(cell, str) else number(cell)
    return text if blocks else text.replace(MISSING, "-")


def _is_numeric(texts: Sequence[str]) -> bool:
    return all(NUMBER.fullmatch(text) for text in texts if text) and any(texts)


def _padded(texts: Sequence[str], *, flush_right: bool) -> list[str]:
    padding = [" " * (_widest(texts) - _width(text)) for text in texts]
    pairs = zip(padding, texts, strict=True)
    return [pad + text if flush_right else text + pad for pad, text in pairs]


def _widest(texts: Sequence[str]) -> int:
    return max(map(_width, texts), default=0)


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )

"""How a separated text is laid out, decided by its first rows before the others are read."""

from collections.abc import Generator, Iterator
from itertools import chain
from typing import NamedTuple

from rosenblatt.data.blocks import BYTE_ORDER_MARK, LONGEST_LINE, Block
from rosenblatt.data.tables.columns import Choice, Wanted, choose, choose_unnamed, numbered_names
from rosenblatt.data.tables.fields import Dialect, FieldError
from rosenblatt.data.tables.fields import rows as rows_of
from rosenblatt.data.tables.heading import SAMPLE_BYTES, has_header, sample_rows, separator_of
from rosenblatt.data.tables.row_blocks import RowBlock, whole_rows


class Asked(NamedTuple):
    """What a caller says about the layout of a file; None is left to its first rows."""

    separator: str | None
    quoting: bool
    header: bool | None
    wanted: Wanted | None


class Layout(NamedTuple):
    """What the first rows say, or the caller."""

    dialect: Dialect
    width: int  # fields in a row
    header: bool
    choice: Choice


def laid_out(
    blocks: Iterator[Block], asked: Asked, file: str, *, prompt: bool
) -> Generator[tuple[Layout, RowBlock], None, None]:
    """Yield blocks of whole rows with the layout of the file; nothing where it has no rows."""
    first: list[Block] = []
    layout, length, enough = None, 0, 0 if prompt else SAMPLE_BYTES
    for block in blocks:
        first.append(_without_mark(block) if block.offset == 0 else block)
        length += first[-1].length
        if length >= enough:
            layout = _first_layout(first, asked, file)
            enough = max(enough, 2 * length if length > SAMPLE_BYTES else 0)
        if layout or length > LONGEST_LINE:
            break
    layout = layout or _layout(_joined(first), asked, file, is_all=True)
    if layout:
        for rows in whole_rows(chain(first, blocks), layout.dialect):
            yield layout, rows


def _without_mark(block: Block) -> Block:
    """Return the first block with nothing where the byte order mark was.

    ``whole_lines`` has put blanks in its place, and behind a blank a quote opens no field.
    """
    blanks = len(BYTE_ORDER_MARK)
    if block.text[:blanks].tobytes() != b" " * blanks:
        return block
    return block._replace(text=block.text[blanks:], length=block.length - blanks)


def _first_layout(blocks: list[Block], asked: Asked, file: str) -> Layout | None:
    """Return the layout by the first lines of a text, the same for blocks of any size."""
    sample = _joined(blocks, SAMPLE_BYTES)[:SAMPLE_BYTES]
    sample = sample[: sample.rfind(b"\n") + 1]
    return _layout(sample, asked, file) or _layout(_joined(blocks), asked, file)


def _joined(blocks: list[Block], most: int | None = None) -> bytes:
    """Return the text of successive blocks, of each no more than ``most`` bytes."""
    return b"".join(block.text[: block.length][:most].tobytes() for block in blocks)


def _layout(sample: bytes, asked: Asked, file: str, *, is_all: bool = False) -> Layout | None:
    """Return the layout of a text that begins with the sample, or None for want of a whole row."""
    separator = asked.separator
    if separator is None:
        separator = separator_of(sample, quoting=asked.quoting, wanted=asked.wanted)
    dialect = Dialect(separator, asked.quoting)
    rows = sample_rows(sample, dialect)
    if not rows:
        # Any layout will do for a first row that can't be read: whoever reads it says why.
        is_bad = _is_bad(sample, dialect, is_all=is_all)
        only = choose_unnamed(1, None, file)
        return Layout(dialect, 1, header=False, choice=only) if is_bad else None
    header = has_header(rows, asked.wanted) if asked.header is None else asked.header
    width = len(rows[0])
    if not header:
        return Layout(dialect, width, header, choose_unnamed(width, asked.wanted, file))
    names = [name or numbered_names(width)[k] for k, name in enumerate(rows[0])]
    return Layout(dialect, width, header, choose(names, asked.wanted, file))


def _is_bad(sample: bytes, dialect: Dialect, *, is_all: bool) -> bool:
    """Whether a text without a row that can be read has one that cannot, even with what follows."""
    try:
        next(rows_of(sample, dialect), None)
    except FieldError as error:
        return is_all or not error.unclosed
    return False

"""How a separated text is laid out, by its first rows: its separator, and if it has a header."""

import re
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from rosenblatt.data.lines import BYTE_ORDER_MARK, LONGEST_LINE, TextBlock
from rosenblatt.data.tables.fields import BLANKS, Dialect, FieldError, WholeRows, rows, whole_rows
from rosenblatt.data.tables.fields import rows as rows_of
from rosenblatt.data.tables.table import (
    ColumnPlaces,
    Selection,
    choose,
    choose_unnamed,
    numbered_names,
)

SEPARATORS = ",\t;|"
SAMPLE_BYTES = 1 << 16  # of text by which both are decided
SAMPLE_ROWS = 200
CONSISTENT = 0.9  # of the rows must have as many fields as most have

# Numbers, also with a decimal comma, and dates: what stands in columns and not above them.
NUMBER_LIKE = re.compile(r"[-+]?[.,]?[0-9][0-9.,:/ TZ%+-]*(?:[eE][-+]?[0-9]+)?")
MISSING = {"", "?", "-", "na", "n/a", "nan", "null", "none", "inf", "-inf"}
NAME = re.compile(r"[^\W\d][\w.()%#+-]*(?: [\w.()%#+-]+){0,3}")
LONGEST_NAME = 60

Rows = list[list[str]]


def sample_rows(text: bytes, dialect: Dialect) -> Rows:
    """Return the first rows, as far as they can be read."""
    found: Rows = []
    try:
        for _, fields in rows(text, dialect):
            found.append([field.decode("utf-8", "replace").strip(BLANKS) for field in fields])
            if len(found) == SAMPLE_ROWS:
                break
    except FieldError:
        pass
    return found


def separator_of(text: bytes, *, quoting: bool, wanted: Selection | None) -> str:
    """Return the separator that parts nearly all rows into the same number of fields.

    Where several do, it is one that finds the wanted columns, then the one with the greatest share
    of numbers among its fields, then the first of , tab ; |. Where none does, it is the comma.
    """
    best, separator = (-1.0, -1.0), ","
    for candidate in SEPARATORS:
        sample = sample_rows(text, Dialect(candidate, quoting))
        width, share = _usual_width(sample)
        if width > 1 and share >= CONSISTENT:
            score = (_fit(sample, width, wanted), _number_share(sample))
            if score > best:
                best, separator = score, candidate
    return separator


def has_header(sample: Rows, wanted: Selection | None) -> bool:
    """Whether the first row names the columns.

    It does if at least half of the required names are in it. Otherwise its fields must differ from
    one another and none may be a number or missing (one may be empty, as a column of row numbers
    has it), and then

    - some column has only numbers or dates below the first row; or
    - every field of the first row looks like a name, some column has values that recur, and no
      value of the first row recurs in its column.

    So a single row is no header unless it has the names that are asked for.
    """
    if not sample:
        return False
    first, others = sample[0], sample[1:]
    if wanted and _found(first, wanted):
        return True
    if not _can_be_names(first):
        return False
    columns = [
        [row[k] for row in others if k < len(row) and not _is_missing(row[k])]
        for k in range(len(first))
    ]
    if any(column and all(map(NUMBER_LIKE.fullmatch, column)) for column in columns):
        return True
    looks_so = all(len(name) <= LONGEST_NAME and NAME.fullmatch(name) for name in first if name)
    recurs = any(len(set(column)) < len(column) for column in columns)
    is_value = any(name in column for name, column in zip(first, columns, strict=True))
    return looks_so and recurs and not is_value


def _can_be_names(first: Sequence[str]) -> bool:
    if len(set(first)) < len(first) or not any(first):
        return False
    return not any(
        field and (NUMBER_LIKE.fullmatch(field) or _is_missing(field)) for field in first
    )


def _found(first: Sequence[str], wanted: Selection) -> bool:
    required = wanted.required or wanted.names
    return 2 * sum(name in first for name in required) >= max(1, len(required))


def _is_missing(field: str) -> bool:
    return field.lower() in MISSING


def _usual_width(sample: Rows) -> tuple[int, float]:
    """Return how many fields most rows have, and the share of these rows."""
    if not sample:
        return 0, 0.0
    width, count = Counter(map(len, sample)).most_common(1)[0]
    return width, count / len(sample)


def _number_share(sample: Rows) -> float:
    fields = [field for row in sample for field in row]
    return sum(bool(NUMBER_LIKE.fullmatch(field)) for field in fields) / len(fields)


def _fit(sample: Rows, width: int, wanted: Selection | None) -> float:
    if wanted is None:
        return 0.0
    return float(_found(sample[0], wanted) or width in {len(wanted.names), len(wanted.required)})


class SeparatedOptions(NamedTuple):
    """What a caller says about the layout of a file; None is left to its first rows."""

    separator: str | None
    quoting: bool
    header: bool | None
    wanted: Selection | None


class Heading(NamedTuple):
    """What the first rows say, or the caller."""

    dialect: Dialect
    width: int  # fields in a row
    header: bool
    choice: ColumnPlaces


def laid_out(
    blocks: Iterator[TextBlock], asked: SeparatedOptions, file: str, *, prompt: bool
) -> Generator[tuple[Heading, WholeRows], None, None]:
    """Yield blocks of whole rows with the layout of the file; nothing where it has no rows."""
    first: list[TextBlock] = []
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


def _without_mark(block: TextBlock) -> TextBlock:
    """Return the first block with nothing where the byte order mark was.

    ``whole_lines`` has put blanks in its place, and behind a blank a quote opens no field.
    """
    blanks = len(BYTE_ORDER_MARK)
    if block.text[:blanks].tobytes() != b" " * blanks:
        return block
    return block._replace(text=block.text[blanks:], length=block.length - blanks)


def _first_layout(blocks: list[TextBlock], asked: SeparatedOptions, file: str) -> Heading | None:
    """Return the layout by the first lines of a text, the same for blocks of any size."""
    sample = _joined(blocks, SAMPLE_BYTES)[:SAMPLE_BYTES]
    sample = sample[: sample.rfind(b"\n") + 1]
    return _layout(sample, asked, file) or _layout(_joined(blocks), asked, file)


def _joined(blocks: list[TextBlock], most: int | None = None) -> bytes:
    """Return the text of successive blocks, of each no more than ``most`` bytes."""
    return b"".join(block.text[: block.length][:most].tobytes() for block in blocks)


def _layout(
    sample: bytes, asked: SeparatedOptions, file: str, *, is_all: bool = False
) -> Heading | None:
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
        return Heading(dialect, 1, header=False, choice=only) if is_bad else None
    header = has_header(rows, asked.wanted) if asked.header is None else asked.header
    width = len(rows[0])
    if not header:
        return Heading(dialect, width, header, choose_unnamed(width, asked.wanted, file))
    names = [name or numbered_names(width)[k] for k, name in enumerate(rows[0])]
    return Heading(dialect, width, header, choose(names, asked.wanted, file))


def _is_bad(sample: bytes, dialect: Dialect, *, is_all: bool) -> bool:
    """Whether a text without a row that can be read has one that cannot, even with what follows."""
    try:
        next(rows_of(sample, dialect), None)
    except FieldError as error:
        return is_all or not error.unclosed
    return False

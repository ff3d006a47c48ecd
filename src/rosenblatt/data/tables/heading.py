"""How a separated text is laid out, by its first rows: its separator, and if it has a header."""

import re
import unicodedata
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import NamedTuple

from rosenblatt.data.formats import check_width
from rosenblatt.data.sources import LONGEST_LINE, TextBlock
from rosenblatt.data.tables.separated import BLANKS, FieldError, rows, squeezed, whole_rows
from rosenblatt.data.tables.table import (
    ColumnPlaces,
    Dialect,
    Heading,
    Selection,
    choose,
    choose_unnamed,
    numbered_names,
)
from rosenblatt.errors import InputError, Parameter
from rosenblatt.wording import composed, counted

SEPARATORS = ",\t;|"
RARE_SEPARATORS = "^~:"  # which texts and times have, too
SAMPLE_BYTES = 1 << 16  # of text by which both are decided, or more
FEWEST_LINES = 5  # of it, however long they are
SAMPLE_ROWS = 200
CONSISTENT = 0.9  # of the rows must have as many fields as most have
FEWEST_NUMBERS = 0.5  # of the fields, where blanks are taken for separators
FEWEST_ALIGNED = 8  # lines with a blank at one place, which is no chance

# Numbers, also with a decimal comma or a sign of money, and dates: what stands in columns and not
# above them.
NUMBER_LIKE = re.compile(r"[-+]?[$€£]?[-+]?[.,]?[0-9][0-9.,:/ TZ%+-]*(?:[eE][-+]?[0-9]+)?[€%]?")
MISSING = {"", "?", "-", "na", "n/a", "nan", "null", "none", "inf", "-inf"}
NAME = re.compile(r"[^\W\d][\w.()%#+-]*(?: [\w.()%#+-]+){0,3}")
MARKS = {"Mn", "Mc", "Me", "Cf"}
LONGEST_NAME = 60
FEWEST_COLUMNS = 3  # of a table, by which it differs from a title, or "na" from a missing value
KNOWN_NAMES = (
    *("label", "labels", "class", "target", "y", "outcome", "category", "sentiment", "text"),
    *("message", "sentence", "review", "comment", "title", "id", "name", "date", "url"),
)
SEPARATOR_LINE = re.compile(rb"sep=(.)[ \t]*\r?\n")  # with which a spreadsheet program begins

Rows = list[list[str]]


class SeparatedOptions(NamedTuple):
    """What a caller says about the layout of a file; None is left to its first rows."""

    separator: str | None
    quoting: bool | None
    header: bool | None
    wanted: Selection | None
    names: tuple[str, ...] = ()  # of columns that the file does not name
    said: frozenset[str] = frozenset()  # names of columns, of which one in a row makes it a header


def sample_rows(text: bytes, dialect: Dialect) -> Rows:
    """Return the first rows, as far as they can be read."""
    if dialect.separator == " ":
        text = squeezed(text)
    found: Rows = []
    try:
        for _, _, fields in rows(text, dialect):
            whole = (field.encode("utf-8", "surrogateescape") for field in fields)
            found.append([field.decode("utf-8", "replace").strip(BLANKS) for field in whole])
            if len(found) == SAMPLE_ROWS:
                break
    except FieldError:
        pass
    return found


def separator_of(text: bytes, *, quoting: bool, wanted: Selection | None) -> str:
    """Return the separator that parts nearly all rows into the same number of fields.

    Of several it is the one of the highest score, then the first of , tab ; |. Where none does, it
    is blanks if they do and at least half of the fields are numbers, or one of ^ ~ : that parts
    them into three fields or more, unless a single column is wanted; else the comma.
    """
    found = _parting(text, SEPARATORS, quoting=quoting)
    if found:
        return max(found, key=lambda one: _score(found[one], wanted, "".join(found)))
    sample = _parting(text, " ", quoting=quoting).get(" ", [])
    if len(sample) > 1 and _number_share(sample) >= FEWEST_NUMBERS:
        return " "
    rare = _parting(text, RARE_SEPARATORS, quoting=quoting, least=FEWEST_COLUMNS)
    alone = wanted is not None and len(wanted.required) == 1
    return next((one for one in rare if len(rare[one]) > 1 and not alone), ",")


def _parting(text: bytes, separators: str, *, quoting: bool, least: int = 2) -> dict[str, Rows]:
    """Return the rows by each separator that parts nearly all into the same number of fields."""
    found: dict[str, Rows] = {}
    for candidate in separators:
        sample = sample_rows(text, Dialect(candidate, quoting))
        width, share = usual_width(sample)
        if width >= least and share >= CONSISTENT:
            found[candidate] = sample
    return found


def has_fixed_width(text: bytes) -> bool:
    r"""Whether fields stand at the same places of all lines, as blanks or digits show.

    >>> has_fixed_width(b"Ann Rome\nBob Oslo\nEmily Bari\n" * 3)
    False
    >>> has_fixed_width(b"Ann   Rome\nBob   Oslo\nEmily Bari\n" * 3)
    True
    """
    lines = [line.rstrip() for line in text.decode("utf-8", "replace").splitlines()[:SAMPLE_ROWS]]
    lines = [line for line in lines if line]
    if len({*lines}) < 2 or len(lines) < FEWEST_ALIGNED:
        return False
    longest = max(map(len, lines))
    kinds = [{_kind_of(letter) for letter in place} for place in zip_longest(*lines, fillvalue=" ")]
    gaps = sum(kind == {"blank"} for kind in kinds)
    equal = min(map(len, lines)) == longest and all(len(kind) == 1 for kind in kinds)
    return gaps > 0 or (equal and {"digit", "letter"} <= set[str]().union(*kinds))


def _kind_of(letter: str) -> str:
    if letter.isspace():
        return "blank"
    return "digit" if letter.isdigit() else "letter" if letter.isalpha() else letter


def _is_quoted(text: bytes, separator: str) -> bool:
    """Whether double quotes enclose the fields of a text: all that some column has."""
    plain = sample_rows(text, Dialect(separator, quoting=False))
    quoted = sample_rows(text, Dialect(separator, quoting=True))
    if (
        len(plain) < 2
        or len(quoted) < CONSISTENT * len(plain)
        or usual_width(quoted)[1] < CONSISTENT
    ):
        return False
    width = usual_width(plain)[0]
    columns = [[row[k] for row in plain if len(row) == width and row[k]] for k in range(width)]
    return any(
        len(fields) > 1 and all(len(f) > 1 and f[0] == f[-1] == '"' for f in fields)
        for fields in columns
    )


def has_header(sample: Rows, wanted: Selection | None, said: frozenset[str] = frozenset()) -> bool:
    """Whether the first row names the columns.

    It does if at least half of the required names are in it, or one that a person said. Otherwise
    none of its fields may be missing (one may be empty, as a column of row numbers has it) or a
    number, and

    - some column has only numbers or dates below a name; or
    - a usual name such as "label" or "text" is in it and not below it; or
    - every field of the first row looks like a name, no value of it recurs in its column, and some
      column has values that recur, or all values below are much longer than the names.

    So a single row is no header unless it has the names that are asked for.
    """
    if not sample:
        return False
    first, others = [name.removeprefix("#").strip() for name in sample[0]], sample[1:]
    if first in others and _have_numbers(sample):
        others = [row for row in others if row != first]  # of tables that were joined
    if (wanted and _found(first, wanted)) or not _plain(said).isdisjoint(_plain(first)):
        return True
    columns = [
        [row[k] for row in others if k < len(row) and not _is_missing(row[k])]
        for k in range(len(first))
    ]
    used = [k for k, column in enumerate(columns) if column or first[k]]  # of "a||b" every other
    first, columns = [first[k] for k in used], [columns[k] for k in used]
    words = [c for name, c in zip(first, columns, strict=True) if not _is_missing(name)]
    if sum(map(_are_numbers, words)) >= FEWEST_COLUMNS:  # Na is sodium, not a missing value
        first = [f"{name}." if name and _is_missing(name) else name for name in first]
    return bool(others) and _can_be_names(first) and _are_names(first, columns)


def _have_numbers(sample: Rows) -> bool:
    """Whether a column has only numbers or dates but for names: a row of these is no data."""
    first, *others = sample
    below = [row for row in others if row != first and len(row) == len(first)]
    return any(
        not NUMBER_LIKE.fullmatch(name) and _are_numbers([one for one in column if one])
        for name, column in zip(first, zip(*below, strict=True), strict=False)
    )


def _are_numbers(fields: Sequence[str]) -> bool:
    return bool(fields) and all(map(NUMBER_LIKE.fullmatch, fields))


def _are_names(first: Sequence[str], columns: Rows) -> bool:
    """Whether what stands in the first row differs from what stands in the columns below."""
    pairs = list(zip(first, columns, strict=True))
    if any(map(_are_numbers, columns)):
        return True
    short = all(len(name) <= LONGEST_NAME for name in first)
    if not short or any(name in column for name, column in pairs):
        return False
    if any(name.lower() in KNOWN_NAMES for name in first):
        return True
    look_so = all(NAME.fullmatch(_unmarked(name)) for name in first if name)
    recur = any(len(set(column)) < len(column) for column in columns)
    values = [(name, value) for name, column in pairs for value in column]
    longer = len(values) > len(first) and all(
        len(value.split()) > max(2, len(name.split())) for name, value in values
    )
    return look_so and len(set(first)) == len(first) and (recur or longer)


def _unmarked(name: str) -> str:
    """Return a name without the marks and joiners of its script, which a pattern has no class for.

    >>> _unmarked("मूल्य")
    'मलय'
    """
    return "".join(one for one in name if unicodedata.category(one) not in MARKS)


def _can_be_names(first: Sequence[str]) -> bool:
    named = [field for field in first if field]
    others = any(_is_missing(field) or NUMBER_LIKE.fullmatch(field) for field in named)
    return bool(named) and len(named) >= len(first) - 1 and not others


def _found(first: Sequence[str], wanted: Selection) -> bool:
    required, there = wanted.required or wanted.names, _plain(first)
    return 2 * sum(composed(name) in there for name in required) >= max(1, len(required))


def _plain(names: Iterable[str]) -> set[str]:
    return {composed(name) for name in names}


def _is_missing(field: str) -> bool:
    return field.lower() in MISSING


def usual_width(sample: Rows) -> tuple[int, float]:
    """Return how many fields most rows have, and the share of these rows."""
    if not sample:
        return 0, 0.0
    width, count = Counter(map(len, sample)).most_common(1)[0]
    return width, count / len(sample)


def _score(
    sample: Rows, wanted: Selection | None, separators: str
) -> tuple[bool, bool, float, float]:
    """Return how well rows look parted by one of these separators."""
    width, first = usual_width(sample)[0], len(sample[0])
    words = [field for row in sample for field in row if not NUMBER_LIKE.fullmatch(field)]
    mixed = sum(any(mark in word for mark in separators) for word in words)
    fits = first == width or 1 < first == width - 1  # the name of the row names may be missing
    share = mixed / sum(map(len, sample))
    expected = wanted is not None and (
        _found(sample[0], wanted) or width in {len(wanted.names), len(wanted.required)}
    )
    return expected, fits, -share, _number_share(sample)


def _number_share(sample: Rows) -> float:
    fields = [field for row in sample for field in row]
    return sum(bool(NUMBER_LIKE.fullmatch(field)) for field in fields) / len(fields)


def laid_out(
    blocks: Iterator[TextBlock],
    asked: SeparatedOptions,
    file: str,
    *,
    prompt: bool,
    longest_field: int = LONGEST_LINE,
) -> Generator[tuple[Heading, TextBlock], None, None]:
    """Yield blocks of whole rows with the layout of the file; nothing where it has no rows."""
    first, start, found, n_lines, enough = list[TextBlock](), bytearray(), None, 0, 0
    n_blank = 0  # lines before the first row; every guess would read them again
    for block in blocks:
        text = block.tobytes()
        cut = 0 if start else text.rfind(b"\n", 0, len(text) - len(text.lstrip(b" \r\n"))) + 1
        n_blank += text.count(b"\n", 0, cut)
        first += _behind([block], cut)
        start += text[cut:]
        n_lines += text.count(b"\n", cut)
        sampled = len(start) >= SAMPLE_BYTES and n_lines >= FEWEST_LINES
        if (prompt or sampled) and len(start) >= enough:
            found = _heading(_sample(start), asked, file)
            enough = 2 * len(start)
        if found or len(start) > LONGEST_LINE:
            break
    found = found or _heading(bytes(start), asked, file, is_all=True)
    if found:
        heading, n_bytes = found
        heading = heading._replace(first_line=1 + n_blank + start.count(b"\n", 0, n_bytes))
        for part in whole_rows(
            chain(_behind(first, n_bytes), blocks), heading.dialect, longest_field
        ):
            yield heading, part


def _behind(blocks: Iterable[TextBlock], n_bytes: int) -> Iterator[TextBlock]:
    for block in blocks:
        cut = min(n_bytes, block.length)
        n_bytes -= cut
        if cut < block.length:
            yield block._replace(text=block.text[cut:], length=block.length - cut)


def _sample(text: bytearray) -> bytes:
    """Return the first lines of a text, the same for blocks of any size."""
    end = text.rfind(b"\n", 0, SAMPLE_BYTES) + 1
    n_lines = text.count(b"\n", 0, end)
    while n_lines < FEWEST_LINES and (newline := text.find(b"\n", end)) >= 0:
        end, n_lines = newline + 1, n_lines + 1
    return bytes(text[:end])


def _heading(
    sample: bytes, asked: SeparatedOptions, file: str, *, is_all: bool = False
) -> tuple[Heading, int] | None:
    """Return the layout of a text by its sample and the bytes that are no rows; None: no row."""
    check_width(sample, file)
    # The separator, behind comments
    separator, start, notes = asked.separator, 0, []
    quoting = _is_quoted(sample, separator or "\t") if asked.quoting is None else asked.quoting
    asked = asked._replace(quoting=quoting)
    declared = SEPARATOR_LINE.match(sample)
    if declared:
        start, separator = declared.end(), separator or declared[1].decode("latin-1")
    start, comments = _behind_comments(sample, start, asked)
    if comments:
        were = "was" if comments == 1 else "were"
        lines = counted(comments, "line")
        notes.append(f"{file} begins with {lines} of comment, which {were} skipped.")
    sample = sample[start:]
    if separator == "\t" and asked.separator is None and b"\t" not in sample:
        separator = None
    if separator is None:
        separator = separator_of(sample, quoting=bool(asked.quoting), wanted=asked.wanted)
    dialect = Dialect(separator, bool(asked.quoting))
    found = sample_rows(sample, dialect)
    if not found:
        # Any layout will do for a first row that can't be read: the parser says why.
        is_bad = _is_bad(sample, dialect, is_all=is_all)
        only = choose_unnamed(1, None, file)
        return (Heading(dialect, 1, header=False, choice=only), start) if is_bad else None
    # The header
    width, share = usual_width(found)
    _check_width(sample, asked, file, parted=width > 1 and (separator != " " or share == 1))
    if share < CONSISTENT or asked.header is not None:
        # The first row may have no name for the first column, that of the row names, as R does
        lacks_one = len(found[0]) == width - 1 and all(len(row) == width for row in found[1:])
        width = width if lacks_one and asked.header is not False else len(found[0])
    header, n_before = _header(found, width, asked)
    names = _filled(found[n_before:], width) if header else None
    if header:
        start += next(stop for _, stop, _ in islice(rows(sample, dialect), n_before, None))
    if n_before:
        notes.append(f"{file} begins with text that is not a row of the table; it was skipped.")
    notes += [] if asked.names else _repeated(names or (), file)
    choice = _choice(names, width, asked, file)
    heading = Heading(dialect, width, header, choice, asked.header is None, tuple(notes))
    if names and all(names) and len(names) == width > 1 and _have_numbers(found[n_before:]):
        heading = heading._replace(again=tuple(names))
    return heading, start


def _repeated(names: Iterable[str], file: str) -> list[str]:
    """Return a sentence on a name that stands more than once."""
    counts = Counter(filter(None, names))
    repeated = next((name for name, count in counts.items() if count > 1), None)
    if repeated is None:
        return []
    return [f"{file} has more than one column '{repeated}'; the second is called '{repeated}_2'."]


def _check_width(sample: bytes, asked: SeparatedOptions, file: str, *, parted: bool) -> None:
    """Raise InputError for columns of fixed width, unless one column alone is wanted."""
    alone = asked.wanted is not None and len(asked.wanted.required) == 1
    if asked.separator is None and not parted and not alone and has_fixed_width(sample):
        raise InputError(
            f"{file} has columns of fixed width, without a separator between them; make it CSV,"
            f" for instance with pandas: read_fwf({file!r}).to_csv('rows.csv', index=False)."
        )


def _header(found: Rows, width: int, asked: SeparatedOptions) -> tuple[bool, int]:
    """Return whether there is a header, and the number of rows to skip before it."""
    expected = Selection(asked.names, frozenset()) if asked.names else asked.wanted
    if asked.header is not None:
        return asked.header, 0
    # A title with empty cells behind it, as spreadsheets write it, is no row of the table
    few = width < FEWEST_COLUMNS
    full = (
        k for k, row in enumerate(found) if len(row) == width and (few or sum(map(bool, row)) > 1)
    )
    n_before = next(full, 0)
    if has_header(found[n_before:], expected, asked.said):
        return True, n_before
    lacks_one = len(found[0]) == width - 1
    filled = [_filled(found, width), *found[1:]]
    return lacks_one and has_header(filled, expected, asked.said), 0


def _filled(sample: Rows, width: int) -> list[str]:
    """Return the names of columns, "" for the one that has none in the first row.

    That is the first one, of row names, or the last one where each row ends with a separator.
    """
    first, *others = sample
    if len(first) != width - 1:
        return first
    ends = all(not row[-1] for row in others if len(row) == width)
    return [*first, ""] if ends else ["", *first]


def _choice(
    names: Sequence[str] | None, width: int, asked: SeparatedOptions, file: str
) -> ColumnPlaces:
    if asked.names:
        if len(asked.names) != width:
            raise InputError(
                f"{file} has {width} columns, but {Parameter('names')} has {len(asked.names)}"
                " names."
            )
        return choose(asked.names, asked.wanted, file)
    if names is None:
        return choose_unnamed(width, asked.wanted, file)
    bare = [name.removeprefix("#").strip() if k == 0 else name for k, name in enumerate(names)]
    bare = [*[""] * (width - len(bare)), *bare]
    numbered = numbered_names(width)
    return choose([name or numbered[k] for k, name in enumerate(bare)], asked.wanted, file)


def _behind_comments(text: bytes, start: int, asked: SeparatedOptions) -> tuple[int, int]:
    """Return the place behind the lines that begin with #, and how many these are.

    A line that has as many fields as the row behind it is no comment: it may name the columns.
    """
    n_lines, place = 0, start
    while text[place : place + 1] == b"#" and (newline := text.find(b"\n", place)) >= 0:
        n_lines, place = n_lines + 1, newline + 1
    if n_lines == 0 or place >= len(text):
        return start, 0
    last = text.rfind(b"\n", 0, place - 1) + 1
    separator = asked.separator or separator_of(
        text[place:], quoting=bool(asked.quoting), wanted=asked.wanted
    )
    rows_here = sample_rows(text[last:], Dialect(separator, bool(asked.quoting)))[:2]
    if len(rows_here) == 2 and len(rows_here[0]) == len(rows_here[1]) > 1:
        n_lines, place = n_lines - 1, max(last, start)
    return place, n_lines


def _is_bad(sample: bytes, dialect: Dialect, *, is_all: bool) -> bool:
    """Whether a text without a row that can be read has one that cannot, even with what follows."""
    try:
        next(rows(sample, dialect), None)
    except FieldError as error:
        return is_all or not error.unclosed
    return False

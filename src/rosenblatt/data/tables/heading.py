"""Whether a separated text begins with the names of its columns, and by what it is separated."""

import re
from collections import Counter
from collections.abc import Sequence

from rosenblatt.data.tables.columns import Wanted
from rosenblatt.data.tables.fields import BLANKS, Dialect, FieldError, rows

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


def separator_of(text: bytes, *, quoting: bool, wanted: Wanted | None) -> str:
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


def has_header(sample: Rows, wanted: Wanted | None) -> bool:
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


def _found(first: Sequence[str], wanted: Wanted) -> bool:
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


def _fit(sample: Rows, width: int, wanted: Wanted | None) -> float:
    if wanted is None:
        return 0.0
    return float(_found(sample[0], wanted) or width in {len(wanted.names), len(wanted.required)})

"""One line of svmlight text in plain Python: the definition of what a line may say.

``label [qid:number] feature:value feature:value … [# comment]``, parted by blanks. The compiled
scan knows only the usual shapes and leaves every other line to this parser, which also words the
errors.
"""

import itertools
import math
import re
from typing import NamedTuple

from rosenblatt.data.labels import NOT_FINITE, NUMBER, Label, read_label, shown
from rosenblatt.kernels.text import MOST_FEATURE, NO_QUERY

MOST_QUERY = 2**63 - 1

TOKEN = re.compile(rb"[^ \t\r\v\f]+")  # as bytes.split parts them


class LineError(Exception):
    """What is wrong in a line: the column, a clause that says what, and which line of a block."""

    def __init__(self, column: int, clause: str, line: int = 0) -> None:
        super().__init__(column, clause, line)
        self.column = column
        self.clause = clause
        self.line = line


class Numbering(NamedTuple):
    """From where features are counted, and which values there can be."""

    base: int  # the number of the first feature, 0 or 1
    limit: float  # what rounds to infinity: values are below it in size
    detected: bool = False  # the base was found out from earlier rows, not told


class Row(NamedTuple):
    """What a line says; features are sorted and counted from 0."""

    label: Label
    query: int
    indices: list[int]
    values: list[float]


def parse_line(line: bytes, numbering: Numbering) -> Row | None:
    """Return the row that a line states, or None for an empty line; raise LineError otherwise."""
    tokens = line.partition(b"#")[0].split()
    if not tokens:
        return None
    which = 0
    entries: dict[int, float] = {}
    try:
        label, query = _label(tokens[0]), NO_QUERY
        for which in range(1, len(tokens)):
            token = tokens[which]
            if which == 1 and token.startswith(b"qid:"):
                query = _query(token)
            else:
                _add_entry(token, numbering, entries)
    except _TokenError as error:
        raise LineError(_column(line, which, error.within), error.clause) from None
    features = sorted(entries)
    return Row(
        label,
        query,
        [feature - numbering.base for feature in features],
        [entries[feature] for feature in features],
    )


class _TokenError(Exception):
    """A token that is not what its place in the line asks for."""

    def __init__(self, clause: str, within: int = 0) -> None:
        super().__init__(clause)
        self.clause = clause
        self.within = within  # where in the token


def _column(line: bytes, which: int, within: int) -> int:
    """Return where in a line a token has a place, as an editor counts: in characters, from 1."""
    token = next(itertools.islice(TOKEN.finditer(line), which, None))
    before = line[: token.start() + within]
    return len(before.decode("utf-8", "replace")) + 1


def _label(token: bytes) -> Label:
    if b":" in token:
        clause = f"expected a label, found {shown(token)}"
        raise _TokenError(clause)
    try:
        return read_label(token)
    except ValueError as error:
        raise _TokenError(str(error)) from None


def _query(token: bytes) -> int:
    number = token[4:]
    if not number.isdigit():
        clause = f"qid {shown(number)} is not a whole number"
        raise _TokenError(clause, within=4)
    query = _whole(number)
    if query > MOST_QUERY:
        clause = f"qid {shown(number)} is beyond {MOST_QUERY}"
        raise _TokenError(clause, within=4)
    return query


def _whole(digits: bytes) -> int:
    """Return the number, or one that is too large for anything where it is longer than any index.

    Python refuses to convert more than 4300 digits.
    """
    return int(digits if len(digits) <= 20 else digits.lstrip(b"0")[:20] or b"0")


def _add_entry(token: bytes, numbering: Numbering, entries: dict[int, float]) -> None:
    """Add the value that a token gives to a feature, under its number in the file."""
    name, colon, written = token.partition(b":")
    if not colon:
        clause = f"expected feature:value, found {shown(token)}"
        raise _TokenError(clause)
    if not name.isdigit():
        clause = f"feature {shown(name)} is not a whole number"
        raise _TokenError(clause)
    feature = _whole(name)
    if feature > MOST_FEATURE:
        clause = f"feature {shown(name)} is beyond {MOST_FEATURE}, the highest number there can be"
        raise _TokenError(clause)
    if feature < numbering.base:
        raise _TokenError(_zero_clause(numbering))
    if not NUMBER.fullmatch(written):
        raise _TokenError(_value_clause(feature, written), within=len(name) + 1)
    value = float(written)
    if abs(value) >= numbering.limit:
        kind = "float64" if math.isinf(numbering.limit) else "float32"
        clause = f"value {shown(written)} of feature {feature} is beyond the range of {kind}"
        raise _TokenError(clause, within=len(name) + 1)
    if feature in entries:
        clause = f"feature {feature} stands twice in this row"
        raise _TokenError(clause)
    entries[feature] = value


def _value_clause(feature: int, written: bytes) -> str:
    if not written:
        return f"feature {feature} has no value"
    if NOT_FINITE.fullmatch(written):
        return f"value {shown(written)} of feature {feature} is not finite"
    return f"value {shown(written)} of feature {feature} is not a number"


def _zero_clause(numbering: Numbering) -> str:
    if numbering.detected:
        return (
            "feature 0, but the rows before were taken to count from 1 for want of a feature 0;"
            " say that features count from 0 (zero_based=True)"
        )
    return "feature 0 where features count from 1 (zero_based=False)"

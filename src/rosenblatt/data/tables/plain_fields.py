"""A block of separated text read in plain Python: where it is unusual, or to find what is wrong."""

from typing import NamedTuple

from rosenblatt.data.labels import shown
from rosenblatt.data.tables.fields import BLANKS, Dialect, FieldError, rows


class PlainRows(NamedTuple):
    """The values of each column, and the place in the text at which each row begins."""

    columns: list[list[str | None]]
    starts: list[int]


def read_plainly(text: bytes, dialect: Dialect, width: int) -> PlainRows:
    """Return the rows of a text, each of ``width`` fields; raise FieldError at the first fault."""
    columns: list[list[str | None]] = [[] for _ in range(width)]
    starts: list[int] = []
    for start, fields in rows(text, dialect):
        if len(fields) != width:
            raise FieldError(start, width_clause(len(fields), width, dialect))
        starts.append(start)
        for column, field in zip(columns, fields, strict=True):
            column.append(_value(field, text, start))
    return PlainRows(columns, starts)


def width_clause(count: int, width: int, dialect: Dialect) -> str:
    """Return what to say of a row with another number of fields than the first row has."""
    separator = "tabs" if dialect.separator == "\t" else f"'{dialect.separator}'"
    fields = "1 field" if count == 1 else f"{count} fields"
    return (
        f"{fields} where {width} {'was' if width == 1 else 'were'} expected (parted by {separator})"
    )


def _value(field: bytes, text: bytes, start: int) -> str | None:
    if b"\0" in field:
        place = text.find(b"\0", start)
        clause = f"a NUL byte in {shown(field)}; the file must be text in UTF-8"
        raise FieldError(place, clause)
    try:
        return field.decode().strip(BLANKS) or None
    except UnicodeDecodeError as error:
        # A doubled quote is one byte shorter in the field, so this may be a little before the byte.
        place = text.find(field[error.start : error.end], start)
        clause = f"{shown(field)} is not UTF-8 text; convert the file, for instance with iconv"
        raise FieldError(place, clause) from None

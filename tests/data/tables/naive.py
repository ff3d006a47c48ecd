"""Separated text read letter by letter: slow, and short enough to be seen to be right."""

BLANKS = b" \t\r\n\v\f"

Row = tuple[int, list[str | None]]  # the line on which it begins, its values


class NaiveError(Exception):
    """A text that has no rows: the lines within which the fault is."""


def naive_rows(text: bytes, separator: bytes, *, quoting: bool) -> list[Row]:
    """Return the rows of a text; raise NaiveError with the lines of the first row that is none."""
    rows: list[Row] = []
    text = text.replace(b"\0", b" ")
    place, line, width = 0, 1, None
    while place < len(text):
        fields, stop, quoted = _fields(text, place, line, separator, quoting=quoting)
        last_line = line + text.count(b"\n", place, stop - 1)
        if len(fields) > 1 or quoted or fields[0].strip(b" \r"):
            if width not in (None, len(fields)):
                raise NaiveError(line, last_line)
            width = len(fields)
            try:
                values = [field.strip(BLANKS).decode() or None for field in fields]
            except UnicodeDecodeError:
                raise NaiveError(line, last_line) from None
            rows.append((line, values))
        place, line = stop, line + text.count(b"\n", place, stop)
    return rows


def _fields(
    text: bytes, place: int, line: int, separator: bytes, *, quoting: bool
) -> tuple[list[bytes], int, bool]:
    """Return the fields of a row, where the next row begins, and whether a field is quoted."""
    fields, start, any_quoted = [], place, False
    while True:
        field = bytearray()
        if quoting and text[place : place + 1] == b'"':
            any_quoted, place = True, place + 1
            while text[place : place + 1] != b'"' or text[place : place + 2] == b'""':
                if place >= len(text):
                    raise NaiveError(line, line + text.count(b"\n", start))
                field += text[place : place + 1]
                place += 2 if text[place : place + 1] == b'"' else 1
            place += 1
            ends_row = text[place:] in (b"", b"\r") or text[place:].startswith((b"\n", b"\r\n"))
            if not ends_row and text[place : place + 1] != separator:
                raise NaiveError(line, line + text.count(b"\n", start, place))
            place += ends_row and text[place : place + 1] == b"\r"
        else:
            while text[place : place + 1] not in (separator, b"\n", b""):
                field += text[place : place + 1]
                place += 1
        fields.append(bytes(field))
        place += 1
        if text[place - 1 : place] != separator:
            return fields, place, any_quoted

"""ARFF, the text of Weka and OpenML, as tables: attributes with their types, then the rows.

Rows without quotes are read as those of CSV, all others line by line. KEEL writes nearly the same.
"""

import re
from collections.abc import Generator, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from rosenblatt.data.batch import BadRows
from rosenblatt.data.labels import shown
from rosenblatt.data.polars import pl
from rosenblatt.data.sources import TextBlock
from rosenblatt.data.tables.separated import (
    BLANKS,
    FieldError,
    Rows,
    SeparatedParser,
    not_utf_8,
    row_block,
)
from rosenblatt.data.tables.table import Dialect, Heading, Selection, Table, choose
from rosenblatt.errors import InputError, Parameter, Sentence

QUOTED = r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)\""""
KEYWORD = re.compile(r"@([a-z]+)\s*(.*)", re.IGNORECASE)
ATTRIBUTE = re.compile(
    rf"(?:{QUOTED}|([^\s{{'\"][^\s{{]*))(?:\s*\{{(.*)\}}.*|\s+([a-z]+)(.*))", re.IGNORECASE
)
FIELDS = {  # by the separator; blanks may stand for commas
    ",": re.compile(rf"""\s*(?:{QUOTED}|((?!['"])[^,]*))\s*(?:(,)|$)"""),
    " ": re.compile(rf"""\s*(?:{QUOTED}|((?!['"])[^\s,]*))\s*(?:((?<=\s)(?=\S)|,)|$)"""),
}
SPARSE = re.compile(rf"""\s*([0-9]+)\s+(?:{QUOTED}|([^\s,'"][^,]*))\s*(?:(,)|$)""")
ESCAPED, ESCAPES = re.compile(r"\\(.)"), {"n": "\n", "r": "\r", "t": "\t"}
NOT_CSV = re.compile(rb"""["{\\]|(?:^|\n)[ \t]*%""")
MISSING = ["?", "<null>"]  # the second in KEEL
NUMERIC = ("numeric", "real", "integer")
SEVERAL_LABELS = re.compile(r"-C\s+(-?[0-9]+)")  # in the relation, as MEKA writes it
DAY_BEFORE_MONTH = {"dM": "dmy", "Md": "mdy"}
MOST_CELLS = 1 << 22  # of sparse rows at a time


class Attribute(NamedTuple):
    """A column as the header declares it."""

    name: str
    kind: str  # numeric, category, string or date, or dmy or mdy, which come first in a date
    default: str = ""  # what a sparse row has that leaves it out


def arff_rows(
    blocks: Iterable[TextBlock], wanted: Selection | None, file: str
) -> Generator[tuple[Heading, TextBlock], None, None]:
    """Yield the layout of a file with each block of rows."""
    header, heading = _Header(file), None
    for block in blocks:
        text = block.tobytes().replace(b"\0", b" ")
        start = 0
        while heading is None and start < len(text):
            stop = text.find(b"\n", start) + 1
            if header.take(text[start:stop]):
                heading = header.heading(text[stop:], wanted)
            start = stop
        for part in _parts(text[start:], len(header.attributes)):
            if heading is not None:
                yield heading, _block(part, heading.dialect, block.bytes_read)
    if heading is None:
        raise InputError(f"{file} has no line @data, behind which the rows of ARFF stand.")


def _block(text: bytes, dialect: Dialect, bytes_read: int) -> TextBlock:
    """Return lines with the quotes of CSV; as they are, and not regular, where that will not do."""
    if dialect.separator == "," and not NOT_CSV.search(text):
        quoted = row_block(text.replace(b"'", b'"'), dialect, bytes_read)
        if not any(line.count(b"'") % 2 for line in text.split(b"\n")) and quoted.regular:
            return quoted
    return TextBlock(np.frombuffer(text, np.uint8), len(text), 0, bytes_read, regular=False)


def _parts(text: bytes, width: int) -> Iterator[bytes]:
    """Yield lines, so few at a time that their rows are not too many fields if they are sparse."""
    most = max(1, MOST_CELLS // max(1, width)) if b"{" in text else text.count(b"\n") + 1
    while text:
        cut = len(text)
        if text.count(b"\n") > most:
            lines = text.split(b"\n", most)
            cut -= len(lines[-1])
        yield text[:cut]
        text = text[cut:]


class _Header:
    """Takes in the lines before @data."""

    def __init__(self, file: str) -> None:
        self._file, self._line = file, 0
        self._label: str | None = None  # as KEEL says it
        self._notes: tuple[str, ...] = ()
        self.attributes: dict[str, Attribute] = {}

    def take(self, line: bytes) -> bool:
        """Take in a line; return whether the rows begin behind it."""
        self._line += 1
        try:
            text = line.decode().strip(BLANKS)
        except UnicodeDecodeError:
            raise self._error(not_utf_8(line)) from None
        if not text or text.startswith("%"):
            return False
        found = KEYWORD.fullmatch(text)
        word, rest = (found[1].lower(), found[2]) if found else ("", text)
        if word == "data":
            return True
        declared = SEVERAL_LABELS.search(rest) if word == "relation" else None
        if declared and declared[1].lstrip("-") not in ("0", "1"):
            self._notes = (
                Sentence(
                    f"{self._file} has {declared[1].lstrip('-')} attributes that are labels; one"
                    f" is learned here. Name it with {Parameter('label')}, and leave the others"
                    f" out with {Parameter('ignore')}."
                ),
            )
        if word == "attribute":
            one = self._attribute(rest)
            if one.name in self.attributes:
                raise self._error(f"attribute {one.name!r} is declared a second time")
            self.attributes[one.name] = one
        elif word in ("output", "outputs"):
            self._label = rest if "," not in rest else None
        elif word not in ("relation", "input", "inputs"):
            raise self._error(f"{shown(line.strip())} stands before @data; expected @attribute")
        return False

    def _attribute(self, text: str) -> Attribute:
        found = ATTRIBUTE.fullmatch(text)
        if found is None:
            clause = f"{shown(text.encode())} declares no attribute; expected a name and a type,"
            raise self._error(f"{clause} such as: @attribute colour {{red, green}}")
        name, values, kind = _value(found, 1), found[4], (found[5] or "").lower()
        if values is not None:
            levels = [_value(one, 1) for one in FIELDS[","].finditer(values)]
            return Attribute(name, "category", levels[0] if levels else "")
        if kind in NUMERIC:
            return Attribute(name, "numeric", "0")
        if kind == "date":
            order = "".join(dict.fromkeys(re.findall("[dM]", found[6])))
            return Attribute(name, DAY_BEFORE_MONTH.get(order, "date"))
        if kind != "string":
            known = ", ".join(("{…}", *NUMERIC, "string", "date"))
            clause = f"attribute {name!r} is of the type {found[5]!r}, which is not read"
            raise self._error(f"{clause}; types that are read are {known}")
        return Attribute(name, kind)

    def _error(self, clause: str) -> InputError:
        return InputError(f"{self._file}, line {self._line}: ", clause, ".")

    def heading(self, following: bytes, wanted: Selection | None) -> Heading:
        """Return the layout of the rows, of which these lines are the first."""
        if not self.attributes:
            raise self._error("no @attribute stands before @data, so that the rows have no columns")
        lines = (line.strip() for line in following.split(b"\n"))
        first = next((line for line in lines if line and not line.startswith(b"%")), b",")
        by_blanks = len(self.attributes) > 1 and b"," not in first and not first.startswith(b"{")
        return Heading(
            Dialect(" " if by_blanks else ",", quoting=True),
            len(self.attributes),
            header=True,
            choice=choose([*self.attributes], wanted, self._file),
            notes=self._notes,
            label=self._label if self._label in self.attributes else None,
            first_line=self._line + 1,
            declared={one.name: one.kind for one in self.attributes.values()},
            defaults=tuple(one.default for one in self.attributes.values()),
        )


class ArffParser(SeparatedParser):
    """Makes tables of successive blocks of lines; a question mark is a missing value."""

    def __init__(self, file: str, bad: BadRows | None) -> None:
        super().__init__(file, bad)
        self._defaults: tuple[str, ...] = ()

    def parse(self, laid_out: tuple[Heading, TextBlock]) -> list[Table]:
        """Return the rows of the next block; raise InputError with the line of what is wrong."""
        self._defaults = laid_out[0].defaults
        return super().parse(laid_out)

    def _read(self, block: TextBlock, heading: Heading) -> Rows:
        frame, lines, bad = super()._read(block, heading)
        fields = pl.all()
        return frame.with_columns(pl.when(~fields.is_in(MISSING)).then(fields)), lines, bad

    def _rows(
        self, text: bytes, dialect: Dialect, start: int
    ) -> Iterator[tuple[int, int, list[str]]]:
        while start < len(text):
            stop = text.find(b"\n", start) + 1 or len(text)
            line = text[start:stop].decode("utf-8", "surrogateescape").strip(BLANKS)
            if line.startswith("{"):
                yield start, stop, self._sparse(line, start)
            elif line and not line.startswith("%"):
                yield start, stop, _dense(line, dialect, start, len(self._defaults))
            start = stop

    def _sparse(self, line: str, start: int) -> list[str]:
        inner, closed, behind = line[1:].rpartition("}")
        if not closed or behind:
            raise FieldError(start, "a sparse row must end in }", row=start)
        if re.search(r"\}\s*,\s*\{", inner):
            raise _weighted(start)
        fields, place, places = [*self._defaults], 0, set[int]()
        while inner.strip(BLANKS):
            found = SPARSE.match(inner, place)
            if found is None:
                entry = shown(inner[place:].encode("utf-8", "surrogateescape"))
                clause = f"{entry} is no entry of a sparse row; expected {{INDEX VALUE, …}}"
                raise FieldError(start, clause, row=start)
            index = int(found[1])
            if index >= len(fields) or index in places:
                last = f"the last attribute is number {len(fields) - 1}, counted from 0"
                why = "stands twice" if index in places else f"is too large; {last}"
                raise FieldError(start, f"index {index} of a sparse row {why}", row=start)
            fields[index] = _value(found, 2)
            places.add(index)
            place = found.end()
            if not found[5]:
                break
        return fields


def _dense(line: str, dialect: Dialect, start: int, width: int) -> list[str]:
    fields, place = list[str](), 0
    while True:
        found = FIELDS[dialect.separator].match(line, place)
        if found is None:
            rest = shown(line[place:].strip(BLANKS).encode("utf-8", "surrogateescape"))
            clause = f"the quotes of {rest} are not in order; a quote within quotes is written \\'"
            raise FieldError(start, clause, row=start)
        fields.append(_value(found, 1))
        place = found.end()
        if found[4] is None:
            break
    if len(fields) == width + 1 and re.fullmatch(r"\{.*\}", fields[-1]):
        raise _weighted(start)
    return fields


def _weighted(start: int) -> FieldError:
    clause = "a weight {…} behind the row is not read; make it an attribute, and name that with"
    return FieldError(start, Sentence(f"{clause} {Parameter('weight')}"), row=start)


def _value(found: re.Match[str], first: int) -> str:
    """Return what one of three groups has: between single quotes, double quotes, or none."""
    quoted = found[first] if found[first] is not None else found[first + 1]
    if quoted is None:
        return str(found[first + 2] or "").strip(BLANKS)
    return ESCAPED.sub(lambda one: ESCAPES.get(one[1], one[1]), quoted)

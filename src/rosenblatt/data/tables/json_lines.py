"""JSON as tables: one object a line, or all in one array, and a column for each key.

polars reads JSON lines three times as fast as Python's json module, but silently takes the first of
two equal keys, half of a character for a NUL, and 5 for "5" once there is text: so Python reads.
"""

import codecs
import json
import math
import re
from collections.abc import Generator, Iterable
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from rosenblatt.data.bad_rows import BadRow, BadRows
from rosenblatt.data.labels import shown
from rosenblatt.data.lines import LONGEST_LINE, TextBlock
from rosenblatt.data.tables.fields import not_utf_8
from rosenblatt.data.tables.table import Selection, Table, choose, in_slices
from rosenblatt.errors import InputError

Object = dict[str, Any]
Kinds = dict[str, type | None]  # of the values of each key; None where only nulls have come

# Numbers that Python would write otherwise: 3.10, 7E10 and those of many digits.
WRITTEN_OTHERWISE = re.compile(r"\.[0-9]+0(?![0-9])|[0-9][eE][-+]?[0-9]|[0-9]{18}")


class WrittenNumber(float):
    """A number whose text says more than its value."""

    text: str

    @classmethod
    def of(cls, text: str) -> float:
        """Return a number; with its text where that is lost otherwise."""
        value = float(text)
        if str(value) == text or math.isinf(value):
            return value
        written = cls(value)
        written.text = text
        return written

    @classmethod
    def of_whole(cls, text: str) -> float:
        """Return a whole number; with its text where 64 bits do not hold it."""
        value = int(text)
        return value if -MOST_WHOLE <= value < MOST_WHOLE else cls.of(text)


TYPES: dict[type | None, Any] = {
    None: pl.Null,
    bool: pl.Boolean,
    int: pl.Int64,
    float: pl.Float64,
    str: pl.String,
    list: pl.List(pl.Null),  # of lists and of objects, which are not kept
}
NESTED = (list, dict)
BLOCK_BYTES = 4 << 20  # of an array, in lines
GAP = re.compile(r"[\s,]*")
UNFINISHED = re.compile(rb"\s*\{[^\n]*(?<=[{,:\[])\s*\n")  # a line of an object on several
MOST_WHOLE = 2**63  # in size, of what 64 bits hold; a larger number makes a column Float64


class JsonError(ValueError):
    """What is wrong with a line, as a clause."""


def objects_of(lines: list[bytes]) -> list[Object] | None:
    """Return the objects that the lines hold, each one; None where a line is something else.

    All lines as one array are read twice as fast as one after the other. That no object stands
    across two lines and no two objects in one is certain for objects with plain values: a line
    begins and ends with a brace, and the objects are as many as the lines. Others are read singly.
    """
    if not all(line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}") for line in lines):
        return None
    try:
        objects = _loads((b"[" + b",\n".join(lines) + b"]").decode())
        if any(type(value) in NESTED for found in objects for value in found.values()):
            objects = [object_of(line) for line in lines]
    except (ValueError, RecursionError, AttributeError):
        return None
    return objects if len(objects) == len(lines) else None


def object_of(line: bytes) -> Object:
    """Return the object that a line holds; raise JsonError otherwise."""
    try:
        found = _loads(line.decode())
    except json.JSONDecodeError as error:
        reason = error.msg.lower().removesuffix(" at")
        clause = f"no JSON: {reason} at column {error.colno}"
        raise JsonError(clause) from None
    except UnicodeDecodeError:
        raise JsonError(not_utf_8(line)) from None
    except RecursionError:
        clause = f"{shown(line)} is nested too deep"
        raise JsonError(clause) from None
    except JsonError:
        raise
    except ValueError as error:
        clause = f"{shown(line)} cannot be read: {error}"
        raise JsonError(clause) from None
    if not isinstance(found, dict):
        clause = f"expected an object {{…}}, found {shown(line.strip())}; write one object a line"
        raise JsonError(clause)
    return found


def check_object(found: Object, kinds: Kinds) -> None:
    """Raise JsonError where a value is none for its column; note the kinds of the new columns."""
    for key in kinds:
        if key in found:
            _check_text(key, key)
        value = found.get(key)
        if value is None or kinds[key] is list:
            continue
        kind = _kind([value], kinds[key])
        if kind not in TYPES:
            clause = f"key {key!r} has the value {_shown(value)}; only plain values can be columns"
            raise JsonError(clause)
        if not isinstance(value, (str, *NESTED)) and math.isinf(_double(value)):
            clause = f"key {key!r} has a number beyond the range of float64"
            raise JsonError(clause)
        if isinstance(value, str):
            _check_text(key, value)
        kinds[key] = kind


def _check_text(key: str, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        clause = f"key {key!r} has half of a character in {_shown(value)}"
        raise JsonError(clause) from None


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _shown(value: object) -> str:
    return shown(json.dumps(value).encode())


def _loads(text: str) -> Any:
    hooks: dict[str, Any] = {}
    if WRITTEN_OTHERWISE.search(text):
        hooks = {"parse_float": WrittenNumber.of, "parse_int": WrittenNumber.of_whole}
    return json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse, **hooks)


def _distinct(pairs: list[tuple[str, Any]]) -> Object:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        clause = f"key {repeated!r} stands twice in an object"
        raise JsonError(clause)
    return found


def _refuse(constant: str) -> None:
    """Return nothing for NaN, which is how programs write that a number is missing."""
    if constant == "NaN":
        return
    clause = f"{constant} is not a number in JSON; write null where a value is missing"
    raise JsonError(clause)


def is_document(head: bytes) -> bool:
    """Return whether a text begins with an array, or with an object on several lines."""
    return head.lstrip().startswith(b"[") or bool(UNFINISHED.match(head))


def object_lines(blocks: Iterable[TextBlock], file: str) -> Generator[TextBlock, None, None]:
    """Yield the objects of an array, or such as stand on several lines, one a line."""
    decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
    scan, text, place, enough, n_objects = json.JSONDecoder().raw_decode, "", 0, 0, 0
    lines, size = list[bytes](), 0
    ends: list[str] = []  # what closes the array, while it is open
    last: TextBlock | None = None
    for block in chain(blocks, (None,)):
        last = block or last
        text = text[place:] + (
            "" if block is None else decode(block.text[: block.length].tobytes())
        )
        place = 0
        if last is None or (block is not None and len(text) < enough):
            continue
        while (place := _behind_gap(text, place, ends, first=not n_objects)) < len(text):
            try:
                end = scan(text, place)[1]
            except (ValueError, RecursionError) as error:
                if block is None or len(text) - place > LONGEST_LINE:
                    msg = f"{file}, row {n_objects + 1}: no JSON: {_reason(error)}."
                    raise InputError(msg) from None
                break
            n_objects += 1
            lines.append(text[place:end].replace("\n", " ").encode("utf-8", "surrogateescape"))
            place = end
            size += len(lines[-1])
            if size > BLOCK_BYTES:
                yield _block_of(lines, last)
                lines, size = [], 0
        enough = 2 * (len(text) - place)
        if lines:
            yield _block_of(lines, last)
            lines, size = [], 0


def _behind_gap(text: str, place: int, ends: list[str], *, first: bool) -> int:
    """Return the place behind blanks, commas and the brackets of the array."""
    while True:
        gap = GAP.match(text, place)
        place = place if gap is None else gap.end()
        mark = text[place : place + 1]
        if mark == "[" and first and not ends:
            ends.append("]")
        elif not (mark and ends[-1:] == [mark]):
            return place
        else:
            ends.append("")  # nothing may follow but blanks
        place += 1


def _block_of(lines: list[bytes], block: TextBlock) -> TextBlock:
    text = np.frombuffer(b"\n".join([*lines, b""]), np.uint8)
    return block._replace(text=text, length=len(text))


def _reason(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return error.msg.lower().removesuffix(" at")
    return "it is nested too deep"


class JsonLinesParser:
    """Makes tables of successive blocks.

    The keys in the first block are the columns; a key that comes later is noted and left out, or an
    error where nobody counts bad rows. Where the wanted columns are named, all others are ignored.
    A key that an object lacks is null there. A column of whole numbers has fractions (Float64) from
    the block on in which the first fraction comes, one of several kinds, or with a number such as
    3.10, becomes text, and one of nulls (Null) is open to any kind of value that comes later. Lists
    and objects are not kept.
    With ``rows`` each line is a row of a document, and places are counted in rows.
    """

    def __init__(
        self,
        file: str,
        wanted: Selection | None,
        bad: BadRows | None,
        *,
        prompt: bool,
        rows: bool = False,
    ) -> None:
        self._unit = "row" if rows else "line"
        self._file = file
        self._bad = bad
        self._wanted = wanted
        self._prompt = prompt
        self._kinds: Kinds | None = None
        self._line = 1
        self._row = 1

    def parse(self, block: TextBlock) -> list[Table]:
        """Return the rows of the next block; raise InputError with the line of what is wrong."""
        all_lines = block.text[: block.length].tobytes().replace(b"\0", b" ").split(b"\n")[:-1]
        numbers = [k for k, line in enumerate(all_lines) if line.strip()]
        if not numbers:
            self._line += len(all_lines)
            return []
        bad: list[BadRow] = []
        frame = self._rows([all_lines[k] for k in numbers])
        if frame is None:
            numbers, bad = self._without_faults(all_lines, numbers)
            frame = self._rows([all_lines[k] for k in numbers])
        if frame is None:
            line = self._line + numbers[0]
            msg = f"{self._file}, from line {line} on: no objects of plain values."
            raise InputError(msg)
        places = None if self._unit == "row" else np.array(numbers, np.int64) + self._line
        table = Table(frame, self._file, self._row, places, block.bytes_read, bad=tuple(bad))
        self._line += len(all_lines)
        self._row += frame.height
        return list(in_slices(table))

    def _rows(self, lines: list[bytes]) -> pl.DataFrame | None:
        """Return the rows that the lines hold, or None where one of them does not fit."""
        objects = objects_of(lines)
        if objects is None:
            return None
        if self._kinds is None:
            if not objects:
                return pl.DataFrame()
            if len(objects) == 1 and self._wanted is None and not self._prompt:
                _check_single(objects[0], self._file)
            self._kinds = dict.fromkeys(self._columns(objects))
        return self._frame(objects, self._kinds)

    def _columns(self, objects: list[Object]) -> tuple[str, ...]:
        """Return the names of the columns; a row that comes alone may lack some."""
        keys = tuple(dict.fromkeys(chain.from_iterable(objects)))
        if self._wanted and self._prompt:
            return tuple(n for n in self._wanted.names if n in keys or n in self._wanted.required)
        return choose(keys, self._wanted, self._file).names

    def _frame(self, objects: list[Object], kinds: Kinds) -> pl.DataFrame | None:
        """Return the objects as rows, or None where one of them does not fit."""
        if self._wanted is None and not kinds.keys() >= set(chain.from_iterable(objects)):
            if self._bad is None:
                return None
            self._bad.leave_out(key for one in objects for key in one if key not in kinds)
        columns = {}
        for name, known in kinds.items():
            values = [found.get(name) for found in objects]
            kind = _kind(values, known)
            if kind not in TYPES:
                return None
            try:
                columns[name] = _series(name, values, kind)
            except (ValueError, OverflowError):  # half of a character, a number beyond float64
                return None
            if kind is float and columns[name].is_infinite().any():
                return None
            kinds[name] = kind
        return pl.DataFrame(columns) if columns else pl.DataFrame(height=len(objects))

    def _without_faults(
        self, lines: list[bytes], numbers: list[int]
    ) -> tuple[list[int], list[BadRow]]:
        """Go through the lines one by one; return the numbers of the good ones, and the others.

        Where bad rows are not to be skipped, the first is an error that says what is wrong.
        """
        kinds: Kinds = dict(self._kinds or {})
        good: list[int] = []
        bad: list[BadRow] = []
        for number in numbers:
            try:
                found = object_of(lines[number])
                self._check_keys(found, kinds)
                check_object(found, kinds)
            except JsonError as fault:
                place = f"{self._file}, {self._unit} {self._line + number}"
                row = BadRow(len(good), place, fault.args[0])
                if self._bad is None:
                    raise InputError(row.sentence()) from None
                if not self._bad.skip:
                    raise self._bad.refuse(row) from None
                bad.append(row)
            else:
                good.append(number)
        return good, bad

    def _check_keys(self, found: Object, kinds: Kinds) -> None:
        """Add the keys of the first block to the columns; later ones are an error."""
        new = [key for key in found if key not in kinds]
        if self._wanted is not None:
            new = [key for key in new if key in self._wanted.names]
        elif new and self._kinds is not None and self._bad is not None:
            self._bad.leave_out(new)
            return
        elif new and self._kinds is not None:
            clause = (
                f"key {new[0]!r} is in none of the first {self._row - 1:,} rows;"
                " put the rows with the most keys first"
            )
            raise JsonError(clause)
        kinds.update(dict.fromkeys(new))


def _check_single(found: Object, file: str) -> None:
    """Raise InputError for a document of one object that holds the rows somewhere inside."""
    nested = [key for key, value in found.items() if isinstance(value, NESTED)]
    lists = [key for key in nested if isinstance(found[key], list)]
    inside = [key for key in lists if [*map(type, found[key][:2])] == [dict, dict]]
    if not inside and len(nested) < len(found):
        return
    advice = "write one object for each row"
    if inside:
        key = max(inside, key=lambda key: len(found[key]))
        path = f".{key}[]" if re.fullmatch("[A-Za-z_]+", key) else f'.["{key}"][]'
        advice = f"the rows may be in {key!r}: take them out with jq -c '{path}' {file}"
    msg = f"{file} is a single JSON object, so a single row; {advice}."
    raise InputError(msg)


def _kind(values: list[Any], known: type | None) -> type | None:
    """Return the kind of a column with these values; ``object`` for lists among plain values."""
    kinds = {known, *map(type, values)} - {None, type(None)}
    if known is list or (known is None and kinds & set(NESTED)):
        return list
    if kinds & set(NESTED):
        return object
    if WrittenNumber in kinds:
        return str
    if kinds == {int, float}:
        return float
    if kinds == {int}:
        numbers = [value for value in values if value is not None]
        fits = min(numbers, default=0) >= -MOST_WHOLE and max(numbers, default=0) < MOST_WHOLE
        return int if fits else float
    return kinds.pop() if len(kinds) == 1 else str if kinds else None


def _series(name: str, values: list[Any], kind: type | None) -> pl.Series:
    if kind is float:
        values = [None if value is None else float(value) for value in values]
    elif kind is str:
        values = [_text(value) for value in values]
    elif kind is list:
        values = [None] * len(values)
    return pl.Series(name, values, dtype=TYPES[kind])


def _text(value: Any) -> str | None:
    """Return a value as it stands in the file, or nearly so."""
    if isinstance(value, WrittenNumber):
        return value.text
    return value if value is None or isinstance(value, str) else json.dumps(value)

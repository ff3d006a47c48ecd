"""JSON as tables: one object a line, or all in one array, and a column for each key.

msgspec reads. It refuses NaN, so Python's json module, half as fast, reads again what msgspec
refuses, and words the errors. Of equal keys in an object both take the last.
"""

import codecs
import json
import math
import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np
import polars as pl

from rosenblatt.data.batch import BadRow, BadRows, refuse_unless_skipped
from rosenblatt.data.labels import IN_LISTS, shown
from rosenblatt.data.sources import LONGEST_LINE, TextBlock
from rosenblatt.data.tables.separated import not_utf_8
from rosenblatt.data.tables.table import (
    NO_NESTING,
    Nesting,
    Selection,
    Table,
    choose,
    choose_unnamed,
    flat_row,
    found_name,
    in_slices,
)
from rosenblatt.errors import InputError

Object = dict[str, Any]
Kinds = dict[str, type | None]  # of the values of each key; None where only nulls have come

TYPES: dict[type | None, Any] = {
    None: pl.Null,
    bool: pl.Boolean,
    int: pl.Int64,
    float: pl.Float64,
    str: pl.String,
    list[float]: pl.List(pl.Float64),
    list[str]: pl.List(pl.String),
    list: pl.List(pl.Null),  # of other lists and of objects, which are not kept
}
LISTS = (list[float], list[str])
NESTED = (list, dict)
BLOCK_BYTES = 4 << 20  # of an array, in lines
GAP = re.compile(r"[\s,]*")
UNFINISHED = re.compile(rb"\s*\{[^\n]*(?<=[{,:\[])\s*\n")  # a line of an object on more lines
HALF = re.compile("[\ud800-\udfff]")  # of a character
MARK, COLUMNS = "__label__", ("label", "text")  # of fastText
MOST_WHOLE = 2**63  # in size, of what 64 bits hold; a larger number is kept as its text

DECODER = msgspec.json.Decoder(Object)


class JsonError(ValueError):
    """What is wrong with a line, as a clause."""


def objects_of(lines: list[bytes]) -> list[Object]:
    """Return the object that each line holds; raise JsonError where a line is something else.

    As many objects as lines means that each holds one.
    """
    if all(line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}") for line in lines):
        try:
            objects = DECODER.decode_lines(b"\n".join(lines))
        except (ValueError, RecursionError):
            objects = []
        if len(objects) == len(lines):
            return objects
    return [object_of(line) for line in lines]


@contextmanager
def _nesting_errors() -> Iterator[None]:
    try:
        yield
    except (ValueError, RecursionError) as error:
        deep = isinstance(error, RecursionError)
        raise JsonError("the object is nested too deep" if deep else str(error)) from None


def object_of(line: bytes) -> Object:
    """Return the object that a line holds; raise JsonError otherwise."""
    try:
        found = json.loads(line.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise JsonError(_clause(error, line)) from None
    if not isinstance(found, dict):
        clause = f"expected an object {{…}}, found {shown(line.strip())}; write one object a line"
        raise JsonError(clause)
    return found


def _clause(error: ValueError | RecursionError, line: bytes) -> str:
    if isinstance(error, JsonError):
        clause: str = error.args[0]
        return clause
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON: {_reason(error)} at column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return not_utf_8(line)
    deep = isinstance(error, RecursionError)
    return f"{shown(line)} {f'is {_reason(error)}' if deep else f'cannot be read: {error}'}"


def _refuse(constant: str) -> None:
    """Return nothing for NaN, which is how programs write that a number is missing."""
    if constant == "NaN":
        return
    raise JsonError(f"{constant} is not a number in JSON; write null where a value is missing")


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
        text = text[place:] + ("" if block is None else decode(block.tobytes()))
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
    return "nested too deep"


class JsonLinesParser:
    """Makes tables of successive blocks.

    The keys in the first block are the columns; one that comes later is noted and left out. A
    column of whole numbers has fractions from the first fraction on; one of several kinds becomes
    text; values of nested objects are columns, unless there are too many; lists of numbers or of
    texts are kept, other lists are not. With ``rows`` each line is a
    row of a document, and places are counted in rows.
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
        self._nesting = NO_NESTING
        self._line = 1
        self._row = 1

    def parse(self, block: TextBlock) -> list[Table]:
        """Return the rows of the next block; raise InputError with the line of what is wrong."""
        all_lines = block.tobytes().replace(b"\0", b" ").split(b"\n")[:-1]
        numbers = [k for k, line in enumerate(all_lines) if line.strip()]
        if not numbers:
            self._line += len(all_lines)
            return []
        bad: list[BadRow] = []
        try:
            objects = self._objects([all_lines[k] for k in numbers])
            if self._kinds is None and len(objects) == 1 and not (self._wanted or self._prompt):
                _check_single(objects[0], self._file)
            n_braces = sum(line.count(b"{") for line in all_lines)
            objects = self._flat(objects, nested=n_braces > len(objects))
            frame = self._frame(objects)
        except JsonError:
            objects, numbers, bad = self._good_rows(all_lines, numbers)
            frame = self._frame(objects)
        places = None if self._unit == "row" else np.array(numbers, np.int64) + self._line
        table = Table(frame, self._file, self._row, places, block.bytes_read, bad=tuple(bad))
        self._line += len(all_lines)
        self._row += frame.height
        return list(in_slices(table))

    def _objects(self, lines: list[bytes]) -> list[Object]:
        return objects_of(lines)

    def _flat(self, objects: list[Object], *, nested: bool) -> list[Object]:
        """Return objects with the values of nested ones; the first rows say which keys hold such.

        Unless an object may be ``nested``, and none has been so far, they stay as they are, but for
        names that the model writes in another form of Unicode.
        """
        if nested or self._nesting.objects:
            with _nesting_errors():
                if self._kinds is None and self._wanted is None:
                    self._nesting = Nesting.of(objects)
                objects = [flat_row(one, self._nesting) for one in objects]
        names = () if self._wanted is None else self._wanted.names
        for name in (name for name in names if not name.isascii()):
            for one in objects:
                other = found_name(name, one)
                if other is not None and other != name:
                    one[name] = one.pop(other)
        return objects

    def _frame(self, objects: list[Object]) -> pl.DataFrame:
        """Return objects as rows; the first ones decide on the columns."""
        kinds = self._kinds
        if kinds is None:
            if not objects:
                return pl.DataFrame()
            kinds = dict.fromkeys(self._columns(objects))
        self._check_keys(objects, kinds)
        frame, self._kinds = _rows(objects, kinds)
        return frame

    def _columns(self, objects: list[Object]) -> tuple[str, ...]:
        """Return the names of the columns; a row that comes alone may lack some."""
        keys = tuple(dict.fromkeys(chain.from_iterable(objects)))
        if self._wanted and self._prompt:
            return tuple(n for n in self._wanted.names if n in keys or n in self._wanted.required)
        return tuple(choose(keys, self._wanted, self._file))

    def _good_rows(
        self, lines: list[bytes], numbers: list[int]
    ) -> tuple[list[Object], list[int], list[BadRow]]:
        """Return the objects of the good lines with the numbers of these, and the bad lines."""
        found: dict[int, Object | JsonError] = {}
        for number in numbers:
            try:
                (row,) = self._objects([lines[number]])
                with _nesting_errors():
                    flat_row(row)
                found[number] = row
            except JsonError as fault:
                found[number] = fault
        read = {k: one for k, one in found.items() if not isinstance(one, JsonError)}
        rows = self._flat([*read.values()], nested=True)
        found |= zip(read, rows, strict=True)
        kinds, most = dict(self._kinds or {}), Kinds()
        if self._kinds is None:  # the keys are columns, of the kind that most values have
            keys = dict.fromkeys(chain.from_iterable(rows))
            own = keys if self._wanted is None else {*self._wanted.names}
            most = {k: _kind(k, _most([r.get(k) for r in rows]), None) for k in keys if k in own}
        try:  # all at once, since there may be many keys
            self._check_keys(rows, kinds | most)
            _rows(rows, kinds | most)
            sound = True
        except JsonError:
            sound = False
        objects, good, bad = list[Object](), list[int](), list[BadRow]()
        for number, one in found.items():
            try:
                if isinstance(one, JsonError):
                    raise one
                kinds |= {key: most[key] for key in one if key in most and key not in kinds}
                if not sound:
                    self._check_keys([one], kinds)
                    _, kinds = _rows([one], kinds)
            except JsonError as fault:
                place = f"{self._file}, {self._unit} {self._line + number}"
                bad.append(BadRow(len(good), place, fault.args[0]))
                refuse_unless_skipped(bad[-1], self._bad)
            else:
                objects.append(one)
                good.append(number)
        return objects, good, bad

    def _check_keys(self, objects: list[Object], kinds: Kinds) -> None:
        """Note keys that are no columns, or raise JsonError if bad rows are errors."""
        if self._wanted is not None or kinds.keys() >= set(chain.from_iterable(objects)):
            return
        new = [key for one in objects for key in one if key not in kinds]
        if self._bad is not None:
            self._bad.leave_out(new)
            return
        raise JsonError(
            f"key {new[0]!r} is in none of the first {self._row - 1:,} rows;"
            " put the rows with the most keys first"
        )


class FastTextParser(JsonLinesParser):
    """Makes tables of text for fastText: one text a line, each ``__label__name`` in it a label."""

    def __init__(
        self, file: str, wanted: Selection | None, bad: BadRows | None, *, prompt: bool
    ) -> None:
        super().__init__(file, wanted, bad, prompt=prompt)
        known = wanted is None or set(wanted.required) <= set(COLUMNS)
        self._choice = choose(COLUMNS, wanted, file) if known else choose_unnamed(2, wanted, file)

    def _objects(self, lines: list[bytes]) -> list[Object]:
        pairs = map(_label_and_text, lines)
        return [{name: pair[place] for name, place in self._choice.items()} for pair in pairs]


def _label_and_text(line: bytes) -> tuple[str | None, str | None]:
    try:
        words = line.decode().split()
    except UnicodeDecodeError:
        raise JsonError(not_utf_8(line)) from None
    labels = [word.removeprefix(MARK) for word in words if word.startswith(MARK)]
    text = " ".join(word for word in words if not word.startswith(MARK))
    return IN_LISTS.join(labels) or None, text or None


def _rows(objects: list[Object], kinds: Kinds) -> tuple[pl.DataFrame, Kinds]:
    """Return objects as rows, and the kinds of the columns from now on."""
    columns, new_kinds = {}, Kinds()
    for name, known in kinds.items():
        values = [found.get(name) for found in objects]
        new_kinds[name] = kind = _kind(name, values, known)
        columns[name] = _series(name, values, kind)
    return pl.DataFrame(columns) if columns else pl.DataFrame(height=len(objects)), new_kinds


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
    raise InputError(f"{file} is a single JSON object, so a single row; {advice}.")


def _most(values: list[Any]) -> list[Any]:
    """Return the lists and objects among values if they are the most, else the plain values."""
    nested = [value for value in values if isinstance(value, NESTED)]
    plain = [value for value in values if value is not None and not isinstance(value, NESTED)]
    return nested if len(nested) > len(plain) else plain


def _kind(name: str, values: list[Any], known: type | None) -> type | None:
    """Return the kind of a column with these values; JsonError for lists among plain values."""
    kinds = {known, *map(type, values)} - {None, type(None)}
    if known is list or known in LISTS:
        return known
    if kinds & set(NESTED):
        most = _most(values)
        if known is None and isinstance(most[0], NESTED):
            return _list_kind(most)
        value = next(value for value in values if isinstance(value, NESTED))
        clause = f"key {name!r} has the value {_shown(value)}; only plain values can be columns"
        raise JsonError(clause)
    if kinds and kinds <= {int, float}:
        whole = [value for value in values if type(value) is int]
        if min(whole, default=0) >= -MOST_WHOLE and max(whole, default=0) < MOST_WHOLE:
            return int if kinds == {int} else float
    if not kinds:
        return None
    return bool if kinds == {bool} else str


def _list_kind(values: list[Any]) -> type:
    """Return the kind of a column of lists: of numbers, of texts, or of anything else.

    Vectors, lists of numbers of one length, may have odd values among them: bad rows.
    """
    lengths = Counter(len(value) for value in values if _has_numbers_alone(value))
    length, count = max(lengths.items(), key=itemgetter(1), default=(0, 0))
    if length > 1 and 2 * count > len(values):
        return list[float]
    items = [item for value in values if isinstance(value, list) for item in value]
    inner = {type(item) for item in items} - {type(None)}
    if any(isinstance(value, dict) for value in values) or inner & {*NESTED, bool}:
        return list
    return list[str] if str in inner or not inner else list[float]


def _has_numbers_alone(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, (int, float, type(None))) and not isinstance(item, bool) for item in value
    )


def _items(value: Any, kind: Any) -> list[Any] | None:
    """Return a list as one of numbers, empty where it is none, or as one of texts."""
    if value is None:
        return None
    if kind == list[str]:
        items = value if isinstance(value, list) else [] if isinstance(value, dict) else [value]
        return [_text(item) for item in items]
    numbers = value if _has_numbers_alone(value) else []
    return [None if number is None else float(number) for number in numbers]


def _series(name: str, values: list[Any], kind: type | None) -> pl.Series:
    """Return a column; raise JsonError for half of a character or a number beyond float64."""
    if kind is list:
        values = [None] * len(values)
    elif kind in LISTS:
        values = [_items(value, kind) for value in values]
    try:
        if kind is float:
            values = [None if value is None else float(value) for value in values]
        elif kind is str:
            values = [_text(value) for value in values]
        series = pl.Series(name, values, dtype=TYPES[kind])
    except UnicodeEncodeError:
        texts = (text for text in (name, *values) if isinstance(text, str))
        half = next(text for text in texts if HALF.search(text))
        raise JsonError(f"key {name!r} has half of a character in {_shown(half)}") from None
    except OverflowError:
        series = pl.Series([math.inf])
    if series.dtype == pl.Float64 and (series.max() == math.inf or series.min() == -math.inf):
        raise JsonError(f"key {name!r} has a number beyond the range of float64")
    return series


def _text(value: Any) -> str | None:
    """Return a value as it stands in the file, or nearly so."""
    if value is None or isinstance(value, str):
        return value
    if math.isinf(value):
        raise OverflowError
    return json.dumps(value)


def _shown(value: object) -> str:
    return shown(json.dumps(value).encode())

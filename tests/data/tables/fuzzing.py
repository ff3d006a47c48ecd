"""Mutated files through the readers of separated text and of JSON lines, against naive ones."""

import contextlib
import io
import json
import random
import re
from typing import Any

from rosenblatt.data.sources import ByteSource, StoredBytes, whole_lines
from rosenblatt.data.tables.heading import SeparatedOptions, laid_out
from rosenblatt.data.tables.json_lines import JsonLinesParser
from rosenblatt.data.tables.separated import SeparatedParser
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError
from tests.data.tables.naive import NaiveError, Row, naive_rows

SEPARATED_SEEDS = [
    b"a,b,c\n1,2,3\n4,5,6\n",
    b'name,text\r\nx,"one, two"\r\ny,"say ""hi"""\r\n',
    b'1,"two\nlines",3\n\n4,,""\n  \n5,"""",\n',
    "é,ü,\N{BYTE ORDER MARK}\n\N{EARTH GLOBE EUROPE-AFRICA},\xa0,z\n".encode(),
    b"x\x01,5\" pipe\nx^,it's\n",
    b"one\ntwo\n\nthree\n",
    b'a\tb\tc\n1\t"2\t3\n',
    b" 1 , 2,3 \n\t4\t,5\r,\r6\n",
    b",,\n,,\n",
    b'"a","b"\n"c","d"',
    b'\xef\xbb\xbf"q",w\n1,2\n',
]
SEPARATED_PIECES = [
    *(b",", b"\n", b"\r\n", b"\r", b'"', b'""', b'","', b'"\n', b'\n"', b" ", b"\t", b";", b"\n\n"),
    *(
        b"\x00",
        b"\xff",
        b"\xc3",
        b"\xa9",
        b"\xef\xbb\xbf",
        b'"""',
        b"\n \n",
        b",,",
        b'a"b',
        b'"a"b',
    ),
]
JSON_SEEDS = [
    b'{"a": 1, "b": "x", "c": true}\n{"a": 2, "b": null, "c": false}\n',
    b'{"a": 1.5, "b": "\\u00e9\\n", "c": null}\n\n{"b": "y", "a": 3}\n',
    b'{"a": -1e3, "text": "a, b", "n": 9007199254740993}\r\n{"a": 0}\r\n',
    '{"ü": "\N{EARTH GLOBE EUROPE-AFRICA}"}\n{"ü": ""}'.encode(),
]
JSON_PIECES = [
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b'"',
        b"\\",
        b"\n",
        b"1",
        b".5",
        b"null",
        b"NaN",
        b"\xff",
    ),
    *(
        b'"a": 2, ',
        b'{"a": 1}',
        b"\\ud800",
        b"1e400",
        b"9" * 20,
        b'"z": 1, ',
        b"true",
        b"{}",
        b"\n\n",
    ),
]


def mutated(generator: random.Random, seeds: list[bytes], pieces: list[bytes]) -> bytes:
    """Return a file that has suffered a few accidents."""
    text = bytearray(b"".join(generator.choices(seeds, k=generator.choice((1, 1, 1, 2, 3)))))
    for _ in range(generator.choice((0, 1, 1, 1, 2, 3, 8))):
        place = generator.randint(0, len(text))
        kind = generator.random()
        if kind < 0.5:
            text[place:place] = generator.choice(pieces)
        elif kind < 0.7:
            del text[place : place + generator.choice((1, 1, 2, 5, 20))]
        elif kind < 0.8:
            text[place : place + 1] = bytes([generator.randrange(256)])
        else:
            other = generator.randint(0, len(text))
            text[place:place] = text[other : other + generator.choice((3, 10, 64))]
    return bytes(text)


def separated_tables(text: bytes, asked: SeparatedOptions, size: int) -> list[Table]:
    """Return what the reader makes of a text in blocks of this size, without threads."""
    source = ByteSource(StoredBytes(io.BytesIO(text), "fuzz"))
    parser = SeparatedParser("fuzz", None)
    blocks = laid_out(whole_lines(source, size), asked, "fuzz", prompt=False)
    return [table for block in blocks for table in parser.parse(block)]


def json_tables(text: bytes, size: int) -> list[Table]:
    """Return what the reader of JSON lines makes of a text."""
    source = ByteSource(StoredBytes(io.BytesIO(text), "fuzz"))
    parser = JsonLinesParser("fuzz", None, None, prompt=False)
    return [table for block in whole_lines(source, size) for table in parser.parse(block)]


def rows_of(tables: list[Table]) -> list[Row]:
    """Return the rows of tables with their lines."""
    rows: list[Row] = []
    for table in tables:
        assert table.lines is not None
        assert table.first_row == len(rows) + 1
        values = map(list, table.frame.rows())
        rows += zip(table.lines.tolist(), values, strict=True)
    return rows


def check_separated(text: bytes, separator: str, size: int, *, quoting: bool) -> bool:
    """Assert that a text is read as the naive reader reads it; return whether it was good."""
    asked = SeparatedOptions(separator, quoting, header=False, wanted=None)
    try:
        found, refused = rows_of(separated_tables(text, asked, size)), None
    except InputError as error:
        found, refused = [], _line_of(error)
    case = (text, separator, size, quoting, found, refused)
    plain = text.removeprefix(b"\xef\xbb\xbf")
    try:
        expected = naive_rows(plain, separator.encode(), quoting=quoting)
    except NaiveError as error:
        first, last = error.args
        assert refused is not None, case
        assert first <= refused <= last, case
        return False
    assert refused is None, case
    assert found == expected, case
    return True


def _line_of(error: InputError) -> int:
    """Return the line that an error names, in a sentence that ends with one full stop."""
    line = re.fullmatch(r"fuzz, line (\d+): .*[^.]\.", str(error), re.DOTALL)
    assert line, str(error)
    return int(line[1])


def check_json(text: bytes, size: int) -> bool:
    """Assert that a text is read as one object after the other, or refused; return which."""
    try:
        tables = json_tables(text, size)
    except InputError as error:
        return _line_of(error) < 0
    lines = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    expected = [(number, json.loads(line)) for number, line in enumerate(lines, 1) if line.strip()]
    found = [
        (number, values)
        for table in tables
        if table.lines is not None
        for number, values in zip(table.lines, table.frame.rows(named=True), strict=True)
    ]
    assert [number for number, _ in found] == [number for number, _ in expected], (text, size)
    for (_, ours), (_, theirs) in zip(found, expected, strict=True):
        for key, value in theirs.items():  # 1e3 is read as the text that it is
            if type(value) in (int, float) and type(ours.get(key)) is str:
                ours[key] = float(ours[key])
        assert _present(ours) == _present(theirs), (text, size, ours, theirs)
    return True


def _present(values: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    """Return the values that are not null, with kinds, so that true is not 1."""
    kind = {bool: "bool", int: "number", float: "number", str: "text"}
    return {
        key: (kind[type(value)], float(value) if kind[type(value)] == "number" else value)
        for key, value in values.items()
        if value is not None
    }


def fuzz(n_files: int, seed: int) -> int:
    """Check that many mutated files; return how many of them were good."""
    generator = random.Random(seed)  # noqa: S311  # no secret
    n_good = 0
    for _ in range(n_files):
        size = generator.choice((1, 2, 3, 5, 8, 13, 40, 1 << 16))
        if generator.random() < 0.25:
            n_good += check_json(mutated(generator, JSON_SEEDS, JSON_PIECES), size)
            continue
        text = mutated(generator, SEPARATED_SEEDS, SEPARATED_PIECES)
        separator = generator.choice(",,,\t;")
        n_good += check_separated(text, separator, size, quoting=generator.random() < 0.7)
        with contextlib.suppress(InputError):
            separated_tables(
                text, SeparatedOptions(None, quoting=True, header=None, wanted=None), size
            )
    return n_good

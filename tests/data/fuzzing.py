"""Mutated files through three parsers: the compiled scan, the plain one, the naive one.

The text stands in front of a page that kills the process when it is read.
"""

import random

import numpy as np

from rosenblatt.data.batch import Batch
from rosenblatt.data.svmlight import (
    Conventions,
    LineError,
    parse_plain,
    parse_scanned,
)
from rosenblatt.kernels.text import MOST_FEATURE
from tests.data.guarded import GuardedText
from tests.data.naive import NaiveError, naive_rows

ROOM = 4096
SEEDS = [
    b"-1 3:1 11:1 14:1 19:1 39:1\n+1 5:1 7:1\n1.0 1:-0.5 2:.5 4:5. 9:+2e-3 # a:b comment\n",
    b"1 1:0.06428426 2:-0.0008847414 3:7.168048e-05 4:0.0009894667000000001\n0\n\n# a comment\n",
    b"spam qid:17 4:1 2:3 9:1e5\r\nham\tqid:18\t1:2  7:1E+10\r\n",
    b"2 0:123456789012345678901234567890 2147483647:1e-320 8:1.7976931348623157e308\n",
    b"a 10:9007199254740993 11:0.1000000000000000055511151231257827021181583404541015625\nb 1:1",
    b"1 " + b" ".join(b"%d:%d" % (k, k) for k in range(1, 40)) + b"\n",
    b"x " + b" ".join(b"%d:%.3f" % (k, k / 7) for k in range(70, 40, -1)) + b"\n",
    b"1 1:" + b"9" * 70 + b"e-60 2:0." + b"0" * 70 + b"1\n" + b"0" * 70 + b"1:5\n",
    b"\xef\xbb\xbf1 1:2\n\xc3\xa9t\xc3\xa9 1:2\n",
]
PIECES = [
    *(b" ", b"\t", b"\n", b"\r\n", b"\x0b", b"#", b":", b".", b"-", b"+", b"e", b"E", b"0", b"1"),
    *(b"9", b"nan", b"inf", b"qid:", b"qid:7", b" 1:1", b" 0:1", b"::", b"1e999", b"\x00", b"\xff"),
    *(b"99999999999", b"0" * 30, b"1" * 19, b"7" * 65, b" " * 64, b"1e-0000005", b"_", b"\x7f"),
]

Outcome = tuple[object, ...]


def mutated(generator: random.Random) -> bytes:
    """Return a file that has suffered a few accidents."""
    text = bytearray(b"".join(generator.choices(SEEDS, k=generator.randint(1, 3))))
    for _ in range(generator.choice((0, 1, 1, 1, 2, 3, 8))):
        place = generator.randint(0, len(text))
        kind = generator.random()
        if kind < 0.5:
            text[place:place] = generator.choice(PIECES)
        elif kind < 0.7:
            del text[place : place + generator.choice((1, 1, 2, 5, 60))]
        elif kind < 0.85:
            text[place : place + 1] = bytes([generator.randrange(256)])
        else:
            other = generator.randint(0, len(text))
            text[place:place] = text[other : other + generator.choice((3, 10, 64))]
    return bytes(text[: ROOM - 1])


def check(text: bytes, guarded: GuardedText, base: int) -> None:
    """Assert that the three parsers agree on a text."""
    whole = text if text.endswith(b"\n") else text + b"\n"
    plain = _plain(whole, base)
    try:
        held = guarded.hold(whole)
        scanned = _outcome(parse_scanned(held, len(whole), Conventions(base)))
    except LineError as error:
        scanned = error.args
    assert scanned == plain, (text, scanned, plain)
    assert _naive(whole, base) == _summary(plain), (text, plain)


def _plain(text: bytes, base: int) -> Outcome:
    try:
        return _outcome(parse_plain(text, Conventions(base)))
    except LineError as error:
        return error.args


def _outcome(parsed: Batch) -> Outcome:
    """Return rows as values that compare bit by bit."""
    return (
        parsed.data.tobytes(),
        parsed.indices.tolist(),
        parsed.indptr.tolist(),
        [parsed.classes[k] for k in parsed.labels],
        int(parsed.indices.min(initial=MOST_FEATURE)),
        parsed.n_features,
        parsed.n_lines,
    )


def _summary(outcome: Outcome) -> Outcome:
    """Return what the naive parser can tell as well: all values, or the number of the bad line."""
    if len(outcome) == 3:
        return (outcome[2],)
    return outcome[:4]


def _naive(text: bytes, base: int) -> Outcome:
    try:
        rows = naive_rows(text, first_feature=base)
    except NaiveError as error:
        return (error.args[0] - 1,)
    entries = [entry for row in rows for entry in row.entries]
    return (
        np.array([value for _, value in entries], np.float64).tobytes(),
        [feature - base for feature, _ in entries],
        np.cumsum([0, *(len(row.entries) for row in rows)]).tolist(),
        [row.label for row in rows],
    )


def fuzz(n_files: int, seed: int) -> int:
    """Check that many mutated files; return how many of them were good."""
    generator, guarded = random.Random(seed), GuardedText(ROOM)  # noqa: S311  # no secret
    n_good = 0
    for _ in range(n_files):
        text = mutated(generator)
        base = generator.randrange(2)
        check(text, guarded, base)
        n_good += len(_plain(text + b"\n", base)) > 3
    return n_good

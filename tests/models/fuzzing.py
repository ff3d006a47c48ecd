"""Mutated model files: each is a good model or gets a sentence, and nothing else happens.

Half of the files get a checksum that matches again, so that the checks behind it are tried too.
"""

import io
import random
from dataclasses import replace

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.models.file import check, read_from
from rosenblatt.models.file_rows import StoredEncoding
from rosenblatt.models.model import Model
from rosenblatt.models.record import Record
from rosenblatt.models.tensors import input_errors
from tests.models.models import assert_same, example, linear
from tests.models.written import summed, written

PIECES = [
    *(b"0", b"1", b"9", b"-", b".", b"e", b"[", b"]", b"{", b"}", b'"', b":", b",", b"$", b"\\"),
    *(b"null", b"true", b"NaN", b"1e999", b'{"$float":"nan"}', b"[]", b"{}", b'""', b"[" * 2000),
    *(
        b"999999999",
        b"18446744073709551616",
        b"9" * 5000,
        b"\\ud800",
        b"F64",
        b"BOOL",
        b"U8",
        b"I64",
    ),
    *(b"\0", b"\xff", b"\0\0\0\0\0\0\xf8\x7f", b"\0\0\0\0\0\0\xf0\xff", b"\xff\xff\xff\x7f", b" "),
    *(
        b"document",
        b"weights",
        b"places",
        b"values",
        b"ledger",
        b"spread.low",
        b"arrays.",
        b"shape",
    ),
]


def seeds() -> list[bytes]:
    """Return good files: dense and sparse, two classes and more, all fields and few."""
    wide = example(3, 300)
    wide.weights[:, 5:] = 0
    few = linear("Perceptron", {}, (0, 1), np.array([[1.0, -2.0]]))
    rich = replace(
        example(4, 3, classes=(0, 1.5, 2, 3)),
        stored_encoding=StoredEncoding(
            {"columns": ["a", {"x": [1, 2.5, None]}], "scale": float("inf")},
            {"words": np.frombuffer(b"a\nb", np.uint8), "mean": np.arange(3.0)},
        ),
        arrays={"flags": np.array([True, False]), "steps": np.arange(4, dtype=np.int16)},
        record=Record(verdict={"status": "separable"}),
    )
    return [written(model) for model in (example(), wide, few, rich)]


def mutated(generator: random.Random, files: list[bytes]) -> bytes:
    """Return a file that has suffered a few accidents."""
    data = bytearray(generator.choice(files))
    for _ in range(generator.choice((1, 1, 1, 2, 3, 8))):
        place = generator.randint(0, len(data))
        kind = generator.random()
        if kind < 0.3:
            data[place : place + 1] = bytes([generator.randrange(256)])
        elif kind < 0.5:
            piece = generator.choice(PIECES)
            data[place : place + len(piece)] = piece  # keeps the length, and so the frame
        elif kind < 0.6:
            data[place:place] = generator.choice(PIECES)
        elif kind < 0.7:
            del data[place : place + generator.choice((1, 1, 2, 5, 60, 10_000))]
        elif kind < 0.85:
            _change_number(data, generator)
        else:
            length = generator.choice((1, 4, 8, 64))
            other = generator.randint(0, len(data))
            data[place : place + length] = data[other : other + length]
    return summed(bytes(data)) if generator.random() < 0.5 else bytes(data)


def _change_number(data: bytearray, generator: random.Random) -> None:
    """Put other digits where digits are, as in a shape, an offset or a count."""
    digits = [place for place in range(8, min(len(data), 3000)) if 48 <= data[place] <= 57]
    if digits:
        data[generator.choice(digits)] = generator.choice(b"0123456789")


def attempt(data: bytes) -> Model | None:
    """Return the model of a file, or None where a sentence says that it holds none."""
    try:
        with input_errors("m.model"):
            return read_from(io.BytesIO(data), len(data))
    except InputError as error:
        sentence = str(error)
    assert len(sentence) < 400, sentence
    return None


def fuzz(n_files: int, seed: int) -> int:
    """Read that many mutated files; return how many of them were good."""
    generator, files = random.Random(seed), seeds()  # noqa: S311  # no secret
    n_good = 0
    for number in range(n_files):
        data = mutated(generator, files)
        model = attempt(data)
        if model is None:
            continue
        n_good += 1
        check(model)
        if number % 16 == 0:
            assert_same(read_from(io.BytesIO(written(model))), model)
    return n_good

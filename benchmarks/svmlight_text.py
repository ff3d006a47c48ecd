"""Rows as files, each set in svmlight's format and in Vowpal Wabbit's, made once and kept."""

import gzip
import re
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data_sets import data_file
from rosenblatt.kernels.compiling import Changed, compiled

FOLDER = Path(tempfile.gettempdir()) / "rosenblatt-bench"
VERSION = 1  # in the names of the files: rows made in another way get another number
MEGABYTE = 1_000_000

HASH_BITS = 20
N_FEATURES = 1 << HASH_BITS
SCATTER = 2_654_435_761  # times a rank; odd, so that each rank has a feature of its own
COMMON = 10  # ranks: so many words share the frequency of the most frequent ones
TELLING = 1_000  # ranks: rarer words say less
CHUNK_ROWS = 20_000
DRAWS = 58  # of words for a row, on average; some come twice, and 57 remain
NOISE = 0.4  # of the spread of the scores
MOST_BYTES = 16  # that a value takes, at most: a space, seven digits, a colon, seven more
PARTS = re.compile(r"[/._-]+")

ENDINGS = ("svm", "vw")

Chunk = tuple[memoryview, memoryview]  # the same rows in both formats


@dataclass(frozen=True)
class RowFiles:
    """The same rows in two formats."""

    svmlight: Path
    vowpal_wabbit: Path

    @property
    def megabytes(self) -> float:
        """How long the svmlight file is."""
        return self.svmlight.stat().st_size / MEGABYTE


def text_like_rows(megabytes: int) -> RowFiles:
    """Return files of rows like those of texts, the svmlight one of this size or a bit longer."""
    stem, n_bytes = f"text-like-{megabytes}MB", megabytes * MEGABYTE
    return RowFiles(*_kept(stem, ENDINGS, n_bytes, _text_like_chunks(n_bytes)))


def text_like_svmlight(megabytes: int) -> Path:
    """Return the svmlight file of the same rows alone, since large ones fill a disk."""
    stem, n_bytes = f"text-like-{megabytes}MB", megabytes * MEGABYTE
    return _kept(stem, ENDINGS[:1], n_bytes, _text_like_chunks(n_bytes))[0]


def debian_paths(divisor: int) -> RowFiles:
    """Return files of the paths in Debian packages, or a part of them: documentation or not.

    Features are the parts of a path, pairs of neighbouring parts and the folders on the way,
    hashed; their value is 1.
    """
    packed = data_file("debian_paths.train.tsv.gz")

    def rows() -> Iterator[Chunk]:
        with gzip.open(packed, "rt", encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines):
                if number % divisor:
                    continue
                section, path = line.rstrip("\n").split("\t")
                label = "1" if section == "doc" else "-1"
                values = " ".join(f"{feature}:1" for feature in _path_features(path))
                yield (
                    memoryview(f"{label} {values}\n".encode()),
                    memoryview(f"{label} | {values}\n".encode()),
                )

    stem, at_least = f"debian-paths-{divisor}", packed.stat().st_size // divisor
    return RowFiles(*_kept(stem, ENDINGS, at_least, rows()))


def _kept(stem: str, endings: Sequence[str], at_least: int, chunks: Iterator[Chunk]) -> list[Path]:
    """Return the files of this name; write them if they are not there, or are too short."""
    FOLDER.mkdir(exist_ok=True)
    paths = [FOLDER / f"{stem}-v{VERSION}.{ending}" for ending in endings]
    if all(path.exists() and path.stat().st_size >= at_least for path in paths):
        return paths
    for older in FOLDER.glob(f"{stem}-v*"):
        older.unlink()
    with ExitStack() as stack:
        parts = [path.with_suffix(".part" + path.suffix) for path in paths]
        files = [stack.enter_context(part.open("wb")) for part in parts]
        for chunk in chunks:
            for file, text in zip(files, chunk, strict=False):
                file.write(text)
    for part, path in zip(parts, paths, strict=True):
        part.replace(path)  # only now, so that a file that is there is whole
    return paths


def _path_features(path: str) -> list[int]:
    parts = [part for part in PARTS.split(path) if part]
    terms = {*parts, *(f"{a} {b}" for a, b in pairwise(parts))}
    folder = path
    while (slash := folder.rfind("/")) > 0:
        folder = folder[:slash]
        terms.add(f"{folder}/")
    return sorted({zlib.crc32(term.encode()) % N_FEATURES + 1 for term in terms})


@cache
def _rule() -> NDArray[np.float64]:
    """Return the weights that decide the labels; if rare words said much, none could learn."""
    ranks = np.arange(N_FEATURES)
    weights = np.empty(N_FEATURES)
    said = np.random.default_rng(VERSION).standard_normal(N_FEATURES)
    weights[ranks * SCATTER % N_FEATURES] = said / np.sqrt(1.0 + ranks / TELLING)
    return weights


def _text_like_chunks(n_bytes: int) -> Iterator[Chunk]:
    written = 0
    for number in count():
        if written >= n_bytes:
            return
        chunk = _text_like_chunk(number)
        written += len(chunk[0])
        yield chunk


def _text_like_chunk(number: int) -> Chunk:
    generator = np.random.default_rng([VERSION, number])
    lengths = 1 + generator.poisson(generator.gamma(2.0, DRAWS / 2, CHUNK_ROWS))
    # A row is log-uniform in the ranks of its words: the k-th word is met about 1/k times as often.
    low, high = np.log(COMMON), np.log(COMMON + N_FEATURES)
    ranks = (np.exp(generator.uniform(low, high, lengths.sum())) - COMMON).astype(np.int64)
    features = ranks * SCATTER % N_FEATURES  # those of frequent words are all over the place
    rows = np.repeat(np.arange(CHUNK_ROWS), lengths)
    pairs = np.sort(rows * N_FEATURES + features)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]  # np.unique takes fifty times as long
    rows, features = np.divmod(pairs, N_FEATURES)
    digits = generator.integers(1_000, 10_000, len(pairs))
    places = generator.choice(np.array([3, 4, 5]), len(pairs), p=[0.1, 0.6, 0.3])
    starts = np.searchsorted(rows, np.arange(CHUNK_ROWS + 1))
    scores = np.add.reduceat(digits / 10.0**places * _rule()[features], starts[:-1])
    blur = NOISE * scores.std() * generator.standard_normal(CHUNK_ROWS)
    positive = (scores + blur > 0.0).astype(np.uint8)
    room = len(pairs) * MOST_BYTES + CHUNK_ROWS * 8
    texts = np.empty(room, np.uint8), np.empty(room, np.uint8)
    ends = _spell(starts, features + 1, digits, places, positive, *texts)
    return texts[0][: ends[0]].data, texts[1][: ends[1]].data


@compiled
def _spell(
    starts: NDArray[Any],
    features: NDArray[Any],
    digits: NDArray[Any],
    places: NDArray[Any],
    positive: NDArray[Any],
    svmlight: Changed[NDArray[np.uint8]],
    vowpal_wabbit: Changed[NDArray[np.uint8]],
) -> tuple[int, int]:
    """Write rows in both formats; return where each ends."""
    end = other_end = 0
    for row in range(len(positive)):
        if not positive[row]:
            svmlight[end] = vowpal_wabbit[other_end] = ord("-")
            end += 1
            other_end += 1
        svmlight[end] = vowpal_wabbit[other_end] = ord("1")
        vowpal_wabbit[other_end + 1] = ord(" ")
        vowpal_wabbit[other_end + 2] = ord("|")
        end += 1
        other_end += 3
        begin = end
        for k in range(starts[row], starts[row + 1]):
            svmlight[end] = ord(" ")
            end = _spell_number(features[k], 1, svmlight, end + 1)
            svmlight[end] = ord(":")
            end = _spell_number(digits[k], places[k] + 1, svmlight, end + 1)
            whole = end - places[k]  # the digits before the point move on to make room for it
            for place in range(end, whole, -1):
                svmlight[place] = svmlight[place - 1]
            svmlight[whole] = ord(".")
            end += 1
        svmlight[end] = ord("\n")
        end += 1
        for place in range(begin, end):
            vowpal_wabbit[other_end] = svmlight[place]
            other_end += 1
    return end, other_end


@compiled
def _spell_number(number: int, at_least: int, text: Changed[NDArray[np.uint8]], start: int) -> int:
    """Write a number with at least so many digits; return where it ends."""
    length, power = 1, 10
    while power <= number or length < at_least:
        power *= 10
        length += 1
    for place in range(start + length - 1, start - 1, -1):
        text[place] = ord("0") + number % 10
        number //= 10
    return start + length

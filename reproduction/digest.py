"""A digest of what an experiment gives: that of its figures on a small made-up folder of data.

Where the code comes to read, encode, order, learn or count otherwise, the figures there change, and
with them the digest; where it is only written otherwise, neither does.
"""

import gzip
import hashlib
import tempfile
from collections.abc import Iterable
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data_sets import DIGEST_LENGTH, DataFolder
from reproduction.experiment import Experiment, Setting
from reproduction.line import Line
from reproduction.table import Grid

RUNS = 2  # of each figure
N_ROWS, N_TEST = 80, 40  # 64 shards want as many rows
N_PIXELS = 6


@dataclass(frozen=True)
class Probe(Setting):
    """A setting that makes few runs, and notes how many there would be."""

    noted: list[tuple[int, int]] = field(default_factory=list)

    def runs(self, whole: int, subset: int) -> int:
        """Return how many runs to make."""
        self.noted.append((whole, subset))
        return RUNS


def digest(experiment: Experiment) -> str:
    """Return the digest of the figures that an experiment gives on the made-up folder."""
    with tempfile.TemporaryDirectory() as folder:
        write_folder(Path(folder))
        probe = Probe(DataFolder(Path(folder)), quick=False, tell=lambda _: None)
        figures = [_figures(item) for item in experiment.run(probe)]
    return digest_of([probe.noted, figures])


def _figures(item: Line | Grid | str) -> Any:
    """Return what of an item is measured, or measured against; its words may change."""
    if isinstance(item, Line):
        spread = (item.relation, item.tolerance, item.uncertainty)
        return (item.name, item.paper, *astuple(item.ours), *spread)
    return item.rows if isinstance(item, Grid) else item


def digest_of(figures: Any) -> str:
    """Return a digest of nested figures; what rounding does in the last digits is not seen.

    >>> digest_of({"a": [0.1 + 0.2]}) == digest_of({"a": [0.3]}) != digest_of({"a": [0.31]})
    True
    """
    return hashlib.sha256(" ".join(_atoms(figures)).encode()).hexdigest()[:DIGEST_LENGTH]


def _atoms(figures: Any) -> Iterable[str]:
    if isinstance(figures, dict):
        figures = sorted(figures.items())
    if isinstance(figures, list | tuple | np.ndarray):
        for part in figures:
            yield from _atoms(part)
    elif isinstance(figures, float):
        yield f"{round(figures, 9) + 0.0:.6g}"
    else:
        yield str(figures)


def write_folder(folder: Path) -> None:
    """Write small sets under the names and in the formats of the real ones.

    Values are whole numbers, so that sums are exact. Sets of which an experiment asks that a plane
    separates them are separable.
    """
    generator = np.random.default_rng(0)
    for name in ("small", "mnist"):
        (folder / name).mkdir()
    for name, classes, separable in (
        ("german", ("1", "2"), False),
        ("ionosphere", ("b", "g"), False),
        ("iris", ("Iris-setosa", "Iris-virginica", "Iris-versicolor"), True),
        ("pima-indians-diabetes", ("0", "1"), False),
        ("sonar", ("M", "R"), True),
        ("wine", ("1", "2", "3"), True),
    ):
        y = generator.integers(len(classes), size=N_ROWS)
        lines = _table(generator, y, [classes[k] for k in y], separable=separable)
        _write(folder / f"small/{name}.csv", lines)
    for part, n_rows, end in (("train", N_ROWS, ""), ("test", N_TEST, ".")):
        y = generator.integers(2, size=n_rows)
        labels = [("<=50K", ">50K")[k] + end for k in y]
        _write(folder / f"adult.{part}.csv.gz", _table(generator, y, labels, separable=False))
        y = generator.integers(2, size=n_rows)
        words = _texts(generator, y)
        lines = [f"{('neg', 'pos')[k]}\t9\t{text}" for k, text in zip(y, words, strict=True)]
        _write(folder / f"imdb.{part}.tsv.gz", lines)
    y = generator.integers(2, size=N_ROWS)
    words = _texts(generator, y)
    lines = [f"{('ham', 'spam')[k]}\t{text}" for k, text in zip(y, words, strict=True)]
    _write(folder / "sms_spam.tsv.gz", lines)
    for name, n_rows, values in (
        ("a9a", N_ROWS, (-1, 1)),
        ("a9a.test", N_TEST, (-1, 1)),
        ("mushrooms", N_ROWS, (0, 1)),
        ("mushrooms.test", N_TEST, (0, 1)),
        ("svmguide3", N_ROWS, (-1, 1)),
    ):
        y = generator.integers(2, size=n_rows)
        X = _numbers(generator, y, 21, separable=name.startswith("mushrooms"))
        lines = [
            f"{values[k]} {' '.join(f'{j}:{v}' for j, v in enumerate(x, 1) if v)}"
            for k, x in zip(y, X.tolist(), strict=True)
        ]
        _write(folder / f"{name}.svm.gz", lines)
    _write_digits(generator, folder / "mnist")
    for part, n_rows in (("train", N_ROWS), ("test", N_TEST)):
        y = generator.integers(8, size=n_rows)  # its bits are tags
        tags = [" ".join(tag for k, tag in enumerate("abc") if number >> k & 1) for number in y]
        words = [f"{own} {text}" for own, text in zip(tags, _texts(generator, y % 2), strict=True)]
        lines = [f"{own}\t{text}" for own, text in zip(tags, words, strict=True)]
        _write(folder / f"debtags.{part}.tsv.gz", lines)
    for part, n_rows in (("train", N_ROWS), ("dev", N_TEST), ("test", N_TEST)):
        _write(folder / f"ewt.{part}.conll.gz", _sentences(generator, n_rows))


def _write(path: Path, lines: Iterable[str]) -> None:
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)


def _numbers(
    generator: np.random.Generator, y: NDArray[Any], n_features: int, *, separable: bool
) -> NDArray[Any]:
    X = generator.integers(-4, 5, size=(len(y), n_features))
    X[:, :2] += 2 * y[:, np.newaxis]
    if separable:
        X[:, :3] = 9 * (y[:, np.newaxis] == np.arange(3))
    return X


def _table(
    generator: np.random.Generator, y: NDArray[Any], labels: Iterable[str], *, separable: bool
) -> list[str]:
    X = _numbers(generator, y, 5, separable=separable)
    colours = generator.choice(["red", "green", "?"], size=len(y))
    rows = zip(X.tolist(), colours, labels, strict=True)
    return [", ".join([*map(str, numbers), colour, label]) for numbers, colour, label in rows]


def _texts(generator: np.random.Generator, y: NDArray[Any]) -> list[str]:
    words = np.array(["a", "The", "film", "plot", "it's", "no_one", "2nd", "été", "again", "end"])
    drawn = generator.integers(len(words), size=(len(y), 12))
    rows = zip(drawn, y.tolist(), strict=True)
    return [f"{' '.join(words[row])} {('awful', 'superb')[k]}." for row, k in rows]


def _sentences(generator: np.random.Generator, n: int) -> list[str]:
    """Return lines of tokens with two tags, and an empty one behind each sentence."""
    words = np.array(["a", "The", "film", "plots", "it's", "2nd", "été", "runs"])
    lines: list[str] = []
    for _ in range(n):
        drawn = generator.integers(len(words), size=int(generator.integers(1, 7)))
        noise = generator.random(len(drawn)) < 0.1
        for k, odd in zip(drawn.tolist(), noise.tolist(), strict=True):
            lines.append(f"{words[k]}\t{'ABC'[(k + odd) % 3]}\t{'PQRST'[(k + odd) % 5]}")
        lines.append("")
    return lines


def _write_digits(generator: np.random.Generator, folder: Path) -> None:
    for part, n_rows in (("train", N_ROWS), ("t10k", N_TEST)):
        y = np.arange(n_rows) % 10
        images = generator.random((n_rows, N_PIXELS, N_PIXELS)) < 0.2
        images.reshape(n_rows, -1)[np.arange(n_rows), y] = True
        images.reshape(n_rows, -1)[:, 10] = y == 0  # 0 and 1 are separable
        for name, array in (
            (f"{part}-images-idx3-ubyte.gz", 255 * images.astype(np.uint8)),
            (f"{part}-labels-idx1-ubyte.gz", y.astype(np.uint8)),
        ):
            head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
            (folder / name).write_bytes(gzip.compress(head + array.tobytes(), mtime=0))

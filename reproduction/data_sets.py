"""Data sets: those of the folder that ROSENBLATT_DATA names, split into problems; made-up ones.

Their encoding is stated here and asks nothing of the library, so that figures stay what they are
when a default of ``train`` changes: texts are counts of words, tables are numbers and indicators.
"""

import csv
import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.data.sources import opened
from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import CSR, Dense, Rows
from rosenblatt.training.examples import Examples, encode

VARIABLE = "ROSENBLATT_DATA"
TEST_SHARE = 0.3  # held out where a set has no test file
UNSIGNED_BYTES = 0x08
MOST_VALUES = 1 << 31
DIGEST_LENGTH = 12  # hexadecimal digits
WORD = r"[^\W_]+"  # letters and digits
ENCODING = (  # for the methods of experiments
    "Texts are counts of words, as they are; numbers of tables are standardised, and each category "
    "is an indicator."
)


@dataclass(frozen=True)
class Problem:
    """Rows with their targets: −1 and +1 for two classes, class numbers for more."""

    X_train: Any  # array or CSR matrix
    y_train: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]
    n_classes: int

    @classmethod
    def of(cls, X_train: Any, y_train: Any, X_test: Any, y_test: Any) -> "Problem":
        """Return the problem of rows with these labels."""
        classes = np.unique(y_train)
        targets = (encode(np.asarray(y), classes) for y in (y_train, y_test))
        return cls(X_train, next(targets), X_test, next(targets), len(classes))

    def with_fewer_held_out(self, most: int, seed: int) -> "Problem":
        """Return the problem with at most so many held-out rows, drawn by the seed."""
        if len(self.y_test) <= most:
            return self
        drawn = np.random.default_rng(seed).choice(len(self.y_test), most, replace=False)
        return replace(self, X_test=self.X_test[drawn], y_test=self.y_test[drawn])

    @property
    def learned(self) -> Examples:
        """What is learned from, with a bias."""
        return Examples(rows_of(self.X_train), self.y_train)

    @property
    def held_out(self) -> Examples:
        """What the result is judged by."""
        return Examples(rows_of(self.X_test), self.y_test)


def rows_of(X: Any, constant: float = 1.0) -> Rows:
    """Return an array or a CSR matrix as rows; the constant feature is the bias."""
    if sparse.issparse(X):
        return CSR(X.data, X.indices, X.indptr, X.shape[1], constant)
    return Dense(np.ascontiguousarray(X), constant)


def standardised(X_train: NDArray[Any], *others: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return arrays with the columns of the first brought to mean 0 and deviation 1."""
    mean, deviation = X_train.mean(axis=0), X_train.std(axis=0)
    deviation = np.where(deviation == 0.0, 1.0, deviation)
    return tuple((X - mean) / deviation for X in (X_train, *others))


class MissingDataError(InputError):
    """A file of a data set is not there."""


def file_digest(path: Path) -> str:
    """Return a digest of the bytes of a file, as it is stored."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:DIGEST_LENGTH]


@dataclass(frozen=True)
class DataSet:
    """All rows of a set; those of its test file, where it has one, last."""

    X: Any  # array or CSR matrix
    y: NDArray[Any]  # labels
    n_train: int | None = None  # None: no test file
    standardise: bool = False

    def problem(self, seed: int) -> Problem:
        """Return rows to learn from and rows held out.

        The files say which, or else the seed. Columns that are to be standardised are by what the
        rows to learn from say.
        """
        numbers = np.arange(len(self.y))
        n_train = self.n_train
        if n_train is None:
            n_train = len(numbers) - round(TEST_SHARE * len(numbers))
            np.random.default_rng(seed).shuffle(numbers)
        train, test = numbers[:n_train], numbers[n_train:]
        X_train, X_test = self.X[train], self.X[test]
        if self.standardise:
            X_train, X_test = standardised(X_train, X_test)
        return Problem.of(X_train, self.y[train], X_test, self.y[test])

    def training(self) -> tuple[Any, NDArray[Any]]:
        """Return the rows and labels of the training file."""
        return self.X[: self.n_train], self.y[: self.n_train]


class DataFolder:
    """The folder of the data sets."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._asked: set[str] = set()  # names of files

    @classmethod
    def from_environment(cls) -> "DataFolder":
        """Return the folder that ROSENBLATT_DATA names."""
        named = os.environ.get(VARIABLE)
        if not named:
            msg = f"{VARIABLE} is not set: set it to the folder that holds the data sets."
            raise MissingDataError(msg)
        if not Path(named).is_dir():
            msg = f"{VARIABLE} is {named}, which is no folder: name the one with the data sets."
            raise MissingDataError(msg)
        return cls(Path(named))

    def file(self, name: str) -> Path:
        """Return where a file or a folder is."""
        path = self.path / name
        if not path.exists():
            msg = f"{VARIABLE} has no file {name}"
            raise MissingDataError(msg)
        self._asked.add(name)
        return path

    def digests(self) -> dict[str, str]:
        """Return a digest of each file that was asked for, by its name."""
        return {name: file_digest(self.path / name) for name in sorted(self._asked)}

    def read(self, name: str) -> DataSet:
        """Return the set of this name, one of ``SETS`` and ``DIGIT_PAIRS``, or "MNIST"."""
        if name in DIGIT_PAIRS:
            return self._digit_pair(*DIGIT_PAIRS[name])
        if name == "MNIST":
            return self.digits()
        reader, files = SETS[name]
        return reader([contents(self.file(file)) for file in files])

    def digits(self) -> DataSet:
        """Return the MNIST digits: 784 bytes each, 60,000 to learn from and 10,000 to test on."""
        parts = [self.images(part) for part in ("train", "t10k")]
        X, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return DataSet(X, y, len(parts[0][1]))

    def images(self, part: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the MNIST digits of a part, "train" or "t10k", as rows of bytes, and labels."""
        images = read_idx(self.file(f"mnist/{part}-images-idx3-ubyte.gz"))
        labels = read_idx(self.file(f"mnist/{part}-labels-idx1-ubyte.gz"))
        return images.reshape(len(images), -1), labels

    def _digit_pair(self, first: int, second: int) -> DataSet:
        data = self.digits()
        of_pair = (data.y == first) | (data.y == second)
        return DataSet(data.X[of_pair], data.y[of_pair], int(of_pair[: data.n_train].sum()))


def data_file(name: str) -> Path:
    """Return where a file or a folder of the data sets is."""
    return DataFolder.from_environment().file(name)


def contents(path: Path) -> bytes:
    """Return the bytes of a file, unpacked where it is packed."""
    with opened(path) as source:
        return b"".join(iter(partial(_next_bytes, source), b""))


def _next_bytes(source: Any) -> bytes:
    buffer = bytearray(1 << 20)
    return bytes(buffer[: source.readinto(buffer)])


def _svmlight(parts: Sequence[bytes], *, dense: bool = False) -> DataSet:
    """Return the rows of svmlight files, whose features count from 1."""
    from sklearn.datasets import load_svmlight_files

    found = load_svmlight_files([BytesIO(part) for part in parts], zero_based=False)
    X = sparse.vstack(found[::2], format="csr")
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return _data_set(X.toarray() if dense else X, found[1::2])


def _words(parts: Sequence[bytes]) -> DataSet:
    """Return texts, the last field of a line, as counts of words; their label comes first.

    A word is a run of letters and digits, in lower case, of the first file.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    rows = [
        [line.split("\t") for line in part.decode().split("\n") if line.strip()] for part in parts
    ]
    counter = CountVectorizer(token_pattern=WORD, dtype=np.float64)
    counts = [counter.fit_transform(row[-1] for row in rows[0])]
    counts += [counter.transform(row[-1] for row in part) for part in rows[1:]]
    X = sparse.vstack(counts, format="csr")
    return _data_set(X, [np.array([row[0] for row in part]) for part in rows])


def _table(parts: Sequence[bytes]) -> DataSet:
    """Return CSV files without a header, their label last, standardised by the first file."""
    numbers, indicators, y = _columns(parts)
    (numbers,) = standardised(numbers[: len(y[0])], numbers)[1:]
    return _data_set(sparse.csr_matrix(np.hstack([numbers, indicators])), y)


def _small(parts: Sequence[bytes]) -> DataSet:
    """Return a small table, all of whose columns are standardised when it is split."""
    numbers, indicators, y = _columns(parts)
    return replace(_data_set(np.hstack([numbers, indicators]), y), standardise=True)


def _columns(parts: Sequence[bytes]) -> tuple[NDArray[Any], NDArray[Any], list[NDArray[Any]]]:
    """Return columns of numbers, an indicator for each value of the others, labels by file."""
    files = [
        [row for row in csv.reader(part.decode().splitlines(), skipinitialspace=True) if row]
        for part in parts
    ]
    *columns, labels = (np.array(column) for column in zip(*chain(*files), strict=True))
    numbers: list[NDArray[Any]] = []
    indicators: list[NDArray[Any]] = []
    for column in columns:
        try:
            numbers.append(column.astype(np.float64))
        except ValueError:
            values = np.unique(column[: len(files[0])])
            indicators += list((column == values[:, np.newaxis]).astype(np.float64))
    labels = np.char.rstrip(labels, ".")  # adult's test file ends its labels with a dot
    ends = np.cumsum([len(rows) for rows in files])[:-1]
    shape = (-1, len(labels))
    return (
        np.reshape(numbers, shape).T,
        np.reshape(indicators, shape).T,
        list(np.split(labels, ends)),
    )


def _data_set(X: Any, y: Sequence[NDArray[Any]]) -> DataSet:
    return DataSet(X, np.concatenate(y), len(y[0]) if len(y) > 1 else None)


SETS: dict[str, tuple[Callable[[Sequence[bytes]], DataSet], Sequence[str]]] = {
    "a9a": (_svmlight, ["a9a.svm.gz", "a9a.test.svm.gz"]),
    "adult": (_table, ["adult.train.csv.gz", "adult.test.csv.gz"]),
    "german": (_small, ["small/german.csv"]),
    "imdb": (_words, ["imdb.train.tsv.gz", "imdb.test.tsv.gz"]),
    "ionosphere": (_small, ["small/ionosphere.csv"]),
    "iris": (_small, ["small/iris.csv"]),
    "mushrooms": (_svmlight, ["mushrooms.svm.gz", "mushrooms.test.svm.gz"]),
    "pima": (_small, ["small/pima-indians-diabetes.csv"]),
    "sms_spam": (_words, ["sms_spam.tsv.gz"]),
    "sonar": (_small, ["small/sonar.csv"]),
    "svmguide3": (partial(_svmlight, dense=True), ["svmguide3.svm.gz"]),
    "wine": (_small, ["small/wine.csv"]),
}

DIGIT_PAIRS = {"MNIST 0/1": (0, 1), "MNIST 3/5": (3, 5)}


def read_idx(path: Path) -> NDArray[np.uint8]:
    """Return the array that a file holds, packed or not.

    The file begins with two zero bytes, the type of the values (here always unsigned bytes), the
    number of dimensions, and the length of each as a big-endian 32-bit integer; then the values.

    Raises
    ------
    InputError
        Where the file cannot be read or is no IDX file of bytes, with the reason.
    """
    found = contents(path)
    if len(found) < 4 or found[:2] != b"\0\0":
        msg = f"{path} is no IDX file: it begins with {found[:4]!r}, not with two zero bytes."
        raise InputError(msg)
    kind, n_sizes = found[2:4]
    if kind != UNSIGNED_BYTES:
        msg = f"{path} holds values of type 0x{kind:02x}; only bytes (0x08) are read."
        raise InputError(msg)
    begin = 4 + 4 * n_sizes
    if len(found) < begin:
        msg = f"{path} ends within its header."
        raise InputError(msg)
    shape = tuple(np.frombuffer(found[4:begin], ">u4").tolist())
    if not shape or prod(shape) > MOST_VALUES:
        msg = f"{path} says that its shape is {shape}, which cannot be: is it damaged?"
        raise InputError(msg)
    n_values = len(found) - begin
    if n_values < prod(shape):
        msg = f"{path} holds {n_values:,} values; its header promises {prod(shape):,}."
        raise InputError(msg)
    if n_values > prod(shape):
        msg = f"{path} goes on after the {prod(shape):,} values that its header promises."
        raise InputError(msg)
    return np.frombuffer(found, np.uint8, offset=begin).reshape(shape)


def separable_rows(
    n_rows: int, n_features: int, margin: float, seed: int
) -> tuple[NDArray[Any], NDArray[np.int8]]:
    """Return unit vectors at least ``margin`` away from a hyperplane through 0, and their sides.

    They are uniform on the sphere but for the belt that is left out. In high dimensions most of it
    lies in the belt (the distance has the deviation 1/√n_features), so rows are drawn until there
    are enough: choose a margin that is not many times as large.
    """
    generator = np.random.default_rng(seed)
    normal = generator.standard_normal(n_features)
    normal /= np.linalg.norm(normal)
    kept: list[NDArray[Any]] = []
    while sum(map(len, kept)) < n_rows:
        X = generator.standard_normal((n_rows, n_features))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        kept.append(X[np.abs(X @ normal) >= margin])
    X = np.concatenate(kept)[:n_rows]
    return X, np.where(X @ normal > 0, 1, -1).astype(np.int8)

"""Data sets: those of the folder that ROSENBLATT_DATA names, split into problems; made-up ones."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.data.batch import Batch, join
from rosenblatt.data.encoding import TableEncoding
from rosenblatt.data.files import Columns, Files, Layout, TrainingFiles, encoded
from rosenblatt.data.sources import opened
from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import CSR, Dense, Rows
from rosenblatt.training.examples import Examples, encode

VARIABLE = "ROSENBLATT_DATA"
TEST_SHARE = 0.3  # held out where a set has no test file
UNSIGNED_BYTES = 0x08
MOST_VALUES = 1 << 31


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
        return path

    def read(self, name: str) -> DataSet:
        """Return the set of this name, one of ``SETS`` and ``DIGIT_PAIRS``, or "MNIST"."""
        if name in DIGIT_PAIRS:
            return self._digit_pair(*DIGIT_PAIRS[name])
        if name == "MNIST":
            return self.digits()
        layout = SETS[name]
        paths = [str(self.file(file)) for file in layout.files]
        source = TrainingFiles(Files(paths[:1], Layout()), layout.columns)
        batch = join(list(source.batches()))
        finish, encoding = source.finish(), source.encoding
        if finish is not None:
            finish(batch.data, batch.indptr)
        if isinstance(encoding, TableEncoding):
            encoding.freeze()  # what the test file says is not learned from
        batches = [batch]
        if encoding is not None and len(paths) > 1:
            batches += encoded(Files(paths[1:], Layout()), encoding, batch.classes)
        n_features = max(part.n_features for part in batches)
        X = sparse.vstack([_matrix(part, n_features) for part in batches], format="csr")
        y = np.concatenate([part.label_values() for part in batches])
        if y.dtype.kind == "U":
            y = np.char.rstrip(y, ".")  # adult's test file ends its labels with a dot
        X = X.toarray() if layout.is_dense else X
        return DataSet(X, y, batch.n_rows if len(paths) > 1 else None, layout.standardise)

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


@dataclass(frozen=True)
class _SetLayout:
    files: Sequence[str]
    columns: Columns = field(default_factory=Columns)
    is_dense: bool = False
    standardise: bool = False


def _small(name: str, label: int) -> _SetLayout:
    """Return the layout of a small table, whose numbers are standardised when it is split."""
    columns = Columns(label=f"column_{label}", scale=False)
    return _SetLayout([f"small/{name}.csv"], columns, is_dense=True, standardise=True)


SETS = {
    "a9a": _SetLayout(["a9a.svm.gz", "a9a.test.svm.gz"]),
    "adult": _SetLayout(["adult.train.csv.gz", "adult.test.csv.gz"]),
    "banknote": _small("banknote_authentication", 5),
    "breast-cancer": _small("breast-cancer-wisconsin", 10),
    "german": _small("german", 21),
    "imdb": _SetLayout(
        ["imdb.train.tsv.gz", "imdb.test.tsv.gz"],
        Columns(label="column_1", ignore=("column_2",), text=("column_3",), word_pairs=False),
    ),
    "ionosphere": _small("ionosphere", 35),
    "iris": _small("iris", 5),
    "mushrooms": _SetLayout(["mushrooms.svm.gz", "mushrooms.test.svm.gz"]),
    "pima": _small("pima-indians-diabetes", 9),
    "sms_spam": _SetLayout(
        ["sms_spam.tsv.gz"], Columns(label="column_1", text=("column_2",), word_pairs=False)
    ),
    "sonar": _small("sonar", 61),
    "svmguide3": _SetLayout(["svmguide3.svm.gz"], is_dense=True),
    "wine": _small("wine", 14),
}

DIGIT_PAIRS = {"MNIST 0/1": (0, 1), "MNIST 3/5": (3, 5)}


def _matrix(batch: Batch, n_features: int) -> Any:
    arrays = (batch.data.astype(np.float64), batch.indices, batch.indptr)
    return sparse.csr_matrix(arrays, shape=(batch.n_rows, n_features))


def read_idx(path: Path) -> NDArray[np.uint8]:
    """Return the array that a file holds, packed or not.

    The file begins with two zero bytes, the type of the values (here always unsigned bytes), the
    number of dimensions, and the length of each as a big-endian 32-bit integer; then the values.

    Raises
    ------
    InputError
        Where the file cannot be read or is no IDX file of bytes, with the reason.
    """
    with opened(path) as source:
        head = _take(source, 4)
        if len(head) < 4 or head[:2] != b"\0\0":
            msg = f"{path} is no IDX file: it begins with {head!r}, not with two zero bytes."
            raise InputError(msg)
        if head[2] != UNSIGNED_BYTES:
            msg = f"{path} holds values of type 0x{head[2]:02x}; only bytes (0x08) are read."
            raise InputError(msg)
        sizes = _take(source, 4 * head[3])
        if len(sizes) < 4 * head[3]:
            msg = f"{path} ends within its header."
            raise InputError(msg)
        shape = tuple(np.frombuffer(sizes, ">u4").tolist())
        if not shape or prod(shape) > MOST_VALUES:
            msg = f"{path} says that its shape is {shape}, which cannot be: is it damaged?"
            raise InputError(msg)
        values = _take(source, prod(shape))
        if len(values) < prod(shape):
            msg = f"{path} holds {len(values):,} values; its header promises {prod(shape):,}."
            raise InputError(msg)
        if _take(source, 1):
            msg = f"{path} goes on after the {prod(shape):,} values that its header promises."
            raise InputError(msg)
    return np.frombuffer(values, np.uint8).reshape(shape)


def _take(source: Any, size: int) -> bytearray:
    """Return the next bytes, fewer where the file ends."""
    taken, filled = bytearray(size), 0
    with memoryview(taken) as view:
        while filled < size and (count := source.readinto(view[filled:])):
            filled += count
    return taken[:filled]


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

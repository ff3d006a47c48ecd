"""The real data sets, read from the folder that ROSENBLATT_DATA names."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reproduction.idx import read_idx
from reproduction.problem import Problem, standardised
from rosenblatt.data.batch import Batch, join
from rosenblatt.data.encoding import TableEncoding
from rosenblatt.data.files import Columns, Files, Layout, TrainingFiles, encoded
from rosenblatt.errors import InputError

VARIABLE = "ROSENBLATT_DATA"
TEST_SHARE = 0.3  # held out where a set has no test file


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
            msg = (
                f"{VARIABLE} is not set: the tables are made from real data sets; set it to the "
                "folder that holds them."
            )
            raise InputError(msg)
        if not Path(named).is_dir():
            msg = f"{VARIABLE} is {named}, which is no folder: name the one with the data sets."
            raise InputError(msg)
        return cls(Path(named))

    def file(self, name: str) -> Path:
        """Return where a file is."""
        path = self.path / name
        if not path.is_file():
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
        parts = []
        for part in ("train", "t10k"):
            images = read_idx(self.file(f"mnist/{part}-images-idx3-ubyte.gz"))
            labels = read_idx(self.file(f"mnist/{part}-labels-idx1-ubyte.gz"))
            parts.append((images.reshape(len(images), -1), labels))
        X, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return DataSet(X, y, len(parts[0][1]))

    def _digit_pair(self, first: int, second: int) -> DataSet:
        data = self.digits()
        of_pair = (data.y == first) | (data.y == second)
        return DataSet(data.X[of_pair], data.y[of_pair], int(of_pair[: data.n_train].sum()))


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

"""Real data sets, split into rows to learn from and rows to test on.

``reproduction.data_sets`` says where they are.
"""

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_files
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split

from reproduction.data_sets import DataFolder, data_file, rows_of
from rosenblatt.training.examples import Examples, encode

LIMIT = 100_000  # rows to learn from, and as many to test on, are drawn from larger sets
TEST_SHARE = 0.3  # where there is no test file


@dataclass(frozen=True)
class Problem:
    """Rows to learn from and rows to test on."""

    train: Examples
    test: Examples
    n_classes: int


@dataclass(frozen=True)
class DataSet:
    """All the rows of a set; those of its test file, where it has one, last."""

    X: Any  # array or CSR matrix
    y: NDArray[Any]
    n_train: int | None = None  # None: no test file
    n_numeric: int = 0  # leading columns to standardise

    def problem(self, seed: int) -> Problem:
        """Return the split of this seed, standardised by what the training rows say."""
        numbers = np.arange(len(self.y))
        if self.n_train is None:
            train, test = train_test_split(
                numbers, test_size=TEST_SHARE, stratify=self.y, random_state=seed
            )
        else:
            train, test = numbers[: self.n_train], numbers[self.n_train :]
        generator = np.random.default_rng(seed)
        train, test = (
            part if len(part) <= LIMIT else np.sort(generator.choice(part, LIMIT, replace=False))
            for part in (train, test)
        )
        classes = np.unique(self.y[train])
        learned, tested = self._standardised(train, test)
        return Problem(
            Examples(rows_of(learned), encode(self.y[train], classes)),
            Examples(rows_of(tested), encode(self.y[test], classes)),
            len(classes),
        )

    def _standardised(self, train: NDArray[Any], test: NDArray[Any]) -> tuple[Any, Any]:
        learned, tested = self.X[train], self.X[test]
        if self.n_numeric:
            numeric = learned[:, : self.n_numeric].astype(np.float64)
            mean, deviation = np.nanmean(numeric, axis=0), np.nanstd(numeric, axis=0)
            deviation[deviation == 0.0] = 1.0
            for part in (learned, tested):
                scaled = (part[:, : self.n_numeric] - mean) / deviation
                part[:, : self.n_numeric] = np.nan_to_num(scaled)  # missing: the mean
        return learned, tested


def svmlight(*names: str) -> DataSet:
    """Read a file, or one to learn from and one to test on."""
    parts = load_svmlight_files([data_file(name) for name in names], dtype=np.float32)
    X = sparse.vstack(parts[::2], format="csr")
    return DataSet(X, np.concatenate(parts[1::2]), parts[0].shape[0] if len(names) > 1 else None)


def frame(name: str, *, header: bool = False) -> Any:
    """Read a CSV file; "?" is a missing value."""
    return pd.read_csv(
        data_file(name),
        header=0 if header else None,
        skipinitialspace=True,
        na_values="?",
        keep_default_na=False,
    )


def table(data: Any, y: NDArray[Any], n_train: int | None = None) -> DataSet:
    """Put the numeric columns first, and an indicator for each value of the others."""
    numbers = data.select_dtypes("number").to_numpy(np.float32)
    words = data.select_dtypes(exclude="number")
    X = numbers
    if words.shape[1]:
        X = np.hstack([numbers, pd.get_dummies(words).to_numpy(np.float32)])
    return DataSet(X, y, n_train, numbers.shape[1])


def csv(name: str, *, header: bool = False) -> DataSet:
    """Read a CSV file whose last column is the label."""
    data = frame(name, header=header)
    return table(data.iloc[:, :-1], data.iloc[:, -1].to_numpy().astype(str))


def kdd99() -> DataSet:
    """Attack or not."""
    train, test = frame("kdd99.train.csv.gz"), frame("kdd99.test.csv.gz")
    data = pd.concat([train, test])
    y = data.iloc[:, -1].to_numpy() != "normal."
    return table(data.iloc[:, :-1], y, len(train))


def adult() -> DataSet:
    """Whether somebody earns more than 50,000 dollars."""
    train, test = frame("adult.train.csv.gz"), frame("adult.test.csv.gz")
    data = pd.concat([train, test])
    y = data.iloc[:, -1].str.startswith(">").to_numpy(bool)
    return table(data.iloc[:, :-1], y, len(train))


def elec2() -> DataSet:
    """Whether the price rises; a drifting stream, so the last fifth is what it is tested on."""
    data = frame("elec2.csv.gz", header=True)
    y = data.iloc[:, -1].to_numpy().astype(str)
    return table(data.iloc[:, 2:-1], y, round(0.8 * len(data)))  # without the number and the date


def digits() -> DataSet:
    """Digits, as bytes."""
    data = DataFolder.from_environment().digits()
    return DataSet(data.X, data.y, data.n_train)


def texts(*names: str) -> DataSet:
    """Count the words of texts, which stand last in a line and their label first."""
    parts = []
    for name in names:
        with gzip.open(data_file(name), "rt", encoding="utf-8", newline="\n") as file:
            lines = [line.rstrip("\n").split("\t") for line in file]
        parts.append(([line[-1] for line in lines], [line[0] for line in lines]))
    counter = CountVectorizer(dtype=np.float32).fit(parts[0][0])
    X = sparse.vstack([counter.transform(text) for text, _ in parts], format="csr")
    y = np.concatenate([np.array(label) for _, label in parts])
    return DataSet(X, y, len(parts[0][1]) if len(names) > 1 else None)


LARGE: dict[str, Callable[[], DataSet]] = {
    "a9a": partial(svmlight, "a9a.svm.gz", "a9a.test.svm.gz"),
    "w8a": partial(svmlight, "w8a.svm.gz"),
    "rcv1_small": partial(svmlight, "rcv1_small.svm.gz", "rcv1_small.test.svm.gz"),
    "mushrooms": partial(svmlight, "mushrooms.svm.gz", "mushrooms.test.svm.gz"),
    "mnist": digits,
    "covtype": partial(csv, "covtype.csv.gz", header=True),
    "kdd99": kdd99,
    "imdb": partial(texts, "imdb.train.tsv.gz", "imdb.test.tsv.gz"),
    "20news": partial(texts, "20news.train.tsv.gz", "20news.test.tsv.gz"),
    "adult": adult,
    "elec2": elec2,
    "sms_spam": partial(texts, "sms_spam.tsv.gz"),
}


def small() -> Iterator[tuple[str, DataSet]]:
    """Yield the small sets by name."""
    for file in sorted(data_file("small").glob("*.csv")):
        yield file.stem, csv(f"small/{file.name}")

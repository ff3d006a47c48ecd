"""An epoch over CSR rows, against scikit-learn's perceptron and against the limit."""

import gzip
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.figure import Figure, Skipped, share_of_limit, speed_up
from benchmarks.generated import zipf_rows
from benchmarks.peers import limit_of, perceptron, sklearn_perceptron
from benchmarks.stopwatch import Scale, epoch_times
from reproduction.data_sets import MissingDataError, data_file

Source = Callable[[Scale], tuple[sparse.csr_matrix, NDArray[Any]]]


class Case(NamedTuple):
    """Rows, passes that are timed, and how many times as fast as scikit-learn."""

    source: Source
    passes: int
    target: float


def figures(scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield the speed-up and the share of the limit for each data set."""
    for name in CASES:
        yield from epoch(name, scale)


def epoch(name: str, scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield the speed-up and the share of the limit."""
    case = CASES[name]
    try:
        X, y = case.source(scale)
    except MissingDataError as missing:
        yield Skipped(name, str(missing))
        return
    times = epoch_times(
        {"ours": perceptron(X, y), "sklearn": sklearn_perceptron(X, y)},
        case.passes,
        scale,
        others={"limit": limit_of(X)},
    )
    what = f"{name}, {X.shape[0]:,} × {X.shape[1]:,}, {X.nnz / X.shape[0]:.0f} a row"
    yield speed_up(what, times["ours"], times["sklearn"], "sklearn Perceptron", case.target)
    yield share_of_limit(f"{name}: share of the limit", times["ours"], times["limit"])


def svmlight(name: str) -> tuple[sparse.csr_matrix, NDArray[Any]]:
    """Return the rows and labels of a file in svmlight format."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(data_file(f"{name}.svm.gz")))
    # The loader gives 64-bit indices, which scikit-learn's own perceptron refuses.
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def imdb_words() -> tuple[sparse.csr_matrix, NDArray[Any]]:
    """Return the word counts of the film reviews, as float64, and their labels."""
    from sklearn.feature_extraction.text import CountVectorizer

    with gzip.open(data_file("imdb.train.tsv.gz"), "rt", encoding="utf-8") as lines:
        fields = [line.rstrip("\n").split("\t", 2) for line in lines]
    X = CountVectorizer(dtype=np.float64).fit_transform(text for _, _, text in fields)
    return X, np.array([label for label, _, _ in fields])


# Small sets need many passes to be timed; imdb has more words than reviews and is separable.
CASES = {
    "CSR float64": Case(lambda scale: zipf_rows(scale.rows(300_000), np.float64), 9, 3.5),
    "CSR float32": Case(lambda scale: zipf_rows(scale.rows(300_000), np.float32), 9, 3.5),
    "a9a": Case(lambda _: svmlight("a9a"), 60, 3.2),
    "w8a": Case(lambda _: svmlight("w8a"), 60, 2.7),
    "imdb words": Case(lambda _: imdb_words(), 6, 2.8),
}

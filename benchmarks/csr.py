"""An epoch over CSR rows, against scikit-learn's perceptron and against the limit."""

import gzip
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.figure import Figure, Skipped, share_of_limit, speed_up
from benchmarks.generated import zipf_rows
from benchmarks.peers import limit_of, perceptron, sklearn_perceptron
from benchmarks.stopwatch import Scale, epoch_times
from reproduction.data_sets import MissingDataError, data_file

SPEED_UP, SHARE = 2.0, 0.55

Source = Callable[[], tuple[sparse.csr_matrix, NDArray[Any]]]


def figures(scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield the speed-up and the share of the limit for each data set."""
    n_rows = scale.rows(300_000)
    # Small sets need many passes to be timed; imdb has more words than reviews and is separable.
    cases: tuple[tuple[str, Source, int], ...] = (
        ("Zipf float64", lambda: zipf_rows(n_rows, np.float64), 9),
        ("Zipf float32", lambda: zipf_rows(n_rows, np.float32), 9),
        ("a9a", lambda: svmlight("a9a"), 60),
        ("w8a", lambda: svmlight("w8a"), 60),
        ("imdb words", imdb_words, 6),
    )
    for name, source, passes in cases:
        try:
            X, y = source()
        except MissingDataError as missing:
            yield Skipped(name, str(missing))
            continue
        times = epoch_times(
            {"ours": perceptron(X, y), "sklearn": sklearn_perceptron(X, y)},
            passes,
            scale,
            others={"limit": limit_of(X)},
        )
        what = f"{name}, {X.shape[0]:,} × {X.shape[1]:,}, {X.nnz / X.shape[0]:.0f} a row"
        yield speed_up(what, times["ours"], times["sklearn"], "sklearn Perceptron", SPEED_UP)
        yield share_of_limit(f"{name}: share of the limit", times["ours"], times["limit"], SHARE)


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

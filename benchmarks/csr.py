"""An epoch over CSR rows, against scikit-learn's perceptron and against the limit."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.data_files import MissingDataError, imdb_words, svmlight
from benchmarks.figure import Figure, Skipped, share_of_limit, speed_up
from benchmarks.generated import zipf_rows
from benchmarks.limit import limit_of
from benchmarks.peers import perceptron, sklearn_perceptron
from benchmarks.scale import Scale
from benchmarks.stopwatch import epoch_times

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

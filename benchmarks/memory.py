"""How much memory ``fit`` takes above its input: no copy of the data is promised."""

import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.figure import Amount, Figure, Target
from benchmarks.generated import dense_rows, zipf_rows
from benchmarks.peers import averaged, perceptron
from benchmarks.stopwatch import Scale


def figures(scale: Scale) -> Iterator[Figure]:
    """Yield the peak of a fit as a share of the input plus the weights."""
    n_rows = scale.rows(300_000)
    for name, X, y in (
        ("float32", *dense_rows(n_rows, 100, np.float32)),
        ("float64", *dense_rows(n_rows, 100, np.float64)),
        ("CSR float64", *zipf_rows(n_rows, np.float64)),
        ("CSR float32", *zipf_rows(n_rows, np.float32)),
    ):
        for learner, fit, vectors in (
            ("Perceptron", perceptron(X, y), 1),
            ("AveragedPerceptron", averaged(X, y), 2),  # and the ledger
        ):
            fit(1)  # compiles outside of what is measured
            tracemalloc.start()
            model = fit(2)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            whole = _bytes(X) + vectors * 8 * (model.n_features_in_ + 1)
            yield Figure(
                f"{learner}, {n_rows:,} × {X.shape[1]:,} {name}",
                Amount(peak / 1e6, "MB"),
                Amount(whole / 1e6, "MB"),
                "input and weights",
                Amount(100 * peak / whole, "%"),
                Target("≤", 10.0),
            )


def _bytes(X: Any) -> int:
    arrays = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    return sum(int(array.nbytes) for array in arrays)

"""Clusters and data for the tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from distributed import Client, LocalCluster


@contextmanager
def threads(n_workers: int) -> Iterator[Client]:
    """Start workers inside this process, which is quick; they send messages as others do."""
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def rows(
    n_rows: int = 400, n_features: int = 8, n_classes: int = 2, *, noise: float = 1.0, seed: int = 0
) -> tuple[Any, Any]:
    """Return rows and labels; without noise they can be separated."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features))
    scores = X @ rng.standard_normal((n_features, n_classes))
    labels = np.array(["ant", "bee", "cat", "dog"])[:n_classes]
    return X, labels[(scores + noise * rng.gumbel(size=scores.shape)).argmax(axis=1)]


def same_model(one: Any, other: Any) -> bool:
    """Return whether two fitted estimators have the same weights, bit for bit, and history."""
    mistakes = [[record.mistakes for record in clf.history_] for clf in (one, other)]
    return (
        np.array_equal(one.coef_, other.coef_)
        and np.array_equal(one.intercept_, other.intercept_)
        and one.classes_.tolist() == other.classes_.tolist()
        and mistakes[0] == mistakes[1]
        and np.array_equal(getattr(one, "confidence_", 1.0), getattr(other, "confidence_", 1.0))
    )

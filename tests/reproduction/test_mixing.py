"""The table on shards, on small generated rows."""

import numpy as np
import pytest

from reproduction import mixing
from reproduction.data_sets import Problem
from reproduction.mixing import Way, compare, ways
from rosenblatt import AveragedPerceptron
from rosenblatt.distributed.mixing import virtual_shards


def overlapping(n_rows: int, seed: int) -> Problem:
    """Return three clouds that overlap, half of the rows held out."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 3, 2 * n_rows)
    X = generator.normal(size=(2 * n_rows, 4)) + np.eye(3, 4)[y]
    return Problem.of(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def test_ways_are_what_they_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """Serial is the plain estimator on all rows, one shard the plain estimator on the first."""
    monkeypatch.setattr(mixing, "N_SHARDS", 4)
    monkeypatch.setattr(mixing, "EPOCHS", 3)
    problem = overlapping(200, 0)
    found = ways(problem, 5)
    first = virtual_shards(problem.learned, 4)[0].division.learned
    for name, rows in (("serial", slice(None)), ("one shard", slice(len(first)))):
        plain = AveragedPerceptron(max_iter=3, random_state=5)
        plain.fit(problem.X_train[rows], problem.y_train[rows])
        error = 100 * np.mean(plain.predict(problem.X_test) != problem.y_test)
        assert found[name].average == pytest.approx(error)
    assert set(found) == {"serial", "one shard", "one mix at the end", "iterative mixing"}


def test_lines_follow_the_errors() -> None:
    """Errors in the paper's order reproduce it, errors the other way round do not."""
    order = ("one shard", "one mix at the end", "serial", "iterative mixing")
    seeds = range(4)
    as_printed = [
        {name: Way(14.0 - 2 * k + 0.01 * seed, 9.0 - k) for k, name in enumerate(order)}
        for seed in seeds
    ]
    for one in as_printed:
        one["serial"] = Way(one["serial"].last, one["iterative mixing"].average)
    assert {line.verdict for line in compare("digits", as_printed)} == {"reproduced"}
    turned = [dict(zip(order, reversed(list(one.values())), strict=True)) for one in as_printed]
    assert "differs" in {line.verdict for line in compare("digits", turned)}

"""The best path, the n best and sums over paths against enumeration."""

from math import inf
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.kernels.sequences.paths import EDGES, best_path
from rosenblatt.kernels.sequences.tagging import Ranks, best_paths
from rosenblatt.tasks.marginals import fitted_beta, marginals
from tests import path_reference as reference
from tests.examples import tries

whole = st.integers(-3, 3).map(float)


@st.composite
def lattices(draw: st.DrawFn) -> tuple[Any, Any]:
    """Draw what tags score and what steps score; some of these are impossible."""
    n, n_tags = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    scores = st.lists(st.lists(whole, min_size=n_tags, max_size=n_tags), min_size=n, max_size=n)
    step = st.one_of(whole, whole, whole, whole, st.just(-inf))
    rows = n_tags + EDGES
    steps = st.lists(st.lists(step, min_size=n_tags, max_size=n_tags), min_size=rows, max_size=rows)
    return np.array(draw(scores)), np.array(draw(steps))


def every_path(scores: Any, steps: Any) -> list[tuple[float, reference.Path]]:
    """Return the possible paths, the best first."""
    n_tags = scores.shape[1]
    names = [*(("tag", j) for j in range(n_tags)), reference.START, reference.END]
    w = {(name, k): steps[j, k] for j, name in enumerate(names) for k in range(n_tags)}
    found = reference.ranked(scores.tolist(), w)
    return [(total, y) for total, y in found if total > -inf]


@given(lattices())
@tries(200)
def test_the_best_path_is_the_best_of_all(lattice: tuple[Any, Any]) -> None:
    """Of equals it is the one whose last tag comes first."""
    scores, steps = lattice
    n, n_tags = scores.shape
    best, path, anything = np.empty((n, n_tags)), np.zeros(n, np.int32), np.empty(0, np.int32)
    top = best_path(n, scores, steps, anything, 0, np.eye(n_tags, dtype=bool), best, path)
    paths = every_path(scores, steps)
    if not paths:
        assert top == -inf
        return
    assert (top, tuple(path.tolist())) == paths[0]


@given(lattices(), st.data())
@tries(200)
def test_forced_tags_are_obeyed(lattice: tuple[Any, Any], data: Any) -> None:
    """The best path among those whose tokens have one of the tags that they may have."""
    scores, steps = lattice
    n, n_tags = scores.shape
    sets = np.array(data.draw(st.lists(st.lists(st.booleans(), min_size=n_tags, max_size=n_tags))))
    sets = sets.reshape(-1, n_tags).astype(bool)
    forced = data.draw(st.lists(st.integers(-1, len(sets) - 1), min_size=n, max_size=n))
    best, path = np.empty((n, n_tags)), np.zeros(n, np.int32)
    top = best_path(n, scores, steps, np.array(forced, np.int32), 0, sets, best, path)
    agree = [
        (total, y)
        for total, y in every_path(scores, steps)
        if all(f < 0 or sets[f, k] for f, k in zip(forced, y, strict=True))
    ]
    assert (top, tuple(path.tolist())) == agree[0] if agree else top == -inf


@given(lattices(), st.integers(1, 8))
@tries(200)
def test_the_n_best_are_the_best_of_all(lattice: tuple[Any, Any], most: int) -> None:
    """Their scores descend as those of all paths do, and no path comes twice."""
    scores, steps = lattice
    n, n_tags = scores.shape
    before, ranks = np.zeros((2, n, n_tags, most), np.int32)
    room = Ranks(np.empty((n, n_tags, most)), before, ranks, np.zeros(n_tags, np.int64))
    paths, totals = np.zeros((most, n), np.int32), np.zeros(most)
    many = best_paths(n, scores, steps, room, paths, totals)
    every = every_path(scores, steps)
    assert many == min(most, len(every))
    assert totals[:many].tolist() == [total for total, _ in every[:many]]
    found = [tuple(path) for path in paths[:many].tolist()]
    assert len({*found}) == many
    assert all((total, y) in every for total, y in zip(totals, found, strict=False))


@given(st.lists(lattices(), min_size=1, max_size=1), st.sampled_from([0.1, 1.0, 3.0]))
@tries(200)
def test_marginals_are_sums_over_all_paths(drawn: list[tuple[Any, Any]], beta: float) -> None:
    """Of tokens, of whole paths and of parts; several sentences at once give the same."""
    ((scores, steps),) = drawn
    every = every_path(scores, steps)
    if not every:
        return
    shares = np.exp(beta * np.array([total - every[0][0] for total, _ in every]))
    shares /= shares.sum()
    expected = np.zeros(scores.shape)
    for share, (_, y) in zip(shares, every, strict=True):
        expected[np.arange(len(y)), y] += share
    one, *_ = marginals([scores], steps, beta)
    assert np.allclose(one.tags, expected, atol=1e-12)
    for share, (_, y) in zip(shares, every, strict=True):
        assert abs(one.of_path(y) - share) < 1e-12
    if len(scores) > 1:
        part = every[0][1][1:]
        some = sum(s for s, (_, y) in zip(shares, every, strict=True) if y[1:] == part)
        assert abs(one.of_path(part, 1) - some) < 1e-12
        others = np.arange(scores.shape[1]) % 2 == 0
        begin = every[0][1][:1]
        some = sum(
            s for s, (_, y) in zip(shares, every, strict=True) if y[:1] == begin and others[y[1]]
        )
        assert abs(one.of_phrase(begin, 0, others) - some) < 1e-12
    again = marginals([scores[:1], scores, scores[:2]], steps, beta)[1]
    assert np.allclose(one.tags, again.tags, atol=1e-12)


def test_the_temperature_is_found() -> None:
    """Tags that are drawn from the model's own probabilities ask for β near 1."""
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(3 + EDGES, 3))
    scores = [rng.normal(size=(2, 3)) * 2.0 for _ in range(800)]
    truth = []
    for one in scores:
        every = every_path(one, steps)
        shares = np.exp([total for total, _ in every])
        truth.append(np.array(every[rng.choice(len(every), p=shares / shares.sum())][1], np.int32))
    assert 0.85 < fitted_beta([4.0 * one for one in scores], truth, 4.0 * steps) * 4.0 < 1.15

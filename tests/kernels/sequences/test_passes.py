"""Passes over sentences against the reference in plain lists, to the last bit."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.kernels.counts import Log, empty_log
from rosenblatt.kernels.second_order import GaussianWeights
from rosenblatt.kernels.sequences.passes import path_pass, second_order_path_pass
from rosenblatt.kernels.sequences.paths import EDGES, NO_ROW, Sentences
from rosenblatt.rules import AROW, PA, PA1, PA2, RULES, MarginPerceptron, Perceptron, Rule
from rosenblatt.tasks.sequences import cost_of, room_for, rows_for
from tests import path_reference as reference
from tests.examples import same_bits, tries
from tests.reference import (
    arow,
    confidence_weighted,
    margin_perceptron,
    passive_aggressive,
    perceptron,
)

N_FEATURES = 6
PHI = RULES["cw"].rule({}).phi  # type: ignore[attr-defined]
ADDITIVE: dict[str, tuple[Rule, Any]] = {
    "perceptron": (Perceptron(), perceptron()),
    "eta": (Perceptron(0.3), perceptron(0.3)),
    "margin": (MarginPerceptron(1.0, 2.0), margin_perceptron(1.0, 2.0)),
    "pa": (PA(), passive_aggressive("pa")),
    "pa1": (PA1(0.1), passive_aggressive("pa1", 0.1)),
    "pa2": (PA2(0.5), passive_aggressive("pa2", 0.5)),
}
CONFIDENT: dict[str, tuple[Rule, Any]] = {
    "arow": (AROW(1.0), arow(1.0)),
    "cw": (RULES["cw"].rule({}), confidence_weighted("cw", PHI)),
    "scw1": (RULES["scw1"].rule({"C": 0.5}), confidence_weighted("scw1", PHI, 0.5)),
    "scw2": (RULES["scw2"].rule({"C": 0.5}), confidence_weighted("scw2", PHI, 0.5)),
}


class Corpus(NamedTuple):
    """A small corpus drawn by Hypothesis."""

    sentences: list[list[list[tuple[int, float]]]]
    tags: list[list[int]]
    n_tags: int
    barred: list[list[bool]]
    orders: list[list[int]]


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    """Draw sentences (empty ones, features that come twice), tags some of which are hidden."""
    n_tags = draw(st.integers(1, 4))
    valued = draw(st.booleans())
    values = st.sampled_from([1.0, -2.0, 0.1]) if valued else st.just(1.0)
    token = st.lists(st.tuples(st.integers(0, N_FEATURES - 1), values), max_size=4)
    sentences = draw(st.lists(st.lists(token, max_size=4), min_size=1, max_size=5))
    low = draw(st.sampled_from([0, 0, -1]))
    tags = [[draw(st.integers(low, n_tags - 1)) for _ in x] for x in sentences]
    rare = st.integers(0, 5).map(lambda n: n == 0)
    barred = [[draw(rare) for _ in range(n_tags)] for _ in range(n_tags + EDGES)]
    orders = draw(st.lists(st.permutations(range(len(sentences))), min_size=1, max_size=4))
    return Corpus(sentences, tags, n_tags, barred, [list(order) for order in orders])


def bar(corpus: Corpus) -> reference.Barred:
    """Return which steps of a corpus are impossible."""

    def barred(before: Any, tag: int) -> bool:
        ends = {"start": corpus.n_tags, "end": corpus.n_tags + 1}
        row = ends[before] if isinstance(before, str) else before[1]
        return corpus.barred[row][tag]

    return barred


def trained(corpus: Corpus, rule: Rule, *, second_order: bool) -> Any:
    """Return weights, ledger and variances by key, rows and counts after passes by kernels."""
    flat = [token for x in corpus.sentences for token in x]
    values = np.array([value for token in flat for _, value in token])
    places = rows_for(N_FEATURES, corpus.n_tags)
    rows = Sentences(
        np.cumsum([0, *map(len, corpus.sentences)]),
        np.cumsum([0, *map(len, flat)]),
        np.array([feature for token in flat for feature, _ in token], np.int32),
        np.ones(len(values), bool) if (values == 1.0).all() else values,
        places,
        np.array(corpus.barred),
        np.eye(corpus.n_tags, dtype=bool),
        N_FEATURES + corpus.n_tags + EDGES,
    )
    tags = np.array([k for one in corpus.tags for k in one], np.int32)
    shape = rows.n_features + 1, corpus.n_tags
    w, u, sigma = np.zeros(shape), np.zeros(shape), np.ones(shape)
    room, cost = room_for(rows, corpus.n_tags), cost_of(rule)
    counts, c = [], 1
    for order in corpus.orders:
        log = empty_log(len(order))
        how = rows, tags, np.empty(0), np.array(order), rule, cost, (*room, log)
        if second_order:
            counts.append(second_order_path_pass(*how, GaussianWeights(w, sigma), u, c))
        else:
            counts.append(path_pass(*how, w, u, c))
        check_log(log, order, counts[-1].updates, c)
        c += len(order)
    found = [f for f in np.argsort(places.rows, kind="stable") if places.rows[f] != NO_ROW]
    return (w, u, sigma), places, [int(f) for f in found], counts


def check_log(log: Log, order: list[int], updates: int, c: int) -> None:
    """Check that each update has its line: a sentence of the order at its count, and a step."""
    lines = [*zip(log.row.tolist(), log.seen.tolist(), log.tau.tolist(), strict=True)][:updates]
    assert all(order[seen - c] == row and tau != 0.0 for row, seen, tau in lines)
    assert log.seen[:updates].tolist() == sorted({*log.seen[:updates].tolist()})


def expected(found: dict[reference.Key, float], rows: Any, shape: Any, least: float) -> Any:
    """Return a dictionary of weights as a matrix."""
    matrix, n_tags = np.full(shape, least), shape[1]
    for (what, k), value in found.items():
        if isinstance(what, str):
            row = n_tags + ("start", "end").index(what)
        else:
            row = what[1] if isinstance(what, tuple) else int(rows[what])
        matrix[row, k] = value
    return matrix


def compare(corpus: Corpus, rules: tuple[Rule, Any], *, second_order: bool = False) -> None:
    """Train twice."""
    ours, theirs = rules
    (w, u, sigma), places, rows, counts = trained(corpus, ours, second_order=second_order)
    plain = reference.train(
        corpus.sentences,
        corpus.tags,
        corpus.n_tags,
        theirs,
        corpus.orders,
        cost=cost_of(ours),
        barred=bar(corpus),
        second_order=second_order,
    )
    assert rows == plain.rows
    assert same_bits(w, expected(plain.w, places.rows, w.shape, 0.0))
    assert same_bits(u, expected(plain.ledger, places.rows, w.shape, 0.0))
    assert same_bits(sigma, expected(plain.variance, places.rows, w.shape, 1.0))
    assert [tuple(one) for one in counts] == plain.counts


@pytest.mark.parametrize("rule", ADDITIVE)
@given(corpus=corpora())
@tries(60)
def test_a_pass_is_that_of_the_paper(rule: str, corpus: Corpus) -> None:
    """Weights, ledger, the order of rows and counts are those of the plain lists."""
    compare(corpus, ADDITIVE[rule])


@pytest.mark.parametrize("rule", CONFIDENT)
@given(corpus=corpora())
@tries(60)
def test_a_second_order_pass_is_that_of_the_papers(rule: str, corpus: Corpus) -> None:
    """So are weights, ledger and variances of rules that keep a variance."""
    compare(corpus, CONFIDENT[rule], second_order=True)

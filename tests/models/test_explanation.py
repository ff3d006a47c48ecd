"""Weights by name and the terms of a score."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rosenblatt import AveragedPerceptron, explain
from rosenblatt.errors import InputError
from rosenblatt.models.explanation import (
    all_weights,
    class_number,
    contributions,
    ranked_weights,
    ranking_misleads,
)
from rosenblatt.models.model import Model, Spread
from rosenblatt.models.train import model_from_files
from tests.models.models import linear

SMALL = st.integers(-3, 3).map(float)


def model_of(weights: Any, deviation: Any = None, **fields: Any) -> Model:
    """Return a model with these vectors, the bias last, and these deviations."""
    w = np.atleast_2d(np.array(weights, float))
    spread = None
    if deviation is not None:
        d = np.array(deviation, float)
        spread = Spread(-d, d, d, 100)
    classes = ("ham", "spam") if len(w) == 1 else tuple("abcdef"[: len(w)])
    return linear("Perceptron", {}, classes, w, spread=spread, **fields)


def told(weights: list[Any]) -> list[tuple[int, float]]:
    """Return feature and weight of each."""
    return [(weight.feature, weight.weight) for weight in weights]


@given(st.lists(SMALL, min_size=1, max_size=30), st.integers(0, 12))
def test_ranking(weights: list[float], k: int) -> None:
    """Top and bottom are those of a full sort in which the first of equal weights comes first."""
    ranking = ranked_weights(model_of([*weights, 9.0]), k)[0]
    pairs = list(enumerate(weights))
    assert told(ranking.top) == sorted((p for p in pairs if p[1] > 0), key=lambda p: -p[1])[:k]
    assert told(ranking.bottom) == sorted((p for p in pairs if p[1] < 0), key=lambda p: p[1])[:k]
    assert (ranking.label, ranking.against, ranking.bias) == ("spam", "ham", 9.0)
    assert ranking.n_nonzero == sum(w != 0 for w in weights)


def test_other_side() -> None:
    """Asked for the first of two classes, positive weights speak for it."""
    ranking = ranked_weights(model_of([1.0, -2.0, 0.5]), class_=0)[0]
    assert (ranking.label, ranking.against, ranking.bias) == ("ham", "spam", -0.5)
    assert told(ranking.top) == [(1, 2.0)]
    assert told(ranking.bottom) == [(0, -1.0)]


def test_many_classes() -> None:
    """Each class has a ranking of its own vector, or the chosen one alone has."""
    model = model_of([[1, 0, 0], [0, 2, 0], [-3, 0, 0]])
    assert [r.label for r in ranked_weights(model)] == ["a", "b", "c"]
    (ranking,) = ranked_weights(model, class_=class_number(model, "c"))
    assert (ranking.label, ranking.against, told(ranking.bottom)) == ("c", None, [(0, -3.0)])


def test_unknown_class() -> None:
    """A class that the model does not know is answered with those that it knows."""
    with pytest.raises(InputError, match="knows no class 'eggs'; it knows ham and spam"):
        class_number(model_of([1.0, 0.0]), "eggs")


def test_average_decides() -> None:
    """Where an average is kept, it is what is ranked and summed."""
    model = model_of([4.0, 2.0], ledger=np.array([[6.0, 2.0]]), count=2)
    assert told(ranked_weights(model)[0].top) == [(0, 1.0)]
    assert contributions(model, np.array([0]), np.array([3.0])).total == 4.0


def test_misleading_ranges() -> None:
    """Deviations of a wide range rank by weight × deviation; those without weight don't count."""
    plain = model_of([1.0, 0.5, -0.2, 0.0, 0.0], [1.0, 2.0, 5.0, 1e6])
    assert not ranking_misleads(plain)
    assert told(ranked_weights(plain)[0].top) == [(0, 1.0), (1, 0.5)]
    wide = model_of([1.0, 0.5, -0.2, 0.0], [0.01, 2.0, 5.0])
    assert ranking_misleads(wide)
    ranking = ranked_weights(wide)[0]
    assert [(w.feature, w.effect) for w in ranking.top] == [(1, 1.0), (0, 0.01)]
    assert told(ranked_weights(wide, by_effect=False)[0].top) == [(0, 1.0), (1, 0.5)]
    assert not ranking_misleads(replace(wide, spread=None))
    assert not ranking_misleads(model_of([1.0, 0.0], [0.5]))


def test_names() -> None:
    """Features go by the names that the model has, else by their numbers."""
    model = model_of([1.0, -1.0, 0.0])
    assert ranked_weights(model)[0].top[0].name == "feature 0"
    named = replace(model, feature_names=("age", "weight"))
    assert ranked_weights(named)[0].top[0].name == "age"


def test_all_weights() -> None:
    """Every weight other than 0 comes once, with the class that it speaks for and its bias."""
    named = model_of([1.0, -1.0, 0.0], feature_names=("age", "weight"))
    expected = [("spam", 0, "age", 1.0), ("spam", 1, "weight", -1.0), ("spam", None, "bias", 0.0)]
    assert list(all_weights(named)) == expected
    assert next(all_weights(named, 0)) == ("ham", 0, "age", -1.0)
    many = model_of([[1, 0, 0], [0, 2, 0], [0, 0, 5]])
    pairs = [("a", 0), ("a", None), ("b", 1), ("b", None), ("c", None)]
    assert [weight[:2] for weight in all_weights(many)] == pairs
    assert [weight[3] for weight in all_weights(many, 2)] == [5.0]


ROW = st.lists(st.tuples(SMALL, st.floats(-1e6, 1e6)), min_size=1, max_size=20)


@given(ROW, st.floats(-1e3, 1e3))
def test_terms_of_two_classes(pairs: list[tuple[float, float]], bias: float) -> None:
    """Terms and bias sum to the score, rounded once, and are sorted by size."""
    weights, values = np.array(pairs).T
    model = model_of([*weights, bias])
    given_rows = np.random.default_rng(len(pairs)).permutation(len(pairs))
    found = contributions(model, given_rows, values[given_rows])
    products = [w * x for w, x in pairs]
    assert found.total == math.fsum([*products, bias])
    assert math.fsum([found.bias, *(term.amount for term in found.terms)]) == found.total
    sizes = [abs(term.amount) for term in found.terms]
    assert sizes == sorted(sizes, reverse=True)
    assert 0 not in sizes
    assert len(found.terms) + found.n_silent == len(pairs)
    assert all(term.amount == products[term.feature] for term in found.terms)
    assert (found.positive, found.negative) == ("spam", "ham")


def test_terms_of_many_classes() -> None:
    """They are those of the winner's lead over the runner-up."""
    W: NDArray[Any] = np.random.default_rng(0).normal(size=(5, 9))
    x = np.random.default_rng(1).normal(size=8)
    found = contributions(model_of(W), np.arange(8), x)
    scores = W[:, :-1] @ x + W[:, -1]
    first, second = np.argsort(-scores)[:2]
    assert (found.positive, found.negative) == ("abcde"[first], "abcde"[second])
    assert found.total == pytest.approx(scores[first] - scores[second])
    assert found.total == math.fsum([found.bias, *(term.amount for term in found.terms)])
    other = contributions(model_of(W), np.arange(8), x, winner=int(second))
    assert (other.positive, other.negative) == ("abcde"[second], "abcde"[first])


def test_a_wrong_row_is_set_against_its_label(tmp_path: Path) -> None:
    """The label stands in a column of the row, or is given; a right one has the runner-up."""
    lines = [f"{k % 3 - 1},{k % 5},{'abc'[k % 3]}\n" for k in range(300)]
    (tmp_path / "rows.csv").write_text("x,y,label\n" + "".join(lines))
    model, row = model_from_files(str(tmp_path / "rows.csv")), {"x": -1, "y": 0}
    assert model.explain(row)[:2] == ("a", "b")
    assert model.explain(row | {"label": "a"})[:2] == ("a", "b")
    assert model.explain(row | {"label": "new"})[:2] == ("a", "b")
    wrong = model.explain(row | {"label": "c"})
    assert wrong[:2] == ("a", "c")
    assert wrong == model.explain(row, against="c") == explain(model, row, "a", "c")
    scores = model.scores([row])[0]
    assert wrong.total == pytest.approx(scores[0] - scores[2])
    assert model.explain(row, against="a")[:2] == ("a", "b")
    assert model.explain(row, "c", "b")[:2] == ("c", "b")
    with pytest.raises(InputError, match="The model knows no class 'd'; it knows a, b and c"):
        model.explain(row, against="d")


def test_features_the_model_has_not_met() -> None:
    """They are counted and add nothing."""
    found = contributions(model_of([1.0, 0.0, 0.5]), np.array([1, 7, 0]), np.array([2.0, 9.0, 3.0]))
    assert (found.total, found.n_silent, found.n_unknown) == (3.5, 1, 1)


def test_in_a_notebook() -> None:
    """An explanation is a table there, whose names cannot be markup, with the sums below."""
    clf = AveragedPerceptron().fit([[0.0, 1.0], [1.0, 0.0]] * 5, ["<no>", "yes"] * 5)
    html = explain(clf, [1.0, 3.0])._repr_html_()
    assert "&lt;no&gt;" in html
    assert "<no>" not in html
    assert html.count("<tr>") == 5
    many = explain(AveragedPerceptron().fit(np.eye(40), ["a", "b"] * 20), np.ones(40))
    assert "other features" in many._repr_html_()

"""The engine in the browser computes what the library computes, bit for bit."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rosenblatt import (
    AveragedPerceptron,
    FeatureConjunctions,
    KernelPerceptron,
    PassiveAggressiveClassifier,
    Perceptron,
    VotedPerceptron,
)
from rosenblatt.lab.document import Document
from rosenblatt.lab.page import asset
from rosenblatt.lab.toy_sets import TOY_SETS, toy_set
from rosenblatt.lab.translation import shared_text
from rosenblatt.rules import RULES
from rosenblatt.tracing import trace
from rosenblatt.training.examples import permute
from tests.examples import tries
from tests.lab.documents import documents, labels_of
from tests.lab.engine import Engine

SHUFFLES: dict[str, Any] = {"given": False, "once": "once", "every pass": True}
PLACES = np.random.default_rng(5).uniform(-2, 2, (40, 2)).round(3).tolist()
HELD_OUT = tuple((a, b, 1) for a, b in PLACES)


def features(document: Document) -> NDArray[Any]:
    """Return the rows that a document is learned in, by plain arithmetic."""
    a, b = document.X.T
    more = {"none": [], "conjunction": [a * b], "pairs": [a * a, a * b, b * b]}[document.map]
    return np.column_stack([a, b, *more])


def check_against_trace(engine: Engine, document: Document) -> None:
    """Hold every visit, weight and average against ``trace``; equal means the same bits."""
    steps = trace(
        features(document),
        labels_of(document),
        rule=document.rule,
        averaged=True,
        shuffle=SHUFFLES[document.order],
        zero=document.zero,
        fit_intercept=document.bias,
        max_iter=document.max_iter,
        random_state=document.seed,
        **{p.name: getattr(document, p.name) for p in RULES[document.rule].parameters},
    )
    found = engine.ask("training", document=document.plain())
    assert found["length"] == len(steps)
    assert found["stopReason"] == steps.stop_reason
    for name, values in {
        "pass": [step.pass_ for step in steps],
        "row": [step.row for step in steps],
        "activation": [step.activation for step in steps],
        "tau": [step.step for step in steps],
        "mistake": [step.mistake for step in steps],
        "weights": [[0.0] * (features(document).shape[1] + 1)]
        + [[*step.w, step.b] for step in steps],
    }.items():
        assert found[name] == values, name
    if RULES[document.rule].order == 2:
        sure: list[Any] = [step.variance_w for step in steps]
        ones = [1.0] * (features(document).shape[1] + 1)
        assert found["variance"] == [step.variance for step in steps]
        assert [float(beta) for beta in found["beta"]] == [step.beta for step in steps]
        biases = [step.variance_b for step in steps]
        assert found["variances"] == [ones, *([*w, b] for w, b in zip(sure, biases, strict=True))]
    averages = [[*step.average_w, step.average_b] for step in steps]  # type: ignore[misc]
    assert found["averages"][1:] == averages


def test_shared_file_is_up_to_date() -> None:
    """The file of rules, limits and toy sets is what the generator writes."""
    assert asset("shared.js") == shared_text(), "run python -m rosenblatt.lab.translation"


@pytest.mark.parametrize("seed", [0, 1, 7, 2**32 - 1])
@pytest.mark.parametrize("n", [1, 2, 5, 300])
def test_shuffles(engine: Engine, seed: int, n: int) -> None:
    """Successive permutations are those of NumPy's generator and the library's shuffle."""
    generator, expected = np.random.default_rng(seed), []
    for _ in range(3):
        order = np.arange(n)
        permute(order, generator)
        expected.append(order.tolist())
    assert engine.ask("permutations", seed=seed, n=n, count=3) == expected


@given(st.data())
@tries(80)
def test_equals_trace(engine: Engine, data: st.DataObject) -> None:
    """On documents of any rule, map, order, zero and bias it is ``trace``, bit for bit."""
    map_ = data.draw(st.sampled_from(["none", "conjunction", "pairs"]))
    document = data.draw(documents(map=map_, bias=data.draw(st.booleans())))
    if len(set(labels_of(document))) == 2:
        check_against_trace(engine, document)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", TOY_SETS)
def test_toy_sets_equal_trace(engine: Engine, name: str, rule: str) -> None:
    """So it is on every toy set, by every rule, in shuffled order."""
    document = replace(toy_set(name), rule=rule, max_iter=6, C=0.3, seed=4, order="every pass")
    check_against_trace(engine, document)


@pytest.mark.parametrize("name", TOY_SETS)
@pytest.mark.parametrize("order", SHUFFLES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_equals_estimators(engine: Engine, name: str, order: str) -> None:
    """Last, averaged and voted weights are those of the estimators, on points never seen too."""
    document = replace(toy_set(name), order=order, max_iter=7, seed=3, held_out=HELD_OUT)
    found = engine.ask("training", document=document.plain())
    given: dict[str, Any] = {"max_iter": 7, "shuffle": SHUFFLES[order], "random_state": 3}
    X, y = document.X, document.y
    last, average, vote = (
        kind(**given).fit(X, y) for kind in (Perceptron, AveragedPerceptron, VotedPerceptron)
    )
    assert found["weights"][-1] == [*last.coef_[0], *last.intercept_]
    assert found["averages"][-1] == [*average.coef_[0], *average.intercept_]
    assert found["mistakes"][-1] == last.n_mistakes_
    assert found["survivals"] == vote.survival_.tolist()
    leads = [
        np.rint(np.multiply(scores, found["length"])).tolist()
        for scores in (found["scores"]["vote"], vote.decision_function(PLACES))
    ]
    # Votes are whole. A vector that is zero at a place but for rounding may vote on either side.
    vectors = [np.zeros(3)]
    for w in found["weights"]:
        if not np.array_equal(w, vectors[-1]):
            vectors.append(np.array(w))
    tied = np.abs(np.column_stack([PLACES, np.ones(len(PLACES))]) @ np.transpose(vectors)) < 1e-9
    assert (np.abs(np.subtract(*leads)) <= 2 * tied @ np.array(found["survivals"])).all()
    expected = average.decision_function(PLACES)
    np.testing.assert_allclose(found["scores"]["average"], expected, rtol=1e-12, atol=1e-15)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_starts_from_given_weights(engine: Engine) -> None:
    """Weights that were turned by hand are learned on from, as with coef_init."""
    document = replace(toy_set("overlapping"), start=(0.5, -1.25, 0.3), max_iter=4)
    found = engine.ask("training", document=document.plain())
    for key, kind in (("weights", Perceptron), ("averages", AveragedPerceptron)):
        clf = kind(max_iter=4, shuffle=False)
        clf.fit(document.X, document.y, coef_init=[[0.5, -1.25]], intercept_init=[0.3])
        assert found[key][-1] == [*clf.coef_[0], *clf.intercept_]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_passive_aggressive_without_a_bias(engine: Engine) -> None:
    """Without a bias nothing is added for it, and its weight stays 0."""
    document = replace(toy_set("overlapping"), rule="pa1", C=0.1, bias=False, max_iter=5)
    found = engine.ask("training", document=document.plain())
    given: dict[str, Any] = {"C": 0.1, "fit_intercept": False, "max_iter": 5, "shuffle": False}
    clf = PassiveAggressiveClassifier(**given, average=False).fit(document.X, document.y)
    assert found["weights"][-1] == [*clf.coef_[0], 0.0]


def test_conjunction_is_the_library_s() -> None:
    """The map x₁ ∧ x₂ is that of FeatureConjunctions."""
    document = replace(toy_set("overlapping"), map="conjunction")
    expected = FeatureConjunctions().fit_transform(document.X)
    np.testing.assert_array_equal(features(document), expected)


@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
@pytest.mark.parametrize("kernel", ["polynomial", "rbf"])
@pytest.mark.parametrize("degree", [2, 3, 5])
def test_kernels(engine: Engine, kernel: str, degree: int, rule: str) -> None:
    """A kernel's visits are sums of steps in their order, bit for bit; its values the library's."""
    changes = {"kernel": kernel, "degree": degree, "rule": rule, "gamma": 0.7, "order": "once"}
    plain = {**toy_set("circles").plain(), **changes, "max_iter": 6, "held_out": HELD_OUT}
    document = Document.from_plain(plain)
    found = engine.ask("training", document=document.plain())
    n = len(document.points)
    gram = np.array(found["gram"]).reshape(n, n)
    scores = np.zeros(n)
    for row, activation, tau in zip(found["row"], found["activation"], found["tau"], strict=True):
        assert activation == scores[row]
        scores += tau * document.y[row] * gram[row]
    given: dict[str, Any] = {"rule": rule, "shuffle": "once", "max_iter": 6, "gamma": 0.7}
    name = {"polynomial": "poly", "rbf": "rbf"}[kernel]
    for memory in ("last", "average", "vote"):
        clf = KernelPerceptron(kernel=name, degree=degree, coef0=1.0, memory=memory, **given)
        clf.fit(document.X, document.y)
        assert found["mistakes"][-1] == clf.n_mistakes_
        expected = clf.decision_function(PLACES)
        times = found["length"] if memory == "vote" else 1  # votes are counted there, not shared
        scores = np.multiply(found["scores"][memory], times)
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-10)


def test_cycle_is_noticed(engine: Engine) -> None:
    """Weights that come back at the end of a pass are announced; XOR's after every pass."""
    xor = toy_set("xor")
    assert engine.ask("training", document=xor.plain())["cycle"] == [0, 1]
    started = replace(xor, start=(0.25, 2.0, -1.0))
    first, second = engine.ask("training", document=started.plain())["cycle"]
    weights = engine.ask("training", document=started.plain())["weights"]
    assert weights[4 * first] == weights[4 * second]
    shuffled = replace(xor, order="every pass")
    assert engine.ask("training", document=shuffled.plain())["cycle"] is None


@pytest.mark.parametrize("changes", [{}, {"kernel": "rbf"}, {"rule": "pa", "map": "pairs"}])
def test_few_points(engine: Engine, changes: dict[str, Any]) -> None:
    """Without points, and with points of one class, there is nothing to learn and no error."""
    nothing = engine.ask("training", document=Document(**changes).plain())
    assert nothing["length"] == 0
    alone = Document(points=((1.0, 2.0, 1), (1.0, 2.0, 1)), **changes)
    assert engine.ask("training", document=alone.plain())["stopReason"] == "converged"

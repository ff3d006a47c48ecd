"""Which training rows taught an estimator a decision."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from rosenblatt import (
    AveragedPerceptron,
    MultilabelClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
    why,
)
from rosenblatt.errors import InputError

WARNING = "ignore:.*stopped after max_iter"


def rows(seed: int, n_classes: int) -> tuple[Any, Any]:
    """Return small whole numbers with random labels."""
    generator = np.random.default_rng(seed)
    X = generator.integers(-3, 4, (30, 4)).astype(float)
    return X, np.array(["a", "b", "c"])[generator.integers(0, n_classes, 30)]


@pytest.mark.filterwarnings(WARNING)
@given(seed=st.integers(0, 2**32), n_classes=st.sampled_from([2, 3]), as_csr=st.booleans())
def test_terms_sum_to_the_activation(seed: int, n_classes: int, as_csr: bool) -> None:
    """On whole numbers the terms of the rows are the activation, exactly."""
    X, y = rows(seed, n_classes)
    if len(np.unique(y)) < n_classes:
        return
    given_rows = sparse.csr_array(X) if as_csr else X
    clf = Perceptron(record_mistakes=True, max_iter=5).fit(given_rows, y)
    x = np.array([1.0, -2.0, 0.0, 3.0])
    found = why(clf, given_rows, x)
    assert found.remainder == 0.0
    scores = np.sort(clf.decision_function([x])[0] if n_classes == 3 else [0.0])
    total = clf.decision_function([x])[0] if n_classes == 2 else scores[-1] - scores[-2]
    assert sum(Fraction(term.amount) for term in found.terms) == Fraction(float(total))
    assert sum(term.updates for term in found.terms) <= clf.n_mistakes_


@pytest.mark.filterwarnings(WARNING)
@pytest.mark.parametrize(
    "learner",
    [
        AveragedPerceptron(record_mistakes=True, early_stopping=True),
        AveragedPerceptron(record_mistakes=True, max_iter=3),
        PassiveAggressiveClassifier(record_mistakes=True),
        PassiveAggressiveClassifier(record_mistakes=True, average=True),
    ],
)
def test_averages_and_early_stopping(learner: Any) -> None:
    """The average's terms, and those of weights that early stopping went back to, sum up too."""
    generator = np.random.default_rng(1)
    X = generator.normal(size=(200, 5))
    y = (X[:, 0] + generator.normal(size=200) > 0).astype(int)
    learner.fit(X, y)
    found = why(learner, X, X[7])
    assert found.total == pytest.approx(learner.decision_function(X[7:8])[0], rel=1e-12)
    assert abs(found.remainder) < 1e-9


def test_mistakes_must_have_been_recorded() -> None:
    """Without the list, after going on, or with other rows, the error says what to do."""
    X, y = rows(0, 2)
    with pytest.raises(InputError, match="record_mistakes=True"):
        why(AveragedPerceptron().fit(X, y), X, X[0])
    clf = AveragedPerceptron(record_mistakes=True).fit(X, y)
    with pytest.raises(InputError, match="give the rows that it was fitted on"):
        why(clf, X[:2], X[0])
    clf.partial_fit(X, y)
    with pytest.raises(InputError, match="does not know its mistakes"):
        why(clf, X, X[0])
    again = AveragedPerceptron(record_mistakes=True, warm_start=True).fit(X, y).fit(X, y)
    with pytest.raises(InputError, match="does not know its mistakes"):
        why(again, X, X[0])


def labelled(seed: int, n_labels: int = 3) -> tuple[Any, Any]:
    """Return small whole numbers, and random labels of each row."""
    generator = np.random.default_rng(seed)
    X = generator.integers(-3, 4, (30, 4)).astype(float)
    return X, generator.integers(0, 2, (30, n_labels))


def label_sets(Y: Any) -> list[set[int]]:
    """Return the labels of each row, so that one column is no column of classes."""
    return [{*np.flatnonzero(row).tolist()} for row in Y]


@given(
    seed=st.integers(0, 2**32),
    n_labels=st.sampled_from([1, 2, 3]),
    goal=st.sampled_from(["each", "ranking"]),
    memory=st.sampled_from(["last", "average"]),
    as_csr=st.booleans(),
)
def test_weights_of_labels_are_the_sum_of_their_list(
    seed: int, n_labels: int, goal: str, memory: str, as_csr: bool
) -> None:
    """Added up in plain lists, the steps of each label are its weights and its ledger."""
    X, Y = labelled(seed, n_labels)
    clf = MultilabelClassifier(
        rule="perceptron", goal=goal, memory=memory, record_mistakes=True, max_iter=4
    ).fit(sparse.csr_array(X) if as_csr else X, label_sets(Y))
    weights = [[0.0] * 5 for _ in range(n_labels)]
    ledgers = [[0.0] * 5 for _ in range(n_labels)]
    for row, label, rival, tau, seen in zip(*clf.mistakes_.updates, strict=True):
        assert rival == -label
        k, step = abs(label) - 1, float(np.sign(label) * tau)
        assert Y[row, k] == (label > 0)  # those that a row has gain, the others lose
        for j, value in enumerate([*X[row], 1.0]):
            weights[k][j] += step * value
            ledgers[k][j] += step * seen * value
    model = clf.model_
    assert model.weights.tolist() == weights
    if model.ledger is not None:
        assert np.allclose(model.ledger, ledgers, rtol=1e-12, atol=0.0)
        if goal == "each":  # whose steps are whole
            assert model.ledger.tolist() == ledgers


@given(
    seed=st.integers(0, 2**32),
    n_labels=st.sampled_from([1, 2, 3]),
    rule=st.sampled_from(["perceptron", "margin", "pa1"]),
    goal=st.sampled_from(["each", "ranking"]),
    memory=st.sampled_from(["last", "average"]),
)
def test_terms_of_a_label_sum_to_its_score(
    seed: int, n_labels: int, rule: str, goal: str, memory: str
) -> None:
    """What the training rows add is the score of each label; on whole numbers exactly."""
    X, Y = labelled(seed, n_labels)
    clf = MultilabelClassifier(
        rule=rule, goal=goal, memory=memory, record_mistakes=True, max_iter=4
    ).fit(X, label_sets(Y))
    x = np.array([1.0, -2.0, 0.0, 3.0])
    scores = clf.decision_function([x])[0]
    for k, score in enumerate(scores.tolist()):
        found = why(clf, X, x, k)
        assert (found.positive, found.negative, found.total) == (k, None, score)
        assert abs(found.remainder) < 1e-12 * (1 + sum(abs(term.amount) for term in found.terms))
        if rule != "pa1" and goal == "each" and memory == "last":
            assert sum(Fraction(term.amount) for term in found.terms) == Fraction(score)
        assert all(term.label == (k if Y[term.row, k] else None) for term in found.terms)
        assert found.n_updates >= sum(term.updates for term in found.terms)
    assert why(clf, X, x).positive == int(scores.argmax())


def test_a_label_in_words() -> None:
    """The table says of each training row whether it has the label."""
    X, y = [[1, 0], [0, 1], [1, 1]] * 4, [{"red"}, set(), {"red", "round"}] * 4
    clf = MultilabelClassifier(record_mistakes=True).fit(X, y)
    text = str(why(clf, X, [1, 0], "red"))
    assert " not red " in text
    assert "Above 0 speaks for red; the sum for it." in text
    assert "the sum against it." in str(why(clf, X, [0, 1], "round"))
    with pytest.raises(InputError, match="knows no label 'blue'; it knows red and round"):
        why(clf, X, [1, 0], "blue")
    clf.partial_fit(X, y)
    with pytest.raises(InputError, match="does not know its mistakes"):
        why(clf, X, [1, 0], "red")


@pytest.mark.filterwarnings(WARNING)
def test_one_class_of_several() -> None:
    """A class that is named is compared with the best of the others, as ``explain`` does."""
    X, y = rows(3, 3)
    clf = Perceptron(record_mistakes=True, max_iter=5).fit(X, y)
    scores = dict(zip(clf.classes_, clf.decision_function(X[:1])[0], strict=True))
    for label in "abc":
        found = why(clf, X, X[0], label)
        rival = max((other for other in "abc" if other != label), key=lambda one: scores[one])
        assert (found.positive, found.negative) == (label, rival)
        assert found.total == scores[label] - scores[rival]
        assert found.remainder == 0.0


def test_a_list_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many rows fit into one log, the list and the weights are the same."""
    X, Y = labelled(5)
    clf = MultilabelClassifier(record_mistakes=True, max_iter=3)
    whole = clf.fit(X, Y).mistakes_.updates
    weights = clf.coef_
    monkeypatch.setattr("rosenblatt.training.state.LINES_AT_ONCE", 13)
    pieces = clf.fit(X, Y).mistakes_.updates
    assert all(np.array_equal(*pair) for pair in zip(whole, pieces, strict=True))
    assert np.array_equal(clf.coef_, weights)
    plain = MultilabelClassifier(max_iter=3).fit(X, Y)
    assert np.array_equal(plain.coef_, weights)

"""Which training rows taught an estimator a decision."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from rosenblatt import AveragedPerceptron, PassiveAggressiveClassifier, Perceptron, why
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

"""The kernel perceptron as an estimator."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_circles, make_moons
from sklearn.metrics.pairwise import rbf_kernel

from rosenblatt import (
    AveragedPerceptron,
    KernelPerceptron,
    PassiveAggressiveClassifier,
    Perceptron,
)
from tests.estimators.test_fit import quiet_fit
from tests.examples import Drawn, data_sets, integers, same_bits

XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
MEMORIES = ("last", "average", "vote")


def digits(n_rows: int = 400) -> tuple[Any, Any]:
    """Return digits of 8 × 8 pixels, whole numbers."""
    X, y = load_digits(return_X_y=True)
    return X[:n_rows], y[:n_rows]


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("problem", ["xor", "circles", "moons"])
def test_what_no_line_separates(problem: str, kernel: str, memory: str) -> None:
    """Exclusive or, circles and moons are learned."""
    if problem == "xor":
        X, y = np.tile(XOR, (20, 1)), np.tile([0, 1, 1, 0], 20)
    elif problem == "circles":
        X, y = make_circles(300, noise=0.05, factor=0.4, random_state=0)
    else:
        X, y = make_moons(300, noise=0.05, random_state=0)
    clf = KernelPerceptron(kernel=kernel, gamma=3.0, coef0=1.0, memory=memory, max_iter=200)
    assert clf.fit(X, y).score(X, y) >= (1.0 if memory == "last" else 0.97)
    assert clf.converged_
    assert clf.stop_reason_ == "converged"


@given(
    drawn=data_sets(integers, n_classes=3).filter(lambda d: d.rows[0] and len(set(d.labels)) > 1),
    bias=st.booleans(),
    zero=st.sampled_from(["mistake", "negative", "positive"]),
)
def test_linear_kernel_is_the_linear_learner(drawn: Drawn, bias: bool, zero: str) -> None:
    """Last and average agree with the learners in the primal, bit for bit where they are whole."""
    X, y = np.array(drawn.rows), np.array(drawn.labels)
    how: dict[str, Any] = {"max_iter": 3, "fit_intercept": bias, "zero": zero}
    for linear, rule, memory in (
        (Perceptron(**how), "perceptron", "last"),
        (AveragedPerceptron(**how), "perceptron", "average"),
    ):
        clf = KernelPerceptron(kernel="linear", rule=rule, memory=memory, **how)
        quiet_fit(clf, X, y)
        quiet_fit(linear, X, y)
        assert clf.n_mistakes_ == linear.n_mistakes_
        assert clf.converged_ == linear.converged_
        ours, theirs = clf.decision_function(X), linear.decision_function(X)
        if memory == "last":
            assert same_bits(ours, theirs)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * (1 + np.abs(X).max() ** 2))
        assert np.array_equal(clf.predict(X), linear.predict(X)) or memory == "average"


@pytest.mark.parametrize("rule", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize("average", [True, False])
def test_linear_passive_aggressive(rule: str, n_classes: int, average: bool) -> None:
    """With a linear kernel it is the PassiveAggressiveClassifier."""
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    X, y = X[:300] / 16, y[:300]
    linear = PassiveAggressiveClassifier(
        C=np.inf if rule == "pa" else 0.1,
        loss="squared_hinge" if rule == "pa2" else "hinge",
        average=average,
        max_iter=3,
    )
    memory = "average" if average else "last"
    clf = KernelPerceptron(kernel="linear", rule=rule, C=0.1, memory=memory, max_iter=3)
    quiet_fit(linear, X, y)
    quiet_fit(clf, X, y)
    assert clf.n_mistakes_ == linear.n_mistakes_
    np.testing.assert_allclose(
        clf.decision_function(X), linear.decision_function(X), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("n_classes", [2, 5])
def test_linear_vote_is_the_voted_perceptron(n_classes: int) -> None:
    """With a linear kernel the vote predicts what the VotedPerceptron does."""
    from rosenblatt import VotedPerceptron

    X, y = load_digits(n_class=n_classes, return_X_y=True)
    linear = quiet_fit(VotedPerceptron(max_iter=2), X[:300], y[:300])
    clf = quiet_fit(KernelPerceptron(kernel="linear", memory="vote", max_iter=2), X[:300], y[:300])
    assert np.array_equal(clf.predict(X), linear.predict(X))


@pytest.mark.parametrize("cache_size", [0.01, 0.3, 1000])
def test_cache_changes_nothing(cache_size: float) -> None:
    """On whole numbers any cache size gives the same model, bit for bit."""
    X, y = digits()
    kernels: list[dict[str, Any]] = [
        {"kernel": "poly", "gamma": 1.0, "degree": 2},
        {"gamma": 0.001},
    ]
    for how in kernels:
        plain = quiet_fit(KernelPerceptron(max_iter=4, **how), X, y)
        clf = quiet_fit(KernelPerceptron(max_iter=4, cache_size=cache_size, **how), X, y)
        for memory, scores in clf.decision_functions(X).items():
            assert same_bits(scores, plain.decision_functions(X)[memory])


@pytest.mark.parametrize("multi_class", ["joint", "one-vs-rest"])
def test_types_and_formats(multi_class: str) -> None:
    """uint8, float32, float64 and CSR rows of whole numbers give one model."""
    X, y = digits()
    clf = KernelPerceptron(gamma=0.001, multi_class=multi_class, max_iter=3)
    expected = quiet_fit(clone(clf), X, y).decision_functions(X)
    forms = (X.astype(np.uint8), X.astype(np.float32), sparse.csr_matrix(X), sparse.csr_array(X))
    for form in forms:
        found = quiet_fit(clone(clf), form, y)
        assert found.support_vectors_.dtype == form.dtype
        for memory, scores in found.decision_functions(X).items():
            assert same_bits(scores, expected[memory])


def test_memory_may_be_set_after_fit() -> None:
    """All three memories come from the same list, together or one by one."""
    X, y = digits()
    clf = quiet_fit(KernelPerceptron(gamma=0.001, max_iter=2), X, y)
    every = clf.decision_functions(X)
    for memory in MEMORIES:
        other = quiet_fit(KernelPerceptron(gamma=0.001, max_iter=2, memory=memory), X, y)
        clf.set_params(memory=memory)
        assert same_bits(clf.decision_function(X), every[memory])
        assert same_bits(other.decision_function(X), every[memory])
    assert not hasattr(clf, "dual_coef_")


def test_precomputed_and_function() -> None:
    """A Gram matrix, or a function, gives the model of the kernel that it computes."""
    X, y = digits()
    named = quiet_fit(KernelPerceptron(gamma=0.001, max_iter=3), X[:300], y[:300])
    function = quiet_fit(
        KernelPerceptron(kernel=lambda a, b: rbf_kernel(a, b, gamma=0.001), max_iter=3),
        X[:300],
        y[:300],
    )
    gram = rbf_kernel(X, X[:300], gamma=0.001)
    given = quiet_fit(KernelPerceptron(kernel="precomputed", max_iter=3), gram[:300], y[:300])
    assert given.support_vectors_.shape == (0, 0)
    for clf, rows in ((given, gram), (function, X)):
        assert clf.n_mistakes_ == named.n_mistakes_
        np.testing.assert_allclose(
            clf.decision_function(rows), named.decision_function(X), rtol=1e-9, atol=1e-9
        )
    sparse_rows = sparse.csr_matrix(X[:300])
    again = quiet_fit(
        KernelPerceptron(kernel=lambda a, b: (a @ b.T).toarray(), max_iter=2), sparse_rows, y[:300]
    )
    assert again.score(sparse_rows, y[:300]) > 0.9


def test_freund_and_schapire_kernel() -> None:
    """Polynomial with γ = coef0 = 1 and no bias is their (1 + x·x′)^d."""
    X, y = np.array([[1.0, 2.0], [0.0, 3.0]]), [0, 1]
    clf = KernelPerceptron(
        kernel="poly", degree=2, gamma=1.0, coef0=1.0, fit_intercept=False, memory="last"
    )
    clf.fit(X, y)
    expected = clf.dual_coef_ @ (1 + clf.support_vectors_ @ X.T) ** 2
    assert same_bits(clf.decision_function(X), expected[0])


def test_attributes() -> None:
    """Support rows are rows of X, counted by class; coefficients give the scores again."""
    X, y = digits()
    clf = quiet_fit(KernelPerceptron(gamma=0.001, max_iter=3), X, y)
    assert np.array_equal(clf.support_vectors_, X[clf.support_])
    assert np.array_equal(clf.n_support_, np.bincount(y[clf.support_], minlength=10))
    gram = rbf_kernel(clf.support_vectors_, X, gamma=0.001) + 1
    np.testing.assert_allclose((clf.dual_coef_ @ gram).T, clf.decision_function(X), atol=1e-9)
    assert clf.n_iter_ == len(clf.history_) == 3
    assert clf.n_mistakes_ == sum(record.mistakes for record in clf.history_)
    assert [record.pass_ for record in clf.history_] == [1, 2, 3]
    for name in ("support_", "support_vectors_", "dual_coef_", "n_support_"):
        with pytest.raises(AttributeError, match="is not fitted yet"):
            getattr(KernelPerceptron(), name)
    stored = pickle.loads(pickle.dumps(clf))  # noqa: S301  # our own
    assert same_bits(stored.decision_function(X), clf.decision_function(X))

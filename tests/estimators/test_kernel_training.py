"""How the kernel perceptron trains: streams, going on, stopping."""

import os
import signal
import threading
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import KernelPerceptron
from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import Dense
from rosenblatt.training.examples import ArraySupply, Examples
from rosenblatt.training.holdout import holding_out
from tests.estimators.test_fit import quiet_fit
from tests.estimators.test_kernel import XOR, digits
from tests.examples import same_bits


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize("multi_class", ["joint", "one-vs-rest"])
def test_stream_is_one_pass(multi_class: str, n_classes: int) -> None:
    """Calls of any length, dense and sparse in turn, are one pass of fit in that order."""
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    X, y = X[:250], y[:250]
    make = KernelPerceptron(gamma=0.002, multi_class=multi_class, max_iter=1, shuffle=False)
    whole = quiet_fit(clone(make), X, y)
    stream = clone(make)
    ends = np.cumsum([1, 2, 60, 3, 100, 1, 50, 33])
    for start, end in zip([0, *ends], ends, strict=False):
        part = X[start:end]
        stream.partial_fit(
            sparse.csr_array(part) if start % 2 else part, y[start:end], classes=np.unique(y)
        )
    assert stream.n_mistakes_ == whole.n_mistakes_
    assert np.array_equal(stream.support_, whole.support_)
    ours, theirs = stream.decision_functions(X), whole.decision_functions(X)
    assert ours.keys() == theirs.keys()
    for memory, scores in ours.items():
        assert same_bits(scores, theirs[memory])


def test_classes_may_come_at_any_call() -> None:
    """A third and a fourth class are learned when they come, whatever their place in the sort."""
    corners = {"m": [1, 0, 0, 0], "t": [0, 1, 0, 0], "a": [0, 0, 1, 0], "z": [0, 0, 0, 1]}
    clf = KernelPerceptron(gamma=1.0, memory="last")
    known = []
    for label in corners:
        known.append(label)
        for _ in range(10):
            for k in known:
                clf.partial_fit([corners[k]], [k])
        assert clf.classes_.tolist() == sorted(known)
        assert clf.predict([corners[k] for k in known]).tolist() == known


def test_warm_start_goes_on() -> None:
    """One pass, and one more from there, are two passes; rows of the second fit count on."""
    X, y = digits()
    how: dict[str, Any] = {"gamma": 0.001, "shuffle": False}
    two = quiet_fit(KernelPerceptron(max_iter=2, **how), X, y)
    clf = quiet_fit(KernelPerceptron(max_iter=1, warm_start=True, **how), X, y)
    quiet_fit(clf, X, y)
    for memory, scores in clf.decision_functions(X).items():
        assert same_bits(scores, two.decision_functions(X)[memory])
    assert clf.support_.max() >= len(X)


def test_class_weight() -> None:
    """It multiplies the steps of a class; a class of weight zero teaches nothing."""
    clf = KernelPerceptron(kernel="linear", class_weight={1: 4.0}, memory="last")
    clf.partial_fit([[1.0]], [1], classes=[0, 1])
    assert clf.dual_coef_.tolist() == [[4.0]]
    X, y = digits(100)
    silent = quiet_fit(KernelPerceptron(class_weight={3: 0.0}, max_iter=2), X, y)
    assert silent.n_support_[3] == 0


def test_stopping() -> None:
    """A time limit ends a training within a pass and keeps what it has learned."""
    X, y = digits(1500)
    clf = KernelPerceptron(gamma=0.001, time_limit=1e-9)
    with pytest.warns(ConvergenceWarning, match=r"stopped at its time limit in pass 1; .* raise"):
        clf.fit(X, y)
    assert clf.stop_reason_ == "time_limit"
    assert clf.n_iter_ == 1
    assert 0 < len(clf.support_) < 256
    for memory in ("last", "average"):  # without a warning
        KernelPerceptron(memory=memory, max_iter=1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"so the classes may be separable: raise max_iter"):
        KernelPerceptron(memory="last", gamma=0.001, max_iter=3).fit(X, y)


def held_out(y: Any, fraction: float = 0.2, seed: int = 0) -> Any:
    """Return the numbers of the rows that a fit of this seed holds out."""
    examples = Examples(Dense(np.zeros((len(y), 1)), 1.0), np.unique(y, return_inverse=True)[1])
    found = holding_out(examples, fraction, np.random.default_rng(seed))
    return ArraySupply(found, "once", np.random.default_rng(0)).left_out


STOPPED = [
    *({"memory": memory} for memory in ("last", "average", "vote")),
    {"memory": "vote", "multi_class": "one-vs-rest"},
    {"memory": "average", "zero": "positive", "kernel": "linear"},
]


@pytest.mark.parametrize("how", STOPPED)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_early_stopping(how: dict[str, Any], n_classes: int) -> None:
    """Held-out rows are scored by the memory that predicts, and the best pass is what is kept."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, n_classes, 300)
    X = rng.standard_normal((300, 3)) + y[:, None]
    how = {"gamma": 0.5, "validation_fraction": 0.2} | how
    clf = KernelPerceptron(early_stopping=True, n_iter_no_change=3, max_iter=30, **how)
    clf = quiet_fit(clf, X, y)
    curve = [record.validation_score for record in clf.history_]
    assert clf.stop_reason_ == "early_stopping"
    assert clf.best_iter_ == 1 + int(np.argmax(curve)) == clf.n_iter_ - 3
    rows = held_out(y)
    assert not set(rows) & set(clf.support_)
    assert clf.score(X[rows], y[rows]) == pytest.approx(max(curve))
    until_best = clone(clf).set_params(max_iter=clf.best_iter_)
    again = quiet_fit(until_best, X, y)
    assert same_bits(again.decision_function(X), clf.decision_function(X))
    assert [record.validation_score for record in again.history_] == curve[: clf.best_iter_]


def test_early_stopping_goes_on_from_what_was_learned() -> None:
    """A warm start scores held-out rows with the vectors of the first training as well."""
    X, y = digits(400)
    clf = KernelPerceptron(gamma=1e-4, memory="vote", max_iter=2, warm_start=True)
    quiet_fit(clf, X[:200], y[:200])
    clf.set_params(early_stopping=True, validation_fraction=0.2, max_iter=1, random_state=5)
    quiet_fit(clf, X[200:], y[200:])
    rows = 200 + held_out(y[200:], seed=5)
    assert clf.history_[0].validation_score == pytest.approx(clf.score(X[rows], y[rows]))
    with pytest.raises(InputError, match="partial_fit sees no held-out rows"):
        clone(clf).partial_fit(X, y)
    assert clf.partial_fit(X, y).score(X, y) > 0.9


def test_early_stopping_of_a_given_gram_matrix() -> None:
    """Precomputed values stop where the function that they came from does."""
    X, y = digits(200)
    how: dict[str, Any] = {"early_stopping": True, "max_iter": 8, "fit_intercept": False}
    given = quiet_fit(KernelPerceptron(kernel="precomputed", **how), X @ X.T, y)
    linear = quiet_fit(KernelPerceptron(kernel="linear", **how), X, y)
    assert [r.validation_score for r in given.history_] == [
        r.validation_score for r in linear.history_
    ]
    assert np.array_equal(given.support_, linear.support_)


def test_weights_of_rows() -> None:
    """A weight multiplies the step of its row, and a row of weight 0 is as if not given."""
    X, y = digits(120)
    ones = quiet_fit(KernelPerceptron(max_iter=2), X, y)
    same = KernelPerceptron(max_iter=2)
    same.fit(X, y, sample_weight=np.ones(120))
    assert same_bits(same.decision_function(X), ones.decision_function(X))
    twice = KernelPerceptron(max_iter=2)
    twice.fit(X, y, sample_weight=np.full(120, 2.0))
    np.testing.assert_allclose(twice.dual_coef_, 2.0 * ones.dual_coef_)
    weight = np.arange(120) % 3 != 0
    some, few = KernelPerceptron(max_iter=2), KernelPerceptron(max_iter=2)
    some.set_params(gamma=0.001).fit(X, y, sample_weight=weight)
    few.set_params(gamma=0.001).fit(X[weight], y[weight])
    np.testing.assert_allclose(some.decision_function(X), few.decision_function(X))
    stream = KernelPerceptron(gamma=0.001)
    stream.partial_fit(X, y, sample_weight=weight)
    assert not (stream.support_ % 3 == 0).any()


@pytest.mark.skipif(not hasattr(os, "kill"), reason="needs signals")
def test_interruption_keeps_what_was_learned() -> None:
    """Ctrl-C ends the training within the pass; the estimator predicts and can go on."""
    X, y = digits(1500)
    passes: list[int] = []

    def press(record: Any) -> None:
        passes.append(record.pass_)
        if len(passes) == 1:
            os.kill(os.getpid(), signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    clf = KernelPerceptron(gamma=1e-5, max_iter=50, observers=[press])
    with pytest.warns(ConvergenceWarning, match="was interrupted in pass 1 and keeps what"):
        clf.fit(X, y)
    assert clf.stop_reason_ == "interrupted"
    assert clf.score(X, y) > 0.5
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    """A bar on standard error, nothing on standard output."""
    KernelPerceptron(verbose=True).fit(XOR, [0, 1, 1, 0])
    out, err = capsys.readouterr()
    assert out == ""
    assert "mistakes" in err

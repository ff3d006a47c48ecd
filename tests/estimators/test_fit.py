"""Fitting through the scikit-learn face."""

import logging
import pickle
import signal
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as SklearnPerceptron

from rosenblatt import (
    AveragedPerceptron,
    PassiveAggressiveClassifier,
    Perceptron,
    load,
    save,
)
from rosenblatt.training.history import PassRecord, log_pass
from tests.examples import WORKED_X, WORKED_Y, XOR_X, XOR_Y, same_bits, separable

CLASSIFIERS = [Perceptron, AveragedPerceptron, PassiveAggressiveClassifier]


def quiet_fit(classifier: Any, X: Any, y: Any, **options: Any) -> Any:
    """Fit where it is known that max_iter will be reached."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return classifier.fit(X, y, **options)


def test_worked_example() -> None:
    """The introduction's example, to its weights, mistakes and passes."""
    clf = Perceptron(shuffle=False).fit(WORKED_X, WORKED_Y)
    assert clf.coef_.tolist() == [[0, -2, 0]]
    assert clf.intercept_.tolist() == [1]
    assert (clf.n_iter_, clf.n_mistakes_, clf.converged_) == (3, 5, True)
    assert [record.mistakes for record in clf.history_] == [4, 1, 0]
    assert clf.stop_reason_ == "converged"
    assert clf.predict(WORKED_X).tolist() == WORKED_Y


def test_xor_with_a_zero_that_predicts_negative() -> None:
    """The introduction's circle: w = (0, 0), b = 1 after one pass and after two."""
    for passes in (1, 2):
        clf = Perceptron(shuffle=False, zero="negative", max_iter=passes)
        quiet_fit(clf, XOR_X, XOR_Y)
        assert (clf.coef_.tolist(), clf.intercept_.tolist()) == ([[0, 0]], [1])
        assert not clf.converged_


def test_defaults_separate_what_can_be_separated() -> None:
    """All of 20 sets with margin 0.01 are separated; scikit-learn's default leaves most of them."""
    ours, theirs = 0, 0
    for seed in range(20):
        X, y, _ = separable(500, 10, 0.01, seed)
        ours += Perceptron().fit(X, y).score(X, y) == 1.0
        theirs += SklearnPerceptron().fit(X, y).score(X, y) == 1.0
    assert ours == 20
    assert theirs < 10


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_formats_give_one_model(classifier: Any, n_classes: int) -> None:
    """Dense, Fortran order, lists, float32, uint8, CSR, CSC, 64-bit indices: the same bits."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (80, 20))
    y = rng.integers(0, n_classes, 80)
    wide = sparse.csr_array(X.astype(float))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    given = [
        X.astype(float),
        np.asfortranarray(X, dtype=float),
        X,
        X.tolist(),
        X.astype(np.float32),
        X.astype(np.uint8),
        sparse.csr_matrix(X),
        sparse.csr_array(X.astype(np.float32)),
        sparse.csc_array(X),
        wide,
    ]
    models = [quiet_fit(classifier(max_iter=5), form, y) for form in given]
    if classifier is PassiveAggressiveClassifier:  # quotients are not integers
        for model in models[1:]:
            np.testing.assert_allclose(model.coef_, models[0].coef_, rtol=1e-9, atol=1e-12)
        return
    for model in models[1:]:
        assert same_bits(model.coef_, models[0].coef_)
        assert same_bits(model.intercept_, models[0].intercept_)


def test_csr_with_double_entries() -> None:
    """Two entries for one feature are one feature with their sum, and the input stays as it was."""
    doubled = sparse.csr_array(([1.0, 2.0, 5.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    plain = np.array([[3.0, 0.0], [0.0, 5.0]])
    pa = PassiveAggressiveClassifier(max_iter=50)
    a = quiet_fit(pa, doubled, [0, 1]).coef_
    assert same_bits(a, quiet_fit(pa, plain, [0, 1]).coef_)
    assert doubled.nnz == 3


def test_csr_in_any_order() -> None:
    """Features in any order are learned from as those in order are, bit for bit, and predicted."""
    rng = np.random.default_rng(0)
    plain = sparse.random_array((200, 300), density=0.1, format="csr", rng=rng)
    y = rng.integers(0, 3, 200)
    mixed = plain[:, ::-1][:, ::-1]
    mixed.indices = np.concatenate(
        [here[::-1] for here in np.split(plain.indices, plain.indptr[1:-1])]
    )
    mixed.data = np.concatenate([here[::-1] for here in np.split(plain.data, plain.indptr[1:-1])])
    mixed.has_sorted_indices = mixed.has_canonical_format = False
    pa = PassiveAggressiveClassifier(max_iter=5)
    expected = quiet_fit(pa, plain, y).decision_function(plain)
    weights = pa.coef_
    assert same_bits(quiet_fit(pa, mixed, y).coef_, weights)
    np.testing.assert_allclose(pa.decision_function(mixed), expected, rtol=1e-12, atol=1e-12)


def test_labels_of_any_kind_of_array() -> None:
    """Texts as NumPy and as pandas keep them, truth values, whole numbers: one model."""
    X, y = make_classification(200, random_state=0)
    names = np.array(["no", "yes"])[y]
    models = [quiet_fit(Perceptron(), X, form) for form in (names, names.astype(object), y, y > 0)]
    assert all(same_bits(model.coef_, models[0].coef_) for model in models)
    assert models[1].predict(X).tolist() == models[0].predict(X).tolist()
    assert models[1].classes_.tolist() == ["no", "yes"]
    of_two_types = np.array(
        [np.str_(name) if k % 2 else name for k, name in enumerate(names)], object
    )
    assert same_bits(quiet_fit(Perceptron(), X, of_two_types).coef_, models[0].coef_)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_the_same_seed_gives_the_same_model(classifier: Any) -> None:
    """One seed, one model; another seed, another."""
    X, y = make_classification(200, random_state=0)
    fitted = [quiet_fit(classifier(max_iter=3, random_state=s), X, y).coef_ for s in (1, 1, 2)]
    assert same_bits(fitted[0], fitted[1])
    assert not same_bits(fitted[0], fitted[2])


def test_random_states_of_every_kind() -> None:
    """Generators and old random states seed the shuffle too."""
    X, y = make_classification(100, random_state=0)
    for state in (None, 3, np.random.default_rng(3), np.random.RandomState(3)):
        assert quiet_fit(Perceptron(max_iter=2, random_state=state), X, y).n_iter_ == 2


def test_a_model_keeps_its_bits() -> None:
    """Seed and data decide the weights on every platform and in every release."""
    X, y = load_iris(return_X_y=True)
    clf = quiet_fit(Perceptron(max_iter=3, random_state=42), X[:, :2], y)
    assert [[round(v, 10) for v in row] for row in clf.coef_.tolist()] == GOLDEN_IRIS


def test_multiclass_is_one_machine() -> None:
    """Weights of all classes sum to zero: what one gains its rival loses."""
    X, y = load_digits(return_X_y=True)
    for clf in (Perceptron(), AveragedPerceptron()):
        quiet_fit(clf, X, y)
        assert clf.coef_.shape == (10, 64)
        assert clf.intercept_.shape == (10,)
        assert np.abs(clf.coef_.sum(axis=0)).max() < 1e-6
        assert clf.decision_function(X).shape == (len(y), 10)
        assert clf.score(X, y) > 0.95


def test_a_zero_activation_at_test_time() -> None:
    """It predicts the negative class, or the positive one if asked to; a tie likewise."""
    for zero, two, three in (("mistake", 0, 0), ("negative", 0, 0), ("positive", 1, 2)):
        clf = Perceptron(zero=zero, fit_intercept=False).fit([[1.0], [-1.0]], [1, 0])
        assert clf.predict([[0.0]]).tolist() == [two]
        clf = Perceptron(zero=zero, fit_intercept=False)
        clf.partial_fit([[1.0]], [0], classes=[0, 1, 2])
        assert clf.predict([[0.0]]).tolist() == [three]


def test_starting_weights() -> None:
    """Training starts from coef_init and intercept_init, and the average counts them."""
    X, y = [[1.0, 0.0], [0.0, 1.0]], [1, 0]
    clf = Perceptron(max_iter=1).fit(X, y, coef_init=[[3.0, -3.0]], intercept_init=[0.5])
    assert clf.converged_
    assert (clf.coef_.tolist(), clf.intercept_.tolist()) == ([[3, -3]], [0.5])
    averaged = AveragedPerceptron(max_iter=1).fit(X, y, coef_init=[3.0, -3.0])
    assert averaged.coef_.tolist() == [[3, -3]]


def test_weights_of_samples_and_classes_multiply_the_step() -> None:
    """A class of weight 3 is as good as samples of weight 3, and both make steps of 3."""
    X, y = [[1.0], [-1.0]], ["a", "b"]
    by_class = Perceptron(class_weight={"a": 3.0}, shuffle=False).fit(X, y)
    by_sample = Perceptron(shuffle=False).fit(X, y, sample_weight=[3.0, 1.0])
    assert by_class.coef_.tolist() == by_sample.coef_.tolist() == [[-4.0]]


def test_balanced_classes() -> None:
    """A rare class of four rows in ten gets the weight of six."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 3)), (rng.random(200) < 0.1).astype(int)
    balanced = quiet_fit(Perceptron(class_weight="balanced", max_iter=5), X, y)
    weights = {k: 200 / (2 * np.sum(y == k)) for k in (0, 1)}
    given = quiet_fit(Perceptron(class_weight=weights, max_iter=5), X, y)
    assert same_bits(balanced.coef_, given.coef_)


def test_warm_start_goes_on() -> None:
    """Two fits of three passes in given order are one of six, averages included."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 3)), rng.integers(0, 2, 50)
    once = quiet_fit(AveragedPerceptron(max_iter=6, shuffle=False), X, y)
    twice = AveragedPerceptron(max_iter=3, shuffle=False, warm_start=True)
    quiet_fit(quiet_fit(twice, X, y), X, y)
    assert same_bits(once.coef_, twice.coef_)


def test_warm_start_wants_the_same_features() -> None:
    """Rows of another width cannot go on from the weights learned, and say so."""
    clf = Perceptron(warm_start=True).fit([[1.0], [-1.0]], [1, 0])
    with pytest.raises(ValueError, match="X has 2 features, but Perceptron is expecting 1"):
        clf.fit([[1.0, 2.0], [-1.0, 0.0]], [1, 0])
    assert clf.predict([[1.0]]).tolist() == [1]


def test_warm_start_takes_new_classes() -> None:
    """A class that the first fit did not have is added."""
    clf = Perceptron(warm_start=True).fit([[1.0, 0.0], [-1.0, 0.0]], [1, 0])
    clf.fit([[1.0, 0.0], [-1.0, 0.0], [0.0, 9.0]], [1, 0, 2])
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.score([[1.0, 0.0], [-1.0, 0.0], [0.0, 9.0]], [1, 0, 2]) == 1.0


def test_learning_on_ends_the_claim_of_convergence() -> None:
    """A row that changes the weights after fit takes converged_ back."""
    clf = Perceptron().fit([[1.0], [-1.0]], [1, 0])
    assert clf.partial_fit([[1.0]], [1]).converged_
    assert not clf.partial_fit([[-1.0]], [1]).converged_


def test_an_average_may_begin_later() -> None:
    """Asked for the mean after some learning, the mean is that of the weights from then on."""
    X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    clf = PassiveAggressiveClassifier().partial_fit(X, y)
    start = clf.coef_
    clf.set_params(average=True).partial_fit([[0.5]], [0])
    assert clf._state.ledger is not None  # noqa: SLF001
    assert same_bits(clf.coef_, (start + clf._state.weights[:1]) / 2)  # noqa: SLF001
    clf.set_params(average=False).partial_fit([[3.0]], [1])
    assert same_bits(clf.coef_[0], clf._state.weights[:1])  # noqa: SLF001


def test_an_average_that_begins_later_is_saved(tmp_path: Path) -> None:
    """What is saved after the mean was asked for, or given up, scores as the classifier does."""
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(30, 4)), generator.integers(0, 2, 30)
    for before in (False, True):
        clf = quiet_fit(PassiveAggressiveClassifier(average=before, max_iter=2), X[:10], y[:10])
        clf.set_params(average=not before)
        for start in (10, 20):
            clf.partial_fit(X[start : start + 10], y[start : start + 10])
            save(clf, tmp_path / "clf.model")
            loaded: Any = load(tmp_path / "clf.model")
            assert same_bits(loaded.decision_function(X), clf.decision_function(X))


def test_an_average_given_up_is_forgotten() -> None:
    """An average begun anew is not answered with an older one of as many rows."""
    clf = PassiveAggressiveClassifier(average=True).partial_fit([[1.0], [-1.0]], [1, 0])
    first = clf.coef_  # after two rows
    clf.set_params(average=False).partial_fit([[7.0]], [0])
    clf.set_params(average=True).partial_fit([[9.0], [-3.0]], [1, 0])  # two rows again
    state = clf._state  # noqa: SLF001
    assert state.ledger is not None
    assert same_bits(clf.coef_[0], (state.weights - state.ledger / 3)[:1])
    assert not same_bits(clf.coef_, first)


def test_a_failing_warm_fit_loses_nothing() -> None:
    """What a model has learned survives a fit that raises."""
    clf = Perceptron(warm_start=True).fit([[1.0], [-1.0]], [1, 0])
    before = clf.coef_
    with pytest.raises(OverflowError):
        clf.fit([[1e308], [1.5e308]], [1, 0])
    assert same_bits(clf.coef_, before)


def test_early_stopping() -> None:
    """Training stops when the held-out score no longer rises, and keeps the best pass."""
    X, y = make_classification(500, flip_y=0.2, random_state=0)
    clf = Perceptron(early_stopping=True, validation_fraction=0.2, n_iter_no_change=4).fit(X, y)
    scores = [record.validation_score or 0.0 for record in clf.history_]
    assert clf.stop_reason_ == "early_stopping"
    assert clf.best_iter_ == int(np.argmax(scores)) + 1 == clf.n_iter_ - 4


def test_separable_rows_cut_short_are_told_of_once() -> None:
    """The warning says what happened, what the last weights are worth, and what to try."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    X = X[np.abs(X[:, 0]) > 0.02]
    message = (
        r"^Perceptron stopped after max_iter=6 passes; the last one made \d mistakes on 396 rows, "
        r"and its last weights misclassify \d of them, so the classes may be separable: raise max_i"
    )
    clf = Perceptron(max_iter=6)
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        clf.fit(X, X[:, 0] > 0)
    assert len(caught) == 1
    assert not clf.converged_
    assert clf.set_params(max_iter=200).fit(X, X[:, 0] > 0).converged_


@pytest.mark.parametrize(("n_features", "warned"), [(90, True), (120, False)])
def test_more_features_than_rows_are_separable_anyway(n_features: int, warned: bool) -> None:
    """With any labels: so nobody is told that the classes may be separable."""
    X = np.random.default_rng(0).normal(size=(100, n_features))
    clf = Perceptron(max_iter=5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(X, X[:, 0] + X[:, 1] > 0)
    assert clf.stop_reason_ == "max_iter"
    assert [one.category for one in caught] == [ConvergenceWarning] * warned


def test_rows_that_overlap_are_not_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    """To reach max_iter is normal there: the record has it, and ``verbose`` says it once."""
    X, y = make_classification(200, flip_y=0.2, random_state=0)
    for clf in (
        Perceptron(max_iter=7),
        Perceptron(max_iter=2, early_stopping=True),
        PassiveAggressiveClassifier(max_iter=7, average=False),
        AveragedPerceptron(max_iter=2),
    ):
        assert clf.fit(X, y).stop_reason_ == "max_iter"
        assert clf.history_[-1].mistakes > 0
    assert capsys.readouterr().err == ""
    Perceptron(max_iter=7, verbose=True).fit(X, y)
    told = "Perceptron stopped after 7 passes (max iter); the last one made "
    assert capsys.readouterr().err.count(told) == 1


def test_time_limit_warns() -> None:
    """So does the time limit."""
    with pytest.warns(ConvergenceWarning, match="stopped at its time limit in pass"):
        clf = Perceptron(max_iter=10**9, time_limit=0.05).fit(XOR_X, XOR_Y)
    assert clf.stop_reason_ == "time_limit"


def test_interrupt_keeps_the_model() -> None:
    """Ctrl-C leaves a usable model and says of which pass."""

    def press(record: PassRecord) -> None:
        if record.pass_ == 2:
            signal.raise_signal(signal.SIGINT)

    clf = Perceptron(max_iter=1000, observers=[press])
    with pytest.warns(ConvergenceWarning, match="interrupted in pass 2 and keeps"):
        clf.fit(XOR_X, XOR_Y)
    assert clf.stop_reason_ == "interrupted"
    assert clf.predict(XOR_X).shape == (4,)


def test_observers_and_logging(caplog: pytest.LogCaptureFixture) -> None:
    """Observers get each record; log_pass is one of them."""
    seen: list[PassRecord] = []
    with caplog.at_level(logging.INFO, logger="rosenblatt"):
        clf = Perceptron(observers=[seen.append, log_pass]).fit(WORKED_X, WORKED_Y)
    assert seen == clf.history_
    assert len(caplog.messages) == clf.n_iter_


def test_verbose_shows_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    """The bar goes to standard error; without verbose nothing is printed at all."""
    Perceptron(shuffle=False).fit(WORKED_X, WORKED_Y)
    assert capsys.readouterr() == ("", "")
    Perceptron(shuffle=False, verbose=True).fit(WORKED_X, WORKED_Y)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "5 so far" in shown.err


def test_pickle_goes_on_learning() -> None:
    """A pickled model predicts and learns as the original does."""
    X, y = make_classification(100, random_state=0)
    clf = quiet_fit(AveragedPerceptron(max_iter=2), X, y)
    copy = pickle.loads(pickle.dumps(clf))  # noqa: S301  # our own
    for model in (clf, copy):
        model.partial_fit(X[:10], y[:10])
    assert same_bits(clf.coef_, copy.coef_)


def test_weights_are_handed_out_as_copies() -> None:
    """Later learning does not change an array that the user holds."""
    clf = Perceptron().partial_fit([[1.0]], [1], classes=[0, 1])
    before = clf.coef_
    clf.partial_fit([[5.0]], [0])
    assert before.tolist() == [[1.0]]
    assert clf.coef_.tolist() == [[-4.0]]


GOLDEN_IRIS = [[-25.5, 35.1], [6.1, -13.6], [19.4, -21.5]]

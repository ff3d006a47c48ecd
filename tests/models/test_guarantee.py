"""Guarantees are those of scipy's exact intervals, of counting by hand and of simulation."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from rosenblatt import (
    AveragedPerceptron,
    ConfidenceWeightedClassifier,
    KernelPerceptron,
    MultilabelClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
    VotedPerceptron,
    guarantee,
    load,
    prune,
    save,
)
from rosenblatt.errors import InputError
from rosenblatt.models.guarantee import certainty_of, with_guarantee
from rosenblatt.models.model import model_of
from rosenblatt.tasks.certainty import (
    STEPS,
    Certainty,
    ClassCertainty,
    GuaranteeCurve,
    LabelCertainty,
    error_bound,
)


@given(st.integers(1, 3000), st.data(), st.floats(1e-4, 0.3))
def test_the_bound_is_that_of_scipy(n: int, data: Any, level: float) -> None:
    """The bound is the upper end of scipy's exact interval, and inverts the binomial tail."""
    k = data.draw(st.integers(0, n))
    bound = float(error_bound(k, n, level))
    exact = stats.binomtest(k, n).proportion_ci(1 - 2 * level, "exact").high
    assert bound == pytest.approx(exact, abs=1e-9)
    if k < n:
        assert stats.binom.cdf(k, n, bound) == pytest.approx(level, rel=1e-6)


def test_no_row_bounds_nothing() -> None:
    """Without answers the error can be anything."""
    assert error_bound(0, 0, 0.05) == 1.0


leads_and_faults = st.lists(
    st.tuples(st.integers(0, 6).map(float), st.booleans()), min_size=1, max_size=80
)


@given(leads_and_faults)
def test_the_curve_counts(rows: list[tuple[float, bool]]) -> None:
    """Each point counts the rows that lead by more than its threshold, ties left out together."""
    lead = np.array([lead for lead, _ in rows])
    wrong = np.array([fault for _, fault in rows])
    curve = ClassCertainty(lead, wrong * 1.0).curve(0.9)
    assert curve.threshold[-1] == -math.inf
    assert curve.coverage[-1] == 1.0
    assert (np.diff(curve.coverage) >= 0).all()
    for coverage, error, bound, threshold in zip(*curve, strict=True):
        answered = lead > threshold
        assert coverage == answered.mean()
        assert error == (wrong[answered].mean() if answered.any() else 0.0)
        assert bound == error_bound(wrong[answered].sum(), answered.sum(), 0.1 / STEPS)
    # Thresholds are order statistics at ranks that neither leads nor labels decide
    ranks = sorted({-(-len(lead) * k // STEPS) for k in range(1, STEPS)} - {len(lead)})
    assert curve.threshold[:-1].tolist() == np.sort(lead)[::-1][ranks].tolist()


@given(leads_and_faults, st.floats(0.05, 1.0))
def test_what_is_promised_of_a_row(rows: list[tuple[float, bool]], error: float) -> None:
    """A row is answered exactly where the error promised of its lead is small enough."""
    lead = np.array([lead for lead, _ in rows])
    curve = ClassCertainty(lead, np.array([float(fault) for _, fault in rows])).curve(0.5)
    tried = np.arange(-1.0, 8.0, 0.5)
    answered = tried > curve.threshold_for(error)
    assert (curve.bounds_of(tried) <= error).tolist() == (answered | (error == 1.0)).tolist()


@given(st.lists(st.floats(0, 9), min_size=1, max_size=40), st.floats(0.01, 0.99))
def test_the_allowance_is_the_finite_sample_quantile(behind: list[float], error: float) -> None:
    """At least ⌈(n + 1)(1 − α)⌉ of the rows are within it, and fewer within anything less."""
    allowed = ClassCertainty(np.ones(len(behind)), np.array(behind)).allowance(error)
    needed = math.ceil((len(behind) + 1) * (1 - error) - 1e-9)
    if needed > len(behind):
        assert allowed == math.inf
    else:
        assert sum(value <= allowed for value in behind) >= needed
        assert sum(value < allowed for value in behind) < needed


def simulated(generator: Any, n: int) -> Certainty:
    """Return rows whose error falls with the lead but for a bump, some leads being equal."""
    lead = np.round(generator.exponential(size=n), 1)
    rate = _rate(lead)
    return ClassCertainty(lead, (generator.random(n) < rate) * 1.0)


def _rate(lead: Any) -> Any:
    return np.where((lead > 1.5) & (lead < 2.0), 0.12, 0.25 * np.exp(-3 * lead))


@pytest.mark.parametrize(("n", "error"), [(800, 0.05), (2000, 0.02), (2000, 0.05)])
def test_the_promise_holds(n: int, error: float) -> None:
    """Of 1,000 guarantees by simulated rows at most the promised share is broken by new rows."""
    generator, leads = np.random.default_rng(n), np.arange(300) / 10
    chance = np.diff(1 - np.exp(-np.append(0, leads + 0.05)))  # of leads that are rounded so
    broken = answered = 0
    for _ in range(1000):
        sure = leads > simulated(generator, n).curve(0.9).threshold_for(error)
        answered += bool(sure.any())
        wrong = (chance * _rate(leads))[sure].sum()
        broken += bool(wrong > error * chance[sure].sum())
    assert answered > 500  # it is no promise by silence
    assert broken <= 100


def test_sets_miss_rarely() -> None:
    """Over draws of both, sets lack the label of a new row in the promised share, not far less."""
    generator, missed = np.random.default_rng(3), []
    for _ in range(3000):
        scores, numbers = generator.normal(size=(40, 4)), generator.integers(0, 4, 40)
        scores[np.arange(40), numbers] += 1.0
        guess = scores.argmax(axis=1)
        apart = ClassCertainty.of(scores[1:], guess[1:], numbers[1:])
        missed.append(not apart.sets(scores[:1], apart.allowance(0.2))[0, numbers[0]])
    assert 0.17 < np.mean(missed) < 0.2 + 0.02


def test_a_row_by_hand() -> None:
    """Leads and distances of two and of three classes; a wrong tie and an unknown label count."""
    two = ClassCertainty.of(np.array([2.0, -1.0, 0.0]), np.array([1, 0, 0]), np.array([1, 1, 1]))
    assert two.lead.tolist() == [2.0, 1.0, 0.0]
    assert two.behind[:2].tolist() == [0.0, 1.0]
    assert 0 < two.behind[2] < 1e-300
    scores = np.array([[3.0, 1.0, 0.5], [0.0, 1.0, 3.0]])
    three = ClassCertainty.of(scores, np.array([0, 2]), np.array([2, 7]))
    assert three.lead.tolist() == [2.0, 2.0]
    assert three.behind.tolist() == [2.5, math.inf]


ESTIMATORS = [
    Perceptron(random_state=1),
    AveragedPerceptron(random_state=1),
    VotedPerceptron(max_iter=2),
    PassiveAggressiveClassifier(),
    ConfidenceWeightedClassifier(),
    KernelPerceptron(max_iter=3),
    LogisticRegression(),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda clf: type(clf).__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_rule_and_memory(estimator: Any, n_classes: int) -> None:
    """What is answered is what predict says, on the share that the guarantee names."""
    X, y = make_classification(
        1600, n_classes=n_classes, n_informative=6, class_sep=2.0, flip_y=0.04, random_state=0
    )
    labels = np.array(["a", "b", "c"])[y]
    clf = estimator.fit(X[:600], labels[:600])
    sure = guarantee(clf, X[600:], labels[600:], error=0.2, confidence=0.9)
    answers, plain = sure.predict(X[600:]), clf.predict(X[600:])
    answered = np.array([answer is not None for answer in answers])
    assert answered.mean() == pytest.approx(sure.coverage)
    assert sure.coverage > 0.3
    assert (answers[answered] == plain[answered]).all()
    assert sure.bound is not None
    assert np.mean(plain[answered] != labels[600:][answered]) < sure.bound <= 0.2
    sets = sure.predict_sets(X[600:], error=0.05)
    assert all(label in one for label, one in zip(plain, sets, strict=True))
    held = [label in one for label, one in zip(labels[600:].tolist(), sets, strict=True)]
    assert np.mean(held) >= 0.95  # of the rows that it was set by, by its definition


small_scores = st.lists(
    st.lists(st.tuples(st.integers(-3, 3), st.booleans(), st.booleans()), min_size=3, max_size=3),
    min_size=1,
    max_size=40,
)


@given(small_scores, st.floats(0.05, 0.95))
def test_several_labels_by_hand(rows: list[list[tuple[int, bool, bool]]], error: float) -> None:
    """A row is answered if a label said scores above, wrong if a false one does; sets hold all."""
    scores, said, truth = np.moveaxis(np.array(rows), 2, 0)
    apart = LabelCertainty.of(scores * 1.0, said > 0, truth > 0, -scores * 2.0)
    for threshold in (-math.inf, *range(-4, 4)):
        given = [[pair for pair in row if pair[1] and pair[0] > threshold] for row in rows]
        answered = sum(bool(row) for row in given)
        wrong = sum(any(not true for *_, true in row) for row in given)
        assert [int(count) for count in apart.counts(np.array(threshold))] == [answered, wrong]
    allowed = apart.allowance(error)
    members = apart.sets(-scores * 2.0, allowed)
    held = [all(one for one, (*_, true) in zip(*pair, strict=True) if true)
            for pair in zip(members, rows, strict=True)]  # fmt: skip
    assert held == [bool(behind <= allowed) for behind in apart.behind]


def labelled_draws(generator: Any, n: int) -> Certainty:
    """Return rows whose labels depend on each other: a hard row is hard for all of its labels."""
    scores = np.round(generator.normal(size=(n, 5)) + generator.normal(size=(n, 1)), 1)
    noise = generator.normal(size=(n, 5)) / 2 + generator.normal(size=(n, 1))
    return LabelCertainty.of(scores, scores > 0, scores + noise > 0, scores)


def test_the_promise_holds_for_several_labels() -> None:
    """Of 400 guarantees by labels that are not independent at most the promised share is broken."""
    population, broken, answered = labelled_draws(np.random.default_rng(0), 100_000), 0, 0
    for seed in range(400):
        threshold = (
            labelled_draws(np.random.default_rng(seed + 1), 600).curve(0.9).threshold_for(0.15)
        )
        n_answered, n_wrong = map(int, population.counts(np.array(threshold)))
        answered += n_answered > 0
        broken += n_wrong > 0.15 * n_answered
    assert answered > 200
    assert broken <= 40


def test_sets_seldom_miss_one_of_several_labels() -> None:
    """Over draws of both, sets lack a label of a new row in the promised share, not far less."""
    generator, missed = np.random.default_rng(5), []
    for _ in range(3000):
        apart = labelled_draws(generator, 40)
        known = apart.take(np.arange(1, len(apart.lead)))
        missed.append(apart.behind[0] > known.allowance(0.2))
    assert 0.17 < np.mean(missed) < 0.2 + 0.02


@pytest.mark.parametrize(
    "estimator",
    [
        MultilabelClassifier(),
        MultilabelClassifier(calibrate=True),
        MultilabelClassifier(goal="ranking"),
        OneVsRestClassifier(LogisticRegression()),
    ],
    ids=["each", "probabilities", "ranking", "scikit-learn"],
)
def test_labels_of_any_classifier(estimator: Any) -> None:
    """What is given is among what predict says; lists and indicators of any form are the same."""
    generator = np.random.default_rng(1)
    X = generator.normal(size=(1500, 4))
    Y = (X + 0.3 * generator.normal(size=X.shape) > 0.4).astype(int)
    clf = estimator.fit(X[:500], Y[:500])
    sure = guarantee(clf, X[500:], Y[500:], error=0.2, confidence=0.9)
    given, plain = sure.predict(X[500:]), np.asarray(clf.predict(X[500:]))
    assert (given <= plain).all()
    assert given.any(axis=1).mean() == pytest.approx(sure.coverage)
    assert 0.3 < sure.coverage < 1
    assert sure.bound is not None
    wrong = np.any(given > Y[500:], axis=1)
    assert wrong[given.any(axis=1)].mean() < sure.bound <= 0.2
    sets = sure.predict_sets(X[500:], error=0.1)
    held = [{*np.flatnonzero(own)} <= {*one} for own, one in zip(Y[500:], sets, strict=True)]
    assert np.mean(held) >= 0.9  # of the rows that it was set by, by its definition
    assert np.mean(held) < 0.92
    lists = [tuple(np.flatnonzero(row).tolist()) for row in Y[500:]]
    for labels in (lists, sparse.csr_array(Y[500:]), Y[500:].tolist()):
        found = guarantee(clf, X[500:], labels).apart.arrays()
        assert all(np.array_equal(found[k], one) for k, one in sure.apart.arrays().items())
    unknown = guarantee(clf, X[500:], [*lists[:-1], (0, 9)]).apart
    assert unknown.behind[-1] == math.inf
    with pytest.raises(InputError, match="must be 1 where a row has the label and 0 elsewhere"):
        guarantee(clf, X[500:], 2 * Y[500:] - 1)
    with pytest.raises(InputError, match="a collection of labels for each row"):
        guarantee(clf, X[500:], ["red"] * 1000)


def test_what_stands_for_no_answer() -> None:
    """The array has the type of labels and of what stands for none, if they are alike."""
    X, y = make_classification(800, flip_y=0.2, random_state=2)
    clf = AveragedPerceptron().fit(X[:200], y[:200])
    sure = guarantee(clf, X[200:], y[200:], error=0.15)
    assert 0 < sure.coverage < 1
    assert sure.predict(X, abstain=-1).dtype.kind == "i"
    assert sure.predict(X).dtype == object
    assert sure.predict(X, abstain="?").dtype == object
    assert (sure.predict(X, abstain=-1) == -1).tolist() == [one is None for one in sure.predict(X)]


def test_too_few_rows_promise_nothing() -> None:
    """Rows that cannot show so small an error answer nothing; the sentence says how many can."""
    X, y = make_classification(300, random_state=0)
    clf = AveragedPerceptron().fit(X, y)
    sure = guarantee(clf, X[:100], y[:100], error=0.02)
    assert (sure.threshold, sure.coverage, sure.bound) == (math.inf, 0.0, None)
    assert set(sure.predict(X, abstain="?").tolist()) == {"?"}
    assert "it takes 297 answers without a mistake" in sure.curve.sentence(0.02, 100)
    assert stats.binom.cdf(0, 297, 0.02) <= 0.05 / 20 < stats.binom.cdf(0, 296, 0.02)


def test_a_sentence_says_what_is_promised() -> None:
    """It names the share answered, the threshold, the error and the confidence."""
    curve = GuaranteeCurve(*np.array([[0.5, 1], [0.01, 0.1], [0.02, 0.2], [3, -math.inf]]))
    said = curve.sentence(0.02, 1000)
    assert said.startswith("Answers 50% of the 1,000 rows kept for the guarantee, those that lead")
    assert "lead by more than 3: 1.00% of them wrong" in said
    assert "at most 2% of the answers are wrong, with 95% confidence" in said
    assert "lead by" not in curve.sentence(0.3, 1000)


@pytest.mark.parametrize("given", [{"error": 0.0}, {"error": 1.0}, {"confidence": 1.5}])
def test_shares_are_shares(given: dict[str, float]) -> None:
    """An error or a confidence that is no share is refused by name."""
    clf = Perceptron().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputError, match=f"parameter {next(iter(given))} of guarantee must be"):
        guarantee(clf, [[0.0]], [0], **given)


def test_what_has_no_guarantee() -> None:
    """Labels of another number than rows or columns, and what has no scores are told."""
    several = MultilabelClassifier().fit([[0.0], [1.0]], [["a"], ["a", "b"]])
    for labels in ([["a"], ["b"]], np.ones((1, 3)), np.ones((2, 2))):
        with pytest.raises(InputError, match="y must have the labels of 1 rows, as lists or in 2"):
            guarantee(several, [[0.0]], labels)
    with pytest.raises(InputError, match="abstain is for one label a row"):
        guarantee(several, [[0.0]], [["a"]]).predict([[0.0]], abstain="?")
    clf = Perceptron().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputError, match="2"):
        guarantee(clf, [[0.0]], [0, 1])
    nothing: tuple[Any, ...] = ([], np.empty(0), sparse.csr_matrix((0, 2)))
    for no_labels in nothing:
        with pytest.raises(InputError, match="needs rows with labels; none of these has one"):
            guarantee(clf, np.empty((0, 1)), no_labels)
    with pytest.raises(InputError, match="needs a fitted classifier with decision_function"):
        guarantee(object(), [[0.0]], [0])
    with pytest.raises(InputError, match="y must hold a label for each row"):
        guarantee(Perceptron().fit([[0.0], [1.0]], ["a", "b"]), [[0.0], [1.0]], ["a", None])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "kind", [AveragedPerceptron, VotedPerceptron, KernelPerceptron, MultilabelClassifier]
)
def test_a_file_keeps_it_until_it_learns(kind: Any, tmp_path: Any) -> None:
    """Saved and loaded in Python a model keeps its guarantee, and loses it with the next lesson."""
    X, y = make_classification(300, random_state=4)
    if kind is MultilabelClassifier:
        y = np.stack([y, X[:, 0] > 0], axis=1)
    clf = kind().fit(X[:200], y[:200])
    apart = guarantee(clf, X[200:], y[200:]).apart
    save(with_guarantee(model_of(clf), apart), tmp_path / "m")
    save(load(tmp_path / "m"), tmp_path / "n")
    again = load(tmp_path / "n")
    found = certainty_of(model_of(again))
    assert found is not None
    assert [*map(str, found.arrays().items())] == [*map(str, apart.arrays().items())]
    assert (again.decision_function(X) == clf.decision_function(X)).all()
    again.partial_fit(X[:100], y[:100])
    assert certainty_of(model_of(again)) is None


def test_a_pruned_model_has_none() -> None:
    """Other scores than those that were judged promise nothing."""
    X, y = make_classification(300, random_state=4)
    clf = AveragedPerceptron().fit(X[:200], y[:200])
    model = with_guarantee(model_of(clf), guarantee(clf, X[200:], y[200:]).apart)
    assert certainty_of(model) is not None
    assert certainty_of(prune(model, 3).model) is None

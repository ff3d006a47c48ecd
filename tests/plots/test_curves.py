"""Curves over passes, updates and coverage: each against a calculation of its own."""

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, diagnose, load, save, trace
from rosenblatt.errors import InputError
from rosenblatt.plots import (
    AngleDisplay,
    ConfusionDisplay,
    CoverageDisplay,
    ErrorsDisplay,
    MistakesDisplay,
    OrdersDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    RocDisplay,
    SurvivalDisplay,
)
from rosenblatt.training.history import PassRecord
from tests.plots.examples import AND_X, AND_Y, blobs, ring_of_classes

X, Y = blobs(n_rows=80, gap=0.9, n_features=4)
PARTS = train_test_split(X, Y, random_state=0)


@pytest.mark.filterwarnings("ignore:.*stopped after max_iter")
@pytest.mark.parametrize("kind", [Perceptron, AveragedPerceptron, VotedPerceptron])
@pytest.mark.parametrize("shuffle", [True, "once", False])
def test_errors_are_those_of_fit(kind: type, shuffle: bool | str) -> None:
    """After pass k the errors are those of a fit with max_iter=k."""
    learned, aside, labels, test_labels = PARTS
    clf = kind(shuffle=shuffle, random_state=3)
    display = ErrorsDisplay.from_data(
        learned, labels, aside, test_labels, estimator=clf, max_iter=4
    )
    assert display.training_error is not None
    assert display.test_error is not None
    for k in range(4):
        one = kind(shuffle=shuffle, random_state=3, max_iter=k + 1).fit(learned, labels)
        assert display.training_error[k] == pytest.approx(1 - one.score(learned, labels))
        assert display.test_error[k] == pytest.approx(1 - one.score(aside, test_labels))
    assert not hasattr(clf, "classes_")  # it was cloned


def test_passes_that_were_not_judged() -> None:
    """The curve of held-out errors begins with the first pass that was; all of it is in sight."""
    records = [
        PassRecord(k, 10 - k, 10 - k, 1.0, score, 0.1)
        for k, score in enumerate([None, None, 0.4, 0.6], 1)
    ]
    display = ErrorsDisplay.from_history(records, 100)
    assert display is not None
    assert display.best_pass == 4
    assert display.plot().ax_.get_ylim()[1] > 0.6


def test_sweet_spot() -> None:
    """The ring is around the first pass with the least test error, which the legend names."""
    learned, aside, labels, test_labels = PARTS
    display = ErrorsDisplay.from_data(learned, labels, aside, test_labels, max_iter=12).plot()
    assert display.test_error is not None
    assert display.best_pass == np.argmin(display.test_error) + 1
    ring: Any = display.best_
    assert list(ring.get_xdata()) == [display.best_pass]
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts[:2] == ["training error", "test error"]
    assert texts[2].startswith(f"best: pass {display.best_pass},")


def test_held_out_quarter() -> None:
    """Without test rows a quarter is put aside, and the legend says so."""
    display = ErrorsDisplay.from_data(X, Y, max_iter=2).plot()
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert "error on a held-out quarter" in texts
    assert display.test_error is not None
    np.testing.assert_allclose(display.test_error * 20 % 1, 0, atol=1e-9)  # of 20 rows
    with pytest.raises(InputError, match="2 rows are too few to hold out a quarter"):
        ErrorsDisplay.from_data([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputError, match="X_test and y_test must be given together"):
        ErrorsDisplay.from_data(X, Y, X)
    with pytest.raises(InputError, match="max_iter must be an integer of at least 1; got 0"):
        ErrorsDisplay.from_data(X, Y, max_iter=0)
    with pytest.raises(InputError, match="set early_stopping=False"):
        ErrorsDisplay.from_data(X, Y, estimator=Perceptron(early_stopping=True))


@pytest.mark.filterwarnings("ignore:.*stopped after max_iter")
def test_history() -> None:
    """The history of a fitted estimator: mistakes a row, and the error on held-out rows."""
    clf = AveragedPerceptron(early_stopping=True, validation_fraction=0.25).fit(X, Y)
    display = ErrorsDisplay.from_estimator(clf, n_rows=60).plot()
    assert display.training_error is not None
    assert display.test_error is not None
    assert display.training_error[0] == clf.history_[0].mistakes / 60
    assert display.test_error[0] == 1 - (clf.history_[0].validation_score or 0)
    assert ErrorsDisplay.from_estimator(clf).training_error is None
    plain = Perceptron(max_iter=3).fit(X, Y)
    with pytest.raises(InputError, match="say n_rows"):
        ErrorsDisplay.from_estimator(plain)
    with pytest.raises(InputError, match="has no history; call fit first"):
        ErrorsDisplay.from_estimator(Perceptron())


def test_orders() -> None:
    """Every seed is a training of its own, lines are means and bands standard deviations."""
    order = np.argsort(Y, kind="stable")
    display = OrdersDisplay.from_data(X[order], Y[order], max_iter=3, n_seeds=4).plot()
    for name, errors in display.test_errors.items():
        assert errors.shape == (4, 3)
        line = display.lines_[name][1]
        np.testing.assert_allclose(line.get_ydata(), errors.mean(axis=0))
        upper = errors.mean(axis=0) + errors.std(axis=0)
        drawn = display.bands_[name][1].get_paths()[0].vertices
        assert drawn[:, 1].max() == pytest.approx(upper.max())
    sorted_first = display.test_errors["not permuted"][:, 0].mean()
    assert sorted_first > display.test_errors["permuted every pass"][:, 0].mean()
    assert display.n_seeds == 4


def test_orders_with_test_rows() -> None:
    """With test rows of their own, training without permuting is the same for every seed."""
    learned, aside, labels, test_labels = PARTS
    display = OrdersDisplay.from_data(learned, labels, aside, test_labels, max_iter=2, n_seeds=3)
    assert display.test_errors["not permuted"].std(axis=0).max() == 0


def test_mistakes() -> None:
    """Mistakes so far never exceed what the proof allows, nor that the bound of the verdict."""
    display = MistakesDisplay.from_data(AND_X, AND_Y).plot()
    clf = Perceptron(shuffle=False).fit(AND_X, AND_Y)
    assert display.mistakes[-1] == clf.n_mistakes_
    assert display.n_seen == 4 * clf.n_iter_
    assert (display.mistakes <= display.allowed * (1 + 1e-9)).all()
    assert (display.allowed <= display.bound * (1 + 1e-9)).all()
    assert display.bound == pytest.approx(diagnose(AND_X, AND_Y).bound, rel=1e-6)
    line: Any = display.bound_
    assert list(line.get_ydata()) == [display.bound] * 2
    steps = trace(AND_X, AND_Y, shuffle=False, witness=([1, 1], -3), only_updates=True)
    by_trace = MistakesDisplay.from_trace(steps)
    gamma = 1 / np.sqrt(11)  # of (1, 1, −3)/√11 on (2, 2, 1), or on (2, 0, 1)
    radius = 3.0  # of (2, 2, 1)
    np.testing.assert_allclose(by_trace.allowed, np.sqrt(by_trace.mistakes) * radius / gamma)
    lengths = [np.hypot(np.linalg.norm(step.w), step.b) for step in steps]
    assert (np.array(lengths) / gamma <= by_trace.allowed * (1 + 1e-9)).all()
    assert (np.diff(by_trace.allowed) > 0).all()
    assert by_trace.only_updates
    assert by_trace.plot().ax_.get_xlabel() == "updates"


def test_angle() -> None:
    """Angles are those between (w, b) and the witness, and below what the proof allows."""
    steps = trace(AND_X, AND_Y, witness=([1, 1], -3), only_updates=True)
    display = AngleDisplay.from_trace(steps).plot()
    w = np.array([[*step.w, step.b] for step in steps])
    cosines = w @ [1, 1, -3] / np.linalg.norm(w, axis=1) / np.sqrt(11)
    np.testing.assert_allclose(display.angles, np.degrees(np.arccos(cosines)), atol=1e-6)
    assert (display.angles <= display.allowed + 1e-9).all()
    np.testing.assert_array_equal(display.updates, np.arange(1, len(steps) + 1))
    assert AngleDisplay.from_data(AND_X, AND_Y).angles[-1] < 90


def test_the_theorem_is_about_separable_rows() -> None:
    """Inseparable rows, traces without a witness and other rules are refused."""
    with pytest.raises(InputError, match="The rows are inseparable"):
        MistakesDisplay.from_data(*blobs(gap=0.1))
    with pytest.raises(InputError, match="make it with a witness"):
        AngleDisplay.from_trace(trace(AND_X, AND_Y))
    steps = trace(AND_X, AND_Y, rule="pa1", witness=([1, 1], -3), max_iter=2)
    with pytest.raises(InputError, match="holds for the perceptron only"):
        MistakesDisplay.from_trace(steps)


@pytest.mark.filterwarnings("ignore:.*stopped after max_iter")
def test_survival() -> None:
    """Survival times sum to the rows met; voted and recorded training agree, file or not."""
    voted = VotedPerceptron(max_iter=3, random_state=1).fit(X, Y)
    plain = Perceptron(max_iter=3, random_state=1, record_mistakes=True).fit(X, Y)
    display = SurvivalDisplay.from_estimator(voted).plot()
    np.testing.assert_array_equal(display.survival, SurvivalDisplay.from_estimator(plain).survival)
    assert display.survival.sum() == 3 * len(X)
    assert len(display.survival) == voted.n_mistakes_ + 1
    longest = np.sort(display.survival)[::-1][:10]
    assert display.share == longest.sum() / display.survival.sum()
    times = display.survival
    for k, low in enumerate(display.edges.tolist()):  # 0, 1, 2–3, 4–7, …
        inside = (times >= low) & (times <= max(2 * low - 1, low))
        assert display.votes_[k].get_height() == pytest.approx(times[inside].sum() / times.sum())
        assert display.vectors_[k].get_height() == pytest.approx(inside.mean())
    assert display.vectors.sum() == pytest.approx(1.0)
    with pytest.raises(InputError, match="or use record_mistakes=True"):
        SurvivalDisplay.from_estimator(Perceptron(max_iter=3).fit(X, Y))


@pytest.mark.filterwarnings("ignore:.*stopped after max_iter")
@pytest.mark.parametrize("kind", [Perceptron, VotedPerceptron])
def test_coverage(kind: type) -> None:
    """At each level the error is that of the rows with at least that confidence, counted anew."""
    learned, aside, labels, test_labels = PARTS
    clf = kind(max_iter=2).fit(learned, labels)
    display = CoverageDisplay.from_estimator(clf, aside, test_labels).plot()
    sure = clf.vote_margin(aside) if kind is VotedPerceptron else abs(clf.decision_function(aside))
    wrong = clf.predict(aside) != test_labels
    for coverage, error, level in zip(
        display.coverage, display.error, display.confidence, strict=True
    ):
        answered = sure >= level
        assert coverage == pytest.approx(answered.mean())
        assert error == pytest.approx(wrong[answered].mean())
    assert display.coverage[-1] == 1.0
    assert display.error_at(1.0) == pytest.approx(wrong.mean())
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert f"all rows: {wrong.mean():.2%}" in texts


def test_what_is_promised_of_coverage() -> None:
    """The bounds of a guarantee are a line of their own, with room for that of all rows."""
    curve = np.array([0.5, 1.0]), np.array([0.0, 0.1]), np.array([2.0, 1.0])
    plain = CoverageDisplay(*curve, "lead", 9).plot()
    bounds = curve[0], np.array([0.3, 0.4])
    display = CoverageDisplay(*curve, "lead", 9, promised=bounds).plot()
    assert np.array_equal(display.bound_.get_xydata(), np.transpose(bounds))
    assert display.ax_.get_ylim()[1] > 0.4 > plain.ax_.get_ylim()[1]
    told = "at most this on new rows, promised"
    texts = [[text.get_text() for text in one.legend_.get_texts()] for one in (plain, display)]
    assert [told in one for one in texts] == [False, True]


def test_coverage_of_several_classes() -> None:
    """With several classes the confidence is the lead over the second."""
    rows, labels = ring_of_classes(4)
    clf = AveragedPerceptron().fit(rows, labels)
    display = CoverageDisplay.from_estimator(clf, rows, labels)
    scores = np.sort(clf.decision_function(rows), axis=1)
    assert display.confidence[0] == (scores[:, -1] - scores[:, -2]).max()
    with pytest.raises(InputError, match="one value per row"):
        CoverageDisplay.from_confidence([0.5, 0.1], [True])


@pytest.mark.filterwarnings("ignore:.*stopped after max_iter")
def test_loaded_models(tmp_path: object) -> None:
    """An estimator from a file is drawn like the one that was saved."""
    voted = VotedPerceptron(max_iter=2).fit(X, Y)
    path = f"{tmp_path}/voted.model"
    save(voted, path)
    loaded = load(path)
    np.testing.assert_array_equal(SurvivalDisplay.from_estimator(loaded).survival, voted.survival_)


def test_precision_and_recall() -> None:
    """The curve and the point of decision are those of scikit-learn, for either class."""
    from sklearn import metrics

    learned, aside, labels, test_labels = PARTS
    clf = AveragedPerceptron().fit(learned, labels)
    for number, label in enumerate(clf.classes_):
        display = PrecisionRecallDisplay.from_estimator(clf, aside, test_labels, class_=label)
        scores, truth = clf.decision_function(aside), test_labels == label
        expected = metrics.average_precision_score(truth, scores if number else -scores)
        assert display.average_precision == pytest.approx(expected)
        guess = clf.predict(aside) == label
        point = metrics.recall_score(truth, guess), metrics.precision_score(truth, guess)
        assert display.operating_point == pytest.approx(point)
    drawn: Any = display.plot()
    assert drawn.line_.get_ydata()[-1] == display.precision[-1]
    assert "average precision" in drawn.legend_.get_texts()[0].get_text()
    with pytest.raises(InputError, match="The model knows no class 'eggs'"):
        PrecisionRecallDisplay.from_estimator(clf, aside, test_labels, class_="eggs")
    with pytest.raises(InputError, match="None of 2 rows is of the class"):
        PrecisionRecallDisplay.from_scores([1.0, 2.0], [False, False])


def test_roc_curve() -> None:
    """The curve, its area and the point of decision are those of scikit-learn."""
    from sklearn import metrics

    learned, aside, labels, test_labels = PARTS
    clf = AveragedPerceptron().fit(learned, labels)
    for number, label in enumerate(clf.classes_):
        display = RocDisplay.from_estimator(clf, aside, test_labels, class_=label)
        scores, truth = clf.decision_function(aside), test_labels == label
        scores = scores if number else -scores
        assert display.area == pytest.approx(metrics.roc_auc_score(truth, scores))
        alarms, found, _ = metrics.roc_curve(truth, scores, drop_intermediate=False)
        np.testing.assert_allclose(display.false_alarms, alarms[1:])
        np.testing.assert_allclose(display.found, found[1:])
        guess = clf.predict(aside) == label
        point = guess[~truth].mean(), metrics.recall_score(truth, guess)
        assert display.operating_point == pytest.approx(point)
    with pytest.raises(InputError, match="All of 2 rows are of the class spam; the curve needs"):
        RocDisplay.from_scores([1.0, 2.0], [True, True], label="spam")


def test_confusion() -> None:
    """The counts are those of scikit-learn; too many classes are refused."""
    from sklearn import metrics

    learned, aside, labels, test_labels = PARTS
    clf = AveragedPerceptron().fit(learned, labels)
    display = ConfusionDisplay.from_estimator(clf, aside, test_labels)
    expected = metrics.confusion_matrix(test_labels, clf.predict(aside), labels=clf.classes_)
    assert display.counts.tolist() == expected.tolist()
    drawn: Any = display.plot()
    assert [text.get_text() for text in drawn.ax_.texts] == [f"{n:,}" for n in expected.ravel()]
    with pytest.raises(InputError, match="The picture shows at most 40 classes; there are 41"):
        ConfusionDisplay.from_counts(np.eye(41, dtype=int), range(41))


def test_reliability_of_an_estimator() -> None:
    """The probabilities are those that the estimator gives, and one without them says how."""
    learned, aside, labels, test_labels = PARTS
    clf = AveragedPerceptron(calibrate=True).fit(learned, labels)
    display = ReliabilityDisplay.from_estimator(clf, aside, test_labels)
    probability, true = clf.predict_proba(aside)[:, 1], test_labels == clf.classes_[1]
    expected = ReliabilityDisplay.from_probabilities(probability, true)
    assert display.share.tolist() == expected.share.tolist()
    assert display.count.sum() == len(test_labels)

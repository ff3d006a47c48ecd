"""Rows with several labels, as an estimator learns them."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import accuracy_score, f1_score, log_loss, precision_score, recall_score
from sklearn.multiclass import OneVsRestClassifier

from rosenblatt import (
    ConfidenceWeightedClassifier,
    MultilabelClassifier,
    Perceptron,
    RuleClassifier,
    explain,
    load,
    prune,
    save,
)
from rosenblatt.errors import InputError
from rosenblatt.models.explanation import ranked_weights
from rosenblatt.models.model import Model
from rosenblatt.plots import ConfusionDisplay, WeightsDisplay
from rosenblatt.report import html_report
from rosenblatt.tasks.label_thresholds import fitted_thresholds
from rosenblatt.training.examples import permute

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 6))
Y = (X @ rng.standard_normal((6, 4)) + 0.2 * rng.standard_normal((300, 4)) > 0.7).astype(int)
LISTS = [tuple("abcd"[k] for k in np.flatnonzero(row)) for row in Y]
FORMS: dict[str, Any] = {
    "indicator": Y,
    "booleans": Y.astype(bool),
    "sparse": sparse.csr_array(Y),
    "nested lists": Y.tolist(),
    "sets": [set(row) for row in LISTS],
    "tuples": LISTS,
    "lists": [list(row) for row in LISTS],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_y_gives_the_same_weights(form: str) -> None:
    """An indicator and lists of labels say the same."""
    expected = MultilabelClassifier().fit(X, Y)
    clf = MultilabelClassifier().fit(X, FORMS[form])
    assert np.array_equal(clf.coef_, expected.coef_)
    assert np.array_equal(clf.predict(X), expected.predict(X))
    names = ["a", "b", "c", "d"] if form in ("sets", "tuples", "lists") else [0, 1, 2, 3]
    assert clf.classes_.tolist() == names
    said = [tuple(names[k] for k in np.flatnonzero(row)) for row in clf.predict(X)]
    assert clf.predict_labels(X) == said


@pytest.mark.parametrize(
    ("rule", "alone"),
    [
        ("perceptron", Perceptron(max_iter=7, shuffle=False, early_stopping=False)),
        ("arow", ConfidenceWeightedClassifier(max_iter=7, shuffle=False)),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_each_label_is_a_classifier_of_its_own(rule: str, alone: Any, form: Any) -> None:
    """One-vs-rest of scikit-learn around the two-class learner has the same weights."""
    memory: dict[str, Any] = {"memory": "last", "shuffle": False, "thresholds": False}
    ours = MultilabelClassifier(rule=rule, max_iter=7, **memory).fit(form(X), Y)
    theirs = OneVsRestClassifier(alone).fit(form(X), Y)
    weights = np.vstack([one.coef_ for one in theirs.estimators_])
    np.testing.assert_allclose(ours.coef_, weights, rtol=1e-9, atol=1e-12)
    assert np.array_equal(ours.predict(form(X)), theirs.predict(form(X)))


@pytest.mark.parametrize("goal", ["each", "ranking"])
def test_partial_fit_is_one_pass(goal: str) -> None:
    """Batches of rows give the model of one pass over all of them."""
    how: dict[str, Any] = {"goal": goal, "max_iter": 1, "shuffle": False, "thresholds": False}
    whole = MultilabelClassifier(**how).fit(X, LISTS)
    parts = MultilabelClassifier(**how)
    for start in range(0, len(X), 70):
        parts.partial_fit(X[start : start + 70], LISTS[start : start + 70], classes=[*"abcd"])
    assert np.array_equal(parts.coef_, whole.coef_)


def test_labels_may_come_up_later() -> None:
    """A label that comes up in a later batch has had weights of zero until then."""
    clf = MultilabelClassifier(thresholds=False).partial_fit(X[:5], [["a"], [], ["a"], [], []])
    clf.partial_fit(X[5:6], [["b"]])
    assert clf.classes_.tolist() == ["a", "b"]
    assert clf.coef_.shape == (2, 6)
    late = MultilabelClassifier(thresholds=False).partial_fit(X[:5], [["a"], [], ["a"], [], []])
    late.partial_fit(X[5:6], [[]])
    assert np.array_equal(clf.coef_[0], late.coef_[0])
    assert clf.decision_function(X[5:6])[0, 1] > 0


def test_a_classifier_that_converged_early_goes_on_and_is_saved(tmp_path: Any) -> None:
    """Where fit ends before its average begins, that of later rows is in the file, too."""
    rows = np.repeat(3.0 * np.eye(4), 5, axis=0)
    clf = MultilabelClassifier(rule="perceptron", thresholds=False).fit(rows, (rows > 0) * 1)
    assert clf.n_iter_ < 3
    clf.partial_fit(rows[:3], (rows[:3] <= 0) * 1)
    save(clf, tmp_path / "tags.model")
    loaded: Any = load(tmp_path / "tags.model")
    assert np.array_equal(loaded.decision_function(rows), clf.decision_function(rows))


@pytest.mark.parametrize("goal", ["each", "ranking"])
@pytest.mark.parametrize("n_labels", [1, 2, 4])
def test_a_saved_classifier_is_the_same(tmp_path: Any, goal: str, n_labels: int) -> None:
    """Scores, thresholds and going on are those of the classifier that was saved."""
    labels = sparse.csr_array(Y[:, :n_labels])  # one column alone, as an array, is one label a row
    clf = MultilabelClassifier(goal=goal).fit(X, labels)
    save(clf, tmp_path / "tags.model")
    loaded: Any = load(tmp_path / "tags.model")
    assert loaded.coef_.shape == (n_labels, 6)
    assert np.array_equal(loaded.decision_function(X), clf.decision_function(X))
    assert np.array_equal(loaded.thresholds_, clf.thresholds_)
    assert np.array_equal(loaded.predict(X), clf.predict(X))
    said = [tuple(np.flatnonzero(row).tolist()) for row in clf.predict(X)]
    loaded.partial_fit(X[:20], labels[:20])
    clf.partial_fit(X[:20], labels[:20])
    assert np.array_equal(loaded.coef_, clf.coef_)
    model = Model.load(tmp_path / "tags.model")
    assert model.predict(X).tolist() == said
    names = [tuple(np.flatnonzero(row).tolist()) for row in loaded.predict(X)]
    assert loaded.model_.predict(X).tolist() == names
    with pytest.raises(InputError, match=r"tags.model gives a row any number of labels"):
        model.one_class("tags.model")


def test_what_needs_one_label_refuses_several() -> None:
    """What takes the highest label for the only one says that it cannot."""
    clf = MultilabelClassifier().fit(X, Y)
    uses: list[Any] = [
        lambda: ConfusionDisplay.from_estimator(clf, X, Y[:, 0]),
    ]
    for use in uses:
        with pytest.raises(InputError, match=r"any number of labels, and this needs exactly one"):
            use()


def test_a_report_and_the_weights_of_labels() -> None:
    """A page says how good the labels are; a picture shows the weights of one."""
    clf = MultilabelClassifier().fit(X, LISTS)
    shown = html_report(clf, X, LISTS)
    given = clf.predict(X)
    f1, exact = f1_score(Y, given, average="micro"), accuracy_score(Y, given)
    right, found = (score(Y, given, average="micro") for score in (precision_score, recall_score))
    assert "gives a row any number of 4 labels" in shown
    sentence = f"of 100 labels that it gives, {right:.0%} are right; it finds {found:.0%} of 100; "
    assert f"On 300 test rows: {sentence.replace('%', '')}{exact:.2%} of rows are exact." in shown
    assert f"<dt>test micro F1</dt><dd>{f1:.3f}</dd>" in shown
    assert "Weights of c" in shown
    assert "sorts rows into" not in shown
    assert "test rows" not in html_report(clf)
    drawn = WeightsDisplay.from_estimator(clf, class_="b")
    assert (drawn.positive, drawn.negative) == ("b", None)
    assert drawn.values.max() == clf.coef_[1].max()
    with pytest.raises(InputError, match="choose one"):
        WeightsDisplay.from_estimator(clf)
    with pytest.raises(InputError, match="a list of labels for each row"):
        html_report(clf, X, Y[:, 0])


@pytest.mark.parametrize("n_labels", [1, 2, 4])
@pytest.mark.parametrize("rule", ["pa1", "arow"])
def test_the_score_of_a_label_is_explained(n_labels: int, rule: str) -> None:
    """Terms and bias of a label are its score; by default it is the best one."""
    labels = sparse.csr_array(Y[:, :n_labels])
    clf = MultilabelClassifier(rule=rule, memory="last").fit(X, labels)
    for x, scores in zip(X[:20], clf.decision_function(X[:20]), strict=True):
        best = explain(clf, x)
        assert best.positive == scores.argmax()
        assert best.total == pytest.approx(scores.max())
        for k in range(n_labels):
            found = clf.model_.explain(x, k)
            assert (found.positive, found.negative) == (k, None)
            assert found.total == pytest.approx(scores[k])
            assert sum(term.amount for term in found.terms) + found.bias == pytest.approx(scores[k])
    for ranking, own in zip(ranked_weights(clf.model_, 1), clf.coef_, strict=True):
        assert ranking.against is None
        assert ranking.top[0].weight == own.max()
    with pytest.raises(InputError, match="knows no label 'z'"):
        explain(clf, X[0], "z")


def test_of_more_classes_the_lead_of_one_is_explained() -> None:
    """With one label a row a class is compared with its best rival; two share one score."""
    y = Y[:, 0] + Y[:, 1]
    clf = RuleClassifier().fit(X, y)
    scores = clf.decision_function(X[:1])[0]
    for k in range(3):
        rivals = np.delete(scores, k)
        assert explain(clf, X[0], k).total == pytest.approx(scores[k] - rivals.max())
    with pytest.raises(InputError, match="Two classes share one score"):
        explain(RuleClassifier().fit(X, Y[:, 0]), X[0], 1)


def test_thresholds_raise_f1_on_new_rows() -> None:
    """Where labels are rare and noisy, thresholds from held-out rows find more of them.

    And what they gain in F1 is more than they lose in rows that are exactly right.
    """
    made = np.random.default_rng(1)
    rows = made.standard_normal((8000, 20))
    noise = made.standard_normal((8000, 12))
    tags = (rows @ made.standard_normal((20, 12)) / 4 + noise > 1.8).astype(int)
    plain = MultilabelClassifier(thresholds=False).fit(rows[:5000], tags[:5000])
    tuned = MultilabelClassifier().fit(rows[:5000], tags[:5000])
    assert np.array_equal(plain.coef_, tuned.coef_)
    said = [clf.predict(rows[5000:]) for clf in (plain, tuned)]
    f1 = [f1_score(tags[5000:], one, average="micro") for one in said]
    exact = [accuracy_score(tags[5000:], one) for one in said]
    assert f1[1] > f1[0] + 0.03
    assert f1[1] + exact[1] > f1[0] + exact[0] + 0.01


def test_thresholds_are_fitted_to_rows_that_were_not_learned() -> None:
    """They are those of a tenth of the rows, scored by a classifier of the others."""
    how: dict[str, Any] = {"parameters": {"C": 0.1}, "random_state": 0}
    clf = MultilabelClassifier(**how).fit(X, Y)
    order = np.arange(len(X))
    permute(order, np.random.default_rng(0))
    tried, rest = order[:30], np.sort(order[30:])
    other = MultilabelClassifier(thresholds=False, **how)
    scores = other.fit(X[rest], Y[rest]).decision_function(X[tried])
    expected = fitted_thresholds(scores, Y[tried].astype(bool))
    assert clf.thresholds_.tolist() == expected[:-1].tolist()
    assert clf.thresholds_.any()


def test_probabilities_are_sigmoids_of_scores_that_were_not_learned(tmp_path: Any) -> None:
    """On new rows labels are as frequent as their probabilities say, each by itself."""
    made = np.random.default_rng(1)
    rows, noise = made.standard_normal((4000, 8)), made.standard_normal((4000, 3))
    tags = (rows @ made.standard_normal((8, 3)) / 2 + noise > [0.0, 1.0, 2.0]).astype(int)
    clf = MultilabelClassifier(calibrate=True).fit(rows[:2000], tags[:2000])
    plain = MultilabelClassifier().fit(rows[:2000], tags[:2000])
    shares, truth = clf.predict_proba(rows[2000:]), tags[2000:]
    assert np.array_equal(clf.predict(rows), plain.predict(rows))
    assert abs(shares.mean(axis=0) - truth.mean(axis=0)).max() < 0.04
    for label in range(3):
        usual = log_loss(truth[:, label], np.full(2000, tags[:2000, label].mean()))
        assert log_loss(truth[:, label], shares[:, label]) < 0.9 * usual
    high = shares > 0.5
    assert abs(truth[high].mean() - shares[high].mean()) < 0.05
    save(clf, tmp_path / "tags.model")
    assert np.array_equal(
        load(tmp_path / "tags.model").predict_proba(rows), clf.predict_proba(rows)
    )
    with pytest.raises(AttributeError, match="has no probabilities"):
        _ = plain.predict_proba


def test_an_indicator_of_one_column_is_one_label_a_row() -> None:
    """A warning says so, and how to have a single label that rows have or not."""
    message = "an array of one column is one label a row, such as 0 or 1, and predict returns one"
    for learn in (MultilabelClassifier().fit, MultilabelClassifier().partial_fit):
        with pytest.warns(DataConversionWarning, match=message) as caught:
            clf = learn(X, Y[:, :1])
        assert len(caught) == 1
        assert clf.predict(X).shape == (300,)
    had = [["a"] * have for have in Y[:, 0].tolist()]
    assert MultilabelClassifier().fit(X, had).predict(X).shape == (300, 1)


def test_one_label_a_row_is_the_usual_classifier() -> None:
    """A vector y makes it RuleClassifier."""
    y = np.array(["no", "yes"])[Y[:, 0]]
    expected = RuleClassifier(rule="pa1").fit(X, y)
    clf = MultilabelClassifier().fit(X, y)
    assert np.array_equal(clf.coef_, expected.coef_)
    assert np.array_equal(clf.predict(X), expected.predict(X))
    assert clf.predict_labels(X[:1]) == [(clf.predict(X[:1])[0],)]


@pytest.mark.parametrize(
    ("y", "parameters", "words"),
    [
        (Y * 2, {}, "must be 1 where a row has the label"),
        (LISTS[:-1], {}, "inconsistent numbers of samples"),
        (["a", ["b"], *LISTS[2:]], {}, "a list of labels for each row"),
        ([("a", 1), *LISTS[1:]], {}, "of one type"),
        ([()] * 300, {}, "at least one label"),
        (LISTS, {"goal": "both"}, "'each' or 'ranking'"),
        (LISTS, {"goal": "ranking", "rule": "arow", "memory": "last"}, "first-order"),
        (LISTS, {"class_weight": "balanced"}, "class_weight is not available"),
        (LISTS, {"calibrate": "isotonic"}, "calibrate='isotonic' is not available"),
        (LISTS, {"calibrate": True, "validation_fraction": 0.001}, "calibrate needs held-out rows"),
    ],
)
def test_what_cannot_be_learned_is_said(y: Any, parameters: Any, words: str) -> None:
    """Each mistake has a sentence of its own."""
    with pytest.raises(ValueError, match=words):
        MultilabelClassifier(**parameters).fit(X, y)


def test_going_on_keeps_the_form_of_y() -> None:
    """A classifier of several labels does not go on with one a row."""
    clf = MultilabelClassifier().fit(X, Y)
    with pytest.raises(InputError, match="the form that it had"):
        clf.partial_fit(X, Y[:, 0])


def test_features_are_pruned() -> None:
    """The weakest features of all labels go, thresholds stay, and a list of mistakes does not."""
    clf = MultilabelClassifier(record_mistakes=True, calibrate=True).fit(X, Y)
    found = prune(clf, 2, X, Y)
    weakest = np.argsort(np.abs(clf.coef_).max(axis=0) * X.std(axis=0))[:2]
    assert {*found.dropped.tolist()} == {*weakest.tolist()}
    wrong = [float((m.predict(X) != Y).any(axis=1).mean()) for m in (clf, found.model)]
    assert [found.error_before, found.error_after] == wrong
    assert np.array_equal(found.model.thresholds_, clf.thresholds_)
    assert not hasattr(found.model, "mistakes_")
    again = prune(clf.model_, 2, X, Y)
    assert [again.error_before, again.error_after] == wrong
    with pytest.raises(InputError, match=r"an indicator of shape \(300, 4\); got one of shape"):
        prune(clf, 2, X, Y[:, 0])

"""ConfidenceWeightedClassifier: four rules that know how sure each weight is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler

import rosenblatt
from rosenblatt import ConfidenceWeightedClassifier
from rosenblatt.errors import InputError
from rosenblatt.models.file import document_of
from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files
from rosenblatt.rules.confidence_weighted import LEAST_VARIANCE, phi_of
from tests import reference

RULES = ("arow", "cw", "scw1", "scw2")
PHI = phi_of(0.9)
STEPS = {
    "arow": reference.arow(1.0),
    "cw": reference.confidence_weighted("cw", PHI),
    "scw1": reference.confidence_weighted("scw1", PHI, 1.0),
    "scw2": reference.confidence_weighted("scw2", PHI, 1.0),
}
DIGITS = load_digits(return_X_y=True)


def two_classes() -> tuple[Any, Any]:
    """Return scaled rows of two classes."""
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("rule", RULES)
def test_fit_is_the_reference(rule: str) -> None:
    """Weights and variances are those of the plain lists, two classes and ten, bit for bit."""
    X, y = two_classes()
    clf = ConfidenceWeightedClassifier(rule=rule, max_iter=2, shuffle=False).fit(X, y)
    orders = [range(len(y))] * clf.n_iter_
    expected = reference.train_second_order(
        X.tolist(), (2 * y - 1).tolist(), 2, STEPS[rule], orders, how=reference.DENSE
    )
    assert clf.coef_.tolist() == [expected.w[0][:-1]]
    assert clf.confidence_.tolist() == [expected.sigma[0][:-1]]
    X, y = DIGITS[0][:200], DIGITS[1][:200]
    clf = ConfidenceWeightedClassifier(rule=rule, max_iter=1, shuffle=False).fit(X, y)
    expected = reference.train_second_order(
        X.tolist(), y.tolist(), 10, STEPS[rule], [range(200)], how=reference.DENSE
    )
    assert clf.coef_.tolist() == [w[:-1] for w in expected.w]
    assert clf.confidence_.tolist() == [sigma[:-1] for sigma in expected.sigma]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("average", [False, True])
def test_chunks_give_the_whole(rule: str, average: bool) -> None:
    """A stream in chunks, sparse or dense, ends with the weights and variances of one pass."""
    X, y = np.round(two_classes()[0] * 4), two_classes()[1]
    options: Any = {"rule": rule, "average": average, "max_iter": 1, "shuffle": False}
    whole = ConfidenceWeightedClassifier(**options).fit(X, y)
    parts = ConfidenceWeightedClassifier(**options)
    for start in range(0, len(y), 100):
        parts.partial_fit(X[start : start + 100], y[start : start + 100], classes=[0, 1])
    assert np.array_equal(parts.coef_, whole.coef_)
    assert np.array_equal(parts.confidence_, whole.confidence_)
    rows = ConfidenceWeightedClassifier(**options).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(rows.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(rows.confidence_, whole.confidence_, rtol=1e-9)


def test_a_loaded_model_goes_on(tmp_path: Path) -> None:
    """A model file keeps the variances: learning on after loading is learning on without."""
    X, y = two_classes()
    clf = ConfidenceWeightedClassifier().fit(X[:300], y[:300])
    rosenblatt.save(clf, tmp_path / "sure.model")
    loaded = rosenblatt.load(tmp_path / "sure.model")
    assert np.array_equal(loaded.confidence_, clf.confidence_)
    for one in (clf, loaded):
        one.partial_fit(X[300:], y[300:])
    assert np.array_equal(loaded.coef_, clf.coef_)
    assert np.array_equal(loaded.confidence_, clf.confidence_)


def test_variances_only_fall() -> None:
    """The more a feature has taught, the surer its weight; one that never came keeps variance 1."""
    X = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]] * 10)
    clf = ConfidenceWeightedClassifier().fit(X, [0, 1] * 10)
    first, second, never = clf.confidence_[0]
    assert 0 < first < second < never == 1.0


def test_classes_that_come_later() -> None:
    """A class that nobody announced begins with variance 1; those known keep theirs."""
    clf = ConfidenceWeightedClassifier().partial_fit([[1, 0], [0, 1]], ["a", "b"])
    before = clf.confidence_[0]
    clf.partial_fit([[1, 1]], ["b"], classes=["a", "b", "c"])
    assert clf.classes_.tolist() == ["a", "b", "c"]
    assert (clf.confidence_[0] <= before).all()
    assert clf.confidence_.shape == (3, 2)


def test_accuracy_in_few_passes() -> None:
    """Two passes are enough for digits: better than an averaged perceptron of as many."""
    X, y = DIGITS[0] / 16, DIGITS[1]
    ours = ConfidenceWeightedClassifier(max_iter=2).fit(X[:1200], y[:1200])
    theirs = rosenblatt.AveragedPerceptron(max_iter=2).fit(X[:1200], y[:1200])
    assert ours.score(X[1200:], y[1200:]) >= theirs.score(X[1200:], y[1200:])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"rule": "pa1"},
            (
                "The parameter rule of ConfidenceWeightedClassifier must be one of 'arow', 'cw', "
                "'scw1', 'scw2'; got 'pa1'."
            ),
        ),
        (
            {"confidence": 0.5},
            (
                "The parameter confidence of ConfidenceWeightedClassifier must be a number between "
                "0.5 and 1; got 0.5."
            ),
        ),
        (
            {"r": 0.0},
            (
                "The parameter r of ConfidenceWeightedClassifier must be a finite number above 0; "
                "got 0.0."
            ),
        ),
    ],
)
def test_bad_parameters(parameters: Any, message: str) -> None:
    """Each says which parameter must be what, and what it is."""
    with pytest.raises(ValueError, match="The parameter") as error:
        ConfidenceWeightedClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])
    assert str(error.value) == message


def written_before(path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Write a model as a version did that could keep all covariances."""

    def older(model: Model) -> dict[str, Any]:
        document = document_of(model)
        document["options"]["covariance"] = document["variance"] = kind
        return document

    with monkeypatch.context() as patch:
        patch.setattr("rosenblatt.models.file.document_of", older)
        rosenblatt.save(ConfidenceWeightedClassifier().fit(*two_classes()), path)


def test_models_of_older_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those with variances load; those with all covariances are refused in a sentence."""
    path = tmp_path / "old.model"
    written_before(path, monkeypatch, "diagonal")
    assert "covariance" not in rosenblatt.load(path).get_params()
    written_before(path, monkeypatch, "full")
    with pytest.raises(InputError) as error:
        rosenblatt.load(path)
    assert str(error.value) == (
        f"{path} is not a usable model: it keeps all covariances, which this version does not; "
        "train it again."
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_that_overlap(tmp_path: Path, n_classes: int, form: Any) -> None:
    """CW learns from rows that nothing separates: no variance falls below the least."""
    generator = np.random.default_rng(4)
    X = generator.normal(size=(2000, 3))
    y = (X[:, 0] > 0) + (X[:, 1] > 0) * (n_classes - 2)
    y = np.where(generator.random(2000) < 0.3, generator.integers(n_classes, size=2000), y)
    clf = ConfidenceWeightedClassifier(rule="cw", max_iter=20).fit(form(X), y)
    assert clf.confidence_.min() == LEAST_VARIANCE
    assert np.isfinite(clf.coef_).all()
    rosenblatt.save(clf, tmp_path / "cw.model")
    assert rosenblatt.load(tmp_path / "cw.model").score(X, y) == clf.score(X, y)


@pytest.mark.parametrize(("rule", "weight", "told"), [("cw", 2, 1), ("cw", 1, 0), ("scw1", 2, 0)])
def test_weights_that_go_past_the_goal(
    tmp_path: Path, recwarn: pytest.WarningsRecorder, rule: str, weight: float, told: int
) -> None:
    """CW warns of weights above 1, by which it goes past the step that makes a row right."""
    X, y = np.array([[1.0], [2.0], [-1.0]]), ["a", "b", "b"]
    clf = ConfidenceWeightedClassifier(rule=rule)
    clf.partial_fit(X, y, sample_weight=[0.5, 1.0, weight])
    assert [str(one.message)[:39] for one in recwarn] == [
        "Weights of rows above 1 take cw past th"
    ] * told
    file = tmp_path / "rows.csv"
    file.write_text("x,w,label\n" + "1,2,a\n2,1,b\n-1,1,b\n" * 9)
    model = model_from_files(str(file), rule=rule, weight="w" if weight > 1 else None)
    assert sum("past the step" in note for note in model.training["notes"]) == told

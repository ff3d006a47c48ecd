"""Regions of several classes, learners side by side, and bars of weights."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from rosenblatt import (
    AveragedPerceptron,
    ConfidenceWeightedClassifier,
    Perceptron,
    VotedPerceptron,
    load,
    save,
)
from rosenblatt.errors import InputError
from rosenblatt.models.model import Spread
from rosenblatt.plots import (
    BoundaryDisplay,
    ComparisonDisplay,
    ContributionsDisplay,
    RegionsDisplay,
    WeightsDisplay,
)
from rosenblatt.plots.weights import model_from
from tests.plots.examples import blobs, ring_of_classes, with_weights


@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_polygons_are_the_predictions(n_classes: int) -> None:
    """Inside a class's polygon, and nowhere else, that class is predicted."""
    X, y = ring_of_classes(n_classes)
    clf = AveragedPerceptron().fit(X, y)
    display = RegionsDisplay.from_estimator(clf, X, y)
    polygons = display.regions.polygons
    assert polygons is not None
    seen = 0
    generator = np.random.default_rng(0)
    for k in display.regions.present:
        share = generator.dirichlet(np.ones(len(polygons[k])), size=50)
        inside = share @ polygons[k]  # mixtures of the corners of a convex polygon
        assert (clf.predict(inside) == clf.classes_[k]).all()
        seen += 1
    assert seen == n_classes
    sizes = [_area(polygon) for polygon in polygons]
    assert sum(sizes) == pytest.approx(display.frame.width * display.frame.height)
    display.plot().figure_.draw_without_rendering()
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == [str(k) for k in range(n_classes)]


def _area(polygon: NDArray[Any]) -> float:
    x, y = polygon.T
    return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2


@pytest.mark.filterwarnings("ignore:.*stopped after max_iter")
@pytest.mark.parametrize("clf", [KNeighborsClassifier(1), VotedPerceptron(max_iter=2)])
def test_grid_is_the_predictions(clf: Any) -> None:
    """Of what is not linear, votes too, a grid holds the class predicted at each of its points."""
    X, y = blobs(gap=0.8, n_features=3)
    fitted = clf.fit(X, y)
    display = RegionsDisplay.from_estimator(fitted, X, y, features=(1, 2))
    grid, frame = display.regions.grid, display.frame
    assert grid is not None
    for i, j in ((0, 0), (10, 200), (120, 119), (239, 5)):
        row = X.mean(axis=0)
        row[1] = frame.left + (j + 0.5) / len(grid) * frame.width
        row[2] = frame.bottom + (i + 0.5) / len(grid) * frame.height
        assert fitted.classes_[grid[i, j]] == fitted.predict([row])[0]
    image = display.plot().regions_[0]
    assert tuple(image.get_extent()) == (frame.left, frame.right, frame.bottom, frame.top)
    assert display.n_wrong == np.count_nonzero(fitted.predict(X) != y)


def test_no_weights_no_regions_but_one() -> None:
    """Where all scores are equal, all is given to the class that is predicted: the first."""
    X, y = blobs()
    clf = with_weights([0, 0], 0, y)
    display = RegionsDisplay.from_estimator(clf, X, y)
    assert display.regions.present == [0]
    assert display.n_wrong == 30


def test_comparison() -> None:
    """Last, averaged, voted, a tree and a neighbour learn the same rows, judged by the others."""
    X, y = blobs(gap=1.0)
    display = ComparisonDisplay.from_data(X, y, max_iter=3).plot()
    names = ["last weights", "averaged", "voted", "decision tree", "nearest neighbour"]
    assert display.names == names
    for panel, name in zip(display.panels, names, strict=True):
        assert panel.ax_.get_title(loc="left").startswith(name)
    judged = display.panels[0].judged
    assert judged.sum() == len(X) // 4
    for kind, k in ((DecisionTreeClassifier(random_state=0), 3), (KNeighborsClassifier(1), 4)):
        fitted = kind.fit(X[~judged], y[~judged])
        wrong = np.count_nonzero(fitted.predict(X[judged]) != y[judged])
        assert display.panels[k].n_wrong == wrong
    assert f"wrong of {judged.sum()} held-out rows" in display.sentence
    last = Perceptron(max_iter=3)
    last.fit(X[~judged], y[~judged])
    assert display.panels[0].n_wrong == np.count_nonzero(last.predict(X[judged]) != y[judged])
    assert [text.get_text() for text in display.legend_.get_texts()] == ["ham", "spam"]


def test_a_comparison_sees_what_is_drawn() -> None:
    """Learners know the two features that are drawn, so that regions and errors agree."""
    X, y = blobs(gap=0.5, n_features=5)
    display = ComparisonDisplay.from_data(X, y, features=(3, 4))
    alone = ComparisonDisplay.from_data(X[:, [3, 4]], y)
    assert [one.n_wrong for one in display.panels] == [one.n_wrong for one in alone.panels]
    few = ComparisonDisplay.from_data([[0, 0], [0, 2], [2, 0], [2, 2]], list("aaab"))
    assert "training rows" in few.sentence


def test_wrong_rows_are_crossed_where_other_features_decide() -> None:
    """A slice may show a row on the other side than it is decided for; wrong rows are marked."""
    X, y = blobs(gap=0.7, n_features=4)
    clf = AveragedPerceptron().fit(X, y)
    wrong = clf.predict(X) != y
    regions = RegionsDisplay.from_estimator(clf, X, y, features=(2, 3)).plot()
    assert regions.n_wrong == wrong.sum() > 0
    assert regions.legend_.get_texts()[-1].get_text() == f"wrong: {wrong.sum()}"
    boundary = BoundaryDisplay.from_estimator(clf, X, y, features=(2, 3)).plot()
    assert boundary.crossed is not None
    np.testing.assert_array_equal(boundary.crossed, np.flatnonzero(wrong))
    assert BoundaryDisplay.from_estimator(clf, X, y).crossed is None  # the plane of the weights


def test_of_many_classes_means_are_drawn() -> None:
    """Of more classes than colours and many rows the means and 200 rows are drawn."""
    X, y = ring_of_classes(9, 40)
    display = RegionsDisplay.from_estimator(AveragedPerceptron().fit(X, y), X, y).plot()
    assert sum(len(drawn.get_offsets()) for drawn in display.points_) == 9
    assert "200 rows drawn" in display.ax_.get_title(loc="left").replace("\n", " ")


def test_comparison_of_given_learners() -> None:
    """Any learners, by name, on axes that are given."""
    X, y = ring_of_classes(3)
    display = ComparisonDisplay.from_data(X, y, estimators={"mine": AveragedPerceptron()})
    ax = Figure().add_subplot()
    assert display.plot(ax).axes_ == [ax]
    with pytest.raises(InputError, match="at least one estimator"):
        ComparisonDisplay.from_data(X, y, estimators={})


def test_weights() -> None:
    """Bars are the weights by name, from the most positive to the most negative."""
    clf = with_weights([2.0, -1.0, 0.0, 0.5], -3.0, ["ham", "spam"])
    names = ["money", "meeting", "the", "a"]
    display = WeightsDisplay.from_estimator(clf, feature_names=names).plot()
    assert display.names == ["money", "a", "meeting"]
    np.testing.assert_array_equal(display.values, [2.0, 0.5, -1.0])
    assert [bar.get_width() for bar in display.bars_] == [2.0, 0.5, -1.0]
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == display.names
    hatched = [bool(bar.get_hatch()) for bar in display.bars_]
    assert hatched == [False, False, True]  # the sign is seen without colour
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == ["for spam", "for ham"]
    turned = WeightsDisplay.from_estimator(clf, n=1, class_="ham", feature_names=names)
    assert (turned.names, turned.values.tolist()) == (["meeting", "money"], [1.0, -2.0])


def test_weights_of_several_classes() -> None:
    """Of several classes one is to be named; its weights are those of coef_."""
    X, y = ring_of_classes(3)
    clf = AveragedPerceptron().fit(X, y)
    with pytest.raises(InputError, match="3 classes, each with its own weights; choose one"):
        WeightsDisplay.from_estimator(clf)
    display = WeightsDisplay.from_estimator(clf, class_=2).plot()
    np.testing.assert_allclose(np.sort(display.values), np.sort(clf.coef_[2]))
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == ["for 2", "against 2"]


@pytest.mark.parametrize("by_effect", [False, True])
def test_weights_of_a_second_order_rule_show_how_sure_they_are(by_effect: bool) -> None:
    """A line through each bar reaches one deviation of the weight to either side."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 3))
    y = X[:, 0] + generator.normal(size=60) > 0
    clf = ConfidenceWeightedClassifier(random_state=0).fit(X, y)
    scale = np.array([1.0, 100.0, 0.01] if by_effect else [1.0, 1.0, 1.0])
    model = replace(model_from(clf), spread=Spread(-scale, scale, scale, 60))
    display = WeightsDisplay.from_estimator(model).plot()
    assert display.by_effect == by_effect
    order = [int(name.removeprefix("feature ")) for name in display.names]
    expected = np.sqrt(clf.confidence_[0, order]) * scale[order]
    assert display.uncertainties == pytest.approx(expected)
    (lines,) = [one for one in display.ax_.collections if isinstance(one, LineCollection)]
    ends = np.array([segment[:, 0] for segment in lines.get_segments()])
    assert ends[:, 1] - ends[:, 0] == pytest.approx(2 * expected)
    assert WeightsDisplay.from_estimator(Perceptron().fit(X, y)).uncertainties is None


def test_no_weights_at_all() -> None:
    """Weights that are all 0 are said to be."""
    display = WeightsDisplay.from_estimator(with_weights([0, 0], 1, [0, 1])).plot()
    assert display.sentence == "Perceptron: all weights are 0."
    with pytest.raises(InputError, match="a fitted linear estimator of rosenblatt; got a KNeigh"):
        WeightsDisplay.from_estimator(KNeighborsClassifier())
    with pytest.raises(InputError, match="Perceptron is not fitted"):
        WeightsDisplay.from_estimator(Perceptron())


def test_contributions() -> None:
    """Terms sum to the score, whatever is not shown by name; a loaded model gives the same."""
    X, y = blobs(n_features=8)
    clf = AveragedPerceptron().fit(X, y)
    display = ContributionsDisplay.from_estimator(clf, X[0], n=3).plot()
    assert display.total == pytest.approx(clf.decision_function(X[:1])[0])
    assert display.values.sum() == pytest.approx(display.total)
    assert display.names[3:] == ["(5 other features)", "(bias)"]
    amounts = clf.coef_[0] * X[0]
    largest = amounts[np.argsort(-np.abs(amounts))[:3]]
    np.testing.assert_allclose(display.values[:3], largest)
    assert display.decision == clf.predict(X[:1])[0]


def test_contributions_of_several_classes(tmp_path: object) -> None:
    """With several classes the terms sum to the lead over the runner-up."""
    X, y = ring_of_classes(4)
    clf = AveragedPerceptron().fit(X, y)
    save(clf, f"{tmp_path}/ring.model")
    display = ContributionsDisplay.from_estimator(load(f"{tmp_path}/ring.model"), X[-1])
    scores = np.sort(clf.decision_function(X[-1:])[0])
    assert display.total == pytest.approx(scores[-1] - scores[-2])
    assert display.decision == y[-1]
    with pytest.raises(InputError, match="The row has 3 values; the model was trained on 2"):
        ContributionsDisplay.from_estimator(clf, [1, 2, 3])
    with pytest.raises(InputError, match="Feature 1 of the row is nan"):
        ContributionsDisplay.from_estimator(clf, [1, np.nan])

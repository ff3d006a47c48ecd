"""The boundary with its weight vector, band and shift; the planes that it is drawn in."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from rosenblatt import AveragedPerceptron, Perceptron
from rosenblatt.errors import InputError
from rosenblatt.plots import BoundaryDisplay, SeparabilityDisplay
from tests.plots.examples import AND_X, AND_Y, blobs, ring_of_classes, with_weights


def test_known_boundary() -> None:
    """For w = (3, 4), b = −5 all lines are where geometry puts them."""
    X, y = np.array([[0.0, 0.0], [3.0, 4.0]]), ["a", "b"]
    display = BoundaryDisplay.from_estimator(with_weights([3.0, 4.0], -5.0, y), X, y)
    assert display.boundary is not None
    np.testing.assert_allclose(display.boundary @ [3, 4] - 5, 0, atol=1e-12)
    assert display.perpendicular is not None
    np.testing.assert_allclose(display.perpendicular @ [3, 4], 0, atol=1e-12)
    assert display.shift is not None
    np.testing.assert_allclose(display.shift, np.array([[0, 0], [0.6, 0.8]]))  # 1 along w
    assert display.margin == 5.0  # y·a of the first row; the second has 20
    assert display.band is not None
    activations = display.band @ [3, 4] - 5
    assert activations.min() == pytest.approx(-5)
    assert activations.max() == pytest.approx(5)


def test_lines_end_at_the_frame() -> None:
    """Both ends of the boundary lie on the rim of the picture."""
    X, y = blobs()
    display = BoundaryDisplay.from_estimator(Perceptron().fit(X, y), X, y)
    assert display.boundary is not None
    frame = display.frame
    for u, v in display.boundary:
        gaps = [u - frame.left, frame.right - u, v - frame.bottom, frame.top - v]
        assert min(np.abs(gaps)) < 1e-9
        assert min(gaps) > -1e-9


def test_drawn_on_given_axes() -> None:
    """plot(ax=ax) draws there, opens no figure, and keeps what it drew."""
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    X, y = blobs()
    ax = Figure().add_subplot()
    display = BoundaryDisplay.from_estimator(Perceptron().fit(X, y), X, y)
    assert display.plot(ax) is display
    assert plt.get_fignums() == []
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    np.testing.assert_array_equal(display.line_.get_xydata(), display.boundary)
    drawn = np.concatenate([c.get_offsets() for c in display.points_])
    assert {*map(tuple, drawn.tolist())} == {*map(tuple, X.tolist())}
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts[:2] == ["ham", "spam"]
    assert "boundary, w·x + b = 0" in texts
    assert ax.get_aspect() == 1.0  # right angles are right angles


def test_arrow_is_perpendicular() -> None:
    """The weight vector stands on the boundary at a right angle and points to the second class."""
    X, y = blobs()
    display = BoundaryDisplay.from_estimator(Perceptron().fit(X, y), X, y).plot()
    assert display.boundary is not None
    tip, foot = np.array(display.arrow_.xy), np.array(display.arrow_.xyann)
    along = display.boundary[1] - display.boundary[0]
    assert (tip - foot) @ along == pytest.approx(0, abs=1e-9)
    assert tip @ display.w + display.b > 0
    assert foot @ display.w + display.b == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("labels", [("yes", "no"), (1, 2), (False, True), (-1.0, 3.0)])
def test_any_labels(labels: tuple[Any, Any]) -> None:
    """Strings, whole numbers, fractions and booleans all name classes in the legend."""
    X, y = blobs()
    given = np.array(labels)[(y == "spam").astype(int)]
    display = BoundaryDisplay.from_estimator(Perceptron().fit(X, given), X, given).plot()
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts[:2] == [str(label) for label in sorted(labels)]


def test_colour_and_shape_differ() -> None:
    """Classes differ in colour and in marker, so that either will do."""
    X, y = blobs()
    first, second = BoundaryDisplay.from_estimator(Perceptron().fit(X, y), X, y).plot().points_
    assert not np.array_equal(first.get_facecolor(), second.get_facecolor())
    assert len(first.get_paths()[0].vertices) != len(second.get_paths()[0].vertices)


def test_features_of_many() -> None:
    """Two of several features: the line is where the others at their means give activation 0."""
    X, y = blobs(n_features=4)
    clf = AveragedPerceptron().fit(X, y)
    display = BoundaryDisplay.from_estimator(clf, X, y, features=(2, 0))
    assert display.boundary is not None
    rows = np.tile(X.mean(axis=0), (2, 1))
    rows[:, [2, 0]] = display.boundary
    np.testing.assert_allclose(clf.decision_function(rows), 0, atol=1e-9)
    np.testing.assert_array_equal(display.points, X[:, [2, 0]])
    assert "the other 2 features at the mean" in display.plot().ax_.get_title(loc="left")


@pytest.mark.parametrize("is_sparse", [False, True])
def test_leading_directions(is_sparse: bool) -> None:
    """The plane of the two leading directions is the one that NumPy's SVD has."""
    X, y = blobs(n_features=5)
    given = sparse.csr_array(X) if is_sparse else X
    clf = AveragedPerceptron().fit(given, y)
    display = BoundaryDisplay.from_estimator(clf, given, y, plane="pca")
    centred = X - X.mean(axis=0)
    directions = np.linalg.svd(centred)[2][:2]
    assert display.boundary is not None
    np.testing.assert_allclose(np.abs(display.points), np.abs(centred @ directions.T), atol=1e-8)
    signs = np.sign((display.points * (centred @ directions.T)).sum(axis=0))
    rows = X.mean(axis=0) + display.boundary @ (signs[:, None] * directions)
    np.testing.assert_allclose(clf.decision_function(rows), 0, atol=1e-8)
    assert "the two leading directions of 5 features" in display.note


def test_plane_of_the_weights() -> None:
    """In the plane of the weights every row is on the side where its activation puts it."""
    X, y = blobs(gap=1.0, n_features=6)
    clf = AveragedPerceptron().fit(X, y)
    display = BoundaryDisplay.from_estimator(clf, X, y)  # what is drawn of many features
    drawn = display.points @ display.w + display.b
    np.testing.assert_allclose(drawn, clf.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("library", [pd, pl])
def test_data_frames(library: Any) -> None:
    """The columns of a data frame name the axes, and features can be chosen by name."""
    X, y = blobs(n_features=3)
    frame = library.DataFrame(dict(zip(["one", "two", "three"], X.T, strict=True)))
    clf = Perceptron(max_iter=500).fit(frame, y)
    display = BoundaryDisplay.from_estimator(clf, frame, y, features=("three", "one")).plot()
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("three", "one")
    np.testing.assert_array_equal(display.points, X[:, [2, 0]])


def test_linear_models_of_scikit_learn() -> None:
    """Whatever has coef_ and intercept_ is drawn."""
    X, y = blobs()
    clf = LogisticRegression().fit(X, y)
    display = BoundaryDisplay.from_estimator(clf, X, y)
    assert display.boundary is not None
    np.testing.assert_allclose(clf.decision_function(display.boundary), 0, atol=1e-9)


def test_no_weights() -> None:
    """Weights of 0 have no boundary, which the title says."""
    display = BoundaryDisplay.from_estimator(with_weights([0, 0], 1, AND_Y), AND_X, AND_Y).plot()
    assert display.boundary is None
    assert display.band is None
    assert "all weights are 0 here" in display.ax_.get_title(loc="left")
    assert "no boundary" in display.sentence


def test_rows_on_the_wrong_side() -> None:
    """Where a row is wrong there is no margin, unless a width is asked for."""
    clf = with_weights([1, 0], -1, AND_Y)  # row 2, a "no", is on the side of "yes"
    display = BoundaryDisplay.from_estimator(clf, AND_X, AND_Y)
    assert (display.n_wrong, display.margin, display.band) == (1, 0.0, None)
    assert "1 on the wrong side" in display.sentence
    wide = BoundaryDisplay.from_estimator(clf, AND_X, AND_Y, margin=0.5)
    assert wide.band is not None
    assert np.abs(wide.band @ [1, 0] - 1).max() == pytest.approx(0.5)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e100])
def test_any_scale(scale: float) -> None:
    """Rows of any size are drawn with a line where the activation is 0, beside its terms."""
    X, y = blobs()
    clf = Perceptron(fit_intercept=False).fit(X, y)
    scaled = with_weights((clf.coef_[0] / scale).tolist(), 0.0, y)
    display = BoundaryDisplay.from_estimator(scaled, X * scale, y).plot()
    assert display.boundary is not None
    np.testing.assert_allclose(display.boundary @ scaled.coef_[0], 0, atol=1e-9)
    display.figure_.draw_without_rendering()


def test_scales_that_differ() -> None:
    """Features of very different ranges get axes of their own, and the title says so."""
    X, y = blobs()
    X = X * [1, 1e4]
    display = BoundaryDisplay.from_estimator(with_weights([1, 1e-4], 0, y), X, y).plot()
    assert not display.frame.equal
    assert "angles are skewed" in display.ax_.get_title(loc="left")


def test_constant_feature() -> None:
    """A feature that never varies does not make the picture a line."""
    X, y = blobs()
    X[:, 1] = 7
    display = BoundaryDisplay.from_estimator(with_weights([1, 0], 0, y), X, y)
    assert display.frame.bottom < 7 < display.frame.top


def test_text_of_a_legend() -> None:
    """Names with dollars are no mathematics, and long ones are cut."""
    X, y = blobs()
    names = np.where(y == "spam", "US$ and CA$", "n" * 80)
    display = BoundaryDisplay.from_estimator(Perceptron().fit(X, names), X, names).plot()
    display.figure_.draw_without_rendering()
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts[0] == r"US\$ and CA\$"
    assert len(texts[1]) < 40


def test_refused() -> None:
    """What cannot be drawn is refused with the way out."""
    X, y = blobs()
    clf = Perceptron().fit(X, y)
    with pytest.raises(InputError, match="needs a feature; the rows have none"):
        SeparabilityDisplay.from_data(X[:, :0], y)
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(InputError, match="Row 3 of X, feature 1, is NaN"):
        BoundaryDisplay.from_estimator(clf, bad, y)
    with pytest.raises(InputError, match="X has 3 features; the model was trained on 2"):
        BoundaryDisplay.from_estimator(clf, np.zeros((60, 3)), y)
    with pytest.raises(InputError, match="'eggs' in y is not a class of the model"):
        BoundaryDisplay.from_estimator(clf, X, np.where(y == "spam", "eggs", "ham"))
    with pytest.raises(InputError, match="not fitted"):
        BoundaryDisplay.from_estimator(LogisticRegression(), X, y)
    with pytest.raises(InputError, match="has no weight vector that decides; draw its regions"):
        BoundaryDisplay.from_estimator(DecisionTreeClassifier().fit(X, y), X, y)
    many = ring_of_classes(3)
    with pytest.raises(InputError, match="has 3, one per class"):
        BoundaryDisplay.from_estimator(AveragedPerceptron().fit(*many), *many)


def test_refused_features() -> None:
    """Features that are not there, or not two, are refused by name."""
    X, y = blobs(n_features=3)
    clf = AveragedPerceptron().fit(X, y)
    for features, told in (
        (("age", "0"), "There is no feature 'age'"),
        ((0, 3), "Feature 3 does not exist; the rows have features 0 to 2."),
        ((1, 1), "must differ; got 'feature 1' twice"),
        ((0, 1, 2), "features= must be two"),
    ):
        with pytest.raises(InputError, match=told):
            BoundaryDisplay.from_estimator(clf, X, y, features=features)
    with pytest.raises(InputError, match="plane must be 'pca' or 'weights'"):
        BoundaryDisplay.from_estimator(clf, X, y, plane="mean")
    with pytest.raises(InputError, match="exclude each other"):
        BoundaryDisplay.from_estimator(clf, X, y, plane="pca", features=(0, 1))
    with pytest.raises(InputError, match="feature_names has 2 names for 3 features"):
        BoundaryDisplay.from_estimator(clf, X, y, feature_names=["a", "b"])


def test_a_boundary_that_passes_elsewhere() -> None:
    """Of many features the plane of the weights is drawn, where the boundary always passes."""
    X, y = blobs(n_features=3)
    X[:, :2] *= 10
    clf = with_weights([0, 0.001, 1], -2, y)
    shown = BoundaryDisplay.from_estimator(clf, X, y)
    assert shown.boundary is not None
    assert "the plane of w" in shown.note
    asked = BoundaryDisplay.from_estimator(clf, X, y, plane="pca")
    assert asked.boundary is None
    assert "the boundary lies outside the picture" in asked.note

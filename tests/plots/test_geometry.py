"""Projections, one update, and the proof of separability, on arrays that geometry gives."""

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rosenblatt import AveragedPerceptron, Perceptron, diagnose, trace
from rosenblatt.errors import InputError
from rosenblatt.plots import ProjectionsDisplay, SeparabilityDisplay, UpdateDisplay
from rosenblatt.plots.frame import clipped, frame_of, line_in
from tests.examples import XOR_X, XOR_Y
from tests.plots.examples import AND_X, AND_Y, blobs, ring_of_classes, with_weights


@pytest.mark.parametrize("n_features", [2, 5])
def test_projections(n_features: int) -> None:
    """Each row stands at x·w/‖w‖, and its foot is the nearest point of the line along w."""
    X, y = blobs(n_features=n_features)
    clf = AveragedPerceptron().fit(X, y)
    display = ProjectionsDisplay.from_estimator(clf, X, y)
    w = clf.coef_[0]
    length = np.linalg.norm(w)
    np.testing.assert_allclose(display.projections, X @ w / length)
    assert display.threshold == pytest.approx(-clf.intercept_[0] / length)
    dropped = display.points - display.feet
    np.testing.assert_allclose(dropped @ display.direction, 0, atol=1e-9)
    along = display.feet @ display.direction  # from the origin, which is in the picture
    np.testing.assert_allclose(along, display.projections, atol=1e-9)


def test_projections_are_drawn_on_two_axes() -> None:
    """Above the plane and below the axis, on a pair of axes or in the place of one."""
    X, y = blobs()
    display = ProjectionsDisplay.from_estimator(Perceptron().fit(X, y), X, y)
    figure = Figure()
    display.plot(figure.subplots(2, 1))
    assert display.axes_ == figure.axes
    lanes = np.concatenate([lane.get_offsets() for lane in display.lanes_])
    np.testing.assert_allclose(np.sort(lanes[:, 0]), np.sort(display.projections))
    inside = Figure().add_subplot()
    display.plot(inside)
    assert len(inside.figure.axes) == 3
    assert not inside.axison  # its place is taken
    with pytest.raises(InputError, match="ax must be 2 axes, or a single one to be divided; got 3"):
        display.plot(Figure().subplots(3))
    with pytest.raises(InputError, match="ax cannot be divided into 2"):
        display.plot(Figure().add_axes((0, 0, 1, 1)))


def test_no_direction() -> None:
    """Nothing is projected onto weights of 0."""
    clf = with_weights([0, 0, 0], 1, ["a", "b"])
    with pytest.raises(InputError, match="All weights are 0, so there is no direction"):
        ProjectionsDisplay.from_estimator(clf, np.eye(3), ["a", "b", "b"])
    clf = with_weights([0, 0, 1], 1, ["a", "b"])
    with pytest.raises(InputError, match="All weights are 0 in this plane"):
        ProjectionsDisplay.from_estimator(clf, np.eye(3), ["a", "b", "b"], features=(0, 1))


def test_update_by_hand() -> None:
    """From w = (0, 0), b = −1 the row (2, 2), a "yes", makes w = (2, 2), b = 0."""
    display = UpdateDisplay.from_data(AND_X, AND_Y, update=2)
    assert (display.row, display.pass_, display.step) == (3, 1, 1.0)
    np.testing.assert_array_equal(display.before, [0, 0, -1])
    np.testing.assert_array_equal(display.after, [2, 2, 0])
    assert display.boundary_before is None
    assert display.boundary_after is not None
    np.testing.assert_allclose(display.boundary_after @ [2, 2], 0, atol=1e-12)
    assert (display.activation, display.activation_after) == (-1.0, 8.0)
    assert "Before it all weights are 0" in display.sentence
    assert display.plot().line_before_ is None


@pytest.mark.parametrize("n_features", [2, 4])
@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_update_is_that_of_the_trace(n_features: int, rule: str) -> None:
    """Before and after are the weights of the trace, and after − before is τ·y·x in the plane."""
    X, y = blobs(gap=1.0, n_features=n_features)
    steps = trace(X, y, rule=rule, only_updates=True, max_rows=4)
    display = UpdateDisplay.from_data(X, y, update=4, rule=rule)
    assert display.row == steps[3].row
    for found, step in ((display.before, steps[2]), (display.after, steps[3])):
        point = display.points[display.row]
        own = float(step.w @ X[display.row] + step.b)  # the row is in its true place
        assert point @ found[:2] + found[2] == pytest.approx(own)
    sign = 1 if y[display.row] == "spam" else -1
    moved = display.after[:2] - display.before[:2]
    np.testing.assert_allclose(moved, steps[3].step * sign * display.points[display.row])
    display.plot()
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert {"boundary before", "boundary after", "w before", "w after"} <= {*texts}


def test_update_shows_a_boundary_if_it_can() -> None:
    """By default it is the first update that finds weights other than 0."""
    display = UpdateDisplay.from_data(AND_X, AND_Y)
    assert display.boundary_before is not None
    with pytest.raises(InputError, match="Update 99 does not exist; training made 18 updates"):
        UpdateDisplay.from_data(AND_X / 2, AND_Y, update=99)


def test_separable() -> None:
    """Separable rows: nothing is in the band, and its half-width is γ, known from geometry."""
    display = SeparabilityDisplay.from_data(AND_X, AND_Y).plot()
    gamma = 1 / np.sqrt(2)  # half the way from (2, 2) to the line through (2, 0) and (0, 2)
    assert display.margin == pytest.approx(gamma)
    assert display.normal is not None
    distances = display.points @ display.normal[:2] + display.normal[2]
    assert np.abs(distances).min() == pytest.approx(gamma)
    assert display.meeting is not None
    apart = np.linalg.norm(display.meeting[1] - display.meeting[0])
    assert apart == pytest.approx(2 * gamma)
    assert 3 in display.proof_rows
    assert 0 not in display.proof_rows
    ringed: Any = display.ring_
    np.testing.assert_array_equal(ringed.get_offsets(), AND_X[display.proof_rows])
    assert display.ax_.get_title(loc="left") == "Separable"


def test_xor() -> None:
    """XOR: all four rows are the proof, and both diagonals meet in the middle (Figure 4.12)."""
    display = SeparabilityDisplay.from_data(XOR_X, XOR_Y)
    assert display.status == "inseparable"
    assert sorted(display.proof_rows.tolist()) == [0, 1, 2, 3]
    assert display.meeting is not None
    np.testing.assert_allclose(display.meeting, np.full((2, 2), 0.5))
    assert display.boundary is None
    assert "inseparable" in display.sentence


def test_classes_that_touch() -> None:
    """Classes that only touch: the boundary is drawn, no row beyond it, and those on it ringed."""
    X = np.array([(0, 0), (1, 0), (2, 1), (1, 2), (2, 1), (1, 2), (3, 1), (3, 3)], float)
    display = SeparabilityDisplay.from_data(X, [0, 0, 0, 0, 1, 1, 1, 1]).plot()
    assert display.touching.tolist() == [2, 3, 4, 5]
    assert display.normal is not None
    sides = display.points @ display.normal[:2] + display.normal[2]
    np.testing.assert_allclose(sides[2:6], 0, atol=1e-12)
    assert sides[:2].max() < 0 < sides[6:].min()
    assert "4 rows on it are ringed" in display.sentence
    ringed: Any = display.touching_
    np.testing.assert_array_equal(ringed.get_offsets(), X[2:6])


def test_one_feature() -> None:
    """Rows of one feature lie on a line, which the boundary crosses where the classes touch."""
    X = np.array([[1], [2], [3], [3], [4], [5.0]])
    display = SeparabilityDisplay.from_data(X, [0, 0, 0, 1, 1, 1], feature_names=["dose"]).plot()
    np.testing.assert_array_equal(display.points, np.column_stack([X, np.zeros(6)]))
    assert display.axis_names == ("dose", "")
    assert display.note == "one feature, along a line"
    assert display.touching.tolist() == [2, 3]
    assert display.boundary is not None
    np.testing.assert_allclose(display.boundary[:, 0], 3)
    for plane in ("pca", "weights"):
        other = SeparabilityDisplay.from_data(X, [0, 0, 0, 1, 1, 1], plane=plane)
        np.testing.assert_array_equal(other.points, display.points)


def test_inseparable_in_many_directions() -> None:
    """In whatever plane, the mixtures of either class are one point; a verdict can be given."""
    X, y = blobs(gap=0.3, n_features=3)
    verdict = diagnose(X, y)
    for features in (None, (0, 2)):
        display = SeparabilityDisplay.from_data(X, y, verdict=verdict, features=features)
        assert display.verdict is verdict
        assert display.meeting is not None
        np.testing.assert_allclose(display.meeting[0], display.meeting[1], atol=1e-9)


def test_two_classes_only() -> None:
    """Pictures of one boundary refuse other numbers of classes."""
    X, y = ring_of_classes(3)
    with pytest.raises(InputError, match="the rows have 3"):
        SeparabilityDisplay.from_data(X, y)
    with pytest.raises(InputError, match="the rows have 3"):
        UpdateDisplay.from_data(X, y)
    with pytest.raises(InputError, match="y must hold at least two classes"):
        SeparabilityDisplay.from_data(X, np.zeros(len(X)))


def test_clipping() -> None:
    """Both sides of a line make up the frame, and its ends are corners of both."""
    frame = frame_of(np.array([[0.0, 0.0], [4.0, 3.0]]))
    w, b = np.array([1.0, -2.0]), 0.7

    def area(polygon: NDArray[Any]) -> float:
        x, y = polygon.T
        return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2

    parts = [clipped(frame.corners, w, b), clipped(frame.corners, -w, -b)]
    assert sum(map(area, parts)) == pytest.approx(frame.width * frame.height)
    ends = line_in(frame, w, b)
    assert ends is not None
    for end in ends:
        for part in parts:
            assert np.abs(part - end).sum(axis=1).min() < 1e-9
    assert line_in(frame, w, 1e6) is None
    assert clipped(frame.corners, w, -1e6).shape == (0, 2)


@pytest.mark.parametrize("place", [0.0, 5.0, 1e-300, 1e300])
def test_frame_of_one_point(place: float) -> None:
    """A single point, wherever it is, has a frame around it."""
    frame = frame_of(np.full((3, 2), place))
    assert frame.left < place < frame.right
    assert np.isfinite([frame.width, frame.height]).all()

"""Probabilities from scores."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, softmax
from sklearn.calibration import _SigmoidCalibration

from rosenblatt.errors import InputError
from rosenblatt.tasks.calibration import Calibration, fit_calibration, probabilities


def two_classes(n: int, seed: int, scale: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return scores and the numbers of classes that overlap."""
    rng = np.random.default_rng(seed)
    numbers = (rng.random(n) < 0.3).astype(np.int32)
    return scale * (rng.normal(size=n) + 1.5 * numbers - 0.3), numbers


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e7])
@pytest.mark.parametrize("seed", range(3))
def test_platt_against_scikit_learn(seed: int, scale: float) -> None:
    """Slope and offset are those of scikit-learn's sigmoid, whatever the size of scores."""
    scores, numbers = two_classes(400, seed, scale)
    ours = fit_calibration(scores, numbers)
    theirs = _SigmoidCalibration().fit(scores / scale, numbers)
    assert ours.slope * scale == pytest.approx(-theirs.a_, rel=1e-3)
    assert ours.offset == pytest.approx(-theirs.b_, rel=1e-3)
    p = probabilities(ours, scores)
    np.testing.assert_allclose(p[:, 1], theirs.predict(scores / scale), atol=1e-4)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-15)
    assert ours.n_rows == 400


@given(
    st.lists(st.tuples(st.floats(-100, 100), st.integers(0, 1)), min_size=2).filter(
        lambda rows: len({number for _, number in rows}) == 2
    )
)
def test_platt_is_a_minimum(rows: list[tuple[float, int]]) -> None:
    """No other slope ≥ 0 or offset near it has a lower cross-entropy with Platt's targets."""
    scores, numbers = np.array([s for s, _ in rows]), np.array([k for _, k in rows])
    n_positive, n_negative = (numbers == 1).sum(), (numbers == 0).sum()
    target = np.where(numbers == 1, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))

    def loss(slope: float, offset: float) -> float:
        z = slope * scores + offset
        return float((np.logaddexp(0, z) - target * z).sum())

    found = fit_calibration(scores, numbers)
    assert found.slope >= 0
    best = loss(found.slope, found.offset)
    size = 0.01 / max(1e-9, float(np.abs(scores).max()))
    for slope in (found.slope - size, found.slope, found.slope + size):
        for offset in (found.offset - 0.01, found.offset, found.offset + 0.01):
            assert slope < 0 or loss(slope, offset) >= best - 1e-9 * len(rows)


@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e6])
def test_temperature_is_the_minimum(scale: float) -> None:
    """The slope for more classes is the one that a search over slopes finds."""
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 4, 500)
    scores = rng.normal(size=(500, 4)) + 1.2 * np.eye(4)[numbers]
    counts = np.bincount(numbers)
    target = (np.eye(4)[numbers] * counts[numbers, None] + 1) / (counts[numbers, None] + 4)

    def loss(slope: float) -> float:
        return float(-(target * np.log(softmax(slope * scores, axis=1))).sum())

    expected = minimize_scalar(loss, bounds=(0, 20), method="bounded", options={"xatol": 1e-9}).x
    found = fit_calibration(scale * scores, numbers)
    assert found.slope * scale == pytest.approx(expected, rel=1e-5)
    assert found.offset == 0.0
    expected_p = softmax(found.slope * scale * scores, axis=1)
    np.testing.assert_allclose(probabilities(found, scale * scores), expected_p, rtol=1e-9)


def test_two_columns_equal_platt_without_offset() -> None:
    """The softmax of two scores is the sigmoid of their difference."""
    scores = np.array([[0.5, -1.0], [2.0, 3.5], [0.0, 0.0]])
    p = probabilities(Calibration(1.7, 0.0, 3), scores)
    np.testing.assert_allclose(p[:, 1], expit(1.7 * (scores[:, 1] - scores[:, 0])))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_separable_scores(n_classes: int) -> None:
    """Scores that separate the classes still leave some doubt, less with more rows."""
    doubt = []
    for n in (30, 3000):
        numbers = np.arange(n) % n_classes
        scores = 2.0 * numbers - 1 if n_classes == 2 else np.eye(3)[numbers]
        found = fit_calibration(scores, numbers)
        p = probabilities(found, scores)
        assert (p.argmax(axis=1) == numbers).all()
        doubt.append(1 - p.max(axis=1).mean())
    assert 0.5 > doubt[0] > 50 * doubt[1] > 0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_misleading_scores(n_classes: int) -> None:
    """Where high scores go with the wrong class the slope is 0, and scores say nothing."""
    numbers = np.array([0, 1, 0, 1, 1, 1])
    scores = -2.0 * numbers if n_classes == 2 else -np.eye(3)[numbers]
    found = fit_calibration(scores, numbers)
    assert found.slope == 0.0
    p = probabilities(found, scores)
    np.testing.assert_allclose(p[0], p[-1])
    shares = [13 / 36, 23 / 36] if n_classes == 2 else [1 / 3] * 3  # of the regularised targets
    np.testing.assert_allclose(p[0], shares)


def test_equal_scores() -> None:
    """Scores that are all the same give the shares of the classes, pulled a little inwards."""
    found = fit_calibration(np.full(90, 3.0), np.repeat([0, 1], [30, 60]))
    assert found.slope == 0.0
    assert probabilities(found, np.array([3.0]))[0, 1] == pytest.approx(60 / 90, abs=0.02)


def test_rows_without_a_known_class_are_left_out() -> None:
    """Rows numbered −1, or beyond the classes, change nothing."""
    scores, numbers = two_classes(100, 0, 1.0)
    more_scores, more_numbers = np.append(scores, [50.0, -50.0]), np.append(numbers, [-1, 2])
    assert fit_calibration(more_scores, more_numbers) == fit_calibration(scores, numbers)


@pytest.mark.parametrize(
    ("numbers", "met"), [([1, 1, 1], "all 3 rows of one class"), ([-1, -1, -1], "no row")]
)
@pytest.mark.parametrize("scores", [np.zeros(3), np.zeros((3, 4))])
def test_too_few_classes(scores: NDArray[Any], numbers: list[int], met: str) -> None:
    """Fewer than two classes cannot be calibrated, and the error says what came."""
    words = f"held-out rows of at least two classes; got {met}"
    with pytest.raises(InputError, match=words):
        fit_calibration(scores, np.array(numbers))


def test_large_scores() -> None:
    """Scores near the end of float64 give 0 and 1, without a warning."""
    huge = np.array([-1e308, 0.0, 1e308])
    assert probabilities(Calibration(10.0, 1.0, 9), huge)[:, 1].tolist() == [0, expit(1.0), 1]
    many = probabilities(Calibration(10.0, 0.0, 9), np.array([[1e307, -1e307, 1e307]]))
    assert many.tolist() == [[0.5, 0.0, 0.5]]

"""Separation for logistic regressions against plain fractions, published data and fits."""

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from rosenblatt import diagnose
from tests.theory.separation_reference import separation, signs

TOUCHING = [[1], [2], [3], [3], [4], [5]], [0, 0, 0, 1, 1, 1]
ENDOMETRIAL = Path(__file__).with_name("sets") / "endometrial.csv"
POINTS: dict[str, NDArray[Any]] = {
    "line": np.arange(1.0, 8.0)[:, None],
    "pairs on a line": np.repeat(np.arange(4.0), 2)[:, None],
    "one point often": np.array([0, 0, 0, 1, 2, 2, 3, 3.0])[:, None],
    "line and constant": np.column_stack([np.arange(7.0), np.full(7, 2.0)]),
    "one line in the plane": np.column_stack([np.arange(7.0), 2 * np.arange(7.0) - 3]),
    "grid": np.array([*product((0, 1, 2), (0, 1))], float),
    "cross": np.array([(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0), (2, 2), (2, 2)], float),
    "square twice": np.array([*product((0, 1), repeat=2)] * 2, float),
    "categories": np.array([(1, 0), (1, 0), (1, 0), (0, 1), (0, 1), (0, 0), (0, 0)], float),
    "every category": np.eye(3)[[0, 0, 0, 1, 1, 1, 2, 2]],
    "cube": np.array([*product((0, 1), repeat=3)], float),
    "plane in space": np.array(
        [(a, b, a + b) for a, b in product((0, 1, 2), (0, 1, 3))][:8], float
    ),
    "zeros": np.column_stack([np.arange(6.0), np.zeros(6), np.arange(6.0) % 2]),
}


def random_points(number: int) -> NDArray[Any]:
    """Return 6 to 8 points of a small grid in 1 to 3 dimensions, of which some coincide."""
    generator = np.random.default_rng((43, number))
    X = generator.integers(0, generator.choice([2, 3, 5]), generator.integers((6, 1), (9, 4)))
    if number % 4 == 1:
        X[:, -1] = X[:, 0] + 1
    elif number % 4 == 2:
        X[:, -1] = 2
    return X.astype(float)


def labellings(n: int, step: int = 1) -> Iterator[NDArray[Any]]:
    """Yield labels of n rows, every so many of those with both classes."""
    for code in range(1, 2**n - 1, step):
        yield np.array([code >> i & 1 for i in range(n)])


def compare(X: NDArray[Any], y: NDArray[Any]) -> str:
    """Fail unless kind, boundary rows and every sign are those of the reference, and are proved."""
    verdict, rows, labels = diagnose(X, y), X.tolist(), y.tolist()
    estimates, found = verdict.estimates, separation(rows, labels)
    assert verdict.separation == found.kind
    assert (verdict.status == "separable") == (found.kind == "complete")
    assert verdict.boundary_rows == found.boundary
    assert verdict.check(X, y)
    assert not estimates.undecided
    assert not estimates.notes
    names = [*(f"feature {j}" for j in range(X.shape[1])), "bias"]
    left_out = [names.index(name) for name in estimates.collinear]
    blocks = [f"{label}: " for label in verdict.classes] if len(verdict.classes) > 2 else [""]
    said = [
        [
            None
            if block + name in estimates.undetermined
            else verdict.infinite.get(block + name, 0)
            for name in names
        ]
        for block in blocks
    ]
    assert said == signs(found, rows, len(verdict.classes), left_out)
    return found.kind


def compare_labels(X: NDArray[Any], step: int = 1) -> Counter[str]:
    """Compare labellings of a set of points; return how often each kind occurred."""
    return Counter(compare(X, y) for y in labellings(len(X), step))


@pytest.mark.parametrize("name", POINTS)
def test_some_labellings_of_named_points(name: str) -> None:
    """Kind, boundary and signs on points that coincide, lie on lines or have constant columns."""
    assert compare_labels(POINTS[name], step=17)


@pytest.mark.parametrize("number", range(8))
def test_some_labellings_of_random_points(number: int) -> None:
    """The same on points of a small grid."""
    assert compare_labels(random_points(number), step=23)


@pytest.mark.explore
@pytest.mark.parametrize("name", POINTS)
def test_all_labellings_of_named_points(name: str) -> None:
    """No wrong kind, boundary row or sign in any labelling: 2,278 sets."""
    assert compare_labels(POINTS[name]).total() == 2 ** len(POINTS[name]) - 2


@pytest.mark.explore
@pytest.mark.parametrize("number", range(140))
def test_all_labellings_of_random_points(number: int) -> None:
    """The same on points of small grids: 20,392 sets."""
    X = random_points(number)
    assert compare_labels(X).total() == 2 ** len(X) - 2


def three_classes(number: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return six points in one or two dimensions with three classes, often in order."""
    generator = np.random.default_rng((44, number))
    X = generator.integers(0, 4, (6, int(generator.integers(1, 3)))).astype(float)
    y = np.argsort(np.argsort(X.sum(axis=1), kind="stable"), kind="stable") // 2
    if number % 2:
        i, j = generator.integers(0, 6, 2)
        y[[i, j]] = y[[j, i]]
    return X, y


@pytest.mark.parametrize("number", range(6))
def test_three_classes(number: int) -> None:
    """Multinomial separation by pairs of class vectors, with signs against the first class."""
    assert compare(*three_classes(number))


@pytest.mark.explore
@pytest.mark.parametrize("number", range(300))
def test_three_classes_often(number: int) -> None:
    """The same on hundreds of sets."""
    assert compare(*three_classes(number))


def endometrial() -> tuple[NDArray[Any], NDArray[Any]]:
    """Return NV, PI and EH, and whether the grade is high (Heinze and Schemper 2002)."""
    table = np.loadtxt(ENDOMETRIAL, delimiter=",", skiprows=1)
    return table[:, :3], table[:, 3].astype(int)


def test_classes_that_touch() -> None:
    """Where classes touch at 3, slope and bias are infinite, and two rows on the boundary."""
    verdict = diagnose(*TOUCHING)
    assert verdict.status == "inseparable"
    assert verdict.separation == "quasi-complete"
    assert verdict.infinite == {"feature 0": 1, "bias": -1}
    assert verdict.boundary_rows == (2, 3)
    assert verdict.estimates.direction == ((1, -3),)


def test_endometrial_cancer() -> None:
    """Of the 79 published cases NV is infinite; PI, EH and the bias have finite estimates."""
    X, y = endometrial()
    assert (len(X), X[:, 0].sum(), y.sum()) == (79, 13, 30)
    verdict = diagnose(X, y, feature_names=["NV", "PI", "EH"])
    assert verdict.separation == "quasi-complete"
    assert verdict.infinite == {"NV": 1}
    assert verdict.estimates.undetermined == verdict.estimates.collinear == ()
    assert verdict.boundary_rows == tuple(np.flatnonzero(X[:, 0] == 0))
    assert verdict.check(X, y)
    csr = diagnose(sparse.csr_array(X), y, feature_names=["NV", "PI", "EH"])
    assert csr.estimates == verdict.estimates


def test_iris() -> None:
    """Setosa is separated completely; the other two overlap; all three are quasi-complete."""
    X, y = load_iris(return_X_y=True)
    assert diagnose(X[y < 2], y[y < 2]).separation == "complete"
    assert diagnose(X[y > 0], y[y > 0]).separation == "overlap"
    three = diagnose(X, y)
    assert three.separation == "quasi-complete"
    assert three.boundary_rows == tuple(np.flatnonzero(y > 0))
    assert three.check(X, y)
    assert not diagnose(X[y < 2], y[y < 2]).estimates.undecided


def test_too_many_coefficients_are_said() -> None:
    """Beyond 200 coefficients the kind is proved, and a note says what is not examined."""
    generator = np.random.default_rng(7)
    X, y = generator.normal(size=(40, 230)).round(2), np.arange(40) % 2
    estimates = diagnose(X, y).estimates
    assert estimates.kind == "complete"
    note = "which coefficients are infinite is examined for at most 200; here are 231"
    assert estimates.notes == (note,)


def outcomes(number: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return three numbers a row and a category whose rows all have the outcome 1."""
    generator = np.random.default_rng((45, number))
    X = generator.normal(size=(60, 4)).round(2)
    X[:, 3] = generator.random(60) < 0.2
    y = (X[:, 0] - X[:, 1] + generator.logistic(size=60) > 0).astype(int)
    y[X[:, 3] == 1] = 1
    if number % 2:  # all of a class beyond a number: that column is infinite, too
        X[:, 2] = np.where(X[:, 3] == 1, X[:, 2], np.where(y, 2.0, generator.choice([0, 2], 60)))
    return X, y


@pytest.mark.parametrize("number", [None, *range(6)])
def test_fits_without_a_penalty_agree(number: int | None) -> None:
    """In scikit-learn without a penalty infinite coefficients grow with every step; others settle.

    What they settle at are the estimates of the boundary rows alone.
    """
    X, y = endometrial() if number is None else outcomes(number)
    verdict = diagnose(X, y)
    assert verdict.separation == "quasi-complete"
    assert not verdict.estimates.undetermined

    def fit(X: NDArray[Any], y: NDArray[Any], steps: int) -> NDArray[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an end that was not reached
            model = LogisticRegression(
                C=np.inf, solver="newton-cholesky", max_iter=steps, tol=1e-14
            ).fit(X, y)
        return np.append(model.coef_, model.intercept_)

    names = [*(f"feature {j}" for j in range(X.shape[1])), "bias"]
    signs = np.array([verdict.infinite.get(name, 0) for name in names])
    fits = np.array([fit(X, y, steps) for steps in (10, 14, 18)])
    assert (np.diff(fits * signs, axis=0)[:, signs != 0] > 1).all()
    np.testing.assert_allclose(fits[-1, signs == 0], fits[-2, signs == 0], rtol=1e-5)
    rows, finite = list(verdict.boundary_rows), signs[:-1] == 0
    if not signs[-1]:
        rest = fit(X[rows][:, finite], y[rows], 18)
        np.testing.assert_allclose(fits[-1, signs == 0], rest, rtol=1e-4)


def test_the_category_at_fault_is_named() -> None:
    """Of three categories the pure one is infinite, and another is left out, wherever it stands."""
    for place in range(3):
        order = np.roll(np.arange(3), place)
        X = np.eye(3)[[0, 0, 1, 1, 2, 2]][:, order]
        names = [f"colour={'abc'[k]}" for k in order]
        verdict = diagnose(X, [0, 1, 0, 1, 1, 1], feature_names=names)
        assert verdict.infinite == {"colour=c": 1}
        assert verdict.estimates.collinear in {("colour=a",), ("colour=b",)}


def test_values_are_taken_as_they_print() -> None:
    """A point between two others overlaps on paper, though not as the numbers are stored."""
    X, y = [[0.1], [0.2], [0.3], [0.1], [0.5]], [0, 1, 0, 1, 1]
    verdict = diagnose(X, y)
    assert verdict.separation == "overlap"
    assert verdict.check(X, y)
    assert not verdict.check([[0.1], [0.2], [0.3], [0.15], [0.5]], [1, 0, 1, 0, 0])


def test_signs_are_those_of_values_as_they_print() -> None:
    """A coefficient that is at most 0 on paper is −∞, though stored values leave it some room."""
    few = [[1, -1, -1, 2], [1, 3, 2, 1], [1, 2, 0, 0], [1, 0, 1, 2]]
    X = np.array([*few, [1, 3, 3, 3], [3, 2, -1, 0], [0, 3, -1, 2], [2, 3, 1, 0]], float)
    y = [0, 0, 0, 1, 1, 0, 0, 1]
    signs = {"feature 0": 1, "feature 1": -1, "feature 2": 1}
    assert diagnose(X, y).infinite == diagnose(X / 100, y).infinite == signs


def test_a_changed_proof_fails() -> None:
    """A direction with a row on the wrong side, or other boundary rows, prove nothing."""
    verdict = diagnose(*TOUCHING)
    for change in ({"direction": ((1, -4),)}, {"boundary_rows": (2,)}, {"kind": "overlap"}):
        estimates = replace(verdict.estimates, **change)
        assert not replace(verdict, estimates=estimates).check(*TOUCHING)


def test_no_time_is_undecided() -> None:
    """Without time nothing is guessed."""
    X, y = np.random.default_rng(0).standard_normal((40, 5)), np.arange(40) % 2
    verdict = diagnose(X, y, time_limit=0.0)
    assert verdict.separation == "undecided"
    assert not verdict.infinite


def test_words_of_a_frame_are_features() -> None:
    """Each category has a coefficient of its own, and the frame says the same as its indicators."""
    colours, size = [*"rrggbb"], [1, 2, 1, 2, 1, 2]
    verdict = diagnose(pl.DataFrame({"colour": colours, "size": size}), [0, 1, 0, 1, 1, 1])
    X = np.column_stack([size, *(np.array(colours) == c for c in "rgb")]).astype(float)
    names = ["size", "colour=r", "colour=g", "colour=b"]
    other = diagnose(X, [0, 1, 0, 1, 1, 1], feature_names=names)
    assert verdict.separation == other.separation
    assert {name.lower(): sign for name, sign in verdict.infinite.items()} == other.infinite

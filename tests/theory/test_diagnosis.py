"""Verdicts on sets whose answer is known, each with its proof checked."""

import json
from fractions import Fraction
from math import inf, isclose
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import SVC

from rosenblatt import Perceptron
from rosenblatt.errors import InputError
from rosenblatt.theory.certificate import Certificate, MachineCertificate
from rosenblatt.theory.diagnosis import diagnose
from tests.examples import tries
from tests.theory.checking import check
from tests.theory.fuzzing import search

CORNERS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
XOR = np.array([0, 1, 1, 0])
HALF = Fraction(1, 2)


def separable(n: int, d: int, gap: float, seed: int) -> tuple[Any, Any]:
    """Return random rows with a strip of half-width ``gap`` between two classes."""
    generator = np.random.default_rng(seed)
    w = generator.standard_normal(d)
    w /= np.linalg.norm(w)
    X = generator.standard_normal((n, d))
    y = (X @ w > 0.1).astype(int)
    y[:2] = 0, 1
    X[:2] = np.outer([-1.0, 1.0], w)
    return X + np.outer((2 * y - 1) * gap, w), y


def test_xor() -> None:
    """XOR is inseparable: both diagonals meet in the middle of the square."""
    verdict = diagnose(CORNERS, XOR)
    assert verdict.status == "inseparable"
    assert verdict.certificate == Certificate((1, 2), (HALF, HALF), (0, 3), (HALF, HALF), (0, 1))
    check(verdict, CORNERS, XOR)


def test_xor_with_the_conjunction() -> None:
    """With the feature x₁∧x₂ a plane separates XOR, with the margin 1/√24."""
    X = np.column_stack([CORNERS, CORNERS.prod(axis=1)])
    verdict = diagnose(X, XOR)
    assert verdict.status == "separable"
    assert (
        Fraction(verdict.margin_low) ** 2 <= Fraction(1, 24) <= Fraction(verdict.margin_high) ** 2
    )
    assert isclose(verdict.augmented_low, 0.2)
    assert isclose(verdict.radius, 2.0)
    assert isclose(verdict.bound or 0, 100.0, rel_tol=1e-9)
    check(verdict, X, XOR)


@pytest.mark.parametrize("X", [np.empty((2, 0)), [[], []], sparse.csr_array((2, 0))])
def test_no_features(X: Any) -> None:
    """One positive and one negative row without features are a conflict."""
    verdict = diagnose(X, ["+", "-"])
    assert verdict.status == "inseparable"
    assert verdict.conflicts == ((0, 1),)


def test_conflicts_come_first() -> None:
    """Equal rows with different labels are all listed, whatever the sign of their zeros."""
    X = np.array(
        [[1.0, 0.0], [2.0, 3.0], [1.0, -0.0], [5.0, 5.0], [2.0, 3.0], [2.0, 3.0], [5.0, 5.0]]
    )
    y = np.array([0, 1, 1, 1, 1, 0, 1])
    for rows in (X, sparse.csr_array(X), X.astype(np.float32)):
        verdict = diagnose(rows, y)
        assert verdict.conflicts == ((0, 2), (1, 4, 5))
        assert str(verdict).splitlines()[1].split() == [
            "conflicts",
            "2",
            "groups",
            "of",
            "equal",
            "rows",
            "with",
            "several",
            "labels",
        ]
        check(verdict, X, y)


def test_margin_against_an_independent_solver() -> None:
    """On 25 random separable sets γ agrees with libsvm's to five digits, and is certain to 1e-6."""
    for seed in range(25):
        generator = np.random.default_rng(seed)
        n, d = int(generator.integers(5, 150)), int(generator.integers(1, 12))
        X, y = separable(n, d, float(10 ** generator.uniform(-1.5, 0.5)), seed)
        verdict = diagnose(X, y)
        assert verdict.status == "separable"
        assert verdict.gap is not None
        assert verdict.gap <= 1e-6
        svm = SVC(kernel="linear", C=1e9, tol=1e-9).fit(X, y)
        assert isclose(1 / np.linalg.norm(svm.coef_), verdict.margin_low, rel_tol=1e-5)
        check(verdict, X, y)


@pytest.mark.parametrize(
    ("gap", "form"),
    [
        *[(1e-3, np.asarray), (1e-6, sparse.csr_array), (1e-9, np.asarray)],
        *[(1e-12, sparse.csr_array), (1e-14, np.asarray), (1e-14, sparse.csr_array)],
    ],
)
def test_thin_margins(gap: float, form: Any) -> None:
    """A strip down to the edge of rounding is found among many rows, however they are stored."""
    generator = np.random.default_rng(0)
    w = np.array([0.6, 0.8, 0.0])
    X = generator.standard_normal((2000, 3))
    X -= np.outer(X @ w, w)
    y = generator.integers(0, 2, len(X))
    X += np.outer((2 * y - 1) * gap, w)
    verdict = diagnose(form(X), y)
    assert verdict.status != "inseparable"
    check(verdict, X, y)
    assert verdict.margin_low <= gap * 1.01
    assert verdict.status == "separable"
    assert verdict.margin_low > 0.9 * gap


def test_one_flipped_label() -> None:
    """One wrong label among 20,000 rows is found, and is part of the certificate."""
    X, y = separable(20_000, 5, 0.2, 3)
    assert diagnose(X, y).status == "separable"
    y[777] = 1 - y[777]
    verdict = diagnose(X, y)
    assert verdict.status == "inseparable"
    assert isinstance(verdict.certificate, Certificate)
    assert 777 in verdict.certificate.positive_rows + verdict.certificate.negative_rows
    check(verdict, X, y)


def test_short_decimals() -> None:
    """Points on a line as printed, off it by the last bit as stored, are read as printed."""
    X, y = np.array([[0.1, 1.0], [0.2, 2.0], [0.3, 3.0]]), np.array([0, 1, 0])
    verdict = diagnose(X, y)
    assert verdict.status == "inseparable"
    assert isinstance(verdict.certificate, Certificate)
    assert verdict.certificate.arithmetic == "decimal"
    check(verdict, X, y)


def test_more_columns_than_rows() -> None:
    """Sparse text with more words than documents is separable, with a certain margin."""
    X = sparse.random_array((60, 300), density=0.05, rng=np.random.default_rng(0)).tocsr()
    y = np.random.default_rng(1).integers(0, 2, 60)
    verdict = diagnose(X, y)
    assert verdict.status == "separable"
    assert (verdict.gap or 1) <= 1e-6
    check(verdict, X.toarray(), y)


def test_dense_and_sparse_agree() -> None:
    """The same rows as CSR get the same verdict and an overlapping interval."""
    X, y = separable(200, 4, 0.1, 5)
    dense, csr = diagnose(X, y), diagnose(sparse.csr_array(X), y)
    assert max(dense.margin_low, csr.margin_low) <= min(dense.margin_high, csr.margin_high)


def test_badly_scaled_columns() -> None:
    """Columns of sizes from 1e-8 to 1e8, or far from zero, change no verdict."""
    X, y = separable(500, 5, 0.1, 7)
    for rows in (X * 10.0 ** np.array([-8, 8, 0, -4, 3]), X + 1e5):
        verdict = diagnose(rows, y)
        assert verdict.status == "separable"
        check(verdict, rows, y)
    assert (diagnose(X * 10.0 ** np.array([-4, 4, 0, -2, 3]), y).gap or 1) <= 1e-6
    y[5] = 1 - y[5]
    y[6] = 1 - y[6]
    rows = X * 10.0 ** np.array([-8, 8, 0, -4, 3])
    verdict = diagnose(rows, y)
    assert verdict.status == "inseparable"
    check(verdict, rows, y)


def test_several_classes() -> None:
    """Each pair and the one machine get a verdict with proof."""
    generator = np.random.default_rng(0)
    centres = np.array([[0.0, 5.0], [5.0, -3.0], [-5.0, -3.0]])
    y = np.repeat(["a", "b", "c"], 30)
    X = np.repeat(centres, 30, axis=0) + generator.uniform(-1, 1, (90, 2))
    verdict = diagnose(X, y)
    assert verdict.status == "separable"
    assert [pair.labels for pair in verdict.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert all(pair.status == "separable" for pair in verdict.pairs)
    assert (verdict.gap or 1) < 1e-6
    check(verdict, X, y)
    y[40] = "a"
    verdict = diagnose(X, y)
    assert verdict.status == "inseparable"
    assert [pair.status for pair in verdict.pairs] == ["inseparable", "separable", "separable"]
    check(verdict, X, y)


def test_separable_pairs_without_one_machine() -> None:
    """Where every pair is separable and the whole is not, the machine has its own certificate."""
    pinwheel = [[-10, -10], [100, -10], [14, -4], [-41, 92], [-4, 14], [-59, -82]]
    X, y = np.array(pinwheel), np.array([0, 0, 1, 1, 2, 2])
    verdict = diagnose(X, y)
    assert verdict.status == "inseparable"
    assert all(pair.status == "separable" for pair in verdict.pairs)
    assert isinstance(verdict.certificate, MachineCertificate)
    check(verdict, X, y)


def test_the_bound_holds_for_training() -> None:
    """The mistakes of a model stand beside the bound, and are no more."""
    X, y = separable(300, 3, 0.3, 11)
    model = Perceptron(shuffle=False).fit(X, y)
    verdict = diagnose(X, y, model=model)
    assert verdict.mistakes == model.n_mistakes_
    assert verdict.bound is not None
    assert verdict.mistakes <= verdict.bound


def test_forms() -> None:
    """A verdict prints itself, converts to strict JSON and draws itself."""
    for y in (XOR, [0, 0, 0, 1], [0, 1, 2, 3]):
        verdict = diagnose(CORNERS, y)
        plain = json.loads(verdict.to_json())
        assert plain["status"] == verdict.status in str(verdict)
        assert verdict.status in verdict._repr_html_()
        assert (plain["margin_low"] is None) == (verdict.margin_low == -inf)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0, np.nan], [0, 1]], [0, 1], "Row 0 of X, feature 1, is NaN, a missing value"),
        ([[1.0], [2.0]], [7, 7], "y must hold at least two classes; got one class, 7, in 2 rows"),
        ([[1.0], [2.0]], [0], "inconsistent numbers of samples"),
        (np.empty((0, 2)), [], r"0 sample\(s\)"),
        ([1.0, 2.0], [0, 1], "Expected 2D array, got 1D array instead"),
    ],
)
def test_bad_input(X: Any, y: Any, message: str) -> None:
    """What cannot be diagnosed is refused in the sentences of the estimators."""
    with pytest.raises(ValueError, match=message):
        diagnose(X, y)


def test_no_time() -> None:
    """Without time the verdict says so, or is right."""
    X, y = separable(2000, 5, 1e-4, 0)
    verdict = diagnose(X, y, time_limit=0.0)
    assert verdict.status != "inseparable"
    check(verdict, X, y)


def test_verdicts_on_odd_sets_hold() -> None:
    """The proof holds for tiny gaps, huge and denormal numbers, rows that touch."""
    assert set(search(16, seed=0)) >= {"separable", "inseparable"}


@pytest.mark.explore
def test_verdicts_on_many_odd_sets_hold(random_seed: int) -> None:
    """It holds for many more."""
    search(10_000, random_seed)


small = st.integers(-3, 3) | st.sampled_from([0.1, 0.25, 0.7, 1e-9, 1e9, 1 / 3])


@tries(60)
@given(st.data())
def test_every_proof_verifies(data: st.DataObject) -> None:
    """Whatever the rows, the verdict is one of three and its proof holds."""
    n, d = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 3))
    X = np.array(
        data.draw(st.lists(st.lists(small, min_size=d, max_size=d), min_size=n, max_size=n))
    )
    y = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    if len(set(y)) < 2:
        y[0] = y[0] + 1
    check(diagnose(X.astype(float), y), X.astype(float), y)


BIG = [[1, 7], [1, 2**53 + 1], [1, 2**53]]


@pytest.mark.parametrize(
    "X",
    [
        BIG,
        np.array(BIG),
        np.array(BIG, object),
        pd.DataFrame({"a": [0.5] * 3, "b": [row[1] for row in BIG]}),
        sparse.csr_array(np.array(BIG)),
        [[0.5, row[1]] for row in BIG],
    ],
)
def test_whole_numbers_that_would_be_rounded_are_refused(X: Any) -> None:
    """A whole number that is no float64 has no verdict, since that would be of other rows."""
    with pytest.raises(InputError, match="Row 1 of X has the whole number 9007199254740993, which"):
        diagnose(X, [0, 1, 0])
    assert diagnose([[2**53], [2**53 + 2]], [0, 1]).status == "separable"
    assert diagnose([[1e300], [2e300]], [0, 1]).status == "separable"

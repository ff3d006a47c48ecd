from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import FeatureConjunctions, Perceptron
from rosenblatt.data import conjunctions as expansion_module
from rosenblatt.errors import InputError

# The textbook's reviews: praise unless "not" is there too.
NAMES = ["excellent", "terrible", "not"]
REVIEWS = [[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1]]
SENTIMENTS = [1, -1, -1, 1]
TEXTBOOK_WEIGHTS = [+1, -1, 0, -2, +2]


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [FeatureConjunctions(), FeatureConjunctions(3), FeatureConjunctions(hash_bits=4)]
)
def test_scikit_learn_check(estimator: Any, check: Callable[[Any], None]) -> None:
    """Every check of scikit-learn passes."""
    check(estimator)


def test_the_weights_of_the_textbook_classify_its_reviews() -> None:
    """(+1, −1, 0, −2, +2) without a bias is right on every review."""
    pairs = FeatureConjunctions().fit(REVIEWS)
    names = pairs.get_feature_names_out(NAMES).tolist()
    assert names == [*NAMES, "excellent-and-not", "terrible-and-not"]
    scores = pairs.transform(REVIEWS) @ TEXTBOOK_WEIGHTS
    assert np.array_equal(np.sign(scores), SENTIMENTS)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_a_perceptron_learns_the_reviews_with_pairs_and_not_without(form: Any) -> None:
    """The pairs make separable what no line separates."""
    X = form(np.array(REVIEWS, float))
    learned = make_pipeline(FeatureConjunctions(), Perceptron()).fit(X, SENTIMENTS)
    assert learned[-1].converged_
    assert learned.score(X, SENTIMENTS) == 1.0
    assert not Perceptron().fit(X, SENTIMENTS).converged_


@given(
    rows=st.integers(1, 6).flatmap(
        lambda d: st.lists(
            st.lists(st.sampled_from([0.0, 0.0, 1.0, -2.0, 0.5]), min_size=d, max_size=d),
            min_size=1,
            max_size=8,
        )
    ),
    degree=st.sampled_from([2, 3]),
)
def test_the_columns_are_those_of_polynomial_features_that_occur(
    rows: list[list[float]], degree: int
) -> None:
    """Scikit-learn's interaction features, less those that are 0 in every row; sparse as dense."""
    X = np.array(rows)
    names = [f"f{j}" for j in range(X.shape[1])]
    reference = PolynomialFeatures(degree, interaction_only=True, include_bias=False).fit(X)
    wide = reference.transform(X)
    occurs = wide.any(axis=0)
    occurs[: X.shape[1]] = True
    ours = FeatureConjunctions(degree).fit(X)
    assert np.array_equal(ours.transform(X), wide[:, occurs])
    named = [name.replace(" ", "-and-") for name in reference.get_feature_names_out(names)]
    assert ours.get_feature_names_out(names).tolist() == list(np.array(named)[occurs])
    of_sparse = FeatureConjunctions(degree).fit(sparse.csr_matrix(X))
    found = of_sparse.transform(sparse.csr_matrix(X))
    assert isinstance(found, sparse.csr_matrix)
    assert found.has_canonical_format
    assert np.array_equal(found.toarray(), wide[:, occurs])


@pytest.mark.parametrize("degree", [2, 3])
def test_blocks_of_rows_do_not_matter(degree: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows taken a few at a time give what all at once give."""
    X = sparse.random_array((50, 30), density=0.3, format="csr", rng=np.random.default_rng(0))
    whole = FeatureConjunctions(degree).fit(X).transform(X)
    monkeypatch.setattr(expansion_module, "AT_A_TIME", 40)
    parts = FeatureConjunctions(degree).fit(X).transform(X)
    assert (whole != parts).nnz == 0
    assert np.array_equal(whole.indices, parts.indices)


@pytest.mark.parametrize("degree", [2, 3])
def test_hashed_columns_hold_the_sum_of_what_falls_into_them(degree: int) -> None:
    """Nothing is lost by hashing: each row keeps its features and the sum of its conjunctions."""
    X = np.random.default_rng(1).integers(0, 3, (20, 6)).astype(float)
    hashed = FeatureConjunctions(degree, hash_bits=3).fit(X).transform(X)
    assert hashed.shape == (20, 6 + 8)
    assert np.array_equal(hashed[:, :6], X)
    for x, z in zip(X, hashed, strict=True):
        sizes = range(2, degree + 1)
        products = [np.prod(c) for size in sizes for c in combinations(x, size)]
        assert z[6:].sum() == sum(products)


def test_too_many_conjunctions_share_columns() -> None:
    """Above max_features they are hashed into the largest power of two within it."""
    X = np.ones((2, 8))  # 28 pairs
    assert FeatureConjunctions(max_features=28).fit(X).n_conjunctions_ == 28
    many = FeatureConjunctions(max_features=27).fit(X)
    assert (many.hashed_, many.n_conjunctions_) == (True, 16)
    assert many.get_feature_names_out()[-1] == "conjunction 15"


def test_a_very_wide_sparse_row_costs_what_its_features_make() -> None:
    """Three features of ten million columns are three pairs and one triple."""
    columns = [0, 5_000_000, 9_999_999]
    X = sparse.csr_array((np.ones(3), ([0, 0, 0], columns)), shape=(1, 10_000_000))
    pairs = FeatureConjunctions().fit(X)
    assert pairs.n_conjunctions_ == 3
    assert pairs.transform(X).sum() == 6.0
    triples = FeatureConjunctions(3).fit(X)  # their numbers pass 64 bits
    assert triples.hashed_
    assert triples.transform(X).sum() == 7.0


def test_what_did_not_occur_in_training_is_left_out() -> None:
    """A pair that is met for the first time has no column."""
    pairs = FeatureConjunctions().fit([[1, 1, 0], [0, 0, 1]])
    assert pairs.transform([[0, 2, 3]]).tolist() == [[0, 2, 3, 0]]
    assert pairs.transform([[2, 2, 3]]).tolist() == [[2, 2, 3, 4]]


def test_a_zero_that_is_stored_is_no_feature() -> None:
    """An explicit zero in a CSR matrix makes no conjunction."""
    X = sparse.csr_array((np.array([1.0, 0.0, 2.0]), [0, 1, 2], [0, 3]), shape=(1, 3))
    pairs = FeatureConjunctions().fit(X)
    assert pairs.get_feature_names_out().tolist()[3:] == ["x0-and-x2"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"degree": 4}, "parameter degree of FeatureConjunctions must be 2 or 3; got 4"),
        ({"hash_bits": 0}, "must be None or an integer from 1 to 30; got 0"),
        ({"max_features": 1}, r"must be an integer from 2 to 2\^30; got 1"),
    ],
)
def test_bad_parameters_are_told(given: dict[str, Any], message: str) -> None:
    """The sentence says which parameter, what it must be and what came."""
    with pytest.raises(InputError, match=message):
        FeatureConjunctions(**given).fit([[1.0]])


def test_a_row_with_too_many_features_is_told() -> None:
    """The sentence names the row and the way out."""
    X = np.ones((2, 500))
    X[0, 3:] = 0
    with pytest.raises(InputError, match=r"Row 1 has 500 features .* or pairs alone \(degree=2\)"):
        FeatureConjunctions(3).fit(X)


def test_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of conjunctions of all rows has a limit, and the sentence says what to do."""
    monkeypatch.setattr(expansion_module, "MOST_VALUES", 100)
    with pytest.raises(InputError, match=r"more than 100 values.*Choose fewer"):
        FeatureConjunctions().fit(np.ones((4, 9)))


def test_a_missing_value_is_told_as_the_estimators_tell_it() -> None:
    """NaN is named with its row and feature."""
    with pytest.raises(InputError, match="Row 1 of X, feature 0, is NaN, a missing value"):
        FeatureConjunctions().fit([[1.0], [np.nan]])

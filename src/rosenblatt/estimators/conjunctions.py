"""Conjunctions of features as a scikit-learn transformer."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from rosenblatt.data.batch import Batch
from rosenblatt.data.conjunctions import (
    ConjunctionCollector,
    HashedConjunctions,
    KnownConjunctions,
    conjunctions,
    features_of,
)
from rosenblatt.estimators.scikit import BaseEstimator, TransformerMixin
from rosenblatt.estimators.validation import checked_matrix
from rosenblatt.parameters import Check, check_parameters, optional
from rosenblatt.rules import Interval

MOST_BITS = 30
CONJUNCTION_CHECKS = {
    "degree": Check("2 or 3", lambda value: value in (2, 3)),
    "hash_bits": optional(
        Check(
            f"an integer from 1 to {MOST_BITS}",
            Interval(low=1, high=MOST_BITS, closed=True, whole=True).accepts,
        )
    ),
    "max_features": Check(
        f"an integer from 2 to 2^{MOST_BITS}",
        Interval(low=2, high=1 << MOST_BITS, closed=True, whole=True).accepts,
    ),
}


class FeatureConjunctions(TransformerMixin, BaseEstimator):
    """Add conjunctions of features: pairs, or pairs and triples, of features present together.

    A conjunction is the product of its features: of indicators, 1 where all of them are 1. A line
    can't learn that "excellent" is praise unless "not" is there too; with the feature
    ``excellent-and-not`` it can. What does not occur in training is not made, so wide sparse rows
    cost what their own features make.

    Parameters
    ----------
    degree : 2 or 3, default 2
        2 for pairs, 3 for pairs and triples.
    hash_bits : int, default None
        Let all conjunctions share 2^hash_bits columns, 1 to 30, where several may fall in one and
        are added. None: one column each as long as there are at most ``max_features``, and above
        that the largest power of two of columns within it, shared.
    max_features : int, default 1_000_000
        How many columns of conjunctions there may be.

    Attributes
    ----------
    hashed_
        Whether conjunctions share columns.
    n_conjunctions_
        How many columns of conjunctions there are.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from rosenblatt import FeatureConjunctions
    >>> reviews = [[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1]]
    >>> pairs = FeatureConjunctions().fit(reviews)
    >>> pairs.transform(reviews)
    array([[1., 0., 0., 0., 0.],
           [0., 1., 0., 0., 0.],
           [1., 0., 1., 1., 0.],
           [0., 1., 1., 0., 1.]])
    >>> pairs.get_feature_names_out(["excellent", "terrible", "not"])[3:]
    array(['excellent-and-not', 'terrible-and-not'], dtype=object)

    References
    ----------
    H. Daumé III, *A Course in Machine Learning*, section 4.7, on feature combinations.
    """

    n_features_in_: int

    def __init__(
        self, degree: int = 2, *, hash_bits: int | None = None, max_features: int = 1_000_000
    ) -> None:
        self.degree = degree
        self.hash_bits = hash_bits
        self.max_features = max_features

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  # scikit-learn hands it over
        """Find the conjunctions that occur in the rows of X.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : ignored
        """
        check_parameters("FeatureConjunctions", self.get_params(deep=False), CONJUNCTION_CHECKS)
        rows, _ = self._rows(X, reset=True)
        d = self.n_features_in_
        self._numbering: KnownConjunctions | HashedConjunctions
        if self.hash_bits is not None:
            self._numbering = HashedConjunctions(int(self.hash_bits), d)
        else:
            occurring = ConjunctionCollector(d, self.degree, int(self.max_features))
            occurring.add(rows)
            self._numbering = occurring.numbering()
        return self.restore(self._numbering, d)

    def restore(self, numbering: KnownConjunctions | HashedConjunctions, n_features: int) -> Self:
        """Become fitted by the conjunctions of a number of features."""
        self._numbering, self.n_features_in_ = numbering, n_features
        self.hashed_ = isinstance(numbering, HashedConjunctions)
        self.n_conjunctions_ = numbering.n_columns - n_features
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows of X with their conjunctions: an array for an array, else CSR.

        Conjunctions that did not occur in ``fit`` are left out, unless they are hashed.
        """
        check_is_fitted(self)
        rows, was_sparse = self._rows(X, reset=False)
        found = conjunctions(rows, self.degree, self._numbering)
        shape = (rows.n_rows, self._numbering.n_columns)
        matrix = sparse.csr_array((found.data, found.indices, found.indptr), shape=shape)
        if not was_sparse:
            return matrix.toarray()
        return matrix if isinstance(X, sparse.sparray) else sparse.csr_matrix(matrix)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns: those of X, then ``a-and-b`` for each conjunction."""
        check_is_fitted(self, "n_features_in_")
        names = _check_feature_names_in(self, input_features)
        if not isinstance(self._numbering, KnownConjunctions):
            more = [f"conjunction {number}" for number in range(self.n_conjunctions_)]
            return np.array([*names, *more], object)
        tables = self._numbering.tables
        more = [
            "-and-".join(str(names[j]) for j in features)
            for degree in tables
            for features in features_of(tables[degree], self.n_features_in_, degree).tolist()
        ]
        return np.array([*names, *more], object)

    def _rows(self, X: Any, *, reset: bool) -> tuple[Batch, bool]:
        options = {"reset": reset, "accept_sparse": "csr", "dtype": [np.float64, np.float32]}
        X = validate_data(self, X, **options, order="C", ensure_all_finite=False)
        X, was_sparse = checked_matrix(X, self), sparse.issparse(X)
        matrix = X if was_sparse else sparse.csr_array(X)
        return Batch(matrix.data, matrix.indices, matrix.indptr), was_sparse

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

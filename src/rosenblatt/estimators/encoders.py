"""Transformers that encode columns and texts as ``rosenblatt train`` does."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.data.encoding import EncodingFit, TableEncoding
from rosenblatt.data.tables.frames import frame_tables, has_names
from rosenblatt.data.tables.table import numbered_names
from rosenblatt.errors import InputError
from rosenblatt.estimators.documentation import PARAMETERS, estimator_class
from rosenblatt.estimators.scikit import BaseEstimator, TransformerMixin
from rosenblatt.estimators.validation import first_of_words

MOST_FEATURES = 1 << 22
ENCODER_PARAMETERS = PARAMETERS | {
    "bins": (
        "Number of equally frequent ranges of each number that become features beside it; None and "
        "0 are none, since there are no labels here by which ``train_files`` chooses."
    ),
    "max_features": "When there are so many features, new words and categories are left out.",
    "sparse_output": "Return CSR arrays, not dense ones.",
}


class ColumnEncoder(TransformerMixin, BaseEstimator):
    """What the encoders of tables and of texts share."""

    n_features_in_: int
    encoding_: TableEncoding
    sparse_output: bool

    def _learn(self, X: Any, settings: dict[str, Any], text_alone: str | None = None) -> Self:
        """Learn an encoding from rows, or from texts alone, which are a column of that name."""
        tables = list(frame_tables(X, text=text_alone, arrays=True))
        if not tables:
            raise InputError("X has no rows: found 0 sample(s), and a minimum of 1 is required.")
        if text_alone is not None:
            columns = tables[0].frame.columns
            if len(columns) != 1:
                raise InputError(
                    f"X must be one column of texts; got {len(columns)}: {', '.join(columns)}. "
                    "TableEncoder takes several."
                )
            settings["text"] = columns
        fit = EncodingFit.from_sample(tables[0], **settings, labelled=False)
        for table in tables:
            fit.learn(table)
        return self.restore(fit.encoding()[0])

    def restore(self, encoding: TableEncoding) -> Self:
        """Become fitted by an encoding."""
        self.encoding_ = encoding
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of each row, a CSR array or with ``sparse_output=False`` a dense one.

        Words and levels that did not occur in ``fit`` have no feature.
        """
        check_is_fitted(self)
        batch = self.encoding_.encode_frame(self._checked(X, reset=False))
        shape = (batch.n_rows, self.encoding_.n_features)
        fits = batch.indptr[-1] <= np.iinfo(np.int32).max  # liblinear takes no wider numbers
        indptr = batch.indptr.astype(np.int32) if fits else batch.indptr
        rows = sparse.csr_array((batch.data, batch.indices, indptr), shape=shape)
        rows.sort_indices()
        return rows if self.sparse_output else rows.toarray()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002  # as all of scikit-learn
        """Return the names of the features, as ``rosenblatt weights`` shows them."""
        check_is_fitted(self)
        return np.array(self.encoding_.names(range(self.encoding_.n_features)), object)

    def _checked(self, X: Any, *, reset: bool) -> Any:  # noqa: ARG002
        """Return X as the encoding takes it."""
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


@estimator_class(ENCODER_PARAMETERS)
class TableEncoder(ColumnEncoder):
    """Turn the columns of a data frame into features, exactly as ``rosenblatt train`` does.

    Numbers are scaled to mean 0 and deviation 1, each category becomes an indicator, texts become
    TF-IDF of words and pairs of words, and dates become year, month, weekday and hour. What each
    column is, its values say where you don't. Columns are found by their names, in any order.

    {parameters}

    Attributes
    ----------
    encoding_
        What encodes: its ``columns`` say what each column was taken for, its ``notes`` what was
        unusual.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from rosenblatt import TableEncoder
    >>> rows = [{"age": 20, "city": "Rome"}, {"age": 40, "city": "Oslo"}, {"age": 60}]
    >>> encoder = TableEncoder(sparse_output=False).fit(rows)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'city=Rome', 'city=Oslo', 'city=(missing)']
    >>> encoder.transform(rows).round(2)
    array([[-1.22,  1.  ,  0.  ,  0.  ],
           [ 0.  ,  0.  ,  1.  ,  0.  ],
           [ 1.22,  0.  ,  0.  ,  1.  ]])
    """

    text: Sequence[str] = ()
    category: Sequence[str] = ()
    numeric: Sequence[str] = ()
    ignore: Sequence[str] = ()
    scale: bool = True
    missing: str = "mean"
    decimal: str | None = None
    hash_bits: int | None = None
    word_pairs: bool = True
    min_count: int | None = None
    char_ngrams: tuple[int, int] | None = None
    words: bool = True
    bins: int | None = None
    max_features: int = MOST_FEATURES
    sparse_output: bool = True

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  # scikit-learn hands it over
        """Learn from the rows of X what its columns are, their scales and their levels.

        Parameters
        ----------
        X : data frame of pandas, polars or Arrow, list of dictionaries, or array
        y : ignored
        """
        X = self._checked(X, reset=True)
        settings = self.get_params(deep=False)
        del settings["sparse_output"]
        for name in ("text", "category", "numeric", "ignore"):
            given = settings[name]
            settings[name] = [given] if isinstance(given, str) else list(given)
        return self._learn(X, settings)

    def restore(self, encoding: TableEncoding) -> Self:
        """Become fitted by an encoding."""
        names = [column.name for column in encoding.columns]
        self.n_features_in_ = len(names)
        self.__dict__.pop("feature_names_in_", None)
        if tuple(names) != numbered_names(len(names)):
            self.feature_names_in_ = np.array(names, object)
        return super().restore(encoding)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        if has_names(X):
            return X
        options = {"reset": reset, "dtype": None, "ensure_all_finite": False}
        return validate_data(self, X, **options)


@estimator_class(ENCODER_PARAMETERS)
class TextEncoder(ColumnEncoder):
    """Turn texts into TF-IDF of words and pairs of words, exactly as ``rosenblatt train`` does.

    A word is a run of letters and digits, in lower case. A term that is n times in a text weighs
    (1 + ln n)·idf with idf = 1 + ln((1 + number of texts)/(1 + number of texts with it)), and all
    terms of a text together have length 1. That is ``TfidfVectorizer`` with the same words and
    ``sublinear_tf=True``, by compiled code.

    {parameters}

    Attributes
    ----------
    encoding_
        What encodes.

    Examples
    --------
    >>> from rosenblatt import TextEncoder
    >>> encoder = TextEncoder(word_pairs=False, sparse_output=False).fit(["not good", "good"])
    >>> encoder.get_feature_names_out().tolist()
    ['not', 'good']
    >>> encoder.transform(["Good, good!", "not bad"]).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    word_pairs: bool = True
    min_count: int | None = None
    char_ngrams: tuple[int, int] | None = None
    words: bool = True
    hash_bits: int | None = None
    max_features: int = MOST_FEATURES
    sparse_output: bool = True

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  # scikit-learn hands it over
        """Learn from texts which words there are and how common each is.

        Parameters
        ----------
        X : sequence of texts, or a data frame of one column
        y : ignored
        """
        settings = self.get_params(deep=False)
        del settings["sparse_output"]
        return self._learn(X, settings, str(getattr(X, "name", None) or "text"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags


def encoded_words(X: Any, **how: Any) -> tuple[Any, TableEncoder | None]:
    """Return the features of a data frame that has words, with their encoder; all else as it is."""
    if first_of_words(X) is None:
        return X, None
    encoder = TableEncoder(**how)
    return encoder.fit_transform(X), encoder


def behind(encoder: TableEncoder, fitted: Any) -> Any:
    """Return a pipeline that encodes the columns of a data frame for what a search has fitted."""
    found = make_pipeline(encoder, fitted)
    found.search_ = fitted.search_
    return found

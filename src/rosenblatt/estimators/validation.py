"""What the user hands in: X, y and weights, checked once and turned into rows and targets."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from rosenblatt.errors import InputError, warn_caller
from rosenblatt.kernels.finite import first_not_finite
from rosenblatt.kernels.rows import Dense, Rows
from rosenblatt.kernels.shapes import as_rows, canonical, place_of
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import Model
from rosenblatt.models.rows import input_rows
from rosenblatt.rules.confidence_weighted import PAST_THE_GOAL
from rosenblatt.tasks.classes import check_count
from rosenblatt.tasks.leads import numbers_of
from rosenblatt.training.examples import class_weights, distinct
from rosenblatt.training.state import State
from rosenblatt.wording import word_list

SMALL = 4096  # values; of fewer a look at each is faster
ON_DASK = ("Perceptron", "AveragedPerceptron", "PassiveAggressiveClassifier")
DTYPES = (np.float64, np.float32, np.uint8)  # taken as they are; anything else becomes the first


def check_rows(
    estimator: Any, X: Any, y: Any = None, *, reset: bool, ordered: bool = True
) -> tuple[Rows, NDArray[Any]]:
    """Return X as rows and y as an array, empty if None.

    ``ordered``: rows have their features in order. A product with weights is the same in any, but
    for rounding, and to sort takes longer.
    """
    for name, given in (("X", X), ("y", y)):
        if type(given).__module__.partition(".")[0] == "dask":  # known without importing it
            raise _of_a_cluster(name, type(estimator).__name__)
    model: Model | None = None if reset else getattr(estimator, "_model", None)
    if model is not None and model.encodes and hasattr(estimator, "feature_names_in_"):
        batch = input_rows(model, X)
        rows = batch.csr(model.n_features, model.constant)
        return rows, np.empty(0) if y is None else _labels(y, batch.n_rows)
    options = {
        "reset": reset,
        "accept_sparse": "csr",
        "dtype": list(DTYPES),
        "order": "C",
        "ensure_all_finite": False,  # below, with the place
    }
    try:
        if reset or y is not None:
            X, y = validate_data(estimator, X, y, **options)
        else:
            X, y = validate_data(estimator, X, **options), np.empty(0)
    except ValueError as error:
        raise _of_words(X, error) from error
    if len(y):
        check_labels(y)
    found = rows_of(X, estimator, ordered=ordered)
    if model is not None and model.encodes:
        found = input_rows(model, X).csr(model.n_features, model.constant)
    return found, y


def _of_words(X: Any, error: ValueError) -> ValueError:
    """Return an error that names the first column of words in X; else the original error."""
    name = first_of_words(X)
    if name is None:
        return error
    return InputError(
        f"Column {name!r} of X holds more than numbers: make features of it with "
        "rosenblatt.TableEncoder, as in TableEncoder().fit_transform(X, y)."
    )


def first_of_words(X: Any) -> str | None:
    """Return the name of the first column of a data frame that holds more than numbers."""
    for name in getattr(X, "columns", ()):
        try:
            np.asarray(X[name], np.float64)
        except (TypeError, ValueError):
            return str(name)
    return None


def _labels(y: Any, n_rows: int) -> NDArray[Any]:
    """Return the labels of rows that were encoded, one a row."""
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    check_count(labels, n_rows)
    check_labels(labels)
    return labels


def check_labels(y: NDArray[Any]) -> None:
    """Raise where labels are no classes; whole numbers, truth values and texts always are."""
    if y.dtype.kind in "iubU":
        return
    if y.dtype == object:
        try:
            y = distinct(y)
        except TypeError as error:  # they have no order
            kinds = sorted({type(label).__name__ for label in y})
            if len(kinds) > 1:
                msg = f"y holds labels of different kinds, {word_list(kinds)}: convert all to str."
                raise InputError(msg) from error
    check_classification_targets(y)


def _of_a_cluster(name: str, estimator: str) -> InputError:
    """Return the error that keeps a Dask collection from being pulled into one process."""
    meant = f"rosenblatt.distributed.Dask{estimator}"
    if estimator not in ON_DASK:
        meant = f"rosenblatt.distributed ({', '.join(f'Dask{known}' for known in ON_DASK)})"
    return InputError(
        f"{name} is a Dask collection, and {estimator} would pull all of it into this process: use "
        f"{meant}, which learns and predicts where the data are; or, if it fits into memory, "
        f"{name}.compute()."
    )


def is_plain(estimator: Any, X: Any, y: Any) -> bool:
    """Return whether a further batch needs no more than this look at shape and type."""
    return (
        type(X) is np.ndarray
        and type(y) is np.ndarray
        and X.ndim == 2
        and y.ndim == 1
        and len(X) == len(y) > 0
        and X.dtype.type in DTYPES
        and X.dtype.isnative
        and X.shape[1] == estimator.n_features_in_
        and X.flags.c_contiguous
        and y.dtype == estimator.classes_.dtype
        and y.dtype.kind in "iub"
        and not hasattr(estimator, "feature_names_in_")
        and not estimator._model.encodes  # noqa: SLF001  # ours
    )


def rows_of(X: Any, estimator: Any, *, ordered: bool = True) -> Rows:
    """Return a checked array or CSR matrix as rows, a canonical one without a copy."""
    constant = 1.0 if estimator.fit_intercept else 0.0
    X = checked_matrix(X, estimator, ordered=ordered)
    if sparse.issparse(X):
        return as_rows(X, constant)
    return Dense(X if X.flags.aligned else X.copy(), constant)


def checked_matrix(X: Any, estimator: Any, *, ordered: bool = True) -> Any:
    """Return an array, or a CSR matrix, canonical if ``ordered``; raise for NaN and infinity."""
    if not sparse.issparse(X):
        check_finite(X, X, estimator)
        return X
    try:  # an index beyond the columns would write beyond the weights
        X.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"X is not a valid CSR matrix: {error}.") from error
    X = canonical(X) if ordered else X
    check_finite(X.data, X, estimator)
    return X


def check_finite(values: NDArray[Any], X: Any, estimator: Any) -> None:
    """Raise for the first NaN or infinity, with its row and feature."""
    if values.dtype.kind != "f":
        return
    position = -1 if _is_finite(values) else first_not_finite(values)
    if position < 0:
        return
    row, column = place_of(as_rows(X, 0.0), position)
    value = values.reshape(-1)[position]
    names = getattr(estimator, "feature_names_in_", None)
    where = f"feature {column}" if names is None else f"feature {column} ({names[column]!r})"
    kind = "NaN, a missing value" if np.isnan(value) else f"{value}, an infinity"
    raise InputError(f"Row {row} of X, {where}, is {kind}: fill it in or drop the row.")


def _is_finite(values: NDArray[Any]) -> bool:
    """Return True only if all values are finite, of many by way of the sum.

    NumPy adds faster than it compares, and any NaN or infinity stays in the sum.
    """
    if values.size <= SMALL:
        return bool(np.isfinite(values).all())
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum(dtype=values.dtype)))


def check_classes(
    classes: NDArray[Any], n_rows: int, weight: NDArray[Any] | None, fewest: int = 2
) -> None:
    """Raise where there is nothing to tell apart."""
    if weight is not None and not weight.any():
        msg = "Every sample_weight is zero: at least two rows of different classes must count."
        raise InputError(msg)
    if len(classes) < fewest:
        got = f"one class, {classes.tolist()[0]!r}," if len(classes) else "no class"
        wanted = "two classes" if fewest == 2 else "one label"
        raise InputError(f"y must hold at least {wanted}; got {got} in {n_rows} rows.")


def check_sample_weight(sample_weight: Any, n_rows: int) -> NDArray[Any] | None:
    """Return weights as float64, one a row, or None for none."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        msg = f"sample_weight must be one number a row, {n_rows} in all; got shape {weight.shape}."
        raise InputError(msg)
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise InputError(
            "sample_weight must be finite numbers of at least 0; "
            f"the weight of row {bad[0]} is {weight[bad[0]]}."
        )
    return weight


def row_weights(
    class_weight: Any,
    sample_weight: NDArray[Any] | None,
    y: NDArray[Any],
    classes: NDArray[Any],
    *,
    streamed: bool = False,
) -> NDArray[Any] | None:
    """Return what multiplies the step of each row, or None where that is 1 for all.

    Where rows are ``streamed``, a class that has a weight may be yet to come.
    """
    if class_weight is None:  # the usual case, at no cost
        return sample_weight
    if streamed:
        met = {*classes.tolist(), *map(str, classes.tolist())}
        class_weight = {k: v for k, v in class_weight.items() if k in met or str(k) in met}
    numbers = numbers_of(y, classes)
    counts = np.bincount(numbers, sample_weight, len(classes))
    by_class: Any = class_weights(class_weight, classes.tolist(), counts)
    weight: NDArray[Any] = by_class[numbers]
    return weight if sample_weight is None else weight * sample_weight


def set_start(
    state: State, coef_init: ArrayLike | None = None, intercept_init: ArrayLike | None = None
) -> None:
    """Change a state to start from given weights; an average begins with them, too."""
    if not (coef_init is None and intercept_init is None):
        state.start_average()
    weights = state.by_class(state.weights)
    for name, given, part in (
        ("coef_init", coef_init, weights[:, :-1]),
        ("intercept_init", intercept_init, weights[:, -1]),
    ):
        if given is None:
            continue
        values = np.asarray(given, np.float64)
        if values.size != part.size:
            raise InputError(f"{name} must have shape {part.shape}; got {values.shape}.")
        if not np.isfinite(values).all():
            raise InputError(f"{name} must be finite numbers.")
        part[:] = values.reshape(part.shape)


def tell_of_weights(learner: Learner, weight: NDArray[Any] | None) -> None:
    """Warn where weights of rows take a rule past its goal."""
    if learner.rule == "cw" and weight is not None and weight.max(initial=0.0) > 1.0:
        warn_caller(PAST_THE_GOAL)

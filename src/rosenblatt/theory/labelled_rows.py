"""Rows with their labels, checked as the estimators check them, and rows that conflict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.errors import InputError
from rosenblatt.estimators import Perceptron
from rosenblatt.estimators.validation import check_classes, check_rows
from rosenblatt.kernels.rows import mixed_words
from rosenblatt.kernels.shapes import as_rows, matrix_of
from rosenblatt.tasks.leads import numbers_of, targets_of
from rosenblatt.theory.exact import unit_exponent
from rosenblatt.training.examples import Examples

ALWAYS_DENSE = 1 << 22  # values; smaller sparse matrices become arrays
BLOCK_VALUES = 1 << 22  # at a time, so that no copy has the length of the data


@dataclass(frozen=True)
class LabelledRows:
    """Rows, the class number of each, and the sorted classes."""

    X: Any  # a C-ordered array, or a canonical CSR matrix
    numbers: NDArray[Any]  # the number of each row's class
    classes: NDArray[Any]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features, without the constant one."""
        return int(self.X.shape[1])

    @property
    def n_used(self) -> int:
        """Number of features that are not 0 in all rows."""
        if self.is_sparse:
            return len(np.unique(self.X.indices[self.X.data != 0]))
        return int(np.any(self.X, axis=0).sum())

    @property
    def n_values(self) -> int:
        """Number of values that are stored."""
        return int(self.X.nnz if self.is_sparse else self.X.size)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are a CSR matrix."""
        return bool(sparse.issparse(self.X))

    @cached_property
    def largest(self) -> NDArray[Any]:
        """The largest magnitude in each column."""
        sizes = np.zeros(self.n_features)
        for _, block in self.blocks():
            low, high = block.min(axis=0), block.max(axis=0)
            if self.is_sparse:
                low, high = (ends.toarray().ravel() for ends in (low, high))
            sizes = np.maximum(sizes, np.maximum(-low, high))
        return sizes

    def unit(self, j: int) -> int:
        """Return the largest e such that all values of column j are multiples of 2ᵉ."""
        values = self.X[:, [j]].toarray() if self.is_sparse else self.X[:, j]
        return unit_exponent(values.ravel().astype(np.float64))

    def printed(self) -> "tuple[LabelledRows, int] | None":
        """Return the rows as they print, times a power of ten that makes them whole, and it.

        None where a value has too many digits to have been written as a decimal number.
        """
        values = self.X.data if self.is_sparse else self.X
        digits = 12 if values.dtype.itemsize > 4 else 5
        flat = values.ravel()
        size = float(abs(flat).max(initial=0.0))
        for places in range(digits + 1):
            power = 10**places
            if size * power >= 10.0**digits:
                return None
            if all(
                (
                    (np.rint(part.astype(np.float64) * power) / power).astype(part.dtype) == part
                ).all()
                for part in (flat[:1000], flat)
            ):
                X = self.X.astype(np.float64)
                if self.is_sparse:
                    X.data = np.rint(X.data * power)
                else:
                    X = np.rint(X * power)
                return replace(self, X=X), power
        return None

    @property
    def sides(self) -> NDArray[Any]:
        """−1.0 for the first of two classes and +1.0 for the second."""
        return 2.0 * self.numbers - 1.0

    def examples(self) -> Examples:
        """Return the rows as training reads them, with a constant feature 1."""
        return Examples(as_rows(self.X, 1.0), targets_of(self.numbers, len(self.classes)))

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Yield the rows in parts, as float64."""
        size = max(1, BLOCK_VALUES // max(1, self.n_features))
        if self.is_sparse:
            size = self.n_rows  # the product with a CSR matrix makes no copy
        for start in range(0, self.n_rows, size):
            part = slice(start, start + size)
            values = self.X if self.is_sparse else self.X[part]
            yield part, values.astype(np.float64, copy=False)

    def products(self, W: NDArray[Any], *, absolute: bool = False) -> NDArray[Any]:
        """Return X·W for W of shape (n_features, …), or |X|·|W|, which bounds its rounding."""
        out = np.empty((self.n_rows, *W.shape[1:]))
        for part, values in self.blocks():
            out[part] = abs(values) @ abs(W) if absolute else values @ W
        return out

    def taken(self, rows: NDArray[Any]) -> Any:
        """Return these rows as float64, dense or CSR as they are."""
        return self.X[rows].astype(np.float64, copy=False)

    def row(self, i: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the features of row i that are not zero and their values, in the stored type."""
        if self.is_sparse:
            place = slice(self.X.indptr[i], self.X.indptr[i + 1])
            features, values = self.X.indices[place], self.X.data[place]
        else:
            features, values = np.arange(self.n_features), self.X[i]
        kept = values != 0
        return features[kept], values[kept]

    def are_of(self, rows: Sequence[int], label: Any) -> bool:
        """Return whether these numbers are of rows, and all of the class with this label."""
        classes = self.classes.tolist()
        return all(0 <= i < self.n_rows and classes[self.numbers[i]] == label for i in rows)

    def of_classes(self, first: int, second: int) -> tuple["LabelledRows", NDArray[Any]]:
        """Return the rows of two classes alone, and their numbers among all the rows."""
        rows = np.flatnonzero((self.numbers == first) | (self.numbers == second))
        numbers = (self.numbers[rows] == second).astype(self.numbers.dtype)
        return LabelledRows(self.X[rows], numbers, self.classes[[first, second]]), rows


def check_labelled_rows(X: Any, y: Any) -> LabelledRows:
    """Check X and y as the estimators do, but accept rows without features."""
    n_features = _width(X)
    if n_features == 0:  # a column of zeros says as little, and lets all the checks pass
        X = np.zeros((np.shape(X)[0], 1))
    rows, y = check_rows(Perceptron(), X, y, reset=True)
    _check_whole(X)
    classes, numbers = np.unique(y, return_inverse=True)
    check_classes(classes, len(y), None)
    checked = matrix_of(rows)[:, : 0 if n_features == 0 else None]
    if sparse.issparse(checked) and checked.shape[0] * checked.shape[1] <= ALWAYS_DENSE:
        checked = checked.toarray()  # the same rows, the same verdict
    return LabelledRows(checked, numbers_of(y, classes) if numbers.ndim > 1 else numbers, classes)


def _check_whole(X: Any) -> None:
    """Raise InputError where a whole number is rounded as float64: a proof would be of others."""
    whole = sparse.coo_array(X) if sparse.issparse(X) else None
    if whole is not None:
        columns = [(whole.row, whole.data)]
    elif hasattr(X, "columns"):
        columns = [(None, np.asarray(X[name])) for name in X.columns]
    else:  # a list may have whole numbers beside others, which an array would round
        columns = [(None, np.asarray(X, object if isinstance(X, list | tuple) else None))]
    for rows, array in columns:
        values = array
        if array.dtype.kind == "O":
            values = np.where(np.vectorize(_is_whole, otypes=[bool])(array), array, 0)
        beyond = (values > 2**53) | (values < -(2**53)) if values.dtype.kind in "iuO" else ()
        for place in np.argwhere(beyond).tolist():
            number = int(values[tuple(place)])
            if int(float(number)) != number:
                row = place[0] if rows is None else rows[place[0]]
                raise InputError(
                    f"Row {row} of X has the whole number {number}, which as float64 becomes"
                    f" {float(number):.0f}: a verdict would prove nothing. Subtract a constant from"
                    " its column first."
                )


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral)


def _width(X: Any) -> int | None:
    """Return the number of columns of X before it is checked; None if unknown."""
    shape = X.shape if hasattr(X, "shape") else None
    if shape is None and isinstance(X, list | tuple) and X:
        shape = (len(X), 0) if all(isinstance(row, list | tuple) and not row for row in X) else None
    return int(shape[1]) if shape is not None and len(shape) == 2 and shape[0] else None


def find_conflicts(rows: LabelledRows) -> list[tuple[int, ...]]:
    """Return groups of equal rows that hold more than one label, in the order of their first row.

    One pass makes a number of 64 bits from each row; only rows with equal numbers are compared.
    """
    keys = _keys(rows)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    labels = rows.numbers[order]
    lowest, highest = np.minimum.reduceat(labels, starts), np.maximum.reduceat(labels, starts)
    stops = np.append(starts[1:], len(order))
    groups: list[tuple[int, ...]] = []
    for g in np.flatnonzero(lowest != highest):
        groups += _equal_groups(rows, order[starts[g] : stops[g]])
    return sorted(groups)


def _equal_groups(rows: LabelledRows, candidates: NDArray[Any]) -> list[tuple[int, ...]]:
    """Split rows of one key into groups of truly equal ones; keep those with several labels."""
    by_content: dict[bytes, list[int]] = {}
    for i in candidates.tolist():
        features, values = rows.row(i)
        if rows.is_sparse:
            order = np.argsort(features)
            features, values = features[order], values[order]
        content = features.astype(np.int64).tobytes() + values.tobytes()  # zeros are left out
        by_content.setdefault(content, []).append(i)
    return [
        tuple(group) for group in by_content.values() if len(set(rows.numbers[group].tolist())) > 1
    ]


def _keys(rows: LabelledRows) -> NDArray[np.uint64]:
    """Return a number of 64 bits for each row; equal rows have equal ones, zeros count nothing."""
    columns = mixed_words(np.arange(1, rows.n_features + 1, dtype=np.uint64)) | np.uint64(1)
    keys = np.zeros(rows.n_rows, np.uint64)
    for part, block in rows.blocks():
        values = block.data if sparse.issparse(block) else block
        bits = mixed_words((values + 0.0).view(np.uint64))  # −0 becomes 0
        if sparse.issparse(block):
            terms = np.append(bits * columns[block.indices], np.uint64(0))
            sums = np.append(np.uint64(0), np.cumsum(terms))  # modulo 2⁶⁴, so that nothing is lost
            keys[part] = sums[block.indptr[1:]] - sums[block.indptr[:-1]]
        else:
            keys[part] = (bits * columns).sum(axis=1, dtype=np.uint64)
    return keys

"""Separability as a system of inequalities a·v > 0, one a row for two classes, K − 1 for more.

v is (w, b) for two classes, and a = y·(x, 1). For K classes v is all of W row by row, each row with
its bias last, and a has (x, 1) in the place of the true class and −(x, 1) in that of the rival. By
Gordan's theorem either some v meets all of them, or weights λ ≥ 0 that are not all zero make
Σ λ·a = 0; never both. Everything else in this folder looks for the one or the other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.tasks.leads import leads_of
from rosenblatt.theory.exact import (
    decimal_integers,
    integers,
    root_bounds,
    squared_norm,
    two_sum,
    twofold_dots,
)
from rosenblatt.theory.labelled_rows import LabelledRows

ROUNDING = 2.0**-53
SMALLEST = 2.0**-1074
EXACT_VALUES = 100_000  # looked at in exact arithmetic: a part of a second
TWOFOLD_VALUES = 1 << 22  # looked at with twice the digits: likewise
SHARP = 2.0**-47  # relative width of bounds that are as good as exact
ALWAYS_DENSE = 1 << 20  # values of a working set: 8 MB
MOSTLY_THERE = 0.25  # share of values that are not zero, above which a set is dense


class Leads(NamedTuple):
    """For each row the least a·v of its inequalities, and which one that is."""

    values: NDArray[Any]
    numbers: NDArray[Any]  # of inequalities


@dataclass(frozen=True)
class WorkingSet:
    """Some of the inequalities as a matrix, on the features that their rows have.

    It is an array where that is small or has few zeros, and CSR otherwise, however the rows are
    stored: the same rows get the same answer.
    """

    numbers: NDArray[Any]  # of the inequalities
    A: Any  # their vectors, one a line
    blocks: int
    features: NDArray[Any]
    width: int  # number of variables of the whole system

    def narrow(self, v: NDArray[Any]) -> NDArray[Any]:
        """Select the variables of this set from values for all variables."""
        V = v.reshape(self.blocks, -1)
        return np.asarray(V[:, np.append(self.features, V.shape[1] - 1)].ravel())

    def wide(self, u: NDArray[Any]) -> NDArray[Any]:
        """Return values for all variables: zero for features that no row of the set has."""
        U, V = u.reshape(self.blocks, -1), np.zeros((self.blocks, self.width // self.blocks))
        V[:, self.features], V[:, -1] = U[:, :-1], U[:, -1]
        return np.asarray(V.ravel())


class Inequalities:
    """The system of all rows; an inequality has the number row · K + rival (two classes: row)."""

    def __init__(self, rows: LabelledRows) -> None:
        self.rows = rows
        self.n_classes = len(rows.classes)
        self.blocks = 1 if self.n_classes == 2 else self.n_classes
        self.width = self.blocks * (rows.n_features + 1)

    @property
    def free(self) -> NDArray[Any]:
        """Which of the variables are biases."""
        biases = np.zeros((self.blocks, self.rows.n_features + 1), bool)
        biases[:, -1] = True
        return biases.ravel()

    def leads(self, v: NDArray[Any]) -> Leads:
        """Return the least a·v of each row, in floating point."""
        V = v.reshape(self.blocks, -1)
        scores = self.rows.products(V[:, :-1].T) + V[:, -1]
        if self.n_classes == 2:
            return Leads(self.rows.sides * scores[:, 0], np.arange(self.rows.n_rows))
        values, rivals = leads_of(scores, self.rows.numbers)
        return Leads(values, np.arange(self.rows.n_rows) * self.n_classes + rivals)

    def values(self, v: NDArray[Any]) -> NDArray[Any]:
        """Return a·v of every inequality, in floating point: a line a row, a column a rival.

        A class is no rival of its own: there it is ∞. The place in the flat array is the number.
        """
        V = v.reshape(self.blocks, -1)
        scores = self.rows.products(V[:, :-1].T) + V[:, -1]
        if self.n_classes == 2:
            return np.asarray(self.rows.sides[:, None] * scores)
        every, own = np.arange(self.rows.n_rows), self.rows.numbers
        values = np.asarray(scores[every, own][:, None] - scores)
        values[every, own] = np.inf
        return values

    def values_of(self, V: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield numbers of inequalities with their values, a line for each line of V."""
        if self.n_classes > 2:
            values = np.array([self.values(v).ravel() for v in V])
            yield np.arange(values.shape[1]), values
            return
        every, sides = np.arange(self.rows.n_rows), self.rows.sides
        for part, block in self.rows.blocks():
            scores = V[:, :-1] @ block.T + V[:, -1:]
            yield every[part], scores * sides[part]

    def error(self, v: NDArray[Any]) -> float:
        """Return what ``values`` err by at most, of a v that is itself rounded to floats."""
        V = abs(v.reshape(self.blocks, -1))
        with np.errstate(over="ignore", invalid="ignore"):
            size = float((V[:, :-1] @ self.rows.largest + V[:, -1]).max())
        error = 8.0 * (self.rows.n_features + 8) * (ROUNDING * size + SMALLEST)
        return min(inf, error)

    def vanishing(self, basis: NDArray[Any], among: NDArray[Any]) -> NDArray[Any]:
        """Return at which of these inequalities a·v is 0 for each column v of integers, exactly.

        ``among`` says at which to look, in the form of ``values``, and so does the answer. Sums of
        products are exact in floating point where they are multiples of a unit, and fewer than 2⁵³
        of it; the others are summed as integers.
        """
        found = among.copy()
        for column in basis.T:
            v = self._exact_in_floats(column)
            if v is not None:
                found &= self.values(v) == 0.0
                continue
            numbers = np.flatnonzero(found)
            for start in range(0, len(numbers), EXACT_VALUES):
                part = numbers[start : start + EXACT_VALUES]
                found.flat[part] = [product == 0 for product in self.products(part, column)]
        return found

    def products(self, numbers: NDArray[Any], v: Sequence[int]) -> list[int]:
        """Return a·v of some inequalities for integers v, exactly, up to a positive factor."""
        stored = self.exact_vectors(numbers)
        assert stored is not None  # noqa: S101  # stored values always are fractions
        return [sum(n * v[place] for place, n in a.items()) for a in stored[0]]

    def _exact_in_floats(self, v: NDArray[Any]) -> NDArray[Any] | None:
        """Return v as floats if all sums of its products with rows are exact, else None."""
        unit, size = 0, Fraction(0)
        for block in v.reshape(self.blocks, -1):
            for j in np.flatnonzero(block).tolist():
                n, last = abs(int(block[j])), j == self.rows.n_features
                low = (n & -n).bit_length() - 1
                if (n >> low).bit_length() > 53 or n.bit_length() > 900:
                    return None
                unit = min(unit, low + (0 if last else self.rows.unit(j)))
                size += n * (1 if last else Fraction(self.rows.largest[j]))
        return v.astype(np.float64) if size <= Fraction(2) ** (unit + 52) else None

    def rows_of(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the rows of these inequalities."""
        return numbers if self.n_classes == 2 else numbers // self.n_classes

    def working_set(self, numbers: NDArray[Any]) -> "WorkingSet":
        """Return some inequalities as a solver is given them, numbered as here."""
        rows = self.rows_of(numbers)
        x = self.rows.taken(rows)
        stored = x.indices if sparse.issparse(x) else np.flatnonzero(x.any(axis=0))
        features = np.unique(stored)
        if len(features) < self.rows.n_features:
            x = x[:, features]
        size = len(rows) * self.blocks * (len(features) + 1)
        values = (x.nnz if sparse.issparse(x) else np.count_nonzero(x)) + len(rows)
        is_dense = size <= ALWAYS_DENSE or values * min(2, self.blocks) >= MOSTLY_THERE * size
        if is_dense and sparse.issparse(x):
            x = x.toarray()
        elif not is_dense and not sparse.issparse(x):
            x = sparse.csr_array(x)
        return WorkingSet(numbers, self._vectors(x, numbers), self.blocks, features, self.width)

    def _vectors(self, x: Any, numbers: NDArray[Any]) -> Any:
        """Return the vectors a of inequalities with these rows, dense or CSR as they are."""
        rows, is_sparse = self.rows_of(numbers), sparse.issparse(x)
        one = np.ones((len(rows), 1))
        x = sparse.hstack([x, one]).tocsr() if is_sparse else np.hstack([x, one])
        if self.n_classes == 2:
            sides = self.rows.sides[rows]
            return (sparse.diags_array(sides) @ x).tocsr() if is_sparse else sides[:, None] * x
        own, rivals = self.rows.numbers[rows], numbers % self.n_classes
        if is_sparse:
            return (_block(x, own, self.blocks) - _block(x, rivals, self.blocks)).tocsr()
        A = np.zeros((len(rows), self.blocks, x.shape[1]))
        every = np.arange(len(rows))
        A[every, own] = x
        A[every, rivals] = -x
        return A.reshape(len(rows), -1)

    def least(self, v: NDArray[Any]) -> Fraction | None:
        """Return a number that no a·v is below, by a part in 10¹⁴ at most; None if it overflows.

        Floating point with a bound on its rounding tells which rows can hold the least value; those
        are computed with twice the digits, and exactly where that is not enough.
        """
        V = v.reshape(self.blocks, -1)
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.leads(v).values
            sizes = (self.rows.products(V[:, :-1].T, absolute=True) + abs(V[:, -1])).max(axis=1)
            terms = self.rows.n_features + 4
            errors = 2.0 * terms * (2.0 * ROUNDING * sizes + SMALLEST)
        if not (np.isfinite(values).all() and np.isfinite(errors).all()):
            return None
        low, high = values - errors, values + errors
        near = np.flatnonzero(low <= high.min())
        if len(near) * self.width <= TWOFOLD_VALUES:
            self._sharpen(low, high, V, near)
            near = near[low[near] <= high.min()]
        if low.min() > 0 and (
            high.min() - low.min() <= SHARP * low.min() or len(near) * self.width > EXACT_VALUES
        ):
            return Fraction(float(low.min()))
        near = near[np.argsort(low[near])][: max(1, EXACT_VALUES // self.width)]
        rest = np.delete(low, near)
        least = min(self._exact(V, int(row)) for row in near)
        return least if not len(rest) else min(least, Fraction(float(rest.min())))

    def _sharpen(
        self, low: NDArray[Any], high: NDArray[Any], V: NDArray[Any], rows: NDArray[Any]
    ) -> None:
        """Change the bounds on the least a·v of some rows to those of twice the digits."""
        x = self.rows.taken(rows)
        x = x.toarray() if sparse.issparse(x) else x
        scores = [twofold_dots(x, w) for w in V]
        if any(score is None for score in scores):
            return
        own = self.rows.numbers[rows]
        sums, rests, errors = np.array(scores).transpose(1, 2, 0)  # (3, rows, vectors)
        every = np.arange(len(rows))
        if self.n_classes == 2:
            values = self.rows.sides[rows][:, None] * (sums + rests)
            error = errors + 2.0 * ROUNDING * abs(values)
        else:
            leads, left = two_sum(sums[every, own][:, None], -sums)
            change = left + (rests[every, own][:, None] - rests)
            small = abs(left) + abs(rests) + abs(rests[every, own][:, None])
            error = errors + errors[every, own][:, None] + 8.0 * ROUNDING * small
            values, error = leads + change, error + 2.0 * ROUNDING * abs(leads + change)
            values[every, own] = np.inf
        low[rows] = np.maximum(low[rows], (values - error).min(axis=1))
        high[rows] = np.minimum(high[rows], (values + error).min(axis=1))

    def margin_of(self, v: NDArray[Any], length: NDArray[Any]) -> float:
        """Return the margin of a witness, rounded down; −inf if it is not a witness.

        ``length`` says which variables count in the length that it is divided by.
        """
        least = self.least(v) if np.isfinite(v).all() else None
        if least is None or least <= 0:
            return -inf
        square = squared_norm(v[length])
        return root_bounds(least * least / square)[0] if square else inf

    def _exact(self, V: NDArray[Any], row: int) -> Fraction:
        """Return the least a·v of the inequalities of one row."""
        features, values = self.rows.row(row)
        x, dx = integers([*values, 1.0])
        places = np.append(features, V.shape[1] - 1)
        scores = []
        for weights in V[:, places]:
            w, dw = integers(weights)
            scores.append(Fraction(sum(a * b for a, b in zip(w, x, strict=True)), dw * dx))
        own = int(self.rows.numbers[row])
        if self.n_classes == 2:
            return scores[0] if own else -scores[0]
        return min(scores[own] - score for k, score in enumerate(scores) if k != own)

    def exact_vectors(
        self, numbers: NDArray[Any], *, decimal: bool = False
    ) -> tuple[list[dict[int, int]], int] | None:
        """Return the vectors a as integers by place, and the denominator that they share.

        Decimal: of the values as they print; None where they are no short decimals.
        """
        rows = self.rows_of(numbers)
        parts = [self.rows.row(int(row)) for row in rows]
        flat = [value for _, values in parts for value in values]
        whole = decimal_integers(flat) if decimal else integers(flat)
        if whole is None:
            return None
        ints, d = whole
        width, position, vectors = self.rows.n_features + 1, 0, []
        for number, row, (features, values) in zip(numbers, rows, parts, strict=True):
            x = dict(zip(features.tolist(), ints[position : position + len(values)], strict=True))
            x[width - 1] = d
            position += len(values)
            own = int(self.rows.numbers[row])
            if self.n_classes == 2:
                vectors.append({j: n if own else -n for j, n in x.items()})
                continue
            rival = int(number) % self.n_classes
            a = {own * width + j: n for j, n in x.items()}
            vectors.append(a | {rival * width + j: -n for j, n in x.items()})
        return vectors, d


def _block(x: Any, classes: NDArray[Any], n_classes: int) -> Any:
    """Return sparse rows, each in the block of columns of its class."""
    indices = x.indices + np.repeat(classes.astype(np.int64) * x.shape[1], np.diff(x.indptr))
    return sparse.csr_array(
        (x.data, indices, x.indptr), shape=(len(classes), n_classes * x.shape[1])
    )

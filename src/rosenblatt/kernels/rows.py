"""Rows, dense or CSR, the order in which they come, and what a pass asks of a row.

Both formats answer the same few questions. Each row ends in a constant feature, 1 with a bias and 0
without, whose weight stands last: so the bias is learned like any weight and no kernel mentions it.

One weight vector is an array of n_features + 1. Weights of K classes are laid out as each format
reads them fastest: (K, n_features + 1) for dense rows, where each class is one long dot product,
and (n_features + 1, K) for CSR, where the K weights of a feature share cache lines (20 newsgroups,
K = 20: 30 ms a pass, against 173 ms the other way round).

A dense dot product with one running sum waits for each addition before the next, and LLVM may not
reorder them. Sixteen sums side by side, spelled out as one vector, run as fast as ``fastmath`` and
still add in an order that is fixed: ``lane_dot`` gives the same bits as ``lane_dot_reference``.

The methods are compiled as they stand.

Shuffling gives the same order on every platform and in every release of NumPy: it promises that its
bit generators keep their streams, but not that ``Generator.permutation`` keeps its own; so the
shuffle is ours and the words are NumPy's.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import (
    PLAIN,
    Changed,
    compiled,
    compiled_methods,
    inlined,
    instruction,
)
from rosenblatt.rules.confidence_weighted import LEAST_VARIANCE

LANES = 16
SPARSE_LANES = 4  # of products with weights that stand apart

CACHE_LINE = 64  # bytes
# Rows are asked for twice: early, for the second-level cache, which waits for many lines at once,
# and shortly before they come, for the first-level cache, which for few. 60,000 × 784 float32 in
# groups: 20.8 ms a pass by the first alone, 12.5 by the second alone, 10.5 by both.
NEAR, FAR = 3, 2  # the levels, as LLVM numbers them
NEAR_ROWS, NEAR_BYTES = 8, 3200  # at most so many rows ahead, and about so many bytes
FAR_ROWS, FAR_BYTES = 64, 25600  # ahead of those
LONGEST_NEAR = 1 << 13  # bytes; longer rows would drive the weights out of the first-level cache
LONGEST_FAR = 1 << 17  # bytes; and out of the second
CSR_NEAR, CSR_FAR = 4, 16  # rows
CSR_NEAR_VALUES = 64  # of a row; what follows in the second-level cache comes by itself
MANY_VALUES = 1 << 20  # of CSR rows, from which on they are asked for early, too
# Features from which on the weights of the next row are asked for: 2 MB, more than a second-level
# cache holds. Measured at 2²⁰ features, rows in order: 9.3 ns a value without, 5.2 with; at 47,000
# it would cost a tenth.
MANY_FEATURES = 1 << 18


def lane_dot_reference(x: NDArray[Any], y: NDArray[Any], lanes: int = LANES) -> float:
    """Return Σ x[j]·y[j] as ``lane_dot`` adds it: in lanes, folded by halves, then the rest."""
    whole = len(x) - len(x) % lanes
    sums = np.zeros(lanes)
    for block in range(0, whole, lanes):
        here = slice(block, block + lanes)
        sums += x[here].astype(np.float64) * y[here].astype(np.float64)
    while len(sums) > 1:
        half = len(sums) // 2
        sums = sums[:half] + sums[half:]
    total = float(sums[0])
    for j in range(whole, len(x)):
        total += float(x[j]) * float(y[j])
    return total


@instruction
def value_at(x: NDArray[Any], place: int) -> float:
    """Return x.flat[place] as a double; that of a bool is 1 and is not read."""
    return float(x.reshape(-1)[place])


@instruction
def lane_dot(x: NDArray[Any], x_start: int, y: NDArray[Any], y_start: int, length: int) -> float:
    """Return Σ x.flat[x_start + j]·y.flat[y_start + j] over ``length`` elements, in 16 lanes."""
    left, right = x.reshape(-1)[x_start:], y.reshape(-1)[y_start:]
    return lane_dot_reference(left[:length], right[:length])


@instruction
def lane_dot_ahead(
    x: NDArray[Any], x_start: int, y: NDArray[Any], y_start: int, length: int, near: int, far: int
) -> float:
    """Return what lane_dot does; meanwhile ask for x.flat[near:] and x.flat[far:], line by line."""
    return lane_dot(x, x_start, y, y_start, length)


@instruction
def lane_dot_pair(
    x: NDArray[Any], x_start: int, y: NDArray[Any], first: int, second: int, length: int
) -> tuple[float, float]:
    """Return the products of x with y.flat[first:] and with y.flat[second:], each as lane_dot."""
    return lane_dot(x, x_start, y, first, length), lane_dot(x, x_start, y, second, length)


@instruction
def prefetch(array: NDArray[Any], offset: Any, level: int) -> None:
    """Ask for array.flat[offset] in the cache of this level, without waiting for it."""


@instruction
def sparse_dot(
    x: NDArray[Any], indices: NDArray[Any], start: int, stop: int, w: NDArray[Any]
) -> float:
    """Return Σ x[p]·w[indices[p]] for p from start to stop, in 4 lanes."""
    return lane_dot_reference(x[start:stop], w[indices[start:stop]], SPARSE_LANES)


@instruction
def sparse_scores(
    x: NDArray[Any],
    indices: NDArray[Any],
    start: int,
    stop: int,
    w: NDArray[Any],
    first: int,
    out: NDArray[Any],
) -> None:
    """Write Σ x[p]·w[indices[p]] for p from start to stop to out, of w's rows from first on."""
    out[:] = 0.0
    for p in range(start, stop):
        out += float(x[p]) * w[indices[p], first : first + len(out)]


class Dense(NamedTuple):
    """Rows of a C-ordered array of float32, float64 or uint8."""

    values: NDArray[Any]  # (n_rows, n_features)
    constant: float  # the value of the constant feature

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features, without the constant one."""
        n_rows, n_features = self.values.shape
        return n_rows, n_features

    @property
    def n_values(self) -> int:
        """Number of stored values."""
        return self.values.size

    def compact(self) -> "Dense":
        """Return the rows as they are."""
        return self

    @property
    def sparse(self) -> bool:
        """Whether zeros are left out, and weights of K classes stand by feature."""
        return False

    def dot(self, i: int, w: NDArray[Any]) -> Any:
        """Return w·x of row i."""
        d = self.values.shape[1]
        return lane_dot(self.values, i * d, w, 0, d) + self.constant * w[d]

    def dot_ahead(self, order: NDArray[Any], t: int, w: NDArray[Any]) -> Any:
        """Return w·x of the t-th row of an order, and ask the memory for rows that come soon."""
        d = self.values.shape[1]
        near, far = dense_ahead(self, order, t)
        return lane_dot_ahead(self.values, order[t] * d, w, 0, d, near, far) + self.constant * w[d]

    def sqnorm(self, i: int) -> Any:
        """Return ‖x‖² of row i."""
        d = self.values.shape[1]
        return lane_dot(self.values, i * d, self.values, i * d, d) + self.constant * self.constant

    def add(self, i: int, step: float, w: NDArray[Any]) -> None:
        """Change w to w + step·x of row i."""
        d = self.values.shape[1]
        for j in range(d):
            w[j] += step * float(self.values[i, j])
        w[d] += step * self.constant

    def scores(self, i: int, w: NDArray[Any], first: int, out: NDArray[Any]) -> None:
        """Write the activations of as many classes, from the first on, on row i to out."""
        d = self.values.shape[1]
        x, end = i * d, first + len(out)
        pairs = end - len(out) % 2
        for k in range(first, pairs, 2):
            a, b = lane_dot_pair(self.values, x, w, k * (d + 1), (k + 1) * (d + 1), d)
            out[k - first] = a + self.constant * w[k, d]
            out[k - first + 1] = b + self.constant * w[k + 1, d]
        for k in range(pairs, end):
            out[k - first] = lane_dot(self.values, x, w, k * (d + 1), d) + self.constant * w[k, d]

    def add_each(
        self, i: int, n: int, classes: NDArray[Any], steps: NDArray[Any], w: NDArray[Any]
    ) -> None:
        """Change w of n classes to w + step·x of row i, by the step of each."""
        d = self.values.shape[1]
        for q in range(n):
            k, step = classes[q], steps[q]
            for j in range(d):
                w[k, j] += step * float(self.values[i, j])
            w[k, d] += step * self.constant

    def of_class(self, w: NDArray[Any], k: int) -> Any:
        """Return the vector of class k among those of all classes, as a view."""
        return w[k]

    def prefetch(self, order: NDArray[Any], t: int) -> None:
        """Ask the memory for rows that are soon to come; changes nothing."""
        d, size = self.values.shape[1], self.values.itemsize
        near, far = dense_ahead(self, order, t)
        if d * size <= LONGEST_NEAR:
            for j in range(0, d, CACHE_LINE // size):
                prefetch(self.values, near + j, NEAR)
                prefetch(self.values, far + j, FAR)

    def scaled(self, i: int, sigma: NDArray[Any], out: NDArray[Any]) -> Any:
        """Write Σx of row i to out, for the diagonal sigma of Σ, and return xᵀΣx."""
        d = self.values.shape[1]
        for j in range(d):
            out[j] = sigma[j] * self.values[i, j]
        out[d] = sigma[d] * self.constant
        return lane_dot(self.values, i * d, out, 0, d) + self.constant * out[d]

    def move(self, i: int, step: float, direction: NDArray[Any], w: NDArray[Any]) -> None:
        """Change w to w + step·direction, as ``scaled`` wrote it of row i."""
        for j in range(len(w)):
            w[j] += step * direction[j]

    def narrow(self, i: int, beta: float, direction: NDArray[Any], sigma: NDArray[Any]) -> None:
        """Change sigma by −beta·direction², as ``scaled`` wrote it of row i, down to the least."""
        for j in range(len(sigma)):
            sigma[j] = max(sigma[j] - beta * (direction[j] * direction[j]), LEAST_VARIANCE)

    def gather(
        self, i: int, w: NDArray[Any], u: NDArray[Any] | None, c: int, near: NDArray[Any]
    ) -> None:
        """Write the weights of row i, of one class or all, to near; with u the average w − u/c."""
        there = near.flat
        for p in range(w.size):
            there[p] = _weight(w, u, c, p)

    def scatter(self, i: int, near: NDArray[Any], w: NDArray[Any]) -> None:
        """Change the weights of row i to those in near."""
        here, there = near.flat, w.flat
        for p in range(w.size):
            there[p] = here[p]

    def is_finite(self, i: int, near: NDArray[Any]) -> bool:
        """Whether all that ``gather`` wrote of row i is finite."""
        return all_finite(near, 0, near.size)


class CSR(NamedTuple):
    """Rows of a canonical compressed sparse row matrix, with 32- or 64-bit indices.

    Where rows begin is always in 64 bits; ``shapes.as_rows`` sees to it.
    """

    data: NDArray[Any]  # float32, float64 or uint8; or bool: all are 1, and machine code reads none
    indices: NDArray[Any]
    indptr: NDArray[Any]
    n_features: int
    constant: float

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features, without the constant one."""
        return len(self.indptr) - 1, self.n_features

    @property
    def n_values(self) -> int:
        """Number of stored values."""
        return int(self.indptr[-1])

    def compact(self) -> "CSR":
        """Return the rows with a byte a value where all are whole from 0 to 255: counts.

        All products are the same, and a pass over word counts takes two thirds of the time. Where
        all are 1 none is read: a pass over a9a takes a sixth less again. With 64-bit indices, which
        are rare, ones stay bytes: that saves machine code.
        """
        data = self.data
        if data.itemsize == 1 or PLAIN:  # which is as slow with bytes
            return self
        counts, bits = np.empty(len(data), np.uint8), data.view(f"i{data.itemsize}")
        for piece in (slice(1000), slice(None)):  # most that are no counts show it at once
            exact, ones = write_counts(data[piece], bits[piece], counts[piece])
            if not exact:
                return self
        ones = ones and len(data) > 0 and self.indices.dtype == np.int32
        return self._replace(data=counts.view(bool) if ones else counts)

    @property
    def sparse(self) -> bool:
        """Whether zeros are left out, and weights of K classes stand by feature."""
        return True

    def dot(self, i: int, w: NDArray[Any]) -> Any:
        """Return w·x of row i."""
        start, stop = self.indptr[i], self.indptr[i + 1]
        total = sparse_dot(self.data, self.indices, start, stop, w)
        return total + self.constant * w[self.n_features]

    def dot_ahead(self, order: NDArray[Any], t: int, w: NDArray[Any]) -> Any:
        """Return w·x of the t-th row of an order, and ask the memory for rows that come soon."""
        self.prefetch(order, t)
        if self.n_features >= MANY_FEATURES:
            i = order[min(t + 1, len(order) - 1)]
            for p in range(self.indptr[i], self.indptr[i + 1]):
                prefetch(w, self.indices[p], NEAR)
        return self.dot(order[t], w)

    def sqnorm(self, i: int) -> Any:
        """Return ‖x‖² of row i."""
        start, n = self.indptr[i], self.indptr[i + 1] - self.indptr[i]
        return lane_dot(self.data, start, self.data, start, n) + self.constant * self.constant

    def add(self, i: int, step: float, w: NDArray[Any]) -> None:
        """Change w to w + step·x of row i."""
        for p in range(self.indptr[i], self.indptr[i + 1]):
            w[self.indices[p]] += step * value_at(self.data, p)
        w[self.n_features] += step * self.constant

    def scores(self, i: int, w: NDArray[Any], first: int, out: NDArray[Any]) -> None:
        """Write the activations of as many classes, from the first on, on row i to out."""
        sparse_scores(self.data, self.indices, self.indptr[i], self.indptr[i + 1], w, first, out)
        for k in range(len(out)):
            out[k] += self.constant * w[self.n_features, first + k]

    def add_each(
        self, i: int, n: int, classes: NDArray[Any], steps: NDArray[Any], w: NDArray[Any]
    ) -> None:
        """Change w of n classes to w + step·x of row i, by the step of each."""
        for p in range(self.indptr[i], self.indptr[i + 1]):
            j, x = self.indices[p], value_at(self.data, p)
            for q in range(n):  # the weights of a feature stand together
                w[j, classes[q]] += steps[q] * x
        for q in range(n):
            w[self.n_features, classes[q]] += steps[q] * self.constant

    def of_class(self, w: NDArray[Any], k: int) -> Any:
        """Return the vector of class k among those of all classes, as a view."""
        return w[:, k]

    def prefetch(self, order: NDArray[Any], t: int) -> None:
        """Ask the memory for rows that are soon to come; changes nothing."""
        last, many = len(order) - 1, len(self.data) > MANY_VALUES
        ahead = CSR_FAR if many else CSR_NEAR
        prefetch(self.indptr, order[min(t + 2 * ahead, last)], NEAR)  # where rows are found
        if many:
            ask_for_row(self, order[min(t + CSR_FAR, last)], FAR, self.n_features)
        ask_for_row(self, order[min(t + CSR_NEAR, last)], NEAR, CSR_NEAR_VALUES)

    def scaled(self, i: int, sigma: NDArray[Any], out: NDArray[Any]) -> Any:
        """Write Σx of row i to the first places of out, and return xᵀΣx."""
        start, n = self.indptr[i], self.indptr[i + 1] - self.indptr[i]
        for p in range(n):
            out[p] = sigma[self.indices[start + p]] * value_at(self.data, start + p)
        out[n] = sigma[self.n_features] * self.constant
        return lane_dot(self.data, start, out, 0, n) + self.constant * out[n]

    def move(self, i: int, step: float, direction: NDArray[Any], w: NDArray[Any]) -> None:
        """Change w to w + step·direction, as ``scaled`` wrote it of row i."""
        start, n = self.indptr[i], self.indptr[i + 1] - self.indptr[i]
        for p in range(n):
            w[self.indices[start + p]] += step * direction[p]
        w[self.n_features] += step * direction[n]

    def narrow(self, i: int, beta: float, direction: NDArray[Any], sigma: NDArray[Any]) -> None:
        """Change sigma by −beta·direction², as ``scaled`` wrote it of row i, down to the least."""
        start, n = self.indptr[i], self.indptr[i + 1] - self.indptr[i]
        for p in range(n):
            j = self.indices[start + p]
            sigma[j] = max(sigma[j] - beta * (direction[p] * direction[p]), LEAST_VARIANCE)
        left = sigma[self.n_features] - beta * (direction[n] * direction[n])
        sigma[self.n_features] = max(left, LEAST_VARIANCE)

    def gather(
        self, i: int, w: NDArray[Any], u: NDArray[Any] | None, c: int, near: NDArray[Any]
    ) -> None:
        """Write the weights of row i, of one class or all, to near; with u the average w − u/c.

        The weights of its features come to the first places, that of the constant to the last.
        """
        there = near.flat
        start, n = self.indptr[i], self.indptr[i + 1] - self.indptr[i]
        width = w.size // (self.n_features + 1)
        for p in range(n):
            j = self.indices[start + p] * width
            for k in range(width):
                there[p * width + k] = _weight(w, u, c, j + k)
        for k in range(width):
            there[near.size - width + k] = _weight(w, u, c, w.size - width + k)

    def scatter(self, i: int, near: NDArray[Any], w: NDArray[Any]) -> None:
        """Change the weights of row i to those in near."""
        here, there = near.flat, w.flat
        start, n = self.indptr[i], self.indptr[i + 1] - self.indptr[i]
        width = w.size // (self.n_features + 1)
        for p in range(n):
            j = self.indices[start + p] * width
            for k in range(width):
                there[j + k] = here[p * width + k]
        for k in range(width):
            there[w.size - width + k] = here[near.size - width + k]

    def is_finite(self, i: int, near: NDArray[Any]) -> bool:
        """Whether all that ``gather`` wrote of row i is finite."""
        width, n = near.size // near.shape[0], self.indptr[i + 1] - self.indptr[i]
        constant = all_finite(near, near.size - width, near.size)
        return all_finite(near, 0, n * width) and constant


@inlined
def dense_ahead(rows: Dense, order: NDArray[Any], t: int) -> tuple[int, int]:
    """Return where the rows begin that are asked for at the t-th row of an order, near and far."""
    d, last = rows.values.shape[1], len(order) - 1
    row_bytes = max(d * rows.values.itemsize, 1)
    near = min(max(NEAR_BYTES // row_bytes, 1), NEAR_ROWS) * (row_bytes <= LONGEST_NEAR)
    far = near + min(max(FAR_BYTES // row_bytes, 1), FAR_ROWS) * (row_bytes <= LONGEST_FAR)
    return order[min(t + near, last)] * d, order[min(t + far, last)] * d


@inlined
def ask_for_row(rows: CSR, i: int, level: int, most: int) -> None:
    """Ask the memory for values and features of row i: for the first ``most`` and the last.

    Each line once, as near as may be: word counts take a byte each, so four lines of features go
    with one of values, and to ask for that one four times costs a tenth of a pass.
    """
    line, index_line = CACHE_LINE // rows.data.itemsize, CACHE_LINE // rows.indices.itemsize
    start, stop = rows.indptr[i], rows.indptr[i + 1]
    prefetch(rows.data, start, level)  # short rows are done here, without a loop
    prefetch(rows.data, start + line, level)
    prefetch(rows.data, stop - 1, level)
    prefetch(rows.indices, start, level)
    prefetch(rows.indices, start + index_line, level)
    prefetch(rows.indices, stop - 1, level)
    step = max(line, index_line)
    for p in range(start + 2 * min(line, index_line), min(stop - 1, start + most), step):
        for k in range(0, step, line):
            prefetch(rows.data, p + k, level)
        for k in range(0, step, index_line):
            prefetch(rows.indices, p + k, level)


@inlined
def all_finite(values: NDArray[Any], begin: int, end: int) -> bool:
    """Return whether some of the values are finite."""
    here, finite = values.flat, True
    for p in range(begin, end):
        finite = finite and np.isfinite(here[p])
    return finite


@inlined
def _weight(w: NDArray[Any], u: NDArray[Any] | None, c: int, p: int) -> Any:
    return w.flat[p] if u is None else w.flat[p] - u.flat[p] / c


@compiled
def write_counts(
    values: NDArray[Any], bits: NDArray[Any], counts: Changed[NDArray[Any]]
) -> tuple[bool, bool]:
    """Write values to counts; return whether all are the same as bytes, and whether all are 1.

    ``bits`` are the values read as whole numbers, below 0 for those with a sign: −0 is no count.
    """
    changed, other, signs = False, np.int32(0), 0
    for p in range(len(counts)):
        x = values[p]
        count = np.int32(x if 0.0 <= x <= 255.0 else 0.0)
        counts[p] = count
        changed |= count != x
        other |= count ^ np.int32(1)
        signs |= bits[p]
    return not changed and signs >= 0, other == 0


Rows = Dense | CSR

compiled_methods(Dense)  # and of CSR those of the same names


@compiled
def shuffle(order: Changed[NDArray[Any]], words: NDArray[Any], start: int) -> None:
    """Change order by the Fisher–Yates exchanges for positions start, start − 1, … (one a word).

    The upper 32 bits of a word times (position + 1) give the partner without a division. The bias
    is below (position + 1)/2³², which cannot be measured on fewer than 2³² rows.
    """
    for t in range(len(words)):
        here = start - t
        there = ((words[t] >> np.uint64(32)) * np.uint64(here + 1)) >> np.uint64(32)
        kept = order[here]
        order[here] = order[there]
        order[there] = kept


@compiled
def write_groups(
    rows: NDArray[Any], first: NDArray[Any], size: int, order: Changed[NDArray[Any]]
) -> None:
    """Write groups of neighbouring rows to order, by the places of their first ones."""
    n = 0
    for group in range(len(first)):
        for place in range(first[group], min(first[group] + size, len(rows))):
            order[n] = rows[place]
            n += 1


def mixed_words(words: NDArray[np.uint64], key: int = 0) -> NDArray[np.uint64]:
    """Return a random word for each word and the key: SplitMix64.

    G. Steele, D. Lea & C. Flood, "Fast splittable pseudorandom number generators" (2014).
    """
    return finalized(words * np.uint64(0x9E3779B97F4A7C15) + np.uint64(key))


def finalized(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return words that look random, different ones for different words: SplitMix64's last step.

    >>> finalized(np.array([1], np.uint64)).tolist()
    [6238072747940578789]
    """
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))

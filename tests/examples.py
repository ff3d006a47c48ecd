"""Examples of the texts, and generators of data for the laws."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rosenblatt.kernels.rows import CSR, Dense

# The worked example of the introduction: three inputs, positive where the second is 0.
WORKED_X = [
    [0.0, 0.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.0, 1.0, 0.0],
    [0.0, 1.0, 1.0],
    [1.0, 0.0, 0.0],
    [1.0, 0.0, 1.0],
    [1.0, 1.0, 0.0],
    [1.0, 1.0, 1.0],
]
WORKED_Y = [1, 1, -1, -1, 1, 1, -1, -1]

# Exclusive or, in the order of the introduction's table.
XOR_X = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]
XOR_Y = [-1, 1, -1, 1]


def tries(number: int) -> settings:
    """Let a test draw so many examples where others draw 100, or as the profile scales that."""
    return settings(max_examples=number * settings().max_examples // 100)


class Drawn(NamedTuple):
    """A small data set drawn by Hypothesis."""

    rows: list[list[float]]
    labels: list[int]  # class numbers
    orders: list[list[int]]
    constant: float


integers = st.integers(-9, 9).map(float)
reals = st.one_of(
    integers,
    st.floats(-10, 10),
    st.sampled_from([0.0, 1e100, -1e100, 1e-100, 1e-310, 1e160, -1e308, 0.1]),
)


@st.composite
def data_sets(draw: st.DrawFn, values: Any = reals, n_classes: int = 2) -> Drawn:
    """Draw rows (zero ones, doubles, one alone, none of any feature), labels and orders."""
    n_rows = draw(st.integers(1, 10))
    n_features = draw(st.sampled_from([0, 1, 2, 5, 15, 16, 17, 33]))
    row = st.one_of(
        st.just([0.0] * n_features),
        st.lists(values, min_size=n_features, max_size=n_features),
    )
    rows = draw(st.lists(row, min_size=n_rows, max_size=n_rows))
    if draw(st.booleans()):
        rows[-1] = rows[0]
    labels = draw(
        st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows)
    )  # one class only is among them
    orders = draw(st.lists(st.permutations(range(n_rows)), min_size=1, max_size=3))
    return Drawn(rows, labels, [list(order) for order in orders], draw(st.sampled_from([0.0, 1.0])))


def dense(rows: Any, constant: float = 1.0, dtype: Any = np.float64) -> Dense:
    """Return rows as a dense array."""
    values = np.array(rows, dtype)
    return Dense(
        values.reshape(len(rows), -1) if values.size else np.zeros((len(rows), 0)), constant
    )


def csr(rows: Any, constant: float = 1.0, dtype: Any = np.float64, index: Any = np.int32) -> CSR:
    """Return rows as CSR, zeros left out."""
    data = [x for row in rows for x in row if x != 0]
    indices = [j for row in rows for j, x in enumerate(row) if x != 0]
    indptr = np.cumsum([0, *(sum(x != 0 for x in row) for row in rows)])
    return CSR(
        np.array(data, dtype),
        np.array(indices, index),
        indptr,
        len(rows[0]),
        constant,
    )


FORMATS: dict[str, Any] = {"dense": dense, "csr": csr}


def same_bits(a: Any, b: Any) -> bool:
    """Whether two arrays are equal to the last bit, "not a number" being equal to itself."""
    return np.array_equal(np.asarray(a, np.float64), np.asarray(b, np.float64), equal_nan=True)


def separable(
    n_rows: int, n_features: int, margin: float, seed: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return unit rows and labels ±1 that a unit vector separates by a known margin, and it."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(n_features)
    w /= np.linalg.norm(w)
    rows = np.empty((0, n_features))
    while len(rows) < n_rows:
        new = rng.standard_normal((n_rows, n_features))
        new /= np.linalg.norm(new, axis=1, keepdims=True)
        rows = np.vstack([rows, new[np.abs(new @ w) >= margin]])
    rows = rows[:n_rows]
    return rows, np.sign(rows @ w).astype(int), w

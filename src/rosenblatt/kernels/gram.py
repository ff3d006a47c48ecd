"""Kernel values from dot products, and dot products of sparse rows."""

from typing import Any

from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled, inlined
from rosenblatt.kernels.rows import Rows


@compiled
def squares(rows: Rows, out: Changed[NDArray[Any]]) -> None:
    """Write ‖x‖² of each row to out, with the constant feature."""
    for i in range(len(out)):
        out[i] = rows.sqnorm(i)


@inlined
def power(line: NDArray[Any], degree: int) -> None:
    """Change numbers to their power; each loop without a loop inside runs on vectors."""
    if degree == 2:
        for j in range(len(line)):
            line[j] *= line[j]
    elif degree == 3:
        for j in range(len(line)):
            line[j] *= line[j] * line[j]
    elif degree > 3:
        for j in range(len(line)):
            base, product = line[j], 1.0
            for _ in range(degree):
                product *= base
            line[j] = product


@compiled
def polynomial(
    dots: NDArray[Any],  # perhaps wider than what is asked for
    gamma: float,
    coef0: float,
    degree: int,
    constant: float,
    begin: int,
    end: int,  # of the rows on the left, so that threads can share the work
    out: Changed[NDArray[Any]],  # may be the dot products themselves
) -> None:
    """Write (γ·x·x′ + coef0)^degree + constant to out, by multiplications alone."""
    for i in range(begin, end):
        line = out[i]
        for j in range(len(line)):
            line[j] = gamma * dots[i, j] + coef0
        power(line, degree)
        for j in range(len(line)):
            line[j] += constant


@compiled
def exponents(
    dots: NDArray[Any],  # perhaps wider than what is asked for
    left: NDArray[Any],  # ‖x‖² of each row of the dot products
    right: NDArray[Any],  # and of each column
    gamma: float,
    begin: int,
    end: int,  # of the rows on the left
    out: Changed[NDArray[Any]],  # may be the dot products themselves
) -> None:
    """Write −γ·‖x − x′‖² to out."""
    for i in range(begin, end):
        for j in range(out.shape[1]):
            distance = left[i] + right[j] - 2.0 * dots[i, j]
            out[i, j] = -gamma * max(distance, 0.0)


@compiled
def sparse_dots(
    data: NDArray[Any],  # rows on the left: CSR
    indices: NDArray[Any],
    indptr: NDArray[Any],
    column_data: NDArray[Any],  # rows on the right, by feature: CSC
    column_rows: NDArray[Any],
    column_ptr: NDArray[Any],
    begin: int,
    end: int,  # of the rows on the left
    out: Changed[NDArray[Any]],  # (left, right), zeros
) -> None:
    """Add the dot products of sparse rows to out, feature by feature, each pair that meets once."""
    for i in range(begin, end):
        for p in range(indptr[i], indptr[i + 1]):
            x, j = float(data[p]), indices[p]
            for q in range(column_ptr[j], column_ptr[j + 1]):
                out[i, column_rows[q]] += x * column_data[q]


@compiled
def copy_out(
    kept: NDArray[Any], slots: NDArray[Any], columns: NDArray[Any], out: Changed[NDArray[Any]]
) -> None:
    """Write kept[slots, columns] to out."""
    for i in range(len(slots)):
        for j in range(len(columns)):
            out[i, j] = kept[slots[i], columns[j]]


@compiled
def copy_in(
    values: NDArray[Any], slots: NDArray[Any], columns: NDArray[Any], kept: Changed[NDArray[Any]]
) -> None:
    """Change kept[slots, columns] to the values; a slot below 0 keeps nothing."""
    for i in range(len(slots)):
        if slots[i] >= 0:
            for j in range(len(columns)):
                kept[slots[i], columns[j]] = values[i, j]

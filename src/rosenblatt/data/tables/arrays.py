"""NumPy arrays in files: a vector for each row, with the labels in a file beside it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.polars import pl
from rosenblatt.data.sources import Source, name_of
from rosenblatt.data.tables.table import Selection, Table, choose, in_slices
from rosenblatt.errors import InputError

LABEL, VECTOR = "label", "vector"  # the columns
ENDINGS = (".labels.npy", ".labels.txt")  # endings of the file with the labels, in place of .npy
AT_ONCE = 1 << 22  # values


def array_tables(source: Source, wanted: Selection | None) -> Iterator[Table]:
    """Yield the rows of an array as vectors, with their labels where a file beside it has them."""
    name = name_of(source)
    X = _array(source, name)
    if X.ndim != 2 or X.dtype.kind not in "biuf" or not X.shape[1]:
        raise InputError(f"{name} must hold a table of numbers; it holds {X.dtype} {X.shape}.")
    columns: dict[str, Any] = {LABEL: _labels(source, name, len(X)), VECTOR: X}
    columns = {key: array for key, array in columns.items() if array is not None}
    choice = choose([*columns], wanted, name)
    step = max(1, AT_ONCE // X.shape[1])
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        frame = pl.DataFrame({key: _series(columns[key][rows]) for key in choice})
        yield from in_slices(Table(frame, name, start + 1, None, X[rows].nbytes + start))


def labels_beside(name: str) -> str:
    """Return where the labels of an array belong."""
    array, lines = (Path(name).with_suffix(suffix).name for suffix in ENDINGS)
    return f"write them beside it, into {lines}, a line for each row, or into {array}"


def _array(source: Source, name: str) -> NDArray[Any]:
    if not Path(source).is_file():
        raise InputError(f"{name} is a NumPy array; name the file that holds it.")
    try:
        found: NDArray[Any] = np.load(source, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{name} cannot be read as a NumPy array: {error}.") from None
    return found


def _labels(source: Source, name: str, n_rows: int) -> NDArray[Any] | None:
    """Return the labels beside an array; None where there are none."""
    beside = [Path(source).with_suffix(suffix) for suffix in ENDINGS]
    file = next((one for one in beside if one.is_file()), None)
    if file is None:
        return None
    if file.suffix == ".npy":
        labels = _array(file, str(file))
    else:
        labels = np.array(file.read_text(encoding="utf-8").splitlines(), str)
    if labels.shape != (n_rows,):
        raise InputError(f"{file} must hold {n_rows:,} labels, one for each row of {name}.")
    return labels


def _series(values: NDArray[Any]) -> "pl.Series":
    """Return values as a column; small numbers become float32, which holds them exactly."""
    if values.ndim == 2 and values.dtype.kind != "f":
        values = values.astype(np.float32 if values.dtype.itemsize < 3 else np.float64)
    elif values.dtype == np.float16:
        values = values.astype(np.float32)
    elif values.dtype.kind in "US":
        return pl.Series(values.astype(str).tolist(), dtype=pl.String)
    return pl.Series(np.ascontiguousarray(values))

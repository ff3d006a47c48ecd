"""Where the weights stand of which few exist: whether they are stored so, room, copies and back."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.rows import CSR
from rosenblatt.kernels.stretches import (
    FIRST_LENGTH,
    NOWHERE,
    SIZES,
    Stretches,
    count_classes,
    count_weights,
    enter_weights,
    list_places,
    put_weights,
)
from rosenblatt.tasks import Task

MANY_WEIGHTS = 1 << 24  # 128 MB of each kind, from which on those that exist are stored alone
MOST_CLASSES = 1 << 16  # of places
AT_ONCE = 1 << 18  # weights that are converted at a time
ROOM = 1 << 22  # places that rows learned from at a time may take: memory that is not touched


def few_exist(n_features: int, task: Task) -> bool:
    """Return whether only weights that a step has reached are stored: the one place that decides.

    Fewer stand all in one array, which rows read a little faster.
    """
    n_vectors = task.n_vectors
    many = (n_features + 1) * n_vectors > MANY_WEIGHTS
    return task.scattered and many and n_vectors < MOST_CLASSES


def no_places(n_features: int, n_classes: int) -> Stretches:
    """Return the places of weights of which none exists."""
    bounds, free = np.zeros((n_features + 1, 2), np.int64), np.full(SIZES, NOWHERE)
    return Stretches(bounds, np.empty(0, np.uint16), free, np.zeros(1, np.int64), n_classes)


def wider(at: Stretches, n_features: int) -> Stretches:
    """Return places with more features, before the constant one, which stands last."""
    bounds = np.zeros((n_features + 1, 2), np.int64)
    bounds[: len(at.bounds) - 1] = at.bounds[:-1]
    bounds[-1] = at.bounds[-1]
    return at._replace(bounds=bounds)


def copied_places(at: Stretches) -> Stretches:
    """Return places of their own memory."""
    classes = at.classes[: at.end[0]].copy()
    return Stretches(at.bounds.copy(), classes, at.free.copy(), at.end.copy(), at.n_classes)


def parts_with_room(rows: CSR, order: NDArray[Any], n_classes: int) -> Iterator[NDArray[Any]]:
    """Yield successive rows of an order whose steps take no more places than there is room for.

    A row that moves all classes needs twice their number for each of its features at most.
    """
    needed = (rows.indptr[order + 1] - rows.indptr[order] + 1) * (2 * n_classes)
    ends, start = np.cumsum(needed), 0
    while start < len(order):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + ROOM, side="right")))
        yield order[start:stop]
        start = stop


def with_room(
    arrays: Mapping[str, NDArray[Any]], at: Stretches, room: int = ROOM
) -> tuple[dict[str, NDArray[Any]], Stretches]:
    """Return the same with room for more places: memory that is asked for and not yet touched."""
    end = int(at.end[0])
    if end + room <= len(at.classes) and all(len(at.classes) == len(a) for a in arrays.values()):
        return dict(arrays), at
    most = 2 * end + 4 * room  # to copy what there is takes as much again for a while
    return {name: _longer(array[:end], most) for name, array in arrays.items()}, at._replace(
        classes=_longer(at.classes[:end], most)
    )


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    longer = np.zeros(length, array.dtype)
    longer[: len(array)] = array
    return longer


def all_weights(
    at: Stretches, values: NDArray[Any], missing: float, features: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Return the numbers of all weights, or of these features, one row each: (n, K)."""
    bounds = at.bounds if features is None else at.bounds[features]
    starts, lengths = bounds.T
    found = np.full((len(bounds), at.n_classes), missing)
    whole = np.flatnonzero(lengths == at.n_classes)
    found[whole] = values[starts[whole, None] + np.arange(at.n_classes)]
    part = np.flatnonzero(lengths % at.n_classes)
    places = _successive(starts[part], lengths[part])
    found[np.repeat(part, lengths[part]), at.classes[places]] = values[places]
    return found


def _successive(starts: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
    """Return successive numbers from each start on, as many as each has."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


class Scattered(NamedTuple):
    """The numbers of all weights, (K, n_features + 1), by those that are not as most are."""

    shape: tuple[int, int]
    flat: NDArray[Any]  # their places in flat order, ascending
    values: NDArray[Any]
    missing: float  # what the others are

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self.shape[0] * self.shape[1]

    @classmethod
    def of_array(cls, array: NDArray[Any], missing: float) -> "Scattered":
        """Return what is in an array of all."""
        flat = np.flatnonzero(array != missing)
        n_classes, n_features = array.shape
        return cls((n_classes, n_features), flat, array.reshape(-1)[flat], missing)

    def whole(self) -> NDArray[Any]:
        """Return all numbers."""
        found = np.full(self.size, self.missing, self.values.dtype)
        found[self.flat] = self.values
        return found.reshape(self.shape)


def scattered(at: Stretches, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Scattered]:
    """Return what is kept for the weights that exist, class after class."""
    n_features, lengths = len(at.bounds), at.bounds[:, 1]
    counts = np.full(at.n_classes, np.count_nonzero(lengths == at.n_classes))
    count_classes(at, counts)
    ends = np.cumsum(counts)
    features, places = np.empty(ends[-1], np.int32), np.empty(ends[-1], np.int64)
    list_places(at, ends - counts, features, places)
    kind = np.int32 if n_features * at.n_classes < 2**31 else np.int64
    flat: Any = features.astype(kind, copy=False)
    for k in range(at.n_classes):
        flat[ends[k] - counts[k] : ends[k]] += kind(k * n_features)
    found = {}
    for name, array in arrays.items():
        missing = float(name == "variance")
        values = array[places]
        other = (values != missing) | (np.signbit(values) & (values == 0.0))
        shape = at.n_classes, n_features
        found[name] = Scattered(shape, flat[other], values[other], missing)
    return found


def stretched(parts: Mapping[str, Scattered]) -> tuple[dict[str, NDArray[Any]], Stretches]:
    """Return what exists of the numbers of all weights by places, and these."""
    first, *others = parts.values()
    flat, (n_classes, n_features) = first.flat, first.shape
    for other in others:
        if not np.array_equal(flat, other.flat):
            flat = np.union1d(flat, other.flat)
    at = no_places(n_features - 1, n_classes)
    count_weights(flat, n_features, at.bounds)
    counts = at.bounds[:, 1].copy()
    lengths = np.where(counts > 0, FIRST_LENGTH, 0)
    while (short := (lengths < counts) & (lengths < n_classes)).any():
        lengths[short] *= 2
    whole = 2 * lengths > n_classes
    lengths[whole] = n_classes
    at.bounds[:, 0] = np.cumsum(lengths) - lengths
    at.bounds[whole, 1] = n_classes
    at.end[0] = end = int(lengths.sum())
    at = at._replace(classes=np.zeros(end, np.uint16))
    enter_weights(flat, np.zeros(n_features, np.int64), at)
    found = {}
    for name, part in parts.items():
        found[name] = np.full(end, part.missing)
        for start in range(0, len(part.flat), AT_ONCE):
            piece = slice(start, start + AT_ONCE)
            values = part.values[piece].astype(np.float64, copy=False)
            put_weights(part.flat[piece], values, at, found[name])
    return found, at

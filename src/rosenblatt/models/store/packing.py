"""Arrays that are mostly zero, as places and values."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.models.store.faults import Fault

MOST_PLACES = 1 << 28  # of an array stored so: a small file can't ask for more than 2 GiB of zeros


def filled(values: NDArray[Any]) -> NDArray[Any] | None:
    """Return the places in flat order that are not zero, if they are under a third, else None.

    −0.0 counts as not zero, so that what comes back is equal to the last bit.
    """
    flat = np.ascontiguousarray(values).reshape(-1)
    if flat.size > MOST_PLACES:
        return None
    bits = flat.view(f"u{flat.itemsize}")
    return np.flatnonzero(bits) if 3 * np.count_nonzero(bits) < flat.size else None


def packed(name: str, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return an array under its name, or as two: where it is not zero, and what it is there."""
    places = filled(values)
    if places is None:
        return {name: values}
    flat = np.ascontiguousarray(values).reshape(-1)
    return {f"{name}.places": places.astype(np.int32), f"{name}.values": flat[places]}


def unpacked(
    tensors: dict[str, NDArray[Any]], name: str, shape: tuple[int, ...]
) -> NDArray[Any] | None:
    """Take an array of this shape out of the tensors, None if it is not there."""
    whole = tensors.pop(name, None)
    places, values = tensors.pop(f"{name}.places", None), tensors.pop(f"{name}.values", None)
    if whole is not None:
        if whole.shape != shape:
            msg = f"the shape of {name!r} must be {shape}; got {whole.shape}"
            raise Fault(msg)
        return whole
    if places is None and values is None:
        return None
    if places is None or values is None:
        msg = f"{name!r} has places or values, and needs both"
        raise Fault(msg)
    return spread_out(name, places, values, shape)


def spread_out(
    name: str, places: NDArray[Any], values: NDArray[Any], shape: tuple[int, ...]
) -> NDArray[Any]:
    """Return the array that has these values in these places and zeros elsewhere."""
    size = math.prod(shape)
    if size > MOST_PLACES:
        msg = (
            f"{name!r} has {size:,} places, more than the {MOST_PLACES:,} that are stored sparsely"
        )
        raise Fault(msg)
    if places.ndim != 1 or places.dtype.kind != "i" or values.shape != places.shape:
        msg = f"{name!r} must have one value for each place"
        raise Fault(msg)
    inside = places.size == 0 or (places[0] >= 0 and places[-1] < size)
    if not inside or (places[1:] <= places[:-1]).any():
        msg = f"the places of {name!r} must ascend from 0 to at most {size - 1}"
        raise Fault(msg)
    whole = np.zeros(size, values.dtype)
    whole[places] = values
    return whole.reshape(shape)

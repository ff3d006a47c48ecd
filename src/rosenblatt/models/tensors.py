"""The safetensors format: a header in JSON, named arrays, and a checksum over every byte.

Not by the library of that name, with which the tests compare: it writes metadata in another order
every time, so that equal models would be different files; it copies all arrays into one string or
writes to a path of its own; and it gives metadata only of a file that it maps, where a file cut
short by somebody ends the process. Here arrays go to the disk and come from it without a copy.
Arrays that are mostly zero are stored as places and values.
"""

import json
import math
from hashlib import sha256
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.models.checks import STORED_TYPES, TYPE_NAMES, Damaged, Foreign, fail

MOST_PLACES = 1 << 28  # of an array that is stored by places and values
FEW_PLACES = 1 << 25  # that it may have however few values there are: 256 MiB
PLACES_A_VALUE = 1 << 12  # beyond that: a small file can't ask for much memory
LONGEST_HEADER = 1 << 20  # bytes; ours names a dozen arrays
MARK = b'{"__metadata__":{"format":"rosenblatt","format_version":"'  # what our headers begin with
CHECKSUM = b'"checksum":"'
ZEROS = b"0" * 64  # what stands for the checksum while it is computed

UNKNOWN = "it is not a safetensors file"
OTHER_PROGRAM = "it is a safetensors file of another program"
ENDS_EARLY = "it ends too early; copy it again or train anew"
BAD_HEADER = "its header cannot be read; copy it again or train anew"
ADDED = "something was added to it; copy it again or train anew"


class Place(NamedTuple):
    """Where an array stands among the bytes after the header."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    end: int


class Header(NamedTuple):
    """What a file says of itself, before its arrays."""

    metadata: dict[str, str]
    places: list[Place]  # in the order of the file
    text: bytes  # with the eight bytes of its length


def write_tensors(
    file: IO[bytes], metadata: dict[str, str], tensors: dict[str, NDArray[Any]]
) -> None:
    """Write arrays and metadata, the wide types first so that each array is aligned."""
    header: dict[str, Any] = {"__metadata__": {**metadata, "checksum": ZEROS.decode()}}
    arrays, start = [], 0
    for name in sorted(tensors, key=lambda name: (-tensors[name].itemsize, name)):
        values = tensors[name]
        kind = TYPE_NAMES[values.dtype.newbyteorder("=")]
        end = start + values.nbytes
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [start, end]}
        arrays.append(np.ascontiguousarray(values, STORED_TYPES[kind]).reshape(-1).view(np.uint8))
        start = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > LONGEST_HEADER:
        fail(f"its {len(tensors)} arrays are too many")
    text = len(text).to_bytes(8, "little") + text
    place = text.index(CHECKSUM) + len(CHECKSUM)
    digest = _checksum(text, place, arrays)
    file.write(text[:place] + digest + text[place + len(digest) :])
    for array in arrays:
        file.write(array.data)


def read_header(file: IO[bytes], head: bytes, size: int | None) -> Header:
    """Return the header of a file whose first eight bytes were read, and its size if known."""
    length = int.from_bytes(head, "little")
    text = file.read(len(MARK))
    ours = text == MARK
    if len(head) < 8 or text[:1] != b"{" or not (ours or size is None or length < size):
        raise Foreign(UNKNOWN)
    if not len(text) <= length <= LONGEST_HEADER:
        raise Damaged(BAD_HEADER) if ours else Foreign(OTHER_PROGRAM)
    text += file.read(length - len(text))
    if len(text) < length:
        raise Damaged(ENDS_EARLY) if ours else Foreign(UNKNOWN)
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, dict):
        raise Damaged(BAD_HEADER) if ours else Foreign(UNKNOWN)
    metadata = entries.pop("__metadata__", None)
    if not isinstance(metadata, dict) or metadata.get("format") != "rosenblatt":
        raise Foreign(OTHER_PROGRAM)
    if not all(isinstance(value, str) for value in metadata.values()):
        msg = "its metadata must be words"
        raise Damaged(msg)
    return Header(metadata, _places(entries), head + text)


def read_arrays(file: IO[bytes], header: Header, size: int | None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file, once their checksum has been found to match."""
    end = len(header.text) + (header.places[-1].end if header.places else 0)
    if size is not None and size != end:
        raise Damaged(ENDS_EARLY if size < end else ADDED)
    tensors, arrays = {}, []
    for place in header.places:
        values = np.empty(place.shape, place.dtype)
        array = values.reshape(-1).view(np.uint8)
        _fill(file, array.data)
        arrays.append(array)
        tensors[place.name] = values.astype(place.dtype.newbyteorder("="), copy=False)
    if file.read(1):
        raise Damaged(ADDED)
    start = header.text.find(CHECKSUM) + len(CHECKSUM)  # in no string: quotes are escaped there
    told = header.text[start : start + len(ZEROS)]
    if _checksum(header.text, start, arrays) != told:
        msg = "its checksum does not match; copy it again or train anew"
        raise Damaged(msg)
    for name, values in tensors.items():  # NumPy takes a byte for a truth value without a look
        if values.dtype == np.bool_ and values.size and values.view(np.uint8).max() > 1:
            msg = f"{name!r:.60} must hold truth values"
            raise Damaged(msg)
    return tensors


def _places(entries: dict[str, Any]) -> list[Place]:
    places = [_place(name, entry) for name, entry in entries.items()]
    places.sort(key=lambda place: (place.start, place.end))
    end = 0
    for place in places:
        if place.start != end:
            msg = f"{place.name!r:.60} does not begin where the array before it ends"
            raise Damaged(msg)
        end = place.end
    return places


def _place(name: str, entry: Any) -> Place:
    try:
        dtype = np.dtype(STORED_TYPES[entry["dtype"]])
        shape, (start, end) = entry["shape"], entry["data_offsets"]
        numbers = [*shape, start, end]
        fits = len(shape) <= 8 and all(type(n) is int and 0 <= n < 2**63 for n in numbers)
    except (KeyError, TypeError, ValueError):
        fits = False
    if not fits or end - start != math.prod(shape) * dtype.itemsize:
        msg = f"the type, shape and place of {name!r:.60} do not fit together"
        raise Damaged(msg)
    return Place(name, dtype, tuple(shape), start, end)


def _fill(file: IO[bytes], room: memoryview) -> None:
    filled = 0
    while filled < len(room):
        count = file.readinto(room[filled:])  # type: ignore[attr-defined]  # all that we open
        if not count:
            raise Damaged(ENDS_EARLY)
        filled += count


def _checksum(text: bytes, place: int, arrays: list[NDArray[Any]]) -> bytes:
    """Return the digest of a file whose checksum at this place is replaced by zeros."""
    digest = sha256(text[:place] + ZEROS + text[place + len(ZEROS) :])
    for array in arrays:
        digest.update(array.data)
    return digest.hexdigest().encode()


def nonzero_places(values: NDArray[Any]) -> NDArray[Any] | None:
    """Return the places in flat order that are not zero, if they are under a third, else None.

    Not if next to none are: whoever reads a small file must not have to reserve much for it.
    −0.0 counts as not zero, so that what comes back is equal to the last bit.
    """
    flat = np.ascontiguousarray(values).reshape(-1)
    if flat.size > MOST_PLACES:
        return None
    bits = flat.view(f"u{flat.itemsize}")
    n_values = int(np.count_nonzero(bits))
    sparse = 3 * n_values < flat.size <= most_places(n_values)
    return np.flatnonzero(bits) if sparse else None


def most_places(n_values: int) -> int:
    """Return how many places an array may have of which so many values are stored."""
    return min(MOST_PLACES, max(FEW_PLACES, PLACES_A_VALUE * n_values))


def packed(name: str, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return an array under its name, or as two: where it is not zero, and what it is there."""
    flat = np.ascontiguousarray(values).reshape(-1)  # one copy at most, for both
    places = nonzero_places(flat)
    if places is None:
        return {name: flat.reshape(values.shape)}
    return {f"{name}.places": places.astype(np.int32), f"{name}.values": flat[places]}


def unpacked(
    tensors: dict[str, NDArray[Any]], name: str, shape: tuple[int, ...]
) -> NDArray[Any] | None:
    """Take an array of this shape out of the tensors, None if it is not there."""
    whole = tensors.pop(name, None)
    places, values = tensors.pop(f"{name}.places", None), tensors.pop(f"{name}.values", None)
    if whole is not None:
        if whole.shape != shape:
            fail(f"the shape of {name!r} must be {shape}; got {whole.shape}")
        return whole
    if places is None and values is None:
        return None
    if places is None or values is None:
        fail(f"{name!r} has places or values, and needs both")
    return spread_out(name, places, values, shape)


def spread_out(
    name: str, places: NDArray[Any], values: NDArray[Any], shape: tuple[int, ...]
) -> NDArray[Any]:
    """Return the array that has these values in these places and zeros elsewhere."""
    size = math.prod(shape)
    if size > most_places(values.size):
        fail(
            f"{name!r} has {size:,} places for {values.size:,} values, more than the "
            f"{most_places(values.size):,} that are stored so"
        )
    if places.ndim != 1 or places.dtype.kind != "i" or values.shape != places.shape:
        fail(f"{name!r} must have one value for each place")
    inside = places.size == 0 or (places[0] >= 0 and places[-1] < size)
    if not inside or (places[1:] <= places[:-1]).any():
        fail(f"the places of {name!r} must ascend from 0 to at most {size - 1}")
    whole = np.zeros(size, values.dtype)
    whole[places] = values
    return whole.reshape(shape)

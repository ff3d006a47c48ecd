"""The safetensors format: a header in JSON, named arrays, and a checksum over every byte.

Not by the library of that name, which copies all arrays into one string and maps files, where one
that is cut short ends the process. Arrays that are mostly zero are stored as places and values, and
what deflates well is deflated.
"""

import json
import math
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.util import find_spec
from typing import IO, Any, NamedTuple, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.mistakes.threads import n_threads
from rosenblatt.training.places import Scattered
from rosenblatt.training.state import contiguous

STORED_TYPES = {"BOOL": "|b1"} | {  # safetensors' names of the types that NumPy has as well
    f"{kind}{8 * size}": f"<{kind.lower()}{size}" for kind in "FIU" for size in (8, 4, 2, 1)
}
del STORED_TYPES["F8"]
TYPE_NAMES = {np.dtype(text).newbyteorder("="): name for name, text in STORED_TYPES.items()}

MOST_PLACES = 1 << 28  # of an array that is stored by places and values
FEW_PLACES = 1 << 25  # that it may have however few values there are: 256 MiB
PLACES_A_VALUE = 1 << 12  # beyond that: a small file can't ask for much memory
PLACES_A_DEFLATED = PLACES_A_VALUE >> 6  # the same for values that are deflated
MOST_DEFLATED = 64  # times as long as what is stored of it an array may be
FEW_BYTES = 1 << 12  # shorter arrays stay as they are, to be read by any program
MANY_BYTES = 1 << 21  # of all arrays; fewer are deflated sooner than threads start
LEVEL = 4  # of deflating: 100 MB a second; 6 takes twice the time for one hundredth
ISAL_LEVEL = 1  # of isal, where it is installed: 600 MB a second for three hundredths more
DEFLATED = "deflated"  # under which metadata hold type, shape and type of steps of such arrays
LONGEST_HEADER = 1 << 20  # bytes; ours names a dozen arrays
MARK = b'{"__metadata__":{"format":"rosenblatt","format_version":"'  # what our headers begin with
CHECKSUM = b'"checksum":"'
ZEROS = b"0" * 64  # what stands for the checksum while it is computed

NO_MODEL = "is not a rosenblatt model"

Result = TypeVar("Result")
Deflated = tuple[NDArray[Any], list[Any]]  # bytes; and type, shape and type of steps


class FormatError(Exception):  # never seen by a user: it becomes an InputError
    """The contents do not fit together; the clause says where, after the opening."""

    def __init__(self, clause: str, opening: str = "is not a usable model") -> None:
        super().__init__(clause)
        self.opening = opening


@contextmanager
def input_errors(name: str) -> Iterator[None]:
    """Turn what is wrong with the model of this name into an InputError."""
    try:
        yield
    except FormatError as fault:
        msg = f"{name} {fault.opening}: {fault}."
    except RecursionError:
        msg = f"{name} is not a usable model: its values are nested too deeply."
    except MemoryError:
        msg = f"{name} needs more memory than there is: use a machine with more."
    else:
        return
    raise InputError(msg)


def fail(clause: str) -> NoReturn:
    """Raise FormatError."""
    raise FormatError(clause)


def require(holds: object, place: str) -> None:
    """Raise FormatError unless this holds of an entry or array, which a file may be without."""
    if not holds:
        fail(f"its {place} is not there, or not what it must be")


def damaged() -> FormatError:
    """Return the error of a file that is not what was written."""
    return FormatError("copy it again or train anew", "is damaged")


class Place(NamedTuple):
    """Where an array stands among the bytes after the header."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    end: int


class Header(NamedTuple):
    """The header of a file."""

    metadata: dict[str, str]
    places: list[Place]  # in the order of the file
    text: bytes  # with the eight bytes of its length


def write_tensors(
    file: IO[bytes],
    metadata: dict[str, str],
    tensors: dict[str, NDArray[Any]],
    plain: Collection[str] | None = None,
) -> None:
    """Write arrays and metadata, the wide types first so that each array is aligned.

    Arrays are deflated where it pays, but those named ``plain``; None: all of them.
    """
    tensors, forms = dict(tensors), {}
    names = [] if plain is None else sorted(tensors.keys() - plain)
    shorter = _side_by_side(_deflated, [tensors[name] for name in names])
    for name, short in zip(names, shorter, strict=True):
        if short is not None:
            tensors[name], forms[name] = short
    if forms:
        metadata = {**metadata, DEFLATED: json.dumps(forms, separators=(",", ":"))}
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


def read_header(file: IO[bytes], head: bytes) -> Header:
    """Return the header of a file whose first eight bytes were read."""
    length = int.from_bytes(head, "little")
    text = file.read(len(MARK))
    other = "it is another kind of file" if head else "it is empty"
    foreign = damaged() if text == MARK else FormatError(other, NO_MODEL)
    if len(head) < 8 or text[:1] != b"{" or not len(text) <= length <= LONGEST_HEADER:
        raise foreign
    text += file.read(length - len(text))
    try:
        entries = json.loads(text)
        metadata = entries.pop("__metadata__")
        ours = metadata["format"] == "rosenblatt"
        strings = all(isinstance(value, str) for value in metadata.values())
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise foreign from None
    if not ours or not strings:
        raise foreign
    return Header(metadata, _places(entries), head + text)


def read_arrays(
    file: IO[bytes], header: Header, size: int | None, unwanted: Collection[str] = ()
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file but unwanted ones, once its checksum has been found to match."""
    end = len(header.text) + (header.places[-1].end if header.places else 0)
    if size is not None and size != end:
        raise damaged()
    tensors, arrays = {}, []
    for place in header.places:
        values = np.empty(place.shape, place.dtype)
        array = values.reshape(-1).view(np.uint8)
        _fill(file, array.data)
        arrays.append(array)
        tensors[place.name] = values.astype(place.dtype.newbyteorder("="), copy=False)
    start = header.text.find(CHECKSUM) + len(CHECKSUM)  # in no string: quotes are escaped there
    told = header.text[start : start + len(ZEROS)]
    # NumPy takes any byte for a truth value
    flags = (array.view(np.uint8) for array in tensors.values() if array.dtype == np.bool_)
    if (
        file.read(1)
        or _checksum(header.text, start, arrays) != told
        or any((bits > 1).any() for bits in flags)
    ):
        raise damaged()
    forms = deflated_forms(header)
    if not forms.keys() <= tensors.keys():
        raise damaged()
    tensors = {name: array for name, array in tensors.items() if name not in unwanted}
    forms = {name: form for name, form in forms.items() if name in tensors}
    longer = _side_by_side(_inflated, [tensors[name] for name in forms], forms.values())
    return tensors | dict(zip(forms, longer, strict=True))


def deflated_forms(header: Header) -> dict[str, Any]:
    """Return type, shape and type of steps of each array of a file that is deflated."""
    try:
        forms = json.loads(header.metadata.get(DEFLATED, "{}"))
    except (ValueError, RecursionError):
        raise damaged() from None
    if not isinstance(forms, dict):
        raise damaged()
    return forms


def _side_by_side(
    work: Callable[..., Result], arrays: list[NDArray[Any]], *others: Iterable[Any]
) -> list[Result]:
    """Return work(array, …) of each array; large ones in threads, as zlib lets others run."""
    if n_threads() == 1 or sum(array.nbytes for array in arrays) < MANY_BYTES:
        return [*map(work, arrays, *others)]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor() as pool:
        return [*pool.map(work, arrays, *others)]


def _deflated(values: NDArray[Any]) -> Deflated | None:
    """Return an array, or the steps of rising numbers, in fewer bytes; None: saves below 10 %."""
    if values.nbytes < FEW_BYTES or values.dtype.kind not in "fiu":
        return None
    kind, stored, steps = TYPE_NAMES[values.dtype.newbyteorder("=")], values, ""
    if values.ndim == 1 and values.dtype.kind == "i" and values[0] >= 0:
        rise = np.diff(values, prepend=values.dtype.type(0))
        if rise.min() >= 0:
            narrow = np.min_scalar_type(int(rise.max()))
            steps, stored = TYPE_NAMES[narrow], rise.astype(narrow)
    library, level = _fastest_zlib()
    text = library.compress(np.ascontiguousarray(stored, STORED_TYPES[steps or kind]).data, level)
    text = text.ljust(-(-values.nbytes // MOST_DEFLATED), b"\0")
    if 10 * len(text) > 9 * values.nbytes:
        return None
    return np.frombuffer(text, np.uint8), [kind, list(values.shape), steps]


def _fastest_zlib() -> tuple[Any, int]:
    """Return a module that deflates to zlib's format, which every program reads, and its level."""
    if find_spec("isal"):
        from isal import isal_zlib

        return isal_zlib, ISAL_LEVEL
    return zlib, LEVEL


def _inflated(stored: NDArray[Any], form: Any) -> NDArray[Any]:
    """Return what ``_deflated`` was given."""
    library, _ = _fastest_zlib()
    try:
        kind, shape, steps = form
        dtype, written = (np.dtype(STORED_TYPES[name]) for name in (kind, steps or kind))
        sound = all(type(n) is int and 0 <= n < 2**48 for n in shape) and stored.ndim == 1
        count = math.prod(shape)
        if not sound or count * dtype.itemsize > MOST_DEFLATED * stored.nbytes:
            raise damaged()
        inflater = library.decompressobj()
        text = inflater.decompress(stored.data, count * written.itemsize + 1)
        if not inflater.eof or inflater.unused_data.strip(b"\0"):
            raise damaged()
        values = np.frombuffer(text, written).reshape(shape)
    except (KeyError, TypeError, ValueError, library.error):
        raise damaged() from None
    if steps:
        return np.cumsum(values, dtype=dtype).astype(dtype.newbyteorder("="), copy=False)
    return values.astype(dtype.newbyteorder("="))


def _places(entries: dict[str, Any]) -> list[Place]:
    """Return where the arrays stand: one after another, as long as type and shape say."""
    places, end = [], 0
    try:
        for name, entry in sorted(entries.items(), key=lambda item: item[1]["data_offsets"]):
            dtype = np.dtype(STORED_TYPES[entry["dtype"]])
            place = Place(name, dtype, tuple(entry["shape"]), *entry["data_offsets"])
            numbers = [*place.shape, place.start, place.end]
            sound = len(numbers) <= 10 and all(type(n) is int and 0 <= n < 2**63 for n in numbers)
            length = math.prod(place.shape) * dtype.itemsize if sound else -1
            if (place.start, place.end) != (end, end + length):
                raise damaged()
            places.append(place)
            end = place.end
    except (KeyError, TypeError, ValueError):
        raise damaged() from None
    return places


def _fill(file: IO[bytes], room: memoryview) -> None:
    filled = 0
    while filled < len(room):
        count = file.readinto(room[filled:])  # type: ignore[attr-defined]  # all that we open
        if not count:
            raise damaged()
        filled += count


def _checksum(text: bytes, place: int, arrays: list[NDArray[Any]]) -> bytes:
    """Return the digest of a file whose checksum at this place is replaced by zeros."""
    digest = sha256(text[:place] + ZEROS + text[place + len(ZEROS) :])
    for array in arrays:
        digest.update(array.data)
    return digest.hexdigest().encode()


def nonzero_places(values: NDArray[Any]) -> NDArray[Any] | None:
    """Return the places in flat order that are not zero, if they are under a third, else None.

    Not if next to none are, so that a small file never needs much memory. −0.0 counts as not zero,
    so that what comes back is equal to the last bit.
    """
    flat = np.ascontiguousarray(values).reshape(-1)
    if flat.size > MOST_PLACES:
        return None
    bits = flat.view(f"u{flat.itemsize}")
    n_values = int(np.count_nonzero(bits))
    sparse = 3 * n_values < flat.size <= most_places(n_values)
    return np.flatnonzero(bits) if sparse else None


def most_places(n_values: int, a_value: int = PLACES_A_VALUE) -> int:
    """Return the most places that an array with ``n_values`` stored values may have."""
    return min(MOST_PLACES, max(FEW_PLACES, a_value * n_values))


def packed(name: str, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return an array under its name, or two: the places of its non-zero values, and these."""
    flat = contiguous(values).reshape(-1)  # one copy at most, for both
    places = nonzero_places(flat)
    if places is None:
        return {name: flat.reshape(values.shape)}
    return {f"{name}.places": places.astype(np.int32), f"{name}.values": flat[places]}


def packed_places(name: str, array: Scattered) -> dict[str, NDArray[Any]]:
    """Do what ``packed`` does with an array whose numbers are 0 but for some."""
    there = array.values.view(f"u{array.values.itemsize}") != 0
    n_values = int(np.count_nonzero(there))
    if not 3 * n_values < array.size <= most_places(n_values):
        return packed(name, array.whole())
    places = array.flat[there].astype(np.int32)
    return {f"{name}.places": places, f"{name}.values": array.values[there]}


def unpacked(
    tensors: dict[str, NDArray[Any]],
    name: str,
    shape: tuple[int, ...],
    deflated: Collection[str] = (),
) -> NDArray[Any]:
    """Take an array of this shape out of the tensors, stored whole or as places and values."""
    if name in tensors:
        return tensors.pop(name)
    places, values = unpacked_places(tensors, name, shape, deflated)
    whole = np.zeros(math.prod(shape), values.dtype)
    whole[places] = values
    return whole.reshape(shape)


def unpacked_places(
    tensors: dict[str, NDArray[Any]],
    name: str,
    shape: tuple[int, ...],
    deflated: Collection[str] = (),
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Take the places and the values of an array of this shape out of the tensors."""
    nothing = np.zeros(0)  # not even whole numbers
    places, values = (tensors.pop(f"{name}.{part}", nothing) for part in ("places", "values"))
    size = math.prod(shape)
    require(places.ndim == 1 and places.dtype.kind == "i", f"array {name!r}")
    most = most_places(
        values.size, PLACES_A_DEFLATED if f"{name}.values" in deflated else PLACES_A_VALUE
    )
    require(values.shape == places.shape and size <= most, f"array {name!r}")
    inside = places.size == 0 or (places[0] >= 0 and places[-1] < size)
    require(inside and (places[1:] > places[:-1]).all(), f"array {name!r}")
    return places, values

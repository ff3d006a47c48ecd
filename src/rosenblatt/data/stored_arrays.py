"""Untrusted arrays of a model file, each checked by its line of a table."""

from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError

Size = float | str  # a number, or the name of one; "n+1" is one more than "n"
Arrays = Mapping[str, NDArray[Any]]


class ArraySpec(NamedTuple):
    """What an array must be. A size that is not known yet is that of the first array with it."""

    types: tuple[type, ...]
    shape: tuple[Size, ...]
    least: Size | None = None  # of numbers that must be finite; None: any
    below: Size | None = None
    order: str = ""  # "ascending", or "rising", where equal numbers may be neighbours


class StoredArrays:
    """Arrays by their names, those with a prefix; ``owner`` is what a sentence calls damaged."""

    def __init__(
        self, arrays: Arrays, specs: Mapping[str, ArraySpec], owner: str, prefix: str = ""
    ) -> None:
        self._arrays = {
            n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)
        }
        self._specs, self._owner = specs, owner
        self.sizes: dict[str, int] = {}

    def expect(self, sizes: Mapping[str, int]) -> None:
        """Change to know how long these sizes are."""
        self.sizes |= sizes

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def check(self, name: str, holds: object) -> None:
        """Raise InputError unless something holds of an array or entry of this name."""
        if not holds:
            self.fail(name)

    def fail(self, name: str) -> NoReturn:
        """Raise InputError for an array or entry."""
        raise InputError(
            f"{self._owner} is damaged: {name} is not there, or not what it must be. Copy the file "
            "again or train anew."
        )

    def __getitem__(self, name: str) -> NDArray[Any]:
        array, spec = self._arrays.get(name), self._specs[name]
        if not isinstance(array, np.ndarray) or array.dtype not in spec.types:
            self.fail(name)
        if array.ndim != len(spec.shape) or not all(map(self._fits, array.shape, spec.shape)):
            self.fail(name)
        if spec.least is not None and array.size:
            below = np.inf if spec.below is None else self._size(spec.below)
            inside = np.isfinite(array).all() and array.min() >= self._size(spec.least)
            self.check(name, inside and array.max() < below)
        if spec.order:
            steps = array[1:] > array[:-1] if spec.order == "ascending" else array[1:] >= array[:-1]
            self.check(name, steps.all())
        return np.require(array, None, ["C", "W"])  # compiled code wants arrays that can be written

    def ends(self, name: str, length: int) -> NDArray[Any]:
        """Return where parts end, the first at 0 and the last at the length of the whole."""
        array = self[name]
        self.check(name, len(array) and array[0] == 0 and array[-1] == length)
        return array

    def _size(self, size: Size) -> float:
        if not isinstance(size, str):
            return size
        return self.sizes[size.removesuffix("+1")] + size.endswith("+1")

    def _fits(self, length: int, size: Size) -> bool:
        if isinstance(size, str) and not size.endswith("+1"):
            return length == self.sizes.setdefault(size, length)
        return length == self._size(size)

"""What a shard did to an array of weights, in the form that is smaller on the wire."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Change(NamedTuple):
    """The values of an array laid flat: all of them, or those that are not zero.

    Both forms give the same sums to the last bit, since x + 0 is x.
    """

    values: NDArray[Any]
    places: NDArray[Any] | None  # where the values stand, ascending; None: they are all there are
    length: int

    @classmethod
    def of(cls, array: NDArray[Any]) -> "Change":
        """Return the values of an array, without a copy where they are kept whole."""
        flat = array.reshape(-1)
        places = np.flatnonzero(flat)
        narrow = np.int32 if len(flat) < 2**31 else np.int64
        size = flat.itemsize + np.dtype(narrow).itemsize
        if len(places) * size >= flat.nbytes:
            return cls(flat, None, len(flat))
        return cls(flat[places], places.astype(narrow), len(flat))

    @property
    def nbytes(self) -> int:
        """How much there is to send."""
        return int(self.values.nbytes + (0 if self.places is None else self.places.nbytes))

    def whole(self, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return a new array of these values."""
        array = np.zeros(self.length)
        self.add_to(array)
        return array.reshape(shape)

    def times(self, factor: float) -> "Change":
        """Return every value multiplied."""
        return self._replace(values=self.values * factor)

    def over(self, divisor: float) -> "Change":
        """Return every value divided."""
        return self._replace(values=self.values / divisor)

    def add_to(self, array: NDArray[Any]) -> None:
        """Change an array by adding these values to it."""
        flat = array.reshape(-1)  # a view: weights are contiguous
        if self.places is None:
            flat += self.values
        else:
            flat[self.places] += self.values

    def plus(self, other: "Change") -> "Change":
        """Return the sum of both, which share no memory with it."""
        if self.places is None or other.places is None:
            whole, added = (self, other) if self.places is None else (other, self)
            values = whole.values.copy()
            added.add_to(values)
            return Change(values, None, self.length)
        places = np.union1d(self.places, other.places)
        values = np.zeros(len(places))
        values[np.searchsorted(places, self.places)] = self.values
        values[np.searchsorted(places, other.places)] += other.values
        total = Change(values, places, self.length)
        if total.nbytes < values.itemsize * self.length:
            return total
        return Change(total.whole((self.length,)), None, self.length)


def fixed(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of an array that nobody can write into.

    A worker hands one and the same array to all its tasks, and keeps the flag.
    """
    copy = array.copy()
    copy.flags.writeable = False
    return copy

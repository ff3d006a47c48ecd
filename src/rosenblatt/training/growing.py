"""An array that grows at its end."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Growing:
    """Values of one type; adding n of them costs O(n), whatever is there already.

    >>> column = Growing(np.int64)
    >>> column.extend([1, 2])
    >>> column.extend([3])
    >>> column.values
    array([1, 2, 3])
    """

    def __init__(self, dtype: Any, values: Any = ()) -> None:
        self._room: NDArray[Any] = np.array(values, dtype)
        self._length = len(self._room)

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> NDArray[Any]:
        """What is there, as a view that is valid until more comes."""
        return self._room[: self._length]

    def extend(self, values: Any) -> None:
        """Add values at the end."""
        end = self._length + len(values)
        if end > len(self._room):
            room = np.empty(max(end, 2 * len(self._room)), self._room.dtype)
            room[: self._length] = self.values
            self._room = room
        self._room[self._length : end] = values
        self._length = end

    def __getstate__(self) -> dict[str, Any]:
        return {"_room": self.values.copy(), "_length": self._length}

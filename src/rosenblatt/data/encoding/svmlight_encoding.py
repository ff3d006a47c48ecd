"""Files whose features are numbered already."""

from collections.abc import Iterable
from typing import Any

from numpy.typing import NDArray

from rosenblatt.errors import InputError


class SvmlightEncoding:
    """Features as they are numbered in svmlight text.

    >>> SvmlightEncoding(zero_based=False, n_features=20).name(16)
    'feature 17'
    """

    kind = "svmlight"

    def __init__(self, *, zero_based: bool, n_features: int) -> None:
        self.zero_based = zero_based
        self.n_features = n_features

    def name(self, index: int) -> str:
        """Return what a feature is called: its number in the file."""
        if not 0 <= index < self.n_features:
            msg = f"There is no feature {index}; they count from 0 to {self.n_features - 1}."
            raise InputError(msg)
        return f"feature {index + (not self.zero_based)}"

    def names(self, indices: Iterable[int]) -> list[str]:
        """Return what these features are called."""
        return [self.name(int(index)) for index in indices]

    def as_json(self) -> dict[str, Any]:
        """Return what ``encoding_from`` needs."""
        return {
            "kind": self.kind,
            "zero_based": self.zero_based,
            "n_features": self.n_features,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return nothing: there are no large parts."""
        return {}

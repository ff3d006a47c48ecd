"""Arrays of a file that nobody trusts are what their table says, or are refused."""

import re
from typing import Any

import numpy as np
import pytest

from rosenblatt.data.stored_arrays import ArraySpec, StoredArrays
from rosenblatt.errors import InputError

SPECS = {
    "numbers": ArraySpec((np.int64,), ("n",), 0, "end", "ascending"),
    "ends": ArraySpec((np.int64,), ("n+1",), 0, order="rising"),
}


def stored(**arrays: Any) -> StoredArrays:
    """Return two arrays that fit, one of them changed."""
    good = {"numbers": np.array([0, 4, 9]), "ends": np.array([0, 1, 1, 5])}
    found = StoredArrays(good | arrays, SPECS, "The list")
    found.sizes["end"] = 10
    return found


def test_arrays_that_fit() -> None:
    """Sizes that are not known are those of the first array; what is given can be written to."""
    found = stored(numbers=np.array([1, 2, 3]))
    assert found["numbers"].tolist() == [1, 2, 3]
    assert found.ends("ends", 5).flags.writeable
    assert found.sizes["n"] == 3


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("numbers", None),
        ("numbers", [0, 4, 9]),
        ("numbers", np.array([0.0, 4.0])),
        ("numbers", np.array([[0, 4]])),
        ("numbers", np.array([0, 10])),
        ("numbers", np.array([-1, 4])),
        ("numbers", np.array([4, 4])),
        ("ends", np.array([0, 1, 5])),
        ("ends", np.array([0, 2, 1, 5])),
        ("ends", np.array([0, 1, 1, 6])),
        ("ends", np.array([1, 1, 1, 5])),
    ],
)
def test_arrays_that_do_not(name: str, array: Any) -> None:
    """Type, shape, range and order are checked, and the array is named."""
    sentence = (
        f"The list is damaged: {name} is not there, or not what it must be. Copy the file again or "
        "train anew."
    )
    found = stored(**{name: array})
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        _ = found["numbers"], found.ends("ends", 5)

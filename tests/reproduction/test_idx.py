"""The reader of IDX files."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reproduction.data_sets import read_idx
from rosenblatt.errors import InputError


def idx_bytes(array: np.ndarray, kind: int = 8) -> bytes:
    """Return an array of bytes as an IDX file."""
    sizes = np.array(array.shape, ">u4").tobytes()
    return bytes([0, 0, kind, array.ndim]) + sizes + array.tobytes()


@given(arrays(np.uint8, st.lists(st.integers(0, 5), min_size=1, max_size=4).map(tuple)))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, array: np.ndarray
) -> None:
    """Arrays of any shape come back, packed and not."""
    path = tmp_path_factory.mktemp("idx") / "a"
    for data in (idx_bytes(array), gzip.compress(idx_bytes(array))):
        path.write_bytes(data)
        np.testing.assert_array_equal(read_idx(path), array)


WHOLE = idx_bytes(np.arange(6, dtype=np.uint8).reshape(2, 3))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "no IDX file"),
        (b"P5 28 28", "no IDX file: it begins with"),
        (idx_bytes(np.zeros(2, np.uint8), kind=0x0D), "type 0x0d; only bytes"),
        (WHOLE[:7], "ends within its header"),
        (WHOLE[:-1], "holds 5 values; its header promises 6"),
        (WHOLE + b"\0", "goes on after the 6 values"),
        (bytes([0, 0, 8, 0]), "which cannot be"),
        (bytes([0, 0, 8, 2]) + b"\xff" * 8, "which cannot be"),
        (gzip.compress(WHOLE, mtime=0)[:-9], "is damaged"),
    ],
)
def test_bad_files(tmp_path: Path, data: bytes, told: str) -> None:
    """A file that is none, cut off or too long is refused, with its name and the reason."""
    path = tmp_path / "digits.idx"
    path.write_bytes(data)
    with pytest.raises(InputError, match=told) as caught:
        read_idx(path)
    assert "digits.idx" in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(InputError, match="digits cannot be read"):
        read_idx(tmp_path / "digits")

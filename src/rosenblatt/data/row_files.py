"""Parsed rows on disk, as NumPy files that are mapped into memory, so that nothing is parsed twice.

A folder of four arrays in the .npy format: ``data`` and ``indices`` (the values of all rows and
their features), ``indptr`` (where each row begins and ends) and ``labels`` (class numbers). Anyone
can open them with ``numpy.load(file, mmap_mode="r")``.
"""

import io
import mmap
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.row_blocks import RowBlock
from rosenblatt.data.sources import unreadable
from rosenblatt.errors import InputError, Parameter, Sentence

HEADER_BYTES = 128  # enough for any shape of one dimension


class GrowingArray:
    """A .npy file that is appended to; its length is written when it is closed."""

    def __init__(self, path: Path, dtype: type[Any]) -> None:
        self.path = path
        self.length = 0
        self._dtype = np.dtype(dtype)
        self._file: IO[bytes] = path.open("wb")  # closed by its owner
        self._file.write(self._header())

    def append(self, values: NDArray[Any]) -> None:
        """Write values behind those that are there."""
        written = np.ascontiguousarray(values, self._dtype)
        self._file.write(written.data)
        self.length += len(values)

    def close(self) -> None:
        """Write the length and close the file."""
        if not self._file.closed:
            self._file.seek(0)
            self._file.write(self._header())
            self._file.close()

    def _header(self) -> bytes:
        text = io.BytesIO()
        described = npy.dtype_to_descr(self._dtype)
        shape = (self.length,)
        npy.write_array_header_1_0(
            text, {"descr": described, "fortran_order": False, "shape": shape}
        )
        header = text.getvalue()
        if len(header) != HEADER_BYTES:
            msg = f"A header of {len(header)} bytes where {HEADER_BYTES} are kept free."
            raise AssertionError(msg)
        return header


class RowWriter:
    """Writes rows to the four files of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = GrowingArray(folder / "data.npy", np.float64)
        self.indices = GrowingArray(folder / "indices.npy", np.int32)
        self.indptr = GrowingArray(folder / "indptr.npy", np.int64)
        self.labels = GrowingArray(folder / "labels.npy", np.int32)
        self.indptr.append(np.zeros(1, np.int64))

    def append(self, rows: Batch | RowBlock) -> None:
        """Write rows behind those that are there."""
        try:
            self.indptr.append(rows.indptr[1:] + self.data.length)
            self.data.append(rows.data)
            self.indices.append(rows.indices)
            self.labels.append(rows.labels)
        except OSError as error:
            raise not_kept(str(self.folder), error) from error

    def close(self) -> None:
        """Make the files whole."""
        try:
            for array in (self.data, self.indices, self.indptr, self.labels):
                array.close()
        except OSError as error:
            raise not_kept(str(self.folder), error) from error


def not_kept(folder: str, error: OSError) -> InputError:
    """Return the error that says that parsed rows cannot be written, and what to do."""
    msg = Sentence(
        f"The parsed rows cannot be kept in {folder}: {error.strerror or error}; "
        "name a folder with room for them with ",
        Parameter("cache"),
        ".",
    )
    return InputError(msg)


class MappedRows:
    """The rows of a folder, mapped into memory; the values may be changed in place."""

    def __init__(self, folder: Path) -> None:
        self._maps: list[mmap.mmap] = []
        self.data = self._mapped(folder / "data.npy", np.float64)
        self.indices = self._mapped(folder / "indices.npy", np.int32)
        self.indptr = self._mapped(folder / "indptr.npy", np.int64)
        self.labels = self._mapped(folder / "labels.npy", np.int32)
        fits = len(self.data) == len(self.indices) == (self.indptr[-1] if len(self.indptr) else -1)
        if not fits or len(self.labels) != len(self.indptr) - 1:
            msg = f"The rows kept in {folder} are damaged: remove the folder and read anew."
            raise InputError(msg)

    def release(self) -> None:
        """Let the system take back the memory of what has been read; the files still hold it."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for owner in self._maps:
                owner.madvise(mmap.MADV_DONTNEED)

    def _mapped(self, path: Path, dtype: type[Any]) -> NDArray[Any]:
        try:
            array = np.load(path, mmap_mode="r+", allow_pickle=False)
        except OSError as error:
            raise unreadable(str(path), error) from error
        except ValueError as error:
            msg = f"{path} is damaged: {error}; remove the folder and read anew."
            raise InputError(msg) from error
        if array.dtype != dtype or array.ndim != 1:
            msg = f"{path} is damaged: it holds {array.dtype}; remove the folder and read anew."
            raise InputError(msg)
        self._maps.append(array._mmap)  # noqa: SLF001  # the only way to it
        plain: NDArray[Any] = array.view(np.ndarray)
        return plain

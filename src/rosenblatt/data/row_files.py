"""Parsed rows on disk, mapped into memory, so that nothing is parsed twice.

The files have no name: whatever ends the process that opened them, a signal included, ends them.
"""

import mmap
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.errors import InputError, Parameter, Sentence


class ArrayFile:
    """An array in a file without a name, which is appended to and then mapped into memory."""

    def __init__(self, folder: Path | None, dtype: type[Any]) -> None:
        self.length = 0
        self._dtype = np.dtype(dtype)
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # closed by its owner

    def append(self, values: NDArray[Any]) -> None:
        """Write values behind those that are there."""
        self._file.write(np.ascontiguousarray(values, self._dtype).data)
        self.length += len(values)

    def mapped(self) -> mmap.mmap | None:
        """Return the memory that the file is mapped into; None where it is empty."""
        self._file.flush()
        return mmap.mmap(self._file.fileno(), 0) if self.length else None

    def array(self, memory: mmap.mmap | None) -> NDArray[Any]:
        """Return the values in this memory."""
        return np.frombuffer(b"" if memory is None else memory, self._dtype)

    def close(self) -> None:
        """Close the file; what is mapped stays."""
        self._file.close()


class RowFiles:
    """Rows in files: values, features, where rows begin and end, labels, weights of rows."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = str(folder or tempfile.gettempdir())
        self._files: list[ArrayFile] = []
        self._maps: list[mmap.mmap] = []
        try:
            for dtype in (np.float64, np.int32, np.int64, np.int32, np.float64):
                self._files.append(ArrayFile(folder, dtype))
        except OSError as error:
            self.close()
            raise self._unkept(error) from error
        self._files[2].append(np.zeros(1, np.int64))

    def append(self, rows: Batch) -> None:
        """Write rows behind those that are there."""
        data, indices, indptr, labels, weights = self._files
        try:
            indptr.append(rows.indptr[1:] + data.length)
            data.append(rows.data)
            indices.append(rows.indices)
            labels.append(rows.labels)
            if rows.weights is not None:
                weights.append(rows.weights)
        except OSError as error:
            raise self._unkept(error) from error

    def mapped(self) -> Batch:
        """Return the rows that were written, to be changed in place; no more can be written."""
        try:
            maps = [file.mapped() for file in self._files]
        except OSError as error:
            raise self._unkept(error) from error
        arrays = [file.array(memory) for file, memory in zip(self._files, maps, strict=True)]
        self._maps = [memory for memory in maps if memory is not None]
        self.close()
        data, indices, indptr, labels, weights = arrays
        return Batch(data, indices, indptr, labels, weights=weights if len(weights) else None)

    def release(self) -> None:
        """Let the system take back the memory of what has been read; the files still hold it."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for memory in self._maps:
                memory.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        """Give the files up."""
        for file in self._files:
            file.close()

    def _unkept(self, error: OSError) -> InputError:
        msg = Sentence(
            f"The parsed rows cannot be kept in {self._folder}: {error.strerror or error}; name a"
            f" folder with room for them with {Parameter('cache')}."
        )
        return InputError(msg)

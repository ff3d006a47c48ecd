"""Files that are written whole or not at all."""

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from glob import glob
from io import BufferedWriter, FileIO, RawIOBase, TextIOWrapper
from itertools import chain
from pathlib import Path
from shutil import copyfile
from time import time
from typing import IO, Any, Literal

from rosenblatt.errors import InputError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

Target = str | os.PathLike[str]

NOTHING_CHANGED = "; nothing was changed"
PREFIX, SUFFIX = ".rosenblatt-", ".part"  # of files that are being written
YOUNG = 60.0  # seconds for which a file may be without its owner's lock
STANDARD_OUTPUT = ("-", "/dev/stdout")  # not opened anew: that would cut off what `>>` appends to


@contextmanager
def replacing(path: Target, mode: Literal["wb", "w"] = "wb") -> Iterator[IO[Any]]:
    """Give a file to write to, which takes the place of ``path`` when all went well.

    It is written in the same folder without a name, or under a hidden one, forced to the disk and
    renamed; until then ``path`` is what it was. What a killed process left is removed by one that
    writes into the folder a minute later. Permissions and symbolic links stay. Standard output
    (``-``), pipes and devices are written directly. Text is UTF-8.
    """
    name = os.fspath(path)
    if name in STANDARD_OUTPUT:
        sys.stdout.flush()
        stdout: Any = sys.stdout.buffer
        with _buffered(getattr(stdout, "raw", stdout), "standard output", "", mode) as file:
            yield file
        return
    old = _status(name)
    if old is not None and not stat.S_ISREG(old.st_mode):
        with _naming(name, ""):
            device = FileIO(name, "w")
        with device, _buffered(device, name, "", mode) as file:
            yield file
        return
    target = _target_of(name)
    _remove_orphans(target.parent)
    part = target.with_name(f"{PREFIX}{os.urandom(8).hex()}{SUFFIX}")
    try:
        with _naming(name):
            raw = _new_file(part)
        with raw, _buffered(raw, name, NOTHING_CHANGED, mode) as file:
            yield file
            file.flush()
            with _naming(name):
                if not part.exists():
                    _give_name(file.fileno(), part)
                if old is not None:
                    part.chmod(stat.S_IMODE(old.st_mode))
                os.fsync(file.fileno())
        with _naming(name):
            part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # the file is in its place and whole, whatever comes of this
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # forces the renaming to the disk
        finally:
            os.close(folder)


@contextmanager
def _naming(name: str, ending: str = NOTHING_CHANGED) -> Iterator[None]:
    """Raise InputError with the name that the user gave where the system refuses something."""
    try:
        yield
    except BrokenPipeError:  # whoever read has seen enough: for a command to end quietly
        raise
    except OSError as error:
        raise InputError(f"{name} cannot be written: {error.strerror or error}{ending}.") from error


def lock(file: IO[Any] | FileIO) -> None:
    """Lock a file while it is open here; raise OSError where another process has locked it."""
    if sys.platform == "win32":
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def check_target(path: Target, data: Sequence[str] = ()) -> None:
    """Raise InputError where a file could not be written, before work is spent on its contents.

    Files of ``data``, names or patterns, are not to be written over.
    """
    name = os.fspath(path)
    if name in STANDARD_OUTPUT:
        return
    old, folder = _status(name), _target_of(name).parent
    files = chain(data, *(glob(one, recursive=True) for one in data))  # noqa: PTH207  # as sources do
    if old is not None and any(_is_file(old, file) for file in files):
        raise InputError(f"{name} is a file to read; choose another one to write.")
    place = name if old is not None and not stat.S_ISREG(old.st_mode) else folder
    if not os.access(place, os.W_OK):
        why = "permission denied"
        if sys.platform != "win32" and os.statvfs(folder).f_flag & os.ST_RDONLY:
            why = "read-only file system"
        raise InputError(f"{name} cannot be written: {why}.")


def _is_file(status: os.stat_result, name: str) -> bool:
    """Return whether this is the status of the regular file of a name."""
    with suppress(OSError, ValueError):  # what cannot be read is told by who reads it
        return stat.S_ISREG(status.st_mode) and os.path.samestat(status, Path(name).stat())
    return False


def _new_file(part: Path) -> FileIO:
    """Return a new file: one without a name where there are such, of which nothing can stay."""
    file = _nameless_file(part.parent) or FileIO(part, "x")
    if sys.platform != "win32":  # where an open file cannot be removed anyway
        with suppress(OSError):  # a file system without locks
            lock(file)  # held while this process lives and writes
    return file


def _nameless_file(folder: Path) -> FileIO | None:
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # a system or file system without such files
            file = FileIO(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666), "w")
            if Path(_link_to(file.fileno())).exists():
                return file
            file.close()
    return None


def _link_to(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


def _give_name(descriptor: int, part: Path) -> None:
    """Name a file that has none; a directory's descriptor is what has os.link follow links."""
    folder = os.open(part.parent, os.O_RDONLY)
    try:
        os.link(_link_to(descriptor), part, src_dir_fd=folder, follow_symlinks=True)
    except OSError:  # a file system that has such files and cannot name them
        copyfile(_link_to(descriptor), part)
    finally:
        os.close(folder)


def _remove_orphans(folder: Path) -> None:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not (entry.name.startswith(PREFIX) and entry.name.endswith(SUFFIX)):
                continue
            with suppress(OSError):  # it is locked, on Windows open: its owner lives
                if time() - entry.stat().st_mtime > YOUNG:
                    if sys.platform != "win32":
                        with Path(entry.path).open("rb") as file:
                            lock(file)
                    Path(entry.path).unlink()


def _status(name: str) -> os.stat_result | None:
    """Return what stands under a name, None for nothing; raise InputError for a folder."""
    with _naming(name):
        try:
            found = Path(name).stat()
        except FileNotFoundError:
            return None
    if stat.S_ISDIR(found.st_mode):
        raise InputError(f"{name} cannot be written: it is a folder; name a file in it.")
    return found


def _target_of(name: str) -> Path:
    """Return the file that a name means, through links; its folder must exist."""
    target = Path(os.path.realpath(name))
    if not target.parent.exists():
        raise InputError(f"{name} cannot be written: the folder {target.parent} does not exist.")
    return target


class _Written(RawIOBase):
    def __init__(self, file: Any, name: str, ending: str) -> None:
        self._file = file
        self._name, self._ending = name, ending

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._file.fileno())

    def write(self, data: Any) -> int:
        with _naming(self._name, self._ending):
            return int(self._file.write(data))


@contextmanager
def _buffered(file: Any, name: str, ending: str, mode: str) -> Iterator[IO[Any]]:
    buffered: IO[Any] = BufferedWriter(_Written(file, name, ending))
    if mode == "w":
        buffered = TextIOWrapper(buffered, encoding="utf-8", newline="\n")
    try:
        yield buffered
        buffered.flush()
    finally:
        with suppress(InputError):  # of the bytes still in the buffer: it has been raised already
            buffered.close()

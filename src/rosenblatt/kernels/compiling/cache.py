"""The cache of compiled kernels: files that are run, so each is proved to be the user's own.

A path may lead elsewhere at the next look. So a folder is opened once, without following a link;
the open folder is asked who owns it and who may write to it; files are opened from there and asked
the same. Windows has no such owners and modes: there the cache lies in the user's profile.

A file begins with a digest, so that it proves itself whole, and made for this kernel, by these
sources, for this processor.
"""

import hashlib
import os
import re
import shutil
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from time import time

from rosenblatt.kernels.compiling.signatures import symbol_of

DAYS_UNUSED = 30  # after which what other sources left is removed
SOURCES = re.compile("[0-9a-f]{16}")  # the name of a folder of kernels
OWN_NAME = re.compile(rf"{SOURCES.pattern}|kernel_\w+\.[\w-]+\.code|\.\w+\.part")
Code = tuple[str, bytes]  # the form of what a kernel returns, and an object file
Folder = tuple[int | None, str]  # its descriptor and what names in it begin with; see ``_opened``

if sys.platform == "win32":
    FLAGS = os.O_BINARY
else:
    FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK


def cache_folder() -> Path | None:
    """Return the folder of this user's cache; None if it can be neither trusted nor made."""
    try:
        folder = _named_folder()
        with suppress(FileNotFoundError), _opened(str(folder)):
            return folder
        return folder if os.access(_lowest_existing(folder), os.W_OK) else None
    except (OSError, RuntimeError):  # no home at all
        return None


def _named_folder() -> Path:
    """Return the folder of ROSENBLATT_CACHE, or the usual one of the system."""
    if named := os.environ.get("ROSENBLATT_CACHE"):
        return Path(named).absolute()
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "rosenblatt" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "rosenblatt"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rosenblatt"


def _lowest_existing(folder: Path) -> Path:
    """Return where folders would be made; the administrator leaves none in another's home."""
    place = next(place for place in (folder, *folder.parents) if place.exists())
    if not place.is_dir():
        raise NotADirectoryError(place)
    if sys.platform != "win32" and place.stat().st_uid not in {0, os.geteuid()}:
        raise PermissionError(place)
    return place


@contextmanager
def _opened(name: str, parent: int | None = None) -> Iterator[Folder]:
    """Open a folder of this user's; on Windows, where that can't be, names in it are paths."""
    if sys.platform == "win32":
        yield None, f"{name}{os.sep}"
    else:
        folder = _open_own(name, os.O_RDONLY | os.O_DIRECTORY, parent)
        try:
            yield folder, ""
        finally:
            os.close(folder)


def _open_own(name: str, flags: int, parent: int | None) -> int:
    """Open a file or folder that is this user's and that no other can write to; else OSError."""
    descriptor = os.open(name, flags | FLAGS, 0o600, dir_fd=parent)
    if sys.platform != "win32" and not _is_own(descriptor):
        os.close(descriptor)
        raise PermissionError(name)
    return descriptor


if sys.platform != "win32":

    def _is_own(descriptor: int) -> bool:
        """Look at what is open; mend a folder that umask 002 made writable by the group."""
        status = os.fstat(descriptor)
        mode, writers = status.st_mode, status.st_mode & 0o022
        if status.st_uid != os.geteuid() or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            return False
        if stat.S_ISDIR(mode) and writers == stat.S_IWGRP:
            if not all(map(OWN_NAME.fullmatch, os.listdir(descriptor))):
                return False  # shared by intent, it seems
            os.fchmod(descriptor, 0o700)
            return True
        return not writers


def packed(code: Code, *purpose: str) -> bytes:
    """Return machine code as bytes that begin with a digest of them and of what they are for."""
    body = code[0].encode() + b"\n" + zlib.compress(code[1], 9)
    return _digest(purpose, body) + body


def unpacked(data: bytes, *purpose: str) -> Code | None:
    """Return machine code, or None where the bytes are not whole or for something else."""
    body = data[hashlib.sha256().digest_size :]
    if data != _digest(purpose, body) + body:
        return None
    form, _, code = body.partition(b"\n")
    return form.decode(), zlib.decompress(code)


def _digest(purpose: tuple[str, ...], body: bytes) -> bytes:
    return hashlib.sha256("\n".join(purpose).encode() + b"\n" + body).digest()


class UserCache:
    """The machine code that was compiled on this machine: a file for each kernel."""

    def __init__(self, sources: str, processor: str) -> None:
        self._sources, self._end = sources[:16], f".{processor}.code"
        self._made_for = processor, sources

    @contextmanager
    def _folders(self, *, make: bool) -> Iterator[tuple[Folder, Folder]]:
        """Open the cache and in it the folder of these sources."""
        folder = _named_folder()
        if make:
            _lowest_existing(folder)
            for place in (*reversed(folder.parents), folder):
                if not place.exists():
                    place.mkdir(mode=0o700, exist_ok=True)
        with _opened(str(folder)) as top:
            name = f"{top[1]}{self._sources}"
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=top[0])
            with _opened(name, top[0]) as own:
                yield top, own

    def keeps(self) -> bool:
        """Return whether machine code can be saved; folders are made for it."""
        with suppress(OSError, RuntimeError), self._folders(make=True) as (_, (folder, start)):
            return os.access(f"{start}.", os.W_OK, dir_fd=folder)
        return False

    def load(self, name: str) -> Code | None:
        """Return the machine code of a kernel, or None."""
        with suppress(OSError, RuntimeError), self._folders(make=False) as (_, (folder, start)):
            opener = partial(_open_own, parent=folder)
            with open(f"{start}{symbol_of(name)}{self._end}", "rb", opener=opener) as file:
                return unpacked(file.read(), name, *self._made_for)
        return None

    def save(self, name: str, code: Code) -> None:
        """Write a file where that can be done, whole or not at all; else compile it next time."""
        with suppress(OSError, RuntimeError), self._folders(make=True) as (top, (folder, start)):
            part = f"{start}.{os.urandom(8).hex()}.part"
            try:
                with open(part, "xb", opener=partial(_open_own, parent=folder)) as file:
                    file.write(packed(code, name, *self._made_for))
                whole = f"{start}{symbol_of(name)}{self._end}"
                os.replace(part, whole, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError:  # a full disk
                os.unlink(part, dir_fd=folder)
                raise
            self._tidy(*top)

    def _tidy(self, top: int | None, start: str) -> None:
        """Remove what other sources left behind long ago."""
        for name in os.listdir(start if top is None else top):  # noqa: PTH208  # or a descriptor
            if name != self._sources and SOURCES.fullmatch(name):
                path = f"{start}{name}"
                unused = time() - os.stat(path, dir_fd=top, follow_symlinks=False).st_mtime
                if unused > DAYS_UNUSED * 24 * 3600:
                    shutil.rmtree(path, ignore_errors=True, dir_fd=top)

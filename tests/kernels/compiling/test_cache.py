import errno
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rosenblatt.kernels.compiling import cache
from rosenblatt.kernels.compiling.cache import UserCache, cache_folder, packed, unpacked
from rosenblatt.kernels.compiling.signatures import symbol_of

SOURCES = "0123456789abcdef"
NAME, CODE = "kernel(int64)", ("None", bytes(range(200)))
PURPOSE = NAME, "x86-64-v3", SOURCES
OTHER = packed(("None", b"of another user"), *PURPOSE)
posix = pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX")
root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root can give a file to another user"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a cache that is not there yet."""
    monkeypatch.setenv("ROSENBLATT_CACHE", str(tmp_path / "new" / "cache"))
    return tmp_path / "new" / "cache"


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    """Return a way to set the umask, which is set back."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def saved() -> Path:
    """Save machine code; return its file."""
    user_cache = UserCache(SOURCES, "x86-64-v3")
    user_cache.save(NAME, CODE)
    assert user_cache.load(NAME) == CODE
    folder = cache_folder()
    assert folder is not None
    return folder / SOURCES / f"{symbol_of(NAME)}.x86-64-v3.code"


def loaded() -> Any:
    """Return what the cache has, and whether it says that it can keep more."""
    user_cache = UserCache(SOURCES, "x86-64-v3")
    return user_cache.load(NAME), user_cache.keeps()


def test_machine_code_is_whole_and_for_its_purpose_or_nothing() -> None:
    """A file that is cut anywhere, has a wrong byte or is for something else gives nothing."""
    data = packed(CODE, *PURPOSE)
    assert unpacked(data, *PURPOSE) == CODE
    assert unpacked(b"", *PURPOSE) is None
    for k in range(len(data)):
        assert unpacked(data[:k], *PURPOSE) is None, k
        assert unpacked(data[:k] + bytes([data[k] ^ 1]) + data[k + 1 :], *PURPOSE) is None, k
    for k in range(len(PURPOSE)):
        assert unpacked(data, *PURPOSE[:k], "another", *PURPOSE[k + 1 :]) is None


def test_what_is_saved_is_loaded(folder: Path) -> None:
    """It is loaded by the same sources and for the same processor only."""
    saved()
    assert UserCache(SOURCES, "x86-64-v2").load(NAME) is None
    assert UserCache(SOURCES[::-1], "x86-64-v3").load(NAME) is None
    assert not [*folder.rglob("*.part")]


@pytest.mark.parametrize("name", ["nt", "posix"])
def test_windows_has_the_same_files(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where folders cannot be opened, files are saved and loaded by their paths."""
    if name == "nt":
        monkeypatch.setattr(sys, "platform", "win32")
        monkeypatch.setenv("LOCALAPPDATA", str(folder))
        monkeypatch.setattr(cache, "FLAGS", 0)
        for function in ("geteuid", "fchmod"):
            monkeypatch.delattr(os, function, raising=False)
    assert cache_folder() == folder
    assert loaded() == (None, True)
    assert saved() == folder / SOURCES / f"{symbol_of(NAME)}.x86-64-v3.code"
    assert loaded() == (CODE, True)
    os.utime(folder / SOURCES, (0, 0))
    UserCache("f" * 16, "x").save(NAME, CODE)
    assert [path.name for path in folder.iterdir()] == ["f" * 16]


def test_what_other_sources_left_is_removed(folder: Path) -> None:
    """Code of other sources goes after a month, not before; nothing else ever does."""
    for sources in ("a" * 16, "b" * 16):
        UserCache(sources, "x").save(NAME, CODE)
    (folder / "photographs").mkdir()
    (folder / "photographs" / "one").write_text("of value")
    for name in ("a" * 16, "photographs"):
        os.utime(folder / name, (0, 0))
    UserCache("c" * 16, "x").save(NAME, CODE)
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["b" * 16, "c" * 16, "photographs"]


def test_a_full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where machine code can't be written whole there is none, and no error."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    user_cache = UserCache(SOURCES, "x")
    user_cache.save(NAME, CODE)
    assert user_cache.load(NAME) is None
    assert not [path for path in folder.rglob("*") if path.is_file()]


@posix
@pytest.mark.parametrize("mask", [0o002, 0o000, 0o077])
def test_folders_are_private_whatever_the_umask(
    folder: Path, mask: int, umask: Callable[[int], int]
) -> None:
    """Every folder on the way that is made is made 0700, and the cache is used at once."""
    umask(mask)
    file = saved()
    for place in (folder.parent, folder, file.parent):
        assert place.stat().st_mode & 0o777 == 0o700, place
    assert file.stat().st_mode & 0o777 == 0o600
    assert loaded() == (CODE, True)


@posix
def test_the_folder_of_an_earlier_version_is_mended(
    folder: Path, umask: Callable[[int], int]
) -> None:
    """What umask 002 left writable by the group is private from now on; its files are made anew."""
    umask(0o002)
    file = saved()
    for place in (folder, file.parent):
        place.chmod(0o775)
    file.chmod(0o664)
    assert cache_folder() == folder
    assert loaded() == (None, True)
    saved()
    for place in (folder, file.parent):
        assert place.stat().st_mode & 0o777 == 0o700


@posix
def test_a_folder_that_is_shared_by_intent_is_left_alone(folder: Path) -> None:
    """A folder of the group's that holds other things is neither used nor changed."""
    saved()
    (folder / "notes.txt").write_text("ours")
    folder.chmod(0o2775)
    assert cache_folder() is None
    assert loaded() == (None, False)
    assert folder.stat().st_mode & 0o7777 == 0o2775


@posix
@pytest.mark.parametrize("place", ["folder", "subfolder", "file"])
@pytest.mark.parametrize("change", ["written", "linked", "owned"])
def test_what_others_could_change_is_not_run(folder: Path, place: str, change: str) -> None:
    """The folder, that of the sources and the file are the user's own, by no link, for no other."""
    file = saved()
    path = {"folder": folder, "subfolder": file.parent, "file": file}[place]
    if change == "written":
        path.chmod(0o777)
    elif change == "linked":
        path.rename(path.with_name("aside"))
        path.symlink_to(path.with_name("aside"))
    elif os.geteuid() == 0:
        os.chown(path, 65534, -1)
    else:
        pytest.skip("only root can give a file to another user")
    assert loaded() == (None, place == "file")
    UserCache(SOURCES, "x86-64-v3").save(NAME, CODE)
    assert loaded() == ((CODE, True) if place == "file" else (None, False))


@root
def test_none_is_made_in_the_home_of_another(folder: Path) -> None:
    """The administrator leaves no files where another user is at home."""
    folder.parent.mkdir()
    os.chown(folder.parent, 65534, -1)
    assert cache_folder() is None
    UserCache(SOURCES, "x").save(NAME, CODE)
    assert not [*folder.parent.iterdir()]


@posix
@pytest.mark.parametrize("level", ["folder", "subfolder"])
@pytest.mark.parametrize("by", ["folder", "link"])
def test_a_folder_that_is_swapped_after_the_look(
    folder: Path, level: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files come from the folder that was looked at, whatever its name leads to meanwhile."""
    file = saved()
    path = folder if level == "folder" else file.parent
    planted = folder.parent / "planted"
    target = planted / SOURCES if level == "folder" else planted
    target.mkdir(parents=True)
    (target / file.name).write_bytes(OTHER)
    look, looks = os.fstat, []

    def swap(descriptor: int) -> os.stat_result:
        status = look(descriptor)
        looks.append(descriptor)
        if len(looks) == (1 if level == "folder" else 2):
            path.rename(path.with_name("aside"))
            if by == "folder":
                planted.rename(path)
            else:
                path.symlink_to(planted)
        return status

    monkeypatch.setattr(os, "fstat", swap)
    assert UserCache(SOURCES, "x86-64-v3").load(NAME) == CODE
    assert len(looks) == 3  # folder, subfolder, file: each is looked at when it is open


@root
def test_a_race_for_a_shared_folder_is_never_won(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of another user that appears just before the opening or after making is refused."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setenv("ROSENBLATT_CACHE", str(shared / "cache"))

    def plant() -> None:
        planted = shared / "cache" / SOURCES
        if not planted.exists():
            planted.mkdir(parents=True)
            (planted / f"{symbol_of(NAME)}.x86-64-v3.code").write_bytes(OTHER)
        for path in (planted.parent, planted, *planted.iterdir()):
            os.chown(path, 65534, -1)

    opening = os.open

    def before(*args: Any, **kwargs: Any) -> int:
        plant()
        return opening(*args, **kwargs)

    monkeypatch.setattr(os, "open", before)
    user_cache = UserCache(SOURCES, "x86-64-v3")
    assert user_cache.load(NAME) is None
    assert not user_cache.keeps()
    user_cache.save(NAME, CODE)
    assert user_cache.load(NAME) is None


def test_no_home_at_all(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Home is found without HOME; where there is none there is no cache, and no error."""
    for name in ("HOME", "ROSENBLATT_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    found = cache_folder()
    assert found is None or "rosenblatt" in found.parts

    def homeless() -> Path:
        msg = "Could not determine home directory."
        raise RuntimeError(msg)

    monkeypatch.setattr(Path, "home", homeless)
    assert cache_folder() is None
    assert loaded() == (None, False)
    UserCache(SOURCES, "x").save(NAME, CODE)
    monkeypatch.setenv("LOCALAPPDATA", str(folder))
    monkeypatch.setattr(sys, "platform", "win32")
    assert cache_folder() == folder / "rosenblatt" / "cache"


def test_a_file_in_the_way(folder: Path) -> None:
    """Where a folder can't be made nothing is kept."""
    folder.parent.write_text("in the way")
    assert cache_folder() is None
    assert loaded() == (None, False)

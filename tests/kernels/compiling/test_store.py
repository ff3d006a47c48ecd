import errno
import os
from pathlib import Path

import pytest

from rosenblatt.kernels.compiling import store
from rosenblatt.kernels.compiling.store import (
    PackageCode,
    Record,
    UserCache,
    cache_folder,
    packed,
    unpacked,
    write_package_code,
)

RECORD = Record("kernel(int64)", "None", "x86-64-v3", "0123456789abcdef", bytes(range(200)))
SYMBOLS = [f"kernel_{k:032x}" for k in range(3)]


def test_a_record_is_whole_or_nothing() -> None:
    """A record comes back as it was; one that is cut anywhere or has a wrong byte does not."""
    data = packed(RECORD)
    assert unpacked(data) == RECORD
    assert unpacked(b"") is None
    for k in range(len(data)):
        assert unpacked(data[:k]) is None, k
        assert unpacked(data[:k] + bytes([data[k] ^ 1]) + data[k + 1 :]) is None, k


def test_the_code_of_a_package(tmp_path: Path) -> None:
    """Each record is found by its symbol; of a file that is cut none but whole ones are."""
    records = {s: RECORD._replace(name=s, code=s.encode() * 50) for s in SYMBOLS}
    path = tmp_path / "code" / "x.code"
    write_package_code(path, "0" * 64, records)
    code = PackageCode(path)
    assert (len(code), code.sources) == (3, "0" * 64)
    assert {s: code.load(s) for s in SYMBOLS} == records
    assert code.load(f"kernel_{7:032x}") is None
    whole = path.read_bytes()
    for k in range(len(whole)):
        path.write_bytes(whole[:k])
        found = [PackageCode(path).load(s) for s in SYMBOLS]
        assert all(record in {None, records[s]} for s, record in zip(SYMBOLS, found, strict=True))
        assert found[-1] is None
    path.unlink()
    assert PackageCode(path).load(SYMBOLS[0]) is None


def test_the_cache_of_a_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is saved is loaded, by the same sources and for the same processor only."""
    monkeypatch.setenv("ROSENBLATT_CACHE", str(tmp_path / "cache"))
    UserCache("0123456789abcdef", "x86-64-v3").save(SYMBOLS[0], RECORD)
    assert UserCache("0123456789abcdef", "x86-64-v3").load(SYMBOLS[0]) == RECORD
    assert UserCache("0123456789abcdef", "x86-64-v2").load(SYMBOLS[0]) is None
    assert UserCache("0123456789abcdee", "x86-64-v3").load(SYMBOLS[0]) is None
    assert not [*tmp_path.rglob("*.part")]


def test_what_other_sources_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code of other sources goes when it has not been written to for a month, not before."""
    monkeypatch.setenv("ROSENBLATT_CACHE", str(tmp_path))
    for sources in ("old", "young"):
        UserCache(sources, "x").save(SYMBOLS[0], RECORD)
    os.utime(tmp_path / "old", (0, 0))
    UserCache("new", "x").save(SYMBOLS[0], RECORD)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "young"]


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a record can't be written whole there is none, and no error."""
    monkeypatch.setenv("ROSENBLATT_CACHE", str(tmp_path))
    write = Path.write_bytes

    def half(path: Path, data: bytes) -> int:
        write(path, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    cache = UserCache("sources", "x")
    cache.save(SYMBOLS[0], RECORD)
    assert cache.load(SYMBOLS[0]) is None
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX")
def test_a_cache_that_others_can_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code is loaded from and saved to the user's own folder only; home is found without HOME."""
    monkeypatch.setenv("ROSENBLATT_CACHE", str(tmp_path / "new" / "cache"))
    assert cache_folder() == tmp_path / "new" / "cache"
    monkeypatch.setenv("ROSENBLATT_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    tmp_path.chmod(0o777)
    assert cache_folder() is None
    tmp_path.chmod(0o700)
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    assert cache_folder() is None
    UserCache("sources", "x").save(SYMBOLS[0], RECORD)
    assert not [*tmp_path.iterdir()]
    monkeypatch.undo()
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("ROSENBLATT_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    folder = cache_folder()
    assert folder is None or folder.name == "rosenblatt"

    def homeless() -> Path:
        msg = "Could not determine home directory."
        raise RuntimeError(msg)

    monkeypatch.setattr(store, "_usual_cache_folder", homeless)
    assert cache_folder() is None
    UserCache("sources", "x").save(SYMBOLS[0], RECORD)

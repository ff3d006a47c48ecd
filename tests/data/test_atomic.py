"""Files that are written whole or not at all."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rosenblatt.data.atomic import check_target, replacing
from rosenblatt.errors import InputError

ON_UNIX = pytest.mark.skipif(os.name == "nt", reason="signals, links and devices of Unix")


def names(folder: Path) -> list[str]:
    """Return all names in a folder, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file(tmp_path: Path) -> None:
    """What was written stands under the name, with the permissions that the umask leaves."""
    target = tmp_path / "m.model"
    with replacing(target) as file:
        file.write(b"weights")
        assert not target.exists()
    assert target.read_bytes() == b"weights"
    assert names(tmp_path) == ["m.model"]
    (tmp_path / "other").touch()
    assert target.stat().st_mode == (tmp_path / "other").stat().st_mode


@ON_UNIX
def test_a_file_that_cannot_be_named_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system that cannot name a nameless file costs a copy, not the model."""

    def refused(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refused)
    with replacing(tmp_path / "m.model") as file:
        file.write(b"weights")
    assert (tmp_path / "m.model").read_bytes() == b"weights"
    assert names(tmp_path) == ["m.model"]


def test_text(tmp_path: Path) -> None:
    """Text is UTF-8 with its line ends as they are."""
    with replacing(tmp_path / "m.json", "w") as file:
        file.write("é\n")
    assert (tmp_path / "m.json").read_bytes() == b"\xc3\xa9\n"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_permissions_stay(tmp_path: Path, mode: int) -> None:
    """The file that takes the place of another has its permissions."""
    target = tmp_path / "m.model"
    target.touch()
    target.chmod(mode)
    with replacing(target) as file:
        file.write(b"new")
    assert stat.S_IMODE(target.stat().st_mode) == mode


@ON_UNIX
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_a_link(tmp_path: Path, exists: bool) -> None:
    """Of a symbolic link the file that it names is replaced, in its own folder."""
    (tmp_path / "store").mkdir()
    if exists:
        (tmp_path / "store" / "real").write_bytes(b"old")
    link = tmp_path / "m.model"
    link.symlink_to(Path("store") / "real")
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert (tmp_path / "store" / "real").read_bytes() == b"new"


@pytest.mark.parametrize("fault", [ZeroDivisionError, KeyboardInterrupt, SystemExit, OSError])
@pytest.mark.parametrize("old", [b"old", None])
def test_an_exception_changes_nothing(tmp_path: Path, fault: Any, old: bytes | None) -> None:
    """Whatever ends the writing, the old file stays and no other is left; the fault comes out."""
    target = tmp_path / "m.model"
    if old is not None:
        target.write_bytes(old)
    with pytest.raises(fault), replacing(target) as file:  # noqa: PT012  # the fault is in it
        file.write(b"x" * 100_000)
        raise fault
    assert names(tmp_path) == ([] if old is None else ["m.model"])
    assert old is None or target.read_bytes() == old


KILLED = """
import sys
from rosenblatt.data.atomic import check_target, replacing
with replacing(sys.argv[1]) as file:
    file.write(b"x" * 1_000_000)
    file.flush()
    print("written", flush=True)
    sys.stdin.read()
"""


@ON_UNIX
@pytest.mark.parametrize("old", [b"old", None])
def test_a_killed_process_changes_nothing(tmp_path: Path, old: bytes | None) -> None:
    """After SIGKILL in the middle the name holds what it held before."""
    target = tmp_path / "m.model"
    if old is not None:
        target.write_bytes(old)
    command = [sys.executable, "-c", KILLED, str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        process.send_signal(signal.SIGKILL)
    assert target.exists() == (old is not None)
    assert old is None or target.read_bytes() == old


@pytest.mark.skipif(sys.platform != "linux", reason="files without names")
def test_a_killed_process_leaves_nothing(tmp_path: Path) -> None:
    """A file that is being written has no name, so that nothing stays of it."""
    command = [sys.executable, "-c", KILLED, str(tmp_path / "m.model")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        process.kill()
    assert names(tmp_path) == []


@ON_UNIX
def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """Where all files have names, a later writer removes it, not what is still being written."""
    command = [sys.executable, "-c", f"import os\nvars(os).pop('O_TMPFILE', None)\n{KILLED}"]
    with (
        subprocess.Popen(  # noqa: S603
            [*command, str(tmp_path / "dead.model")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as dead,
        subprocess.Popen(  # noqa: S603
            [*command, str(tmp_path / "living.model")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as living,
    ):
        for process in (dead, living):
            assert process.stdout is not None
            assert process.stdout.readline() == b"written\n"
        dead.kill()
        dead.wait()
        parts = names(tmp_path)
        assert len(parts) == 2
        with replacing(tmp_path / "new.model") as file:
            file.write(b"new")
        assert len(names(tmp_path)) == 3  # they are too young for anybody to be sure
        for part in parts:
            os.utime(tmp_path / part, (0, 0))
        with replacing(tmp_path / "new.model") as file:
            file.write(b"new")
        assert len(set(names(tmp_path)) & set(parts)) == 1
        assert living.stdin is not None
        living.stdin.close()
        assert living.wait() == 0
    assert names(tmp_path) == ["living.model", "new.model"]


FULL = """
import resource, sys
from rosenblatt.data.atomic import check_target, replacing
from rosenblatt.errors import InputError
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))  # Python ignores SIGXFSZ
for piece in (100, 100_000):  # stopped when the buffer is flushed, and in a write
    try:
        with replacing(sys.argv[1]) as file:
            for _ in range(1_000_000 // piece):
                file.write(b"x" * piece)
    except InputError as error:
        print(error)
"""


@ON_UNIX
def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    """Where no more can be written the old file stays, no other is left, and the error says so."""
    target = tmp_path / "m.model"
    target.write_bytes(b"old")
    told = subprocess.run(  # noqa: S603
        [sys.executable, "-c", FULL, target.name], cwd=tmp_path, stdout=subprocess.PIPE, check=True
    )
    sentence = b"m.model cannot be written: File too large; nothing was changed.\n"
    assert told.stdout == sentence * 2
    assert names(tmp_path) == ["m.model"]
    assert target.read_bytes() == b"old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("size", [10, 100_000])
def test_a_full_device(size: int) -> None:
    """A device is written directly; the reason of its failure comes out."""
    with (
        pytest.raises(
            InputError, match=r"^/dev/full cannot be written: No space left on device\.$"
        ),
        replacing("/dev/full") as file,
    ):
        file.write(b"x" * size)


def test_a_missing_folder(tmp_path: Path) -> None:
    """The folder that is missing is named."""
    target = tmp_path / "none" / "m.model"
    with pytest.raises(InputError) as told, replacing(target):
        pass
    assert str(told.value) == (
        f"{target} cannot be written: the folder {target.parent} does not exist."
    )


def test_a_folder(tmp_path: Path) -> None:
    """A folder is not replaced by a file."""
    with pytest.raises(InputError, match=r"cannot be written: it is a folder; name a file in it\."):
        replacing(tmp_path).__enter__()


@ON_UNIX
def test_folders_that_take_no_file(tmp_path: Path) -> None:
    """A file in the place of a folder, and a folder of the system, which even root cannot fill."""
    (tmp_path / "file").touch()
    with pytest.raises(InputError) as told, replacing(tmp_path / "file" / "m.model"):
        pass
    told.match(r"m\.model cannot be written: Not a directory; nothing was changed\.$")
    if Path("/proc/self").exists():
        with pytest.raises(InputError, match=r"^/proc/m\.model cannot be written: "):
            replacing("/proc/m.model").__enter__()


@ON_UNIX
def test_a_link_to_itself(tmp_path: Path) -> None:
    """A link that leads nowhere is an error, not a loop."""
    link = tmp_path / "m.model"
    link.symlink_to(link)
    with pytest.raises(InputError, match=r"m\.model cannot be written: Too many levels"):
        replacing(link).__enter__()


@ON_UNIX
def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    """Whoever reads from a named pipe gets the bytes, and the pipe stays one."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:  # noqa: S603, S607
        with replacing(pipe) as file:
            file.write(b"weights")
        assert reader.communicate()[0] == b"weights"
    assert pipe.is_fifo()


STDOUT = """
import sys
from rosenblatt.data.atomic import check_target, replacing
print("before")
with replacing(sys.argv[1], sys.argv[2]) as file:
    file.write(b"weights\\n" if sys.argv[2] == "wb" else "weights\\n")
print("after")
"""


@ON_UNIX
@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
@pytest.mark.parametrize("mode", ["wb", "w"])
def test_standard_output(tmp_path: Path, name: str, mode: str) -> None:
    """Standard output is written in its turn, and what a file held that it appends to stays."""
    log = tmp_path / "log"
    log.write_bytes(b"old\n")
    with log.open("ab") as file:
        subprocess.run([sys.executable, "-c", STDOUT, name, mode], stdout=file, check=True)  # noqa: S603
    assert log.read_bytes() == b"old\nbefore\nweights\nafter\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_full_standard_output() -> None:
    """Where standard output takes no more, the error says so."""
    script = (
        "from rosenblatt.data.atomic import replacing\n"
        "with replacing('-') as file: file.write(b'x' * 10)\n"
    )
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-c", script]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)  # noqa: S603
    assert (
        b"InputError: standard output cannot be written: No space left on device." in ended.stderr
    )


def test_a_read_only_file_system_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be written it is said before any work, with the right reason."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match=r"m.model cannot be written: permission denied\.$"):
        check_target(tmp_path / "m.model")
    status = SimpleNamespace(f_flag=os.ST_RDONLY)
    monkeypatch.setattr(os, "statvfs", lambda _: status)
    with pytest.raises(InputError, match=r"m.model cannot be written: read-only file system\.$"):
        check_target(tmp_path / "m.model")

"""Windows and the browser, simulated: what they lack is taken away before the package is imported.

Neither can be had for the tests. ``mypy --platform win32`` (`make lint`) finds the names that only
POSIX has; here a process loses them, and its files behave as on Windows: one that is open can be
neither replaced nor removed, and no folder can be opened.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes import ROOT, printed
from tests.service.client import Client

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="simulates others on Linux")

WINDOWS = """
import asyncio, errno, fcntl, io, mmap, os, signal, sys, threading, types

# What others import and do on their own is left as it is.
import click, concurrent.futures, httptools, msgspec, multiprocessing.connection, numpy, polars
import resource, rich.console, scipy.sparse, shutil, sqlite3, starlette.responses, subprocess
import tempfile, uvicorn.lifespan.on, uvicorn.loops.asyncio, uvicorn.server, zipfile
import uvicorn.protocols.http.httptools_impl

flock, both = fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB
for name in "fcntl resource pwd grp termios tty pty uvloop syslog".split():
    sys.modules[name] = None  # cannot be imported, nor found
for module, names in {
    os: "fork forkpty geteuid getuid getgid fchmod statvfs O_NOFOLLOW O_NONBLOCK O_DIRECTORY "
    "O_TMPFILE ST_RDONLY sched_getaffinity register_at_fork killpg setsid chown mkfifo WNOHANG "
    "getloadavg uname set_blocking pread pwrite posix_fadvise sync",
    signal: "SIGKILL SIGHUP SIGUSR1 SIGUSR2 SIGPIPE SIGALRM setitimer pthread_sigmask",
    mmap: "MADV_DONTNEED",
}.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
os.O_BINARY = 0
sys.platform = "win32"
msvcrt = types.ModuleType("msvcrt")
msvcrt.LK_NBLCK = 2
msvcrt.locking = lambda descriptor, mode, count: flock(descriptor, both)
sys.modules["msvcrt"] = msvcrt
asyncio.ProactorEventLoop = asyncio.SelectorEventLoop

def is_open(path, folder=None):
    try:
        wanted = os.stat(path, dir_fd=folder)
    except OSError:
        return False
    for number in os.listdir("/proc/self/fd"):
        try:
            found = os.fstat(int(number))
        except OSError:
            continue
        if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
            return True
    return False

def refused(path):
    return PermissionError(errno.EACCES, "The file is in use", os.fspath(path))

def checked(function, position):
    def call(*arguments, **options):
        folders = ("dir_fd", "src_dir_fd", "dst_dir_fd")
        assert all(options.get(name) is None for name in folders), options
        if is_open(arguments[position]):
            raise refused(arguments[position])
        return function(*arguments, **options)
    return call

os.replace, os.rename = checked(os.replace, 1), checked(os.rename, 1)
os.unlink = os.remove = checked(os.unlink, 0)
opening = os.open

def no_folder(path, flags, mode=0o777, *, dir_fd=None):
    assert dir_fd is None
    if os.path.isdir(path):
        raise refused(path)
    return opening(path, flags, mode)

os.open = no_folder
"""

OTHERS = "import dask.distributed, matplotlib.figure, sklearn.datasets"

BROWSER = """
import os, sys, threading
from importlib.machinery import PathFinder
import numpy, scipy.sparse, sklearn.base, sklearn.utils.estimator_checks

MISSING = "llvmlite numba polars isal clarabel flint msgspec resource pwd grp zstandard backports"
for name in [*sys.modules]:
    if name.partition(".")[0] in MISSING.split():
        del sys.modules[name]
def find(name, path=None, target=None, found=PathFinder.find_spec):
    missing = name.partition(".")[0] in MISSING.split() or name == "rosenblatt._machine"
    return None if missing else found(name, path, target)

PathFinder.find_spec = find
sys.platform = "emscripten"

def no_threads(self):
    raise RuntimeError("can't start new thread")

threading.Thread.start = no_threads
del os.fork
"""

IMPORT_ALL = """
import pkgutil, importlib, rosenblatt
found = [m.name for m in pkgutil.walk_packages(rosenblatt.__path__, "rosenblatt.")]
skipped = ("rosenblatt.kernels.compiling.compiler", "rosenblatt.kernels.compiling.target")
for name in found:
    if not name.startswith(("rosenblatt.kernels.emission", "rosenblatt._", *skipped)):
        importlib.import_module(name)
print(len(found))
"""

COMMANDS = """
import shlex
from rosenblatt.cli import main
for line in sys.argv[1:]:
    status = main.main(shlex.split(line), prog_name="rosenblatt", standalone_mode=False)
sys.exit(status or 0)
"""

LEARN = """
import json, warnings
warnings.simplefilter("ignore")
import numpy as np
from rosenblatt import AveragedPerceptron, OnlineLearner, Perceptron, VotedPerceptron, trace

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = np.where(X @ [1.0, -2.0, 0.5] > 0, "yes", "no")
last = Perceptron(random_state=0).fit(X, y)
steps = [step.w.tolist() for step in trace(X[:10], y[:10]).steps]
online = OnlineLearner()
for row, label in zip(X, y):
    online.learn_one(row, label)
print(json.dumps([
    last.coef_.tolist(), last.score(X, y), steps,
    AveragedPerceptron(random_state=0).fit(X, y).coef_.tolist(),
    VotedPerceptron(random_state=0).fit(X, y).predict(X).tolist(),
    str(online.predict_one(X[0])),
]))
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a small table."""
    rows = "".join(f"{n % 7},{n % 5},{'ja' if n % 7 > n % 5 else 'nein'}\n" for n in range(120))
    path = tmp_path / "table.csv"
    path.write_text("a,b,y\n" + rows, encoding="utf-8", newline="\r\n")
    return path


def on_windows(*lines: str) -> list[str]:
    """Return the command that runs lines of commands as on Windows."""
    return [sys.executable, "-c", WINDOWS + COMMANDS, *lines]


@contextmanager
def service_on_windows(arguments: str) -> Iterator[Client]:
    """Serve as on Windows; yield a client; stop by Ctrl-C."""
    with subprocess.Popen(  # noqa: S603  # our own program
        on_windows(f"serve --json {arguments}"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, process.stderr and process.stderr.read()
            with Client(json.loads(line)["url"]) as client:
                client.wait()
                yield client
        finally:
            process.send_signal(signal.SIGINT)
            _, talk = process.communicate()
    assert "Traceback" not in talk, talk


def test_every_module_can_be_imported_on_windows() -> None:
    """No module needs what only POSIX has."""
    assert int(printed(OTHERS + WINDOWS + IMPORT_ALL)) > 200


def test_commands_on_windows(table: Path) -> None:
    """Files are written, replaced and read again, and hold the same bytes as elsewhere."""
    model, out = table.with_name("table.model"), table.with_name("out.csv")
    train = f"train {table} --label y -o {model} --json"
    lines = printed_on_windows(
        train,
        train,  # which replaces what the first wrote
        f"predict {model} {table} -o {out}",
        f"report {model} --test {table} -o {table.with_name('report.html')}",
        f"predict {model} {table}",
    ).splitlines()
    assert [json.loads(line)["model"] for line in lines[:2]] == [str(model)] * 2
    assert len(lines[-120:]) == 120
    assert {*lines[-120:]} <= {"ja", "nein"}
    assert b"\r" not in out.read_bytes()
    assert not [*table.parent.glob(".*")]


def printed_on_windows(*lines: str) -> str:
    """Run commands as on Windows, all in one process; return what they print."""
    return printed(OTHERS + WINDOWS + COMMANDS, *lines)


def test_the_service_on_windows(table: Path) -> None:
    """It learns and answers, refuses a second one in its folder, and starts again where it was."""
    model, folder = table.with_name("table.model"), table.with_name("kept")
    printed_on_windows(f"train {table} --label y -o {model}")
    with service_on_windows(f"{model} --folder {folder}") as client:
        before = client.describe("table").version
        client.learn("table", {"a": 1, "b": 4}, "ja")
        version = client.describe("table").version
        assert version > before
        second = subprocess.run(  # noqa: S603  # our own program
            on_windows(f"serve --folder {folder}"), capture_output=True, text=True, check=False
        )
        assert second.returncode == 2
        assert "in use by another service" in second.stderr
    with service_on_windows(f"--folder {folder}") as client:
        assert client.describe("table").version == version


def test_learning_in_the_browser() -> None:
    """With NumPy, SciPy and scikit-learn alone, without threads, the same bits are learned."""
    plain = json.loads(printed(BROWSER + LEARN))
    assert plain == json.loads(printed(LEARN))
    assert plain[1] > 0.9

"""A damaged Parquet or Arrow file can abort the process that reads it: here another one survives.

polars asks for as much memory as the file claims to need. So a command that is given such a file
runs in a forked process, before anything is imported that starts threads.
"""

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from glob import glob, has_magic
from pathlib import Path

MARKS = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")  # with which Parquet and Arrow begin
ABORTED = (signal.SIGABRT, signal.SIGSEGV)
CANNOT_RUN = 2
DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def columnar_file(arguments: Sequence[str]) -> str | None:
    """Return the first of the arguments that names a Parquet or Arrow file."""
    names = (name for one in arguments for name in (glob(one) if has_magic(one) else [one]))  # noqa: PTH207  # as the user wrote it
    return next((name for name in names if _is_columnar(name)), None)


def _is_columnar(name: str) -> bool:
    try:
        path = Path(name)
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(6).startswith(MARKS)
    except (OSError, ValueError):
        return False


def run_guarded(name: str) -> None:
    """Return in a forked process; wait for it in this one, and end as it ends.

    Where it is aborted, a sentence says that the file of this name is damaged.
    """
    if sys.platform == "win32":  # which cannot fork
        return
    os.environ.setdefault("RUST_BACKTRACE", "0")
    child = os.fork()
    if child == 0:
        _die_with_parent()
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to both
    signal.signal(signal.SIGTERM, lambda number, _: os.kill(child, number))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status >= 0:
        os._exit(status)
    if -status in ABORTED:
        with suppress(OSError):
            sys.stderr.write(f"Error: {name} is damaged: reading it ended the process.\n")
            sys.stderr.flush()
        os._exit(CANNOT_RUN)
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)


def _die_with_parent() -> None:
    """Have the system end this process when the one that waits for it is killed."""
    if sys.platform == "linux":
        from ctypes import CDLL

        with suppress(OSError, AttributeError):
            CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)

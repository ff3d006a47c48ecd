"""Commands, in this process or as a user runs them, in processes of their own."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from rosenblatt.cli import main

PROGRAM = [sys.executable, "-m", "rosenblatt"]

SIGNALLED = """
import os, runpy, sys
number, name, left, module = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]

def watch(event, arguments):
    global left
    if event == "os.rename" and os.path.basename(arguments[1]) == name:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), number)

sys.addaudithook(watch)
del sys.argv[1:5]
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


def invoked(*arguments: str, given: str | None = None) -> Result:
    """Run a command in this process; what goes wrong unexpectedly is raised."""
    return CliRunner().invoke(main, [*arguments], catch_exceptions=False, input=given)


def run(
    *arguments: str, folder: Path, text: str | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(  # noqa: S603  # our own program
        [*PROGRAM, *arguments],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def ran(*arguments: str, folder: Path, text: str | None = None, **options: Any) -> str:
    """Run a command that must succeed; return what it prints."""
    done = run(*arguments, folder=folder, text=text, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def signalled(
    number: signal.Signals,
    name: str,
    times: int,
    *arguments: str,
    folder: Path,
    module: str = "rosenblatt",
    **options: Any,
) -> subprocess.CompletedProcess[str]:
    """Run a command that is sent a signal when it is about to put a file in place.

    It is the file called ``name``, for so many times: at that moment a new file is written under
    another name, and the old one still stands. No clock decides what happens.
    """
    return subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", SIGNALLED, str(int(number)), name, str(times), module, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def without_notice(stderr: str) -> str:
    """Return what a process said but that it compiles, which depends on what ran before."""
    return "".join(
        line for line in stderr.splitlines(keepends=True) if not line.startswith("Compiling for")
    )

"""Commands run as a user runs them, in processes of their own."""

import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = [sys.executable, "-m", "rosenblatt"]


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
        timeout=120,
        **options,
    )


def ran(*arguments: str, folder: Path, text: str | None = None, **options: Any) -> str:
    """Run a command that must succeed; return what it prints."""
    done = run(*arguments, folder=folder, text=text, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout

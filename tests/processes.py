"""Programs that run in a new process of Python."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def printed(program: str, *arguments: str, **environment: str) -> str:
    """Run a program that must succeed; return what it prints."""
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", program, *arguments],
        env=os.environ | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout

"""Programs that run in a new process of Python, and kernels that run as plain Python."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

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


@contextmanager
def plainly(module: ModuleType, kernel: str) -> Iterator[None]:
    """Have a kernel that a module calls run as plain Python."""
    compiled = getattr(module, kernel)
    with patch.object(module, kernel, getattr(compiled, "plain", compiled)):
        yield

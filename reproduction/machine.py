"""When figures were made, and by what."""

import os
import platform
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("rosenblatt", "numpy", "scipy", "numba", "llvmlite", "scikit-learn", "polars", "river")


def made_now() -> dict[str, Any]:
    """Return the date, the versions of what computes, the platform and the number of cores."""
    versions = {"Python": platform.python_version()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    with suppress(OSError, subprocess.CalledProcessError):  # no git, no checkout
        versions["rosenblatt"] += f" ({_commit()})"
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "versions": versions,
        "platform": platform.platform(),
        "cores": os.cpu_count() or 1,
    }


def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603
    return done.stdout.strip()


def told(made: dict[str, Any]) -> str:
    """Return the same as a sentence."""
    versions = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    return f"{made['date']}, {made['cores']} cores; {versions}"

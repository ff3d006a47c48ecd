"""When results were made, and by what."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

PACKAGES = ("rosenblatt", "numpy", "scipy", "numba", "scikit-learn", "polars")


def made_now() -> dict[str, Any]:
    """Return the date, the versions of what computes, and the number of cores."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {
            "Python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
        "cores": os.cpu_count() or 1,
    }


def told(made: dict[str, Any]) -> str:
    """Return the same as a sentence."""
    versions = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    return f"{made['date']}, {made['cores']} cores; {versions}"

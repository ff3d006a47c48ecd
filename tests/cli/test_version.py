"""The options --version and --json of the program itself."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

import rosenblatt
from rosenblatt.cli import main
from rosenblatt.kernels.compiling.calling import calls


def test_version() -> None:
    """The version is one line."""
    assert (
        CliRunner().invoke(main, ["--version"]).stdout == f"rosenblatt {rosenblatt.__version__}\n"
    )


@pytest.mark.parametrize(
    ("plain", "runs"), [("0", "machine code of the cache"), ("1", "plain Python")]
)
def test_version_as_json(plain: str, runs: str) -> None:
    """As JSON it says whether kernels run as machine code, whose, and on which packages."""
    done = subprocess.run(  # our own program
        [sys.executable, "-m", "rosenblatt", "--version", "--json"],
        env=os.environ | {"ROSENBLATT_PLAIN": plain},
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout)
    assert told["version"] == rosenblatt.__version__
    if told["machine_code"]["runs"] != "machine code of the package":
        assert told["machine_code"]["runs"] == runs
    assert told["machine_code"]["called_by"] == (None if plain == "1" else calls)
    assert told["machine_code"]["problem"] is None
    assert set(told["packages"]) == {
        "python",
        "numpy",
        "scipy",
        "scikit-learn",
        "llvmlite",
        "numba",
    }


def test_json_needs_something_to_print() -> None:
    """--json without --version or a command is refused with a sentence."""
    done = CliRunner().invoke(main, ["--json"])
    assert done.exit_code == 2
    assert "--json goes with --version" in done.stderr

"""What a command imports: no more than its work needs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from rosenblatt.cli import main as command_line
from tests.cli.models import SPAM_ROWS, rows_file, spam_model
from tests.cli.test_train import table_file
from tests.processes import printed

SLOW = (
    "numba",
    "llvmlite",
    "sklearn",
    "scipy",
    "pandas",
    "matplotlib",
    "rich",
    "polars",
    "numpy.ma",
    "numpy.random",
    "onnx",
    "dask",
)
PROGRAM = """
import json, sys
from rosenblatt.cli import main
for command in json.loads(sys.argv[2]):
    main(command, standalone_mode=False)
imported = [name for name in sys.argv[1].split(",") if name in sys.modules]
print("imported:", *imported, file=sys.stderr)
"""


def imported(*commands: str) -> set[str]:
    """Return which slow packages these commands import, one after the other in a new process."""
    arguments = [command.split() for command in commands]
    for command in arguments:  # compiles here what is not compiled yet
        assert CliRunner().invoke(command_line, command).exit_code == 0
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", PROGRAM, ",".join(SLOW), json.dumps(arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.splitlines()[-1].removeprefix("imported:").split())


HELP = """
import sys
import pytest
from click.testing import CliRunner
from rosenblatt.cli import main
for name in ("", *main.list_commands(None)):
    told = CliRunner().invoke(main, [*name.split(), "--help"])
    assert told.exit_code == 0 and "Usage: " in told.stdout, (name, told.output)
    print(name, *(slow for slow in sys.argv[1].split(",") if slow in sys.modules))
"""


def test_help() -> None:
    """The help of every command needs none of the slow packages."""
    told = printed(HELP, ",".join(SLOW))
    assert "train" in told.split()
    assert set(told.split()) & set(SLOW) <= {"numpy.random"}  # which makes the lab's toy sets


def test_models_need_machine_code_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands on a model import no slow package but the one that loads machine code."""
    monkeypatch.chdir(tmp_path)
    spam_model(tmp_path)
    rows_file(tmp_path, SPAM_ROWS)
    assert imported("weights spam.model", "export spam.model -o spam.json") == set()
    on_rows = [f"{name} spam.model rows.svm" for name in ("predict", "explain", "evaluate")]
    assert imported(*on_rows) == {"llvmlite"}


def test_training_does_without_scikit_learn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Training loads machine code, and polars for tables; neither numba nor scikit-learn."""
    monkeypatch.chdir(tmp_path)
    rows_file(tmp_path, "".join(f"{i % 2} 1:{i} 2:{(i * 7) % 13}\n" for i in range(100)))
    assert imported("train rows.svm") <= {"llvmlite", "scipy", "numpy.random"}
    table_file(tmp_path / "table.csv")
    tables = {"polars", "numpy.ma"}  # which polars loads to look at an array
    assert imported("train table.csv") <= {"llvmlite", "scipy", "numpy.random", *tables}
    assert imported("predict table.model table.csv") <= {"llvmlite", "polars"}


SPIN = """
import os
from rosenblatt import cli
cli.main = lambda prog_name: print(os.environ["OPENBLAS_THREAD_TIMEOUT"])
cli.run()
"""


def test_idle_threads_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command lets OpenBLAS's threads sleep at once, unless the user has said otherwise."""
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    assert printed(SPIN).strip() == "4"
    monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", "20")
    assert printed(SPIN).strip() == "20"

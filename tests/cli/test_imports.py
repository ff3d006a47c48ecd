"""What a command imports: no more than its work needs."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.models import SPAM_ROWS, rows_file, spam_model
from tests.cli.test_train import table_file

SLOW = ("numba", "sklearn", "scipy", "pandas", "matplotlib", "rich", "polars", "onnx", "dask")
PROGRAM = """
import sys
from rosenblatt.cli import main
try:
    main(sys.argv[2:])
except SystemExit as end:
    assert not end.code, end.code
imported = [name for name in sys.argv[1].split(",") if name in sys.modules]
print("imported:", *imported, file=sys.stderr)
"""


def imported(*arguments: str, folder: Path) -> set[str]:
    """Return which slow packages a command imports."""
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", PROGRAM, ",".join(SLOW), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.splitlines()[-1].removeprefix("imported:").split())


def test_help(tmp_path: Path) -> None:
    """Help needs none of the slow packages."""
    assert imported("--help", folder=tmp_path) == set()
    for command in (
        "train",
        "evaluate",
        "predict",
        "weights",
        "explain",
        "diagnose",
        "trace",
        "report",
        "export",
        "demo",
        "lab",
        "plot",
    ):
        assert imported(command, "--help", folder=tmp_path) == set(), command


def test_help_is_quick(tmp_path: Path) -> None:
    """Rosenblatt --help takes no more than 0.2 s of processor time."""
    seconds = []
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(4):
        before = os.times()
        subprocess.run(  # our own program
            [sys.executable, "-m", "rosenblatt", "--help"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            check=True,
        )
        after = os.times()
        seconds.append(after.children_user - before.children_user)
        seconds[-1] += after.children_system - before.children_system
        time.sleep(0.01)
    assert min(seconds) < 0.2


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "spam.model", "rows.svm"],
        ["weights", "spam.model"],
        ["explain", "spam.model", "rows.svm"],
        ["evaluate", "spam.model", "rows.svm"],
        ["export", "spam.model", "-o", "spam.json"],
    ],
)
def test_small_models_do_without_numba(tmp_path: Path, arguments: list[str]) -> None:
    """Commands on a small model and few rows import none of the slow packages."""
    spam_model(tmp_path)
    rows_file(tmp_path, SPAM_ROWS)
    assert imported(*arguments, folder=tmp_path) == set()


def test_training_does_without_scikit_learn(tmp_path: Path) -> None:
    """Training imports numba, which looks for SciPy, and polars for tables; never scikit-learn."""
    rows = "".join(f"{i % 2} 1:{i} 2:{(i * 7) % 13}\n" for i in range(100))
    rows_file(tmp_path, rows)
    assert imported("train", "rows.svm", folder=tmp_path) <= {"numba", "scipy"}
    table_file(tmp_path / "table.csv")
    assert imported("train", "table.csv", folder=tmp_path) <= {"numba", "scipy", "polars"}
    assert imported("predict", "table.model", "table.csv", folder=tmp_path) == {"polars"}

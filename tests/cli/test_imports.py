"""What a command imports: no more than its work needs."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.models import SPAM_ROWS, rows_file, spam_model
from tests.cli.test_train import table_file

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
    "onnx",
    "dask",
)
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


HELP = """
import sys
from click.testing import CliRunner
from rosenblatt.cli import main
for name in ("", *main.list_commands(None)):
    told = CliRunner().invoke(main, [*name.split(), "--help"])
    assert told.exit_code == 0 and "Usage: " in told.stdout, (name, told.output)
    print(name, *(slow for slow in sys.argv[1].split(",") if slow in sys.modules))
"""


def test_help(tmp_path: Path) -> None:
    """The help of every command needs none of the slow packages."""
    told = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", HELP, ",".join(SLOW)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "train" in told.split()
    assert not set(told.split()) & set(SLOW)


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["predict", "spam.model", "rows.svm"], {"llvmlite"}),
        (["weights", "spam.model"], set()),
        (["explain", "spam.model", "rows.svm"], {"llvmlite"}),
        (["evaluate", "spam.model", "rows.svm"], {"llvmlite"}),
        (["export", "spam.model", "-o", "spam.json"], set()),
    ],
)
def test_models_need_machine_code_at_most(
    tmp_path: Path, arguments: list[str], needed: set[str]
) -> None:
    """Commands on a model import no slow package but the one that loads machine code."""
    spam_model(tmp_path)
    rows_file(tmp_path, SPAM_ROWS)
    imported(*arguments, folder=tmp_path)  # compiles what is not compiled yet
    assert imported(*arguments, folder=tmp_path) == needed


def test_training_does_without_scikit_learn(tmp_path: Path) -> None:
    """Training loads machine code, and polars for tables; neither numba nor scikit-learn."""
    rows = "".join(f"{i % 2} 1:{i} 2:{(i * 7) % 13}\n" for i in range(100))
    rows_file(tmp_path, rows)
    imported("train", "rows.svm", folder=tmp_path)  # compiles what is not compiled yet
    assert imported("train", "rows.svm", folder=tmp_path) <= {"llvmlite", "scipy"}
    table_file(tmp_path / "table.csv")
    imported("train", "table.csv", folder=tmp_path)
    assert imported("train", "table.csv", folder=tmp_path) <= {"llvmlite", "scipy", "polars"}
    found = imported("predict", "table.model", "table.csv", folder=tmp_path)
    assert found <= {"llvmlite", "polars"}

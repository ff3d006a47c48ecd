"""The demo runs as it is shown to a newcomer."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from rosenblatt.cli import main
from rosenblatt.cli.demo import sparkline


@pytest.mark.filterwarnings("ignore:.*stopped after max_iter")
def test_demo() -> None:
    """It trains, judges and explains, and beats the guess of the most frequent class by far."""
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 0
    for words in ("Training: mistakes per pass", "Rows never seen before", "speaks for benign"):
        assert words in result.output
    errors = [
        float(line.split()[-1].rstrip("%"))
        for line in result.output.splitlines()
        if line.rstrip().endswith("%")
    ]
    guess, last, average = errors
    assert max(last, average) < guess / 5


def test_help_imports_nothing_slow() -> None:
    """``rosenblatt --help`` lists the commands without loading any."""
    code = (
        "import sys\nfrom rosenblatt.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "assert not {'numpy', 'sklearn', 'numba', 'rich'} & set(sys.modules)"
    )
    done = subprocess.run(  # noqa: S603  # our own code
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert "demo" in done.stdout


def test_unknown_command() -> None:
    """A wrong name gets exit code 2."""
    assert CliRunner().invoke(main, ["dmeo"]).exit_code == 2


def test_sparkline() -> None:
    """The tallest block is the most mistakes, and none is the lowest."""
    assert sparkline([8, 4, 0]) == "█▅▁"
    assert sparkline([0]) == "▁"
    assert len(sparkline(list(range(100)))) == 14

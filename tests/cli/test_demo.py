"""The demo runs as it is shown to a newcomer."""

import json

import pytest
from click.testing import CliRunner

from rosenblatt.cli import demo, main
from tests.processes import printed


def test_demo() -> None:
    """It trains, judges and explains by commands that it shows, and leaves nothing behind."""
    result = CliRunner().invoke(main, ["demo"], catch_exceptions=False)
    assert result.exit_code == 0
    for words in (
        "$ rosenblatt train tumours.csv",
        "Error on ",
        " passes over all 427 rows",
        "$ rosenblatt evaluate tumours.model test.csv",
        "Speaks for benign",
        "worst ",
        "$ rosenblatt explain tumours.model test.csv --row",
    ):
        assert words in result.stdout


def test_demo_as_json() -> None:
    """--json gives what each command found; the model beats the guess by far."""
    result = CliRunner().invoke(main, ["demo", "--json", "--seed", "1"], catch_exceptions=False)
    found = json.loads(result.stdout)
    assert {"train", "evaluate", "weights"} <= {*found}
    assert found["train"]["n_rows"] == 427
    assert found["evaluate"]["rows"] == 142
    assert found["evaluate"]["error"] < found["evaluate"]["against"][0]["error"] / 5


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_command_that_cannot_run_ends_the_demo(
    options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a file cannot be read, for want of polars perhaps, that is the last thing said."""
    monkeypatch.setattr(demo, "TRAIN", "train missing.csv --seed {seed}")
    result = CliRunner().invoke(main, ["demo", *options], catch_exceptions=False)
    assert result.exit_code == 2
    assert result.stderr.count("Error:") == 1
    assert "evaluate" not in result.stdout
    if options:
        assert "missing.csv" in json.loads(result.stdout)["error"]


def test_help_imports_nothing_slow() -> None:
    """``rosenblatt --help`` lists the commands without loading any."""
    code = (
        "import sys\nfrom rosenblatt.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "assert not {'numpy', 'sklearn', 'numba', 'rich'} & set(sys.modules)"
    )
    assert {"demo", "train", "predict"} <= set(printed(code).split())


def test_unknown_command() -> None:
    """A wrong name gets exit code 2."""
    assert CliRunner().invoke(main, ["dmeo"]).exit_code == 2

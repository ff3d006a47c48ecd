"""``python -m reproduction``."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from reproduction.__main__ import Progress, reproduce
from reproduction.results import Results
from rosenblatt.cli.screen import Screen
from tests.cli.running import signalled
from tests.reproduction.test_table import table


def run(*arguments: str, data: Path | None) -> Result:
    """Run the command with this folder of data sets."""
    environment = {"ROSENBLATT_DATA": None if data is None else str(data)}
    return CliRunner(env=environment).invoke(reproduce, [*arguments], catch_exceptions=False)


def guide(folder: Path) -> Path:
    """Write a small set in the place of svmguide3; return the folder."""
    lines = [f"{1 if k % 3 else -1} 1:{k % 7} 2:{k % 5}.5 21:{-(k % 4)}\n" for k in range(90)]
    (folder / "svmguide3.svm.gz").write_text("".join(lines))  # what is packed is told by its bytes
    return folder


def test_no_data(tmp_path: Path) -> None:
    """Without data sets nothing can be made: exit code 2 and what to do."""
    result = run("-o", str(tmp_path), data=None)
    assert result.exit_code == 2
    assert "Error: ROSENBLATT_DATA is not set" in result.stderr
    result = run("-o", str(tmp_path), "--json", data=tmp_path / "none")
    assert result.exit_code == 2
    assert "is no folder" in json.loads(result.stdout)["error"]


def test_missing_file(tmp_path: Path) -> None:
    """Where no table can be made for want of its file it says which; exit code 2."""
    result = run("--only", "libol", "-o", str(tmp_path), data=tmp_path)
    assert result.exit_code == 2
    assert "libol: ROSENBLATT_DATA has no file svmguide3.svm.gz" in result.stderr


def test_a_table(tmp_path: Path) -> None:
    """A table is printed with the paper beside ours, and written as JSON and Markdown."""
    result = run("--only", "libol", "-o", str(tmp_path), data=guide(tmp_path))
    assert result.exit_code == 0, result.stderr
    assert "One online pass over svmguide3" in result.stdout
    lines = [line.split() for line in result.stdout.splitlines()]
    (rate,) = [line for line in lines if line[:2] == ["perceptron", "33.2"]]
    assert rate[-1] == "differs"  # these are not the rows of the paper
    assert "Mistakes in % of the rows: reproduced in 0 of 8 lines; differs in 8" in result.stdout
    assert "Table 1 of 1: libol; about " in result.stderr  # by the run that the docs hold
    assert "Written to" in result.stderr
    page = (tmp_path / "reproduction.md").read_text("utf-8")
    assert "| perceptron | 33.2 |" in page
    document = json.loads((tmp_path / "reproduction.json").read_text("utf-8"))
    assert [one["name"] for one in document["tables"]] == ["libol"]


def test_json(tmp_path: Path) -> None:
    """With --json the tables made, and those left out with the reason, are one document."""
    arguments = ("--only", "libol", "--only", "survival", "--quick", "--json", "-o", str(tmp_path))
    result = run(*arguments, data=guide(tmp_path))
    assert result.exit_code == 1  # one table is left out
    document = json.loads(result.stdout)
    assert [one["name"] for one in document["tables"]] == ["libol"]
    assert document["tables"][0]["lines"][0]["paper"] == 33.2
    assert document["skipped"] == {"survival": "ROSENBLATT_DATA has no file a9a.svm.gz"}
    assert "The table survival is left out" in result.stderr


def test_earlier_tables_stay(tmp_path: Path) -> None:
    """What other tables a folder has stays, and --resume takes a whole table from there."""
    Results.of(tmp_path).keep(table("survival"))
    run("--only", "libol", "-o", str(tmp_path), data=guide(tmp_path))
    assert list(Results.of(tmp_path).tables) == ["libol", "survival"]
    result = run("--only", "libol", "--resume", "-o", str(tmp_path), data=tmp_path)
    assert result.exit_code == 0
    assert "One online pass over svmguide3" in result.stdout
    assert "Table 1" not in result.stderr


def test_progress(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It is said which table is made and how long all will take, by the last run and this one."""
    now = [100.0]
    monkeypatch.setattr("reproduction.__main__.perf_counter", lambda: now[0])
    progress = Progress(Screen(), {"libol": 83.2, "sol": 60.0, "survival": 120.0})
    progress.begin("libol", ["sol"])
    now[0] += 90.0
    assert progress.left() == pytest.approx(60.0)  # it takes longer than last time
    slow = table("libol")
    slow.seconds = 2 * 83.2
    progress.show(slow)
    progress.begin("survival", ["sol"])
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "Table 1 of 2: libol; about 2 min 23 s left.",
        "Table 2 of 3: survival; about 4 min 45 s left.",  # two minutes and one, and half more
    ]
    progress.begin("mixing", [])
    assert capsys.readouterr().err == "Table 3 of 3: mixing.\n"


def test_unknown_table(tmp_path: Path) -> None:
    """A table that there is not is named, with those that there are."""
    result = run("--only", "boosting", "-o", str(tmp_path), data=tmp_path)
    assert result.exit_code == 2
    assert "'boosting'" in result.stderr
    assert "freund-schapire" in result.stderr


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """Results cannot be kept in a folder that does not exist; nothing is computed before."""
    result = run("-o", str(tmp_path / "docs"), data=tmp_path)
    assert result.exit_code == 2
    assert "docs is no folder: make it first" in result.stderr


@pytest.mark.data
def test_real_table(tmp_path: Path, data_folder: Path) -> None:
    """LIBOL's table reproduces line by line, but for the updates of AROW."""
    result = run("--quick", "--only", "libol", "--json", "-o", str(tmp_path), data=data_folder)
    assert result.exit_code == 0, result.stderr
    (made,) = json.loads(result.stdout)["tables"]
    differing = [line["subject"] for line in made["lines"] if line["verdict"] != "reproduced"]
    assert differing == ["AROW, r = 1"]  # its updates
    assert not made["quick"]  # it is no subset


def test_interrupted(tmp_path: Path) -> None:
    """Ctrl-C ends with code 130, and the tables finished before it are kept."""
    path = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    ended = signalled(
        *(signal.SIGINT, "reproduction.md", 1, "--only", "libol", "--only", "shuffling"),
        folder=tmp_path,
        module="reproduction",
        env=os.environ | {"ROSENBLATT_DATA": str(guide(tmp_path)), "PYTHONPATH": path},
    )
    assert ended.returncode == 130, ended.stderr
    assert Results.of(tmp_path).tables["libol"].complete

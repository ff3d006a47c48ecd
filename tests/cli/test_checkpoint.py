"""Checkpoints: a training that was killed goes on and ends with the same model."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from rosenblatt.models.file import read
from tests.cli.running import PROGRAM, ran, run
from tests.cli.test_train import svmlight_file, table_file

OPTIONS = ("--buffer", "20K", "--max-iter", "40", "--n-iter-no-change", "40")


def kill_in_time(folder: Path, data: str, *options: str, seconds: float) -> int:
    """Start a training, kill it when its checkpoint has been there for some time."""
    command = [*PROGRAM, "train", data, *OPTIONS, *options, "-o", "resumed.model"]
    command += ["--checkpoint", "point", "--checkpoint-every", "0"]
    with subprocess.Popen(  # noqa: S603  # our own program
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while not (folder / "point").exists() and process.poll() is None:
            time.sleep(0.005)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        return process.wait()


@pytest.mark.parametrize("kind", ["two classes", "three classes", "table", "last"])
def test_killed_trainings_end_with_the_same_bits(tmp_path: Path, kind: str) -> None:
    """Killed with SIGKILL again and again, a training goes on and ends as if nothing had been."""
    options = ["--memory", "last"] if kind == "last" else []
    if kind == "table":
        data = table_file(tmp_path / "data.csv", n_rows=4000)
    else:
        labels = ("a", "b", "c") if kind == "three classes" else (-1, 1)
        data = svmlight_file(tmp_path / "data.svm", n_rows=12_000, labels=labels)
    n_killed = 0
    for seconds in (0.0, 0.05, 0.2):
        if kill_in_time(tmp_path, data, *options, seconds=seconds) == -signal.SIGKILL:
            n_killed += 1
            assert not (tmp_path / "resumed.model").exists()
            (model,) = [read(tmp_path / "point")]  # never half-written
            assert model.training["checkpoint"]["parts"] >= 1
    assert n_killed >= 1
    going_on = ["--checkpoint", "point", "-o", "resumed.model"]
    done = run("train", data, *OPTIONS, *options, *going_on, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Going on from point: pass " in done.stderr
    ran("train", data, *OPTIONS, *options, "-o", "whole.model", folder=tmp_path)
    whole, resumed = (read(tmp_path / f"{name}.model") for name in ("whole", "resumed"))
    assert whole.weights.tobytes() == resumed.weights.tobytes()
    assert (whole.ledger is None) == (resumed.ledger is None)
    if whole.ledger is not None and resumed.ledger is not None:
        assert whole.ledger.tobytes() == resumed.ledger.tobytes()
    assert whole.outcome == resumed.outcome
    scores = [[record["validation_score"] for record in m.history] for m in (whole, resumed)]
    assert scores[0] == scores[1]
    assert not (tmp_path / "point").exists()


def test_another_training_is_refused(tmp_path: Path) -> None:
    """A checkpoint of other data or options is not gone on from, and says what differs."""
    data = svmlight_file(tmp_path / "data.svm", n_rows=12_000)
    assert kill_in_time(tmp_path, data, seconds=0.0) == -signal.SIGKILL
    kept = (tmp_path / "point").read_bytes()
    again = ("train", data, *OPTIONS, "--checkpoint", "point")
    told = run(*again, "--seed", "3", folder=tmp_path)
    assert told.returncode == 2
    assert "another training: seed was 0 and is now 3" in told.stderr
    svmlight_file(tmp_path / "data.svm", n_rows=11_000)
    told = run(*again, folder=tmp_path)
    assert told.returncode == 2
    assert "another training: files was" in told.stderr
    assert (tmp_path / "point").read_bytes() == kept


def test_a_model_is_no_checkpoint(tmp_path: Path) -> None:
    """A model or a foreign file under the name of the checkpoint is left as it is."""
    data = svmlight_file(tmp_path / "data.svm")
    ran("train", data, "-o", "point", folder=tmp_path)
    told = run("train", data, "--checkpoint", "point", folder=tmp_path)
    assert told.returncode == 2
    assert "point is a model but no checkpoint" in told.stderr
    (tmp_path / "notes").write_text("my notes")
    told = run("train", data, "--checkpoint", "notes", folder=tmp_path)
    assert told.returncode == 2
    assert "notes" in told.stderr
    assert (tmp_path / "notes").read_text() == "my notes"

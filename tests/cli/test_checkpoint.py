"""Checkpoints: a training that was killed goes on and ends with the same model."""

import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from rosenblatt.models.file import read
from tests.cli.running import PROGRAM, invoked, signalled
from tests.cli.test_train import svmlight_file, table_file, trained

OPTIONS = ("--buffer", "20K", "--max-iter", "12", "--n-iter-no-change", "12")
WRITING = ("--checkpoint", "point", "--checkpoint-every", "0")


def data_file(folder: Path, kind: str) -> str:
    """Write rows that fill several buffers."""
    if kind == "table":
        return table_file(folder / "data.csv", n_rows=2000)
    labels = ("a", "b", "c") if kind == "three classes" else (-1, 1)
    return svmlight_file(folder / "data.svm", n_rows=4000, labels=labels)


def resumed_is_whole(folder: Path, data: str, *options: str) -> None:
    """Go on from the checkpoint, train without any, and compare."""
    done = invoked("train", data, *OPTIONS, *options, *WRITING, "-o", "resumed.model")
    assert done.exit_code == 0, done.stderr
    assert "Going on from point: pass " in done.stderr
    trained(data, *OPTIONS, *options, "-o", "whole.model")
    whole, resumed = (read(folder / f"{name}.model") for name in ("whole", "resumed"))
    assert whole.weights.tobytes() == resumed.weights.tobytes()
    assert (whole.ledger is None) == (resumed.ledger is None)
    if whole.ledger is not None and resumed.ledger is not None:
        assert whole.ledger.tobytes() == resumed.ledger.tobytes()
    assert whole.outcome == resumed.outcome
    scores = [[record["validation_score"] for record in m.history] for m in (whole, resumed)]
    assert scores[0] == scores[1]
    assert not (folder / "point").exists()


@pytest.mark.parametrize(
    ("kind", "moments"), [("three classes", (2, 7)), ("table", (7,)), ("last", (2,))]
)
def test_killed_trainings_end_with_the_same_bits(
    tmp_path: Path, kind: str, moments: tuple[int, ...]
) -> None:
    """Killed with SIGKILL again and again, a training goes on and ends as if nothing had been.

    In the first pass, and in a later one, while a checkpoint is written.
    """
    options = ["--memory", "last"] if kind == "last" else []
    data = data_file(tmp_path, kind)
    command = ("train", data, *OPTIONS, *options, *WRITING, "-o", "resumed.model")
    parts = [0]
    for times in moments:
        ended = signalled(signal.SIGKILL, "point", times, *command, folder=tmp_path)
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        assert not (tmp_path / "resumed.model").exists()
        model = read(tmp_path / "point")  # never half-written
        parts.append(len(model.history) * 1000 + model.training["checkpoint"]["parts"])
    assert parts == sorted(set(parts))
    resumed_is_whole(tmp_path, data, *options)


def test_ctrl_c_and_a_time_limit_keep_the_checkpoint(tmp_path: Path) -> None:
    """A training that is cut short writes its checkpoint, and the same command goes on from it."""
    data = data_file(tmp_path, "two classes")
    rare = ("--checkpoint", "point", "--checkpoint-every", "9999")  # not while it learns
    again = ("train", data, *OPTIONS, *rare, "-o", "resumed.model")
    limited = invoked(*again, "--time-limit", "1e-9")
    assert limited.exit_code == 0, limited.stderr
    assert "The same command resumes from point." in limited.stderr
    assert read(tmp_path / "resumed.model").outcome["stop_reason"] == "time_limit"
    assert read(tmp_path / "point").training["checkpoint"]["parts"] == 1
    limited = invoked(*again, "--time-limit", "1e-9")
    assert "Going on from point: pass 1." in limited.stderr
    assert read(tmp_path / "point").training["checkpoint"]["parts"] == 2
    resumed_is_whole(tmp_path, data)


@pytest.mark.explore
@pytest.mark.parametrize("kind", ["two classes", "three classes", "table", "last"])
def test_trainings_killed_at_random_end_with_the_same_bits(
    tmp_path: Path, kind: str, random_seed: int
) -> None:
    """Whenever it is killed, and however often, the model is the same."""
    options = ["--memory", "last"] if kind == "last" else []
    data = data_file(tmp_path, kind)
    command = [*PROGRAM, "train", data, *OPTIONS, *options, *WRITING, "-o", "resumed.model"]
    for seconds in np.random.default_rng(random_seed).exponential(0.2, 30):
        with subprocess.Popen(  # noqa: S603  # our own program
            command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            while not (tmp_path / "point").exists() and process.poll() is None:
                time.sleep(0.005)
            time.sleep(seconds)
            process.send_signal(signal.SIGKILL)
        if not (tmp_path / "point").exists():  # it was quicker
            (tmp_path / "resumed.model").unlink()
    signalled(signal.SIGKILL, "point", 3, *command[3:], folder=tmp_path)
    resumed_is_whole(tmp_path, data, *options)


def test_another_training_is_refused(tmp_path: Path) -> None:
    """A checkpoint of other data or options is not gone on from, and says what differs."""
    data = svmlight_file(tmp_path / "data.svm", n_rows=4000)
    again = ("train", data, *OPTIONS, *WRITING)
    ended = signalled(signal.SIGKILL, "point", 2, *again, folder=tmp_path)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    kept = (tmp_path / "point").read_bytes()
    told = invoked(*again, "--seed", "3")
    assert told.exit_code == 2
    assert "another training: --seed was 0 and is now 3" in told.stderr
    svmlight_file(tmp_path / "data.svm", n_rows=3900)
    told = invoked(*again)
    assert told.exit_code == 2
    assert "another training: files was" in told.stderr
    assert (tmp_path / "point").read_bytes() == kept


def test_a_model_is_no_checkpoint(tmp_path: Path) -> None:
    """A model or a foreign file under the name of the checkpoint is left as it is."""
    data = svmlight_file(tmp_path / "data.svm")
    trained(data, "-o", "point")
    told = invoked("train", data, "--checkpoint", "point")
    assert told.exit_code == 2
    assert "point is a model but no checkpoint" in told.stderr
    (tmp_path / "notes").write_text("my notes")
    told = invoked("train", data, "--checkpoint", "notes")
    assert told.exit_code == 2
    assert "notes" in told.stderr
    assert (tmp_path / "notes").read_text() == "my notes"

"""``train --engine dask`` as a user runs it."""

import json
import signal
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from rosenblatt.cli import main
from rosenblatt.distributed import DaskAveragedPerceptron, cluster
from rosenblatt.distributed.fitting import ShardBar
from rosenblatt.models.file import read
from rosenblatt.training.history import PassRecord
from tests.cli.running import signalled
from tests.distributed.clusters import threads


def parts(folder: Path, n_rows: int = 400) -> None:
    """Write two files of svmlight text with labels that overlap."""
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (n_rows, 6))
    y = np.where(X @ rng.standard_normal(6) + 2 * rng.standard_normal(n_rows) > 0, 1, -1)
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{value}" for j, value in enumerate(row) if value)
        for label, row in zip(y, X, strict=True)
    ]
    (folder / "part-0.svm").write_text("\n".join(lines[: n_rows // 3]) + "\n")
    (folder / "part-1.svm").write_text("\n".join(lines[n_rows // 3 :]) + "\n")


@pytest.fixture
def _in_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the workers that a command starts be threads of this process, which is quick."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cluster, "local_client", lambda n_workers, _memory: threads(n_workers))


OPTIONS = ("--engine", "dask", "--workers", "1", "--shards", "3", "--no-early-stopping")


@pytest.mark.usefixtures("_in_threads")
def test_the_command_is_the_estimator(tmp_path: Path) -> None:
    """The model of the command has the bits of the estimator, killed and resumed on the way."""
    parts(tmp_path)
    command = ("train", "part-*.svm", *OPTIONS, "--max-iter", "6", "-o", "m.model")
    kept = ("--checkpoint", "point", "--checkpoint-every", "0")
    ended = signalled(signal.SIGKILL, "point", 3, *command, *kept, folder=tmp_path)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    done = CliRunner().invoke(main, [*command, *kept, "--json"])
    assert done.exit_code == 0, done.stderr
    assert "Resuming from point." in done.stderr
    report = json.loads(done.stdout)
    assert len(report["history"]) == 6
    assert not (tmp_path / "point").exists()
    from sklearn.datasets import load_svmlight_files

    X0, y0, X1, y1 = load_svmlight_files(
        [str(tmp_path / f"part-{k}.svm") for k in (0, 1)], n_features=6
    )
    X, y = np.vstack([X0.toarray(), X1.toarray()]), np.concatenate([y0, y1])
    from scipy import sparse

    expected = DaskAveragedPerceptron(n_shards=3, max_iter=6).simulate(sparse.csr_matrix(X), y)
    model = read(tmp_path / "m.model")
    assert model.learner == "AveragedPerceptron"
    assert np.array_equal(model.deciding_weights[0, :-1], expected.coef_[0])
    files = (str(tmp_path / "m.model"), str(tmp_path / "part-0.svm"))
    told = CliRunner().invoke(main, ["evaluate", *files])
    assert "133 rows" in told.stdout


@pytest.mark.usefixtures("_in_threads")
def test_second_order_from_the_command(tmp_path: Path) -> None:
    """Variances are mixed and kept in the model file; weights shows how sure each weight is."""
    parts(tmp_path, 60)
    options = (*OPTIONS, "--rule", "arow", "--max-iter", "2", "-o", "m.model")
    done = CliRunner().invoke(main, ["train", "part-*.svm", *options])
    assert done.exit_code == 0, done.stderr
    model = read(tmp_path / "m.model")
    assert (model.learner, model.training["n_shards"]) == ("ConfidenceWeightedClassifier", 3)
    assert model.variance is not None
    assert (model.variance < 1.0).all()
    shown = CliRunner().invoke(main, ["weights", str(tmp_path / "m.model")])
    assert "±" in shown.stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--workers", "2"), "--workers has no effect without --engine dask"),
        (("--engine", "dask", "--tls-ca", "x"), "--tls-ca has no effect without --scheduler"),
        (
            ("--engine", "dask", "--scheduler", "tls://a:1", "--workers", "2"),
            "--workers applies to workers on this machine",
        ),
        (
            ("--engine", "dask", "--scheduler", "tcp://a:1"),
            "give a tls:// address, or say --unencrypted",
        ),
        (("--engine", "dask", "--calibrate"), "--calibrate needs all held-out rows in one place"),
        (("--engine", "dask", "--buffer", "1M"), "--buffer applies to a single process"),
        (("--engine", "dask", "--memory", "vote"), "--memory vote keeps the rows of all mistakes"),
        (
            ("--engine", "dask", "--rule", "pa1", "--mixing", "mistakes"),
            "--mixing mistakes is not available with the rule pa1, whose steps differ in length",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    """No option is taken and forgotten: what the engine cannot do is said before it begins."""
    parts(tmp_path, 20)
    done = CliRunner().invoke(main, ["train", str(tmp_path / "part-0.svm"), *options])
    assert done.exit_code == 2
    assert told in " ".join(done.output.split())


def test_shards_and_mistakes_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """The bar tells how many shards of the epoch are done, and the mistakes so far."""
    with ShardBar(4) as bar:
        bar.watch(1, 4)
        bar(PassRecord(1, 30, 30, 1.0, None, 0.1))
        bar.watch(2, 3)
        bar(PassRecord(2, 12, 12, 1.0, 0.875, 0.1))
        bar.watch(3, 1)
    shown = capsys.readouterr().err
    assert "epoch 3" in shown
    assert "1/4" in shown
    assert "42 so far" in shown
    assert "0.8750" in shown

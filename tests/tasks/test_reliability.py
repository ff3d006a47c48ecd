"""Promised probabilities against true shares."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.metrics import brier_score_loss, log_loss

from rosenblatt.cli import main
from rosenblatt.models.train import model_from_files
from rosenblatt.tasks.metrics import Reliability


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_are_those_of_scikit_learn(n_classes: int) -> None:
    """Brier score and log-loss, batch by batch; rows of no known class are left out."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(n_classes), 500)
    numbers = np.array([rng.choice(n_classes, p=p) for p in shares])
    found = Reliability(n_classes)
    for part in np.array_split(np.arange(500), 7):
        found.add(shares[part], numbers[part])
    found.add(shares[:3], np.array([-1, n_classes, n_classes + 5]))
    one = shares[:, 1] if n_classes == 2 else shares
    assert found.brier_score == pytest.approx(brier_score_loss(numbers, one))
    assert found.log_loss == pytest.approx(log_loss(numbers, shares))
    assert found.n_rows == sum(one.n_rows for one in found.bins) == 500
    assert found.calibration_error < 0.1
    assert np.isnan(Reliability(n_classes).brier_score)


def mail(path: Path, n_rows: int = 600) -> Path:
    """Write rows whose classes overlap, one of them rare."""
    rng = np.random.default_rng(3)
    y = (rng.random(n_rows) < 0.2).astype(int)
    X = rng.normal(size=(n_rows, 3)) + 1.0 * y[:, None]
    lines = ["a,b,c,label", *(f"{a},{b},{c},{'spam' if k else 'ham'}"
                              for (a, b, c), k in zip(X.tolist(), y, strict=True))]  # fmt: skip
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    "options",
    [{}, {"memory": "vote"}, {"fit_intercept": False}, {"rule": "arow"}, {"refit": False}],
    ids=str,
)
def test_labels_never_contradict_probabilities(tmp_path: Path, options: dict[str, Any]) -> None:
    """The label that a file's rows get is the most probable class, whatever the learner."""
    path = str(mail(tmp_path / "mail.csv"))
    model = model_from_files(path, calibrate=True, **options)
    for batch in model.rows(path):
        shares, predicted = model.probabilities(batch), model.predict(batch)
        clear = shares[:, 0] != shares[:, 1]
        assert (model.labels[shares.argmax(axis=1)] == predicted)[clear].all()
        assert 0.02 < (predicted == "spam").mean() < 0.6


def test_the_commands_say_what_labels_follow(tmp_path: Path) -> None:
    """``evaluate`` prints reliability and Brier score; a threshold of the model's own is said."""
    path, model = str(mail(tmp_path / "mail.csv")), str(tmp_path / "m")

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(main, [*arguments], catch_exceptions=False)

    shown = run("train", path, "--calibrate", "-o", model).output
    assert "so that a score above 0 means that spam is more probable." in shown
    shown = run("evaluate", model, path).stdout
    assert "Reliability: probabilities of spam" in shown
    assert "Brier score 0." in shown
    found = json.loads(run("evaluate", model, path, "--json").stdout)["probabilities"]
    assert found["brier_score"] < 0.16
    assert sum(one["n_rows"] for one in found["bins"]) == 600
    run("train", path, "--calibrate", "--threshold", "f1", "-o", model, "--force")
    said = run("predict", model, path, "--proba").stderr
    assert "Labels follow the threshold chosen by f1: spam above a probability of " in said
    assert "Labels follow the threshold chosen by f1" in run("evaluate", model, path).stdout

"""Classes of unequal size: ``train --class-weight`` and ``--threshold``."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from rosenblatt import load
from rosenblatt.cli.evaluate import evaluate
from rosenblatt.cli.predict import predict
from rosenblatt.cli.train import train
from rosenblatt.errors import InputError
from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files


def ran(command: Any, *arguments: str) -> Result:
    """Return what a command printed, which must succeed."""
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    return done


def rare_rows(folder: Path, n_rows: int = 600) -> str:
    """Write rows of two numbers, one in ten of the class rare, that overlap."""
    generator = np.random.default_rng(5)
    rare = np.arange(n_rows) % 10 == 0
    X = generator.normal(size=(n_rows, 2)) + rare[:, None] * 1.2
    lines = [
        f"{a:.4f},{b:.4f},{'rare' if r else 'usual'}" for (a, b), r in zip(X, rare, strict=True)
    ]
    path = folder / "rows.csv"
    path.write_text("\n".join(["a,b,label", *lines, ""]))
    return str(path)


def recall(model: Model, path: str) -> float:
    """Return the recall of the rare class."""
    found = model.evaluate(path).by_class[0].recall
    assert found is not None
    return found


def test_weights_raise_the_recall_of_a_rare_class(tmp_path: Path) -> None:
    """Balanced classes find more rare rows; the same by factors, in the model's options too."""
    path = rare_rows(tmp_path)
    plain, balanced = model_from_files(path), model_from_files(path, class_weight="balanced")
    assert recall(balanced, path) > recall(plain, path) + 0.2
    named = model_from_files(path, class_weight={"rare": 5.0, "usual": 5.0 / 9.0})
    np.testing.assert_array_equal(named.weights, balanced.weights)
    model = str(tmp_path / "m.model")
    ran(train, path, "-o", model, "--class-weight", "rare=9")
    assert load(model).class_weight == {"rare": 9.0}
    small = model_from_files(path, class_weight={"rare": 9.0}, buffer=4096, max_iter=2)
    assert recall(small, path) > 0.5  # rows that do not fit into memory are weighed as well


def test_threshold_is_kept_in_the_model(tmp_path: Path) -> None:
    """The bias moves; Python and the commands predict by it, and training says what it gains."""
    path, model = rare_rows(tmp_path), str(tmp_path / "m.model")
    done = ran(train, path, "-o", model, "--threshold", "f1", "--calibrate", "--no-refit")
    assert "Threshold: mean F1 of the classes" in done.stdout
    plain = model_from_files(path, calibrate=True, refit=False)
    moved = Model.load(model)
    told = moved.training["threshold"]
    assert told["score"] >= told["score_at_zero"]
    unmoved = plain.weights[0, -1] + plain.training["bias_moved"]  # probabilities move it too
    assert moved.weights[0, -1] == pytest.approx(unmoved - told["value"])
    rows = [{"a": 0.4, "b": 0.1}, {"a": 2.0, "b": 1.0}]
    np.testing.assert_allclose(moved.probabilities(rows), plain.probabilities(rows))
    labels = ran(predict, model, path).stdout.split()
    batches = list(moved.rows(path))
    assert labels == [str(label) for batch in batches for label in moved.predict(batch)]
    counted = json.loads(ran(evaluate, model, path, "--json").stdout)
    assert counted["by_class"][0]["predicted"] == labels.count("rare")
    estimator = load(model)
    assert estimator.intercept_[0] == moved.deciding_weights[0, -1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--class-weight", "rare"], "'rare' is not LABEL=WEIGHT with a weight above 0"),
        (["--class-weight", "rare=0"], "'rare=0' is not LABEL=WEIGHT"),
        (
            ["--class-weight", "eggs=2"],
            "--class-weight names 'eggs', which is not a class; the classes are",
        ),
        (["--threshold", "f1", "--memory", "vote"], "is not available with --memory vote"),
        (["--threshold", "f1", "--no-intercept"], "is not available with --no-intercept"),
        (["--threshold", "roc-auc"], "'roc-auc' is not one of"),
    ],
)
def test_refusals(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    """What cannot be done is said in the words of the command."""
    done = CliRunner().invoke(train, [rare_rows(tmp_path, 60), *arguments, "-o", "-"])
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_threshold_needs_two_classes(tmp_path: Path) -> None:
    """With three classes there is no one threshold."""
    path = tmp_path / "three.csv"
    path.write_text("x,label\n" + "1,a\n2,b\n3,c\n" * 20)
    with pytest.raises(InputError, match="threshold= needs two classes; got 3"):
        model_from_files(str(path), threshold="f1")

"""The command ``export``."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from click.testing import CliRunner, Result

from rosenblatt.cli.export import export
from tests.cli.models import spam_model
from tests.cli.running import without_notice


def ran(*arguments: str) -> Result:
    """Return what the command printed and how it ended."""
    return CliRunner().invoke(export, arguments)


def test_json(tmp_path: Path) -> None:
    """JSON holds the weights by name."""
    path = spam_model(tmp_path)
    text = tmp_path / "spam.json"
    done = ran(path, "-o", str(text))
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert done.stderr == f"Wrote {text}: {text.stat().st_size:,} bytes of json.\n"
    assert "money" in json.dumps(json.loads(text.read_text()))


def test_no_output(tmp_path: Path) -> None:
    """Without a file to write the command says that it needs one."""
    done = ran(spam_model(tmp_path))
    assert done.exit_code == 2
    assert "Error: Missing option '-o' / '--output'." in done.stderr


def test_json_is_not_read_back(tmp_path: Path) -> None:
    """JSON is for others to read: no command takes it for a model."""
    text = tmp_path / "spam.json"
    ran(spam_model(tmp_path), "-o", str(text))
    done = ran(str(text), "-o", str(tmp_path / "again.onnx"))
    assert done.exit_code == 2
    assert "it is JSON, which models are exported to and not read from" in done.stderr


def test_onnx(tmp_path: Path) -> None:
    """The graph predicts as the model does."""
    target = tmp_path / "spam.onnx"
    assert ran(spam_model(tmp_path), "-o", str(target)).exit_code == 0
    session = onnxruntime.InferenceSession(target)
    labels, scores = session.run(None, {"X": np.array([[1.0, 2.0, 1.0], [2.0, 0.0, 1.0]])})
    assert list(labels) == ["ham", "spam"]
    assert scores.tolist() == [-0.25, 3.75]


def test_standard_output(tmp_path: Path) -> None:
    """Standard output gets the bytes alone, in the format that is named."""
    path = spam_model(tmp_path)
    code = "from rosenblatt.cli.export import export; export()"
    for format_ in ("json", "onnx"):
        done = subprocess.run(  # noqa: S603  # our own code
            [sys.executable, "-c", code, path, "-o", "-", "--format", format_],
            check=True,
            capture_output=True,
        )
        target = tmp_path / f"spam.{format_}"
        ran(path, "-o", str(target))
        assert done.stdout == target.read_bytes()
        assert without_notice(done.stderr.decode()) == ""


def test_told_as_json(tmp_path: Path) -> None:
    """--json tells what was written where, and does not mix with the model itself."""
    target = str(tmp_path / "spam.json")
    document = json.loads(ran(spam_model(tmp_path), "-o", target, "--json").stdout)
    assert document["file"] == target
    assert document["bytes"] == Path(target).stat().st_size
    done = ran(spam_model(tmp_path), "-o", "-", "--format", "json", "--json")
    assert done.exit_code == 2
    assert "--json and the model cannot both go to standard output" in done.stderr


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("spam.txt", "spam.txt has no ending that tells the format; add --format json or onnx."),
        ("-", "Standard output has no ending that tells the format"),
        ("nowhere/spam.json", "does not exist"),
    ],
)
def test_bad_targets(tmp_path: Path, target: str, told: str) -> None:
    """A target that cannot be written or says no format is refused, and nothing is left."""
    path = spam_model(tmp_path)
    done = ran(path, "-o", target if target == "-" else str(tmp_path / target))
    assert done.exit_code == 2
    assert told in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["spam.model"]

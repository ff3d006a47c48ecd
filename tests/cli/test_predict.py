"""The command predict: labels, scores and probabilities, as rows arrive."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.cli import main
from rosenblatt.data.batch import Batch
from rosenblatt.kernels.binary import activations
from rosenblatt.kernels.multiclass import class_scores
from rosenblatt.kernels.rows import CSR
from rosenblatt.models.model import Model
from rosenblatt.tasks.calibration import Calibration
from tests.cli.models import SPAM_ROWS, fruit_model, rows_file, spam_model
from tests.cli.running import PROGRAM
from tests.cli.test_train import table_file
from tests.models.models import linear


def predicted(*arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, ["predict", *arguments], catch_exceptions=False)


def test_labels(tmp_path: Path) -> None:
    """Each row gives one line with its label."""
    result = predicted(spam_model(tmp_path), rows_file(tmp_path, SPAM_ROWS))
    assert result.stdout == "spam\nham\nspam\nham\nham\n"
    assert result.stderr == ""


def test_control_characters_are_escaped(tmp_path: Path) -> None:
    """A label or a copied value that would move the cursor is printed by its code."""
    model = Model.load(spam_model(tmp_path))
    path = tmp_path / "odd.model"
    replace(model, classes=("ham", "spam\x1b[2J")).save(path)
    result = predicted(str(path), rows_file(tmp_path, SPAM_ROWS))
    assert result.stdout.splitlines()[:2] == [r"spam\x1b[2J", "ham"]


def test_scores(tmp_path: Path) -> None:
    """Two classes have one score, more have one each; features without a weight do not count."""
    result = predicted(spam_model(tmp_path), rows_file(tmp_path, SPAM_ROWS), "--scores")
    assert result.stdout.splitlines() == [
        *("label\tscore", "spam\t3.75", "ham\t-3.5", "spam\t0.5", "ham\t-0.25", "ham\t-1.5"),
    ]
    rows = rows_file(tmp_path, "apple 1:1 3:2\nbanana 2:1\n")
    result = predicted(fruit_model(tmp_path), rows, "--scores")
    assert result.stdout.splitlines() == [
        "label\tscore_apple\tscore_banana\tscore_cherry",
        "cherry\t2.0\t0.0\t4.0",
        "banana\t0.0\t2.0\t0.0",
    ]


def test_json_lines(tmp_path: Path) -> None:
    """--json prints one object a row."""
    calibration = Calibration(1.0, 0.0, 100)
    model = spam_model(tmp_path, calibration=calibration)
    rows = rows_file(tmp_path, SPAM_ROWS)
    lines = predicted(model, rows, "--json", "--scores", "--proba").stdout.splitlines()
    first = json.loads(lines[0])
    assert first["label"] == "spam"
    assert first["score"] == 3.75
    assert first["probabilities"]["spam"] == pytest.approx(1 / (1 + np.exp(-3.75)), abs=1e-12)
    assert json.loads(predicted(model, rows, "--json").stdout.splitlines()[1]) == {"label": "ham"}
    rows = rows_file(tmp_path, "apple 1:1\n")
    found = json.loads(predicted(fruit_model(tmp_path), rows, "--json", "--scores").stdout)
    assert found["scores"] == {"apple": 2.0, "banana": 0.0, "cherry": 0.0}


def test_no_probabilities_without_a_calibration(tmp_path: Path) -> None:
    """--proba is refused where no calibration was fitted, and says how to fit one."""
    result = predicted(spam_model(tmp_path), rows_file(tmp_path, SPAM_ROWS), "--proba")
    assert result.exit_code == 2
    assert "train it with --calibrate" in result.stderr
    assert result.stdout == ""


def test_probabilities_have_a_heading(tmp_path: Path) -> None:
    """The first line names the columns, whose probabilities sum to 1."""
    model = spam_model(tmp_path, calibration=Calibration(1.0, 0.0, 100))
    lines = predicted(model, rows_file(tmp_path, SPAM_ROWS), "--proba").stdout.splitlines()
    assert lines[0] == "label\tprobability_ham\tprobability_spam"
    assert sum(map(float, lines[1].split("\t")[1:])) == pytest.approx(1.0)


def test_the_best_classes(tmp_path: Path) -> None:
    """--top prints the best classes in order, each with its score if that is asked for."""
    rows = rows_file(tmp_path, "apple 1:1 3:2\nbanana 2:1\n")
    model = fruit_model(tmp_path)
    lines = predicted(model, rows, "--top", "2").stdout.splitlines()
    assert lines == ["label\tlabel_2", "cherry\tapple", "banana\tapple"]
    lines = predicted(model, rows, "--top", "9", "--scores").stdout.splitlines()
    assert lines[0] == "label\tscore\tlabel_2\tscore_2\tlabel_3\tscore_3"
    assert lines[1] == "cherry\t4.0\tapple\t2.0\tbanana\t0.0"
    first = json.loads(predicted(model, rows, "--top", "2", "--json").stdout.splitlines()[0])
    assert first == {"label": "cherry", "top": ["cherry", "apple"]}


def test_kept_columns_and_formats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--keep copies columns of the data; the ending of the file makes it CSV or Parquet."""
    monkeypatch.chdir(tmp_path)
    table_file(tmp_path / "table.csv")
    CliRunner().invoke(main, ["train", "table.csv"], catch_exceptions=False)
    labels = predicted("table.model", "table.csv").stdout.splitlines()
    assert predicted("table.model", "table.csv", "--keep", "city", "-o", "p.csv").exit_code == 0
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert lines[0] == "city,label"
    assert [line.split(",")[1] for line in lines[1:]] == labels
    assert predicted("table.model", "table.csv", "--keep", "city", "-o", "p.parquet").stdout == ""
    frame = pytest.importorskip("polars").read_parquet("p.parquet")
    assert frame.columns == ["city", "label"]
    assert frame["label"].to_list() == labels
    assert frame["city"].to_list() == [line.split(",")[0] or None for line in lines[1:]]
    result = predicted("table.model", "table.csv", "--keep", "colour")
    assert result.exit_code == 2
    assert "colour" in result.stderr
    result = predicted(spam_model(tmp_path), rows_file(tmp_path, SPAM_ROWS), "--keep", "id")
    assert result.stderr == "Error: --keep needs named columns; svmlight files have none.\n"


def test_bad_lines_of_a_pipe_are_answered(tmp_path: Path) -> None:
    """A line that cannot be read gets an empty label and a message, and the next ones are read."""
    model = spam_model(tmp_path)
    lines = SPAM_ROWS.splitlines()
    text = "\n".join([lines[0], "spam 1:x", lines[1], "9:", *lines[2:]])
    result = CliRunner().invoke(main, ["predict", model, "-"], input=text, catch_exceptions=False)
    assert result.exit_code == 0
    assert result.stdout.split("\n") == ["spam", "", "ham", "", "spam", "ham", "ham", ""]
    messages = [line for line in result.stderr.splitlines() if "standard input" in line]
    assert [message.split(":")[1].split(",")[:2] for message in messages] == [
        [" standard input", " line 2"],
        [" standard input", " line 4"],
    ]


def test_to_a_file(tmp_path: Path) -> None:
    """-o writes a file, whole or not at all."""
    model, target = spam_model(tmp_path), tmp_path / "labels.txt"
    predicted(model, rows_file(tmp_path, SPAM_ROWS), "-o", str(target))
    assert target.read_text().splitlines() == ["spam", "ham", "spam", "ham", "ham"]
    result = predicted(model, rows_file(tmp_path, "spam 1:1\nspam x\n"), "-o", str(target))
    assert result.exit_code == 2
    assert "rows.svm, line 2" in result.stderr
    assert target.read_text().splitlines() == ["spam", "ham", "spam", "ham", "ham"]


def test_rows_are_answered_as_they_arrive(tmp_path: Path) -> None:
    """On standard input each line is answered before the next one is written."""
    model = spam_model(tmp_path)
    with subprocess.Popen(  # noqa: S603  # our own program
        [*PROGRAM, "predict", model, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line, answer in zip(
            SPAM_ROWS.splitlines(), ("spam", "ham", "spam", "ham", "ham"), strict=True
        ):
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            assert process.stdout.readline() == f"{answer}\n"
        process.stdin.close()
        assert process.stdout.read() == ""
    assert process.returncode == 0


def test_tables_without_the_label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New rows need neither the column of the labels nor the order of the columns."""
    monkeypatch.chdir(tmp_path)
    table = Path(table_file(tmp_path / "table.csv"))
    CliRunner().invoke(main, ["train", "table.csv"], catch_exceptions=False)
    with_labels = predicted("table.model", "table.csv").stdout
    rows = [line.rsplit(",", 1)[0].split(",") for line in table.read_text().splitlines()]
    turned = "".join(f"{','.join(reversed(row))}\n" for row in rows)
    (tmp_path / "new.csv").write_text(turned)
    assert predicted("table.model", "new.csv").stdout == with_labels
    records = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    for record in records:
        record["age"] = None if record["age"] == "?" else float(record["age"])  # type: ignore[assignment]
    (tmp_path / "new.jsonl").write_text("".join(f"{json.dumps(r)}\n" for r in records))
    assert predicted("table.model", "new.jsonl").stdout == with_labels


def test_wrong_formats_and_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that the model cannot read is told by name, with what is missing."""
    monkeypatch.chdir(tmp_path)
    table_file(tmp_path / "table.csv")
    CliRunner().invoke(main, ["train", "table.csv"], catch_exceptions=False)
    (tmp_path / "short.csv").write_text("age,city\n1000,Rome\n")
    result = predicted("table.model", "short.csv")
    assert result.exit_code == 2
    assert "note" in result.stderr
    assert "short.csv" in result.stderr
    result = predicted("table.model", rows_file(tmp_path, SPAM_ROWS))
    assert result.exit_code == 2
    assert "rows.svm is svmlight" in result.stderr
    result = predicted(spam_model(tmp_path), "table.csv")
    assert result.exit_code == 2
    assert "trained on svmlight" in result.stderr


def test_models_saved_from_python_are_told_how_features_count(tmp_path: Path) -> None:
    """A model without an encoding needs to be told from where an svmlight file counts."""
    model, rows = spam_model(tmp_path, encoding=None), rows_file(tmp_path, SPAM_ROWS)
    result = predicted(model, rows)
    assert result.exit_code == 2
    assert "--zero-based or --one-based" in result.stderr
    assert predicted(model, rows, "--one-based").stdout.splitlines()[0] == "spam"


@given(seed=st.integers(0, 2**32), n_classes=st.sampled_from([2, 3, 5]))
def test_plain_scores_are_the_compiled_ones(seed: int, n_classes: int) -> None:
    """The scores of batches are the bits that the kernels give as plain Python."""
    generator = np.random.default_rng(seed)
    n_vectors, n_features = 1 if n_classes == 2 else n_classes, 30
    weights = generator.normal(size=(n_vectors, n_features + 1)) * 10.0 ** generator.integers(-3, 4)
    ledger = generator.normal(size=weights.shape) if seed % 2 else None
    model = linear("Perceptron", {}, tuple(range(n_classes)), weights, ledger, count=7)
    lengths = generator.integers(0, 25, 20)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate(
        [generator.choice(n_features + 5, n, replace=False) for n in lengths]
    ).astype(np.int32)
    batch = Batch(
        generator.normal(size=len(indices)),
        indices,
        indptr,
        np.zeros(20, np.int32),
        (0,),
        n_features + 5,
        zero_based=True,
        file="rows",
        first_line=1,
        n_lines=20,
        bytes_read=0,
    )
    below = batch.below(n_features)
    rows = CSR(below.data, below.indices, below.indptr, n_features, 1.0)
    kernel: Any = activations if n_classes == 2 else class_scores
    weights = model.deciding_weights
    plain = np.empty((20,) if n_classes == 2 else (20, n_classes))
    kernel.plain(rows, weights[0] if n_classes == 2 else weights.T.copy(), plain)
    assert model.scores(batch).tobytes() == plain.tobytes()
    assert model.answers(plain).tolist() == (
        (plain > 0).astype(int).tolist() if n_classes == 2 else plain.argmax(axis=1).tolist()
    )

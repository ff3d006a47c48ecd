"""The command ``evaluate``."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from rosenblatt.cli.baselines import TreeColumns
from rosenblatt.cli.evaluate import evaluate
from rosenblatt.cli.train import train
from rosenblatt.data.batch import join
from rosenblatt.models.model import Model
from tests.cli.models import SPAM_ROWS, fruit_model, rows_file, spam_model
from tests.cli.running import invoked

RANGE = range(1, 61)


def ran(*arguments: str, given: str | None = None) -> Result:
    """Return what the command printed and how it ended."""
    return CliRunner().invoke(evaluate, arguments, input=given)


def test_two_classes(tmp_path: Path) -> None:
    """The error comes first, with its interval, then the classes and their confusion."""
    done = ran(spam_model(tmp_path), rows_file(tmp_path, SPAM_ROWS))
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "Error 20.00% (95% interval 3.62% to 62.45%): 1 of 5 rows wrong.",
        "Baseline: always predicting ham has error 60.00%.",
        "Accuracy 80.00%, ROC AUC 0.8333, balanced accuracy 0.833, mean F1 of the classes 0.800.",
        "  read as: svmlight, features count from 1",
        "",
        "Classes",
        "class  precision  recall     F1  rows  average precision",
        "ham        0.667   1.000  0.800     2              0.833",
        "spam       1.000   0.667  0.800     3              0.917",
        "",
        "Confusion table: one line per true class, one column per predicted class",
        "      ham  spam",
        "ham     2     0",
        "spam    1     2",
    ]


def test_json(tmp_path: Path) -> None:
    """The document holds the same figures, and standard input can be judged."""
    document = json.loads(ran(spam_model(tmp_path), "-", "--json", given=SPAM_ROWS).stdout)
    assert (document["rows"], document["wrong"], document["accuracy"]) == (5, 1, 0.8)
    assert document["confusion"]["counts"] == [[2, 0], [1, 2]]
    assert document["by_class"][1]["recall"] == pytest.approx(2 / 3)
    assert document["average_precision"] == document["by_class"][1]["average_precision"]
    assert document["average_precision"] == pytest.approx(11 / 12)
    assert document["precision_recall_curve"]["precision"][-1] == 0.75


def test_how_the_file_was_read_is_said(tmp_path: Path) -> None:
    """Separator, header, the label and the kinds of columns are printed, and stand in the JSON."""
    lines = [f"{i};{i % 7};{'red' if i % 2 else 'blue'};{'yes' if i % 2 else 'no'}" for i in RANGE]
    path = rows_file(tmp_path, "\n".join(["id;size;colour;bought", *lines]), "shop.csv")
    trained = CliRunner().invoke(train, [path, "-o", str(tmp_path / "m")])
    assert trained.exit_code == 0, trained.output
    done = ran(str(tmp_path / "m"), path)
    assert [line for line in done.stdout.splitlines() if line.startswith("  ") and ":" in line] == [
        "  read as: csv, separator ';', with a header",
        "  label: 'bought', as in training",
        "  numbers: 1: 'size'",
        "  categories: 1: 'colour'",
        "  left out: 'id': as in training",
    ]
    found = json.loads(ran(str(tmp_path / "m"), path, "--json").stdout)["decisions"]
    assert (found["separator"], found["header"], found["label"]) == (";", True, "bought")
    assert found["columns"] == {"numeric": ["size"], "category": ["colour"]}
    assert found["left_out"] == {"id": "as in training"}


def test_unknown_labels(tmp_path: Path) -> None:
    """Classes that the model does not know are warned of and count as wrong."""
    done = ran(spam_model(tmp_path), rows_file(tmp_path, "ham 2:1\neggs 1:1\n"))
    assert "1 row with labels unknown to the model count as wrong: eggs." in done.stderr
    assert "1 of 2 rows wrong" in done.stdout
    assert "eggs    0     1" in done.stdout


def test_many_classes(tmp_path: Path) -> None:
    """More classes than a table can show have their most frequent confusions listed."""
    rows = rows_file(tmp_path, "banana 1:1\n" * 3 + "cherry 2:1\napple 1:1\nbanana 2:1\n")
    done = ran(fruit_model(tmp_path, 13), rows)
    lines = done.stdout.splitlines()
    start = lines.index("Most frequent confusions (--json has all)")
    assert lines[start + 1 :] == [
        "class   predicted as  rows  of the class",
        "banana  apple            3        75.00%",
        "cherry  banana           1       100.00%",
    ]
    many = ran(fruit_model(tmp_path, 40), rows).stdout
    assert "The 3 classes of 40 with the lowest F1" in many


def test_max_error(tmp_path: Path) -> None:
    """An error above the limit exits with 1, below with 0; shares may be in per cent."""
    arguments = (spam_model(tmp_path), rows_file(tmp_path, SPAM_ROWS))
    assert ran(*arguments, "--max-error", "20%").exit_code == 0
    done = ran(*arguments, "--max-error", "0.1", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["error_is_low_enough"] is False
    assert "The error, 20.00%, is above 10.00%." in done.stderr
    done = ran(*arguments, "--max-error", "5")
    assert done.exit_code == 2
    assert "'5' is not a share between 0 and 1; write for example 0.05 or 5%." in done.stderr


def test_most_frequent(tmp_path: Path) -> None:
    """Guessing the most frequent class of training is compared on the same rows."""
    arguments = (spam_model(tmp_path), rows_file(tmp_path, SPAM_ROWS), "--against", "most-frequent")
    done = ran(*arguments)
    assert "always ham  60.00%  23.07% to 88.24%  could be chance, p = 0.500" in done.stdout
    (other,) = json.loads(ran(*arguments, "--json").stdout)["against"]
    assert (other["wrong"], other["only_model_wrong"], other["only_other_wrong"]) == (3, 0, 2)
    without = spam_model(tmp_path, training={})
    done = ran(without, *arguments[1:])
    assert done.exit_code == 2
    assert "does not store how often each class occurred" in done.stderr


def generated(n: int, seed: int) -> str:
    """Return rows whose class is the sign of money − meeting."""
    rng = np.random.default_rng(seed)
    lines = []
    for money, meeting in rng.integers(0, 9, (n, 2)):
        label = "spam" if money > meeting else "ham"
        lines.append(f"{label} 1:{money} 2:{meeting} 5:1\n")
    return "".join(lines)


@pytest.mark.parametrize("learner", ["perceptron", "logistic-regression", "linear-svc"])
def test_against_scikit_learn(tmp_path: Path, learner: str) -> None:
    """A linear model of scikit-learn learns from the files of training, and is judged alike."""
    train = rows_file(tmp_path, generated(300, 0), "train.svm")
    test = rows_file(tmp_path, generated(200, 1), "test.svm")
    counts = {"files": [train], "class_counts": [150, 150]}
    # It says spam where 2·money > meeting + 0.5, hence is wrong on many rows.
    path = spam_model(tmp_path, training=counts)
    done = ran(path, test, "--against", learner, "--json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    (other,) = document["against"]
    assert other["error"] < 0.1 < document["error"]
    assert other["only_model_wrong"] - other["only_other_wrong"] == (
        document["wrong"] - other["wrong"]
    )
    assert other["mcnemar_p"] < 1e-6
    text = ran(path, test, "--against", learner, "--train", train)
    assert "model worse, p < 0.001" in text.stdout
    assert "scikit-learn trains on 300 rows" in text.stderr


def test_nothing_to_learn_from(tmp_path: Path) -> None:
    """Without files the scikit-learn models ask for --train, which nothing else takes."""
    arguments = (spam_model(tmp_path), rows_file(tmp_path, SPAM_ROWS))
    done = ran(*arguments, "--against", "perceptron")
    assert done.exit_code == 2
    assert "scikit-learn models with --train." in done.stderr
    done = ran(*arguments, "--train", "x.svm")
    assert done.exit_code == 2
    assert "--train has no effect without" in done.stderr
    one_class = rows_file(tmp_path, "ham 1:1\nham 2:1\n", "one.svm")
    done = ran(*arguments, "--against", "perceptron", "--train", one_class)
    assert done.exit_code == 2
    assert "scikit-learn's Perceptron cannot be trained on these rows" in done.stderr


def test_folds(tmp_path: Path) -> None:
    """With --folds the options of train are judged, without a model; mean and interval first."""
    lines = "".join(f"{i % 5},{'yes' if i % 5 > 2 or i == 1 else 'no'}\n" for i in range(60))
    path = rows_file(tmp_path, f"size,bought\n{lines}", "shop.csv")
    done = ran(path, "--folds", "4", "--no-early-stopping", "--rule", "pa1")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Error ")
    assert "mean of 4 folds, averaged passive-aggressive learner (PA-I)." in done.stdout
    assert "of 60 rows wrong" in done.stdout
    found = json.loads(ran(path, "--folds", "4", "--metric", "f1", "--json").stdout)
    assert len(found["folds"]) == 4
    assert found["rows"] == 60
    assert found["interval_95"][0] <= found["mean"] <= found["interval_95"][1]
    assert ran(path, "--folds", "4", "--max-error", "0", "--max-iter", "1").exit_code == 1
    for arguments, sentence in (
        ([path, "--rule", "pa1"], "--rule has no effect without --folds."),
        ([path], "Missing argument 'DATA'"),
        ([path, "--folds", "3", "--against", "most-frequent"], "are not available with --folds"),
    ):
        assert sentence in ran(*arguments).stderr


def test_against_trees(tmp_path: Path) -> None:
    """Trees see the columns: numbers with what is missing, categories as such, and no bins."""
    generator = np.random.default_rng(0)
    lines = []
    for _ in range(600):
        a, b, kind = generator.normal(), generator.normal(), generator.choice(["u", "v", "w"])
        label = "yes" if a * b * (1 if kind == "u" else -1) > 0 else "no"
        lines.append(f"{'' if generator.random() < 0.05 else f'{a:.3f}'},{b:.3f},{kind},{label}\n")
    (tmp_path / "train.csv").write_text("a,b,kind,y\n" + "".join(lines[:400]))
    (tmp_path / "test.csv").write_text("a,b,kind,y\n" + "".join(lines[400:]))
    assert invoked("train", "train.csv", "--label", "y", "--bins", "5").exit_code == 0
    done = ran("train.model", "test.csv", "--against", "hist-gradient-boosting", "--json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    (other,) = document["against"]
    assert other["title"] == "HistGradientBoostingClassifier"
    assert other["error"] < 0.25 < document["error"]
    model = Model.load("train.model")
    rows = join(list(model.rows(["train.csv"])))
    columns = TreeColumns(model, rows)
    assert columns.categorical.tolist() == [False, False, True]
    values = columns(rows)
    given = [line.split(",") for line in lines[:400]]
    assert np.isnan(values[:, 0]).tolist() == [a == "" for a, *_ in given]
    assert len({(kind, code) for (*_, kind, _), code in zip(given, values[:, 2], strict=True)}) == 3


def test_trees_without_columns(tmp_path: Path) -> None:
    """A model of texts alone has nothing for trees, which is said."""
    rows = "".join(f"a {word} film no. {i},{label}\n" for i in range(20) for word, label in FILMS)
    (tmp_path / "films.csv").write_text(f"review,y\n{rows}")
    assert invoked("train", "films.csv", "--text", "review", "--label", "y").exit_code == 0
    done = ran("films.model", "films.csv", "--against", "hist-gradient-boosting")
    assert done.exit_code == 2
    assert "Error: Trees take no texts, and the model has no other columns" in done.stderr


FILMS = (("fine", "yes"), ("dull", "no"))

"""Commands on rows that may have several labels."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from rosenblatt.kernels.shapes import matrix_of
from rosenblatt.models.model import Model
from rosenblatt.models.rows import input_rows
from rosenblatt.wording import percent
from tests.cli.running import invoked
from tests.models.test_labels import LABELS, TEXTS, indicator, made, written


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Train a model on a table with several labels a row."""
    folder = tmp_path_factory.mktemp("tags")
    path = str(folder / "tags.model")
    given = ["--label", "tags", "--label-separator", ";", "--text", "text", "--calibrate"]
    labels, texts = made(100, seed=5)
    (folder / "test").mkdir()
    test = written(folder / "test", "tsv", labels, texts)
    done = invoked("train", written(folder, "tsv"), *given, "-o", path, "--test", test)
    assert done.exit_code == 0, done.stderr
    assert "400 rows, " in done.stdout
    assert "4 labels (game: " in done.stdout
    assert "label: 'tags', as you said; several a row, separated by ';'" in done.stdout
    assert "; these rows chose the thresholds, so new data may do worse." in done.stdout
    assert f"On 100 rows of {test}: micro F1 " in done.stdout
    assert "Baseline: always predicting " in done.stdout
    return path


def test_predictions(model: str, tmp_path: Path) -> None:
    """Labels stand on one line with the separator of training, in JSON as a list."""
    labels, texts = made(60, seed=6)
    data = written(tmp_path, "tsv", labels, texts)
    sets = Model.load(model).predict(texts).tolist()
    assert () in sets
    assert invoked("predict", model, data).stdout == "".join(f"{';'.join(one)}\n" for one in sets)
    lines = invoked("predict", model, data, "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [{"labels": list(one)} for one in sets]
    invoked("predict", model, data, "-o", str(tmp_path / "said.parquet"))
    said = pl.read_parquet(tmp_path / "said.parquet")
    assert said["labels"].to_list() == [";".join(one) for one in sets]


def test_the_best_labels_and_their_probabilities(model: str, tmp_path: Path) -> None:
    """--top gives the best labels of each row, --proba the probability of each by itself."""
    data = written(tmp_path, "tsv", LABELS[:20], TEXTS[:20])
    found = Model.load(model)
    scores, shares = found.scores(TEXTS[:20]), found.probabilities(TEXTS[:20])
    heading, *lines = invoked("predict", model, data, "--top", "3", "--scores").stdout.splitlines()
    assert heading.split("\t") == ["label", "score", "label_2", "score_2", "label_3", "score_3"]
    best = [min(zip((-row).tolist(), found.classes, strict=True)) for row in scores]
    assert [line.split("\t")[:2] for line in lines] == [[name, repr(-s)] for s, name in best]
    heading, *lines = invoked("predict", model, data, "--proba").stdout.splitlines()
    assert heading.split("\t") == ["labels", *(f"probability_{one}" for one in found.classes)]
    assert [float(line.split("\t")[1]) for line in lines] == shares[:, 0].tolist()
    assert shares.sum(axis=1).max() > 1.2  # each by itself


def test_against_others(model: str, tmp_path: Path) -> None:
    """A classifier of scikit-learn for each label, and the usual labels, are judged alike."""
    labels, texts = made(200, seed=8)
    labels[0].append("strange")
    data = written(tmp_path, "tsv", labels, texts)
    (tmp_path / "train").mkdir()
    train = written(tmp_path / "train", "tsv")
    against = ("--against", "linear-svc", "--against", "most-frequent", "--train", train)
    document = json.loads(invoked("evaluate", model, data, *against, "--json").stdout)
    found = Model.load(model)
    rows, test = (
        matrix_of(encoded.csr(found.n_features, 0.0)).toarray()
        for encoded in (input_rows(found, TEXTS), input_rows(found, texts))
    )
    clf = OneVsRestClassifier(LinearSVC()).fit(rows, indicator(LABELS))
    said = clf.predict(test)
    truth, own = indicator(labels), indicator(found.predict(texts).tolist())
    right = [(one == truth).all(axis=1) & (np.arange(200) > 0) for one in (said, own)]
    linear, usual = document["against"]
    assert linear["wrong"] == 200 - right[0].sum()
    assert linear["micro"]["f1"] == pytest.approx(f1_score(truth, said, average="micro"), abs=2e-3)
    assert linear["only_model_wrong"] == (right[0] & ~right[1]).sum()
    assert linear["only_other_wrong"] == (right[1] & ~right[0]).sum()
    assert linear["precision_at"] == {}
    assert usual["title"] == f"always {document['baseline']['labels'][0]}"
    assert usual["micro"]["f1"] == pytest.approx(document["baseline"]["micro_f1"])
    shown = invoked("evaluate", model, data, *against).stdout
    assert "Comparison on the same rows (p: McNemar's test)" in shown
    assert "always " in shown
    assert "micro F1" in shown.split("Comparison")[1]


def test_evaluation(model: str, tmp_path: Path) -> None:
    """Figures of all labels, a baseline, and a line for each label."""
    labels, texts = made(60, seed=6)
    data = written(tmp_path, "tsv", labels, texts)
    done = invoked("evaluate", model, data)
    assert done.stdout.startswith("60 rows: micro F1 0.")
    assert "precision at 1 0." in done.stdout
    assert "label  precision  recall     F1  F1 of always  rows" in done.stdout
    report = json.loads(invoked("evaluate", model, data, "--json").stdout)
    found = Model.load(model).evaluate(data)
    assert report["micro"] == found.report()["micro"]
    assert report["baseline"]["micro_f1"] < report["micro"]["f1"]
    assert [one["label"] for one in report["by_label"]] == list(found.classes)
    assert invoked("evaluate", model, data, "--max-error", "1%").exit_code == 1
    assert invoked("evaluate", model, data, "--max-error", "99%").exit_code == 0


def test_training_goes_on(model: str, tmp_path: Path) -> None:
    """--from learns new rows, and labels that come up."""
    labels, texts = made(60, seed=7)
    labels[30] = [*labels[30], "new"]
    data, path = written(tmp_path, "tsv", labels, texts), str(tmp_path / "on.model")
    done = invoked("train", data, "--from", model, "-o", path)
    assert done.exit_code == 0
    assert "New labels were learned: new." in done.stderr
    exact = Model.load(model).training["held_out_labels"]["exact_match"]
    assert f"had an error of {percent(1.0 - exact)} on 400 held-out rows" in done.stdout
    assert "Error, the share without exactly their labels, of new rows" in done.stdout
    assert Model.load(path).classes == ("game", "gui", "mail", "new", "perl")


def test_report_and_picture(model: str, tmp_path: Path) -> None:
    """A report judges labels on test rows, and a picture shows the weights of one of them."""
    labels, texts = made(60, seed=6)
    data, page = written(tmp_path, "tsv", labels, texts), tmp_path / "tags.html"
    done = invoked("report", model, "--test", data, "-o", str(page))
    assert done.exit_code == 0, done.stderr
    told = json.loads(invoked("evaluate", model, data, "--json").stdout)
    figures = f"micro F1 {told['micro']['f1']:.3f}, "
    assert f"Test: {figures}" in done.stdout
    shown = page.read_text(encoding="utf-8")
    right, found = (f"{100 * told['micro'][name]:.0f}" for name in ("precision", "recall"))
    sentence = f"of 100 labels that it gives, {right} are right; it finds {found} of 100; "
    assert f"On 60 test rows: {sentence}" in shown
    assert "Rows with a label furthest on the wrong side of its threshold" in shown
    assert re.search(r"Row \d+: .+ taken for ", shown)
    invoked("report", model, "-o", str(page))
    assert "which chose its thresholds" in page.read_text(encoding="utf-8")
    picture = tmp_path / "weights.svg"
    assert invoked("plot", "weights", model, "--class", "mail", "-o", str(picture)).exit_code == 0
    assert "against mail" in picture.read_text(encoding="utf-8")


def test_labels_are_explained(model: str, tmp_path: Path) -> None:
    """Weights stand label by label; the score of the best label, or of a chosen one, is told."""
    found = Model.load(model)
    data = written(tmp_path, "tsv", [("game", "perl")], ["game perl"])
    shown = invoked("weights", model).stdout
    assert "4 labels, " in shown
    assert "Label mail: " in shown
    assert "Speaks against mail" in shown
    told = json.loads(invoked("explain", model, data, "--class", "mail", "--json").stdout)
    scores = dict(zip(found.classes, found.scores(["game perl"])[0].tolist(), strict=True))
    assert told["scores"] == pytest.approx(scores)
    assert told["label"] == ["game", "perl"]
    assert told["predicted"] == [*found.predict(["game perl"])[0]]
    assert (told["positive"], told["negative"]) == ("mail", None)
    assert told["total"] == pytest.approx(scores["mail"])
    shown = invoked("explain", model, data).stdout
    best = max(scores, key=lambda name: scores[name])
    assert f"The score of {best} is +" in shown
    assert "Its labels are game and perl." in shown
    assert f"negative ones against {best}" in shown


def test_folds(tmp_path: Path) -> None:
    """The options of train are judged by folds: figures of all rows, and their standard errors."""
    data = [written(tmp_path, "tsv"), "--label", "tags", "--label-separator", ";", "--folds", "3"]
    data += ["--text", "text"]
    shown = invoked("evaluate", *data).stdout
    assert shown.startswith("Error ")
    assert "% (rows without exactly their labels, 95% interval " in shown
    assert "mean of 3 folds, averaged passive-aggressive learner (PA-I)." in shown
    assert "400 rows: micro F1 0." in shown
    assert "Standard errors over the folds: micro F1 0.0" in shown
    told = json.loads(invoked("evaluate", *data, "--json", "--metric", "f1").stdout)
    assert told["mean"] == pytest.approx(sum(told["folds"]) / 3)
    assert told["micro"]["f1"] > 0.85
    assert 0.0 < told["standard_errors"]["micro"]["f1"] < 0.1
    assert [one["label"] for one in told["by_label"]] == ["game", "gui", "mail", "perl"]
    assert invoked("evaluate", *data, "--max-error", "1%").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["plot", "confusion", "MODEL", "--test", "DATA", "-o", "OUT.svg"],
            "gives a row any number of labels, and this needs exactly one",
        ),
        (["explain", "MODEL", "DATA", "--why"], "train it with --record-mistakes"),
        (
            ["plot", "errors", "MODEL", "--class", "mail", "-o", "OUT.svg"],
            "for all labels together",
        ),
        (["plot", "roc", "LINES", "-o", "OUT.svg"], "needs exactly one: choose it with --class"),
        (["plot", "roc", "MODEL", "--class", "x", "-o", "OUT.svg"], "knows no label 'x'; it knows"),
        (
            ["plot", "roc", "LINES", "--test", "LINES", "--class", "x", "-o", "OUT.svg"],
            "has the label 'x'; there are game, gui, mail and",
        ),
        (
            ["plot", "roc", "MODEL", "--label-separator", ";", "--class", "mail", "-o", "OUT.svg"],
            "--label-separator has no effect for a model",
        ),
        (["trace", "LINES", "--class", "x"], "has the label 'x'; there are game, gui, mail and"),
        (["train", "DATA", "--label", "tags", "--goal", "each"], "--goal each is for rows with"),
        (
            ["tune", "DATA", "--label", "tags", "--label-separator", ";", "--metric", "f1"],
            "--metric f1 is not available where a row may have several labels",
        ),
        (
            ["tune", "DATA", "--label", "tags", "--label-separator", ";", "--threshold", "f1"],
            "--threshold is not available where a row may have several labels",
        ),
        (
            ["diagnose", "LINES", "--format", "fasttext"],
            "have any number of labels, and this needs exactly one",
        ),
    ],
)
def test_what_needs_one_label_says_so(
    model: str, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    """A sentence in the words of commands, and no model is written."""
    labels = [[own[0]] if own else ["none"] for own in LABELS]
    files = {"MODEL": model, "DATA": written(tmp_path, "tsv", labels)}
    files["LINES"] = written(tmp_path, "txt")
    done = invoked(*(files.get(one, one) for one in arguments))
    assert done.exit_code == 2
    assert sentence in done.stderr


@pytest.mark.parametrize(
    "kind",
    [
        *("boundary", "regions", "projections", "contributions", "coverage"),
        *("precision-recall", "roc", "reliability", "confusion"),
    ],
)
def test_pictures_of_one_label(model: str, tmp_path: Path, kind: str) -> None:
    """Rows with a label against the others, as the model of several predicts it."""
    labels, texts = made(60, seed=6)
    data, picture = written(tmp_path, "tsv", labels, texts), str(tmp_path / "one.svg")
    how = ["--class", "mail", "-o", picture, "--json"]
    done = invoked("plot", kind, model, "--test", data, *how)
    assert done.exit_code == 0, done.stderr
    if kind == "confusion":
        said = json.loads(done.stdout)["shows"]
        own = Model.load(model)
        above = own.scores(texts)[:, own.classes.index("mail")] > own.thresholds[2]
        wrong = sum(("mail" in one) != found for one, found in zip(labels, above, strict=True))
        assert f"{wrong} of 60 rows are wrong" in said


def test_rows_of_one_label(tmp_path: Path) -> None:
    """diagnose, trace and pictures of data take rows with a label against the others."""
    lines, table = written(tmp_path, "txt"), written(tmp_path, "tsv")
    options = ["--label", "tags", "--label-separator", ";"]
    n_own = sum("game" in own for own in LABELS)
    told = json.loads(invoked("diagnose", lines, "--class", "game", "--json").stdout)
    again = json.loads(invoked("diagnose", table, *options, "--class", "game", "--json").stdout)
    assert told["status"] == again["status"]
    steps = invoked("trace", table, *options, "--class", "game", "--max-iter", "1", "--json").stdout
    sides = [json.loads(step)["y"] for step in steps.splitlines() if "activation" in step]
    assert sides == ["game" if "game" in own else "(not game)" for own in LABELS]
    assert sides.count("game") == n_own
    picture = str(tmp_path / "roc.svg")
    how = ["--class", "game", "-o", picture, "--memory", "average"]
    done = invoked("plot", "roc", table, *options, *how)
    assert "a row of game scores above another row" in done.stdout, done.stderr


def test_pruning(model: str, tmp_path: Path) -> None:
    """A smaller file gives nearly the same labels, by the same thresholds."""
    labels, texts = made(60, seed=8)
    data, path = written(tmp_path, "tsv", labels, texts), str(tmp_path / "small.model")
    done = invoked("prune", model, "--max-size", "12k", "-o", path, "--test", data)
    assert done.exit_code == 0, done.stderr
    assert "Probabilities were left out" in done.stdout
    assert "Test rows without exactly their labels: " in done.stdout
    whole, small = (Model.load(one) for one in (model, path))
    assert Path(path).stat().st_size <= 12 << 10 < Path(model).stat().st_size
    assert small.n_features < whole.n_features
    same = [a == b for a, b in zip(whole.predict(texts), small.predict(texts), strict=True)]
    assert sum(same) >= 55


def test_export(model: str, tmp_path: Path) -> None:
    """Both exports take such models."""
    pytest.importorskip("onnx")
    for name in ("tags.json", "tags.onnx"):
        assert invoked("export", model, "-o", str(tmp_path / name)).exit_code == 0
    document = json.loads((tmp_path / "tags.json").read_text())
    assert document["described"]["labels"] == "each"
    assert len(document["arrays"]["thresholds"]["values"]) > 0

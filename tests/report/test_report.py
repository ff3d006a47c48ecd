"""The report from Python."""

import re
from collections import defaultdict
from fractions import Fraction
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.metrics import average_precision_score

from rosenblatt import (
    AveragedPerceptron,
    MultilabelClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
    VotedPerceptron,
    why,
)
from rosenblatt.errors import InputError
from rosenblatt.models.train import model_from_files
from rosenblatt.report import html_report, write_report
from rosenblatt.report.findings import findings
from rosenblatt.report.page import page as page_of
from rosenblatt.tasks.evaluation import Evaluation
from tests.report.pages import Page

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def breast_cancer() -> Page:
    """Return the page on a model of real rows, judged by others."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    names = np.array(["malignant", "benign"])[y]
    X = (X - X.mean()) / X.std()
    model = AveragedPerceptron(max_iter=5, record_mistakes=True).fit(X[:400], names[:400])
    return Page(
        html_report(
            model, X[400:], names[400:], X_train=X[:400], y_train=names[:400], name="cancer"
        )
    )


def test_all_parts() -> None:
    """With training and test rows the page has every part, well formed."""
    page = breast_cancer()
    assert page.headings == [
        "Summary",
        "Test",
        "Verdict",
        "Data",
        "Training",
        "Weights",
        "Hardest rows",
        "Survival",
        "Parameters",
    ]


def test_numbers_are_the_models() -> None:
    """Errors, confusion and class counts are those that plain counting gives."""
    X, y = load_iris(return_X_y=True)
    model = AveragedPerceptron(max_iter=3).fit(X, y)
    page = Page(html_report(model, X, y, X_train=X, y_train=y))
    predicted = model.predict(X)
    confusion = page.tables[
        "Confusion table: one line per true class, one column per predicted class"
    ]
    counts = [[int(cell) for cell in line[1:]] for line in confusion[1:]]
    assert counts == [
        [int(((y == true) & (predicted == guess)).sum()) for guess in range(3)] for true in range(3)
    ]
    wrong = int((predicted != y).sum())
    assert f"{wrong} of 150 rows wrong" in page.words
    assert [line[:2] for line in page.tables["Classes"][1:]] == [
        ["0", "50"],
        ["1", "50"],
        ["2", "50"],
    ]


def test_hardest_rows() -> None:
    """The wrong row with the largest activation comes first, with what decided and taught it."""
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (60, 3)).astype(float)
    y = np.where(X @ [1, 2, -1] + rng.normal(0, 4, 60) > 0, "b", "a")
    model = Perceptron(max_iter=4, record_mistakes=True, shuffle=False)
    model.fit(X, y)
    page = Page(html_report(model, X, y, X_train=X, y_train=y))
    scores = model.decision_function(X)
    wrong = np.flatnonzero(model.predict(X) != y)
    worst = int(wrong[np.abs(scores[wrong]).argmax()])
    first = re.search(r"Row ([0-9,]+): (\w) taken for (\w), which was ([0-9.]+) ahead", page.words)
    assert first is not None
    assert first.groups()[:3] == (str(worst + 1), y[worst], {"a": "b", "b": "a"}[y[worst]])
    assert float(first[4]) == abs(scores[worst])
    predicted = first[3]
    way = 1 if predicted == "b" else -1
    terms = why(model, X, X[worst]).terms
    for caption, side in (
        (f"Training rows that taught it to answer {predicted}", way),
        ("Training rows that taught it the opposite", -way),
    ):
        expected = [f"row {term.row + 1}" for term in terms if side * term.amount > 0]
        lines = page.tables[caption][1:]
        assert [line[0] for line in lines] == expected[: len(lines)]
        assert lines


@pytest.mark.parametrize("goal", ["each", "ranking"])
def test_hardest_rows_of_several_labels(goal: str) -> None:
    """Each wrong row is told by the label furthest on the wrong side, with what taught it."""
    rng = np.random.default_rng(1)
    X = rng.normal(0, 2, (90, 3))
    has = X + rng.normal(0, 2, X.shape) > 1
    names = np.array(["red", "round", "soft"])
    given = [set(names[row].tolist()) for row in has]
    model = MultilabelClassifier(
        rule="perceptron", goal=goal, memory="last", max_iter=4, record_mistakes=True
    ).fit(X[:60], given[:60])
    page = Page(html_report(model, X[60:], given[60:], X_train=X[:60], y_train=given[:60]))
    lead = model.decision_function(X[60:]) - model.thresholds_
    truth, said = has[60:], model.predict(X[60:]).astype(bool)
    leads = np.where(said == truth, -np.inf, np.where(said, lead, -lead))
    label, furthest = leads.argmax(axis=1), leads.max(axis=1)
    order = [k for k in np.argsort(-furthest, kind="stable").tolist() if furthest[k] >= 0][:8]
    expected = []
    for k in order:
        sides = [f"(not {names[label[k]]})", str(names[label[k]])]
        is_, taken = int(truth[k, label[k]]), int(said[k, label[k]])
        expected.append((str(k + 1), sides[is_], sides[taken]))
    shown = re.findall(r"Row ([0-9,]+): (.+?) taken for (.+?), which", page.words)
    assert shown == expected
    own, answer = str(names[label[order[0]]]), expected[0][2]
    way = 1 if answer == own else -1
    terms = why(model, X[:60], X[60 + order[0]], own).terms
    lines = page.tables[f"Training rows that taught it to answer {answer}"][1:]
    taught = [f"row {term.row + 1}" for term in terms if way * term.amount > 0]
    assert [line[0] for line in lines] == taught[: len(lines)]
    assert lines
    counts = Page(html_report(model, X_train=X[:60], y_train=given[:60])).tables["Labels"][1:]
    assert sorted(line[:2] for line in counts) == [
        [name, str(n)] for name, n in zip(names, has[:60].sum(axis=0), strict=True)
    ]


def test_votes() -> None:
    """A voted perceptron has a curve of error against coverage, and survival from the start on."""
    X, y = load_iris(return_X_y=True)
    model = VotedPerceptron(max_iter=2).fit(X[::2], y[::2])
    page = Page(html_report(model, X[1::2], y[1::2]))
    wrong = model.predict(X[1::2]) != y[1::2]
    assert f"{wrong.sum()} of 75 rows wrong" in page.words
    assert f"{wrong.mean():.2%} of 75 rows are wrong; of the most certain half" in page.words
    assert f"{len(model.survival_):,} weight vectors: the zero vector" in page.words
    assert "these are the average weights" in page.words
    assert "What decided" not in page.words  # a vote is no sum of terms


def test_inseparable() -> None:
    """The proof that no line separates XOR is on the page."""
    y = ["even", "odd", "odd", "even"]
    model = Perceptron(max_iter=3).fit(XOR, y)
    page = Page(html_report(model, XOR, y, X_train=XOR, y_train=y))
    proof = "Proof: these mixtures of rows of the two classes are the same point"
    assert "Inseparable." in page.words
    assert {(line[0], line[1], line[2]) for line in page.tables[proof][1:]} == {
        ("even", "1", "1/2"),
        ("even", "4", "1/2"),
        ("odd", "2", "1/2"),
        ("odd", "3", "1/2"),
    }


def test_inseparable_machine() -> None:
    """The proof for three classes adds up: each class gives and takes the same rows."""
    pinwheel = [[-10, -10], [100, -10], [14, -4], [-41, 92], [-4, 14], [-59, -82]]
    X, y = np.array(pinwheel), list("aabbcc")
    model = AveragedPerceptron(max_iter=2).fit(X, y)
    page = Page(html_report(model, X_train=X, y_train=y))
    lines = next(rows for caption, rows in page.tables.items() if "cancels" in caption)[1:]
    given: dict[str, Fraction] = defaultdict(Fraction)
    taken: dict[str, Fraction] = defaultdict(Fraction)
    for label, rival, _, weight in lines:
        given[label] += Fraction(weight)
        taken[rival] += Fraction(weight)
    assert given == taken
    assert given


def test_nothing_but_a_model() -> None:
    """Without any rows the page says what it does not know and how to find out."""
    model = Perceptron().fit([[0.0], [1.0]], ["no", "yes"])
    page = Page(html_report(model))
    assert "No test data were given." in page.words
    assert "the last pass made no mistake, which proves it" in page.words


def test_labels_are_escaped() -> None:
    """Names that look like markup are shown, not obeyed."""
    X = np.array([[0.0], [1.0], [0.5]])
    labels = ["<script>alert(1)</script>", 'b" onload="x', "<script>alert(1)</script>"]
    model = Perceptron().fit(X, labels)
    html = html_report(model, X, labels[::-1], name="<b>bold</b>")
    page = Page(html)
    assert not any(tag == "script" or name == "onload" for tag, name, _ in page.attributes)
    assert "<script" not in html
    assert "<b>bold" not in html


def test_needs_nothing_from_outside() -> None:
    """No address is fetched: nothing but the names of XML vocabularies looks like one."""
    X, y = load_iris(return_X_y=True)
    model = AveragedPerceptron(max_iter=3, record_mistakes=True).fit(X, y)
    html = html_report(model, X, y, X_train=X, y_train=y)
    page = Page(html)
    for tag, name, value in page.attributes:
        if name.startswith("xmlns"):
            continue
        assert name not in ("src", "srcset", "action"), tag
        assert "//" not in (value or ""), (tag, name, value)
        if name in ("href", "xlink:href"):
            assert (value or "").startswith("#"), value
    assert "@import" not in html
    assert "url(" not in html.replace("url(#", "")


def test_same_rows_same_page(tmp_path: Path) -> None:
    """Equal models give equal pages, save for the seconds that passes took."""
    X, y = load_iris(return_X_y=True)
    pages = []
    for name in ("one.html", "two.html"):
        model = AveragedPerceptron(max_iter=3, record_mistakes=True).fit(X, y)
        write_report(model, tmp_path / name, X, y)
        html = (tmp_path / name).read_text(encoding="utf-8")
        pages.append(re.sub(r'<td class="number">[0-9.]+</td>', "", html))
    assert pages[0] == pages[1]


def test_other_columns() -> None:
    """Rows with another number of columns are refused."""
    model = Perceptron().fit([[0.0], [1.0]], ["no", "yes"])
    with pytest.raises(InputError, match="X has 2 features; the model was trained on 1"):
        html_report(model, [[0.0, 1.0]], ["no"])


def test_summary() -> None:
    """Three sentences say what it is, how good it is beside the commonest class, what decides."""
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = AveragedPerceptron(max_iter=3).fit(X[::2], names[::2])
    page = Page(html_report(model, X[1::2], names[1::2], X_train=X[::2], y_train=names[::2]))
    wrong = model.predict(X[1::2]) != names[1::2]
    summary = page.words.split("Summary")[1].split("Test")[0]
    assert "sorts rows into 3 classes; it was trained on 75 rows with 4 features." in summary
    assert f"It is wrong on {wrong.mean():.2%} of 75 test rows" in summary
    assert "always answering setosa, the most common class, would be wrong on 66.67%" in summary
    assert "Most often it takes" in summary
    assert "This linear model sorts" in summary
    assert "AveragedPerceptron" not in summary


def test_results_as_counts() -> None:
    """Of two classes the summary counts rows of the rarer one that are found, and false alarms."""
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["malignant", "benign"])[y]
    model = PassiveAggressiveClassifier(max_iter=3).fit(X[:400], names[:400])
    html = html_report(model, X[400:], names[400:], X_train=X[:400], y_train=names[:400])
    words, guess, true = Page(html).words, model.predict(X[400:]), names[400:]
    ill = true == "malignant"
    hits, alarms = (ill & (guess == true)).sum(), (~ill & (guess != true)).sum()
    assert f"Of {ill.sum()} rows of malignant, {hits} are found" in words
    assert f"{alarms} of {(~ill).sum()} rows of benign" in words
    assert "The strongest evidence for malignant: “feature " in words
    assert "mistakes allowed" not in words  # the theorem is on perceptrons
    assert "mistakes made" not in words


@pytest.mark.parametrize("named", [True, False])
def test_pictures_of_pixels(named: bool) -> None:
    """Rows and weights are drawn as pictures where the features are their pixels."""
    X, y = load_digits(return_X_y=True, as_frame=named)
    X = X if named else X.astype(float)
    if named:
        X.columns = [f"r{k // 8}c{k % 8}" for k in range(64)]
    model = Perceptron(max_iter=1).fit(X[:900], y[:900])
    page = Page(html_report(model, X[900:], y[900:]))
    drawn = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "aria-label")]
    assert [*map(str, range(10))] == drawn[-18:-8]
    assert all(str(value).endswith("as a picture") for value in drawn[-8:])


def test_the_held_out_error_before_and_after_the_bias_moved(tmp_path: Path) -> None:
    """Where probabilities moved the bias, both held-out errors are told apart."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    y = (X @ [1.0, 1.0, 0.5] + rng.normal(size=4000) * 2 > 2.0).astype(int)
    data = tmp_path / "rows.csv"
    np.savetxt(data, np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="")
    kept = "last"
    model = model_from_files(str(data), label="y", calibrate=True, rule="perceptron", memory=kept)
    found = findings(model)
    words = Page(page_of(found)).words
    after, before = model.training["held_out_error"], found.error_before_bias
    assert before is not None
    n_wrong = round(after * model.training["held_out_rows"])
    assert f"It is wrong on {after:.2%} ({n_wrong}) of the" in words
    assert f"({before:.2%} before the bias was moved)" in words
    assert f"before the bias was moved on held-out rows (then {after:.2%})" in words


def test_labels_that_the_model_does_not_know() -> None:
    """Labels written otherwise than in training are told of, and not only counted as wrong."""
    X = np.array([[0.0], [1.0], [0.2], [0.9]])
    model = Perceptron().fit(X, ["no", "yes", "no", "yes"])
    words = Page(html_report(model, X, ["no.", "yes.", "no.", "yes."])).words
    assert "All test rows have labels that the model does not know (no. and yes.)" in words
    assert "it knows no and yes" in words
    assert "no better than" not in words
    assert "Its error on new rows is unknown: no test label is known." in words
    assert "Precision and recall" not in words


def test_a_feature_that_gives_the_label_away() -> None:
    """A column that is a copy of the label is named; honest columns are not."""
    rng = np.random.default_rng(0)
    honest = rng.normal(size=(200, 3))
    y = np.where(honest @ [1.0, 1.0, -1.0] + rng.normal(size=200) > 0, "b", "a")
    copied = np.column_stack([honest, y == "b"]).astype(float)
    for X, warned in ((honest, False), (copied, True)):
        model = AveragedPerceptron(max_iter=20).fit(X, y)
        assert ("The feature feature 3 alone tells b" in html_report(model, X, y)) == warned


def test_thousands_of_updates_are_lines_and_no_image() -> None:
    """The survival of many weight vectors is drawn with shapes alone, a few thousand at most."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    y = rng.integers(0, 2, 1500)
    model = VotedPerceptron(max_iter=8).fit(X, y)
    html = html_report(model)
    assert len(model.survival_) > 4000
    assert "<image" not in html
    assert html.count("<use") < 8000


def test_precision_recall_and_no_folders(tmp_path: Path) -> None:
    """Two classes have a precision-recall curve; files are named without their folders."""
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.column_stack([X[:, :4].round(3), y])[::4]
    data = tmp_path / "cells.csv"
    np.savetxt(data, rows, delimiter=",", header="a,b,c,d,benign", comments="", fmt="%.3f")
    model = model_from_files(str(data), label="benign", calibrate=True)
    rows_again = model.rows([str(data)])
    found = findings(model, name="cells", test=rows_again, test_names=(str(data),))
    html = page_of(found)
    assert str(tmp_path) not in html
    assert "cells.csv" in html
    words = Page(html).words
    assert isinstance(found.evaluation, Evaluation)
    scores = found.evaluation.scores_for(1)
    expected = average_precision_score(scores[1], scores[0])
    assert f"average precision {expected:.3f}" in words
    assert "percentage points off on average" in words
    assert "Precision and recall" in Page(html).tables
    passes = model.training["refit_passes"]
    assert f"Then the model was fitted to all {len(rows)} rows in {passes} pass" in words
    assert "has the weights of pass" not in words


def test_columns_are_drawn_over_their_values(tmp_path: Path) -> None:
    """A model of a table has a picture of what each column adds; one of arrays has none."""
    rows = [
        f"{i % 7},{'red' if i % 3 else 'blue'},{'yes' if i % 7 > 3 else 'no'}" for i in range(90)
    ]
    path = tmp_path / "toys.csv"
    path.write_text("\n".join(["size,colour,sold", *rows, ""]))
    html = html_report(model_from_files(str(path)))
    assert "Columns" in Page(html).headings
    assert "'colour' adds" in unescape(html)
    assert "What 2 columns" not in html  # the line of a number is its weight
    assert "Columns" not in breast_cancer().headings

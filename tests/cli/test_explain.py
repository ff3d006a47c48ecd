"""The command ``explain``."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from rosenblatt.cli.explain import explain
from rosenblatt.models.file import write
from rosenblatt.tasks.calibration import Calibration
from tests.cli.models import SPAM_ROWS, fruit_model, numbered, rows_file, spam_model
from tests.cli.running import invoked
from tests.data.reading import read_svmlight
from tests.models.models import linear


def ran(*arguments: str, given: str | None = None) -> Result:
    """Return what the command printed and how it ended."""
    return CliRunner().invoke(explain, arguments, input=given)


def test_two_classes(tmp_path: Path) -> None:
    """The terms are listed by size and add up to the score, which is compared with the label."""
    done = ran(spam_model(tmp_path), rows_file(tmp_path, SPAM_ROWS), "--row", "4")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "Row 4: ham, score -0.2500. The label is ham: right.",
        "",
        "Positive contributions speak for spam, negative ones for ham",
        "feature  value   weight  weight × value",
        "money        1   +2.000          +2.000",
        "meeting      2   -1.000          -2.000",
        "the          1  +0.2500         +0.2500",
        "(bias)                          -0.5000",
        "= score                         -0.2500",
    ]


def test_rest_in_one_line(tmp_path: Path) -> None:
    """What -n leaves out is summed; features that the model never met are told."""
    path, rows = spam_model(tmp_path), rows_file(tmp_path, SPAM_ROWS)
    lines = ran(path, rows, "--row", "4", "-n", "1").stdout.splitlines()
    assert lines[-3].split() == ["(2", "other", "features)", "-1.750"]
    done = ran(path, rows, "--row", "5")
    assert "The label is spam: wrong." in done.stdout
    assert "1 feature of the row did not occur in the training data." in done.stderr


def test_standard_input(tmp_path: Path) -> None:
    """The first row that arrives on standard input is explained."""
    done = ran(spam_model(tmp_path), "-", given="ham 1:1\n")
    assert "Row 1: spam, score +1.500. The label is ham: wrong." in done.stdout


def test_several_classes(tmp_path: Path) -> None:
    """The lead over the runner-up is explained."""
    rows = rows_file(tmp_path, "banana 1:1 2:4 3:3\n")
    done = ran(fruit_model(tmp_path), rows)
    assert "Row 1: banana, lead over cherry +2.000. The label is banana: right." in done.stdout
    assert "Positive contributions speak for banana, negative ones for cherry" in done.stdout
    assert "apple" not in done.stdout
    document = json.loads(ran(fruit_model(tmp_path), rows, "--json").stdout)
    assert document["scores"] == {"apple": 2.0, "banana": 8.0, "cherry": 6.0}


def test_a_wrong_row_is_set_against_its_label(tmp_path: Path) -> None:
    """What spoke for the class that was predicted, and what for the label."""
    model, rows = (
        fruit_model(tmp_path),
        rows_file(tmp_path, "apple 1:1 2:4 3:3\nplum 1:1 2:4 3:3\n"),
    )
    done = ran(model, rows)
    assert "Row 1: banana, lead over apple +6.000. The label is apple: wrong." in done.stdout
    assert "Positive contributions speak for banana, negative ones for apple" in done.stdout
    assert "cherry" not in done.stdout
    done = ran(model, rows, "--row", "2")  # a label that the model does not know
    assert "Row 2: banana, lead over cherry +2.000. The label is plum: wrong." in done.stdout
    done = ran(model, rows, "--class", "apple")
    assert "lead over banana of apple -6.000" in done.stdout


@pytest.mark.parametrize("n_vectors", [1, 4])
def test_scores_are_those_predicted(tmp_path: Path, n_vectors: int) -> None:
    """The score of a row is, bit for bit, the one that the model gives it among other rows."""
    rng = np.random.default_rng(n_vectors)
    W = rng.normal(size=(n_vectors, 41))
    classes = ("a", "b", "c", "d")[: max(n_vectors, 2)]
    model = linear("Perceptron", {}, classes, W, encoding=numbered(40))
    write(model, tmp_path / "some.model")
    lines = []
    for _ in range(6):
        chosen = np.sort(rng.choice(45, 23, replace=False)) + 1  # some that the model lacks
        lines.append(f"a {' '.join(f'{j}:{rng.normal()}' for j in chosen)}\n")
    rows = rows_file(tmp_path, "".join(lines))
    expected = model.scores(read_svmlight(rows, zero_based=False)).tolist()
    for i, score in enumerate(expected):
        done = ran(str(tmp_path / "some.model"), rows, "--row", str(i + 1), "--json")
        document = json.loads(done.stdout)
        found = document["score"] if n_vectors == 1 else [*document["scores"].values()]
        assert found == score
        features = [int(entry.partition(":")[0]) for entry in lines[i].split()[1:]]
        assert document["n_unknown"] == sum(feature > 40 for feature in features)


def test_json(tmp_path: Path) -> None:
    """The document has all terms, which add up to the total, scores and probabilities."""
    path = spam_model(tmp_path, calibration=Calibration(2.0, 0.5, 40))
    done = ran(path, rows_file(tmp_path, SPAM_ROWS), "--row", "4", "-n", "1", "--json")
    document = json.loads(done.stdout)
    assert (document["label"], document["predicted"], document["score"]) == ("ham", "ham", -0.25)
    amounts = [term["amount"] for term in document["terms"]]
    assert math.fsum([*amounts, document["bias"]]) == document["total"] == -0.25
    assert document["probabilities"] == {"ham": 0.5, "spam": 0.5}
    assert document["terms"][1] == {
        "feature": 1,
        "name": "meeting",
        "value": 2.0,
        "weight": -1.0,
        "amount": -2.0,
        "raw": None,
        "uncertainty": None,
    }


def test_no_such_row(tmp_path: Path) -> None:
    """A row beyond the end is answered with how many there are."""
    rows = rows_file(tmp_path, SPAM_ROWS)
    done = ran(spam_model(tmp_path), rows, "--row", "9")
    assert done.exit_code == 2
    assert done.stderr == f"Error: Row 9 does not exist; {rows} has 5 rows.\n"


def test_words_in_their_sentence(tmp_path: Path) -> None:
    """The words of a text stand where they stand in it, with their shares of the score."""
    rows = "".join(f"A {word} film no. {i},{label}\n" for i in range(100) for word, label in WORDS)
    (tmp_path / "films.csv").write_text(f"review,liked\n{rows}")
    trained = invoked(
        "train", "films.csv", "--text", "review", "--no-word-pairs", "--label", "liked"
    )
    assert trained.exit_code == 0, trained.output
    done = ran("films.model", "films.csv", "--row", "2", "-n", "1")
    weight = re.search(r"dull +\S+ +\S+ +\S+ +(-\S+)\n", done.stdout)
    assert weight is not None
    assert f"\nreview: A dull ({weight[1]}) film no. 0\n" in done.stdout


WORDS = (("fine", "yes"), ("dull", "no"))


def test_constants_are_not_listed(tmp_path: Path) -> None:
    """A feature that all training rows share is summed up, and values that are all 1 left out."""
    rows = "".join(f"{'uv'[i % 2]},same,{'no' if i % 2 else 'yes'}\n" for i in range(100))
    (tmp_path / "toy.csv").write_text(f"side,all,y\n{rows}")
    trained = invoked("train", "toy.csv", "--category", "all,side", "--label", "y")
    assert trained.exit_code == 0, trained.output
    lines = ran("toy.model", "toy.csv").stdout.splitlines()
    assert lines[3].split() == ["feature", "weight", "contribution"]
    assert lines[4].startswith("side=u ")
    assert lines[5].startswith("(1 constant feature) ")
    assert lines[6].startswith("(bias) ")

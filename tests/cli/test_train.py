"""The command train: from a file to a model."""

import json
import re
import signal
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from rosenblatt.cli.options import seconds_of
from rosenblatt.data.encoding import encoding_from
from rosenblatt.data.files import table_batches
from rosenblatt.estimators import PassiveAggressiveClassifier
from rosenblatt.estimators.storage import load
from rosenblatt.models.file import read
from tests.cli.running import invoked, ran, run, signalled
from tests.data.reading import read_svmlight


def trained(*arguments: str) -> dict[str, Any]:
    """Train, and return the report as JSON has it."""
    result = invoked("train", *arguments, "--json")
    assert result.exit_code == 0, result.output
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def svmlight_file(path: Path, n_rows: int = 300, seed: int = 0, labels: Any = (-1, 1)) -> str:
    """Write rows that a linear model all but separates."""
    generator = np.random.default_rng(seed)
    w = np.random.default_rng(99).normal(size=(len(labels), 12))
    lines = []
    for _ in range(n_rows):
        features = np.sort(generator.choice(12, 5, replace=False))
        values = generator.integers(-4, 5, 5)
        label = labels[int((w[:, features] @ values).argmax())]
        entries = " ".join(f"{j + 1}:{x}" for j, x in zip(features, values, strict=True))
        lines.append(f"{label} {entries}\n")
    path.write_text("".join(lines))
    return str(path)


def test_no_options_at_all(tmp_path: Path) -> None:
    """A file is all that train needs, and it says what a person wants to see."""
    svmlight_file(tmp_path / "toy.svm")
    output = ran("train", "toy.svm", folder=tmp_path)
    assert re.match(
        r"Error on \d+ held-out rows: \S+% \(\d+ wrong\), 95% interval \S+% to \S+% \(always ",
        output,
    )
    assert "\ntoy.svm: 300 rows, 12 features, 2 classes (-1: " in output
    for part in ("\nAveraged passive-aggressive learner (PA-I): 10 passes over all", "toy.model ("):
        assert part in output
    assert not {"Mistakes per pass", "Training ended", "Verdict: unknown"} & set(
        re.findall("Mistakes per pass|Training ended|Verdict: unknown", output)
    )
    assert "rosenblatt evaluate toy.model TEST.svm" in output
    assert "\x1b" not in output
    model = read("toy.model")
    assert model.learner == "PassiveAggressiveClassifier"
    assert model.training["held_out_error"] < 0.2


@pytest.mark.parametrize("labels", [(-1, 1), ("a", "b", "c")])
def test_the_weights_are_those_of_fit(tmp_path: Path, labels: Any) -> None:
    """In the order of the file, the model is the one that the estimator trains on the same rows."""
    path = svmlight_file(tmp_path / "toy.svm", labels=labels)
    options = ["--shuffle", "no", "--no-early-stopping", "--max-iter", "7", "-o", "toy.model"]
    trained(path, *options)
    rows = read_svmlight(path)
    from scipy import sparse

    X = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.n_rows, 12))
    direct = PassiveAggressiveClassifier(shuffle=False, max_iter=7).fit(X, rows.label_values())
    loaded = load("toy.model")
    assert loaded.coef_.tobytes() == direct.coef_.tobytes()
    assert loaded.intercept_.tobytes() == direct.intercept_.tobytes()
    assert loaded.classes_.tolist() == direct.classes_.tolist()
    assert [r.mistakes for r in loaded.history_] == [r.mistakes for r in direct.history_]
    assert (loaded.predict(X) == direct.predict(X)).all()


@pytest.mark.parametrize(
    ("options", "learner", "expected"),
    [
        ([], "PassiveAggressiveClassifier", {"C": 1.0, "loss": "hinge", "average": True}),
        (["--memory", "average"], "AveragedPerceptron", {"eta0": 1.0, "margin": 0.0}),
        (["--memory", "last", "--eta0", "0.5"], "Perceptron", {"eta0": 0.5}),
        (["--rule", "margin", "--margin", "2"], "AveragedPerceptron", {"margin": 2.0}),
        (["--rule", "pa"], "PassiveAggressiveClassifier", {"C": float("inf"), "average": True}),
        (
            ["--rule", "pa1", "-C", "0.1", "--memory", "last"],
            "PassiveAggressiveClassifier",
            {"C": 0.1, "loss": "hinge", "average": False},
        ),
        (["--rule", "pa2"], "PassiveAggressiveClassifier", {"loss": "squared_hinge", "C": 1.0}),
    ],
)
@pytest.mark.filterwarnings("ignore:PassiveAggressiveClassifier stopped after max_iter")
def test_rules_and_memories(
    tmp_path: Path, options: list[str], learner: str, expected: dict[str, Any]
) -> None:
    """Every rule and memory trains, and is loaded in Python as the estimator that it is."""
    path = svmlight_file(tmp_path / "toy.svm")
    trained(path, *options, "-o", "m.model", "--shuffle", "no", "--no-early-stopping")
    loaded = load("m.model")
    assert type(loaded).__name__ == learner
    for name, value in expected.items():
        assert getattr(loaded, name) == value
    rows = read_svmlight(path)
    from scipy import sparse

    X = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.n_rows, 12))
    again = type(loaded)(**loaded.get_params()).fit(X, rows.label_values())
    assert again.coef_.tobytes() == loaded.coef_.tobytes()


@pytest.mark.parametrize("labels", [("spam", "ham"), (1, 2, 3)])
def test_small_buffers_give_the_same_model(tmp_path: Path, labels: Any) -> None:
    """In the order of the file, a stream of many blocks trains the model of memory, bit for bit."""
    path = svmlight_file(tmp_path / "toy.svm", n_rows=2000, labels=labels)
    for name, size in (("whole", "64M"), ("blocks", "4K")):
        trained(path, "--shuffle", "no", "--buffer", size, "--no-early-stopping", "-o", name)
    whole, blocks = read("whole"), read("blocks")
    assert whole.weights.tobytes() == blocks.weights.tobytes()
    assert whole.ledger is not None
    assert blocks.ledger is not None
    assert whole.ledger.tobytes() == blocks.ledger.tobytes()


def test_seeds(tmp_path: Path) -> None:
    """The same seed gives the same model, another seed another one, in small buffers too."""
    path = svmlight_file(tmp_path / "toy.svm", n_rows=1000)
    for size in ("64M", "4K"):
        found = []
        for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
            trained(path, "--seed", seed, "--buffer", size, "-o", name)
            found.append(read(name).weights.tobytes())
        assert found[0] == found[1] != found[2]


def test_several_files_patterns_and_packed_ones(tmp_path: Path) -> None:
    """Files given by name or by a pattern, packed or not, are one training."""
    import gzip

    path = Path(svmlight_file(tmp_path / "whole.svm"))
    lines = path.read_bytes().splitlines(keepends=True)
    (tmp_path / "part-1.svm").write_bytes(b"".join(lines[:100]))
    (tmp_path / "part-2.svm.gz").write_bytes(gzip.compress(b"".join(lines[100:])))
    trained("whole.svm", "-o", "a.model")
    trained("part-*", "-o", "b.model")
    assert read("a.model").weights.tobytes() == read("b.model").weights.tobytes()


def test_standard_input_and_output(tmp_path: Path) -> None:
    """With - data come from standard input and the model goes to standard output."""
    path = Path(svmlight_file(tmp_path / "toy.svm"))
    ran("train", "toy.svm", "-o", "a.model", folder=tmp_path)
    options = ["train", "-", "-o", "b.model", "--json"]
    report = json.loads(ran(*options, folder=tmp_path, text=path.read_text()))
    assert report["n_rows"] == 300
    assert read("a.model").weights.tobytes() == read("b.model").weights.tobytes()


TABLE = """\
age,city,note,label
{rows}"""


def table_file(path: Path, n_rows: int = 200) -> str:
    """Write a table with numbers, categories, texts and missing values."""
    generator = np.random.default_rng(3)
    lines = []
    for i in range(n_rows):
        age = int(generator.integers(18, 80))
        city = ["Rome", "Oslo", "Lima"][int(generator.integers(3))]
        good = age > 45
        note = f"a {'good' if good else 'bad'} day in the town number {i}"
        age_text = "?" if i % 17 == 5 else str(age * 1000)
        lines.append(f"{age_text},{city},{note},{'yes' if good else 'no'}\n")
    path.write_text(TABLE.format(rows="".join(lines)))
    return str(path)


def test_a_table_of_numbers_categories_and_texts(tmp_path: Path) -> None:
    """Columns of a CSV file become features with names, scaled, and missing values are no harm."""
    table_file(tmp_path / "table.csv")
    report = trained("table.csv", "--recipe", "plain")
    model = read("table.model")
    assert model.encoding is not None
    encoding = encoding_from(model.encoding, model.encoding_arrays)
    names = encoding.names(range(model.n_features))
    assert names[0] == "age"
    assert {"city=Rome", "city=Oslo", "age is missing", "note: good", "note: good day"} <= {*names}
    assert report["classes"] == ["no", "yes"]
    assert report["held_out_error"] < 0.1
    assert invoked("evaluate", "table.model", "table.csv", "--max-error", "5%").exit_code == 0
    assert model.spread is not None
    assert model.spread.deviation[0] == pytest.approx(1.0, abs=0.05)  # scaled


@pytest.mark.parametrize("buffer", ["2K", "64M"])
def test_tables_are_scaled_by_all_rows(tmp_path: Path, buffer: str) -> None:
    """Mean and deviation are those of the whole file, also where it is read in many blocks."""
    path = table_file(tmp_path / "table.csv", n_rows=1000)
    trained(path, "--buffer", buffer, "-o", "m.model")
    model = read("m.model")
    assert model.encoding is not None
    (table,) = table_batches(path)
    ages = [float(age) for age in table.frame["age"] if age != "?"]
    statistics = encoding_from(model.encoding, model.encoding_arrays).statistics  # type: ignore[union-attr]
    assert statistics.mean[0] == pytest.approx(np.mean(ages), rel=1e-12)
    assert statistics.deviation[0] == pytest.approx(np.std(ages), rel=1e-9)


def test_the_label_column_can_be_named(tmp_path: Path) -> None:
    """--label says which column holds the labels; a wrong name is told with those there are."""
    (tmp_path / "t.csv").write_text(
        "x,y1,y2\n" + "".join(f"{i},{i % 2},{i % 3}\n" for i in range(60))
    )
    assert trained("t.csv", "--label", "y1")["classes"] == [0, 1]
    assert trained("t.csv", "--label", "y2", "--ignore", "y1")["n_features"] == 1
    result = invoked("train", "t.csv", "--label", "colour")
    assert result.exit_code == 2
    assert "colour" in result.stderr
    assert "y1" in result.stderr


def test_columns_by_number_and_in_lists(tmp_path: Path) -> None:
    """Columns of a file without a header are named by numbers, by --names, and several at once."""
    lines = [f"{i % 5},{i % 3},{'uv'[i % 2]},{i % 7},{['no', 'yes'][i % 2]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    (tmp_path / "names.txt").write_text("rooms\nfloors\nside\nage\nsold\n")
    for label in ("5", "-1"):
        report = trained("t.csv", "--label", label, "--category", "1,2", "--ignore", "column_3")
        assert report["decisions"]["label"] == "column_5"
        assert report["decisions"]["columns"] == {
            "category": ["column_1", "column_2"],
            "numeric": ["column_4"],
        }
    named = ("t.csv", "--names", "names.txt", "--label", "sold", "--weight", "age")
    found = trained(*named, "--ignore", "side, floors", "--category", "rooms", "--force")
    assert found["decisions"]["columns"] == {"category": ["rooms"]}
    assert [*found["decisions"]["left_out"]] == ["floors", "side"]
    assert (found["decisions"]["header"], found["decisions"]["weight"]) == (False, "age")
    assert invoked("predict", "t.model", "t.csv", "--names", "names.txt").exit_code == 0
    result = invoked("train", "t.csv", "--label", "6")
    assert result.exit_code == 2
    assert (
        "t.csv has no column '6', named by --label. The file has 5 columns: 'col" in result.stderr
    )
    (tmp_path / "few.txt").write_text("rooms\nfloors\n")
    result = invoked("train", "t.csv", "--names", "few.txt")
    assert result.exit_code == 2
    assert "5 columns" in result.stderr
    assert "--names" in result.stderr


def test_calibration(tmp_path: Path) -> None:
    """--calibrate fits probabilities on held-out rows, and predict --proba gives them."""
    svmlight_file(tmp_path / "toy.svm", n_rows=2000)
    trained("toy.svm", "--calibrate")
    lines = invoked("predict", "toy.model", "toy.svm", "--proba").stdout.splitlines()
    assert lines[0] == "label\tprobability_-1\tprobability_1"
    rows = [line.split("\t") for line in lines[1:]]
    assert len(rows) == 2000
    shares = np.array([[float(share) for share in row[1:]] for row in rows])
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert all(
        (share[1] > 0.5) == (row[0] == "1")
        for row, share in zip(rows, shares, strict=True)
        if abs(share[1] - 0.5) > 0.2
    )


def test_test_rows(tmp_path: Path) -> None:
    """--test judges the model by other rows."""
    svmlight_file(tmp_path / "toy.svm")
    svmlight_file(tmp_path / "more.svm", seed=1)
    report = trained("toy.svm", "--test", "more.svm")
    evaluated = json.loads(invoked("evaluate", "toy.model", "more.svm", "--json").stdout)
    assert report["test"]["error"] == evaluated["error"]
    assert report["test"]["rows"] == 300


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nothing.svm"], "There is no file nothing.svm."),
        (["broken.svm"], "broken.svm, line 3, column 3"),
        (["one.svm"], "All 5 rows have the label 1"),
        (["empty.svm"], "empty"),
        (
            ["toy.svm", "--rule", "perceptron", "-C", "2"],
            "-C has no effect with --rule perceptron; use it with --rule pa1, pa2, scw1 or scw2.",
        ),
        (["toy.svm", "--rule", "pa1", "-C", "0"], "-C must be a number above 0"),
        (["toy.svm", "--buffer", "many"], "'many' is not a size"),
        (["toy.svm", "-o", "nowhere/m.model"], "nowhere/m.model cannot be written"),
        (
            ["toy.svm", "--cache", "nowhere", "--buffer", "1K"],
            "The folder nowhere of --cache does not exist.",
        ),
        (["-", "--checkpoint", "c"], "--checkpoint needs files"),
        (["toy.svm", "few.csv"], "few.csv is csv, but toy.svm is svmlight"),
        (["few.svm", "--calibrate"], "too few rows to hold any out"),
    ],
)
def test_bad_input(tmp_path: Path, arguments: list[str], told: str) -> None:
    """What cannot be done ends with code 2 and a sentence, and writes nothing."""
    svmlight_file(tmp_path / "toy.svm")
    svmlight_file(tmp_path / "few.svm", n_rows=20)
    (tmp_path / "broken.svm").write_text("1 1:1\n0 1:2\n1 x:1\n")
    (tmp_path / "one.svm").write_text("1 1:1\n" * 5)
    (tmp_path / "empty.svm").write_text("")
    (tmp_path / "few.csv").write_text("a,b\n1,2\n3,4\n")
    before = sorted(tmp_path.rglob("*"))
    result = invoked("train", *arguments)
    assert result.exit_code == 2
    assert told in result.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_default_name_never_replaces_other_files(tmp_path: Path) -> None:
    """Without -o a model is replaced by a new one, but nothing else is."""
    svmlight_file(tmp_path / "toy.svm")
    trained("toy.svm")
    trained("toy.svm")
    Path("toy.model").write_text("my notes")
    result = invoked("train", "toy.svm")
    assert result.exit_code == 2
    assert (
        "toy.model already exists and is not a model; choose another output file with -o."
        in result.stderr
    )
    assert Path("toy.model").read_text() == "my notes"


def test_interrupt_keeps_what_was_learned(tmp_path: Path) -> None:
    """Ctrl-C in a long training ends it after the block under way, and the model is written."""
    path = svmlight_file(tmp_path / "toy.svm", n_rows=2000)
    options = ("--max-iter", "1000000", "--no-early-stopping", "--memory", "last", "--buffer", "9K")
    kept = ("--checkpoint", "point", "--checkpoint-every", "0", "-o", "m.model")
    ended = signalled(signal.SIGINT, "point", 3, "train", path, *options, *kept, folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "it was interrupted" in ended.stdout
    assert "The same command resumes from point." in ended.stderr
    assert read(tmp_path / "m.model").outcome["stop_reason"] == "interrupted"


def test_every_option_has_a_help_text() -> None:
    """The help of train explains each option."""
    from rosenblatt.cli.train import train as command

    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name
    assert run("train", "--help", folder=Path.cwd()).returncode == 0


def test_bad_rows_are_skipped_when_asked(tmp_path: Path) -> None:
    """The error names the option that goes on; with it bad rows are counted, shown and kept."""
    path = tmp_path / "dirty.csv"
    path.write_text("a,b,label\n1,2,x\n3,oops\n4,5,y\n1,2,x\n4,5,y\n")
    result = invoked("train", str(path), "-o", "m.model")
    assert result.exit_code == 2
    assert "dirty.csv, line 3: 2 fields where 3 were expected" in result.stderr
    assert "--bad-rows skip" in result.stderr
    result = invoked(
        *("train", str(path), "--bad-rows", "skip", "--max-bad-share", "0.5", "-o", "m.model")
    )
    assert result.exit_code == 0, result.stderr
    assert "Skipped 1 row that could not be read" in result.stderr
    assert "label: 'label', by its name" in result.stdout
    assert read("m.model").training["bad_rows"]["count"] == 1


def test_what_was_decided_is_said(tmp_path: Path) -> None:
    """Separator, header, label and kinds of columns are printed, and stand in the JSON."""
    table_file(tmp_path / "table.csv")
    result = invoked("train", "table.csv", "-o", "m.model")
    assert "read as: csv, separator ',', with a header" in result.stdout
    assert "texts: 1: 'note'" in result.stdout
    assert read("m.model").training["decisions"]["columns"]["text"] == ["note"]


def test_the_ending_of_the_format_alone_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two files that differ before the ending make two models."""
    monkeypatch.chdir(tmp_path)
    for year in (2024, 2025):
        table_file(tmp_path / f"sales.{year}.csv")
        assert invoked("train", f"sales.{year}.csv").exit_code == 0
    assert {path.name for path in tmp_path.glob("*.model")} == {
        "sales.2024.model",
        "sales.2025.model",
    }


def test_another_model_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of other data needs -o or --force; training the same data again needs neither."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    table_file(tmp_path / "sales.csv")
    table_file(tmp_path / "a" / "sales.csv")
    assert invoked("train", "sales.csv").exit_code == 0
    assert invoked("train", "sales.csv").exit_code == 0
    before = (tmp_path / "sales.model").read_bytes()
    result = invoked("train", "a/sales.csv")
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: sales.model already exists and holds another model trained on sales.csv; choose "
        "another output file with -o, or replace it with --force.\n"
    )
    assert (tmp_path / "sales.model").read_bytes() == before
    assert invoked("train", "a/sales.csv", "-o", "sales.model").exit_code == 0
    assert invoked("train", "sales.csv", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["-o", "nowhere/a.model"], "nowhere does not exist."),
        (["-o", "."], ". cannot be written: it is a folder; name a file in it."),
        (["--test", "missing.csv"], "There is no file missing.csv."),
        (["--checkpoint", "nowhere/point"], "nowhere does not exist."),
        (["--cache", "nowhere"], "The folder nowhere of --cache does not exist."),
    ],
)
def test_paths_are_checked_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], sentence: str
) -> None:
    """A path that would fail in the end stops the command before it reads a row."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.svm").write_text("no rows at all: this would be an error of reading\n")
    result = invoked("train", "broken.svm", *options)
    assert result.exit_code == 2
    assert result.stderr.endswith(f"{sentence}\n")
    assert not [*tmp_path.glob("*.model")]


def test_held_out_rows_that_chose_the_pass(tmp_path: Path) -> None:
    """The error on held-out rows has an interval, and it is said that they chose the pass."""
    data = table_file(tmp_path / "table.csv")
    result = invoked("train", data, "-o", str(tmp_path / "m"))
    line = next(line for line in result.stdout.splitlines() if line.startswith("Error on"))
    assert re.search(
        r"held-out rows?: [0-9.]+% \([0-9,]+ wrong\), 95% interval [0-9.]+% to [0-9.]+% \(always ",
        line,
    )
    sentence = (
        "  Judged by the best of [0-9]+ passes over the other [0-9]+ rows; these rows chose the "
        r"pass, so new data may do worse\. The model then learned from all [0-9]+ rows in "
        r"[0-9]+ pass(es)?\.\n"
    )
    assert re.search(sentence, result.stdout)
    result = invoked("train", data, "-o", str(tmp_path / "m"), "--no-refit")
    assert "  Judged by the model, the best of " in result.stdout
    assert "learned from all" not in result.stdout


@pytest.mark.parametrize("option", ["--calibrate", "--threshold=f1"])
def test_the_error_has_the_rows_that_it_was_counted_on(tmp_path: Path, option: str) -> None:
    """Where few rows are held out, all are in turn, and others than the model judge them."""
    draw = np.random.default_rng(0)
    X, noise = draw.normal(size=(400, 2)), draw.normal(size=400)
    rows = [f"{a:.3f},{b:.3f},{a + e > 0.5}\n" for (a, b), e in zip(X, noise, strict=True)]
    (tmp_path / "few.csv").write_text("a,b,label\n" + "".join(rows))
    result = invoked("train", "few.csv", option, "--json")
    found = json.loads(result.stdout)
    assert (found["held_out_rows"], found["held_out_by"]) == (400, {"folds": 5})
    wrong = found["held_out_error"] * 400
    assert wrong == pytest.approx(round(wrong))
    output = invoked("train", "few.csv", option).stdout
    assert output.startswith("Error on 400 held-out rows, in turn in 5 folds: ")
    assert (
        "  Judged by 5 trainings, each on the rows of the other folds; these rows chose the bias, "
        "so new data may do worse. The model then learned from all 400 rows in "
    ) in output


def test_one_training_prints_one_held_out_error(tmp_path: Path) -> None:
    """Errors of texts and recipes that were tried, on other rows, stand under --verbose."""
    draw = np.random.default_rng(0)
    words = draw.choice(["red", "green", "blue", "fast", "slow", "old"], (1200, 4))
    labels = np.where((words == "red").any(axis=1) ^ (draw.random(1200) < 0.1), "yes", "no")
    lines = [f"{' '.join(own)}\t{y}\n" for own, y in zip(words, labels, strict=True)]
    (tmp_path / "texts.tsv").write_text("text\tlabel\n" + "".join(lines))
    output = invoked("train", "texts.tsv").stdout
    assert len(re.findall("held-out rows?:", output)) == 1
    assert "  texts: words\n" in output
    assert "  recipe: plain" in output
    assert "tried" not in output
    output = invoked("train", "texts.tsv", "--verbose").stdout
    assert re.search(
        r"  texts: words\n  tried: 6 recipes, judged on [0-9,]+ rows that they had not seen", output
    )
    assert re.search(
        r"  recipe: .*\n  tried: [0-9]+ recipes, judged on [0-9,]+ rows that they had not seen",
        output,
    )


def test_going_on_with_a_model(tmp_path: Path) -> None:
    """--from prints the error on new rows on the way, and leaves the old model as it is."""
    svmlight_file(tmp_path / "toy.svm")
    svmlight_file(tmp_path / "more.svm", n_rows=100, seed=1)
    trained("toy.svm")
    before = (tmp_path / "toy.model").read_bytes()
    result = invoked("train", "--from", "toy.model", "more.svm", "--test", "toy.svm")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[1] == "Error on new rows, each predicted before it is learned:"
    assert " ".join(lines[2].split()) == "rows error since last features label -> predicted"
    assert [int(line.split()[0]) for line in lines[3:11]] == [1, 2, 4, 8, 16, 32, 64, 100]
    assert "Error on 300 rows of toy.svm: " in result.stdout
    assert "Model: more.model" in result.stdout
    assert (tmp_path / "toy.model").read_bytes() == before
    assert read("more.model").count == read("toy.model").count + 100
    again = invoked("train", "--from", "toy.model", "toy.svm")
    assert again.exit_code == 2
    assert "toy.model already exists; choose another output file with -o" in again.stderr
    assert (tmp_path / "toy.model").read_bytes() == before
    report = trained("--from", "toy.model", "more.svm", "-o", "m.model")
    assert report["progressive"][-1]["n_rows"] == 100
    assert report["began_with"] == ["toy.svm"]
    refused = invoked("train", "--from", "toy.model", "more.svm", "--rule", "pa1", "-o", "m.model")
    assert refused.exit_code == 2
    assert "--rule cannot be used with --from" in refused.stderr
    assert invoked("weights", "m.model").exit_code == 0
    assert invoked("explain", "m.model", "more.svm").exit_code == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--rule", "arow"], ": 5 passes over all 4,000 rows, as AROW makes by default."),
        (["--rule", "pa1"], " over all 4,000 rows, the number that held-out rows chose."),
        (["--no-refit"], ", of which held-out rows chose pass "),
        (["--no-early-stopping", "--max-iter", "3"], "(PA-I): 3 passes.\n"),
        (["--time-limit", "0.000001"], "; the time limit was reached (--time-limit)"),
        (
            ["--validation-fraction", "0.01"],
            ": 10 passes over all 4,000 rows, since too few rows were held out to choose a number.",
        ),
    ],
    ids=" ".join,
)
def test_how_many_passes(tmp_path: Path, options: list[str], told: str) -> None:
    """One line says how many passes made the model and why; --verbose says what each did."""
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(4000, 3))
    labels = np.where(rows.sum(axis=1) + generator.normal(size=4000) > 0, "a", "b")
    lines = [f"{x[0]:.3f},{x[1]:.3f},{x[2]:.3f},{y}\n" for x, y in zip(rows, labels, strict=True)]
    (tmp_path / "toy.csv").write_text("p,q,r,y\n" + "".join(lines))
    arguments = ("train", "toy.csv", "--bins", "0", *options, "-o", "m.model")
    output = invoked(*arguments).stdout
    assert told in output
    assert "Mistakes per pass" not in output
    assert "Verdict" not in output
    output = invoked(*arguments, "--verbose").stdout
    assert told in output
    assert "Training ended because " in output
    assert "  Mistakes per pass: " in output


def test_a_training_without_a_mistake(tmp_path: Path) -> None:
    """Only where a pass made no mistake is there a word on whether the rows are separable."""
    (tmp_path / "toy.csv").write_text("x,y\n" + "1,a\n2,b\n" * 200)
    wide = ("--rule", "margin", "--margin", "1e6", "--max-iter", "4", "--no-refit")
    output = invoked("train", "toy.csv", *wide).stdout
    assert "Verdict: unknown; train with --verdict to prove whether" in output
    output = invoked("train", "toy.csv").stdout
    assert "(PA-I): 2 passes over all 400 rows, the last without a mistake.\n" in output
    assert "Verdict: the training rows are separable; the last weights prove it." in output


def test_separability_that_says_nothing(tmp_path: Path) -> None:
    """With more features than rows, or a large error, there is no word on it unless asked for."""
    draw = np.random.default_rng(0)
    for n_rows, n_features, told in ((40, 60, True), (120, 100, False), (120, 3, True)):
        X = draw.normal(size=(n_rows, n_features))
        labels = np.where(X[:, 0] > 0, "a", "b") if told else draw.choice(["a", "b"], n_rows)
        X[:, 0] += 3 * told * np.sign(X[:, 0])
        rows = [
            f"{y} {' '.join(f'{k + 1}:{v:.4f}' for k, v in enumerate(x))}\n"
            for x, y in zip(X, labels, strict=True)
        ]
        (tmp_path / "rows.svm").write_text("".join(rows))
        options = ("--rule", "perceptron", "--memory", "last", "--max-iter", "200", "-o", "m")
        output = invoked("train", "rows.svm", *options, "--verbose").stdout
        assert ("Verdict: the training rows are separable" in output) == (n_features == 3)
    assert "verdict  separable" in invoked("train", "rows.svm", *options, "--verdict").stdout


def test_options_of_texts_without_a_text(tmp_path: Path) -> None:
    """Options of texts are said to have no effect where no column holds text, and only there."""
    rows = "".join(
        f"{i % 7},{'uvw'[i % 3]},this is text number {i},{'ab'[i % 2]}\n" for i in range(60)
    )
    (tmp_path / "toy.csv").write_text("x,side,words,y\n" + rows)
    options = ("--min-count", "3", "--no-word-pairs", "--char-ngrams", "3-4", "--hash-bits", "8")
    arguments = ("train", "toy.csv", "--label", "y", *options)
    told = invoked(*arguments, "--ignore", "words,side", "-o", "a.model").stderr
    for option in ("--min-count", "--no-word-pairs", "--char-ngrams", "--hash-bits"):
        sentence = "has no effect: no column is read as text; name one with --text."
        assert f"Warning: {option} {sentence}\n" in told
    assert "--hash-bits" not in invoked(*arguments, "--ignore", "words", "-o", "b.model").stderr
    assert "no effect" not in invoked(*arguments, "--text", "words", "-o", "c.model").stderr
    (tmp_path / "toy.svm").write_text("1 1:2\n-1 2:1\n" * 20)
    told = invoked("train", "toy.svm", "--min-count", "3", "-o", "d.model").stderr
    assert "Warning: --min-count has no effect: no column is read as text" in told


def test_going_on_with_the_label_of_the_model(tmp_path: Path) -> None:
    """--from takes --label where it is the model's own, and says which that is."""
    (tmp_path / "toy.csv").write_text("x,y\n" + "1,a\n2,b\n" * 20)
    assert invoked("train", "toy.csv", "--label", "y").exit_code == 0
    arguments = ("train", "toy.csv", "--from", "toy.model", "-o", "new.model", "--label")
    assert invoked(*arguments, "y").exit_code == 0
    refused = invoked(*arguments, "x")
    assert refused.exit_code == 2
    assert (
        "--label x does not fit --from: toy.model learned its labels from 'y'; leave --label out."
        in refused.stderr
    )


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("5m", 300), ("1h30m", 5400), ("1.5 hours", 5400)],
)
def test_times_have_units(text: str, seconds: float) -> None:
    """A time is seconds, or numbers with units."""
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["0", "-1", "500ms", "5x", "m", "nan"])
def test_what_is_not_a_time(tmp_path: Path, text: str) -> None:
    """What is not a time above 0 is refused with examples of one."""
    svmlight_file(tmp_path / "toy.svm")
    for command in ("train", "tune", "diagnose"):
        done = invoked(command, "toy.svm", f"--time-limit={text}")
        assert done.exit_code == 2
        assert (
            f"'{text}' is not a time; write seconds, or for example 90s, 5m or 1h30m."
            in done.stderr
        )


def test_a_full_permutation_can_be_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--shuffle full permutes rows that would be shuffled by groups; of few rows it is the same."""
    path = svmlight_file(tmp_path / "toy.svm")
    options = ["--no-early-stopping", "--max-iter", "4"]
    for many, same in ((1 << 21, True), (-1, False)):
        monkeypatch.setattr("rosenblatt.training.examples.MANY_VALUES", many)
        for name, more in (("a.model", []), ("b.model", ["--shuffle", "full"])):
            trained(path, *options, *more, "-o", name)
        one, other = load("a.model"), load("b.model")
        assert (one.shuffle, other.shuffle) == (True, "full")
        assert (one.coef_.tobytes() == other.coef_.tobytes()) == same

"""Answers with a guarantee on the command line, by rows of a model or of a file."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosenblatt import guarantee, load, train_files
from rosenblatt.errors import InputError
from rosenblatt.models.guarantee import certainty_of
from rosenblatt.models.model import Model, model_of
from rosenblatt.training.holdout import RowDraw
from tests.cli.running import invoked


def write_rows(path: Path, seed: int, n_rows: int, classes: str) -> str:
    """Write rows of two numbers whose class is seldom unclear."""
    generator = np.random.default_rng(seed)
    numbers = generator.integers(0, len(classes), n_rows)
    X = np.round(generator.normal(size=(n_rows, 2)) * 0.8, 3)
    X[:, 0] += 2 * numbers
    X[:, 1] += 2 * (numbers == 1)
    lines = [f"{a},{b},{classes[k]}" for (a, b), k in zip(X.tolist(), numbers, strict=True)]
    path.write_text("\n".join(["a,b,label", *lines, ""]))
    return str(path)


@pytest.fixture(params=["xy", "xyz"], ids=["two", "three"], scope="module")
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return rows to learn from, rows apart, new rows, and a model that holds a guarantee."""
    folder, names = tmp_path_factory.mktemp("rows"), ("train", "apart", "new")
    sizes = (400, 1500, 500)
    paths = [
        write_rows(folder / f"{name}.csv", seed, n, request.param)
        for seed, (name, n) in enumerate(zip(names, sizes, strict=True))
    ]
    model = str(folder / "m")
    result = invoked("train", paths[0], "--guarantee", paths[1], "-o", model)
    assert result.exit_code == 0, result.stderr
    assert "Guarantee by 1,500 rows, 95% confidence: answers" in result.stdout
    return *paths, model


def expected(model: str, apart: str, new: str, error: float) -> tuple[Any, Any]:
    """Return the guarantee and the rows that the command is asked for."""
    lines = [line.split(",") for line in Path(apart).read_text().split()[1:]]
    rows = [{"a": float(a), "b": float(b)} for a, b, _ in lines]
    sure = guarantee(load(model), rows, np.array([label for *_, label in lines]), error=error)
    others = [line.split(",") for line in Path(new).read_text().split()[1:]]
    return sure, [{"a": float(a), "b": float(b)} for a, b, _ in others]


def test_answers_are_those_of_python(files: Any) -> None:
    """The model's own rows and the same rows of a file abstain as guarantee does in Python."""
    _, apart, new, model = files
    sure, rows = expected(model, apart, new, 0.02)
    answers = sure.predict(rows, abstain="?").tolist()
    assert 0 < answers.count("?") < 400
    result = invoked("predict", model, new, "--error-at-most", "2%")
    assert result.stdout.split() == answers
    assert "at most 2% of the answers are wrong, with 95% confidence" in result.stderr
    again = invoked("predict", model, new, "--error-at-most", "0.02", "--guarantee", apart)
    assert again.stdout == result.stdout
    lines = invoked("predict", model, new, "--error-at-most", "2%", "--json").stdout.splitlines()
    assert [json.loads(line)["label"] or "?" for line in lines] == answers


def test_sets(files: Any) -> None:
    """A set stands beside the label: a list in JSON, else joined by semicolons."""
    _, apart, new, model = files
    sure, rows = expected(model, apart, new, 0.01)
    sets = sure.predict_sets(rows)
    assert {1, 2} <= {len(one) for one in sets}
    lines = invoked("predict", model, new, "--sets", "0.01", "--json").stdout.splitlines()
    assert [json.loads(line)["set"] for line in lines] == sets
    heading, *plain = invoked("predict", model, new, "--sets", "1%").stdout.splitlines()
    assert heading == "label\tset"
    assert [line.partition("\t")[2] for line in plain] == [";".join(one) for one in sets]


def test_no_promise_is_the_answer_no(files: Any) -> None:
    """Where nothing can be promised every answer is ?, and the exit code is 1."""
    _, _, new, model = files
    result = invoked("predict", model, new, "--error-at-most", "0.0001")
    assert result.exit_code == 1
    assert set(result.stdout.split()) == {"?"}
    assert "No answer can be given with an error of at most 0.01%" in result.stderr
    assert "it takes 59,912 answers without a mistake" in result.stderr


def test_sets_of_all_labels_are_told(files: Any) -> None:
    """Too few rows for so few misses give sets of all labels, with a warning."""
    _, _, new, model = files
    result = invoked("predict", model, new, "--sets", "0.0001", "--json")
    assert "Every set has all labels: --sets 0.0001 needs 9,999 rows at least" in result.stderr
    n_classes = len(Model.load(model).classes)
    assert all(len(json.loads(line)["set"]) == n_classes for line in result.stdout.splitlines())


def test_shares_that_are_none(files: Any) -> None:
    """An error of 0 or of all rows is refused by the name of the option."""
    *_, new, model = files
    for option in ("--error-at-most", "--sets"):
        for share in ("0", "100%", "few"):
            result = invoked("predict", model, new, option, share)
            assert result.exit_code == 2
            assert f"Invalid value for '{option}'" in result.stderr
            assert "above 0 and below 1" in result.stderr


def test_unknown_labels_fill_the_sets(files: Any) -> None:
    """Where more rows have an unknown label than sets may miss, all labels are in each."""
    _, apart, new, model = files
    lines = Path(apart).read_text().split()
    strange = [line[:-1] + "w" if k % 10 == 1 else line for k, line in enumerate(lines)]
    Path("strange.csv").write_text("\n".join([*strange, ""]))
    options = ["--sets", "5%", "--guarantee", "strange.csv", "--json"]
    result = invoked("predict", model, new, *options)
    assert "too many rows have a label that the model does not know" in result.stderr
    first = json.loads(result.stdout.splitlines()[0])
    assert first["set"] == list(Model.load(model).classes)


def test_what_has_no_rows_is_told(files: Any) -> None:
    """Without rows apart, without labels in them, and without a question, a sentence helps."""
    train, apart, new, model = files
    assert invoked("train", train, "-o", "plain").exit_code == 0
    result = invoked("predict", "plain", new, "--error-at-most", "2%")
    assert result.exit_code == 2
    assert "The model has no rows for a guarantee" in result.stderr
    result = invoked("predict", model, new, "--guarantee", apart)
    assert "--guarantee has no effect without --error-at-most or --sets" in result.stderr
    unlabelled = Path(apart).with_name("unlabelled.csv")
    unlabelled.write_text("a,b,label\n1,2,\n3,4,\n")
    result = invoked("predict", model, new, "--sets", "5%", "--guarantee", str(unlabelled))
    assert result.exit_code == 2
    assert "A guarantee needs rows with labels" in result.stderr


def test_a_model_that_goes_on_can_have_one(files: Any) -> None:
    """With --from a model loses the old guarantee, and sets a new one by --guarantee."""
    train, apart, _, model = files
    assert invoked("train", train, "--from", model, "-o", "n").exit_code == 0
    assert certainty_of(Model.load("n")) is None
    result = invoked("train", train, "--from", model, "--guarantee", apart, "-o", "n")
    assert result.exit_code == 0
    found = certainty_of(Model.load("n"))
    assert found is not None
    assert len(found.lead) == 1500


def test_the_report_draws_it(files: Any) -> None:
    """The report has the summary, and the curve of the rows apart."""
    *_, model = files
    assert invoked("report", model, "-o", "r.html").exit_code == 0
    page = Path("r.html").read_text()
    assert "Guarantee by 1,500 rows, 95% confidence: answers" in page
    assert "share of rows answered" in page


@pytest.mark.parametrize("ending", ["csv", "svm"])
def test_a_share_is_set_aside(ending: str) -> None:
    """The model is that of the other rows alone, in whatever file, and is judged by the share."""
    generator = np.random.default_rng(5)
    numbers = generator.integers(0, 2, 700)
    X = np.round(generator.normal(size=(700, 3)) + numbers[:, None], 3).tolist()
    if ending == "csv":
        head = ["a,b,c,label"]
        rows = [f"{x[0]},{x[1]},{x[2]},{['no', 'yes'][k]}" for x, k in zip(X, numbers, strict=True)]
    else:
        head = []
        rows = [f"{k} 1:{x[0]} 2:{x[1]} 3:{x[2]}" for x, k in zip(X, numbers, strict=True)]
    # Drawn by the line, or by the number of the row where lines are not known
    places = np.arange(700, dtype=np.uint64) + np.uint64(2 if head else 0)
    drawn = RowDraw(0.3, drawn=True)(places)
    assert 150 < drawn.sum() < 270
    last = int(np.flatnonzero(drawn)[-1])  # with a class and a feature that no other row has
    rows[last] = "1,2,3,perhaps" if head else "7 1:1 9:2"
    parts = {
        "all": rows,
        "others": [row for row, apart in zip(rows, drawn, strict=True) if not apart],
        "apart": [row for row, apart in zip(rows, drawn, strict=True) if apart],
    }
    for name, lines in parts.items():
        Path(f"{name}.{ending}").write_text("\n".join([*head, *lines, ""]))
    for name, wanted in (("all", "30%"), ("others", f"apart.{ending}")):
        result = invoked("train", f"{name}.{ending}", "--guarantee", wanted, "-o", name)
        assert result.exit_code == 0, result.stderr
    one, two = Model.load("all"), Model.load("others")
    assert one.classes == two.classes
    assert one.weights.tolist() == two.weights.tolist()
    assert one.training["n_rows"] == len(parts["others"])
    found, expected = certainty_of(one), certainty_of(two)
    assert found is not None
    assert expected is not None
    assert found.lead.tolist() == expected.lead.tolist()
    assert found.behind.tolist() == expected.behind.tolist()
    assert len(found.lead) == drawn.sum()


def test_where_a_share_cannot_be_drawn(files: Any) -> None:
    """Standard input, groups, --from and --tune need a file; the sentences say so."""
    train, _, _, model = files
    text = Path(train).read_text()
    result = invoked("train", "-", "--guarantee", "20%", "-o", "n", given=text)
    assert "--guarantee 0.2 draws rows of files one by one; with standard input" in result.stderr
    result = invoked("train", train, "--group", "a", "--guarantee", "0.2", "-o", "n")
    assert "with --group name a file" in result.stderr
    for more in (["--from", model], ["--tune"]):
        result = invoked("train", train, *more, "--guarantee", "0.2", "-o", "n")
        assert result.exit_code == 2
        assert "--guarantee SHARE cannot be used with --from, --tune or" in result.stderr
    assert not Path("n").exists()


def test_a_smaller_model_is_judged_anew() -> None:
    """With --max-size the guarantee is of the model that is written."""
    texts = Path("texts.csv")
    rows = [f"word{k % 50} more{k % 7},{'xy'[k % 2]}" for k in range(400)]
    texts.write_text("\n".join(["text,label", *rows, ""]))
    options = ["--text", "text", "--guarantee", "25%"]
    assert invoked("train", "texts.csv", *options, "-o", "large").exit_code == 0
    most = str(Path("large").stat().st_size - 1500)
    result = invoked("train", "texts.csv", *options, "--max-size", most, "-o", "small")
    assert result.exit_code == 0, result.stderr
    assert "dropped" in result.stderr
    found = certainty_of(Model.load("small"))
    assert found is not None
    assert len(found.lead) == len(rows) - Model.load("small").training["n_rows"]


def test_in_python(files: Any) -> None:
    """train_files takes a file or a share, and refuses what is neither."""
    train, apart, _, model = files
    found = certainty_of(model_of(train_files(train, label="label", guarantee=apart)))
    stored = certainty_of(Model.load(model))
    assert found is not None
    assert stored is not None
    assert found.lead.tolist() == stored.lead.tolist()
    part = model_of(train_files(train, label="label", guarantee=0.25))
    assert part.training["guarantee_rows"] + part.training["n_rows"] == 400
    with pytest.raises(InputError, match="guarantee of train_files must be"):
        train_files(train, guarantee=1.5)


@pytest.mark.parametrize("calibrate", [(), ("--calibrate",)], ids=["scores", "probabilities"])
def test_several_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calibrate: tuple[str, ...]
) -> None:
    """Labels that are too unsure are left out, as in Python; sets hold all labels of most rows."""
    monkeypatch.chdir(tmp_path)
    generator, names = np.random.default_rng(3), np.array(["red", "round", "big"])
    X = np.round(generator.normal(size=(2000, 3)), 3)
    truth = X + 0.3 * generator.normal(size=X.shape) > 0.4
    rows = [
        f"{','.join(map(str, x))},{'+'.join(names[own])}"
        for x, own in zip(X.tolist(), truth, strict=True)
    ]
    for name, part in (("train", rows[:600]), ("apart", rows[600:1600]), ("new", rows[1600:])):
        Path(f"{name}.csv").write_text("\n".join(["a,b,c,tags", *part, ""]))
    options = ("--label", "tags", "--label-separator", "+", *calibrate)
    trained = invoked("train", "train.csv", *options, "--guarantee", "apart.csv", "-o", "m")
    assert trained.exit_code == 0, trained.stderr
    assert "Guarantee by 1,000 rows, 95% confidence: answers" in trained.stdout
    model = Model.load("m")
    frame = [dict(zip("abc", x, strict=True)) for x in X.tolist()]
    sure = guarantee(load("m"), frame[600:1600], [names[own].tolist() for own in truth[600:1600]],
                     error=0.1)  # fmt: skip
    stored: Any = certainty_of(model)
    pairs = zip(stored.arrays().values(), sure.apart.arrays().values(), strict=True)
    assert all(np.array_equal(one, other) for one, other in pairs)
    asked = ("predict", "m", "new.csv", "--error-at-most", "10%", "--sets", "5%")
    result = invoked(*asked)
    assert "by labels that score more than" in result.stderr
    assert "at most 10% of the answers have one, with 95% confidence" in result.stderr
    given = sure.predict(frame[1600:]) > 0
    classes, sets = np.array(model.classes), sure.predict_sets(frame[1600:], error=0.05)
    lines = [line.split("\t") for line in result.stdout.splitlines()[1:]]
    assert lines == [
        ["+".join(classes[own]) or "?", "+".join(one)] for own, one in zip(given, sets, strict=True)
    ]
    assert 0.3 < given.any(axis=1).mean() < 0.95
    plain = [line.split("+") for line in invoked("predict", "m", "new.csv").stdout.splitlines()]
    assert all(
        {*line.split("+")} <= {*own} for (line, _), own in zip(lines, plain, strict=True)
        if line != "?"
    )  # fmt: skip
    documents = [json.loads(line) for line in invoked(*asked, "--json").stdout.splitlines()]
    assert [one["labels"] for one in documents] == [classes[own].tolist() or None for own in given]
    assert [one["set"] for one in documents] == sets
    alone = invoked("predict", "m", "new.csv", "--sets", "5%").stdout.splitlines()[1:]
    assert [line.split("\t")[0].split("+") for line in alone] == plain
    by_share = invoked("train", "apart.csv", *options, "--guarantee", "30%", "-o", "n")
    assert "Guarantee by 2" in by_share.stdout or "Guarantee by 3" in by_share.stdout


def test_rows_that_were_learned_from_are_told(files: Any) -> None:
    """A guarantee by rows of the training is warned of, in train, in its JSON and in predict."""
    train, _, new, model = files
    sentence = "Rows of the guarantee: All 400 rows are equal to rows that the model was trained on"
    told = invoked("train", train, "--guarantee", train, "-o", "again", "--json")
    assert sentence in told.stderr
    assert any(note.startswith(sentence) for note in json.loads(told.stdout)["notes"])
    for run in (
        invoked("predict", model, new, "--error-at-most", "9%", "--guarantee", train),
        invoked("train", "--from", model, new, "--guarantee", train, "-o", "more"),
    ):
        assert "Warning: Rows of the guarantee: All " in run.stderr


def test_learning_on_drops_a_guarantee(files: Any) -> None:
    """The old scores are no more: that is told, and a new guarantee is shown."""
    _, apart, new, model = files
    lost = "The guarantee of the old model is dropped"
    assert lost in invoked("train", "--from", model, new, "-o", "on").stderr
    result = invoked("train", "--from", model, new, "--guarantee", apart, "-o", "on")
    assert "Guarantee by 1,500 rows, 95% confidence: answers" in result.stdout


@pytest.mark.parametrize("share", ["0", "0%", "1", "100%", "150%", "-2%", "nan"])
def test_shares_to_set_aside_that_are_none(files: Any, share: str) -> None:
    """A number that is no share is not looked for as a file."""
    result = invoked("train", files[0], f"--guarantee={share}", "-o", "none")
    assert result.exit_code == 2
    assert f"'{share}' is not a file or a share; write for example 20%." in result.stderr


def test_the_second_label_is_not_shown_for_one_that_is_withheld(files: Any) -> None:
    """Several labels a row are what --sets is for."""
    result = invoked("predict", files[3], files[2], "--error-at-most", "5%", "--top", "2")
    assert result.exit_code == 2
    assert "--top cannot be used with --error-at-most; --sets prints several" in result.stderr


def test_a_pruned_model_says_what_it_lost(files: Any) -> None:
    """The scores are others, so the guarantee goes, and that is told."""
    model = files[3]
    n_bytes = Path(model).stat().st_size
    result = invoked("prune", model, "--max-size", str(n_bytes - 1), "-o", "pruned")
    assert result.exit_code == 0, result.stderr
    assert "The guarantee was left out: it held for other scores." in result.stdout
    assert certainty_of(Model.load("pruned")) is None

"""``--validation`` and ``--group``: rows that are held out together, where random rows deceive."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosenblatt import train_files
from rosenblatt.errors import InputError
from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files
from tests.cli.running import ran, run

HEAD = "user,kind,a,b,c,d,e,f,g,h,label\n"


def lines(n_users: int, generator: np.random.Generator, first: int = 0) -> list[str]:
    """Return twenty rows a user that are nearly alike, with a label by the toss of a coin."""
    found = []
    for user in range(first, first + n_users):
        centre, label = generator.normal(size=8), ["no", "yes"][generator.integers(2)]
        for _ in range(20):
            values = centre + 0.01 * generator.normal(size=8)
            found.append(f"u{user},k{user % 3},{','.join(map(str, values))},{label}\n")
    generator.shuffle(found)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write rows of 60 users, those of the first 45 of them, and those of the others."""
    generator = np.random.default_rng(0)
    early, late = lines(45, generator), lines(15, generator, 45)
    (tmp_path / "all.csv").write_text(HEAD + "".join(early + late))
    (tmp_path / "early.csv").write_text(HEAD + "".join(early))
    (tmp_path / "late.csv").write_text(HEAD + "".join(late))
    return tmp_path


def test_random_rows_deceive_and_groups_do_not(folder: Path) -> None:
    """The error on held-out rows is that of new users, in train, in folds and in a search."""
    deceived = model_from_files(str(folder / "all.csv"), label="label", ignore="user")
    assert deceived.training["held_out_error"] < 0.1
    honest = model_from_files(str(folder / "all.csv"), label="label", group="user")
    assert honest.training["held_out_error"] > 0.25
    assert honest.training["held_out_by"] == {"group": "user"}
    assert honest.training["held_out_rows"] % 20 == 0
    table: Any = honest.table
    assert {one.name for one in table.columns if one.role == "group"} == {"user"}
    data = ("all.csv", "--label", "label", "--group", "user")
    folds = json.loads(ran("evaluate", "--folds", "4", *data, "--json", folder=folder))
    assert folds["mean"] > 0.25
    found = json.loads(ran("tune", *data, "--rule", "pa1", "--json", folder=folder))
    assert min(one["mean"] for one in found["trials"]) > 0.25
    told = ran("train", *data, "-o", "m.model", folder=folder)
    assert "held-out rows, whole groups of 'user': " in told
    assert "groups: 'user'" in told
    # A model needs no groups to predict
    (folder / "new.csv").write_text("kind,a,b,c,d,e,f,g,h\nk0,1,2,3,4,5,6,7,8\n")
    assert ran("predict", "m.model", "new.csv", folder=folder)


def test_own_rows_are_never_learned_from(folder: Path) -> None:
    """Neither weights nor scaling nor levels come from them; they choose recipe and pass."""
    names: dict[str, Any] = {"label": "label", "ignore": "user"}
    early, late = str(folder / "early.csv"), str(folder / "late.csv")
    model = model_from_files(early, validation=late, **names)
    training = model.training
    assert (training["held_out_rows"], training["n_rows"]) == (300, 900)
    assert training["held_out_by"] == {"files": [late]}
    assert not training["refit"]
    assert sum(training["class_counts"]) == 900
    assert model.spread is not None
    assert model.spread.n_rows == 900
    assert model.evaluate(late).error == pytest.approx(training["held_out_error"])
    alone = model_from_files(early, early_stopping=False, max_iter=3, rule="pa1", **names)
    plain: dict[str, Any] = {"recipe": "plain", "rule": "pa1", "max_iter": 3, "n_iter_no_change": 9}
    stopped = model_from_files(early, validation=late, **plain, **names)
    assert stopped.encoding == alone.encoding
    for name, array in alone.encoding_arrays.items():
        assert np.array_equal(array, stopped.encoding_arrays[name], equal_nan=True), name
    best = stopped.outcome["best_pass"]
    exact = model_from_files(early, early_stopping=False, max_iter=best, rule="pa1", **names)
    assert np.array_equal(stopped.deciding_weights, exact.deciding_weights)


def test_own_rows_of_many_kinds(folder: Path) -> None:
    """Texts, bins, pairs of features, thresholds, votes and rows larger than a block."""
    early, late = str(folder / "early.csv"), str(folder / "late.csv")
    common: dict[str, Any] = {"validation": late, "label": "label"}
    kinds: list[dict[str, Any]] = [
        {"text": "kind", "ignore": "user"},
        {"bins": 5, "ignore": "user"},
        {"column_pairs": ["user:kind"], "category": ["user", "kind"], "ignore": list("abcdefgh")},
        {"calibrate": True, "ignore": "user"},
        {"threshold": "f1", "ignore": "user"},
        {"memory": "vote", "ignore": "user", "max_iter": 3},
        {"hash_bits": 6, "category": "user"},
        {"group": "user"},
    ]
    for options in kinds:
        model = model_from_files(early, **common, **options)
        error = model.training["held_out_error"]
        assert (model.training["held_out_rows"], model.training["n_rows"]) == (300, 900)
        assert model.evaluate(late).error == pytest.approx(error), options
    small = model_from_files(early, **common, ignore="user", buffer=4096)
    whole = model_from_files(early, **common, ignore="user")
    assert small.training["held_out_rows"] == whole.training["held_out_rows"] == 300
    assert small.evaluate(late).error == pytest.approx(small.training["held_out_error"])
    grouped = model_from_files(str(folder / "all.csv"), label="label", group="user", buffer=4096)
    in_memory = model_from_files(str(folder / "all.csv"), label="label", group="user")
    assert grouped.training["held_out_rows"] == in_memory.training["held_out_rows"]


def test_svmlight_has_own_rows(tmp_path: Path) -> None:
    """Features that no training row has are passed over; groups need columns."""
    generator = np.random.default_rng(0)
    rows = [
        f"{1 if x > 0 else -1} 1:{x} {k % 5 + 2}:1\n"
        for k, x in enumerate(generator.normal(size=200))
    ]
    (tmp_path / "a.svm").write_text("".join(rows))
    (tmp_path / "b.svm").write_text(
        "".join(row.replace("1:", "1:", 1).strip() + " 99:3\n" for row in rows[:20])
    )
    names = str(tmp_path / "a.svm"), str(tmp_path / "b.svm")
    model = model_from_files(names[0], validation=names[1])
    assert (model.n_features, model.training["held_out_rows"]) == (6, 20)
    with pytest.raises(InputError, match="group= needs named columns; svmlight files have none"):
        model_from_files(names[0], group="user")


def test_a_time_series_is_judged_by_its_end(tmp_path: Path) -> None:
    """Where the rule drifts, rows in between tell of the past, and the last ones of the future."""
    generator = np.random.default_rng(0)
    time = np.linspace(0.0, 1.0, 3_000)
    X = generator.normal(size=(3_000, 2))
    y = np.where(np.cos(3 * time) * X[:, 0] + np.sin(3 * time) * X[:, 1] > 0, "up", "down")
    table = [f"{a},{b},{label}\n" for (a, b), label in zip(X, y, strict=True)]
    for name, part in (
        ("past", table[:2_000]),
        ("now", table[2_000:2_500]),
        ("next", table[2_500:]),
    ):
        (tmp_path / f"{name}.csv").write_text("a,b,label\n" + "".join(part))
    past, now, coming = (str(tmp_path / f"{name}.csv") for name in ("past", "now", "next"))
    random = model_from_files(past)
    honest = model_from_files(past, validation=now)
    true: list[Any] = [model.evaluate(coming).error for model in (random, honest)]
    claimed = [model.training["held_out_error"] for model in (random, honest)]
    assert claimed[0] < true[0] - 0.2
    assert claimed[1] > claimed[0] + 0.1


def test_a_killed_training_goes_on(folder: Path) -> None:
    """A checkpoint is that of the same rows held out, and says so where they changed."""
    names: dict[str, Any] = {
        "label": "label",
        "ignore": "user",
        "validation": str(folder / "late.csv"),
    }
    point = str(folder / "point")
    whole = train_files(str(folder / "early.csv"), **names).model_
    cut = train_files(
        str(folder / "early.csv"), **names, time_limit=1e-9, checkpoint=point, checkpoint_seconds=0
    )
    assert cut.model_.outcome["stop_reason"] == "time_limit"
    other = names | {"validation": str(folder / "all.csv")}
    with pytest.raises(InputError, match="is the checkpoint of another training"):
        train_files(str(folder / "early.csv"), **other, checkpoint=point)
    resumed = train_files(str(folder / "early.csv"), **names, checkpoint=point).model_
    assert np.array_equal(whole.deciding_weights, resumed.deciding_weights)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--validation late.csv --no-early-stopping", "--validation needs --early-stopping"),
        ("--validation -", "--validation needs a file: standard input cannot be read beside"),
        ("--validation late.csv --kernel rbf", "--validation is not available with --kernel"),
        ("--group user --kernel rbf", "--group is not available with --kernel"),
        ("--validation none.csv", "none.csv"),
        ("--validation odd.csv", "--validation: no row to learn from has the label 'maybe'"),
        ("--validation empty.csv", "--validation: the file has no rows"),
        ("--validation late.csv --tune", "leave --validation out"),
        ("--validation late.csv --engine dask", "--validation applies to a single process"),
        ("--group user --engine dask", "--group applies to a single process"),
        ("--group what", "what"),
        ("--group label", "can't be both label and group"),
        ("--from m.model --group user", "--group cannot be used with --from"),
    ],
)
def test_what_cannot_be(folder: Path, options: str, sentence: str) -> None:
    """Each is refused with one sentence."""
    (folder / "odd.csv").write_text(HEAD + "u1,k1,1,2,3,4,5,6,7,8,maybe\n")
    (folder / "empty.csv").write_text(HEAD)
    result = run("train", "early.csv", "--label", "label", *options.split(), folder=folder)
    assert result.returncode == 2
    assert sentence in " ".join(result.stderr.split())


def test_the_plan_says_who_is_held_out(folder: Path) -> None:
    """It names the file, or the groups; nothing is fitted again."""
    data = ("train", "early.csv", "--label", "label", "--verbose", "-o", "m.model")
    told = run(*data, "--ignore", "user", "--validation", "late.csv", folder=folder)
    assert "hold out: late.csv" in told.stderr
    assert "fit again" not in told.stderr
    assert "Error on 300 held-out rows of late.csv: " in told.stdout
    told = run(*data, "--group", "user", folder=folder)
    assert "hold out: 10% of the rows, whole groups" in told.stderr
    assert Model.load(folder / "m.model").training["held_out_by"] == {"group": "user"}

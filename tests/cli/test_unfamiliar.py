"""New data that do not fit the model, wherever it is used; and classes that it never predicts."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rosenblatt import load
from rosenblatt.errors import UnfamiliarDataWarning
from rosenblatt.models.train import model_from_files
from rosenblatt.tasks.evaluation import neglected
from tests.cli.running import invoked

REMARKS = [
    "Column 'meal': none of its 4 values was seen in training.",
    "Column 'lead_time': all missing; 8 % were in training.",
    "Column 'price': the median is 1,000 times that of the training rows.",
]
WARNINGS = "".join(f"Warning: {remark}\n" for remark in REMARKS)


def bookings(n_rows: int, seed: int) -> pl.DataFrame:
    """Return bookings of which the dear ones with meals are cancelled."""
    draw = np.random.default_rng(seed)
    meals, price = draw.choice(["bb", "fb", "hb", "sc"], n_rows), draw.normal(100.0, 20.0, n_rows)
    lead = [None if k % 25 < 2 else n for k, n in enumerate(draw.integers(1, 90, n_rows).tolist())]
    cancelled = (price > 100.0) & (meals != "sc")
    return pl.DataFrame(
        {
            "meal": meals.tolist(),
            "lead_time": pl.Series(lead, dtype=pl.Int64),
            "price": price.round(2),
            "cancelled": np.where(cancelled, "yes", "no").tolist(),
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a model, usual new rows and odd ones."""
    bookings(2000, 0).write_csv(tmp_path / "old.csv")
    model_from_files(str(tmp_path / "old.csv"), label="cancelled").save(tmp_path / "m.model")
    new = bookings(500, 1)
    new.write_csv(tmp_path / "new.csv")
    odd = new.with_columns(
        pl.col("meal").str.to_uppercase(), pl.col("price") * 1000, lead_time=pl.lit(None, pl.Int64)
    )
    odd.write_csv(tmp_path / "odd.csv")
    odd.write_ndjson(tmp_path / "odd.jsonl")
    return tmp_path


@pytest.mark.parametrize("name", ["odd.csv", "odd.jsonl"])
def test_commands(folder: Path, name: str) -> None:
    """Evaluate, predict and the report tell each column once, and usual rows of none."""
    model, odd, new = (str(folder / one) for one in ("m.model", name, "new.csv"))
    for command in ("predict", "evaluate"):
        assert invoked(command, model, new).stderr == ""
        assert invoked(command, model, odd).stderr.startswith(WARNINGS)
        assert invoked(command, model, odd, "--json").stderr.startswith(WARNINGS)
    assert json.loads(invoked("evaluate", model, odd, "--json").stdout)["remarks"][:3] == REMARKS
    assert json.loads(invoked("evaluate", model, new, "--json").stdout)["remarks"] == []
    page = folder / "page.html"
    done = invoked("report", model, "--test", odd, "-o", str(page))
    assert WARNINGS in done.stderr
    assert "none of its 4 values was seen in training." in page.read_text()


def test_python(folder: Path) -> None:
    """What load returns warns of the same columns, and evaluations hold the sentences."""
    estimator, odd = load(folder / "m.model"), pl.read_csv(folder / "odd.csv")
    with pytest.warns(UnfamiliarDataWarning) as caught:
        estimator.predict(odd)
    assert [str(one.message) for one in caught] == REMARKS
    estimator.predict(pl.read_csv(folder / "new.csv"))
    model = model_from_files(str(folder / "old.csv"), label="cancelled")
    *told, missed = model.evaluate(str(folder / "odd.csv")).remarks
    assert told == REMARKS
    assert missed.startswith("Never predicted: no (63.20% of the rows). To find such rows, train")


def test_missing_keys_are_missing_columns(folder: Path) -> None:
    """A key that no row of a file has is a missing column; on standard input it is told of."""
    model, rows = str(folder / "m.model"), folder / "rows.jsonl"
    rows.write_text('{"meal": "bb"}\n{"meal": "fb", "price": 90}\n')
    done = invoked("predict", model, str(rows))
    assert done.exit_code == 2
    assert done.stderr == f"Error: {rows} has no column 'lead_time'; it has 'meal', 'price'.\n"
    with pytest.raises(ValueError, match="X has no column 'lead_time'"):
        load(model).predict([{"meal": "bb", "price": 90.0}])
    done = invoked("predict", model, "-", given='{"meal": "BB"}\n')
    assert done.exit_code == 0
    assert done.stderr == (
        "Warning: Column 'meal': its only value, 'BB', was not seen in training.\n"
        "Warning: Column 'price': missing; none were in training.\n"
    )


def test_a_class_that_is_never_predicted(tmp_path: Path) -> None:
    """Train and evaluate name it, and the options that find its rows."""
    draw = np.random.default_rng(0)
    label = np.where(np.arange(3000) % 16 == 0, "yes", "no")
    frame = pl.DataFrame({"a": draw.normal(size=3000), "b": draw.normal(size=3000)})
    frame.with_columns(y=pl.Series(label.tolist())).write_csv(tmp_path / "rare.csv")
    data, model = str(tmp_path / "rare.csv"), str(tmp_path / "m.model")
    advice = "To find such rows, train with --threshold f1 or --class-weight balanced.\n"
    done = invoked("train", data, "--label", "y", "-o", model)
    assert "Warning: Never predicted: yes (" in done.stderr
    assert advice in done.stderr
    done = invoked("evaluate", model, data)
    assert f"Warning: Never predicted: yes (6.27% of the rows). {advice}" in done.stderr
    remark = model_from_files(data, label="y").training["notes"][-1]
    assert remark.endswith("train with threshold='f1' or class_weight='balanced'.")
    done = invoked("train", data, "--label", "y", "-o", model, "--threshold", "f1")
    assert "Never predicted" not in done.stderr


def test_a_rare_class_that_is_never_predicted(tmp_path: Path) -> None:
    """Where it matters most: 37 of 6,000 rows are told of, and of two classes a single one."""
    draw = np.random.default_rng(0)
    deaths = np.isin(np.arange(6000), draw.choice(6000, 37, replace=False))
    label = np.where(deaths, "dead", "alive")
    frame = pl.DataFrame({"a": draw.normal(size=6000).round(2), "b": draw.normal(size=6000)})
    frame.with_columns(y=pl.Series(label.tolist())).write_csv(tmp_path / "rare.csv")
    data, model = str(tmp_path / "rare.csv"), str(tmp_path / "m.model")
    done = invoked("train", data, "--label", "y", "-o", model)
    assert "Warning: Never predicted: dead (0." in done.stderr
    done = invoked("evaluate", model, data)
    assert "Warning: Never predicted: dead (0.62% of the rows). To find such rows" in done.stderr
    first = int(np.flatnonzero(deaths)[0])
    frame = frame.with_columns(y=pl.Series(label.tolist())).slice(max(first - 50, 0), 51)
    assert frame["y"].to_list().count("dead") == 1
    frame.write_csv(tmp_path / "one.csv")
    done = invoked("evaluate", model, str(tmp_path / "one.csv"))
    assert "Warning: Never predicted: dead (1.96% of the rows)." in done.stderr
    found = np.array([[0, 0, 10], [0, 60, 40], [0, 40, 9000]])
    assert neglected(found, ("dead", "ill", "well"), {})[0].startswith(
        "Never predicted: dead (0.11"
    )
    assert neglected(found - [[0, 0, 1], [0, 0, 0], [0, 0, 0]], ("dead", "ill", "well"), {}) == []


def test_a_rare_class_of_three_that_is_never_predicted(folder: Path) -> None:
    """60 of 4,000 rows: training holds out a few, none of which is taken for the class."""
    draw = np.random.default_rng(0)
    labels = np.where(draw.random(4000) < 0.5, "home", "ward")
    labels[draw.choice(4000, 60, replace=False)] = "dead"
    values = draw.normal(size=4000) + 3 * (labels == "ward")
    frame = pl.DataFrame({"a": values.round(3), "y": labels.tolist()})
    frame.write_csv(folder / "three.csv")
    done = invoked("train", "three.csv", "--label", "y")
    assert "Warning: Never predicted: dead (" in done.stderr


def test_every_class_is_predicted(folder: Path) -> None:
    """A model that finds rows of all classes is not blamed."""
    done = invoked("train", str(folder / "old.csv"), "--label", "cancelled", "-o", "-")
    assert "Never" not in done.stderr

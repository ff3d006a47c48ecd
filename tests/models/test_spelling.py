"""Labels and categories come back as they were written, whatever format they were written in."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.labels import LONGEST_LABEL, classes_of
from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files
from tests.examples import tries

Rows = list[dict[str, Any]]
NUMBERS = st.from_regex(r"[+-]?[0-9]{1,3}(\.[0-9]{1,3})?([eE][0-9])?", fullmatch=True)
WORDS = st.text(
    st.characters(exclude_categories=("C", "Z"), exclude_characters='"'), min_size=1, max_size=8
).filter(lambda text: len(text.encode()) < LONGEST_LABEL)
MISSING = {"NA", "nan", "NaN", "null", "NULL", "N/A"}


def _csv(path: Path, rows: Rows, separator: str = ",") -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)


def _tsv(path: Path, rows: Rows) -> None:
    _csv(path, rows, "\t")


def _json(path: Path, rows: Rows) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _parquet(path: Path, rows: Rows) -> None:
    pl.DataFrame(rows).write_parquet(path)


FORMATS: dict[str, Callable[[Path, Rows], None]] = {
    "csv": _csv,
    "tsv": _tsv,
    "jsonl": _json,
    "parquet": _parquet,
}


def _rows(labels: list[str]) -> Rows:
    """Return rows of which the category tells the label."""
    return [{"kind": f"k{k}", "y": label} for _ in range(30) for k, label in enumerate(labels)]


def _trained(folder: str | Path, name: str, rows: Rows, **options: Any) -> tuple[Model, Path]:
    path = Path(folder) / f"rows.{name}"
    FORMATS[name](path, rows)
    return model_from_files(str(path), label="y", category="kind", **options), path


@pytest.mark.parametrize("name", FORMATS)
@tries(15)
@given(st.lists(st.one_of(NUMBERS, WORDS), min_size=2, max_size=5, unique=True))
def test_labels_come_back_as_they_were_written(name: str, labels: list[str]) -> None:
    """In every format; only +1, 1 and 1.0 may be one class, where every label is a number."""
    labels = [label for label in labels if label not in MISSING]
    expected = classes_of(labels)
    if len({*expected.values()}) < 2:
        return
    with TemporaryDirectory() as folder:
        model, path = _trained(folder, name, _rows(labels), header=True)
        predicted = model.predict([{"kind": f"k{k}"} for k in range(len(labels))])
        assert [str(one) for one in predicted] == [str(expected[label]) for label in labels]
        judged = model.evaluate(str(path))
    assert (judged.error, judged.n_unknown) == (0.0, 0)
    if len({*expected.values()}) == len(labels):
        assert {str(one) for one in model.classes} == set(labels)


def test_versions_in_json_are_texts(tmp_path: Path) -> None:
    """3.10 as a number of JSON is the class 3.1; as a text it is another one."""
    path = tmp_path / "versions.jsonl"
    lines = [f'{{"kind": "k{k}", "y": {y}}}\n' for k, y in enumerate(("3.1", "3.10", "7E10", "2"))]
    path.write_text("".join(lines * 30))
    model = model_from_files(str(path), label="y", category="kind")
    assert model.classes == (2, 3.1, 7e10)
    path.write_text(
        "".join(line.replace('"y": ', '"y": "').replace("}", '"}') for line in lines * 30)
    )
    model = model_from_files(str(path), label="y", category="kind")
    assert model.classes == ("2", "3.1", "3.10", "7E10")


def test_spellings_of_one_number_are_one_class_and_said(tmp_path: Path) -> None:
    """1, 1.0 and +1 are the class 1 where every label is a number, and three beside a word."""
    model, _ = _trained(tmp_path, "csv", _rows(["1", "1.0", "+1", "0"]))
    assert model.classes == (0, 1)
    assert model.training["class_counts"] == [30, 90]
    said = "The labels '1' and '1.0' and '+1' are one number, and one class: 1."
    assert said in model.training["notes"]
    model, _ = _trained(tmp_path, "csv", _rows(["1", "1.0", "linux"]))
    assert model.classes == ("1", "1.0", "linux")
    assert not [note for note in model.training["notes"] if "one number" in note]


@pytest.mark.parametrize("passes", [1, 3])
def test_a_word_late_in_a_file_parts_spellings(tmp_path: Path, passes: int) -> None:
    """Every label of the file counts, not those of the first block alone."""
    rows = _rows(["1.0", "+1", "0"] * 40)
    rows += [{"kind": "late", "y": "linux"}] * 30
    model, path = _trained(
        *(tmp_path, "csv", rows), buffer=1 << 12, max_iter=passes, early_stopping=False
    )
    assert model.classes == ("+1", "0", "1.0", "linux")
    assert sum(model.training["class_counts"]) == len(rows)
    assert model.evaluate(str(path)).n_unknown == 0


def test_one_file_has_one_answer_whoever_reads_it(tmp_path: Path) -> None:
    """Codes such as 01, which pandas reads as 1, find their category; that is said."""
    rows = [{"kind": f"0{k % 3}", "y": f"{k % 3}.10"} for k in range(90)]
    model, path = _trained(tmp_path, "csv", rows)
    assert model.evaluate(str(path)).error == 0.0
    as_text = model.predict(pd.read_csv(path, dtype=str))
    with pytest.warns(UserWarning, match="but texts in training: 0 is read as '00'. Read it as"):
        as_numbers = model.predict(pd.read_csv(path))
    assert as_text.tolist() == as_numbers.tolist() == [row["y"] for row in rows]


def test_a_float_of_pandas_is_the_whole_number_in_the_file(tmp_path: Path) -> None:
    """Where a value is missing, pandas makes 1.0 of 1: it is the category 1 without a word."""
    rows: Rows = [{"kind": str(k % 3), "y": f"class {k % 3}"} for k in range(90)]
    model, path = _trained(tmp_path, "csv", [*rows, {"kind": "", "y": "class 0"}])
    frame = pd.read_csv(path)
    assert frame["kind"].dtype == float
    assert model.predict(frame)[:90].tolist() == [row["y"] for row in rows]

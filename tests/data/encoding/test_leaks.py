"""A column or a word that alone decides nearly every row is named."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosenblatt import train_files
from rosenblatt.data.files import Columns, Files, Layout, TrainingFiles
from tests.cli.running import invoked

WORDS = ("see", "you", "soon", "cheap", "offer", "lunch", "now", "pills")


def written(folder: Path, labels: list[str], paths: list[str]) -> str:
    """Write rows of random words, a path and a label."""
    draw = np.random.default_rng(0)
    lines = [
        f"{' '.join(draw.choice(WORDS, 6))},{path},{label}"
        for label, path in zip(labels, paths, strict=True)
    ]
    (folder / "rows.csv").write_text("\n".join(["body,file,label", *lines, ""]))
    return str(folder / "rows.csv")


def notes(path: str) -> list[str]:
    """Return what train says of rows whose columns are texts."""
    model = train_files(path, label="label", text=("body", "file")).model_
    return [str(note) for note in model.training["notes"] if "alone" in note or "single" in note]


def test_two_classes(tmp_path: Path) -> None:
    """The word is named with its column, and the option that leaves it out."""
    labels = ["ham" if k % 3 else "spam" for k in range(300)]
    path = written(tmp_path, labels, [f"mail {k % 5} {y} {k}.txt" for k, y in enumerate(labels)])
    sentence = (
        "Column 'file': the word 'spam' alone decides 100 % of 300 rows: is it known when you"
        " predict? If not, leave it out with "
    )
    assert notes(path) == [f"{sentence}ignore='file'."]
    command = ("train", path, "--label", "label", "--text", "body,file", "-o", "-")
    assert f"Warning: {sentence}--ignore file.\n" in invoked(*command).stderr


def test_many_classes(tmp_path: Path) -> None:
    """Half of the classes at least must have a word of their own."""
    labels = [("news", "sport", "art", "film")[k % 4] for k in range(400)]
    path = written(tmp_path, labels, [f"archive {y} part {k}" for k, y in enumerate(labels)])
    (note,) = notes(path)
    assert note.startswith("Column 'file': single words such as ")
    assert "tell 4 of 4 classes from the others in nearly all of 400 rows" in note
    one = [f"archive {'film' if y == 'film' else 'any'} part {k}" for k, y in enumerate(labels)]
    assert notes(written(tmp_path, labels, one)) == []


@pytest.mark.parametrize("share", [0.0, 0.9])
def test_usual_words(tmp_path: Path, share: float) -> None:
    """A word that is right on nine rows of ten is what learning is for."""
    draw = np.random.default_rng(1)
    labels = ["ham" if k % 2 else "spam" for k in range(400)]
    told = draw.random(400) < share
    paths = [f"mail {y if told[k] else 'other'} {k}" for k, y in enumerate(labels)]
    assert notes(written(tmp_path, labels, paths)) == []


def suspicions(folder: Path, **columns: Any) -> list[str]:
    """Return what reading says of columns, the last of which holds the labels."""
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows), ""]
    (folder / "rows.csv").write_text("\n".join(lines))
    layout, said = Layout(), Columns(label=-1)
    source = TrainingFiles(Files([str(folder / "rows.csv")], layout), said)
    for _ in source.batches():
        pass
    return [str(note) for note in source.files.notes]


QUESTION = ": is it known when you predict? If not, leave it out with ignore="


def test_a_column_that_decides_alone_is_suspected(tmp_path: Path) -> None:
    """Whether it is known when one predicts, only a person can say."""
    numbers = range(200)
    found = suspicions(
        tmp_path,
        fine=[k * 37 % 101 for k in numbers],
        refunded=["yes" if k % 3 else "no" for k in numbers],
        days=[k * 7 % 50 + 100 * (k % 3 > 0) for k in numbers],
        label=["bad" if k % 3 else "good" for k in numbers],
    )
    told = "alone decides 100 % of 200 rows (always bad: 66.5 %)"
    assert found == [f"Column '{name}' {told}{QUESTION}'{name}'." for name in ("refunded", "days")]


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_rare_classes_are_given_away_too(tmp_path: Path, noise: float) -> None:
    """A column is held against the largest class: 99.5 % are much beside 99.5 %, 100 % are not."""
    draw = np.random.default_rng(0)
    rare = np.arange(6000) % 20 == 7
    told = rare & (draw.random(6000) >= noise)
    found = suspicions(
        tmp_path,
        size=draw.normal(size=6000).round(3),
        kind=draw.choice(["a", "b", "c"], 6000),
        paid=told.astype(int),
        days=(draw.random(6000) + 5 * told).round(4),
        churn=np.where(rare, "yes", "no"),
    )
    sentence = "alone decides 100 % of 6,000 rows (always no: 95 %)"
    leaking = [] if noise else ["paid", "days"]
    assert found == [f"Column '{name}' {sentence}{QUESTION}'{name}'." for name in leaking]


@pytest.mark.parametrize(("filled", "others"), [(1.0, 0), (0.7, 0), (0.3, 0), (0.7, 40)])
def test_what_is_filled_for_one_class_alone(tmp_path: Path, filled: float, others: int) -> None:
    """A date or a code that rows of one class have, at least half of them, and no others."""
    draw = np.random.default_rng(0)
    gone = np.arange(4000) % 10 == 3
    has = gone & (np.cumsum(gone) <= filled * gone.sum())
    has[np.flatnonzero(~gone)[:others]] = True
    days, codes = draw.integers(10, 29, 4000), draw.integers(0, 2000, 4000)
    found = suspicions(
        tmp_path,
        size=draw.normal(size=4000).round(3),
        closed=[f"2024-03-{day}" if there else "" for day, there in zip(days, has, strict=True)],
        code=[f"R{code}" if there else "NA" for code, there in zip(codes, has, strict=True)],
        level=np.where(has, days.astype(str), ""),
        churn=np.where(gone, "yes", "no"),
    )
    if others or filled < 0.5:
        assert found == []
        return
    rows = f"is filled in {has.sum()} of 400 rows of class yes, and in 0 of 3,600 others"
    assert found == [f"Column '{name}' {rows}{QUESTION}'{name}'." for name in ("closed", "level")]


def test_what_is_missing_for_one_class_alone(tmp_path: Path) -> None:
    """Rows of one class may be the only ones that lack a value."""
    draw = np.random.default_rng(0)
    dead = np.arange(300) % 3 == 0
    sizes = draw.normal(size=300).round(3).astype(str)
    found = suspicions(tmp_path, left=np.where(dead, "", sizes), died=dead)
    rows = "is missing in 100 of 100 rows of class True, and in 0 of 200 others"
    assert found == [f"Column 'left' {rows}{QUESTION}'left'."]


def test_a_file_sorted_by_class(tmp_path: Path) -> None:
    """Rows from all over the file are judged: a word of file names is found, and nothing else."""
    draw = np.random.default_rng(0)
    labels = ["ham"] * 9000 + ["spam"] * 9000
    place = np.arange(18_000)
    found = suspicions(
        tmp_path,
        body=[" ".join(words) for words in draw.choice(WORDS, (18_000, 4))],
        file=[f"data/{label}/mail {k}.txt" for k, label in enumerate(labels)],
        batch=((place > 9000) & (place < 10_000)).astype(int),  # tells all of the first 10,000 rows
        label=labels,
    )
    word = "Column 'file': the word 'ham' alone decides 100 % of 1,000 rows"
    assert found == [f"{word}{QUESTION}'file'."]


def test_a_cycle_of_rows(tmp_path: Path) -> None:
    """Labels that come in turn are all among the rows that are judged."""
    paid = np.arange(40_000) % 2
    assert len(suspicions(tmp_path, size=np.arange(40_000) % 7, paid=paid, label=paid)) == 1

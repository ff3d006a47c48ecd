"""A word that alone decides nearly every row is named."""

from pathlib import Path

import numpy as np
import pytest

from rosenblatt import train_files
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

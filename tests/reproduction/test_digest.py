"""The page of reproductions is not older than the code that it stands beside."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import reproduction.shuffling
from reproduction import TABLES, category_ranking, data_sets, tagging
from reproduction.__main__ import DOCS, experiment
from reproduction.data_sets import DataFolder, file_digest
from reproduction.digest import digest, digest_of, write_folder
from reproduction.experiment import Experiment, Setting, train
from reproduction.results import Results
from reproduction.tables import is_current
from rosenblatt.rules import PA


@pytest.mark.parametrize("name", TABLES)
def test_the_page_is_of_this_code(name: str) -> None:
    """Each table of the page was made by code that gives on made-up data what today's gives."""
    message = (
        f"docs/reproduction.md is older than the code: the table {name} may have other figures. "
        "Run: python -m reproduction --resume -o docs"
    )
    assert is_current(experiment(name), Results.of(DOCS)), message


@pytest.mark.data
def test_the_page_is_of_these_data(data_folder: Path) -> None:
    """Each table of the page was made from the files that the folder of data sets holds."""
    for table in Results.of(DOCS).tables.values():
        assert table.data == {name: file_digest(data_folder / name) for name in table.data}


def _line_count(setting: Setting) -> Iterator[str]:
    for name in ("adult", "imdb", "wine", "MNIST"):
        yield str(setting.folder.read(name).X.sum())
    yield str(setting.runs(7, 3))


TOY = Experiment("toy", "", "", "", "", _line_count)


def test_a_digest_changes_with_the_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read otherwise, and a number of runs, shows in the digest; the same is the same."""
    before = digest(TOY)
    assert digest(TOY) == before
    monkeypatch.setattr(data_sets, "WORD", r"\w+")
    assert digest(TOY) != before


def test_a_digest_changes_with_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another rule, and fewer runs, give another digest."""
    shuffling = experiment("shuffling")
    before = digest(shuffling)
    monkeypatch.setattr(reproduction.shuffling, "SEEDS", 50)
    fewer = digest(shuffling)
    monkeypatch.undo()
    other = partial(train, rule=PA())
    monkeypatch.setattr(reproduction.shuffling, "train", other)
    assert len({before, fewer, digest(shuffling)}) == 3


def test_rounding_is_not_seen() -> None:
    """Figures that differ in the last digits, as other processors have them, are the same."""
    figures = {"ours": [1 / 3, -1e-17, 1234567.8], "runs": 3, "name": "iris"}
    others = {"name": "iris", "runs": 3, "ours": (1 / 3 + 1e-15, 0.0, 1234567.8000001)}
    assert digest_of(figures) == digest_of(others)
    assert digest_of(figures) != digest_of({**figures, "runs": 4})


def test_made_up_sets_are_read(tmp_path: Path) -> None:
    """The made-up folder has every set; counts, indicators and standardised numbers are right."""
    write_folder(tmp_path)
    folder = DataFolder(tmp_path)
    for name in (*data_sets.SETS, *data_sets.DIGIT_PAIRS, "MNIST"):
        problem = folder.read(name).problem(0)
        assert set(problem.y_test) <= set(problem.y_train), name
    setting = Setting(folder, quick=True, tell=lambda _: None)
    category_ranking.read(setting)
    for label in tagging.COLUMNS.values():
        assert all(0.0 < one < 50.0 for one in tagging.errors(setting, label, 0, max_iter=5))
    assert set(folder.digests()) == {
        path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")
    }

"""The losses of a ranking of labels, and the rows that they are measured on."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import coverage_error, label_ranking_average_precision_score

from reproduction.category_ranking import MEASURES, compare, losses, ranking_losses, read
from reproduction.data_sets import DataFolder
from reproduction.digest import write_folder
from reproduction.experiment import Setting


def test_losses_by_hand() -> None:
    """One row is in order; the other has two false labels above one true, one above the other."""
    truth = np.array([[1, 0, 0, 1], [0, 1, 1, 0]], bool)
    scores = np.array([[4.0, 1.0, 2.0, 3.0], [4.0, 3.0, 1.0, 2.0]])
    assert ranking_losses(scores, truth) == pytest.approx([50, 1.5, 50, 2, 100 * (1 + 0.5) / 2])


def test_losses_are_those_of_scikit_learn() -> None:
    """Coverage and average precision are its own, coverage from 0 on."""
    rng = np.random.default_rng(0)
    truth, scores = rng.random((50, 7)) < 0.4, rng.standard_normal((50, 7))
    truth[~truth.any(axis=1), 0] = True
    *_, coverage, precision = ranking_losses(scores, truth)
    assert coverage == pytest.approx(coverage_error(truth, scores) - 1)
    assert precision == pytest.approx(100 * label_ranking_average_precision_score(truth, scores))


def test_rows_with_tags_are_read_and_ranked(tmp_path: Path) -> None:
    """Rows without a tag are left out, and words that are tags make them first."""
    write_folder(tmp_path)
    setting = Setting(DataFolder(tmp_path), quick=True, tell=lambda _: None)
    learned, tried = read(setting)
    assert learned.labels.classes.tolist() == tried.labels.classes.tolist() == ["a", "b", "c"]
    assert learned.X.shape[0] == len(learned.labels.numbers) < 80
    assert tried.labels.indicator().any(axis=1).all()
    for goal in ("each", "ranking"):
        assert losses(learned, tried, goal, 5, 0)[-1] > 80


def test_a_gain_is_less_loss_or_more_precision() -> None:
    """A line is above 0 where MMP is better, whatever is measured."""
    worse, better = [[60.0, 5, 30, 9, 70]] * 3, [[50.0, 4, 20, 8, 80]] * 3
    lines = list(compare("1 pass", worse, better))
    assert len(lines) == len(MEASURES)
    assert [line.ours.mean for line in lines] == [10, 1, 10, 1, 10]
    assert all(line.verdict == "reproduced" for line in lines)

"""Freund & Schapire's figures, against machines written down in plain NumPy."""

from pathlib import Path

import numpy as np
import pytest

from reproduction.data_sets import DataFolder, Problem
from reproduction.experiment import Setting
from reproduction.freund_schapire import (
    CLAIMS,
    FIGURES,
    compare,
    measure,
    pixel_scales,
)


def problem() -> Problem:
    """Return three clouds of whole numbers that overlap."""
    generator = np.random.default_rng(0)
    y = generator.integers(0, 3, 140)
    centres = generator.integers(0, 5, (3, 4))
    X = (centres[y] + generator.integers(0, 5, (140, 4))).astype(np.uint8)
    return Problem.of(X[:80], y[:80], X[80:], y[80:])


@pytest.mark.parametrize(("degree", "n_passes"), [(1, 0.5), (2, 1.0), (3, 2.0)])
def test_measured_by_definition(degree: int, n_passes: float) -> None:
    """Errors and counts are those of every vector of every machine, one against the rest."""
    one = problem()
    order = np.random.default_rng(7).permutation(80)[: round(min(n_passes, 1.0) * 80)]
    X, y = one.X_train[order].astype(float), one.y_train[order]
    train = (1 + X @ X.T) ** degree
    test = (1 + one.X_test.astype(float) @ X.T) ** degree
    scores = {memory: np.zeros((len(test), 3)) for memory in ("vote", "average", "last")}
    mistakes, support = 0, set()
    for k in range(3):
        side, weight, activations = np.where(y == k, 1, -1), np.zeros(len(y)), np.zeros(len(test))
        for _ in range(max(1, round(n_passes))):
            for i in range(len(y)):
                if side[i] * (weight @ train[i]) <= 0:
                    weight[i] += side[i]
                    activations = test @ weight
                    mistakes += 1
                    support.add(i)
                scores["vote"][:, k] += np.where(activations > 0, 1, -1)
                scores["average"][:, k] += activations
        scores["last"][:, k] = activations
    found = measure(one, degree, n_passes, 7)
    assert (found["mistakes"], found["support"]) == (mistakes, len(support))
    for memory, values in scores.items():
        wrong = values.argmax(axis=1) != one.y_test
        assert found[memory] == pytest.approx(100 * wrong.mean()), memory


def test_pixel_scales(tmp_path: Path) -> None:
    """Every degree has a row with the paper's figure and ours for bytes and for pixels 0 … 1."""
    told: list[str] = []
    setting = Setting(DataFolder(tmp_path), quick=False, tell=told.append)
    grid = pixel_scales(setting, problem(), 2)
    assert [row[:2] for row in grid.rows] == [["d = 1", 10.7], ["d = 2", 6.0], ["d = 3", 5.4]]
    assert len(told) == 6
    mean = np.mean([measure(problem(), 3, 0.1, seed)["vote"] for seed in (0, 1)])
    assert str(grid.rows[2][2]).startswith(f"{mean:.2f} ± ")


def test_lines() -> None:
    """A printed figure is compared as one more order, with its rounding."""
    runs = [{"vote": 10.0 + k, "mistakes": 3000 + 100 * k} for k in range(3)]
    vote, mistakes = compare("d = 1", {"vote": 15.9, "mistakes": 3342}, runs)
    assert vote.tolerance == pytest.approx(4.3027 * (4 / 3) ** 0.5 + 0.05, rel=1e-4)
    assert mistakes.tolerance == pytest.approx(430.27 * (4 / 3) ** 0.5 + 0.5, rel=1e-4)
    assert (vote.verdict, mistakes.verdict) == ("reproduced", "reproduced")
    assert [line.claim for line in (vote, mistakes)] == [CLAIMS["vote"], CLAIMS["mistakes"]]


def test_figures_are_consistent() -> None:
    """No machine has more support vectors than mistakes, and more passes err less."""
    for (degree, n_passes), printed in FIGURES.items():
        if "support" in printed:
            assert printed["support"] < printed["mistakes"]
        if n_passes > 0.1:
            assert printed["vote"] < FIGURES[degree, n_passes / 10]["vote"]

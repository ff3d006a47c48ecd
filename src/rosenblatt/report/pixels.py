"""Rows and weights whose features are the pixels of a picture, drawn as that picture."""

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from rosenblatt.models.explanation import namer
from rosenblatt.models.model import Model
from rosenblatt.report.markup import part

PLACE = re.compile(r"\D*(\d+)\D+(\d+)")  # r03c17, 3x17, row 3, column 17
NUMBER = re.compile(r"(?:pixel|pix|px|p)[ _.-]?(\d+)", re.IGNORECASE)
SMALLEST, MOST_PIXELS = 8, 100 * 100  # pixels on a side, and in all
LARGEST_VALUES = (15.0, 16.0, 255.0)  # of the pixels of pictures without names
LEVELS = 8  # of opacity


class PixelGrid(NamedTuple):
    """Where each feature stands in the picture."""

    down: NDArray[Any]
    across: NDArray[Any]

    def picture(self, values: NDArray[Any], label: str) -> Markup:
        """Return values as squares: blue above zero, orange below, the stronger the larger."""
        grid = np.zeros((int(self.down.max()) + 1, int(self.across.max()) + 1))
        grid[self.down, self.across] = values
        level = np.sign(grid) * np.ceil(LEVELS * np.abs(grid) / (np.abs(grid).max() or 1.0))
        shapes = [
            ("for" if k > 0 else "against", abs(k) / LEVELS, _squares(level == k))
            for k in range(-LEVELS, LEVELS + 1)
            if k and (level == k).any()
        ]
        return part("pixels", shapes, grid.shape[1], grid.shape[0], label)


def _squares(inside: NDArray[Any]) -> str:
    """Return a path around the cells of a grid that are inside, run by run."""
    runs = []
    for y, line in enumerate(inside):
        ends = np.flatnonzero(np.diff(np.concatenate([[0], line, [0]]))).reshape(-1, 2).tolist()
        runs += [f"M{a} {y}h{b - a}v1h{a - b}z" for a, b in ends]
    return "".join(runs)


def feature_grid(model: Model, largest: float) -> PixelGrid | None:
    """Return where the features of a model stand, if they are pixels."""
    if model.n_features > MOST_PIXELS:
        return None
    named = model.feature_names is not None or model.encoder is not None
    names = [*map(namer(model), range(model.n_features))] if named else None
    return pixel_grid(names, model.n_features, largest)


def pixel_grid(names: Sequence[str] | None, n: int, largest: float) -> PixelGrid | None:
    """Return where pixels stand, by their names or the largest value; None if they are no pixels.

    >>> pixel_grid([f"r{i // 8}c{i % 8}" for i in range(64)], 64, 1.0).across[:9].tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 0]
    >>> pixel_grid(["age", "income"], 2, 255.0)
    """
    side = math.isqrt(n)
    if n < SMALLEST**2:
        return None
    places: Any = [PLACE.fullmatch(name) for name in names or ()]
    if names and all(places):
        down, across = np.array([[int(k) for k in found.groups()] for found in places]).T
        found = PixelGrid(down - down.min(), across - across.min())
        sides = [int(axis.max()) + 1 for axis in found]
        whole = len({*zip(down.tolist(), across.tolist(), strict=True)}) == n
        return found if whole and min(sides) >= SMALLEST and math.prod(sides) == n else None
    numbered = names is not None and all(NUMBER.fullmatch(name) for name in names)
    if side * side == n and (numbered or (names is None and largest in LARGEST_VALUES)):
        return PixelGrid(*np.divmod(np.arange(n), side))
    return None

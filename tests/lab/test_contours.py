import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rosenblatt.lab.contours import positive_area, zero_line
from rosenblatt.lab.pictures import grid
from tests.examples import tries

UNIT = (0.0, 1000.0, -1000.0, 0.0)  # a view in which places are the units of a path, y mirrored


def lines_of(path: str) -> list[NDArray[Any]]:
    """Return the places of each line of a path."""
    parts = path.removesuffix("Z").split("M")[1:]
    return [np.array(re.findall(r"[-\d.]+ [-\d.]+", part.replace("L", ",")), str) for part in parts]


def places_of(path: str) -> list[NDArray[Any]]:
    """Return each line of a path as an array of places."""
    return [
        np.array([[float(v) for v in place.split()] for place in line]) for line in lines_of(path)
    ]


def area_of(path: str) -> float:
    """Return the area that closed pieces of a path cover, by the trapezoids below them."""
    total = 0.0
    for piece in path.split("Z")[:-1]:
        box = re.fullmatch(r"M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)H[\d.]+", piece)
        if box:
            x0, y0, x1, y1 = map(float, box.groups())
            total += abs((x1 - x0) * (y1 - y0))
            continue
        x, y = places_of(piece)[0].T
        total += abs(float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))) / 2
    return total


def test_a_line_is_exact_on_one_cell() -> None:
    """The zero line of a linear function is its two ends at the border."""
    nodes = grid(UNIT, 1)
    values = (nodes @ [1.0, 1.0] - 0.0).reshape(2, 2)  # x = −y: the diagonal from the top left
    assert sorted(map(tuple, places_of(zero_line(values))[0].tolist())) == [(0, 0), (1000, 1000)]
    values = (nodes[:, 0] - 250.0).reshape(2, 2)
    assert sorted(map(tuple, places_of(zero_line(values))[0].tolist())) == [(250, 0), (250, 1000)]
    assert area_of(positive_area(values)) == pytest.approx(750_000)


def test_nothing_where_the_sign_does_not_change() -> None:
    """No line, and all or nothing of the area."""
    assert zero_line(np.ones((5, 5))) == zero_line(np.zeros((5, 5))) == ""
    assert area_of(positive_area(np.ones((5, 5)))) == 1e6
    assert positive_area(-np.ones((5, 5))) == ""


def test_a_circle_is_one_closed_line() -> None:
    """A closed boundary comes back to where it began, at its radius, and encloses its area."""
    nodes = grid((-1.0, 1.0, -1.0, 1.0), 48)
    values = (0.36 - (nodes**2).sum(axis=1)).reshape(49, 49)
    [line] = places_of(zero_line(values))
    assert line[0].tolist() == line[-1].tolist()
    np.testing.assert_allclose(np.linalg.norm(line - 500.0, axis=1), 300.0, atol=1.0)
    assert area_of(positive_area(values)) == pytest.approx(np.pi * 300.0**2, rel=0.005)


@given(st.lists(st.sampled_from([-2.0, -1.0, 0.0, 1.0, 3.0]), min_size=25, max_size=25))
@tries(60)
def test_both_sides_fill_the_plane(values: list[float]) -> None:
    """Where no value is zero, the areas of a function and of its opposite add up to all of it."""
    field = np.array(values).reshape(5, 5)
    field[field == 0.0] = 0.5
    both = area_of(positive_area(field)) + area_of(positive_area(-field))
    if not _is_level_saddle(field):
        assert both == pytest.approx(1e6, rel=1e-3)


def _is_level_saddle(field: NDArray[Any]) -> bool:
    """Whether the corners of some cell have the mean 0, where neither side hangs together."""
    means = field[:-1, :-1] + field[:-1, 1:] + field[1:, :-1] + field[1:, 1:]
    return bool((means == 0.0).any())


@given(st.lists(st.floats(-1, 1).filter(lambda v: abs(v) > 1e-3), min_size=36, max_size=36))
@tries(30)
def test_lines_lie_between_the_signs(values: list[float]) -> None:
    """Every place of a zero line is on an edge whose ends have different signs."""
    field = np.array(values).reshape(6, 6)
    for line in places_of(zero_line(field)):
        for x, y in (line / 200.0).tolist():
            c, r = int(min(x + 1e-6, 4.999)), int(min(y + 1e-6, 4.999))
            cell = field[r : r + 2, c : c + 2]
            assert cell.min() < 0 < cell.max()

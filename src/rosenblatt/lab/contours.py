"""Where a function on the plane is zero, and where it is positive: marching squares, as SVG paths.

Values are given at the nodes of a grid over a square of 1000 × 1000 units whose y axis points down,
as a picture has it. Between nodes they are taken as linear along the edges, so the line of a linear
function is exact on a grid of a single cell.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZE = 1000.0  # units on a side
Place = tuple[float, float]
Edge = tuple[int, int, int]  # row and column of its node, and 0 along the row or 1 down the column


def zero_line(values: NDArray[Any]) -> str:
    """Return the lines on which values (rows from top to bottom) change their sign, as a path."""
    signs = values > 0.0
    if signs.all() or not signs.any():
        return ""
    links: dict[Edge, list[Edge]] = {}
    for r, c in _crossed_cells(signs):
        for first, second in _cell_links(values, signs, r, c):
            links.setdefault(first, []).append(second)
            links.setdefault(second, []).append(first)
    return "".join(_path([_crossing(values, edge) for edge in line]) for line in _chains(links))


def positive_area(values: NDArray[Any]) -> str:
    """Return the area in which values are positive, as a closed path."""
    signs = values > 0.0
    step = SIZE / (len(values) - 1)
    whole = signs[:-1, :-1] & signs[:-1, 1:] & signs[1:, :-1] & signs[1:, 1:]
    pieces = []
    for r in np.flatnonzero(whole.any(axis=1)).tolist():
        for start, stop in _stretches(whole[r]):
            pieces.append(
                f"M{_unit(start * step)} {_unit(r * step)}H{_unit(stop * step)}"
                f"V{_unit((r + 1) * step)}H{_unit(start * step)}Z"
            )
    for r, c in _crossed_cells(signs):
        pieces += [_path(corners) + "Z" for corners in _cell_areas(values, signs, r, c)]
    return "".join(pieces)


def _crossed_cells(signs: NDArray[Any]) -> list[list[int]]:
    count = signs[:-1, :-1].astype(int) + signs[:-1, 1:] + signs[1:, :-1] + signs[1:, 1:]
    return np.argwhere((count > 0) & (count < 4)).tolist()


def _stretches(flags: NDArray[Any]) -> list[tuple[int, int]]:
    """Return start and stop of each run of true flags."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _ring(r: int, c: int) -> tuple[list[tuple[int, int]], list[Edge]]:
    """Return the corners of a cell in turn, and the edge from each to the next."""
    corners = [(r, c), (r, c + 1), (r + 1, c + 1), (r + 1, c)]
    return corners, [(r, c, 0), (r, c + 1, 1), (r + 1, c, 0), (r, c, 1)]


def _cell_links(
    values: NDArray[Any], signs: NDArray[Any], r: int, c: int
) -> list[tuple[Edge, Edge]]:
    """Return which crossed edges of a cell a line joins."""
    corners, edges = _ring(r, c)
    crossed = [k for k in range(4) if signs[corners[k]] != signs[corners[(k + 1) % 4]]]
    if len(crossed) == 2:
        return [(edges[crossed[0]], edges[crossed[1]])]
    # A saddle: the mean of the corners says whether the positive ones hang together.
    together = bool(values[r : r + 2, c : c + 2].mean() > 0.0)
    cut = [k for k in range(4) if bool(signs[corners[k]]) != together]
    return [(edges[(k - 1) % 4], edges[k]) for k in cut]


def _cell_areas(values: NDArray[Any], signs: NDArray[Any], r: int, c: int) -> list[list[Place]]:
    """Return the positive parts of a crossed cell."""
    corners, edges = _ring(r, c)
    step = SIZE / (len(values) - 1)
    outline: list[tuple[Place, int]] = []  # and the corner at which it stands, −1 on an edge
    for k in range(4):
        if signs[corners[k]]:
            outline.append(((corners[k][1] * step, corners[k][0] * step), k))
        if signs[corners[k]] != signs[corners[(k + 1) % 4]]:
            outline.append((_crossing(values, edges[k]), -1))
    is_saddle = len(outline) == 6
    if is_saddle and not values[r : r + 2, c : c + 2].mean() > 0.0:
        at = [i for i, (_, k) in enumerate(outline) if k >= 0]
        return [[outline[(i + j) % 6][0] for j in (-1, 0, 1)] for i in at]
    return [[place for place, _ in outline]]


def _crossing(values: NDArray[Any], edge: Edge) -> Place:
    r, c, down = edge
    step = SIZE / (len(values) - 1)
    first, second = float(values[r, c]), float(values[r + down, c + 1 - down])
    share = first / (first - second)
    return (c + share * (1 - down)) * step, (r + share * down) * step


def _chains(links: dict[Edge, list[Edge]]) -> list[list[Edge]]:
    """Return the edges in the order in which lines pass them, open lines first."""
    lines = []
    left = dict(links)
    for start in sorted(links, key=lambda edge: (len(links[edge]), edge)):
        if start not in left:
            continue
        line, here = [], start
        while here in left:
            line.append(here)
            after = left.pop(here)
            here = next((edge for edge in after if edge in left), start)
        if start in links[line[-1]] and len(line) > 2:
            line.append(start)  # a closed line ends where it began
        lines.append(line)
    return lines


def _path(places: list[Place]) -> str:
    return "M" + "L".join(f"{_unit(x)} {_unit(y)}" for x, y in places)


def _unit(value: float) -> str:
    return f"{round(value, 1):g}"

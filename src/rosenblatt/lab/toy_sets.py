"""Small sets to play with: each shows one thing that a line can or cannot do."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.lab.document import Document, Point, View

SEED = 1957


def toy_set(name: str) -> Document:
    """Return a toy set by its name, with the settings of a beginner."""
    if name not in TOY_SETS:
        raise InputError(f"There is no toy set {name!r}; there are {', '.join(TOY_SETS)}.")
    points, view = TOY_SETS[name](np.random.default_rng(SEED))
    return Document(points=points, view=view)


def _separable(generator: np.random.Generator) -> tuple[tuple[Point, ...], View]:
    """Two clouds with room between them, in mixed order."""
    positive = generator.normal((1.0, 0.9), 0.45, (12, 2))
    negative = generator.normal((-1.0, -0.7), 0.45, (12, 2))
    return _mixed(positive, negative, generator), (-2.5, 2.5, -2.5, 2.5)


def _xor(_: np.random.Generator) -> tuple[tuple[Point, ...], View]:
    """Exclusive or, in the order of the introduction's table."""
    points = ((0.0, 0.0, -1), (0.0, 1.0, 1), (1.0, 1.0, -1), (1.0, 0.0, 1))
    return points, (-1.25, 2.25, -1.25, 2.25)


def _circles(generator: np.random.Generator) -> tuple[tuple[Point, ...], View]:
    """A disc within a ring: no line parts them, a quadratic map does."""
    turns = generator.uniform(0.0, 2.0 * np.pi, 40)
    radii = np.append(generator.uniform(0.1, 0.7, 20), generator.uniform(1.2, 1.7, 20))
    both = np.column_stack([radii * np.cos(turns), radii * np.sin(turns)])
    return _mixed(both[:20], both[20:], generator), (-2.0, 2.0, -2.0, 2.0)


def _overlapping(generator: np.random.Generator) -> tuple[tuple[Point, ...], View]:
    """Two clouds that run into each other: the last weights wander, the average does not."""
    positive = generator.normal((0.6, 0.5), 0.8, (30, 2))
    negative = generator.normal((-0.6, -0.4), 0.8, (30, 2))
    return _mixed(positive, negative, generator), (-3.0, 3.0, -3.0, 3.0)


def _sorted_labels(generator: np.random.Generator) -> tuple[tuple[Point, ...], View]:
    """Separable, with all positive points first: seven passes, and two once it is shuffled."""
    positive = generator.normal((1.6, 1.8), 0.22, (15, 2))
    negative = generator.normal((0.6, 0.7), 0.22, (15, 2))
    return _labelled(positive, 1) + _labelled(negative, -1), (-0.5, 2.7, -0.5, 2.7)


TOY_SETS: dict[str, Callable[[np.random.Generator], tuple[tuple[Point, ...], View]]] = {
    "separable": _separable,
    "xor": _xor,
    "circles": _circles,
    "overlapping": _overlapping,
    "sorted labels": _sorted_labels,
}


def _labelled(places: NDArray[np.float64], side: int) -> tuple[Point, ...]:
    return tuple((round(float(a), 2), round(float(b), 2), side) for a, b in places)


def _mixed(
    positive: NDArray[np.float64], negative: NDArray[np.float64], generator: np.random.Generator
) -> tuple[Point, ...]:
    points = _labelled(positive, 1) + _labelled(negative, -1)
    return tuple(points[i] for i in generator.permutation(len(points)))

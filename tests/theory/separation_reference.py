"""Separation of small sets by trying every edge of the cone: plain fractions, nothing of ours.

The directions (w, b) that have no row on the wrong side are a cone. Up to directions that change no
score it is made of its edges, each of which is the only one at which some rows are 0. So each set
of rows that leaves one direction is tried.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

Vector = Sequence[Fraction]


class Found(NamedTuple):
    """What is known of a set."""

    kind: str
    boundary: tuple[int, ...]  # rows; none where the classes overlap
    edges: list[Vector]  # of the cone


def inequalities(X: Iterable[Sequence[Any]], y: Sequence[Any]) -> list[tuple[int, Vector]]:
    """Return a row and a vector for each inequality: one a row, of K classes K − 1."""
    classes = sorted(set(y))
    found: list[tuple[int, Vector]] = []
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        x = [*map(Fraction, row), Fraction(1)]
        own = classes.index(label)
        if len(classes) == 2:
            found.append((i, x if own else [-value for value in x]))
            continue
        for rival in range(len(classes)):
            if rival != own:
                a = [Fraction(0)] * (len(x) * len(classes))
                a[own * len(x) : (own + 1) * len(x)] = x
                a[rival * len(x) : (rival + 1) * len(x)] = [-value for value in x]
                found.append((i, a))
    return found


def separation(X: Iterable[Sequence[Any]], y: Sequence[Any]) -> Found:
    """Return what separates the classes, with the edges of the cone."""
    pairs = inequalities(X, y)
    vectors = [a for _, a in pairs]
    edges: list[Vector] = []
    for line in directions([tuple(a) for a in vectors]):
        products = [dot(a, line) for a in vectors]
        edges += [
            [sign * value for value in line]
            for sign in (1, -1)
            if min(sign * product for product in products) >= 0
        ]
    above = [any(dot(a, edge) for edge in edges) for a in vectors]
    if not any(above):
        return Found("overlap", (), edges)
    held = {row for (row, _), its in zip(pairs, above, strict=True) if not its}
    return Found("quasi-complete" if held else "complete", tuple(sorted(held)), edges)


def directions(vectors: Sequence[Sequence[Fraction]]) -> list[Vector]:
    """Return each direction, up to its sign, that alone is 0 at some of the vectors.

    The signs of the vectors make no difference, so it is done once for all labels of two classes.
    """
    return _directions(tuple(max(tuple(a), tuple(-value for value in a)) for a in vectors))


@cache
def _directions(vectors: tuple[tuple[Fraction, ...], ...]) -> list[Vector]:
    width = len(vectors[0])
    lineality = null_space(vectors, width)  # changes no score
    found: list[Vector] = []
    for used in combinations(dict.fromkeys(vectors), width - len(lineality) - 1):
        line = null_space([*used, *lineality], width)
        if len(line) == 1 and line[0] not in found:
            found.append(line[0])
    return found


def signs(
    found: Found, X: Iterable[Sequence[Any]], n_classes: int, left_out: Sequence[int]
) -> list[list[int | None]]:
    """Return the sign of each coefficient, class by class: 0 if finite, None if it has no sign.

    Left out are the columns with these numbers, and the first of several classes.
    """
    rows = [[*map(Fraction, row), Fraction(1)] for row in X]
    width = len(rows[0])
    relations = null_space(rows, width)
    assert len(relations) == len(left_out)
    blocks = 1 if n_classes == 2 else n_classes
    seen: list[list[set[int]]] = [[set() for _ in range(width)] for _ in range(blocks)]
    for edge in found.edges:
        for k in range(blocks):
            v = edge[k * width : (k + 1) * width]
            if blocks > 1:
                v = [a - b for a, b in zip(v, edge[:width], strict=True)]
            for j, value in enumerate(fixed(v, relations, left_out)):
                seen[k][j].add((value > 0) - (value < 0))
    return [[_sign(one - {0}) for one in line] for line in seen]


def _sign(seen: set[int]) -> int | None:
    return None if len(seen) == 2 else next(iter(seen), 0)


def fixed(v: Vector, relations: list[Vector], left_out: Sequence[int]) -> Vector:
    """Return v plus relations such that it is 0 in the columns left out."""
    if not relations:
        return v
    table = [[relation[j] for relation in relations] + [v[j]] for j in left_out]
    line = null_space(table, len(relations) + 1)  # of (shares, 1)
    assert len(line) == 1
    assert line[0][-1] != 0
    shares = [share / line[0][-1] for share in line[0][:-1]]
    return [
        value + sum(share * relation[j] for share, relation in zip(shares, relations, strict=True))
        for j, value in enumerate(v)
    ]


def dot(a: Vector, b: Vector) -> Fraction:
    """Return a·b."""
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def null_space(lines: Iterable[Vector], width: int) -> list[Vector]:
    """Return a basis of all v with line·v = 0, by Gauss and Jordan."""
    reduced: list[list[Fraction]] = []
    places: list[int] = []
    for line in lines:
        left = [*line]
        for place, other in zip(places, reduced, strict=True):
            if factor := left[place]:
                left = [a - factor * b for a, b in zip(left, other, strict=True)]
        first = next((j for j, value in enumerate(left) if value), None)
        if first is None:
            continue
        left = [value / left[first] for value in left]
        for i, other in enumerate(reduced):
            if factor := other[first]:
                reduced[i] = [a - factor * b for a, b in zip(other, left, strict=True)]
        reduced.append(left)
        places.append(first)
    basis: list[Vector] = []
    for free in sorted({*range(width)} - {*places}):
        v = [Fraction(0)] * width
        v[free] = Fraction(1)
        for place, line in zip(places, reduced, strict=True):
            v[place] = -line[free]
        basis.append(v)
    return basis

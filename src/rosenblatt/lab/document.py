"""The document of the lab: points, and what is done with them; checked where it enters."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt import parameters
from rosenblatt.errors import InputError
from rosenblatt.rules import RULES, Interval, rule_parameters
from rosenblatt.rules.confidence_weighted import CONFIDENCE
from rosenblatt.wording import plain

MOST_POINTS = 500
LARGEST = 1e6  # coordinate
LONGEST_NAME = 60  # characters

Point = tuple[float, float, int]  # two coordinates, and −1 or +1
View = tuple[float, float, float, float]  # left, right, bottom, top

# The features of each map, as products of coordinates; the page computes them in this order.
MAPS = {"none": 2, "conjunction": 3, "pairs": 5}


class Choice(NamedTuple):
    """A setting that is one of a few values."""

    values: tuple[Any, ...]

    @property
    def requirement(self) -> str:
        """What the setting must be."""
        return f"one of {', '.join(map(repr, self.values))}"

    def check(self, value: Any) -> Any:
        """Return the value as it is kept, or None if it is not one of the choices."""
        same = (own for own in self.values if type(own) is type(value) and own == value)
        return next(same, None)


class Range(NamedTuple):
    """A setting that is a number."""

    low: float
    high: float
    whole: bool = False

    @property
    def requirement(self) -> str:
        """What the setting must be."""
        if self.whole:
            return f"a whole number from {self.low:.0f} to {self.high:.0f}"
        return f"a number from {self.low:g} to {self.high:g}"

    def check(self, value: Any) -> Any:
        """Return the value as it is kept, or None if it is out of the range."""
        if not _is_number(value) or not self.low <= value <= self.high:
            return None
        if not self.whole:
            return float(value)
        return int(value) if value == int(value) else None


def _range(check: Interval, most: float = 1e6) -> Range:
    """Return the part of a range that pictures can show."""
    low = check.low if check.closed else max(check.low, 1e-6)
    return Range(low, min(check.high, most), check.whole)


def _choice(name: str) -> Choice:
    check: Any = parameters.SETTINGS[name].check
    return Choice(check.choices)


# Settings by name. The page builds its fields from them and checks links against them.
CONFIDENCES = (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)  # the page is given Φ⁻¹ of these
SETTINGS: dict[str, Choice | Range] = {
    "rule": Choice(tuple(RULES)),
    **{p.name: _range(p) for p in rule_parameters().values()},
    "confidence": Choice(CONFIDENCES),
    "memory": _choice("memory"),
    "order": Choice(("given", "once", "every pass")),
    "second_order": Choice(("given", "once", "every pass")),
    "seed": Range(0, 2**32 - 1, whole=True),
    "zero": _choice("zero"),
    "bias": Choice((True, False)),
    "map": Choice(tuple(MAPS)),
    "kernel": Choice(("none", "polynomial", "rbf")),
    "degree": _range(parameters.AT_LEAST_ONE, 8),
    "gamma": _range(parameters.POSITIVE),
    "coef0": Range(0.0, 1e6),
    "max_iter": _range(parameters.AT_LEAST_ONE, 1000),
}


@dataclass(frozen=True)
class Document:
    """All that a picture follows from: the same document gives the same numbers, always."""

    points: tuple[Point, ...] = ()
    held_out: tuple[Point, ...] = ()  # judged after every pass, never learned from
    names: tuple[str, str] = ("x₁", "x₂")
    labels: tuple[str, str] = ("−1", "+1")  # of the negative and of the positive class
    view: View = (-2.0, 2.0, -2.0, 2.0)
    rule: str = "perceptron"
    eta0: float = 1.0
    C: float = 1.0
    margin: float = 1.0
    r: float = 1.0
    confidence: float = CONFIDENCE
    memory: str = "last"
    order: str = "given"
    second_order: str = "every pass"  # the one that the first is compared with
    seed: int = 0
    zero: str = "mistake"
    bias: bool = True
    start: tuple[float, ...] = ()  # weights before the first row, the bias last; empty: zeros
    map: str = "none"
    kernel: str = "none"
    degree: int = 2
    gamma: float = 1.0
    coef0: float = 1.0
    max_iter: int = 20

    @classmethod
    def from_plain(cls, given: Any) -> "Document":
        """Return the document that a page, a file or a notebook gives as plain values."""
        if not isinstance(given, Mapping):
            msg = f"A document must be an object with points and settings; got {_shown(given)}."
            raise InputError(msg)
        known = {field.name for field in fields(cls)}
        for name in given:
            if name not in known:
                msg = f"The document has no part {_shown(name)}; it has {', '.join(sorted(known))}."
                raise InputError(msg)
        document = cls(**{name: _checked(name, value) for name, value in given.items()})
        if document.start and len(document.start) != MAPS[document.map] + 1:
            raise InputError(
                f"The part start of the document must have {MAPS[document.map] + 1} numbers with "
                f"the map {document.map!r}, the bias last; got {len(document.start)}."
            )
        if document.kernel != "none" and RULES[document.rule].order == 2:
            raise InputError(f"The rule {document.rule!r} has no kernel; choose the kernel 'none'.")
        return document

    def plain(self) -> dict[str, Any]:
        """Return the document as plain values, which ``from_plain`` takes."""
        return dict(plain(asdict(self)))

    @property
    def marks(self) -> list[tuple[Point, bool]]:
        """Every point with whether it is learned from, those that are not first."""
        return [*((point, False) for point in self.held_out), *((p, True) for p in self.points)]

    @property
    def X(self) -> NDArray[Any]:  # noqa: N802  # as everywhere
        """The coordinates of the points, (n, 2)."""
        return np.array([point[:2] for point in self.points], np.float64).reshape(-1, 2)

    @property
    def y(self) -> NDArray[Any]:
        """The class of each point, −1 or +1."""
        return np.array([point[2] for point in self.points], np.int32)


def _numbers(
    value: Any, largest: float = LARGEST, count: int | None = None
) -> tuple[float, ...] | None:
    """Return a list of numbers up to a size as a tuple; None where it is something else."""
    fits = isinstance(value, list | tuple) and count in (None, len(value))
    if not fits or not all(_is_number(one) and abs(one) <= largest for one in value):
        return None
    return tuple(map(float, value))


def _words(value: Any) -> Any:
    two = isinstance(value, list | tuple) and len(value) == 2 and value[0] != value[1]
    fit = two and all(isinstance(word, str) and 0 < len(word) <= LONGEST_NAME for word in value)
    return tuple(value) if fit else None


def _view(value: Any) -> Any:
    ends = _numbers(value, 10 * LARGEST, 4)
    wide = 1e-9 * max(map(abs, ends or (0.0,)))
    fits = ends is not None and ends[1] - ends[0] > wide and ends[3] - ends[2] > wide
    return ends if fits else None


PARTS = {
    "names": (f"two different names of at most {LONGEST_NAME} characters", _words),
    "labels": (f"two different names of at most {LONGEST_NAME} characters", _words),
    "view": ("four numbers: left < right and bottom < top", _view),
    "start": (f"a list of numbers up to {LARGEST:g}, the bias last, or empty", _numbers),
    **{name: (setting.requirement, setting.check) for name, setting in SETTINGS.items()},
}


def _checked(name: str, value: Any) -> Any:
    if name not in PARTS:
        return _points(name, value)
    requirement, check = PARTS[name]
    found = check(value)
    if found is None:
        msg = f"The part {name} of the document must be {requirement}; got {_shown(value)}."
        raise InputError(msg)
    return found


def _points(name: str, value: Any) -> tuple[Point, ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f"The part {name} must be a list of [x, y, class]; got {_shown(value)}.")
    if len(value) > MOST_POINTS:
        raise InputError(f"The lab takes at most {MOST_POINTS} points; got {len(value)}.")
    points: list[Point] = []
    for number, one in enumerate(value, 1):
        point = _numbers(one, LARGEST, 3)
        if point is None or point[2] not in (-1, 1):
            raise InputError(
                f"Point {number} must be two numbers up to {LARGEST:g} and a class, −1 or +1; "
                f"got {_shown(one)}."
            )
        points.append((point[0], point[1], int(point[2])))
    return tuple(points)


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) < 1e300 and isfinite(value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"

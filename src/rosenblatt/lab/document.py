"""The document of the lab: points, and what is done with them; checked where it enters."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.rules import RULES, ZERO_CONVENTIONS, RuleParameter, rule_parameters

MOST_POINTS = 500
MOST_PASSES = 1000
LARGEST = 1e6  # coordinate
LONGEST_NAME = 60  # characters

MEMORIES = ("last", "average", "vote")
ORDERS = ("given", "once", "every pass")
MAPS = ("none", "conjunction", "pairs")
KERNELS = ("none", "polynomial", "rbf")

Point = tuple[float, float, int]  # two coordinates, and −1 or +1
View = tuple[float, float, float, float]  # left, right, bottom, top


@dataclass(frozen=True)
class Document:
    """All that a picture follows from: the same document gives the same numbers, always."""

    points: tuple[Point, ...] = ()
    names: tuple[str, str] = ("x₁", "x₂")
    labels: tuple[str, str] = ("−1", "+1")  # of the negative and of the positive class
    view: View = (-2.0, 2.0, -2.0, 2.0)
    rule: str = "perceptron"
    eta0: float = 1.0
    C: float = 1.0
    margin: float = 1.0
    memory: str = "last"
    order: str = "given"
    seed: int = 0
    zero: str = "mistake"
    map: str = "none"
    kernel: str = "none"
    degree: int = 2
    gamma: float = 1.0
    coef0: float = 1.0
    max_iter: int = 20

    @classmethod
    def from_plain(cls, given: Any) -> "Document":
        """Return the document that a page, a file or a notebook gives as plain values.

        Raises
        ------
        InputError
            With a sentence that names the part, what it must be and what came.
        """
        if not isinstance(given, Mapping):
            msg = f"A document must be an object with points and settings; got {_shown(given)}."
            raise InputError(msg)
        known = {field.name for field in fields(cls)}
        for name in given:
            if name not in known:
                msg = f"The document has no part {_shown(name)}; it has {', '.join(sorted(known))}."
                raise InputError(msg)
        checked = {name: _checked(name, value) for name, value in given.items()}
        return cls(**checked)

    def plain(self) -> dict[str, Any]:
        """Return the document as plain values, which ``from_plain`` takes."""
        return {
            name: [list(item) if isinstance(item, tuple) else item for item in value]
            if isinstance(value, tuple)
            else value
            for name, value in asdict(self).items()
        }

    @property
    def X(self) -> NDArray[Any]:  # noqa: N802  # as everywhere
        """The coordinates of the points, (n, 2)."""
        return np.array([point[:2] for point in self.points], np.float64).reshape(-1, 2)

    @property
    def y(self) -> NDArray[Any]:
        """The class of each point, −1 or +1."""
        return np.array([point[2] for point in self.points], np.int32)


def _number(low: float, high: float) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        return float(value) if _is_number(value) and low <= value <= high else None

    return check


def _whole(low: int, high: int) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        fits = _is_number(value) and value == int(value) and low <= value <= high
        return int(value) if fits else None

    return check


def _one_of(values: Any) -> Callable[[Any], Any]:
    return lambda value: value if isinstance(value, str) and value in values else None


def _words(value: Any) -> Any:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    fit = all(isinstance(word, str) and 0 < len(word) <= LONGEST_NAME for word in value)
    return tuple(value) if fit and value[0] != value[1] else None


def _view(value: Any) -> Any:
    if not isinstance(value, list | tuple) or len(value) != 4:
        return None
    if not all(_is_number(end) and abs(end) <= 10 * LARGEST for end in value):
        return None
    left, right, bottom, top = map(float, value)
    wide = 1e-9 * max(map(abs, (left, right, bottom, top)))
    fits = right - left > wide and top - bottom > wide
    return (left, right, bottom, top) if fits else None


def _listed(values: Any) -> str:
    return "one of " + ", ".join(repr(value) for value in values)


def _rule_requirement(parameter: RuleParameter) -> tuple[str, Callable[[Any], Any]]:
    """Return what a parameter of a rule must be here, where pictures have to show what it does."""
    low = parameter.low if parameter.closed else max(parameter.low, 1e-6)
    high = min(parameter.high, 1e6)
    return f"a number from {low:g} to {high:g}", _number(low, high)


REQUIREMENTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "names": (f"two different names of at most {LONGEST_NAME} characters", _words),
    "labels": (f"two different names of at most {LONGEST_NAME} characters", _words),
    "view": ("four numbers: left < right and bottom < top", _view),
    "rule": (_listed(RULES), _one_of(RULES)),
    **{name: _rule_requirement(parameter) for name, parameter in rule_parameters().items()},
    "memory": (_listed(MEMORIES), _one_of(MEMORIES)),
    "order": (_listed(ORDERS), _one_of(ORDERS)),
    "seed": ("a whole number from 0 to 4294967295", _whole(0, 2**32 - 1)),
    "zero": (_listed(ZERO_CONVENTIONS), _one_of(ZERO_CONVENTIONS)),
    "map": (_listed(MAPS), _one_of(MAPS)),
    "kernel": (_listed(KERNELS), _one_of(KERNELS)),
    "degree": ("a whole number from 1 to 8", _whole(1, 8)),
    "gamma": ("a number from 1e-6 to 1e6", _number(1e-6, 1e6)),
    "coef0": ("a number from 0 to 1e6", _number(0.0, 1e6)),
    "max_iter": (f"a whole number from 1 to {MOST_PASSES}", _whole(1, MOST_PASSES)),
}


def _checked(name: str, value: Any) -> Any:
    if name == "points":
        return _points(value)
    requirement, check = REQUIREMENTS[name]
    found = check(value)
    if found is None:
        msg = f"The part {name} of the document must be {requirement}; got {_shown(value)}."
        raise InputError(msg)
    return found


def _points(value: Any) -> tuple[Point, ...]:
    if not isinstance(value, list | tuple):
        msg = f"The points must be a list of [x, y, class]; got {_shown(value)}."
        raise InputError(msg)
    if len(value) > MOST_POINTS:
        msg = f"The lab takes at most {MOST_POINTS} points; got {len(value)}."
        raise InputError(msg)
    return tuple(_point(number, point) for number, point in enumerate(value))


def _point(number: int, value: Any) -> Point:
    fits = isinstance(value, list | tuple) and len(value) == 3 and all(map(_is_number, value))
    if not fits or abs(value[0]) > LARGEST or abs(value[1]) > LARGEST or value[2] not in (-1, 1):
        msg = (
            f"Point {number} must be two numbers up to {LARGEST:g} and a class, −1 or +1; "
            f"got {_shown(value)}."
        )
        raise InputError(msg)
    return float(value[0]), float(value[1]), int(value[2])


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) < 1e300 and isfinite(value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"

"""What can go wrong, each with a sentence that says what, where and what to do.

Sentences name *parameters*, and the edge that shows a sentence spells them: ``label=`` in Python,
``--label`` in a command. An error makes its text a ``Sentence``; other texts are wrapped::

    raise InputError(f"{file}: no column holds the labels; name it with {Parameter('label')}.")

An edge that spells otherwise calls ``spelled(sentence, spelling)``. To join sentences write
``Sentence(first, " ", second)``; an f-string would keep Python's spelling.
"""

import json
import re
import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple, Self

# A mention inside an f-string: the name and the value as JSON between noncharacters of Unicode.
MENTION = re.compile("\ufdd0([^\ufdd0-\ufdd2]*)\ufdd1([^\ufdd0-\ufdd2]*)\ufdd2")


class RosenblattError(Exception):
    """Base of every error that rosenblatt raises on purpose; its text is a ``Sentence``."""

    def __init__(self, *parts: "str | Parameter") -> None:
        super().__init__(Sentence(*parts))


class InputError(RosenblattError, ValueError):
    """Data, labels or a parameter that cannot be used as given."""


class Question(InputError):  # noqa: N818  # it asks, rather than complains
    """What a person has to say; its sentence ends in a parameter with a value that may answer it.

    It may have several lines.
    """


class WeightOverflowError(RosenblattError, OverflowError):
    """Training left the range of float64: the weights are not to be trusted."""


class UnfamiliarDataWarning(UserWarning):
    """Rows that a model is used on are not like those that it was trained on."""


class Parameter(NamedTuple):
    """A mention of a parameter, by its name in Python, and perhaps of a value for it.

    >>> print(Parameter("label"), Parameter("ignore", "name"), Parameter("shuffle", value=True))
    label= ignore='name' shuffle=True
    """

    name: str
    value: object = None  # None: the parameter itself is meant

    def __str__(self) -> str:
        return f"{self.name}=" if self.value is None else f"{self.name}={self.value!r}"

    def __format__(self, _: str) -> str:
        return f"\ufdd0{self.name}\ufdd1{json.dumps(self.value)}\ufdd2"  # a Sentence reads it


class Sentence(str):
    """Text that knows where it mentions parameters.

    >>> advice = Sentence(f"Name the column with {Parameter('label')}.")
    >>> print(advice)
    Name the column with label=.
    >>> print(spelled(advice, lambda parameter: f"--{parameter.name}"))
    Name the column with --label.
    """

    __slots__ = ("parts",)
    parts: tuple[str | Parameter, ...]

    def __new__(cls, *parts: str | Parameter) -> Self:
        """Join text, mentions of parameters and other sentences."""
        flat: list[str | Parameter] = []
        for part in parts:
            if isinstance(part, Sentence):
                flat += part.parts
            elif isinstance(part, Parameter):
                flat.append(part)
            else:
                text, *found = MENTION.split(part)
                flat += [text] if text else []
                for name, value, after in zip(found[::3], found[1::3], found[2::3], strict=True):
                    flat += [Parameter(name, json.loads(value)), *([after] if after else [])]
        self = super().__new__(cls, "".join(map(str, flat)))
        self.parts = tuple(flat)
        return self

    def __getnewargs__(self) -> tuple[str | Parameter, ...]:  # type: ignore[override]
        return self.parts  # for pickle and copy: errors travel from the workers of a cluster


def spelled(text: object, spelling: Callable[[Parameter], str]) -> str:
    """Return a text, an error or a warning with its parameters spelled by ``spelling``."""
    if isinstance(text, Exception) and len(text.args) == 1:
        text = text.args[0]
    if not isinstance(text, Sentence):
        return str(text)
    return "".join(spelling(part) if isinstance(part, Parameter) else part for part in text.parts)


def warn_caller(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called the package, however deep the call is."""
    level, frame = 2, sys._getframe(1)  # noqa: SLF001  # Python 3.12 has skip_file_prefixes
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("rosenblatt."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def score_overflow(row: int) -> WeightOverflowError:
    """Return the error that says which row is beyond all numbers."""
    msg = f"The activation of row {row} overflowed: its values are too large."
    return WeightOverflowError(msg)

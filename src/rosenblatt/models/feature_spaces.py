"""Features as numbers: named and numbered as they come, hashed, numbered by the caller, or arrays.

Readers of another copy of the weights look only at numbers below the number that these have.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from math import isfinite, nan
from typing import Any

import numpy as np

from rosenblatt.data.tables.table import flat_row
from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import CSR, Dense, Rows
from rosenblatt.kernels.single_rows import NAMES
from rosenblatt.kernels.text.hashing import SEED, term_hash

Item = float | str | bool | None
Value = Item | list[Item] | dict[str, Any]
Features = Mapping[str, Value] | Sequence[float]
Entries = tuple[Any, Any]  # numbers and values of the features of a row

NUMBERS = {float}
MOST_REMEMBERED = 1 << 17  # names whose hash is remembered
MOST_FEATURES = (1 << 31) - 1  # that int32 can number
REFUSE, IGNORE = "refuse", "ignore"  # what happens to a new name where there is no more room


class FeatureSpace:
    """How features become numbered features; all methods but ``plain`` take what it returns."""

    kind = "numbered"  # its name in answers of the service
    sparse = True  # whether its rows are CSR rows
    direct: dict[Any, int] | None = None  # where a kernel may look names up, if it may

    @property
    def n_features(self) -> int:
        """How many features are numbered so far."""
        raise NotImplementedError

    def plain(self, features: Any) -> Any:
        """Return a row as the other methods take it, or raise InputError."""
        return _mapping(features)

    def learn(self, features: Any) -> None:
        """Number what is new in a row, or raise InputError and change nothing."""

    def numbers(self, names: Iterable[Any], width: int) -> list[int]:
        """Return the numbers of features by name; ``width`` or more for what has no weight."""
        del width
        return list(names)

    def entries(self, features: Any, width: int) -> Entries:
        """Return the features of a row that are numbered below ``width``, in any order."""
        numbers = self.numbers(features, width)
        if max(numbers, default=-1) < width:
            return numbers, list(features.values())
        values = zip(numbers, features.values(), strict=True)
        return [k for k in numbers if k < width], [value for k, value in values if k < width]

    def rows(self, batch: Sequence[Any], width: int, room: int, constant: float) -> Rows:
        """Return rows of ``room`` features; only those numbered below ``width`` are in them."""
        numbers = self.numbers(chain.from_iterable(batch), width)
        return _csr(numbers, batch, width, room, constant)

    def part_of(self, number: int) -> tuple[Any, int]:
        """Return what a feature and others say together, and how closely this one says it."""
        return number, 0

    def shrink(self, n_features: int) -> None:
        """Forget the features from this number on."""

    def name(self, number: int) -> str:
        """Return what a feature is called."""
        raise NotImplementedError

    def names(self) -> tuple[str, ...] | None:
        """Return all names, where names are what is numbered."""
        return None

    def remarks(self) -> list[str]:
        """Return sentences on columns of the rows that this thread made last, if they are odd."""
        return []


class NamedFeatures(FeatureSpace):
    """Names, numbered as they come, up to a limit.

    A number is the value of its feature; a word makes the feature ``name=word`` of value 1. New
    names of JSON are numbered in order, so that a replay numbers them alike. With ``checked`` rows
    are dicts of Python, whose names and values are looked at.

    >>> space = NamedFeatures()
    >>> space.learn(space.plain({"size": 2.0, "colour": "red"}))
    >>> space.names()
    ('colour=red', 'size')
    >>> space.rows([{"size": 3.0, "weight": 1.0}], 2, 4, 1.0)[:3]
    (array([3.]), array([1], dtype=int32), array([0, 1]))
    """

    kind = "names"

    def __init__(
        self,
        names: Iterable[str] = (),
        limit: int = 1 << 20,
        when_full: str = REFUSE,
        *,
        checked: bool = False,
    ) -> None:
        self._names: list[Any] = list(names)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._limit, self._when_full, self._checked = limit, when_full, checked
        self.direct = self._numbers

    @property
    def n_features(self) -> int:
        """How many names there are."""
        return len(self._names)

    def plain(self, features: Any) -> Any:
        """Return names and finite numbers."""
        return _checked_terms(features) if self._checked else _plain_terms(_mapping(features))

    def learn(self, features: Any) -> None:
        """Number the new names of a row."""
        numbers = self._numbers
        if numbers.keys() >= features.keys():
            return
        new = [name for name in features if name not in numbers]
        if not self._checked:
            new.sort()
        room = self._limit - len(self._names)
        if len(new) > room and self._when_full == REFUSE:
            raise InputError(
                f"The feature {new[room][:80]!r} is new and the model has all {self._limit:,} "
                "features that it may have; create a model with a higher limit, with hashed "
                "features, or with when_full='ignore'."
            )
        for name in new[:room]:
            numbers[name] = len(self._names)  # a reader that sees it finds no weight yet
            self._names.append(name)

    def numbers(self, names: Iterable[Any], width: int) -> list[int]:
        """Return the number of each name."""
        return list(map(self._numbers.get, names, repeat(width)))

    def shrink(self, n_features: int) -> None:
        """Forget the names that came last."""
        for name in self._names[n_features:]:
            del self._numbers[name]
        del self._names[n_features:]

    def name(self, number: int) -> str:
        """Return the name of a feature."""
        return str(self._names[number])

    def names(self) -> tuple[str, ...]:
        """Return all names by number."""
        return tuple(map(str, self._names))


class HashedFeatures(FeatureSpace):
    """Names, numbered by a hash: memory stays bounded, and two names may share a weight.

    >>> HashedFeatures(4).rows([{"size": 3.0}], 16, 16, 1.0)[:2]
    (array([3.]), array([9], dtype=int32))
    """

    kind = "hashed"
    n_features = 0

    def __init__(self, bits: int, *, checked: bool = False) -> None:
        self.bits = bits
        self.n_features = 1 << bits
        self._numbers: dict[Any, int] = {}  # of names that came, up to a limit
        self._checked = checked
        self.direct = self._numbers if checked else None  # those of JSON are put in order before

    def plain(self, features: Any) -> Any:
        """Return names and finite numbers; those of JSON in the order that the journal has."""
        if self._checked:
            return _checked_terms(features)
        # Where two fall together, the order of their sum is its last bit.
        return dict(sorted(_plain_terms(_mapping(features)).items()))

    def numbers(self, names: Iterable[Any], width: int) -> list[int]:
        """Return the hash of each name."""
        del width
        names = list(names)
        found: list[Any] = list(map(self._numbers.get, names))
        return list(map(self._number, names)) if None in found else found

    def _number(self, name: Any) -> int:
        found = self._numbers.get(name)
        if found is None:
            found = term_hash(str(name).encode("utf-8", "surrogatepass"), SEED) % self.n_features
            if len(self._numbers) >= MOST_REMEMBERED:
                self._numbers.clear()
            self._numbers[name] = found
        return found

    def name(self, number: int) -> str:
        """Return the place of the feature."""
        return f"place {number}"


class ArrayFeatures(FeatureSpace):
    """Lists of numbers, all of one length: by default that of the first row.

    >>> ArrayFeatures(2).rows([[1.0, 2.0]], 2, 2, 1.0).values
    array([[1., 2.]])
    """

    kind = "array"
    sparse = False
    n_features = 0  # before the first row

    def __init__(self, n_features: int = 0, names: Sequence[str] | None = None) -> None:
        self.n_features, self._names = n_features, names
        self._numbers = {name: number for number, name in enumerate(names or ())}

    def plain(self, features: Any) -> Any:
        """Return a list of numbers: that of names has 0 where one is left out."""
        if not isinstance(features, Mapping):
            return features
        if self._names is None:
            raise InputError("features must be a list of numbers; got an object of names.")
        row = [0.0] * self.n_features
        for name, value in features.items():
            if name in self._numbers:  # else no weight: what is unknown counts for nothing
                row[self._numbers[name]] = _number(name, value)
        return row

    def learn(self, features: Any) -> None:
        """Take the length of the first row for that of all, and check it."""
        if self.n_features:
            _check_length(features, self.n_features)
        if len(features) == 0:
            raise InputError("features is an empty list; it must have at least one number.")
        self.n_features = len(features)

    def entries(self, features: Any, width: int) -> Entries:
        """Return all numbers of a row; none before the length is known."""
        if not width:
            return (), ()
        _check_length(features, width)
        return range(width), features

    def rows(self, batch: Sequence[Any], width: int, room: int, constant: float) -> Dense:
        """Return dense rows."""
        values = [self.entries(row, width)[1] for row in batch]
        return Dense(np.array(values, np.float64).reshape(len(batch), room), constant)

    def shrink(self, n_features: int) -> None:
        """Go back to a row that had no length yet."""
        self.n_features = n_features

    def name(self, number: int) -> str:
        """Return the name of a number of the list, or where it stands, counted from 0."""
        return f"feature {number}" if self._names is None else self._names[number]

    def names(self) -> tuple[str, ...] | None:
        """Return the names, where the model has some."""
        return None if self._names is None else tuple(self._names)


class NumberedFeatures(FeatureSpace):
    """Names that are numbers, as in svmlight files: ``{"3": 1.5}``."""

    n_features = 0

    def __init__(self, n_features: int, *, zero_based: bool) -> None:
        self.n_features, self._first = n_features, 0 if zero_based else 1

    def plain(self, features: Any) -> Any:
        """Return numbers by number, those that fall together added: "1" and "01"."""
        terms: dict[int, float] = {}
        for name, value in sorted(_mapping(features).items()):
            number = self._numbered(name)
            terms[number] = terms.get(number, 0.0) + _number(name, value)
        return terms

    def _numbered(self, name: str) -> int:
        if not (name.isascii() and name.isdigit() and len(name) <= 10):
            raise InputError(f"The model numbers its features; got the name {name[:80]!r}.")
        number = int(name) - self._first
        if number < 0:
            raise InputError("The features of this model count from 1; got 0.")
        return number

    def name(self, number: int) -> str:
        """Return the number as the files have it."""
        return str(number + self._first)


def _mapping(features: Any) -> dict[str, Any]:
    """Return a row with the values of nested objects under names such as user.age, as of files."""
    if not isinstance(features, dict):
        raise InputError("features must be an object of names; got a list.")
    if dict not in set(map(type, features.values())):
        return features
    try:
        return {name: _nested_value(value) for name, value in flat_row(features).items()}
    except (RecursionError, OverflowError) as error:
        deep = isinstance(error, RecursionError)
        why = "an object is nested too deep" if deep else "a number is beyond the range of float64"
        raise InputError(f"features: {why}.") from None
    except ValueError as error:
        raise InputError(f"features: {error}.") from None


def _nested_value(value: Any) -> Any:
    """Return a value inside of an object as the type of a request would have made it."""
    if isinstance(value, list):
        if any(isinstance(item, (list, dict)) for item in value):
            raise ValueError("a list must hold numbers or words; got a list or an object in it")
        return [_nested_value(item) for item in value]
    if isinstance(value, dict):  # an empty one, which has no values
        return None
    return float(value) if type(value) is int else value


def _plain_terms(features: dict[str, Any]) -> dict[str, float]:
    """Return names and numbers, with words made part of the name; what falls together is added."""
    if set(map(type, features.values())) <= NUMBERS:
        return features
    terms: dict[str, float] = {}
    for given, value in sorted(features.items()):  # so that sums are those of a replay
        if isinstance(value, list):
            if not all(isinstance(item, str) for item in value):
                raise no_vector(given)
            terms |= {f"{given}={item}": 1.0 for item in value}
        elif value is not None:
            name, number = (f"{given}={value}", 1.0) if isinstance(value, str) else (given, value)
            terms[name] = terms.get(name, 0.0) + number
    return terms


def _checked_terms(features: Mapping[Any, Any]) -> dict[Any, float]:
    """Return names and finite numbers, with words made part of the name, in the order given."""
    terms: dict[Any, float] = {}
    for given, value in features.items():
        if isinstance(value, str):
            name, number = f"{given}={value}", 1.0
        else:
            name = str(given) if isinstance(given, str) else given
            if type(name) not in NAMES:
                msg = f"The name of a feature must be text or a whole number; got {given!r}."
                raise InputError(msg)
            try:
                number = float(value)
            except (TypeError, ValueError, OverflowError):
                number = nan
            if not isfinite(number):
                msg = f"Feature {given!r} of the row is {value!r}; it must be a finite number."
                raise InputError(msg)
        terms[name] = terms[name] + number if name in terms else number
    return terms


def _number(name: str, value: Any) -> float:
    if isinstance(value, str):
        msg = f"The feature {name[:80]!r} must be a number; got the word {value[:80]!r}."
        raise InputError(msg)
    if isinstance(value, (list, dict)):
        raise no_vector(name)
    return float(value or 0.0)


def no_vector(name: str) -> InputError:
    """Return the error for a list or an object where the model takes none."""
    return InputError(f"{name[:80]!r} must be a number or a word; got a list or an object.")


def _csr(
    numbers: list[int], batch: Sequence[dict[Any, float]], width: int, room: int, constant: float
) -> CSR:
    """Return rows whose features ascend; numbers from width on are left out, equal ones added."""
    indices, n_rows = np.array(numbers, np.int64), len(batch)
    data = np.fromiter(chain.from_iterable(map(dict.values, batch)), np.float64)
    lengths = np.fromiter(map(len, batch), np.int64, n_rows)
    indptr = np.append(0, lengths.cumsum())
    keys = indices + (np.repeat(np.arange(n_rows), lengths) << 40)
    order = keys.argsort(kind="stable")
    keys, indices, data = keys[order], indices[order], data[order]
    known = indices < width
    if not known.all():
        keys, indices, data = keys[known], indices[known], data[known]
        indptr = np.append(0, np.cumsum(known))[indptr]
    if len(keys) > 1 and (keys[1:] == keys[:-1]).any():
        keys, first, group = np.unique(keys, return_index=True, return_inverse=True)
        indices, before = indices[first], data
        data = np.zeros(len(keys))
        np.add.at(data, group, before)
        indptr = np.append(np.searchsorted(first, indptr[:-1]), len(keys))
    return CSR(data, indices.astype(np.int32), indptr, room, constant)


def _check_length(features: Sequence[float], n_features: int) -> None:
    if len(features) != n_features:
        msg = f"features has {len(features)} numbers; the model has {n_features} features."
        raise InputError(msg)

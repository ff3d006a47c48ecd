"""Features of a request as rows: named and numbered as they come, hashed, arrays, or columns.

A space numbers features. The writer lets it grow, in the order of the names within an example, so
that a replay of the journal numbers them alike; readers look only at numbers below the number of
features that their weights have.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import CSR, Dense, Rows
from rosenblatt.kernels.single_rows import SingleRow
from rosenblatt.kernels.text.hashing import SEED, term_hash
from rosenblatt.models.model import Model

Value = float | str | bool | None
Features = Mapping[str, Value] | Sequence[float]

NUMBERS = {float}
MOST_REMEMBERED = 1 << 17  # names whose hash is remembered
REFUSE, IGNORE = "refuse", "ignore"  # what happens to a new name where there is no more room


class FeatureSpace:
    """How the features of requests become numbered features; here for one that never grows."""

    sparse = True  # whether its rows are CSR rows

    @property
    def n_features(self) -> int:
        """How many features are numbered so far."""
        raise NotImplementedError

    def learn(self, batch: Sequence[Features]) -> None:
        """Number what is new in these rows, or raise InputError and change nothing."""
        raise NotImplementedError

    def rows(self, batch: Sequence[Features], width: int, room: int, constant: float) -> Rows:
        """Return rows of ``room`` features; only those numbered below ``width`` are in them."""
        raise NotImplementedError

    def fill(self, row: SingleRow, features: Features) -> bool:
        """Write one row to a buffer, where it can be done quickly; return whether it was."""
        del row, features
        return False

    def shrink(self, n_features: int) -> None:
        """Forget the features from this number on."""

    def copy(self) -> "FeatureSpace":
        """Return one that grows by itself."""
        return self

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

    A number is the value of its feature; a word makes the feature ``name=word`` of value 1; true
    and false are 1 and 0, and null is as if not given.

    >>> space = NamedFeatures()
    >>> space.learn([{"size": 2.0, "colour": "red"}])
    >>> space.names()
    ('colour=red', 'size')
    >>> space.rows([{"size": 3.0, "weight": 1.0}], 2, 4, 1.0)[:3]
    (array([3.]), array([1], dtype=int32), array([0, 1]))
    """

    def __init__(
        self, names: Iterable[str] = (), limit: int = 1 << 20, when_full: str = REFUSE
    ) -> None:
        self._names = list(names)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._limit, self._when_full = limit, when_full

    @property
    def n_features(self) -> int:
        """How many names there are."""
        return len(self._names)

    def learn(self, batch: Sequence[Features]) -> None:
        """Number the new names of each row in their own order."""
        new: dict[str, None] = {}
        numbers = self._numbers
        for features in batch:
            terms = _plain_terms(_mapping(features))
            if not numbers.keys() >= terms.keys():
                for name in sorted(terms.keys() - numbers.keys()):
                    new[name] = None
        if not new:
            return
        room = self._limit - len(self._names)
        if len(new) > room and self._when_full == REFUSE:
            name = list(new)[room]
            msg = (
                f"The feature {name[:80]!r} is new and the model has all {self._limit:,} features "
                "that it may have; create a model with a higher limit, with hashed features, or "
                "with when_full='ignore'."
            )
            raise InputError(msg)
        for name in list(new)[:room]:
            numbers[name] = len(self._names)  # a reader that sees it finds no weight yet
            self._names.append(name)

    def rows(self, batch: Sequence[Features], width: int, room: int, constant: float) -> CSR:
        """Return CSR rows, their features in order."""
        batch = _plain_batch(batch)
        numbers = list(map(self._numbers.get, chain.from_iterable(batch), repeat(width)))
        return _csr(numbers, batch, width, room, constant)

    def fill(self, row: SingleRow, features: Features) -> bool:
        """Write one row to a buffer; names without a number are left out."""
        if type(features) is not dict:
            return False
        numbers = self._numbers
        if row.fill(numbers, features):
            return True
        terms = _plain_terms(features)
        return row.fill(numbers, {name: terms[name] for name in terms if name in numbers})

    def shrink(self, n_features: int) -> None:
        """Forget the names that came last."""
        for name in self._names[n_features:]:
            del self._numbers[name]
        del self._names[n_features:]

    def copy(self) -> "NamedFeatures":
        """Return one that grows by itself."""
        return NamedFeatures(self._names, self._limit, self._when_full)

    def name(self, number: int) -> str:
        """Return the name of a feature."""
        return self._names[number]

    def names(self) -> tuple[str, ...]:
        """Return all names by number."""
        return tuple(self._names)


class HashedFeatures(FeatureSpace):
    """Names, numbered by a hash of so many bits: nothing grows, and two names may share a weight.

    >>> HashedFeatures(4).rows([{"size": 3.0}], 16, 16, 1.0)[:2]
    (array([3.]), array([9], dtype=int32))
    """

    def __init__(self, bits: int) -> None:
        self._mask = (1 << bits) - 1
        self._numbers: dict[str, int] = {}  # of names that came, up to a limit

    @property
    def n_features(self) -> int:
        """How many numbers there are."""
        return self._mask + 1

    def learn(self, batch: Sequence[Features]) -> None:
        """Raise InputError for what has no names."""
        for features in batch:
            _mapping(features)

    def rows(self, batch: Sequence[Features], width: int, room: int, constant: float) -> CSR:
        """Return CSR rows, their features in order, those of equal number added."""
        # as the journal has them: where two fall together, the order of their sum is its last bit
        ordered = [dict(sorted(terms.items())) for terms in _plain_batch(batch)]
        numbers = list(map(self._number, chain.from_iterable(ordered)))
        return _csr(numbers, ordered, width, room, constant)

    def fill(self, row: SingleRow, features: Features) -> bool:
        """Write one row to a buffer."""
        if type(features) is not dict:
            return False
        terms = _plain_terms(features)
        numbers = self._numbers
        if not numbers.keys() >= terms.keys():
            numbers = {name: self._number(name) for name in terms}
        return row.fill(numbers, dict(sorted(terms.items())))

    def _number(self, name: str) -> int:
        found = self._numbers.get(name)
        if found is None:
            found = term_hash(name.encode("utf-8", "surrogatepass"), SEED) & self._mask
            if len(self._numbers) < MOST_REMEMBERED:
                self._numbers[name] = found
        return found

    def name(self, number: int) -> str:
        """Return the place of the feature."""
        return f"place {number}"


class ArrayFeatures(FeatureSpace):
    """A list of numbers, as long in every row; the first row says how long where nobody else did.

    >>> ArrayFeatures(2).rows([[1.0, 2.0]], 2, 2, 1.0).values
    array([[1., 2.]])
    """

    sparse = False

    def __init__(self, n_features: int = 0, names: Sequence[str] | None = None) -> None:
        self._n_features, self._names = n_features, names
        self._numbers = {name: number for number, name in enumerate(names or ())}

    @property
    def n_features(self) -> int:
        """How many numbers a row has; 0 before the first."""
        return self._n_features

    def learn(self, batch: Sequence[Features]) -> None:
        """Take the length of the first row for that of all, and check it."""
        n_features = self._n_features
        for features in batch:
            found = len(self._numbers_of(features))
            if n_features in (0, found):
                n_features = found
            else:
                raise _wrong_length(found, n_features)
        if n_features == 0 and batch:
            msg = "features is an empty list; it must have at least one number."
            raise InputError(msg)
        self._n_features = n_features

    def rows(self, batch: Sequence[Features], width: int, room: int, constant: float) -> Dense:
        """Return dense rows."""
        values = [self._numbers_of(features) for features in batch]
        if not width:  # nobody has said how long a row is, so nothing in it has a weight
            values = [()] * len(values)
        for row in values:
            if len(row) != width:
                raise _wrong_length(len(row), width)
        return Dense(np.array(values, np.float64).reshape(len(values), room), constant)

    def _numbers_of(self, features: Features) -> Sequence[float]:
        if not isinstance(features, Mapping):
            return features
        if self._names is None:
            msg = "features must be a list of numbers; got an object of names."
            raise InputError(msg)
        row = [0.0] * self._n_features
        for name, value in features.items():
            if name not in self._numbers:
                continue  # no weight: as everywhere, what is unknown counts for nothing
            if isinstance(value, str):
                msg = f"The feature {name[:80]!r} must be a number; got the word {value[:80]!r}."
                raise InputError(msg)
            row[self._numbers[name]] = float(value or 0.0)
        return row

    def shrink(self, n_features: int) -> None:
        """Go back to a row that had no length yet."""
        self._n_features = n_features

    def copy(self) -> "ArrayFeatures":
        """Return one that takes its own length."""
        return ArrayFeatures(self._n_features, self._names)

    def name(self, number: int) -> str:
        """Return the name of a number of the list, or where it stands, counted from 0."""
        return f"feature {number}" if self._names is None else self._names[number]

    def names(self) -> tuple[str, ...] | None:
        """Return the names, where the model has some."""
        return None if self._names is None else tuple(self._names)


class NumberedFeatures(FeatureSpace):
    """Names that are numbers, as in svmlight files: ``{"3": 1.5}``."""

    def __init__(self, n_features: int, *, zero_based: bool) -> None:
        self._n_features, self._first = n_features, 0 if zero_based else 1

    @property
    def n_features(self) -> int:
        """How many features the model was trained on."""
        return self._n_features

    def learn(self, batch: Sequence[Features]) -> None:
        """Raise InputError for what is not a number of a feature."""
        for features in batch:
            for name in _mapping(features):
                self._number(name)

    def rows(self, batch: Sequence[Features], width: int, room: int, constant: float) -> CSR:
        """Return CSR rows, their features in order."""
        ordered = [  # "1" and "01" fall together
            {name: _plain(name, value) for name, value in sorted(_mapping(features).items())}
            for features in batch
        ]
        numbers = list(map(self._number, chain.from_iterable(ordered)))
        return _csr(numbers, ordered, width, room, constant)

    def _number(self, name: str) -> int:
        if not (name.isascii() and name.isdigit() and len(name) <= 10):
            msg = f"The model numbers its features; got the name {name[:80]!r}."
            raise InputError(msg)
        number = int(name) - self._first
        if number < 0:
            msg = "The features of this model count from 1; got 0."
            raise InputError(msg)
        return number

    def name(self, number: int) -> str:
        """Return the number as the files have it."""
        return str(number + self._first)


class ColumnFeatures(FeatureSpace):
    """The columns of a table that a model was trained on: texts, categories, numbers, dates."""

    def __init__(self, model: Model) -> None:
        from rosenblatt.data.tables.table import require_library

        require_library("rows of columns")
        encoder, table = model.encoder, model.table
        if table is None:
            msg = f"The columns of a {type(encoder).__name__} cannot be served."
            raise InputError(msg)
        self._encoder: Any = encoder
        self._table = table
        self._last = threading.local()  # what was counted of the rows of each thread
        self.columns = [(c.name, c.role) for c in table.columns if c.required]

    @property
    def n_features(self) -> int:
        """How many features the model was trained on: levels and words that are new count 0."""
        return int(self._encoder.n_features)

    def learn(self, batch: Sequence[Features]) -> None:
        """Raise InputError for rows that the columns do not take; nothing new is numbered."""
        self._encoded(batch)

    def rows(self, batch: Sequence[Features], width: int, room: int, constant: float) -> CSR:
        """Return CSR rows, as a file with these rows has them."""
        del width
        found = self._encoded(batch)
        return CSR(found.data, found.indices, found.indptr, room, constant)

    def _encoded(self, batch: Sequence[Features]) -> Any:
        import polars as pl

        from rosenblatt.data.encoding import RowUse
        from rosenblatt.data.tables.table import Table

        for features in batch:
            for name in _mapping(features):
                if all(name != known for known, _ in self.columns):
                    listed = ", ".join(repr(known) for known, _ in self.columns[:12])
                    msg = f"The model has no column {name[:80]!r}; it has {listed}."
                    raise InputError(msg)
        columns = {
            name: [self._text(name, _mapping(features).get(name)) for features in batch]
            for name, _ in self.columns
        }
        frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        counts = self._last.counts = self._table.new_counts()
        table = Table(frame, "The request", 1, None, 0)
        found = self._table.encode(table, None, RowUse(learn=False, counts=counts))
        return self._encoder.expand(found)

    def remarks(self) -> list[str]:
        """Return sentences on columns that are not as in training."""
        return self._table.remarks(self._last.counts, at_once=True)

    def _text(self, name: str, value: Value) -> str | None:
        """Return a value as it would stand in a file; a number may be that of a category."""
        if value is None or isinstance(value, str):
            return value or None
        return self._table.level(name, value) or _text(value)

    def name(self, number: int) -> str:
        """Return what the encoding calls a feature."""
        return str(self._encoder.name(number))


def _mapping(features: Features) -> dict[str, Value]:
    if not isinstance(features, dict):
        msg = "features must be an object of names; got a list."
        raise InputError(msg)
    return features


def _plain_batch(batch: Sequence[Features]) -> Sequence[dict[str, float]]:
    """Return the names and numbers of rows; see ``_plain_terms``."""
    named: Any = batch
    if set(map(type, batch)) <= {dict} and NUMBERS.issuperset(
        map(type, chain.from_iterable(map(dict.values, named)))
    ):
        return batch  # type: ignore[return-value]  # all of them are numbers
    return [_plain_terms(_mapping(features)) for features in batch]


def _plain_terms(features: dict[str, Value]) -> dict[str, float]:
    """Return names and numbers, with words made part of the name; what falls together is added."""
    if set(map(type, features.values())) <= NUMBERS:
        return features  # type: ignore[return-value]  # all of them are numbers
    terms: dict[str, float] = {}
    for given, value in sorted(features.items()):  # so that sums are those of a replay
        if value is None:
            continue
        name, number = (f"{given}={value}", 1.0) if isinstance(value, str) else (given, value)
        terms[name] = terms.get(name, 0.0) + number
    return terms


def _plain(name: str, value: Value) -> float:
    if isinstance(value, str):
        msg = f"The feature {name[:80]!r} must be a number; got the word {value[:80]!r}."
        raise InputError(msg)
    return float(value or 0.0)


def _text(value: float) -> str:
    """Return a number as it would stand in a file: a whole one without its decimal point."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _csr(
    numbers: list[int], batch: Sequence[dict[str, float]], width: int, room: int, constant: float
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


def _wrong_length(found: int, wanted: int) -> InputError:
    return InputError(f"features has {found} numbers; the model has {wanted} features.")


def gathered(rows: CSR, weights: NDArray[Any], ledger: NDArray[Any], count: int) -> Any:
    """Return rows and the averages w − u/c that they need, those alone, by their places.

    The same numbers in the same order as with all the averages, so the same sums.
    """
    at, n = rows.indices, len(rows.indices)
    needed = np.empty((n + 1, *weights.shape[1:]))
    needed[:n] = weights.take(at, 0) - ledger.take(at, 0) / count
    needed[n] = weights[-1] - ledger[-1] / count
    return CSR(rows.data, _places(n), rows.indptr, n, rows.constant), needed


@cache
def _few_places() -> NDArray[Any]:
    return np.arange(4096, dtype=np.int32)


def _places(n: int) -> NDArray[Any]:
    """Return 0 to n − 1."""
    return _few_places()[:n] if n <= 4096 else np.arange(n, dtype=np.int32)

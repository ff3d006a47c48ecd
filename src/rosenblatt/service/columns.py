"""Rows of columns, as a file has them: the feature space of models that were trained on tables."""

import threading
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from rosenblatt.data.encoding import GridEncoding, RowUse
from rosenblatt.data.polars import pl
from rosenblatt.data.tables.table import Table, found_name, require_library
from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.rows import CSR
from rosenblatt.models.feature_spaces import Entries, FeatureSpace, Item, no_vector
from rosenblatt.models.model import Model

FIELD = "features"  # the name of rows as a table
MOST_LEVELS = 60  # of a column whose values are listed


class ColumnFeatures(FeatureSpace):
    """The columns of a table that a model was trained on: texts, categories, numbers, dates."""

    kind = "columns"

    def __init__(self, model: Model) -> None:
        require_library("rows of columns")
        encoder, table = model.encoder, model.table
        if table is None:
            raise InputError(f"The columns of a {type(encoder).__name__} cannot be served.")
        self._encoder: Any = encoder
        self._table = table
        self._last = threading.local()  # what was counted of the rows of each thread
        self.columns = [(c.name, c.role) for c in table.columns if c.required]
        self.levels = table.levels(MOST_LEVELS)
        self.ranges = table.ranges()

    @property
    def n_features(self) -> int:
        """How many features the model was trained on: levels and words that are new count 0."""
        return int(self._encoder.n_features)

    def plain(self, features: Any) -> Any:
        """Return a row by the model's names, or raise InputError; levels that are new count 0."""
        given, row = super().plain(features), dict[str, Any]()
        known = [name for name, _ in self.columns]
        for name, value in given.items():
            own = found_name(name, known)
            if own is None or (own != name and own in given):
                listed = ", ".join(map(repr, known[:12]))
                raise InputError(f"The model has no column {name[:80]!r}; it has {listed}.")
            row[own] = value
        for name, role in self.columns:
            value = row.get(name)
            items = value if isinstance(value, list) else [value]
            numbers = items is value and all(type(item) is float for item in items)
            if role == "vector" and not (numbers or value is None):
                raise InputError(f"{name[:80]!r} must be a list of numbers.")
            if items is value and role not in ("vector", "list"):
                raise no_vector(name)
        return row

    def entries(self, features: Any, width: int) -> Entries:
        """Return the features of a row as a file with it has them."""
        found = self.rows([features], width, width, 1.0)
        return found.indices, found.data

    def rows(self, batch: Sequence[Any], width: int, room: int, constant: float) -> CSR:
        """Return CSR rows, as a file with these rows has them."""
        del width
        columns, schema = dict[str, list[Any]](), dict[str, Any]()
        for name, role in self.columns:
            values = [features.get(name) for features in batch]
            schema[name] = pl.String
            if role == "vector":
                columns[name], schema[name] = values, pl.List(pl.Float64)
            elif role == "list":
                columns[name], schema[name] = [*map(_texts, values)], pl.List(pl.String)
            else:
                columns[name] = [self._text(name, value) for value in values]
        frame = pl.DataFrame(columns, schema=schema)
        counts = self._last.counts = self._table.new_counts()
        use = RowUse(learn=False, counts=counts)
        try:
            encoded = self._table.encode(Table(frame, FIELD, 1, None, 0), None, use)
        except InputError as error:
            raise _of_request(error, len(batch)) from error
        found = self._encoder.expand(encoded)
        return CSR(found.data, found.indices, found.indptr, room, constant)

    def remarks(self) -> list[str]:
        """Return sentences on columns that are not as in training."""
        return self._table.remarks(self._last.counts, at_once=True)

    def _text(self, name: str, value: Item) -> str | None:
        """Return a value as a file has it; a number may name a category."""
        if value is None or isinstance(value, str):
            return value or None
        return self._table.level(name, value) or _text(value)

    def part_of(self, number: int) -> tuple[Any, int]:
        """Return the columns of a feature where several grids say the same of them."""
        of_cells = isinstance(self._encoder, GridEncoding)
        return self._encoder.part_of(number) if of_cells else (number, 0)

    def name(self, number: int) -> str:
        """Return what the encoding calls a feature."""
        return str(self._encoder.name(number))


def _of_request(error: InputError, n_rows: int) -> InputError:
    """Return what is wrong with rows, without advice to those who train."""
    parts = error.args[0].parts
    fact = "".join(takewhile(lambda part: isinstance(part, str), parts))
    if Parameter in map(type, parts):
        fact = f"{fact.rpartition(';')[0]}."
    return InputError(fact.replace(", row 1: ", ": ", 1) if n_rows == 1 else fact)


def _texts(value: Any) -> list[str | None] | None:
    """Return the words of a list, or of a value alone; None where there is none."""
    items = value if isinstance(value, list) else [value]
    return None if value is None else [None if item is None else _text(item) for item in items]


def _text(value: float | str) -> str:
    """Return a value as a file has it: a whole number without its decimal point."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)

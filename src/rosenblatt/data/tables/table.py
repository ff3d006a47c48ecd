"""Rows of named columns on their way from a file to an encoding, and which columns are wanted."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from importlib.util import find_spec
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import BadRow, Batch
from rosenblatt.data.polars import pl
from rosenblatt.errors import InputError
from rosenblatt.lazy import installing
from rosenblatt.wording import composed, counted, word_list

MOST_ROWS = 1 << 16  # in a table
MOST_BYTES = 4 << 20  # about, in memory
MOST_COLUMNS = 50_000  # each is judged by itself, in some milliseconds
SHOWN = 12  # names of columns in an error message
MOST_FIELDS = 256  # of an object, each a column; with more it counts or names things

Frame = TypeVar("Frame", "pl.DataFrame", "pl.LazyFrame")
ColumnPlaces = dict[str, int]  # columns of a file as tables call them, each with its number from 0


class Dialect(NamedTuple):
    """How the fields of a text are parted."""

    separator: str
    quoting: bool


class Heading(NamedTuple):
    """What the first rows say, or the caller."""

    dialect: Dialect
    width: int  # fields in a row
    header: bool
    choice: ColumnPlaces
    detected: bool = False  # whether the rows said if there is a header, not the caller
    notes: tuple[str, ...] = ()  # sentences that a person should see
    label: str | None = None  # the column that the header marks as that of the labels
    first_line: int = 1  # on which the rows begin
    again: tuple[str, ...] = ()  # fields of the header, where a row of them is one more header
    declared: dict[str, str] | None = None  # of ARFF: the kind of each column
    defaults: tuple[str, ...] = ()  # and what a sparse row has where it says nothing

    def kind(self, name: str) -> str:
        """Return what the header declares a column to be; "" where it declares nothing."""
        return (self.declared or {}).get(name, "")


class Table(NamedTuple):
    """Successive rows of one file.

    From CSV and TSV every column is text (``pl.String``) without blanks around it, and an empty
    field is null. From JSON lines, Parquet and Arrow columns have the type that the file gives.
    """

    frame: "pl.DataFrame"
    file: str  # as messages call it
    first_row: int  # number of the first row in the file, counted from 1
    lines: NDArray[np.int64] | None  # on which each row begins, counted from 1, in files of lines
    bytes_read: int  # of the file, packed as it may be, up to the end of the table or a little more
    heading: Heading | None = None  # how CSV or TSV is laid out
    bad: tuple[BadRow, ...] = ()  # rows of the file that are left out here
    numbers: NDArray[np.float64] | None = None  # (n_rows, n_numeric), NaN for none; once prepared
    vectors: tuple[NDArray[Any], ...] = ()  # of each column of them, likewise
    texts: tuple[Batch, ...] = ()  # terms or features of each text column, once prepared

    def without(self, bad: Sequence[BadRow]) -> "Table":
        """Return the table without some of its rows, which are bad."""
        keep = np.ones(self.frame.height, bool)
        keep[[row.before for row in bad]] = False
        return self._replace(bad=(*self.bad, *bad)).filtered(keep)

    def filtered(self, keep: NDArray[np.bool_]) -> "Table":
        """Return the table with some of its rows."""
        if keep.all():
            return self
        before = np.append(np.cumsum(keep) - keep, keep.sum())  # of the rows that are left
        in_order = sorted(self.bad, key=attrgetter("before"))  # stable: as in the file
        return self._replace(
            frame=self.frame.filter(keep),
            lines=None if self.lines is None else self.lines[keep],
            bad=tuple(row._replace(before=int(before[row.before])) for row in in_order),
        )

    def draw_numbers(self, _: int) -> NDArray[np.uint64]:
        """Return a number for each row that does not depend on other rows: its line, if any."""
        rows = np.arange(self.frame.height) + self.first_row
        return (rows if self.lines is None else self.lines).astype(np.uint64)

    def place(self, row: int) -> str:
        """Return where a row of this table stands, as an error message says it."""
        file, number = self.numbered(row)
        return f"{file}, {'row' if self.lines is None else 'line'} {number}"

    def numbered(self, row: int) -> tuple[str, int]:
        """Return the file and the line of a row, or its number where the file has no lines."""
        return self.file, self.first_row + row if self.lines is None else int(self.lines[row])


def in_slices(table: Table, *, most_rows: int = MOST_ROWS) -> Iterator[Table]:
    """Yield a table as it is, or in successive parts that are not too long."""
    n_rows = table.frame.height
    if 0 < n_rows <= most_rows or (not n_rows and table.bad):
        yield table
        return
    for start in range(0, n_rows, most_rows):
        stop = min(start + most_rows, n_rows)
        bad = tuple(
            row._replace(before=row.before - start)
            for row in table.bad
            if start <= row.before < stop or row.before == stop == n_rows
        )
        frame, first = table.frame.slice(start, most_rows), table.first_row + start
        lines = None if table.lines is None else table.lines[start:stop]
        yield table._replace(frame=frame, first_row=first, lines=lines, bad=bad)


def rows_for(frame: "pl.DataFrame") -> int:
    """Return how many rows like those of this frame make a table of about the most bytes."""
    bytes_a_row = max(1, int(frame.estimated_size()) // max(1, frame.height))
    return min(MOST_ROWS, max(1, MOST_BYTES // bytes_a_row))


class Selection(NamedTuple):
    """Columns by name, in the order in which tables are to have them."""

    names: tuple[str, ...]
    optional: frozenset[str]  # those that a file may lack

    @property
    def required(self) -> tuple[str, ...]:
        """Those that a file must have."""
        return tuple(name for name in self.names if name not in self.optional)


def wanted_columns(names: Sequence[str] | None, optional: Collection[str]) -> Selection | None:
    """Return what is wanted, or None for everything."""
    if names is None:
        return None
    if not names:
        raise InputError("names must name at least one column.")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(f"names has {repeated[0]!r} more than once.")
    return Selection(tuple(names), frozenset(optional))


NUMBERED = re.compile("column_([0-9]{1,9})")


def numbered_names(count: int) -> tuple[str, ...]:
    """Return what the columns of a file without a header are called."""
    return tuple(f"column_{k + 1}" for k in range(count))


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of columns, of which the second that is called x becomes x_2, and so on.

    >>> distinct_names(["x", "y", "x", "x"])
    ('x', 'y', 'x_2', 'x_3')
    """
    if len(set(names)) == len(names):
        return tuple(names)
    taken, distinct, following = set(names), dict[str, None](), dict[str, int]()
    for name in names:
        own, number = name, following.get(name, 2)
        while own in distinct or (own != name and own in taken):
            own, number = f"{name}_{number}", number + 1
        distinct[own], following[name] = None, number
    return tuple(distinct)


def found_name(name: str, names: Collection[str]) -> str | None:
    """Return the name that is this one: as it is written, else the only one once composed.

    >>> found_name("e\N{COMBINING ACUTE ACCENT}", ["é", "e"]) == "é"
    True
    """
    if name in names:
        return name
    alike = [one for one in names if composed(one) == composed(name)]
    return alike[0] if len(alike) == 1 else None


def choose(columns: Sequence[str], wanted: Selection | None, file: str) -> ColumnPlaces:
    """Return where the wanted columns stand among the named ones of a file."""
    if len(columns) > MOST_COLUMNS:
        raise InputError(
            f"{file} has {len(columns):,} columns; a table may have at most {MOST_COLUMNS:,}. Write"
            " such rows as svmlight text, feature:value, or as an array of NumPy, a vector a row."
        )
    columns = distinct_names(columns)
    number = {name: k for k, name in enumerate(columns)}
    if wanted is None:
        return number
    unlike = [name for name in wanted.names if name not in number and not name.isascii()]
    alike = {name: found_name(name, columns) for name in unlike}
    number |= {name: number[other] for name, other in alike.items() if other is not None}
    for name in wanted.required:
        if name not in number:
            raise InputError(f"{file} has no column {name!r}; it has {listed_names(columns)}.")
    found = {name: number[name] for name in wanted.names if name in number}
    if not found:
        missed, there = listed_names(wanted.names), listed_names(columns)
        raise InputError(f"{file} has none of the columns {missed}; it has {there}.")
    return found


def choose_unnamed(count: int, wanted: Selection | None, file: str) -> ColumnPlaces:
    """Return where the wanted columns stand in a file that does not name its columns.

    By number where they are called so (column_3 is the third) and the file has none behind them,
    else by their order, where the file has as many as are wanted, or as many as are required.
    """
    columns = numbered_names(count)
    if wanted is None:
        return choose(columns, wanted, file)
    numbers = [int(number[1]) for name in wanted.names if (number := NUMBERED.fullmatch(name))]
    if set(wanted.required) <= set(columns) and count <= max(numbers, default=count):
        return choose(columns, wanted, file)
    for names in (wanted.names, wanted.required):
        if len(names) == count:
            return {name: k for k, name in enumerate(names)}
    numbers = sorted({len(wanted.required), len(wanted.names)})
    raise InputError(
        f"{file} has no header and {counted(count, 'column')};"
        f" expected {' or '.join(map(str, numbers))}: {listed_names(wanted.names)}."
    )


class Nesting(NamedTuple):
    """Which keys hold objects, by the names of values in the first rows."""

    objects: frozenset[str] = frozenset()  # where null and {} are no values
    crowded: frozenset[str] = frozenset()  # those with too many fields to be columns

    @classmethod
    def of(cls, rows: Iterable[dict[str, Any]]) -> "Nesting":
        """Return what rows have; raise ValueError where two values would have one name."""
        names = {name for row in rows for name in flat_row(row)}
        fields = Counter(name.rpartition(".")[0] for name in names)
        crowded = frozenset(name for name, n in fields.items() if name and n > MOST_FIELDS)
        return cls(frozenset(outer_names(names) - crowded), crowded)


def outer_names(names: Iterable[str]) -> set[str]:
    """Return what stands before a point of names: each may be that of an object.

    >>> sorted(outer_names(["user.home.city", "x"]))
    ['user', 'user.home']
    """
    return {name[: point.start()] for name in names for point in re.finditer(r"\.", name)}


NO_NESTING = Nesting()


def flat_row(
    row: dict[str, Any], nesting: Nesting = NO_NESTING, inside: str = ""
) -> dict[str, Any]:
    """Return a row with the values of nested objects; raise ValueError where two have one name.

    >>> flat_row({"user": {"age": 31, "home": {"city": "Rome"}}, "x": 1})
    {'user.age': 31, 'user.home.city': 'Rome', 'x': 1}
    """
    flat: dict[str, Any] = {}
    for key, value in row.items():
        name = f"{inside}{key}"
        inner = {name: value}
        if isinstance(value, dict) and value and name not in nesting.crowded:
            inner = flat_row(value, nesting, f"{name}.")
        elif (value is None or isinstance(value, dict)) and name in nesting.objects:
            continue
        for repeated in flat.keys() & inner.keys():
            raise ValueError(_repeated(repeated))
        flat |= inner
    return flat


def flat_columns(frame: Frame, file: str) -> Frame:
    """Return a frame, also a lazy one, with a column for each field of its columns of objects."""
    names, nested = list[str](), list[int]()
    for number, (name, kind) in enumerate(frame.collect_schema().items()):
        if isinstance(kind, pl.Struct) and len(kind.fields) <= MOST_FIELDS:
            nested.append(number)
            names += [f"{name}.{one.name}" for one in kind.fields]
        else:
            names.append(name)
    for repeated in (name for name, count in Counter(names).items() if nested and count > 1):
        raise InputError(f"{file}: {_repeated(repeated)}.")
    if not nested:
        return frame
    return flat_columns(frame.unnest(pl.selectors.by_index(nested), separator="."), file)


def _repeated(name: str) -> str:
    return f"'{name}' is a column by itself and inside of an object; rename one of them"


def chosen_columns(frame: "pl.DataFrame", choice: ColumnPlaces) -> "pl.DataFrame":
    """Return the chosen columns of a frame under their names.

    By number: polars takes a name that begins with ^ and ends with $ for a pattern. From a
    dictionary: in a list it would give a name of its own to a column whose name is empty.
    """
    return pl.DataFrame({name: frame.to_series(number) for name, number in choice.items()})


def listed_names(columns: Sequence[str]) -> str:
    """Return names of columns as a message lists them."""
    return word_list(map(repr, columns), SHOWN, ", ")


def require_library(name: str, library: str = "polars") -> None:
    """Raise an error that says what to install, where a library is missing."""
    if not find_spec(library):
        raise InputError(f"Reading {name} needs {library}: {installing('io')}")


def polars_failures() -> tuple[type[BaseException], ...]:
    """Return what polars raises on data that it can't read; a panic is no ordinary exception."""
    panic: Any = pl.exceptions.PanicException
    return (pl.exceptions.PolarsError, panic, OSError, ValueError, OverflowError)

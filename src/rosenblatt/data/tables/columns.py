"""Which columns of a file are wanted, and where in the file they stand."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rosenblatt.errors import InputError

if TYPE_CHECKING:
    import polars as pl

SHOWN = 12  # names of columns in an error message


class Wanted(NamedTuple):
    """Columns by name, in the order in which tables are to have them."""

    names: tuple[str, ...]
    optional: frozenset[str]  # those that a file may lack

    @property
    def required(self) -> tuple[str, ...]:
        """Those that a file must have."""
        return tuple(name for name in self.names if name not in self.optional)


class Choice(NamedTuple):
    """Columns of a file: what each is called in tables, and its number in the file from 0."""

    names: tuple[str, ...]
    numbers: tuple[int, ...]


def wanted_columns(names: Sequence[str] | None, optional: Collection[str]) -> Wanted | None:
    """Return what is wanted, or None for everything."""
    if names is None:
        return None
    if not names:
        msg = "names must name at least one column."
        raise InputError(msg)
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        msg = f"names has {repeated[0]!r} more than once."
        raise InputError(msg)
    return Wanted(tuple(names), frozenset(optional))


def numbered_names(count: int) -> tuple[str, ...]:
    """Return what the columns of a file without a header are called."""
    return tuple(f"column_{k + 1}" for k in range(count))


def choose(columns: Sequence[str], wanted: Wanted | None, file: str) -> Choice:
    """Return where the wanted columns stand among the named ones of a file."""
    repeated = [name for name, count in Counter(columns).items() if count > 1]
    if repeated:
        msg = f"{file} has more than one column {repeated[0]!r}; each column needs its own name."
        raise InputError(msg)
    if wanted is None:
        return Choice(tuple(columns), tuple(range(len(columns))))
    number = {name: k for k, name in enumerate(columns)}
    for name in wanted.required:
        if name not in number:
            msg = f"{file} has no column {name!r}; it has {_listed(columns)}."
            raise InputError(msg)
    found = tuple(name for name in wanted.names if name in number)
    if not found:
        msg = f"{file} has none of the columns {_listed(wanted.names)}; it has {_listed(columns)}."
        raise InputError(msg)
    return Choice(found, tuple(number[name] for name in found))


def choose_unnamed(count: int, wanted: Wanted | None, file: str) -> Choice:
    """Return where the wanted columns stand in a file that does not name its columns.

    They are taken by their numbers where they are called so (column_3 is the third), else by their
    order, where the file has as many as are wanted, or as many as are required.
    """
    columns = numbered_names(count)
    if wanted is None or set(wanted.required) <= set(columns):
        return choose(columns, wanted, file)
    for names in (wanted.names, wanted.required):
        if len(names) == count:
            return Choice(names, tuple(range(count)))
    numbers = sorted({len(wanted.required), len(wanted.names)})
    msg = (
        f"{file} has no header and {count} {'column' if count == 1 else 'columns'};"
        f" expected {' or '.join(map(str, numbers))}: {_listed(wanted.names)}."
    )
    raise InputError(msg)


def chosen_columns(frame: "pl.DataFrame", choice: Choice) -> "pl.DataFrame":
    """Return the chosen columns of a frame under their names.

    By number: polars takes a name that begins with ^ and ends with $ for a pattern. From a
    dictionary: in a list it would give a name of its own to a column whose name is empty.
    """
    import polars as pl

    pairs = zip(choice.numbers, choice.names, strict=True)
    return pl.DataFrame({name: frame.to_series(number) for number, name in pairs})


def _listed(columns: Sequence[str]) -> str:
    listed = ", ".join(repr(name) for name in columns[:SHOWN])
    return f"{listed} and {len(columns) - SHOWN} more" if len(columns) > SHOWN else listed

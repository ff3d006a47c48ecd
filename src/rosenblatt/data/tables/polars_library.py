"""The library that parses tables, which is not installed with every rosenblatt."""

from importlib.util import find_spec
from typing import Any

from rosenblatt.errors import InputError


def require_polars(name: str) -> None:
    """Raise an error that says what to install, where polars is missing."""
    if not find_spec("polars"):
        msg = f"Reading {name} needs polars: pip install 'rosenblatt[io]'."
        raise InputError(msg)


def polars_failures() -> tuple[type[BaseException], ...]:
    """Return what polars raises on data that it can't read; a panic is no ordinary exception."""
    import polars as pl

    panic: Any = pl.exceptions.PanicException
    return (pl.exceptions.PolarsError, panic, OSError, ValueError, OverflowError)

"""What makes a table: where its figures come from, and how ours are measured."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reproduction.data_sets import DataFolder
from reproduction.line import Line
from reproduction.table import Grid


@dataclass(frozen=True)
class Setting:
    """What an experiment is handed."""

    folder: DataFolder
    quick: bool  # whether a subset is enough
    tell: Callable[[str], None]  # takes what is being done now


@dataclass(frozen=True)
class Experiment:
    """A table that can be made again."""

    name: str
    title: str
    source: str
    method: str
    tolerance: str
    run: Callable[[Setting], Iterator[Line | Grid | str]]  # lines, grids and notes
    has_subset: bool = True  # whether it does less where a subset is enough

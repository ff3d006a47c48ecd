"""What makes a table, and how tables are made one after another, each kept as it is finished."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from reproduction.data_sets import DataFolder, MissingDataError
from reproduction.line import Line
from reproduction.machine import made_now
from reproduction.results import DOCUMENT, Results
from reproduction.table import Grid, Table
from rosenblatt.errors import InputError
from rosenblatt.rules import Perceptron, Rule
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import Outcome
from rosenblatt.training.linear import fit
from rosenblatt.training.loop import Plan, Shuffle
from rosenblatt.training.state import State


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


def make_table(experiment: Experiment, setting: Setting, keep: Callable[[Table], None]) -> Table:
    """Return the table of an experiment, and hand it over, even where Ctrl-C ends it early."""
    table = Table(
        name=experiment.name,
        title=experiment.title,
        source=experiment.source,
        method=experiment.method,
        tolerance=experiment.tolerance,
        quick=setting.quick and experiment.has_subset,
        made=made_now(),
    )
    started = perf_counter()
    try:
        for item in experiment.run(setting):
            table.add(item)
        table.complete = True
    except KeyboardInterrupt:
        if table.lines:
            table.seconds = perf_counter() - started
            keep(table)
        raise
    table.seconds = perf_counter() - started
    keep(table)
    return table


def make_tables(
    experiments: Iterable[Experiment],
    folder: DataFolder,
    results: Results,
    *,
    quick: bool,
    resume: bool,
    tell: Callable[[str], None],
    show: Callable[[Table], None],
) -> dict[str, str]:
    """Make and show tables; return why some could not be made, by name.

    Raises
    ------
    InputError
        Where a subset would take the place of a whole table.
    KeyboardInterrupt
        After what is finished has been kept and shown.
    """
    wanted = list(experiments)
    if quick and not resume:
        _guard(wanted, results)
    skipped = {}
    for experiment in wanted:
        known = results.tables.get(experiment.name)
        if resume and known is not None and known.complete and (quick or not known.quick):
            results.keep(known)  # writes the page, whose form may have changed
            show(known)
            continue
        setting = Setting(folder, quick, tell)
        try:
            table = make_table(experiment, setting, results.keep)
        except MissingDataError as error:
            skipped[experiment.name] = str(error)
        except KeyboardInterrupt:
            if experiment.name in results.tables:
                show(results.tables[experiment.name])
            raise
        else:
            show(table)
    return skipped


def _guard(experiments: Iterable[Experiment], results: Results) -> None:
    for experiment in experiments:
        known = results.tables.get(experiment.name)
        if known is not None and known.complete and not known.quick and experiment.has_subset:
            msg = (
                f"{results.folder / DOCUMENT} holds the whole table {experiment.name}, which "
                "--quick would replace by a subset: name another folder with -o."
            )
            raise InputError(msg)


def train(
    examples: Examples,
    n_classes: int,
    seed: int,
    *,
    max_iter: int,
    rule: Rule | None = None,
    shuffle: Shuffle = True,
    **plan: Any,
) -> Outcome:
    """Return what happened in a training from zero.

    Raises
    ------
    KeyboardInterrupt
        Where Ctrl-C ended it, which the training by itself takes for a wish to keep what it has.
    """
    state = State.zeros(examples.rows.shape[1], n_classes, averaged=False)
    full = Plan(rule or Perceptron(), max_iter, shuffle=shuffle, **plan)
    outcome = fit(state, examples, full, np.random.default_rng(seed))
    if outcome.stop_reason == "interrupted":
        raise KeyboardInterrupt
    return outcome

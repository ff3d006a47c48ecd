"""Tables made one after another, each kept as it is finished."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Protocol

from reproduction.data_sets import DataFolder, MissingDataError
from reproduction.digest import digest
from reproduction.experiment import Experiment, Setting
from reproduction.machine import made_now
from reproduction.results import DOCUMENT, Results
from reproduction.table import Table
from rosenblatt.errors import InputError


class Watcher(Protocol):
    """Who is told how far it is."""

    def begin(self, name: str, later: Sequence[str]) -> None:
        """Take the table that is begun, and those that are made after it."""

    def tell(self, text: str) -> None:
        """Take what is being done now."""

    def show(self, table: Table) -> None:
        """Take a table that is made, or taken from the folder."""


def make_table(experiment: Experiment, setting: Setting, keep: Callable[[Table], None]) -> Table:
    """Return the table of an experiment, and hand it over, even where Ctrl-C ends it early."""
    table = Table(
        **_words(experiment),
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
    table.digest, table.data = digest(experiment), setting.folder.digests()
    keep(table)
    return table


def make_tables(
    experiments: Iterable[Experiment],
    folder: DataFolder,
    results: Results,
    watcher: Watcher,
    *,
    quick: bool,
    resume: bool,
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
    current = [one.name for one in wanted if resume and is_current(one, results, quick=quick)]
    waiting = [one.name for one in wanted if one.name not in current]
    skipped = {}
    for experiment in wanted:
        if experiment.name in current:
            known = replace(results.tables[experiment.name], **_words(experiment))
            results.keep(known)  # writes the page, whose words and form may be new
            watcher.show(known)
            continue
        watcher.begin(waiting.pop(0), tuple(waiting))
        setting = Setting(DataFolder(folder.path), quick, watcher.tell)
        try:
            table = make_table(experiment, setting, results.keep)
        except MissingDataError as error:
            skipped[experiment.name] = str(error)
        except KeyboardInterrupt:
            if experiment.name in results.tables:
                watcher.show(results.tables[experiment.name])
            raise
        else:
            watcher.show(table)
    return skipped


def _words(experiment: Experiment) -> dict[str, Any]:
    names = ("name", "title", "source", "method", "tolerance")
    return {name: getattr(experiment, name) for name in names}


def is_current(experiment: Experiment, results: Results, *, quick: bool = False) -> bool:
    """Return whether there is a whole table, of code that gives what the code of today does."""
    known = results.tables.get(experiment.name)
    if known is None or not known.complete or (known.quick and not quick):
        return False
    return known.digest == digest(experiment)


def _guard(experiments: Iterable[Experiment], results: Results) -> None:
    for experiment in experiments:
        known = results.tables.get(experiment.name)
        if known is not None and known.complete and not known.quick and experiment.has_subset:
            msg = (
                f"{results.folder / DOCUMENT} holds the whole table {experiment.name}, which "
                "--quick would replace by a subset: name another folder with -o."
            )
            raise InputError(msg)

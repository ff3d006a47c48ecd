"""Tables made one after another, each kept as it is finished."""

from collections.abc import Callable, Iterable
from time import perf_counter

from reproduction.data_sets import DataFolder, MissingDataError
from reproduction.experiment import Experiment, Setting
from reproduction.machine import made_now
from reproduction.results import DOCUMENT, Results
from reproduction.table import Table
from rosenblatt.errors import InputError


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

"""The command that makes a model of files."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli.options import (
    KERNEL,
    engine_options,
    layout_options,
    recipe_options,
    refuse,
    setting_options,
    value_option,
)
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.cli.tune import run_search, search_options, show_search, train_command
from rosenblatt.data.formats import PACKINGS, SUFFIXES
from rosenblatt.errors import InputError
from rosenblatt.parameters import ClusterSettings
from rosenblatt.wording import printable

if TYPE_CHECKING:
    from rosenblatt.data.files import Layout
    from rosenblatt.models.model import Model
SUFFIX = ".model"


@click.command(
    cls=ScreenCommand,
    example="rosenblatt train mail.csv --text body -o spam.model",
    common=(
        *("output", "test", "label", "text", "category", "ignore", "rule", "max_iter", "tune"),
        *("class_weight", "calibrate", "random_state", "bad_rows"),
    ),
)
@click.argument("data", nargs=-1, required=True, type=click.Path())
@value_option(
    "-o",
    "--output MODEL",
    group="Output",
    shown="DATA with the ending .model",
    help="Model file to write; an existing one is replaced.",
)
@value_option(
    "--force",
    group="Output",
    is_flag=True,
    help="Replace an existing file at the default output path.",
)
@value_option(
    "--from MODEL",
    "start",
    group="Learning",
    shown="a new model",
    help="Model to go on with: it learns the rows of DATA once, in their order, and the error on "
    "them before they are learned is printed on the way. MODEL itself stays as it is.",
)
@value_option(
    "--test DATA",
    group="Data",
    multiple=True,
    help="Test data; the error on them is printed at the end (repeatable).",
)
@value_option(
    "--tune",
    group="Learning",
    is_flag=True,
    help="Search first, as the command tune does; --time-limit then limits the search.",
)
@search_options
@recipe_options
@setting_options(*KERNEL)
@layout_options
@setting_options("buffer", "cache", "time_limit", "checkpoint", "checkpoint_seconds")
@setting_options("calibrate", "verdict", "record_mistakes")
@engine_options
@value_option(
    "--verbose",
    group="Output",
    is_flag=True,
    help="Also print the passes, their mistakes and why they ended.",
)
def train(
    screen: Screen,
    data: Sequence[str],
    output: str | None,
    force: bool,
    start: str | None,
    test: Sequence[str],
    engine: ClusterSettings,
    tune: bool,
    folds: int | None,
    metric: str,
    verbose: bool,
    **given: Any,
) -> None:
    """Train a model on DATA and write it to a file.

    DATA: files, patterns such as "part-*.csv", or "-" for standard input. By default the file
    format and the label column are detected, a tenth of the rows is held out, and training goes
    on until the error on them no longer falls.
    """
    from rosenblatt.cli.training import train_here, train_on_dask
    from rosenblatt.cli.training_report import report, show
    from rosenblatt.models.learner import Learner

    layout = given.pop("layout")
    if start is not None:
        from rosenblatt.cli.continuation import check_alone, go_on, output_path

        check_alone(click.get_current_context())
        path = output or output_path(default_model_path(data[0]), force=force)
        check_paths(path, test, layout, None, None)
        go_on(screen, start, data, path, test, layout, given["label"])
        return
    path = output or model_path(data, force=force)
    check_paths(path, test, layout, given["checkpoint"], given["cache"])
    verdicts: list[Any] = []
    known = given | asdict(layout)
    if tune:
        known |= _search(screen, data, known, engine, folds, metric)
    else:
        refuse(["folds", "metric"], "--tune")
    if engine["engine"] == "dask":
        model = train_on_dask(data, known, engine, screen, verdicts)
    else:
        model = train_here(data, known, screen, verdicts)
    model.save(path)
    screen.wrote(path)
    if given["checkpoint"] is not None:
        _end_checkpoint(screen, given["checkpoint"], model)
    if screen.wants_json:
        for note in model.training["notes"]:
            screen.warn(note)
        screen.json(report(model, path, test, layout, verdicts))
        return
    title = model.training.get("title") or Learner(given["rule"] or "perceptron").title
    show(screen, model, title, path, test, layout, verdicts, verbose=verbose)


def _search(
    screen: Screen,
    data: Sequence[str],
    known: dict[str, Any],
    engine: ClusterSettings,
    folds: int | None,
    metric: str,
) -> dict[str, Any]:
    """Return the parameters that a search chose, and show them."""
    if engine["engine"] == "dask" or known["checkpoint"] is not None:
        msg = "--tune searches in this process: leave --engine dask and --checkpoint out."
        raise click.UsageError(msg)
    if known["kernel"] is not None:
        msg = "--tune tries kernels by itself: leave --kernel out."
        raise click.UsageError(msg)
    chosen, search = run_search(screen, data, known, folds, metric, known["time_limit"])
    show_search(screen, search, train_command(data, chosen))
    screen.show()
    return chosen | {"time_limit": None}


def _end_checkpoint(screen: Screen, path: str, model: "Model") -> None:
    """Remove the checkpoint of a training that came to its end; one cut short can go on."""
    from rosenblatt.training.history import ENDED_EARLY

    if model.outcome["stop_reason"] not in ENDED_EARLY:
        Path(path).unlink(missing_ok=True)
    elif Path(path).exists():
        screen.say(f"The same command resumes from {path}.")


def check_paths(
    path: str, test: Sequence[str], layout: "Layout", checkpoint: str | None, cache: str | None
) -> None:
    """Raise InputError for a path that would fail after the training."""
    from rosenblatt.data.atomic import check_target
    from rosenblatt.data.files import Files

    check_target(path)
    if checkpoint is not None:
        check_target(checkpoint)
    if cache is not None and not Path(cache).is_dir():
        msg = f"The folder {cache} of --cache does not exist."
        raise InputError(msg)
    if test:
        Files(test, layout)


def model_path(data: Sequence[str], *, force: bool) -> str:
    """Return the default output file: the data file's name with the ending .model.

    A model that was trained on other data is replaced only by force.
    """
    path = default_model_path(data[0])
    if force or not Path(path).exists():
        return path
    from rosenblatt.data.sources import expand, places_digest
    from rosenblatt.models.model import Model

    try:
        training = Model.load(path).training
    except InputError:
        msg = f"{path} already exists and is not a model; choose another output file with -o."
        raise InputError(msg) from None
    files, names = training.get("files", []), expand(data)
    if "-" not in files and training.get("places") == places_digest(names):
        return path
    source = f" trained on {printable(str(files[0]))}" if files and files != ["-"] else ""
    msg = (
        f"{path} already exists and holds another model{source}; choose another output file with "
        "-o, or replace it with --force."
    )
    raise InputError(msg)


def default_model_path(data: str) -> str:
    """Return the name of the data file with the ending .model, in the current folder.

    >>> default_model_path("logs/sales.2024.csv.gz"), default_model_path("part-*.csv")
    ('sales.2024.model', 'part.model')
    >>> default_model_path("-"), default_model_path("a9a")
    ('rosenblatt.model', 'a9a.model')
    """
    name = "" if data == "-" else PurePath(data).name
    for endings in (PACKINGS, SUFFIXES):
        if PurePath(name).suffix.lower() in endings:
            name = PurePath(name).stem
    stem = name.translate(dict.fromkeys(map(ord, "*?[]"))).strip("-_. ")
    return f"{stem or 'rosenblatt'}{SUFFIX}"

"""The command that makes a model of files."""

from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli.options import (
    COUNTED,
    MEMORY_HELP,
    SHUFFLES,
    EngineOptions,
    class_weight,
    column_options,
    default_memories,
    engine_options,
    intercept_option,
    layout_options,
    memory_option,
    passes_option,
    rule_option,
    rule_parameter_options,
    scale_option,
    seed_option,
    size,
    zero_option,
)
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.data.formats import PACKINGS, SUFFIXES
from rosenblatt.errors import InputError
from rosenblatt.wording import printable

if TYPE_CHECKING:
    from rosenblatt.data.files import Layout
    from rosenblatt.models.model import Model
SUFFIX = ".model"


@click.command(cls=ScreenCommand, example="rosenblatt train mail.csv --text body -o spam.model")
@click.argument("data", nargs=-1, required=True, type=click.Path())
@click.option(
    "-o",
    "--output",
    metavar="MODEL",
    show_default="DATA with the ending .model",
    help="Model file to write; an existing one is replaced.",
)
@click.option("--force", is_flag=True, help="Replace an existing file at the default output path.")
@click.option(
    "--from",
    "start",
    metavar="MODEL",
    show_default="a new model",
    help="Model to go on with: it learns the rows of DATA once, in their order, and the error on "
    "them before they are learned is printed on the way. MODEL itself stays as it is.",
)
@click.option(
    "--test",
    multiple=True,
    metavar="DATA",
    help="Test data; the error on them is printed at the end (repeatable).",
)
@column_options
@click.option(
    "--weight",
    metavar="COLUMN",
    show_default="1 for every row",
    help="Column of row weights: they multiply the steps, and rows of weight 0 are left out.",
)
@layout_options
@scale_option(default=True)
@click.option(
    "--missing",
    type=click.Choice(["mean", "zero", "error"]),
    default="mean",
    show_default=True,
    help="Value used for missing numbers; with error, a missing number stops the training.",
)
@click.option(
    "--hash-bits",
    type=click.IntRange(1, 30),
    metavar="N",
    show_default="no hashing",
    help="Hash the words of texts to 2^N features.",
)
@click.option(
    "--word-pairs/--no-word-pairs",
    default=True,
    show_default=True,
    help="Use pairs of neighbouring words of texts as features.",
)
@click.option(
    "--min-count",
    type=click.IntRange(1),
    metavar="N",
    help="Leave out words and pairs in fewer than N texts [default: 2, or 1 below 1,000 rows].",
)
@click.option("--pairs", is_flag=True, help="Add all pairs of features that occur in a row.")
@click.option(
    "--triples", is_flag=True, help="Add all pairs and triples of features that occur in a row."
)
@rule_option(None, shown="arow for files with a text column, else perceptron")
@memory_option([*MEMORY_HELP], default_memories(), given=False)
@rule_parameter_options
@zero_option
@intercept_option
@passes_option()
@click.option(
    "--early-stopping/--no-early-stopping",
    default=True,
    show_default=True,
    help="Hold out rows and stop when the error on them no longer falls.",
)
@click.option(
    "--refit/--no-refit",
    default=True,
    show_default=True,
    help="After early stopping, train again on all rows with the number of passes found "
    "(in one process only, not with --engine dask).",
)
@click.option(
    "--validation-fraction",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    default=0.1,
    show_default=True,
    help="Share of the rows to hold out.",
)
@click.option(
    "--n-iter-no-change",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    metavar="N",
    help="Number of passes without improvement before early stopping.",
)
@click.option(
    "--shuffle",
    type=click.Choice([*SHUFFLES]),
    default="every-pass",
    show_default=True,
    help="When to shuffle the rows.",
)
@seed_option
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    show_default="no limit",
    help="Stop training after this time and keep the best model so far.",
)
@click.option(
    "--class-weight",
    callback=class_weight,
    metavar="balanced|LABEL=W,...",
    show_default="1 for every class",
    help="Factor of the steps on rows of a class; balanced: all classes count alike.",
)
@click.option(
    "--threshold",
    type=click.Choice([*COUNTED]),
    metavar="METRIC",
    show_default="0",
    help="With two classes, move the bias to where METRIC is best on held-out rows: "
    f"{', '.join(COUNTED)}.",
)
@click.option(
    "--calibrate", is_flag=True, help="Fit probabilities on the held-out rows (predict --proba)."
)
@click.option(
    "--verdict",
    is_flag=True,
    help="Prove whether the classes are linearly separable; the proof is stored in the model.",
)
@click.option(
    "--record-mistakes",
    is_flag=True,
    help="Store the rows that changed the weights in the model (explain --why).",
)
@click.option(
    "--checkpoint",
    metavar="FILE",
    show_default="none",
    help="File to save progress to; the same command resumes from it.",
)
@click.option(
    "--checkpoint-every",
    type=click.FloatRange(0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between two checkpoints.",
)
@click.option(
    "--buffer",
    callback=size,
    metavar="SIZE",
    show_default="256M, or 16M for a single pass",
    help="Size of the shuffle buffer; memory use is about twice this.",
)
@click.option(
    "--cache",
    metavar="FOLDER",
    show_default="the folder for temporary files",
    help="Folder for parsed rows while training runs.",
)
@engine_options
def train(
    screen: Screen,
    data: Sequence[str],
    output: str | None,
    force: bool,
    start: str | None,
    test: Sequence[str],
    engine: EngineOptions,
    **given: Any,
) -> None:
    """Train a model on DATA and write it to a file.

    DATA: files, patterns such as "part-*.csv", or "-" for standard input. By default the file
    format and the label column are detected, a tenth of the rows is held out, and an averaged
    perceptron learns from the others until the error on the held-out rows no longer falls.
    """
    from rosenblatt.cli.training import parameters, train_here, train_on_dask
    from rosenblatt.cli.training_report import report, show
    from rosenblatt.models.learner import Learner

    layout = given.pop("layout")
    if start is not None:
        from rosenblatt.cli.continuation import check_alone, go_on, output_path

        check_alone(click.get_current_context())
        path = output or output_path(default_model_path(data[0]), force=force)
        check_paths(path, test, layout, None, None)
        go_on(screen, start, data, path, test, layout)
        return
    path = output or model_path(data, force=force)
    check_paths(path, test, layout, given["checkpoint"], given["cache"])
    verdicts: list[Any] = []
    if engine.engine == "dask":
        model = train_on_dask(data, parameters(given, layout), engine, screen, verdicts)
    else:
        model = train_here(data, parameters(given, layout), screen, verdicts)
    model.save(path)
    if given["checkpoint"] is not None:
        _end_checkpoint(screen, given["checkpoint"], model)
    for note in model.training["notes"]:
        screen.warn(note)
    if screen.wants_json:
        screen.json(report(model, path, test, layout, verdicts))
        return
    title = model.training.get("title") or Learner(given["rule"] or "perceptron").title
    show(screen, model, title, path, test, layout, verdicts)


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
    from rosenblatt.data.sources import expand
    from rosenblatt.models.model import Model

    try:
        files = Model.load(path).training.get("files", [])
    except InputError:
        msg = f"{path} already exists and is not a model; choose another output file with -o."
        raise InputError(msg) from None
    if "-" not in files and [*map(_place, files)] == [*map(_place, expand(data))]:
        return path
    source = f" trained on {printable(str(files[0]))}" if files and files != ["-"] else ""
    msg = (
        f"{path} already exists and holds another model{source}; choose another output file with "
        "-o, or replace it with --force."
    )
    raise InputError(msg)


def _place(name: str) -> Path:
    return Path(name).resolve()


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

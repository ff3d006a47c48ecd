"""The command that makes a model of files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rosenblatt.cli.engine_options import EngineOptions, engine_options
from rosenblatt.cli.layout_options import layout_options
from rosenblatt.cli.learner import TRAINED_MEMORIES
from rosenblatt.cli.option_group import (
    column_options,
    passes_option,
    rule_option,
    scale_option,
    seed_option,
    step_options,
)
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.cli.sizes import size

COURSE = (
    *("max_iter", "early_stopping", "validation_fraction", "n_iter_no_change", "shuffle", "zero"),
    *("time_limit", "seed", "calibrate", "record_mistakes", "verdict", "buffer", "cache"),
)
SHUFFLES = ("every-pass", "once", "no")


@click.command(cls=ScreenCommand, example="rosenblatt train mail.csv --text body -o spam.model")
@click.argument("data", nargs=-1, required=True, type=click.Path())
@click.option(
    "-o", "--output", metavar="MODEL", help="Where the model goes; by default DATA.model."
)
@click.option(
    "--test", multiple=True, metavar="DATA", help="Rows to judge the model by at the end."
)
@column_options
@layout_options
@scale_option(default=True)
@click.option(
    "--missing",
    type=click.Choice(["mean", "zero", "error"]),
    default="mean",
    show_default=True,
    help="What a missing number is taken for.",
)
@click.option("--hash-bits", type=click.IntRange(1, 30), help="Hash words to 2^N features.")
@click.option("--word-pairs/--no-word-pairs", default=True, help="Pairs of neighbouring words.")
@click.option("--pairs", is_flag=True, help="Add the pairs of features that occur in a row.")
@click.option("--triples", is_flag=True, help="Add pairs and triples of features.")
@rule_option
@click.option(
    "--memory",
    type=click.Choice(TRAINED_MEMORIES),
    default="average",
    show_default=True,
    help="Which weights decide: the mean of all, the last, or all of them by vote.",
)
@step_options
@passes_option
@click.option(
    "--early-stopping/--no-early-stopping",
    default=True,
    help="Hold rows out, and stop when the error on them falls no more.",
)
@click.option(
    "--validation-fraction",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.1,
    show_default=True,
    help="Share of the rows that is held out.",
)
@click.option(
    "--n-iter-no-change",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    metavar="N",
    help="Passes without a better error before training stops.",
)
@click.option(
    "--shuffle",
    type=click.Choice(SHUFFLES),
    default="every-pass",
    show_default=True,
    help="When rows are put in another order.",
)
@seed_option
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Stop after the block under way when so much time has passed.",
)
@click.option("--calibrate", is_flag=True, help="Fit probabilities, for predict --proba.")
@click.option(
    "--verdict",
    is_flag=True,
    help="Prove whether any linear boundary separates the rows, and keep the proof.",
)
@click.option(
    "--record-mistakes",
    is_flag=True,
    help="Keep which rows changed the weights, and those rows, for explain --why.",
)
@click.option(
    "--checkpoint", metavar="FILE", help="Write how far training is, and go on from there."
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
    help="Rows that are shuffled together; twice that is in memory. 256M, for one pass 16M.",
)
@click.option("--cache", metavar="FOLDER", help="Where parsed rows are kept during training.")
@engine_options
def train(
    screen: Screen,
    data: Sequence[str],
    output: str | None,
    test: Sequence[str],
    engine: EngineOptions,
    **given: Any,
) -> None:
    """Learn from the rows of DATA (files, patterns, "-" for standard input) and write a model.

    Without any option: the format and the column of the labels are found out, a tenth of the rows
    is held out, and an averaged perceptron learns from the others until the error on those held
    out falls no more.
    """
    from rosenblatt.cli.course import Course
    from rosenblatt.cli.learner import Learner
    from rosenblatt.cli.model_path import default_model_path
    from rosenblatt.cli.training import train_files
    from rosenblatt.cli.training_report import report, show
    from rosenblatt.data.files import Columns
    from rosenblatt.models.file import write
    from rosenblatt.rules import rule_parameters

    learner = Learner(
        given["rule"], given["memory"], {name: given[name] for name in rule_parameters()}
    )
    options = {name: given[name] for name in COURSE}
    course = Course(learner=learner, fit_intercept=given["intercept"], **options)
    columns = Columns(
        given["label"],
        given["text"],
        given["category"],
        given["numeric"],
        given["ignore"],
        given["scale"],
        given["missing"],
        given["hash_bits"],
        given["word_pairs"],
        3 if given["triples"] else 2 if given["pairs"] else 1,
    )
    path = output or default_model_path(data[0])
    what = (list(data), given["layout"], columns, course)
    kept = {
        "checkpoint": given["checkpoint"],
        "checkpoint_seconds": given["checkpoint_every"],
    }
    if engine.engine == "dask":
        from rosenblatt.cli.dask_training import train_on_dask

        trainee = train_on_dask(*what, engine, screen, **kept)
    else:
        trainee = train_files(*what, screen, **kept)
    write(trainee.model, path)
    if given["checkpoint"] is not None:
        Path(given["checkpoint"]).unlink(missing_ok=True)
    for note in trainee.notes:
        screen.warn(note)
    if screen.wants_json:
        screen.json(report(trainee, path, test, given["layout"]))
    else:
        show(screen, trainee, path, test, given["layout"])

"""The command that makes a model of files."""

from collections.abc import Sequence
from typing import Any

import click

from rosenblatt.cli import options, tagging
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.cli.tune import search_options
from rosenblatt.parameters import ClusterSettings


@click.command(
    cls=ScreenCommand,
    example="rosenblatt train mail.csv --text body -o spam.model",
    common=(
        *("output", "test", "label", "text", "category", "ignore", "rule", "max_iter", "tune"),
        *("class_weight", "calibrate", "random_state", "bad_rows"),
    ),
)
@click.argument("data", nargs=-1, required=True, type=click.Path())
@options.value(
    "-o",
    "--output MODEL",
    group="Output",
    shown="DATA with the ending .model",
    help="Model file to write; an existing one is replaced.",
)
@options.value(
    "--force",
    group="Output",
    is_flag=True,
    help="Replace an existing file at the default output path.",
)
@options.value(
    "--from MODEL",
    "start",
    group="Learning",
    shown="a new model",
    help="Model to go on with: it learns the rows of DATA once, in their order, and the error on "
    "them before they are learned is printed on the way. MODEL itself stays as it is.",
)
@options.value(
    "--test DATA",
    group="Data",
    multiple=True,
    help="Test data; the error on them is printed at the end (repeatable).",
)
@options.value(
    "--tune",
    group="Learning",
    is_flag=True,
    help="Search first, as the command tune does; --time-limit then limits the search.",
)
@search_options
@options.recipe
@options.settings(*options.KERNEL)
@options.layout
@options.settings("validation", "buffer", "cache", "time_limit", "checkpoint", "checkpoint_seconds")
@options.settings("calibrate", "guarantee", "verdict", "record_mistakes")
@options.settings(*options.SEVERAL)
@options.settings(*ClusterSettings.__annotations__)
@tagging.learned_options
@options.value(
    "--max-size SIZE",
    group="Output",
    callback=options.size,
    shown="any",
    help="Drop the weakest features until the model file has at most SIZE bytes (500k, 2M); the "
    "error before and after is that on --test or --validation data.",
)
@options.value(
    "--verbose",
    group="Output",
    is_flag=True,
    help="Also print the plan, the passes, their mistakes and why they ended.",
)
def train(screen: Screen, data: Sequence[str], **given: Any) -> None:
    """Train a model on DATA and write it to a file.

    DATA: files, patterns such as "part-*.csv", or "-" for standard input. By default the file
    format and the label column are detected, a tenth of the rows is held out, and training goes
    on until the error on them no longer falls. Of sentences (CoNLL columns, CoNLL-U, word/TAG
    lines) a tag for each token is learned.
    """
    from rosenblatt.cli.training import run

    run(screen, data, given)

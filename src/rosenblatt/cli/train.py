"""The command that makes a model of files."""

from collections.abc import Sequence
from typing import Any

import click

from rosenblatt.cli.options import (
    KERNEL,
    SEVERAL,
    layout_options,
    recipe_options,
    setting_options,
    size,
    value_option,
)
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
@setting_options("validation", "buffer", "cache", "time_limit", "checkpoint", "checkpoint_seconds")
@setting_options("calibrate", "guarantee", "verdict", "record_mistakes")
@setting_options(*SEVERAL)
@setting_options(*ClusterSettings.__annotations__)
@value_option(
    "--max-size SIZE",
    group="Output",
    callback=size,
    shown="any",
    help="Drop the weakest features until the model file has at most SIZE bytes (500k, 2M); the "
    "error before and after is that on --test or --validation data.",
)
@value_option(
    "--verbose",
    group="Output",
    is_flag=True,
    help="Also print the plan, the passes, their mistakes and why they ended.",
)
def train(screen: Screen, data: Sequence[str], **given: Any) -> None:
    """Train a model on DATA and write it to a file.

    DATA: files, patterns such as "part-*.csv", or "-" for standard input. By default the file
    format and the label column are detected, a tenth of the rows is held out, and training goes
    on until the error on them no longer falls.
    """
    from rosenblatt.cli.training import run

    run(screen, data, given)

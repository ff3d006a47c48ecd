"""The command that makes a model of files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli.engine_options import EngineOptions, engine_options
from rosenblatt.cli.layout_options import layout_options
from rosenblatt.cli.option_group import (
    SHUFFLES,
    column_options,
    passes_option,
    rule_option,
    scale_option,
    seed_option,
    step_options,
)
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.cli.sizes import size
from rosenblatt.models.learner import TRAINED_MEMORIES

if TYPE_CHECKING:
    from rosenblatt.data.files import Layout
    from rosenblatt.models.model import Model

SPELLED = ("pairs", "triples", "intercept", "shuffle", "seed", "checkpoint_every")  # otherwise


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
    type=click.Choice([*SHUFFLES]),
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
    from rosenblatt.cli.model_path import default_model_path
    from rosenblatt.cli.training_report import report, show
    from rosenblatt.models.learner import Learner

    path = output or default_model_path(data[0])
    layout = given.pop("layout")
    verdicts: list[Any] = []
    if engine.engine == "dask":
        from rosenblatt.cli.dask_training import train_on_dask

        model = train_on_dask(data, parameters(given, layout), engine, screen, verdicts)
    else:
        model = train_here(data, parameters(given, layout), screen, verdicts)
    model.save(path)
    if given["checkpoint"] is not None:
        Path(given["checkpoint"]).unlink(missing_ok=True)
    for note in model.training["notes"]:
        screen.warn(note)
    if screen.wants_json:
        screen.json(report(model, path, test, layout))
        return
    title = Learner(given["rule"], given["memory"]).title
    show(screen, model, title, path, test, layout, verdicts)


def parameters(given: dict[str, Any], layout: "Layout") -> dict[str, Any]:
    """Return the options as the parameters of ``rosenblatt.train_files``."""
    named = {name: value for name, value in given.items() if name not in SPELLED}
    return named | {
        "degree": 3 if given["triples"] else 2 if given["pairs"] else 1,
        "fit_intercept": given["intercept"],
        "shuffle": SHUFFLES[given["shuffle"]],
        "random_state": given["seed"],
        "checkpoint_seconds": given["checkpoint_every"],
        "format": layout.format,
        "separator": layout.separator,
        "header": layout.header,
        "zero_based": layout.zero_based,
    }


def train_here(
    data: Sequence[str], given: dict[str, Any], screen: Screen, verdicts: list[Any]
) -> "Model":
    """Train in this process; what is proved of the rows is added to the list."""
    from rosenblatt import train_files

    def prove(X: Any, y: Any, mistakes: int | None) -> Any:
        from rosenblatt import diagnose

        verdicts.append(diagnose(X, y, mistakes=mistakes))
        return verdicts[0]

    shown: dict[str, Any] = {"tell": screen.say, "verdict": prove if given["verdict"] else None}
    if screen.draws_talk:
        from rosenblatt.cli.progress import TrainingBar

        shown["progress"] = TrainingBar
    return train_files(data, **given | shown)

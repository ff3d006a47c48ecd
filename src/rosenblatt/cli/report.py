"""The command that writes a model's report."""

from collections.abc import Sequence
from pathlib import Path

import click

from rosenblatt.cli import options
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.data.atomic import check_target, replacing
from rosenblatt.data.files import Layout
from rosenblatt.errors import InputError
from rosenblatt.models.model import Model
from rosenblatt.wording import printable


@click.command(
    cls=ScreenCommand, example="rosenblatt report spam.model --test test.csv -o report.html"
)
@click.argument("model_path", metavar="MODEL", type=click.Path())
@options.value(
    "-o",
    "--output FILE",
    shown="MODEL with the ending .html",
    help="File to write; FILE.md is a model card.",
)
@options.value("--test DATA", multiple=True, help="Test data to evaluate on (repeatable).")
@options.value("--title TEXT", shown="MODEL", help="Title of the page.")
@options.layout
def report(
    screen: Screen,
    model_path: str,
    output: str | None,
    test: Sequence[str],
    title: str | None,
    layout: Layout,
) -> None:
    """Write a report on MODEL as one HTML page, or as a model card in Markdown.

    The page shows the training data, the passes and the weights; with --test also the error, the
    confusion table and the rows with the worst mistakes. Models of train --record-mistakes add the
    training rows behind each decision, models of train --verdict the proof.
    """
    from rosenblatt.report.findings import findings
    from rosenblatt.report.page import document as written

    if output == "-" and screen.wants_json:
        msg = "--json and the page cannot both go to standard output; name a file with -o."
        raise click.UsageError(msg)
    if output is None and model_path == "-":
        raise click.UsageError("The model comes from standard input; name the output file with -o.")
    target = output or str(Path(model_path).with_suffix(".html"))
    check_target(target, [model_path, *test])
    model = Model.load(model_path)
    columns = () if model.table is None else model.table.columns
    keep = tuple(column.name for column in columns if column.required)  # what is shown of a row
    told: list[str] = []
    rows = None
    if test:
        rows = model.rows(test, layout=layout, keep=keep, tell=told.append)
    name = title or ("model" if model_path == "-" else Path(model_path).name)
    found = findings(model, name=name, test=rows, test_names=tuple(test), told=told)
    evaluation = found.evaluation
    error = None if evaluation is None else evaluation.error
    if test and error is None:
        raise InputError(f"{' '.join(test)}: no row has a label; leave --test out.")
    with replacing(target, "w") as file:
        file.write(written(found, target))
    screen.wrote(target)
    if target == "-":
        return
    n_bytes = Path(target).stat().st_size
    if screen.wants_json:
        document = {"model": model_path, "file": target, "bytes": n_bytes, "test_error": error}
        screen.json(document | {"warnings": list(found.warnings)})
        return
    judged = "" if evaluation is None else f" Test{evaluation.headline()}."
    screen.show(f"Report: {printable(target)} ({n_bytes:,} bytes).{judged}")
    for warning in found.warnings:
        screen.warn(warning)

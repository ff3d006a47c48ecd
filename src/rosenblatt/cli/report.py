"""The command that writes a model's report."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rosenblatt.cli.layout_options import layout_options
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.errors import InputError

if TYPE_CHECKING:
    from rosenblatt.data.files import Layout


@click.command(
    cls=ScreenCommand, example="rosenblatt report spam.model --test test.csv -o report.html"
)
@click.argument("model_path", metavar="MODEL", type=click.Path())
@click.option(
    "-o", "--output", metavar="FILE", help="Where the page goes; by default MODEL with .html."
)
@click.option(
    "--test", multiple=True, metavar="DATA", help="Rows to judge the model by; several are added."
)
@click.option("--title", metavar="TEXT", help="What the page is called; by default MODEL.")
@layout_options
def report(
    screen: Screen,
    model_path: str,
    output: str | None,
    test: Sequence[str],
    title: str | None,
    layout: "Layout",
) -> None:
    """Write all that is known of MODEL as one HTML page that needs nothing else.

    Data, verdict, passes and weights come from the model; with --test also errors, confusion and
    the rows that went most wrong. A model of train --record-mistakes shows which rows taught it
    so and how long its weights lasted, one of train --verdict the proof.
    """
    from rosenblatt.data.atomic import replacing
    from rosenblatt.models.file import read
    from rosenblatt.models.rows import model_rows
    from rosenblatt.report.findings import findings
    from rosenblatt.report.page import page
    from rosenblatt.wording import percent, printable

    if output == "-" and screen.wants_json:
        msg = "--json would mix with the page on standard output: name a file with -o."
        raise click.UsageError(msg)
    model = read(model_path)
    rows = model_rows(model, test, layout=layout) if test else None
    name = title or ("model" if model_path == "-" else Path(model_path).name)
    found = findings(model, name=name, test=rows, test_names=tuple(test))
    error = None if found.evaluation is None else found.evaluation.error
    if test and error is None:
        msg = f"{' '.join(test)}: no row has a label, so nothing can be judged: leave --test out."
        raise InputError(msg)
    target = output or _beside(model_path)
    with replacing(target, "w") as file:
        file.write(page(found))
    if target == "-":
        return
    n_bytes = Path(target).stat().st_size
    if screen.wants_json:
        screen.json({"model": model_path, "file": target, "bytes": n_bytes, "test_error": error})
        return
    judged = "" if error is None else f" Test error {percent(error)}."
    screen.show(f"Report: {printable(target)} ({n_bytes:,} bytes).{judged}")


def _beside(model_path: str) -> str:
    if model_path == "-":
        msg = "The model comes from standard input: name the page with -o."
        raise click.UsageError(msg)
    return str(Path(model_path).with_suffix(".html"))

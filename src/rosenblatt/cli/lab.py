"""The command that writes the lab and opens it."""

from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import click

from rosenblatt.cli import options
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.lab.columns import document_of_table, read_table
from rosenblatt.lab.page import write_page
from rosenblatt.lab.toy_sets import TOY_SETS, toy_set


@click.command(
    cls=ScreenCommand, example="rosenblatt lab iris.csv --x petal_length --y petal_width"
)
@click.argument("data", required=False, type=click.Path())
@options.value("--x COLUMN", shown="detected", help="Column of the horizontal axis.")
@options.value("--y COLUMN", shown="detected", help="Column of the vertical axis.")
@options.setting("label")
@options.value("--positive LABEL", shown="the second label", help="Label of the positive class.")
@options.setting("scale", default=False)
@options.choice(
    "--toy",
    choices=TOY_SETS,
    default="separable",
    help="Example data to start with if no DATA is given.",
)
@click.option(
    "--browser/--no-browser", default=True, show_default=True, help="Open the page in a browser."
)
@options.value(
    "-o",
    "--export FILE",
    type=click.Path(),
    shown="a temporary file",
    help="Write the page to this file, and do not open it.",
)
def lab(
    screen: Screen, data: str | None, toy: str, browser: bool, export: str | None, **columns: Any
) -> None:
    """Open an interactive page to train a perceptron on points in the plane.

    The page is one HTML file that needs neither Python nor a network. It starts with example data
    or with two columns of DATA.
    """
    if data is None:
        for name in ("x", "y", "label", "positive", "scale"):
            if columns[name] not in (None, False):
                raise click.UsageError(f"--{name} has no effect without DATA.")
        document, notes = toy_set(toy), list[str]()
    else:
        document, notes = document_of_table(read_table(data), **columns)
    for note in notes:
        screen.say(note)
    path = export or str(Path(mkdtemp(prefix="rosenblatt-")) / "lab.html")
    write_page(document, path)
    if screen.wants_json:
        screen.json({"file": path})
    elif export is None and not browser:
        screen.show(path)
    else:
        screen.say(f"Wrote {path}.")
    if export is None and browser:
        screen.browse(Path(path).as_uri())

"""The command that serves the lab."""

import signal
from typing import Any

import click

from rosenblatt.cli.options import (
    choice_option,
    label_option,
    number_option,
    scale_option,
    value_option,
)
from rosenblatt.cli.screen import Screen, ScreenCommand

TOYS = ("separable", "xor", "circles", "overlapping", "sorted labels")


@click.command(
    cls=ScreenCommand, example="rosenblatt lab iris.csv --x petal_length --y petal_width"
)
@click.argument("data", required=False, type=click.Path())
@value_option("--x COLUMN", shown="detected", help="Column of the horizontal axis.")
@value_option("--y COLUMN", shown="detected", help="Column of the vertical axis.")
@label_option
@value_option("--positive LABEL", shown="the second label", help="Label of the positive class.")
@scale_option(default=False)
@choice_option(
    "--toy",
    choices=TOYS,
    default="separable",
    help="Example data to start with if no DATA is given.",
)
@number_option("--port", high=65535, shown="any free port", help="Port to listen on.")
@click.option(
    "--browser/--no-browser", default=True, show_default=True, help="Open the page in a browser."
)
@value_option(
    "--export FILE",
    type=click.Path(),
    shown="none",
    help="Write the page to one HTML file that needs no server, and exit.",
)
def lab(
    screen: Screen,
    data: str | None,
    toy: str,
    port: int | None,
    browser: bool,
    export: str | None,
    **columns: Any,
) -> None:
    """Open an interactive page to train a perceptron on points in the plane.

    The page is served on this machine only, until Ctrl-C. It starts with example data or with two
    columns of DATA.
    """
    if data is None:
        from rosenblatt.lab.toy_sets import toy_set

        for name in ("x", "y", "label", "positive", "scale"):
            if columns[name] not in (None, False):
                msg = f"--{name} has no effect without DATA."
                raise click.UsageError(msg)
        document, notes = toy_set(toy), list[str]()
    else:
        from rosenblatt.lab.columns import document_of_table, read_table

        document, notes = document_of_table(read_table(data), **columns)
    for note in notes:
        screen.say(note)
    if export is not None:
        from rosenblatt.lab.page import write_page

        write_page(document, export)
        screen.say(f"Wrote {export}.")
        if screen.wants_json:
            screen.json({"file": export})
        return
    from rosenblatt.lab.server import LabServer

    with LabServer(document, port) as server:
        screen.announce("The lab is at", server.url, browser=browser)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends as by Ctrl-C
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            screen.say("The lab has stopped.")

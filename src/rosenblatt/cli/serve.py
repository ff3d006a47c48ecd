"""The command that serves models over HTTP."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from rosenblatt.cli import options
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.errors import InputError
from rosenblatt.service.limits import TOKEN_VARIABLE, Limits, require_packages

FOLDER = "rosenblatt-service"
SCOPES = ("predict", "teach", "inspect", "admin")


@click.command(cls=ScreenCommand, example="rosenblatt serve spam.model")
@click.argument("models", nargs=-1, metavar="[MODEL]...", type=click.Path())
@options.value(
    "--folder",
    type=click.Path(file_okay=False),
    default=FOLDER,
    help="Folder that keeps models and examples.",
)
@options.value("--host ADDRESS", default="127.0.0.1", help="Address to listen on.")
@options.number("--port", high=65535, shown="8765, or any free port", help="Port to listen on.")
@options.value(
    "--name HOST",
    "names",
    multiple=True,
    shown="the address",
    help="Name under which clients reach the service.",
)
@options.value(
    "--token-file FILE",
    type=click.Path(),
    shown="the variable ROSENBLATT_TOKEN, if set",
    help="File with a token that may do everything.",
)
@options.value(
    "--rate N",
    type=click.FloatRange(min=0, min_open=True),
    shown="no limit",
    help="Requests per second that each token may send.",
)
@click.option(
    "--browser/--no-browser", default=False, show_default=True, help="Open the page in a browser."
)
@options.value(
    "--new-token NAME",
    shown="none",
    help="Make a token, print it, and exit. It is shown only once.",
)
@options.choice(
    "--scope",
    "scopes",
    choices=SCOPES,
    multiple=True,
    shown="predict",
    help="What the new token may do.",
)
@options.value(
    "--model NAME", "of_models", multiple=True, shown="all", help="Model that the new token is for."
)
def serve(screen: Screen, models: tuple[str, ...], folder: str, **given: Any) -> None:
    """Serve models over HTTP that learn while they answer.

    Each MODEL file is served under its name and goes on learning. Every example is on the disk
    before it is acknowledged. Without MODEL, create one on the page or with PUT /v1/models/NAME.
    Stop with Ctrl-C.
    """
    require_packages()
    if given["new_token"] is not None:
        _make_token(screen, folder, given)
        return
    options.refuse(["scopes", "of_models"], "--new-token")
    from rosenblatt.service.server import ModelServer

    server = ModelServer(
        folder,
        host=given["host"],
        port=given["port"],
        token=_token(given["token_file"]),
        names=given["names"],
        limits=Limits(rate=given["rate"]),
    )
    try:
        for path in models:
            server.add_file(path)
    except BaseException:
        server.close()
        raise
    # Say where it is, before it answers
    names = sorted(server.writer.entries)
    if screen.wants_json:
        screen.json({"url": server.url, "folder": folder, "models": names})
    else:
        screen.say(f"Models: {', '.join(names) or 'none yet'}. They are kept in {folder}.")
        screen.show(f"The service is at {server.url}")
    screen.flush()  # programs read the address from a pipe
    screen.say("Press Ctrl-C to stop.")
    if given["browser"]:
        screen.browse(server.url)
    with suppress(KeyboardInterrupt):
        server.run()
    screen.say("The service has stopped.")


def _token(path: str | None) -> str | None:
    where, text = f"The variable {TOKEN_VARIABLE}", os.environ.get(TOKEN_VARIABLE)
    if path is not None:
        where = path
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            msg = f"{path} cannot be read: {getattr(error, 'strerror', None) or error}."
            raise InputError(msg) from error
    if text is None:
        return None
    if len(text.strip()) < 20 or len(text.split()) != 1:
        raise InputError(f"{where} must hold one token of at least 20 characters and nothing else.")
    return text.strip()


def _make_token(screen: Screen, folder: str, given: dict[str, Any]) -> None:
    from msgspec import ValidationError, convert

    from rosenblatt.service.operations import token_record
    from rosenblatt.service.requests import TokenRequest
    from rosenblatt.service.writer import Writer

    wanted = {
        "name": given["new_token"],
        "scopes": list(given["scopes"] or ("predict",)),
        "models": list(given["of_models"]) or None,
    }
    try:
        request = convert(wanted, TokenRequest)
    except ValidationError as error:
        raise InputError(f"The token cannot be made: {error}.") from error
    writer = Writer(folder)
    try:
        secret, record = token_record(request, writer.clock())
        writer.command(lambda: writer.add_token(record)).result()
    finally:
        writer.close()
    if screen.wants_json:
        screen.json({**wanted, "token": secret})
    else:
        screen.show(secret)
        screen.say("This is the only time that the token is shown; only its digest is kept.")

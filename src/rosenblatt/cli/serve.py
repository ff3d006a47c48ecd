"""The command that serves models over HTTP."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.errors import InputError

if TYPE_CHECKING:
    from rosenblatt.service.server import ModelServer

FOLDER = "rosenblatt-service"
SCOPES = ("predict", "teach", "inspect", "admin")


@click.command(cls=ScreenCommand, example="rosenblatt serve spam.model")
@click.argument("models", nargs=-1, metavar="[MODEL]...", type=click.Path())
@click.option(
    "--folder",
    type=click.Path(file_okay=False),
    default=FOLDER,
    show_default=True,
    help="Folder that keeps models and examples.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen on.",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    metavar="N",
    show_default="8765, or any free port",
    help="Port to listen on.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    show_default="the address",
    help="Name under which clients reach the service.",
)
@click.option(
    "--token-file",
    type=click.Path(),
    metavar="FILE",
    show_default="the variable ROSENBLATT_TOKEN, if set",
    help="File with a token that may do everything.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    show_default="no limit",
    help="Requests per second that each token may send.",
)
@click.option(
    "--browser/--no-browser", default=False, show_default=True, help="Open the page in a browser."
)
@click.option(
    "--new-token",
    metavar="NAME",
    show_default="none",
    help="Make a token, print it, and exit. It is shown only once.",
)
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(SCOPES),
    show_default="predict",
    help="What the new token may do.",
)
@click.option(
    "--model",
    "of_models",
    multiple=True,
    metavar="NAME",
    show_default="all",
    help="Model that the new token is for.",
)
@click.option(
    "--budget",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="SHARE",
    show_default="none",
    help="Share of mistakes above which examples of the new token are held back.",
)
def serve(screen: Screen, models: tuple[str, ...], folder: str, **given: Any) -> None:
    """Serve models over HTTP that learn while they answer.

    Each MODEL file is served under its name and goes on learning. Every example is on the disk
    before it is acknowledged. Without MODEL, create one on the page or with PUT /v1/models/NAME.
    Stop with Ctrl-C.
    """
    from rosenblatt.service.server import ModelServer, require_packages

    require_packages()
    asked = {
        "--scope": given["scopes"],
        "--model": given["of_models"],
        "--budget": given["budget"],
    }
    if given["new_token"] is not None:
        _make_token(screen, folder, given)
        return
    for flag, value in asked.items():
        if value:
            msg = f"{flag} has no effect without --new-token."
            raise click.UsageError(msg)
    from rosenblatt.service.limits import Limits

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
    _run(screen, server, folder, browser=given["browser"])


def _run(screen: Screen, server: "ModelServer", folder: str, *, browser: bool) -> None:
    """Answer until Ctrl-C."""
    names = sorted(server.writer.entries)
    if not screen.wants_json:
        screen.say(f"Models: {', '.join(names) or 'none yet'}. They are kept in {folder}.")
    told = {"folder": folder, "models": names}
    screen.announce("The service is at", server.url, browser=browser, **told)
    with suppress(KeyboardInterrupt):
        server.run()
    screen.say("The service has stopped.")


def _token(path: str | None) -> str | None:
    """Return the token of the operator from a file or the environment."""
    from rosenblatt.service.server import TOKEN_VARIABLE

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
        msg = f"{where} must hold one token of at least 20 characters and nothing else."
        raise InputError(msg)
    return text.strip()


def _make_token(screen: Screen, folder: str, given: dict[str, Any]) -> None:
    """Make a token in a folder that no service has open, and print it."""
    from concurrent.futures import Future

    from msgspec import ValidationError, convert

    from rosenblatt.service.access import new_token
    from rosenblatt.service.operations import token_record
    from rosenblatt.service.requests import TokenRequest
    from rosenblatt.service.writer import Writer

    wanted = {
        "name": given["new_token"],
        "scopes": list(given["scopes"] or ("predict",)),
        "models": list(given["of_models"]) or None,
        "budget": given["budget"],
    }
    try:
        request = convert(wanted, TokenRequest)
    except ValidationError as error:
        msg = f"The token cannot be made: {error}."
        raise InputError(msg) from error
    secret = new_token()
    writer = Writer(folder)
    try:
        future: Future[Any] = Future()
        record = token_record(request, secret, writer.clock())
        writer.command(lambda: writer.add_token(record), future)
        future.result()
    finally:
        writer.close()
    if screen.wants_json:
        screen.json({**wanted, "token": secret})
    else:
        screen.show(secret)
        screen.say("This is the only time that the token is shown; only its digest is kept.")

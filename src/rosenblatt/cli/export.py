"""A model in another format: JSON to read, ONNX to run elsewhere."""

from pathlib import Path

import click

from rosenblatt.cli import options
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.data.atomic import check_target, replacing
from rosenblatt.errors import InputError
from rosenblatt.models.export import to_json, to_onnx
from rosenblatt.models.model import Model

FORMATS = ("json", "onnx")
SUFFIXES = {".json": "json", ".onnx": "onnx"}


@click.command(cls=ScreenCommand, example="rosenblatt export spam.model -o spam.json")
@click.argument("model_path", metavar="MODEL", type=click.Path())
@options.value("-o", "--output FILE", required=True, help='File to write; "-" for standard output.')
@options.choice(
    "--format", "wanted", choices=FORMATS, shown="by the ending of FILE", help="Format of FILE."
)
def export(screen: Screen, model_path: str, output: str, wanted: str | None) -> None:
    """Export MODEL as JSON or ONNX."""
    if output == "-" and screen.wants_json:
        msg = "--json and the model cannot both go to standard output; name a file with -o."
        raise click.UsageError(msg)
    format_ = wanted or SUFFIXES.get(Path(output).suffix.lower())
    if format_ is None:
        what = "Standard output" if output == "-" else output
        raise InputError(f"{what} has no ending that tells the format; add --format json or onnx.")
    check_target(output, [model_path])
    model = Model.load(model_path)
    data = to_onnx(model) if format_ == "onnx" else to_json(model).encode()
    with replacing(output) as file:
        file.write(data)
    screen.wrote(output)
    if format_ == "onnx" and model.encodes:
        screen.say("The ONNX graph takes encoded features, not the columns of the data files.")
    if output == "-":
        return
    n_bytes = Path(output).stat().st_size
    screen.say(f"Wrote {output}: {n_bytes:,} bytes of {format_}.")
    if screen.wants_json:
        screen.json({"model": model_path, "file": output, "format": format_, "bytes": n_bytes})

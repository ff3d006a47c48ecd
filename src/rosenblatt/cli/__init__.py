"""The command line: one file a command, imported when it is called."""

from importlib import import_module

import click

INTERRUPTED = 130

COMMANDS = {
    "demo": "Train a model on a real data set and show the result.",
    "train": "Train a model on data files.",
    "evaluate": "Measure the error of a model on labelled data.",
    "predict": "Predict the labels of new data.",
    "weights": "Show the features with the largest weights.",
    "explain": "Explain the decision on one row.",
    "diagnose": "Prove whether the classes are linearly separable.",
    "trace": "Show a training run step by step.",
    "report": "Write a report on a model as one HTML page.",
    "plot": "Draw a picture of data or of a model.",
    "lab": "Open an interactive page to try the perceptron.",
    "export": "Write a model as JSON or ONNX.",
}


class LazyGroup(click.Group):
    """A group that imports a command only to run it, so that --help answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of this name."""
        if cmd_name not in COMMANDS:
            return None
        try:
            module = import_module(f"rosenblatt.cli.{cmd_name}")
        except KeyboardInterrupt:  # click would make it exit code 1, which is an answer
            raise click.exceptions.Exit(INTERRUPTED) from None
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rosenblatt")
def main() -> None:
    """Rosenblatt: the perceptron family, fast and open to inspection."""

"""The command line: one file a command, imported when it is called."""

import atexit
import gc
import io
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from types import FrameType

import click

INTERRUPTED = 130
STANDARD_ERROR = 2  # the number of its descriptor
IMPORTING = "<frozen importlib._bootstrap>"  # the file of the functions that import
# New objects after which Python looks for cycles among all: by default 700, for a tenth of the time
# of a command that mostly imports. It makes 110,000 that stay; with 50,000 it still took 20 ms.
FEWEST_COLLECTED = 200_000
# OpenBLAS's threads spin for 2²⁶ cycles before they sleep, 50 ms of every start. With 2⁴ they sleep
# at once, and still share large products.
SPIN, SHORT_SPIN = "OPENBLAS_THREAD_TIMEOUT", "4"
# What glibc may keep of freed memory, by the numbers of mallopt: 64 MB at the end of the heap,
# blocks of up to 8 MB, one heap for all threads. Else each block of a file comes in new pages that
# the system clears, a sixth of the time of five passes over 146 MB. Larger blocks leave holes.
KEPT_MEMORY = {-1: 64 << 20, -3: 8 << 20, -8: 1}
TUNING = "GLIBC_TUNABLES"  # by which users set the same

COMMANDS = {
    "demo": "Train a model on a real data set and show the result.",
    "train": "Train a model on data files.",
    "tune": "Search for the best way to learn from data.",
    "evaluate": "Measure the error of a model on labelled data.",
    "predict": "Predict the labels of new data.",
    "weights": "Show the features with the largest weights.",
    "explain": "Explain the decision on one row.",
    "diagnose": "Prove whether the classes are linearly separable.",
    "audit": "List labels that are probably wrong.",
    "trace": "Show a training run step by step.",
    "report": "Write a report on a model as one HTML page.",
    "plot": "Draw a picture of data or of a model.",
    "lab": "Open an interactive page to try the perceptron.",
    "serve": "Serve models over HTTP that learn while they answer.",
    "prune": "Write a model to a smaller file.",
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
        command: click.Command = getattr(import_module(f"rosenblatt.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called; of an unknown one say which may be meant."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from rosenblatt.cli.spelling import did_you_mean

            ctx.fail(f"No such command '{args[0]}'.{did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    no_args_is_help=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--version", is_flag=True, help="Show the version and exit.")
@click.option("--json", "as_json", is_flag=True, help="With --version: print one JSON document.")
@click.pass_context
def main(context: click.Context, *, version: bool, as_json: bool) -> None:
    """Rosenblatt: the perceptron family, fast and open to inspection."""
    if version:
        show_version(as_json=as_json)
        context.exit()
    if as_json or context.invoked_subcommand is None:
        raise click.UsageError("--json goes with --version, or behind the name of a command.")


class Interruption:
    """What Ctrl-C does: raise KeyboardInterrupt in a command at work, else end the program at once.

    While modules are imported it ends, too: some make another exception of it, or none.
    """

    may_be_held = False  # whether a command is at work, which may want to finish something first

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Raise KeyboardInterrupt within."""
        before, self.may_be_held = self.may_be_held, True
        try:
            yield
        finally:
            self.may_be_held = before

    def __call__(self, _number: int, frame: FrameType | None) -> None:
        """Take the signal."""
        while frame is not None and frame.f_code.co_filename != IMPORTING:
            frame = frame.f_back
        if self.may_be_held and frame is None:
            raise KeyboardInterrupt
        with suppress(OSError):
            os.write(STANDARD_ERROR, f"{interrupted()}\n".encode())
        os._exit(INTERRUPTED)


def interrupted() -> str:
    """Return the line of a program that was interrupted; a terminal has written ^C before it."""
    return "\nInterrupted." if sys.stderr is not None and sys.stderr.isatty() else "Interrupted."


interruption = Interruption()


def run() -> None:
    """Run the command line as a program of its own."""
    if callable(signal.getsignal(signal.SIGINT)):  # it is not ignored
        signal.signal(signal.SIGINT, interruption)
    gc.set_threshold(FEWEST_COLLECTED)
    os.environ.setdefault(SPIN, SHORT_SPIN)
    _keep_memory()
    _open_closed_streams()
    if sys.platform == "win32" and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(newline="\n")  # the same bytes as elsewhere
    status: list[int] = []
    atexit.register(_leave, status)  # the first, so that it runs after all others
    if sys.platform != "win32":
        from rosenblatt.cli.guard import columnar_file, run_guarded

        name = columnar_file(sys.argv[1:])
        if name is not None:
            run_guarded(name)
    try:
        main(prog_name="rosenblatt")
    except SystemExit as end:
        if isinstance(end.code, int):
            status.append(end.code)
        raise


def _open_closed_streams() -> None:
    """Put nothing where standard output or error is closed, so that no file takes their numbers.

    What is said to a closed standard error is lost; a closed standard output stays an error.
    """
    if sys.stdout is None or sys.stderr is None:
        opened = [os.open(os.devnull, os.O_RDWR)]
        while opened[-1] < STANDARD_ERROR:
            opened.append(os.open(os.devnull, os.O_RDWR))
        for descriptor in opened:
            if descriptor in (0, opened[-1]) and descriptor != STANDARD_ERROR:
                os.close(descriptor)  # a closed standard input stays closed
    if sys.stderr is None:
        sys.stderr = open(STANDARD_ERROR, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _keep_memory() -> None:
    if sys.platform == "linux" and TUNING not in os.environ:
        from ctypes import CDLL

        with suppress(OSError, AttributeError):  # another C library
            set_option = CDLL(None).mallopt
            for option, value in KEPT_MEMORY.items():
                set_option(option, value)


def _leave(status: Sequence[int]) -> None:
    """End the process as it is: to take hundreds of modules apart takes longer than small work."""
    if status:
        with suppress(OSError, ValueError):  # of a stream that cannot be written: Python tells
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
            os._exit(status[0])


def show_version(*, as_json: bool) -> None:
    """Print the version; as JSON also what it runs on, and where its machine code comes from."""
    from rosenblatt.version import __version__

    if not as_json:
        click.echo(f"rosenblatt {__version__}")
        return
    import json
    import platform
    from importlib import metadata

    from rosenblatt.cli.screen import Screen, ending
    from rosenblatt.kernels.compiling import machine_code_state

    versions: dict[str, str | None] = {"python": platform.python_version()}
    for package in ("numpy", "scipy", "scikit-learn", "llvmlite", "numba"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    with ending(Screen(json=True)):
        machine_code = machine_code_state()
    state = {"version": __version__, "machine_code": machine_code, "packages": versions}
    click.echo(json.dumps(state, indent=2))

"""What a command prints: data to standard output, talk to standard error, and how it ends.

A command of the class ``ScreenCommand`` has the option ``--json`` and is handed a ``Screen``. Exit
code 0: done. 1: the answer is no; for this the function returns False. 2: it cannot run; the error
becomes one line on standard error, and with ``--json`` {"error": "…"}. 130: Ctrl-C. 141: the reader
of standard output has closed it.

Colours and bars are drawn, and tables cut to fit, on a terminal where neither NO_COLOR nor
TERM=dumb is set. Text from data is printed by ``printable``, so that it commands no terminal.
"""

import errno
import logging
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from shutil import get_terminal_size
from time import perf_counter
from typing import Any, TextIO

import click

from rosenblatt.cli import INTERRUPTED, interrupted, interruption
from rosenblatt.cli.spelling import did_you_mean, flag
from rosenblatt.cli.tables import draw_curve, draw_table
from rosenblatt.errors import Parameter, Question, RosenblattError, Sentence, spelled
from rosenblatt.parameters import GROUPS
from rosenblatt.wording import Cell, finite, plain, printable, word_list

WORDS = re.compile(r"\[default: \((.*?)\)(?=[];])")
HELP = ["-h", "--help"]
ON_FILES = {"data", "model_path", "path", "models"}  # arguments that may name sentences
PAGE_WIDTH = 100  # characters of a line where standard output is no terminal
WIDEST_BAR = 40  # blocks
PATIENCE = 3.0  # seconds without a word on a terminal
ALL = "rosenblatt.all_options"  # in a context whose help shows them
TYPED = "rosenblatt.typed"  # under which a context keeps the command line
CLEAR_LINE = "\r\x1b[2K"  # to a terminal
COMPILES_ONCE = "Compiling for this computer; this happens once …"
COMPILES_EACH_TIME = (
    "Compiling each time: the cache cannot be used; ROSENBLATT_CACHE names another."
)
NO_C_MODULE = "Kernels are called by {}; install again where there is a C compiler."
NO = 1  # exit codes
CANNOT_RUN = 2
PIPE_CLOSED = 141


class Screen:
    """Where a command prints; with ``json`` what is for people (show, table) is left out."""

    def __init__(self, *, json: bool = False) -> None:
        self.wants_json = json
        self.written: str | None = None  # a file that is complete, for errors after it
        self._has_bar = False
        self._waiting: WaitingLine | None = None

    @property
    def draws(self) -> bool:
        """Whether standard output is a terminal that colours and bars are wanted on."""
        return _draws(sys.stdout)

    @property
    def draws_talk(self) -> bool:
        """Whether standard error is one: ask this before showing progress."""
        return _draws(sys.stderr)

    def wrote(self, path: str) -> None:
        """Note that a file was written, so that an error after it says so."""
        if path != "-":
            self.written = path

    def say(self, text: str = "") -> None:
        """Write a line of talk to standard error."""
        self._write(sys.stderr, f"{text}\n")

    def warn(self, text: str) -> None:
        """Write a line of warning to standard error."""
        self.say(f"{_coloured(sys.stderr, 'Warning:', 'yellow')} {spelled(text, flag)}")

    def show(self, text: str = "") -> None:
        """Write a line of the result to standard output."""
        if not self.wants_json:
            self._write(sys.stdout, f"{text}\n")

    def flush(self) -> None:
        """Flush standard output."""
        with _naming_output():
            sys.stdout.flush()

    def heading(self, text: str) -> None:
        """Write a line of the result that stands out on a terminal, after an empty one."""
        self.show(f"\n{click.style(text, bold=True) if self.draws else text}")

    def pairs(self, lines: Iterable[Sequence[str]]) -> None:
        """Write what was decided on files and columns, a line for each heading."""
        for heading, words in lines:
            self.show(f"  {heading}: {printable(spelled(words, flag))}")

    def table(
        self, headings: Sequence[str], rows: Sequence[Sequence[Cell]], title: str | None = None
    ) -> None:
        """Write a table to standard output.

        Cells are text, numbers, None for a number that does not exist, and bars, which are left
        out with their column where nothing is drawn. Columns of numbers are set flush right.
        """
        if self.wants_json:
            return
        if title:
            self.heading(title)
        width, blocks = get_terminal_size().columns if self.draws else None, self._can_draw_blocks
        self._write(sys.stdout, draw_table(headings, rows, blocks=blocks, width=width))

    def fits(self, headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> bool:
        """Return whether a table fits the width of the terminal, or of a page.

        >>> Screen().fits(("class",), [["x" * 200]])
        False
        """
        width = get_terminal_size().columns if self.draws else PAGE_WIDTH
        return all(len(line) <= width for line in draw_table(headings, rows).splitlines())

    def curve(self, values: Sequence[float]) -> str:
        """Return numbers as a cell or part of a line: blocks on a terminal, else the numbers."""
        return draw_curve(values, blocks=self._can_draw_blocks, draws=self.draws)

    @property
    def _can_draw_blocks(self) -> bool:
        return _can_write(sys.stdout, "█▁")

    def browse(self, url: str) -> None:
        """Open an address in a browser, or ask the user to."""
        import webbrowser

        if not webbrowser.open(url):
            self.say(f"No browser could be opened; open {url} yourself.")

    def json(self, document: Any) -> None:
        """Write a JSON document to standard output, on one line if that is no terminal.

        NumPy's numbers and arrays are taken as they are; what is not finite becomes null.
        """
        from json import dumps

        def leaf(value: Any) -> Any:
            return spelled(value, flag) if isinstance(value, Sentence) else finite(value)

        ascii_only = not _can_write(sys.stdout, "é☃😀")
        indent = 2 if sys.stdout.isatty() else None
        document = plain(document, leaf)
        text = dumps(document, ensure_ascii=ascii_only, allow_nan=False, indent=indent)
        self._write(sys.stdout, f"{text}\n")

    def write(self, data: str | bytes) -> None:
        """Write data to standard output as they are."""
        if isinstance(data, str):
            self._write(sys.stdout, data)
        else:
            self.clear_bar()
            self.flush()
            with _naming_output():
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()

    def wait(self, files: Sequence[str]) -> None:
        """Show for how long a command is at work on files, until something else is written."""
        if self.draws_talk and files:
            self._waiting = WaitingLine(self, files)
            self._waiting.start()

    def bar(self, text: str) -> None:
        """Show a line on standard error, a terminal, until something else is written."""
        self._end_waiting()
        self.draw_bar(text)

    def draw_bar(self, text: str) -> None:
        """Show such a line beside whoever waits."""
        _write(sys.stderr, f"{CLEAR_LINE}{text}")
        sys.stderr.flush()
        self._has_bar = True

    def show_fold(self, fold: int, folds: int) -> None:
        """Show how many folds are done, where standard error is a terminal."""
        if self.draws_talk:
            self.bar(f"fold {fold} of {folds}")

    def clear_bar(self) -> None:
        """Take the line of the bar away, if there is one."""
        self._end_waiting()
        if self._has_bar:
            self._has_bar = False
            _write(sys.stderr, CLEAR_LINE)
            sys.stderr.flush()

    def _end_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.end()
            self._waiting = None

    def _write(self, stream: TextIO, text: str) -> None:
        self.clear_bar()
        _write(stream, text)


class WaitingLine:
    """A line on a terminal while a command has nothing to say: on what it works, and since when."""

    def __init__(
        self, screen: Screen, files: Sequence[str], clock: Callable[[], float] = perf_counter
    ) -> None:
        import threading  # wanted on a terminal alone

        self._screen, self._clock, self._began = screen, clock, clock()
        self.files = printable(word_list(files, 2))
        self._lock, self._ended = threading.Lock(), threading.Event()
        self.start = threading.Thread(target=self._run, daemon=True).start

    def _run(self) -> None:
        while not self._ended.wait(1.0):
            self.tick()

    def tick(self) -> None:
        """Write the line, unless the time has been short."""
        seconds = self._clock() - self._began
        with self._lock:
            if seconds >= PATIENCE and not self._ended.is_set():
                self._screen.draw_bar(f"At work on {self.files}: {seconds:.0f} s")

    def end(self) -> None:
        """Write no more."""
        with self._lock:
            self._ended.set()


class ScreenCommand(click.Command):
    """A command that is handed a ``Screen``, and that ends as the module says.

    ``example`` is a command line that its help ends with; ``json_help`` says what ``--json``
    prints, where it is more than one document. A command with many options names those that
    ``--help`` shows as ``common``; ``--help-all`` shows all of them under the headings of groups.
    """

    def __init__(
        self,
        *args: Any,
        example: str | None = None,
        json_help: str = "Print one JSON document.",
        common: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        settings = {"help_option_names": HELP}
        super().__init__(*args, **{"context_settings": settings, **kwargs})
        self._example = example
        self._common = (*common, "as_json", "help_all") if common else ()
        self.params.append(click.Option(["--json", "as_json"], is_flag=True, help=json_help))
        if common:
            self.params.append(
                click.Option(
                    ["--help-all"],
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=_show_all,
                    help="Show all options, in groups, and exit.",
                )
            )

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Read the options; with --json, print what is wrong with them as JSON, too."""
        as_json, typed = "--json" in args, shlex.join(args)  # before they are used up
        try:
            context = super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            if isinstance(error, click.NoSuchOption):
                known = [name for one in self.params for name in (*one.opts, *one.secondary_opts)]
                advised = f"{error.message}{did_you_mean(error.option_name, known)}"
                error = click.NoSuchOption(error.option_name, advised, ctx=error.ctx)
            if as_json:
                Screen(json=True).json({"error": error.format_message()})
            raise error from None
        context.meta[TYPED] = f"rosenblatt {info_name} {typed}"
        return context

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options: all of a short list, of a long one the common ones or the groups."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        groups: dict[str, list[click.Option]] = {name: [] for name in ("", *GROUPS)}
        for option in options:
            groups[getattr(option, "group", "")].append(option)
        if not self._common:
            _write_section(ctx, formatter, "Options", options)
        elif ALL in ctx.meta:
            for name, listed in groups.items():
                _write_section(ctx, formatter, name or "Options", listed)
        else:
            common = [o for o in options if o.name in self._common or "--help" in o.opts]
            _write_section(ctx, formatter, "Options", common)
            names = ", ".join(name for name, listed in groups.items() if name and listed)
            formatter.write_paragraph()
            formatter.write_text(f"More options: {names}.")
            formatter.write_text("Show all of them with --help-all.")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example last, on a line that is not broken."""
        super().format_epilog(ctx, formatter)
        if self._example is not None:
            formatter.write(f"\nExample:\n  {self._example}\n")

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command with a screen."""
        if sys.stdout is None:
            click.echo("Error: Standard output is closed.", err=True)
            ctx.exit(CANNOT_RUN)
        screen = Screen(json=ctx.params.pop("as_json"))
        ctx.params["screen"] = screen
        data = ctx.params.get("data") or ()
        screen.wait([data] if isinstance(data, str) else data)
        with ending(screen):
            twin = None
            if ctx.params.keys() & ON_FILES:
                from rosenblatt.cli.tagging import twin_of  # which imports NumPy

                twin = twin_of(ctx)
            done = super().invoke(ctx) if twin is None else twin()
            screen.flush()
            if done is False:
                ctx.exit(NO)


def _show_all(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.meta[ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def _write_section(
    ctx: click.Context, formatter: click.HelpFormatter, title: str, options: Sequence[click.Option]
) -> None:
    """Write options; a default in words stands there without click's parentheses."""
    records = [option.get_help_record(ctx) for option in options]
    if any(records):
        with formatter.section(title):
            formatter.write_dl([(r[0], WORDS.sub(r"[default: \1", r[1])) for r in records if r])


class CompilationNotice(logging.Handler):
    """Says once that kernels are being compiled; on a terminal a bar grows with each of them."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(logging.INFO)
        self._screen = screen
        self._kernels = 0
        self._started = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line at the first record, and on a terminal the bar at each."""
        if not self._kernels:
            self._started = perf_counter()
            self._screen.say(COMPILES_ONCE if getattr(record, "kept", True) else COMPILES_EACH_TIME)
            calls = getattr(record, "calls", "C")
            if calls != "C":
                self._screen.say(NO_C_MODULE.format(calls))
        self._kernels += 1
        if self._screen.draws_talk:
            block = "█" if _can_write(sys.stderr, "█") else "#"
            blocks = block * min(self._kernels, WIDEST_BAR)
            seconds = perf_counter() - self._started
            self._screen.bar(f"{blocks} kernel {self._kernels}, {seconds:.1f} s")


@contextmanager
def ending(screen: Screen) -> Iterator[None]:
    """Turn what goes wrong inside into one line and an exit code, warnings into lines."""
    with warnings.catch_warnings(), _noticing(screen):
        warnings.showwarning = lambda message, *_, **__: screen.warn(_one_line(message))
        try:
            with interruption.raised():
                yield
        except KeyboardInterrupt:
            screen.say(interrupted())
            raise click.exceptions.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _silence()
            raise click.exceptions.Exit(PIPE_CLOSED) from None
        except Question as error:
            _fail(screen, _with_answer(error))
        except RosenblattError as error:
            _fail(screen, _one_line(error))
        except MemoryError:
            _fail(screen, "There is not enough memory.")
        except OSError as error:
            about = f"{error.filename}: " if error.filename is not None else ""
            _fail(screen, _one_line(f"{about}{error.strerror or error}."))


@contextmanager
def _noticing(screen: Screen) -> Iterator[None]:
    log, notice = logging.getLogger("rosenblatt.kernels"), CompilationNotice(screen)
    level = log.level
    log.addHandler(notice)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        screen.clear_bar()
        log.removeHandler(notice)
        log.setLevel(level)


def _one_line(message: object) -> str:
    return printable(" ".join(spelled(message, flag).split()))


def _with_answer(question: Question) -> str:
    """Return a question whose last parameter, the answer, is the command that has it."""
    typed = click.get_current_context().meta.get(TYPED, "")
    *lines, last = spelled(question, flag).split("\n")
    parts = getattr(question.args[0], "parts", ())
    if parts and isinstance(parts[-1], Parameter):
        answer = flag(parts[-1])
        last = f"{last.removesuffix(answer)}{typed} {answer}"
    return "\n".join(printable(line) for line in (*lines, last))


def _fail(screen: Screen, text: str) -> None:
    if screen.written is not None:
        text += f" {screen.written} was written."
    with suppress(OSError):  # standard output may be what failed
        if screen.wants_json:
            screen.json({"error": text})
        sys.stdout.flush()
    screen.say(f"{_coloured(sys.stderr, 'Error:', 'red')} {text}")
    raise click.exceptions.Exit(CANNOT_RUN) from None


def _silence() -> None:
    """Point standard output and error at nothing, else Python complains when it flushes them."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                os.dup2(nothing, stream.fileno())
        os.close(nothing)


def _draws(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def _coloured(stream: TextIO, text: str, colour: str) -> str:
    return click.style(text, fg=colour) if _draws(stream) else text


def _can_write(stream: TextIO, text: str) -> bool:
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _write(stream: TextIO, text: str) -> None:
    if not _can_write(stream, text):  # a label in Greek on an ASCII terminal
        encoding = stream.encoding or "ascii"
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    if stream is sys.stderr:
        try:
            stream.write(text)
            stream.flush()
        except BrokenPipeError:
            raise
        except OSError:  # talk that a full disk has no room for must not end the work
            sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        return
    with _naming_output():
        stream.write(text)


@contextmanager
def _naming_output() -> Iterator[None]:
    """Have errors of the system name standard output; a closed pipe stays what it is."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if sys.platform == "win32" and error.errno == errno.EINVAL:  # what a closed pipe is there
            raise BrokenPipeError from error
        raise OSError(error.errno, error.strerror, "Standard output") from error

"""How commands print and end, in processes of their own."""

import json
import logging
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

from rosenblatt.cli.screen import Screen, WaitingLine, ending
from tests.cli.models import SPAM_ROWS, rows_file, spam_model
from tests.cli.running import without_notice

PROGRAM = """
import sys, time, warnings
import click
from rosenblatt.wording import Bar
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.errors import InputError

@click.command(cls=ScreenCommand)
@click.argument("what")
def command(screen, what):
    "Do what is asked."
    if what == "print":
        screen.say("talk")
        screen.warn("careful")
        screen.table(("name", "n", ""), [("x", 1, Bar(1.0, 1.0))], "Title")
        screen.heading("Curve")
        screen.show(screen.curve([8, 4, 0]))
        if screen.wants_json:
            screen.json({"nan": float("nan"), "name": "é"})
        assert "rich" not in sys.modules and "numpy" not in sys.modules
    if what == "error":
        raise InputError("data.csv, line 3: \\x1b[2J is no number.")
    if what == "missing":
        open("/nowhere/at/all")
    if what == "memory":
        raise MemoryError
    if what == "warn":
        warnings.warn("something is odd")
    if what == "no":
        return False
    if what == "flood":
        while True:
            screen.write("line\\n")
    if what == "bytes":
        screen.write("text ")
        screen.write(b"bytes")
    if what == "greek":
        screen.show("αβγ")
    if what == "wait":
        screen.say("waiting")
        sys.stdin.read()

command()
"""


def ran(*arguments: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Return what the program printed and how it ended."""
    environment = os.environ | settings.pop("env", {})
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | settings
    return subprocess.run(  # noqa: S603  # our own code
        [sys.executable, "-c", PROGRAM, *arguments],
        check=False,
        text=True,
        env=environment,
        **settings,
    )


def on_terminal(*arguments: str, **environment: str) -> str:
    """Return what the program prints to a terminal, standard error included."""
    ours, theirs = pytest.importorskip("pty").openpty()
    ran(*arguments, stdout=theirs, stderr=theirs, env={"TERM": "xterm", **environment})
    os.close(theirs)
    text = b""
    try:
        while block := os.read(ours, 4096):
            text += block
    except OSError:
        pass  # the other end is closed
    os.close(ours)
    return text.decode().replace("\r\n", "\n")


def test_piped() -> None:
    """Data go to standard output, talk to standard error, both plain."""
    done = ran("print")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "\nTitle\nname  n\nx     1\n\nCurve\n8 4 0\n"
    assert done.stderr == "talk\nWarning: careful\n"


def test_json() -> None:
    """With --json standard output is one document and nothing else."""
    done = ran("print", "--json")
    assert json.loads(done.stdout) == {"nan": None, "name": "é"}
    assert done.stderr == "talk\nWarning: careful\n"
    in_ascii = ran("print", "--json", env={"PYTHONIOENCODING": "ascii"})
    assert json.loads(in_ascii.stdout)["name"] == "é"


def test_terminal() -> None:
    """A terminal gets colours, bars and curves, in ASCII where its encoding has no blocks."""
    text = on_terminal("print")
    assert "\x1b[" in text
    assert "│██████████" in text
    assert "█▅▁" in text
    plain = on_terminal("print", PYTHONIOENCODING="ascii")
    assert plain.isascii()
    assert "|##########" in plain
    assert "@+_" in plain


@pytest.mark.parametrize("setting", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_color(setting: dict[str, str]) -> None:
    """Where colours are not wanted a terminal gets the text of a pipe."""
    text = on_terminal("print", **setting)
    assert "\x1b" not in text
    assert "name  n\nx     1\n" in text
    assert "8 4 0" in text


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("error", r"data.csv, line 3: \x1b[2J is no number."),
        ("missing", "/nowhere/at/all: No such file or directory."),
        ("memory", "There is not enough memory."),
    ],
)
def test_errors(what: str, told: str) -> None:
    """What cannot run says why in one line, exits with 2, and with --json says it in JSON too."""
    done = ran(what)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"Error: {told}\n")
    done = ran(what, "--json")
    assert (done.returncode, done.stderr) == (2, f"Error: {told}\n")
    assert json.loads(done.stdout)["error"].replace("\x1b", r"\x1b") == told


def test_wrong_options() -> None:
    """A wrong option exits with 2 and is told in JSON too where that is asked for."""
    done = ran("no", "--jsn")
    assert (done.returncode, done.stdout) == (2, "")
    done = ran("--json", "no", "--nmae")
    assert done.returncode == 2
    assert "--nmae" in json.loads(done.stdout)["error"]


def test_answer_is_no() -> None:
    """A command that returns False exits with 1."""
    assert ran("no").returncode == 1


def test_warnings() -> None:
    """Python's warnings are told in a line, without the source that raised them."""
    assert ran("warn").stderr == "Warning: something is odd\n"


def test_closed_pipe() -> None:
    """Where nobody reads on, a command ends quietly."""
    with subprocess.Popen(  # noqa: S603  # our own code
        [sys.executable, "-c", PROGRAM, "flood"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        stdout: IO[bytes] = process.stdout  # type: ignore[assignment]  # it is a pipe
        assert stdout.readline() == b"line\n"
        stdout.close()
        assert process.wait() == 141
        assert process.stderr
        assert process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
def test_full_disk() -> None:
    """A full disk under standard output is an error like any other."""
    with Path("/dev/full").open("w") as full:
        done = ran("flood", stdout=full)
    told = "Error: Standard output: No space left on device.\n"
    assert (done.returncode, done.stderr) == (2, told)


def test_interrupt() -> None:
    """Ctrl-C exits with 130 and without a traceback."""
    with subprocess.Popen(  # noqa: S603  # our own code
        [sys.executable, "-c", PROGRAM, "wait"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr
        assert process.stderr.readline() == b"waiting\n"
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr.read() == b"Interrupted.\n"


AT_IMPORT = """
import os, signal, sys
from contextlib import suppress

class Interrupter:
    def find_spec(self, name, *_):
        if name == os.environ["INTERRUPTED_AT"]:
            with suppress(KeyboardInterrupt):  # as some modules do
                signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupter())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the program is called otherwise")
@pytest.mark.parametrize(
    "program", [["-m", "rosenblatt"], [str(Path(sys.executable).with_name("rosenblatt"))]]
)
@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("rosenblatt.lazy", "--help"),
        ("click", "--help"),
        ("rosenblatt.cli.train", "train"),
        ("numpy", "demo"),
        ("sqlite3", "serve --new-token ann"),
    ],
)
def test_interrupted_start(tmp_path: Path, program: list[str], module: str, command: str) -> None:
    """Ctrl-C while the program still imports exits with 130 and a word, of any command."""
    (tmp_path / "sitecustomize.py").write_text(AT_IMPORT)
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, *program, *command.split()],
        cwd=tmp_path,
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
            "INTERRUPTED_AT": module,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Interrupted.\n")


def test_encodings() -> None:
    """What an encoding cannot say is escaped; bytes come out as they went in."""
    assert ran("greek", env={"PYTHONIOENCODING": "ascii"}).stdout == "\\u03b1\\u03b2\\u03b3\n"
    assert ran("greek", env={"PYTHONIOENCODING": "utf-8"}).stdout == "αβγ\n"
    assert ran("bytes").stdout == "text bytes"


@pytest.mark.parametrize(
    ("command", "redirection", "said"),
    [
        ("--rows", ">&-", "Error: Standard output is closed.\n"),
        (
            "-",
            "<&-",
            "Error: Standard input is closed; name a file",
        ),
        (
            "--rows",
            ">/dev/full",
            "Error: standard output cannot be written: No space left on device",
        ),
    ],
)
def test_closed_and_full_streams(tmp_path: Path, command: str, redirection: str, said: str) -> None:
    """A stream that is closed or full ends a command with code 2 and a sentence, no traceback."""
    model = spam_model(tmp_path)
    data = rows_file(tmp_path, SPAM_ROWS) if command == "--rows" else "-"
    program = ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", "rosenblatt"]
    done = subprocess.run(  # noqa: S603  # our own program
        [*program, "predict", model, data], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    error = without_notice(done.stderr)
    assert error.startswith(said)
    assert len(error.splitlines()) == 1


TRAINED = f"{sys.executable} -m rosenblatt train toy.csv --label y -o m.model"


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "2>&- <&-"])
def test_talk_that_cannot_be_written(tmp_path: Path, redirection: str) -> None:
    """A closed or full standard error changes neither the result nor the files."""
    if "full" in redirection and not Path("/dev/full").exists():
        pytest.skip("the system has no full device")
    (tmp_path / "toy.csv").write_text("x,y\n" + "1,a\n2,b\n" * 20)
    done = subprocess.run(  # noqa: S602
        f"{TRAINED} {redirection}", shell=True, cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert b"Model: m.model (" in done.stdout
    assert (tmp_path / "m.model").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize("form", ["", "--json"])
def test_a_model_that_was_written_is_told(tmp_path: Path, form: str) -> None:
    """What fails after the model was written says that it was."""
    (tmp_path / "toy.csv").write_text("x,y\n" + "1,a\n2,b\n" * 20)
    done = subprocess.run(  # noqa: S602
        f"{TRAINED} {form} >/dev/full", shell=True, cwd=tmp_path, stderr=-1, text=True, check=False
    )
    assert done.returncode == 2
    told = "Error: Standard output: No space left on device. m.model was written.\n"
    assert without_notice(done.stderr).endswith(told)
    assert (tmp_path / "m.model").exists()


def test_compiling_is_told_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that waits for the compiler says so, once."""
    monkeypatch.undo()  # what the other tests are spared
    with ending(Screen(json=False)):
        for kernel in ("one", "two"):
            logging.getLogger("rosenblatt.kernels").info("Compiling %s", kernel)
    assert capsys.readouterr().err == "Compiling for this computer; this happens once …\n"


def test_compiling_each_time_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where compiled code cannot be kept, nobody reads that it happens once."""
    monkeypatch.undo()
    with ending(Screen(json=False)):
        logging.getLogger("rosenblatt.kernels").info("Compiling", extra={"kept": False})
    told = capsys.readouterr().err
    assert "once" not in told
    assert "ROSENBLATT_CACHE" in told


def test_a_missing_c_module_is_told_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no C compiler was found at installation, the line on compiling is followed by that."""
    monkeypatch.undo()
    reason = "ctypes, slowly: _machine.c is not compiled for this Python"
    with ending(Screen(json=False)):
        for kernel in ("one", "two"):
            told = {"kept": True, "calls": reason}
            logging.getLogger("rosenblatt.kernels").info("Compiling %s", kernel, extra=told)
    assert capsys.readouterr().err.splitlines()[1:] == [
        f"Kernels are called by {reason}; install again where there is a C compiler."
    ]


def test_compiling_has_a_bar_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block for each kernel, which goes away before anything else is written and at the end."""
    monkeypatch.undo()
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    log, screen, clear = logging.getLogger("rosenblatt.kernels"), Screen(json=False), "\r\x1b[2K"
    with ending(screen):
        log.info("Compiling one")
        log.info("Compiling two")
        screen.say("done")
        log.info("Compiling three")
    told, *bars = re.sub(r"[0-9.]+ s", "0 s", capsys.readouterr().err).split(clear)
    assert told == "Compiling for this computer; this happens once …\n"
    assert bars == ["█ kernel 1, 0 s", "██ kernel 2, 0 s", "done\n", "███ kernel 3, 0 s", ""]


def test_a_long_reading_has_a_line_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From three seconds on it says on what it works, until anything else is written."""
    monkeypatch.undo()
    screen, clock = Screen(json=False), iter([0.0, 1.0, 2.9, 3.2, 4.2, 5.2]).__next__
    line = WaitingLine(screen, ["a.csv", "b.csv", "c.csv"], clock)
    for _ in range(4):
        line.tick()
    line.end()
    screen.say("done")
    line.tick()
    files = "At work on a.csv, b.csv and 1 more"
    assert capsys.readouterr().err.split("\r\x1b[2K") == [
        *("", f"{files}: 3 s", f"{files}: 4 s", "done\n")
    ]


@pytest.mark.parametrize("terminal", [True, False])
def test_who_waits_at_a_terminal(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command with files has the line on a terminal alone, and gives it up at its first word."""
    monkeypatch.undo()
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    told: list[str] = []
    monkeypatch.setattr(WaitingLine, "_run", lambda line: told.append(line.files))
    monkeypatch.setattr(WaitingLine, "end", lambda _: told.append("end"))
    screen = Screen(json=False)
    screen.wait(["a.csv"])
    screen.show("done")
    screen.show("done")
    assert told == ["a.csv", "end"] * terminal


LEAVING = """
import atexit, sys, threading, time
import rosenblatt.cli

class Late:
    def __del__(self):
        print("taken apart")

late = Late()

def main(prog_name):
    atexit.register(print, "at exit")
    threading.Thread(target=lambda: (time.sleep(0.05), print("thread"))).start()
    print("answer")
    sys.exit(1)

rosenblatt.cli.main = main
rosenblatt.cli.run()
"""


def test_a_program_ends_without_taking_its_modules_apart() -> None:
    """Threads and exit handlers end, and all that was printed arrives; nothing else is done."""
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", LEAVING], capture_output=True, text=True, check=False
    )
    assert done.stdout.split("\n") == ["answer", "thread", "at exit", ""]
    assert done.returncode == 1

"""Runs the pages as a reader would: from top to bottom, in an empty folder, with nothing but them.

``python -m tests.docs.run_as_reader`` runs all pages, or those that it is given, and says where one
does not do what it says; with ``--paste`` it writes below each command what the command printed.

A page is a file of the documentation, or the docstrings of a room of the package. Each has a
process of its own, forked from one that has imported the package. Only what a reader sees is run;
commands that cannot be run here stand below a comment ``<!-- not run: the reason -->``. Those on
data that a reader downloads stand below ``<!-- data: name = file, ... -->`` and are run where the
folder that ROSENBLATT_DATA names has these files. Below a command a line ``…`` stands for any
number of lines, and ``…`` within a line for any text.
"""

import contextlib
import doctest
import gzip
import importlib
import multiprocessing
import os
import pkgutil
import re
import shlex
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WIDTH = 88  # columns of what commands print
LONGEST = 100  # characters of a line; the rest is left out
PARTS = ("", ".plots", ".report", ".lab", ".service", ".distributed")  # that have public names
PRELOADED = ["rosenblatt.cli", "rosenblatt.estimators"]
CUT = "…"  # on a line of its own stands for lines, within one for text
BLOCK = re.compile(
    r"(?ms)^(?:<!-- (?P<mark>not run|data): (?P<reason>[^\n]+) -->\n)?"
    r"```(?P<language>console|python|pycon|py)\n(?P<body>.*?)^```$"
)
PROMPT = re.compile(r"(?m)^\$ ")
CHANGING = (  # what differs from one run, or one machine, to the next
    (re.compile(r"\b[\d.,]+ (ms|s|seconds|MB/s|rows/s)\b"), r"# \1"),
    (re.compile(r"\b[\d,.]+ (bytes|.B)\b"), r"# \1"),
)
NOTICES = re.compile(r"(?m)^(Compiling (for this computer|each time)|Kernels are called by ).*\n")


class Reading(NamedTuple):
    """What a page did: what was not as it says, and its text with what the commands printed."""

    faults: list[str]
    text: str


def pages() -> list[Path]:
    """Return the pages with something to run."""
    listed = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    return [page for page in listed if BLOCK.search(page.read_text("utf-8"))]


def rooms() -> list[str]:
    """Return the packages whose docstrings have examples, and the modules beside packages."""
    found = {
        ".".join(path.relative_to(base).with_suffix("").parts[:2])
        for base, name in ((ROOT / "src", "rosenblatt"), (ROOT, "reproduction"), (ROOT, "tests"))
        for path in (base / name).rglob("*.py")
        if re.search(r"(?m)^\s*>>> ", path.read_text("utf-8"))
    }
    return sorted(found)


def read(what: Path | str) -> Reading:
    """Run a page, or the docstrings of a room, in a process of its own."""
    forks = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if forks else "spawn")
    if forks:
        context.set_forkserver_preload(PRELOADED)
    with ProcessPoolExecutor(1, mp_context=context) as process:
        return process.submit(_read_here, what).result()


def _read_here(what: Path | str) -> Reading:
    from tests.listed_kernels import listed_kernels

    os.environ.update(COLUMNS=str(WIDTH), NO_COLOR="1")
    with empty_folder(), warnings.catch_warnings(), listed_kernels():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*invalid escape sequence")
        return Reading(room_faults(what), "") if isinstance(what, str) else page_reading(what)


@contextlib.contextmanager
def empty_folder() -> Iterator[None]:
    """Work in an empty folder that is then removed."""
    with (
        tempfile.TemporaryDirectory(prefix="reader-", ignore_cleanup_errors=True) as folder,
        contextlib.chdir(folder),
    ):
        yield


def page_reading(page: Path) -> Reading:
    """Run the blocks of a page one after the other."""
    faults: list[str] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    old = page.read_text("utf-8")
    seen = re.sub(r"(?s)<!--.*?-->", "", old)
    if ">>> " in BLOCK.sub("", seen) or ">>> " in "".join(re.findall(r"(?s)<!--.*?-->", old)):
        faults.append(f"{page.name}: an example stands where no reader sees that it is one")

    def fresh(block: re.Match[str]) -> str:
        if block["mark"] == "not run" or (block["mark"] and not downloaded(block["reason"])):
            return block[0]
        if block["language"] != "console":
            line = old[: block.start("body")].count("\n")
            faults.extend(example_faults(block["body"], names, page.name, line))
            return block[0]
        body = commands_with_output(block["body"], page.name, faults)
        return block[0].replace(block["body"], body)

    return Reading(faults, BLOCK.sub(fresh, old))


def downloaded(files: str) -> bool:
    """Put data into this folder, unpacked, as a reader has them; return whether they are there."""
    folder = Path(os.environ.get("ROSENBLATT_DATA") or "nowhere")
    for name, source in (entry.split(" = ") for entry in files.split(", ")):
        if not Path(name).exists():
            if not (folder / source).exists():
                return False
            data = (folder / source).read_bytes()
            Path(name).write_bytes(gzip.decompress(data) if source.endswith(".gz") else data)
    return True


def example_faults(text: str, names: dict[str, Any], where: str, line: int) -> list[str]:
    """Run the examples of a text; return what doctest has against them."""
    test = doctest.DocTestParser().get_doctest(text, names, where, where, line)
    test.globs = names  # not a copy: the next block of the page goes on
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append, clear_globs=False)
    return ["".join(said)] if said else []


def commands_with_output(block: str, where: str, faults: list[str]) -> str:
    """Run the commands of a block; return it with what they print now."""
    head, *parts = PROMPT.split(block)
    if head.strip():
        faults.append(f"{where}: a block of commands begins with {head.splitlines()[0]!r}")
    text = ""
    for part in parts:
        command, _, old = part.partition("\n")
        status, printed = output_of(command)
        if status not in (0, 1):
            faults.append(f"{where}: {command!r} ended with {status}: {printed}")
        if not agree(old, printed):
            faults.append(f"{where}: {command!r} prints\n{printed}\nnot\n{old}")
            old = cut_as(old, printed)
        text += f"$ {command}\n{old}"
    return text


def output_of(command: str) -> tuple[int, str]:
    """Run a command; return its exit code and all that it prints."""
    from click.testing import CliRunner

    from rosenblatt.cli import main

    name, *words = shlex.split(command, comments=True)
    if name == "rosenblatt":
        result = CliRunner().invoke(main, words)
        status, printed = result.exit_code, result.output
    else:
        done = subprocess.run(  # noqa: S603  # of our own pages
            [sys.executable if name == "python" else name, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        status, printed = done.returncode, done.stdout
    lines = NOTICES.sub("", printed).splitlines()
    return status, "".join(f"{line.rstrip()}\n" for line in lines)


def agree(shown: str, printed: str) -> bool:
    r"""Return whether a command printed what a page shows of it.

    >>> agree("one\n…\nfour …\n", "one\ntwo\nthree\nfour five\n")
    True
    >>> agree("one\n…\n", "two\n"), agree("took 2 s\n", "took 3 s\n")
    (False, True)
    """
    pattern = re.escape(settled(shown)).replace(f"{CUT}\\\n", "(?:.*\n)*?").replace(CUT, ".*")
    return re.fullmatch(pattern, settled(printed)) is not None


def cut_as(old: str, new: str) -> str:
    r"""Leave out of what is printed now the lines that the page leaves out, and ends of long ones.

    >>> cut_as("one\n…\nsix\n", "1\n2\n3\n6\n")
    '1\n…\n6\n'
    """
    lines = old.splitlines()
    kept = [line if len(line) <= LONGEST else f"{line[:LONGEST]}{CUT}" for line in new.splitlines()]
    if CUT in lines:
        before = lines.index(CUT)
        after = len(lines) - before - 1
        if before + after < len(kept):
            kept[before : len(kept) - after] = [CUT]
    return "".join(f"{line}\n" for line in kept)


def settled(text: str) -> str:
    """Return printed text without what differs from run to run."""
    for pattern, instead in CHANGING:
        text = pattern.sub(instead, text)
    return text


def room_faults(room: str) -> list[str]:
    """Run the examples in the docstrings of a module, or of the modules of a package.

    Those of public names stand on pages of their own, so they know no name that they do not import.
    """
    public = {
        id(getattr(module, name))
        for module in map(importlib.import_module, (f"rosenblatt{part}" for part in PARTS))
        for name in module.__all__
    }
    faults: list[str] = []
    finder = doctest.DocTestFinder()
    for module in modules(room):
        for test in finder.find(module):
            name = test.name.removeprefix(f"{module.__name__}.").partition(".")[0]
            if id(getattr(module, name, None)) in public:
                test.globs = {"__name__": "__main__"}
            said: list[str] = []
            with empty_folder():
                doctest.DocTestRunner(verbose=False).run(test, out=said.append)
            faults += ["".join(said)] if said else []
    return faults


def modules(room: str) -> Iterator[Any]:
    """Import a module and, of a package, those in it that have examples."""
    module = importlib.import_module(room)
    yield module
    for found in pkgutil.iter_modules(getattr(module, "__path__", []), f"{room}."):
        if found.name.rpartition(".")[2] != "__main__":
            yield from modules(found.name)


def main() -> int:
    """Run all pages and rooms, or those that are named."""
    named = [word for word in sys.argv[1:] if not word.startswith("-")]
    wanted: list[Path | str] = (
        [Path(word).resolve() if word.endswith(".md") else word for word in named]
        if named
        else [*pages(), *rooms()]
    )
    failed = 0
    for what in wanted:
        faults, text = read(what)
        name = what.relative_to(ROOT) if isinstance(what, Path) else what
        print(f"{name}: {'not' if faults else 'runs'} as it says", flush=True)  # noqa: T201
        for fault in faults:
            print(fault)  # noqa: T201
        if isinstance(what, Path) and "--paste" in sys.argv:
            what.write_text(text, "utf-8")
        failed += bool(faults)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

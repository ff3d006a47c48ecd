"""Labelled lines of text: file to model and predictions, against fastText and Vowpal Wabbit.

All read the same texts, from their own formats, in processes of their own. ``python -m
benchmarks.labelled_lines`` prints the table of docs/speed.md, with ``--write`` it is put there.
"""

import gzip
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.figure import Amount, Figure, Skipped, Target
from benchmarks.file_memory import UNIT
from benchmarks.report import put
from benchmarks.stopwatch import Scale
from benchmarks.table import PAGE
from reproduction.data_sets import MissingDataError, data_file
from reproduction.machine import made_now

OURS, FASTTEXT, VOWPAL_WABBIT = "rosenblatt", "fastText", "Vowpal Wabbit"
LIBRARIES = {FASTTEXT: "fasttext", VOWPAL_WABBIT: "vowpalwabbit"}
MARK = "__label__"
PLACE = "labelled-lines"
HEAD = (
    "| file, rows | by | train: time | processor | memory | predict: time | memory | wrong |\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
)
PROGRAM = """
import resource, subprocess, sys, time
began = time.perf_counter()
subprocess.run(sys.argv[2:], check=True, stdout=open(sys.argv[1], "w"), stderr=subprocess.DEVNULL)
seconds, used = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
print(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""
TRAIN_PEER = """
import sys, fasttext
path, model, several, pairs = sys.argv[1:]
how = {"lr": 0.5, "epoch": 5, "wordNgrams": 2 if pairs == "True" else 1}
loss = "ova" if several == "True" else "softmax"
fasttext.train_supervised(path, thread=2, loss=loss, **how).save_model(model)
"""
PREDICT_PEER = """
import sys, fasttext
path, model, several = sys.argv[1:]
model, how = fasttext.load_model(model), {"k": -1, "threshold": 0.5} if several == "True" else {}
for line in open(path, encoding="utf-8"):
    labels, _ = model.predict(line.rstrip("\\n"), **how)
    print(";".join(sorted(label.removeprefix("__label__") for label in labels)))
"""


class Lines(NamedTuple):
    """A data set, and what is promised of it."""

    label: int  # the column of the labels
    text: int
    several: bool = False  # labels a row
    words: bool = False  # whether they have no blanks between words: fastText gets them apart
    most: tuple[float, float] | None = None  # megabytes, to train and to predict


SETS = {
    "20news": Lines(0, 1),
    "imdb": Lines(0, 2),
    "debtags": Lines(0, 1, several=True),
    "debian_paths": Lines(0, 1, words=True, most=(800.0, 350.0)),
}


class Cost(NamedTuple):
    """What a command took."""

    seconds: float
    processor: float  # seconds of all threads
    peak: float  # megabytes


class Run(NamedTuple):
    """What a library made of a data set."""

    train: Cost
    predict: Cost
    error: float  # the share of the rows whose answer is not theirs, of sets the whole set


def figures(scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield time, processor time, memory and error beside fastText's."""
    if find_spec("fasttext") is None:
        yield Skipped("labelled lines", "the package fasttext is not installed")
        return
    for name, lines in SETS.items():
        try:
            ours, peer = (_run(by, name, lines, scale.divisor) for by in (OURS, FASTTEXT))
        except MissingDataError as missing:
            yield Skipped(name, str(missing))
            continue
        train, predict = lines.most or (None, None)
        for what, own, other, most in (
            ("train", ours.train, peer.train, train),
            ("predict", ours.predict, peer.predict, predict),
        ):
            sides = [Amount(cost.seconds, "s") for cost in (own, other)]
            ratio = Amount(own.seconds / other.seconds, "×")
            least = Target("≤", 1.0 if what == "train" else 1 / 3) if lines.most else None
            yield Figure(f"{name}, {what}", sides[0], sides[1], FASTTEXT, ratio, least)
            sides = [Amount(cost.processor, "s") for cost in (own, other)]
            ratio = Amount(own.processor / other.processor, "×")
            yield Figure(f"{name}, {what}, processor", sides[0], sides[1], FASTTEXT, ratio)
            sides = [Amount(cost.peak, "MB") for cost in (own, other)]
            target = None if most is None else Target("≤", most, "ours")
            ratio = Amount(own.peak / other.peak, "×")
            yield Figure(f"{name}, {what}, memory", sides[0], sides[1], FASTTEXT, ratio, target)
        sides = [Amount(100 * one.error, "%") for one in (ours, peer)]
        more = Amount(100 * (ours.error - peer.error), "%")
        yield Figure(f"{name}, rows wrong", sides[0], sides[1], FASTTEXT, more, Target("≤", 0.0))


def table(names: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the table."""
    for name in names:
        lines = SETS[name]
        for by in (OURS, FASTTEXT, VOWPAL_WABBIT):
            if by == VOWPAL_WABBIT and lines.several:
                continue
            made = _run(by, name, lines)
            train, predict = made.train, made.predict
            n_rows = len(_rows(name, "train", lines))
            rows = f"`{name}`, {n_rows:,}" if by == OURS else ""
            yield (
                f"| {rows} | {by} | {train.seconds:.3g} s |"
                f" {train.processor:.3g} s | {train.peak:,.0f} MB | {predict.seconds:.3g} s |"
                f" {predict.peak:,.0f} MB | {100 * made.error:.1f}% |"
            )


def _run(by: str, name: str, lines: Lines, divisor: int = 1) -> Run:
    """Train on a data set, predict its test rows, and compare."""
    rows, tests = (_rows(name, part, lines)[::divisor] for part in ("train", "test"))
    classes = sorted({label for label, _ in rows})
    with TemporaryDirectory() as folder:
        train, test, model, out = (Path(folder, part) for part in ("train", "test", "m", "out"))
        written = _vw_lines if by == VOWPAL_WABBIT else _marked_lines
        if by == FASTTEXT and lines.words:
            rows, tests = (
                [(label, _words(text)) for label, text in some] for some in (rows, tests)
            )
        train.write_text("".join(written(rows, classes)), "utf-8")
        blank = [("", text) for _, text in tests]
        test.write_text("".join(written(blank, classes)), "utf-8")
        commands = _commands(by, lines, len(classes), (train, test, model))
        learned, answered = (_cost(command, out) for command in commands)
        said = out.read_text("utf-8").split("\n")[: len(tests)]
        if by == VOWPAL_WABBIT:
            said = [classes[int(one) - 1] for one in said]
    truth = [";".join(sorted(label.split())) for label, _ in tests]
    wrong = sum(a != ";".join(sorted(b.split(";"))) for a, b in zip(truth, said, strict=True))
    return Run(learned, answered, wrong / len(tests))


def _commands(
    by: str, lines: Lines, n_classes: int, paths: tuple[Path, Path, Path]
) -> tuple[list[object], list[object]]:
    """Return the commands that train and predict."""
    train, test, model = paths
    several = lines.several
    if by == FASTTEXT:
        return (
            ["-c", TRAIN_PEER, train, model, several, not lines.words],
            ["-c", PREDICT_PEER, test, model, several],
        )
    if by == VOWPAL_WABBIT:
        many = ["--oaa", n_classes, "-b", 24, "--ngram", 2, "--quiet"]
        passes = ["--passes", 5, "-c", "-k", "--cache_file", f"{model}.cache"]
        vw = ["-m", "vowpalwabbit"]
        return (
            [*vw, "-d", train, *many, *passes, "-f", model],
            [*vw, "-t", "-d", test, "-i", model, "-p", "/dev/stdout", "--quiet"],
        )
    ours = ["-m", "rosenblatt"]
    read = ["--format", "fasttext"]  # by which lines without a label are known
    return [*ours, "train", train, "-o", model], [*ours, "predict", model, test, *read]


def _cost(arguments: Sequence[object], out: Path) -> Cost:
    """Run Python with these arguments; what it prints goes to a file."""
    command = map(str, [sys.executable, "-c", PROGRAM, out, sys.executable, *arguments])
    done = subprocess.run([*command], check=True, capture_output=True, text=True)  # noqa: S603
    seconds, processor, peak = map(float, done.stdout.split())
    return Cost(seconds, processor, peak * UNIT / 1e6)


def _rows(name: str, part: str, lines: Lines) -> list[tuple[str, str]]:
    """Return labels and text of each row, in a random order, which Vowpal Wabbit needs."""
    text = gzip.decompress(data_file(f"{name}.{part}.tsv.gz").read_bytes()).decode("utf-8")
    cells = (line.split("\t") for line in text.splitlines())
    rows = [(row[lines.label], row[lines.text]) for row in cells if len(row) > lines.text]
    random.Random(0).shuffle(rows)  # noqa: S311
    return rows


def _marked_lines(rows: Sequence[tuple[str, str]], _: Sequence[str]) -> Iterator[str]:
    for label, text in rows:
        yield " ".join([*(MARK + one for one in label.split()), text]) + "\n"


def _vw_lines(rows: Sequence[tuple[str, str]], classes: Sequence[str]) -> Iterator[str]:
    """Yield the words of texts, which Vowpal Wabbit wants in parts that it can read."""
    numbers = {label: k for k, label in enumerate(classes, 1)}
    for label, text in rows:
        yield f"{numbers.get(label, '')} | {_words(text.lower())}\n"


def _words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text))


if __name__ == "__main__":
    asked = [name for name in sys.argv[1:] if not name.startswith("-")]
    here = made_now()
    found = f"Measured on {here['date']} by rosenblatt {here['versions']['rosenblatt']}.\n\n"
    found += HEAD + "\n".join(table(asked or list(SETS)))
    print(found)
    if "--write" in sys.argv:
        put(PLACE, found, PAGE)

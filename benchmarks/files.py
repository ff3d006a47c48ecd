"""From a file to a model and from a file to predictions: whole processes, as a shell starts them.

The time is that on the wall, since the contenders differ in how they use two cores; so nothing else
should run. Files are in the page cache and compiled code is on disk, from an untimed run before.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from benchmarks.figure import Figure, Skipped, speed_up
from benchmarks.stopwatch import Scale
from benchmarks.svmlight_text import RowFiles, debian_paths, text_like_rows
from reproduction.data_sets import MissingDataError

MEGABYTES = 1_000
FEWER_MEGABYTES = 137  # of which the start of the process is a good part
ROUNDS = 3  # of many seconds each
HASH_BITS = 20
SKLEARN = 10.0
# What else runs changes the ratios: one pass over 1 GB on two cores was 1.7 times as fast as Vowpal
# Wabbit on a quiet machine, and 2.4 times on one with a load of 5.
BUSY = 0.2  # cores
STATISTICS = Path("/proc/stat")

SKLEARN_PROGRAM = """
import sys, warnings
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Perceptron
warnings.simplefilter("ignore")
X, y = load_svmlight_file(sys.argv[1])
X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")
Perceptron(max_iter=1, tol=None).fit(X, y)
"""

Command = Sequence[str]


@dataclass(frozen=True)
class Times:
    """The seconds of several runs."""

    best: float
    median: float
    processor: float  # of all cores together, at best
    others: float  # cores that other programs kept busy, in the worst run


class Run(NamedTuple):
    """What one run took."""

    wall: float
    processor: float
    others: float


class RowSet(NamedTuple):
    """Files, and how many times as fast as Vowpal Wabbit: one pass, five, predictions."""

    files: Callable[[Scale], RowFiles]
    targets: tuple[float, float, float]


SETS = {
    "rows like text": RowSet(
        lambda scale: text_like_rows(scale.rows(FEWER_MEGABYTES)), (1.5, 2.0, 1.8)
    ),
    "many rows like text": RowSet(
        lambda scale: text_like_rows(scale.rows(MEGABYTES)), (3.0, 2.7, 2.5)
    ),
    "debian_paths": RowSet(lambda scale: debian_paths(scale.divisor), (1.5, 1.5, 1.5)),
}


def figures(scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield one pass, five passes and predictions, for made-up rows and for real ones."""
    for name in SETS:
        yield from commands(name, scale)
        yield from _sklearn(name, scale)


def commands(name: str, scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield one pass, five passes and predictions against Vowpal Wabbit."""
    try:
        files = SETS[name].files(scale)
    except MissingDataError as missing:
        yield Skipped(name, str(missing))
        return
    with tempfile.TemporaryDirectory(dir=files.svmlight.parent) as folder:
        yield from _set_figures(_title(name, files), files, Path(folder), SETS[name].targets)


def _title(name: str, files: RowFiles) -> str:
    return f"{name}, {files.megabytes:,.0f} MB"


def _sklearn(name: str, scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield one pass against scikit-learn: once, as it takes half a minute."""
    try:
        files = SETS[name].files(scale)
    except MissingDataError:
        return  # which has been said
    with tempfile.TemporaryDirectory(dir=files.svmlight.parent) as folder:
        ours = _run((*_training(files, 1), "-o", f"{folder}/ours.model"))
        peer = _run((sys.executable, "-c", SKLEARN_PROGRAM, str(files.svmlight)))
    title, peer_name = f"{_title(name, files)}: one pass", "load_svmlight_file, Perceptron"
    yield _figure(title, _summary([ours]), _summary([peer]), peer_name, SKLEARN)


def _training(files: RowFiles, passes: int) -> Command:
    options = ("--memory", "last", "--no-early-stopping", "--max-iter", passes)
    return _rosenblatt("train", files.svmlight, *options)


def _set_figures(
    title: str, files: RowFiles, folder: Path, targets: tuple[float, float, float]
) -> Iterator[Figure]:
    model, peer_model = str(folder / "ours.model"), str(folder / "vw.model")
    peer_train = _vowpal_wabbit(files, "--sgd", "--loss_function", "hinge")
    peer_cache = ("--cache_file", str(folder / "vw.cache"), "-k", "--holdout_off")
    turns: tuple[tuple[str, Command, Command], ...] = (
        ("one pass", (*_training(files, 1), "-o", model), (*peer_train, "-f", peer_model)),
        (
            "five passes",
            (*_training(files, 5), "-o", str(folder / "five.model")),
            (*peer_train, "--passes", "5", *peer_cache, "-f", str(folder / "five.vw")),
        ),
        (
            "predictions",
            _rosenblatt("predict", model, files.svmlight, "-o", folder / "ours.txt"),
            _vowpal_wabbit(files, "-t", "-i", peer_model, "-p", folder / "vw.txt"),
        ),
    )
    for (what, ours, peer), target in zip(turns, targets, strict=True):
        times = _times({"ours": ours, "vw": peer})
        yield _figure(f"{title}: {what}", times["ours"], times["vw"], "Vowpal Wabbit", target)


def _rosenblatt(*arguments: object) -> Command:
    return sys.executable, "-m", "rosenblatt", *map(str, arguments)


def _vowpal_wabbit(files: RowFiles, *arguments: object) -> Command:
    shared = ("-d", files.vowpal_wabbit, "-b", HASH_BITS, "--quiet", *arguments)
    return sys.executable, "-m", "vowpalwabbit", *map(str, shared)


def _figure(what: str, ours: Times, peer: Times, peer_name: str, target: float) -> Figure:
    note = (
        f"at best {ours.best:.2f} and {peer.best:.2f} s, "
        f"processor time {ours.processor:.2f} and {peer.processor:.2f} s"
    )
    others = max(ours.others, peer.others)
    if others > BUSY:
        note += f"; NOT QUIET: other programs took {others:.1f} cores"
    return speed_up(what, ours.median, peer.median, peer_name, target, note)


def _times(commands: Mapping[str, Command]) -> dict[str, Times]:
    """Return the times of commands that take turns."""
    for command in commands.values():
        _run(command)
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            runs[name].append(_run(command))
    return {name: _summary(taken) for name, taken in runs.items()}


def _summary(runs: Sequence[Run]) -> Times:
    wall = [run.wall for run in runs]
    processor, others = min(run.processor for run in runs), max(run.others for run in runs)
    return Times(min(wall), median(wall), processor, others)


def _run(command: Command) -> Run:
    """Run a command to its end."""
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else every start compiles Python anew
    all_before, before, started = _busy_seconds(), os.times(), perf_counter()
    done = subprocess.run(command, env=environment, check=False, capture_output=True)  # noqa: S603
    wall, after, all_after = perf_counter() - started, os.times(), _busy_seconds()
    if done.returncode:
        msg = f"{' '.join(command)} failed: {done.stderr.decode()}"
        raise RuntimeError(msg)
    user = after.children_user - before.children_user
    processor = user + after.children_system - before.children_system
    return Run(wall, processor, (all_after - all_before - processor) / wall)


def _busy_seconds() -> float:
    """Return how long all cores have worked since the machine started; 0 where it does not tell."""
    if not STATISTICS.exists():
        return 0.0
    ticks = [int(field) for field in STATISTICS.read_text("ascii").splitlines()[0].split()[1:8]]
    user, nice, system, _idle, _waiting, *interrupts = ticks
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")

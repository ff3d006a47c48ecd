"""How long a new process waits: for its first ``fit``, and for a whole command on a small file."""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from benchmarks.figure import Amount, Figure, Target, price
from benchmarks.stopwatch import Scale

IMPORTS = "import sklearn.linear_model, numba"
FIRST_FIT = "from rosenblatt import Perceptron; Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])"
LEAST = "import numpy, click"  # that a command cannot do without
TIMES_LEAST = 2.2
COMMANDS = {  # by what the figure is called
    "train, 2,000 svmlight rows": ("train", "rows.svm", "-o", "rows.model"),
    "train, CSV of 150 rows": ("train", "table.csv", "-o", "table.model"),
    "predict, 2,000 svmlight rows": ("predict", "rows.model", "rows.svm"),
    "predict, CSV of 150 rows": ("predict", "table.model", "table.csv"),
}


def figures(scale: Scale) -> Iterator[Figure]:
    """Yield the first fit, then commands on small files."""
    yield from _first_fits(scale)
    yield from commands(scale)


def _first_fits(scale: Scale) -> Iterator[Figure]:
    """Yield the median wait above that for importing what it stands on."""
    with tempfile.TemporaryDirectory() as folder:
        warm = f"{folder}/warm"
        _seconds(FIRST_FIT, warm)
        _seconds(IMPORTS, warm)
        times: dict[str, list[float]] = {"imports": [], "warm": [], "cold": []}
        for i in range(scale.rounds):
            times["imports"].append(_seconds(IMPORTS, warm))
            times["warm"].append(_seconds(FIRST_FIT, warm))
            times["cold"].append(_seconds(FIRST_FIT, f"{folder}/cold-{i}"))
    imports = median(times["imports"])
    for cache, limit in (("warm", 1.0), ("cold", 6.0)):
        first_fit = median(times[cache])
        yield Figure(
            f"first fit, {cache} cache",
            Amount(first_fit, "s"),
            Amount(imports, "s"),
            IMPORTS,
            Amount(first_fit - imports, "s"),
            Target("≤", limit),
        )


def commands(scale: Scale) -> Iterator[Figure]:
    """Yield the median processor time of commands, in turns with what they cannot do without."""
    with tempfile.TemporaryDirectory() as folder:
        _write_files(Path(folder))
        least = (sys.executable, "-c", LEAST)
        programs = {what: (sys.executable, "-m", "rosenblatt", *c) for what, c in COMMANDS.items()}
        times: dict[str, list[float]] = {what: [] for what in ("", *programs)}
        for turn in range(scale.rounds + 1):
            for what, program in (("", least), *programs.items()):
                seconds = _processor_seconds(program, folder)
                if turn:  # the first one compiles what is not compiled yet
                    times[what].append(seconds)
    for what in programs:
        yield price(what, median(times[what]), median(times[""]), LEAST, TIMES_LEAST)


def _write_files(folder: Path) -> None:
    """Write rows of 14 features of value 1, and a table of four numbers and three classes."""
    generator = np.random.default_rng(0)
    with (folder / "rows.svm").open("w") as file:
        for _ in range(2000):
            features = np.sort(generator.choice(np.arange(1, 122), 14, replace=False))
            label = 1 if features[0] < 5 else -1
            file.write(f"{label} {' '.join(f'{j}:1' for j in features)}\n")
    with (folder / "table.csv").open("w") as file:
        for k in range(150):
            numbers = generator.normal(5 + k // 50, 0.5, 4)
            file.write(",".join(f"{x:.1f}" for x in numbers) + f",kind {k // 50}\n")


def _environment(**changes: str) -> dict[str, str]:
    environment = {**os.environ, **changes}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else every start compiles Python anew
    return environment


def _processor_seconds(program: Sequence[str], folder: str) -> float:
    """Run a program in a folder and return the time that processors spent on it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603  # our own
        program, cwd=folder, env=_environment(), stdout=subprocess.DEVNULL, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _seconds(program: str, cache: str) -> float:
    """Run a program in a new process that keeps compiled code in this folder."""
    started = perf_counter()
    environment = _environment(ROSENBLATT_CACHE=cache)
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)  # noqa: S603
    return perf_counter() - started

"""Time and memory of ``rosenblatt train`` by the size of the data: ``python -m benchmarks.sizes``.

With ``--write`` the table is put into docs/speed.md.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from benchmarks.file_memory import UNIT
from benchmarks.generated import dense_rows, zipf_rows
from benchmarks.report import put
from benchmarks.table import PAGE
from reproduction.machine import made_now

N_NUMBERS, N_WORDS = 20, 100  # of a row
SIZES = (1_000, 10_000, 100_000, 1_000_000)
MOST_TEXTS = 100_000
PLACE = "sizes"
HEAD = (
    "| rows | file | processor time | peak memory | model |\n| --- | ---: | ---: | ---: | ---: |\n"
)
PROGRAM = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def numbers(n_rows: int, path: Path) -> None:
    """Write a table of numbers, of which two classes overlap."""
    X, y = dense_rows(n_rows, N_NUMBERS, np.float32)
    frame = pl.DataFrame(np.round(X, 4), [f"x{k}" for k in range(N_NUMBERS)])
    frame.with_columns(pl.Series("label", np.where(y > 0, "yes", "no"))).write_csv(path)


def texts(n_rows: int, path: Path) -> None:
    """Write texts of made-up words, as often as words are, of two classes."""
    rows, y = zipf_rows(n_rows, np.float64, draws=N_WORDS)
    words = np.array([f"w{k}" for k in range(rows.shape[1])])[rows.indices]
    ends: Any = rows.indptr
    lines = [" ".join(words[a:b]) for a, b in pairwise(ends)]
    pl.DataFrame({"label": np.where(y > 0, "yes", "no"), "text": lines}).write_csv(path)


def lines() -> Iterator[str]:
    """Yield the lines of the table."""
    made: list[tuple[str, Callable[[int, Path], None], tuple[int, ...]]] = [
        (f"{N_NUMBERS} numbers", numbers, SIZES),
        (f"a text of {N_WORDS} words", texts, tuple(n for n in SIZES if n <= MOST_TEXTS)),
    ]
    for what, write, sizes in made:
        for n_rows in sizes:
            with TemporaryDirectory() as folder:
                path = Path(folder, "rows.csv")
                write(n_rows, path)
                seconds, peak = _cost(path)
                size, model = path.stat().st_size, path.with_suffix(".model").stat().st_size
                yield (
                    f"| {n_rows:,} of {what} | {_shown(size)} | {seconds:.2g} s | {_shown(peak)} |"
                    f" {_shown(model)} |"
                )


def _cost(path: Path) -> tuple[float, int]:
    """Return the processor time and the peak of memory of ``train`` as it comes."""
    command = (sys.executable, "-c", PROGRAM, sys.executable, "-m", "rosenblatt", "train", path)
    done = subprocess.run(  # noqa: S603
        [*map(str, command), "-o", str(path.with_suffix(".model"))],
        check=True,
        capture_output=True,
        text=True,
    )
    seconds, peak = done.stdout.split()
    return float(seconds), int(peak) * UNIT


def _shown(size: float) -> str:
    """Return a number of bytes with two digits.

    >>> _shown(1234), _shown(56_700_000), _shown(1.9e9)
    ('1.2 kB', '57 MB', '1.9 GB')
    """
    power = 3 if size >= 1e9 else 2 if size >= 1e6 else 1
    value = size / 1000**power
    return f"{value:.1f} {' kMG'[power]}B" if value < 10 else f"{value:.0f} {' kMG'[power]}B"


if __name__ == "__main__":
    made_here = made_now()
    text = (
        f"Measured on {made_here['date']} by rosenblatt {made_here['versions']['rosenblatt']}.\n\n"
    )
    text += HEAD + "\n".join(lines())
    print(text)
    if "--write" in sys.argv:
        put(PLACE, text, PAGE)

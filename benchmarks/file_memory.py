"""How much memory ``rosenblatt train`` takes for a file, and for one that is ten times as large."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.figure import Amount, Figure, Target
from benchmarks.stopwatch import Scale
from benchmarks.svmlight_text import text_like_svmlight

SMALL, TIMES = 250, 10  # megabytes of svmlight text
BUFFER = 64 << 20  # of parsed rows, of which two are in memory: the small file is longer than both
ROUNDS = 3
MOST = 5.0  # % more for the larger file

# A process of its own starts the command and says what it took: the system counts to the peak of a
# process what the one that started it held, and this one may have measured much before.
PROGRAM = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


def figures(scale: Scale) -> Iterator[Figure]:
    """Yield the peak of both files, in one pass and in several over rows that are kept on disk."""
    megabytes = scale.rows(SMALL)
    small, large = map(text_like_svmlight, (megabytes, TIMES * megabytes))
    buffer = BUFFER // scale.divisor
    for passes in (1, 3):
        peaks: dict[Path, list[float]] = {small: [], large: []}
        for _ in range(ROUNDS):
            for file, seen in peaks.items():
                seen.append(_peak_megabytes(file, passes, buffer))
        least, most = median(peaks[small]), median(peaks[large])
        yield Figure(
            f"svmlight text, {TIMES * megabytes:,} MB, passes: {passes}",
            Amount(most, "MB"),
            Amount(least, "MB"),
            f"{megabytes:,} MB",
            Amount(100 * (most / least - 1), "%"),
            Target("≤", MOST),
            f"peak resident memory, --buffer {buffer // (1 << 20)}M",
        )


def _peak_megabytes(file: Path, passes: int, buffer: int) -> float:
    """Train on a file in a process of its own and return the most memory that it held."""
    model = file.with_suffix(".model")
    options = ("--max-iter", passes, "--no-early-stopping", "--buffer", buffer, "-o", model)
    command = (sys.executable, "-m", "rosenblatt", "train", file, *options)
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else compiled code may not be found
    measured = subprocess.run(  # noqa: S603
        [sys.executable, "-c", PROGRAM, *map(str, command)],
        env=environment,
        check=True,
        capture_output=True,
    )
    model.unlink()
    return int(measured.stdout) * UNIT / 1e6

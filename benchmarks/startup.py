"""How long a new process waits for its first ``fit``, with compiled code on disk and without."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from statistics import median
from time import perf_counter

from benchmarks.figure import Amount, Figure, Target
from benchmarks.stopwatch import Scale

IMPORTS = "import sklearn.linear_model, numba"
FIRST_FIT = "from rosenblatt import Perceptron; Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])"


def figures(scale: Scale) -> Iterator[Figure]:
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


def _seconds(program: str, cache: str) -> float:
    """Run a program in a new process that keeps compiled code in this folder."""
    environment = {**os.environ, "ROSENBLATT_CACHE": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else every start compiles Python anew
    started = perf_counter()
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)  # noqa: S603
    return perf_counter() - started

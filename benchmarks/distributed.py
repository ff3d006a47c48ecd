"""How fast training on a cluster of this machine is, and what the client needs for it."""

import subprocess
import sys
from collections.abc import Iterator
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.figure import Amount, Figure, Skipped, Target
from benchmarks.stopwatch import Scale
from rosenblatt.distributed.mixing import Engine, EpochSettings, Start, VirtualShards
from rosenblatt.distributed.shards import Recipe, RowPart, assemble
from rosenblatt.kernels.rows import CSR
from rosenblatt.rules import Perceptron
from rosenblatt.training.state import State

N_PARTS, N_WORKERS = 16, 2
N_FEATURES = 50_000
DATA_BYTES = 2 << 30
EPOCHS = 7  # timed, after one that compiles and warms up
SETTINGS = EpochSettings(Perceptron(), 0, shuffle=True, seed=0, averaged=False)

# A process begins with the peak of the one that started it: a small one goes between.
BETWEEN = "import subprocess, sys; subprocess.run(sys.argv[1:], check=True)"
MEMORY_PROGRAM = """
import resource, sys
from benchmarks.distributed import on_cluster, epoch_seconds
if __name__ == "__main__":
    from rosenblatt.distributed import local_client
    with local_client(2) as client:
        epoch_seconds(on_cluster(client, 16, int(sys.argv[1])), 3)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
VALUES_PER_ROW = 50
BYTES_PER_VALUE = 8  # a float32 and a 32-bit index
NOISE = 0.4  # of the spread of the scores: every pass errs on about one row in six


def made_part(number: int, n_rows: int, n_features: int) -> RowPart:
    """Return rows with one value in each of fifty ranges of features, and labels that overlap."""
    generator = np.random.default_rng(number)
    width = n_features // VALUES_PER_ROW
    starts = np.arange(VALUES_PER_ROW, dtype=np.int32) * width
    indices = generator.integers(0, width, (n_rows, VALUES_PER_ROW), dtype=np.int32) + starts
    data = generator.standard_normal((n_rows, VALUES_PER_ROW), dtype=np.float32)
    hidden = np.random.default_rng(2**32).standard_normal(n_features).astype(np.float32)
    scores = np.einsum("ij,ij->i", data, hidden[indices])
    blur = NOISE * scores.std() * generator.standard_normal(n_rows)
    rows = CSR(
        data.reshape(-1),
        indices.reshape(-1),
        np.arange(n_rows + 1, dtype=np.int64) * VALUES_PER_ROW,
        n_features,
        1.0,
    )
    return RowPart(rows, (scores + blur > 0).astype(np.int32))


def figures(scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield the time of an epoch against one process, the overhead, and the client's memory."""
    try:
        from rosenblatt.distributed import local_client
    except ModuleNotFoundError as error:
        yield Skipped("two workers", str(error))
        return
    n_rows = DATA_BYTES // scale.divisor // (BYTES_PER_VALUE * VALUES_PER_ROW) // N_PARTS
    alone, divided = in_one_process(n_rows), in_one_process(n_rows, N_PARTS)
    with local_client(N_WORKERS) as client:
        together = on_cluster(client, N_PARTS, n_rows)
        engines = together, alone, divided
        turns = [[epoch_seconds(engine, 1)[0] for engine in engines] for _ in range(EPOCHS)]
        ours, *peers = (min(column) for column in zip(*turns, strict=True))
        # Rows in random order over 2 GB miss the cache more often than within a shard, so that
        # the same 16 shards are faster than one even in one process.
        whose = "one process", f"one process, {N_PARTS} shards"
        for name, peer, target in zip(whose, peers, (Target("≤", 0.75), None), strict=True):
            yield Figure(
                f"epoch of {N_PARTS} parts, {N_PARTS * n_rows:,} rows, on {N_WORKERS} workers",
                Amount(1e3 * ours, "ms"),
                Amount(1e3 * peer, "ms"),
                name,
                Amount(ours / peer, ""),
                target,
                "best of several epochs that took turns, time on the wall",
            )
        del together, engines
        tiny = on_cluster(client, N_PARTS, 10)
        seconds = epoch_seconds(tiny, 30)
        yield Figure(
            f"overhead of an epoch, {N_PARTS} tiny shards",
            Amount(1e3 * median(seconds), "ms"),
            Amount(1e3 * min(seconds), "ms"),
            "at best",
            Amount(median(seconds) / min(seconds), "×"),
            Target("<", 100.0, "ours"),
            "median",
        )
    small, large = (_client_megabytes(n_rows // part) for part in (8, 2))
    yield Figure(
        "peak memory of the client, four times the data",
        Amount(large, "MB"),
        Amount(small, "MB"),
        "a quarter of them",
        Amount(100 * (large / small - 1), "%"),
        Target("≤", 5.0),
    )


def in_one_process(n_rows: int, n_shards: int = 1) -> Engine:
    """Return all the rows as one shard of this process, or as one for each part."""
    parts = [made_part(k, n_rows, N_FEATURES) for k in range(N_PARTS)]
    recipe = Recipe(N_FEATURES, 2, seed=0)
    if n_shards == 1:
        return VirtualShards([assemble(parts, 0, 0, recipe)])
    return VirtualShards([assemble([part], k, k * n_rows, recipe) for k, part in enumerate(parts)])


def on_cluster(client: Any, n_shards: int, n_rows: int, n_features: int = N_FEATURES) -> Engine:
    """Return shards of so many rows each in the workers, which make the rows up."""
    from rosenblatt.distributed.engine import DaskEngine, shards_of

    parts = client.map(made_part, range(n_shards), n_rows=n_rows, n_features=n_features)
    recipe = Recipe(n_features, 2, seed=0)
    return DaskEngine(client, shards_of(client, parts, [n_rows] * n_shards, n_shards, recipe), 2)


def epoch_seconds(engine: Engine, epochs: int, n_features: int = N_FEATURES) -> list[float]:
    """Return the time on the wall of some epochs, after one that is not counted."""
    start = dense_start(n_features, alone=engine.n_shards == 1)
    seconds = []
    for epoch in range(1, epochs + 2):
        before = perf_counter()
        engine.epoch(start, epoch, SETTINGS)
        seconds.append(perf_counter() - before)
    return seconds[1:]


def dense_start(n_features: int, *, alone: bool = False) -> Start:
    """Return weights that are next to nothing, but have to be sent whole."""
    state = State.zeros(n_features, 2, averaged=False)
    state.weights[:] = 1e-9
    return Start.of(state, alone=alone)


def _client_megabytes(n_rows: int) -> float:
    """Train on a cluster from a process of its own, and return the most memory that it held."""
    measured = subprocess.run(  # noqa: S603
        [sys.executable, "-c", BETWEEN, sys.executable, "-c", MEMORY_PROGRAM, str(n_rows)],
        check=True,
        capture_output=True,
    )
    unit = 1 if sys.platform == "darwin" else 1024
    return int(measured.stdout) * unit / 1e6

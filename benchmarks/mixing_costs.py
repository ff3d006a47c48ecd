"""The cost of an epoch on a cluster: constants measured here, checked, and projected.

``python -m benchmarks.mixing_costs`` writes what it finds into docs/scale.md, which explains the
model. Run it on a quiet machine: the best of several tries counts, but there must be good ones.
"""

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import ceil, log, log2
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from benchmarks.distributed import (
    BYTES_PER_VALUE,
    SETTINGS,
    VALUES_PER_ROW,
    dense_start,
    epoch_seconds,
    on_cluster,
)
from rosenblatt.distributed.mixing import FAN_IN, Share, Start, add_shares, run_epoch
from rosenblatt.distributed.shards import Shard
from rosenblatt.kernels.counts import Counts

RESULTS = Path(__file__).parent / "results" / "mixing-costs.json"
PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
BEGIN, END = "<!-- measured -->", "<!-- end of what was measured -->"
CONSTANTS = (
    ("κ", "value", "a value of a row", 1e9, "ns"),
    ("η", "weight_byte", "a byte of weights, for each shard", 1e9, "ns"),
    ("τ₀", "epoch", "an epoch with nothing to do", 1e3, "ms"),
    ("τ", "task", "one more task", 1e3, "ms"),
    ("β", "broadcast_byte", "a byte of the broadcast, for each step", 1e9, "ns"),
    ("ρ", "reduced_byte", "a byte moved and added", 1e9, "ns"),
    ("σ", "straggler", "the slowest shard over the mean", 1.0, ""),
)
QUIET = 1.5  # load average; an idle virtual machine may show 1
BUSY = (
    "**The machine was busy**: other programs had most of the processors, so times on the wall are "
    "upper bounds, and where measured and predicted are far apart it says little of the model."
)
MEGABYTE = 1 << 20
CHECKED_WORKERS = (2, 4, 8)
CHECKED_ROWS, CHECKED_FEATURES = 800_000, 1_000_000  # 40 million values, weights of 8 MB
WEIGHT_BYTES = 8.0 * CHECKED_FEATURES
SHARDS_PER_WORKER = 2
TRIES = 6


@dataclass(frozen=True)
class Costs:
    """Seconds for each unit of the model."""

    value: float  # a pass over one stored value of a row
    weight_byte: float  # copying the weights for a shard and taking the difference
    epoch: float  # an epoch with nothing to do
    task: float  # one more task
    broadcast_byte: float  # from client to scheduler to worker, and from worker to worker
    reduced_byte: float  # from worker to worker, and added
    straggler: float  # the slowest shard's time over the mean


def predicted(
    costs: Costs, *, n_values: float, weight_bytes: float, n_workers: int, n_shards: int, cores: int
) -> dict[str, float]:
    """Return the parts of the time of an epoch; ``cores`` are those of all machines together."""
    at_once = min(n_workers, cores)
    levels = ceil(log(n_shards, FAN_IN) - 1e-9) if n_shards > 1 else 0
    rounds = ceil(n_shards / at_once) * at_once / n_shards  # the last turn may not be full
    compute = (costs.value * n_values + costs.weight_byte * weight_bytes * n_shards) / at_once
    n_sums = (n_shards - 1) / (FAN_IN - 1)
    return {
        "compute": compute * rounds,
        "stragglers": compute * rounds * (costs.straggler - 1),
        "tasks": costs.epoch + costs.task * (n_shards + n_sums),
        "broadcast": costs.broadcast_byte * weight_bytes * (1 + ceil(log2(max(n_workers, 1)))),
        "reduction": costs.reduced_byte * weight_bytes * (FAN_IN - 1) * levels,
    }


def timed_epoch(shard: Shard, start: Start) -> float:
    """Return the processor time that an epoch of a shard takes in a worker."""
    before = thread_time()
    run_epoch(shard, start, 1, SETTINGS)
    return thread_time() - before


def measured(client: Any) -> Costs:
    """Measure the constants on two workers."""
    start = dense_start(CHECKED_FEATURES)
    light: Any = on_cluster(client, 2, 10, CHECKED_FEATURES)
    weight_byte = _best_pass(light, start) / WEIGHT_BYTES
    del light
    rows = CHECKED_ROWS // 4
    engine: Any = on_cluster(client, 2, rows, CHECKED_FEATURES)
    passes = [engine.gathered(timed_epoch, start) for _ in range(TRIES)]
    straggler = median(max(one) / (sum(one) / len(one)) for one in passes)
    value = (_best_pass(engine, start) - weight_byte * WEIGHT_BYTES) / (rows * VALUES_PER_ROW)
    del engine
    times = {n: min(epoch_seconds(on_cluster(client, n, 10), 30)) for n in (4, 16, 64)}
    n_tasks = np.array([n + (n - 1) / (FAN_IN - 1) for n in times])
    task, epoch = np.polyfit(n_tasks, list(times.values()), 1)
    return Costs(
        value=value,
        weight_byte=weight_byte,
        epoch=max(float(epoch), 0.0),
        task=float(task),
        broadcast_byte=_slope(lambda n: _broadcast(client, n)) / 2,  # two steps to two workers
        reduced_byte=_slope(lambda n: _reduction(client, n)) / (FAN_IN - 1),
        straggler=straggler,
    )


def _best_pass(engine: Any, start: Start) -> float:
    """Return the least processor time of a shard's epoch, the first of which may compile."""
    times: list[float] = [min(engine.gathered(timed_epoch, start)) for _ in range(TRIES)]
    return min(times)


def _slope(seconds: Callable[[int], float]) -> float:
    """Return the seconds for one more byte."""
    few, many = 2 * MEGABYTE, 64 * MEGABYTE
    return (seconds(many) - seconds(few)) / (many - few)


def _broadcast(client: Any, n_bytes: int) -> float:
    start, times = dense_start(n_bytes // 8), []
    for _ in range(TRIES):
        before = perf_counter()
        client.scatter(start, broadcast=True, hash=False)
        times.append(perf_counter() - before)
    return min(times)


def _share(_number: int, n_weights: int) -> Share:
    return Share(Counts(0, 0, 0.0), 1, 1.0, np.ones((1, n_weights)), None)


def _reduction(client: Any, n_bytes: int) -> float:
    """Return the seconds to bring eight shares, half of them elsewhere, together and add them."""
    times = []
    for _ in range(TRIES):
        shares = client.map(_share, range(FAN_IN), n_weights=n_bytes // 8, pure=False)
        client.gather(client.map(type, shares, pure=False))
        before = perf_counter()
        client.submit(type, client.submit(add_shares, shares, pure=False), pure=False).result()
        times.append(perf_counter() - before)
    return min(times)


def checked(costs: Costs) -> list[dict[str, float]]:
    """Return for some numbers of workers what the model says and what a run takes."""
    from rosenblatt.distributed import local_client

    lines = []
    for n_workers in CHECKED_WORKERS:
        n_shards = SHARDS_PER_WORKER * n_workers
        with local_client(n_workers) as client:
            engine = on_cluster(client, n_shards, CHECKED_ROWS // n_shards, CHECKED_FEATURES)
            seconds = min(epoch_seconds(engine, 2 * TRIES, CHECKED_FEATURES))
        parts = predicted(
            costs,
            n_values=CHECKED_ROWS * VALUES_PER_ROW,
            weight_bytes=WEIGHT_BYTES,
            n_workers=n_workers,
            n_shards=n_shards,
            cores=os.cpu_count() or 1,
        )
        total = sum(parts.values())
        lines.append({"workers": n_workers, "measured": seconds, "predicted": total, **parts})
    return lines


def projected(costs: Costs) -> dict[str, float]:
    """Return an epoch over 8 TB on 1,000 machines of one worker each, weights of 8 MB.

    Bytes travel at 1 GB/s there, and the slowest of a thousand is taken to be half as fast again.
    """
    wire = 1e-9
    there = Costs(
        costs.value,
        costs.weight_byte,
        costs.epoch,
        costs.task,
        broadcast_byte=wire,
        reduced_byte=wire + costs.weight_byte,
        straggler=1.5,
    )
    return predicted(
        there,
        n_values=8e12 / BYTES_PER_VALUE,
        weight_bytes=8e6,
        n_workers=1000,
        n_shards=1000,
        cores=1000,
    )


def page(record: dict[str, Any]) -> str:
    """Return the figures as docs/scale.md shows them."""
    costs, load = record["costs"], record["load"]
    lines = [
        f"On {record['cores']} processors, with a load average of {load:.1f} before the run.",
        *([BUSY] if load > QUIET else []),
        "",
        "| constant | | |",
        "| --- | --- | --- |",
    ]
    lines += [
        f"| {letter} | {what} | {costs[name] * times:.3g} {unit} |"
        for letter, name, what, times, unit in CONSTANTS
    ]
    lines += [
        "",
        "| workers | shards | measured | predicted | of which compute | tasks | broadcast | sums |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in record["checked"]:
        parts = (one["compute"] + one["stragglers"], one["tasks"], one["broadcast"])
        numbers = (one["measured"], one["predicted"], *parts, one["reduction"])
        told = " | ".join(f"{1e3 * seconds:,.0f} ms" for seconds in numbers)
        lines.append(f"| {one['workers']} | {SHARDS_PER_WORKER * one['workers']} | {told} |")
    there = record["projected"]
    lines += ["", "| 1,000 machines, 8 TB | seconds |", "| --- | --- |"]
    lines += [f"| {name} | {seconds:.1f} |" for name, seconds in there.items()]
    lines.append(f"| **an epoch** | **{sum(there.values()):.0f}** |")
    return "\n".join(lines)


def main() -> None:
    """Measure, check, project, and write it down."""
    from rosenblatt.distributed import local_client

    load = os.getloadavg()[0]
    with local_client(2) as client:
        costs = measured(client)
    record = {
        "cores": os.cpu_count(),
        "load": load,
        "costs": asdict(costs),
        "checked": checked(costs),
        "projected": projected(costs),
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    text = PAGE.read_text("utf-8")
    head, rest = text.split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n\n{page(record)}\n\n{END}{rest.split(END)[1]}", "utf-8")
    print(page(record))


if __name__ == "__main__":
    main()

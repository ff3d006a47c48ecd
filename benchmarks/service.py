"""The service: examples learned durably and rows predicted a second, by one to 128 clients.

river stands behind the same stack without a journal; Vowpal Wabbit's daemon is run by its package.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.figure import Amount, Figure, Skipped, Target
from benchmarks.requests import Load, ask_all, post
from benchmarks.stopwatch import Scale

N_NAMES, N_FEATURES = 500, 10
LEARNED = 20_000
PREDICTED = 40_000
BATCHES, ROWS = 1_500, 100
MODEL = "/v1/models/m"


def figures(scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield learning by 1, 32 and 128 clients, predictions, and a start with a long journal."""
    rows = _rows(2_000)
    labels = ["yes" if sum(row.values()) > 0 else "no" for row in rows]
    n_learned = scale.rows(LEARNED)
    with TemporaryDirectory() as folder:
        with served(folder) as url:
            ask_all(url, [_put()], 1)
            ours = _loads(url, PROCESSES[url], scale, rows, labels, MODEL)
            resident = _memory(url)
            more = [
                post(f"{MODEL}/learn", {"examples": _examples(rows, labels)})
                for _ in range(scale.rows(100))
            ]
            ask_all(url, more, 4)
            grown = _memory(url)
        began = time.perf_counter()
        with served(folder, killed=True):
            start = time.perf_counter() - began
    with _process("benchmarks.river_service") as (port, process):
        url = f"http://127.0.0.1:{port}/"
        truths = [label == "yes" for label in labels]
        river = _loads(url, process, scale, rows, truths, "")
    yield from _lines(ours, river)
    yield Figure(
        f"memory after {scale.rows(100) * 1000:,} more examples",
        Amount(grown / 1e6, "MB"),
        Amount(resident / 1e6, "MB"),
        "before them",
        Amount(grown / resident, "×"),
        Target("≤", 1.2),
    )
    n_journaled = 2 * n_learned + n_learned // 10 + scale.rows(100) * 1000
    yield Figure(
        f"start with {n_journaled:,} journaled examples",
        Amount(start, "s"),
        Amount(5.0, "s"),
        "asked with a million",
        Amount(start / 5.0, "×"),
        Target("≤", 5.0, bounds="ours"),
    )
    if find_spec("vowpalwabbit") is None:
        yield Skipped("Vowpal Wabbit's daemon", "the package vowpalwabbit is not installed")
    else:
        yield from _vowpal_wabbit(ours, scale, rows, labels)


def _loads(  # both services are asked alike
    url: str,
    process: int,
    scale: Scale,
    rows: list[dict[str, float]],
    labels: Sequence[str | bool],
    model: str,
) -> dict[str, Load]:
    """Return what clients see of a service, which has been asked each thing before."""
    n_learned, n_predicted = scale.rows(LEARNED), scale.rows(PREDICTED)
    examples = [
        post(f"{model}/learn", {"features": rows[i % 2000], "label": labels[i % 2000]})
        for i in range(n_learned)
    ]
    single = [post(f"{model}/predict", {"features": rows[i % 2000]}) for i in range(n_predicted)]
    many = [post(f"{model}/predict", {"rows": rows[:ROWS]})] * scale.rows(BATCHES)
    for warming in (examples[:200], single[:200], many[:10]):  # what compiles, compiles here
        ask_all(url, warming, 4)
    loads = {"learn 1": ask_all(url, examples[: n_learned // 10], 1, process)}
    for clients in (32, 128):
        loads[f"learn {clients}"] = ask_all(url, examples, clients, process)
    loads["predict"] = ask_all(url, single, 32, process)
    loads["batch"] = ask_all(url, many, 8, process)
    return loads


def _vowpal_wabbit(
    ours: dict[str, Load], scale: Scale, rows: list[dict[str, float]], labels: list[str]
) -> Iterator[Figure]:
    """Yield what its daemon does, a process for each connection."""
    texts = ["| " + " ".join(f"{name}:{value}" for name, value in row.items()) for row in rows]
    learn = [
        f"{1 if label == 'yes' else -1} {text}\n".encode()
        for label, text in zip(labels, texts, strict=True)
    ]
    predict = [f"{text}\n".encode() for text in texts]
    kinds = [("learn 1", learn, 1), ("learn 32", learn, 32), ("predict", predict, 32)]
    for name, lines, clients in kinds:
        n = scale.rows(LEARNED) // (10 if clients == 1 else 1)
        with _process("benchmarks.vowpal_daemon", str(clients)) as (port, process):
            asked = [lines[i % len(lines)] for i in range(n)]
            peer = ask_all(f"http://127.0.0.1:{port}/", asked, clients, process, lines=True)
        yield Figure(
            f"{name}{' clients' if name == 'learn 32' else ''}, beside Vowpal Wabbit",
            Amount(ours[name].rate, "/s"),
            Amount(peer.rate, "/s"),
            "its daemon: lines, no disk, no lock",
            Amount(ours[name].rate / peer.rate, "×"),
            note=_processor(ours[name], peer),
        )


def _processor(ours: Load, peer: Load) -> str:
    return f"processor {ours.processor * 1e6:.0f} and {peer.processor * 1e6:.0f} µs an answer"


def _lines(ours: dict[str, Load], river: dict[str, Load]) -> Iterator[Figure]:
    targets: dict[str, Target] = {
        "learn 128": Target("≥", 2_500, bounds="ours"),
        "predict": Target("≥", 7_000, bounds="ours"),
        "batch": Target("≥", 100_000, bounds="ours"),
    }
    for name, load in ours.items():
        factor = ROWS if name == "batch" else 1
        peer = river[name].rate * factor
        note = f"p50 {load.p50 * 1e3:.1f} ms, p99 {load.p99 * 1e3:.1f} ms, "
        note += _processor(load, river[name])
        note += f", {load.failures} failed" if load.failures else ""
        what = {"predict": "predict, 32 clients", "batch": "predict 100 rows, 8 clients"}
        yield Figure(
            what.get(name, f"{name} client{'s' * (name != 'learn 1')}"),
            Amount(load.rate * factor, "/s"),
            Amount(peer, "/s"),
            "river" if "learn" not in name else "river, not durable",
            Amount(load.rate * factor / peer, "×"),
            targets.get(name),
            note=note,
        )
    yield Figure(
        "learn 128 clients, p99",
        Amount(ours["learn 128"].p99 * 1e3, "ms"),
        Amount(river["learn 128"].p99 * 1e3, "ms"),
        "river, not durable",
        Amount(ours["learn 128"].p99 / river["learn 128"].p99, "×"),
        Target("≤", 120, bounds="ours"),
    )


def _rows(n: int) -> list[dict[str, float]]:
    generator = np.random.default_rng(0)
    return [
        {
            f"name{k}": float(value)
            for k, value in zip(
                generator.choice(N_NAMES, N_FEATURES, replace=False),
                generator.normal(size=N_FEATURES).round(3),
                strict=True,
            )
        }
        for _ in range(n)
    ]


def _examples(rows: list[dict[str, float]], labels: list[str]) -> list[dict[str, Any]]:
    return [
        {"features": row, "label": label}
        for row, label in zip(rows[:1000], labels[:1000], strict=True)
    ]


def _put() -> bytes:
    return post(MODEL, {}).replace(b"POST", b"PUT", 1)


@contextmanager
def served(folder: str, *, killed: bool = False) -> Iterator[str]:
    """Give the address of a service of a folder, in a process of its own."""
    command = [sys.executable, "-m", "rosenblatt", "serve", "--folder", folder, "--json"]
    with subprocess.Popen(  # noqa: S603  # our own program
        [*command, "--port", str(_free_port())], stdout=subprocess.PIPE, text=True
    ) as process:
        lines = ""
        while process.stdout is not None and "}" not in lines:
            lines += process.stdout.readline()
        url = json.loads(lines)["url"]
        _wait(url)
        PROCESSES[url] = process.pid
        try:
            yield url
        finally:
            process.send_signal(signal.SIGKILL if killed else signal.SIGTERM)
            process.wait()


PROCESSES: dict[str, int] = {}


@contextmanager
def _process(module: str, *arguments: str) -> Iterator[tuple[int, int]]:
    """Give the port and the number of a process that runs a module of ours."""
    port = _free_port()
    command = [sys.executable, "-m", module, str(port), *arguments]
    with subprocess.Popen(command, start_new_session=True) as process:  # noqa: S603  # our own
        _wait(f"http://127.0.0.1:{port}/")
        try:
            yield port, process.pid
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # its children, too
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(url: str) -> None:
    port = int(url.rstrip("/").rpartition(":")[2])
    for _ in range(600):
        try:
            with socket.create_connection(("127.0.0.1", port), 1):
                return
        except OSError:
            time.sleep(0.05)


def _memory(url: str) -> float:
    """Return the resident bytes of a service."""
    pages = Path(f"/proc/{PROCESSES[url]}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")

"""Loops shared among threads: compiled code and NumPy's leave the interpreter to others."""

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

LEAST = 64  # turns of a loop for each thread; fewer are not worth the exchange

_pools: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # threads do not survive a fork


def n_threads() -> int:
    """Return on how many processors this process may run; in a browser there are no threads."""
    if sys.platform == "emscripten":
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_in_parts(part: Callable[[int, int], object], length: int, least: int = LEAST) -> None:
    """Call part(begin, end) for parts that make up 0 … length, side by side where they are long."""
    parts = max(1, min(n_threads(), length // least))
    if parts == 1:
        part(0, length)
        return
    if parts not in _pools:
        _pools[parts] = ThreadPoolExecutor(parts, "rosenblatt")
    bounds = [length * p // parts for p in range(parts + 1)]
    for done in [_pools[parts].submit(part, *pair) for pair in pairwise(bounds)]:
        done.result()

"""Whether weights fit into the memory that is free, said before rows are learned from."""

import os
import sys
from contextlib import suppress
from ctypes import CDLL
from pathlib import Path

from rosenblatt.errors import Parameter, Sentence
from rosenblatt.tasks import Task
from rosenblatt.training.places import few_exist

GROUP = Path("/sys/fs/cgroup")  # what a container may use


def free_memory() -> int | None:
    """Return how many bytes can still be had, as far as the system says; None: it does not."""
    found = []
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable")]
    except (OSError, ValueError, IndexError):
        if sys.platform != "win32" and "SC_PHYS_PAGES" in os.sysconf_names:
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    try:
        limit, used = ((GROUP / f"memory.{name}").read_text() for name in ("max", "current"))
        found.append(max(int(limit) - int(used), 0))
    except (OSError, ValueError):  # no group, or one without a limit
        pass
    return min(found, default=None)


def give_back() -> None:
    """Let the system take the memory that was freed, between two stages that need much.

    Commands have the C library keep it, since new pages must be cleared; see ``cli``.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            CDLL(None).malloc_trim(0)


def lack_of_room(n_features: int, task: Task, n_kinds: int) -> Sentence | None:
    """Return a sentence where so many numbers for each weight need more memory than is free."""
    needed, free = 8 * n_kinds * task.n_vectors * (n_features + 1), free_memory()
    if free is None or needed <= free or few_exist(n_features, task):
        return None
    return Sentence(
        f"The weights of {n_features:,} features and {task.n_classes:,} {task.nouns} take "
        f"{needed / 1e9:,.1f} GB; {free / 1e9:,.1f} GB of memory are free. Have fewer features, "
        f"with {Parameter('hash_bits', 20)} or a larger {Parameter('min_count')}."
    )

"""Shards whose labels are not those of all the data: they teach the mixture wrongly."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rosenblatt.distributed.parts import Facts
from rosenblatt.errors import Parameter, Sentence

EXPECTED = 20.0  # rows of a class in a shard that make it strange to have none: chance e⁻²⁰
FURTHEST = 0.25  # share of a shard's rows that would need another label to be as all the data
FEWEST = 100  # rows of a shard from which on its shares mean something
NAMED = 5  # shards in a message


class ShardWarning(UserWarning):
    """Shards that differ so much that mixing what they learn does little good."""


def strange_shards(facts: Sequence[Facts], classes: Sequence[Any], *, in_order: bool) -> str | None:
    """Return a sentence that names shards which lack classes or have them sorted, or None.

    ``in_order`` says that rows are met as they stand, so that the order within a shard matters.
    """
    counts = np.array([fact.class_counts for fact in facts], float)
    sizes = np.maximum(counts.sum(axis=1), 1.0)
    shares = counts.sum(axis=0) / max(counts.sum(), 1.0)
    expected = sizes[:, None] * shares
    cure = Sentence(
        "each shard learns from its own rows alone, so the mixture would be poor. Set ",
        *(Parameter("shuffle_shards", value=True), " to deal the rows out at random."),
    )
    lacking = np.argwhere((counts == 0) & (expected >= EXPECTED))
    if len(lacking):
        told = [f"shard {k} has no row of class {classes[c]!r}" for k, c in lacking[:NAMED]]
        return Sentence(f"{_listed(told, len(lacking))}: ", cure)
    apart = abs(counts / sizes[:, None] - shares).sum(axis=1) / 2
    skewed = np.flatnonzero((apart > FURTHEST) & (sizes >= FEWEST))
    if len(skewed):
        told = [f"shard {k} ({_shares(counts[k], classes)})" for k in skewed[:NAMED]]
        listed = _listed(told, len(skewed))
        return Sentence(f"The labels are grouped: {listed} differ from the others: ", cure)
    several = (counts >= EXPECTED).sum(axis=1) > 1
    grouped = [
        k
        for k, fact in enumerate(facts)
        if several[k] and fact.n_runs == np.count_nonzero(counts[k])
    ]
    if in_order and grouped:
        told = [f"shard {k}" for k in grouped[:NAMED]]
        return Sentence(
            f"The labels are sorted in {_listed(told, len(grouped))}, and rows are met as they "
            "stand: set ",
            *(Parameter("shuffle", value=True), "."),
        )
    return None


def _listed(told: list[str], n_all: int) -> str:
    if n_all > len(told):
        told = [*told, f"{n_all - len(told)} more"]
    text = told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
    return text[0].upper() + text[1:] if text.startswith("shard") and " has no" in text else text


def _shares(counts: Any, classes: Sequence[Any]) -> str:
    top = int(counts.argmax())
    return f"{counts[top] / counts.sum():.0%} {classes[top]!r}"

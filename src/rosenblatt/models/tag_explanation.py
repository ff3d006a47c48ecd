"""Why a token has its tag: what the weights say for the best path against the best other one."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.sequences.paths import EDGES, END, START
from rosenblatt.models.tagger import Tagger

ALONE = 1 << 40  # a count of features that no new one has: those without weights stay out


class TagTerm(NamedTuple):
    """What a feature, or a step from tag to tag, adds to the lead of a path."""

    name: str
    token: int | None  # whose feature it is; None for a step
    amount: float


class TagExplanation(NamedTuple):
    """The lead of the best path over the best one that has another tag at a token."""

    token: int
    tag: str
    rival: str
    path: list[str]  # as it is said
    rival_path: list[str]
    terms: list[TagTerm]  # the largest first
    lead: float  # their sum


def best_scores(scores: NDArray[Any], steps: NDArray[Any]) -> NDArray[np.float64]:
    """Return for each tag of each token the score of the best path that takes it."""
    n, n_tags = scores.shape
    before, behind = np.empty_like(scores), np.empty_like(scores)
    between = steps[:n_tags]
    for t in range(n):
        arrived = steps[n_tags + START] if t == 0 else (before[t - 1][:, None] + between).max(0)
        before[t] = arrived + scores[t]
    for t in range(n - 1, -1, -1):
        if t == n - 1:
            behind[t] = steps[n_tags + END]
        else:
            behind[t] = (between + scores[t + 1] + behind[t + 1]).max(1)
    return np.asarray(before + behind)


def token_leads(tagger: Tagger, columns: Any) -> list[NDArray[np.float64]]:
    """Return for each outer tag of each token of sentences how far its best path is behind."""
    found = []
    for scores in tagger.emissions(columns):
        best = best_scores(scores, tagger.steps)
        outer = np.stack(
            [best[:, own].max(axis=1, initial=-np.inf) for own in tagger.tags.sets], axis=1
        )
        found.append(outer - outer.max(axis=1, keepdims=True) if len(outer) else outer)
    return found


def explained_tag(
    tagger: Tagger, columns: Any, token: int, against: str | None = None
) -> TagExplanation:
    """Return why a token of the one sentence has its tag and not another, the next best."""
    leads = token_leads(tagger, columns)[0]
    path = tagger.numbers(columns)
    said, places = tagger.tags.said, tagger.tags.places
    tag = said[path[token]]
    if against is None:
        behind = leads[token].copy()
        behind[places[tag]] = -np.inf
        rival = int(np.argmax(behind))
    elif against not in places:
        known = ", ".join(tagger.tags.outer[:12])
        raise InputError(f"The model knows no tag {against!r}; it knows {known}.")
    else:
        rival = places[against]
    forced = np.full(len(path), -1, np.int32)
    forced[token] = rival
    other = tagger.numbers(columns, forced)
    if tagger.tags.outer[rival] == tag or not np.isfinite(leads[token, rival]):
        raise InputError(
            f"No other path can be held against {tag!r} at this token: "
            f"{tagger.tags.outer[rival]!r} is the tag that it has, or impossible there."
        )
    terms = sorted(_terms(tagger, columns, path, other), key=lambda term: -abs(term.amount))
    return TagExplanation(
        *(token, tag, tagger.tags.outer[rival]),
        path=[said[k] for k in path.tolist()],
        rival_path=[said[k] for k in other.tolist()],
        terms=terms,
        lead=math.fsum(term.amount for term in terms),
    )


def _terms(
    tagger: Tagger, columns: Any, path: NDArray[Any], other: NDArray[Any]
) -> Iterator[TagTerm]:
    """Yield what makes the difference of two paths."""
    w, n_tags, names = tagger.w, tagger.w.shape[1], tagger.tags.inner
    found = tagger.encoding.candidates(columns, ALONE)
    for t in np.flatnonzero(path != other).tolist():
        for p in range(int(found.starts[t]), int(found.starts[t + 1])):
            feature = int(found.features[p])
            row = w[n_tags + EDGES + feature] * float(found.values[p])
            amount = float(row[path[t]] - row[other[t]])
            if amount:
                yield TagTerm(tagger.encoding.name(feature), t, amount)
    steps: dict[str, list[float]] = {}
    for own, sign in ((path, 1.0), (other, -1.0)):
        for row, k, name in _steps(own.tolist(), names, n_tags):
            steps.setdefault(name, []).append(sign * float(w[row, k]))
    for name, amounts in steps.items():
        amount = math.fsum(amounts)
        if amount:
            yield TagTerm(name, None, amount)


def _steps(
    path: Sequence[int], names: Sequence[str], n_tags: int
) -> Iterator[tuple[int, int, str]]:
    """Yield the steps of a path: the row and column of their weights, and their names."""
    before, named = n_tags + START, "start"
    for k in path:
        yield before, k, f"{named} → {names[k]}"
        before, named = k, names[k]
    if path:
        yield n_tags + END, path[-1], f"{named} → end"


class TagWeight(NamedTuple):
    """The weight of a feature or of a step for a tag."""

    tag: str
    name: str
    weight: float


def tag_weights(tagger: Tagger, number: int) -> list[TagWeight]:
    """Return all weights for an inner tag that are not 0, the largest first."""
    n_tags, names = tagger.w.shape[1], tagger.tags.inner
    column = tagger.w[:-1, number]
    used = np.flatnonzero(column)
    order = used[np.argsort(-column[used], kind="stable")]
    edges = [*(f"after {name}" for name in names), "at the start", "at the end"]
    return [
        TagWeight(
            names[number],
            edges[row] if row < n_tags + EDGES else tagger.encoding.name(row - n_tags - EDGES),
            float(column[row]),
        )
        for row in order.tolist()
    ]

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
    value: float = 1.0  # of the feature


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


class RivalPaths(NamedTuple):
    """The best path through a sentence, and the best other one, by numbers of inner tags."""

    path: NDArray[np.int32]
    other: NDArray[np.int32]
    rival: str  # the tag that the other one has at the token


def rival_paths(tagger: Tagger, columns: Any, token: int, against: str | None = None) -> RivalPaths:
    """Return the best path through the one sentence, and the best with another tag at a token."""
    leads, places = token_leads(tagger, columns)[0], tagger.tags.places
    path = tagger.numbers(columns)
    tag = tagger.tags.said[path[token]]
    if against is None:
        behind = leads[token].copy()
        behind[places[tag]] = -np.inf
        rival = int(np.argmax(behind))
    elif against not in places:
        known = ", ".join(tagger.tags.outer[:12])
        raise InputError(f"The model knows no tag {against!r}; it knows {known}.")
    else:
        rival = places[against]
    if tagger.tags.outer[rival] == tag or not np.isfinite(leads[token, rival]):
        raise InputError(
            f"No other path can be held against {tag!r} at this token: "
            f"{tagger.tags.outer[rival]!r} is the tag that it has, or impossible there."
        )
    forced = np.full(len(path), -1, np.int32)
    forced[token] = rival
    return RivalPaths(path, tagger.numbers(columns, forced), tagger.tags.outer[rival])


def explained_tag(
    tagger: Tagger, columns: Any, token: int, against: str | None = None
) -> TagExplanation:
    """Return why a token of the one sentence has its tag and not another, the next best."""
    path, other, rival = rival_paths(tagger, columns, token, against)
    said = tagger.tags.said
    terms = sorted(_terms(tagger, columns, path, other), key=lambda term: -abs(term.amount))
    return TagExplanation(
        *(token, said[path[token]], rival),
        path=[said[k] for k in path.tolist()],
        rival_path=[said[k] for k in other.tolist()],
        terms=terms,
        lead=math.fsum(term.amount for term in terms),
    )


def least_sure(tagger: Tagger, columns: Any) -> int:
    """Return the token of the one sentence whose tag leads over another by least."""
    leads = np.sort(token_leads(tagger, columns)[0], axis=1)
    return int(np.argmax(leads[:, -2])) if leads.shape[1] > 1 else 0


def _terms(
    tagger: Tagger, columns: Any, path: NDArray[Any], other: NDArray[Any]
) -> Iterator[TagTerm]:
    """Yield what makes the difference of two paths."""
    w, n_tags, names = tagger.w, tagger.w.shape[1], tagger.tags.inner
    found = tagger.encoding.candidates(columns, ALONE)
    for t in np.flatnonzero(path != other).tolist():
        for p in range(int(found.starts[t]), int(found.starts[t + 1])):
            feature = int(found.features[p])
            value = float(found.values[p])
            row = w[n_tags + EDGES + feature] * value
            amount = float(row[path[t]] - row[other[t]])
            if amount:
                yield TagTerm(tagger.encoding.name(feature), t, amount, value)
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

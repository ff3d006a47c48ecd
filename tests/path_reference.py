"""The structured perceptron in plain lists, as its papers print it. Imports nothing of rosenblatt.

Paths are found by enumeration, features and steps are counted in one dictionary, and weights are a
dictionary from (feature, tag) to a number.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from math import exp, inf
from typing import Any

Path = tuple[int, ...]
Key = tuple[Any, int]  # what is counted, and the tag that it is counted for
Sentence = Sequence[Sequence[tuple[int, float]]]  # of each token its features with their values
Barred = Callable[[Any, int], bool]
START, END = "start", "end"


def no_bar(_before: Any, _tag: int) -> bool:
    """Every step is possible."""
    return False


def counted(x: Sentence, y: Path) -> dict[Key, float]:
    """Return φ(x, y)."""
    phi: dict[Key, float] = {}
    for t, features in enumerate(x):
        for feature, value in features:
            phi[feature, y[t]] = phi.get((feature, y[t]), 0.0) + value
        before = ("tag", y[t - 1]) if t else START
        phi[before, y[t]] = phi.get((before, y[t]), 0.0) + 1.0
    phi[END, y[-1]] = 1.0
    return phi


def difference(x: Sentence, y: Path, other: Path) -> dict[Key, float]:
    """Return φ(x, y) − φ(x, other), keys in the order in which tokens show them."""
    delta: dict[Key, float] = {}

    def add(key: Key, count: float) -> None:
        delta[key] = delta.get(key, 0.0) + count

    for t, features in enumerate(x):
        before, rival = (("tag", p[t - 1]) if t else START for p in (y, other))
        if y[t] != other[t]:
            for feature, value in features:
                add((feature, y[t]), value)
                add((feature, other[t]), -value)
        if y[t] != other[t] or before != rival:
            add((before, y[t]), 1.0)
            add((rival, other[t]), -1.0)
    if y[-1] != other[-1]:
        add((END, y[-1]), 1.0)
        add((END, other[-1]), -1.0)
    return delta


def token_scores(
    x: Sentence, w: dict[Key, float], n_tags: int, costs: Sequence[int] = (), cost: float = 0.0
) -> list[list[float]]:
    """Return what each tag of each token scores; ``costs``: the tags that are no mistake."""
    scores = []
    for t, features in enumerate(x):
        row = []
        for k in range(n_tags):
            total = 0.0
            for feature, value in features:
                if (feature, k) in w:
                    total += value * w[feature, k]
            if cost and costs[t] >= 0:
                total += 0.0 if k == costs[t] else cost
            row.append(total)
        scores.append(row)
    return scores


def path_score(scores: list[list[float]], w: dict[Key, float], y: Path) -> float:
    """Return the score of a path, added from its first token to its last."""
    total = w.get((START, y[0]), 0.0) + scores[0][y[0]]
    for t in range(1, len(y)):
        total = total + w.get((("tag", y[t - 1]), y[t]), 0.0) + scores[t][y[t]]
    return total + w.get((END, y[-1]), 0.0)


def possible(y: Path, barred: Barred) -> bool:
    """Return whether no step of a path is barred."""
    steps = [(START, y[0]), *((("tag", a), b) for a, b in pairwise(y))]
    return not any(barred(a, b) for a, b in [*steps, (END, y[-1])])


def ranked(
    scores: list[list[float]],
    w: dict[Key, float],
    barred: Barred = no_bar,
    tags: Sequence[int] = (),
) -> list[tuple[float, Path]]:
    """Return all paths that are possible and agree with the tags, the best first.

    Of equals the one whose last tag comes first, then the one before it, and so on.
    """
    n_tags = len(scores[0])
    every = [
        y
        for y in product(range(n_tags), repeat=len(scores))
        if all(own in (-1, k) for own, k in zip(tags, y, strict=False))
    ]
    found = [y for y in every if possible(y, barred)] or every
    totals = [(path_score(scores, w, y), y) for y in found]
    return sorted(totals, key=lambda one: (-one[0], one[1][::-1]))


@dataclass
class Training:
    """What a training ends with."""

    w: dict[Key, float] = field(default_factory=dict)
    ledger: dict[Key, float] = field(default_factory=dict)
    variance: dict[Key, float] = field(default_factory=dict)
    counts: list[tuple[int, int, float]] = field(default_factory=list)
    rows: list[Any] = field(default_factory=list)  # features in the order of their first steps
    c: int = 1


def train(
    sentences: Sequence[Sentence],
    tags: Sequence[Sequence[int]],
    n_tags: int,
    step: Callable[[float, float], Any],
    orders: Sequence[Sequence[int]],
    *,
    cost: float = 0.0,
    barred: Barred = no_bar,
    second_order: bool = False,
) -> Training:
    """Collins 2002, figure 2, with the rule's own step and, where it has one, a cost."""
    found = Training()
    for order in orders:
        mistakes, updates, loss = 0, 0, 0.0
        for q, i in enumerate(order):
            x, given = sentences[i], tags[i]
            truth, rival, margin, structured = lead(x, given, n_tags, found.w, cost, barred)
            if rival == truth:
                continue
            if not margin > 0.0:
                mistakes += 1
                loss -= margin
            delta = difference(x, truth, rival)
            updates += take_step(found, delta, structured, step, found.c + q, second_order)
        found.c += len(order)
        found.counts.append((mistakes, updates, loss))
    return found


def lead(
    x: Sentence, given: Sequence[int], n_tags: int, w: dict[Key, float], cost: float, barred: Barred
) -> tuple[Path, Path, float, float]:
    """Return the true path, its rival, and by how much it leads without and with the cost."""
    if not x:
        return (), (), 0.0, 0.0
    truth = tuple(given)
    if -1 in given:
        truth = ranked(token_scores(x, w, n_tags), w, barred, given)[0][1]
    told = [k if own >= 0 else -1 for k, own in zip(truth, given, strict=True)]
    scores = token_scores(x, w, n_tags, told, cost)
    rival = ranked(scores, w, barred)[0][1]
    with_cost = path_score(scores, w, truth) - path_score(scores, w, rival)
    margin = with_cost
    for own, k in zip(told, rival, strict=True):
        if own not in (-1, k):
            margin += cost
    return truth, rival, margin, with_cost + cost


def take_step(
    found: Training,
    delta: dict[Key, float],
    margin: float,
    step: Callable[[float, float], Any],
    seen: int,
    second_order: bool,
) -> bool:
    """Change weights, ledger and variance by one sentence; return whether there was a step."""
    w, ledger, variance = found.w, found.ledger, found.variance
    tau, beta, spread = 0.0, 0.0, 0.0
    for key, n in delta.items():
        spread += n * n * (variance.get(key, 1.0) if second_order else 1.0)
    if second_order:
        tau, beta = step(margin, spread)
    else:
        tau = step(margin, spread)
    if tau == 0.0:
        return False
    for key, n in delta.items():
        if n == 0.0:
            continue
        moved = variance.get(key, 1.0) * n if second_order else n
        if isinstance(key[0], int) and key[0] not in found.rows:
            found.rows.append(key[0])
        w[key] = w.get(key, 0.0) + tau * moved
        ledger[key] = ledger.get(key, 0.0) + tau * seen * moved
        if second_order:
            left = variance.get(key, 1.0) - beta * (moved * moved)
            variance[key] = max(left, 2.0**-200)
    return True


def all_marginals(
    scores: list[list[float]], w: dict[Key, float], beta: float, barred: Barred = no_bar
) -> Iterator[list[float]]:
    """Yield for each token the probability of each tag, over all possible paths."""
    paths = ranked(scores, w, barred)
    top = max((total for total, _ in paths), default=-inf)
    weights = [exp(beta * (total - top)) for total, _ in paths]
    for t in range(len(scores)):
        row = [0.0] * len(scores[0])
        for weight, (_, y) in zip(weights, paths, strict=True):
            row[y[t]] += weight / sum(weights)
        yield row

"""What the search chooses from: rules with their parameters and memories, and encodings."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

from rosenblatt.data.encoding.kinds import USUAL_NGRAMS
from rosenblatt.errors import InputError
from rosenblatt.models.learner import Learner
from rosenblatt.models.search import Candidate, Rung, Search, Settings
from rosenblatt.rules import RULES, rule_parameters
from rosenblatt.tasks import Task

FEW_ROWS = 2_000  # up to here votes and kernels are tried as well
FEW_FEATURES = 300  # up to here pairs of them are
SHARES = (1 / 9, 1 / 3, 1.0)  # of the rows, rung by rung
KEPT = 1 / 3  # of the candidates, rung by rung
FEWEST_KEPT = 4
ONE_LABEL = Learner()  # a row


def grid(n_rows: int) -> Iterator[dict[str, Any]]:
    """Yield every rule of the table with the values that its parameters try, and other memories.

    Of equally good ones the first is taken.

    >>> for entry in grid(10_000):
    ...     if entry["rule"] == "margin":
    ...         print(entry)
    {'rule': 'margin', 'margin': 1.0}
    {'rule': 'margin', 'margin': 10.0}
    {'rule': 'margin', 'memory': 'last'}
    """
    for rule, entry in RULES.items():
        tried = [parameter for parameter in entry.parameters if parameter.tried]
        for values in product(*(parameter.tried for parameter in tried)):
            names = (parameter.name for parameter in tried)
            yield {"rule": rule, **dict(zip(names, values, strict=True))}
    for rule, entry in RULES.items():
        for memory in entry.passes:
            if memory not in {entry.memory, "vote"}:
                yield {"rule": rule, "memory": memory}
    voting = [rule for rule, entry in RULES.items() if entry.fixed_step]
    if n_rows <= FEW_ROWS:
        yield {"rule": voting[0], "memory": "vote"}


def learners(fixed: Mapping[str, Any], n_rows: int, usual: Learner = ONE_LABEL) -> list[Settings]:
    """Return the learners to try, where some parameters are fixed.

    Those that suit the task of the ``usual`` learner, which may be the first.

    >>> [dict(settings) for settings in learners({"rule": "pa1", "C": 0.5}, 10_000)]
    [{'rule': 'pa1', 'C': 0.5}, {'rule': 'pa1', 'memory': 'last', 'C': 0.5}]
    >>> learners({"rule": "pa1"}, 10_000, Learner("pa1").of_task("each"))[:2]
    [(('rule', 'pa1'), ('C', 0.3)), (('rule', 'pa1'), ('C', 1.0))]
    """
    task = usual.answer
    possible = [entry for entry in grid(n_rows) if _agrees(entry, fixed, task)]
    if task.tries_usual and usual.chosen.keys() - fixed.keys():
        possible.insert(0, {"rule": usual.rule, **usual.chosen})
    return list(dict.fromkeys(tuple((entry | dict(fixed)).items()) for entry in possible))


def _agrees(entry: Mapping[str, Any], fixed: Mapping[str, Any], task: Task) -> bool:
    """Return whether an entry of the grid is possible with what is fixed."""
    rule = entry["rule"]
    if fixed.get("rule", rule) != rule:
        return False
    of_rule = {parameter.name for parameter in RULES[rule].parameters}
    if (set(fixed) & set(rule_parameters())) - of_rule:
        return False
    memory = fixed.get("memory", entry.get("memory"))
    try:
        task.check(memory=memory or "", rule=rule)
    except InputError:
        return False
    return memory != "vote" or bool(RULES[rule].fixed_step)


def encodings(
    fixed: Iterable[str], *, has_text: bool, n_features: int, sparse: bool
) -> Iterator[Settings]:
    """Yield the encodings to try; the first is the default."""
    yield ()
    others: list[dict[str, Any]] = []
    if has_text:
        others = [{"word_pairs": False}, {"min_count": 1}, {"min_count": 5}]
        others += [{"char_ngrams": USUAL_NGRAMS}, {"words": False}]
    elif n_features <= FEW_FEATURES and not sparse:
        others = [{"bins": 10}, {"bins": 30}]
    known = set(fixed)
    yield from (tuple(entry.items()) for entry in others if not known & set(entry))


def candidates(found: Iterable[Settings], ways: Iterable[Settings]) -> list[Candidate]:
    """Return every learner with the default encoding, one a family with each of the others."""
    base, *others = ways
    pool = [Candidate(settings, base) for settings in found]
    first: dict[str, Candidate] = {}
    for candidate in pool:
        first.setdefault(RULES[dict(candidate.learner)["rule"]].family, candidate)
    return [*pool, *(Candidate(one.learner, way) for way in others for one in first.values())]


def rungs(pool: Sequence[Candidate], n_rows: int, task: Task = ONE_LABEL.answer) -> Iterator[Rung]:
    """Yield who runs on which share of the rows: the best of each rung, and at last crosses."""
    left, fewest = len(pool), task.fewest_tried
    for number, share in enumerate(s for s in SHARES if s == 1.0 or s * n_rows >= fewest):
        if number:
            left = min(left, max(FEWEST_KEPT, math.ceil(KEPT * left)))
        yield share, partial(_best, pool, left)
    yield 1.0, _crossed


def _best(pool: Sequence[Candidate], left: int, search: Search) -> Sequence[Candidate]:
    """Return the best candidates of the trials so far; all of the pool before the first."""
    return [trial.candidate for trial in search.ranked()[:left]] if search.trials else pool


def _crossed(search: Search) -> list[Candidate]:
    """Return the best learner with the best encoding, unless already tried."""
    ranked = [trial.candidate for trial in search.ranked() if trial.share == 1.0]
    others = [one.encoding for one in ranked if one.encoding != ranked[0].encoding]
    base = [one.learner for one in ranked if one.learner != ranked[0].learner]
    crossed = [Candidate(ranked[0].learner, way) for way in others[:1]]
    crossed += [Candidate(learner, ranked[0].encoding) for learner in base[:2]]
    return [one for one in dict.fromkeys(crossed) if one not in ranked]

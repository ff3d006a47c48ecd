"""Phrases in tags: the schemes BIO, IOBES and BILOU, their steps, and phrases counted.

A phrase begins with B, goes on with I, and in the closed schemes ends with E (L); a phrase of one
token is S (U) there. What a sequence of tags that breaks its scheme means is decided as by
``conlleval`` of the CoNLL shared tasks.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.sequences.paths import EDGES, END, START

OUTSIDE = "O"
SCHEMES = {"BIO": "BI", "IOBES": "BIES", "BILOU": "BILU"}
OPEN, INSIDE, LAST, ALONE = "BI", "IEL", "ESLU", "SU"


class Phrase(NamedTuple):
    """A phrase of a sentence."""

    start: int  # token
    stop: int  # the token behind it
    kind: str


def divided(tag: str) -> tuple[str, str]:
    """Return the letter of a tag and its kind.

    >>> divided("B-NP"), divided("O")
    (('B', 'NP'), ('O', ''))
    """
    letter, _, kind = tag.partition("-")
    return letter, kind


def scheme_of(tags: Iterable[str]) -> str:
    """Return the name of the scheme that tags are written in; empty where they are in none.

    >>> scheme_of(["B-NP", "I-NP", "O"]), scheme_of(["NOUN", "VERB"])
    ('BIO', '')
    """
    named = [tag for tag in tags if tag != OUTSIDE]
    letters = {divided(tag)[0] for tag in named}
    if "B" not in letters or not all(divided(tag)[1] for tag in named):
        return ""
    return next((name for name, own in SCHEMES.items() if letters <= {*own}), "")


def barred_steps(tags: Sequence[str], scheme: str) -> NDArray[np.bool_]:
    """Return which steps from tag to tag, from the start and to the end the scheme forbids."""
    n = len(tags)
    barred = np.zeros((n + EDGES, n), bool)
    if not scheme:
        return barred
    closed = scheme != "BIO"
    parts = [divided(tag) for tag in tags]
    for k, (letter, kind) in enumerate(parts):
        for j, (before, other) in enumerate([*parts, ("", "")]):
            opens = before != "" and before in OPEN
            goes_on = letter in INSIDE
            row = j if j < n else n + START
            barred[row, k] = (goes_on and not (opens and kind == other)) or (
                closed and opens and not (goes_on and kind == other)
            )
        barred[n + END, k] = closed and letter in OPEN
    return barred


def breaks(tags: NDArray[np.int32], bounds: NDArray[np.int64], barred: NDArray[np.bool_]) -> bool:
    """Return whether any sentence takes a barred step between tags that are known."""
    n_tags = barred.shape[1]
    full = np.flatnonzero(np.diff(bounds))
    if not len(tags) or not barred.any():
        return False
    before = np.concatenate([tags[:1], tags[:-1]])
    before[bounds[full]] = n_tags + START
    known = (before >= 0) & (tags >= 0)
    last = tags[bounds[full + 1] - 1]
    ends = barred[n_tags + END, last[last >= 0]].any()
    return bool(barred[before[known], tags[known]].any() or ends)


def closed(tags: Sequence[str]) -> list[str]:
    """Return BIO as IOBES.

    >>> closed(["B-NP", "I-NP", "B-VP", "O"])
    ['B-NP', 'E-NP', 'S-VP', 'O']
    """
    found = []
    for tag, behind in zip(tags, [*tags[1:], OUTSIDE], strict=True):
        letter, kind = divided(tag)
        goes_on = behind == f"I-{kind}"
        new = {"B": "B" if goes_on else "S", "I": "I" if goes_on else "E"}
        found.append(f"{new[letter]}-{kind}" if letter in new and kind else tag)
    return found


def reopened(tag: str) -> str:
    """Return a tag of IOBES as BIO has it.

    >>> reopened("E-NP"), reopened("S-NP")
    ('I-NP', 'B-NP')
    """
    letter, kind = divided(tag)
    new = {"S": "B", "E": "I"}
    return f"{new[letter]}-{kind}" if letter in new and kind else tag


def phrases(tags: Sequence[str]) -> list[Phrase]:
    """Return the phrases of a sentence.

    >>> phrases(["B-NP", "I-NP", "O", "I-VP"])
    [Phrase(start=0, stop=2, kind='NP'), Phrase(start=3, stop=4, kind='VP')]
    """
    found: list[Phrase] = []
    start, before, own = -1, OUTSIDE, ""
    for t, tag in enumerate([*tags, OUTSIDE]):
        letter, kind = divided(tag)
        inside = letter != OUTSIDE
        if start >= 0 and (not inside or before in LAST or letter in "BSU" or kind != own):
            found.append(Phrase(start, t, own))
            start = -1
        if start < 0 and inside:
            start = t
        before, own = letter, kind
    return found


@dataclass
class PhraseCounts:
    """Phrases that there are, that were found and that were found rightly."""

    there: int = 0
    found: int = 0
    right: int = 0

    @property
    def precision(self) -> float:
        """The share of those found that are right."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """The share of those there that were found."""
        return self.right / self.there if self.there else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.there + self.found
        return 2 * self.right / both if both else 0.0


class Phrases:
    """Phrases of sentences by their kinds: those that there are, were found, and rightly so."""

    def __init__(self) -> None:
        self.there: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.right: Counter[str] = Counter()

    def add(self, truth: Sequence[str], said: Sequence[str]) -> None:
        """Count a sentence."""
        own, other = {*phrases(truth)}, {*phrases(said)}
        self.there.update(one.kind for one in own)
        self.found.update(one.kind for one in other)
        self.right.update(one.kind for one in own & other)


def phrase_counts(counts: Phrases) -> dict[str, PhraseCounts]:
    """Return how phrases were found: of all kinds under "", then of each."""
    there, found, right = counts.there, counts.found, counts.right
    totals = PhraseCounts(there.total(), found.total(), right.total())
    kinds = sorted({*there, *found})
    return {"": totals} | {k: PhraseCounts(there[k], found[k], right[k]) for k in kinds}


def count_phrases(
    truth: Iterable[Sequence[str]], said: Iterable[Sequence[str]]
) -> dict[str, PhraseCounts]:
    """Return how phrases of sentences were found: of all kinds under "", then of each."""
    counts = Phrases()
    for own, other in zip(truth, said, strict=True):
        counts.add(own, other)
    return phrase_counts(counts)

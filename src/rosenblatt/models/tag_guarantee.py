"""Tags with a guarantee: sentences, or phrases, that are given only where few of them are wrong.

A sentence is the row of ``tasks.certainty``: without phrases it is answered whole, by the
probability of its path; with phrases, those are given that are probable enough, and a sentence is
wrong where one of these is.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.sequences.files import SentenceBlock, SentenceFile
from rosenblatt.errors import InputError
from rosenblatt.models.sentence_files import FileTagger
from rosenblatt.models.tagger import UNKNOWN
from rosenblatt.tasks.certainty import SentenceCertainty
from rosenblatt.tasks.phrases import INSIDE, divided, phrases


class SurePart(NamedTuple):
    """Tokens of a sentence that are answered together, and how probable that answer is."""

    start: int
    stop: int
    kind: str  # of a phrase
    confidence: float


def sure_parts(tagger: FileTagger, columns: Any) -> Iterator[list[SurePart]]:
    """Yield for each sentence the phrases of its best path; without phrases all of it."""
    own, tags = tagger.tagger, tagger.tagger.tags
    numbers, bounds = own.numbers(columns), columns.bounds.tolist()
    parts = [divided(tag) for tag in tags.inner]
    for i, sums in enumerate(own.marginals(columns, tagger.fitted.beta)):
        path = numbers[bounds[i] : bounds[i + 1]].tolist()
        if not tags.scheme:
            yield [SurePart(0, len(path), "", sums.of_path(path))] if path else []
            continue
        found = []
        for start, stop, kind in phrases([tags.inner[k] for k in path]):
            ends = np.array([letter not in INSIDE or other != kind for letter, other in parts])
            share = sums.of_phrase(path[start:stop], start, ends)
            found.append(SurePart(start, stop, kind, share))
        yield found


def sentences_apart(tagger: FileTagger, files: Sequence[SentenceFile]) -> SentenceCertainty:
    """Return how sure a model is of sentences that have tags, and how wrong."""
    lead: list[float] = []
    fault: list[float] = []
    for file in files:
        for block, columns, _ in tagger.tagged(file):
            if not block.n_sentences:
                continue
            truths = block.columns.in_sentences(tagger.truth(file, block, None))
            said = block.columns.in_sentences(_said(tagger, columns))
            for truth, own, parts in zip(truths, said, sure_parts(tagger, columns), strict=True):
                if UNKNOWN in truth:
                    continue
                right = {*phrases(truth)} if tagger.tagger.tags.scheme else set()
                wrong = [p.confidence for p in parts if not _is_right(p, truth, own, right)]
                lead.append(max((part.confidence for part in parts), default=-np.inf))
                fault.append(max(wrong, default=-np.inf))
    if not lead:
        raise InputError("A guarantee needs sentences with tags; none of these has all of its own.")
    return SentenceCertainty(np.array(lead), np.zeros(len(lead)), np.array(fault))


def _said(tagger: FileTagger, columns: Any) -> list[str]:
    names: NDArray[Any] = np.array(tagger.tagger.tags.said, object)
    return [str(tag) for tag in names[tagger.tagger.numbers(columns)]]


def _is_right(part: SurePart, truth: Sequence[str], said: Sequence[str], right: set[Any]) -> bool:
    if not part.kind:
        return [*truth] == [*said]
    return (part.start, part.stop, part.kind) in right


def promised(
    tagger: FileTagger, block: SentenceBlock, columns: Any, tags: Sequence[str], threshold: float
) -> list[str]:
    """Return tags with "?" for those of parts that are no surer than the threshold."""
    found = [*tags]
    starts = block.columns.bounds.tolist()
    for first, parts in zip(starts, sure_parts(tagger, columns), strict=False):
        for part in parts:
            if part.confidence <= threshold:
                n = part.stop - part.start
                found[first + part.start : first + part.stop] = [UNKNOWN] * n
    return found

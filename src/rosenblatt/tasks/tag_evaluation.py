"""How good tags are: tokens, sentences, words that were met in training, and phrases."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.tasks.evaluation import Evaluation, ratio
from rosenblatt.tasks.metrics import Reliability
from rosenblatt.tasks.phrases import Phrases, phrase_counts, scheme_of
from rosenblatt.wording import Cell, counted, decimals, percent


class TagEvaluation(Evaluation):
    """Judges the tags of tokens, whole sentences and phrases; a token is a row.

    >>> evaluation = TagEvaluation(("DET", "NOUN"))
    >>> evaluation.add_sentences([["DET", "NOUN"], ["NOUN"]], [["DET", "DET"], ["NOUN"]])
    >>> evaluation.n_wrong, evaluation.sentences, evaluation.exact
    (1, 2, 1)
    """

    noun: ClassVar[str] = "tag"
    heading: ClassVar[str] = "Tags"
    unit: ClassVar[str] = "token"
    meanings: ClassVar[Mapping[str, str]] = {"error": "tokens with a wrong tag, "}

    def __init__(self, classes: Sequence[Any]) -> None:
        super().__init__(classes)
        self.sentences = self.exact = 0
        self.words = {"known": np.zeros(2, np.int64), "unknown": np.zeros(2, np.int64)}
        self.phrases = Phrases()
        self._scheme = scheme_of(self.classes)
        self._numbers = {name: number for number, name in enumerate(self.classes)}

    def add_sentences(
        self,
        truth: Sequence[Sequence[str]],
        said: Sequence[Sequence[str]],
        known: NDArray[np.bool_] | None = None,
    ) -> None:
        """Count sentences: their tags, "?" where one is not known, and which words were met."""
        numbers = self._numbers
        flat = [numbers.get(tag, -1) for tags in truth for tag in tags]
        for tag in {tag for tags in truth for tag in tags} - numbers.keys() - {"?"}:
            numbers[tag] = len(numbers)
        if -1 in flat:
            flat = [numbers.get(tag, -1) for tags in truth for tag in tags]
        own = np.array(flat, np.int64)
        guess = np.array([numbers[tag] for tags in said for tag in tags], np.int64)
        self.add(own, guess, classes=[*numbers])
        right, judged = own == guess, own >= 0
        if known is not None:
            for name, part in (("known", known), ("unknown", ~known)):
                self.words[name] += [(part & judged).sum(), (part & judged & right).sum()]
        ends = np.cumsum([0, *map(len, truth)])
        full = np.flatnonzero(np.diff(ends))
        if len(full):
            wrong = np.add.reduceat(judged & ~right, ends[full])
            there = np.add.reduceat(judged, ends[full])
            self.sentences += int((there > 0).sum())
            self.exact += int(((there > 0) & (wrong == 0)).sum())
        if self._scheme:
            for one, two in zip(truth, said, strict=True):
                if "?" not in one:
                    self.phrases.add(one, two)

    def add_probabilities(self, probabilities: NDArray[Any], truth: Sequence[str]) -> None:
        """Count how far probabilities of the tags of tokens can be relied on."""
        if self.reliability is None:
            self.reliability = Reliability(len(self.classes))
        numbers = np.array([self._numbers.get(tag, -1) for tag in truth], np.int64)
        numbers[numbers >= len(self.classes)] = -1
        self.reliability.add(probabilities, numbers)

    @property
    def counts(self) -> dict[str, Any]:
        """What is counted beside tokens, as what JSON can hold."""
        exact = self.exact
        found: dict[str, Any] = {
            "sentences": {
                "count": self.sentences,
                "right": exact,
                "share": ratio(exact, self.sentences),
            }
        }
        for name, (n, right) in self.words.items():
            share = ratio(int(right), int(n))
            found[f"{name}_words"] = {"count": int(n), "right": int(right), "share": share}
        if self._scheme:
            found["phrases"] = [
                {
                    "kind": kind,
                    "there": one.there,
                    "found": one.found,
                    "right": one.right,
                    "precision": one.precision,
                    "recall": one.recall,
                    "f1": one.f1,
                }
                for kind, one in phrase_counts(self.phrases).items()
            ]
        return found

    def report(self) -> dict[str, Any]:
        """Return everything as what JSON can hold."""
        found = super().report()
        others = ("roc_auc", "average_precision", "precision_recall_curve", "coverage_curve")
        names = {"rows": "tokens", "rows_without_label": "tokens_without_tag"}
        names |= {"rows_of_unknown_classes": "tokens_of_unknown_tags", "by_class": "by_tag"}
        kept = {names.get(name, name): v for name, v in found.items() if name not in others}
        return kept | self.counts

    def summary(self, counts: Sequence[int] | None) -> list[str]:
        """Return sentences on tokens, sentences and words."""
        wrong = f"{self.n_wrong:,} of {counted(self.n_rows, 'token')}"
        exact = percent(ratio(self.exact, self.sentences))
        sentences = f"{exact} of {counted(self.sentences, 'sentence')}"
        lines = [
            f"Right: {percent(self.accuracy)} of the tokens, {sentences}.",
            f"Error {percent(self.error)} (95% interval {self.error_interval}): {wrong} wrong.",
        ]
        (n_known, known), (n_new, new) = (map(int, self.words[k]) for k in ("known", "unknown"))
        if n_known + n_new:
            lines.append(
                f"Words that training had met: {percent(ratio(known, n_known))} right; the "
                f"{n_new:,} others: {percent(ratio(new, n_new))}."
            )
        return lines

    def test_summary(self, source: str, counts: Sequence[int] | None) -> list[str]:
        """Return what was right in files of these names."""
        if self.error is None:
            return []
        figures = f"{percent(self.accuracy)} of {counted(self.n_rows, 'token')} right"
        line = f"On {source}: {figures}, {percent(ratio(self.exact, self.sentences))} of "
        line += f"{counted(self.sentences, 'sentence')}"
        if self._scheme:
            line += f", phrases F1 {decimals(phrase_counts(self.phrases)[''].f1)}"
        return [f"{line}; error {percent(self.error)}, 95% interval {self.error_interval}"]

    def phrase_table(self) -> tuple[Sequence[str], list[list[Cell]], str] | None:
        """Return how phrases of each kind were found; None where tags make no phrases."""
        if not self._scheme:
            return None
        rows: list[list[Cell]] = [
            [
                kind or "(all)",
                *(decimals(value) for value in (one.precision, one.recall, one.f1)),
                one.there,
                one.found,
            ]
            for kind, one in phrase_counts(self.phrases).items()
        ]
        headings = ("phrase", "precision", "recall", "F1", "there", "found")
        return headings, rows, f"Phrases ({self._scheme}), as conlleval counts them"

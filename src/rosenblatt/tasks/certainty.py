"""How sure answers are: what rows that were not learned from promise of new ones.

Abstention. A row is answered where the predicted class leads the second by more than a threshold t.
Of n rows apart the candidates for t are the order statistics of their leads below the surest 5 %,
10 %, … 100 %. Given the value of one of them, the rows that lead by more are independent draws of
such rows, so the wrong ones among them are binomial, ties or not, and the bound of Clopper and
Pearson (1934) holds of the error on new rows. With confidence 1 − δ/20 each, all twenty bounds hold
together with confidence 1 − δ: any of them may be chosen after looking, as may the error that is
asked for. Testing thresholds in a fixed sequence at level δ (Angelopoulos, Bates, Candès, Jordan
and Lei, "Learn then test", 2021) would need thresholds that do not come from the same rows; the
union is that of Geifman and El-Yaniv ("Selective classification for deep neural networks", 2017).

Label sets. A set holds every class that is behind the predicted one by at most q, the ⌈(n + 1)(1 −
α)⌉-th smallest of what the true classes of the n rows are behind: the label of a new row, if all
rows are exchangeable, is missed with probability α at most (split conformal prediction, Vovk,
Gammerman and Shafer 2005).

Several labels a row. The labels that are given are those predicted whose scores are above t, and a
row is answered where there is one. It is wrong where one of them is: a loss of 0 or 1 for each row,
whatever t is, so that the same bound holds with the highest score of a row for the lead. (Labels of
one row are not independent; a binomial bound on the share of wrong labels would be none.) A set
holds every label whose score, or probability where it was fitted, is −q at least, where q belongs
to the lowest of the true labels of each row: all true labels of a new row are in it, with
probability 1 − α at least.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.tasks.leads import lead_over, winner_leads
from rosenblatt.tasks.metrics import CoverageCurve
from rosenblatt.wording import counted, percent

CONFIDENCE = 0.95
# Shares of the rows that are tried: 5 %, 10 %, … 100 %. With 10 or 40, whose bounds are closer or
# lie denser, fewer rows were answered on most of five real sets by 500 to 10,000 rows apart.
STEPS = 20
SHOWN = (0.005, 0.01, 0.02, 0.05, 0.1)  # errors of the summary
NUMBERS = "biuf"  # NumPy's kinds


class Words(NamedTuple):
    """How a sentence on answers says which are given, and what is wrong about some."""

    which: str
    wrong: str
    are: str
    row: str = "row"


OF_CLASSES = Words("those that lead by", "wrong", "are wrong")
OF_LABELS = Words("by labels that score", "with a wrong label", "have one")


class GuaranteeCurve(NamedTuple):
    """One point for each share of the rows apart, from the surest 5 % to all of them."""

    coverage: NDArray[Any]  # share of the rows that are answered: those that lead by more
    error: NDArray[Any]  # share of those that are answered wrongly
    bound: NDArray[Any]  # what the error on new rows exceeds for no point, with the confidence
    threshold: NDArray[Any]  # the lead; −∞: every row is answered

    def place(self, error: float) -> int | None:
        """Return the point that answers most rows with at most this error; None if there is none.

        >>> curve = GuaranteeCurve(*np.array([[0.5, 1], [0, 0.1], [0.02, 0.2], [3, -math.inf]]))
        >>> curve.place(0.02), curve.place(0.01)
        (0, None)
        """
        found = np.flatnonzero(self.bound <= error)
        return int(found[-1]) if len(found) else None

    def threshold_for(self, error: float) -> float:
        """Return the lead above which answers have at most this error; ∞ where none have."""
        place = self.place(error)
        return math.inf if place is None else float(self.threshold[place])

    def bounds_of(self, lead: NDArray[Any]) -> NDArray[Any]:
        """Return for rows that lead by so much the least error at most that is promised of them.

        All bounds hold together: those answers of which at most 2 % is promised are wrong in at
        most 2 % of the cases.
        """
        least = np.minimum.accumulate(self.bound[::-1])[::-1]
        first = np.searchsorted(-self.threshold, -np.asarray(lead), "right")
        bounds: NDArray[Any] = np.append(least, 1.0)[first]
        return bounds

    def sentence(
        self,
        error: float,
        n_rows: int,
        confidence: float = CONFIDENCE,
        words: Words = OF_CLASSES,
    ) -> str:
        """Return which rows are answered so that at most this share of the answers is wrong."""
        place, rows = self.place(error), f"the {counted(n_rows, words.row)} kept for the guarantee"
        if place is None:
            least = math.log((1 - confidence) / STEPS) / math.log1p(-error)
            few = f"; it takes {math.ceil(least):,} answers without a mistake"
            return (
                f"No answer can be given with an error of at most {100 * error:.4g}%: the surest "
                f"of {rows} do not show it{few * (n_rows < least)}."
            )
        threshold = float(self.threshold[place])
        which = "" if threshold == -math.inf else f", {words.which} more than {threshold:.4g}"
        return (
            f"Answers {self.coverage[place]:.0%} of {rows}{which}: "
            f"{percent(float(self.error[place]))} of them {words.wrong}. "
            f"Of new {words.row}s like these at most {100 * error:.4g}% of the answers "
            f"{words.are}, with "
            f"{100 * confidence:.4g}% confidence."
        )

    def summary(self) -> str:
        """Return which share of the rows is answered with at most some errors.

        >>> GuaranteeCurve(*np.array([[0.5, 1], [0, 0.1], [0.02, 0.2], [3, -math.inf]])).summary()
        'answers 50% with at most 2% wrong, 50% with 5%, 50% with 10%'
        """
        places = [(error, self.place(error)) for error in SHOWN]
        found = [f"{self.coverage[k]:.0%} with {100 * e:g}%" for e, k in places if k is not None]
        if not found:
            return f"no answer with at most {100 * SHOWN[-1]:g}% wrong"
        first, *others = found
        return f"answers {', '.join([first.replace('with', 'with at most') + ' wrong', *others])}"


@dataclass(frozen=True)
class Certainty(ABC):
    """How sure a model was of rows that it has not learned from, and how wrong."""

    lead: NDArray[Any]  # how sure the answer to each row is
    behind: NDArray[Any]  # by how much the true label was behind, for sets of them
    words: ClassVar[Words] = OF_CLASSES
    measure: ClassVar[str]  # what says how sure an answer is

    @classmethod
    def stored(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """Return them from ``arrays``; raise ValueError for what does not fit together."""
        sizes = {array.shape for array in arrays.values()}
        if arrays.keys() != {*cls.names()} or sizes != {(len(arrays["lead"]),)} or sizes == {(0,)}:
            raise ValueError("damaged")
        return cls(**arrays)

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the arrays."""
        return [entry.name for entry in fields(cls)]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what they consist of, by name."""
        return {name: getattr(self, name) for name in self.names()}

    def take(self, rows: NDArray[Any]) -> Self:
        """Return some of the rows."""
        return type(self)(**{name: array[rows] for name, array in self.arrays().items()})

    @property
    @abstractmethod
    def faults(self) -> NDArray[Any]:
        """Up to which lead, or score, the answer to each row is wrong; −∞ where it is right."""

    @staticmethod
    @abstractmethod
    def sets(measure: NDArray[Any], allowance: float) -> NDArray[np.bool_]:
        """Return which classes are in the set of each row, (n_rows, n_classes).

        ``measure`` is what they were made by.
        """

    @abstractmethod
    def answered(
        self, answers: Any, scores: NDArray[Any], threshold: float, abstain: Any
    ) -> NDArray[Any]:
        """Return the answers that are surer than this, in the form that predictions have."""

    def counts(self, threshold: NDArray[Any]) -> list[NDArray[Any]]:
        """Return how many rows lead by more than each threshold, and how many are wrong then."""
        sides = np.sort(self.lead), np.sort(self.faults)
        return [len(side) - side.searchsorted(threshold, "right") for side in sides]

    def coverage(self) -> CoverageCurve:
        """Return the errors of the surest rows for each lead that occurs."""
        levels = np.unique(self.lead)[::-1]
        answered, n_wrong = self.counts(np.nextafter(levels, -math.inf))
        answered[-1] = len(self.lead)  # with those that have no label, which nothing is wrong about
        return CoverageCurve(answered / len(self.lead), n_wrong / np.maximum(answered, 1), levels)

    def curve(self, confidence: float = CONFIDENCE) -> GuaranteeCurve:
        """Return bounds that hold together with this confidence; see the top of the module."""
        n = len(self.lead)
        ranks = np.unique(-(-n * np.arange(1, STEPS + 1) // STEPS))
        threshold = np.append(np.sort(self.lead)[::-1][ranks[:-1]], -math.inf)
        answered, n_wrong = self.counts(threshold)
        bound = error_bound(n_wrong, answered, (1 - confidence) / STEPS)
        return GuaranteeCurve(answered / n, n_wrong / np.maximum(answered, 1), bound, threshold)

    def sentence(self, error: float) -> str:
        """Return which rows are answered so that at most this share of the answers is wrong."""
        return self.curve().sentence(error, len(self.lead), words=self.words)

    def allowance(self, error: float) -> float:
        """Return q: sets of the classes that are at most so far behind miss this share of labels.

        >>> ClassCertainty(np.ones(9), np.arange(9.0)).allowance(0.2)
        7.0
        """
        n = len(self.behind)
        rank = math.ceil((n + 1) * (1 - error) - 1e-9)  # 0.9·10 is 9, not 10
        return float(np.sort(self.behind)[rank - 1]) if rank <= n else math.inf


@dataclass(frozen=True)
class ClassCertainty(Certainty):
    """Rows of one class each: by how much the predicted class led, and the true one was behind."""

    measure: ClassVar[str] = "lead of the best class"

    @classmethod
    def of(
        cls, scores: NDArray[Any], predicted: NDArray[Any], numbers: NDArray[Any]
    ) -> "ClassCertainty":
        """Return them by scores, predicted and true classes; one that is not known is ∞ behind."""
        known = (numbers >= 0) & (numbers < (2 if scores.ndim == 1 else scores.shape[1]))
        behind = np.full(len(numbers), math.inf)
        behind[known] = lead_over(scores[known], numbers[known], predicted[known])
        wrong = predicted != numbers
        # A tie is wrong by nothing; the least number above 0 says so.
        return cls(
            winner_leads(scores), np.where(wrong, np.maximum(behind, np.nextafter(0, 1)), 0.0)
        )

    @property
    def faults(self) -> NDArray[Any]:
        """Up to which lead the answer to each row is wrong; −∞ where it is right."""
        return np.where(self.behind > 0, self.lead, -math.inf)

    @staticmethod
    def sets(measure: NDArray[Any], allowance: float) -> NDArray[np.bool_]:
        """Return which classes are at most so far behind the predicted one, by their scores."""
        two = measure.ndim == 1
        by_class = np.stack([np.zeros_like(measure), measure], 1) if two else measure
        members: NDArray[np.bool_] = by_class.max(axis=1, keepdims=True) - by_class <= allowance
        return members

    def answered(
        self, answers: Any, scores: NDArray[Any], threshold: float, abstain: Any
    ) -> NDArray[Any]:
        """Return the labels of rows that lead by more, and ``abstain`` for the others."""
        labels, other = np.asarray(answers), np.asarray(abstain)
        numbers = other.dtype.kind in NUMBERS and labels.dtype.kind in NUMBERS
        alike = other.dtype.kind == labels.dtype.kind or numbers
        found: NDArray[Any] = labels.astype(np.result_type(labels, other) if alike else object)
        found[winner_leads(scores) <= threshold] = abstain
        return found


@dataclass(frozen=True)
class LabelCertainty(Certainty):
    """Rows of any number of labels: the highest score of one that was said, and of a wrong one."""

    fault: NDArray[Any]  # highest score of a wrong label; −∞: none is
    words: ClassVar[Words] = OF_LABELS
    measure: ClassVar[str] = "score of the best label"

    @classmethod
    def of(
        cls,
        scores: NDArray[Any],
        predicted: NDArray[np.bool_],
        truth: NDArray[np.bool_],
        measure: NDArray[Any],
    ) -> "LabelCertainty":
        """Build from predicted and true labels of rows, as indicators; unknown labels come last.

        ``measure`` has the probability of each label, or its score, for sets of them.
        """
        known, strange = np.split(truth, [scores.shape[1]], axis=1)
        behind = -np.where(known, measure, math.inf).min(axis=1)  # −∞ without a label
        said, wrong = (
            np.where(given, scores, -math.inf) for given in (predicted, predicted & ~known)
        )
        behind = np.where(strange.any(axis=1), math.inf, behind)
        return cls(said.max(axis=1), behind, wrong.max(axis=1))

    @property
    def faults(self) -> NDArray[Any]:
        """Up to which score the answer to each row is wrong; −∞ where it is right."""
        return self.fault

    @staticmethod
    def sets(measure: NDArray[Any], allowance: float) -> NDArray[np.bool_]:
        """Return which labels are not below the least measure."""
        members: NDArray[np.bool_] = -measure <= allowance
        return members

    def answered(
        self, answers: Any, scores: NDArray[Any], threshold: float, abstain: Any
    ) -> NDArray[Any]:
        """Return an indicator of the labels that score above; a row without any is not answered."""
        if abstain is not None:
            raise InputError("abstain is for one label a row; the indicator has none where 0.")
        return (indicator(answers) & (scores > threshold)).astype(np.int64)


@dataclass(frozen=True)
class SentenceCertainty(LabelCertainty):
    """Sentences: how probable the surest part that is given was, and the surest wrong one."""

    words: ClassVar[Words] = Words(
        "by parts whose probability is", "with a wrong part", "have one", "sentence"
    )
    measure: ClassVar[str] = "probability of the surest part"


def indicator(given: Any) -> NDArray[np.bool_]:
    """Return a dense or sparse indicator as an array."""
    found = np.asarray(given.toarray() if hasattr(given, "toarray") else given)
    if not np.isin(found, (0, 1)).all():
        raise InputError("An indicator must be 1 where a row has the label and 0 elsewhere.")
    return found.astype(bool)


def error_bound(n_wrong: Any, n_rows: Any, level: float) -> NDArray[Any]:
    """Return what the error exceeds with probability ``level`` at most (Clopper and Pearson 1934).

    >>> error_bound([0, 5], [149, 1000], 0.05).round(4).tolist()
    [0.0199, 0.0105]
    """
    from scipy.special import betaincinv

    k, n = np.asarray(n_wrong, float), np.asarray(n_rows, float)
    found = betaincinv(k + 1, np.maximum(n - k, 1), 1 - level)
    return np.asarray(np.where(k < n, found, 1.0))

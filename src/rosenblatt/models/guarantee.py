"""Answers with a guarantee: how sure a model must be, by rows that it has not learned from.

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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.files import Files, Layout, RowDraw
from rosenblatt.data.labels import SetNumbers
from rosenblatt.errors import InputError, Sentence
from rosenblatt.models.learner import MANY
from rosenblatt.models.metrics import CoverageCurve
from rosenblatt.models.model import Model, Scorer
from rosenblatt.parameters import check_parameters
from rosenblatt.rules import Interval
from rosenblatt.training.examples import (
    check_count,
    has_label,
    lead_over,
    numbers_of,
    winner_leads,
)
from rosenblatt.wording import counted, percent

CONFIDENCE = 0.95
# Shares of the rows that are tried: 5 %, 10 %, … 100 %. With 10 or 40, whose bounds are closer or
# lie denser, fewer rows were answered on most of five real sets by 500 to 10,000 rows apart.
STEPS = 20
PREFIX = "guarantee."  # of the arrays of a model
SHARE = Interval(high=1.0)
SHOWN = (0.005, 0.01, 0.02, 0.05, 0.1)  # errors of the summary
NUMBERS = "biuf"  # NumPy's kinds
NO_ROWS = "A guarantee needs rows with labels; none of these has one."


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
        *,
        several: bool = False,
    ) -> str:
        """Return which rows are answered so that at most this share of the answers is wrong.

        Where they may have ``several`` labels, an answer is wrong if one of its labels is.
        """
        place, rows = self.place(error), f"the {counted(n_rows, 'row')} kept for the guarantee"
        if place is None:
            least = math.log((1 - confidence) / STEPS) / math.log1p(-error)
            few = f"; it takes {math.ceil(least):,} answers without a mistake"
            return (
                f"No answer can be given with an error of at most {100 * error:.4g}%: the surest "
                f"of {rows} do not show it{few * (n_rows < least)}."
            )
        threshold = float(self.threshold[place])
        which = "by labels that score" if several else "those that lead by"
        which = "" if threshold == -math.inf else f", {which} more than {threshold:.4g}"
        wrong, are = ("with a wrong label", "have one") if several else ("wrong", "are wrong")
        return (
            f"Answers {self.coverage[place]:.0%} of {rows}{which}: "
            f"{percent(float(self.error[place]))} of them {wrong}. Of new rows like these at most "
            f"{100 * error:.4g}% of the answers {are}, with {100 * confidence:.4g}% confidence."
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


class RowsApart(NamedTuple):
    """How sure a model was of rows that it has not learned from, and how wrong."""

    lead: NDArray[Any]  # of the predicted class over the second, or the highest score of a label
    behind: NDArray[Any]  # by how much the true class was behind the predicted one; 0 where right
    # Highest score of a wrong label; −∞: none is. None where each row has one label.
    fault: NDArray[Any] | None = None

    @classmethod
    def of_scores(
        cls, scores: NDArray[Any], predicted: NDArray[Any], numbers: NDArray[Any]
    ) -> "RowsApart":
        """Return them by scores, predicted and true classes; one that is not known is ∞ behind."""
        known = (numbers >= 0) & (numbers < (2 if scores.ndim == 1 else scores.shape[1]))
        behind = np.full(len(numbers), math.inf)
        behind[known] = lead_over(scores[known], numbers[known], predicted[known])
        wrong = predicted != numbers
        # A tie is wrong by nothing; the least number above 0 says so.
        return cls(
            winner_leads(scores), np.where(wrong, np.maximum(behind, np.nextafter(0, 1)), 0.0)
        )

    @classmethod
    def of_labels(
        cls,
        scores: NDArray[Any],
        predicted: NDArray[np.bool_],
        truth: NDArray[np.bool_],
        measure: NDArray[Any],
    ) -> "RowsApart":
        """Return them by which row is said to have which label, and has it; unknown ones last.

        ``measure`` has the probability of each label, or its score, for sets of them.
        """
        known, strange = np.split(truth, [scores.shape[1]], axis=1)
        behind = -np.where(known, measure, math.inf).min(axis=1)  # −∞ without a label
        said, wrong = (
            np.where(given, scores, -math.inf) for given in (predicted, predicted & ~known)
        )
        return cls(
            said.max(axis=1), np.where(strange.any(axis=1), math.inf, behind), wrong.max(axis=1)
        )

    @property
    def several(self) -> bool:
        """Whether a row may have several labels."""
        return self.fault is not None

    @property
    def faults(self) -> NDArray[Any]:
        """Up to which lead, or score, the answer to each row is wrong; −∞ where it is right."""
        return np.where(self.behind > 0, self.lead, -math.inf) if self.fault is None else self.fault

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

    def allowance(self, error: float) -> float:
        """Return q: sets of the classes that are at most so far behind miss this share of labels.

        >>> RowsApart(np.ones(9), np.arange(9.0)).allowance(0.2)
        7.0
        """
        n = len(self.behind)
        rank = math.ceil((n + 1) * (1 - error) - 1e-9)  # 0.9·10 is 9, not 10
        return float(np.sort(self.behind)[rank - 1]) if rank <= n else math.inf


def error_bound(n_wrong: Any, n_rows: Any, level: float) -> NDArray[Any]:
    """Return what the error exceeds with probability ``level`` at most (Clopper and Pearson 1934).

    >>> error_bound([0, 5], [149, 1000], 0.05).round(4).tolist()
    [0.0199, 0.0105]
    """
    from scipy.special import betaincinv

    k, n = np.asarray(n_wrong, float), np.asarray(n_rows, float)
    found = betaincinv(k + 1, np.maximum(n - k, 1), 1 - level)
    return np.asarray(np.where(k < n, found, 1.0))


def conformal_sets(
    scores: NDArray[Any], allowance: float, *, several: bool = False
) -> NDArray[np.bool_]:
    """Return which classes are in the set of each row, (n_rows, n_classes).

    Where rows may have ``several`` labels, the scores are those of ``set_measure``.
    """
    by_class = np.stack([np.zeros_like(scores), scores], 1) if scores.ndim == 1 else scores
    best = 0.0 if several else by_class.max(axis=1, keepdims=True)
    members: NDArray[np.bool_] = best - by_class <= allowance
    return members


def set_measure(model: Model, scores: NDArray[Any]) -> NDArray[Any]:
    """Return by what labels get into sets: their probabilities where they were fitted, else scores.

    Of 302 tags of packages, sets that miss a tenth of the rows had 57 tags by the probabilities,
    180 by the scores.
    """
    fitted = model.several and model.calibration is not None
    return model.probabilities_of(scores) if fitted else scores


def judged_apart(model: Model, batches: Iterable[Batch]) -> RowsApart:
    """Return how sure a model is of labelled rows; those without a label are left out."""
    scorer, parts, numbers = Scorer(model), list[RowsApart](), SetNumbers(model.classes)
    for batch in batches:
        given = batch.labels >= 0
        scores, labels = scorer.scores(batch)[given], batch.labels[given]
        if model.several:
            truth = has_label(numbers.sets(batch.classes), labels, len(numbers.labels))
            measure = set_measure(model, scores)
            part = RowsApart.of_labels(scores, model.has_label(scores), truth, measure)
        else:
            part = RowsApart.of_scores(scores, scorer.numbers(scores), labels)
        parts.append(part)
    if not sum(len(part.lead) for part in parts):
        raise InputError(NO_ROWS)
    sides = [None if side[0] is None else np.concatenate(side) for side in zip(*parts, strict=True)]
    return RowsApart(*cast("list[NDArray[Any]]", sides))


def row_draw(wanted: Any, *, drawn: bool) -> RowDraw | None:
    """Return which rows a share for the guarantee means: those drawn, or all others."""
    if wanted is None or isinstance(wanted, str | Sequence):
        return None
    check_parameters("train_files", {"guarantee": wanted}, {"guarantee": SHARE})
    return RowDraw(float(wanted), drawn)


def guaranteed(
    model: Model,
    paths: Sequence[str],
    wanted: Any,
    layout: Layout,
    tell: Callable[[str], object] = lambda _: None,
) -> Model:
    """Return a model with a guarantee by files, or by a share of those that it learned from.

    What is odd about the rows is told, and kept with the notes of the training.
    """
    draw = row_draw(wanted, drawn=True)
    names = paths if draw is not None else [wanted] if isinstance(wanted, str) else wanted
    files, notes = Files(names, layout, draw=draw), list[str]()
    apart = judged_apart(model, model.rows(files, tell=notes.append))
    notes = [about_rows_apart(note) for note in notes]
    for note in notes:
        tell(note)
    training = model.training | {"notes": [*model.training["notes"], *notes]}
    return with_guarantee(replace(model, training=training), apart)


def about_rows_apart(note: str) -> str:
    """Return a note on rows as one on those of a guarantee."""
    return Sentence("Rows of the guarantee: ", note)


def with_guarantee(model: Model, apart: RowsApart) -> Model:
    """Return a model that holds what a guarantee needs, until it learns on."""
    given = {name: array for name, array in apart._asdict().items() if array is not None}
    named = {f"{PREFIX}{name}": array for name, array in given.items()}
    training = model.training | {"guarantee_rows": len(apart.lead)}
    return replace(model, arrays=model.arrays | named, training=training)


def guarantee_arrays(model: Model) -> dict[str, NDArray[Any]]:
    """Return the arrays that ``with_guarantee`` adds."""
    return {name: array for name, array in model.arrays.items() if name.startswith(PREFIX)}


def rows_apart(model: Model) -> RowsApart | None:
    """Return what a model holds for a guarantee; None where it holds nothing."""
    lead, behind, fault = (model.arrays.get(f"{PREFIX}{name}") for name in RowsApart._fields)
    if lead is None or behind is None:
        return None
    shapes = {array.shape for array in (lead, behind, fault) if array is not None}
    if shapes != {(len(lead),)} or not len(lead) or bool(model.several) == (fault is None):
        raise InputError("The rows of the model's guarantee are damaged: train it again.")
    return RowsApart(lead, behind, fault)


@dataclass(frozen=True)
class Guarantee:
    """Answers of a classifier with at most a share of them wrong, where that can be promised."""

    estimator: Any
    apart: RowsApart
    error: float
    confidence: float

    @cached_property
    def curve(self) -> GuaranteeCurve:
        """Arrays ``coverage``, ``error``, ``bound`` and ``threshold``, the surest rows first."""
        return self.apart.curve(self.confidence)

    @property
    def threshold(self) -> float:
        """The lead above which a row is answered: −∞ for all rows, ∞ for none."""
        return self.curve.threshold_for(self.error)

    @property
    def coverage(self) -> float:
        """Share of the rows that is answered."""
        place = self.curve.place(self.error)
        return 0.0 if place is None else float(self.curve.coverage[place])

    @property
    def bound(self) -> float | None:
        """What the error among answers exceeds with probability 1 − confidence; None: no answer."""
        place = self.curve.place(self.error)
        return None if place is None else float(self.curve.bound[place])

    def predict(self, X: Any, abstain: Any = None) -> NDArray[Any]:
        """Return the label of each row that can be answered, and ``abstain`` for the others.

        With None, or with a value of another kind than the labels, the array is of type object.
        Where rows may have several labels, it is an indicator of those that can be given, and a row
        without any is one that is not answered.
        """
        if self.apart.several:
            if abstain is not None:
                raise InputError("abstain is for one label a row; the indicator has none where 0.")
            sure = _scores(self.estimator, X) > self.threshold
            return (_indicator(self.estimator.predict(X)) & sure).astype(np.int64)
        labels, other = np.asarray(self.estimator.predict(X)), np.asarray(abstain)
        numbers = other.dtype.kind in NUMBERS and labels.dtype.kind in NUMBERS
        alike = other.dtype.kind == labels.dtype.kind or numbers
        answers: NDArray[Any] = labels.astype(np.result_type(labels, other) if alike else object)
        answers[winner_leads(_scores(self.estimator, X)) <= self.threshold] = abstain
        return answers

    def predict_sets(self, X: Any, error: float | None = None) -> list[list[Any]]:
        """Return labels for each row, the predicted one among them, that miss the true one rarely.

        In at most the share ``error`` of rows like those of the guarantee, over all rows; by
        default the error of the guarantee. Where rows may have several labels, sets miss one of
        them so rarely.
        """
        wanted = self.error if error is None else error
        check_parameters("predict_sets", {"error": wanted}, {"error": SHARE})
        scores, several = _scores(self.estimator, X), self.apart.several
        if several:
            scores = _measure(self.estimator, scores)
        members = conformal_sets(scores, self.apart.allowance(wanted), several=several)
        return [self.estimator.classes_[row].tolist() for row in members]


def guarantee(
    estimator: Any, X: Any, y: Any, *, error: float = 0.02, confidence: float = CONFIDENCE
) -> Guarantee:
    """Return answers of a fitted classifier of which at most the share ``error`` is wrong.

    The rows ``X`` with the labels ``y`` must be drawn like those to be answered, and nothing may
    have been learned or chosen by them. A row is answered where the score of the predicted class
    leads that of the second by more than a threshold, the lowest for which the rows show that the
    error is at most ``error``. The rows show it wrongly with probability 1 − ``confidence`` at
    most, by the exact binomial bound, for all errors that you may ask for together. Where rows may
    have several labels, those predicted are given that score above the threshold, and an answer is
    wrong if one of them is.

    Parameters
    ----------
    estimator : fitted classifier or pipeline with ``decision_function`` and ``classes_``
    X, y : rows and labels that were not learned from
        Some hundred at least: 2 % takes 297 answers without a mistake. Several labels a row are an
        indicator, or for each row a collection of labels.
    error : number between 0 and 1
        Share of the answers that may be wrong.
    confidence : number between 0 and 1
        How surely it is not more.

    Returns
    -------
    Guarantee
        With ``predict``, ``predict_sets``, ``threshold``, ``coverage`` (the share answered),
        ``bound`` and ``curve``.

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt import AveragedPerceptron, guarantee
    >>> X = np.random.default_rng(0).normal(size=(3000, 2))
    >>> y = np.where(X.sum(axis=1) + X[:, 0] * X[:, 1] / 2 > 0, "yes", "no")
    >>> clf = AveragedPerceptron().fit(X[:1000], y[:1000])
    >>> sure = guarantee(clf, X[1000:], y[1000:], error=0.02)
    >>> sure.predict([[2, 1], [0.1, -0.1]], abstain="?")
    array(['yes', '?'], dtype='<U3')
    >>> sure.predict_sets([[2, 1], [0.1, -0.1]], error=0.01)
    [['yes'], ['no', 'yes']]
    >>> f"{sure.coverage:.0%} answered, {sure.bound:.1%} wrong at most"
    '70% answered, 1.7% wrong at most'
    """
    given = {"error": error, "confidence": confidence}
    check_parameters("guarantee", given, dict.fromkeys(given, SHARE))
    return Guarantee(estimator, _judged(estimator, X, y), error, confidence)


def _judged(estimator: Any, X: Any, y: Any) -> RowsApart:
    """Return how sure a classifier is of rows with these labels."""
    if not (y.shape[0] if hasattr(y, "shape") else len(y)):
        raise InputError(NO_ROWS)
    scores, guess = _scores(estimator, X), estimator.predict(X)
    classes = np.asarray(estimator.classes_)
    if np.ndim(guess) == 2:
        truth, measure = _truth(y, classes, len(scores)), _measure(estimator, scores)
        return RowsApart.of_labels(scores, _indicator(guess), truth, measure)
    labels = np.asarray(y)
    check_count(labels, len(scores))
    try:
        found = numbers_of(labels, classes)
    except TypeError:  # None among the labels, or labels of several kinds
        raise InputError("y must hold a label for each row, of the kind of classes_.") from None
    numbers = np.where(classes[found] == labels, found, -1)
    return RowsApart.of_scores(scores, numbers_of(np.asarray(guess), classes), numbers)


def _scores(estimator: Any, X: Any) -> NDArray[Any]:
    if not hasattr(estimator, "decision_function"):
        raise InputError(
            "A guarantee needs a fitted classifier with decision_function; got a "
            f"{type(estimator).__name__}."
        )
    return np.asarray(estimator.decision_function(X))


def _measure(estimator: Any, scores: NDArray[Any]) -> NDArray[Any]:
    """Return by what labels get into sets, for any classifier."""
    model = getattr(estimator, "model_", None)
    return set_measure(model, scores) if isinstance(model, Model) else scores


def _indicator(given: Any) -> NDArray[np.bool_]:
    """Return a dense or sparse indicator as an array."""
    found = np.asarray(given.toarray() if hasattr(given, "toarray") else given)
    if not np.isin(found, (0, 1)).all():
        raise InputError("An indicator must be 1 where a row has the label and 0 elsewhere.")
    return found.astype(bool)


def _truth(y: Any, classes: NDArray[Any], n_rows: int) -> NDArray[np.bool_]:
    """Return which row has which label, by an indicator or by lists, those not known last."""
    binary = (isinstance(row, list) and len(row) == len(classes) and {*row} <= {0, 1} for row in y)
    if getattr(y, "ndim", 1) == 2 or (isinstance(y, list) and all(binary)):
        truth, n_labels = _indicator(y), len(classes)
    else:
        if not all(isinstance(row, MANY) for row in y):
            raise InputError("y must hold a collection of labels for each row, or an indicator.")
        numbers = SetNumbers(classes.tolist())
        sets = numbers.sets([tuple(row) for row in y])
        n_labels = len(numbers.labels)
        truth = has_label(sets, np.arange(len(y)), n_labels)
    if truth.shape != (n_rows, n_labels):
        raise InputError(
            f"y must have the labels of {n_rows} rows, as lists or in {len(classes)} columns; got "
            f"shape {truth.shape}."
        )
    return truth

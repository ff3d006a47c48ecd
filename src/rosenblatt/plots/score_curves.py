"""Curves of a model's scores on rows with labels: ROC, precision and recall, coverage, reliability.

scikit-learn's displays of these curves have no operating point and keep no sentence.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.plots.display import Axes, Display, style_axes, titled
from rosenblatt.plots.palette import BLUE, FAINT, GREEN, VERMILION
from rosenblatt.plots.subject import rows_of_estimator
from rosenblatt.tasks.evaluation import wilson
from rosenblatt.tasks.leads import winner_leads
from rosenblatt.tasks.metrics import (
    CoverageCurve,
    Reliability,
    coverage_curve,
    precision_recall_curve,
    roc_auc,
)

LEVELS = (0.5, 0.9)  # coverages that the legend tells the error of
CURVE = {"color": BLUE, "linewidth": 2.0}
DASHED = {"color": FAINT, "linestyle": "--"}
MARK = {"linestyle": "none", "color": VERMILION, "markersize": 8, "zorder": 4}


class ThresholdDisplay(Display):
    """A curve of one class against the others, with a point for each threshold of its score."""

    operating_point: tuple[float, float] | None
    label: str
    title: str

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, class_: Any = None) -> Self:
        """Evaluate on the rows X with labels y, preferably not training rows.

        ``class_`` is the positive class, by its label; the second of two by default.
        """
        rows = rows_of_estimator(estimator, X, y)
        texts = [str(label) for label in rows.classes.tolist()]
        if class_ is None and len(texts) > 2:
            curve = "The curve is that of one class against the others"
            raise InputError(Sentence(f"{curve}; name it with {Parameter('class_')}."))
        if class_ is not None and str(class_) not in texts:
            raise InputError(f"The model knows no class {class_!r}; it knows {', '.join(texts)}.")
        number = 1 if class_ is None else texts.index(str(class_))
        scores = np.asarray(estimator.decision_function(X))
        one = scores[:, number] if scores.ndim == 2 else scores if number else -scores
        called = np.asarray(estimator.predict(X)) == rows.classes[number]
        names = {"label": texts[number], "title": type(estimator).__name__}
        return cls.from_scores(one, rows.numbers == number, called, **names)

    @classmethod
    @abstractmethod
    def from_scores(
        cls, scores: Any, positive: Any, called: Any = None, *, label: str = "", title: str = ""
    ) -> Self:
        """Draw from the score of each row and whether it is positive, and perhaps called so."""

    def _end(self, point: str, title: str) -> None:
        """Draw the operating point, and all that comes after the curve."""
        self.point_ = None
        if self.operating_point is not None:
            self.point_ = self._curve(*self.operating_point, point, marker="o", **MARK)
        self._finish(titled(self.title, title))


@dataclass
class RocDisplay(ThresholdDisplay):
    """Which share of a class is found, and which share of the other rows is called so.

    Attributes
    ----------
    found, false_alarms, threshold : arrays of shape (n_levels,)
        One point for each score that occurs, from the highest on.
    area : float
        The area under the curve: the chance that a row of the class scores above another row.
    operating_point : (false_alarms, found) or None
        Where the model predicts the class itself.
    line_, chance_, point_, legend_ : what ``plot`` drew
    """

    found: NDArray[Any]
    false_alarms: NDArray[Any]
    threshold: NDArray[Any]
    area: float
    operating_point: tuple[float, float] | None
    label: str
    n_rows: int
    title: str

    size = (7.6, 4.6)

    @classmethod
    def from_scores(
        cls, scores: Any, positive: Any, called: Any = None, *, label: str = "", title: str = ""
    ) -> Self:
        """Draw from the score of each row and whether it is positive, and perhaps called so.

        >>> from rosenblatt.plots import RocDisplay
        >>> display = RocDisplay.from_scores([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
        >>> display.found.tolist(), display.false_alarms.tolist(), display.area
        ([0.5, 0.5, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0], 0.75)
        """
        values, given = _by_row("scores", scores, "positive", positive)
        found, others = (precision_recall_curve(values, side) for side in (given, ~given))
        area = roc_auc(values, given)
        if found is None or others is None or area is None:
            which = "None" if found is None else "All"
            msg = f"{which} of {len(values):,} rows are of the class {label}; the curve needs both."
            raise InputError(msg)
        point = None
        if called is not None:
            calls = np.asarray(called, bool)
            point = float(calls[~given].mean()), float(calls[given].mean())
        curve = (found.recall, others.recall, found.threshold, area)
        return cls(*curve, point, label, len(values), title)

    def _sentence(self) -> str:
        return (
            f"a row of {self.label} scores above another row with probability {self.area:.3f} "
            f"(ROC AUC, {self.n_rows:,} rows)."
        )

    def _draw(self, ax: Axes) -> None:
        names = f"other rows that are called {self.label}", f"rows of {self.label} that are found"
        style_axes(ax, *names, grid=True, percent="xy")
        x, y = np.append(0.0, self.false_alarms), np.append(0.0, self.found)
        self.line_ = self._curve(x, y, f"ROC AUC {self.area:.3f}", **CURVE)
        self.chance_ = self._curve([0, 1], [0, 1], "by chance", **DASHED)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        alarms, found = self.operating_point or (0.0, 0.0)
        self._end(f"predicted: {found:.1%} found, {alarms:.1%} false alarms", "ROC curve")


@dataclass
class PrecisionRecallDisplay(ThresholdDisplay):
    """Which share of the rows that are called positive is so, and which share of them is found.

    Attributes
    ----------
    precision, recall, threshold : arrays of shape (n_levels,)
        One point for each score that occurs, from the highest on.
    average_precision : float
        The mean of the precision over the recall.
    share : float
        Share of the positive rows among all: the precision of calling every row positive.
    operating_point : (recall, precision) or None
        Where the model predicts the class itself: at a score of 0.
    line_, chance_, point_, legend_ : what ``plot`` drew
    """

    precision: NDArray[Any]
    recall: NDArray[Any]
    threshold: NDArray[Any]
    average_precision: float
    share: float
    operating_point: tuple[float, float] | None
    label: str
    n_rows: int
    title: str

    @classmethod
    def from_scores(
        cls, scores: Any, positive: Any, called: Any = None, *, label: str = "", title: str = ""
    ) -> Self:
        """Draw from the score of each row and whether it is positive, and perhaps called so."""
        values, given = _by_row("scores", scores, "positive", positive)
        curve = precision_recall_curve(values, given)
        if curve is None:
            msg = f"None of {len(values):,} rows is of the class {label}; the curve needs some."
            raise InputError(msg)
        point = None
        if called is not None and np.any(called):
            right = float(np.count_nonzero(given & called))
            point = right / np.count_nonzero(given), right / np.count_nonzero(called)
        share = float(given.mean())
        return cls(*curve, curve.average_precision, share, point, label, len(values), title)

    def _sentence(self) -> str:
        return (
            f"average precision {self.average_precision:.3f} for {self.label}, which "
            f"{self.share:.2%} of {self.n_rows:,} rows are."
        )

    def _draw(self, ax: Axes) -> None:
        style_axes(ax, f"recall of {self.label}", "precision", grid=True, percent="xy")
        x, y = np.append(0.0, self.recall), np.append(self.precision[0], self.precision)
        told = f"average precision {self.average_precision:.3f}"
        self.line_ = self._curve(x, y, told, drawstyle="steps-pre", **CURVE)
        self.chance_ = self._level(self.share, f"all rows: {self.share:.2%}")
        ax.set(xlim=(-0.01, 1.01), ylim=(0.0, 1.03))
        recall, precision = self.operating_point or (0.0, 0.0)
        told = f"predicted: {precision:.1%} right, {recall:.1%} found"
        self._end(told, "precision and recall")


@dataclass
class CoverageDisplay(Display):
    """Answer only where the model is sure: what share of the rows is answered, and how wrongly.

    A row's confidence is the vote margin of a voted perceptron, else the size of its score, or for
    more classes the lead of the best over the second. Rows of one confidence are taken together.

    Attributes
    ----------
    coverage : array of shape (n_levels,)
        Shares of the rows that are answered, rising to 1.
    error : array of shape (n_levels,)
        Share of the answered ones that are wrong.
    confidence : array of shape (n_levels,)
        The least confidence among the answered ones.
    promised : pair of arrays, or None
        Shares of the rows that a guarantee answers, and the error that it promises of each.
    line_, whole_, bound_, legend_ : what ``plot`` drew
    """

    coverage: NDArray[Any]
    error: NDArray[Any]
    confidence: NDArray[Any]
    measure: str
    n_rows: int
    title: str = ""
    promised: tuple[NDArray[Any], NDArray[Any]] | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """Evaluate on the rows X with labels y, preferably not training rows."""
        rows = rows_of_estimator(estimator, X, y)
        confidence, measure = _confidence(estimator, X)
        wrong = np.asarray(estimator.predict(X)) != np.asarray(estimator.classes_)[rows.numbers]
        title = type(estimator).__name__
        return cls.from_confidence(confidence, wrong, measure=measure, title=title)

    @classmethod
    def from_confidence(
        cls, confidence: Any, wrong: Any, *, measure: str = "confidence", title: str = ""
    ) -> Self:
        """Draw from each row's confidence and whether it is wrong."""
        sure, bad = _by_row("confidence", confidence, "wrong", wrong, some=True)
        curve = coverage_curve(sure, bad)
        return cls(curve.coverage, curve.error, curve.threshold, measure, len(sure), title)

    def error_at(self, coverage: float) -> float:
        """Return the error where at least this share of the rows is answered."""
        return CoverageCurve(self.coverage, self.error, self.confidence).error_at(coverage)

    def _sentence(self) -> str:
        return (
            f"{self.error[-1]:.2%} of {self.n_rows:,} rows are wrong; of the most certain half, "
            f"{self.error_at(0.5):.2%}."
        )

    def _draw(self, ax: Axes) -> None:
        style_axes(ax, "share of rows answered", "error", grid=True, percent="xy")
        told = f"most certain first, by {self.measure}"
        points = self.coverage, self.error
        self.line_ = self._curve(*points, told, drawstyle="steps-post", **CURVE)
        self.whole_ = self._level(self.error[-1], f"all rows: {self.error[-1]:.2%}")
        top = max(float(self.error[self.coverage >= 0.05].max(initial=0.0)), self.error[-1]) or 0.01
        if self.promised is not None:
            told, top = "at most this on new rows, promised", max(top, float(self.promised[1][-1]))
            self.bound_ = self._curve(*self.promised, told, color=GREEN, linewidth=1.5, marker=".")
        for level, marker in zip(LEVELS, ("o", "^"), strict=True):
            error = self.error_at(level)
            self._curve(level, error, f"{level:.0%} answered: {error:.2%}", marker=marker, **MARK)
        ax.set(xlim=(0, 1.01), ylim=(-0.03 * top, 1.15 * top))
        self._finish(titled(self.title, "error against coverage"))


@dataclass
class ReliabilityDisplay(Display):
    """Whether rows of which the model says 80 % are right 80 times in 100.

    Rows are put into ten equally wide ranges of the probability; empty ones are left out.

    Attributes
    ----------
    probability, share : arrays of shape (n_bins,)
        The mean probability of the rows of a range, and the share of them that came true.
    count : array of shape (n_bins,)
        Their number.
    brier : float
        The mean of (probability − outcome)², 0 at best.
    line_, diagonal_, legend_ : what ``plot`` drew
    """

    probability: NDArray[Any]
    share: NDArray[Any]
    count: NDArray[Any]
    brier: float
    what: str  # the event that the probability is of
    title: str

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """Evaluate on the rows X with labels y; the estimator needs probabilities.

        Of two classes the probability is that of the second one, of more that of the prediction.
        """
        rows = rows_of_estimator(estimator, X, y)
        reliability = Reliability(len(rows.classes))
        reliability.add(np.asarray(estimator.predict_proba(X)), rows.numbers)
        two = len(rows.classes) == 2
        what = f"a row is {rows.classes[1]}" if two else "the prediction is right"
        return cls.from_reliability(reliability, what=what, title=type(estimator).__name__)

    @classmethod
    def from_probabilities(
        cls, probability: Any, true: Any, *, what: str = "the prediction is right", title: str = ""
    ) -> Self:
        """Draw from each row's probability and whether the event came true.

        >>> from rosenblatt.plots import ReliabilityDisplay
        >>> display = ReliabilityDisplay.from_probabilities([0.25, 0.75, 0.75], [0, 1, 0])
        >>> display.probability.tolist(), display.share.tolist(), round(display.gap, 4)
        ([0.25, 0.75], [0.0, 0.5], 0.25)
        """
        p, hit = _by_row("probability", probability, "true", true, some=True)
        reliability = Reliability(2)
        reliability.add(np.column_stack([1.0 - p, p]), hit.astype(np.intp))
        return cls.from_reliability(reliability, what=what, title=title)

    @classmethod
    def from_reliability(
        cls, reliability: Reliability, *, what: str = "the prediction is right", title: str = ""
    ) -> Self:
        """Draw the reliability that an evaluation measured."""
        columns = zip(*reliability.bins, strict=True)
        _, _, mean, share, count = (np.array(column) for column in columns)
        return cls(mean, share, count, reliability.brier_score, what, title)

    @property
    def uncertainty(self) -> NDArray[Any]:
        """How far the 95 % interval of each share reaches below and above it, (2, n_bins)."""
        counts = zip((self.share * self.count).round(), self.count, strict=True)
        ends = np.array([wilson(int(hits), int(n)) or (0.0, 1.0) for hits, n in counts])
        return np.asarray(np.abs(ends.T - self.share))

    @property
    def gap(self) -> float:
        """How far probabilities are from shares on average, weighted by rows."""
        return float(np.average(np.abs(self.probability - self.share), weights=self.count))

    def _sentence(self) -> str:
        return (
            f"probabilities that {self.what} are {100 * self.gap:.1f} percentage points off on "
            f"average; Brier score {self.brier:.4f}."
        )

    def _draw(self, ax: Axes) -> None:
        names = f"probability that {self.what}", "share that came true"
        style_axes(ax, *names, grid=True, percent="xy")
        points, told = (self.probability, self.share), "rows of a range of ten points, 95% interval"
        self.diagonal_ = self._curve([0, 1], [0, 1], "perfectly reliable", **DASHED)
        look: Any = {"color": BLUE, "fmt": "o", "capsize": 3, "label": told}
        self.line_ = self._listed(ax.errorbar(*points, self.uncertainty, **look))
        self._handles.reverse()
        for p, share, n in zip(self.probability, self.share, self.count.tolist(), strict=True):
            place: Any = {
                "xytext": (6, -3 if p < 0.5 else -10),
                "textcoords": "offset points",
                "fontsize": 8,
            }
            ax.annotate(f"{n:,}", (p, share), color=FAINT, **place)
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        self._finish(titled(self.title, "reliability of the probabilities"))


def _by_row(
    name: str, values: Any, event: str, came: Any, *, some: bool = False
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a number and a truth value for each row; raise unless there is one of each."""
    numbers, events = np.asarray(values, np.float64), np.asarray(came, bool)
    if numbers.shape != events.shape or numbers.ndim != 1 or (some and not len(numbers)):
        shapes = f"{numbers.shape} and {events.shape}"
        raise InputError(f"{name} and {event} need one value per row; got {shapes}.")
    return numbers, events


def _confidence(estimator: Any, X: Any) -> tuple[NDArray[Any], str]:
    """Return the confidence of each row, and the name of the measure."""
    if (margin := getattr(estimator, "vote_margin", None)) is not None:
        return np.abs(np.asarray(margin(X))), "vote margin"
    if not hasattr(estimator, "decision_function"):
        msg = f"{type(estimator).__name__} has no decision_function, so its confidence is unknown."
        raise InputError(msg)
    scores = np.asarray(estimator.decision_function(X))
    measure = "size of the score" if scores.ndim == 1 else "lead of the best class"
    return winner_leads(scores), measure

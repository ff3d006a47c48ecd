"""What tasks share in which each row has one class: numbers, targets, winners and leads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.errors import InputError
from rosenblatt.kernels.counts import Log, empty_log
from rosenblatt.tasks.calibration import Calibration, fit_calibration, probabilities, vote_shares
from rosenblatt.tasks.certainty import Certainty, ClassCertainty
from rosenblatt.tasks.evaluation import Evaluation, Judged, interval
from rosenblatt.tasks.held_out_fits import HeldOutFits, Scored, TriedRows, Wanted
from rosenblatt.tasks.leads import (
    class_numbers,
    lead_over,
    numbers_of,
    ranks_of,
    targets_of,
    winner_leads,
    winners,
)
from rosenblatt.tasks.metrics import best_threshold, log_loss, measured
from rosenblatt.tasks.task import MANY, Answers, Lesson, Misjudged, Task
from rosenblatt.wording import counted, percent, printable, signed


@dataclass(frozen=True)
class SingleClass(Task):
    """Each row has one class."""

    def targets(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return class numbers as targets, as a pass reads them."""
        return targets_of(numbers, self.n_classes)

    def numbers(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Return targets as class numbers."""
        return class_numbers(targets, self.n_classes)

    def answers(
        self, scores: NDArray[Any], thresholds: NDArray[Any] | None = None, *, positive: bool
    ) -> NDArray[Any]:
        """Return the number of the class that each row is predicted to have."""
        return winners(scores, positive=positive)

    def labels_of(self, answers: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
        """Return the label of each answer."""
        found: NDArray[Any] = labels[answers]
        return found

    def check_labels(self, y: NDArray[Any], n_rows: int) -> None:
        """Raise InputError where there is not one label for each row."""
        check_count(y, n_rows)

    def form_of_y(self, answers: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
        """Return the label of each answer."""
        return self.labels_of(answers, labels)

    def read(self, met: Sequence[Any]) -> tuple[Sequence[Any], None]:
        """Return the labels, which are the classes."""
        return met, None

    def strata(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the class of each row."""
        return numbers

    def losses(
        self, scores: NDArray[Any], numbers: NDArray[Any], sets: Any, *, positive: bool
    ) -> NDArray[Any]:
        """Return which rows are predicted wrongly."""
        wrong: NDArray[Any] = winners(scores, positive=positive) != numbers
        return wrong

    def measure(
        self, metric: str, scores: NDArray[Any], numbers: NDArray[Any], sets: Any, *, positive: bool
    ) -> float:
        """Return a metric of the scores of rows."""
        return measured(metric, scores, numbers, winners(scores, positive=positive))

    def confidence(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the lead of the predicted class of each row."""
        return winner_leads(scores)

    def values(
        self, answers: NDArray[Any], classes: Sequence[Any], joint: str | None = None
    ) -> list[Any]:
        """Return the class of each row."""
        names: Sequence[Any] = classes if joint is None else [*map(str, classes)]
        return [names[number] for number in answers.tolist()]

    def sure(
        self, answers: NDArray[Any], scores: NDArray[Any], threshold: float
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the answers, and which of them lead by more than this."""
        return answers, winner_leads(scores) > threshold

    def most_frequent(self, training: Mapping[str, Any]) -> NDArray[Any]:
        """Return the most frequent class."""
        return np.array([np.argmax(training["class_counts"])])

    def one_answer(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the class of a row."""
        found: NDArray[Any] = numbers[0]
        return found

    def misjudged(self, judged: Judged, thresholds: NDArray[Any]) -> Misjudged:
        """Return rows of a class that is known and is not the one predicted."""
        truth, said = judged.truth, judged.answers
        wrong = np.flatnonzero((truth >= 0) & (truth < self.n_classes) & (said != truth))
        own, other, scores = truth[wrong], said[wrong], judged.scores[wrong]
        return Misjudged(wrong, lead_over(scores, own, other), own, other, scores, wrong)

    def class_numbers(self, judged: Judged) -> NDArray[Any]:
        """Return the class of each row of a batch, −1 for none."""
        return judged.truth

    def class_counts(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Return how many rows each class has."""
        return np.bincount(answers, minlength=self.n_classes)

    def wrong_rows(self, rows: str) -> str:
        """Return the words that head the error on rows."""
        return f"Error on {rows}"

    def error_on(self, rows: str) -> str:
        """Return the words for the error on rows, which stands apart."""
        return f"Error on {rows}"

    def tried_error(self, tried: TriedRows) -> float | None:
        """Return the error on held-out rows; None where none were."""
        return tried.error

    def tried_line(
        self, tried: TriedRows, counts: Sequence[int], classes: Sequence[Any], source: str
    ) -> str | None:
        """Return the error on held-out rows, and that of the most frequent class."""
        n_rows, error = tried.n_rows, tried.error
        if error is None:
            return None
        guess = int(np.argmax(counts))
        share, n_wrong = percent(1.0 - counts[guess] / sum(counts)), round(error * n_rows)
        return (
            f"Error on {counted(n_rows, 'held-out row')}{source}: {percent(error)} "
            f"({n_wrong:,} wrong), 95% interval {interval(n_wrong, n_rows)} "
            f"(always {printable(str(classes[guess]))}: {share})"
        )

    def nothing_held_out(self, why: str, *, tested: bool) -> str:
        """Return that the error is not known, unless other rows told it."""
        msg = f"No rows were held out{why}, so the error on new data is unknown."
        return "" if tested else msg

    def doubts(self, n: int, rows: str) -> str:
        """Return how many rows have a label that is probably wrong."""
        return (
            f"{n:,} of {rows} {'has' if n == 1 else 'have'} a label that is less probable than "
            "another"
        )

    def explained(self, thresholds: NDArray[Any], number: int) -> dict[str, Any]:
        """Return nothing: the terms say which class they are for."""
        return {}

    def decision_lines(self, told: Mapping[str, Any]) -> list[str]:
        """Return what is predicted by which score, vote and probability, and whether it is right.

        A vote is no sum of terms: what is explained is the average.
        """
        predicted, total = printable(str(told["predicted"])), signed(told["total"])
        what = "score" if self.flat else f"lead over {printable(str(told['negative']))}"
        if not self.flat and told["positive"] != told["predicted"]:
            what = f"{what} of {printable(str(told['positive']))}"
        basis, more = f"{what} {total}", []
        if "vote_margin" in told:
            voters, average = told["vectors_that_vote"], printable(str(told["average_predicts"]))
            basis = f"by vote of {counted(voters, 'weight vector')}, margin "
            basis += f"{told['vote_margin']:.3f}"
            more.append(
                "A vote is not a sum of contributions. The table is for the average weights, which "
                f"predict {average}, {what} {total}."
            )
        line, label = f"Row {told['row']:,}: {predicted}, {basis}", told["label"]
        if "probabilities" in told:
            line += f", probability {percent(told['probabilities'][str(told['predicted'])])}"
        if label is not None:
            right = "right" if label == told["predicted"] else "wrong"
            line += f". The label is {printable(str(label))}: {right}"
        return [f"{line}.", *more]

    def evaluation(self, classes: Sequence[Any]) -> Evaluation:
        """Return what counts how good predictions are."""
        return Evaluation(classes)

    def fit(
        self,
        tried: Scored,
        own: Scored,
        sets: Any,
        classes: Sequence[Any],
        wanted: Wanted,
    ) -> HeldOutFits:
        """Return the probabilities and the threshold that are asked for; and the confusion."""
        fitted = _fitted(*tried, wanted)
        found, (scores, numbers) = fitted.calibration, own
        at = 0.0 if found is None or not found.slope else -found.offset / found.slope
        at = at if fitted.threshold is None else fitted.threshold.value
        guess = scores > at if scores.ndim == 1 else self.answers(scores, positive=False)
        n = self.n_classes
        cells = np.bincount(numbers * n + guess, minlength=n * n)
        return fitted._replace(confusion=cells.reshape(n, n))

    def probabilities(
        self,
        calibration: Calibration | None,
        arrays: Mapping[str, NDArray[Any]],
        scores: NDArray[Any],
    ) -> NDArray[Any]:
        """Return the probability of each class on each row; of votes their shares."""
        return vote_shares(scores) if calibration is None else probabilities(calibration, scores)

    def truths(self, classes: Sequence[Any]) -> "TrueClasses":
        """Return what knows the classes of the rows of batches."""
        return TrueClasses(len(classes), self.confidence)

    def right(self, judged: Judged) -> NDArray[np.bool_]:
        """Return which of the rows that have a label are predicted rightly."""
        found: NDArray[np.bool_] = (judged.answers == judged.truth)[judged.truth >= 0]
        return found

    def fits(self, answer: Any) -> bool:
        """Return whether an answer is one label."""
        return not isinstance(answer, MANY)

    def members(self, answer: Any) -> tuple[Any]:
        """Return the label of an answer, the only one."""
        return (answer,)

    def joined(self, labels: Sequence[Any]) -> Any:
        """Return the first label."""
        return labels[0]

    def given(self, answer: Any) -> Any:
        """Return the label."""
        return answer

    def default(self, classes: Sequence[Any]) -> Any:
        """Return the only class, or None without one."""
        return next(iter(classes), None)

    def winners(self, classes: Sequence[Any]) -> Sequence[Any]:
        """Return the classes."""
        return classes

    def named(self, answers: NDArray[Any], classes: Sequence[Any]) -> list[Any]:
        """Return the class of each row."""
        return [classes[number] for number in answers.tolist()]

    def row_target(self, numbers: Sequence[int]) -> int:
        """Return the number of the class of one row."""
        return numbers[0]

    def row_targets(self, numbers: Sequence[Sequence[int]]) -> tuple[NDArray[Any], None]:
        """Return the classes of rows as targets."""
        return self.targets(np.array([number for (number,) in numbers], np.int32)), None

    def row_log(self) -> Log:
        """Return room for the step of one row."""
        return empty_log(1)

    def of_members(self, values: Any, answer: Any, numbers: Mapping[Any, int]) -> Any:
        """Return what is told of the class."""
        return values

    def told_probability(self, probabilities: Sequence[float]) -> float:
        """Return the probability of the class that is predicted."""
        return max(probabilities)

    def label_shown(self, answer: Any, scores: Any, classes: Sequence[Any], asked: Any) -> Any:
        """Return the class; raise InputError where one is asked for, for there is no choice."""
        if asked is not None:
            raise InputError(
                "label chooses one of several labels, and each row of this model has one: leave it."
            )
        return answer

    def opponents(
        self, classes: Sequence[Any], scores: Any, number: int
    ) -> tuple[Sequence[Any], Any, int]:
        """Return the classes, all of which are rivals."""
        return classes, scores, number

    def judged_fold(
        self, metric: str, judged: Judged, probabilities: Callable[[NDArray[Any]], NDArray[Any]]
    ) -> tuple[float, None]:
        """Return a metric of the rows of a fold."""
        if metric == "log-loss":
            return log_loss(probabilities(judged.scores), judged.truth), None
        return measured(metric, judged.scores, judged.truth, judged.answers), None

    def joint_probabilities(
        self, scores: NDArray[Any], numbers: NDArray[Any], sets: Any
    ) -> NDArray[Any]:
        """Return the probability of each class."""
        return probabilities(fit_calibration(scores, numbers), scores)

    def doubted(
        self, classes: Sequence[Any], numbers: NDArray[Any], sets: Any, shares: NDArray[Any]
    ) -> list[tuple[int, Any, Any, float]]:
        """Return rows of which another class is more probable than their own."""
        own, guess = shares[np.arange(len(numbers)), numbers], shares.argmax(axis=1)
        found = np.flatnonzero(shares.max(axis=1) > own).tolist()
        return [(k, classes[numbers[k]], classes[guess[k]], float(own[k])) for k in found]

    apart: ClassVar[type[Certainty]] = ClassCertainty

    def certainty(
        self, scores: Any, answers: NDArray[Any], truth: NDArray[Any], measure: NDArray[Any]
    ) -> ClassCertainty:
        """Return by how much rows lead, and by how much the true class is behind."""
        given = truth >= 0
        return ClassCertainty.of(scores[given], answers[given], truth[given])

    def of_arrays(
        self, guess: Any, y: Any, classes: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the numbers of predicted and of true classes; unknown ones behind all others."""
        labels, predicted = np.asarray(y), np.asarray(guess)
        check_count(labels, len(predicted))
        try:
            found = numbers_of(labels, classes)
        except TypeError:  # None among the labels, or labels of several kinds
            raise InputError("y must hold a label for each row, of the kind of classes_.") from None
        numbers = np.where(classes[found] == labels, found, len(classes))
        return numbers_of(predicted, classes), numbers


def _fitted(scores: NDArray[Any], numbers: NDArray[Any], wanted: Wanted) -> HeldOutFits:
    if wanted.threshold is not None:
        found = fit_calibration(scores, numbers) if wanted.calibrate else None
        return HeldOutFits(found, best_threshold(scores, numbers, wanted.threshold))
    if not wanted.calibrate:
        return HeldOutFits()
    moves = scores.ndim == 1 and wanted.moves
    # Where no bias can move, one half is at 0.
    found = fit_calibration(scores, numbers, "sigmoid" if moves else "temperature")
    if not found.offset or not found.slope:
        return HeldOutFits(found)
    guess = scores > -found.offset / found.slope
    return HeldOutFits(found, error=float(np.mean(guess != (numbers == 1))))


@dataclass(frozen=True)
class TrueClasses:
    """The classes of rows as they stand in batches, those that a model knows first."""

    n_known: int
    confidence: Answers  # how sure answers are

    def judged(self, batch: Batch, scores: NDArray[Any], answers: Answers) -> Judged:
        """Return the rows of a batch with what is said of them by their scores."""
        said = answers(scores), scores, batch.classes
        return Judged(batch, batch.labels, *said, confidence=self.confidence(scores))

    def known(self, batch: Batch) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Return which rows are of a known class, and their classes."""
        rows = (batch.labels >= 0) & (batch.labels < self.n_known)
        return rows, batch.labels[rows]

    def labels(self, met: Any) -> Sequence[Any]:
        """Return the class."""
        return (met,)

    def lesson(self, batch: Batch, classes: Sequence[Any], answers: NDArray[Any]) -> Lesson:
        """Return how well rows are predicted; their classes are numbered as they first come."""
        code = {label: k for k, label in enumerate(batch.classes)}
        guess = np.array([code[label] for label in classes])[answers]
        n_wrong = int(np.count_nonzero(guess != batch.labels))
        given, predicted = (batch.classes[side[-1]] for side in (batch.labels, guess))
        new = batch.classes[len(classes) : batch.labels.max() + 1]
        return Lesson(n_wrong, given, predicted, new)

    def targets(self, batch: Batch, classes: Sequence[Any]) -> tuple[NDArray[Any], None]:
        """Return rows as targets of a model of these classes."""
        n_classes = len(classes)
        ranks = ranks_of(batch.classes[:n_classes], classes)
        return targets_of(ranks[batch.labels], n_classes), None


def check_count(y: NDArray[Any], n_rows: int) -> None:
    """Raise InputError where there is not one label for each row."""
    if y.shape != (n_rows,):
        raise InputError(f"y must have one label per row, {n_rows} in all; got shape {y.shape}.")

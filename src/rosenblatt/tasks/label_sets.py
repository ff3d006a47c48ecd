"""Sets of labels: a row has any number of them, and each label has a weight vector of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import SetNumbers
from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.counts import NO_LOG, Counts, Log
from rosenblatt.kernels.multilabel import (
    NO_LINES,
    NO_MARKS,
    UPDATED,
    WRONG,
    SetTargets,
    Workspace,
    each_label_pass,
    second_order_label_pass,
)
from rosenblatt.kernels.shapes import take
from rosenblatt.mistakes.threads import run_in_parts
from rosenblatt.rules import Rule
from rosenblatt.tasks.calibration import (
    Calibration,
    fit_joint_calibration,
    fit_label_calibration,
    label_probabilities,
)
from rosenblatt.tasks.certainty import Certainty, LabelCertainty, indicator
from rosenblatt.tasks.decision_graph import DecisionGraph, of_label_sets
from rosenblatt.tasks.evaluation import Judged, LabelEvaluation, exact_rows, label_figures
from rosenblatt.tasks.held_out_fits import HeldOutFits, Scored, TriedRows, Wanted
from rosenblatt.tasks.label_thresholds import (
    THRESHOLDS,
    fitted_thresholds,
    predicted_labels,
    unfitted,
)
from rosenblatt.tasks.task import (
    MANY,
    Answers,
    Call,
    Lesson,
    Misjudged,
    Part,
    Task,
    Vectors,
    or_empty,
)
from rosenblatt.wording import counted, printable, signed, word_list

Sets = tuple[NDArray[Any], NDArray[Any]]  # labels, set after set, and where each begins
LABEL_LIMIT = 0.3  # C of PA-I: most labels are rare, and one noisy row should not move them far
SIGMOIDS = "label_sigmoids"  # the array of slopes and offsets of their probabilities
LISTED = ", "  # between the labels of a row that is shown
MOST_PARTS = 8  # of labels that are learned side by side
MANY_PRODUCTS = 1 << 22  # of values and labels, from which on they are
LABELS_APART = 128  # at least, where there are more than two parts
METRICS_OF_FOLDS: dict[str, Callable[[LabelEvaluation], float | None]] = {
    "error": lambda found: found.error,
    "f1": lambda found: found.macro["f1"],
}
SCORED_ROWS = 1 << 12  # at a time
SCORES_AT_ONCE = 1 << 20  # that are ranked together


@dataclass(frozen=True)
class LabelSets(Task):
    """Each row has a set of labels; each label is a two-class problem over the same row."""

    name: ClassVar[str] = "each"
    noun: ClassVar[str] = "label"
    nouns: ClassVar[str] = "labels"
    gives: ClassVar[str] = "any number of"
    column: ClassVar[str] = "labels"
    always_chosen: ClassVar[Sequence[str]] = ("the thresholds",)
    fewest: ClassVar[int] = 1
    estimator: ClassVar[str] = "MultilabelClassifier"
    # The first vectors have met few of the rows that have a rare label: without them six passes do
    # what ten do with them. It is the suffix average of Rakhlin, Shamir & Sridharan, "Making
    # gradient descent optimal for strongly convex stochastic optimization", ICML 2012.
    passes_of_averages: ClassVar[int] = 6
    passes_before_averages: ClassVar[int] = 3

    def check(self, *, memory: str, rule: str) -> None:
        """Raise InputError for a memory or a rule that sets of labels cannot have."""
        if memory == "vote":
            self.refuse(Parameter("memory", "vote"))

    loss_title: ClassVar[str] = "labels not ranked first"
    races: ClassVar[bool] = False
    judged_at_all: ClassVar[bool] = False  # 300 labels take as long to judge as to learn
    needs_held_out: ClassVar[bool] = True  # thresholds
    fitted_arrays: ClassVar[tuple[str, ...]] = (THRESHOLDS, SIGMOIDS)
    contrasts: ClassVar[bool] = False
    joint: ClassVar[bool] = False

    def check_source(self, label_separator: str) -> None:
        """Raise InputError where files do not separate labels."""
        if not label_separator:
            raise InputError(
                f"{Parameter('goal', self.name)} is for rows with several labels; say what stands "
                f"between them with {Parameter('label_separator')}."
            )

    def refuse(self, parameter: Parameter | str) -> None:
        """Raise InputError for a parameter that rows with several labels cannot have."""
        raise several_labels(parameter)

    def rows_within(self, most_scores: int) -> int:
        """Return of how many rows at most so many scores are looked at."""
        return most_scores // max(self.n_classes, 1)

    def check_one_class(self, name: str) -> None:
        """Raise InputError: a row has any number of labels."""
        raise InputError(
            f"{name} gives a row any number of labels, and this needs exactly one: "
            "Model.of_label makes a model of it, which tells rows with it from the others."
        )

    def usual_values(self, rule: str) -> dict[str, float]:
        """Return the parameters of a rule that have another default for this task."""
        return {"C": LABEL_LIMIT} if rule == "pa1" else {}

    def targets(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of sets, which a pass reads as they are."""
        return numbers

    def numbers(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Return targets as the numbers of sets."""
        return targets

    def room_for_sets(self) -> Sets:
        """Return room for the labels of one row and where they end."""
        return np.empty(self.n_classes, np.int32), np.zeros(2, np.int64)

    def kernel_call(
        self, state: Vectors, part: Part, order: NDArray[Any], rule: Rule, zero: int, log: Log
    ) -> Call:
        """Return the kernel of a pass over all labels, and its arguments."""
        return self._call(state, part, order, rule, zero, self._workspace(state))

    def run_pass(
        self, state: Vectors, part: Part, order: NDArray[Any], rule: Rule, zero: int
    ) -> Counts:
        """Change the weights by one visit to each row, parts of the labels side by side.

        None depends on another. In how many parts depends on rows and labels alone.
        """
        n_parts = self._n_parts(part, order)
        if n_parts == 1:
            return super().run_pass(state, part, order, rule, zero)
        marks, losses = np.zeros((n_parts, len(order)), np.uint8), np.zeros(n_parts)
        bounds = [self.n_classes * number // n_parts for number in range(n_parts + 1)]

        def learn(begin: int, end: int) -> None:
            for number in range(begin, end):
                room = self._workspace(state, bounds[number], bounds[number + 1], marks[number])
                kernel, arguments = self._call(state, part, order, rule, zero, room)
                losses[number] = kernel(*arguments).loss

        run_in_parts(learn, n_parts, least=1)
        of_rows = np.bitwise_or.reduce(marks, axis=0)
        n_wrong, n_moved = (np.count_nonzero(of_rows & mark) for mark in (WRONG, UPDATED))
        return Counts(int(n_wrong), int(n_moved), float(losses.sum()))

    def lines_of_a_row(self) -> int:
        """Return how many lines a row adds to a log at most: one for each label that it moves."""
        return self.n_classes

    def logged_pass(
        self, state: Vectors, part: Part, order: NDArray[Any], rule: Rule, zero: int, log: Log
    ) -> tuple[Counts, int]:
        """Do what ``run_pass`` does; write the updates, and return how many lines they take."""
        n_lines = np.zeros(1, np.int64)
        room = self._workspace(state, log=log, n_lines=n_lines)
        kernel, arguments = self._call(state, part, order, rule, zero, room)
        return kernel(*arguments), int(n_lines[0])

    def tried_loss(self, state: Any, parts: Any, zero: int, average: Any) -> float:
        """Return the sum over held-out rows of the share of labels that is not ranked first."""
        total = 0.0
        for part in parts:
            for start in range(0, len(part.order), SCORED_ROWS):
                order = part.order[start : start + SCORED_ROWS]
                scores = state.scores(take(part.rows, order), lasting=False)
                total += float(label_losses(scores, part.sets, part.targets[order]).sum())
        return total

    def answers(
        self, scores: NDArray[Any], thresholds: NDArray[Any] | None = None, *, positive: bool
    ) -> NDArray[np.bool_]:
        """Return which row has which label: by default where its score is above 0."""
        if thresholds is None:
            thresholds = unfitted(self.n_classes)
        return predicted_labels(scores, thresholds, positive=positive)

    def labels_of(self, answers: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
        """Return the labels of each row as a tuple, in an array of objects."""
        found = np.empty(len(answers), object)
        found[:] = [tuple(labels[row].tolist()) for row in answers]
        return found

    def known(self, classes: Sequence[Any]) -> Sequence[Any]:
        """Return nothing: rows have sets of labels, in the order in which they come."""
        return ()

    def check_labels(self, y: NDArray[Any], n_rows: int) -> None:
        """Take y as it is: its shape is that of predictions, or it is refused with them."""

    def form_of_y(self, answers: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
        """Return the indicator."""
        return answers

    def read(self, met: Sequence[Any]) -> tuple[Sequence[Any], Sets]:
        """Return the labels in sets of them, and the sets by the numbers of labels."""
        numbers = SetNumbers(())
        sets = numbers.sets(met)
        return numbers.labels, sets

    def check_rival(self) -> None:
        """Raise InputError: a label has no rival."""
        raise InputError("Of several labels a row may have, one is explained, against no other.")

    scores_say: ClassVar[str] = (
        "labels: which row has which; scores: one for each label, above its threshold."
    )

    def decision_graph(
        self, thresholds: NDArray[Any], *, positive: bool, integer: int
    ) -> DecisionGraph:
        """Return the nodes of a graph that predicts."""
        return of_label_sets(thresholds, positive=positive, integer=integer)

    def sides(
        self, scores: Sequence[float], winner: int | None, rival: int | None
    ) -> tuple[int, None]:
        """Return the number of the label that is explained, by default the best."""
        return int(np.argmax(scores)) if winner is None else winner, None

    def strata(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return one kind for all rows: few have the same set."""
        return np.zeros_like(numbers)

    def losses(
        self, scores: NDArray[Any], numbers: NDArray[Any], sets: Any, *, positive: bool
    ) -> NDArray[Any]:
        """Return the share of the labels of each row that is not ranked first."""
        return label_losses(scores, sets, numbers)

    def measure(
        self, metric: str, scores: NDArray[Any], numbers: NDArray[Any], sets: Any, *, positive: bool
    ) -> float:
        """Return the mean of the losses, which is the only metric of the order of labels."""
        return float(label_losses(scores, sets, numbers).mean())

    def confidence(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the score of each label."""
        return scores

    def values(
        self, answers: NDArray[Any], classes: Sequence[Any], joint: str | None = None
    ) -> list[Any]:
        """Return the labels of each row."""
        sets = self.labels_of(answers, np.array(classes, object)).tolist()
        if joint is None:
            return [list(one) for one in sets]
        return [joint.join(map(str, one)) for one in sets]

    def sure(
        self, answers: NDArray[Any], scores: NDArray[Any], threshold: float
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the labels that score above this, and which rows have one."""
        found: NDArray[np.bool_] = answers & (scores > threshold)
        given: NDArray[np.bool_] = np.any(found, axis=1)
        return found, given

    def most_frequent(self, training: Mapping[str, Any]) -> NDArray[Any]:
        """Return the most frequent labels, about as many as a row has."""
        counts = training["class_counts"]
        n_said = max(1, round(sum(counts) / training["n_rows"]))
        return np.argsort(-np.asarray(counts), kind="stable")[:n_said]

    def one_answer(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return which labels a row has."""
        return np.isin(np.arange(self.n_classes), numbers)

    def misjudged(self, judged: Judged, thresholds: NDArray[Any]) -> Misjudged:
        """Return rows with a label on the wrong side of its threshold: the one furthest away.

        Below it is what is said all the same, the best label of a row that has no other.
        """
        said, lead = judged.answers, judged.scores - thresholds[:-1]  # of having it over not
        truth = judged.truth[:, : self.n_classes]
        leads = np.where(truth == said, -np.inf, np.where(said, lead, -lead))
        of, every = leads.argmax(axis=1), np.arange(len(leads))
        wrong = np.flatnonzero(leads[every, of] >= 0.0)
        at, rows = (wrong, of[wrong]), np.flatnonzero(judged.rows)[wrong]
        sides = truth[at].astype(int), said[at].astype(int), lead[at]
        return Misjudged(rows, leads[at], *sides, of[wrong])

    def class_numbers(self, judged: Judged) -> NDArray[Any]:
        """Return −1 for each row of a batch: none is of exactly one label."""
        return np.full(judged.batch.n_rows, -1)

    def class_counts(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Return how many rows have each label."""
        found: NDArray[Any] = answers.sum(axis=0)
        return found

    def n_counted(self, training: Mapping[str, Any]) -> int:
        """Return the number of rows: a row counts for each label that it has."""
        return int(training["n_rows"])

    def listed_by(self, training: Mapping[str, Any]) -> Sequence[int] | None:
        """Return how many rows have each label: few of many labels matter to most."""
        return training.get("class_counts")

    def learner_of_others(self, learner: Any, each: Callable[[Any], Any]) -> Any:
        """Return a learner of each label."""
        return each(learner)

    def wrong_rows(self, rows: str) -> str:
        """Return the words that head the share of rows whose labels are not exactly right."""
        return f"{rows.capitalize()} without exactly their labels"

    def error_on(self, rows: str) -> str:
        """Return the words for the error on rows, which stands apart."""
        return f"Error, the share without exactly their labels, of {rows}"

    def tried_error(self, tried: TriedRows) -> float | None:
        """Return the share of held-out rows whose labels are not exactly right; None: none were."""
        return None if tried.figures is None else 1.0 - tried.figures["exact_match"]

    def tried_line(
        self, tried: TriedRows, counts: Sequence[int], classes: Sequence[Any], source: str
    ) -> str | None:
        """Return the figures of held-out rows."""
        figures = tried.figures
        if figures is None:
            return None
        return f"On {counted(figures['rows'], 'held-out row')}{source}: {label_figures(figures)}."

    def nothing_held_out(self, why: str, *, tested: bool) -> str:
        """Return that no thresholds were chosen."""
        return f"No rows were held out{why}, so all thresholds are 0."

    def doubts(self, n: int, rows: str) -> str:
        """Return how many labels are probably wrong or missing."""
        are = "is" if n == 1 else "are"
        return f"{counted(n, 'label')} of {rows} {are} probably wrong or missing"

    def explained(self, thresholds: NDArray[Any], number: int) -> dict[str, Any]:
        """Return the score above which the label that is explained is predicted."""
        return {"threshold": float(thresholds[number])}

    def decision_lines(self, told: Mapping[str, Any]) -> list[str]:
        """Return which labels are predicted, which are true, and by what score one of them is."""
        lines = [f"Row {told['row']:,}: {_listed(told['predicted'], 'no label')}."]
        if told["label"] is not None:
            lines.append(f"Its labels are {_listed(told['label'], 'none')}.")
        lines.append(
            f"The score of {printable(str(told['positive']))} is {signed(told['total'])}; it is "
            f"predicted above {signed(told['threshold'])}."
        )
        return lines

    def evaluation(self, classes: Sequence[Any]) -> LabelEvaluation:
        """Return what counts how good predictions are."""
        return LabelEvaluation(classes)

    def truths(self, classes: Sequence[Any]) -> "TrueSets":
        """Return what knows the labels of the rows of batches."""
        return TrueSets(classes)

    def right(self, judged: Judged) -> NDArray[np.bool_]:
        """Return which rows are said to have exactly their labels."""
        return exact_rows(judged.truth, judged.answers)

    def fit(
        self,
        tried: Scored,
        own: Scored,
        sets: Any,
        classes: Sequence[Any],
        wanted: Wanted,
    ) -> HeldOutFits:
        """Return thresholds of labels, and how good they are on these rows, which chose them."""
        scores, numbers = tried
        truth = has_label(sets, numbers, self.n_classes)
        found, calibration = label_arrays(scores, truth, calibrate=wanted.calibrate)
        judged = LabelEvaluation(classes)
        judged.add(
            truth, predicted_labels(scores, found[THRESHOLDS], positive=wanted.positive), scores
        )
        return HeldOutFits(calibration, arrays=found, figures=judged.figures())

    def probabilities(
        self,
        calibration: Calibration | None,
        arrays: Mapping[str, NDArray[Any]],
        scores: NDArray[Any],
    ) -> NDArray[Any]:
        """Return the probability of each label of each row, each by itself."""
        return label_probabilities(arrays[SIGMOIDS], scores)

    form: ClassVar[str] = "a list of labels"
    too_few: ClassVar[str] = "no label"
    other_form: ClassVar[str] = "rows may have several labels; give a set, list or tuple of them"

    def fits(self, answer: Any) -> bool:
        """Return whether an answer is a collection of labels."""
        return isinstance(answer, MANY)

    def members(self, answer: Any) -> Sequence[Any]:
        """Return the labels of an answer, in their order."""
        return tuple(answer)

    def joined(self, labels: Sequence[Any]) -> tuple[Any, ...]:
        """Return different labels as NumPy sorts them."""
        return tuple(sorted(dict.fromkeys(labels)))

    def given(self, answer: Any) -> set[Any]:
        """Return the labels as a set."""
        return {*answer}

    def default(self, classes: Sequence[Any]) -> tuple[()]:
        """Return no label."""
        return ()

    def winners(self, classes: Sequence[Any]) -> tuple[()]:
        """Return nothing: one number does not say which labels a row has."""
        return ()

    def named(self, answers: NDArray[Any], classes: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the labels of each row."""
        return [tuple(classes[k] for k in np.flatnonzero(row).tolist()) for row in answers]

    def row_target(self, numbers: Sequence[int]) -> Sequence[int]:
        """Return the numbers of the labels of one row."""
        return numbers

    def row_targets(self, numbers: Sequence[Sequence[int]]) -> tuple[NDArray[Any], Sets]:
        """Return the numbers of sets, one for each row, and the sets."""
        every = np.array([number for row in numbers for number in row], np.int32)
        ends = np.cumsum([0, *map(len, numbers)])
        return np.arange(len(numbers), dtype=np.int32), (every, ends)

    def row_log(self) -> None:
        """Return None: each label has a step of its own."""

    def of_members(self, values: Any, answer: Any, numbers: Mapping[Any, int]) -> list[Any]:
        """Return what is told of each label that is predicted."""
        return [values[numbers[label]] for label in answer]

    def told_probability(self, probabilities: Sequence[float]) -> Sequence[float]:
        """Return the probability of each label."""
        return probabilities

    def label_shown(self, answer: Any, scores: Any, classes: Sequence[Any], asked: Any) -> Any:
        """Return the label that is asked for, or the one of the highest score."""
        return classes[int(np.argmax(scores))] if asked is None else asked

    def opponents(
        self, classes: Sequence[Any], scores: Any, number: int
    ) -> tuple[Sequence[Any], Any, int]:
        """Return one label against nothing."""
        return [None, classes[number]], scores[number], 1

    fewest_tried: ClassVar[int] = 1_000  # each row tells more, and takes longer
    tries_usual: ClassVar[bool] = True
    by_kernels: ClassVar[bool] = False

    def check_metric(self, metric: str, *, searched: bool) -> None:
        """Raise InputError for metrics of one label a row; a search goes by the losses alone."""
        if metric not in (("error",) if searched else METRICS_OF_FOLDS):
            self.refuse(Parameter("metric", metric))

    def judged_fold(
        self, metric: str, judged: Judged, probabilities: Callable[[NDArray[Any]], NDArray[Any]]
    ) -> tuple[float, dict[str, Any]]:
        """Return a metric of the rows of a fold, and all figures of them."""
        own = LabelEvaluation(judged.labels)
        own.add(judged.truth, judged.answers, judged.scores)
        return METRICS_OF_FOLDS[metric](own) or 0.0, own.figures()

    def joint_probabilities(
        self, scores: NDArray[Any], numbers: NDArray[Any], sets: Any
    ) -> NDArray[Any]:
        """Return the probability of each label, by one sigmoid for all of them.

        A label that few rows have would take its own from chance.
        """
        joint = fit_joint_calibration(scores, has_label(sets, numbers, self.n_classes))
        return label_probabilities(np.array([joint.slope, joint.offset]), scores)

    def doubted(
        self, classes: Sequence[Any], numbers: NDArray[Any], sets: Any, shares: NDArray[Any]
    ) -> list[tuple[int, Any, Any, float]]:
        """Return rows, once for each label that they should probably not have, or probably lack."""
        given = has_label(sets, numbers, len(classes))
        labels, own = self.named(given, classes), np.where(given, shares, 1.0 - shares)
        return [
            (k, labels[k], f"{'remove' if given[k, j] else 'add'} {classes[j]}", float(own[k, j]))
            for k, j in np.argwhere(own < 0.5).tolist()
        ]

    apart: ClassVar[type[Certainty]] = LabelCertainty

    def certainty(
        self, scores: Any, answers: NDArray[Any], truth: NDArray[Any], measure: NDArray[Any]
    ) -> LabelCertainty:
        """Return how high labels score, those that are said and those that are wrong."""
        return LabelCertainty.of(scores, answers, truth, measure)

    def set_measure(
        self, scores: NDArray[Any], probabilities: Callable[[NDArray[Any]], NDArray[Any]] | None
    ) -> NDArray[Any]:
        """Return the probabilities of labels where they were fitted, else their scores.

        Of 302 tags of packages, sets that miss a tenth of the rows had 57 tags by the
        probabilities, 180 by the scores.
        """
        return scores if probabilities is None else probabilities(scores)

    def of_arrays(
        self, guess: Any, y: Any, classes: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return which row is said to have which label, and has it; those not known last."""
        said, n_labels = indicator(guess), len(classes)
        full = (isinstance(row, list) and len(row) == n_labels and {*row} <= {0, 1} for row in y)
        if getattr(y, "ndim", 1) == 2 or (isinstance(y, list) and all(full)):
            truth = indicator(y)
        else:
            if not all(isinstance(row, MANY) for row in y):
                raise InputError(
                    "y must hold a collection of labels for each row, or an indicator."
                )
            numbers = SetNumbers(classes.tolist())
            sets = numbers.sets([tuple(row) for row in y])
            n_labels = len(numbers.labels)
            truth = has_label(sets, np.arange(len(y)), n_labels)
        if truth.shape != (len(said), n_labels):
            raise InputError(
                f"y must have the labels of {len(said)} rows, as lists or in {len(classes)} "
                f"columns; got shape {truth.shape}."
            )
        return said, truth

    def _call(
        self,
        state: Vectors,
        part: Part,
        order: NDArray[Any],
        rule: Any,
        zero: int,
        room: Workspace,
    ) -> Call:
        w, u = state.weights, or_empty(state.ledger, 2)
        given = (part.rows, _set_targets(part), or_empty(part.weight), order, rule)
        if state.variance is not None:
            kept = (w, state.variance, u)
            return second_order_label_pass, (*given, rule.target, zero, room, kept, state.count)
        return self._visit, (*given, zero, room, w, u, state.count)

    @property
    def _visit(self) -> Any:
        """The pass of first-order rules."""
        return each_label_pass

    def _n_parts(self, part: Part, order: NDArray[Any]) -> int:
        rows, n_labels = part.rows, self.n_classes
        n_values = rows.n_values // max(rows.shape[0], 1) * len(order)
        if n_labels < 2 or n_values * n_labels < MANY_PRODUCTS:
            return 1
        return min(max(n_labels // LABELS_APART, 2), MOST_PARTS)

    def _workspace(
        self,
        state: Vectors,
        first: int = 0,
        end: int | None = None,
        marks: NDArray[Any] = NO_MARKS,
        log: Log = NO_LOG,
        n_lines: NDArray[Any] = NO_LINES,
    ) -> Workspace:
        """Return room for a pass over successive labels, by default all."""
        n_labels = (self.n_classes if end is None else end) - first
        activations, sides, steps = np.empty((3, n_labels))
        rooms = np.empty(n_labels, np.int64), np.empty(state.n_features + 1)
        return Workspace(activations, sides, steps, *rooms, marks, log, n_lines, first)


def label_arrays(
    scores: NDArray[Any], truth: NDArray[np.bool_], *, thresholds: bool = True, calibrate: bool
) -> tuple[dict[str, NDArray[Any]], Calibration | None]:
    """Return what held-out rows with several labels fit: thresholds, and probabilities if asked."""
    found = {THRESHOLDS: fitted_thresholds(scores, truth)} if thresholds else {}
    if not calibrate:
        return found, None
    calibration, found[SIGMOIDS] = fit_label_calibration(scores, truth)
    return found, calibration


class TrueSets:
    """The labels of rows, numbered as they come: those that a model knows first."""

    def __init__(self, classes: Sequence[Any]) -> None:
        self._numbers, self._n_known = SetNumbers(classes), len(classes)

    def judged(self, batch: Batch, scores: NDArray[Any], answers: Answers) -> Judged:
        """Return the labelled rows of a batch with what is said of them by their scores."""
        sets, given = self._numbers.sets(batch.classes), batch.labels >= 0
        labels = self._numbers.labels
        truth, scores = has_label(sets, batch.labels[given], len(labels)), scores[given]
        return Judged(batch, truth, answers(scores), scores, labels, given)

    def known(self, batch: Batch) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Return which rows are labelled, and which of the known labels each has."""
        sets, given = self._numbers.sets(batch.classes), batch.labels >= 0
        truth = has_label(sets, batch.labels[given], len(self._numbers.labels))
        return given, truth[:, : self._n_known]

    def labels(self, met: Any) -> Sequence[Any]:
        """Return the labels in a set, as the model has them."""
        return self._numbers.found(met)

    def lesson(self, batch: Batch, classes: Sequence[Any], answers: NDArray[Any]) -> Lesson:
        """Return how well rows are predicted: wrong is one unless all of its labels are right."""
        members = self._numbers.sets(batch.classes)
        names = self._numbers.labels
        truth = has_label(members, batch.labels, len(names))
        known = np.isin(np.array(names), np.array(classes))
        places = {label: k for k, label in enumerate(names)}
        own = truth[:, [places[label] for label in classes]]
        wrong = (own != answers).any(axis=1) | truth[:, ~known].any(axis=1)
        said = [label for label, is_said in zip(classes, answers[-1], strict=True) if is_said]
        given = self.labels(batch.classes[batch.labels[-1]])
        new = [names[k] for k in np.flatnonzero(truth.any(axis=0) & ~known).tolist()]
        shown = [LISTED.join(map(str, labels)) for labels in (given, said)]
        return Lesson(int(wrong.sum()), shown[0], shown[1], sorted(new))

    def targets(self, batch: Batch, classes: Sequence[Any]) -> tuple[NDArray[Any], Sets]:
        """Return rows as targets of a model of these classes, and the sets that they stand for."""
        members, ends = self._numbers.sets(batch.classes)
        places = np.searchsorted(np.array(classes), np.array(self._numbers.labels))
        return batch.labels, (places.astype(np.int32)[members], ends)


def _listed(labels: Sequence[Any], none: str) -> str:
    """Return labels as words, or what stands for no label."""
    return printable(word_list(map(str, labels)) or none)


def several_labels(parameter: Parameter | str) -> InputError:
    """Return the error for a parameter that rows with several labels cannot have."""
    return InputError(f"{parameter} is not available where a row may have several labels.")


def _set_targets(part: Part) -> SetTargets:
    if part.sets is None:
        raise RuntimeError("Rows of label sets need the sets that their targets stand for.")
    return SetTargets(part.targets, *part.sets)


def has_label(sets: Sets, numbers: NDArray[Any], n_labels: int) -> NDArray[np.bool_]:
    """Return which row has which label, by the number of its set of them."""
    members, ends = sets
    found = np.zeros((len(numbers), n_labels), bool)
    lengths = np.diff(ends)[numbers]
    first = np.repeat(ends[numbers] - np.cumsum(lengths) + lengths, lengths)
    found[np.repeat(np.arange(len(numbers)), lengths), members[first + np.arange(len(first))]] = (
        True
    )
    return found


def has_one(sets: Sets, numbers: NDArray[Any], label: int) -> NDArray[np.bool_]:
    """Return which row has one label, by the number of its set of them."""
    members, ends = sets
    holds = np.zeros(len(ends) - 1, bool)
    holds[np.repeat(np.arange(len(holds)), np.diff(ends))[members == label]] = True
    found: NDArray[np.bool_] = holds[numbers]
    return found


def label_losses(scores: NDArray[Any], sets: Sets, numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return the share of the labels of each row that are not among as many of highest score.

    So labels are judged by their order, whatever the thresholds will be; it is 0 for a row without
    labels. With one label a row it is the error.

    >>> sets = np.array([0, 2]), np.array([0, 2, 2])
    >>> label_losses(np.array([[3.0, 2.0, 1.0], [0.0, 0.0, 0.0]]), sets, np.array([0, 1]))
    array([0.5, 0. ])
    """
    found, n_labels = np.empty(len(scores)), scores.shape[1]
    at_once = max(1, SCORES_AT_ONCE // n_labels)
    for start in range(0, len(scores), at_once):
        rows = slice(start, start + at_once)
        truth = has_label(sets, numbers[rows], n_labels)
        counts = truth.sum(axis=1)
        last = -np.sort(-scores[rows], axis=1)[np.arange(len(counts)), np.maximum(counts, 1) - 1]
        above, equal = scores[rows] > last[:, None], scores[rows] == last[:, None]
        room = counts - above.sum(axis=1)  # for labels that score as the last, in their order
        first = above | (equal & (equal.cumsum(axis=1, dtype=np.int32) <= room[:, None]))
        n_first = (truth & first).sum(axis=1)
        found[rows] = 1.0 - n_first / np.maximum(counts, 1)
        found[rows][counts == 0] = 0.0
    return found

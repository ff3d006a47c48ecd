"""What every task answers: the protocol between an answer and the rest of the house."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import Parameter
from rosenblatt.kernels.counts import NO_LOG, Counts, Log
from rosenblatt.rules import Perceptron, Rule

if TYPE_CHECKING:
    from rosenblatt.data.batch import Batch
    from rosenblatt.kernels.rows import Rows
    from rosenblatt.tasks.calibration import Calibration
    from rosenblatt.tasks.certainty import Certainty
    from rosenblatt.tasks.decision_graph import DecisionGraph
    from rosenblatt.tasks.evaluation import ClassCounts, Judged
    from rosenblatt.tasks.held_out_fits import HeldOutFits, Scored, TriedRows, Wanted

Answers = Callable[[NDArray[Any]], NDArray[Any]]  # of rows, by their scores
NOTHING = Counts(0, 0, 0.0)
MANY = (set, frozenset, tuple, list, np.ndarray)  # what holds the labels of a row


class Vectors(Protocol):
    """The weights that a pass changes; see ``training.state.State``."""

    weights: NDArray[Any]
    ledger: NDArray[Any] | None
    variance: NDArray[Any] | None
    count: int

    @property
    def n_features(self) -> int:
        """Number of features, without the constant one."""

    def scores(self, rows: "Rows", *, lasting: bool = True) -> NDArray[Any]:
        """Return what rows score by the average."""

    def read_by(self, rows: "Rows") -> Any:
        """Return rows as a pass reads them, with the places of weights where few exist."""


class Part(Protocol):
    """The rows of a pass with their targets; see ``training.examples.Examples``."""

    @property
    def rows(self) -> "Rows":
        """The rows."""

    @property
    def targets(self) -> NDArray[Any]:
        """What each is to be, as the kernels read it."""

    @property
    def weight(self) -> NDArray[Any] | None:
        """What multiplies the step of each; None: 1 for all."""

    @property
    def order(self) -> NDArray[Any]:
        """In which order they come."""

    @property
    def sets(self) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """The labels of each target, where it stands for several."""


Call = tuple[Callable[..., Counts], tuple[Any, ...]]  # a kernel and its arguments


class Lesson(NamedTuple):
    """What was said of rows before they are learned."""

    n_wrong: int
    given: Any  # what the last of them has
    predicted: Any  # what was said of it
    new: Sequence[Any]  # classes that the model does not know yet


class Truths(Protocol):
    """The true answers of the rows of batches, as they come."""

    def judged(self, batch: "Batch", scores: NDArray[Any], answers: Answers) -> "Judged":
        """Return rows of a batch with what is said of them by their scores."""

    def labels(self, met: Any) -> Sequence[Any]:
        """Return the classes that what stands in a row as its label names."""

    def lesson(self, batch: "Batch", classes: Sequence[Any], answers: NDArray[Any]) -> Lesson:
        """Return how well rows are predicted by a model of these classes."""

    def targets(self, batch: "Batch", classes: Sequence[Any]) -> tuple[NDArray[Any], Any]:
        """Return rows as targets of a model of these classes, and the sets that they stand for."""

    def known(self, batch: "Batch") -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Return which rows have an answer that the model can give, and those answers."""


class Misjudged(NamedTuple):
    """Rows that are answered wrongly, and one class or label of each by which they are."""

    rows: NDArray[Any]  # their places in the batch
    leads: NDArray[Any]  # of what is said over what is true
    truth: NDArray[Any]  # numbers of the classes of a model that tells ``of`` from the others
    said: NDArray[Any]  # likewise
    scores: NDArray[Any]  # likewise
    of: NDArray[Any]  # the label that is wrong, where each is a problem of its own


def or_empty(array: NDArray[Any] | None, ndim: int = 1) -> NDArray[Any]:
    """Return an array as a pass takes it; an empty one for None.

    So a pass is compiled once, whether or not rows have weights and the weights an average.
    """
    return np.empty((0,) * ndim) if array is None else array


@dataclass(frozen=True)
class Task(ABC):
    """What an answer is, for so many classes."""

    n_classes: int
    name: ClassVar[str] = ""  # under which a model file holds it; see ``TASKS``
    noun: ClassVar[str] = "class"  # what one of them is called in a sentence
    nouns: ClassVar[str] = "classes"
    gives: ClassVar[str] = "one of"  # how many of them a row gets
    column: ClassVar[str] = "label"  # what answers are called in a file
    rows: ClassVar[str] = "rows"  # what has an answer
    flat: ClassVar[bool] = False  # whether one vector, without a second axis, serves all classes
    scattered: ClassVar[bool] = False  # whether passes read weights of which few exist
    fewest: ClassVar[int] = 2  # classes, below which there is nothing to learn

    # What is learned, and how

    estimator: ClassVar[str] = ""  # that a model file names, where the rule does not say which
    passes_of_averages: ClassVar[int] = 0  # 0: as many as the table of rules says
    passes_before_averages: ClassVar[int] = 0  # where there are more passes than these

    def check(self, *, memory: str, rule: str) -> None:  # noqa: B027  # most can have any
        """Raise InputError for a memory or a rule that this task cannot have."""

    loss_title: ClassVar[str] = ""  # of a race; empty: as its metric is called
    races: ClassVar[bool] = True  # whether rule and form are chosen by a race
    rule: ClassVar[str] = ""  # that is usual where none is named; empty: as for one class a row
    judged_at_all: ClassVar[bool] = True  # whether held-out rows are judged where none can stop it
    needs_held_out: ClassVar[bool] = False  # whether what it predicts by is fitted to such rows
    fitted_arrays: ClassVar[tuple[str, ...]] = ()  # names of those in a model that it predicts by
    contrasts: ClassVar[bool] = True  # whether an answer is one class against a rival
    joint: ClassVar[bool] = True  # whether an update names who gains and who loses

    def check_source(self, label_separator: str) -> None:  # noqa: B027  # any will do
        """Raise InputError where files that separate labels so do not have such answers."""

    def refuse(self, parameter: Parameter | str) -> None:  # noqa: B027  # most can have any
        """Raise InputError for a parameter that this task cannot have."""

    def rows_within(self, most_scores: int) -> int:
        """Return of how many rows at most so many scores are looked at."""
        return sys.maxsize

    def check_one_class(self, name: str) -> None:  # noqa: B027  # most give each row one
        """Raise InputError where this model, named so, does not give each row exactly one class."""

    def usual_values(self, rule: str) -> dict[str, float]:
        """Return the parameters of a rule that have another default for this task."""
        return {}

    @property
    def n_vectors(self) -> int:
        """How many weight vectors there are."""
        return 1 if self.flat else self.n_classes

    @abstractmethod
    def kernel_call(
        self, state: Vectors, part: Part, order: NDArray[Any], rule: Rule, zero: int, log: Log
    ) -> Call:
        """Return the kernel of a pass that changes this state, and its arguments."""

    def room_for_sets(self) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """Return room for the labels of one row and where they end; None: it has one class."""
        return None

    @abstractmethod
    def targets(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of classes, or of sets of labels, as a pass reads them."""

    @abstractmethod
    def numbers(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Return targets as the numbers of classes, or of sets of labels."""

    def run_pass(
        self, state: Vectors, part: Part, order: NDArray[Any], rule: Rule, zero: int
    ) -> Counts:
        """Change the weights by one visit to each row of the order."""
        if self.n_classes < self.fewest:
            return NOTHING
        kernel, arguments = self.kernel_call(state, part, order, rule, zero, NO_LOG)
        return kernel(*arguments)

    def lines_of_a_row(self) -> int:
        """Return how many lines a row adds to a log at most."""
        return 1

    def logged_pass(
        self, state: Vectors, part: Part, order: NDArray[Any], rule: Rule, zero: int, log: Log
    ) -> tuple[Counts, int]:
        """Do what ``run_pass`` does; write the updates, and return how many lines they take."""
        if self.n_classes < self.fewest:
            return NOTHING, 0
        kernel, arguments = self.kernel_call(state, part, order, rule, zero, log)
        counts = kernel(*arguments)
        return counts, counts.updates

    def count_mistakes(
        self, state: Any, weights: NDArray[Any], part: Part, order: NDArray[Any], zero: int
    ) -> int:
        """Count the rows of the order that weights of this state's layout misclassify.

        That is a pass whose steps are of length 0.
        """
        judged = replace(state, weights=weights, ledger=None, variance=None)
        kernel, arguments = self.kernel_call(judged, part, order, Perceptron(0.0), zero, NO_LOG)
        return kernel(*arguments).mistakes

    def tried_loss(
        self,
        state: Any,
        parts: Iterable[Part],
        zero: int,
        average: Callable[[], NDArray[Any]],
    ) -> float:
        """Return the sum of the losses of held-out rows by what would be returned now."""
        zero = zero or -1  # at test time a zero activation has to predict something
        weights = average()
        return sum(self.count_mistakes(state, weights, part, part.order, zero) for part in parts)

    # Answers

    @abstractmethod
    def answers(
        self, scores: NDArray[Any], thresholds: NDArray[Any] | None = None, *, positive: bool
    ) -> NDArray[Any]:
        """Return what each row is predicted to be, by numbers of classes or which labels it has.

        ``positive`` says whether a score of zero, or of the threshold, is above it.
        """

    @abstractmethod
    def labels_of(self, answers: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
        """Return answers by the labels of the classes, as a user gets them."""

    def known(self, classes: Sequence[Any]) -> Sequence[Any]:
        """Return what stands first among the labels of rows that a model of these classes reads."""
        return classes

    @abstractmethod
    def check_labels(self, y: NDArray[Any], n_rows: int) -> None:
        """Raise InputError where y is not what rows of an array have."""

    @abstractmethod
    def form_of_y(self, answers: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
        """Return answers in the form of y: labels, or an indicator of them."""

    scores_say: ClassVar[str] = "scores: one for each class, the highest predicts."

    @abstractmethod
    def decision_graph(
        self, thresholds: NDArray[Any], *, positive: bool, integer: int
    ) -> "DecisionGraph":
        """Return the nodes of a graph that predicts; ``integer`` is its type of whole numbers."""

    @abstractmethod
    def read(self, met: Sequence[Any]) -> tuple[Sequence[Any], Any]:
        """Return the classes of what rows have as labels, and the sets that it stands for."""

    def check_rival(self) -> None:  # noqa: B027  # most have one
        """Raise InputError where an answer is explained against no other."""

    @abstractmethod
    def sides(
        self, scores: Sequence[float], winner: int | None, rival: int | None
    ) -> tuple[int, int | None]:
        """Return the numbers of what is explained, by default the best, and of its rival if any."""

    @abstractmethod
    def strata(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return of which kind each row is, of which folds have equal shares."""

    @abstractmethod
    def losses(
        self, scores: NDArray[Any], numbers: NDArray[Any], sets: Any, *, positive: bool
    ) -> NDArray[Any]:
        """Return how wrong each row is predicted, from 0 to 1, for a race."""

    @abstractmethod
    def measure(
        self, metric: str, scores: NDArray[Any], numbers: NDArray[Any], sets: Any, *, positive: bool
    ) -> float:
        """Return a metric of the scores of rows, for a race."""

    @abstractmethod
    def confidence(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return how sure each answer is, or each label of it: the higher, the surer."""

    @abstractmethod
    def fit(
        self,
        tried: "Scored",
        own: "Scored",
        sets: Any,
        classes: Sequence[Any],
        wanted: "Wanted",
    ) -> "HeldOutFits":
        """Return what is wanted by the scores of rows, and what is said of the held-out ones."""

    @abstractmethod
    def probabilities(
        self,
        calibration: "Calibration | None",
        arrays: Mapping[str, NDArray[Any]],
        scores: NDArray[Any],
    ) -> NDArray[Any]:
        """Return the probability of each class, (n_rows, n_classes), by the scores of rows."""

    @abstractmethod
    def values(
        self, answers: NDArray[Any], classes: Sequence[Any], joint: str | None = None
    ) -> list[Any]:
        """Return answers as JSON has them, or with ``joint`` between labels as words of a line."""

    @abstractmethod
    def sure(
        self, answers: NDArray[Any], scores: NDArray[Any], threshold: float
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the answers that are surer than this, and which rows have one."""

    @abstractmethod
    def most_frequent(self, training: Mapping[str, Any]) -> NDArray[Any]:
        """Return the classes that a row has most often, by what a training tells of its rows."""

    @abstractmethod
    def one_answer(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the answer of one row that consists of these classes."""

    @abstractmethod
    def misjudged(self, judged: "Judged", thresholds: NDArray[Any]) -> Misjudged:
        """Return rows that are answered wrongly."""

    @abstractmethod
    def class_numbers(self, judged: "Judged") -> NDArray[Any]:
        """Return the class of each row of a batch; −1 where it has none, or is not of one class."""

    @abstractmethod
    def class_counts(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Return how many of these answers have each class."""

    def n_counted(self, training: Mapping[str, Any]) -> int:
        """Return how many rows have been counted by class, by what a training tells of them."""
        return sum(training["class_counts"])

    def listed_by(self, training: Mapping[str, Any]) -> Sequence[int] | None:
        """Return how often each class came where the most frequent is shown first; else None."""
        return None

    def learner_of_others(self, learner: Any, each: Callable[[Any], Any]) -> Any:
        """Return what answers so by a learner of others; ``each`` makes of it one a class."""
        return learner

    # How good they are, and in which words that is said

    always_chosen: ClassVar[Sequence[str]] = ()  # what held-out rows choose in any case

    @abstractmethod
    def wrong_rows(self, rows: str) -> str:
        """Return the words that head a share of these rows, of those that are wrong."""

    @abstractmethod
    def error_on(self, rows: str) -> str:
        """Return the words for the error on rows, which stands apart."""

    @abstractmethod
    def tried_error(self, tried: "TriedRows") -> float | None:
        """Return the error on held-out rows; None where none were."""

    @abstractmethod
    def tried_line(
        self, tried: "TriedRows", counts: Sequence[int], classes: Sequence[Any], source: str
    ) -> str | None:
        """Return a line on held-out rows of this source; None where none were held out."""

    @abstractmethod
    def nothing_held_out(self, why: str, *, tested: bool) -> str:
        """Return a line on what is not known, or not chosen, without held-out rows."""

    @abstractmethod
    def doubts(self, n: int, rows: str) -> str:
        """Return how many labels of rows are probably wrong."""

    @abstractmethod
    def explained(self, thresholds: NDArray[Any], number: int) -> dict[str, Any]:
        """Return what a document says of the class that is explained, beside its terms."""

    @abstractmethod
    def decision_lines(self, told: Mapping[str, Any]) -> list[str]:
        """Return sentences on the decision on one row, by a document on it."""

    @abstractmethod
    def evaluation(self, classes: Sequence[Any]) -> "ClassCounts":
        """Return what counts how good predictions are."""

    @abstractmethod
    def truths(self, classes: Sequence[Any]) -> "Truths":
        """Return what knows the true answers of the rows of batches."""

    @abstractmethod
    def right(self, judged: "Judged") -> NDArray[np.bool_]:
        """Return which of the rows that have a label are predicted rightly."""

    # The answer of one row, as a user or an example has it

    form: ClassVar[str] = "one label"  # what such an answer is, in a sentence
    too_few: ClassVar[str] = "fewer than two classes"  # what a model knows that cannot answer yet
    other_form: ClassVar[str] = (  # why an answer of another form cannot be learned
        'each row has had one class; for several labels make one with goal="each"'
    )

    @abstractmethod
    def fits(self, answer: Any) -> bool:
        """Return whether an answer has the form of those of this task."""

    @abstractmethod
    def members(self, answer: Any) -> Sequence[Any]:
        """Return the labels of an answer, in their order."""

    @abstractmethod
    def joined(self, labels: Sequence[Any]) -> Any:
        """Return the answer that has these labels, at least one of which is needed."""

    @abstractmethod
    def given(self, answer: Any) -> Any:
        """Return an answer as Python gives it: of many labels a set."""

    @abstractmethod
    def default(self, classes: Sequence[Any]) -> Any:
        """Return what is predicted while there is nothing to decide."""

    @abstractmethod
    def winners(self, classes: Sequence[Any]) -> Sequence[Any]:
        """Return the answer for each number that a pass over one row decides it by, if it does."""

    @abstractmethod
    def named(self, answers: NDArray[Any], classes: Sequence[Any]) -> list[Any]:
        """Return answers by the names of the classes; see ``labels_of``."""

    @abstractmethod
    def row_target(self, numbers: Sequence[int]) -> Any:
        """Return the numbers of the labels of one row as ``RowLearner`` takes them."""

    @abstractmethod
    def row_targets(
        self, numbers: Sequence[Sequence[int]]
    ) -> tuple[NDArray[Any], tuple[NDArray[Any], NDArray[Any]] | None]:
        """Return the numbers of the labels of rows as targets, and the sets that they stand for."""

    @abstractmethod
    def row_log(self) -> Log | None:
        """Return room for the one step that a row makes at most; None where it makes more."""

    @abstractmethod
    def of_members(self, values: Any, answer: Any, numbers: Mapping[Any, int]) -> Any:
        """Return what is told of the answer of one row: for itself, or for each of its labels."""

    @abstractmethod
    def told_probability(self, probabilities: Sequence[float]) -> Any:
        """Return what is told with an answer of the probabilities of one row."""

    @abstractmethod
    def label_shown(self, answer: Any, scores: Any, classes: Sequence[Any], asked: Any) -> Any:
        """Return the label whose score explains an answer, by default or as it is asked for."""

    @abstractmethod
    def opponents(
        self, classes: Sequence[Any], scores: Any, number: int
    ) -> tuple[Sequence[Any], Any, int]:
        """Return what one label is scored against: classes, scores, and its number among them."""

    # A search among learners, and what folds of the rows say

    fewest_tried: ClassVar[int] = 2_000  # rows of a rung of a search, but for the last
    tries_usual: ClassVar[bool] = False  # whether a search begins with the usual parameters
    by_kernels: ClassVar[bool] = True  # whether kernel machines can learn it

    def check_metric(self, metric: str, *, searched: bool) -> None:  # noqa: B027  # any will do
        """Raise InputError for a metric by which folds are not judged, or learners not searched."""

    @abstractmethod
    def judged_fold(
        self, metric: str, judged: "Judged", probabilities: Callable[[NDArray[Any]], NDArray[Any]]
    ) -> tuple[float, Any]:
        """Return a metric of the rows of a fold, and the figures whose errors are wanted, if any.

        ``probabilities`` are those of scores.
        """

    @abstractmethod
    def joint_probabilities(
        self, scores: NDArray[Any], numbers: NDArray[Any], sets: Any
    ) -> NDArray[Any]:
        """Return the probabilities of labels by one fit to all rows, which are scored by others."""

    @abstractmethod
    def doubted(
        self, classes: Sequence[Any], numbers: NDArray[Any], sets: Any, shares: NDArray[Any]
    ) -> list[tuple[int, Any, Any, float]]:
        """Return rows whose labels are less probable than others.

        Each with its label, the one suggested, and the probability that it is right as it is.
        """

    # What rows that were not learned from promise

    apart: ClassVar[type["Certainty"]]  # what is kept of them

    @abstractmethod
    def certainty(
        self, scores: Any, answers: NDArray[Any], truth: NDArray[Any], measure: NDArray[Any]
    ) -> "Certainty":
        """Return how sure the answers to rows with a label are; ``measure`` is for sets."""

    def set_measure(
        self, scores: NDArray[Any], probabilities: Callable[[NDArray[Any]], NDArray[Any]] | None
    ) -> NDArray[Any]:
        """Return by what labels get into sets, where probabilities may have been fitted."""
        return scores

    @abstractmethod
    def of_arrays(
        self, guess: Any, y: Any, classes: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return predictions of any classifier as answers, and what y says of the rows."""

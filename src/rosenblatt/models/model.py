"""All that is needed to use a trained model, explain it, and go on training it."""

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from rosenblatt.errors import InputError

Json = Any  # None, bool, int, float, str, and lists and dictionaries of them
Class = int | float | str | bool
SPREAD_PARTS = ("low", "high", "deviation")
KERNEL_PREFIX = "kernel."  # of arrays that stand in place of weights


@dataclass(frozen=True)
class Spread:
    """How the values of each feature spread over the rows that were measured, after any scaling."""

    low: NDArray[Any]  # (n_features,), a value that a row does not have counts as 0
    high: NDArray[Any]
    deviation: NDArray[Any]  # standard deviation
    n_rows: int  # how many rows were measured


@dataclass(frozen=True)
class Calibration:
    """How scores become probabilities, fitted on held-out rows.

    Two classes: p(second class) = 1/(1 + exp(−(slope·score + offset))). More classes: the softmax
    of slope·scores, with offset 0.
    """

    slope: float
    offset: float
    n_rows: int  # held-out rows that it was fitted on


@dataclass(frozen=True)
class Model:
    """Weights, and what they mean.

    Two classes share one vector, whose positive side is the second class; K classes have K. The
    bias stands last in each vector and is 0 where the learner has none. What must fit together is
    checked by ``rosenblatt.models.checks`` whenever a model is written or read.
    """

    learner: str  # name of the estimator class: "AveragedPerceptron", …
    options: dict[str, Json]  # its parameters, by their Python names
    classes: tuple[Class, ...]  # sorted as NumPy sorts them
    weights: NDArray[Any]  # the last ones, (n_vectors, n_features + 1), float64
    ledger: NDArray[Any] | None = None  # Algorithm 7's u and β, where an average is kept
    count: int = 1  # Algorithm 7's c
    feature_names: tuple[str, ...] | None = None  # where somebody gave names
    encoding: dict[str, Json] | None = (
        None  # how a file's columns become features (rosenblatt.data)
    )
    encoding_arrays: dict[str, NDArray[Any]] = field(default_factory=dict)  # and its large parts
    spread: Spread | None = None
    calibration: Calibration | None = None
    history: tuple[dict[str, Json], ...] = ()  # the fields of one PassRecord each
    outcome: dict[str, Json] = field(default_factory=dict)  # stop_reason, best_pass, n_rows, …
    training: dict[str, Json] = field(default_factory=dict)  # files, class_counts, held_out, …
    verdict: dict[str, Json] | None = None
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)  # what else a learner keeps

    @property
    def n_features(self) -> int:
        """Number of features, without the constant one of the bias."""
        return int(self.weights.shape[1]) - 1

    @property
    def deciding_weights(self) -> NDArray[Any]:
        """The weights that predict: the average w − u/c where one is kept, else the last."""
        self.check_weights()
        return self.weights if self.ledger is None else self.weights - self.ledger / self.count

    def check_weights(self) -> None:
        """Raise InputError where there are no weights, for the model predicts by a kernel."""
        if any(name.startswith(KERNEL_PREFIX) for name in self.arrays):
            msg = (
                f"A {self.learner} has no weights: it predicts by kernel values. Load the model "
                "in Python with rosenblatt.load and call its method predict."
            )
            raise InputError(msg)


def n_vectors(n_classes: int) -> int:
    """Return how many weight vectors so many classes have."""
    return 1 if n_classes == 2 else n_classes

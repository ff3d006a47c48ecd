"""The contents of a report: figures of a model, and of test rows with the worst mistakes."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import Classes
from rosenblatt.errors import InputError
from rosenblatt.models.calibration import probabilities
from rosenblatt.models.evaluation import Evaluation, evaluation_of
from rosenblatt.models.explanation import Ranking, ranked_weights, ranking_misleads
from rosenblatt.models.model import Model
from rosenblatt.models.provenance import is_recorded
from rosenblatt.models.rows import batch_of
from rosenblatt.models.scoring import votes_of
from rosenblatt.report.giveaways import Giveaway, Giveaways
from rosenblatt.report.hardest import HardestRows, HardRow

WEIGHTS = 12  # names on either side
MOST_RANKED = 30  # classes whose weights are shown


class Certainty:
    """Keeps the scores of two classes, and how probable a calibrated model calls its answers."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._scores: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self._shares: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def add(self, batch: Batch, scores: NDArray[Any], predicted: NDArray[Any]) -> None:
        """Look at a batch and how it was decided."""
        model = self._model
        known = (batch.labels >= 0) & (batch.labels < len(model.classes))
        truth, two = batch.labels[known], scores.ndim == 1
        if two:
            self._scores.append((scores[known], truth == 1))
        if model.calibration is not None and not model.voted:
            shares = probabilities(model.calibration, scores[known])
            of = np.ones(len(truth), int) if two else predicted[known]
            self._shares.append((shares[np.arange(len(truth)), of], truth == of))

    @property
    def scores(self) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """The score of each row of two classes, and whether it is of the second."""
        return _joined(self._scores)

    @property
    def shares(self) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """A probability of each row, and whether it came true.

        Of two classes it is that of the second one, of more that of the predicted one.
        """
        return _joined(self._shares)


def _joined(
    parts: list[tuple[NDArray[Any], NDArray[Any]]],
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    if not parts:
        return None
    first, second = zip(*parts, strict=True)
    return np.concatenate(first), np.concatenate(second)


def array_rows(model: Model, X: Any, y: Any) -> Batch:
    """Return the rows of X with the labels y, the classes of the model first."""
    from sklearn.utils import check_array, check_consistent_length, column_or_1d

    checked = check_array(X, accept_sparse="csr")
    labels = column_or_1d(y)
    check_consistent_length(checked, labels)
    if checked.shape[1] != model.n_features:
        msg = f"X has {checked.shape[1]} features; the model was trained on {model.n_features}."
        raise InputError(msg)
    classes = Classes(model.classes)
    numbers = classes.codes(labels.tolist())
    return replace(batch_of(checked.astype(np.float64)), labels=numbers, classes=classes.labels)


@dataclass(frozen=True)
class Findings:
    """The contents of the page, before they are words and pictures."""

    name: str
    model: Model
    rankings: list[Ranking]
    by_effect: bool  # weights are ranked by weight × deviation, since ranges differ much
    evaluation: Evaluation | None = None
    hardest: list[HardRow] = field(default_factory=list)
    test_names: tuple[str, ...] = ()
    certainty: Certainty | None = None
    giveaways: list[Giveaway] = field(default_factory=list)

    @property
    def survival(self) -> NDArray[Any] | None:
        """How many rows each weight vector lasted, the zero one first, where mistakes are kept."""
        model = self.model
        if not is_recorded(model):
            return None
        return votes_of(model).lifetimes


def findings(
    model: Model,
    *,
    name: str = "model",
    test: Iterable[Batch] | None = None,
    test_names: tuple[str, ...] = (),
) -> Findings:
    """Return the contents of a report on a model, and on labelled rows if there are any."""
    by_effect = ranking_misleads(model)
    rankings = ranked_weights(model, WEIGHTS, by_effect=by_effect)[:MOST_RANKED]
    if test is None:
        return Findings(name, model, rankings, by_effect)
    hardest, certainty = HardestRows(model), Certainty(model)
    alone = Giveaways(rankings, len(model.classes))
    evaluation = evaluation_of(model, test, hardest.add, certainty.add, alone.add)
    return Findings(
        name,
        model,
        rankings,
        by_effect,
        evaluation,
        hardest.rows(),
        test_names,
        certainty,
        alone.found(model.classes),
    )

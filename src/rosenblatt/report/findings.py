"""The contents of a report: figures of a model, and of test rows with the worst mistakes."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import Classes
from rosenblatt.errors import InputError
from rosenblatt.mistakes.provenance import Provenance
from rosenblatt.models.evaluation import Evaluation, evaluation_of
from rosenblatt.models.explanation import (
    Explanation,
    Ranking,
    contributions,
    ranked_weights,
    ranking_misleads,
)
from rosenblatt.models.model import Model
from rosenblatt.models.provenance import is_recorded, recorded_provenance
from rosenblatt.models.scoring import votes_of

WEIGHTS = 12  # names on either side
MOST_RANKED = 30  # classes whose weights are shown
MOST_HARD_ROWS = 8


@dataclass(frozen=True)
class HardRow:
    """One wrong row: which it is, how it was decided, and by what."""

    number: int  # from 1, among the rows of the test
    label: Any
    predicted: Any
    lead: float  # of the predicted class over the true one
    explanation: Explanation | None  # where weights decided, not a vote
    provenance: Provenance | None  # where the model holds its mistakes


class HardestRows:
    """Keeps the wrong rows with the largest lead of the wrong class, whatever the file's size."""

    def __init__(self, model: Model, most: int = MOST_HARD_ROWS) -> None:
        self._model = model
        self._most = most
        self._seen = 0
        # By lead, and the first of equal ones; a number occurs once, so nothing else is compared.
        self._kept: list[tuple[float, int, int, int, NDArray[Any], NDArray[Any], NDArray[Any]]] = []

    def add(self, batch: Batch, scores: NDArray[Any], predicted: NDArray[Any]) -> None:
        """Look at a batch and how it was decided."""
        known = (batch.labels >= 0) & (batch.labels < len(self._model.classes))
        wrong = np.flatnonzero(known & (predicted != batch.labels))
        leads = _leads(scores[wrong], batch.labels[wrong], predicted[wrong])
        for k in np.argsort(-leads, kind="stable")[: self._most].tolist():
            i = int(wrong[k])
            row = slice(batch.indptr[i], batch.indptr[i + 1])
            entry = (
                float(leads[k]),
                -(self._seen + i),
                int(batch.labels[i]),
                int(predicted[i]),
                batch.indices[row].copy(),
                batch.data[row].copy(),
                np.array(scores[i]),
            )
            if len(self._kept) < self._most:
                heapq.heappush(self._kept, entry)
            else:
                heapq.heappushpop(self._kept, entry)
        self._seen += batch.n_rows

    def rows(self) -> list[HardRow]:
        """Return them with what decided each, the most wrong first."""
        return [self._row(*entry) for entry in sorted(self._kept, key=_order)]

    def _row(
        self,
        lead: float,
        minus_number: int,
        label: int,
        predicted: int,
        indices: NDArray[Any],
        values: NDArray[Any],
        scores: NDArray[Any],
    ) -> HardRow:
        model = self._model
        return HardRow(
            number=1 - minus_number,
            label=model.classes[label],
            predicted=model.classes[predicted],
            lead=lead,
            explanation=None
            if model.voted
            else contributions(model, indices, values, winner=predicted, rival=label),
            provenance=_provenance(model, indices, values, scores, predicted),
        )


def _order(entry: tuple[Any, ...]) -> tuple[float, int]:
    return -entry[0], -entry[1]


def _leads(
    scores: NDArray[Any], labels: NDArray[Any], predicted: NDArray[Any]
) -> NDArray[np.float64]:
    """Return by how much the predicted class is ahead of the true one."""
    if scores.ndim == 1:
        sizes: NDArray[np.float64] = np.abs(scores)
        return sizes
    at = np.arange(len(scores))
    ahead: NDArray[np.float64] = scores[at, predicted] - scores[at, labels]
    return ahead


def _provenance(
    model: Model,
    indices: NDArray[Any],
    values: NDArray[Any],
    scores: NDArray[Any],
    winner: int,
) -> Provenance | None:
    if not is_recorded(model) or model.voted:
        return None
    return recorded_provenance(model, indices, values, scores, winner)


def array_rows(model: Model, X: Any, y: Any) -> Batch:
    """Return the rows of X with the labels y, the classes of the model first."""
    from scipy import sparse
    from sklearn.utils import check_array, check_consistent_length, column_or_1d

    checked = check_array(X, accept_sparse="csr")
    labels = column_or_1d(y)
    check_consistent_length(checked, labels)
    if checked.shape[1] != model.n_features:
        msg = f"X has {checked.shape[1]} features; the model was trained on {model.n_features}."
        raise InputError(msg)
    rows = sparse.csr_array(checked, dtype=np.float64)
    rows.sum_duplicates()
    classes = Classes(model.classes)
    numbers = classes.codes(labels.tolist())
    return Batch(
        data=rows.data,
        indices=rows.indices.astype(np.int32),
        indptr=rows.indptr.astype(np.int64),
        labels=numbers,
        classes=classes.labels,
        queries=None,
        n_features=rows.shape[1],
        zero_based=True,
        file="X",
        first_line=1,
        n_lines=rows.shape[0],
        bytes_read=0,
    )


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
    hardest = HardestRows(model)
    evaluation = evaluation_of(model, test, hardest.add)
    return Findings(name, model, rankings, by_effect, evaluation, hardest.rows(), test_names)

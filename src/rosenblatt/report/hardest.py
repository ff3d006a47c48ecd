"""The rows that a model gets most wrong, and what made it."""

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.mistakes.provenance import Provenance
from rosenblatt.models.explanation import Explanation, contributions
from rosenblatt.models.model import Model
from rosenblatt.models.recorded import is_recorded, recorded_provenance

MOST = 8


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

    def __init__(self, model: Model, most: int = MOST) -> None:
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
        return [self._told(*entry) for entry in sorted(self._kept, key=_order)]

    def _told(
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

"""The rows that went most wrong: what stands in them, what decided, and which rows taught that."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rosenblatt.data.batch import Batch
from rosenblatt.kernels.shapes import matrix_of, take
from rosenblatt.mistakes.provenance import Provenance, Term
from rosenblatt.models.explanation import Explanation, contributions, namer
from rosenblatt.models.model import Model
from rosenblatt.models.provenance import is_recorded, recorded_mistakes, recorded_provenance
from rosenblatt.wording import number

MOST_HARD_ROWS = 8
MOST_VALUES = 24  # of a row that are shown
MOST_TEACHERS = 6  # for the decision; half as many against it
MOST_SHARED = 5  # features that a teacher has in common with the row
SMALL = 0.1  # of the largest; what is smaller is left out


class Teacher(NamedTuple):
    """A training row behind a decision, and what it has in common with the row decided."""

    term: Term
    shared: list[tuple[str, float]]  # features by name, with the product of both values


@dataclass(frozen=True)
class MisjudgedRow:
    """One wrong row: which it is, what stands in it, how it was decided, and by what."""

    number: int  # from 1, among the rows of the test
    label: Any
    predicted: Any
    lead: float  # of the predicted class over the true one
    values: list[tuple[str, str]]  # by column where the file has some, else by feature
    n_more: int  # values that are not shown
    explanation: Explanation | None  # where weights decided, not a vote
    provenance: Provenance | None  # where the model holds its mistakes
    taught: list[Teacher]  # that spoke for the decision, the strongest first
    opposed: list[Teacher]  # that spoke against it


class _Entry(NamedTuple):
    """A row on the list; a number occurs once, so nothing after it is ever compared."""

    lead: float
    minus_number: int
    label: int
    predicted: int
    indices: NDArray[Any]
    values: NDArray[Any]
    scores: NDArray[Any]
    columns: list[tuple[str, str]] | None


class HardestRows:
    """Keeps the wrong rows with the largest lead of the wrong class, whatever the file's size."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._seen = 0
        self._kept: list[_Entry] = []

    def add(self, batch: Batch, scores: NDArray[Any], predicted: NDArray[Any]) -> None:
        """Look at a batch and how it was decided."""
        known = (batch.labels >= 0) & (batch.labels < len(self._model.classes))
        wrong = np.flatnonzero(known & (predicted != batch.labels))
        leads = _leads(scores[wrong], batch.labels[wrong], predicted[wrong])
        for k in np.argsort(-leads, kind="stable")[:MOST_HARD_ROWS].tolist():
            i = int(wrong[k])
            row = slice(batch.indptr[i], batch.indptr[i + 1])
            entry = _Entry(
                float(leads[k]),
                -(self._seen + i),
                int(batch.labels[i]),
                int(predicted[i]),
                batch.indices[row].copy(),
                batch.data[row].copy(),
                np.array(scores[i]),
                _columns(batch, i),
            )
            if len(self._kept) < MOST_HARD_ROWS:
                heapq.heappush(self._kept, entry)
            else:
                heapq.heappushpop(self._kept, entry)
        self._seen += batch.n_rows

    def rows(self) -> list[MisjudgedRow]:
        """Return them with what decided each, the most wrong first."""
        ordered = sorted(self._kept, key=lambda entry: (-entry.lead, -entry.minus_number))
        return [self._row(entry) for entry in ordered]

    def _row(self, entry: _Entry) -> MisjudgedRow:
        model = self._model
        explanation = provenance = None
        if not model.voted:
            sides = {"winner": entry.predicted, "rival": entry.label}
            explanation = contributions(model, entry.indices, entry.values, **sides)
        if is_recorded(model) and not model.voted:
            provenance = recorded_provenance(
                model, entry.indices, entry.values, entry.scores, entry.predicted
            )
        predicted = model.classes[entry.predicted]
        values = entry.columns
        if values is None:
            values = self._features(entry.indices, entry.values)
        if len(values) > MOST_VALUES:
            values = [pair for pair in values if pair[1] not in ("0", "0.0")]
        taught, opposed = self._teachers(provenance, predicted, entry)
        return MisjudgedRow(
            number=1 - entry.minus_number,
            label=model.classes[entry.label],
            predicted=predicted,
            lead=entry.lead,
            values=values[:MOST_VALUES],
            n_more=max(0, len(values) - MOST_VALUES),
            explanation=explanation,
            provenance=provenance,
            taught=taught,
            opposed=opposed,
        )

    def _features(self, indices: NDArray[Any], values: NDArray[Any]) -> list[tuple[str, str]]:
        """Return the values of a row by feature, those other than 0."""
        name, n_features = namer(self._model), self._model.n_features
        pairs = zip(indices.tolist(), values.tolist(), strict=True)
        return [(name(i), number(v)) for i, v in pairs if v and i < n_features]

    def _teachers(
        self, provenance: Provenance | None, predicted: Any, entry: _Entry
    ) -> tuple[list[Teacher], list[Teacher]]:
        """Return the training rows that spoke for the decision, and those against it."""
        if provenance is None:
            return [], []
        way = 1.0 if predicted == provenance.positive else -1.0
        taught = [term for term in provenance.terms if way * term.amount > 0][:MOST_TEACHERS]
        opposed = [t for t in provenance.terms if way * t.amount < 0][: MOST_TEACHERS // 2]
        shown = self._with_shared(taught + opposed, entry)
        return shown[: len(taught)], shown[len(taught) :]

    def _with_shared(self, terms: Sequence[Term], entry: _Entry) -> list[Teacher]:
        rows, places = self._support
        if rows is None or not terms:
            return [Teacher(term, []) for term in terms]
        known = entry.indices < self._model.n_features
        at, x = entry.indices[known], entry.values[known]
        chosen = take(rows, np.array([places[term.row] for term in terms]))
        products = csr_array(matrix_of(chosen))[:, at].toarray() * x
        name, found = namer(self._model), []
        for term, line in zip(terms, products, strict=True):
            size = np.abs(line)
            first = np.argsort(-size, kind="stable")[:MOST_SHARED]
            first = first[size[first] > SMALL * size.max(initial=0.0)].tolist()
            found.append(Teacher(term, [(name(int(at[k])), float(line[k])) for k in first]))
        return found

    @cached_property
    def _support(self) -> tuple[Any, dict[int, int]]:
        """The training rows that the model holds, and the place of each number among them."""
        support = recorded_mistakes(self._model).support
        if support is None:
            return None, {}
        return support.rows, {int(n): place for place, n in enumerate(support.numbers)}


def columns_to_show(model: Model) -> tuple[str, ...]:
    """Return the columns of tables that a reader wants to see of a row: those that are used."""
    columns = () if model.table is None else model.table.columns
    return tuple(column.name for column in columns if column.required)


def _columns(batch: Batch, row: int) -> list[tuple[str, str]] | None:
    """Return a row as it stands in its table; None where no columns came along."""
    if batch.kept is None or any(len(v) != batch.n_rows for v in batch.kept.values()):
        return None
    return [
        (name, "–" if values[row] is None else str(values[row]).strip())
        for name, values in batch.kept.items()
    ]


def _leads(
    scores: NDArray[Any], labels: NDArray[Any], predicted: NDArray[Any]
) -> NDArray[np.float64]:
    """Return by how much the predicted class is ahead of the true one."""
    if scores.ndim == 1:
        return np.asarray(np.abs(scores))
    at = np.arange(len(scores))
    return np.asarray(scores[at, predicted] - scores[at, labels])

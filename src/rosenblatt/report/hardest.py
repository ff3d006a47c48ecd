"""The worst mistakes: their values, the features that decided, the training rows behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rosenblatt.data.batch import Batch
from rosenblatt.kernels.shapes import matrix_of, take
from rosenblatt.mistakes.provenance import Term
from rosenblatt.models.explanation import Explanation, namer, reasons
from rosenblatt.models.model import Model
from rosenblatt.models.multilabel import alone
from rosenblatt.report.pixels import feature_grid, pixel_grid
from rosenblatt.tasks.evaluation import Judged
from rosenblatt.wording import cell_text, number

MOST_HARD_ROWS = 8
MOST_VALUES = 24  # of a row that are shown
LONG_VALUE = 60  # characters; a longer value is a text, on lines of its own
IN_HEADING = 25  # characters; a longer value names its row
MOST_TEXT = 1200  # characters of it
MOST_TEACHERS = 6  # for the decision; half as many against it
MOST_SHARED = 5  # features that a teacher has in common with the row
SMALL = 0.1  # of the largest; what is smaller is left out


class Teacher(NamedTuple):
    """A training row behind a decision, and the features it shares with the decided row."""

    term: Term
    shared: list[tuple[str, float]]  # features by name, with the product of both values


@dataclass(frozen=True)
class MisjudgedRow:
    """One wrong row: its number, values, labels, and the reasons of the decision."""

    number: int  # from 1, among the rows of the test
    label: Any
    predicted: Any
    lead: float  # of the predicted class over the true one
    values: list[tuple[str, str]]  # by column where the file has some, else by feature
    n_more: int  # values that are not shown
    explanation: Explanation | None  # where weights decided, not a vote
    taught: list[Teacher]  # that spoke for the decision, the strongest first, if they are known
    opposed: list[Teacher]  # that spoke against it
    pixels: Markup | None = None  # the row as a picture, where its values are one

    @property
    def heading(self) -> str:
        """The row's labels, with its longest value or the lead of the wrong class."""
        text = max((value for _, value in self.values), key=len, default="")
        beside = f", which was {number(self.lead)} ahead"
        if len(text) > IN_HEADING:
            beside = f": “{text[:LONG_VALUE]}{'…' * (len(text) > LONG_VALUE)}”"
        return f"Row {self.number:,}: {self.label} taken for {self.predicted}{beside}"

    @property
    def short_values(self) -> list[tuple[str, str]]:
        """The values of up to LONG_VALUE characters, by column or feature."""
        return [(name, value) for name, value in self.values if len(value) <= LONG_VALUE]

    @property
    def texts(self) -> list[tuple[str, str]]:
        """The longer values, cut after MOST_TEXT characters."""
        long = [(name, value) for name, value in self.values if len(value) > LONG_VALUE]
        return [(n, v if len(v) <= MOST_TEXT else f"{v[:MOST_TEXT]} …") for n, v in long]


class WrongRow(NamedTuple):
    """A wrong row as it is kept while others are read."""

    lead: float
    number: int  # from 1
    label: int  # class number
    predicted: int
    scores: NDArray[Any]
    row: Batch
    of: int  # the label that it has or not, where each is a problem of its own


class HardestRows:
    """Keeps the wrong rows with the largest lead of the wrong class, whatever the file's size."""

    def __init__(self, model: Model) -> None:
        self._model, self._task = model, model.task
        self._seen = 0
        self._kept: list[WrongRow] = []  # the worst first
        self.largest = 0.0  # value of the rows

    def add(self, judged: Judged) -> None:
        """Look at a batch and how it was decided, and keep the worst rows."""
        batch, wrong = judged.batch, self._task.misjudged(judged, self._model.thresholds)
        self.largest = max(self.largest, float(batch.data.max(initial=0.0)))
        entries = self._kept
        for k in np.argsort(-wrong.leads, kind="stable")[:MOST_HARD_ROWS].tolist():
            i, lead = int(wrong.rows[k]), float(wrong.leads[k])
            row = batch.block(i, i + 1)
            row = row._replace(data=row.data.copy(), indices=row.indices.copy())
            sides = int(wrong.truth[k]), int(wrong.said[k]), wrong.scores[k].copy()
            entries.append(WrongRow(lead, self._seen + i + 1, *sides, row, int(wrong.of[k])))
        self._kept = sorted(entries, key=lambda one: (-one.lead, one.number))[:MOST_HARD_ROWS]
        self._seen += batch.n_rows

    def rows(self) -> list[MisjudgedRow]:
        """Return the kept rows with their explanations, the worst first."""
        return [self._row(one) for one in self._kept]

    def _row(self, kept: WrongRow) -> MisjudgedRow:
        lead, number, label, predicted, scores, row, of = kept
        model = alone(self._model, of)
        explanation, found = reasons(model, row, scores, predicted, label)
        taught: list[Teacher] = []
        opposed: list[Teacher] = []
        if found is not None:
            way = 1.0 if model.classes[predicted] == found.positive else -1.0
            speaking = [term for term in found.terms if way * term.amount > 0][:MOST_TEACHERS]
            against = [t for t in found.terms if way * t.amount < 0][: MOST_TEACHERS // 2]
            taught, opposed = self._teachers(speaking, row), self._teachers(against, row)
        values = self._values(row)
        if len(values) > MOST_VALUES:
            values = [pair for pair in values if pair[1] not in ("0", "0.0")]
        return MisjudgedRow(
            number=number,
            label=model.classes[label],
            predicted=model.classes[predicted],
            lead=lead,
            values=values[:MOST_VALUES],
            n_more=max(0, len(values) - MOST_VALUES),
            explanation=explanation,
            taught=taught,
            opposed=opposed,
            pixels=self._pixels(row, number),
        )

    def _pixels(self, row: Batch, number: int) -> Markup | None:
        """Return a row as a picture; None if its values are no pixels."""
        model = self._model
        if row.kept and all(row.kept.values()):
            grid = pixel_grid([*row.kept], len(row.kept), self.largest)
            cells = [values[0] for values in row.kept.values()]
            shown = np.array([float(cell or 0.0) for cell in cells]) if grid else np.empty(0)
        else:
            grid = feature_grid(model, self.largest)
            shown = np.zeros(model.n_features)
            known = row.indices < model.n_features
            shown[row.indices[known]] = row.data[known]
        return None if grid is None else grid.picture(shown, f"Row {number:,} as a picture")

    def _values(self, row: Batch) -> list[tuple[str, str]]:
        """Return a row as it stands in its table, or its features other than 0."""
        if row.kept and all(row.kept.values()):
            cells = [(name, values[0]) for name, values in row.kept.items()]
            return [(name, "–" if cell is None else cell_text(cell)) for name, cell in cells]
        name, n_features = namer(self._model), self._model.n_features
        pairs = zip(row.indices.tolist(), row.data.tolist(), strict=True)
        return [(name(i), number(v)) for i, v in pairs if v and i < n_features]

    def _teachers(self, terms: Sequence[Term], row: Batch) -> list[Teacher]:
        """Return training rows with the features that they share with a row."""
        rows, places = self._support
        if rows is None or not terms:
            return [Teacher(term, []) for term in terms]
        known = row.indices < self._model.n_features
        at, x = row.indices[known], row.data[known]
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
        mistakes = self._model.mistakes
        support = None if mistakes is None else mistakes.support
        if support is None:
            return None, {}
        return support.rows, {int(n): place for place, n in enumerate(support.numbers)}

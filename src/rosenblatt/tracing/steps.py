"""A trace: the steps of a training in order, and what became of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.rows import CSR, Rows
from rosenblatt.training.history import StopReason
from rosenblatt.training.trace_proof import ProofStep

PRINTED = 60  # steps that str and a notebook show; the forms that are asked for by name show all


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One visit to one row, and the weights after it.

    Two classes: ``activation`` and ``b`` are numbers and ``w`` has the shape (d,); positive is the
    second class. K classes: one for each class, ``w`` has the shape (K, d). The arrays of steps
    between two updates are the same ones, and not to be written to.
    """

    pass_: int  # counted from 1
    row: int  # counted from 0
    y: Any  # the label of the row, as it was given
    activation: Any
    mistake: bool
    step: float  # τ; 0.0 where the weights stayed as they were
    rival: Any  # the label that loses by a step: the other one, or the highest-scoring wrong one
    w: NDArray[Any]
    b: Any
    average_w: NDArray[Any] | None  # the mean of all weights so far, where it was asked for
    average_b: Any
    proof: ProofStep | None  # after an update, where a witness was given
    rows: Rows = field(repr=False)  # all of them, so that a wide row is not copied for each visit

    @property
    def x(self) -> NDArray[Any]:
        """The values of the row as float64, without the constant feature."""
        if not isinstance(self.rows, CSR):
            return np.asarray(self.rows.values[self.row], np.float64)
        x = np.zeros(self.rows.n_features)
        indices, values = self.entries
        x[indices] = values
        return x

    @property
    def entries(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The features of the row that are not 0, and their values."""
        if isinstance(self.rows, CSR):
            here = slice(self.rows.indptr[self.row], self.rows.indptr[self.row + 1])
            return self.rows.indices[here], self.rows.data[here].astype(np.float64)
        indices = np.flatnonzero(self.rows.values[self.row])
        return indices, self.rows.values[self.row, indices].astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Sequence[Step]):
    """The steps of a training that were kept, in order; prints as a table.

    ``stop_reason`` is "converged" or "max_iter", or None where training was not followed to its end
    because nothing after the last step was asked for.
    """

    steps: tuple[Step, ...]
    classes: tuple[Any, ...]  # sorted; of two, the second is the positive one
    names: tuple[str, ...] | None  # of the features, where X had names
    stop_reason: StopReason | None
    bound: float | None = None  # R²/γ² of the witness, where one was given

    @overload
    def __getitem__(self, index: int) -> Step: ...

    @overload
    def __getitem__(self, index: slice) -> "Trace": ...

    def __getitem__(self, index: int | slice) -> "Step | Trace":
        if isinstance(index, slice):
            steps = self.steps[index]
            return Trace(steps, self.classes, self.names, self.stop_reason, self.bound)
        return self.steps[index]

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __repr__(self) -> str:
        end = self.stop_reason or "not followed to its end"
        return f"<Trace of {len(self)} steps, {end}>"

    def __str__(self) -> str:
        from rosenblatt.tracing.forms import terminal_table

        return terminal_table(self, most=PRINTED)

    def to_text(self) -> str:
        """Return all the steps as a table for the terminal."""
        from rosenblatt.tracing.forms import terminal_table

        return terminal_table(self)

    def to_markdown(self) -> str:
        """Return the steps as a Markdown table."""
        from rosenblatt.tracing.forms import markdown_table

        return markdown_table(self)

    def to_html(self) -> str:
        """Return the steps as an HTML table; rows that changed the weights stand out."""
        from rosenblatt.tracing.forms import html_table

        return html_table(self)

    def _repr_html_(self) -> str:
        from rosenblatt.tracing.forms import html_table

        return html_table(self, most=PRINTED)

    def to_json_lines(self) -> str:
        """Return one JSON object a line, one a step."""
        from rosenblatt.tracing.records import json_lines

        return json_lines(self)

    def to_frame(self, library: str = "polars") -> Any:
        """Return a data frame with one row a step, of polars or of pandas."""
        from rosenblatt.tracing.records import data_frame

        return data_frame(self, library)

"""A trace: the steps of a training in order, and the way they are collected."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import entries
from rosenblatt.models.learner import Learner, generator_from
from rosenblatt.tracing.convergence import ConvergenceProof, ProofStep, check_proof, witness_vector
from rosenblatt.tracing.visits import Visit, visits
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import StopReason
from rosenblatt.training.loop import Plan
from rosenblatt.training.state import EVERYTHING, State

PRINTED = 60  # steps that str and a notebook show; the forms that are asked for by name show all


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One visit to one row, and the weights after it.

    Two classes: ``activation`` and ``b`` are numbers and ``w`` has the shape (d,); positive is the
    second class. K classes: one for each class, ``w`` has the shape (K, d). The arrays of steps
    between two updates are the same ones, and not to be written to.

    A second-order rule steps by ``step``·Σx, and each of its weights has a variance, the diagonal
    of Σ, which ``beta`` makes smaller; the fields for that are None with the other rules.
    """

    pass_: int  # counted from 1
    row: int  # counted from 0
    y: Any  # the label of the row, as it was given
    activation: Any
    mistake: bool
    step: float  # τ, or α of a second-order rule; 0.0 where the weights stayed as they were
    rival: Any  # the label that loses by a step: the other one, or the highest-scoring wrong one
    w: NDArray[Any]
    b: Any
    average_w: NDArray[Any] | None  # the mean of all weights so far, where it was asked for
    average_b: Any
    proof: ProofStep | None  # after an update, where a witness was given
    margin: float  # y·activation, or the lead of the true class over its rival
    variance: float | None  # of the margin: xᵀΣx before the step
    beta: float | None
    variance_w: NDArray[Any] | None  # of each weight after the step
    variance_b: Any
    rows: Rows = field(repr=False)  # all of them, so that a wide row is not copied for each visit

    @property
    def x(self) -> NDArray[Any]:
        """The values of the row as float64, without the constant feature."""
        x = np.zeros(self.rows.shape[1])
        indices, values = self.entries
        x[indices] = values
        return x

    @property
    def entries(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The features of the row that are not 0, and their values."""
        return entries(self.rows, self.row)


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Sequence[Step]):
    """The steps of a training that were kept, in order; prints as a table.

    ``stop_reason`` is "converged" or "max_iter", or None where training did not run to its end
    because nothing after the last step was asked for.
    """

    steps: tuple[Step, ...]
    classes: tuple[Any, ...]  # sorted; of two, the second is the positive one
    names: tuple[str, ...] | None  # of the features, where X had names
    stop_reason: StopReason | None
    bound: float | None = None  # R²/γ² of the witness, where one was given
    first_row: int = 0  # what tables and records call the first row

    @overload
    def __getitem__(self, index: int) -> Step: ...

    @overload
    def __getitem__(self, index: slice) -> "Trace": ...

    def __getitem__(self, index: int | slice) -> "Step | Trace":
        if isinstance(index, slice):
            return replace(self, steps=self.steps[index])
        return self.steps[index]

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __repr__(self) -> str:
        end = self.stop_reason or "later steps not asked for"
        return f"<Trace of {len(self)} steps, {end}>"

    def __str__(self) -> str:
        from rosenblatt.tracing.tables import terminal_table

        return terminal_table(self, most=PRINTED)

    def to_text(self) -> str:
        """Return all the steps as a table for the terminal."""
        from rosenblatt.tracing.tables import terminal_table

        return terminal_table(self)

    def to_markdown(self) -> str:
        """Return the steps as a Markdown table."""
        from rosenblatt.tracing.tables import markdown_table

        return markdown_table(self)

    def to_html(self) -> str:
        """Return the steps as an HTML table; rows that changed the weights stand out."""
        from rosenblatt.tracing.tables import html_table

        return html_table(self)

    def _repr_html_(self) -> str:
        from rosenblatt.tracing.tables import html_table

        return html_table(self, most=PRINTED)

    def to_json_lines(self) -> str:
        """Return one JSON object a line, one a step."""
        from rosenblatt.tracing.records import json_lines

        return json_lines(self)

    def to_frame(self, library: str = "polars") -> Any:
        """Return a data frame with one row a step, of polars or of pandas."""
        from rosenblatt.tracing.records import data_frame

        return data_frame(self, library)


def follow(
    examples: Examples,
    labels: Sequence[Any],
    classes: Sequence[Any],
    learner: Learner,
    *,
    only_updates: bool = False,
    passes: frozenset[int] | None = None,
    max_rows: int | None = None,
    witness: Any = None,
    names: Sequence[str] | None = None,
) -> Trace:
    """Return the trace of a training from zero; ``labels`` are those of the rows, as to be shown.

    The other arguments are those of ``trace``, which checks what a user gives. Neither this nor
    what it imports needs scikit-learn.
    """
    state = learner.start(examples.rows.shape[1], len(classes))
    proof = None
    if witness is not None:
        check_proof(learner.rule)
        proof = ConvergenceProof(examples, witness_vector(witness, state), len(classes))
    follower = _Follower(state, examples, labels, classes, proof)
    generator = generator_from(learner.random_state)
    stop_reason = follower.collect(
        learner.plan(), generator, passes, max_rows, only_updates=only_updates
    )
    return Trace(
        tuple(follower.steps),
        tuple(classes),
        None if names is None else tuple(names),
        stop_reason,
        None if proof is None else proof.bound,
    )


class _Follower:
    """Turns visits into steps; copies weights only for steps that are kept, and once an update."""

    def __init__(
        self,
        state: State,
        examples: Examples,
        labels: Sequence[Any],
        classes: Sequence[Any],
        proof: ConvergenceProof | None,
    ) -> None:
        self.steps: list[Step] = []
        self._state, self._examples, self._proof = state, examples, proof
        self._labels, self._classes = labels, classes
        self._pass = 0
        self._copies: list[tuple[Any, Any]] = []  # weights and variances since the last update

    def collect(
        self,
        plan: Plan,
        generator: np.random.Generator,
        passes: frozenset[int] | None,
        max_rows: int | None,
        *,
        only_updates: bool,
    ) -> StopReason | None:
        """Change the state by a training, and keep what is asked for; return why it ended."""
        last = plan.max_iter if passes is None else min(plan.max_iter, max(passes))

        def is_watched(pass_: int) -> bool:
            return passes is None or self._proof is not None or pass_ in passes

        run = visits(
            self._state, self._examples, replace(plan, max_iter=last), generator, is_watched
        )
        while True:
            try:
                visit = next(run)
            except StopIteration as end:
                reason: StopReason = end.value
                return None if reason == "max_iter" and last < plan.max_iter else reason
            self._meet(visit)
            asked = passes is None or visit.pass_ in passes
            if asked and (visit.tau != 0.0 or not only_updates):
                if max_rows is not None and len(self.steps) == max_rows:
                    break
                self.steps.append(self._step(visit))
        self._state.check_finite(0.0, EVERYTHING, f"in pass {visit.pass_}", plan.rule)
        return None

    def _meet(self, visit: Visit) -> None:
        if visit.tau != 0.0 or visit.pass_ != self._pass:  # passes before it may not be watched
            self._copies, self._pass = [], visit.pass_
        if self._proof is not None:
            self._proof.add(visit)

    def _step(self, visit: Visit) -> Step:
        state = self._state
        if not self._copies:
            self._copies = [self._parts(state.weights), self._parts(state.variance)]
        (w, b), (variance_w, variance_b) = self._copies
        average_w, average_b = self._parts(None if state.ledger is None else state.average())
        proof = self._proof.step(state) if self._proof is not None and visit.tau != 0.0 else None
        return Step(
            visit.pass_,
            visit.row,
            self._labels[visit.row],
            visit.activation,
            visit.mistake,
            visit.tau,
            self._classes[visit.rival],
            w,
            b,
            average_w,
            average_b,
            proof,
            self._margin(visit),
            visit.variance,
            visit.beta,
            variance_w,
            variance_b,
            self._examples.rows,
        )

    def _margin(self, visit: Visit) -> float:
        """Return y·a as it is: what a rule is asked of a margin of 0 depends on ``zero``."""
        a, y = visit.activation, int(self._examples.targets[visit.row])
        return float(y * a if np.ndim(a) == 0 else a[y] - a[visit.rival]) + 0.0  # never -0.0

    def _parts(self, weights: NDArray[Any] | None) -> tuple[Any, Any]:
        """Return a copy as weights and bias, by class where there are more than two."""
        if weights is None:
            return None, None
        copied = self._state.by_class(weights).copy()
        copied.flags.writeable = False
        if len(copied) == 1:
            return copied[0, :-1], float(copied[0, -1])
        return copied[:, :-1], copied[:, -1]

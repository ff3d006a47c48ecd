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
from rosenblatt.tracing.records import data_frame, json_lines
from rosenblatt.tracing.tables import html_table, markdown_table, terminal_table
from rosenblatt.tracing.visits import Visit, visits
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import StopReason
from rosenblatt.training.loop import Progress
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
        return terminal_table(self, most=PRINTED)

    def _repr_html_(self) -> str:
        return html_table(self, most=PRINTED)

    to_text = terminal_table
    to_markdown = markdown_table
    to_html = html_table
    to_json_lines = json_lines
    to_frame = data_frame


def collect_steps(
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
    state, plan = learner.start(examples.rows.shape[1], len(classes)), learner.plan()
    proof = None
    if witness is not None:
        check_proof(learner.rule)
        proof = ConvergenceProof(examples, witness_vector(witness, state), len(classes))
    last = plan.max_iter if passes is None else min(plan.max_iter, max(passes))

    def is_watched(pass_: int) -> bool:
        return passes is None or proof is not None or pass_ in passes

    steps: list[Step] = []
    progress, generator = Progress(), generator_from(learner.random_state)
    copies: Any = None  # of weights and variances since the last update
    for visit in visits(
        state, examples, replace(plan, max_iter=last), generator, is_watched, progress
    ):
        if proof is not None:
            proof.add(visit)
        if visit.tau != 0.0 or (steps and visit.pass_ != steps[-1].pass_):
            copies = None  # also where passes before it were not watched
        asked = passes is None or visit.pass_ in passes
        if not asked or (only_updates and visit.tau == 0.0):
            continue
        if len(steps) == max_rows:
            state.check_finite(0.0, EVERYTHING, f"in pass {visit.pass_}", plan.rule)
            break
        copies = copies or (_parts(state, state.weights), _parts(state, state.variance))
        stands = None if proof is None or visit.tau == 0.0 else proof.step(state)
        steps.append(_step(visit, examples, labels, classes, stands, state, copies))
    reason = progress.stop_reason
    return Trace(
        tuple(steps),
        tuple(classes),
        None if names is None else tuple(names),
        None if reason == "max_iter" and last < plan.max_iter else reason,
        None if proof is None else proof.bound,
    )


def _step(
    visit: Visit,
    examples: Examples,
    labels: Sequence[Any],
    classes: Sequence[Any],
    proof: ProofStep | None,
    state: State,
    copies: Any,
) -> Step:
    """Return what a visit was, with the weights after it."""
    (w, b), (variance_w, variance_b) = copies
    average_w, average_b = _parts(state, None if state.ledger is None else state.average())
    # y·a as it is: what a rule is asked of a margin of 0 depends on ``zero``
    a, y = visit.activation, int(examples.targets[visit.row])
    margin = float(y * a if np.ndim(a) == 0 else a[y] - a[visit.rival]) + 0.0  # never -0.0
    return Step(
        visit.pass_,
        visit.row,
        labels[visit.row],
        a,
        visit.mistake,
        visit.tau,
        classes[visit.rival],
        *(w, b, average_w, average_b),
        proof,
        margin,
        *(visit.variance, visit.beta, variance_w, variance_b),
        examples.rows,
    )


def _parts(state: State, weights: NDArray[Any] | None) -> tuple[Any, Any]:
    """Return a copy as weights and bias, by class where there are more than two."""
    if weights is None:
        return None, None
    copied = state.by_class(weights).copy()
    copied.flags.writeable = False
    if len(copied) == 1:
        return copied[0, :-1], float(copied[0, -1])
    return copied[:, :-1], copied[:, -1]

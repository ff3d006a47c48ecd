"""Follow a training and keep the steps that are asked for; what is given is checked elsewhere."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.tracing.steps import Step, Trace
from rosenblatt.tracing.witness import witness_vector
from rosenblatt.training.examples import Examples
from rosenblatt.training.fit import Plan
from rosenblatt.training.history import StopReason
from rosenblatt.training.state import EVERYTHING, State
from rosenblatt.training.trace import Visit, visits
from rosenblatt.training.trace_proof import Proof


def follow(
    examples: Examples,
    labels: Sequence[Any],
    classes: Sequence[Any],
    plan: Plan,
    generator: np.random.Generator,
    *,
    averaged: bool = False,
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
    state = State.zeros(examples.rows.shape[1], len(classes), averaged=averaged)
    proof = None
    if witness is not None:
        proof = Proof(examples, witness_vector(witness, state), len(classes))
    steps = _Steps(state, examples, labels, classes, proof)
    stop_reason = steps.collect(plan, generator, passes, max_rows, only_updates=only_updates)
    return Trace(
        tuple(steps.kept),
        tuple(classes),
        None if names is None else tuple(names),
        stop_reason,
        None if proof is None else proof.bound,
    )


class _Steps:
    """Turns visits into steps; copies weights only for steps that are kept, and once an update."""

    def __init__(
        self,
        state: State,
        examples: Examples,
        labels: Sequence[Any],
        classes: Sequence[Any],
        proof: Proof | None,
    ) -> None:
        self.kept: list[Step] = []
        self._state, self._examples, self._proof = state, examples, proof
        self._labels, self._classes = labels, classes
        self._pass = 0
        self._weights: tuple[NDArray[Any], Any] | None = None  # copied since the last update

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
                if max_rows is not None and len(self.kept) == max_rows:
                    break
                self.kept.append(self._step(visit))
        self._state.check_finite(0.0, EVERYTHING, f"in pass {visit.pass_}")
        return None

    def _meet(self, visit: Visit) -> None:
        if visit.tau != 0.0 or visit.pass_ != self._pass:  # passes before it may not be watched
            self._weights, self._pass = None, visit.pass_
        if self._proof is not None:
            self._proof.add(visit)

    def _step(self, visit: Visit) -> Step:
        state = self._state
        if self._weights is None:
            self._weights = self._parts(state.weights)
        w, b = self._weights
        average_w, average_b = (
            (None, None) if state.ledger is None else self._parts(state.average())
        )
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
            self._examples.rows,
        )

    def _parts(self, weights: NDArray[Any]) -> tuple[NDArray[Any], Any]:
        """Return a copy as weights and bias, by class where there are more than two."""
        copied = self._state.by_class(weights).copy()
        copied.flags.writeable = False
        if len(copied) == 1:
            return copied[0, :-1], float(copied[0, -1])
        return copied[:, :-1], copied[:, -1]

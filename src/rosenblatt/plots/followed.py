"""The trainings that pictures follow step by step, and what is taken of them."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError

if TYPE_CHECKING:
    from rosenblatt.tracing import ProofStep, Step, Trace

MOST_STEPS = 200_000  # visits that are followed


def traced(X: Any, y: Any, parameters: dict[str, Any]) -> "Trace":
    """Return the trace of a perceptron beside the witness of widest margin.

    Raises
    ------
    InputError
        Where the rows are not separable: the theorem is about rows that are.
    """
    from rosenblatt.theory.diagnosis import diagnose
    from rosenblatt.tracing import trace

    verdict = diagnose(X, y)
    if verdict.status != "separable" or verdict.augmented is None:
        msg = (
            f"The rows are {verdict.status}, and the bound on mistakes is about separable ones: "
            "see SeparabilityDisplay."
        )
        raise InputError(msg)
    witness = (verdict.augmented[..., :-1], verdict.augmented[..., -1])
    return trace(X, y, witness=witness, **{"max_rows": MOST_STEPS} | parameters)


def proofs_of(trace: "Trace") -> "tuple[NDArray[Any], list[ProofStep]]":
    """Return the places of the updates in the trace, counted from 1, and their proofs."""
    if trace.bound is None:
        msg = "The trace has no proof: make it with a witness, trace(X, y, witness=(w, b))."
        raise InputError(msg)
    found = [(k, step.proof) for k, step in enumerate(trace, 1) if step.proof is not None]
    if not found:
        msg = "The trace holds no update: there is nothing to draw."
        raise InputError(msg)
    return np.array([k for k, _ in found]), [proof for _, proof in found]


def chosen_update(followed: "Trace", update: int | None) -> "Step":
    """Return the update of this number, or one that shows most."""
    if update is not None:
        if not 1 <= update <= len(followed):
            msg = f"The training made {len(followed)} updates; there is no update {update}."
            raise InputError(msg)
        return followed[update - 1]
    if not len(followed):
        msg = "The training made no update: there is nothing to draw."
        raise InputError(msg)
    pairs = pairwise(followed)
    return next((step for last, step in pairs if np.any(last.w)), followed[0])

"""History as data: one record a pass."""

from dataclasses import dataclass
from typing import Literal

StopReason = Literal["converged", "max_iter", "early_stopping", "time_limit", "interrupted"]


@dataclass(frozen=True, slots=True)
class PassRecord:
    """What one pass did."""

    pass_: int  # counted from 1
    mistakes: int  # rows misclassified when they came
    updates: int  # rows that changed the weights
    loss: float  # J(w) = Σ over mistakes of −y·a, each at its time
    validation_score: (
        float | None
    )  # accuracy on held-out rows of the weights that would be returned
    seconds: float

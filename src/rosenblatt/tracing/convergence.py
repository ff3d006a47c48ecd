"""The proof of the convergence theorem, followed update by update (CIML, Theorem 2).

Let w* be a unit vector that separates the rows by γ, and R the length of the longest row. Every
update adds τ·y·x, so w·w* gains at least τ·γ. And ‖w‖² gains τ²‖x‖² + 2τ·y·a: at most τ²·R² on a
mistake, where y·a ≤ 0. After k mistakes of a perceptron with τ = 1 that is w·w* ≥ k·γ and
‖w‖² ≤ k·R², and since w·w* ≤ ‖w‖, k ≤ R²/γ². A rule that also steps on rows that are right by a
little has 2τ·y·a more on its side. All vectors are augmented: the bias is the weight of a constant.

With K classes the weights of all classes are one long vector, and what an update adds is x for the
true class and −x for its rival.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter
from rosenblatt.rules import additive_rules
from rosenblatt.tasks import CLASSES, task_of
from rosenblatt.tasks.leads import leads_of
from rosenblatt.tracing.visits import Visit
from rosenblatt.training.examples import Examples
from rosenblatt.training.state import State

SLACK = 1e-9  # relative; both sides are sums that round


@dataclass(frozen=True, slots=True)
class ProofStep:
    """Where the weights stand after an update, beside what the proof says of them."""

    updates: int  # k
    angle: float  # between w and w*, in degrees
    projection: float  # w·w*
    projection_bound: float  # it is at least this: kγ where every step is 1
    sqnorm: float  # ‖w‖²
    sqnorm_bound: float  # it is at most this: kR² where every step is 1

    @property
    def length(self) -> float:
        """‖w‖."""
        return float(np.sqrt(self.sqnorm))

    @property
    def holds(self) -> bool:
        """Whether both inequalities hold, up to the rounding of the sums."""
        low = self.projection >= self.projection_bound - SLACK * abs(self.projection_bound)
        return low and self.sqnorm <= self.sqnorm_bound * (1 + SLACK)


class ConvergenceProof:
    """Follows the two sums of the proof through a training that starts from zero."""

    def __init__(self, examples: Examples, w: NDArray[Any], n_classes: int) -> None:
        """Take a separating w, by class with the bias last, (1, d + 1) for two classes."""
        # The constant feature is 0 where no bias is learned: then a bias of w* plays no part.
        unit = w * np.append(np.ones(w.shape[1] - 1), float(examples.rows.constant != 0.0))
        length = np.linalg.norm(unit)
        if not length > 0.0:
            msg = "The witness must have a weight other than 0; got none: diagnose(X, y) finds one."
            raise InputError(msg)
        self.unit = unit / length
        vector = self.unit[0] if n_classes == 2 else self.unit
        scores = State(vector, None, task_of(CLASSES, n_classes)).scores(examples.rows)
        y = examples.targets
        margins = y * scores if n_classes == 2 else leads_of(scores, y)[0]
        worst = int(np.argmin(margins))
        self.margin = float(margins[worst])  # γ
        if not self.margin > 0.0:
            raise InputError(
                f"The witness must separate the rows; row {worst} has the margin "
                f"{self.margin:.6g}: give one that does; diagnose(X, y) finds it if there is."
            )
        vectors = 1 if n_classes == 2 else 2
        rows = examples.rows
        self.sqradius = vectors * max(rows.sqnorm(i) for i in range(rows.shape[0]))  # R²
        self.updates = 0
        self._steps = 0.0
        self._growth = 0.0

    @property
    def bound(self) -> float:
        """R²/γ², which the mistakes of a perceptron never exceed."""
        return float(self.sqradius / self.margin**2)

    def add(self, visit: Visit) -> None:
        """Count an update."""
        if visit.tau == 0.0:
            return
        self.updates += 1
        self._steps += visit.tau
        self._growth += visit.tau * (visit.tau * self.sqradius + 2.0 * max(visit.margin, 0.0))

    def step(self, state: State) -> ProofStep:
        """Return where the weights stand now."""
        w = state.by_class(state.weights)
        projection, sqnorm = float(np.vdot(w, self.unit)), float(np.vdot(w, w))
        cosine = min(1.0, max(-1.0, projection / np.sqrt(sqnorm))) if sqnorm > 0.0 else 0.0
        return ProofStep(
            self.updates,
            float(np.degrees(np.arccos(cosine))),
            projection,
            self.margin * self._steps,
            sqnorm,
            self._growth,
        )


def check_proof(rule: str) -> None:
    """Raise InputError for a rule that the proof does not cover."""
    if rule not in additive_rules():
        raise InputError(
            f"The convergence proof does not cover {Parameter('rule', rule)}, whose steps are not"
            f" along the row; use the rule {', '.join(additive_rules())}."
        )


def witness_vector(witness: Any, state: State) -> NDArray[Any]:
    """Return a witness by class with the bias last, (1, d + 1) for two classes."""
    pair = witness
    for names in (("w", "b"), ("coef_", "intercept_")):
        if all(hasattr(witness, name) for name in names):
            pair = [getattr(witness, name) for name in names]
            break
    try:
        w, b = pair
    except (TypeError, ValueError):
        w = b = None
    if w is None or b is None:
        raise InputError(
            "The witness must be a pair (w, b), or have w and b as the verdict on separable rows "
            f"has; got {witness!r:.80}."
        )
    n_vectors, width = state.by_class(state.weights).shape
    weights, bias = np.asarray(w, np.float64), np.asarray(b, np.float64)
    if weights.size != n_vectors * (width - 1) or bias.size != n_vectors:
        shapes = f"({width - 1},) and ()"
        if n_vectors > 1:
            shapes = f"({n_vectors}, {width - 1}) and ({n_vectors},)"
        raise InputError(
            f"The witness must be weights and bias of the shapes {shapes}; got {weights.shape} and "
            f"{bias.shape}."
        )
    together = np.column_stack([weights.reshape(n_vectors, -1), bias.reshape(-1)])
    if not np.isfinite(together).all():
        raise InputError("The witness must be finite numbers.")
    return together

"""The proof that weights separate all the data, put together from the shards."""

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.distributed.mixing import Start
from rosenblatt.distributed.shards import Shard
from rosenblatt.kernels.shapes import matrix_of
from rosenblatt.theory.verdict import Verdict
from rosenblatt.training.state import State


class Extent(NamedTuple):
    """How near a shard comes to the boundary, and how far from the origin; both exact."""

    least: Fraction | None  # the least lead of a true class; None where it is beyond float64
    squared_radius: Fraction  # R² = max ‖x‖² + 1


def extent(shard: Shard, start: Start) -> Extent | None:
    """Return what one shard says of these weights, or None where it has no rows to learn from."""
    from rosenblatt.theory.inequalities import Inequalities
    from rosenblatt.theory.labelled_rows import LabelledRows
    from rosenblatt.theory.widest_margin import squared_radius

    state, rows, learning = start.state(), shard.examples.rows, shard.learning
    if not len(learning):
        return None
    X = matrix_of(rows)
    if len(learning) < rows.shape[0]:
        X = X[learning]
    targets = shard.examples.targets[learning]
    numbers = (targets > 0).astype(np.int64) if state.n_classes == 2 else targets
    labelled = LabelledRows(X, numbers, np.arange(state.n_classes))
    v = np.ascontiguousarray(state.by_class(state.weights)).reshape(-1)
    return Extent(Inequalities(labelled).least(v), squared_radius(labelled))


def verdict_of(
    extents: Sequence[Extent | None],
    state: State,
    classes: NDArray[Any],
    n_rows: int,
    notes: tuple[str, ...] = (),
) -> Verdict | None:
    """Return the verdict "separable" with the last weights as witness, if they prove it exactly."""
    from rosenblatt.theory.exact import root_bounds, rounded_up, squared_norm

    known = [one for one in extents if one is not None]
    leasts = [one.least for one in known if one.least is not None]
    if len(leasts) < len(known) or not leasts or min(leasts) <= 0:
        return None
    least, square = min(leasts), max(one.squared_radius for one in known)
    V = np.array(state.by_class(state.weights))
    two = state.n_classes == 2
    gammas = []
    for part in (V[:, :-1], V):
        length = squared_norm(part.reshape(-1))
        gammas.append(root_bounds(least * least / length)[0] if length else inf)
    low, augmented = gammas
    return Verdict(
        status="separable",
        classes=tuple(classes.tolist()),
        n_rows=n_rows,
        n_features=state.n_features,
        radius=root_bounds(square)[1],
        margin_low=low,
        margin_high=inf,
        augmented_low=augmented,
        augmented_high=inf,
        bound=rounded_up((1 if two else 2) * square / Fraction(augmented) ** 2),
        w=V[0, :-1] if two else V[:, :-1],
        b=float(V[0, -1]) if two else V[:, -1],
        notes=notes,
    )

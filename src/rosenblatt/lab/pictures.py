"""What a page draws after a step: lines and areas as paths, and the numbers beside them."""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.lab.contours import positive_area, zero_line
from rosenblatt.lab.document import MEMORIES, View
from rosenblatt.lab.run import Moment, Run, rule_of
from rosenblatt.lab.sentences import sentence
from rosenblatt.lab.votes import Votes

CELLS = 48  # of the grid, on a side; where activations are linear in the plane one is exact
ARROW = 0.22  # of the width of the view, for the longest weight vector so far
PARALLEL = 1e-12  # relative change over the view, below which a boundary is out of sight


class Pictures:
    """The pictures of one training; what does not change from step to step is kept."""

    def __init__(self, run: Run) -> None:
        self._run = run
        document = run.document
        self._field = run.space.field(grid(document.view, 1 if run.space.is_line else CELLS))
        self._scores = run.space.field(document.X)
        self._row_votes = Votes(run.space.products(document.X), document.zero)
        self._grid_votes: Votes | None = None
        self._for_zero = 1 if document.zero == "positive" else -1

    def frame(self, at: int, lines: Collection[str] = MEMORIES) -> dict[str, Any]:
        """Return all that is drawn after ``at`` visits, which are known.

        ``lines`` are the memories whose boundaries are wanted, beside that of the document.
        """
        run, moment = self._run, self._run.moment(at)
        visit, memory = moment.visit, run.document.memory
        vectors = {"last": moment.weights, "average": moment.average}
        grids = {name: self._values(weights) for name, weights in vectors.items()}
        if "vote" in {*lines, memory}:
            grids["vote"] = self._voted(moment)
        scores = {name: self._scores(weights) for name, weights in vectors.items()}
        scores["vote"] = self._row_votes.share(moment.updates, at)
        chosen = vectors.get(memory)
        changed = visit is not None and visit.tau != 0.0
        return {
            "at": at,
            "sentence": sentence(run, moment),
            "row": None if visit is None else visit.row,
            "changed": changed,
            "lines": {name: zero_line(grids[name]) for name in MEMORIES if name in lines},
            "before": zero_line(self._values(moment.before)) if changed else "",
            "area": positive_area(grids[memory]),
            "band": None if chosen is None else self._band(chosen, grids[memory], scores[memory]),
            "arrows": self._arrows(moment) if run.space.is_line else None,
            "feet": self._feet(chosen) if run.space.is_line else None,
            "weights": self._weights(moment),
            "projections": self._projections(chosen, scores[memory]),
            "wrong": self._wrong(scores[memory]),
            "errors": {name: len(self._wrong(found)) for name, found in scores.items()},
            "mistakes": sum(visit.mistake for visit in run.visits[:at]),
            "updates": len(moment.updates),
            "per_pass": _per_pass(run, at),
        }

    def _values(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return activations on the grid, in rows from top to bottom."""
        flat = self._field(weights)
        return flat.reshape(round(len(flat) ** 0.5), -1)

    def _voted(self, moment: Moment) -> NDArray[Any]:
        if self._grid_votes is None:
            document = self._run.document
            products = self._run.space.products(grid(document.view, CELLS))
            self._grid_votes = Votes(products, document.zero)
        return self._grid_votes.at(moment.updates, moment.at).reshape(CELLS + 1, -1)

    def _wrong(self, scores: NDArray[Any]) -> list[int]:
        predicted = np.where(scores == 0.0, self._for_zero, np.sign(scores))
        return [int(i) for i in np.flatnonzero(predicted != self._run.document.y)]

    def _band(
        self, weights: NDArray[Any], values: NDArray[Any], scores: NDArray[Any]
    ) -> dict[str, Any] | None:
        """Return the band in which the rule wants no row; a perceptron's is that of its margin."""
        document = self._run.document
        level, kind = self._target(), "target"
        if level is None:
            margins = document.y * scores
            level, kind = float(margins.min(initial=np.inf)), "margin"
            if not 0.0 < level < np.inf:
                return None
        length = self._run.space.length(weights, self._run.rows)
        if not length > 0.0 or not level > 0.0:
            return None
        lines = [zero_line(values - level), zero_line(values + level)]
        return {"kind": kind, "level": level, "width": level / length, "lines": lines}

    def _target(self) -> float | None:
        """Return the activation that the rule wants of every row, where it wants one."""
        return rule_of(self._run.document).target or None

    def _arrows(self, moment: Moment) -> list[dict[str, Any]]:
        """Return the weight vector before and after, each from the middle of its boundary."""
        longest = max((float(np.hypot(*u.weights[:2])) for u in moment.updates), default=0.0)
        pairs = {"after": moment.weights}
        if moment.before is not moment.weights:
            pairs["before"] = moment.before
        found = ((name, self._arrow(weights, longest)) for name, weights in pairs.items())
        return [{"name": name, **arrow} for name, arrow in found if arrow is not None]

    def _arrow(self, weights: NDArray[Any], longest: float) -> dict[str, Any] | None:
        left, right, bottom, top = self._run.document.view
        w, b = weights[:2], float(weights[2])
        length = float(np.hypot(*w))
        centre = np.array([(left + right) / 2, (bottom + top) / 2])
        if length <= PARALLEL * abs(b) or not longest > 0.0:
            return None
        foot = centre - (w @ centre + b) / length**2 * w
        if not (left <= foot[0] <= right and bottom <= foot[1] <= top):
            return None
        tip = foot + ARROW * (right - left) * w / longest
        return {"from": foot.tolist(), "to": tip.tolist()}

    def _feet(self, weights: NDArray[Any] | None) -> list[list[float]] | None:
        """Return the point of the boundary nearest to each row."""
        if weights is None or not weights[:2].any():
            return None
        X, w = self._run.document.X, weights[:2]
        away = self._scores(weights) / (w @ w)
        return (X - away[:, None] * w).tolist()  # type: ignore[no-any-return]

    def _weights(self, moment: Moment) -> dict[str, Any]:
        """Return the weights by name, before and after; of a kernel those of rows, by size."""
        space = self._run.space
        if not space.has_kernel:
            names = [*space.names, "b"]
            order = list(range(len(names)))
        else:
            order = np.argsort(-np.abs(moment.weights[:-1]), kind="stable").tolist()
            order = [i for i in order if moment.weights[i] != 0.0 or moment.before[i] != 0.0]
            names = [f"row {i}" for i in order]
        kept = {
            "before": moment.before,
            "after": moment.weights,
            "average": moment.average,
        }
        return {"names": names} | {name: array[order].tolist() for name, array in kept.items()}

    def _projections(self, weights: NDArray[Any] | None, scores: NDArray[Any]) -> dict[str, Any]:
        if weights is None:
            return {"unit": "lead in votes, as a share of all", "values": scores.tolist()}
        length = self._run.space.length(weights, self._run.rows)
        if not length > 0.0:
            return {"unit": "activation", "values": scores.tolist()}
        return {"unit": "signed distance to the boundary", "values": (scores / length).tolist()}


def grid(view: View, cells: int) -> NDArray[Any]:
    """Return the nodes of a grid over the view, row after row from the top, (m, 2)."""
    left, right, bottom, top = view
    xs, ys = np.linspace(left, right, cells + 1), np.linspace(top, bottom, cells + 1)
    return np.column_stack([np.tile(xs, cells + 1), np.repeat(ys, cells + 1)])


def _per_pass(run: Run, at: int) -> list[int]:
    """Return the mistakes of each pass so far."""
    counts: list[int] = []
    for visit in run.visits[:at]:
        if visit.pass_ > len(counts):
            counts.append(0)
        counts[-1] += visit.mistake
    return counts

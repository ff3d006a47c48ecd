"""One update: the boundary and the weight vector before and after it (CIML, Figure 4.9)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.plots.display import Axes, label_text
from rosenblatt.plots.frame import line_in
from rosenblatt.plots.palette import FAINT, class_style
from rosenblatt.plots.plane import Features, Plane, plane_of, plane_through
from rosenblatt.plots.scene import PlaneDisplay, scene_of
from rosenblatt.plots.subject import DrawnRows, check_two_classes, rows_of_data, unit
from rosenblatt.rules import additive_rules

if TYPE_CHECKING:
    from rosenblatt.tracing import Step

LONGEST = 1.5  # ranges of the rows that the weights may take before they are drawn shorter


@dataclass
class UpdateDisplay(PlaneDisplay):
    """A row that is misclassified, and what its update w ← w + τ·y·x does to the boundary.

    Weights are drawn from the origin in the units of the rows, or shortened all alike where they
    are much longer. Of more than two features the plane is by default that of the weights before
    and of the row, where both boundaries and the row are in their true places.

    Attributes
    ----------
    row : int
        The row that was learned from, counted from 0; its point is ``points[row]``.
    step : float
        τ, positive whatever the class.
    before, after : arrays of shape (3,)
        The weights in the drawn plane and the bias.
    boundary_before, boundary_after : arrays of shape (2, 2), or None
    scale : float
        What the weights are multiplied by to be drawn.
    line_before_, line_after_, arrow_before_, arrow_after_, arrow_step_, legend_ :
        What was drawn, after ``plot``; None for what there is not.
    """

    row: int
    pass_: int
    step: float
    before: NDArray[Any]
    after: NDArray[Any]
    boundary_before: NDArray[Any] | None
    boundary_after: NDArray[Any] | None
    scale: float
    activation: float  # of the row before
    activation_after: float

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        *,
        update: int | None = None,
        features: Features | None = None,
        plane: str | None = None,
        feature_names: Sequence[str] | None = None,
        **parameters: Any,
    ) -> Self:
        """Train step by step and draw one update.

        Parameters
        ----------
        X, y : rows and labels of two classes
        update : int, default None
            Which one, counted from 1; None for the first that finds a boundary, or the first.
        features : two names or numbers, default None
        plane : "pca" or "weights", default None
        feature_names : names of the features, default None
            As of ``BoundaryDisplay``.
        parameters : values by name
            Those of ``trace``: ``rule``, ``shuffle``, ``max_iter`` and so on.
        """
        from rosenblatt.tracing import trace

        followed = trace(X, y, **{"max_rows": update or 50} | parameters | {"only_updates": True})
        if update is not None and not 1 <= update <= len(followed):
            msg = f"Update {update} does not exist; training made {len(followed)} updates."
            raise InputError(msg)
        if not len(followed):
            raise InputError("Training made no update, so there is nothing to draw.")
        with_boundary = (step for last, step in pairwise(followed) if np.any(last.w))
        step = followed[update - 1] if update else next(with_boundary, followed[0])
        return cls._of_step(rows_of_data(X, y, feature_names), step, features, plane)

    @classmethod
    def _of_step(
        cls, rows: DrawnRows, step: "Step", features: Features | None, plane: str | None
    ) -> Self:
        check_two_classes(rows)
        if step.variance is not None:
            raise InputError(
                "This picture shows a step along the row, which a second-order rule does not make; "
                f"use the rule {', '.join(additive_rules())}."
            )
        signed = step.step * (1.0 if step.y == rows.classes[1] else -1.0)
        w, b = step.w - signed * step.x, step.b - signed * step.rows.constant
        if features is None and plane is None and rows.n_features > 2 and w.any():
            labels = ("along w before the update", "along the row, beside w")
            note = f"the plane of w and the row, of {rows.n_features} features"
            shown: Plane = plane_through(w, step.x, labels, note)
        else:
            shown = plane_of(rows, features, plane, step.w if plane else None)
        before, after = (
            np.append(*shown.weights(v, bias)) for v, bias in ((w, b), (step.w, step.b))
        )
        reach = float(np.abs(shown.points(rows.X)).max())
        longest = max(float(np.hypot(*v[:2])) for v in (before, after))
        scale = 1.0
        if longest > LONGEST * reach > 0:
            scale = float(10.0 ** np.floor(np.log10(LONGEST * reach / longest)))
        tips = scale * np.stack([before[:2], after[:2], np.zeros(2)])
        scene = scene_of(rows, shown, beside=tips)
        lines = []
        for v in (before, after):
            normal = unit(v[:2], float(v[2]))
            lines.append(None if normal is None else line_in(scene.frame, *normal))
        return cls(
            **vars(scene),
            row=step.row,
            pass_=step.pass_,
            step=step.step,
            before=before,
            after=after,
            boundary_before=lines[0],
            boundary_after=lines[1],
            scale=scale,
            activation=float(step.activation),
            activation_after=float(step.w @ step.x + step.b * step.rows.constant),
        )

    def _sentence(self) -> str:
        label = self.classes[self.numbers[self.row]]
        none = not self.before[:2].any()
        first = " Before it all weights are 0, and there is no boundary." if none else ""
        return (
            f"Row {self.row} ({label}) has the activation {self.activation:.4g} before its update "
            f"in pass {self.pass_} and {self.activation_after:.4g} after it.{first}"
        )

    def _draw(self, _: Axes) -> None:
        self._begin()
        self._mark_origin()
        self.points_ = self._scatter(faint=True)
        number = int(self.numbers[self.row])
        colour = class_style(number).colour
        own = slice(self.row, self.row + 1)
        self._scatter(own)
        name = label_text(self.classes[number], 16)
        self.ring_ = self._ring(own, f"row {self.row} ({name})")
        dashed: Any = {"colour": FAINT, "width": 1.5, "line": "--"}
        self.line_before_ = self._line(self.boundary_before, "boundary before", **dashed)
        self.line_after_ = self._line(self.boundary_after, "boundary after")
        tips = self.scale * np.stack([self.before[:2], self.after[:2]])
        self.arrow_before_ = None
        if self.before[:2].any():
            self.arrow_before_ = self._arrow([np.zeros(2), tips[0]], "w before", colour=FAINT)
        self.arrow_after_ = self._arrow([np.zeros(2), tips[1]], "w after")
        step = "" if self.step == 1.0 else f"{self.step:.3g}·"
        label = f"the update, {'+' if number else '−'}{step}x"
        self.arrow_step_ = self._arrow(tips, label, colour=colour, width=1.5)
        drawn = "" if self.scale == 1.0 else f"weights drawn × {self.scale:g}"
        told = f"One update: activation {self.activation:.3g} → {self.activation_after:.3g}"
        self._finish(told, "; ".join(part for part in (self.note, drawn) if part))

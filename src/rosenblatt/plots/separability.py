"""Whether a line parts the classes, with the rows that prove it (CIML, Figures 4.10 to 4.12)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.plots.display import Axes
from rosenblatt.plots.frame import band_in, line_in
from rosenblatt.plots.palette import INK, ORANGE, class_style
from rosenblatt.plots.plane import Features, plane_of
from rosenblatt.plots.scene import PlaneDisplay, mark_handle, scene_of
from rosenblatt.plots.subject import DrawnRows, check_two_classes, rows_of_data, unit
from rosenblatt.wording import counted

if TYPE_CHECKING:
    from rosenblatt.theory.verdict import Verdict

UNSEEN = 1e-6  # weight in a mixture
MOST_RINGED = 5  # rows of the proof of either class; hulls of many more would be a scribble


@dataclass
class SeparabilityDisplay(PlaneDisplay):
    """Rows of two classes with the proof that a line separates them, or that none does.

    Separable: the boundary of widest margin γ, its band, and the rows whose hulls come nearest.
    Inseparable: the rows of the certificate are ringed; a mixture of those of one class is the same
    point as a mixture of those of the other, and that point is marked. Where the classes only touch
    (quasi-complete separation), the boundary that they touch in is drawn, and the rows on it.

    Attributes
    ----------
    status : "separable", "inseparable" or "undecided"
    proof_rows : array
        The rows that prove it, by their numbers: those of either class, the heaviest first.
    ringed : array
        At most ten of them, five of either class, which are ringed.
    touching : array
        The rows on the boundary where the classes only touch.
    hulls : two arrays of shape (n, 2)
        The corners of the proof of either class, in order around it.
    meeting : array of shape (2, 2)
        The mixture of each class in the plane: one point twice where they are inseparable, the
        nearest points of the hulls where they are separable.
    boundary, band : arrays, or None
    verdict : Verdict
    line_, band_, ring_, touching_, points_, legend_ :
        What was drawn, after ``plot``, or None.
    """

    status: str
    margin: float
    proof_rows: NDArray[Any]
    ringed: NDArray[Any]
    touching: NDArray[Any]
    hulls: tuple[NDArray[Any], NDArray[Any]]
    meeting: NDArray[Any] | None
    normal: NDArray[Any] | None  # unit weights in the plane, and the distance last
    boundary: NDArray[Any] | None
    band: NDArray[Any] | None
    verdict: "Verdict"

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        *,
        verdict: "Verdict | None" = None,
        features: Features | None = None,
        plane: str | None = None,
        feature_names: Sequence[str] | None = None,
        time_limit: float | None = 60.0,
    ) -> Self:
        """Diagnose and draw.

        Parameters
        ----------
        X, y : rows and labels of two classes
        verdict : Verdict, default None
            Of ``diagnose`` on these rows, where it is already known.
        features : two names or numbers, default None
        plane : "pca" or "weights", default None
        feature_names : names of the features, default None
            As of ``BoundaryDisplay``; the plane of separable rows is by default "weights".
        time_limit : float, default 60.0
            Of ``diagnose``, in seconds.
        """
        from rosenblatt.theory.diagnosis import diagnose

        rows = rows_of_data(X, y, feature_names)
        check_two_classes(rows)
        if verdict is None:
            verdict = diagnose(X, y, time_limit=time_limit)
        return cls._of_verdict(rows, verdict, features, plane)

    @classmethod
    def _of_verdict(
        cls, rows: DrawnRows, verdict: "Verdict", features: Features | None, plane: str | None
    ) -> Self:
        separates = verdict.status == "separable" and verdict.w is not None and verdict.w.any()
        only_touches = verdict.separation == "quasi-complete"
        weights = bias = None
        if separates:
            weights, bias = np.asarray(verdict.w), verdict.b
        elif only_touches:
            *parts, bias = _floats(verdict.estimates.direction[0])
            weights = np.array(parts)
        shown = plane_of(rows, features, plane, weights)
        scene = scene_of(rows, shown)
        points, frame = scene.points, scene.frame
        normal = boundary = band = meeting = None
        if weights is not None:
            w, b = shown.weights(weights, bias)
            found = unit(w, float(b))
            if found is not None:
                normal = np.append(*found)
                boundary = line_in(frame, *found)
            if found is not None and separates:
                half = verdict.margin_low * float(np.linalg.norm(weights))
                band = band_in(frame, *found, half / float(np.hypot(*w)))
        proof: Any = verdict.nearest if verdict.status == "separable" else verdict.certificate
        sides = []
        if proof is not None:
            sides = [
                _weighty(proof.negative_rows, proof.negative_weights),
                _weighty(proof.positive_rows, proof.positive_weights),
            ]
            meeting = np.stack([weights @ points[numbers] for numbers, weights in sides])
        hulls = [around(points[numbers]) for numbers, _ in sides] or [np.empty((0, 2))] * 2
        return cls(
            **vars(scene),
            status=verdict.status,
            margin=verdict.margin_low if separates else 0.0,
            proof_rows=np.concatenate([numbers for numbers, _ in sides] or [np.empty(0, int)]),
            ringed=np.concatenate([n[:MOST_RINGED] for n, _ in sides] or [np.empty(0, int)]),
            touching=np.array(verdict.boundary_rows, int),
            hulls=(hulls[0], hulls[1]),
            meeting=meeting,
            normal=normal,
            boundary=boundary,
            band=band,
            verdict=verdict,
        )

    def _sentence(self) -> str:
        n = f"{len(self.points):,} rows"
        if self.status == "separable":
            return f"{n} are separable, with the margin γ = {self.margin:.4g}."
        if len(self.touching):
            return (
                f"{n} are inseparable, but the classes only touch: no row is on the wrong side of "
                f"the boundary, and {counted(len(self.touching), 'row')} on it are ringed."
            )
        if self.status == "inseparable":
            return (
                f"{n} are inseparable: mixtures of {len(self.proof_rows)} rows, those of either "
                f"class, are one point; {len(self.ringed)} are ringed."
            )
        return f"Whether {n} are separable was not decided in time."

    def _draw(self, ax: Axes) -> None:
        self._begin()
        self.band_ = self.ring_ = self.touching_ = None
        if self.normal is not None:
            self._sides(self.normal[:2], float(self.normal[2]))
        name = "boundary that the classes touch in" if len(self.touching) else ""
        self.line_ = self._line(self.boundary, name or "boundary of widest margin")
        if self.band is not None and len(self.band):
            self.band_ = self._band(self.band, f"margin γ = {self.margin:.3g} on either side")
        self.points_ = self._scatter()
        if len(self.touching):
            self.touching_ = self._ring(self.touching, "rows on the boundary")
        elif self.meeting is not None:
            self._draw_proof(ax, self.meeting)
        touch = ": the classes touch" if len(self.touching) else ""
        self._finish(self.status.capitalize() + touch, self.note)

    def _draw_proof(self, ax: Axes, meeting: NDArray[Any]) -> None:
        """Draw the rows of the proof and where their mixtures lie."""
        few = len(self.ringed) == len(self.proof_rows)
        for number, hull in enumerate(self.hulls if few else ()):
            closed = np.concatenate([hull, hull[:1]]) if len(hull) > 2 else hull
            self._line(closed, colour=class_style(number).colour, width=1.5, line="--")
        more = "" if few else f", the first {len(self.ringed)} of {len(self.proof_rows):,}"
        self.ring_ = self._ring(self.ringed, f"rows that prove it{more}")
        if self.status == "separable":
            label = f"nearest points of the hulls, {2 * self.margin:.3g} apart"
            self._line(meeting, label, colour=ORANGE)
        else:
            at = meeting.mean(axis=0)
            ax.plot(*at, marker="X", markersize=11, linestyle="none", color=INK, zorder=7)
            self._listed(mark_handle("one point, a mixture of both", marker="X", color=INK))


def _floats(numbers: Sequence[int]) -> list[float]:
    """Return whole numbers of any length in floating point, up to a factor."""
    largest = max(map(abs, numbers))
    return [float(Fraction(n, largest)) for n in numbers]


def _weighty(rows: Sequence[int], weights: Sequence[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows and weights, the heaviest first, without those that no eye would see."""
    share = np.array(weights, np.float64)
    order = [k for k in np.argsort(-share, kind="stable").tolist() if share[k] > UNSEEN]
    return np.array(rows)[order], share[order]


def around(points: NDArray[Any]) -> NDArray[Any]:
    """Return points in their order around their middle."""
    middle = points - points.mean(axis=0)
    return points[np.argsort(np.arctan2(middle[:, 1], middle[:, 0]), kind="stable")]

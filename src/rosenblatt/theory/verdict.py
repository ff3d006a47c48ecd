"""The verdict on a data set: separable, inseparable or undecided, with its proof."""

import json
from dataclasses import dataclass, field, fields, replace
from html import escape
from math import ceil, inf, isfinite, log10
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory.certificate import Certificate, MachineCertificate
from rosenblatt.theory.separation import Kind, Separation
from rosenblatt.wording import counted, plain

ROUNDING = 1e-9  # of margins of very many rows, which depends on how they are stored
Status = Literal["separable", "inseparable", "undecided"]


def _by_field(record: Any) -> dict[str, Any]:
    """Return the fields as plain values; infinite numbers become None."""
    return {field.name: plain(getattr(record, field.name)) for field in fields(record)}


@dataclass(frozen=True)
class Verdict:
    """What is known of a data set, and why it is certain.

    ``margin_low`` and ``margin_high`` enclose γ, the margin of the data set: the supremum over unit
    w and any b of CIML's eq. 4.8. ``augmented_low`` and ``augmented_high`` enclose the margin of
    the vectors (x, 1) over unit (w, b), which the convergence theorem needs: a perceptron makes at
    most ``bound`` = R²/γ² mistakes, with that γ and ``radius`` R = √(max ‖x‖² + 1). For K classes
    the margin is the least lead of the true class over its best rival for W of Frobenius norm 1,
    and the bound is 2R²/γ². Every number is rounded to the side on which it stays true.

    The proof of a lower end is a witness: ``w`` and ``b``, or ``augmented`` for the augmented one,
    the w* of the convergence theorem. The proof of ``margin_high`` is ``nearest``: weights on rows
    whose points are 2·margin_high apart (for K classes: leave that length over).
    """

    status: Status
    classes: tuple[Any, ...]
    n_rows: int
    n_features: int
    radius: float
    margin_low: float = -inf  # −inf where nothing separates, or nothing is known to
    margin_high: float = -inf
    augmented_low: float = -inf
    augmented_high: float = -inf
    bound: float | None = None
    mistakes: int | None = None
    w: NDArray[Any] | None = None  # the witness: (n_features,), or (K, n_features)
    b: Any = None
    augmented: NDArray[Any] | None = None  # unit (w, b) of widest margin, the bias last
    certificate: Certificate | MachineCertificate | None = None
    nearest: Certificate | MachineCertificate | None = None
    conflicts: tuple[tuple[int, ...], ...] = ()  # equal rows with different labels
    pairs: tuple["PairVerdict", ...] = ()
    notes: tuple[str, ...] = ()  # what was tried, and what fell short
    estimates: Separation = field(default_factory=Separation)  # for a logistic regression
    permuted: dict[str, int] | None = None  # how many permutations of the labels have which status
    seconds: float = field(default=0.0, compare=False)

    @property
    def separation(self) -> Kind:
        """What a logistic regression finds: complete or quasi-complete separation, or overlap."""
        return self.estimates.kind

    @property
    def infinite(self) -> dict[str, int]:
        """The coefficients that are infinite in a logistic regression, with their signs."""
        return self.estimates.infinite

    @property
    def boundary_rows(self) -> tuple[int, ...]:
        """The rows that every boundary without a row on the wrong side has on it."""
        return self.estimates.boundary_rows

    @property
    def gap(self) -> float | None:
        """Relative width of the margin's interval, or None without an interval."""
        if self.status != "separable" or not 0 < self.margin_high < inf:
            return None
        return (self.margin_high - self.margin_low) / self.margin_high

    def check(self, X: Any, y: Any) -> bool:
        """Return whether the proof of this verdict holds for these rows, in exact arithmetic.

        Inseparable: the certificate, multiplied out, and the proof of quasi-complete separation or
        overlap, if it was decided. Separable: every row is on its side of the witness, at least
        ``margin_low`` away. Undecided: there is no proof, and so False.
        """
        from rosenblatt.theory.inequalities import Inequalities
        from rosenblatt.theory.labelled_rows import check_labelled_rows

        rows = check_labelled_rows(X, y)
        if self.certificate is not None:
            holds = self.status == "inseparable" and self.certificate.holds_for(rows)
            return holds and (self.estimates.kind == "undecided" or self.estimates.holds_for(rows))
        if self.w is None or self.classes != tuple(rows.classes.tolist()):
            return False
        system = Inequalities(rows)
        v = np.column_stack([np.atleast_2d(self.w), np.atleast_1d(self.b)]).ravel()
        if len(v) != system.width:
            return False
        margin = system.margin_of(v, ~system.free)
        return margin >= 0 and self.margin_low <= margin * (1 + ROUNDING)

    def __str__(self) -> str:
        return "\n".join(f"{name:>11}  {text}" for name, text in self._lines())

    def _lines(self) -> list[tuple[str, str]]:
        counts = {"row": self.n_rows, "feature": self.n_features, "class": len(self.classes)}
        size = ", ".join(counted(count, what) for what, count in counts.items())
        lines = [("verdict", f"{self.status} ({size})")]
        if self.conflicts:
            lines += self._conflict_lines()
        if self.status == "separable":
            lines += self._margin_lines()
        if self.certificate is not None:
            lines += _titled("certificate", self.certificate.lines())
        if self.pairs:
            lines += _titled("pairs", [str(pair) for pair in self.pairs[:12]])
            if len(self.pairs) > 12:
                lines.append(("", f"… and {len(self.pairs) - 12} more"))
        if self.permuted is not None:
            n, unknown = sum(self.permuted.values()), self.permuted["undecided"]
            said = f"{self.permuted['separable']} of {n} random permutations of the labels are"
            said += " separable" + (f", {unknown} undecided" if unknown else "")
            lines.append(("permuted", said))
        if self.status != "undecided":
            lines.append(("logistic", self.estimates.summary()))
        return lines + _titled("note", list(self.notes))

    def _margin_lines(self) -> list[tuple[str, str]]:
        lines = [("margin γ", _interval(self.margin_low, self.margin_high))]
        if self.bound is not None:
            times = "2R²/γ²" if len(self.classes) > 2 else "R²/γ²"
            gamma = _interval(self.augmented_low, self.augmented_high)
            lines += [
                ("radius R", f"{self.radius:.6g}, of the vectors (x, 1); their γ: {gamma}"),
                ("bound", f"at most {self.bound:.6g} mistakes ({times})"),
            ]
        if self.mistakes is not None:
            lines.append(("mistakes", f"{self.mistakes} made in training"))
        return lines

    def _conflict_lines(self) -> list[tuple[str, str]]:
        count = len(self.conflicts)
        lines = [
            ("conflicts", f"{count} group{'s' * (count != 1)} of equal rows with several labels")
        ]
        for group in self.conflicts[:3]:
            shown = ", ".join(str(row) for row in group[:8]) + ", …" * (len(group) > 8)
            lines.append(("", f"rows {shown}"))
        return lines

    def counted_from(self, first: int) -> "Verdict":
        """Return the same verdict with rows numbered from ``first``."""
        rows = np.arange(first, self.n_rows + first)

        def renumbered(proof: Any) -> Any:
            return None if proof is None else proof.renumbered(rows)

        pairs = (replace(pair, certificate=renumbered(pair.certificate)) for pair in self.pairs)
        return replace(
            self,
            certificate=renumbered(self.certificate),
            nearest=renumbered(self.nearest),
            conflicts=tuple(tuple(row + first for row in group) for group in self.conflicts),
            pairs=tuple(pairs),
            estimates=self.estimates.counted_from(first),
        )

    def as_json(self) -> dict[str, Any]:
        """Return plain values; infinite numbers become None."""
        found = _by_field(self)
        estimates: dict[str, Any] = found.pop("estimates")
        return found | estimates

    def to_json(self) -> str:
        """Return the verdict as a JSON text."""
        return json.dumps(self.as_json(), ensure_ascii=False, allow_nan=False)

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th style="text-align:right">{escape(name)}</th>'
            f'<td style="text-align:left">{escape(text)}</td></tr>'
            for name, text in self._lines()
        )
        return f"<table>{rows}</table>"


@dataclass(frozen=True)
class PairVerdict:
    """The verdict on two of several classes; rows are numbered as in the whole set."""

    labels: tuple[Any, Any]
    status: Status
    margin_low: float
    margin_high: float
    certificate: Certificate | None = None

    def __str__(self) -> str:
        text = f"{plain(self.labels[0])!r} / {plain(self.labels[1])!r}: {self.status}"
        if self.status == "separable" and 0 < self.margin_low < inf:
            text += f", γ {_interval(self.margin_low, self.margin_high)}"
        return text

    as_json = _by_field


def _titled(name: str, texts: list[str]) -> list[tuple[str, str]]:
    return [(name if i == 0 else "", text) for i, text in enumerate(texts)]


def _interval(low: float, high: float) -> str:
    """Return the value with a power of ten that its error is below, or both ends."""
    if not isfinite(high):
        return f"at least {low:.6g}"
    gap = (high - low) / high if high > 0 else 0.0
    if gap > 1e-6:
        return f"between {low:.6g} and {high:.6g}"
    return f"{low:.6g} (certain to 1e{max(-12, ceil(log10(max(gap, 1e-300))))})"

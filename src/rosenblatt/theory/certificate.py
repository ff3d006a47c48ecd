"""Certificates of inseparability: convex weights on rows that meet where no boundary can pass.

A certificate need not be believed: ``check`` multiplies it out, on the data alone, and no verdict
leaves this package before its certificate has passed.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import lcm
from typing import Any, Literal

from numpy.typing import NDArray

from rosenblatt.theory.exact import decimal_fractions
from rosenblatt.theory.inequalities import Inequalities
from rosenblatt.theory.labelled_rows import LabelledRows, check_labelled_rows
from rosenblatt.wording import plain

Arithmetic = Literal["exact", "decimal"]

MEANING: dict[Arithmetic, str] = {
    "exact": "the points are equal in exact rational arithmetic",
    "decimal": "the points are equal in exact arithmetic on the values as they print (0.1 as 1/10)",
}


@dataclass(frozen=True)
class Certificate:
    """Weights of two classes whose weighted rows are one point: both hulls hold it.

    On each side the weights are above 0 and sum to 1. ``arithmetic`` says in which numbers the
    points are equal: "exact", of the values as stored; "decimal", of the values as they print.
    """

    positive_rows: tuple[int, ...]
    positive_weights: tuple[Fraction, ...]
    negative_rows: tuple[int, ...]
    negative_weights: tuple[Fraction, ...]
    labels: tuple[Any, Any]  # of the negative and of the positive side
    arithmetic: Arithmetic = "exact"

    def check(self, X: Any, y: Any) -> bool:
        """Return whether the certificate holds for these rows, multiplied out in fractions.

        >>> half = Fraction(1, 2)
        >>> xor = Certificate((1, 2), (half, half), (0, 3), (half, half), labels=(0, 1))
        >>> xor.check([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
        True
        >>> xor.check([[0, 0], [0, 1], [1, 0], [1, 2]], [0, 1, 1, 0])
        False
        """
        return self.holds_for(check_labelled_rows(X, y))

    def holds_for(self, rows: LabelledRows) -> bool:
        """Return the same for rows that are checked already."""
        negative, positive = self.labels
        sides = (
            (self.positive_rows, self.positive_weights, positive, 1),
            (self.negative_rows, self.negative_weights, negative, -1),
        )
        if positive == negative or not all(
            _is_convex(weights) and len(numbers) == len(weights) and rows.are_of(numbers, label)
            for numbers, weights, label, _ in sides
        ):
            return False
        terms = [
            (row, sign * weight, 0)
            for numbers, weights, _, sign in sides
            for row, weight in zip(numbers, weights, strict=True)
        ]
        return _cancel(rows, terms, self.arithmetic)

    def renumbered(self, rows: NDArray[Any]) -> "Certificate":
        """Return the same for rows that are numbered otherwise."""
        positive, negative = (
            tuple(int(rows[i]) for i in side) for side in (self.positive_rows, self.negative_rows)
        )
        return replace(self, positive_rows=positive, negative_rows=negative)

    def lines(self) -> list[str]:
        """Return what a person reads."""
        negative, positive = self.labels
        return [
            f"{positive!r}: {_mixture(self.positive_rows, self.positive_weights)}",
            f"{negative!r}: {_mixture(self.negative_rows, self.negative_weights)}",
            MEANING[self.arithmetic],
        ]

    def as_json(self) -> dict[str, Any]:
        """Return plain values; weights as fractions in text, so that nothing is rounded."""
        return {
            "arithmetic": self.arithmetic,
            "labels": plain(self.labels),
            "positive": _side(self.positive_rows, self.positive_weights),
            "negative": _side(self.negative_rows, self.negative_weights),
        }


@dataclass(frozen=True)
class MachineCertificate:
    """Weights on pairs (row, rival class) that forbid one machine for all classes.

    With weight λ each row is added to its own class and taken from the rival: for every class the
    weighted rows that come and those that go are equal, in number and in every feature.
    """

    rows: tuple[int, ...]
    labels: tuple[Any, ...]  # of the rows
    rivals: tuple[Any, ...]
    weights: tuple[Fraction, ...]
    arithmetic: Arithmetic = "exact"

    def check(self, X: Any, y: Any) -> bool:
        """Return whether the certificate holds for these rows, multiplied out in fractions."""
        return self.holds_for(check_labelled_rows(X, y))

    def holds_for(self, rows: LabelledRows) -> bool:
        """Return the same for rows that are checked already."""
        parts = self.rows, self.labels, self.rivals, self.weights
        if not _is_convex(self.weights) or len({len(part) for part in parts}) > 1:
            return False
        terms: list[tuple[int, Fraction, Hashable]] = []
        for row, label, rival, weight in zip(*parts, strict=True):
            if label == rival or not rows.are_of([row], label):
                return False
            terms += [(row, weight, label), (row, -weight, rival)]
        return _cancel(rows, terms, self.arithmetic)

    def renumbered(self, rows: NDArray[Any]) -> "MachineCertificate":
        """Return the same for rows that are numbered otherwise."""
        return replace(self, rows=tuple(int(rows[i]) for i in self.rows))

    def lines(self) -> list[str]:
        """Return what a person reads."""
        shown = [
            f"row {row} ({label!r} against {rival!r}) × {_short(weight)}"
            for row, label, rival, weight in zip(
                self.rows[:8], self.labels, self.rivals, self.weights, strict=False
            )
        ]
        if len(self.rows) > 8:
            shown.append(f"… and {len(self.rows) - 8} more")
        return [*shown, MEANING[self.arithmetic]]

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "arithmetic": self.arithmetic,
            "rows": list(self.rows),
            "labels": plain(self.labels),
            "rivals": plain(self.rivals),
            "weights": [str(weight) for weight in self.weights],
        }


def _is_convex(weights: Sequence[Fraction]) -> bool:
    """Return whether weights are above 0 and sum to 1; none at all do not."""
    if not weights or min(weights) <= 0:
        return False
    common = lcm(*(weight.denominator for weight in weights))
    return sum(weight.numerator * (common // weight.denominator) for weight in weights) == common


def _cancel(
    rows: LabelledRows, terms: Iterable[tuple[int, Fraction, Hashable]], arithmetic: Arithmetic
) -> bool:
    """Return whether Σ weight·(x, 1) is exactly zero, for each name among (row, weight, name)."""
    terms = list(terms)
    common = lcm(*(weight.denominator for _, weight, _ in terms))
    totals: dict[tuple[Hashable, int], Fraction | int] = {}
    for row, weight, name in terms:
        features, values = rows.row(row)
        exact = (
            decimal_fractions(values) if arithmetic == "decimal" else map(Fraction, values.tolist())
        )
        units = weight.numerator * (common // weight.denominator)
        for feature, value in zip([*features.tolist(), -1], [*exact, Fraction(1)], strict=True):
            place = name, feature
            totals[place] = totals.get(place, 0) + units * value
    return not any(totals.values())


def _mixture(rows: Sequence[int], weights: Sequence[Fraction]) -> str:
    terms = [f"{_short(w)} × row {row}" for row, w in zip(rows[:6], weights, strict=False)]
    more = f" + … ({len(rows)} rows)" if len(rows) > 6 else ""
    return " + ".join(terms) + more


def _short(weight: Fraction) -> str:
    return str(weight) if weight.denominator < 10_000 else f"{float(weight):.6g}"


def _side(rows: Sequence[int], weights: Sequence[Fraction]) -> dict[str, Any]:
    return {"rows": list(rows), "weights": [str(weight) for weight in weights]}


@dataclass(frozen=True)
class Proof:
    """A witness, or weights on inequalities that add up to zero; neither where none was found."""

    v: NDArray[Any] | None = None
    numbers: NDArray[Any] | None = None  # inequalities
    weights: list[Fraction] = field(default_factory=list)  # their weights, which sum to 1
    arithmetic: Arithmetic = "exact"
    notes: tuple[str, ...] = ()

    def noting(self, note: str) -> "Proof":
        """Return the same with a note on what was not found."""
        return replace(self, notes=(*self.notes, note))


def certificate_of(
    system: Inequalities, proof: Proof | None
) -> Certificate | MachineCertificate | None:
    """Return the weights of a proof as weights on rows; None where it has none."""
    if proof is None or proof.numbers is None:
        return None
    rows = [int(row) for row in system.rows_of(proof.numbers)]
    classes = system.rows.classes.tolist()
    own = [int(system.rows.numbers[row]) for row in rows]
    if system.n_classes > 2:
        return MachineCertificate(
            tuple(rows),
            tuple(classes[k] for k in own),
            tuple(classes[int(number) % system.n_classes] for number in proof.numbers),
            tuple(proof.weights),
            proof.arithmetic,
        )
    weighted = list(zip(rows, proof.weights, own, strict=True))
    negative, positive = ([(r, 2 * w) for r, w, k in weighted if k == side] for side in (0, 1))
    return Certificate(
        tuple(row for row, _ in positive),
        tuple(weight for _, weight in positive),
        tuple(row for row, _ in negative),
        tuple(weight for _, weight in negative),
        (classes[0], classes[1]),
        proof.arithmetic,
    )


def conflict_certificate(
    rows: LabelledRows, conflicts: Iterable[tuple[int, ...]], pair: tuple[int, int] | None = None
) -> Certificate | None:
    """Return the certificate that two equal rows with different labels are, if there are any.

    Of a pair of classes, by number, or of any.
    """
    for group in conflicts:
        first_of: dict[int, int] = {}
        for row in group:
            first_of.setdefault(int(rows.numbers[row]), row)
        two = sorted(first_of)[:2] if pair is None else [k for k in pair if k in first_of]
        if len(two) == 2:
            classes, one = rows.classes.tolist(), (Fraction(1),)
            labels = classes[two[0]], classes[two[1]]
            return Certificate((first_of[two[1]],), one, (first_of[two[0]],), one, labels)
    return None

"""What a search found, and the certificate that it amounts to."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from rosenblatt.theory.certificate import Arithmetic, Certificate, MachineCertificate
from rosenblatt.theory.inequalities import Inequalities
from rosenblatt.theory.labelled_rows import LabelledRows


@dataclass
class Proof:
    """A witness, or weights on inequalities that add up to zero; neither where none was found."""

    v: NDArray[Any] | None = None
    numbers: NDArray[Any] | None = None  # inequalities
    weights: list[Fraction] = field(default_factory=list)  # their weights, which sum to 1
    arithmetic: Arithmetic = "exact"
    notes: list[str] = field(default_factory=list)


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


def conflict_certificate(rows: LabelledRows, group: tuple[int, ...]) -> Certificate:
    """Return the certificate that two equal rows with different labels are."""
    second = next(row for row in group if rows.numbers[row] != rows.numbers[group[0]])
    negative, positive = sorted((group[0], second), key=lambda row: int(rows.numbers[row]))
    classes = rows.classes.tolist()
    labels = classes[rows.numbers[negative]], classes[rows.numbers[positive]]
    one = (Fraction(1),)
    return Certificate((positive,), one, (negative,), one, labels)

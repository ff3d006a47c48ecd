"""What a logistic regression without a penalty finds: separation, and what has no estimate."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import gcd
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import Parameter, Sentence
from rosenblatt.theory.certificate import (
    Arithmetic,
    Certificate,
    MachineCertificate,
    Proof,
    certificate_of,
)
from rosenblatt.theory.deadline import Deadline, OutOfTimeError
from rosenblatt.theory.exact import integers, null_space
from rosenblatt.theory.inequalities import Inequalities
from rosenblatt.theory.labelled_rows import LabelledRows
from rosenblatt.theory.recession import (
    MOST_COLUMNS,
    Face,
    coefficients_of,
    face_of,
    lines_of,
    sides_of,
)
from rosenblatt.theory.search import is_witness
from rosenblatt.wording import counted, plain, word_list

Kind = Literal["complete", "quasi-complete", "overlap", "undecided"]
BIAS = "bias"
MOST_SHOWN = 12  # names, or rows, in a line

MEANING: dict[Kind, str] = {
    "complete": "a boundary has each class on its own side: no coefficient has a finite estimate",
    "quasi-complete": "a boundary has no row on the wrong side, and some on it",
    "overlap": "every boundary has a row on the wrong side: all estimates are finite",
    "undecided": "no proof was found that the classes overlap, nor that they do not",
}
REMEDIES = (
    "a penalty (ridge) or Firth's correction makes estimates finite; so does leaving out the "
    "column, or merging its category with another, where that makes sense"
)


@dataclass(frozen=True)
class Separation:
    """Whether the likelihood has a maximum, after Albert and Anderson (1984), with a proof.

    A *direction* is (w, b), not 0 everywhere, that has no row on the wrong side. Complete: one has
    every row on its own side. Quasi-complete: there is one, but each leaves some rows at 0, the
    ``boundary_rows``. Overlap: there is none.

    The proof is the ``direction``, in whole numbers, class by class with the bias last (complete:
    the verdict's own witness), and the ``multipliers``, weights above 0 on rows that add up to 0:
    so no direction has one of them, nor a combination of them, on its own side, and the rows that
    the direction leaves at 0 are such combinations. ``check`` multiplies it out.

    ``infinite`` has the coefficients that grow without bound in every sequence of weights whose
    likelihood comes to its supremum, with their signs; ``undetermined`` those that have neither a
    finite estimate nor a sign. The others have finite estimates. Of ``collinear`` columns, which
    are combinations of others, the coefficient is taken as 0, and so are all those of the
    ``baseline``, the first of several classes.
    """

    kind: Kind = "undecided"
    infinite: dict[str, int] = field(default_factory=dict)  # +1 for +∞, −1 for −∞
    undetermined: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()  # coefficients of which nothing was proved in time
    collinear: tuple[str, ...] = ()
    boundary_rows: tuple[int, ...] = ()
    direction: tuple[tuple[int, ...], ...] = ()
    multipliers: Certificate | MachineCertificate | None = None
    baseline: Any = None
    notes: tuple[str, ...] = ()

    def holds_for(self, rows: LabelledRows) -> bool:
        """Return whether direction and multipliers prove the kind, for rows that are checked."""
        if self.multipliers is None or not self.multipliers.holds_for(rows):
            return False
        power = 1
        if self.multipliers.arithmetic == "decimal":
            printed = rows.printed()
            if printed is None:
                return False
            rows, power = printed
        system = Inequalities(rows)
        v = [n for part in self.direction for n in (*part[:-1], part[-1] * power)]
        if len(v) != system.width:
            return False
        proof = Proof(numbers=_numbers_of(self.multipliers, system))
        lines = lines_of(system, proof)
        basis, _ = null_space(lines)
        if any(lines @ np.array(v, object)):
            return False
        sides = sides_of(system, v, basis)
        if sides is None or not sides.is_proof:
            return False
        kind = "overlap" if not _is_above(system, sides.held) else "quasi-complete"
        return kind == self.kind and self.boundary_rows == _boundary(system, sides.held)

    def lines(self) -> list[tuple[str, str]]:
        """Return what a person reads, in full, as names and texts."""
        lines = [("separation", f"{self.kind}: {MEANING[self.kind]}")]
        for sign, name in ((1, "+∞"), (-1, "−∞")):
            its = [one for one, own in self.infinite.items() if own == sign]
            if its:
                lines.append((name, word_list(its, MOST_SHOWN)))
        if self.undetermined:
            names = word_list(self.undetermined, MOST_SHOWN)
            lines.append(("no estimate", f"and no fixed sign: {names}"))
        if self.undecided:
            lines.append(("undecided", f"finite or not: {word_list(self.undecided, MOST_SHOWN)}"))
        if self.kind == "quasi-complete":
            if not self.undecided and not self.notes:
                lines.append(("", "all other estimates are finite"))
            rows = word_list(self.boundary_rows, MOST_SHOWN)
            n = len(self.boundary_rows)
            lines.append(("on boundary", f"{counted(n, 'row')}: {rows}"))
            lines.append(("", "the likelihood of these rows alone decides the finite estimates"))
        if self.collinear:
            names = word_list(self.collinear, MOST_SHOWN)
            lines.append(("collinear", f"{names}: combinations of other columns, left out (0)"))
        if self.baseline is not None and (self.infinite or self.undetermined):
            lines.append(("baseline", f"{self.baseline!r}: coefficients are compared to its own"))
        if self.kind in {"complete", "quasi-complete"}:
            lines.append(("remedies", REMEDIES))
        return lines + [("note", note) for note in self.notes]

    def __str__(self) -> str:
        return "\n".join(f"{name:>11}  {text}" for name, text in self.lines())

    def summary(self) -> str:
        """Return the same in a line.

        >>> Separation("quasi-complete", {"NV": 1, "bias": -1}).summary()
        'quasi-complete separation: NV +∞, bias −∞'
        """
        if self.kind in {"overlap", "undecided"}:
            return f"{self.kind}: {MEANING[self.kind]}"
        named = [f"{name} {'+' if sign > 0 else '−'}∞" for name, sign in self.infinite.items()]
        return f"{self.kind} separation: {word_list(named, 6, ', ') or 'no coefficient has a sign'}"

    def counted_from(self, first: int) -> "Separation":
        """Return the same with rows numbered from ``first``."""
        proof, most = self.multipliers, max(self.boundary_rows, default=0)
        if proof is not None:
            rows = proof.rows if isinstance(proof, MachineCertificate) else _both_sides(proof)
            proof = proof.renumbered(np.arange(first, max(most, *rows) + first + 1))
        boundary = tuple(row + first for row in self.boundary_rows)
        return replace(self, boundary_rows=boundary, multipliers=proof)

    def as_json(self) -> dict[str, Any]:
        """Return plain values, the numbers of the direction as text, so that none is rounded."""
        return {
            "separation": self.kind,
            "infinite": plain(self.infinite),
            "undetermined": list(self.undetermined),
            "undecided_coefficients": list(self.undecided),
            "collinear": list(self.collinear),
            "boundary_rows": list(self.boundary_rows),
            "direction": [[str(n) for n in part] for part in self.direction],
            "multipliers": plain(self.multipliers),
            "baseline": plain(self.baseline),
            "separation_notes": list(self.notes),
        }


def separated(
    rows: LabelledRows, v: NDArray[Any], names: Sequence[str], deadline: Deadline
) -> Separation:
    """Return the complete separation that a witness v proves.

    Values that are short decimals are taken as they print, unless v is a witness for their stored
    values alone.
    """
    system = Inequalities(rows)
    too_wide = system.width > MOST_COLUMNS
    printed = None if too_wide else rows.printed()
    if printed is not None and printed[1] > 1:
        own, V = Inequalities(printed[0]), v.reshape(system.blocks, -1).copy()
        V[:, -1] *= printed[1]
        if is_witness(own, V.ravel()):
            system, v = own, V.ravel()
    shape = rows.n_rows, 1 if system.n_classes == 2 else system.n_classes
    face = Face(
        np.zeros(shape, bool),
        [] if too_wide else integers(v)[0],
        Proof(),
        np.eye(0 if too_wide else system.width, dtype=int).astype(object),
    )
    return _named(system, "complete", face, names, deadline)


def not_separated(
    rows: LabelledRows,
    certificate: Certificate | MachineCertificate,
    names: Sequence[str],
    deadline: Deadline,
) -> Separation:
    """Return quasi-complete separation or overlap, of rows that a certificate says inseparable.

    Values that are short decimals are taken as they print, unless only their stored values are
    inseparable.
    """
    printed = rows.printed()
    forms: list[tuple[LabelledRows, int]] = [(rows, 1)]
    if certificate.arithmetic == "decimal":
        forms = [] if printed is None else [printed]
    elif printed is not None and printed[1] > 1:
        forms.insert(0, printed)
    for form, power in forms:
        system = Inequalities(form)
        face = None
        with suppress(OutOfTimeError):
            face = face_of(system, _numbers_of(certificate, system), deadline)
        if face is None or face.proof.numbers is None:
            continue
        own: Arithmetic = "decimal" if power > 1 else "exact"
        face = replace(face, proof=replace(face.proof, arithmetic=own))
        kind: Kind = "quasi-complete" if _is_above(system, face.held) else "overlap"
        found = replace(
            _named(system, kind, face, names, deadline),
            direction=_direction(face.v, system, power),
            multipliers=certificate_of(system, face.proof),
            boundary_rows=_boundary(system, face.held),
        )
        if found.holds_for(rows):
            return found
    hint = "the rows are too many for the linear program, or too close to a boundary"
    late = Sentence(f"the time limit was reached: raise {Parameter('time_limit')}")
    return Separation(notes=(late if deadline.passed else hint,))


def _named(
    system: Inequalities, kind: Kind, face: Face, names: Sequence[str], deadline: Deadline
) -> Separation:
    """Return the kind with the coefficients that have no finite estimate, by name."""
    n_columns, classes = system.rows.n_features + 1, system.rows.classes.tolist()
    many = system.n_classes > 2
    baseline = classes[0] if many else None
    if system.width > MOST_COLUMNS:
        note = (
            f"which coefficients are infinite is examined for at most {MOST_COLUMNS:,}; "
            f"here are {system.width:,}"
        )
        return Separation(kind, baseline=baseline, notes=(note,) * (kind != "overlap"))

    def name(place: tuple[int, int]) -> str:
        column = BIAS if place[1] == n_columns - 1 else names[place[1]]
        return f"{classes[place[0]]}: {column}" if many else column

    try:
        found = coefficients_of(system, face, deadline)
    except OutOfTimeError:
        late = (
            f"the time limit was reached before the coefficients: raise {Parameter('time_limit')}"
        )
        return Separation(kind, baseline=baseline, notes=(Sentence(late),))
    return Separation(
        kind,
        infinite={name(place): found.infinite[place] for place in sorted(found.infinite)},
        undetermined=tuple(map(name, found.undetermined)),
        undecided=tuple(map(name, found.unknown)),
        collinear=tuple(names[column] for column in found.collinear),
        baseline=baseline,
    )


def _both_sides(certificate: Certificate) -> tuple[int, ...]:
    return certificate.positive_rows + certificate.negative_rows


def _numbers_of(
    certificate: Certificate | MachineCertificate, system: Inequalities
) -> NDArray[Any]:
    """Return the inequalities that a certificate has weights on."""
    classes = system.rows.classes.tolist()
    if isinstance(certificate, MachineCertificate):
        rivals = np.array([classes.index(rival) for rival in certificate.rivals])
        return np.asarray(np.array(certificate.rows) * system.n_classes + rivals)
    rows = np.array(_both_sides(certificate))
    if system.n_classes == 2:
        return rows
    own = system.rows.numbers[rows]
    pair = np.array([classes.index(label) for label in certificate.labels])
    return np.asarray(rows * system.n_classes + np.where(own == pair[0], pair[1], pair[0]))


def _direction(v: list[int], system: Inequalities, power: int) -> tuple[tuple[int, ...], ...]:
    """Return a direction of rows times a power of ten as one of the rows, class by class."""
    V = np.array(v, object).reshape(system.blocks, -1)
    V[:, :-1] *= power
    V //= gcd(*V.ravel()) or 1
    return tuple(tuple(map(int, part)) for part in V)


def _is_above(system: Inequalities, held: NDArray[Any]) -> bool:
    """Return whether some inequality is not held."""
    return bool(np.count_nonzero(held) < system.rows.n_rows * (system.n_classes - 1))


def _boundary(system: Inequalities, held: NDArray[Any]) -> tuple[int, ...]:
    """Return the rows with a rival that they cannot leave behind; none where all are."""
    if not _is_above(system, held):
        return ()
    return tuple(np.flatnonzero(held.any(axis=1)).tolist())

"""Provenance: which training mistakes, and how much each, make up a decision.

A perceptron is the list of its mistakes, w = Σ τᵢ·yᵢ·xᵢ, so the activation of a row x is the sum of
τᵢ·yᵢ·⟨xᵢ, x⟩ over the updates of training, with the constant feature in the product. The average
of Algorithm 7 is w − u/c with u = Σ cᵢ·τᵢ·yᵢ·xᵢ, where cᵢ is the counter when update i came and c
that at the end: so update i counts by (c − cᵢ)/c, the share of weight vectors that it is part of.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import matrix_of, take
from rosenblatt.mistakes.updates import Mistakes, label_steps, n_columns

PRINTED = 10  # rows that str shows


class Term(NamedTuple):
    """The part of one training row in a decision, by all its updates."""

    row: int  # its number in training, from 0
    label: Any  # its class, or the label that is explained; None where the row lacks it
    updates: int  # how often it changed the weights
    strength: float  # Σ ±τ, by share where the weights are averaged; positive: for ``positive``
    product: float  # ⟨xᵢ, x⟩ with the constant feature
    amount: float  # strength × product


@dataclass(frozen=True)
class Provenance:
    """The training rows that decided one row, those that count most first.

    Two classes: the terms of the activation; positive ones speak for ``positive``, the second.
    More: the terms of the lead of the highest-scoring class over the next. Where a row may have
    several labels: those of the score of one. ``total`` is what the model says; ``remainder`` is
    what the terms leave of it: 0 on integers as long as no sum rounds, else what the rounding of
    the weights came to, and the start where training had one.
    """

    positive: Any
    negative: Any  # None where there is no rival
    total: float
    terms: list[Term]  # other than 0
    remainder: float
    n_updates: int  # of the whole training, by what is explained
    n_silent: int  # training rows that changed these weights and have no part in this decision

    def label_of(self, term: Term) -> str:
        """Return the class of a training row in words, or whether it has the label."""
        lacks = self.negative is None and term.label is None
        return f"not {self.positive}" if lacks else str(term.label)

    def report(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {
            "positive": self.positive,
            "negative": self.negative,
            "total": self.total,
            "updates": self.n_updates,
            "terms": [term._asdict() for term in self.terms],
            "silent_rows": self.n_silent,
            "remainder": self.remainder,
        }

    def to_json(self) -> str:
        """Return the report as one line of JSON."""
        return json.dumps(self.report(), ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        return self.to_text(PRINTED)

    def to_text(self, most: int | None = None) -> str:
        """Return a table for the terminal that adds up; rows beyond ``most`` are one line."""
        shown = self.terms if most is None else self.terms[:most]
        rest = self.terms[len(shown) :]
        table: list[tuple[str, ...]] = [
            ("amount", "training row", "label", "updates", "strength", "product")
        ]
        table += [
            (
                *(f"{term.amount:+.6g}", str(term.row), self.label_of(term), str(term.updates)),
                *(f"{term.strength:+.6g}", f"{term.product:.6g}"),
            )
            for term in shown
        ]
        if rest:
            amount = math.fsum(term.amount for term in rest)
            table.append((f"{amount:+.6g}", f"{len(rest)} more rows"))
        if self.remainder:
            table.append((f"{self.remainder:+.6g}", "remainder"))
        table.append((f"{self.total:+.6g}", "total"))
        columns = [
            [cell.rjust(max(map(len, cells))) for cell in cells]
            for cells in zip_longest(*table, fillvalue="")
        ]
        lines = ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
        side = f"for {self.positive if self.total > 0 else self.negative}"
        if self.negative is None:
            side = "for it" if self.total > 0 else "against it"
        return "\n".join([*lines, f"Above 0 speaks for {self.positive}; the sum {side}."])


def provenance_of(
    mistakes: Mistakes,
    rows: Rows | None,
    x: NDArray[Any],
    classes: Sequence[Any],
    *,
    averaged: bool = False,
    end: int | None = None,
    activation: Any = None,
    sides: Sequence[int] = (),
    label: int | None = None,
) -> Provenance:
    """Return the training rows that make up the decision on x, a row of (n_features,).

    ``mistakes`` are those of a training from zero weights on ``rows``, by default those that the
    list keeps. ``averaged`` says whether the average of the weights decides, ``end`` at which count
    of rows the weights were kept, if early stopping went back. ``activation`` is what the model
    says of x, by default the sum of all terms, and ``sides`` the numbers of the predicted class and
    of its rival, by default the runner-up. Of several labels a row, ``label`` is explained.
    """
    rows, numbers = _teaching_rows(mistakes, rows, x)
    if label is not None:  # it is the second of two classes, against nothing
        classes = None, classes[label]
        activation = None if activation is None else activation[label]
    # What each row that taught put into each vector, and its product with x
    n_vectors = n_columns(len(classes))
    taught, counts, labels, parts = _strengths(mistakes, n_vectors, end, label, averaged=averaged)
    products = matrix_of(take(rows, taught)).astype(np.float64) @ np.asarray(x, np.float64)
    products = products + rows.constant * rows.constant
    # The two classes between which x was decided
    positive, negative, strength = 1, 0, parts[:, 0]
    sums = [math.fsum(column * products) for column in parts.T]
    said = np.atleast_1d(sums if activation is None else activation).astype(np.float64)
    total = float(said[0])
    if len(classes) > 2:
        ranked = np.argsort(-said, kind="stable").tolist()
        positive = sides[0] if sides else ranked[0]
        negative = sides[1] if len(sides) > 1 else next(k for k in ranked if k != positive)
        strength = parts[:, positive] - parts[:, negative]
        total = float(said[positive] - said[negative])
    # The terms, the largest first
    amounts = strength * products
    if activation is None:
        total = math.fsum(amounts)
    order = np.argsort(-np.abs(amounts), kind="stable")[: np.count_nonzero(amounts)]
    row = taught if numbers is None else numbers[taught]
    columns = (row, labels, counts, strength, products, amounts)
    terms = [
        Term(row, classes[label], *others)
        for row, label, *others in zip(*(c[order].tolist() for c in columns), strict=True)
    ]
    return Provenance(
        classes[positive],
        classes[negative],
        total,
        terms,
        math.fsum([total, *(-amounts)]),
        int(counts.sum()),
        len(taught) - len(terms),
    )


def _teaching_rows(
    mistakes: Mistakes, rows: Rows | None, x: NDArray[Any]
) -> tuple[Rows, NDArray[Any] | None]:
    """Return the rows that mistakes name, and their numbers in training if those are others."""
    numbers = None
    if rows is None and mistakes.support is not None:
        rows, numbers = mistakes.support.rows, mistakes.support.numbers
    if rows is None:
        raise InputError("The list of mistakes does not keep its rows: give them.")
    if np.shape(x) != (rows.shape[1],):
        raise InputError(
            f"The row to explain must have {rows.shape[1]} features, as the training rows have; "
            f"got an array of shape {np.shape(x)}."
        )
    return rows, numbers


def _strengths(
    mistakes: Mistakes, n_vectors: int, end: int | None, label: int | None, *, averaged: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the rows that taught, how often, their class numbers, and their part in each vector.

    The parts are the coefficients of the rows in the weights: w_k = Σ over rows of part[:, k]·x.
    """
    log, c = mistakes.updates, mistakes.end if end is None else end
    log = log if label is None else label_steps(log, label)
    kept = log.seen < c
    row, gains, loses, tau, seen = (column[kept] for column in log)
    taught, where, counts = np.unique(row, return_inverse=True, return_counts=True)
    # Whole numbers first and one division at the end: exact as long as the sums are.
    steps = tau * (c - seen) if averaged else tau
    parts = np.zeros((len(taught), n_vectors))
    numbers = np.zeros(len(taught), np.int64)
    if n_vectors == 1:
        np.add.at(parts[:, 0], where, steps * gains)
        numbers[where] = gains > 0
    else:
        np.add.at(parts, (where, gains), steps)
        np.subtract.at(parts, (where, loses), steps)
        numbers[where] = gains
    return taught, counts, numbers, parts / c if averaged else parts

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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import matrix_of, take
from rosenblatt.mistakes.updates import Mistakes

PRINTED = 10  # rows that str shows


class Term(NamedTuple):
    """What one training row put into a decision, by all the updates that it made."""

    row: int  # its number in training, from 0
    label: Any  # its class
    updates: int  # how often it changed the weights
    strength: float  # Σ ±τ, by share where the weights are averaged; positive: for ``positive``
    product: float  # ⟨xᵢ, x⟩ with the constant feature
    amount: float  # strength × product


@dataclass(frozen=True)
class Provenance:
    """The training rows that decided one row, those that count most first.

    Two classes: the terms of the activation; positive ones speak for ``positive``, the second.
    More: the terms of the lead of the highest-scoring class over the next. ``total`` is what the
    model says; ``remainder`` is what the terms leave of it: 0 on integers as long as no sum rounds,
    else what the rounding of the weights came to, and the start where training had one.
    """

    positive: Any
    negative: Any
    total: float
    terms: list[Term]  # other than 0
    remainder: float
    n_updates: int  # of the whole training
    n_silent: int  # training rows that changed the weights and have no part in this decision

    def report(self) -> dict[str, Any]:
        """Return everything as what JSON can hold."""
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
        table = [("amount", "training row", "label", "updates", "strength", "product")]
        table += [
            (
                f"{t.amount:+.6g}",
                str(t.row),
                str(t.label),
                str(t.updates),
                f"{t.strength:+.6g}",
                f"{t.product:.6g}",
            )
            for t in shown
        ]
        rest = self.terms[len(shown) :]
        if rest:
            amount = math.fsum(term.amount for term in rest)
            table.append((f"{amount:+.6g}", f"{len(rest)} more rows", "", "", "", ""))
        if self.remainder:
            table.append((f"{self.remainder:+.6g}", "remainder", "", "", "", ""))
        table.append((f"{self.total:+.6g}", "total", "", "", "", ""))
        widths = [max(len(cells[j]) for cells in table) for j in range(len(table[0]))]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
            for cells in table
        ]
        side = self.positive if self.total > 0 else self.negative
        return "\n".join([*lines, f"Above 0 speaks for {self.positive}; the sum for {side}."])


def provenance_of(
    mistakes: Mistakes,
    rows: Rows | None,
    x: NDArray[Any],
    classes: Sequence[Any],
    *,
    averaged: bool = False,
    end: int | None = None,
    activation: Any = None,
    winner: int | None = None,
) -> Provenance:
    """Return the training rows that make up the decision on x, a row of (n_features,).

    ``mistakes`` are those of a training from zero weights on ``rows``, by default those that the
    list keeps. ``averaged`` says whether the average of the weights decides, ``end`` at which count
    of rows the weights were kept, if early stopping went back. ``activation`` is what the model
    says of x, by default the sum of all terms, and ``winner`` the number of the predicted class.

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt.kernels.rows import Dense
    >>> from rosenblatt.rules import Perceptron
    >>> from rosenblatt.training.examples import Examples
    >>> from rosenblatt.training.loop import Plan
    >>> from rosenblatt.training.state import fit
    >>> from rosenblatt.training.state import State
    >>> rows = Dense(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), 1.0)
    >>> examples = Examples(rows, np.array([-1, -1, -1, 1], np.int8))
    >>> state = State.zeros(2, 2, averaged=False)
    >>> plan = Plan(Perceptron(), 100, shuffle=False, record=True)
    >>> outcome = fit(state, examples, plan, np.random.default_rng(0))
    >>> print(provenance_of(outcome.mistakes, rows, np.array([1.0, 1.0]), ["no", "yes"]))
    amount  training row  label  updates  strength  product
       +21             3    yes        7        +7        3
       -10             1     no        5        -5        2
        -8             2     no        4        -4        2
        -2             0     no        2        -2        1
        +1         total
    Above 0 speaks for yes; the sum for yes.
    """
    numbers = None
    if rows is None and mistakes.support is not None:
        rows, numbers = mistakes.support.rows, mistakes.support.numbers
    if rows is None:
        msg = "The list of mistakes does not keep its rows: give them."
        raise InputError(msg)
    _check(rows, x)
    # What each row that taught put into each vector
    taught, counts, labels, strengths = _strengths(mistakes, len(classes), end, averaged=averaged)
    products = _products(rows, taught, np.asarray(x, np.float64))
    sums = [math.fsum(column * products) for column in strengths.T]
    # The two classes between which x was decided
    said = np.atleast_1d(sums if activation is None else activation).astype(np.float64)
    if len(classes) == 2:
        positive, negative = 1, 0
        strength, total = strengths[:, 0], float(said[0])
    else:
        ranked = np.argsort(-said, kind="stable").tolist()
        positive = ranked[0] if winner is None else winner
        negative = next(k for k in ranked if k != positive)
        strength = strengths[:, positive] - strengths[:, negative]
        total = float(said[positive] - said[negative])
    # The terms, the largest first
    amounts = strength * products
    if activation is None:
        total = math.fsum(amounts)
    order = np.argsort(-np.abs(amounts), kind="stable")[: np.count_nonzero(amounts)]
    terms = [
        Term(
            int(taught[i] if numbers is None else numbers[taught[i]]),
            classes[labels[i]],
            int(counts[i]),
            float(strength[i]),
            float(products[i]),
            float(amounts[i]),
        )
        for i in order
    ]
    remainder = math.fsum([total, *(-amounts)])
    return Provenance(
        classes[positive],
        classes[negative],
        total,
        terms,
        remainder,
        int(counts.sum()),
        len(taught) - len(terms),
    )


def _strengths(
    mistakes: Mistakes, n_classes: int, end: int | None, *, averaged: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the rows that taught, how often, their class numbers, and their part in each vector.

    The parts are the coefficients of the rows in the weights: w_k = Σ over rows of part[:, k]·x.
    """
    log, c = mistakes.updates, mistakes.end if end is None else end
    kept = log.seen < c
    row, label, rival, tau, seen = (column[kept] for column in log)
    taught, where, counts = np.unique(row, return_inverse=True, return_counts=True)
    # Whole numbers first and one division at the end: exact as long as the sums are.
    steps = tau * (c - seen) if averaged else tau
    vectors = 1 if n_classes == 2 else n_classes
    parts = np.zeros((len(taught), vectors))
    numbers = np.zeros(len(taught), np.int64)
    if n_classes == 2:
        np.add.at(parts[:, 0], where, steps * label)
        numbers[where] = label > 0
    else:
        np.add.at(parts, (where, label), steps)
        np.subtract.at(parts, (where, rival), steps)
        numbers[where] = label
    return taught, counts, numbers, parts / c if averaged else parts


def _products(rows: Rows, taught: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Return the product of each of these rows with x, the constant feature included."""
    products: NDArray[Any] = matrix_of(take(rows, taught)).astype(np.float64) @ x
    return products + rows.constant * rows.constant


def _check(rows: Rows, x: NDArray[Any]) -> None:
    if np.shape(x) != (rows.shape[1],):
        msg = (
            f"The row to explain must have {rows.shape[1]} features, as the training rows have; "
            f"got an array of shape {np.shape(x)}."
        )
        raise InputError(msg)

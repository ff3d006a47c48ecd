"""Learning in the dual in plain lists, as the papers print it. Imports nothing of rosenblatt.

Every vector of a training is kept as the list of its terms, and every score is added up anew.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.reference import Step, counts_as_right

Gram = Sequence[Sequence[float]]  # kernel values, the constant of a bias among them
Term = tuple[int, int, float]  # row, column, signed size


@dataclass
class Dual:
    """What a training ended with."""

    n_columns: int
    vectors: list[list[Term]] = field(default_factory=lambda: [[]])  # w₀ … w_T as their terms
    mistakes: list[int] = field(default_factory=list)  # of each pass

    def scores(self, vector: Sequence[Term], values: Sequence[float]) -> list[float]:
        """Return the score of each column for a row with these kernel values."""
        found = [0.0] * self.n_columns
        for row, column, size in vector:
            found[column] += size * values[row]
        return found

    def last(self, values: Sequence[float]) -> list[float]:
        """Return the scores of the last vector."""
        return self.scores(self.vectors[-1], values)

    def average(self, values: Sequence[float]) -> list[float]:
        """Return the mean of the scores of w₀ … w_T."""
        every = [self.scores(vector, values) for vector in self.vectors]
        return [sum(column) / len(every) for column in zip(*every, strict=True)]

    def vote(self, values: Sequence[float], *, joint: bool, positive: bool) -> list[float]:
        """Return the votes of w₁ … w_T, one for each row met."""
        total = [0.0] * self.n_columns
        for vector in self.vectors[1:]:
            scores = self.scores(vector, values)
            if joint:
                winners = [k for k, score in enumerate(scores) if score == max(scores)]
                total[winners[-1 if positive else 0]] += 1.0
            else:
                for k, score in enumerate(scores):
                    total[k] += 1.0 if score > 0 or (positive and score == 0) else -1.0
        return total


def train_dual(
    gram: Gram,
    labels: Sequence[int],
    n_classes: int,
    step: Step,
    orders: Sequence[Sequence[int]],
    *,
    joint: bool,
    zero: str = "mistake",
) -> Dual:
    """Visit the rows in each of the orders; keep every vector on the way."""
    learned = Dual(1 if n_classes == 2 else n_classes)
    visit: Callable[..., tuple[list[Term], int]] = (
        _joint_terms if joint and n_classes > 2 else _column_terms
    )
    for order in orders:
        mistakes = 0
        for i in order:
            values = [gram[j][i] for j in range(len(labels))]
            terms, wrong = visit(learned.last(values), i, labels[i], gram[i][i], step, zero)
            learned.vectors.append(learned.vectors[-1] + terms)
            mistakes += wrong
        learned.mistakes.append(mistakes)
    return learned


def _column_terms(
    scores: list[float], i: int, label: int, square: float, step: Step, zero: str
) -> tuple[list[Term], int]:
    terms: list[Term] = []
    mistakes = 0
    for k, score in enumerate(scores):
        y = 1 if label == (1 if len(scores) == 1 else k) else -1
        margin = y * score
        if margin == 0.0 and counts_as_right(zero, positive=y > 0):
            margin = 1e-300
        mistakes += not margin > 0
        tau = step(margin, square)
        if tau:
            terms.append((i, k, tau * y))
    return terms, mistakes


def _joint_terms(
    scores: list[float], i: int, label: int, square: float, step: Step, zero: str
) -> tuple[list[Term], int]:
    others = [k for k in range(len(scores)) if k != label]
    best = max(scores[k] for k in others)
    leaders = [k for k in others if scores[k] == best]
    rival = leaders[-1 if zero == "positive" else 0]
    margin = scores[label] - best
    if margin == 0.0 and counts_as_right(zero, positive=label > rival):
        margin = 1e-300
    tau = step(margin, 2.0 * square)
    terms = [(i, label, tau), (i, rival, -tau)] if tau else []
    return terms, int(not margin > 0)

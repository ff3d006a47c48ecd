"""The whole family in plain lists, as the texts print it. Imports nothing of rosenblatt.

Slow and obvious on purpose: this is what the compiled passes are held against.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf, nan

Vector = list[float]
Step = Callable[[float, float], float]


def perceptron(eta: float = 1.0) -> Step:
    """CIML, Algorithm 5."""
    return lambda margin, _sqnorm: eta if not margin > 0 else 0.0


def margin_perceptron(eta: float, wanted: float) -> Step:
    """Step while y·a ≤ wanted."""
    return lambda margin, _sqnorm: eta if not margin > wanted else 0.0


def passive_aggressive(kind: str, C: float = 1.0) -> Step:
    """Crammer et al. 2006, Figure 1; a row of length zero teaches nothing."""

    def step(margin: float, sqnorm: float) -> float:
        hinge = 1.0 - margin
        if margin >= 1.0 or sqnorm == 0.0:
            return 0.0
        if sqnorm == inf:
            tau = nan
        elif kind == "pa2":
            tau = hinge / (sqnorm + 0.5 / C)
        else:
            tau = hinge / sqnorm
        return C if kind == "pa1" and tau > C else tau

    return step


def plain_sum(terms: Sequence[float]) -> float:
    """Add from left to right."""
    total = 0.0
    for term in terms:
        total += term
    return total


def lane_sum(terms: Sequence[float], width: int) -> float:
    """Add in so many lanes, fold the lanes in halves, then add what is left over."""
    whole = len(terms) // width * width
    lanes = [plain_sum(terms[lane:whole:width]) for lane in range(width)]
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [lanes[j] + lanes[j + half] for j in range(half)]
    total = lanes[0]
    for term in terms[whole:]:
        total += term
    return total


@dataclass(frozen=True)
class Arithmetic:
    """The order in which a format adds, which decides the last bits."""

    zeros: bool  # whether features that are zero are terms too
    dot_width: int
    square_width: int

    def dot(self, x: Vector, w: Vector) -> float:
        """Return x·w."""
        terms = [a * b for a, b in zip(x, w, strict=True) if self.zeros or a != 0]
        return lane_sum(terms, self.dot_width)

    def square(self, x: Vector) -> float:
        """Return x·x."""
        return lane_sum([a * a for a in x if self.zeros or a != 0], self.square_width)


PLAIN = Arithmetic(zeros=True, dot_width=1, square_width=1)
DENSE = Arithmetic(zeros=True, dot_width=16, square_width=16)
CSR = Arithmetic(zeros=False, dot_width=4, square_width=16)


@dataclass
class Learned:
    """What a training of the reference ended with."""

    w: Vector | list[Vector]  # bias last; one vector a class where there are more than two
    ledger: Vector | list[Vector]
    vectors: list[Vector] = field(default_factory=list)  # w₀ … w_T, binary only
    mistakes: list[int] = field(default_factory=list)  # of each pass
    updates: list[tuple[int, float, int]] = field(default_factory=list)  # row, tau, counter
    losses: list[float] = field(default_factory=list)  # of each pass


def counts_as_right(zero: str, *, positive: bool) -> bool:
    """Whether a zero activation is right for this label."""
    return zero == ("positive" if positive else "negative")


def train_binary(
    rows: Sequence[Vector],
    labels: Sequence[int],  # −1 or +1
    step: Step,
    orders: Sequence[Sequence[int]],
    *,
    constant: float = 1.0,
    zero: str = "mistake",
    weights: Sequence[float] | None = None,
    how: Arithmetic = PLAIN,
) -> Learned:
    """Visit the rows in each of the orders; keep every weight vector on the way."""
    d = len(rows[0])
    w, u, c = [0.0] * (d + 1), [0.0] * (d + 1), 1
    learned = Learned(w, u, [list(w)])
    for order in orders:
        mistakes, loss = 0, 0.0
        for i in order:
            x, y = rows[i], labels[i]
            sqnorm = how.square(x) + constant * constant
            a = how.dot(x, w[:d]) + constant * w[d]
            margin = y * a
            if margin == 0.0 and counts_as_right(zero, positive=y > 0):
                tau = step(1e-300, sqnorm)
            else:
                if not margin > 0:
                    mistakes += 1
                    loss -= margin
                tau = step(margin, sqnorm)
            if weights is not None:
                tau *= weights[i]
            if tau != 0.0:
                for j, value in enumerate([*x, constant]):
                    w[j] += tau * y * value
                    u[j] += tau * y * c * value
                learned.updates.append((i, tau, c))
            learned.vectors.append(list(w))
            c += 1
        learned.mistakes.append(mistakes)
        learned.losses.append(loss)
    return learned


def train_multiclass(
    rows: Sequence[Vector],
    labels: Sequence[int],  # 0 … K − 1
    n_classes: int,
    step: Step,
    orders: Sequence[Sequence[int]],
    *,
    constant: float = 1.0,
    zero: str = "mistake",
    how: Arithmetic = PLAIN,
) -> Learned:
    """The true class against its highest-scoring rival, which is what a tie would predict."""
    d = len(rows[0])
    w = [[0.0] * (d + 1) for _ in range(n_classes)]
    u = [[0.0] * (d + 1) for _ in range(n_classes)]
    c = 1
    learned = Learned(w, u)
    for order in orders:
        mistakes, loss = 0, 0.0
        for i in order:
            x, k = rows[i], labels[i]
            sqnorm = how.square(x) + constant * constant
            scores = [how.dot(x, v[:d]) + constant * v[d] for v in w]
            rivals = [r for r in range(n_classes) if r != k]
            if zero == "positive":
                rivals.reverse()
            rival = rivals[0]
            for r in rivals[1:]:
                if scores[r] > scores[rival]:
                    rival = r
            margin = scores[k] - scores[rival]
            if margin == 0.0 and counts_as_right(zero, positive=k > rival):
                margin = 1e-300
            if not margin > 0:
                mistakes += 1
                loss -= margin
            tau = step(margin, 2.0 * sqnorm)
            if tau != 0.0:
                for j, value in enumerate([*x, constant]):
                    w[k][j] += tau * value
                    w[rival][j] += -tau * value
                    u[k][j] += tau * c * value
                    u[rival][j] += -tau * c * value
                learned.updates.append((i, tau, c))
            c += 1
        learned.mistakes.append(mistakes)
        learned.losses.append(loss)
    return learned


def mean_vector(vectors: Sequence[Vector]) -> Vector:
    """Return the plain mean of all vectors, the definition of the averaged perceptron."""
    return [plain_sum([v[j] for v in vectors]) / len(vectors) for j in range(len(vectors[0]))]

"""The whole family in plain lists, as the texts print it. Imports nothing of rosenblatt.

Slow and obvious on purpose: this is what the compiled passes are held against.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf, nan, sqrt

Vector = list[float]
Step = Callable[[float, float], float]
Pair = Callable[[float, float], tuple[float, float]]  # margin, variance → alpha, beta


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


def arow(r: float) -> Pair:
    """Crammer, Kulesza & Dredze 2009, Figure 1."""

    def step(margin: float, variance: float) -> tuple[float, float]:
        if margin >= 1.0 or variance == 0.0:
            return 0.0, 0.0
        if variance == inf:
            return nan, nan
        beta = 1.0 / (variance + r)
        return (1.0 - margin) * beta, beta

    return step


def confidence_weighted(kind: str, phi: float, C: float = inf) -> Pair:
    """Crammer, Dredze & Pereira 2008 ("cw"); Wang, Zhao & Hoi 2012 ("scw1", "scw2")."""
    f2 = phi * phi

    def step(margin: float, variance: float) -> tuple[float, float]:
        if variance == 0.0 or margin >= phi * sqrt(variance):
            return 0.0, 0.0
        if variance == inf:
            return nan, nan
        if kind == "scw2":
            n = variance + 0.5 / C
            both = n + variance * f2
            gamma = phi * sqrt(
                f2 * margin * margin * variance * variance + 4.0 * n * variance * both
            )
            alpha = (gamma - margin * (2.0 * n + f2 * variance)) / (2.0 * n * both)
        else:
            root = sqrt(margin * margin * f2 * f2 / 4.0 + variance * f2 * (1.0 + f2))
            alpha = (root - margin * (1.0 + f2 / 2.0)) / (variance * (1.0 + f2))
            if kind == "scw1" and alpha > C:
                alpha = C
        g = alpha * variance * phi
        return alpha, 2.0 * alpha * phi / (g + sqrt(g * g + 4.0 * variance))

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

    def variance(self, x: Vector, scaled: Vector) -> float:
        """Return x·Σx, where Σx is given."""
        terms = [a * b for a, b in zip(x, scaled, strict=True) if self.zeros or a != 0]
        return lane_sum(terms, self.square_width)

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
    label_steps: list[tuple[int, int, float, int]] = field(default_factory=list)  # row, label, …
    losses: list[float] = field(default_factory=list)  # of each pass


def counts_as_right(zero: str, *, positive: bool) -> bool:
    """Whether a zero activation is right for this label."""
    return zero == ("positive" if positive else "negative")


def settled(margin: float, zero: str, *, positive: bool) -> float:
    """Return the margin, made positive where a zero activation is right for this label."""
    return 1e-300 if margin == 0.0 and counts_as_right(zero, positive=positive) else margin


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


def best_rival(scores: Sequence[float], k: int, zero: str) -> int:
    """Return the highest-scoring class but k: the one that a tie would predict."""
    rivals = [r for r in range(len(scores)) if r != k]
    if zero == "positive":
        rivals.reverse()
    rival = rivals[0]
    for r in rivals[1:]:
        if scores[r] > scores[rival]:
            rival = r
    return rival


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
            rival = best_rival(scores, k, zero)
            margin = scores[k] - scores[rival]
            margin = settled(margin, zero, positive=k > rival)
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


def train_ranking(
    rows: Sequence[Vector],
    label_sets: Sequence[Sequence[int]],
    n_labels: int,
    step: Step,
    orders: Sequence[Sequence[int]],
    *,
    constant: float = 1.0,
    zero: str = "mistake",
    how: Arithmetic = PLAIN,
) -> Learned:
    """Every label of a row above every other one; pairs at fault share a step."""
    d = len(rows[0])
    w = [[0.0] * (d + 1) for _ in range(n_labels)]
    u = [[0.0] * (d + 1) for _ in range(n_labels)]
    learned, c = Learned(w, u), 1
    for order in orders:
        mistakes, loss = 0, 0.0
        for i in order:
            x, own = rows[i], sorted(label_sets[i])
            sqnorm = how.square(x) + constant * constant
            scores = [how.dot(x, v[:d]) + constant * v[d] for v in w]
            pairs = [(k, r) for k in own for r in range(n_labels) if r not in own]
            leads = [settled(scores[k] - scores[r], zero, positive=k > r) for k, r in pairs]
            fault = [
                pair
                for pair, lead in zip(pairs, leads, strict=True)
                if step(lead, 2.0 * sqnorm) != 0.0
            ]
            shares = [
                float(sum(k == one for one, _ in fault) - sum(k == other for _, other in fault))
                / max(len(fault), 1)
                for k in range(n_labels)
            ]
            margin = square = 0.0
            for share, score in zip(shares, scores, strict=True):
                margin += share * score
                square += share * share
            if not all(lead > 0 for lead in leads):
                mistakes += 1
                loss -= min(margin, 0.0)
            tau = step(margin, square * sqnorm) if fault else 0.0
            for k, share in enumerate(shares):
                if tau * share != 0.0:
                    for j, value in enumerate([*x, constant]):
                        w[k][j] += tau * share * value
                        u[k][j] += tau * share * c * value
                    learned.label_steps.append((i, k, tau * share, c))
            c += 1
        learned.mistakes.append(mistakes)
        learned.losses.append(loss)
    return learned


@dataclass
class Confident:
    """What a second-order training of the reference ended with; one vector a class."""

    w: list[Vector]
    sigma: list[Vector]
    ledger: list[Vector]
    mistakes: list[int] = field(default_factory=list)
    updates: list[int] = field(default_factory=list)


def scaled_rows(x: Vector, sigmas: Sequence[Vector], how: Arithmetic) -> tuple[list[Vector], float]:
    """Return Σx for each class that changes, and the sum of their xᵀΣx; the constant is last."""
    directions = [[s * a for s, a in zip(sigma, x, strict=True)] for sigma in sigmas]
    own = [how.variance(x[:-1], scaled[:-1]) + x[-1] * scaled[-1] for scaled in directions]
    return directions, own[0] if len(own) == 1 else own[0] + own[1]


def train_second_order(
    rows: Sequence[Vector],
    labels: Sequence[int],  # −1 or +1 for two classes, else 0 … K − 1
    n_classes: int,
    step: Pair,
    orders: Sequence[Sequence[int]],
    *,
    constant: float = 1.0,
    zero: str = "mistake",
    how: Arithmetic = PLAIN,
) -> Confident:
    """Keep a mean and a variance for each weight; two classes share one vector."""
    d, vectors = len(rows[0]), 1 if n_classes == 2 else n_classes
    w = [[0.0] * (d + 1) for _ in range(vectors)]
    u = [[0.0] * (d + 1) for _ in range(vectors)]
    sigma = [[1.0] * (d + 1) for _ in range(vectors)]
    learned, c = Confident(w, sigma, u), 1
    for order in orders:
        mistakes = updates = 0
        for i in order:
            x, y = [*rows[i], constant], labels[i]
            scores = [how.dot(x[:d], v[:d]) + constant * v[d] for v in w]
            if n_classes == 2:
                margin, changes, positive = y * scores[0], [(0, y)], y > 0
            else:
                rivals = [r for r in range(n_classes) if r != y]
                if zero == "positive":
                    rivals.reverse()
                rival = rivals[0]
                for r in rivals[1:]:
                    if scores[r] > scores[rival]:
                        rival = r
                margin, changes, positive = (
                    scores[y] - scores[rival],
                    [(y, 1), (rival, -1)],
                    y > rival,
                )
            margin = settled(margin, zero, positive=positive)
            mistakes += not margin > 0
            directions, variance = scaled_rows(x, [sigma[k] for k, _ in changes], how)
            alpha, beta = step(margin, variance)
            if alpha != 0.0:
                updates += 1
                for (k, side), scaled in zip(changes, directions, strict=True):
                    for j, value in enumerate(scaled):
                        w[k][j] += alpha * side * value
                        u[k][j] += alpha * side * c * value
                        sigma[k][j] = max(sigma[k][j] - beta * (value * value), 2.0**-200)
            c += 1
        learned.mistakes.append(mistakes)
        learned.updates.append(updates)
    return learned


def mean_vector(vectors: Sequence[Vector]) -> Vector:
    """Return the plain mean of all vectors, the definition of the averaged perceptron."""
    return [plain_sum([v[j] for v in vectors]) / len(vectors) for j in range(len(vectors[0]))]

"""A training that is followed only as far as somebody looks."""

from bisect import bisect_right
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.lab.document import Document
from rosenblatt.lab.space import Space
from rosenblatt.rules import RULES, ZERO_CONVENTIONS, Rule
from rosenblatt.tracing.visits import Visit, visits
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import StopReason
from rosenblatt.training.loop import Plan, Shuffle
from rosenblatt.training.state import State

MOST_STEPS = 20_000  # half a second

SHUFFLES: dict[str, Shuffle] = {"given": False, "once": "once", "every pass": True}

WAYS = ("stay", "start", "back", "step", "mistake", "pass", "end")


class Update(NamedTuple):
    """The weights after a visit that changed them, and the ledger of their average."""

    seen: int  # visits until then, with the one that changed them
    row: int
    amount: float  # τ·y, by which the row was added to the weights
    weights: NDArray[Any]
    ledger: NDArray[Any]


@dataclass(frozen=True)
class Moment:
    """The state of a training after so many visits."""

    at: int
    visit: Visit | None  # the last one; None before the first
    weights: NDArray[Any]
    before: NDArray[Any]  # what the last visit found
    average: NDArray[Any]  # of the vectors w₀ … w_at
    updates: tuple[Update, ...]  # up to here


class Run:
    """The training of a document, visit by visit; it goes on where it stopped when asked."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.space = Space(document)
        self.rows = self.space.rows()
        self.visits: list[Visit] = []
        self.updates: list[Update] = []
        self.stop_reason: StopReason | None = None  # known when the training has ended
        self._state = State.zeros(self.rows.shape[1], 2, averaged=True)
        self._zeros = np.zeros_like(self._state.weights)
        plan = Plan(
            rule_of(document),
            document.max_iter,
            ZERO_CONVENTIONS[document.zero],
            SHUFFLES[document.order],
        )
        self._rest: Generator[Visit, None, StopReason] = visits(
            self._state,
            Examples(self.rows, document.y),
            plan,
            np.random.default_rng(document.seed),
            lambda _: True,
        )

    @property
    def ended(self) -> bool:
        """Whether no visit comes after those that are known."""
        return self.stop_reason is not None or len(self.visits) >= MOST_STEPS

    def follow(self, n_visits: int) -> None:
        """Go on until so many visits are known, or to the end."""
        while not self.ended and len(self.visits) < n_visits:
            try:
                visit = next(self._rest)
            except StopIteration as end:
                self.stop_reason = end.value
                return
            self.visits.append(visit)
            if visit.tau != 0.0:
                self._keep(visit)

    def _keep(self, visit: Visit) -> None:
        state = self._state
        ledger = cast("NDArray[Any]", state.ledger)
        amount = visit.tau * float(self.document.y[visit.row])
        copies = state.weights.copy(), ledger.copy()
        self.updates.append(Update(len(self.visits), visit.row, amount, *copies))

    def place(self, at: int, way: str = "stay") -> int:
        """Return where one stands that goes a way from after ``at`` visits; go on as it needs."""
        if way not in WAYS:
            msg = f"A way to go must be one of {', '.join(WAYS)}; got {way!r}."
            raise InputError(msg)
        self.follow(at)
        at = min(at, len(self.visits))
        if way in ("start", "back"):
            return 0 if way == "start" else max(0, at - 1)
        reached = {"step": lambda _: True, "mistake": self.changes, "pass": self.ends_pass}
        while way != "stay":
            self.follow(at + 1)
            if at == len(self.visits):
                break
            at += 1
            if way != "end" and reached[way](at):
                break
        self.follow(at + 1)  # so that it is known whether this is the end
        return at

    def ends_pass(self, at: int) -> bool:
        """Whether visit number ``at`` is the last one of its pass."""
        return at % len(self.document.points) == 0

    def changes(self, at: int) -> bool:
        """Whether visit number ``at`` is a mistake or changes the weights."""
        return self.visits[at - 1].mistake or self.visits[at - 1].tau != 0.0

    def moment(self, at: int) -> Moment:
        """Return the state after ``at`` visits, which are known."""
        visit = self.visits[at - 1] if at else None
        k = self.n_updates(at)
        now = self.updates[k - 1] if k else None
        changed = visit is not None and visit.tau != 0.0
        found = self.updates[k - 2] if k > 1 and changed else (None if changed else now)
        weights = self._zeros if now is None else now.weights
        # Algorithm 7's w − u/c: the counter c is one more than the rows that were seen.
        average = weights if now is None else weights - now.ledger / (at + 1)
        before = self._zeros if found is None else found.weights
        return Moment(at, visit, weights, before, average, tuple(self.updates[:k]))

    def n_updates(self, at: int) -> int:
        """Return how many of the first ``at`` visits changed the weights."""
        return bisect_right(self.updates, at, key=lambda update: update.seen)


def rule_of(document: Document) -> Rule:
    """Return the rule with the parameters that it has."""
    given = {"eta0": document.eta0, "margin": document.margin, "C": document.C}
    return RULES[document.rule].rule(given)


def survivals(updates: tuple[Update, ...], at: int) -> NDArray[Any]:
    """Return how many of ``at`` rows each weight vector lasted, w₀ = 0 first: its votes."""
    return np.diff([1, *(update.seen for update in updates), at + 1]).astype(np.float64)

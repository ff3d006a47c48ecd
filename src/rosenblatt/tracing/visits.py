"""Learning in the open: one row at a time, with the bits of the compiled passes.

The passes in ``kernels`` say what happened in total. Here each visit is made in plain Python, by
the same rules and the plain methods of the rows, and tells all that it saw.
"""

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.counts import Counts
from rosenblatt.kernels.rows import CSR, Dense
from rosenblatt.rules import Rule, settle
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import StopReason
from rosenblatt.training.linear import LinearTraining
from rosenblatt.training.loop import Plan, Progress, passes
from rosenblatt.training.order import ArraySupply, Part
from rosenblatt.training.state import State

COMPILED = (CSR, Dense)  # rows of two classes may also be of a kind that has plain methods only


class Visit(NamedTuple):
    """What one row met and did. The state holds the weights after it until the next visit."""

    pass_: int  # counted from 1
    row: int
    activation: Any  # a float, or one for each of K classes
    margin: float  # y·a, or the lead of the true class, as the rule was asked
    rival: int  # the class number that loses by a step
    mistake: bool
    tau: float  # 0.0 where the weights stayed as they were


def visits(
    state: State,
    examples: Examples,
    plan: Plan,
    generator: np.random.Generator,
    is_watched: Callable[[int], bool],
) -> Generator[Visit, None, StopReason]:
    """Change the state as ``fit`` does and yield every visit of the passes that are watched.

    The other passes run compiled. Returns why training ended. Early stopping, time limits and the
    weights of examples are not followed.
    """
    state.arrange_for(examples.rows)
    training = _OpenTraining(state, ArraySupply(examples, plan.shuffle, generator), plan)
    progress = Progress()
    for part in passes(training, plan, progress):
        if is_watched(progress.pass_):
            counts = yield from _watched_part(state, part, plan, progress.pass_)
            progress.add(counts, len(part.order))
        else:
            progress.add(*training.learn(part))
    return progress.stop_reason or "max_iter"


class _OpenTraining(LinearTraining):
    """A training whose rows may be of a kind that no kernel is compiled for."""

    def mistakes(self) -> int:
        """Count the rows that the last weights misclassify."""
        (part,) = self._supply.sweep(held_out=False)
        if type(part.examples.rows) in COMPILED:
            return super().mistakes()
        return sum(_is_wrong(self.state, part.examples, int(i), self._zero) for i in part.order)


def _watched_part(
    state: State, part: Part, plan: Plan, pass_: int
) -> Generator[Visit, None, Counts]:
    mistakes, updates, loss = 0, 0, 0.0
    visit = visit_binary if state.n_classes == 2 else visit_multiclass
    for i in part.order:
        seen = visit(state, part.examples, int(i), plan.rule, plan.zero)._replace(pass_=pass_)
        updates += seen.tau != 0.0
        if seen.mistake:
            mistakes += 1
            loss -= seen.margin
        yield seen
    return Counts(mistakes, updates, loss)


def _is_wrong(state: State, examples: Examples, i: int, zero: int) -> bool:
    y = int(examples.targets[i])
    return not settle(y * examples.rows.dot(i, state.weights), y, zero) > 0.0


@np.errstate(over="ignore", invalid="ignore")  # as compiled code is; the pass tells of it
def visit_binary(state: State, examples: Examples, i: int, rule: Rule, zero: int) -> Visit:
    """Change the state by row i as ``binary_pass`` does."""
    rows, y, w, u = examples.rows, int(examples.targets[i]), state.weights, state.ledger
    a = float(rows.dot(i, w))
    margin = settle(y * a, y, zero)
    tau = float(rule.step(margin, float(rows.sqnorm(i))))
    if tau != 0.0:
        rows.add(i, tau * y, w)
        if u is not None:
            rows.add(i, tau * y * state.count, u)
    state.count += 1
    return Visit(0, i, a, margin, int(y < 0), not margin > 0.0, tau)


@np.errstate(over="ignore", invalid="ignore")
def visit_multiclass(state: State, examples: Examples, i: int, rule: Rule, zero: int) -> Visit:
    """Change the state by row i as ``multiclass_pass`` does."""
    rows, k, w, u = examples.rows, int(examples.targets[i]), state.weights, state.ledger
    scores = np.empty(state.n_classes)
    rows.scores(i, w, scores)
    rival = _best_rival(scores, k, zero)
    margin = settle(float(scores[k] - scores[rival]), 1 if k > rival else -1, zero)
    tau = float(rule.step(margin, 2.0 * float(rows.sqnorm(i))))
    if tau != 0.0:
        for number, step in ((k, tau), (rival, -tau)):
            rows.add_to_class(i, step, w, number)
            if u is not None:
                rows.add_to_class(i, step * state.count, u, number)
    state.count += 1
    return Visit(0, i, scores, margin, rival, not margin > 0.0, tau)


def _best_rival(scores: NDArray[Any], k: int, zero: int) -> int:
    """Return the highest-scoring class but k; of equals the first, or the last if zero is +1."""
    rivals = [r for r in range(len(scores)) if r != k]
    rival = rivals[0]
    for r in rivals[1:]:
        if scores[r] > scores[rival] or (zero == 1 and scores[r] == scores[rival]):
            rival = r
    return rival

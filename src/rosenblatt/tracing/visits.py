"""Learning one row at a time: what each row meets is asked before the pass over it is made."""

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.kernels.counts import Counts
from rosenblatt.kernels.multiclass import best_rival, pair_margin
from rosenblatt.rules import Rule, break_tie
from rosenblatt.training.examples import ArraySupply, Examples
from rosenblatt.training.history import StopReason
from rosenblatt.training.loop import Plan, Progress, passes
from rosenblatt.training.state import LinearTraining, State, run_pass


class Visit(NamedTuple):
    """What one row met and did. The state holds the weights after it until the next visit."""

    pass_: int  # counted from 1
    row: int
    activation: Any  # a float, or one for each of K classes
    margin: float  # y·a, or the lead of the true class, as the rule was asked
    rival: int  # the class number that loses by a step
    mistake: bool
    tau: float  # α of a second-order rule; 0.0 where the weights stayed as they were
    variance: float | None = None  # xᵀΣx of the margin, of a second-order rule
    beta: float | None = None  # of a second-order rule


def visits(
    state: State,
    examples: Examples,
    plan: Plan,
    generator: np.random.Generator,
    is_watched: Callable[[int], bool],
    progress: Progress | None = None,
) -> Generator[Visit, None, StopReason]:
    """Change the state as ``fit`` does and yield every visit of the passes that are watched.

    The other passes run compiled. Returns why training ended, as ``progress`` then has it. Early
    stopping, time limits and the weights of examples are not followed.
    """
    state.arrange_for(examples.rows)
    training = LinearTraining(state, ArraySupply(examples, plan.shuffle, generator), plan)
    progress = progress or Progress()
    for part in passes(training, plan, progress):
        if not is_watched(progress.pass_):
            progress.add(*training.learn(part))
            continue
        mistakes, updates, loss = 0, 0, 0.0
        for i in part.order:
            seen = visit(state, part, int(i), plan.rule, plan.zero)._replace(pass_=progress.pass_)
            updates += seen.tau != 0.0
            if seen.mistake:
                mistakes += 1
                loss -= seen.margin
            yield seen
        progress.add(Counts(mistakes, updates, loss), len(part.order))
    return progress.stop_reason or "max_iter"


@np.errstate(over="ignore", invalid="ignore")  # as in compiled code; the pass reports it
def visit(state: State, examples: Examples, i: int, rule: Rule, zero: int) -> Visit:
    """Change the state by a pass over row i; return what it met, by the methods of the rows."""
    rows, y = examples.rows, int(examples.targets[i])
    if state.n_classes == 2:
        a: Any = float(rows.dot(i, state.weights))
        rival, sides = int(y < 0), [0]
        margin = break_tie(y * a, y, zero)
    else:
        a = np.empty(state.n_classes)
        rows.scores(i, state.weights, 0, a)
        rival = best_rival(a, y, zero)
        sides = [y, rival]  # the classes that change
        margin = float(pair_margin(a, y, rival, zero))
    variance = beta = None
    if state.variance is None:
        tau = float(rule.step(margin, len(sides) * float(rows.sqnorm(i))))
    else:
        sigma, room = state.by_class(state.variance), np.empty(rows.shape[1] + 1)
        variance = float(sum(rows.scaled(i, sigma[k], room) for k in sides))
        tau, beta = map(float, rule.step(margin, variance))
    run_pass(state, examples, np.array([i]), rule, zero)
    return Visit(0, i, a, margin, rival, not margin > 0.0, tau, variance, beta)

"""The loop over passes in the dual."""

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, Protocol

from numpy.typing import NDArray

from rosenblatt.kernels.counts import Counts
from rosenblatt.training.fit import Outcome, Plan, classifies_all
from rosenblatt.training.history import PassRecord, StopReason
from rosenblatt.training.interrupts import held_interrupt
from rosenblatt.training.observers import Observer
from rosenblatt.training.order import Order


class Learning(Protocol):
    """Whatever learns from rows by their numbers, pass after pass."""

    def run(self, order: NDArray[Any], is_over: Callable[[], bool]) -> tuple[Counts, bool]:
        """Visit each row of the order; return what happened and whether it came to its end."""

    def mistakes(self, order: NDArray[Any]) -> int:
        """Count the mistakes that the last weights make on these rows."""


def train(
    learning: Learning, order: Order, n_rows: int, plan: Plan, observers: Sequence[Observer] = ()
) -> Outcome:
    """Change what learns by passes until one makes no mistake or the plan says stop.

    Ctrl-C and a time limit end the training between two blocks of a pass, and what was learned by
    then is kept.
    """
    history: list[PassRecord] = []
    stop_reason: StopReason | None = None
    started = perf_counter()
    with held_interrupt() as interrupt:

        def time_is_up() -> bool:
            return plan.time_limit is not None and perf_counter() - started >= plan.time_limit

        while stop_reason is None:
            begun, rows = perf_counter(), order.next()
            counts, whole = learning.run(rows, lambda: interrupt.pressed or time_is_up())
            record = PassRecord(len(history) + 1, *counts, None, perf_counter() - begun)
            history.append(record)
            for observer in observers:
                observer(record)
            if whole and classifies_all(counts, plan, partial(learning.mistakes, rows)):
                stop_reason = "converged"
            elif interrupt.pressed:
                stop_reason = "interrupted"
            elif len(history) >= plan.max_iter:
                stop_reason = "max_iter"
            elif time_is_up():
                stop_reason = "time_limit"
    return Outcome(history, stop_reason, len(history), n_rows=n_rows)


def unfinished(outcome: Outcome, memory: str) -> str | None:
    """Return one sentence on a training that ended before it was done, or None.

    An average or a vote needs no pass without a mistake.
    """
    last = outcome.history[-1]
    told = f"the last one made {last.mistakes} mistakes on {outcome.n_rows} rows"
    if outcome.stop_reason == "max_iter" and memory == "last":
        return (
            f"stopped after max_iter={last.pass_} passes; {told}: raise max_iter, give the kernel "
            'more freedom (a larger gamma or degree), or set memory="average".'
        )
    if outcome.stop_reason == "time_limit":
        return f"stopped at its time limit in pass {last.pass_}; {told}: raise time_limit to go on."
    if outcome.stop_reason == "interrupted":
        return (
            f"was interrupted in pass {last.pass_} and keeps what it had learned; {told}: set "
            "warm_start=True and fit again to go on."
        )
    return None

"""What to tell a person about how a training ended, and what to try."""

from rosenblatt.training.history import Outcome


def unfinished(outcome: Outcome, *, averaged: bool, early_stopping: bool) -> str | None:
    """Return one sentence on a training that ended before it was done, or None.

    An average needs no pass without a mistake: to reach max_iter is how it ends on any data that
    overlap, and nothing to be told of.
    """
    last = outcome.history[-1]
    told = f"the last one made {last.mistakes} mistakes on {outcome.n_rows} rows"
    if outcome.stop_reason == "max_iter" and not averaged:
        stopped = f"stopped after max_iter={last.pass_} passes; {told}"
        if early_stopping:
            return f"{stopped}: the score on held-out rows may still be rising; raise max_iter."
        return (
            f"{stopped}: if the classes overlap no number of passes separates them, and an "
            "averaged learner or early_stopping=True is the cure; else raise max_iter."
        )
    if outcome.stop_reason == "time_limit":
        stopped = f"stopped at its time limit after {last.pass_} passes"
        return f"{stopped}; {told}: raise time_limit to go on."
    if outcome.stop_reason == "interrupted":
        return (
            f"was interrupted and keeps the weights of pass {outcome.best_pass}; {told}: set "
            "warm_start=True and fit again to go on."
        )
    return None


def unfinished_kernel(outcome: Outcome, memory: str) -> str | None:
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

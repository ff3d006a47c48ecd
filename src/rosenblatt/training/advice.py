"""What to tell a person about how a training ended, and what to try."""

from rosenblatt.training.history import Outcome

LINEAR_CURE = (
    "if the classes overlap no number of passes separates them, and an averaged learner or "
    "early_stopping=True is the cure; else raise max_iter."
)
KERNEL_CURE = (
    "raise max_iter, give the kernel more freedom (a larger gamma or degree), or set "
    'memory="average" or early_stopping=True.'
)


def unfinished(
    outcome: Outcome, *, averaged: bool, early_stopping: bool, cure: str = LINEAR_CURE
) -> str | None:
    """Return one sentence on a training that ended before it was done, or None.

    An average or a vote needs no pass without a mistake: to reach max_iter is how it ends on any
    data that overlap, and nothing to be told of.
    """
    last = outcome.history[-1]
    told = f"the last one made {last.mistakes} mistakes on {outcome.n_rows} rows"
    if outcome.stop_reason == "max_iter" and not averaged:
        if early_stopping:
            cure = "the score on held-out rows may still be rising; raise max_iter."
        return f"stopped after max_iter={last.pass_} passes; {told}: {cure}"
    if outcome.stop_reason == "time_limit":
        return f"stopped at its time limit in pass {last.pass_}; {told}: raise time_limit to go on."
    if outcome.stop_reason == "interrupted":
        return (
            f"was interrupted in pass {last.pass_} and keeps what it had learned; {told}: set "
            "warm_start=True and fit again to go on."
        )
    return None

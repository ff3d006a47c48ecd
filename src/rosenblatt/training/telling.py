"""What to tell a person about how a training ended, and what to try."""

from rosenblatt.training.fit import Outcome


def unfinished(outcome: Outcome, n_rows: int) -> str | None:
    """Return one sentence on a training that ended before it was done, or None."""
    last = outcome.history[-1]
    told = f"the last one made {last.mistakes} mistakes on {n_rows} rows"
    if outcome.stop_reason == "max_iter":
        return (
            f"stopped after max_iter={last.pass_} passes; {told}: if the classes overlap no number "
            "of passes separates them, and early_stopping=True or an averaged learner is the "
            "cure; else raise max_iter."
        )
    if outcome.stop_reason == "time_limit":
        passes = f"stopped at its time limit after {last.pass_} passes"
        return f"{passes}; {told}: raise time_limit to go on."
    if outcome.stop_reason == "interrupted":
        return (
            f"was interrupted and keeps the weights of pass {outcome.best_pass}; {told}: set "
            "warm_start=True and fit again to go on."
        )
    return None

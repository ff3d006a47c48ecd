"""What to tell a person about how a training ended, and what to try."""

from collections.abc import Callable

from rosenblatt.training.history import Outcome

MOST_WRONG = 0.02  # of the rows, by the last weights: they may be separable, and a few passes short
MOST_MISTAKES = 0.1  # of the rows, in the last pass: with more they are not tried
KERNEL_CURE = "raise max_iter, or give the kernel more freedom (a larger gamma or degree)."


def unfinished(
    outcome: Outcome,
    held_mistakes: Callable[[], int] | None,
    cure: str = "raise max_iter.",
) -> str | None:
    """Return one sentence on a training that ended before it was done, or None.

    To reach max_iter is how a training ends on rows that overlap, and nothing to be told of:
    ``stop_reason_`` and ``history_`` have it. It is told where the rows may be separable, since the
    last weights, held as they are, misclassify next to none of them, which ``held_mistakes``
    counts; None where the last weights do not decide.
    """
    last, n_rows = outcome.history[-1], outcome.n_rows
    told = f"the last one made {last.mistakes} mistakes on {n_rows} rows"
    if outcome.stop_reason == "max_iter":
        hopeless = last.pass_ == 1 or last.mistakes > MOST_MISTAKES * n_rows
        n_wrong = None if hopeless or held_mistakes is None else held_mistakes()
        if n_wrong is None or n_wrong > MOST_WRONG * n_rows:
            return None
        return (
            f"stopped after max_iter={last.pass_} passes; {told}, and its last weights misclassify "
            f"{n_wrong} of them, so the classes may be separable: {cure}"
        )
    if outcome.stop_reason == "time_limit":
        return f"stopped at its time limit in pass {last.pass_}; {told}: raise time_limit to go on."
    if outcome.stop_reason == "interrupted":
        return (
            f"was interrupted in pass {last.pass_} and keeps what it had learned; {told}: set "
            "warm_start=True and fit again to go on."
        )
    return None


def ending(outcome: Outcome) -> str:
    """Return how a training ended, as it is said once to who watches it."""
    last = outcome.history[-1]
    reason = outcome.stop_reason.replace("_", " ")
    return (
        f"stopped after {last.pass_} passes ({reason}); the last one made {last.mistakes} mistakes "
        f"on {outcome.n_rows} rows."
    )

"""One plain sentence or two for each step of a training."""

from collections.abc import Sequence

from rosenblatt.lab.run import Moment, Run

ENDS = {
    "converged": "All rows are now on their side: training has ended.",
    "max_iter": "That was the last pass that is allowed: training has ended.",
    None: "The lab follows no more steps than these.",
}


def sentence(run: Run, moment: Moment) -> str:
    """Return what the last visit met and did."""
    if moment.visit is None:
        if not run.document.points:
            return "There are no points yet: put some on the plane, or load a set."
        return "Before the first row all weights are 0, and so is every activation."
    said = f"{_met(run, moment)} {_did(run, moment)}"
    if moment.at == len(run.visits) and run.ended:
        said += f" {ENDS[run.stop_reason]}"
    return said


def _met(run: Run, moment: Moment) -> str:
    visit, document = moment.visit, run.document
    assert visit is not None  # noqa: S101  # for mypy
    label = document.labels[int(document.y[visit.row] > 0)]
    where = f"Pass {visit.pass_}, row {visit.row} (class {label}): the activation is "
    if visit.activation == 0.0:
        counts = {
            "mistake": "a mistake",
            "negative": f"class {document.labels[0]}",
            "positive": f"class {document.labels[1]}",
        }
        end = "" if document.zero == "mistake" else ", wrong" if visit.mistake else ", right"
        return f"{where}0, which counts as {counts[document.zero]}{end}."
    side = "the wrong side" if visit.mistake else "the right side"
    close = " but too close" if visit.tau != 0.0 and not visit.mistake else ""
    return f"{where}{number(visit.activation)}, on {side}{close}."


def _did(run: Run, moment: Moment) -> str:
    visit = moment.visit
    assert visit is not None  # noqa: S101  # for mypy
    if visit.tau == 0.0:
        return "Nothing changes."
    positive = run.document.y[visit.row] > 0
    times = "" if visit.tau == 1.0 else f" {number(visit.tau)} times"
    done = f"The row is {'added to' if positive else 'taken from'} the weights{times}"
    if run.space.has_kernel:
        return f"{done}: its own weight is now {number(moment.weights[visit.row])}."
    w = vector(moment.weights[:-1].tolist())
    return f"{done}: w = {w}, b = {number(moment.weights[-1])}."


def number(value: float) -> str:
    """Return a number with four digits at most and a true minus.

    >>> number(-0.123456), number(3.0), number(-0.0)
    ('−0.1235', '3', '0')
    """
    return f"{float(value) + 0.0:.4g}".replace("-", "−")


def vector(values: Sequence[float]) -> str:
    """Return numbers in brackets.

    >>> vector([1.0, -2.5])
    '(1, −2.5)'
    """
    return f"({', '.join(map(number, values))})"

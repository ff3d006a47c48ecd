"""The kind of a model in words, and warnings on misleading figures."""

from collections.abc import Iterator

from rosenblatt.models.evaluation import Evaluation
from rosenblatt.models.model import Model
from rosenblatt.report.findings import Findings
from rosenblatt.wording import word_list

MOST_NAMED = 3  # features on a side, or labels


def kind_of(model: Model) -> str:
    """Return the kind of a model in words that need no knowledge of learners."""
    return (
        "kernel model"
        if model.is_kernel
        else "vote of linear models" * model.voted or "linear model"
    )


def warnings_of(found: Findings) -> Iterator[str]:
    """Yield warnings on misleading figures."""
    evaluation, told = found.evaluation, found.evaluation or found.labels
    yield from () if told is None else told.remarks
    if evaluation is not None and evaluation.n_unknown:
        yield unknown_labels(evaluation)
    if found.judged is not None and found.judged.error:
        _, baseline = found.judged.baseline(found.model.training.get("class_counts"))
        if baseline is not None and found.judged.error >= baseline:
            yield "The model is no better than always answering the most common class."
    for given in found.giveaways[:MOST_NAMED]:
        yield (
            f"The feature {given.feature} alone tells {given.label} from the other rows, with "
            f"{given.n_wrong:,} of {given.n_rows:,} wrong. Is it known when the model is used? If "
            "it was recorded with the label or after it, leave it out and train again."
        )


def unknown_labels(evaluation: Evaluation) -> str:
    """Say how many rows have labels that the model has never met, and which."""
    n_known = len(evaluation.classes)
    counts = evaluation.confusion[n_known:].sum(axis=1).tolist()
    met = [str(label) for label, n in zip(evaluation.labels[n_known:], counts, strict=True) if n]
    known = word_list([str(label) for label in evaluation.classes], MOST_NAMED * 2)
    n_unknown, n_rows = evaluation.n_unknown, evaluation.n_rows
    which = "All" if n_unknown == n_rows else f"{n_unknown:,} of {n_rows:,}"
    return (
        f"{which} test rows have labels that the model does not know "
        f"({word_list(met, MOST_NAMED * 2)}) and count as wrong; it knows {known}. Are the labels "
        "in the right column, and written as in training?"
    )

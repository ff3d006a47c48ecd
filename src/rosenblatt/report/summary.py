"""The report in three sentences, and what a reader must be warned of."""

from collections.abc import Iterator

from rosenblatt.models.evaluation import Evaluation
from rosenblatt.models.explanation import RankedWeight
from rosenblatt.report.findings import Findings
from rosenblatt.report.markup import part
from rosenblatt.report.tables import interval
from rosenblatt.wording import counted, percent, word_list

MOST_NAMED = 3  # features on a side, or labels


def summary_section(found: Findings) -> list[str]:
    """Say what the model is, how good it is and what decides; warn where that would mislead."""
    sentences = (_what(found), _how_good(found), _how_sure(found) or _what_decides(found))
    words = " ".join(sentence for sentence in sentences if sentence)
    return [words, *(part("paragraph", told, "warning") for told in warnings_of(found))]


def _what(found: Findings) -> str:
    model = found.model
    classes = [str(label) for label in model.classes]
    task = f"tells {classes[0]} from {classes[1]}"
    if len(classes) > 2:
        task = f"sorts rows into {len(classes)} classes"
    learned = f"{counted(model.n_features, 'feature')}"
    if "n_rows" in model.training:
        learned = f"{counted(model.training['n_rows'], 'row')} with {learned}"
    return f"This {model.learner} {task}; it was trained on {learned}."


def _how_good(found: Findings) -> str:
    evaluation, training = found.evaluation, found.model.training
    if evaluation is None or evaluation.error is None:
        error = training.get("held_out_error")
        if error is None:
            return "How good it is on new rows is not known, as no test data were given."
        return (
            f"It is wrong on {percent(error)} of the "
            f"{counted(training['held_out_rows'], 'held-out row')} that chose its pass; no test "
            "data were given."
        )
    label, baseline = evaluation.baseline(training.get("class_counts"))
    return (
        f"It is wrong on {percent(evaluation.error)} of {counted(evaluation.n_rows, 'test row')} "
        f"({interval(evaluation.n_wrong, evaluation.n_rows)} with 95% confidence); always "
        f"answering {label}, the most common class, would be wrong on {percent(baseline)}."
    )


def _how_sure(found: Findings) -> str:
    """Say how far probabilities are to be trusted; nothing where the model has none."""
    reliability = found.reliability
    if reliability is None:
        return ""
    gap = reliability.calibration_error
    return f"Its probabilities are {100 * gap:.1f} percentage points off on average."


def _what_decides(found: Findings) -> str:
    evaluation = found.evaluation
    if len(found.model.classes) > 2:
        if evaluation is None or not evaluation.confusions:
            return ""
        n, true, guess = evaluation.confusions[0]
        label, answer = evaluation.labels[true], evaluation.classes[guess]
        return f"Most often it takes {label} for {answer}: {counted(n, 'row')}."
    ranking = found.rankings[0]
    sides = [(ranking.label, ranking.top), (ranking.against, ranking.bottom)]
    parts = [f"for {label} speaks most: {_names(side)}" for label, side in sides if side]
    return f"What decides: {'; '.join(parts)}." if parts else ""


def _names(side: list[RankedWeight]) -> str:
    return word_list([weight.name for weight in side[:MOST_NAMED]])


def warnings_of(found: Findings) -> Iterator[str]:
    """Yield sentences on what makes the figures misleading."""
    evaluation = found.evaluation
    yield from () if evaluation is None else evaluation.remarks
    if evaluation is not None and evaluation.n_unknown:
        yield unknown_labels(evaluation)
    if evaluation is not None and evaluation.error:
        _, baseline = evaluation.baseline(found.model.training.get("class_counts"))
        if baseline is not None and evaluation.error >= baseline:
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

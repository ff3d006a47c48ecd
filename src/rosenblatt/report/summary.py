"""The report in a few sentences, and what a reader must be warned of."""

from collections.abc import Iterator

from rosenblatt.models.evaluation import Evaluation
from rosenblatt.models.model import Model
from rosenblatt.report.findings import Findings
from rosenblatt.report.tables import interval
from rosenblatt.wording import counted, percent, word_list

MOST_NAMED = 3  # features on a side, or labels


def summary_of(found: Findings) -> str:
    """Say what the model is, how good it is and what decides."""
    sentences = (_what(found), _how_good(found), _counts(found), _how_sure(found), _evidence(found))
    return " ".join(sentence for sentence in sentences if sentence)


def kind_of(model: Model) -> str:
    """Return what a model is, for people who do not know the names of learners."""
    return (
        "kernel model"
        if model.is_kernel
        else "vote of linear models" * model.voted or "linear model"
    )


def _what(found: Findings) -> str:
    model = found.model
    classes = [str(label) for label in model.classes]
    task = f"tells {classes[0]} from {classes[1]}"
    if len(classes) > 2:
        task = f"sorts rows into {len(classes)} classes"
    learned = counted(model.n_features, "feature")
    if "n_rows" in model.training:
        learned = f"{counted(model.training['n_rows'], 'row')} with {learned}"
    return f"This {kind_of(model)} {task}; it was trained on {learned}."


def _how_good(found: Findings) -> str:
    evaluation, training = found.judged, found.model.training
    if evaluation is None:
        why = "no test data were given" if found.evaluation is None else "no test label is known"
        held_out = held_out_sentence(found)
        return f"{held_out}; {why}." if held_out else f"Its error on new rows is unknown: {why}."
    label, baseline = evaluation.baseline(training.get("class_counts"))
    return (
        f"It is wrong on {percent(evaluation.error)} of {counted(evaluation.n_rows, 'test row')} "
        f"({interval(evaluation.n_wrong, evaluation.n_rows)} with 95% confidence); always "
        f"answering {label}, the most common class, would be wrong on {percent(baseline)}."
    )


def held_out_sentence(found: Findings) -> str:
    """Say how good the model is on rows that chose its pass, and perhaps its bias; "" for none."""
    training = found.model.training
    after, n_rows = training.get("held_out_error"), training.get("held_out_rows")
    if after is None or not n_rows:
        return ""
    told = (
        f"It is wrong on {percent(after)} of the {counted(n_rows, 'held-out row')} that chose its"
    )
    before = found.error_before_bias
    if before is None:
        return f"{told} pass"
    return f"{told} pass and its bias ({percent(before)} before the bias was moved)"


def _counts(found: Findings) -> str:
    """Say of two classes how many rows of the rarer one are found, and what that costs."""
    evaluation = found.judged
    if evaluation is None or evaluation.n_unknown:
        return ""
    reports = [one for one in evaluation.by_class if one.support]
    if len(evaluation.classes) > 2:
        ranked = sorted(reports, key=lambda one: one.recall or 0.0)
        best, worst = (f"{one.label} ({one.recall:.0%} found)" for one in (ranked[-1], ranked[0]))
        return f"It is best at {best} and worst at {worst}." if len(ranked) > 1 else ""
    if len(reports) < 2:
        return ""
    rare = int(reports[1].support <= reports[0].support)
    sought, other = reports[rare], reports[1 - rare]
    hits, alarms = (int(evaluation.confusion[k, rare]) for k in (rare, 1 - rare))
    return (
        f"Of {counted(sought.support, 'row')} of {sought.label}, {hits:,} "
        f"{'is' if hits == 1 else 'are'} found ({hits / sought.support:.0%}); {alarms:,} of "
        f"{counted(other.support, 'row')} of {other.label} {'is' if alarms == 1 else 'are'} taken "
        f"for {sought.label}."
    )


def _how_sure(found: Findings) -> str:
    """Say how far probabilities are to be trusted; nothing where the model has none."""
    reliability = found.reliability
    if reliability is None:
        return ""
    gap = reliability.calibration_error
    return f"Its probabilities are {100 * gap:.1f} percentage points off on average."


def _evidence(found: Findings) -> str:
    evaluation = found.judged
    if len(found.model.classes) > 2:
        if evaluation is None or not evaluation.confusions:
            return ""
        n, true, guess = evaluation.confusions[0]
        label, answer = evaluation.labels[true], evaluation.classes[guess]
        return f"Most often it takes {label} for {answer}: {counted(n, 'row')}."
    if not found.rankings:
        return ""
    ranking = found.rankings[0]
    sides = [(ranking.label, ranking.top), (ranking.against, ranking.bottom)]
    parts = [
        f"for {label}: {word_list([f'“{weight.name}”' for weight in side[:MOST_NAMED]])}"
        for label, side in sides
        if side
    ]
    return f"The strongest evidence {'; '.join(parts)}." if parts else ""


def warnings_of(found: Findings) -> Iterator[str]:
    """Yield sentences on what makes the figures misleading."""
    evaluation = found.evaluation
    yield from () if evaluation is None else evaluation.remarks
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

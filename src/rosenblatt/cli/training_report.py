"""What ``train`` prints when it has trained a model."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.screen import Screen
from rosenblatt.cli.spelling import for_command
from rosenblatt.data.formats import PACKINGS
from rosenblatt.models.guarantee import certainty_of
from rosenblatt.models.model import Model
from rosenblatt.parameters import METRICS
from rosenblatt.tasks.evaluation import ClassCounts, wilson
from rosenblatt.tasks.held_out_fits import TriedRows
from rosenblatt.training.history import ENDED_EARLY, REASONS, separability_counts
from rosenblatt.wording import counted, number, percent, printable, size_text, word_list

if TYPE_CHECKING:
    from rosenblatt.theory.verdict import Verdict

MOST_CLASSES = 8  # that are listed with their counts

OPTIONS = {"max_iter": " (--max-iter)", "time_limit": " (--time-limit)"}  # that set a limit


def report(
    model: Model, path: str, evaluation: ClassCounts | None, verdicts: "Sequence[Verdict]"
) -> dict[str, Any]:
    """Return everything as what JSON can hold."""
    n_rows, error, *_ = TriedRows.told(model.training)
    return {
        "model": path,
        "options": model.options,
        "n_rows": model.training["n_rows"],
        "n_features": model.n_features,
        "classes": list(model.classes),
        **{key: value for key, value in model.training.items() if key != "n_rows"},
        **model.outcome,
        "learner": model.learner,
        "held_out_interval_95": None if error is None else wilson(round(error * n_rows), n_rows),
        "history": list(model.history),
        "verdict": for_command(verdicts[0]).as_json() if verdicts else model.verdict,
        "test": None if evaluation is None else evaluation.report(),
    }


def show(
    screen: Screen,
    model: Model,
    path: str,
    evaluation: ClassCounts | None,
    test: Sequence[str],
    verdicts: "Sequence[Verdict]",
    *,
    verbose: bool,
) -> None:
    """Print the errors, how the files were read, what was learned, and what to do next."""
    training = model.training
    title = training["title"]
    _show_errors(screen, model, evaluation, test)
    screen.flush()
    for note in training["notes"]:
        screen.warn(note)
    # What was decided
    n_files = len(training["files"])
    source = printable(training["files"][0]) if n_files == 1 else counted(n_files, "file")
    screen.show(
        f"{source}: {counted(training['n_rows'], 'row')}, {counted(model.n_features, 'feature')}, "
        f"{counted(len(model.classes), model.task.noun)}"
        f"{_listed_classes(model)}."
    )
    read_as = training.get("read_as", ())
    screen.pairs([line for line in read_as if verbose or line[0] != "tried"])
    bad = training.get("bad_rows") or {"count": 0}
    if bad["count"]:
        screen.warn(f"Skipped {counted(bad['count'], 'row')} that could not be read, first:")
        for line in alike_rows(bad["first"]):
            screen.warn(f"  {line}")
    screen.show(f"{title[0].upper()}{title[1:]}: {_passes(model, title)}.")
    if verbose:
        _show_course(screen, model)
    linear = model.has_weights
    if linear:
        _show_verdict(screen, model, verdicts, getattr(evaluation, "error", None))
    _show_guarantee(screen, model)
    # The file, and what to do with it
    _show_file(screen, path)
    if path == "-":
        return
    target, kind = printable(path), _ending(training["files"][0])
    steps = {
        f"evaluate {target} TEST{kind}": "measure the error on new data",
        f"weights {target}": "show the most important features",
        f"predict {target} NEW{kind}": "predict the labels of new data",
    }
    if not linear:
        del steps[f"weights {target}"]
    lines = [f"rosenblatt {command}   {what}" for command, what in steps.items()]
    screen.show("\nNext: " + "\n      ".join(lines))


def show_continued(
    screen: Screen,
    model: Model,
    path: str,
    start: str,
    evaluation: ClassCounts | None,
    test: Sequence[str],
) -> None:
    """Print what became of a model that went on learning."""
    if screen.wants_json:
        told = {"model": path, "from": start, "classes": list(model.classes)}
        judged = {"test": None if evaluation is None else evaluation.report()}
        screen.json(told | {"n_features": model.n_features} | model.training | judged)
        return
    screen.pairs(model.training["read_as"])
    if evaluation is not None:
        _show_test_error(screen, evaluation, test, model.training.get("class_counts"))
    _show_guarantee(screen, model)
    _show_file(screen, path)


def _show_guarantee(screen: Screen, model: Model) -> None:
    apart = certainty_of(model)
    if apart is not None:
        rows = counted(len(apart.lead), "row")
        screen.show(f"Guarantee by {rows}, 95% confidence: {apart.curve().summary()}.")


def _show_file(screen: Screen, path: str) -> None:
    if path == "-":
        screen.show("Model: standard output")
    else:
        screen.show(f"Model: {printable(path)} ({size_text(Path(path).stat().st_size)})")


def alike_rows(rows: Sequence[dict[str, str]]) -> list[str]:
    """Return what is wrong with rows, those with the same fault on one line.

    >>> rows = [{"place": f"t.csv, line {k}", "reason": f"'{k}.' is no number"} for k in (3, 8)]
    >>> alike_rows([*rows, {"place": "t.csv, line 9", "reason": "it is empty"}])
    ["t.csv, lines 3 and 8, for instance '3.' is no number", 't.csv, line 9: it is empty']
    """
    groups: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        groups.setdefault(re.sub(r"'[^']*' |[0-9]+", "", row["reason"], count=1), []).append(row)
    lines = []
    for alike in groups.values():
        split = [row["place"].rpartition(" ") for row in alike]
        begins, reasons = {one[0] for one in split}, {row["reason"] for row in alike}
        places = word_list(one[2] for one in split)
        where = f"{begins.pop()}s {places}" if len(begins) == 1 else ""
        if len(alike) == 1 or not where:
            where = word_list(row["place"] for row in alike)
        instance = ":" if len(reasons) == 1 else ", for instance"
        lines.append(f"{where}{instance} {alike[0]['reason']}")
    return lines


def _show_verdict(
    screen: Screen, model: Model, verdicts: "Sequence[Verdict]", error: float | None
) -> None:
    """Say whether the rows can be separated: by a proof, by training, or how to find out.

    Nothing where nobody asks, and that would say nothing of the labels.
    """
    for verdict in verdicts:
        screen.show(str(for_command(verdict)))
    errors = TriedRows.told(model.training).error, error
    counts = separability_counts(model.n_features, model.training["n_rows"], *errors)
    if verdicts or not counts:
        return
    if model.outcome["stop_reason"] == "converged" or model.training.get("refit_converged"):
        screen.show("Verdict: the training rows are separable; the last weights prove it.")
    elif any(not record["mistakes"] for record in model.history):
        screen.show("Verdict: unknown; train with --verdict to prove whether they are separable.")


def _ending(name: str) -> str:
    """Return what the name of a file like this one ends in.

    >>> _ending("a.train.csv.gz"), _ending("b.svm"), _ending("-")
    ('.csv.gz', '.svm', '')
    """
    path = PurePath(name)
    inner = PurePath(path.stem).suffix if path.suffix in PACKINGS else ""
    return inner + path.suffix


def _listed_classes(model: Model) -> str:
    counts = model.training["class_counts"]
    if len(counts) > MOST_CLASSES:
        return ""
    pairs = zip(model.classes, counts, strict=True)
    return f" ({', '.join(f'{printable(str(label))}: {n:,}' for label, n in pairs)})"


def _passes(model: Model, title: str) -> str:
    """Return how many passes made the weights that decide, and why."""
    training, outcome, best = model.training, model.outcome, model.outcome["best_pass"]
    shards = f" on {counted(training['n_shards'], 'shard')}" if "n_shards" in training else ""
    if training.get("refit"):
        again = training["refit_passes"]
        passes = f"{counted(again, 'pass')} over all {counted(training['n_rows'], 'row')}"
        if training.get("refit_converged"):
            return f"{passes}, the last without a mistake"
        chosen = model.calibration is not None or training.get("threshold")
        if model.made_by.learner.second_order and not chosen and again > best:
            return f"{passes}, as {title.rpartition('(')[2].rstrip(')')} makes by default"
        if again != best:
            return f"{passes}, since too few rows were held out to choose a number"
        return f"{passes}, the number that held-out rows chose" if _judged(model) else passes
    passes, reason = counted(len(model.history), "pass") + shards, outcome["stop_reason"]
    if TriedRows.told(training).error is not None and len(model.history) > 1:
        passes += f", of which held-out rows chose pass {best}"
    if reason in ENDED_EARLY:
        passes += f"; {REASONS[reason]}{OPTIONS.get(reason, '')}"
    return passes


def _judged(model: Model) -> bool:
    """Return whether held-out rows judged the passes."""
    return any(record["validation_score"] is not None for record in model.history)


def _show_course(screen: Screen, model: Model) -> None:
    """Print the passes that were made, why no more, and the mistakes of each."""
    mistakes = [record["mistakes"] for record in model.history]
    seconds = sum(record["seconds"] for record in model.history)
    passes, best = counted(len(mistakes), "pass"), model.outcome["best_pass"]
    kept = f", the best is pass {best}" if best != len(mistakes) else ""
    reason = model.outcome["stop_reason"]
    because = REASONS[reason] + OPTIONS.get(reason, "")
    screen.show(f"  {passes} in {seconds:.2f} s{kept}. Training ended because {because}.")
    share = mistakes[-1] / max(model.outcome["n_learned"], 1)
    screen.show(
        f"  Mistakes per pass: {screen.curve(mistakes)}  "
        f"(first {number(mistakes[0])}, last {number(mistakes[-1])}: {percent(share)} of the rows)"
    )


def _show_errors(
    screen: Screen, model: Model, evaluation: ClassCounts | None, test: Sequence[str]
) -> None:
    counts, training = model.training["class_counts"], model.training
    few = " (there are too few)" if model.options.get("early_stopping") else ""
    tried = TriedRows.told(training)
    line = model.task.tried_line(tried, counts, model.classes, _tried_by(tried.by or {}))
    if line is not None:
        screen.show(line)
        _show_judge(screen, model)
        if training.get("threshold"):
            _show_threshold(screen, model, training["threshold"])
        elif model.calibration is not None and training.get("bias_moved"):
            screen.show(
                f"  Probabilities: the bias moved by {-training['bias_moved']:.4g}, so that a "
                f"score above 0 means that {printable(str(model.classes[1]))} is more probable."
            )
    elif missing := model.task.nothing_held_out(few, tested=evaluation is not None):
        screen.show(missing)
    if evaluation is not None:
        _show_test_error(screen, evaluation, test, counts)


def _tried_by(by: Mapping[str, Any]) -> str:
    """Return of which files, or how, rows were held out, as words behind them."""
    where = f" of {printable(word_list(by['files'], 3))}" if "files" in by else ""
    where += f", whole groups of '{by['group']}'" if "group" in by and not where else ""
    return where + (f", in turn in {by['folds']} folds" if "folds" in by else "")


def _show_judge(screen: Screen, model: Model) -> None:
    """Say whose error on held-out rows that is, what these chose, and who learned from them."""
    training, others = model.training, counted(model.outcome["n_learned"], "row")
    n_folds = (TriedRows.told(training).by or {}).get("folds")
    chosen = [*model.task.always_chosen]
    chosen += ["the bias"] * bool(training.get("threshold") or training.get("bias_moved"))
    judge = f"a training on the other {others}"
    if n_folds:
        judge = f"{n_folds} trainings, each on the rows of the other folds"
    elif _judged(model) and len(model.history) > 1:
        judge = f"the best of {counted(len(model.history), 'pass')} over the other {others}"
        chosen = ["the pass", *chosen]
    judge = judge if training.get("refit") else f"the model, {judge}"
    line = f"  Judged by {judge}"
    if chosen:
        line += f"; these rows chose {word_list(chosen)}, so new data may do worse"
    if training.get("refit"):
        made = counted(training["refit_passes"], "pass")
        line += f". The model then learned from all {counted(training['n_rows'], 'row')} in {made}"
    screen.show(f"{line}.")


def _show_threshold(screen: Screen, model: Model, threshold: dict[str, Any]) -> None:
    title = METRICS[threshold["metric"]]
    screen.show(
        f"  Threshold: {title} {threshold['score']:.4f} on these rows, "
        f"{threshold['score_at_zero']:.4f} without it; the bias moved by "
        f"{-threshold['value']:.4g}, so that a score above 0 still means "
        f"{printable(str(model.classes[1]))}."
    )


def warn_of_labels(screen: Screen, evaluation: ClassCounts) -> None:
    """Tell of rows without a label and of labels that the model does not know."""
    if evaluation.n_unlabelled:
        screen.warn(f"{counted(evaluation.n_unlabelled, 'row')} without a label skipped.")
    if evaluation.n_unknown:
        names = [printable(str(label)) for label in evaluation.labels[len(evaluation.classes) :]]
        n = counted(evaluation.n_unknown, "row")
        screen.warn(f"{n} with labels unknown to the model count as wrong: {word_list(names)}.")


def _show_test_error(
    screen: Screen, evaluation: ClassCounts, test: Sequence[str], counts: Sequence[int] | None
) -> None:
    """Tell of odd rows and labels, and print the error on test files and the baseline."""
    for remark in evaluation.remarks:
        screen.warn(remark)
    warn_of_labels(screen, evaluation)
    for line in evaluation.test_summary(printable(" ".join(test)), counts):
        screen.show(line)

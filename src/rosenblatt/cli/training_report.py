"""What a person wants to see when a training has ended."""

from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

from rosenblatt.cli.evaluate import warn_of_labels
from rosenblatt.cli.screen import Screen
from rosenblatt.data.files import Layout
from rosenblatt.data.formats import PACKINGS
from rosenblatt.models.evaluation import Evaluation
from rosenblatt.models.model import Model
from rosenblatt.wording import counted, number, percent, printable, size_text

MOST_CLASSES = 8  # that are listed with their counts

REASONS = {
    "converged": "a pass made no mistake: its last weights separate all the rows learned from",
    "early_stopping": "the error on held-out rows fell no more",
    "max_iter": "--max-iter was reached",
    "time_limit": "--time-limit was reached",
    "interrupted": "it was interrupted; what it had learned by then is kept",
}


def judged(model: Model, test: Sequence[str], layout: Layout) -> Evaluation | None:
    """Return how the model does on the files of --test."""
    if not test:
        return None
    return model.evaluate(test, layout=layout)


def report(model: Model, path: str, test: Sequence[str], layout: Layout) -> dict[str, Any]:
    """Return everything as what JSON can hold."""
    evaluation = judged(model, test, layout)
    return {
        "model": path,
        "learner": model.learner,
        "options": model.options,
        "n_rows": model.training["n_rows"],
        "n_features": model.n_features,
        "classes": list(model.classes),
        **{key: value for key, value in model.training.items() if key != "n_rows"},
        **model.outcome,
        "history": list(model.history),
        "verdict": model.verdict,
        "test": None if evaluation is None else evaluation.report(),
    }


def show(
    screen: Screen,
    model: Model,
    title: str,
    path: str,
    test: Sequence[str],
    layout: Layout,
    verdicts: Sequence[object],
) -> None:
    """Print rows, features, classes, errors, the curve of mistakes and what to do next."""
    training = model.training
    n_files = len(training["files"])
    source = printable(training["files"][0]) if n_files == 1 else counted(n_files, "file")
    screen.show(
        f"{source}: {counted(training['n_rows'], 'row')}, {counted(model.n_features, 'feature')}, "
        f"{counted(len(model.classes), 'class')}{_listed_classes(model)}."
    )
    for heading, words in training.get("read_as", ()):
        screen.show(f"  {heading}: {printable(words)}")
    bad = training.get("bad_rows") or {"count": 0}
    if bad["count"]:
        screen.warn(f"Skipped {counted(bad['count'], 'row')} that could not be read, first:")
        for row in bad["first"]:
            screen.warn(f"  {row['place']}: {row['reason']}")
    _show_course(screen, model, title)
    _show_errors(screen, model, judged(model, test, layout), test)
    _show_verdict(screen, model, verdicts)
    target = "standard output" if path == "-" else printable(path)
    size = "" if path == "-" else f" ({size_text(Path(path).stat().st_size)})"
    screen.show(f"Model: {target}{size}")
    if path == "-":
        return
    kind = _ending(training["files"][0])
    screen.show(
        f"\nNext: rosenblatt evaluate {target} TEST{kind}   how good it is on rows it has not seen"
        f"\n      rosenblatt weights {target}   what decides"
        f"\n      rosenblatt predict {target} NEW{kind}   labels for new rows"
    )


def _show_verdict(screen: Screen, model: Model, verdicts: Sequence[object]) -> None:
    """Say whether the rows can be separated: by a proof, by training, or how to find out."""
    for verdict in verdicts:
        screen.show(str(verdict))
    if verdicts:
        return
    if model.outcome["stop_reason"] == "converged":
        screen.show("Verdict: the rows learned from are separable; the last weights prove it.")
    else:
        screen.show(
            "Verdict: not known; --verdict, in one process, proves whether a line parts the rows."
        )


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


def _show_course(screen: Screen, model: Model, title: str) -> None:
    mistakes = [record["mistakes"] for record in model.history]
    seconds = sum(record["seconds"] for record in model.history)
    passes, best = counted(len(mistakes), "pass"), model.outcome["best_pass"]
    kept = f", pass {best} kept" if best != len(mistakes) else ""
    if "n_shards" in model.training:
        title += f" on {counted(model.training['n_shards'], 'shard')}"
    reason = REASONS[model.outcome["stop_reason"]]
    screen.show(
        f"{title[0].upper()}{title[1:]}: {passes} in {seconds:.2f} s{kept}. Ended: {reason}."
    )
    if model.training.get("refit"):
        n_rows = counted(model.training["n_rows"], "row")
        screen.show(f"Then trained again on all {n_rows}: {counted(best, 'pass')}.")
    share = mistakes[-1] / max(model.outcome["n_learned"], 1)
    screen.show(
        f"Mistakes per pass: {screen.curve(mistakes)}  "
        f"(first {number(mistakes[0])}, last {number(mistakes[-1])}: {percent(share)} of the rows)"
    )


def _show_errors(
    screen: Screen, model: Model, evaluation: Evaluation | None, test: Sequence[str]
) -> None:
    counts, training = model.training["class_counts"], model.training
    guess = max(range(len(counts)), key=counts.__getitem__)
    guessing = f"always {printable(str(model.classes[guess]))}"
    error = training["held_out_error"]
    if error is not None:
        share = 1.0 - counts[guess] / sum(counts)
        screen.show(
            f"Error on {counted(training['held_out_rows'], 'held-out row')}: {percent(error)} "
            f"({guessing}: {percent(share)})"
        )
    if evaluation is not None:
        warn_of_labels(screen, evaluation)
    if evaluation is not None and evaluation.error is not None:
        screen.show(
            f"Error on {counted(evaluation.n_rows, 'row')} of {printable(' '.join(test))}: "
            f"{percent(evaluation.error)}"
        )
    if error is None and evaluation is None:
        few = " (there are too few)" if model.options["early_stopping"] else ""
        screen.show(f"No rows were held out{few}: judge the model by rows that it has not seen.")

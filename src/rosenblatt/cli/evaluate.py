"""How good a model is on rows that have labels."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import click

from rosenblatt.cli import options
from rosenblatt.cli.baselines import Comparison, comparisons_with
from rosenblatt.cli.predict import threshold_sentence
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.cli.training_report import warn_of_labels
from rosenblatt.data.files import Files, Layout
from rosenblatt.errors import InputError
from rosenblatt.models.guarantee import says_how_sure
from rosenblatt.models.judging import evaluation_of
from rosenblatt.models.model import Model
from rosenblatt.parameters import METRICS
from rosenblatt.report.tables import confusion_list
from rosenblatt.tasks.evaluation import ClassCounts, label_figures
from rosenblatt.tuning.folds import cross_validate
from rosenblatt.wording import Cell, counted, decimals, percent, printable, word_list

BASELINES = (
    *("most-frequent", "perceptron", "logistic-regression", "linear-svc"),
    "hist-gradient-boosting",
)
MOST_IN_TABLE = 12  # classes that a confusion table is readable with
MOST_CONFUSIONS = 10


@click.command(
    cls=ScreenCommand,
    example="rosenblatt evaluate spam.model test.csv --against logistic-regression",
    common=(
        *("against", "train", "max_error", "folds", "metric", "label", "text", "rule"),
        *("class_weight", "format", "bad_rows"),
    ),
)
@click.argument("model_path", metavar="MODEL", type=click.Path())
@click.argument("data", nargs=-1, type=click.Path())
@options.choice(
    "--against", choices=BASELINES, multiple=True, help="Baseline to compare with (repeatable)."
)
@options.value(
    "--train DATA",
    shown="the training files of MODEL",
    multiple=True,
    help="Training data of the scikit-learn models of --against (repeatable).",
)
@options.value(
    "--max-error SHARE",
    shown="no limit",
    callback=options.share,
    help="Exit with code 1 if the error is higher, for example 0.05 or 5%.",
)
@options.number(
    "--folds",
    low=2,
    metavar="K",
    shown="judge MODEL",
    help="Judge the options of train instead of a model: train on all folds of DATA but one, "
    "test on that one, K times.",
)
@options.metric
@options.recipe
@options.settings(*options.KERNEL, *options.SEVERAL)
@options.layout
def evaluate(
    screen: Screen,
    model_path: str,
    data: Sequence[str],
    against: Sequence[str],
    train: Sequence[str],
    max_error: float | None,
    layout: Layout,
    folds: int | None,
    metric: str,
    **recipe: Any,
) -> bool:
    """Measure how well MODEL predicts the labels of DATA.

    DATA: files, patterns such as "part-*.csv", or "-" for standard input.

    With --folds there is no MODEL, only DATA, and the options of train say what is learned.
    Without --folds those have no effect.
    """
    if folds is not None:
        if against or train:
            msg = "--against and --train need a model and are not available with --folds."
            raise click.UsageError(msg)
        given = recipe | asdict(layout)
        return _judge_recipe(screen, [model_path, *data], folds, metric, max_error, given)
    options.refuse(["metric", *recipe], "--folds")
    if not data:
        msg = "Missing argument 'DATA': name data to judge MODEL by, or use --folds."
        raise click.UsageError(msg)
    if train and not set(against) - {"most-frequent"}:
        raise click.UsageError(
            "--train has no effect without a scikit-learn model to train: add --against "
            f"{word_list(BASELINES[1:], joint=' or ')}."
        )
    model = Model.load(model_path, to_learn=False).merged  # which answers fastest
    comparisons = comparisons_with(dict.fromkeys(against), model, train, layout, screen)
    return _judge_model(screen, model, model_path, data, layout, max_error, comparisons)


def _judge_model(
    screen: Screen,
    model: Model,
    model_path: str,
    data: Sequence[str],
    layout: Layout,
    max_error: float | None,
    comparisons: Sequence[Comparison],
) -> bool:
    files, told = Files(data, layout), list[str]()
    batches, counts = model.rows(files, tell=told.append), model.training.get("class_counts")
    evaluation = evaluation_of(model, batches, *(one.add for one in comparisons), told=told)
    for remark in evaluation.remarks:
        screen.warn(remark)
    if evaluation.error is None:
        rows = counted(evaluation.n_unlabelled, "row")
        raise InputError(f"{' '.join(data)}: none of the {rows} has a label. Did you mean predict?")
    if screen.wants_json:
        report = {"model": model_path, "data": list(data), **evaluation.report(), **files.report()}
        report["baseline"] = evaluation.baseline_report(counts)
        report["against"] = [comparison.report() for comparison in comparisons]
        screen.json(report | _limit(evaluation, max_error))
    else:
        _show_evaluation(screen, evaluation, counts, files)
    _show_probabilities(screen, model, evaluation)
    _show_coverage(screen, model, evaluation)
    _show_comparisons(screen, evaluation, comparisons)
    return _is_low_enough(screen, evaluation, max_error)


def _limit(evaluation: ClassCounts, max_error: float | None) -> dict[str, Any]:
    if max_error is None:
        return {}
    low_enough = (evaluation.error or 0.0) <= max_error
    return {"max_error": max_error, "error_is_low_enough": low_enough}


def _is_low_enough(screen: Screen, evaluation: ClassCounts, max_error: float | None) -> bool:
    low_enough: bool = _limit(evaluation, max_error).get("error_is_low_enough", True)
    if not low_enough:
        screen.say(f"The error, {percent(evaluation.error)}, is above {percent(max_error)}.")
    return low_enough


def _judge_recipe(
    screen: Screen,
    data: Sequence[str],
    folds: int,
    metric: str,
    max_error: float | None,
    given: dict[str, Any],
) -> bool:
    tell = partial(screen.show_fold, folds=folds)
    found = cross_validate(data, folds=folds, metric=metric, tell=tell, **given)
    evaluation, files = found.evaluation, found.files
    for note in found.notes:
        screen.warn(note)
    if screen.wants_json:
        report = {"data": list(data), **found.report(), **files.report()}
        screen.json(report | _limit(evaluation, max_error))
    else:
        title = METRICS[metric]
        meaning = evaluation.meanings.get(metric, "")
        figure = percent if metric == "error" else decimals
        low, high = found.interval
        screen.show(
            f"{title[0].upper()}{title[1:]} {figure(found.mean)} ({meaning}95% interval "
            f"{figure(low)} to {figure(high)}), mean of {folds} folds, {found.title}."
        )
        if found.recipes:
            chosen = [f"{name} ({counted(n, 'fold')})" for name, n in found.recipes.items()]
            screen.show(f"Recipes: {word_list(chosen, len(chosen))}.")
        screen.show(f"Folds: {', '.join(figure(value) for value in found.values)}.")
        screen.show("All rows, each predicted by the model of the other folds:")
        _show_evaluation(screen, evaluation, None, files)
        if found.standard_errors is not None:
            errors = label_figures(found.standard_errors)
            screen.show(f"Standard errors over the folds: {errors}.")
    return _is_low_enough(screen, evaluation, max_error)


def _show_evaluation(
    screen: Screen, evaluation: ClassCounts, counts: Sequence[int] | None, files: Files
) -> None:
    """Print errors, classes and confusions; the counts are those of the classes in training."""
    warn_of_labels(screen, evaluation)
    for line in evaluation.summary(counts):
        screen.show(line)
    screen.pairs(files.decided())
    screen.table(*evaluation.table())
    confusion = evaluation.confusion_table()
    if confusion and len(confusion[1]) <= MOST_IN_TABLE and screen.fits(*confusion[:2]):
        screen.table(*confusion)
    elif evaluation.confusions:
        columns, lines, title = confusion_list(evaluation, MOST_CONFUSIONS)
        screen.table(columns, lines, f"{title} (--json has all)")


def _show_probabilities(screen: Screen, model: Model, evaluation: ClassCounts) -> None:
    """Show whether rows of a probability are of the class as often as it says."""
    found = evaluation.reliability
    if found is None or not found.n_rows:
        return
    two = len(model.classes) == 2
    what = printable(str(model.classes[1])) if two else "the most probable class"
    rows: list[list[Cell]] = [
        [
            f"{percent(one.low)} to {percent(one.high)}",
            percent(one.probability),
            percent(one.share),
            one.n_rows,
        ]
        for one in found.bins
    ]
    headings = ("probability", "mean", "true share", "rows")
    screen.table(headings, rows, f"Reliability: probabilities of {what}")
    screen.show(
        f"Brier score {found.brier_score:.4f}, log-loss {found.log_loss:.4f} (0 is perfect); "
        f"probabilities and true shares differ by {percent(found.calibration_error)} on average."
    )
    if "threshold" in model.training:
        screen.show(threshold_sentence(model))


def _show_coverage(screen: Screen, model: Model, evaluation: ClassCounts) -> None:
    """Show what abstaining on the least certain rows gains, where the model can say how sure."""
    curve = evaluation.coverage_curve
    if curve is not None and says_how_sure(model):
        errors = [percent(curve.error_at(share)) for share in (0.5, 0.9)]
        screen.show(
            f"Of the most certain half of the rows {errors[0]} are wrong, of the most certain 90% "
            f"{errors[1]} (predict --error-at-most)."
        )


def _show_comparisons(
    screen: Screen, evaluation: ClassCounts, comparisons: Sequence[Comparison]
) -> None:
    """Show other models on the same rows; an error is a row that is not exactly right."""
    if not comparisons:
        return
    judged: list[tuple[str, Any, str]] = [("this model", evaluation, "")]
    judged += [(c.title, c.evaluation, c.verdict) for c in comparisons]
    headings = ["", "error", "95% interval", "difference", *evaluation.beside_error]
    rows: list[list[Cell]] = [
        [
            *(title, percent(one.error), one.error_interval, verdict),
            *map(decimals, one.beside_error.values()),
        ]
        for title, one, verdict in judged
    ]
    screen.table(headings, rows, "Comparison on the same rows (p: McNemar's test)")

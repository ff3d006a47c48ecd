"""``train --from``: going on with a model, and what is printed while it learns."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli.evaluate import show_test_error
from rosenblatt.cli.options import LAYOUT, is_given
from rosenblatt.cli.screen import Screen
from rosenblatt.errors import InputError
from rosenblatt.models.continuation import Milestone, learn_files
from rosenblatt.models.model import Model
from rosenblatt.wording import percent, printable, size_text

if TYPE_CHECKING:
    from rosenblatt.data.files import Layout
    from rosenblatt.models.evaluation import Evaluation

ALLOWED = ("start", "data", "output", "force", "test", "as_json", "label", *LAYOUT)
HEADINGS = f"{'rows':>12}  {'error':>8}  {'since last':>10}  {'features':>8}  label -> predicted"


def check_alone(context: click.Context) -> None:
    """Raise UsageError for an option that says what the model already knows."""
    for option in context.command.params:
        if option.name not in ALLOWED and is_given(context, option):
            msg = (
                f"{option.opts[-1]} cannot be used with --from: rule, columns and settings are "
                "those of the model, and each row is learned once, in the order of the file."
            )
            raise click.UsageError(msg)


def check_label(model: "Model", start: str, label: str | None) -> None:
    """Raise InputError where --label names another column than the model's own."""
    encoder = model.encoder
    own = getattr(getattr(encoder, "inner", encoder), "label", None)
    if label in (None, own) or f"column_{label}" == own:  # a file without a header
        return
    known = "has no column of labels" if own is None else f"learned its labels from '{own}'"
    msg = f"--label {label} does not fit --from: {start} {known}; leave --label out."
    raise InputError(msg)


def output_path(path: str, *, force: bool) -> str:
    """Return the default output path, at which nothing may stand without force."""
    if Path(path).exists() and not force:
        msg = (
            f"{path} already exists; choose another output file with -o, or replace it with "
            "--force."
        )
        raise InputError(msg)
    return path


def go_on(
    screen: Screen,
    start: str,
    data: Sequence[str],
    path: str,
    test: Sequence[str],
    layout: "Layout",
    label: str | None,
) -> None:
    """Go on with the model of a file, print how it does, and write the new one."""
    old = Model.load(start)
    old.check_weights()
    check_label(old, start, label)
    error = old.training.get("held_out_error")
    if error is not None:
        screen.show(f"{printable(start)} had an error of {percent(error)} on held-out rows.")
    screen.show("Error on new rows, each predicted before it is learned:")
    screen.show(HEADINGS)

    def show(milestone: "Milestone") -> None:
        pair = " -> ".join(printable(str(one)) for one in (milestone.label, milestone.predicted))
        screen.show(
            f"{milestone.n_rows:>12,}  {percent(milestone.error):>8}  "
            f"{percent(milestone.error_since):>10}  {milestone.n_features:>8,}  {pair}"
        )
        screen.flush()

    new = learn_files(old, data, layout=layout, watch=show, tell=screen.warn)
    new.save(path)
    screen.wrote(path)
    evaluation = new.evaluate(test, layout=layout) if test else None
    if screen.wants_json:
        screen.json(_report(start, path, new, evaluation))
    else:
        _show(screen, path, new, evaluation, test)


def _report(start: str, path: str, model: "Model", evaluation: "Evaluation | None") -> Any:
    return {
        "model": path,
        "from": start,
        "classes": list(model.classes),
        "n_features": model.n_features,
        **model.training,
        "test": None if evaluation is None else evaluation.report(),
    }


def _show(
    screen: Screen, path: str, model: "Model", evaluation: "Evaluation | None", test: Sequence[str]
) -> None:
    for heading, words in model.training["read_as"]:
        screen.show(f"  {heading}: {printable(words)}")
    if evaluation is not None:
        show_test_error(screen, evaluation, test, model.training.get("class_counts"))
    target = "standard output" if path == "-" else printable(path)
    size = "" if path == "-" else f" ({size_text(Path(path).stat().st_size)})"
    screen.show(f"Model: {target}{size}")

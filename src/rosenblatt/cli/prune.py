"""The command that makes a model smaller."""

from collections.abc import Sequence
from typing import Any

import click

from rosenblatt.cli import options
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.data.atomic import check_target
from rosenblatt.data.formats import Layout
from rosenblatt.models.guarantee import certainty_of
from rosenblatt.models.model import Model
from rosenblatt.models.pruning import pruned_to_size
from rosenblatt.wording import percent, size_text


@click.command(
    cls=ScreenCommand, example="rosenblatt prune spam.model --max-size 500k -o small.model"
)
@click.argument("model_path", metavar="MODEL", type=click.Path())
@options.value(
    "--max-size SIZE",
    required=True,
    callback=options.size,
    help="Most bytes of the new file: 500k, 2M.",
)
@options.value("-o", "--output FILE", required=True, help="Model file to write.")
@options.value(
    "--test DATA",
    multiple=True,
    help="Labelled data; the error on them before and after is printed (repeatable).",
)
@options.layout
def prune(
    screen: Screen, model_path: str, max_size: int, output: str, test: Sequence[str], layout: Layout
) -> None:
    """Write MODEL to a smaller file that keeps the features with the largest effect.

    The effect of a feature is its weight times how much its values spread. The new model still
    learns on; probabilities and a guarantee are left out, since they were of other scores.
    """
    check_target(output, test)
    model = Model.load(model_path)
    found, n_bytes, n_dropped = pruned_to_size(model, max_size)
    errors: list[Any] = [one.evaluate(test, layout=layout).error for one in (model, found) if test]
    found.save(output)
    screen.wrote(output)
    if screen.wants_json:
        facts = {"features": n_dropped, "of": model.n_features, "errors": errors}
        screen.json(facts | {"model": model_path, "file": output, "bytes": n_bytes})
        return
    screen.show(f"Dropped {n_dropped:,} of {model.n_features:,} features, the weakest.")
    if errors:
        before, after = map(percent, errors)
        screen.show(f"{model.task.wrong_rows('test rows')}: {before} before, {after} after.")
    if found.calibration is None and model.calibration is not None:
        screen.show("Probabilities were left out: they were fitted to other scores.")
    if certainty_of(found) is None and certainty_of(model) is not None:
        screen.show("The guarantee was left out: it held for other scores.")
    screen.show(f"Model: {output} ({size_text(n_bytes)})")

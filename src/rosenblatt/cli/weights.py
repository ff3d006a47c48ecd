"""The command that shows the weights of a model."""

import json

import click

from rosenblatt.cli import options
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.models.column_shapes import ColumnShape, column_shapes, triple_importances
from rosenblatt.models.explanation import (
    all_weights,
    class_number,
    ranked_weights,
    ranking_misleads,
)
from rosenblatt.models.model import Model
from rosenblatt.report.tables import bias_sentence, ranking_list, weight_tables
from rosenblatt.wording import UNSURE, counted, percent, printable, signed

MOST_TABLES = 6  # classes; more get one line each
IN_LINE = 5  # names in such a line


@click.command(
    cls=ScreenCommand,
    example="rosenblatt weights spam.model -n 20",
    json_help="Print one JSON document; with --all, JSON lines.",
)
@click.argument("model_path", metavar="MODEL", type=click.Path())
@options.number("-n", "n", default=10, help="Number of features to show for each side.")
@options.value(
    "--class LABEL", "class_", shown="all classes", help="Show only the weights of this class."
)
@click.option("--all", "everything", is_flag=True, help="Print every nonzero weight.")
def weights(screen: Screen, model_path: str, n: int, class_: str | None, everything: bool) -> None:
    """Show the features of MODEL with the largest weights.

    If the features have very different ranges, they are ranked by weight × standard deviation.
    --all prints tab-separated lines: class, feature, name, weight. Models of second-order rules
    know how sure each weight is: ± is its standard deviation, 1 before training.
    """
    model = Model.load(model_path)
    chosen = None if class_ is None else class_number(model, class_)
    if everything:
        _write_all(screen, model, chosen)
        return
    if model.merged is not model and chosen is None and not screen.wants_json:
        _show_shapes(screen, model, n)
        return
    n_vectors = model.linear.n_deciding
    misleads = ranking_misleads(model)
    rankings = ranked_weights(model, n, chosen, by_effect=misleads)
    if screen.wants_json:
        screen.json(
            {
                "model": model_path,
                "learner": model.learner,
                "classes": model.classes,
                "features": model.n_features,
                "vectors_that_vote": n_vectors,
                "ranked_by": "weight × deviation" if misleads else "weight",
                "rankings": rankings,
            }
        )
        return
    screen.show(
        f"{model.learner}: {counted(len(model.classes), model.task.noun)}, "
        f"{counted(model.n_features, 'feature')}."
    )
    if n_vectors is not None:
        screen.show(
            f"The model decides by vote of {counted(n_vectors, 'weight vector')}; the weights "
            "below are their average."
        )
    if misleads:
        screen.warn(
            "the features have very different ranges, so their weights cannot be compared; "
            "they are ranked by weight × standard deviation."
        )
    if len(rankings) > MOST_TABLES:
        noun = model.task.noun
        screen.table(*ranking_list(rankings, IN_LINE, noun, by_effect=misleads))
        screen.say(f"\nUse --class LABEL to show the weights of one {noun}.")
    else:
        if model.made_by.learner.second_order:
            screen.show(UNSURE)
        for ranking in rankings:
            screen.heading(bias_sentence(ranking, model.task.noun))
            for table in weight_tables(ranking, by_effect=misleads):
                screen.table(*table)


def _show_shapes(screen: Screen, model: "Model", n: int) -> None:
    """Show a line for each column and each pair or triple of columns, by its share of the score."""
    shapes, triples = column_shapes(model), triple_importances(model)
    flat = model.task.flat
    lines = [(one.importance, one.title, _range_of(one) if flat else "") for one in shapes]
    lines += [(importance, title, "") for title, importance in triples]
    lines.sort(key=lambda line: -line[0])
    whole = sum(importance for importance, *_ in lines) or 1.0
    screen.show(
        f"{model.learner}: {counted(len(model.classes), model.task.noun)}, "
        f"{counted(len(shapes) + len(triples), 'term')} of {counted(model.n_features, 'feature')}."
    )
    what = f"to the score of {model.classes[1]}" if flat else "to the scores"
    screen.heading(f"What columns add {what}, by their share of how much it varies")
    shown = [
        (printable(title), percent(importance / whole), words)
        for importance, title, words in lines[: 2 * n]
    ]
    heads = ["columns", "share", "from … to"][: 3 if flat else 2]
    screen.table(heads, [line[: len(heads)] for line in shown])
    if len(lines) > len(shown):
        screen.say(f"\nAnd {len(lines) - len(shown)} more, which a larger -n shows.")
    screen.say("\nplot shape draws them; --class LABEL, --all and --json list single weights.")


def _range_of(shape: "ColumnShape") -> str:
    """Return the least and the most that a column, or a pair beside its columns, adds."""
    seen = shape.amounts[0][shape.shares > 0.0]
    return f"{signed(float(seen.min()))} … {signed(float(seen.max()))}"


def _write_all(screen: Screen, model: "Model", chosen: int | None) -> None:
    if not screen.wants_json:
        screen.write("class\tfeature\tname\tweight\n")
    for label, feature, name, weight in all_weights(model, chosen):
        if screen.wants_json:
            line = {"class": label, "feature": feature, "name": name, "weight": weight}
            screen.write(f"{json.dumps(line)}\n")
        else:
            place = "" if feature is None else feature
            texts = (printable(str(label)), place, printable(name), repr(weight))
            screen.write("{}\t{}\t{}\t{}\n".format(*texts))

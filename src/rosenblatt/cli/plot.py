"""The command that draws pictures."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli.layout_options import layout_options
from rosenblatt.cli.option_group import column_options, rule_parameter_options, scale_option
from rosenblatt.cli.plot_kinds import KINDS, LEARNER, VOTE, Kind
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.cli.spelling import flag
from rosenblatt.errors import Parameter
from rosenblatt.models.learner import MEMORIES
from rosenblatt.rules import RULES

if TYPE_CHECKING:
    from rosenblatt.data.files import Layout


class PlotCommand(ScreenCommand):
    """A command that names the kinds of pictures, in its help and for --list."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; with --list, which needs nothing else, name the kinds and end."""
        if "--list" in args and not ctx.resilient_parsing:
            screen = Screen(json="--json" in args)
            if screen.wants_json:
                screen.json({name: kind.sentence for name, kind in KINDS.items()})
            rows = [(name, kind.sentence) for name, kind in KINDS.items()]
            screen.table(("kind", "what it shows"), rows)
            ctx.exit()
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the kinds, then the options."""
        with formatter.section("Kinds"):
            formatter.write_dl([(name, kind.sentence) for name, kind in KINDS.items()])
        super().format_options(ctx, formatter)


@click.command(cls=PlotCommand, example="rosenblatt plot boundary iris.csv -o boundary.svg")
@click.argument("kind", type=click.Choice([*KINDS]), metavar="KIND")
@click.argument("path", metavar="DATA-OR-MODEL", type=click.Path())
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="Picture to write: .png, .svg or .pdf."
)
@click.option(
    "--test", multiple=True, metavar="DATA", help="Rows to judge by; for a model, rows to draw."
)
@column_options
@layout_options
@scale_option(default=False)
@click.option("--x", metavar="FEATURE", help="Feature to the right, by name or number from 0.")
@click.option("--y", metavar="FEATURE", help="Feature upwards; others are set to their means.")
@click.option(
    "--plane",
    type=click.Choice(["pca", "weights"]),
    help="Two leading directions, or the weights and one more.",
)
@click.option("--rule", type=click.Choice([*RULES]), help="How to step; perceptron if not given.")
@click.option(
    "--memory",
    type=click.Choice([*dict.fromkeys([*MEMORIES, VOTE])]),
    help="Which weights; last if not given.",
)
@rule_parameter_options
@click.option("--intercept/--no-intercept", default=None, help="Learn a bias.")
@click.option("--max-iter", type=click.IntRange(1), metavar="N", help="Passes.")
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Of all chance; 0 if not given.")
@click.option("--seeds", type=click.IntRange(2), metavar="N", help="How many; 10 if not given.")
@click.option("--update", type=click.IntRange(1), metavar="N", help="Which one, counted from 1.")
@click.option("--row", type=click.IntRange(1), metavar="N", help="Which one, counted from 1.")
@click.option(
    "-n", "n", type=click.IntRange(1), metavar="N", help="How many bars; 10 if not given."
)
@click.option("--class", "class_", metavar="LABEL", help="Whose weights.")
@click.option("--list", is_flag=True, expose_value=False, help="Name the kinds and end.")
def plot(
    screen: Screen,
    kind: str,
    path: str,
    output: str,
    test: Sequence[str],
    layout: "Layout",
    **given: Any,
) -> None:
    """Draw a picture of DATA-OR-MODEL and write it to a file.

    Data are drawn as they are, or a learner is trained on them first, by default a perceptron on
    numbers that are not scaled. A model is drawn among the rows of --test.
    """
    from rosenblatt.cli.plot_subject import Subject
    from rosenblatt.data.files import Columns
    from rosenblatt.plots.canvas import require_matplotlib
    from rosenblatt.plots.picture_file import check_picture_path, write_picture

    check_picture_path(output)
    require_matplotlib()
    wanted = KINDS[kind]
    reading = ("label", "text", "category", "numeric", "ignore", "scale")
    columns = {name: given.pop(name) for name in reading}
    options = {name: value for name, value in given.items() if value is not None}
    subject = Subject(path, test, layout, Columns(**columns))
    _check(kind, wanted, options, of_model=subject.model is not None, test=bool(test))
    if subject.model is not None:
        named = [name for name, value in columns.items() if value]
        if named:
            msg = f"--{named[0]} goes with data: a model knows how its rows are encoded."
            raise click.UsageError(msg)
    display = wanted.draw(subject, options)
    write_picture(display, output)
    if screen.wants_json:
        document = {"kind": kind, "path": output, "shows": display.sentence}
        screen.json(document | {"arrays": display.summary()})
        return
    screen.show(display.sentence)
    screen.say(f"Written to {output}.")


def _check(kind: str, wanted: Kind, options: dict[str, Any], *, of_model: bool, test: bool) -> None:
    """Refuse what the picture would ignore."""
    if of_model and not wanted.of_model:
        msg = f"The picture {kind} is of data, and DATA-OR-MODEL is a model: give a file of rows."
        raise click.UsageError(msg)
    for name in options:
        said = "-n" if name == "n" else flag(Parameter(name.rstrip("_")))
        if name not in wanted.options:
            takers = [other for other, entry in KINDS.items() if name in entry.options]
            msg = f"{said} says nothing to the picture {kind}: it goes with {', '.join(takers)}."
            raise click.UsageError(msg)
        if of_model and name in LEARNER:
            msg = f"{said} goes with data: the model is trained already."
            raise click.UsageError(msg)
    if test and not (wanted.beside_model if of_model else wanted.beside_data):
        msg = f"--test says nothing to the picture {kind} of {'a model' if of_model else 'data'}."
        raise click.UsageError(msg)

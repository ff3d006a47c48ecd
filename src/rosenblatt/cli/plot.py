"""The command that draws pictures."""

from collections.abc import Sequence
from typing import Any

import click

from rosenblatt.cli import options
from rosenblatt.cli.pictures import KINDS, LEARNER, REST, Options, Subject
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.cli.spelling import flag
from rosenblatt.data.atomic import check_target
from rosenblatt.data.files import Columns, Layout
from rosenblatt.errors import Parameter
from rosenblatt.plots.display import check_picture_path, require_matplotlib, write_picture
from rosenblatt.rules import additive_rules, rule_parameters, rules_with

PARAMETERS = [name for name in rule_parameters() if {*rules_with(name)} & {*additive_rules()}]


class PlotCommand(ScreenCommand):
    """A command that names the kinds of pictures, in its help and for --list."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; --list needs no other argument."""
        if "--list" in args and not ctx.resilient_parsing:
            screen = Screen(json="--json" in args)
            if screen.wants_json:
                screen.json({name: kind.sentence for name, kind in KINDS.items()})
            rows = [(name, kind.sentence) for name, kind in KINDS.items()]
            screen.table(("kind", "description"), rows)
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
@options.value(
    "-o", "--output FILE", required=True, help="Picture file to write: .png, .svg or .pdf."
)
@options.value(
    "--test DATA", multiple=True, help="Test data; needed to draw a model among rows (repeatable)."
)
@options.settings(*options.COLUMNS, "label_separator")
@options.layout
@options.setting("scale", default=False)
@options.value(
    "--x FEATURE",
    shown="the plane chosen by --plane",
    help="Feature on the horizontal axis: a name, or a number counted from 0.",
)
@options.value(
    "--y FEATURE",
    shown="the plane chosen by --plane",
    help="Feature on the vertical axis; the other features are set to their means.",
)
@options.choice(
    "--plane",
    choices=["pca", "weights"],
    shown="weights, or pca with more than two classes; both features if there are only two",
    help="Plane to draw: the two principal components, or the weight vector and one more.",
)
@options.setting("rule", type=click.Choice(additive_rules()), shown="perceptron")
@options.setting("memory", shown="last")
@options.settings(*PARAMETERS, rules=additive_rules())
@options.setting("fit_intercept", default=None, shown="intercept")
@options.setting("max_iter", shown="depends on KIND")
@options.setting("random_state", default=None, shown="0")
@options.number("--seeds", "n_seeds", low=2, shown="10", help="Number of random seeds to compare.")
@options.number(
    "--update",
    shown="the first with a boundary",
    help="Number of the update to draw, counted from 1.",
)
@options.number("--row", shown="1", help="Number of the row to draw, counted from 1.")
@options.value(
    "--column NAME",
    shown="those that add most",
    help="Column of a model to draw, or a pair of columns as A:B.",
)
@options.number("-n", "n", shown="10", help="Number of bars, or of columns.")
@options.value(
    "--class LABEL",
    "class_",
    shown="the first class, of precision-recall and roc the second",
    help="Class whose weights or curve are drawn, or that is set against all others; where rows "
    "have several labels, the one to draw.",
)
@options.value(
    "--width INCHES",
    type=click.FloatRange(2, 40),
    shown="depends on KIND",
    help="Width of the picture; the height follows.",
)
@options.number("--dpi", low=20, high=1200, default=200, help="Dots per inch of a PNG.")
@options.value("--title TEXT", shown="depends on KIND", help="Title of the picture; '' for none.")
@click.option("--list", is_flag=True, expose_value=False, help="List the kinds of pictures.")
def plot(
    screen: Screen,
    kind: str,
    path: str,
    output: str,
    test: Sequence[str],
    layout: Layout,
    width: float | None,
    dpi: int,
    title: str | None,
    **given: Any,
) -> None:
    """Draw a picture of data or of a model and write it to a file.

    For a data file, a perceptron is trained on it first where the picture needs one. For a model,
    the rows of --test are drawn.
    """
    check_picture_path(output)
    check_target(output, [path, *test])
    require_matplotlib()
    columns = {name: given.pop(name) for name in (*options.COLUMNS, "label_separator", "scale")}
    chosen = {name: value for name, value in given.items() if value is not None}
    own = Columns(**columns)
    subject = Subject(path, test, layout, own, kind == "weights", chosen.get("class_"))
    named = [name for name, value in columns.items() if value]
    if subject.model is not None and named:
        said = flag(Parameter(named[0]))
        msg = f"{said} has no effect for a model, which stores how its data are read."
        raise click.UsageError(msg)
    if "class_" in chosen and subject.chosen:
        del chosen["class_"]  # it is what the picture is of
    _check(kind, chosen, of_model=subject.model is not None, test=bool(test))
    if kind in REST and "class_" in chosen:
        if subject.model is not None or test:
            msg = f"--class draws one class of a data file with the picture {kind}, without --test."
            raise click.UsageError(msg)
        subject.against_rest = bool(chosen.pop("class_"))
    display = KINDS[kind].picture(subject, chosen)
    write_picture(display, output, width=width, dpi=dpi, title=title)
    screen.wrote(output)
    if screen.wants_json:
        document = {"kind": kind, "path": output, "shows": display.sentence}
        screen.json(document | {"arrays": display.summary()})
        return
    screen.show(display.sentence)
    screen.say(f"Written to {output}.")


def _check(kind: str, chosen: Options, *, of_model: bool, test: bool) -> None:
    wanted, what = KINDS[kind], "a model" if of_model else "data"
    if what not in wanted.subjects:
        raise click.UsageError(f"The picture {kind} needs a data file; DATA-OR-MODEL is a model.")
    for name in chosen:
        said = flag(Parameter(name))
        if name not in wanted.options:
            takers = [other for other, entry in KINDS.items() if name in entry.options]
            msg = f"{said} has no effect on the picture {kind}; use it with {', '.join(takers)}."
            raise click.UsageError(msg)
        if of_model and name in LEARNER:
            raise click.UsageError(f"{said} has no effect for a model, which is already trained.")
    if test and what not in wanted.beside:
        raise click.UsageError(f"--test has no effect on the picture {kind} of {what}.")

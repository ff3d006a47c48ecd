"""The command that searches for the best way to learn from data, and prints it as a command."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli import options, tagging
from rosenblatt.cli.options import is_given
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.cli.spelling import flag
from rosenblatt.data.atomic import check_target
from rosenblatt.errors import Parameter
from rosenblatt.wording import Cell, counted, percent, printable

if TYPE_CHECKING:
    from rosenblatt.data.files import Layout
    from rosenblatt.models.search import Search, SearchStatus

SHOWN = 15  # trials in the table
NOT_REPEATED = (  # options that the command for what was chosen leaves out
    *("data", "output", "folds", "metric", "time_limit", "as_json", "tune", "force", "verbose"),
)
ENDINGS = {
    "finished": "",
    "time_limit": " The time limit was reached; this is the best so far.",
    "interrupted": " It was interrupted; this is the best so far.",
}
search_options = options.group(
    (
        options.number(
            "--folds",
            group="Learning",
            metavar="K",
            shown="5, or 1 above 20,000 rows",
            help="Number of folds to judge by; 1 holds out a fifth of the rows.",
        ),
        options.metric,
    )
)


@click.command(
    cls=ScreenCommand,
    example="rosenblatt tune mail.csv --metric f1 -o spam.model",
    common=(
        *("output", "folds", "metric", "time_limit", "label", "text", "category", "ignore"),
        *("rule", "class_weight", "random_state", "bad_rows"),
    ),
)
@click.argument("data", nargs=-1, required=True, type=click.Path())
@options.value(
    "-o", "--output MODEL", group="Output", shown="none", help="Model file to write with it."
)
@search_options
@options.setting(
    "time_limit", help="Stop searching after this time (90, 90s, 5m, 1h) and take the best so far."
)
@options.recipe
@options.settings(*options.SEVERAL)
@options.layout
@tagging.learned_options
def tune(
    screen: Screen,
    data: Sequence[str],
    output: str | None,
    folds: int | None,
    metric: str,
    time_limit: float | None,
    layout: "Layout",
    **given: Any,
) -> None:
    """Search for the way to learn from DATA that does best on held-out rows.

    Rules, their parameters, memories, numbers of passes and features are tried: many on few rows,
    the best of them on more, the last on all. Options that you give are not changed. Ctrl-C ends
    the search with the best so far. The result is printed as a train command. Of sentences, rules,
    their parameters and numbers of passes are tried, on a fifth of the sentences.
    """
    if output is not None:
        check_target(output, data)
    known = given | asdict(layout)
    chosen, search = run_search(screen, data, known, folds, metric, time_limit)
    command = train_command(data, chosen)
    if screen.wants_json:
        screen.json({"command": command, "chosen": chosen, **search.as_json()})
    else:
        show_search(screen, search, command)
    if output is not None:
        from rosenblatt.models.train import model_from_files

        model_from_files(data, **known | chosen).save(output)
        screen.say(f"Model: {printable(output)}")


def run_search(
    screen: Screen,
    data: Sequence[str],
    known: Mapping[str, Any],
    folds: int | None,
    metric: str,
    time_limit: float | None,
) -> "tuple[dict[str, Any], Search]":
    """Return the parameters of train_files that a search chose, and the search."""
    from rosenblatt.tuning.tune import tune_files

    def tell(status: "SearchStatus") -> None:
        if screen.draws_talk:
            screen.bar(_line(status, metric))

    context = click.get_current_context()
    fixed = [str(param.name) for param in context.command.params if is_given(context, param)]
    found = tune_files(
        data, known, fixed, metric=metric, folds=folds, time_limit=time_limit, tell=tell
    )
    screen.clear_bar()
    return found.parameters, found.search


def train_command(data: Sequence[str], chosen: Mapping[str, Any]) -> str:
    """Return the command that trains the same model: what was given, and what was chosen."""
    context = click.get_current_context()
    words = ["rosenblatt", "train", *map(shlex.quote, data)]
    said = {*NOT_REPEATED, *chosen}
    for param in context.command.params:
        name = str(param.name)
        if isinstance(param, click.Option) and is_given(context, param) and name not in said:
            value = context.params[name]
            words += [
                flag(Parameter(name, _typed(one))) for one in (value if param.multiple else [value])
            ]
    words += [flag(Parameter(name, _typed(value))) for name, value in chosen.items()]
    return " ".join(words)


def _typed(value: Any) -> Any:
    if isinstance(value, Mapping):  # --class-weight
        return ",".join(f"{label}={weight:g}" for label, weight in value.items())
    return "-".join(map(str, value)) if isinstance(value, tuple) else value  # --char-ngrams


def show_search(screen: Screen, search: "Search", command: str) -> None:
    """Print what was tried, the best of it, and the command that trains it."""
    title = search.title
    ranked, best = search.ranked(), search.best
    rows: list[list[Cell]] = [
        [
            str(trial.candidate),
            _figure(trial.mean, search.metric),
            _figure(trial.deviation, search.metric) if len(trial.values) > 1 else "",
            trial.passes,
            f"{trial.share:.0%}",
            f"{trial.seconds:.2f}",
        ]
        for trial in ranked[:SHOWN]
    ]
    headings = ("learner", title, "±", "passes", "rows", "seconds")
    screen.table(headings, rows, f"Tried: {counted(len(ranked), 'way')} to learn, the best first")
    if best is None:
        screen.show("Nothing was tried to its end; these are the defaults.")
    else:
        by = f"{search.folds} folds" if search.folds > 1 else "a fifth of the rows"
        screen.show(
            f"\nBest: {title} {_figure(best.mean, search.metric)} on {by}, chosen among "
            f"{len(ranked)}, so new rows may do worse.{ENDINGS[search.ending]}"
        )
    screen.show(f"Command: {command}")


def _line(status: "SearchStatus", metric: str) -> str:
    best, rows = status.best, f"{status.share:.0%} of the rows"
    line = f"{status.done} of {status.of} trainings on {rows}, {status.seconds:.0f} s"
    if best is None:
        return line
    return f"{line}, best so far {_figure(best.mean, metric)} ({best.candidate})"


def _figure(value: float, metric: str) -> str:
    return percent(value) if metric == "error" else f"{value:.4f}"

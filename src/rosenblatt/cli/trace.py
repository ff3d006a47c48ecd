"""The command that shows a training step by step."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

import rosenblatt
from rosenblatt.cli import options
from rosenblatt.cli.diagnose import matrix_of
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.data.encoding import TableEncoding
from rosenblatt.data.files import Columns, Layout
from rosenblatt.errors import InputError
from rosenblatt.models.learner import Learner
from rosenblatt.models.rows import FileRows, read_rows
from rosenblatt.parameters import MEMORIES
from rosenblatt.rules import rule_parameters
from rosenblatt.tracing.convergence import check_proof
from rosenblatt.tracing.steps import collect_steps

FORMS = ("text", "markdown", "html")
MOST_STEPS = 10_000  # by default
MOST_NAMES = 100_000  # features
MOST_COLUMNS = 20  # that are shown as a vector; of more, those that a row has


@click.command(
    cls=ScreenCommand,
    example="rosenblatt trace toy.csv --only-updates",
    json_help="Print one JSON object per step.",
)
@click.argument("data", nargs=-1, required=True, type=click.Path())
@options.settings("label", "label_separator", "ignore", "decimal")
@options.one_class
@options.layout
@options.setting("scale")
@options.setting("rule", default="perceptron", shown="")
@options.setting(
    "memory",
    type=click.Choice(MEMORIES),
    default="last",
    shown="",
    help="Weights that decide: the last, the average of all.",
)
@options.settings(*rule_parameters(), "zero", "fit_intercept")
@options.setting("shuffle", default="no", help="When to shuffle the rows.")
@options.settings("random_state", "max_iter")
@click.option("--only-updates", is_flag=True, help="Show only steps that change the weights.")
@options.value(
    "--passes A[-B]",
    shown="all",
    help="Show only these passes, counted from 1, for example 3 or 2-4.",
)
@options.number("--steps", shown=f"{MOST_STEPS:,}", help="Maximum number of steps to show.")
@click.option(
    "--proof",
    is_flag=True,
    help="Show both inequalities of the convergence proof at each update; needs separable rows.",
)
@options.choice("--as", "form", choices=FORMS, default="text", help="Output format.")
def trace(screen: Screen, data: Sequence[str], layout: Layout, form: str, **given: Any) -> None:
    """Train on DATA and show every step.

    The weights are exactly those of train with the same options. By default rows are not shuffled,
    as in textbooks; numbers are scaled as train does, or with --no-scale left as they are.
    """
    named = ("label", "label_separator", "ignore", "decimal", "scale")
    columns = Columns(**{name: given[name] for name in named})
    every = read_rows(data, layout, columns, fit_intercept=given["fit_intercept"])
    rows = every.of_class(given["class_"])
    for note in rows.notes():
        screen.warn(note)
    learner = Learner(
        *(given["rule"], given["memory"], {name: given[name] for name in rule_parameters()}),
        *(given["max_iter"], given["shuffle"], given["zero"]),
        random_state=given["random_state"],
    )
    if given["proof"]:
        check_proof(learner.rule)
    followed = collect_steps(
        *(rows.examples(most_columns=MOST_COLUMNS), rows.labels, rows.classes, learner),
        only_updates=given["only_updates"],
        passes=_passes(given["passes"]),
        max_rows=given["steps"] or MOST_STEPS,
        witness=_witness(rows) if given["proof"] else None,
        names=_names(rows),
    )
    followed = replace(followed, first_row=1)
    if screen.wants_json:
        screen.write(followed.to_json_lines())
    elif form == "text":
        screen.show(followed.to_text())
    else:
        screen.write(followed.to_markdown() if form == "markdown" else followed.to_html())


def _names(rows: FileRows) -> Sequence[str] | None:
    """Return the names of the features, where the file has names and they are not too many."""
    encoding = rows.encoding
    if not isinstance(encoding, TableEncoding) or encoding.n_features > MOST_NAMES:
        return None
    return encoding.names(range(encoding.n_features))


def _witness(rows: FileRows) -> Any:
    """Return weights that separate the rows by the widest margin, which the proof compares with."""
    verdict = rosenblatt.diagnose(matrix_of(rows.rows), rows.labels)
    if verdict.status != "separable" or verdict.augmented is None:
        msg = f"The rows are {verdict.status}; the convergence proof needs separable rows."
        raise InputError(msg)
    return verdict.augmented[..., :-1], verdict.augmented[..., -1]


def _passes(text: str | None) -> frozenset[int] | None:
    if text is None:
        return None
    first, _, last = text.partition("-")
    if (
        not first.isdigit()
        or not (last or first).isdigit()
        or not 0 < int(first) <= int(last or first)
    ):
        msg = f"--passes must be a number or a range, for example 3 or 2-4; got {text!r}."
        raise click.UsageError(msg)
    return frozenset(range(int(first), int(last or first) + 1))

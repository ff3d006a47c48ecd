"""Options that several commands have, so that they mean and say the same everywhere."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from rosenblatt.cli.spelling import flag
from rosenblatt.errors import Parameter
from rosenblatt.rules import RULES, RuleParameter, rule_parameters, rules_with

SHUFFLES: dict[str, bool | str] = {"every-pass": True, "once": "once", "no": False}
Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


def option_group(options: Sequence[Decorator]) -> Decorator:
    """Return what adds options to a command, in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


column_options = option_group(
    (
        click.option(
            "--label", metavar="COLUMN", help="Column of the labels; found out if not given."
        ),
        click.option(
            "--text", multiple=True, metavar="COLUMN", help="Column of texts: words and pairs."
        ),
        click.option("--category", multiple=True, metavar="COLUMN", help="Column of categories."),
        click.option("--numeric", multiple=True, metavar="COLUMN", help="Column of numbers."),
        click.option("--ignore", multiple=True, metavar="COLUMN", help="Column to leave out."),
    )
)


def rule_parameter_option(parameter: RuleParameter) -> Decorator:
    """Return the option of a parameter of a rule."""
    users = " and ".join(rules_with(parameter.name))
    return click.option(
        flag(Parameter(parameter.name)),
        parameter.name,
        type=float,
        help=f"{parameter.meaning} Rules {users}.  [default: {parameter.default:g}]",
    )


rule_parameter_options = option_group(
    [rule_parameter_option(parameter) for parameter in rule_parameters().values()]
)

step_options = option_group(
    (
        rule_parameter_options,
        click.option(
            "--zero",
            type=click.Choice(["mistake", "negative", "positive"]),
            default="mistake",
            show_default=True,
            help="What a zero activation is while training.",
        ),
        click.option("--intercept/--no-intercept", default=True, help="Learn a bias."),
    )
)

rule_option = click.option(
    "--rule",
    type=click.Choice([*RULES]),
    default="perceptron",
    show_default=True,
    help="How to step.",
)
seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of all chance."
)
passes_option = click.option(
    "--max-iter", type=click.IntRange(1), metavar="N", help="Most passes that are made."
)


def scale_option(*, default: bool) -> Decorator:
    """Return the option that scales numbers."""
    return click.option(
        "--scale/--no-scale", default=default, help="Bring numbers to mean 0 and deviation 1."
    )

"""Options that several commands share, so that they mean and say the same everywhere."""

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from math import inf
from pathlib import Path
from typing import Any

import click

from rosenblatt.cli.spelling import flag
from rosenblatt.data.formats import Format
from rosenblatt.errors import Parameter
from rosenblatt.rules import RULES, rule_parameters, rules_with
from rosenblatt.wording import word_list

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

GIVEN = (click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT)
LONGEST_NGRAM = 32  # characters
COUNTED = ("error", "f1", "balanced-accuracy")  # metrics that a threshold is chosen by
METRICS = (*COUNTED, "roc-auc", "log-loss")
SHUFFLES: dict[str, bool | str] = {
    "every-pass": True,
    "blocks": "blocks",
    "once": "once",
    "no": False,
}
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
TIME_PART = re.compile(
    r"([0-9]+(?:\.[0-9]+)?)\s*(?=([smhd]))"
    r"(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])\s*"
)
TIMES = re.compile(f"(?:{TIME_PART.pattern})+")
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMG]?)B?", re.IGNORECASE)


def option_group(options: Sequence[Decorator]) -> Decorator:
    """Return what adds options to a command, in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def value_option(
    *names: str, shown: str | None = None, default: Any = None, **attributes: Any
) -> Decorator:
    """Return an option that takes a value, as "--label COLUMN" names it.

    ``shown`` says in the help what the default means.
    """
    for name in names:
        if " " in name:
            attributes["metavar"] = name.partition(" ")[2]
    plain = [name.partition(" ")[0] for name in names]
    if not attributes.get("required"):  # for which click takes None for a value
        attributes |= {"default": default, "show_default": shown or default is not None}
    return click.option(*plain, **attributes)


def number_option(
    *names: str, low: int = 1, high: int | None = None, metavar: str = "N", **attributes: Any
) -> Decorator:
    """Return an option that takes a whole number of this range."""
    return value_option(*names, type=click.IntRange(low, high), metavar=metavar, **attributes)


def choice_option(*names: str, choices: Iterable[Any], **attributes: Any) -> Decorator:
    """Return an option that takes one of these words."""
    return value_option(*names, type=click.Choice([*map(str, choices)]), **attributes)


def size(_ctx: click.Context, _param: click.Parameter, text: str | None) -> int | None:
    """Return the number of bytes of a size such as "64M"."""
    if text is None:
        return None
    match = SIZE.fullmatch(text.strip())
    n_bytes = 0 if match is None else int(float(match[1]) * UNITS[match[2].upper()])
    if n_bytes < 1:
        msg = f"{text!r} is not a size; write for example 500K, 64M or 1G."
        raise click.BadParameter(msg)
    return n_bytes


class Duration(click.ParamType[float]):
    """A time: a number of seconds, or numbers with units, such as 90s, 5m or 1h30m."""

    name = "time"

    def __init__(self, *, zero: bool = False) -> None:
        self._zero = zero  # whether none at all will do

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return seconds."""
        text = str(value).strip().lower()
        try:
            seconds = float(text)
        except ValueError:
            parts = TIME_PART.findall(text) if TIMES.fullmatch(text) else [("-1", "s")]
            seconds = sum(float(number) * SECONDS[unit] for number, unit in parts)
        if not (seconds > 0 or (self._zero and seconds == 0)):
            msg = f"{value!r} is not a time; write seconds, or for example 90s, 5m or 1h30m."
            self.fail(msg, param, ctx)
        return seconds


def share(_ctx: click.Context, _param: click.Parameter, text: str | None) -> float | None:
    """Return a share that is written as 0.05 or as 5%."""
    if text is None:
        return None
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        msg = f"{text!r} is not a share between 0 and 1; write for example 0.05 or 5%."
        raise click.BadParameter(msg)
    return value


def class_weight(
    _ctx: click.Context, _param: click.Parameter, text: str | None
) -> str | dict[str, float] | None:
    """Return "balanced", or the weights by label of a text such as "spam=5,ham=1"."""
    if text is None or text == "balanced":
        return text
    weights = {}
    for entry in text.split(","):
        label, _, number = entry.rpartition("=")
        try:
            weights[label] = float(number)
        except ValueError:
            label = ""
        if not label or not 0 < weights[label] < inf:
            msg = f"{entry!r} is not LABEL=WEIGHT with a weight above 0; write spam=5 or balanced."
            raise click.BadParameter(msg)
    return weights


def ngram_lengths(
    _ctx: click.Context, _param: click.Parameter, text: str | None
) -> tuple[int, int] | None:
    """Return the shortest and the longest length of a text such as "3-5"; (0, 0) of "0"."""
    if text is None:
        return None
    shortest, dash, longest = text.partition("-")
    try:
        lengths = int(shortest), int(longest if dash else shortest)
    except ValueError:
        lengths = 0, 0
    none = text.strip() == "0"
    if not none and not 1 <= lengths[0] <= lengths[1] <= LONGEST_NGRAM:
        msg = (
            f"{text!r} is not a range of lengths from 1 to {LONGEST_NGRAM}; write for example 3-5,"
            " or 0 for none."
        )
        raise click.BadParameter(msg)
    return lengths


metric_option = choice_option(
    "--metric",
    choices=METRICS,
    default="error",
    help="What to judge by; f1 is the mean over the classes.",
)


def refuse(names: Sequence[str], without: str) -> None:
    """Raise UsageError for an option of these that was given, since it has no effect."""
    context = click.get_current_context()
    for param in context.command.params:
        if param.name in names and context.get_parameter_source(param.name) in GIVEN:
            msg = f"{param.opts[0]} has no effect without {without}."
            raise click.UsageError(msg)


LISTED = '(repeatable, or "a,b")'


def name_list(_ctx: click.Context, _param: click.Parameter, names: tuple[str, ...]) -> list[str]:
    """Return the names of lists such as "a,b"; one in double quotes may have a comma itself.

    >>> name_list(None, None, ("id,name", '"a,b"'))
    ['id', 'name', 'a,b']
    """
    return [name for row in csv.reader(names, skipinitialspace=True) for name in row]


label_option = value_option(
    "--label COLUMN",
    shown="detected",
    help="Column that holds the labels: its name, or its number from 1, or from -1 backwards.",
)
ignore_option = value_option(
    "--ignore COLUMN", multiple=True, help=f"Column to leave out {LISTED}."
)

decimal_option = choice_option(
    "--decimal",
    choices=["point", "comma"],
    shown="as the columns tell",
    help="Character before the decimals of numbers, where it may also part thousands.",
)

column_options = option_group(
    (
        label_option,
        value_option(
            "--text COLUMN", multiple=True, help=f"Column of free text, split into words {LISTED}."
        ),
        value_option("--category COLUMN", multiple=True, help=f"Column of categories {LISTED}."),
        value_option("--numeric COLUMN", multiple=True, help=f"Column of numbers {LISTED}."),
        ignore_option,
        decimal_option,
    )
)


def scale_option(*, default: bool) -> Decorator:
    """Return the option that scales numbers."""
    return click.option(
        "--scale/--no-scale",
        default=default,
        show_default=True,
        help="Scale numeric columns to mean 0 and standard deviation 1.",
    )


LAYOUT_OPTIONS: tuple[Decorator, ...] = (
    choice_option(
        "--format",
        "format_name",
        choices=Format,
        shown="detected",
        help="Format of the data files.",
    ),
    value_option(
        "--separator CHAR", shown="detected", help='Field separator of CSV files; "tab" for a tab.'
    ),
    click.option(
        "--header/--no-header",
        default=None,
        show_default="detected",
        help="Whether the first line of CSV files holds the column names.",
    ),
    click.option(
        "--zero-based/--one-based",
        default=None,
        show_default="detected",
        help="Whether feature numbers in svmlight files start at 0 or at 1.",
    ),
    click.option(
        "--quoting/--no-quoting",
        default=None,
        show_default="on for CSV, detected for TSV",
        help="Whether double quotes enclose fields.",
    ),
    value_option(
        "--names FILE",
        type=click.Path(exists=True, dir_okay=False),
        shown="column_1, column_2, ...",
        help="File with the column names, one per line, for data without a header.",
    ),
    value_option("--encoding NAME", default="utf-8", help="Text encoding."),
    choice_option(
        "--encoding-errors",
        choices=["strict", "replace"],
        default="strict",
        help="Stop at bytes that are not text in that encoding, or replace them by U+FFFD.",
    ),
    choice_option(
        "--bad-rows",
        choices=["error", "skip"],
        default="error",
        help="Stop at rows that cannot be read, or skip and count them.",
    ),
    value_option(
        "--max-bad-share SHARE",
        type=click.FloatRange(0, 1),
        default=0.01,
        help="Largest share of bad rows that --bad-rows skip accepts.",
    ),
    number_option(
        "--max-index",
        shown="16777216, or the size of the files in bytes if that is more",
        help="Largest feature number in svmlight files.",
    ),
)


LAYOUT_FIELDS = (
    *("header", "zero_based", "quoting", "encoding", "encoding_errors"),
    *("bad_rows", "max_bad_share", "max_index"),
)


def layout_options(command: Command) -> Command:
    """Add the options that describe data files to a command, which is given ``layout``."""

    @wraps(command)
    def with_layout(
        *args: Any,
        format_name: str | None,
        separator: str | None,
        names: str | None,
        **options: Any,
    ) -> Any:
        from rosenblatt.data.files import Layout

        lines = () if names is None else Path(names).read_text("utf-8").split("\n")
        layout = Layout(
            format=None if format_name is None else Format(format_name),
            separator="\t" if separator in ("\\t", "tab") else separator,  # hard to type
            names=tuple(line.strip() for line in lines if line.strip()),
            **{name: options.pop(name) for name in LAYOUT_FIELDS},
        )
        return command(*args, layout=layout, **options)

    return option_group(LAYOUT_OPTIONS)(with_layout)


def rule_option(
    default: str | None = "perceptron",
    rules: Sequence[str] = tuple(RULES),
    shown: str = "perceptron",
) -> Decorator:
    """Return the option that chooses the rule; without a default it says what is chosen."""
    return choice_option(
        "--rule", choices=rules, default=default, shown=default or shown, help="Update rule."
    )


def memory_option(choices: Sequence[str], default: str, *, given: bool = True) -> Decorator:
    """Return the option that chooses the weights; without ``given`` None stands for the default."""
    return choice_option(
        "--memory",
        choices=choices,
        default=default if given else None,
        shown=default,
        help=f"Weights that decide: {', '.join(MEMORY_HELP[choice] for choice in choices)}.",
    )


MEMORY_HELP = {"average": "the average of all", "last": "the last", "vote": "all of them by vote"}


def default_memories() -> str:
    """Return which weights decide by default.

    >>> default_memories()
    'average; last for arow, cw, scw1, scw2'
    """
    groups: dict[str, list[str]] = {}
    for name, entry in RULES.items():
        groups.setdefault(entry.memory, []).append(name)
    first, *others = groups
    return "; ".join([first, *(f"{memory} for {', '.join(groups[memory])}" for memory in others)])


def rule_parameter_options(rules: Sequence[str] = tuple(RULES)) -> Decorator:
    """Return the options of the parameters that these rules have."""
    options = []
    for parameter in rule_parameters().values():
        users = [name for name in rules_with(parameter.name) if name in rules]
        if users:
            options.append(
                value_option(
                    *(flag(Parameter(parameter.name)), parameter.name),
                    type=float,
                    metavar="X",
                    shown=f"{parameter.default:g}",
                    help=f"{parameter.meaning} For --rule {word_list(users, joint=' or ')}.",
                )
            )
    return option_group(options)


zero_option = choice_option(
    "--zero",
    choices=["mistake", "negative", "positive"],
    default="mistake",
    help="What an activation of exactly 0 counts as during training.",
)
intercept_option = click.option(
    "--intercept/--no-intercept", default=True, show_default=True, help="Learn a bias term."
)
seed_option = number_option("--seed", low=0, default=0, help="Random seed.")


def passes_option(default: str | None = None) -> Decorator:
    """Return the option that limits the passes; it shows the defaults of the rules."""
    return number_option(
        "--max-iter",
        shown=default or default_passes(),
        help="Maximum number of passes over the data.",
    )


def default_passes() -> str:
    """Return the default number of passes of each rule and memory.

    >>> default_passes()
    '200 last, 20 average, 10 vote; 10 for pa, pa1, pa2; 5 for arow, cw, scw1, scw2'
    """
    groups: dict[str, list[str]] = {}
    for name, entry in RULES.items():
        counts = set(entry.passes.values())
        text = ", ".join(f"{n} {memory}" for memory, n in entry.passes.items())
        groups.setdefault(f"{counts.pop()}" if len(counts) == 1 else text, []).append(name)
    first, *others = groups.items()
    return "; ".join([first[0], *(f"{text} for {', '.join(names)}" for text, names in others)])


ENGINE_OPTIONS: tuple[Decorator, ...] = (
    choice_option(
        "--engine",
        choices=["process", "dask"],
        default="process",
        help="Train in this process or on a Dask cluster.",
    ),
    number_option(
        "--workers",
        shown="one per processor",
        help="Number of worker processes to start on this machine.",
    ),
    value_option(
        "--worker-memory SIZE",
        shown="an equal share of the machine's memory",
        callback=size,
        help="Memory limit of a worker; a worker above it is restarted.",
    ),
    value_option(
        "--scheduler ADDRESS",
        shown="a cluster on this machine",
        help="Address of a running Dask scheduler (tls://...).",
    ),
    value_option(
        "--tls-ca FILE",
        shown="none",
        help="Certificate of the authority that signed both sides' certificates.",
    ),
    value_option("--tls-cert FILE", shown="none", help="Certificate of this client."),
    value_option("--tls-key FILE", shown="none", help="Private key of this client."),
    click.option(
        "--unencrypted",
        is_flag=True,
        help="Allow a scheduler without TLS. Anyone who reaches it can run code on its workers.",
    ),
    number_option(
        "--shards",
        shown="number of workers",
        help="Number of parts into which the rows are divided.",
    ),
    choice_option(
        "--mixing",
        choices=["uniform", "mistakes"],
        shown="uniform",
        help="Weight of each shard's model: all equal, or by its number of mistakes.",
    ),
    click.option("--shuffle-shards", is_flag=True, help="Assign rows to shards at random."),
)


@dataclass(frozen=True)
class EngineOptions:
    """Where a training runs: the options --engine and those that go with it."""

    engine: str = "process"
    workers: int | None = None
    worker_memory: int | None = None
    scheduler: str | None = None
    tls_ca: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    unencrypted: bool = False
    shards: int | None = None
    mixing: str | None = None
    shuffle_shards: bool = False

    def __post_init__(self) -> None:
        given = [
            flag(Parameter(entry.name))
            for entry in fields(self)
            if entry.name != "engine" and getattr(self, entry.name) not in (None, False)
        ]
        if self.engine != "dask" and given:
            msg = f"{given[0]} has no effect without --engine dask."
            raise click.UsageError(msg)
        for name in ("--workers", "--worker-memory"):
            if self.scheduler is not None and name in given:
                msg = (
                    f"{name} applies to workers on this machine and cannot be used with "
                    "--scheduler; leave one of them out."
                )
                raise click.UsageError(msg)
        for name in ("--tls-ca", "--tls-cert", "--tls-key", "--unencrypted"):
            if self.scheduler is None and name in given:
                msg = f"{name} has no effect without --scheduler."
                raise click.UsageError(msg)


def engine_options(command: Command) -> Command:
    """Add the options to a command, which is given ``engine``."""
    names = [entry.name for entry in fields(EngineOptions)]

    @wraps(command)
    def with_engine(*args: Any, **options: Any) -> Any:
        engine = EngineOptions(**{name: options.pop(name) for name in names})
        return command(*args, engine=engine, **options)

    return option_group(ENGINE_OPTIONS)(with_engine)

"""Options of commands, made from the one description of every parameter."""

import csv
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import partial, wraps
from math import inf
from pathlib import Path
from typing import Any

import click

from rosenblatt.cli.spelling import flag
from rosenblatt.data.formats import Format, Layout, SentenceFormat
from rosenblatt.errors import Parameter, spelled
from rosenblatt.parameters import (
    FLAG,
    GOALS,
    LONGEST_NGRAM,
    METRICS,
    SETTINGS,
    Check,
    ClusterSettings,
    Setting,
    rule_setting,
)
from rosenblatt.rules import RULES, RuleEntry, RuleParameter, rule_parameters, rules_with
from rosenblatt.wording import word_list

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

GIVEN = (click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT)
SHUFFLES: dict[str, bool | str] = {"every-pass": True, "full": "full", "once": "once", "no": False}
LEAST, MOST = sys.float_info.min, sys.float_info.max  # weights
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
TIME_PART = re.compile(
    r"([0-9]+(?:\.[0-9]+)?)\s*(?=([smhd]))"
    r"(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])\s*"
)
TIMES = re.compile(f"(?:{TIME_PART.pattern})+")
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMG]?)B?", re.IGNORECASE)


class GroupedOption(click.Option):
    """An option that stands under the heading of its group in the help."""

    def __init__(self, *args: Any, group: str = "", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.group = group


def group(options: Sequence[Decorator]) -> Decorator:
    """Return what adds options to a command, in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def value(
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
    return click.option(*plain, cls=GroupedOption, **attributes)


def number(
    *names: str, low: int = 1, high: int | None = None, metavar: str = "N", **attributes: Any
) -> Decorator:
    """Return an option that takes a whole number of this range."""
    return value(*names, type=click.IntRange(low, high), metavar=metavar, **attributes)


def one_class(command: Command) -> Command:
    """Add the option that makes two classes of all: rows with a class or label, and the others."""
    return value(
        "--class LABEL",
        "class_",
        shown="all classes",
        help="Class or label to tell from all others; needed where rows have several labels.",
    )(command)


def choice(*names: str, choices: Iterable[Any], **attributes: Any) -> Decorator:
    """Return an option that takes one of these words."""
    return value(*names, type=click.Choice([*map(str, choices)]), **attributes)


def text_value(requirement: str) -> Callable[[Callable[[str], Any]], Callable[..., Any]]:
    """Make the callback of an option of what reads its text, or raises ValueError."""

    def callback(parse: Callable[[str], Any]) -> Callable[..., Any]:
        def convert(_ctx: click.Context, _param: click.Parameter, text: str | None) -> Any:
            try:
                return None if text is None else parse(text)
            except ValueError:
                raise click.BadParameter(f"{text!r} is not {requirement}") from None

        return convert

    return callback


def _between(low: float, value: Any, high: float) -> Any:
    if not low <= value <= high:
        raise ValueError
    return value


@text_value("a size; write for example 500K, 64M or 1G.")
def size(text: str) -> Any:
    """Return a number of bytes."""
    match = SIZE.fullmatch(text.strip())
    return _between(1, int(float(match[1]) * UNITS[match[2].upper()]) if match else 0, inf)


def _share(text: str) -> Any:
    return _between(0, float(text.removesuffix("%")) / (100 if text.endswith("%") else 1), 1)


def _open_share(text: str) -> Any:
    value = _share(text)
    if value in (0.0, 1.0):
        raise ValueError
    return value


@text_value("LABEL=WEIGHT with a weight above 0; write spam=5,ham=1 or balanced.")
def _class_weight(text: str) -> str | dict[str, float]:
    if text == "balanced":
        return text
    entries = [entry.rpartition("=") for entry in text.split(",")]
    if not all(label for label, _, _ in entries):
        raise ValueError
    return {label: _between(LEAST, float(number), MOST) for label, _, number in entries}


@text_value(f"a range of lengths from 1 to {LONGEST_NGRAM}; write for example 3-5, or 0 for none.")
def _ngram_lengths(text: str) -> tuple[int, int]:
    if text.strip() == "0":
        return 0, 0
    shortest, dash, longest = text.partition("-")
    low = _between(1, int(shortest), LONGEST_NGRAM)
    return low, _between(low, int(longest if dash else shortest), LONGEST_NGRAM)


@text_value("a number of pairs, or A:B for columns A and B.")
def _column_pairs(text: str) -> int | tuple[str, ...]:
    if text.strip().isdecimal():
        return int(text)
    pairs = tuple(pair.strip() for pair in text.split(","))
    if not all(":" in pair for pair in pairs):
        raise ValueError
    return pairs


def seconds_of(text: str, least: float = LEAST) -> float:
    """Return a number of seconds, or of times with units, such as 1h30m."""
    text = text.strip().lower()
    parts = TIME_PART.findall(text) if TIMES.fullmatch(text) else [(text, "s")]
    return float(_between(least, sum(float(n) * SECONDS[unit] for n, unit in parts), inf))


@text_value("a file or a share; write for example 20%.")
def _file_or_share(text: str) -> Any:
    try:
        float(text.removesuffix("%"))
    except ValueError:
        return text
    return _open_share(text)


share = text_value("a share between 0 and 1; write for example 0.05 or 5%.")(_share)
open_share = text_value("above 0 and below 1; write for example 0.02 or 2%.")(_open_share)
a_time = text_value("a time; write seconds, or for example 90s, 5m or 1h30m.")
metric = choice(
    "--metric",
    choices=METRICS,
    default="error",
    group="Learning",
    help="What to judge by; f1 is the mean over the classes.",
)


def is_given(context: click.Context, param: click.Parameter) -> bool:
    """Return whether an option was typed; of two for one parameter, the one that counts."""
    value = getattr(param, "flag_value", None)
    other = type(value) is int and value != context.params.get(str(param.name))
    return context.get_parameter_source(str(param.name)) in GIVEN and not other


def refuse(names: Sequence[str], without: str) -> None:
    """Raise UsageError for an option of these that was given, since it has no effect."""
    context = click.get_current_context()
    for param in context.command.params:
        if param.name in names and is_given(context, param):
            raise click.UsageError(f"{param.opts[0]} has no effect without {without}.")


LISTED = '(repeatable, or "a,b")'


def name_list(_ctx: click.Context, _param: click.Parameter, names: tuple[str, ...]) -> list[str]:
    """Return the names of lists such as "a,b"; one in double quotes may have a comma itself.

    >>> name_list(None, None, ("id,name", '"a,b"'))
    ['id', 'name', 'a,b']
    """
    return [name for row in csv.reader(names, skipinitialspace=True) for name in row]


def _by_rule(text_of: Callable[[RuleEntry], str]) -> str:
    """Return a default of all rules, and that of those that have another."""
    groups: dict[str, list[str]] = {}
    for name, entry in RULES.items():
        groups.setdefault(text_of(entry), []).append(name)
    first, *others = groups
    return "; ".join([first, *(f"{text} for {', '.join(groups[text])}" for text in others)])


def default_memories() -> str:
    """Return which weights decide by default.

    >>> default_memories()
    'average; last for arow, cw, scw1, scw2'
    """
    return _by_rule(lambda entry: entry.memory)


def default_passes() -> str:
    """Return the default number of passes of each rule and memory.

    >>> default_passes()
    '200 last, 20 average, 10 vote; 10 for pa, pa1, pa2; 5 for arow, cw, scw1, scw2'
    """

    def text(entry: RuleEntry) -> str:
        counts = {*entry.passes.values()}
        if len(counts) == 1:
            return str(*counts)
        return ", ".join(f"{n} {memory}" for memory, n in entry.passes.items())

    return _by_rule(text)


COLUMNS = ("label", "text", "category", "numeric", "ignore", "decimal")
LAYOUT = tuple(entry.name for entry in fields(Layout))
RULE = ("rule", "memory", *rule_parameters())
RECIPE = (
    *(*COLUMNS, "weight", "group", "scale", "missing", "bins", "form", "column_pairs"),
    *("hash_bits", "words", "word_pairs", "min_count", "char_ngrams"),
    *(*RULE, "zero", "fit_intercept", "shuffle", "random_state"),
    *("max_iter", "early_stopping", "recipe", "refit", "validation_fraction", "n_iter_no_change"),
    *("class_weight", "threshold"),
)
KERNEL = ("kernel", "gamma", "kernel_degree")
SEVERAL = ("label_separator", "goal")  # of rows that may have several labels
# What only a command has of an option: its type, its words.
SPECIAL: dict[str, dict[str, Any]] = {
    "format": {"type": click.Choice([*dict.fromkeys(map(str, (*Format, *SentenceFormat)))])},
    "names": {
        "type": click.Path(exists=True, dir_okay=False),
        "metavar": "FILE",
        "default": None,
        "multiple": False,
        "help": "File with the column names, one per line, for data without a header.",
    },
    "validation": {"default": None, "multiple": False},
    "rule": {"type": click.Choice([*RULES])},
    "memory": {"shown": default_memories()},
    "goal": {"type": str, "metavar": f"[{'|'.join(GOALS)}]"},  # the tasks that there are know it
    "gamma": {"type": click.FloatRange(0, min_open=True)},
    "max_iter": {"shown": default_passes()},
    "max_bad_share": {"type": click.FloatRange(0, 1)},
    "shuffle": {
        "type": click.Choice([*SHUFFLES]),
        "default": "every-pass",
        "callback": text_value("an order")(SHUFFLES.__getitem__),
    },
    "random_state": {"type": click.IntRange(0), "metavar": "N"},
    "char_ngrams": {"callback": _ngram_lengths},
    "column_pairs": {"callback": _column_pairs},
    "class_weight": {"callback": _class_weight},
    "guarantee": {"callback": _file_or_share},
    "buffer": {"callback": size},
    "worker_memory": {"callback": size},
    "time_limit": {
        "type": str,
        "callback": a_time(seconds_of),
        "help": "Stop training after this time (90, 90s, 5m, 1h) and keep the best so far.",
    },
    "checkpoint_seconds": {
        "type": str,
        "callback": a_time(partial(seconds_of, least=0.0)),
        "help": "Time between two checkpoints, in seconds or with a unit.",
    },
    "calibrate": {"help": "Fit probabilities on the held-out rows (predict --proba)."},
    "record_mistakes": {
        "help": "Store the rows that changed the weights in the model (explain --why)."
    },
}


def setting(name: str, **changes: Any) -> Decorator:
    """Return the option of a parameter; what ``changes`` says is otherwise in this command."""
    setting = SETTINGS.get(name) or rule_setting(rule_parameters()[name])
    rules = changes.pop("rules", RULES)
    attributes: dict[str, Any] = {
        "help": setting.sentence,
        "default": setting.default,
        "shown": setting.shown,
        "group": setting.group,
        **({"metavar": setting.metavar} if setting.metavar else {}),
        **_type(setting, rules),
        **SPECIAL.get(name, {}),
        **changes,
    }
    attributes["help"] = spelled(attributes["help"], flag)
    if attributes.get("multiple"):
        attributes["help"] = f"{attributes['help'].removesuffix('.')} {LISTED}."
    attributes["shown"] = spelled(attributes["shown"], flag)
    spelling = flag(Parameter(name))
    if setting.check is FLAG and setting.default is False:
        attributes |= {"is_flag": True, "shown": None}
    elif setting.check is FLAG:
        spelling = f"{spelling}/{flag(Parameter(name, value=False))}"
    return value(spelling, name, **attributes)


def _type(setting: Setting, rules: Iterable[str]) -> dict[str, Any]:
    check = setting.check
    if setting.default == ():
        return {"multiple": True}
    if isinstance(check, RuleParameter):
        users = [rule for rule in rules_with(setting.name) if rule in rules]
        return {
            "type": float,
            "help": f"{setting.sentence} For --rule {word_list(users, joint=' or ')}.",
        }
    if isinstance(check, Check):
        return {"type": click.Choice([*map(str, check.choices)])} if check.choices else {}
    if check is None:
        return {}
    low, high = int(check.low), None if check.high == inf else int(check.high)
    if check.whole:
        return {"type": click.IntRange(low, high), "metavar": "N"}
    return {"type": click.FloatRange(low, high, min_open=True, max_open=True)}


def settings(*names: str, **changes: Any) -> Decorator:
    """Return what adds the options of these parameters to a command."""
    return group([setting(name, **changes) for name in names])


recipe = settings(*RECIPE)


def layout(command: Command) -> Command:
    """Add the options that describe data files to a command, which is given ``layout``."""

    @wraps(command)
    def with_layout(*args: Any, **options: Any) -> Any:
        given = {name: options.pop(name) for name in LAYOUT}
        lines = (
            () if given["names"] is None else Path(given["names"]).read_text("utf-8").split("\n")
        )
        given["names"] = tuple(line.strip() for line in lines if line.strip())
        if given["separator"] == "tab" or given["separator"] == "\\t":  # hard to type
            given["separator"] = "\t"
        return command(*args, layout=Layout(**given), **options)

    return settings(*LAYOUT)(with_layout)


def check_engine(engine: ClusterSettings) -> None:
    """Raise UsageError for options of a cluster that have no effect."""
    given = [flag(Parameter(name)) for name, value in engine.items() if value not in (None, False)]
    given.remove("--engine")
    if engine["engine"] != "dask" and given:
        raise click.UsageError(f"{given[0]} has no effect without --engine dask.")
    for name in ("--workers", "--worker-memory"):
        if engine["scheduler"] is not None and name in given:
            raise click.UsageError(
                f"{name} applies to workers on this machine and cannot be used with --scheduler; "
                "leave one of them out."
            )
    for name in ("--tls-ca", "--tls-cert", "--tls-key", "--unencrypted"):
        if engine["scheduler"] is None and name in given:
            raise click.UsageError(f"{name} has no effect without --scheduler.")

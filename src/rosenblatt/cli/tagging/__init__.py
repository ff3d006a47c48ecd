"""What commands do with sentences: asked once, before a command begins, and answered here.

A command on rows of tables has a twin for models that tag the tokens of sentences, and for files of
sentences. The twin takes some of its options and those of the group "Sentences".
"""

from collections.abc import Callable, Sequence
from functools import partial
from glob import glob, has_magic
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import click

from rosenblatt.cli import options
from rosenblatt.data.formats import SentenceFormat, sentence_format
from rosenblatt.errors import InputError
from rosenblatt.parameters import SENTENCES, StoppingSettings
from rosenblatt.rules import rule_parameters
from rosenblatt.wording import word_list

READING = "format encoding encoding_errors"


class Twin(NamedTuple):
    """What does the work of a command on sentences, and the options of the command it takes."""

    module: str
    takes: str


STOPPING = " ".join(StoppingSettings.__annotations__.keys() - {"recipe", "refit", "validation"})
LEARNING = f"rule memory shuffle random_state min_count {STOPPING} {' '.join(rule_parameters())}"
TWINS = {
    "train": Twin(
        "learning",
        "data output force start test label calibrate guarantee verbose max_size "
        f"{LEARNING} {READING}",
    ),
    "predict": Twin("answering", f"model_path data output error_at_most guarantee {READING}"),
    "evaluate": Twin("answering", f"model_path data label max_error {READING}"),
    "weights": Twin("looking", "model_path n class_ everything"),
    "explain": Twin("looking", f"model_path data row n class_ {READING}"),
    "prune": Twin("storing", f"model_path max_size output test {READING}"),
    "audit": Twin("trying", f"data top out folds label {LEARNING} {READING}"),
    "tune": Twin("trying", f"data output folds time_limit label {LEARNING} {READING}"),
    "report": Twin("reporting", f"model_path output test title {READING}"),
    "export": Twin("storing", "model_path output wanted"),
}

value = partial(options.value, group=SENTENCES)
number = partial(options.number, group=SENTENCES)
choice = partial(options.choice, group=SENTENCES)
learned_options = options.group(
    [
        value(
            "--template FILE",
            shown="the word, its affixes and shape, its neighbours",
            help="Templates of the features of tokens, a file of CRF++ or Wapiti.",
        ),
        choice(
            "--transitions",
            choices=("auto", "free"),
            default="auto",
            help="auto: where tags are BIO, IOBES or BILOU, steps that the scheme forbids are "
            "impossible; free: any tag may follow any other.",
        ),
    ]
)


def twin_of(context: click.Context) -> Callable[..., Any] | None:
    """Return what does the work of a command where that is on sentences; None: the command does.

    Options that go with the other kind of data are refused.
    """
    command = context.command
    twin = TWINS.get(str(command.name))
    if twin is None:
        _refuse_sentences(context)
        return None
    own = [p for p in command.params if getattr(p, "group", "") == SENTENCES]
    if not _on_sentences(context.params):
        for option in own:
            if options.is_given(context, option):
                raise click.UsageError(f"{option.opts[0]} has no effect without sentences.")
            del context.params[str(option.name)]
        return None
    takes = {*twin.takes.split(), *(option.name for option in own)}
    for option in (one for one in command.params if one.name != "as_json"):
        if option.name not in takes and options.is_given(context, option):
            raise click.UsageError(
                f"{option.opts[-1]} is not available for sentences, of which each token has a tag."
            )
    given = {
        str(option.name): context.params[str(option.name)]
        for option in command.params
        if option.name in takes
        and (isinstance(option, click.Argument) or options.is_given(context, option))
    }
    module = import_module(f"rosenblatt.cli.tagging.{twin.module}")
    return partial(getattr(module, str(command.name)), context.params["screen"], **given)


def _refuse_sentences(context: click.Context) -> None:
    """Raise InputError for a model of sentences, of which a command without a twin has no use."""
    params = context.params
    model, models = params.get("model_path", params.get("path")), params.get("models") or ()
    for name in [*models, *([] if model is None else [model])]:
        if _holds_sentences(name):
            raise InputError(
                f"{name} tags the tokens of sentences, which {context.command.name} does not "
                f"take; {word_list(TWINS, len(TWINS))} do."
            )


def _holds_sentences(model: str) -> bool:
    from rosenblatt.models.file import rows_of

    return rows_of(model) == "sentences"


def _on_sentences(params: dict[str, Any]) -> bool:
    """Return whether a command is given a model of sentences, or files of them and no model."""
    model = params.get("model_path") or params.get("start")
    if model is not None and params.get("folds") is None:
        return _holds_sentences(model)
    data = params.get("data") or params.get("model_path") or ()
    names: Sequence[str] = [data] if isinstance(data, str) else data
    if params.get("format") is not None:
        return params["format"] in {*SentenceFormat} - {SentenceFormat.JSON_LINES}
    first = next((one for name in names for one in _files(name)), None)
    try:
        return first is not None and sentence_format(first, params["encoding"]) is not None
    except InputError:  # the command says what is wrong with it
        return False


def _files(name: str) -> list[str]:
    found = sorted(glob(name)) if has_magic(name) and not Path(name).exists() else [name]  # noqa: PTH207  # as the user wrote it
    return [one for one in found if one == "-" or Path(one).is_file()]

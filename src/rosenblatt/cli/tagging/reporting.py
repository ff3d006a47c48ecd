"""How ``report`` writes of a model of sequences."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rosenblatt.cli.screen import Screen
from rosenblatt.cli.tagging.learning import reading_of
from rosenblatt.data.atomic import check_target, replacing
from rosenblatt.models.model import Model
from rosenblatt.models.sentence_files import FileTagger
from rosenblatt.report.tags import tag_report


def report(
    screen: Screen,
    model_path: str,
    output: str | None = None,
    test: Sequence[str] = (),
    title: str | None = None,
    format: str | None = None,  # noqa: A002  # as the option is called
    **given: Any,
) -> None:
    """Write a report on a model: its test, tags, passes and weights."""
    if output == "-" and screen.wants_json:
        msg = "--json and the page cannot both go to standard output; name a file with -o."
        raise click.UsageError(msg)
    target = output or str(Path(model_path).with_suffix(".html"))
    check_target(target, [model_path, *test])
    tagger, reading = FileTagger(Model.load(model_path)), reading_of(given)
    files = [tagger.file(name, format, **reading) for name in test]
    text, judged = tag_report(tagger, title or Path(model_path).name, files, target)
    with replacing(target, "w") as file:
        file.write(text)
    screen.wrote(target)
    if target == "-":
        return
    error, n_bytes = None if judged is None else judged.error, Path(target).stat().st_size
    if screen.wants_json:
        document = {"model": model_path, "file": target, "bytes": n_bytes, "test_error": error}
        screen.json(document)
        return
    said = "" if judged is None else f" Test{judged.headline()}."
    screen.show(f"Report: {target} ({n_bytes:,} bytes).{said}")

"""How ``predict`` tags the tokens of sentences, and how ``evaluate`` judges the tags."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import click

from rosenblatt.cli.evaluate import MOST_CONFUSIONS, MOST_IN_TABLE
from rosenblatt.cli.screen import Screen
from rosenblatt.cli.tagging.learning import reading_of
from rosenblatt.data.atomic import check_target, replacing
from rosenblatt.data.sequences.files import SentenceBlock, SentenceFile
from rosenblatt.data.sources import expand
from rosenblatt.errors import InputError
from rosenblatt.models.model import Model
from rosenblatt.models.sentence_files import FileTagger
from rosenblatt.report.tables import confusion_list
from rosenblatt.tasks.tag_evaluation import TagEvaluation
from rosenblatt.wording import percent


def predict(
    screen: Screen,
    model_path: str,
    data: Sequence[str],
    output: str = "-",
    format: str | None = None,  # noqa: A002  # as the option is called
    force: str | None = None,
    nbest: int | None = None,
    confidence: bool = False,
    **given: Any,
) -> None:
    """Write the sentences with a tag for each token."""
    check_target(output, [model_path, *data])
    if nbest is not None and (force is not None or confidence):
        msg = "--nbest cannot be used with --force or --confidence."
        raise click.UsageError(msg)
    tagger, reading = FileTagger(Model.load(model_path)), reading_of(given)
    if confidence and tagger.fitted.calibration is None:
        raise InputError(f"{model_path} has no probabilities; train it with --calibrate.")
    with replacing(output) as target:
        for name in expand(data):
            file = tagger.file(name, format, prompt=name == "-", **reading)
            if nbest is not None:
                pieces = _best(tagger, file, nbest)
            elif screen.wants_json:
                pieces = _json_lines(tagger, file, force)
            else:
                pieces = _lines(tagger, file, force, confidence=confidence)
            for piece in pieces:
                target.write(piece)
                target.flush()  # somebody may wait for it


def _lines(
    tagger: FileTagger, file: SentenceFile, force: str | None, *, confidence: bool
) -> Iterator[bytes]:
    """Yield the lines of a file with one more column."""
    for block, columns, tags in tagger.tagged(file, force=force):
        shown = tags
        if confidence and tags:
            shares = tagger.confidence(columns, tags)
            apart = file.apart if file.in_columns else ":"
            shown = [f"{tag}{apart}{p:.4f}" for tag, p in zip(tags, shares, strict=True)]
        yield file.written(block, shown, tagger.line.label)


def _json_lines(tagger: FileTagger, file: SentenceFile, force: str | None) -> Iterator[bytes]:
    """Yield a JSON object a sentence: words, tags, and how sure they are."""
    for block, columns, tags in tagger.tagged(file, force=force):
        parts: dict[str, Any] = {"words": _words(block), "tags": tags}
        if tags and tagger.fitted.calibration is not None:
            parts["confidence"] = [round(p, 6) for p in tagger.confidence(columns, tags)]
        own = {name: block.columns.in_sentences(values) for name, values in parts.items()}
        rows = (dict(zip(own, row, strict=True)) for row in zip(*own.values(), strict=True))
        yield "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def _best(tagger: FileTagger, file: SentenceFile, n: int) -> Iterator[bytes]:
    """Yield a JSON object a sentence with its best paths and their scores."""
    for block in file.blocks():
        if not block.n_sentences:
            continue
        columns = tagger.columns(file, block, tagger.label_of(file, None))
        words = block.columns.in_sentences(_words(block))
        for sentence, paths in zip(words, tagger.tagger.paths(columns, n), strict=True):
            best = [{"tags": path.tags, "score": path.score} for path in paths]
            row = {"words": sentence, "best": best}
            yield f"{json.dumps(row, ensure_ascii=False)}\n".encode()


def _words(block: SentenceBlock) -> list[str]:
    return block.columns.cells(0)


def evaluate(
    screen: Screen,
    model_path: str,
    data: Sequence[str],
    label: str | None = None,
    max_error: float | None = None,
    format: str | None = None,  # noqa: A002  # as the option is called
    **given: Any,
) -> bool:
    """Print how good the tags of a model are on sentences that have tags."""
    if not data:
        msg = "Missing argument 'DATA': name sentences to judge MODEL by."
        raise click.UsageError(msg)
    tagger, reading = FileTagger(Model.load(model_path)), reading_of(given)
    files = [tagger.file(name, format, **reading) for name in expand(data)]
    found = tagger.evaluation(files, label=label)
    if found.error is None:
        raise InputError(f"{' '.join(data)}: no token has a tag. Did you mean predict?")
    low_enough = max_error is None or found.error <= max_error
    if screen.wants_json:
        report = {"model": model_path, "data": list(data), **found.report()}
        if max_error is not None:
            report |= {"max_error": max_error, "error_is_low_enough": low_enough}
        screen.json(report)
    else:
        _show(screen, found)
    if not low_enough:
        screen.say(f"The error, {percent(found.error)}, is above {percent(max_error)}.")
    return low_enough


def _show(screen: Screen, found: TagEvaluation) -> None:
    """Print errors, phrases, tags and confusions."""
    for line in found.warnings(None):
        screen.warn(line)
    for line in found.summary(None):
        screen.show(line)
    phrases = found.phrase_table()
    if phrases is not None:
        screen.table(*phrases)
    screen.table(*found.table())
    confusion = found.confusion_table()
    if len(confusion[1]) <= MOST_IN_TABLE and screen.fits(*confusion[:2]):
        screen.table(*confusion)
    elif found.confusions:
        headings, rows, title = confusion_list(found, MOST_CONFUSIONS)
        screen.table(("tag", headings[1], "tokens", "of the tag"), rows, title)
    if found.reliability is not None and found.reliability.n_rows:
        error = percent(found.reliability.calibration_error)
        screen.show(f"Probabilities and true shares differ by {error} on average.")

"""How ``predict`` tags the tokens of sentences, and how ``evaluate`` judges the tags."""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import click

from rosenblatt.cli import options
from rosenblatt.cli.evaluate import MOST_CONFUSIONS, MOST_IN_TABLE
from rosenblatt.cli.predict import ABSTAINED
from rosenblatt.cli.screen import Screen
from rosenblatt.cli.tagging.learning import reading_of
from rosenblatt.data.atomic import check_target, replacing
from rosenblatt.data.sequences.files import SentenceBlock, SentenceFile
from rosenblatt.data.sources import expand
from rosenblatt.errors import InputError
from rosenblatt.models.guarantee import certainty_of
from rosenblatt.models.model import Model
from rosenblatt.models.sentence_files import FileTagger
from rosenblatt.models.tag_guarantee import promised, sentences_apart
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
    error_at_most: float | None = None,
    guarantee: Sequence[str] = (),
    **given: Any,
) -> bool:
    """Write the sentences with a tag for each token."""
    check_target(output, [model_path, *data])
    if nbest is not None and (force is not None or confidence):
        msg = "--nbest cannot be used with --force or --confidence."
        raise click.UsageError(msg)
    tagger, reading = FileTagger(Model.load(model_path)), reading_of(given)
    if confidence and tagger.fitted.calibration is None:
        raise InputError(f"{model_path} has no probabilities; train it with --calibrate.")
    threshold = _threshold(screen, tagger, error_at_most, guarantee, (format, reading))
    if threshold is not None and (nbest is not None or force is not None):
        msg = "--error-at-most cannot be used with --nbest or --force."
        raise click.UsageError(msg)
    with replacing(output) as target:
        for name in expand(data):
            file = tagger.file(name, format, prompt=name == "-", **reading)
            if nbest is not None:
                pieces = _best(tagger, file, nbest)
            elif screen.wants_json:
                pieces = _json_lines(tagger, file, force, threshold)
            else:
                pieces = _lines(tagger, file, force, threshold, confidence=confidence)
            for piece in pieces:
                target.write(piece)
                target.flush()  # somebody may wait for it
    return threshold != math.inf


def _threshold(
    screen: Screen,
    tagger: FileTagger,
    error: float | None,
    paths: Sequence[str],
    form: tuple[str | None, dict[str, Any]],
) -> float | None:
    """Return how probable a part must be to be given, and say what that promises."""
    if error is None:
        options.refuse(["guarantee"], "--error-at-most")
        return None
    if tagger.fitted.calibration is None:
        msg = "The model has no probabilities, which a guarantee needs: train it with --calibrate."
        raise InputError(msg)
    apart = certainty_of(tagger.model)
    if paths:
        files = [tagger.file(name, form[0], **form[1]) for name in expand(paths)]
        apart = sentences_apart(tagger, files)
    if apart is None:
        raise InputError(
            "The model has no sentences for a guarantee: name a file with tags that it has not "
            "learned from with --guarantee, here or in train."
        )
    screen.say(apart.sentence(error))
    return apart.curve().threshold_for(error)


def _tagged(
    tagger: FileTagger, file: SentenceFile, force: str | None, threshold: float | None
) -> Iterator[tuple[SentenceBlock, Any, list[str], list[str]]]:
    """Yield sentences with their tags, and those that can be promised, "?" for the others."""
    for block, columns, tags in tagger.tagged(file, force=force):
        given = tags
        if threshold is not None and tags:
            given = promised(tagger, block, columns, tags, threshold)
        yield block, columns, tags, given


def _lines(
    tagger: FileTagger,
    file: SentenceFile,
    force: str | None,
    threshold: float | None,
    *,
    confidence: bool,
) -> Iterator[bytes]:
    """Yield the lines of a file with one more column."""
    for block, columns, tags, given in _tagged(tagger, file, force, threshold):
        shown = given
        if confidence and tags:
            shares = tagger.confidence(columns, tags)
            apart = file.apart if file.in_columns else ":"
            shown = [f"{tag}{apart}{p:.4f}" for tag, p in zip(given, shares, strict=True)]
        yield file.written(block, shown, tagger.line.label)


def _json_lines(
    tagger: FileTagger, file: SentenceFile, force: str | None, threshold: float | None
) -> Iterator[bytes]:
    """Yield a JSON object a sentence: words, tags, and how sure they are."""
    for block, columns, tags, given in _tagged(tagger, file, force, threshold):
        named = given if threshold is None else [None if t == ABSTAINED else t for t in given]
        parts: dict[str, Any] = {"words": _words(block), "tags": named}
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

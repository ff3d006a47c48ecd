"""How ``prune`` and ``export`` write a model of sequences in another form."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rosenblatt.cli.export import SUFFIXES
from rosenblatt.cli.screen import Screen
from rosenblatt.cli.tagging.learning import reading_of
from rosenblatt.data.atomic import check_target, replacing
from rosenblatt.errors import InputError
from rosenblatt.models.model import Model
from rosenblatt.models.sentence_files import FileTagger
from rosenblatt.models.tag_export import tags_to_json
from rosenblatt.models.tag_pruning import pruned_tagger
from rosenblatt.wording import percent, size_text


def prune(
    screen: Screen,
    model_path: str,
    max_size: int,
    output: str,
    test: Sequence[str] = (),
    format: str | None = None,  # noqa: A002  # as the option is called
    **given: Any,
) -> None:
    """Write a model to a smaller file that keeps the features that part tags most."""
    check_target(output, test)
    model, reading = Model.load(model_path), reading_of(given)
    found, n_bytes, n_dropped = pruned_tagger(model, max_size)
    errors: list[Any] = []
    for one in (model, found) if test else ():
        tagger = FileTagger(one)
        files = [tagger.file(name, format, **reading) for name in test]
        errors.append(tagger.evaluation(files).error)
    found.save(output)
    screen.wrote(output)
    n_features = FileTagger(model).encoding.n_features
    if screen.wants_json:
        facts = {"features": n_dropped, "of": n_features, "errors": errors}
        screen.json(facts | {"model": model_path, "file": output, "bytes": n_bytes})
        return
    screen.show(f"Dropped {n_dropped:,} of {n_features:,} features, the weakest.")
    if errors:
        before, after = map(percent, errors)
        screen.show(f"Test tokens with a wrong tag: {before} before, {after} after.")
    if found.calibration is None and model.calibration is not None:
        screen.show("Probabilities were left out: they were fitted to other scores.")
    screen.show(f"Model: {output} ({size_text(n_bytes)})")


def export(screen: Screen, model_path: str, output: str, wanted: str | None = None) -> None:
    """Write a model as JSON: its templates, and for each feature the weights of tags."""
    if output == "-" and screen.wants_json:
        msg = "--json and the model cannot both go to standard output; name a file with -o."
        raise click.UsageError(msg)
    format_ = wanted or SUFFIXES.get(Path(output).suffix.lower())
    if format_ != "json":
        raise InputError(
            "A model of sequences is exported as JSON, for which -o FILE.json or --format json is "
            "needed: the best path of tags has no form in ONNX."
        )
    check_target(output, [model_path])
    data = tags_to_json(Model.load(model_path)).encode()
    with replacing(output) as file:
        file.write(data)
    screen.wrote(output)
    if output == "-":
        return
    screen.say(f"Wrote {output}: {len(data):,} bytes of json.")
    if screen.wants_json:
        document = {"model": model_path, "file": output, "format": format_, "bytes": len(data)}
        screen.json(document)

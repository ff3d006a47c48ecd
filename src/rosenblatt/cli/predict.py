"""The command that predicts labels."""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import compress, pairwise
from pathlib import PurePath
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from rosenblatt.cli import options, tagging
from rosenblatt.cli.screen import Screen, ScreenCommand
from rosenblatt.data.atomic import check_target, replacing
from rosenblatt.data.batch import Batch
from rosenblatt.data.files import Layout
from rosenblatt.data.formats import Format
from rosenblatt.errors import InputError
from rosenblatt.models.file_rows import label_separator
from rosenblatt.models.guarantee import (
    about_guarantee_rows,
    certainty_of,
    judged_apart,
    promised_sets,
)
from rosenblatt.models.model import Model
from rosenblatt.wording import percent, printable

ABSTAINED = "?"
Columns = dict[str, list[Any]]  # of the output, by name, of equal lengths; None: nothing to say
Measures = dict[str, NDArray[Any]]  # score and probability, (n_rows, n_classes), if asked for


@click.command(
    cls=ScreenCommand,
    example="rosenblatt predict spam.model new.csv --keep id --proba -o spam.csv",
    json_help="Print one JSON object per row.",
)
@click.argument("model_path", metavar="MODEL", type=click.Path())
@click.argument("data", nargs=-1, required=True, type=click.Path())
@options.layout
@options.value(
    "-o",
    "--output FILE",
    default="-",
    shown="standard output",
    help="File to write: .csv, .parquet or .jsonl; else tab-separated lines.",
)
@options.value(
    "--keep COLUMN",
    multiple=True,
    callback=options.name_list,
    help=f"Column of DATA to copy {options.LISTED}.",
)
@click.option("--scores", is_flag=True, help="Add the score, or one score per class.")
@click.option(
    "--proba",
    is_flag=True,
    help="Add the probability of each class; needs train --calibrate or --memory vote.",
)
@options.number("--top", shown="1", help="Number of classes to print per row, the best first.")
@options.value(
    "--error-at-most SHARE",
    callback=options.open_share,
    shown="answer every row",
    help="Print ? for rows too unsure to promise that at most SHARE of the answers is wrong, for "
    "example 0.02 or 2%, with 95% confidence; exit with code 1 if nothing can be promised. Of "
    "several labels the unsure ones are left out; an answer is wrong if one of its labels is.",
)
@options.value(
    "--sets SHARE",
    callback=options.open_share,
    shown="no sets",
    help="Add a set of labels for each row; at most SHARE of the sets lack the true label, or one "
    "of several.",
)
@options.value(
    "--guarantee FILE",
    shown="the rows that train --guarantee stored",
    multiple=True,
    help="Labelled rows that were not learned from, for --error-at-most and --sets (repeatable).",
)
@tagging.value(
    "--force COLUMN",
    shown="no tags",
    help="Of sentences: column with tags that tokens must have; ? demands none.",
)
@tagging.number(
    "--nbest", shown="the best path", help="Of sentences: print the N best paths as JSON lines."
)
@tagging.value(
    "--confidence",
    is_flag=True,
    help="Of sentences: add how probable each tag is; needs train --calibrate.",
)
def predict(
    screen: Screen,
    model_path: str,
    data: Sequence[str],
    layout: Layout,
    output: str,
    keep: Sequence[str],
    scores: bool,
    proba: bool,
    top: int | None,
    error_at_most: float | None,
    sets: float | None,
    guarantee: Sequence[str],
) -> bool:
    """Predict the label of each row of DATA, one per line, as the rows arrive.

    DATA: files, patterns such as "part-*.csv", or "-" for standard input. Labels in DATA are
    ignored. With two classes there is one score; above 0 it means the second class. The label is
    the most probable class, unless the model has a threshold of its own (train --threshold). A
    first line names the columns if there are several. A row that cannot be read gets an empty label
    with --bad-rows skip, and always if it comes from standard input. Where rows may have several
    labels, those above their thresholds are printed, separated as in training, else by ";". Of
    sentences the lines come back with a tag behind each token; without columns, as word/TAG.
    """
    check_target(output, [model_path, *data, *guarantee])
    model = Model.load(model_path, to_learn=False).merged  # which answers fastest
    if top is not None and error_at_most is not None:
        msg = "--top cannot be used with --error-at-most; --sets prints several labels."
        raise click.UsageError(msg)
    if proba and not model.has_probabilities:
        how = "" if model.has_weights else "without --kernel and "
        msg = f"{model_path} has no probabilities; train it {how}with --calibrate to get them."
        raise InputError(msg)
    if proba and "threshold" in model.training and not screen.wants_json:
        screen.say(threshold_sentence(model))
    prompt = "-" in data
    promise = _promise(screen, model, error_at_most, sets, guarantee, layout)
    if prompt:  # one bad line must not end the answers to those that follow
        plain = Format.SVMLIGHT if model.table is None else None  # not detected from first lines
        layout = replace(layout, bad_rows="skip", max_bad_share=1.0, format=layout.format or plain)
    ending = PurePath(output).suffix.lower()
    as_json = screen.wants_json or ending in (".jsonl", ".ndjson")
    form = _json_lines if as_json else FORMS.get(ending, _plain_lines)

    def answers() -> Iterator[Columns]:
        for batch in model.rows(
            data, layout=layout, prompt=prompt, need_labels=False, keep=keep, tell=screen.warn
        ):
            activations = model.scores(batch)
            measures, ranking = _measures(model, activations, scores, proba, top)
            columns = _columns(model, activations, measures, ranking, as_json)
            if promise is not None:
                columns |= promise.columns(model, activations, nested=as_json)
            for row in batch.bad if prompt else ():
                screen.warn(row.sentence())
            yield _with_bad_rows(batch, (batch.kept or {}) | columns)

    with replacing(output) as file:
        for written in form(answers()):
            file.write(written)
            file.flush()  # somebody may wait for it
    return promise is None or promise.threshold != math.inf


class Promise(NamedTuple):
    """Above which lead rows are answered, and how far behind a class may be to be in a set."""

    threshold: float | None  # or which score of a label; None: every row is answered
    allowance: float | None

    def columns(self, model: Model, scores: Any, *, nested: bool) -> Columns:
        """Return the answers that can be promised, and the sets if asked for."""
        columns: Columns = {}
        task, joint = model.task, None if nested else label_separator(model)
        if self.threshold is not None:
            answers, sure = task.sure(model.answers(scores), scores, self.threshold)
            values = zip(task.values(answers, model.classes, joint), sure.tolist(), strict=True)
            missing = None if nested else ABSTAINED
            columns[task.column] = [value if given else missing for value, given in values]
        if self.allowance is not None:
            rows = promised_sets(model, scores, self.allowance).tolist()
            sets = [[*compress(model.classes, row)] for row in rows]
            joined = sets if joint is None else [joint.join(map(str, one)) for one in sets]
            columns["set"] = joined
        return columns


def _promise(
    screen: Screen,
    model: Model,
    error: float | None,
    sets: float | None,
    paths: Sequence[str],
    layout: Layout,
) -> Promise | None:
    """Return what can be promised by the rows of the model or of files, and say it."""
    if error is None and sets is None:
        options.refuse(["guarantee"], "--error-at-most or --sets")
        return None
    apart = certainty_of(model)
    if paths:
        tell = lambda note: screen.warn(about_guarantee_rows(note))  # noqa: E731
        apart = judged_apart(model, model.rows(paths, layout=layout, tell=tell))
    if apart is None:
        raise InputError(
            "The model has no rows for a guarantee: name labelled rows that it has not learned "
            "from with --guarantee, here or in train."
        )
    threshold, n_rows = None, len(apart.lead)
    if error is not None:
        threshold = apart.curve().threshold_for(error)
        screen.say(apart.sentence(error))
    allowance = None if sets is None else apart.allowance(sets)
    if sets is not None and allowance == math.inf:
        least = math.ceil(1 / sets - 1)
        few = f"--sets {sets:g} needs {least:,} rows at least"
        why = few if n_rows < least else "too many rows have a label that the model does not know"
        screen.warn(f"Every set has all labels: {why}.")
    return Promise(threshold, allowance)


def _measures(
    model: Model, activations: NDArray[Any], scores: bool, proba: bool, top: int | None
) -> tuple[Measures, NDArray[Any] | None]:
    """Return what is asked for of rows and classes, and the numbers of the best ``top`` classes."""
    by_class = activations
    if activations.ndim == 1:
        by_class = np.stack([-activations, activations], axis=1)
    measures = {"score": by_class} if scores else {}
    if proba:
        measures["probability"] = model.probabilities_of(activations)
    if top is None:
        return measures, None
    best = -measures.get("probability", by_class)
    return measures, np.argsort(best, axis=1, kind="stable")[:, :top]


def _columns(
    model: Model, activations: NDArray[Any], measures: Measures, ranking: Any, nested: bool
) -> Columns:
    """Return predictions as columns of words and numbers, or of what JSON holds."""
    labels = model.classes if nested else [str(label) for label in model.classes]
    columns: Columns = {}
    if ranking is not None and not nested:  # a group of columns for each place
        rows = np.arange(len(activations))
        for k, chosen in enumerate(ranking.T, 1):
            ending = "" if k == 1 else f"_{k}"
            columns[f"label{ending}"] = [labels[number] for number in chosen.tolist()]
            for name, values in measures.items():
                columns[f"{name}{ending}"] = values[rows, chosen].tolist()
        return columns
    task, joint = model.task, None if nested else label_separator(model)
    columns[task.column] = task.values(model.answers(activations), model.classes, joint)
    for name, values in measures.items():
        if name == "score" and task.flat:
            columns[name] = values[:, 1].tolist()
        elif nested:
            plural = "scores" if name == "score" else "probabilities"
            names = [str(label) for label in labels]
            columns[plural] = [dict(zip(names, row, strict=True)) for row in values.tolist()]
        else:
            for label, column in zip(labels, values.T.tolist(), strict=True):
                columns[f"{name}_{label}"] = column
    if ranking is not None:
        columns["top"] = [[labels[k] for k in row] for row in ranking.tolist()]
    return columns


def _with_bad_rows(batch: Batch, columns: Columns) -> Columns:
    """Return the columns with an empty line for each bad row, so that answers stand beside rows."""
    if not batch.bad:
        return columns
    places = sorted(row.before for row in batch.bad)
    ends = [0, *places, batch.n_rows]

    def spread_out(values: list[Any]) -> list[Any]:
        parts = [values[start:end] for start, end in pairwise(ends)]
        return [*parts[0], *(value for part in parts[1:] for value in (None, *part))]

    return {name: spread_out(values) for name, values in columns.items()}


def threshold_sentence(model: Model) -> str:
    """Return from which probability on a model with its own threshold says the second class."""
    least = model.probabilities_of(np.zeros(1))[0, 1]
    return (
        f"Labels follow the threshold chosen by {model.training['threshold']['metric']}: "
        f"{printable(str(model.classes[1]))} above a probability of {percent(float(least))}."
    )


def _plain_lines(batches: Iterable[Columns]) -> Iterator[bytes]:
    """Yield lines with tabs; a single column has no heading."""
    for k, columns in enumerate(batches):
        heading = ["\t".join(map(printable, columns))] if not k and len(columns) > 1 else []
        texts = [*map(_texts, columns.values())]
        rows = texts[0] if len(texts) == 1 else map("\t".join, zip(*texts, strict=True))
        yield "\n".join([*heading, *rows, ""]).encode()


def csv_lines(batches: Iterable[Columns]) -> Iterator[bytes]:
    """Yield lines of CSV, the first with the names of the columns."""
    for k, columns in enumerate(batches):
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([] if k else [columns])
        writer.writerows(zip(*columns.values(), strict=True))
        yield text.getvalue().encode()


def _json_lines(batches: Iterable[Columns]) -> Iterator[bytes]:
    for columns in batches:
        rows = zip(*columns.values(), strict=True)
        records = (dict(zip(columns, row, strict=True)) for row in rows)
        yield "".join(f"{json.dumps(r, ensure_ascii=False)}\n" for r in records).encode()


def _parquet_file(batches: Iterable[Columns]) -> Iterator[bytes]:
    import polars as pl

    file = io.BytesIO()
    frames = [pl.DataFrame(columns, strict=False) for columns in batches]
    frame = pl.concat(frames, how="vertical_relaxed") if frames else pl.DataFrame()
    frame.write_parquet(file)
    yield file.getvalue()


FORMS = {".csv": csv_lines, ".parquet": _parquet_file}  # by the ending of the output


def _texts(column: list[Any]) -> list[str]:
    """Return values as they are printed; a column of words without control characters stays."""
    kinds = {*map(type, column)}
    if kinds == {str} and "".join(column).isprintable():
        return column
    return [*map(repr if kinds == {float} else _text, column)]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return printable(value) if isinstance(value, str) else repr(value)

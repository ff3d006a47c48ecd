"""Files that the workers read themselves, one part each, under one encoding.

Tables are read twice: first each worker learns what its files say of columns, words and numbers;
then the rows are encoded by what all files together say. The terms of all files are numbered in the
order in which they are first met, file after file, as one process numbers them that reads them all.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch, join
from rosenblatt.data.encoding import EncodingFit, SvmlightEncoding, TableEncoding
from rosenblatt.data.encoding.features import (
    DocumentCounts,
    HashedNumbering,
    KeptNumbering,
    TermArrays,
)
from rosenblatt.data.encoding.kinds import merged_notes
from rosenblatt.data.encoding.label_column import (
    MOST_ROWS,
    LabelledSample,
    deciding_columns,
    table_labels,
)
from rosenblatt.data.encoding.parsing import NO_ROWS
from rosenblatt.data.files import Columns, Encoding, Files, Layout, encoded
from rosenblatt.data.formats import Format
from rosenblatt.data.labels import Classes
from rosenblatt.distributed.shards import ClusterRows, RowPart, Survey, homes_of
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.tasks.labels_met import sorted_classes
from rosenblatt.tasks.leads import ranks_of

if TYPE_CHECKING:
    from distributed import Client, Future

    from rosenblatt.data.polars import pl

Template = EncodingFit | bool  # how columns are read; of svmlight, whether it counts from 0


class EncodingPart(NamedTuple):
    """What one file adds to the encoding of all."""

    statistics: NDArray[np.float64]
    vectors: dict[int, NDArray[np.float64]]  # the same of each column of vectors, by its place
    terms: TermArrays | None  # None where they are hashed
    documents: NDArray[np.int32]  # in how many texts each term stands
    n_texts: int
    suspects: "list[pl.DataFrame]"  # rows from all over it


class ClusterFiles(NamedTuple):
    """Files in the workers, and how their columns became features."""

    collected: ClusterRows
    encoding: Encoding
    names: list[str]
    format: Format
    notes: list[str]


def read_files(
    client: "Client", paths: Sequence[str], layout: Layout, columns: Columns, constant: float
) -> ClusterFiles:
    """Have the workers read files, each of which they must find under its name."""
    files = Files(paths, layout)
    layout, names = replace(layout, format=files.format), files.names
    template = _template(files, columns)
    homes = homes_of(client, len(names))

    def on_files(function: Any, *arguments: Sequence[Any], **shared: Any) -> "list[Future]":
        return [
            client.submit(
                *(function, name, layout, *own),
                workers=home,
                allow_other_workers=True,
                pure=False,
                **shared,
            )
            for name, home, *own in zip(names, homes, *arguments, strict=True)
        ]

    is_table = isinstance(template, EncodingFit)
    shared: dict[str, Any] = {"n_files": len(names)} if is_table else {}
    read = on_files(survey_table if is_table else read_svmlight, template=template, **shared)
    surveys: list[Survey] = client.gather(
        read if is_table else client.map(survey_batch, read, pure=False)
    )
    met = Classes()
    met.codes([label for one in surveys for label in one.classes])
    classes = sorted_classes(met.labels)
    counts = np.zeros(len(classes), np.int64)
    ranks = [ranks_of(one.classes, classes) for one in surveys]
    for one, places in zip(surveys, ranks, strict=True):
        np.add.at(counts, places, one.counts)
    if len(classes) < 2:
        told = f"the label {classes[0]!r}" if classes else "no label"
        raise InputError(
            f"All {counts.sum():,} rows have {told}: there is nothing to tell apart. Is that the "
            "column of the labels?"
        )
    encoding, notes = _encoding(template, surveys)
    shape = {"n_features": encoding.n_features, "constant": constant}
    if is_table:
        # A task of its own: it goes to each worker once, and can be had again where one is lost.
        known = client.submit(_same, encoding, pure=False)
        parts = on_files(read_table, ranks, encoding=known, **shape)
    else:
        parts = client.map(numbered_batch, read, ranks, pure=False, **shape)
    lengths, labels = [one.n_rows for one in surveys], np.array(classes)
    if labels.dtype == object:  # integers beyond int64, or among fractions
        labels = labels.astype(np.float64)
    collected = ClusterRows(parts, lengths, encoding.n_features, labels, counts)
    return ClusterFiles(collected, encoding, names, files.format, [*notes, *met.notes()])


def read_svmlight(name: str, layout: Layout, template: bool) -> Batch:
    """Return the rows of a file; runs in a worker."""
    batches = list(Files([name], layout).svmlight(Classes(), template))
    return join(batches) if batches else NO_ROWS


def survey_batch(batch: Batch) -> Survey:
    """Return shape, classes and class counts of an svmlight file; runs in a worker."""
    counts = np.bincount(batch.labels, minlength=len(batch.classes))
    return Survey(batch.n_rows, batch.n_features, batch.classes, counts)


def numbered_batch(
    batch: Batch, ranks: NDArray[np.int32], *, n_features: int, constant: float
) -> RowPart:
    """Return rows with the class numbers of all files; runs in a worker."""
    return RowPart(batch.csr(n_features, constant), ranks[batch.labels])


def survey_table(name: str, layout: Layout, template: EncodingFit, n_files: int) -> Survey:
    """Return class counts and the part of the encoding of a table; runs in a worker."""
    fit = EncodingFit(template.columns, template.settings)
    classes, labels = Classes(), [np.zeros(0, np.int32)]
    columns = [column.name for column in template.columns]
    suspects = LabelledSample(template.columns, max(MOST_ROWS // n_files, 1))
    for table in suspects.passing(Files([name], layout).tables(columns)):
        fit.learn(table)
        if table.frame.height:
            label = fit.label
            labels.append(table_labels(table, label, classes, required=True))
    numbering = fit.parser.numbering
    terms = numbering.vocabulary.arrays() if isinstance(numbering, KeptNumbering) else None
    documents = numbering.documents
    n_terms = 0 if terms is None else len(terms.hashes)
    numbers, statistics = np.concatenate(labels), fit.statistics.values
    counts = np.bincount(numbers, minlength=len(classes.labels))
    vectors = {place: one.values for place, one in fit.vector_statistics.items()}
    counted = documents.padded(n_terms), documents.n_texts
    part = EncodingPart(statistics, vectors, terms, *counted, suspects.frames())
    return Survey(len(numbers), 0, classes.labels, counts, encoding=part)


def read_table(
    name: str,
    layout: Layout,
    ranks: NDArray[np.int32],
    *,
    encoding: TableEncoding,
    n_features: int,
    constant: float,
) -> RowPart:
    """Return the rows of a file, encoded as all the files say; runs in a worker."""
    batches = list(encoded(Files([name], layout), encoding, (), need_labels=True))
    whole = join(batches)._replace(classes=batches[-1].classes) if batches else NO_ROWS
    return numbered_batch(whole, ranks, n_features=n_features, constant=constant)


def _same(encoding: TableEncoding) -> TableEncoding:
    return encoding


def _template(files: Files, columns: Columns) -> Template:
    """Return how all the files are read, judged by the first rows of the first one."""
    if not files.rereadable:
        msg = "Workers read the data themselves: give files that all of them find, not '-'."
        raise InputError(msg)
    svmlight = files.format is Format.SVMLIGHT
    tables = files.tables(said=columns.names())
    rows: Any = files.svmlight(Classes(), files.layout.zero_based) if svmlight else tables
    first = next(rows, None)
    if first is None:
        msg = f"{files.names[0]} has no rows, and the first file says how all are to be read."
        raise InputError(msg)
    if svmlight:
        return bool(first.zero_based)
    fit = EncodingFit.from_sample(first, columns)
    if fit.label_separator:
        raise InputError(
            "Several labels a row are learned in one process only: train without Dask."
        )
    return fit


def _encoding(template: Template, surveys: Sequence[Survey]) -> tuple[Encoding, list[str]]:
    """Return the encoding of all files, which learns no more, and what is to be said of it."""
    if isinstance(template, bool):
        n_features = max(one.n_features for one in surveys)
        return SvmlightEncoding(zero_based=template, n_features=n_features), []
    parts: list[EncodingPart] = [one.encoding for one in surveys]
    settings, n_numeric = template.settings, parts[0].statistics.shape[1]
    # the numbers of the terms of each part among those of all
    numbering: HashedNumbering | KeptNumbering
    if settings.hash_bits is not None:
        numbers = [np.arange(len(one.documents), dtype=np.int32) for one in parts]
        numbering, n_dropped = HashedNumbering(settings.hash_bits), 0
    else:
        room = settings.max_features - n_numeric
        terms = [one.terms for one in parts if one.terms is not None]
        numbering, numbers, n_dropped = merged_terms(terms, room)
    documents = np.zeros(len(numbering), np.int32)
    for one, places in zip(parts, numbers, strict=True):
        known = places >= 0
        documents[places[known]] += one.documents[: len(places)][known]
    numbering.documents = DocumentCounts(documents, sum(one.n_texts for one in parts))
    suspects = [frame for one in parts for frame in one.suspects]
    notes = [*template.notes, *merged_notes(deciding_columns(suspects, template.columns))]
    fit = EncodingFit(template.columns, settings, notes=notes, numbering=numbering)
    for one in parts:
        fit.statistics.merge(one.statistics)
        for place, statistics in fit.vector_statistics.items():
            statistics.merge(one.vectors[place])
    encoding, _ = fit.encoding()
    if not n_dropped:
        return encoding, notes
    note = Sentence(
        f"{n_dropped:,} different words were left out: there were {encoding.n_features:,} features"
        f" already. {Parameter('hash_bits')} bounds the features without leaving any out."
    )
    return encoding, [*notes, note]


def merged_terms(
    parts: Sequence[TermArrays], room: int
) -> tuple[KeptNumbering, list[NDArray[np.int32]], int]:
    """Return the terms of all parts, the number of each part's terms, and how many had no room."""
    together = KeptNumbering(room)
    numbers = [together.vocabulary.take_in(part) for part in parts]
    dropped = [part.hashes[own < 0] for part, own in zip(parts, numbers, strict=True)]
    return together, numbers, len(np.unique(np.concatenate(dropped)))

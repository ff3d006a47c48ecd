"""Files that the workers read themselves, one part each, under one encoding.

The terms of all parts are numbered in the order in which they are first met, part after part:
that is how one process numbers them that reads the parts one after the other.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch, join
from rosenblatt.data.encoding import SvmlightEncoding, TableEncoding
from rosenblatt.data.encoding.numbers import ColumnStatistics
from rosenblatt.data.encoding.vocabulary import KeptNumbering, TermArrays
from rosenblatt.data.files import Columns, Encoding, Files, Layout
from rosenblatt.data.formats import Format
from rosenblatt.data.labels import Classes, Label
from rosenblatt.distributed.engine import homes_of
from rosenblatt.distributed.fitting import ClusterRows
from rosenblatt.distributed.shards import RowPart
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.kernels.rows import CSR
from rosenblatt.training.labels import ranks_of, sorted_classes

Template = TableEncoding | bool  # how columns are read; of svmlight, whether it counts from 0


def merged_encoding(
    template: TableEncoding,
    statistics: Sequence[NDArray[np.float64]],
    terms: Sequence[TermArrays | None],
) -> tuple[TableEncoding, list[NDArray[np.int32] | None], int]:
    """Return the frozen encoding of all parts, and how each part's terms are numbered in it.

    A term that has no room is numbered −1; the last value says how many there are. Where terms
    are hashed, their numbers are the same everywhere, and None stands for that.
    """
    merged = merged_statistics(statistics)
    known = [part for part in terms if part is not None]
    if len(known) < len(terms):
        encoding = TableEncoding(
            template.columns, template.settings, notes=template.notes, statistics=merged
        )
        encoding.freeze()
        return encoding, [None] * len(terms), 0
    room = template.settings.max_features - merged.values.shape[1]
    together, numbers, n_dropped = merged_terms(known, room)
    encoding = TableEncoding(
        template.columns,
        template.settings,
        notes=template.notes,
        statistics=merged,
        numbering=KeptNumbering(room, together),
    )
    encoding.freeze()
    return encoding, [*numbers], n_dropped


def merged_statistics(parts: Sequence[NDArray[np.float64]]) -> ColumnStatistics:
    """Return the statistics of all rows, as Chan, Golub & LeVeque merge two parts."""
    total = parts[0].copy()
    for part in parts[1:]:
        count, mean, m2, low, high, n_missing = total
        n_new, new_mean, new_m2, new_low, new_high, new_missing = part
        n_all = np.maximum(count + n_new, 1)
        apart = np.where(n_new > 0, new_mean - mean, 0)
        mean += apart * (n_new / n_all)
        m2 += new_m2 + apart * apart * (count * n_new / n_all)
        count += n_new
        n_missing += new_missing
        np.minimum(low, new_low, out=low)
        np.maximum(high, new_high, out=high)
    return ColumnStatistics(total)


def merged_terms(
    parts: Sequence[TermArrays], room: int
) -> tuple[TermArrays, list[NDArray[np.int32]], int]:
    """Return the terms of all parts, the number of each part's terms, and how many had no room."""
    hashes = np.concatenate([part.hashes for part in parts])
    different, first = np.unique(hashes, return_index=True)
    by_appearance = np.argsort(first)
    numbers = np.empty(len(different), np.int32)
    numbers[by_appearance] = np.arange(len(different))
    numbers[numbers >= room] = -1
    chosen = first[by_appearance][:room]
    starts = np.cumsum([0, *(len(part.letters) for part in parts)])
    begins = [part.offsets[:-1] + start for part, start in zip(parts, starts[:-1], strict=True)]
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])[chosen]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    places = np.repeat(np.concatenate(begins)[chosen] - offsets[:-1], lengths)
    letters = np.concatenate([part.letters for part in parts])
    together = TermArrays(
        hashes[chosen],
        np.concatenate([part.columns for part in parts])[chosen],
        letters[places + np.arange(offsets[-1])],
        offsets,
    )
    of_parts = [numbers[np.searchsorted(different, part.hashes)] for part in parts]
    return together, of_parts, len(different) - len(chosen)


def renumbered(
    indices: NDArray[Any], numbers: NDArray[np.int32], n_numeric: int
) -> NDArray[np.int32]:
    """Return features of a part as features of all the data; −1 for those that had no room."""
    table: NDArray[np.int32] = np.concatenate(
        [
            np.arange(n_numeric, dtype=np.int32),
            np.where(numbers < 0, -1, numbers + n_numeric).astype(np.int32),
        ]
    )
    found: NDArray[np.int32] = table[indices]
    return found


class FilePart(NamedTuple):
    """The rows of a file, numbered and counted as if there were no other file."""

    batch: Batch | None  # None for a file without rows
    terms: TermArrays | None
    statistics: NDArray[np.float64] | None


class FileSurvey(NamedTuple):
    """What the coordinator has to know of a file before shards can be made."""

    n_rows: int
    n_features: int
    classes: tuple[Label, ...]
    counts: NDArray[np.int64]
    terms: TermArrays | None
    statistics: NDArray[np.float64] | None


class ClusterFiles(NamedTuple):
    """Files in the workers, and how their columns became features."""

    collected: ClusterRows
    encoding: Encoding
    names: list[str]
    format: Format
    notes: list[str]


def read_files(
    client: Client, paths: Sequence[str], layout: Layout, columns: Columns, constant: float
) -> ClusterFiles:
    """Have the workers read files, each of which they must find under its name."""
    files = Files(paths, layout)
    _check_files(files, columns)
    layout = replace(layout, format=files.format)
    template = _template(files, columns)
    homes = homes_of(client, len(files.names))
    read = [
        client.submit(
            read_part,
            name,
            layout,
            template,
            workers=home,
            allow_other_workers=True,
            pure=False,
        )
        for name, home in zip(files.names, homes, strict=True)
    ]
    surveys: list[FileSurvey] = client.gather(client.map(survey_part, read, pure=False))
    classes = sorted_classes(label for one in surveys for label in one.classes)
    counts = np.zeros(len(classes), np.int64)
    ranks = [ranks_of(one.classes, classes) for one in surveys]
    for one, places in zip(surveys, ranks, strict=True):
        counts[places] += one.counts
    _check_classes(classes, int(counts.sum()))
    encoding, numbers, notes = _encoding(template, surveys)
    parts: list[Future] = client.map(
        settle_part,
        read,
        ranks,
        numbers,
        n_features=encoding.n_features,
        constant=constant,
        encoding=_numbers_of(encoding),
        pure=False,
    )
    lengths = [one.n_rows for one in surveys]
    collected = ClusterRows(parts, lengths, encoding.n_features, _label_array(classes), counts)
    return ClusterFiles(collected, encoding, files.names, files.format, notes)


def read_part(name: str, layout: Layout, template: Template) -> FilePart:
    """Read a file; runs in a worker."""
    files, classes = Files([name], layout), Classes()
    if isinstance(template, bool):
        batches = list(files.svmlight(classes, template))
        return FilePart(join(batches) if batches else None, None, None)
    encoding = TableEncoding(template.columns, template.settings)
    names = [column.name for column in template.columns]
    tables = files.tables(names)
    batches = [encoding.encode(table, classes) for table in tables if table.frame.height]
    numbering = encoding.numbering
    terms = numbering.vocabulary.arrays() if isinstance(numbering, KeptNumbering) else None
    batch = join(batches)._replace(classes=classes.labels) if batches else None
    return FilePart(batch, terms, encoding.statistics.values)


def survey_part(part: FilePart) -> FileSurvey:
    """Return what there is in a file; runs in a worker."""
    batch = part.batch
    if batch is None:
        return FileSurvey(0, 0, (), np.zeros(0, np.int64), part.terms, part.statistics)
    counts = np.bincount(batch.labels, minlength=len(batch.classes))
    return FileSurvey(
        batch.n_rows, batch.n_features, batch.classes, counts, part.terms, part.statistics
    )


def settle_part(
    part: FilePart,
    ranks: NDArray[np.int32],
    numbers: NDArray[np.int32] | None,
    *,
    n_features: int,
    constant: float,
    encoding: TableEncoding | None,
) -> RowPart:
    """Return the rows of a file as all the files together make them; runs in a worker.

    Nothing of the part is changed: it may be asked for again.
    """
    batch = part.batch
    if batch is None:
        nothing = np.zeros(0, np.int32)
        rows = CSR(np.zeros(0), nothing, np.zeros(1, np.int64), n_features, constant)
        return RowPart(rows, nothing)
    data, indices, indptr = batch.data, batch.indices, batch.indptr
    if encoding is not None:
        data = data.copy()
        encoding.finish(data, indptr)
    if numbers is not None:
        n_numeric = 0 if part.statistics is None else part.statistics.shape[1]
        indices = renumbered(indices, numbers, n_numeric)
        if len(indices) and indices.min() < 0:
            known = indices >= 0
            indptr = np.concatenate([[0], np.cumsum(known)])[indptr]
            data, indices = data[known], indices[known]
    return RowPart(CSR(data, indices, indptr, n_features, constant), ranks[batch.labels])


def _check_files(files: Files, columns: Columns) -> None:
    if not files.rereadable:
        msg = "Workers read the data themselves: give files that all of them find, not '-'."
        raise InputError(msg)
    if columns.degree != 1:
        msg = "Pairs and triples of features are found in one process only: train without Dask."
        raise InputError(msg)


def _template(files: Files, columns: Columns) -> Template:
    """Return how all the files are read, judged by the first rows of the first one."""
    if files.format is Format.SVMLIGHT:
        batch = next(files.svmlight(Classes(), files.layout.zero_based), None)
        if batch is None:
            raise _empty(files.names[0])
        return batch.zero_based
    table = next(files.tables(), None)
    if table is None:
        raise _empty(files.names[0])
    asked: dict[str, Any] = asdict(columns)
    del asked["degree"]
    return TableEncoding.from_sample(table, **asked)


def _empty(name: str) -> InputError:
    return InputError(f"{name} has no rows, and the first file says how all are to be read.")


def _encoding(
    template: Template, surveys: Sequence[FileSurvey]
) -> tuple[Encoding, list[NDArray[np.int32] | None], list[str]]:
    if isinstance(template, bool):
        n_features = max(one.n_features for one in surveys)
        return (
            SvmlightEncoding(zero_based=template, n_features=n_features),
            [None] * len(surveys),
            [],
        )
    statistics = [one.statistics for one in surveys if one.statistics is not None]
    encoding, numbers, n_dropped = merged_encoding(
        template, statistics, [one.terms for one in surveys]
    )
    notes = list(template.notes)
    if n_dropped:
        notes.append(
            Sentence(
                f"{n_dropped:,} different words were left out: there were {encoding.n_features:,} "
                "features already. ",
                *(Parameter("hash_bits"), " bounds the features without leaving any out."),
            )
        )
    return encoding, numbers, notes


def _numbers_of(encoding: Encoding) -> TableEncoding | None:
    """Return what fills and scales numbers, without its terms; None where there are no numbers."""
    if not isinstance(encoding, TableEncoding) or not encoding.statistics.values.shape[1]:
        return None
    return TableEncoding(encoding.columns, encoding.settings, statistics=encoding.statistics)


def _check_classes(classes: Sequence[Label], n_rows: int) -> None:
    if len(classes) < 2:
        told = f"the label {classes[0]!r}" if classes else "no label"
        msg = (
            f"All {n_rows:,} rows have {told}: there is nothing to tell apart. Is that the column "
            "of the labels?"
        )
        raise InputError(msg)


def _label_array(classes: Sequence[Label]) -> NDArray[Any]:
    """Return classes as an array: of integers beyond int64, and among fractions, of float64."""
    found = np.array(classes)
    return np.array(classes, np.float64) if found.dtype == object else found

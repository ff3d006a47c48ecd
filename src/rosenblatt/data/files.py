"""Files of any format as batches of rows: to learn from, and to use a model on."""

import os
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import (
    VALIDATION,
    BadRow,
    BadRows,
    Batch,
    WordsError,
    drawn_rows,
    join,
    running_sums,
    unfamiliar,
)
from rosenblatt.data.encoding import (
    BlockFeatures,
    ConjoinedEncoding,
    EncodingFit,
    GridEncoding,
    RowUse,
    ScaledEncoding,
    SvmlightEncoding,
    TableEncoding,
    encoded_block,
)
from rosenblatt.data.encoding.familiarity import RowSampler, SeenCounter
from rosenblatt.data.encoding.features import Columns, InputColumn, Role
from rosenblatt.data.encoding.kinds import NOT_NUMBERS, column_names, merged_notes
from rosenblatt.data.encoding.label_column import (
    LabelledSample,
    check_quantity,
    deciding_columns,
    labelled_rows,
    table_labels,
)
from rosenblatt.data.encoding.numbers import code_columns, read_numbers
from rosenblatt.data.encoding.parsing import TableParser
from rosenblatt.data.encoding.table_encoding import Settings as EncodingSettings
from rosenblatt.data.formats import Format, Layout, detect_format
from rosenblatt.data.labels import IN_LISTS, Classes, Label, classes_of, single_labels
from rosenblatt.data.polars import pl
from rosenblatt.data.sources import (
    LONGEST_LINE,
    Paths,
    Source,
    expand,
    head_of,
    name_of,
    stored_size,
    text_lines,
)
from rosenblatt.data.streams import in_order
from rosenblatt.data.svmlight import row_lines, svmlight_batches
from rosenblatt.data.tables.arff import ArffParser, arff_rows
from rosenblatt.data.tables.arrays import array_tables
from rosenblatt.data.tables.columnar import columnar_tables
from rosenblatt.data.tables.heading import SeparatedOptions, laid_out
from rosenblatt.data.tables.separated import SeparatedParser
from rosenblatt.data.tables.table import Table, in_slices, require_library, wanted_columns
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.wording import clause, counted, word_list

__all__ = ["Columns", "Encoding", "Files", "Layout", "TrainingFiles", "encoded"]

Found = TypeVar("Found")
Item = TypeVar("Item")
Lengths = deque[int]  # how many slices each table to come has
Encoding = SvmlightEncoding | TableEncoding | ConjoinedEncoding | GridEncoding | ScaledEncoding

AS_TRAINED = "as in training"  # why a model reads a column so
MOST_INDEX = 1 << 24  # of a feature in a small svmlight file: weights of 128 MiB
SLICE_BYTES = 1 << 19  # of a table with texts that are encoded at once; of n-grams fewer
SAMPLE_BYTES = 100_000  # of texts beside columns that are encoded in other ways, at most
SEEN_BYTES = 16 << 20  # of tables with texts, before it is decided how these are read
LEAST_SHARE = 0.25  # of them that are drawn, if these are not too many bytes
SKIPPED = BadRows(skip=True, max_share=1.0)  # of a sample; whoever reads all rows tells of them
BLOCK_BYTES = 4 << 20  # of text; each call of polars costs about half a millisecond
LONGEST_FIELD = 1 << 20  # bytes between quotes, where bad rows are skipped
NAMES_SHOWN = 8
SEPARATOR_NAMES = {"\t": "tab", " ": "blanks"}
ROW = "row number of rosenblatt"  # a column that no file has
NOTHING: Mapping[str, str] = MappingProxyType({})
BETTER_WITHOUT = "held-out rows are predicted better without"  # why a race leaves a column out
KEPT_BY = (
    f"; to learn from a column, name it with {Parameter('category')}, {Parameter('text')} or"
    f" {Parameter('numeric')}"
)
KINDS = {
    "numeric": "numbers",
    "category": "categories",
    "list": "lists of categories",
    "text": "texts",
    "vector": "vectors",
    "date": "dates",
}


def table_batches(
    source: Source,
    layout: Layout | None = None,
    *,
    names: Sequence[str] | None = None,
    optional: Collection[str] = (),
    said: frozenset[str] = frozenset(),
    bad_rows: BadRows | None = None,
    block_bytes: int = BLOCK_BYTES,
    prompt: bool = False,
) -> Iterator[Table]:
    """Yield the rows of a file in tables; memory is bounded by the size of a few blocks.

    ``names`` are the columns of the tables, in this order, by default all as they come; a file may
    lack the ``optional`` ones. A first row with one of the ``said`` names is a header. Bad rows are
    an error that names file and line, or stand in ``Table.bad`` if ``bad_rows`` skips them. With
    ``prompt`` rows come as soon as they arrive.
    """
    layout, file = layout or Layout(), name_of(source)
    if block_bytes < 1:
        raise InputError(f"block_bytes must be at least 1; got {block_bytes}.")
    require_library(file)
    kind = layout.format or detect_format(source, encoding=layout.encoding, prompt=prompt)
    wanted = wanted_columns(names, optional)
    if kind in (Format.PARQUET, Format.ARROW):
        return columnar_tables(source, kind, wanted)
    if kind == Format.NUMPY:
        return array_tables(source, wanted)
    if kind == Format.SVMLIGHT:
        msg = f"{file} is svmlight text, which has no columns; read it by svmlight_batches."
        raise InputError(msg)
    blocks = text_lines(source, block_bytes, layout.encoding, layout.encoding_errors, prompt=prompt)
    if kind in (Format.JSON_LINES, Format.FASTTEXT):
        require_library(file, "msgspec")
        from rosenblatt.data.tables import json_lines as lines

        if kind == Format.FASTTEXT:
            return _ahead(lines.FastTextParser(file, wanted, bad_rows, prompt=prompt).parse, blocks)
        rows = lines.is_document(head_of(source, layout.encoding, prompt=prompt)[0])
        parser = lines.JsonLinesParser(file, wanted, bad_rows, prompt=prompt, rows=rows)
        return _ahead(parser.parse, lines.object_lines(blocks, file) if rows else blocks)
    if kind == Format.ARFF:
        return _ahead(ArffParser(file, bad_rows).parse, arff_rows(blocks, wanted, file))
    is_tsv = kind == Format.TSV
    separator = "\t" if is_tsv and layout.separator is None else layout.separator
    quoting = True if layout.quoting is None and not is_tsv else layout.quoting
    asked = SeparatedOptions(separator, quoting, layout.header, wanted, layout.names, said)
    longest = LONGEST_FIELD if bad_rows is not None and bad_rows.skip else LONGEST_LINE
    found = laid_out(blocks, asked, file, prompt=prompt, longest_field=longest)
    return _ahead(SeparatedParser(file, bad_rows).parse, found)


def _ahead(
    parse: Callable[[Item], list[Table]], items: Generator[Item, None, None]
) -> Iterator[Table]:
    """Yield the tables of successive blocks, parsed in one thread, as parsers count rows."""
    with closing(in_order(parse, items, 1)) as parts:
        for tables in parts:
            yield from tables


@dataclass(frozen=True)
class Decisions:
    """How files were read, and why: said aloud, so that a wrong guess is seen."""

    format: str  # as it was said or detected
    separator: str | None = None  # of CSV and TSV
    header: bool | None = None
    zero_based: bool | None = None  # of svmlight
    label: str | None = None
    label_reason: str = ""  # "by its name", "the last column", "as you said"
    weight: str | None = None  # the column of the weights of the rows
    group: str | None = None  # the column of groups that are held out together
    columns: dict[str, list[str]] = field(default_factory=dict)  # that are learned from, by KINDS
    left_out: dict[str, str] = field(default_factory=dict)  # the others, each with the reason
    notes: list[str] = field(default_factory=list)  # what a person may not know of the columns

    @classmethod
    def on_table(
        cls, kind: Format, table: Table, encoding: EncodingFit | TableEncoding, reason: str = ""
    ) -> "Decisions":
        """Return what was decided on tables by their first rows, or by a model for a reason."""
        parser = encoding.parser
        kinds: dict[str, list[str]] = {}
        for column in encoding.columns:
            if column.required:
                group = column.role if column.parts == ("",) else "date"
                kinds.setdefault(group, []).append(column.name)
        heading = table.heading
        guess = encoding.label_guess if isinstance(encoding, EncodingFit) else None
        typed = heading is not None and heading.declared is not None
        label = parser.name_of("label") if reason or guess is None else guess.column
        why = reason if reason or guess is None else guess.reason
        if encoding.label_separator:
            why += "; several a row"
        if encoding.label_separator not in ("", IN_LISTS):
            named = SEPARATOR_NAMES.get(encoding.label_separator)
            why += f", separated by {named or repr(encoding.label_separator)}"
        notes = [*([] if heading is None else heading.notes), *([] if reason else encoding.notes)]
        other = reason or "as you said"
        return cls(
            str(kind),
            separator=None if heading is None or typed else heading.dialect.separator,
            header=None if heading is None or typed else heading.header,
            label=label,
            label_reason="" if label is None else why,
            weight=parser.name_of("weight"),
            group=parser.name_of("group"),
            columns=kinds,
            left_out={
                one.name: one.reason or other for one in encoding.columns if one.role == "ignored"
            },
            notes=notes,
        )

    def as_json(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return vars(self) | {"notes": [str(note) for note in self.notes]}

    def lines(self) -> list[tuple[str, str]]:
        """Return titles and words for a screen: what was read, the label, kinds, what is not used.

        >>> found = Decisions("csv", ",", True, label="kind", label_reason="by its name")
        >>> found.lines()
        [('read as', "csv, separator ',', with a header"), ('label', "'kind', by its name")]
        """
        words = [self.format]
        if self.separator is not None:
            separator = SEPARATOR_NAMES.get(self.separator, f"'{self.separator}'")
            words.append(f"separator {separator}")
        if self.header is not None:
            words.append("with a header" if self.header else "without a header")
        if self.zero_based is not None:
            words.append(f"features count from {0 if self.zero_based else 1}")
        lines = [("read as", ", ".join(words))]
        if self.label is not None:
            lines.append(("label", f"'{self.label}', {self.label_reason}"))
        for title, column in (("row weights", self.weight), ("groups", self.group)):
            lines += [] if column is None else [(title, f"'{column}'")]
        for kind, title in KINDS.items():
            if self.columns.get(kind):
                names = [f"'{name}'" for name in self.columns[kind]]
                listed = word_list(names, NAMES_SHOWN, ", ")
                lines.append((title, f"{len(names):,}: {listed}"))
        reasons: dict[str, list[str]] = {}
        for name, reason in self.left_out.items():
            reasons.setdefault(reason, []).append(f"'{name}'")
        if reasons:
            groups = [
                f"{word_list(names, NAMES_SHOWN)}: {clause(reason, len(names))}"
                for reason, names in reasons.items()
            ]
            said = reasons.keys() <= {"as you said", "as in training", NOT_NUMBERS, BETTER_WITHOUT}
            lines.append(("left out", Sentence("; ".join(groups), "" if said else KEPT_BY)))
        return lines


class Files:
    """Files that are named by a user, all of one format."""

    def __init__(
        self,
        paths: Paths,
        layout: Layout,
        *,
        prompt: bool = False,
        draw: Any = None,
        held: Sequence[Table] | None = None,
    ) -> None:
        self.names = expand(paths) if held is None else ["X"]
        self._held = held  # in place of files
        self.layout = layout
        self.prompt = prompt
        self.draw = draw  # says by their numbers which rows are read, where not all are
        self.answers = False  # whether someone waits for an answer to every row, bad ones too
        self.bad_rows = BadRows(skip=layout.bad_rows == "skip", max_share=layout.max_bad_share)
        self.notes: list[str] = []  # what a person should know of the rows, once they are read
        self.decisions: Decisions | None = None  # on how they are read; known with the first rows
        self.classes = Classes()  # those of the last reading
        if held is not None:
            self.format = Format.ARROW
            return
        detect = partial(detect_format, encoding=layout.encoding, prompt=prompt)
        self.format = layout.format or detect(self.names[0])
        for name in self.names[1:] if layout.format is None else ():
            other = detect(name)
            if other != self.format:
                raise InputError(
                    f"{name} is {other}, but {self.names[0]} is {self.format}: files that belong"
                    " together must have one format. If this is a mistake, name the format with "
                    f"{Parameter('format')}."
                )

    def decide(self, decisions: Decisions | None) -> None:
        """Change what was decided on how they are read; None: nothing yet."""
        self.decisions = decisions

    def tell(self, notes: Iterable[str]) -> None:
        """Change to have more that a person should know of the rows."""
        self.notes += notes

    def read_by(self, classes: Classes) -> Classes:
        """Change to a new reading, with these classes; return them."""
        self.classes = classes
        return classes

    @classmethod
    def held(cls, tables: Sequence[Table], layout: Layout) -> "Files":
        """Return tables in memory, which are read as if they were a file."""
        return cls((), layout, held=tables)

    @property
    def rereadable(self) -> bool:
        """Whether all are regular files, or in memory."""
        return self._held is not None or all(
            name != "-" and Path(name).is_file() for name in self.names
        )

    @property
    def n_bytes(self) -> int | None:
        """How long all files are together, packed as they may be; None for standard input."""
        if self._held is not None:
            return sum(int(table.frame.estimated_size()) for table in self._held)
        return sum(map(stored_size, self.names)) if self.rereadable else None

    def decided(self) -> list[tuple[str, str]]:
        """Return what was decided on files and columns: headings and words."""
        return [] if self.decisions is None else [*self.decisions.lines()]

    def report(self) -> dict[str, Any]:
        """Return how the files were read, by name."""
        return {"decisions": self.decisions, "bad_rows": self.bad_rows}

    def reading_notes(self) -> list[str]:
        """Return what a person should know of the rows that were read, and of those skipped."""
        notes = [*self.notes, *self.classes.notes()]
        if not self.bad_rows.n_bad:
            return notes
        skipped = counted(self.bad_rows.n_bad, "bad row")
        first = self.bad_rows.first[0].sentence()
        return [*notes, Sentence(f"Skipped {skipped}. The first: ", first)]

    def svmlight(
        self, classes: Classes, zero_based: bool | None, max_index: int | None = None
    ) -> Iterator[Batch]:
        """Yield the rows of svmlight files; from where they count is decided once for all."""
        met = classes if self.draw is None else Classes()
        how: Any = {"classes": met, "prompt": self.prompt, "bad_rows": self.bad_rows}

        def read(name: str) -> Iterator[Batch]:
            return svmlight_batches(name, zero_based=zero_based, max_index=max_index, **how)

        for batch in self._each(read):
            zero_based = batch.zero_based
            if met is classes:
                yield batch
                continue
            used, place = np.unique(batch.labels, return_inverse=True)
            codes = classes.codes([met.labels[k] for k in used.tolist()])  # those of rows read
            yield batch._replace(labels=codes[place], classes=classes.labels)

    def tables(
        self,
        names: Sequence[str] | None = None,
        optional: Sequence[str] = (),
        said: frozenset[str] = frozenset(),
    ) -> Generator[Table, None, None]:
        """Yield the rows of tabular files; all have the columns that ``names`` or the first has."""
        for table in self._held or ():
            known = [one for one in names or table.frame.columns if one in table.frame.columns]
            yield table._replace(frame=table.frame.select(known))
        if self._held is not None:
            return
        layout = replace(self.layout, format=self.format)
        how: Any = {"optional": optional, "prompt": self.prompt, "bad_rows": self.bad_rows}

        def read(name: str) -> Iterator[Table]:
            return table_batches(name, layout, names=names, said=said, **how)

        for table in self._each(read):
            names = table.frame.columns if names is None else names
            yield table

    def _each(self, read: Callable[[str], Iterator[Any]]) -> Iterator[Any]:
        """Yield what is read of each file; bytes count on from one to the next."""
        before = n_rows = 0
        for name in self.names:
            for part in read(name):
                found = part._replace(bytes_read=part.bytes_read + before)
                if self.draw is not None:
                    found = found.filtered(self.draw(part.draw_numbers(n_rows)))
                    n_rows += len(part.draw_numbers(n_rows))
                yield found
            before += stored_size(name)

    def with_row_counts(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield batches that have rows or are waited for; count rows, and those left out."""
        self.bad_rows.restart()
        for batch in batches:
            self.bad_rows.add(batch.bad)
            self.bad_rows.pass_by(batch.n_rows)
            if batch.n_rows or self.prompt or (self.answers and batch.bad):
                yield batch
        self.bad_rows.check()


class FoundRow(NamedTuple):
    """A row as it stands in a file."""

    file: str
    line: int  # on which it begins, or the number of the row where a file has no lines
    values: dict[str, Any]  # of the columns or features that are learned from


def _found_row(table: Table, rows: Sequence[int], names: Sequence[str], number: int) -> FoundRow:
    row = rows[number]
    return FoundRow(*table.numbered(row), table.frame.select(names).row(row, named=True))


class Beginning(NamedTuple):
    """The first rows of tables, what was decided by them, and the tables to come."""

    fit: EncodingFit  # which has not taken them in
    first: Table
    others: Generator[Table, None, None]
    lenient: bool  # whether some values that are no numbers leave a column numeric
    more: tuple[Table, ...] = ()  # of the same columns, after the first: where there are texts

    def without(self, left_out: Mapping[str, str]) -> "Beginning":
        """Return the beginning without some columns, each for a reason."""
        columns = tuple(
            InputColumn(one.name, "ignored", reason=left_out[one.name])
            if one.name in left_out
            else one
            for one in self.fit.columns
        )
        own, guess = self.fit, self.fit.label_guess
        fit = EncodingFit(columns, own.settings, notes=own.notes, label_guess=guess)
        return self._replace(fit=fit) if left_out else self

    @property
    def parts(self) -> tuple[list[str], list[str]]:
        """The columns of texts, and the others that are learned from."""
        required = [column for column in self.fit.columns if column.required]
        texts = [column.name for column in required if column.role == "text"]
        return texts, [column.name for column in required if column.role != "text"]

    @classmethod
    def of_tables(
        cls, first: Table, others: Generator[Table, None, None], columns: Columns, *, lenient: bool
    ) -> "Beginning":
        """Return the beginning with this table; of texts with the next few megabytes."""
        fit, more = EncodingFit.from_sample(first, columns, lenient=lenient), list[Table]()
        n_bytes = first.frame.estimated_size()
        while fit.has_text and n_bytes < SEEN_BYTES and (table := next(others, None)):
            more.append(table)
            n_bytes += table.frame.estimated_size()
        return cls(fit, first, others, lenient, tuple(more))

    def tables(self) -> Generator[Table, None, None]:
        """Yield all tables, from the first on."""
        yield from (self.first, *self.more)
        yield from self.others

    @property
    def seen(self) -> Table:
        """The rows that are known, as one table."""
        frames = [table.frame for table in (self.first, *self.more)]
        alike = [frame for frame in frames if frame.schema == frames[0].schema]
        return self.first._replace(frame=pl.concat(alike), lines=None, bad=())

    def text_sample(self, cost: float, most: int, most_bytes: int) -> tuple[Table, int]:
        """Return some of the rows that are known, drawn at random, and how many classes they have.

        As many as cost this much, of bytes of text times classes, or a quarter of all if that is
        more, but at most about so many rows and bytes.
        """
        seen, label = self.seen, cast("str", self.fit.label)
        n_classes = seen.frame[label].n_unique()
        texts = [column.name for column in self.fit.columns if column.role == "text"]
        n_bytes = max(int(seen.frame.select(texts).estimated_size()), 1)
        share = max(cost / (n_bytes * (n_classes if n_classes > 2 else 1)), LEAST_SHARE)
        share = min(share, most / seen.frame.height, most_bytes / n_bytes)
        rows = np.arange(seen.frame.height, dtype=np.uint64)
        return seen.filtered(drawn_rows(rows, share)), n_classes

    def judged(self, columns: Columns) -> "Beginning":
        """Return the same beginning with other things said of the columns."""
        return self._replace(fit=EncodingFit.from_sample(self.first, columns, lenient=self.lenient))

    def sample(self, most: int) -> Table:
        """Return some of the first rows, drawn at random: about so many, and so much text."""
        names = [column.name for column in self.fit.columns if column.role == "text"]
        n_rows = self.first.frame.height
        n_bytes = int(self.first.frame.select(names).estimated_size())
        share = min(most / n_rows, SAMPLE_BYTES / max(n_bytes, 1))
        return self.first.filtered(drawn_rows(np.arange(n_rows, dtype=np.uint64), share))

    def codes(
        self, sample: Table, most: int, numeric: Sequence[str | int]
    ) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.int32]]:
        """Return the numbers of columns that may be codes, by name, and the classes of the rows.

        Not of those that are said to be ``numeric``; at most so many numbers are looked at.
        """
        asked = column_names(self.first, numeric, "numeric", alone=False)
        own = [one for one in self.fit.columns if one.role == "numeric"]
        own = [one for one in own if one.name not in asked]
        n_rows, separator = sample.frame.height, self.fit.label_separator
        label = cast("str", self.fit.label)
        step = -(-n_rows * len(own) // most) or 1
        rows = labelled_rows(sample.filtered(np.arange(n_rows) % step == 0), label, separator)
        labels = table_labels(rows, label, Classes(), required=True, separator=separator)
        return code_columns(rows, own, read_numbers(rows, own)[0]), labels

    def rows(
        self,
        sample: Table,
        category: Collection[str] = (),
        ignore: Collection[str] = (),
        **settings: Any,
    ) -> Batch:
        """Return the rows of a sample as they would be encoded with other settings."""
        use = RowUse(learn=True, bad_rows=SKIPPED)
        roles: dict[str, Role] = dict.fromkeys(category, "category")
        roles |= dict.fromkeys(ignore, "ignored")
        columns = tuple(
            InputColumn(one.name, roles[one.name]) if one.name in roles else one
            for one in self.fit.columns
        )
        asked = self.fit.settings._asdict() | settings
        other = EncodingFit(columns, EncodingSettings.checked(**asked))
        block = other.parse(sample, Classes(), use)
        return encoded_block(block, *other.encoding())


class TrainingFiles:
    """Files to learn from, which say how they are to be encoded as they are read."""

    def __init__(
        self,
        files: Files,
        columns: Columns,
        validation: Files | None = None,
        left_out: Mapping[str, str] = NOTHING,
    ) -> None:
        self.files = files
        self.columns = columns  # what was said of them
        self.validation = validation  # of rows that come last and are never learned from
        self.encoding: Encoding | None = None  # known when all rows have been read
        self._features: BlockFeatures | None = None  # of the blocks that were read
        self._fit: EncodingFit | None = None  # of columns, from the first rows to the last
        self._sampler = RowSampler()  # of rows that are read
        self._begun: Beginning | None = None  # of a reading to come
        self._left_out = {**left_out}  # columns, each with the reason

    @property
    def rereadable(self) -> bool:
        """Whether they can be read a second time."""
        return self.files.rereadable

    def read(self, use: Callable[[], Found]) -> Found:
        """Return what ``use`` makes of the batches.

        Where a column that began with numbers turns out to have words, it is taken for a category,
        and ``use`` is called once more, from the first row on.
        """
        while True:
            try:
                return use()
            except WordsError as error:
                column = error.column
                if column in self.columns.numeric or not self.rereadable:
                    raise
                note = f"{error.note}, so the column is taken for a category."
                advice = f" If it should hold numbers, use {Parameter('numeric', column)}."
                self.files.tell([Sentence(note, advice)])
            self.columns = replace(self.columns, category=(*self.columns.category, column))
            self.files.decide(None)
            self.encoding = self._fit = None

    def batches(self) -> Iterator[Batch]:
        """Read the files from the start, as blocks to be encoded; the encoding begins anew."""
        is_svmlight = self.files.format is Format.SVMLIGHT
        batches = self.files.with_row_counts(self._svmlight() if is_svmlight else self._tables())
        yield from batches if self.validation is None else self._validated(batches, self.validation)
        if self._fit is not None:
            self.encoding, self._features = self._fit.encoding(self._sampler)
            self._fit = None  # with the terms that are rare

    def _validated(self, batches: Iterator[Batch], files: Files) -> Iterator[Batch]:
        """Yield batches, and then the rows of other files, from which no encoding is learned."""
        known: tuple[Label, ...] = ()
        n_bytes = 0
        for batch in batches:
            known, n_bytes = batch.classes, batch.bytes_read
            zeros = np.zeros(batch.n_rows, np.uint64)
            yield batch._replace(groups=zeros if batch.groups is None else batch.groups)
        parser: TableParser | SvmlightEncoding | TableEncoding
        if self._fit is not None:
            parser = self._fit.parser
        elif self.encoding is not None:
            parser = self.encoding.inner
        else:
            return
        use, n_rows = RowUse(learn=True, bad_rows=files.bad_rows), 0
        n_features = None if self.encoding is None else self.encoding.n_features  # of svmlight
        found = _batches(files, parser, Classes(known), use)
        for batch in files.with_row_counts(found):
            met, before = single_labels(batch.classes), single_labels(known)
            class_of = classes_of(met)
            strange = {*met} - {*before}
            strange = {one for one in strange if class_of[one] not in {class_of[k] for k in before}}
            if strange:
                label = min(map(str, strange))
                msg = f"no row to learn from has the label {label!r}, which {batch.file} has."
                raise InputError(Sentence(f"{Parameter('validation')}: ", msg))
            groups = np.full(batch.n_rows, VALIDATION, np.uint64)
            rows = batch if n_features is None else batch.below(n_features)
            n_rows += batch.n_rows
            yield rows._replace(groups=groups, bytes_read=n_bytes)
        if not n_rows:
            raise InputError(Sentence(f"{Parameter('validation')}: the file has no rows."))

    def found_rows(self, numbers: Collection[int]) -> Iterator[FoundRow]:
        """Read the files once more; yield rows by their numbers, in the order of the files."""
        before = 0
        for n_rows, find in self._found_parts():
            for number in range(before, before + n_rows):
                if number in numbers:
                    yield find(number - before)
            before += n_rows

    def _found_parts(self) -> Iterator[tuple[int, Callable[[int], FoundRow]]]:
        """Yield of each part of the files how many rows are learned, and what finds one."""
        encoding = None if self.encoding is None else self.encoding.table
        if encoding is None:
            names = self.files.names
            lines = (FoundRow(name, *line) for name in names for line in row_lines(name))
            for batch in self.files.svmlight(Classes(), self.files.layout.zero_based):
                here = [*islice(lines, batch.n_rows + len(batch.bad))]
                bad = {row.before + k for k, row in enumerate(batch.bad)}
                yield batch.n_rows, [r for k, r in enumerate(here) if k not in bad].__getitem__
            return
        use = RowUse(learn=True, bad_rows=self.files.bad_rows)
        parser, names = encoding.parser, [column.name for column in encoding.columns]
        shown = [column.name for column in encoding.columns if column.required]
        for table in self.files.tables(names, [name for name in names if name not in shown]):
            marked = table._replace(frame=table.frame.with_row_index(ROW))
            kept = parser.prepare(marked, use).frame[ROW].to_list()
            yield len(kept), partial(_found_row, table, kept, shown)

    @property
    def is_open(self) -> bool:
        """Whether rows are read as blocks, which only an encoding of all makes rows to learn from.

        It is asked when some rows have been read.
        """
        known = self._fit if self.encoding is None else self.encoding.table
        return known is not None and known.parser.is_open

    @property
    def n_rare(self) -> float:
        """How many values of a block, in a row on average, the encoding leaves out."""
        return 0.0 if self._features is None else self._features.n_rare

    def encoded(self, block: Batch, encoding: Encoding | None = None) -> Batch:
        """Return the rows of a block as an encoding has them, by default that of the files."""
        encoding = encoding or self.encoding
        table = None if encoding is None else encoding.table
        rows = block if table is None else encoded_block(block, table, self._features)
        return rows if encoding is None else encoding.expand(rows)

    def _svmlight(self) -> Iterator[Batch]:
        n_features = 0
        for name in ("weight", "group", "label_separator"):
            if getattr(self.columns, name) is not None:
                raise InputError(_no_columns(name))
        layout, most = self.files.layout, max(MOST_INDEX, self.files.n_bytes or 0)
        most = most if layout.max_index is None else layout.max_index
        for batch in self.files.svmlight(Classes(), layout.zero_based, most):
            if self.files.decisions is None:
                self.files.decide(Decisions("svmlight", zero_based=batch.zero_based))
                values = batch.label_values()
                if values.dtype.kind in "if":
                    whole, n_values = bool((values == np.floor(values)).all()), len(batch.classes)
                    check_quantity(batch.file, n_values, len(values), whole=whole)
            n_features = max(n_features, batch.n_features)
            self.encoding = SvmlightEncoding(zero_based=batch.zero_based, n_features=n_features)
            yield batch

    def with_columns(self, **settings: Any) -> "TrainingFiles":
        """Return files that are read with other settings of columns, from the same first rows."""
        columns = replace(self.columns, **settings)
        found = TrainingFiles(self.files, columns, self.validation, self._left_out)
        begun = self._begun and self._begun.judged(found.columns)
        found._begun = begun and begun.without(self._left_out)  # ours
        return found

    def without(self, names: Iterable[str], reason: str) -> "TrainingFiles":
        """Return files that are read without some columns, from the same first rows."""
        left_out = self._left_out | dict.fromkeys(names, reason)
        found = TrainingFiles(self.files, self.columns, self.validation, left_out)
        found._begun = self._begun and self._begun.without(left_out)  # ours
        return found

    @property
    def begun(self) -> "Beginning | None":
        """The first rows of tables, with which the next reading begins; None of svmlight."""
        if self._begun is not None or self.files.format is Format.SVMLIGHT:
            return self._begun
        tables, bad = self.files.tables(said=self.columns.names()), list[BadRow]()
        for table in tables:
            bad += table.bad
            if table.frame.height:
                first = table._replace(bad=tuple(bad))
                lenient = self.files.bad_rows.skip
                begun = Beginning.of_tables(first, tables, self.columns, lenient=lenient)
                self._begun = begun.without(self._left_out)
                break
        return self._begun

    def _tables(self) -> Iterator[Batch]:
        begun, self._begun = self.begun, None
        if begun is None:
            return
        first, fit = begun.first, begun.fit
        self._fit, self._sampler = fit, RowSampler()
        self.files.decide(Decisions.on_table(self.files.format, first, fit))
        suspects, classes = LabelledSample(fit.columns), self.files.read_by(Classes())
        use = RowUse(learn=True, bad_rows=self.files.bad_rows, seen=self._sampler)
        tables, lengths = suspects.passing(begun.tables()), Lengths()
        if fit.sliceable:
            tables = _text_slices(fit.parser, tables, lengths)
        with closing(_prepared_ahead(fit.parser, tables, use)) as parts:
            batches = (fit.parse(table, classes, use) for table in parts)
            yield from _whole(batches, lengths) if fit.sliceable else batches
        fit.close()
        self.files.tell(merged_notes(deciding_columns(suspects.frames(), fit.columns)))


def _no_columns(parameter: str) -> Sentence:
    return Sentence(f"{Parameter(parameter)} needs named columns; svmlight files have none.")


def _prepared_ahead(
    parser: TableParser, tables: Generator[Table, None, None], use: RowUse
) -> Generator[Table, None, None]:
    return in_order(partial(parser.prepare, use=use), tables, os.cpu_count() or 1)


def _text_slices(
    parser: TableParser, tables: Generator[Table, None, None], lengths: Lengths
) -> Generator[Table, None, None]:
    """Yield tables of texts in slices, whose terms take little memory; add how many a table has."""
    for table in tables:
        n_rows, n_slices = max(table.frame.height, 1), 1
        if parser.texts:
            most = SLICE_BYTES // parser.settings.n_lengths
            n_slices = max(1, min(n_rows, int(table.frame.estimated_size()) // most))
        slices = [*in_slices(table, most_rows=-(-n_rows // n_slices))] or [table]
        lengths.append(len(slices))
        yield from slices


def _whole(batches: Iterable[Batch], lengths: Lengths) -> Iterator[Batch]:
    """Yield the slices of each table as one batch: rows to learn from depend on what came so."""
    slices = list[Batch]()
    for batch in batches:
        slices.append(batch)
        if len(slices) == lengths[0]:
            yield _joined_slices(slices)
            slices = []
            lengths.popleft()


def _joined_slices(slices: Sequence[Batch]) -> Batch:
    if len(slices) == 1:
        return slices[0]
    before = np.cumsum([0, *(one.n_rows for one in slices)]).tolist()
    bad = tuple(
        row._replace(before=row.before + n)
        for one, n in zip(slices, before, strict=False)
        for row in one.bad
    )
    return join(slices)._replace(bad=bad)


def encoded(
    files: Files,
    encoding: Encoding,
    labels: Sequence[Label],
    *,
    need_labels: bool = False,
    learn: bool = False,
    keep: Sequence[str] = (),
) -> Iterator[Batch]:
    """Yield rows encoded as a model was trained; its classes have the first numbers.

    With ``need_labels`` there must be a column of labels, with ``learn`` every row must have one.
    Columns of tables that are to be kept come along as they are, in ``Batch.kept``.
    """
    table, inner = encoding.table, encoding.inner
    need_labels = need_labels or learn
    counts = None if table is None else table.new_counts()
    seen = None
    if table is not None and table.seen is not None and need_labels:
        seen = SeenCounter(table.seen, table.salt)
    use = RowUse(learn=learn, bad_rows=files.bad_rows, counts=counts, seen=seen)
    batches = _batches(files, inner, Classes(labels), use, need_labels=need_labels, keep=keep)
    for batch in _familiar(files.with_row_counts(batches), inner, files, use):
        yield from encoding.expanded(batch)


def _familiar(
    batches: Iterable[Batch], encoding: SvmlightEncoding | TableEncoding, files: Files, use: RowUse
) -> Iterator[Batch]:
    """Yield batches; at the end note whether they look like those that the model was trained on."""
    n_features = encoding.n_features
    n_rows = n_strange = 0
    lowest, highest = n_features, -1
    counts_from_zero = isinstance(encoding, SvmlightEncoding) and encoding.zero_based
    for batch in batches:
        ends = batch.indptr
        if batch.n_features > n_features:
            ends = running_sums(batch.indices < n_features)[ends]
        n_strange += int(np.count_nonzero(ends[1:] == ends[:-1]))
        n_rows += batch.n_rows
        if counts_from_zero:
            lowest = min(lowest, int(batch.indices.min(initial=n_features)))
            highest = max(highest, int(batch.indices.max(initial=-1)))
        yield batch
    if lowest == 1 and highest == n_features:
        files.notes.append(
            Sentence(
                f"The features of these rows are 1 to {highest:,}, those of the model 0 to "
                f"{highest - 1:,}: if the files count from 1, use "
                f"{Parameter('zero_based', value=False)}."
            )
        )
    remarks: list[str | None] = []
    if isinstance(encoding, TableEncoding) and use.counts is not None:
        remarks += encoding.remarks(use.counts, at_once=files.prompt) + encoding.spelling_notes()
        remarks += [use.seen.remark()] if isinstance(use.seen, SeenCounter) else []
    noted = [remark for remark in remarks if remark is not None]
    files.tell(noted or [note for note in [unfamiliar(n_strange, n_rows)] if note])


def _batches(
    files: Files,
    encoding: SvmlightEncoding | TableEncoding | TableParser,
    classes: Classes,
    use: RowUse,
    *,
    need_labels: bool = True,
    keep: Sequence[str] = (),
) -> Iterator[Batch]:
    """Yield the rows of files as a model or a parser knows them: of a parser they are blocks."""
    if keep and files.format is Format.SVMLIGHT:
        raise InputError(_no_columns("keep"))
    if isinstance(encoding, SvmlightEncoding):
        if files.format is not Format.SVMLIGHT:
            raise InputError(
                f"{files.names[0]} is {files.format}, but the model was trained on svmlight:"
                f" convert the file, or name its format with {Parameter('format')}."
            )
        stated = files.layout.zero_based
        zero_based = encoding.zero_based if stated is None else stated
        files.decide(files.decisions or Decisions("svmlight", zero_based=zero_based))
        yield from files.svmlight(classes, zero_based)
        return
    if files.format is Format.SVMLIGHT:
        raise InputError(
            f"{files.names[0]} is svmlight, but the model was trained on columns"
            f" ({', '.join(repr(column.name) for column in encoding.columns)}): if the file has"
            f" them, name its format with {Parameter('format')}."
        )
    names = [column.name for column in encoding.columns]
    needed = {"label", "weight"} if use.learn else {"label"} if need_labels else set()
    optional = [c.name for c in encoding.columns if not c.required and c.role not in needed]
    names += [name for name in dict.fromkeys(keep) if name not in names]
    tables = files.tables(names, optional)
    files.read_by(classes)
    parser = encoding.parser if isinstance(encoding, TableEncoding) else encoding
    lengths = Lengths()

    def batch_of(table: Table) -> Batch:
        if isinstance(encoding, TableParser):
            return parser.parse(table, classes, use)
        if files.decisions is None:  # training did not say how they are read
            files.decide(Decisions.on_table(files.format, table, encoding, AS_TRAINED))
        kept = {name: table.frame[name].to_list() for name in keep} if keep else None
        return encoding.encode(table, classes, use)._replace(kept=kept)

    with closing(_prepared_ahead(parser, _text_slices(parser, tables, lengths), use)) as parts:
        slices = map(batch_of, parts)
        yield from _whole(slices, lengths) if use.learn else slices

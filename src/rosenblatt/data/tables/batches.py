"""Files of any tabular format as tables."""

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from typing import TypeVar

import numpy as np

from rosenblatt.data.batch import BadRow, BadRows, refuse_unless_skipped
from rosenblatt.data.formats import Format, Layout, detect_format
from rosenblatt.data.labels import shown
from rosenblatt.data.polars import pl
from rosenblatt.data.sources import LONGEST_LINE, Source, TextBlock, head_of, name_of, text_lines
from rosenblatt.data.tables.columnar import columnar_tables
from rosenblatt.data.tables.heading import SeparatedOptions, laid_out
from rosenblatt.data.tables.separated import SeparatedParser, not_utf_8
from rosenblatt.data.tables.table import (
    Selection,
    Table,
    choose,
    choose_unnamed,
    chosen_columns,
    in_slices,
    require_library,
    wanted_columns,
)
from rosenblatt.data.threads import in_order
from rosenblatt.errors import InputError

Item = TypeVar("Item")
Blocks = Generator[TextBlock, None, None]

BLOCK_BYTES = 4 << 20  # of text; each call of polars costs about half a millisecond
LONGEST_FIELD = 1 << 20  # bytes between quotes, where bad rows are skipped
MARK = "__label__"
COLUMNS = ("label", "text")


def table_batches(
    source: Source,
    layout: Layout | None = None,
    *,
    names: Sequence[str] | None = None,
    optional: Collection[str] = (),
    bad_rows: BadRows | None = None,
    block_bytes: int = BLOCK_BYTES,
    prompt: bool = False,
) -> Iterator[Table]:
    """Yield the rows of a file in tables; memory is bounded by the size of a few blocks.

    ``names`` are the columns of the tables, in this order, by default all as they come; a file may
    lack the ``optional`` ones. Bad rows are an error, or stand in ``Table.bad`` if ``bad_rows``
    skips them. Text is read in blocks of about ``block_bytes`` in a thread of its own, with
    ``prompt`` as soon as a line arrives; Parquet by row groups, Arrow by record batches. A file
    without rows yields nothing. An InputError names file and line; nothing of its block is yielded.
    """
    layout, file = layout or Layout(), name_of(source)
    if block_bytes < 1:
        msg = f"block_bytes must be at least 1; got {block_bytes}."
        raise InputError(msg)
    require_library(file)
    kind = layout.format or detect_format(source, encoding=layout.encoding, prompt=prompt)
    wanted = wanted_columns(names, optional)
    if kind in (Format.PARQUET, Format.ARROW):
        return columnar_tables(source, kind, wanted)
    if kind == Format.SVMLIGHT:
        msg = f"{file} is svmlight text, which has no columns; read it by svmlight_batches."
        raise InputError(msg)
    blocks = text_lines(source, block_bytes, layout.encoding, layout.encoding_errors, prompt=prompt)
    if kind == Format.JSON_LINES:
        require_library(file, "msgspec")
        from rosenblatt.data.tables.json_lines import JsonLinesParser, is_document, object_lines

        rows = is_document(head_of(source, layout.encoding, prompt=prompt)[0])
        parser = JsonLinesParser(file, wanted, bad_rows, prompt=prompt, rows=rows)
        return _ahead(parser.parse, object_lines(blocks, file) if rows else blocks)
    if kind == Format.FASTTEXT:
        return _ahead(FastTextParser(file, wanted, bad_rows).parse, blocks)
    is_tsv = kind == Format.TSV
    separator = "\t" if is_tsv and layout.separator is None else layout.separator
    quoting = True if layout.quoting is None and not is_tsv else layout.quoting
    asked = SeparatedOptions(separator, quoting, layout.header, wanted, layout.names)
    longest = LONGEST_FIELD if bad_rows is not None and bad_rows.skip else LONGEST_LINE
    found = laid_out(blocks, asked, file, prompt=prompt, longest_field=longest)
    return _ahead(SeparatedParser(file, bad_rows).parse, found)


def _ahead(
    parse: Callable[[Item], list[Table]], items: Generator[Item, None, None]
) -> Iterator[Table]:
    """Yield the tables of successive blocks, parsed in one thread, as parsers count rows."""
    parts = in_order(parse, items, 1)
    try:
        for tables in parts:
            yield from tables
    finally:
        parts.close()


class FastTextParser:
    """Makes tables of successive blocks: the columns ``label`` and ``text``."""

    def __init__(self, file: str, wanted: Selection | None, bad: BadRows | None) -> None:
        self._file = file
        self._bad = bad
        known = wanted is None or set(wanted.required) <= set(COLUMNS)
        self._choice = choose(COLUMNS, wanted, file) if known else choose_unnamed(2, wanted, file)
        self._line = 1
        self._row = 1

    def parse(self, block: TextBlock) -> list[Table]:
        """Return the rows of the next block; raise InputError with the line of what is wrong."""
        labels: list[str | None] = []
        texts: list[str | None] = []
        lines, bad = [], []
        for line in block.tobytes().split(b"\n")[:-1]:
            if line.strip():
                try:
                    label, text = _label_and_text(line)
                except ValueError as error:
                    place = f"{self._file}, line {self._line}"
                    bad.append(BadRow(len(labels), place, error.args[0]))
                    refuse_unless_skipped(bad[-1], self._bad)
                else:
                    labels.append(label)
                    texts.append(text)
                    lines.append(self._line)
            self._line += 1
        frame = pl.DataFrame({"0": labels, "1": texts}, {"0": pl.String, "1": pl.String})
        frame = chosen_columns(frame, self._choice)
        places = np.array(lines, np.int64)
        table = Table(frame, self._file, self._row, places, block.bytes_read, bad=tuple(bad))
        self._row += frame.height
        return list(in_slices(table))


def _label_and_text(line: bytes) -> tuple[str | None, str | None]:
    try:
        words = line.decode().replace("\0", " ").split()
    except UnicodeDecodeError:
        raise ValueError(not_utf_8(line)) from None
    labels = [word for word in words if word.startswith(MARK)]
    if len(labels) > 1:
        msg = f"the labels {labels[0]} and {labels[1]}, where one was expected"
        raise ValueError(msg)
    if labels and words[0] != labels[0]:
        msg = f"expected {MARK} and a name first, found {shown(words[0].encode())}"
        raise ValueError(msg)
    text = " ".join(words[len(labels) :])
    return (labels[0].removeprefix(MARK) or None) if labels else None, text or None

"""Files of any tabular format as tables."""

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from typing import TypeVar

from rosenblatt.data.bad_rows import BadRows
from rosenblatt.data.formats import Format, Layout, detect_format
from rosenblatt.data.lines import LONGEST_LINE, TextBlock, head_of, text_lines
from rosenblatt.data.sources import Source, name_of
from rosenblatt.data.tables.columnar import columnar_tables
from rosenblatt.data.tables.fasttext import FastTextParser
from rosenblatt.data.tables.heading import SeparatedOptions, laid_out
from rosenblatt.data.tables.separated import SeparatedParser
from rosenblatt.data.tables.table import Table, require_library, wanted_columns
from rosenblatt.data.threads import in_order
from rosenblatt.errors import InputError

Item = TypeVar("Item")
Blocks = Generator[TextBlock, None, None]

BLOCK_BYTES = 4 << 20  # of text; each call of polars costs about half a millisecond
LONGEST_FIELD = 1 << 20  # bytes between quotes, where bad rows are skipped


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

"""Files of any tabular format as tables."""

import re
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from typing import TypeVar

from rosenblatt.data.formats import Format, detect_format
from rosenblatt.data.lines import TextBlock, whole_lines
from rosenblatt.data.sources import Source, name_of, opened
from rosenblatt.data.tables.fields import WholeRows
from rosenblatt.data.tables.heading import Heading, SeparatedOptions, laid_out
from rosenblatt.data.tables.table import Selection, Table, require_polars, wanted_columns
from rosenblatt.data.threads import in_order
from rosenblatt.errors import InputError

Item = TypeVar("Item")

SEPARATOR = re.compile(r"[\t !#-~]")  # no quote
BLOCK_BYTES = 4 << 20  # of text; each call of polars costs about half a millisecond


def table_batches(
    source: Source,
    *,
    format: Format | str | None = None,  # noqa: A002  # the word that people know for it
    separator: str | None = None,
    quoting: bool | None = None,
    header: bool | None = None,
    names: Sequence[str] | None = None,
    optional: Collection[str] = (),
    block_bytes: int = BLOCK_BYTES,
    prompt: bool = False,
) -> Iterator[Table]:
    """Yield the rows of a file in tables; memory is bounded by the size of a few blocks.

    Text is read in blocks of about ``block_bytes`` in a thread of its own. Of Parquet the row
    group and of Arrow the record batch is the unit of reading: a few of them are held at a time.
    A file without rows yields nothing.

    Parameters
    ----------
    source : str or path
        A file, packed with gzip or Zstandard or not; ``"-"`` is standard input.
    format : Format or its name, optional
        By default told by ``detect_format``.
    separator : str, optional
        Of CSV, one character; by default , ; | or a tab, whichever parts the first rows into
        equally many fields. Of TSV it is the tab.
    quoting : bool, optional
        Whether double quotes enclose fields; by default in CSV and not in TSV, where they are
        ordinary characters.
    header : bool, optional
        Whether the first row of CSV or TSV names the columns; by default the first rows decide (see
        ``heading.has_header``). Without a header columns are called column_1, column_2, …
    names : sequence of str, optional
        The columns that the tables are to have, in this order; others are dropped. By default all
        of them as they come.
    optional : collection of str
        Which of these names a file may lack; they are then missing in the tables.
    block_bytes : int
        About how much text is read at a time.
    prompt : bool
        Yield rows as soon as their lines arrive rather than in full blocks.

    Raises
    ------
    InputError
        With file and line, where rows cannot be read as they stand; nothing of their block is
        yielded.
    """
    file = name_of(source)
    if block_bytes < 1:
        msg = f"block_bytes must be at least 1; got {block_bytes}."
        raise InputError(msg)
    if separator is not None and not SEPARATOR.fullmatch(separator):
        msg = (
            f"separator must be a tab or a printable ASCII character, no quote; got {separator!r}."
        )
        raise InputError(msg)
    require_polars(file)
    kind = detect_format(source, prompt=prompt) if format is None else _format(format)
    wanted = wanted_columns(names, optional)
    if kind in (Format.PARQUET, Format.ARROW):
        from rosenblatt.data.tables.columnar import columnar_tables

        return columnar_tables(source, kind, wanted)
    if kind == Format.JSON_LINES:
        return _json_tables(source, wanted, block_bytes, prompt=prompt)
    if kind == Format.SVMLIGHT:
        msg = f"{file} is svmlight text, which has no columns; read it by svmlight_batches."
        raise InputError(msg)
    is_tsv = kind == Format.TSV
    if separator is None and is_tsv:
        separator = "\t"
    if quoting is None:
        quoting = not is_tsv
    asked = SeparatedOptions(separator, quoting, header, wanted)
    return _separated_tables(source, asked, block_bytes, prompt=prompt)


def _format(name: Format | str) -> Format:
    try:
        return Format(name)
    except ValueError:
        known = ", ".join(Format)
        msg = f"format must be one of {known}; got {name!r}."
        raise InputError(msg) from None


def _separated_tables(
    source: Source, asked: SeparatedOptions, size: int, *, prompt: bool
) -> Iterator[Table]:
    from rosenblatt.data.tables.separated import SeparatedParser

    file = name_of(source)

    def blocks() -> Generator[tuple[Heading, WholeRows], None, None]:
        with opened(source) as stream:
            yield from laid_out(
                whole_lines(stream, size, prompt=prompt), asked, file, prompt=prompt
            )

    yield from _ahead(SeparatedParser(file).parse, blocks())


def _json_tables(
    source: Source, wanted: Selection | None, size: int, *, prompt: bool
) -> Iterator[Table]:
    from rosenblatt.data.tables.json_lines import JsonLinesParser

    def blocks() -> Generator[TextBlock, None, None]:
        with opened(source) as stream:
            yield from whole_lines(stream, size, prompt=prompt)

    yield from _ahead(JsonLinesParser(name_of(source), wanted, prompt=prompt).parse, blocks())


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

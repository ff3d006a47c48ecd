"""ARFF, the format of Weka, as tables: named and typed columns above comma-separated rows."""

import csv
import io
import re
from collections.abc import Generator, Iterator
from typing import NamedTuple

import polars as pl

from rosenblatt.data.bad_rows import BadRows
from rosenblatt.data.lines import TextBlock
from rosenblatt.data.tables.fields import Dialect, row_block
from rosenblatt.data.tables.heading import Heading
from rosenblatt.data.tables.separated import SeparatedParser
from rosenblatt.data.tables.table import Selection, Table, choose
from rosenblatt.errors import InputError

ATTRIBUTE = re.compile(
    r"@attribute\s+(?P<name>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\S+)\s+(?P<kind>\{.*|\S.*)",
    re.IGNORECASE,
)
NUMBERS = ("numeric", "real", "integer")


class _Attributes(NamedTuple):
    """The columns that a file declares."""

    names: list[str]
    kinds: list[str]  # in lower case; "{" for a list of values


def arff_tables(
    blocks: Generator[TextBlock, None, None],
    file: str,
    wanted: Selection | None,
    bad: BadRows | None,
) -> Iterator[Table]:
    """Yield the rows of a file; a column with a list of values is one of categories."""
    parser, attributes, heading = SeparatedParser(file, bad), _Attributes([], []), None
    declared = 0  # lines
    for block in blocks:
        lines = block.text[: block.length].tobytes().replace(b"\0", b" ").split(b"\n")[:-1]
        n_heading = 0
        if heading is None:
            n_heading = _declare(lines, attributes, file, declared)
            declared += n_heading
            if n_heading == len(lines):
                parser.parse_nothing(n_heading)
                continue
            choice = choose(attributes.names, wanted, file)
            dialect = Dialect(",", quoting=True)
            heading = Heading(dialect, len(attributes.names), header=True, choice=choice)
        text = b"\n" * n_heading + _separated(lines[n_heading:], file)
        rows = row_block(text, heading.dialect, block.bytes_read)
        kinds = {attributes.names[k]: attributes.kinds[k] for k in heading.choice.numbers}
        for table in parser.parse((heading, rows)):
            yield table._replace(frame=_typed(table.frame, kinds))


def _declare(lines: list[bytes], attributes: _Attributes, file: str, before: int) -> int:
    """Add the columns that the lines declare; return how many lines stand before the rows."""
    for number, line in enumerate(lines):
        text = line.decode("utf-8", "replace").strip()
        if text.lower().startswith("@data"):
            if attributes.names:
                return number + 1
            msg = f"{file}, line {before + number + 1}: @data, but no @attribute before it."
            raise InputError(msg)
        if text.lower().startswith("@attribute"):
            match = ATTRIBUTE.fullmatch(text)
            if match is None:
                msg = f"{file}, line {before + number + 1}: an @attribute has no name or no type."
                raise InputError(msg)
            attributes.names.append(match["name"].strip("'\""))
            kind = match["kind"].split()[0].lower()
            attributes.kinds.append("{" if kind.startswith("{") else kind)
    return len(lines)


def _separated(lines: list[bytes], file: str) -> bytes:
    """Return rows as CSV: without comments, and with double quotes in the place of single ones."""
    text = []
    for line in lines:
        bare = line.strip()
        if bare.startswith(b"{"):
            msg = f"{file} is sparse ARFF, which is not read; write it as svmlight or dense ARFF."
            raise InputError(msg)
        if bare.startswith(b"%"):
            text.append(b"")
        elif b"'" in bare or b"\\" in bare:
            written = io.StringIO()
            fields = csv.reader(
                [bare.decode("utf-8", "surrogateescape")],
                quotechar="'",
                escapechar="\\",
                skipinitialspace=True,
            )
            csv.writer(written, lineterminator="").writerows(fields)
            text.append(written.getvalue().encode("utf-8", "surrogateescape"))
        else:
            text.append(bare)
    return b"".join(line + b"\n" for line in text)


def _typed(frame: pl.DataFrame, kinds: dict[str, str]) -> pl.DataFrame:
    """Return columns with their types; a number that is none stays for whoever says what it is."""
    columns = {}
    for name, kind in kinds.items():
        series = frame[name].replace("?", None)
        if kind == "{":
            series = series.cast(pl.Categorical)
        elif kind in NUMBERS:
            numbers = series.cast(pl.Float64, strict=False)
            series = numbers if numbers.null_count() == series.null_count() else series
        columns[name] = series
    return pl.DataFrame(columns) if columns else pl.DataFrame(height=frame.height)

"""Which format a file has, told by its first bytes, its name or its first lines."""

import os
import re
from enum import StrEnum
from pathlib import PurePath

from rosenblatt.data.lines import BYTE_ORDER_MARK
from rosenblatt.data.sources import Source, name_of, peek
from rosenblatt.errors import InputError

PACKINGS = (".gz", ".zst", ".zstd")

FEATHER_1 = b"FEA1"
SVMLIGHT_LINE = re.compile(
    rb"[ \t]*[^\s:#,]+(?:[ \t]+qid:[0-9]+)?(?P<entries>(?:[ \t]+[0-9]+:[^\s:,]+)*)\s*(?:#.*)?"
)
SAMPLE_LINES = 100


class Format(StrEnum):
    """The formats that can be read."""

    SVMLIGHT = "svmlight"
    CSV = "csv"
    TSV = "tsv"
    JSON_LINES = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"  # IPC: file (Feather version 2) or stream


SUFFIXES = {
    ".svm": Format.SVMLIGHT,
    ".svmlight": Format.SVMLIGHT,
    ".libsvm": Format.SVMLIGHT,
    ".csv": Format.CSV,
    ".tsv": Format.TSV,
    ".tab": Format.TSV,
    ".jsonl": Format.JSON_LINES,
    ".ndjson": Format.JSON_LINES,
    ".jsonlines": Format.JSON_LINES,
    ".json": Format.JSON_LINES,
    ".parquet": Format.PARQUET,
    ".arrow": Format.ARROW,
    ".arrows": Format.ARROW,
    ".feather": Format.ARROW,
    ".ipc": Format.ARROW,
}  # .txt says nothing: the lines tell

# Files begin with a mark; a stream of Arrow with the length of its first message behind one.
MARKS = {
    b"PAR1": Format.PARQUET,
    b"ARROW1": Format.ARROW,
    b"\xff\xff\xff\xff": Format.ARROW,
}


def detect_format(source: Source, *, prompt: bool = False) -> Format:
    """Return the format of a file, or of standard input, of which no byte is lost by that.

    The first bytes decide for Parquet and Arrow, else the suffix of the name (in front of .gz or
    .zst), else the first lines: an opening brace makes JSON lines, ``label feature:value …``
    svmlight, as many tabs in every line TSV, and everything else is CSV. With ``prompt`` one line
    is enough to decide, and none of the following is waited for.
    """
    head = peek(source, prompt=prompt).removeprefix(BYTE_ORDER_MARK)
    if head.startswith(FEATHER_1):
        msg = f"{name_of(source)} is Feather version 1; write it again as version 2 (Arrow IPC)."
        raise InputError(msg)
    for mark, kind in MARKS.items():
        if head.startswith(mark):
            return kind
    kind_by_name = SUFFIXES.get(_suffix(source))
    return _by_lines(head) if kind_by_name is None else kind_by_name


def _suffix(source: Source) -> str:
    if source == "-":
        return ""
    path = PurePath(os.fspath(source).lower())
    return PurePath(path.stem).suffix if path.suffix in PACKINGS else path.suffix


def _by_lines(head: bytes) -> Format:
    if head.lstrip().startswith(b"{"):
        return Format.JSON_LINES
    lines = head.split(b"\n")
    if len(lines) > 1:
        lines.pop()  # it may be cut off
    sample = [line for line in lines if line.strip(b" \r")][:SAMPLE_LINES]
    matches = [SVMLIGHT_LINE.fullmatch(line) for line in sample if not line.startswith(b"#")]
    if all(matches) and any(match and match["entries"] for match in matches):
        return Format.SVMLIGHT
    n_tabs = {line.count(b"\t") for line in sample}
    return Format.TSV if len(n_tabs) == 1 and n_tabs != {0} else Format.CSV

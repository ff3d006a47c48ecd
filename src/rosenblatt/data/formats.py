"""Formats of files, told by the first bytes, the name or the first lines; and what a user says."""

import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath

from rosenblatt.data.sources import (
    BYTE_ORDER_MARK,
    PEEKED_BYTES,
    Source,
    check_encoding,
    head_of,
    name_of,
    peek,
    zip_member,
)
from rosenblatt.errors import InputError, Parameter
from rosenblatt.parameters import DEFAULTS, check_setting

PACKINGS = (".gz", ".bz2", ".xz", ".zst", ".zstd", ".zip")

SVMLIGHT_LINE = re.compile(
    rb"[ \t]*[^\s:#,]+(?:[ \t]+qid:[0-9]+)?(?P<entries>(?:[ \t]+[0-9]+:[^\s:,]+)*)\s*(?:#.*)?"
)
FASTTEXT_LINE = re.compile(rb"\s*__label__\S.*")
VOWPAL_WABBIT_LINE = re.compile(
    rb"[-+]?[0-9.]+(?: [-+0-9.]+){0,2}(?: '?[^\s|,]+)? ?\|(?: |[^\s|,]+ ).*"
)
ARFF_LINE = re.compile(rb"(?:\s*(?:%[^\n]*)?\n)*+\s*@(?:relation|attribute)\b", re.IGNORECASE)
JSON_START = re.compile(rb"\s*(?:\{|\[\s*\{)")
CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")  # characters that text has none of
MANY_CONTROLS = 0.02  # of the bytes
SAMPLE_LINES = 100
SEPARATOR = re.compile(r"[\t !#-~]")  # no quote


class Format(StrEnum):
    """The formats that can be read."""

    SVMLIGHT = "svmlight"
    CSV = "csv"
    TSV = "tsv"
    JSON_LINES = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"  # IPC file (Feather version 2)
    FASTTEXT = "fasttext"
    ARFF = "arff"  # of Weka and OpenML
    NUMPY = "npy"  # an array, with labels beside it


@dataclass(frozen=True)
class Layout:
    """How files are laid out, None where the first rows tell, and what to do about faults."""

    format: Format | None = DEFAULTS["format"]
    separator: str | None = DEFAULTS["separator"]
    header: bool | None = DEFAULTS["header"]
    zero_based: bool | None = DEFAULTS["zero_based"]
    quoting: bool | None = DEFAULTS["quoting"]
    names: tuple[str, ...] = DEFAULTS["names"]
    encoding: str = DEFAULTS["encoding"]
    encoding_errors: str = DEFAULTS["encoding_errors"]
    bad_rows: str = DEFAULTS["bad_rows"]
    max_bad_share: float = DEFAULTS["max_bad_share"]
    max_index: int | None = DEFAULTS["max_index"]

    def __post_init__(self) -> None:
        if self.format is not None:
            if self.format not in {*Format}:
                raise InputError(f"format must be one of {', '.join(Format)}; got {self.format!r}.")
            object.__setattr__(self, "format", Format(self.format))
        if self.separator is not None and not SEPARATOR.fullmatch(self.separator):
            raise InputError(
                "separator must be a tab or a printable ASCII character, no quote; got"
                f" {self.separator!r}."
            )
        check_encoding(self.encoding, self.encoding_errors)
        check_setting("bad_rows", self.bad_rows)
        if not 0.0 <= self.max_bad_share <= 1.0:
            raise InputError(f"max_bad_share must be from 0 to 1; got {self.max_bad_share!r}.")


KINDS = {
    Format.SVMLIGHT: "svm svmlight libsvm",
    Format.CSV: "csv",
    Format.TSV: "tsv tab",
    Format.JSON_LINES: "jsonl ndjson jsonlines json",
    Format.PARQUET: "parquet",
    Format.ARROW: "arrow arrows feather ipc",
    Format.ARFF: "arff",
    Format.NUMPY: "npy",
}  # .txt says nothing: the lines tell
SUFFIXES = {f".{suffix}": kind for kind, names in KINDS.items() for suffix in names.split()}

# The last begins a stream of Arrow messages, which the reader of Arrow files refuses.
MARKS = {
    b"PAR1": Format.PARQUET,
    b"ARROW1": Format.ARROW,
    b"\xff\xff\xff\xff": Format.ARROW,
    b"\x93NUMPY": Format.NUMPY,
}


# What people hand over now and then, by its first bytes, and what to do with it.
PICTURE = "a picture; write its features as CSV, a row for each picture"
PICKLE = "a pickle, which is never loaded; write it as Parquet or CSV"
UNREADABLE = {
    rb"PK\x03\x04": "a zip archive; unpack it first",  # from a pipe
    rb"PK\x05\x06": "an empty zip archive; name a file with data",
    rb"7z\xbc\xaf|Rar!|.{257}ustar": "an archive; unpack it and name a file",
    rb"\xd0\xcf\x11\xe0": "a spreadsheet; save it as CSV",
    rb"\x89HDF": "HDF5; write it as Parquet or CSV",
    rb"SQLite format 3": "a database; write a table of it as CSV",
    rb"\x80[\x02-\x05][\x95}\]cX(K]": PICKLE,
    rb"RD[AX][23]\n|X\n\0\0\0": "data of R; write them with write.csv",
    rb"\$FL2|<stata_dta>|[\x71-\x77][\x01\x02]\x01\0": "data of SPSS or Stata; save them as CSV",
    rb"%PDF": "a PDF document; write its table as CSV",
    rb"\x89PNG|\xff\xd8\xff|GIF8[79]a|II\*\0|MM\0\*|RIFF.{4}WEBP|BM.{4}\0\0\0\0": PICTURE,
    rb"(?i)\s*<(?:!doctype html|html)": "a web page; download the data themselves",
    rb"\s*<\?xml": "XML; write its table as CSV",
    rb"FEA1": "Feather version 1; write it again as version 2 (Arrow IPC)",
    rb'.{8}\{"__metadata__":\{"format":"rosenblatt"': "a rosenblatt model, not data; name it before"
    " the data in predict or evaluate",
    rb'.{6}\0\0\{"': "a file of tensors; write a table as CSV or Parquet",
    rb"\x7fELF|MZ.{58}": "a program, not data",
}


def detect_format(source: Source, *, encoding: str = "utf-8", prompt: bool = False) -> Format:
    """Return the format of a file, or of standard input, of which no byte is lost by that.

    The first bytes decide for Parquet, Arrow and ARFF, else the suffix of the name, else the first
    lines, of which with ``prompt`` one is enough.
    """
    head = peek(source, prompt=prompt)
    for mark, kind in MARKS.items():
        if head.startswith(mark):
            return kind
    for mark, what in UNREADABLE.items():
        if re.match(mark, head.removeprefix(BYTE_ORDER_MARK), re.DOTALL):
            raise InputError(f"{name_of(source)} is {what}.")
    if len(CONTROL.findall(head)) > MANY_CONTROLS * len(head) and encoding == "utf-8":
        raise InputError(f"{name_of(source)} is not text, and none of the formats that are read.")
    head = head_of(source, encoding, prompt=prompt)[0].removeprefix(BYTE_ORDER_MARK)
    if ARFF_LINE.match(head):
        return Format.ARFF
    kind_by_name = SUFFIXES.get(_suffix(source))
    return _by_lines(head, name_of(source)) if kind_by_name is None else kind_by_name


def _suffix(source: Source) -> str:
    if source == "-":
        return ""
    member = zip_member(source)
    path = PurePath((os.fspath(source) if member is None else member.filename).lower())
    return PurePath(path.stem).suffix if path.suffix in PACKINGS else path.suffix


def _by_lines(head: bytes, file: str) -> Format:
    if JSON_START.match(head):
        return Format.JSON_LINES
    if b"\n" not in head:
        head = head.replace(b"\r", b"\n")
    lines = head.split(b"\n")
    if len(lines) > 1:
        lines.pop()  # it may be cut off
    elif len(head) >= PEEKED_BYTES:
        lines[0] = lines[0].rpartition(b" ")[0]
    sample = [line for line in lines if line.strip(b" \r")][:SAMPLE_LINES]
    if sum(FASTTEXT_LINE.fullmatch(line) is not None for line in sample) > len(sample) / 2:
        return Format.FASTTEXT  # a line may have no label
    matches = [SVMLIGHT_LINE.fullmatch(line) for line in sample if not line.startswith(b"#")]
    if all(matches) and any(match and match["entries"] for match in matches):
        return Format.SVMLIGHT
    # Between bars stand features, with values or several to a part, not the fields of a table
    valued = any(re.search(rb"[^\s|:]:[-+]?[0-9.]+(?:\s|$)", line) for line in sample)
    alone = {line.count(b"|") for line in sample} == {1}
    listed = alone and any(len(line.partition(b"|")[2].split()) > 1 for line in sample)
    if (valued or listed) and all(map(VOWPAL_WABBIT_LINE.fullmatch, sample)):
        raise InputError(
            f"{file} looks like text for Vowpal Wabbit, which is not read; write it as svmlight or"
            f" CSV. If it is something else, name it with {Parameter('format')}."
        )
    n_tabs = {line.count(b"\t") for line in sample}
    return Format.TSV if len(n_tabs) == 1 and n_tabs != {0} else Format.CSV

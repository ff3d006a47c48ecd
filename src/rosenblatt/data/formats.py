"""Formats of files, told by the first bytes, the name or the first lines; and what a user says."""

import json
import os
import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import PurePath

from rosenblatt.data.sources import (
    BYTE_ORDER_MARK,
    PEEKED_BYTES,
    Source,
    check_encoding,
    head_of,
    is_utf_8,
    name_of,
    peek,
    zip_member,
)
from rosenblatt.data.text_encodings import utf_without_mark
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


class SentenceFormat(StrEnum):
    """The formats of sentences whose tokens have tags, which learners of tags read."""

    CONLL = "conll"  # a token a line, in columns; an empty line ends a sentence
    CONLLU = "conllu"  # of Universal Dependencies
    TAGGED = "tagged"  # word/TAG, a sentence a line
    WORDS = "words"  # likewise without tags
    JSON_LINES = "jsonl"  # lists of words and of tags


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

SENTENCE_KINDS = {
    SentenceFormat.CONLL: "conll conll2000 conll2002 conll2003 conll03 iob iob2 bio bioes",
    SentenceFormat.CONLLU: "conllu conllx",
}
SENTENCE_SUFFIXES = {
    f".{suffix}": kind for kind, names in SENTENCE_KINDS.items() for suffix in names.split()
}
UNNAMED = ("", ".txt", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".data", ".train", ".test")
NAMED_WORDS, NAMED_TAGS = ("tokens", "words"), ("tags", "labels", "ner_tags", "pos_tags", "upos")
MOST_LIKE = 0.9  # of lines with the usual number of columns, so that a fault is told by its line
FEWEST_ENDS = 2  # empty lines within a file that tell sentences

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
    head, own = head_of(source, encoding, prompt=prompt)
    if is_utf_8(own):
        check_width(head, name_of(source))
        if len(CONTROL.findall(head)) > MANY_CONTROLS * len(head):
            what = "is not text, and none of the formats that are read"
            raise InputError(f"{name_of(source)} {what}.")
    head = head.removeprefix(BYTE_ORDER_MARK)
    if ARFF_LINE.match(head):
        return Format.ARFF
    if _like_sentences(head, _suffix(source)) is not None:
        raise InputError(
            f"{name_of(source)} holds sentences whose tokens have tags, and rows of a table are "
            f"needed here; if it is a table, name its {Parameter('format')}."
        )
    kind_by_name = SUFFIXES.get(_suffix(source))
    return _by_lines(head, name_of(source)) if kind_by_name is None else kind_by_name


def check_width(head: bytes, file: str) -> None:
    """Raise InputError where the beginning of a file is text of more than 8 bits a character."""
    encoding = utf_without_mark(head) if b"\0" in head else None
    if encoding is not None:
        raise InputError(
            f"{file} looks like text of {encoding[4:6]} bits a character; name its encoding:"
            f" {Parameter('encoding', encoding)}."
        )


def sentence_format(
    source: Source, encoding: str = "utf-8", *, prompt: bool = False
) -> SentenceFormat | None:
    """Return the format of a file of sentences, by its name or first lines; None for others."""
    head = head_of(source, encoding, prompt=prompt)[0].removeprefix(BYTE_ORDER_MARK)
    return _like_sentences(head, _suffix(source))


def _like_sentences(head: bytes, suffix: str) -> SentenceFormat | None:
    named = SENTENCE_SUFFIXES.get(suffix)
    if named is None and suffix not in UNNAMED:
        return None
    lines = head.replace(b"\r\n", b"\n").split(b"\n")
    if len(lines) > 1:
        lines.pop()  # it may be cut off
    full = [line for line in lines if line.strip()]
    if not full or JSON_START.match(head):
        return named or (SentenceFormat.JSON_LINES if full and _has_lists(full[0]) else None)
    body = [line for line in full if not line.startswith((b"#", b"-DOCSTART-"))] or full
    if all(re.match(rb"\d+([-.]\d+)?\t(?:[^\t]*\t){8}[^\t]*$", line) for line in body[:20]):
        return SentenceFormat.CONLLU
    if named is not None:
        return named
    text = [line.decode("utf-8", "replace") for line in body[:20]]
    tokens = [token for line in text for token in divided_tokens(line)]
    in_a_row = len(tokens) >= 2 * len(text) and not FASTTEXT_LINE.match(body[0])
    if in_a_row and b"\t" not in head and all(map(_is_tagged, tokens)):
        return SentenceFormat.TAGGED
    tabs = b"\t" in body[0]
    widths = [line.count(b"\t") + 1 if tabs else len(line.split()) for line in body]
    ends = sum(not one.strip() and bool(two.strip()) for one, two in pairwise(lines))
    alike = widths.count(widths[0]) >= MOST_LIKE * len(widths) and widths[0] > 1
    rows = all(map(SVMLIGHT_LINE.fullmatch, body[:SAMPLE_LINES]))
    return SentenceFormat.CONLL if alike and ends >= FEWEST_ENDS and not rows else None


def _is_tagged(token: tuple[str, ...]) -> bool:
    """Return whether a token is a word with a tag, which is no number."""
    return len(token) > 1 and all(token) and not token[1].isdecimal()


def _has_lists(line: bytes) -> bool:
    """Return whether a line of JSON has words and as many tags."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(row, dict):
        return False
    words = [row[name] for name in NAMED_WORDS if isinstance(row.get(name), list)]
    tags = [row[name] for name in NAMED_TAGS if isinstance(row.get(name), list)]
    return bool(words and tags and words[0]) and len(words[0]) == len(tags[0])


def divided_tokens(line: str) -> list[tuple[str, ...]]:
    """Return the words of a line with their tags, which stand behind their last slashes.

    >>> divided_tokens("1/2/CD cups/NNS")
    [('1/2', 'CD'), ('cups', 'NNS')]
    """
    return [tuple(token.rsplit("/", 1)) for token in line.split()]


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

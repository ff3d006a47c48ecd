"""Sentences from files: CoNLL columns, CoNLL-U, word/TAG lines, lines of words, JSON lines.

A file is read in blocks of whole sentences, and can be written again with a tag for each token.
"""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.formats import (
    NAMED_TAGS,
    NAMED_WORDS,
    SentenceFormat,
    divided_tokens,
    sentence_format,
)
from rosenblatt.data.sequences.words import TokenColumns, columns_of
from rosenblatt.data.sources import Source, head_of, name_of, text_lines
from rosenblatt.errors import InputError, Parameter
from rosenblatt.wording import counted, word_list

BLOCK_BYTES = 4 << 20
CONLLU_COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
DOCUMENT = b"-DOCSTART-"
NEWLINE, TAB, BLANK, RETURN = 10, 9, 32, 13
UNKNOWN = "?"  # the tag of a token that has none yet
OF_LINES = (SentenceFormat.TAGGED, SentenceFormat.WORDS, SentenceFormat.JSON_LINES)


class SentenceBlock(NamedTuple):
    """Sentences of a file: the cells of their tokens, and the lines that they stand on."""

    columns: TokenColumns
    places: NDArray[np.int64]  # line of each token, or of each sentence where a line is one
    lines: list[bytes]  # as they are written
    before: int  # lines of the file before them

    @property
    def n_columns(self) -> int:
        """Number of cells of a token."""
        return len(self.columns.starts)

    def only(self, sentence: int) -> "SentenceBlock":
        """Return one sentence, whose lines nobody asks for."""
        columns = self.columns
        own = slice(int(columns.bounds[sentence]), int(columns.bounds[sentence + 1]))
        ends = np.array([0, own.stop - own.start], np.int64)
        starts, stops = columns.starts[:, own], columns.stops[:, own]
        alone = TokenColumns(columns.text, starts, stops, ends)
        return SentenceBlock(alone, np.empty(0, np.int64), [], 0)

    @property
    def n_sentences(self) -> int:
        """Number of sentences."""
        return len(self.columns.bounds) - 1

    def line_of(self, token: int) -> int:
        """Return the number of the line of a token, counted from 1."""
        if len(self.places) == self.columns.n_tokens:
            return self.before + int(self.places[token]) + 1
        sentence = int(np.searchsorted(self.columns.bounds, token, side="right")) - 1
        return self.before + int(self.places[sentence]) + 1


@dataclass
class SentenceFile:
    """A file of sentences, in whatever form they are written."""

    source: Source
    format: SentenceFormat
    encoding: str = "utf-8"
    encoding_errors: str = "strict"
    prompt: bool = False  # whether sentences are wanted as soon as they arrive
    fields: tuple[str, str] | None = None  # of JSON lines: words and tags
    width: int | None = None  # cells of a token, once one was read
    _tabs: bool = field(default=False, repr=False)

    @classmethod
    def of(
        cls,
        source: Source,
        format_: str | None = None,
        *,
        usual: SentenceFormat = SentenceFormat.CONLL,
        prompt: bool = False,
        **encoding: Any,
    ) -> "SentenceFile":
        """Return a file whose format is given, or told by its content; else it is the usual one."""
        if format_ is None:
            found = sentence_format(source, encoding.get("encoding") or "utf-8", prompt=prompt)
        else:
            found = SentenceFormat(format_)
        return cls(source, found or usual, prompt=prompt, **encoding)

    def of_words_or_tokens(self) -> "SentenceFile":
        """Return the file of lines of words as one of columns, where a line is a token."""
        head = head_of(self.source, self.encoding, prompt=self.prompt)[0]
        lines = [line for line in head.split(b"\n") if line.strip()]
        token = any(b"\t" in line for line in lines) or all(len(x.split()) == 1 for x in lines)
        return replace(self, format=SentenceFormat.CONLL) if token else self

    @property
    def name(self) -> str:
        """What messages call it."""
        return name_of(self.source)

    def blocks(self, block_bytes: int = BLOCK_BYTES) -> Iterator[SentenceBlock]:
        """Yield the sentences in blocks, of which some have empty lines alone."""
        before = 0
        for text in self._texts(block_bytes):
            lines = text.split(b"\n")[:-1]
            block = self._parsed(_normal(text, self.name, before), lines, before)
            before += len(lines)
            yield block

    def _texts(self, block_bytes: int) -> Iterator[bytes]:
        """Yield pieces of the text that end with a sentence."""
        rest = b""
        how = {"encoding": self.encoding, "errors": self.encoding_errors}
        for block in text_lines(self.source, block_bytes, prompt=self.prompt, **how):
            text = rest + block.tobytes()
            cut = len(text)
            if self.format not in OF_LINES:
                cut = max(_behind(text, end) for end in (b"\n\n", b"\n\r\n"))
            rest = text[cut:]
            if cut:
                yield text[:cut]
        if rest:
            yield rest

    def _parsed(self, text: bytes, lines: list[bytes], before: int) -> SentenceBlock:
        if self.format not in OF_LINES:
            columns, places = self._cells(text, before)
            return SentenceBlock(columns, places, lines, before)
        rows: list[list[tuple[str, ...]]] = []
        filled: list[int] = []
        for number, line in enumerate(text.split(b"\n")[:-1]):
            if line.strip():
                rows.append(self._sentence(line.decode(), before + number + 1))
                filled.append(number)
        width = self.width or 1
        columns = columns_of(rows, range(width))
        return SentenceBlock(columns, np.array(filled, np.int64), lines, before)

    def _sentence(self, line: str, number: int) -> list[tuple[str, ...]]:
        """Return the tokens of a line that is a sentence."""
        where = f"{self.name}, line {number}"
        if self.format is SentenceFormat.WORDS:
            tokens: list[tuple[str, ...]] = [(word,) for word in line.split()]
        elif self.format is SentenceFormat.TAGGED:
            tokens = divided_tokens(line)
            odd = next((token for token in tokens if not all(token)), None)
            if odd is not None:
                raise InputError(f"{where}: {'/'.join(odd)[:60]!r} is not a word/TAG.")
        else:
            tokens = self._of_json(line, where)
        self._check_width({len(token) for token in tokens}, where)
        return tokens

    def _check_width(self, widths: set[int], where: str) -> None:
        self.width = self.width or next(iter(widths), None)
        for width in widths - {self.width}:
            raise InputError(
                f"{where}: {counted(width, 'column')}, and the first token has {self.width}."
            )

    def _of_json(self, line: str, where: str) -> list[tuple[str, ...]]:
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{where} is not JSON: {error}.") from None
        if not isinstance(row, dict):
            raise InputError(f"{where}: a sentence must be an object with lists.")
        if self.fields is None:
            words = next((name for name in NAMED_WORDS if isinstance(row.get(name), list)), "")
            tags = next((name for name in NAMED_TAGS if isinstance(row.get(name), list)), "")
            self.fields = words, tags
        words, tags = self.fields
        if not isinstance(row.get(words), list):
            named = word_list(map(repr, NAMED_WORDS), joint=" or ")
            raise InputError(
                f"{where} has no list {words!r}." if words else f"{where}: no {named}."
            )
        tokens = [str(word) for word in row[words]]
        if not tags:
            return [(token,) for token in tokens]
        own = row.get(tags)
        if not isinstance(own, list) or len(own) != len(tokens):
            found = f"{len(own)} {tags}" if isinstance(own, list) else f"no list {tags!r}"
            raise InputError(f"{where}: {counted(len(tokens), 'word')} and {found}.")
        named_tags = [UNKNOWN if tag is None else str(tag) for tag in own]
        return [*zip(tokens, named_tags, strict=True)]

    def _cells(self, text: bytes, before: int) -> tuple[TokenColumns, NDArray[np.int64]]:
        """Return the cells of lines that are tokens, and which lines these are."""
        buffer = np.frombuffer(text, np.uint8)
        conllu = self.format is SentenceFormat.CONLLU
        ends = np.flatnonzero(buffer == NEWLINE)
        starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)
        written = np.concatenate([np.zeros(1, np.int32), np.cumsum(buffer > BLANK, dtype=np.int32)])
        full = written[ends] > written[starts]
        marks = [i for i in np.flatnonzero(full).tolist() if buffer[starts[i]] in b"#-"]
        document = [i for i in marks if text.startswith(DOCUMENT, starts[i])]
        notes = [i for i in marks if text.startswith(b"#", starts[i])]
        full[document] = False
        if self.width is None:
            self._tabs = conllu or self._first_has_tab(text, starts, ends, full, notes)
        apart = (buffer == TAB) | (buffer == NEWLINE)
        if not self._tabs:
            apart |= (buffer == BLANK) | (buffer == RETURN)
        opens, closes = _pieces(apart, tabs=self._tabs)
        first = np.searchsorted(opens, starts)
        widths = np.searchsorted(opens, ends, side="right" if self._tabs else "left") - first
        closes = closes - (self._tabs & (closes > 0) & (buffer[closes - 1] == RETURN))
        if self.width is None:
            plain = full.copy()
            plain[notes] = False
            self.width = len(CONLLU_COLUMNS) + 1 if conllu else int(widths[plain][:1].sum()) or None
        tokens = full.copy()
        for i in notes:  # before a sentence, unless it is a token
            head = i == 0 or not tokens[i - 1]
            tokens[i] = not conllu and not (head and widths[i] != self.width)
        wrong = np.flatnonzero(tokens & (widths != self.width))
        if len(wrong):
            line = int(wrong[0])
            said = text[starts[line] : ends[line]].decode().strip()
            what = "CoNLL-U has" if conllu else "the first token has"
            raise InputError(
                f"{self.name}, line {before + line + 1}: {counted(int(widths[line]), 'column')}, "
                f"and {what} {self.width}: {said[:60]!r}."
            )
        places = np.flatnonzero(tokens)
        cells = first[places] + np.arange(self.width or 1)[:, None]
        own_starts, own_stops = opens[cells], closes[cells]
        if conllu:
            places, own_starts, own_stops = _numbered(buffer, places, own_starts, own_stops)
        between = np.cumsum(~full)[places]  # blank lines before a token
        breaks = np.flatnonzero(np.diff(between)) + 1
        n = len(places)
        bounds = np.concatenate([[0], breaks, [n]]) if n else np.zeros(1)
        columns = TokenColumns(buffer, own_starts, own_stops, bounds.astype(np.int64))
        self._check_words(columns, places, before)
        return columns, places

    def _first_has_tab(
        self, text: bytes, starts: Any, ends: Any, full: Any, notes: Iterable[int]
    ) -> bool:
        others = full.copy()
        others[[*notes]] = False
        first = np.flatnonzero(others)[:1]
        return any(b"\t" in text[starts[i] : ends[i]] for i in first.tolist())

    def _check_words(self, columns: TokenColumns, places: Any, before: int) -> None:
        empty = np.argwhere((columns.starts >= columns.stops).T)
        if len(empty):
            token, column = empty[0].tolist()
            line = before + int(places[token]) + 1
            raise InputError(f"{self.name}, line {line}: column {column + 1} is empty.")

    def column(self, named: str) -> int:
        """Return the place of a column that a user names, by its number from 1 or its name."""
        width = self.width or 0
        if self.format is SentenceFormat.CONLLU:
            width -= 1
            if named.lower() in CONLLU_COLUMNS:
                return CONLLU_COLUMNS.index(named.lower())
        if self.fields is not None and named in self.fields:
            return self.fields.index(named)
        if named.isdecimal() and 1 <= int(named) <= width:
            return int(named) - 1
        names = [] if self.format is not SentenceFormat.CONLLU else [*CONLLU_COLUMNS]
        there = f"columns 1 to {width}" if width > 1 else "one column"
        said = f", called {word_list(names, len(names))}" if names else ""
        raise InputError(f"{self.name} has no column {named!r}; it has {there}{said}.")

    @property
    def usual_label(self) -> int:
        """The place of the column that tags stand in, unless another is named."""
        if self.format is SentenceFormat.CONLLU:
            return CONLLU_COLUMNS.index("upos")
        return (self.width or 1) - 1

    @property
    def apart(self) -> str:
        """What stands between columns."""
        return "\t" if self._tabs or self.width == 1 else " "

    @property
    def in_columns(self) -> bool:
        """Whether each token has a line, to which columns can be added."""
        return self.format is SentenceFormat.CONLL

    def written(self, block: SentenceBlock, tags: Sequence[str], label: int) -> bytes:
        """Return the lines of a block with one more column: a tag for each token.

        CoNLL-U, which has ten, gets tags in place of those of the ``label``; lines of words come
        back as word/TAG.
        """
        lines = [*block.lines]
        if self.format is SentenceFormat.CONLLU:
            for place, tag in zip(block.places.tolist(), tags, strict=True):
                cells = lines[place].split(b"\t")
                cells[label + 1] = tag.encode()
                lines[place] = b"\t".join(cells)
        elif self.format is SentenceFormat.CONLL:
            added = {tag: f"{self.apart}{tag}".encode() for tag in {*tags}}
            for place, tag in zip(block.places.tolist(), tags, strict=True):
                line = lines[place]
                end = b"\r" if line.endswith(b"\r") else b""
                lines[place] = (line.rstrip() if line[-1] <= BLANK else line) + added[tag] + end
        else:
            words = block.columns.cells(0)
            own = block.columns.in_sentences([*zip(words, tags, strict=True)])
            for place, sentence in zip(block.places.tolist(), own, strict=True):
                lines[place] = self._line(lines[place], sentence)
        return b"\n".join([*lines, b""])

    def _line(self, line: bytes, sentence: Sequence[tuple[str, str]]) -> bytes:
        if self.format is not SentenceFormat.JSON_LINES:
            return " ".join(f"{word}/{tag}" for word, tag in sentence).encode()
        row = json.loads(line) | {"predicted": [tag for _, tag in sentence]}
        return json.dumps(row, ensure_ascii=False).encode()


def _behind(text: bytes, end: bytes) -> int:
    place = text.rfind(end)
    return place + len(end) if place >= 0 else 0


def _normal(text: bytes, name: str, before: int) -> bytes:
    """Return text in NFC; raise InputError where it is not UTF-8."""
    if text.isascii():
        return text
    try:
        said = text.decode()
    except UnicodeDecodeError as error:
        line = before + text.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name}, line {line}: byte 0x{text[error.start]:02x} is not UTF-8; name another "
            f"{Parameter('encoding')}, or use {Parameter('encoding_errors', 'replace')}."
        ) from None
    if unicodedata.is_normalized("NFC", said):
        return text
    return unicodedata.normalize("NFC", said).encode()


def _numbered(
    buffer: NDArray[np.uint8], places: NDArray[Any], starts: NDArray[Any], stops: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the tokens of CoNLL-U that have a number, without it: no ranges and empty nodes."""
    marks = (buffer == ord("-")) | (buffer == ord("."))
    marked = np.concatenate([[0], np.cumsum(marks, dtype=np.int64)])
    kept = marked[stops[0]] == marked[starts[0]]
    own = (np.ascontiguousarray(part[1:, kept]) for part in (starts, stops))
    return places[kept], *own


def _pieces(apart: NDArray[np.bool_], *, tabs: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where cells begin and end, by what stands between them."""
    if tabs:  # a cell may be empty
        closes = np.flatnonzero(apart)
        return np.concatenate([[0], closes[:-1] + 1]).astype(np.int64), closes
    before = np.concatenate([[True], apart[:-1]])
    opens = np.flatnonzero(before & ~apart)
    return opens, np.flatnonzero(apart & ~before)


def joined(blocks: Iterable[SentenceBlock]) -> SentenceBlock:
    """Return blocks as one, whose lines nobody asks for."""
    parts = [*blocks]
    if len(parts) == 1:
        return parts[0]
    if not parts:
        none = np.zeros((1, 0), np.int64)
        columns = TokenColumns(np.empty(0, np.uint8), none, none, np.zeros(1, np.int64))
        return SentenceBlock(columns, np.empty(0, np.int64), [], 0)
    texts = [part.columns.text for part in parts]
    shifts = np.cumsum([0, *map(len, texts)]).tolist()
    counts = np.cumsum([0, *(part.columns.n_tokens for part in parts)]).tolist()
    columns = TokenColumns(
        np.concatenate(texts),
        np.concatenate([p.columns.starts + s for p, s in zip(parts, shifts, strict=False)], axis=1),
        np.concatenate([p.columns.stops + s for p, s in zip(parts, shifts, strict=False)], axis=1),
        np.concatenate(
            [[0], *(p.columns.bounds[1:] + n for p, n in zip(parts, counts, strict=False))]
        ),
    )
    return SentenceBlock(columns, np.empty(0, np.int64), [], 0)


def distinct(cells: Sequence[str]) -> tuple[list[str], NDArray[np.int32]]:
    """Return the different values of cells as they come, and the number of each cell's."""
    numbers = {value: k for k, value in enumerate(Counter(cells))}
    found = np.fromiter(map(numbers.__getitem__, cells), np.int32, len(cells))
    return [*numbers], found

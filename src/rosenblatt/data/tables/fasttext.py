"""Text for fastText as tables: ``__label__name and then the words``, one text a line."""

import numpy as np

from rosenblatt.data.bad_rows import BadRow, BadRows, refuse_unless_skipped
from rosenblatt.data.labels import shown
from rosenblatt.data.lines import TextBlock
from rosenblatt.data.polars import pl
from rosenblatt.data.tables.fields import not_utf_8
from rosenblatt.data.tables.table import (
    Selection,
    Table,
    choose,
    choose_unnamed,
    chosen_columns,
    in_slices,
)

MARK = "__label__"
COLUMNS = ("label", "text")


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
        for line in block.text[: block.length].tobytes().split(b"\n")[:-1]:
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

"""Rows in compressed sparse row form, from a file to a kernel, and those that are left out."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.kernels.rows import CSR, mixed_words
from rosenblatt.kernels.shapes import between, take
from rosenblatt.wording import counted, word_list

NO_LABELS = np.empty(0, np.int32)
MOST_SHOWN = 10  # of the bad rows that are kept with their reasons
VALIDATION = 2**64 - 1  # the group of rows that are never learned from
PLACES_AT_ONCE = 1 << 18  # of values that are brought to rows
OFTEN_ENOUGH = 10_000  # rows, from where on a share means something while reading goes on


def running_sums(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return 0 and the sums of the first values, of lengths thus where each part begins and ends.

    >>> running_sums(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


def successive(sums: NDArray[Any], most: int) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of rows that together have at most so many values, or of one row.

    >>> [*successive(running_sums(np.array([2, 0, 3, 1])), 4)]
    [(0, 2), (2, 4)]
    """
    start = 0
    while start < len(sums) - 1:
        stop = max(start + 1, int(sums.searchsorted(sums[start] + most, side="right")) - 1)
        yield start, stop
        start = stop


def drawn_rows(numbers: NDArray[np.uint64], share: float, key: int = 0) -> NDArray[np.bool_]:
    """Return which rows are drawn, a share of all: each by its number and the key alone."""
    if share >= 1.0 or not share:
        return np.full(len(numbers), share >= 1.0)
    found: NDArray[np.bool_] = mixed_words(numbers, key) < np.uint64(share * 2.0**64)
    return found


class Word(Sentence):
    """That a column of numbers holds a word, and what to do; it knows the column."""

    __slots__ = ("column", "what")
    column: str
    what: str  # without what to do

    def __new__(cls, column: str, what: str) -> Self:
        """Return the sentence for a column, and what is in it."""
        advice = f"; for a column of words use {Parameter('category', column)}"
        self = super().__new__(cls, what, advice)
        self.column, self.what = column, what
        return self

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return self.column, self.what


class WordsError(InputError):
    """A column that was taken for numbers holds a word: it may be one of categories."""

    column: str
    note: str  # where the word is


HEADER_AGAIN = "the header stands again"  # as in tables that were put together: nothing is lost


class BadRow(NamedTuple):
    """A row that was left out."""

    before: int  # the row of its table or batch before which it stood
    place: str  # file and line
    reason: str  # a clause; "" for a row that only lacks a label, or HEADER_AGAIN

    def sentence(self) -> Sentence:
        """Return where it stood and what is wrong with it."""
        return Sentence(f"{self.place}: ", self.reason, ".")

    def error(self, *words: str) -> InputError:
        """Return an error of these words: of a column of words where the row shows one."""
        if not isinstance(self.reason, Word):
            return InputError(*words)
        error = WordsError(*words)
        error.column, error.note = self.reason.column, f"{self.place}: {self.reason.what}"
        return error


class BadRows:
    """Counts the rows that are read and those that are left out.

    Without ``skip`` the first bad row is an error, else more than ``max_share`` of all rows and
    more than one.
    """

    def __init__(self, *, skip: bool, max_share: float = 0.01) -> None:
        self.skip = skip
        self.max_share = max_share
        self.n_good = 0
        self.n_bad = 0
        self.n_unlabelled = 0
        self.n_headers = 0  # that stand again among the rows
        self.first: list[BadRow] = []
        self._late_keys: dict[str, None] = {}

    def restart(self) -> None:
        """Count from the start, since the rows are read anew."""
        self.n_good = self.n_bad = self.n_unlabelled = self.n_headers = 0
        self.first.clear()

    def add(self, rows: Iterable[BadRow]) -> None:
        """Count rows that were left out."""
        for row in rows:
            is_header, is_bad = row.reason == HEADER_AGAIN, row.reason not in (HEADER_AGAIN, "")
            self.n_headers += is_header
            self.n_bad += is_bad
            self.n_unlabelled += not row.reason
            if is_bad and len(self.first) < MOST_SHOWN:
                self.first.append(row)

    def pass_by(self, n_rows: int) -> None:
        """Count rows that are good; raise InputError where too many of all were not."""
        self.n_good += n_rows
        if self.n_good + self.n_bad >= OFTEN_ENOUGH:
            self.check()

    def check(self) -> None:
        """Raise InputError where too many rows are bad, or none has a label."""
        n_rows = self.n_good + self.n_bad
        if self.n_unlabelled and not n_rows:
            raise InputError(f"No row has a label; name another column with {Parameter('label')}.")
        if self.n_bad > max(1, self.max_share * n_rows):
            raise self.first[0].error(
                f"{self.n_bad:,} of {n_rows:,} rows cannot be read, more than "
                f"{100 * self.max_share:g} %. The first: ",
                self.first[0].sentence(),
                f" Allow more with {Parameter('max_bad_share')}.",
            )

    def leave_out(self, keys: Iterable[str]) -> None:
        """Note keys of objects that came too late to be columns."""
        self._late_keys |= dict.fromkeys(keys)

    def notes(self) -> list[str]:
        """Return sentences on rows without a label, headers among rows and keys that came late."""
        notes = []
        if self.n_headers:
            notes.append(f"{counted(self.n_headers, 'row')} skipped, as the header stands again.")
        if self.n_unlabelled:
            notes.append(f"{counted(self.n_unlabelled, 'row')} without a label skipped.")
        if self._late_keys:
            keys = word_list(map(repr, self._late_keys))
            notes.append(
                f"Left out {keys}: in none of the first rows, which decide on the columns. Put a"
                " row with all keys first."
            )
        return notes

    def as_json(self) -> dict[str, Any]:
        """Return how many rows were left out, and the first of them."""
        return {
            "count": self.n_bad,
            "without_label": self.n_unlabelled,
            "first": [{"place": row.place, "reason": str(row.reason)} for row in self.first],
        }


def refuse_unless_skipped(row: BadRow, bad_rows: BadRows | None) -> None:
    """Raise InputError for a bad row unless bad rows are skipped."""
    if bad_rows is None:
        raise row.error(row.sentence()) from None
    if not bad_rows.skip:
        advice = f" Leave such rows out with {Parameter('bad_rows', 'skip')}."
        raise row.error(row.sentence(), advice) from None


class Spelled(NamedTuple):
    """How the terms of texts are spelled: the k-th is letters[starts[k]:stops[k]]."""

    starts: NDArray[np.int32]
    stops: NDArray[np.int32]
    letters: NDArray[np.uint8]  # words in lower case, one space between them, in UTF-8


NO_TERMS = Spelled(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.uint8))


class Batch(NamedTuple):
    """Rows in compressed sparse row form: a part of them, a batch of a file or a block of batches.

    Row i has the values data[indptr[i]:indptr[i + 1]] of the features indices[…], which count from
    0, whatever the file counts from. Its class is classes[labels[i]].
    """

    data: NDArray[Any]  # float64 or float32; empty in a block whose values are kept elsewhere
    indices: NDArray[Any]
    indptr: NDArray[Any]
    labels: NDArray[np.int32] = NO_LABELS  # class numbers, the same in all batches of a file
    classes: tuple[Any, ...] = ()  # labels, or sets of them, met so far, in order of appearance
    n_features: int = 0  # one more than the highest index so far
    zero_based: bool = True  # whether the file counts features from 0
    file: str = ""
    first_line: int = 1  # of the text that the batch was read from
    n_lines: int = 0
    bytes_read: int = 0  # of the file, compressed as it may be, up to the end of the batch
    bad: tuple[BadRow, ...] = ()  # rows of the file that are left out here
    kept: dict[str, list[Any]] | None = None  # columns that are passed on as they are, by name
    weights: NDArray[np.float64] | None = None  # what multiplies the step of each row; None: 1
    groups: NDArray[np.uint64] | None = None  # rows of one group are held out together, or not
    first_row: int = 0  # of a block, in its source
    batch_ends: tuple[int, ...] = ()  # row numbers in a block at which its batches end
    last: bool = False  # whether the source ends with this block
    spelled: Spelled | None = None  # of terms of texts: indices are their hashes, data their counts
    distinct: "Batch | None" = None  # of many terms: each once; indices are their places in it

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    @property
    def row_numbers(self) -> NDArray[np.int64]:
        """The row of each value."""
        return np.repeat(np.arange(self.n_rows), np.diff(self.indptr))

    def draw_numbers(self, before: int) -> NDArray[np.uint64]:
        """Return a number for each row, where so many came before it."""
        return np.arange(before, before + self.n_rows, dtype=np.uint64)

    def filtered(self, keep: NDArray[np.bool_]) -> "Batch":
        """Return the batch with some of its rows."""
        left = np.append(np.cumsum(keep) - keep, keep.sum())
        rows: Any = take(self.csr(0, 0.0), np.flatnonzero(keep))
        return self.with_rows(rows)._replace(
            n_features=int(rows.indices.max(initial=-1)) + 1,
            labels=self.labels[keep],
            bad=tuple(row._replace(before=int(left[row.before])) for row in self.bad),
        )

    def with_rows(self, rows: Any) -> "Batch":
        """Return the batch with other features in its rows."""
        return self._replace(
            data=rows.data, indices=rows.indices, indptr=rows.indptr, n_features=rows.n_features
        )

    def block(self, start: int, stop: int) -> "Batch":
        """Return some rows as a view."""
        rows = between(self.csr(self.n_features, 0.0), start, stop)
        return self.with_rows(rows)._replace(
            labels=self.labels[start:stop],
            weights=None if self.weights is None else self.weights[start:stop],
            groups=None if self.groups is None else self.groups[start:stop],
            kept=self.kept and {name: of[start:stop] for name, of in self.kept.items()},
        )

    @property
    def learnable(self) -> Any:
        """Which rows may be learned from: all but those of validation, which come last."""
        return slice(None) if self.groups is None else self.groups != VALIDATION

    def csr(self, n_features: int, constant: float) -> CSR:
        """Return the rows as kernels read them, with this many features and the constant one."""
        return CSR(self.data, self.indices, self.indptr, n_features, constant)

    def below(self, n_features: int) -> "Batch":
        """Return the rows without the features from this number on."""
        if self.n_features <= n_features:
            return self
        known = self.indices < n_features
        rows = Batch(self.data[known], self.indices[known], running_sums(known)[self.indptr])
        return self.with_rows(rows._replace(n_features=n_features))

    def label_values(self) -> NDArray[Any]:
        """Return the label of each row: as numbers where every class is one, else as words."""
        if any(isinstance(label, str) for label in self.classes):
            return np.array([str(label) for label in self.classes])[self.labels]
        whole = all(isinstance(c, int) and -(2**63) <= c < 2**63 for c in self.classes)
        return np.array(self.classes, np.int64 if whole else np.float64)[self.labels]


def join(batches: Sequence[Batch]) -> Batch:
    """Return successive batches of a file, at least one, as a single batch."""
    first, last = batches[0], batches[-1]
    starts = np.cumsum([0, *(batch.indptr[-1] for batch in batches)])
    rows = [batch.indptr[1:] + start for batch, start in zip(batches, starts[:-1], strict=True)]
    return last._replace(
        data=np.concatenate([batch.data for batch in batches]),
        indices=np.concatenate([batch.indices for batch in batches]),
        indptr=np.concatenate([np.zeros(1, np.int64), *rows]),
        labels=np.concatenate([batch.labels for batch in batches]),
        weights=concat_optional([batch.weights for batch in batches]),
        groups=concat_optional([batch.groups for batch in batches]),
        n_features=max(batch.n_features for batch in batches),
        first_line=first.first_line,
        n_lines=last.first_line + last.n_lines - first.first_line,
    )


def concat_optional(parts: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """Return the weights or groups of the rows of successive parts; all have them, or none."""
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if known else None


def unfamiliar(n_strange: int, n_rows: int) -> str | None:
    """Return a sentence on rows without a feature that the model knows, where they are many."""
    if 2 * n_strange <= n_rows:
        return None
    return (
        f"{n_strange:,} of {n_rows:,} rows have no feature that the model knows: are they like"
        " those that it was trained on?"
    )


def indicator_part(features: NDArray[np.int32]) -> Batch:
    """Return features of value 1, one or a row of them for each row, none where it is −1."""
    known = features >= 0
    indices = features[known]
    indptr = running_sums(known if known.ndim == 1 else known.sum(axis=1))
    return Batch(np.ones(len(indices), np.float32), indices, indptr)


def joined_rows(dense: NDArray[np.float64], parts: Sequence[Batch]) -> Batch:
    """Return rows that begin with the dense columns, numbered from 0, and go on part by part."""
    n_rows, m = dense.shape
    if m == 0 and len(parts) == 1:
        return parts[0]
    widths = [np.full(n_rows, m), *(np.diff(part.indptr) for part in parts)]
    indptr = running_sums(np.sum(widths, axis=0))
    indices = np.empty(indptr[-1], np.result_type(np.int32, *(p.indices.dtype for p in parts)))
    types = (part.data.dtype for part in parts)
    data = np.empty(indptr[-1], np.float64 if m else np.result_type(np.float32, *types))
    set_first(indices, indptr, np.broadcast_to(np.arange(m, dtype=indices.dtype), dense.shape))
    set_first(data, indptr, dense)
    filled = indptr[:-1] + m
    for part, width in zip(parts, widths[1:], strict=True):
        for start, stop in successive(part.indptr, PLACES_AT_ONCE):
            own, here = slice(*part.indptr[[start, stop]].tolist()), slice(start, stop)
            places = np.repeat(filled[here] - part.indptr[here], width[here])
            places += np.arange(own.start, own.stop)
            indices[places] = part.indices[own]
            data[places] = part.data[own]
        filled += width
    return Batch(data, indices, indptr)


def first_values(values: NDArray[Any], indptr: NDArray[Any], m: int) -> NDArray[Any]:
    """Return the first m values of each row."""
    table = _as_table(values, indptr)
    return values[indptr[:-1, None] + np.arange(m)] if table is None else table[:, :m]


def set_first(values: NDArray[Any], indptr: NDArray[Any], new: NDArray[Any]) -> None:
    """Write the first values of each row."""
    table, m = _as_table(values, indptr), new.shape[1]
    if table is None:
        values[indptr[:-1, None] + np.arange(m)] = new
    else:
        table[:, :m] = new


def _as_table(values: NDArray[Any], indptr: NDArray[Any]) -> NDArray[Any] | None:
    """Return a view with a row for each row where all are equally long: ten times as fast."""
    n_rows = len(indptr) - 1
    width = len(values) // max(n_rows, 1)
    if not n_rows or not np.array_equal(indptr, np.arange(n_rows + 1) * width):
        return None
    return values.reshape(n_rows, width)


def without_duplicates(rows: Batch) -> Batch:
    """Return rows in which a feature that stood more than once in a row stands once, values added.

    Columns that are hashed can meet in one feature. A feature stays where it first stood.
    """
    keys = rows.row_numbers << 32 | rows.indices
    ascending = np.sort(keys)
    if not (ascending[1:] == ascending[:-1]).any():
        return rows
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    data = np.zeros(len(first), rows.data.dtype)
    np.add.at(data, group, rows.data)
    order = np.argsort(first)
    kept = np.zeros(len(keys), bool)
    kept[first] = True
    return Batch(data[order], rows.indices[first[order]], running_sums(kept)[rows.indptr])


def shifted(part: Batch, first: int) -> Batch:
    """Return a part whose feature 0 is another one; changes the part that was given."""
    if first:
        part.indices[:] += first
    return part

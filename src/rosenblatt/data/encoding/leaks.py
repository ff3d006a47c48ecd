"""Features that give the label away: each alone tells a class from the others.

Such a feature is often a copy of the label, or written down after it was known. A model that leans
on one is worth nothing on rows where it is still unknown.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding.columns import FeatureColumn, InputColumn
from rosenblatt.data.encoding.label_column import FEWEST_ROWS
from rosenblatt.data.encoding.numbers import read_numbers
from rosenblatt.data.polars import pl
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import Parameter, Sentence

LEAST_ROWS = 10  # of a class, and of the others
SHARE_WRONG = 0.02  # of the rows of the rarer side, at most
MOST_TEXTS = 1000  # that are looked through for words
LONGEST_WORDS = 2000  # characters of a text that are looked through
WORD = r"[\p{L}\p{N}]+"
MOST_ROWS = 5000
LEAST_DECIDED = 0.98  # of the rows, by a column that is suspected to know the label
MOST_COMMON = 0.9  # of the rows: where one class has more, a column that knows it is no surprise
MOST_LEVELS = 0.1  # of the rows: a column with more values may decide by naming the rows
BINS = 64
AT_A_TIME = 1 << 20  # numbers that are sorted together


class Leak(NamedTuple):
    """A feature that tells a class from the others, but for a few rows; both by number."""

    class_: int
    feature: int
    n_wrong: int


def leaks(wrong: NDArray[np.int64], sizes: Sequence[int]) -> list[Leak]:
    """Return for each class the first of the best features, where it is wrong on few rows alone.

    Of more than two classes, half at least must be given away: that one of them has a mark of its
    own is nothing unusual. Of two, the second is looked at. ``wrong`` (n_features, n_classes) has
    the number of rows on which a feature is wrong about who is of a class, ``sizes`` the rows of
    each class.
    """
    n_rows, n_classes, found = sum(sizes), len(sizes), list[Leak]()
    for number in range(0 if n_classes > 2 else 1, n_classes):
        n_rare = min(sizes[number], n_rows - sizes[number])
        if n_rare >= LEAST_ROWS and len(wrong):
            best = int(wrong[:, number].argmin())
            if wrong[best, number] <= SHARE_WRONG * n_rare:
                found.append(Leak(number, best, int(wrong[best, number])))
    enough = 1 if n_classes == 2 else (n_classes + 1) // 2
    return found if len(found) >= enough else []


def deciding_columns(table: Table, label: str, columns: Sequence[InputColumn]) -> list[str]:
    """Return sentences on columns, or words, that alone tell the label of nearly every row."""
    table = table._replace(frame=table.frame.head(MOST_ROWS))
    (codes,) = _codes(table, [label])
    n_rows, n_classes = len(codes), int(codes.max(initial=0)) + 1
    if n_rows < FEWEST_ROWS or np.bincount(codes).max() > MOST_COMMON * n_rows:
        return []
    shares: dict[str, float] = {}
    numeric = [
        FeatureColumn(one.name, "numeric", form=one.form)
        for one in columns
        if one.role == "numeric"
    ]
    at_a_time = max(1, AT_A_TIME // (max(n_rows, BINS * n_classes)))
    for start in range(0, len(numeric), at_a_time):
        some = numeric[start : start + at_a_time]
        decided = _decided(_near(read_numbers(table, some)[0]), codes, n_classes)
        shares |= dict(zip([one.name for one in some], decided.tolist(), strict=True))
    categories = [one.name for one in columns if one.role == "category" and one.parts == ("",)]
    for name, levels in zip(categories, _codes(table, categories), strict=True):
        if levels.max(initial=0) <= MOST_LEVELS * n_rows:
            shares[name] = float(_decided(levels[:, None], codes, n_classes)[0])
    return _deciding_words(table, codes, columns) + [
        _note(name, f" alone decides {100 * shares[name]:.3g} % of the first {n_rows:,} rows")
        for name in (column.name for column in columns)
        if shares.get(name, 0) >= LEAST_DECIDED
    ]


def _note(name: str, decides: str) -> Sentence:
    return Sentence(
        f"Column '{name}'{decides}: is it known when you predict? If not, leave it out with "
        f"{Parameter('ignore', name)}."
    )


def _codes(table: Table, names: Sequence[str]) -> list[NDArray[np.int64]]:
    """Return for each of these columns the same number, from 0 on, for the same value."""
    own = pl.DataFrame([table.frame[name].alias(str(k)) for k, name in enumerate(names)])
    ranked = own.select(pl.all().rank("dense").fill_null(0)).get_columns()
    return [np.asarray(series.to_numpy(), np.int64) for series in ranked]


def _decided(
    groups: NDArray[np.int64], codes: NDArray[np.int64], n_classes: int
) -> NDArray[np.float64]:
    """Return for each column of groups the share of rows of the commonest class of their group."""
    n_rows, n_columns = groups.shape
    n_groups = int(groups.max()) + 1
    places = (np.arange(n_columns) * n_groups + groups) * n_classes + codes[:, None]
    counts = np.bincount(places.ravel(), minlength=n_columns * n_groups * n_classes)
    commonest = counts.reshape(n_columns, n_groups, n_classes).max(axis=2)
    return np.asarray(commonest.sum(axis=1) / n_rows)


def _near(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a group for each number of a column: its value, or of many values those near it."""
    n_rows = len(numbers)
    order = np.argsort(numbers, axis=0, kind="stable")
    ordered = np.take_along_axis(numbers, order, axis=0)
    differs = np.concatenate([np.zeros((1, numbers.shape[1]), bool), ordered[1:] != ordered[:-1]])
    steps = differs.cumsum(axis=0)  # how many smaller values there are
    first = np.maximum.accumulate(np.where(differs, np.arange(n_rows)[:, None], 0), axis=0)
    few = steps[-1] < min(MOST_LEVELS * n_rows, BINS)
    grouped = np.where(few, steps, first * min(BINS, n_rows // 5) // n_rows)
    groups = np.empty(numbers.shape, np.int64)
    np.put_along_axis(groups, order, grouped, axis=0)
    return groups


def _deciding_words(
    table: Table, codes: NDArray[np.int64], columns: Sequence[InputColumn]
) -> list[str]:
    """Return sentences on text columns of which single words tell the label; codes number it."""
    texts = [column for column in columns if column.role == "text"]
    step = -(-len(codes) // MOST_TEXTS) if texts else 1
    codes = codes[::step]
    _, classes, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    notes: list[str] = []
    for column in texts:
        words, wrong = _word_errors(table.frame[column.name].gather_every(step), classes, sizes)
        found = leaks(wrong, sizes.tolist())
        if not found:
            continue
        n_rows, word = len(codes), f"the word {words[found[0].feature]!r:.60}"
        decides = f"{word} alone decides {100 * (1 - found[0].n_wrong / n_rows):.3g} %"
        if len(sizes) > 2:
            decides = f"single words such as {words[found[0].feature]!r:.60} tell {len(found)} of "
            decides += f"{len(sizes)} classes from the others in nearly all"
        notes.append(_note(column.name, f": {decides} of {n_rows:,} rows"))
    return notes


def _word_errors(
    texts: "pl.Series", classes: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[list[str], NDArray[np.int64]]:
    """Return the words of texts, and on how many rows each is wrong about who is of a class.

    A word may stand in the rows of a class or in all others.
    """
    numbers = pl.Series(classes.tolist(), dtype=pl.Int64)  # an array would import numpy.ma
    rows = pl.DataFrame({"text": texts.cast(pl.String), "class": numbers, "row": range(len(texts))})
    words = pl.col("text").str.slice(0, LONGEST_WORDS).str.to_lowercase().str.extract_all(WORD)
    each = rows.with_columns(word=words).explode("word").drop_nulls("word")
    each = each.select("word", "class", "row").unique(maintain_order=True)
    counts = each.group_by("word", "class", maintain_order=True).len()
    names = counts["word"].unique(maintain_order=True)
    place = dict(zip(names.to_list(), range(len(names)), strict=True))
    having = np.zeros((len(names), len(sizes)), np.int64)  # rows of a class that have a word
    at = [place[word] for word in counts["word"].to_list()]
    having[at, counts["class"].to_numpy()] = counts["len"].to_numpy()
    strangers = having.sum(axis=1, keepdims=True) - having
    n_others = len(texts) - sizes
    wrong = np.minimum(strangers + sizes - having, having + n_others - strangers)
    return names.to_list(), wrong

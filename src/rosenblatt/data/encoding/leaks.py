"""Features that give the label away: each alone tells a class from the others.

Such a feature is often a copy of the label, or written down after it was known. A model that leans
on one is worth nothing on rows where it is still unknown.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding.columns import InputColumn
from rosenblatt.errors import Parameter, Sentence

if TYPE_CHECKING:
    import polars as pl

    from rosenblatt.data.tables.table import Table

LEAST_ROWS = 10  # of a class, and of the others
SHARE_WRONG = 0.02  # of the rows of the rarer side, at most
MOST_TEXTS = 1000  # that are looked through for words
LONGEST_WORDS = 2000  # characters of a text that are looked through
WORD = r"[\p{L}\p{N}]+"


class Leak(NamedTuple):
    """A feature that tells a class from the others, but for a few rows; both by number."""

    class_: int
    feature: int
    n_wrong: int


def leaks(wrong: NDArray[np.int64], sizes: Sequence[int]) -> list[Leak]:
    """Return for each class the first of the best features, where it is wrong on few rows alone.

    Of more than two classes, half at least must be given away: that one of them has a mark of its
    own is nothing unusual. Of two, the second is looked at.

    Parameters
    ----------
    wrong : array, (n_features, n_classes)
        Rows on which a feature is wrong about who is of a class.
    sizes : sequence of int
        Rows of each class.
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


def deciding_words(
    table: "Table", codes: NDArray[np.int64], columns: Sequence[InputColumn]
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
        notes.append(
            Sentence(
                f"Column '{column.name}': {decides} of {n_rows:,} rows: is it known when you"
                f" predict? If not, leave it out with {Parameter('ignore', column.name)}."
            )
        )
    return notes


def _word_errors(
    texts: "pl.Series", classes: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[list[str], NDArray[np.int64]]:
    """Return the words of texts, and on how many rows each is wrong about who is of a class.

    A word may stand in the rows of a class or in all others.
    """
    import polars as pl

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

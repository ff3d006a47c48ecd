"""What terms weigh in their rows: the square root of their share, in plain NumPy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding.rows import Part


def plain_shares(
    numbers: NDArray[Any], counts: NDArray[np.float32], indptr: NDArray[np.int64]
) -> Part:
    """Return the known terms of each row, those whose number is not −1.

    A word has the value √(n/N), where n is how often it is there and N how many known words there
    are in the row; a pair of words likewise among the known pairs. So the words of a row have
    length 1, and its pairs too, however long the text is and however much of it is new.
    """
    known = numbers >= 0
    kept = np.zeros(len(known) + 1, np.int64)
    np.cumsum(known, out=kept[1:])
    indptr, signed = kept[indptr], counts[known]
    words = signed > 0
    of_words = _one_of(np.where(words, signed, 0), indptr)
    of_pairs = _one_of(np.where(words, 0, signed), indptr)
    values = np.sqrt(signed * np.where(words, of_words, of_pairs))
    return Part(numbers[known].astype(np.int32), values, indptr)


def _one_of(counts: NDArray[np.float32], indptr: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return for each term what one is of all that its row counts."""
    sums = np.zeros(len(counts) + 1)
    np.cumsum(counts, out=sums[1:])  # whole numbers: exact
    totals = sums[indptr[1:]] - sums[indptr[:-1]]
    with np.errstate(divide="ignore"):  # of a row that has none
        return np.repeat((1 / totals).astype(np.float32), np.diff(indptr))

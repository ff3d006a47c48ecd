"""Whether new rows are like those of training, told column by column, or among them.

A remark is made where a share is far from that of training and could not be so by chance. Every row
has a fingerprint; the rows with the lowest ones are a random sample, the same in any order, of
which one-way digests are kept. New rows whose fingerprint is as low are looked up among them.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch, running_sums
from rosenblatt.data.encoding.features import CHARACTERS, FeatureColumn, InputColumn
from rosenblatt.data.encoding.numbers import ColumnStatistics, RowSample
from rosenblatt.kernels.rows import finalized
from rosenblatt.wording import number, told_apart

# Of each column of training, NaN where it is not known: the share of missing values; the share of
# values or words that other rows have as well; and quantiles of numbers.
FIELDS = ("missing", "known", "low", "median", "high")
TAIL = 0.05  # of the training rows are below ``low``, and as many above ``high``
CHANCE = 1e-6  # that usual rows are remarked on
LIKELY = 0.03  # the same for gaps and new values where a remark disturbs nobody
LEAST_RISE = 0.2  # of a share, for a remark: much data would make any difference a sure one
LEAST_OUTSIDE = 0.05  # of the numbers, beyond the range of training
FEW_KNOWN = 0.25  # of the share of words that is usual
DOUBT = 10  # rows, half of which could have been otherwise: by so much training may be off
MOST_SAMPLED = 1 << 16  # numbers of all columns together
FEWEST_VECTORS = 20  # whose mean squared distance is off by a factor of 2 by no chance
MOST_VALUES = 1 << 16  # unseen ones that are told apart

Summaries = NDArray[np.float64]  # (len(FIELDS), number of feature columns)
MOST_KEPT = 1000  # different rows, 8 bytes each
MOST_LOOKED_UP = 5000  # rows: a digest takes a microsecond
LEAST_REPEATED = 0.01  # of the share of rows that have an equal, for a remark
ANY = 2**64 - 1

Prints = NDArray[np.uint64]


class ColumnCounts:
    """What is counted of each column while rows are encoded."""

    def __init__(self, features: Sequence[FeatureColumn]) -> None:
        n = len(features)
        self._features = features
        self._numeric = [k for k, column in enumerate(features) if column.role == "numeric"]
        self.n_rows = 0
        self.n_missing = [0] * n
        self._levels: list[Counter[int]] = [Counter() for _ in range(n)]  # rows by level; −1: new
        self._new: list[set[bytes]] = [set() for _ in range(n)]
        self._shares = [0.0] * n  # of the words of each text that are known, added up
        self._spreads = [0.0] * n  # of vectors, likewise
        self._sample = RowSample(len(self._numeric), MOST_SAMPLED)
        worded = {column.name for column in features if (column.role, column.part) == ("text", "")}
        self._beside = {  # characters beside words, which say enough of a text
            place
            for place, column in enumerate(features)
            if column.part == CHARACTERS and column.name in worded
        }

    def add_numbers(self, numbers: NDArray[np.float64]) -> None:
        """Count rows by their numbers, NaN where one is missing; once for all columns."""
        self.n_rows += len(numbers)
        for place, gaps in zip(self._numeric, np.isnan(numbers).sum(axis=0).tolist(), strict=True):
            self.n_missing[place] += gaps
        self._sample.add(numbers)

    def add_level(self, place: int, level: bytes, number: int, n_rows: int) -> None:
        """Count rows with a level; without a name they have none."""
        if not level:
            self.n_missing[place] += n_rows
            return
        self._levels[place][number] += n_rows
        if number < 0 and len(self._new[place]) < MOST_VALUES:
            self._new[place].add(level)

    def add_terms(self, place: int, terms: Batch, numbers: NDArray[np.int32] | None) -> None:
        """Count texts by their terms, whose numbers are −1 for unknown ones; None: all are new."""
        if place in self._beside:
            return
        if numbers is None:
            self.n_missing[place] += int(np.count_nonzero(np.diff(terms.indptr) == 0))
            return
        words = terms.data > 0  # the others are pairs
        n_words = np.diff(running_sums(words)[terms.indptr])
        n_known = np.diff(running_sums(words & (numbers >= 0))[terms.indptr])
        self.n_missing[place] += int(np.count_nonzero(n_words == 0))
        self._shares[place] += float((n_known / np.maximum(n_words, 1)).sum())

    def add_vectors(self, place: int, spread: float) -> None:
        """Count vectors by their spread around the mean of training."""
        self._spreads[place] += spread

    def summaries(self, usual: Mapping[int, float]) -> Summaries:
        """Return what is kept of training; ``usual`` are the shares of words of text columns."""
        found = np.full((len(FIELDS), len(self._features)), np.nan)
        found[0] = np.array(self.n_missing) / self.n_rows if self.n_rows else np.nan
        for place, column in enumerate(self._features):
            if column.role in ("category", "list"):
                rows = self._levels[place]
                total = rows.total()
                shared = total - sum(n for level, n in rows.items() if n == 1 or level < 0)
                found[1, place] = shared / total if total else np.nan
            elif place in self._beside:
                found[0, place] = np.nan
            else:
                found[1, place] = usual.get(place, np.nan)
        for place, values in zip(self._numeric, self._sample.columns(), strict=True):
            if len(values):
                levels = [TAIL, 0.5, 1 - TAIL]
                found[2:, place] = np.quantile(values, levels, method="inverted_cdf")
        return found

    def remarks(
        self,
        training: Summaries | None,
        statistics: ColumnStatistics,
        n_training: int,
        *,
        at_once: bool = False,
    ) -> list[str]:
        """Return a sentence on each column that is not as in training, of so many rows.

        With ``at_once`` a single row may be enough for a value that is missing or new.
        """
        if training is None:  # of an older version
            training = np.full((len(FIELDS), len(self._features)), np.nan)
        training = training.copy()
        count, _, _, lowest, highest, n_missing = statistics.values
        training[0, self._numeric] = n_missing / np.maximum(count + n_missing, 1)
        surprise = ShareTest(n_training, CHANCE / len(self._features))
        quick = ShareTest(n_training, LIKELY) if at_once else surprise
        found: dict[int, str | None] = {}
        for place, column in enumerate(self._features):
            missing, known = training[0, place], training[1, place]
            found[place] = self._gaps(place, missing, quick)
            if found[place] is None and column.role in ("category", "list"):
                found[place] = self._values(place, known, quick)
            elif found[place] is None and column.role == "text":
                found[place] = self._words(place, known, surprise)
            elif found[place] is None and column.role == "vector":
                found[place] = self._apart(place)
        for k, (place, values) in enumerate(
            zip(self._numeric, self._sample.columns(), strict=True)
        ):
            if found[place] is None and len(values):
                found[place] = _far(values, training[2:, place], surprise)
                limits = float(lowest[k]), float(highest[k])
                found[place] = found[place] or _beyond(values, limits, int(count[k]), surprise)
        titles = [one.name if one.role == "text" else one.title for one in self._features]
        told = {titles[k]: said for k, said in found.items() if said}
        return [f"Column '{title}': {said}{'.'[said[-1] == '?' :]}" for title, said in told.items()]

    def _gaps(self, place: int, usual: float, surprise: "ShareTest") -> str | None:
        n = self.n_missing[place]
        if not surprise(n, self.n_rows, usual):
            return None
        now = "all " if n == self.n_rows else f"{percentage(n / self.n_rows)} "
        now = "" if self.n_rows == 1 else now
        return f"{now}missing; {percentage(usual) if usual else 'none'} were in training"

    def _values(self, place: int, known: float, surprise: "ShareTest") -> str | None:
        rows, new = self._levels[place], len(self._new[place])
        n, total = rows[-1], rows.total()
        old = len(rows) - (-1 in rows)
        if not surprise(n, total, 0.0 if math.isnan(known) else 1 - known):
            return None
        if old:
            where = "list entries" if self._features[place].role == "list" else "rows"
            return (
                f"{new:,} of its {new + old:,} values, in {percentage(n / total)} of the {where},"
                " were not seen in training"
            )
        if new == 1:
            return (
                f"its only value, {min(self._new[place]).decode()!r:.60}, was not seen in training"
            )
        return f"none of its {new:,} values was seen in training"

    def _apart(self, place: int) -> str | None:
        n = self.n_rows - self.n_missing[place]
        if n < FEWEST_VECTORS or 0.5 < self._spreads[place] / n < 2.0:
            return None
        times = math.sqrt(self._spreads[place] / n)
        return (
            f"its vectors are {number(float(f'{times:.2g}'))} times as far from the mean of"
            " training as the vectors of training were; are they of the same model?"
        )

    def _words(self, place: int, usual: float, surprise: "ShareTest") -> str | None:
        n = self.n_rows - self.n_missing[place]
        if not n or math.isnan(usual):
            return None
        share = self._shares[place] / n
        # Hoeffding's bound on the mean of n shares, however they are distributed
        bound = math.exp(-2 * n * max(usual - share, 0.0) ** 2)
        if share > FEW_KNOWN * usual or bound >= surprise.chance:
            return None
        alone = self._features[place].part == CHARACTERS
        terms = "runs of characters" if alone else "words"
        said = f"{percentage(share)} of its {terms} were seen in training"
        return f"{said}; {percentage(usual)} is usual"


class ShareTest:
    """Tells whether a share is far above that of training, and not so by chance."""

    def __init__(self, n_training: int, chance: float) -> None:
        self.n_training, self.chance = n_training, chance

    def __call__(
        self, n: int, total: int, usual: float, *, rise: float = LEAST_RISE, doubt: float = DOUBT
    ) -> bool:
        """Hold n of ``total`` against the share that is usual, which is known from training."""
        if not total or math.isnan(usual) or not self.n_training or n / total < usual + rise:
            return False
        p = (usual * self.n_training + doubt / 2) / (self.n_training + doubt)
        return tail_bound(n, total, p) < self.chance


def tail_bound(n: int, total: int, p: float) -> float:
    """Return Chernoff's bound on the chance of n or more of ``total`` events of probability p.

    >>> tail_bound(3, 3, 0.1), tail_bound(1, 10, 0.5)
    (0.001, 1.0)
    """
    share = n / total
    if share <= p:
        return 1.0
    apart = share * math.log(share / p)
    if share < 1:
        apart += (1 - share) * math.log((1 - share) / (1 - p))
    return round(math.exp(-total * apart), 15)


def _far(values: NDArray[Any], training: NDArray[Any], surprise: ShareTest) -> str | None:
    """Return a clause on numbers most of which are in a tail of those of training."""
    low, median, high = training.tolist()
    if math.isnan(median):
        return None
    n_above, n_below = np.count_nonzero(values > high), np.count_nonzero(values < low)
    n = int(max(n_above, n_below))
    if 2 * n < len(values) or not surprise(n, len(values), TAIL):
        return None
    # Of an even number, the middle one that is in the tail
    now = float(np.quantile(values, 0.5, method="higher" if n_above >= n_below else "lower"))
    ratio = now / median if median else 0.0
    if not 0.0 < ratio < math.inf or 0.5 < ratio < 2:
        here, there = told_apart(now, median)
        return f"the median is {here}, that of the training rows {there}"
    power = round(math.log10(ratio))
    if abs(math.log10(ratio) - power) < 0.05:  # as if a unit had changed
        ratio = 10**power
    return f"the median is {number(float(f'{ratio:.2g}'))} times that of the training rows"


def _beyond(
    values: NDArray[Any], limits: tuple[float, float], n_training: int, surprise: ShareTest
) -> str | None:
    """Return a clause on numbers many of which are outside of the range of training."""
    low, high = limits
    n = int(np.count_nonzero((values < low) | (values > high)))
    # Chance leaves a share of more than 20/n beyond the range of n numbers once in 10⁸ times.
    rise = max(LEAST_OUTSIDE, 2 * DOUBT / max(n_training, 1))
    if not surprise(n, len(values), 0.0, rise=rise, doubt=2 * DOUBT):
        return None
    span = " to ".join(told_apart(low, high))
    return (
        f"{percentage(n / len(values))} of its numbers are outside of the range of training, {span}"
    )


def percentage(share: float) -> str:
    """Return a share in whole per cent, and with three digits that count near none and all.

    >>> percentage(0.0812), percentage(0.9991), percentage(0.00123), percentage(0.0)
    ('8 %', '99.9 %', '0.123 %', '0 %')
    """
    return f"{100 * share:.0f} %" if 0.01 <= share <= 0.99 else f"{100 * share:.3g} %"


class RowFingerprints:
    """Makes a number of 64 bits of each row of a table, column by column."""

    def __init__(self, n_rows: int) -> None:
        self._prints = np.zeros(n_rows, np.uint64)

    def add(self, values: NDArray[np.int64]) -> None:
        """Take in a number of each row."""
        self._prints = finalized(self._prints + values.view(np.uint64) + np.uint64(1))

    def add_terms(self, terms: Batch) -> None:
        """Take in the terms of each row, whatever their order."""
        sums = np.zeros(len(terms.indices) + 1, np.uint64)
        each = terms if terms.distinct is None else terms.distinct
        words = finalized(each.indices.astype(np.uint64))
        np.cumsum(words if terms.distinct is None else words[terms.indices], out=sums[1:])
        self.add(np.diff(sums[terms.indptr]).view(np.int64))

    def add_vectors(self, vectors: NDArray[Any]) -> None:
        """Take in a vector of each row, NaN where it is missing."""
        bits = (vectors.astype(np.float64) + 0.0).view(np.uint64)
        factors = finalized(np.arange(1, vectors.shape[1] + 1, dtype=np.uint64))
        self.add((finalized(bits) * factors).sum(axis=1, dtype=np.uint64).view(np.int64))

    def rows(self, numbers: NDArray[np.float64]) -> Prints:
        """Return the fingerprints, after the numbers of the rows, NaN where one is missing."""
        plain = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # one NaN, and one zero
        for column in np.ascontiguousarray(plain.T):
            self.add(column.view(np.int64))
        return self._prints


class SeenRows:
    """The sample of the rows of training: digests of all whose fingerprint is at most ``limit``.

    The first digest is that of the sum of all fingerprints.
    """

    def __init__(self, limit: int, digests: Prints, repeated: float) -> None:
        self.limit, self.whole, self.digests = limit, digests[0], digests[1:]
        self.repeated = repeated  # share of the training rows that have an equal among them


class RowSampler:
    """Keeps the rows with the lowest fingerprints, each once, and how often it came."""

    def __init__(self) -> None:
        self._prints, self._counts = np.zeros(0, np.uint64), np.zeros(0, np.int64)
        self._limit = np.uint64(ANY)
        self._sum = np.zeros(1, np.uint64)

    def add(self, prints: Prints) -> None:
        """Take in rows."""
        self._sum += prints.sum(dtype=np.uint64)
        new, counts = np.unique(prints[prints <= self._limit], return_counts=True)
        kept, place = np.unique(np.concatenate([self._prints, new]), return_inverse=True)
        total = np.bincount(place, np.concatenate([self._counts, counts])).astype(np.int64)
        self._prints, self._counts = kept[:MOST_KEPT], total[:MOST_KEPT]
        if len(kept) > MOST_KEPT:
            self._limit = self._prints[-1]

    def seen(self, salt: bytes) -> SeenRows | None:
        """Return the sample, None where there were no rows."""
        if not len(self._prints):
            return None
        repeated = self._counts[self._counts > 1].sum() / self._counts.sum()
        whole, each = digests(self._sum, salt), np.sort(digests(self._prints, salt))
        return SeenRows(int(self._limit), np.concatenate([whole, each]), float(repeated))


class SeenCounter:
    """Counts the new rows that were learned from."""

    def __init__(self, seen: SeenRows, salt: bytes) -> None:
        self._seen, self._salt = seen, salt
        self.n_rows = self.n_tried = self.n_found = 0
        self._sum = np.zeros(1, np.uint64)

    def add(self, prints: Prints) -> None:
        """Look up those rows that would be in the sample if they had been learned from."""
        self.n_rows += len(prints)
        self._sum += prints.sum(dtype=np.uint64)
        low = prints[prints <= np.uint64(self._seen.limit)][: MOST_LOOKED_UP - self.n_tried]
        self.n_tried += len(low)
        self.n_found += int(np.isin(digests(low, self._salt), self._seen.digests).sum())

    def remark(self) -> str | None:
        """Return a sentence where more rows were learned from than have an equal by chance."""
        n, tried, repeated = self.n_found, self.n_tried, self._seen.repeated
        surprise = ShareTest(len(self._seen.digests), CHANCE)
        same = digests(self._sum, self._salt)[0] == self._seen.whole
        if not tried or not (same or surprise(n, tried, repeated, rise=LEAST_REPEATED)):
            return None
        if n == tried:
            return (
                f"All {self.n_rows:,} rows are equal to rows that the model was trained on: the"
                " error on them says nothing of new rows."
            )
        exact = tried == self.n_rows
        rows = n if exact else round(n / tried * self.n_rows)
        return (
            f"{'' if exact else 'About '}{rows:,} of {self.n_rows:,} rows"
            f" ({percentage(n / tried)}) are equal to rows that the model was trained on: the"
            " error on new rows may be higher."
        )


def salt_of(columns: Sequence[InputColumn], n_rows: int) -> bytes:
    """Return what makes the digests of a model of no use for another."""
    names = "\0".join(f"{column.name}\0{column.role}" for column in columns)
    return blake2b(f"{n_rows}\0{names}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def digests(prints: Prints, salt: bytes) -> Prints:
    """Return one-way digests of fingerprints."""
    found = (blake2b(one.tobytes(), digest_size=8, key=salt).digest() for one in prints)
    return np.frombuffer(b"".join(found), "<u8").astype(np.uint64)

"""Numeric columns: values, the statistics that fill and scale them, and quantile bins of them.

Numbers are decimal: 12, -1.5, 2e-3, also with the digits of other scripts and the sign − of print.
In a column of text they may also be written as people do: with a sign of money or a percent sign,
with thousands apart (1,234.5 or 1 234.5), negative in parentheses, or with a comma before the
decimals (1.234,5), decided once for a column.
"""

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch, Word, indicator_part
from rosenblatt.data.encoding.features import (
    BLANKS,
    MISSING,
    FeatureColumn,
    InputColumn,
    Numbering,
    unusable,
)
from rosenblatt.data.labels import NOT_FINITE, NUMBER, shown
from rosenblatt.data.polars import pl
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.kernels.text.hashing import column_seed, term_hash

# Squares of larger numbers, summed over many rows, leave the range of float64.
LARGEST = 1e140
SMALLEST_WIDTH = 1e-140  # of values whose squared differences float64 holds to the last digit
LEAST = 5e-324  # the smallest number above 0

STRAIGHT = 3.0  # deviations up to which scaled numbers are as they are
DIGITS = 13  # of 15.9, of fractions that are scaled and scaled back: the others are rounding
FIELDS = ("count", "mean", "m2", "low", "high", "n_missing")

MONEY, GAP = "[$€£¥]", "[ '\u00a0\u202f]"
WRITTEN = (  # with thousands apart by G, and M before the decimals
    rf"\s*{MONEY}?\s*[-+]?(?:[0-9]{{1,3}}(?:(?:G|{GAP})[0-9]{{3}})+|[0-9]+)(?:M[0-9]*)?"
    rf"\s*(?:{MONEY}|%)?"
)
NEGATIVE = r"^\(([^-+()]*)\)$"  # as book-keepers write it
FORMS = {
    name: rf"^(?:[-+]?{WRITTEN}|\({WRITTEN}\))$".replace("G", group).replace("M", mark)
    for name, group, mark in (("point", ",", r"\."), ("comma", r"\.", ","))
}
SURELY_COMMA = r"^[^,]*(?:^|[^0-9])0,[0-9]+|^[^,]*,(?:[0-9]{1,2}|[0-9]{4,})[^0-9,.]*$"
SURELY_POINT = r",.*[,.]"
GROUPED = {m: re.compile(rf"[-+]?[1-9][0-9]{{0,2}}(?:\{m}[0-9]{{3}})+") for m in ".,"}
WHOLE = re.compile("[-+]?[0-9]{1,9}")
GROUPED_FROM = 1000  # numbers below have no thousands
LARGE = 100  # whole numbers that are too large to stand beside a few units with three decimals
# What people write where a number is missing, in any case; in other columns it may mean something.
PLACEHOLDERS = frozenset(
    {"-", "--", "---", ".", "n/a", "na", "n.a.", "#n/a", "none", "nil", "null", "nan", "missing"}
    | {"unknown", "not available"}
)
DECORATION = rf"{MONEY}|{GAP}|\s|%"
# The digits of other scripts by their zero, Arabic to fullwidth, and what is printed for signs.
ZEROS = (
    *(0x660, 0x6F0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50, 0xED0),
    *(0xF20, 0x1040, 0x17E0, 0x1810, 0xFF10),
)
ASCII = {chr(zero + digit): str(digit) for zero in ZEROS for digit in range(10)}
ASCII |= dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d", "-")
ASCII |= {"\u066a": "%", "\u066b": ".", "\u066c": ",", "\uff0b": "+", "\uff0c": ",", "\uff0e": "."}
ASCII |= {"\uff05": "%", "\uffe5": "¥"}
IN_ASCII = str.maketrans(ASCII)
MOST_CODES = 250  # different ones in a column
FEWEST_USES = 5  # rows of each, on average
MOST_SAMPLED = 1 << 22  # numbers of all columns together
FEWEST_SAMPLED = 1 << 10  # rows, however many columns there are


def column_numbers(table: Table, name: str) -> NDArray[np.float64]:
    """Return the numbers of a column; raise InputError with its place where a value is none."""
    numbers, faults = read_numbers(table, [InputColumn(name, "numeric")])
    if faults:
        row = min(faults)
        raise InputError(f"{table.place(row)}: ", faults[row], ".")
    return numbers[:, 0]


def row_weights(table: Table, column: InputColumn) -> tuple[NDArray[np.float64], dict[int, str]]:
    """Return what multiplies the step of each row, and by row what is wrong with it."""
    numbers, unreadable = read_numbers(table, [column])
    weights, values, faults = numbers[:, 0], table.frame[column.name], dict[int, str]()
    for row in sorted({*unreadable, *np.flatnonzero(~(weights >= 0.0)).tolist()}):
        got = f"is {values[row]!r}; it must be a number of at least 0"
        missing = np.isnan(weights[row]) and row not in unreadable
        faults[row] = f"the weight, column '{column.name}', {'is missing' if missing else got}"
    return weights, faults


def read_numbers(
    table: Table, columns: Sequence[FeatureColumn | InputColumn]
) -> tuple[NDArray[np.float64], dict[int, str]]:
    """Return the numbers of columns (n_rows, n_columns), NaN: missing; by row what is wrong."""
    own = dict(zip(table.frame.columns, table.frame.get_columns(), strict=True))
    prepared = [_convertible(own[column.name], column.form, table.file) for column in columns]
    frame = pl.DataFrame([series.alias(str(k)) for k, series in enumerate(prepared)])
    numbers = np.array(frame.cast(pl.Float64, strict=False).to_numpy(), np.float64, order="C")
    numbers = numbers.reshape(table.frame.height, len(columns))
    faults: dict[int, str] = {}
    odd = ~np.isfinite(numbers)
    for k in np.flatnonzero(odd.any(axis=0)).tolist():
        if prepared[k].dtype == pl.String:
            _read_odd(prepared[k], np.flatnonzero(odd[:, k]), numbers[:, k], faults)
    beyond = np.abs(numbers) > LARGEST  # NaN is not
    for row, k in np.argwhere(beyond).tolist():
        name, number = columns[k].name, numbers[row, k]
        large = f"{number:g} in column '{name}' is too large; numbers may be up to {LARGEST:g}"
        infinite = f"the value of column '{name}' is not finite"
        faults.setdefault(row, infinite if np.isinf(number) else large)
    return numbers, faults


def _convertible(series: "pl.Series", form: str, file: str) -> "pl.Series":
    """Return a column in a type that casts to numbers."""
    if series.dtype == pl.Duration:
        return series.dt.total_microseconds() / 1e6
    if series.dtype in (pl.Categorical, pl.Enum):
        return series.cast(pl.String)
    if series.dtype == pl.String:
        return plain_numbers(series, form) if form else series
    if series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null):
        return series
    raise unusable(file, series, "not numbers")


def plain_numbers(series: "pl.Series", form: str) -> "pl.Series":
    """Return numbers that people write as programs do; anything else stays as it is."""
    bare = series.str.strip_chars(BLANKS).str.replace_many(ASCII)
    plain = bare.str.replace_all(DECORATION, "").str.replace(NEGATIVE, "-${1}")
    if form == "comma":
        plain = plain.str.replace_all(".", "", literal=True)
        plain = plain.str.replace_all(",", ".", literal=True)
    else:
        plain = plain.str.replace_all(",", "", literal=True)
    is_so = bare.str.contains(FORMS[form]).fill_null(value=False)
    names = pl.DataFrame({"is_so": is_so, "plain": plain, "series": series})
    chosen = names.select(pl.when("is_so").then("plain").otherwise("series")).to_series()
    return chosen.alias(series.name)


def number_form(values: "pl.Series", *, comma: bool = False) -> str | None:
    """Return the number format of a column of text; None if a value is not a number.

    Infinite ones are numbers here, so that reading them can say that they are not finite.
    Where 1,234 could be either, ``comma`` decides.
    """
    first = str(values[0]).translate(IN_ASCII).strip(BLANKS)  # settles nearly all columns of words
    if not _is_plain(first) and not any(re.match(form, first) for form in FORMS.values()):
        return None
    if np.isfinite(values.cast(pl.Float64, strict=False).to_numpy()).all():  # nulls are NaN
        return ""
    finite = _are_finite(values)
    odd = values.filter(~finite).unique().to_list()
    if all(map(_is_plain, odd)) and (finite.any() or any(map(_is_infinite, odd))):
        return ""
    bare = values.str.strip_chars(BLANKS).str.replace_many(ASCII)
    present = bare.filter(~bare.str.to_lowercase().is_in(list(PLACEHOLDERS | MISSING)))
    if not len(present):
        return None
    forms = [form for form, pattern in FORMS.items() if present.str.contains(pattern).all()]
    if len(forms) == 2:
        surely = present.str.contains(SURELY_COMMA).any()
        apart = present.str.contains(SURELY_POINT).any()
        return "comma" if surely or (comma and not apart) else "point"
    return forms[0] if forms else None


def thousands(values: Sequence[str], mark: str) -> tuple[str, str] | None:
    """Return a number whose thousands a mark may part, and a whole number beside; None if not so.

    It may where every number with the mark has three digits behind it, and there are larger whole
    numbers without it, none of them above 999.

    >>> thousands(["7.082", "912", "23.162"], "."), thousands(["7.082", "912", "6.5"], ".")
    (('7.082', '912'), None)
    """
    marked = [value for value in values if mark in value]
    if not marked or not all(GROUPED[mark].fullmatch(_bare(value)) for value in marked):
        return None
    whole = [value for value in values if WHOLE.fullmatch(_bare(value))]
    largest = max(whole, key=lambda value: abs(int(_bare(value))), default="0")
    return (marked[0], largest) if LARGE <= abs(int(_bare(largest))) < GROUPED_FROM else None


def decimal_mark(values: Sequence[str], form: str) -> str | None:
    """Return what must stand before decimals in a column of numbers, None where it may be either.

    >>> [decimal_mark([text], "") for text in ("1.5", "7.082", "12")]
    ['point', None, None]
    """
    if form == "comma":
        return "comma" if any(re.search(SURELY_COMMA, _bare(value)) for value in values) else None
    pointed = (_bare(value) for value in values if "." in value)
    return None if all(map(GROUPED["."].fullmatch, pointed)) else "point"


def _bare(value: str) -> str:
    return re.sub(DECORATION, "", value.translate(IN_ASCII))


def all_numbers(series: "pl.Series") -> bool:
    """Whether every value of a column of text that is not missing is a finite number."""
    values = series.drop_nulls()
    odd = values.filter(~_are_finite(values)).unique().to_list()
    return all(read_number(token) is not None for token in odd)


def missing_faults(names: Sequence[str], numbers: NDArray[np.float64]) -> dict[int, str]:
    """Return by row which number is missing; there is a name a column."""
    gaps = np.isnan(numbers)
    rows = np.flatnonzero(gaps.any(axis=1))
    return {
        int(row): Sentence(
            f"column '{names[int(gaps[row].argmax())]}' has no value; fill it, or have it filled"
            f" with {Parameter('missing', 'mean')} or {Parameter('missing', 'zero')}"
        )
        for row in rows
    }


def _are_finite(series: "pl.Series") -> "pl.Series":
    """Return where polars reads a finite number; it takes what ``labels.NUMBER`` does, NaN and inf.

    A column of truth values that is made of a NumPy array would import ``numpy.ma``, for 40 ms.
    """
    return series.cast(pl.Float64, strict=False).is_finite().fill_null(value=False)


def _read_odd(
    series: "pl.Series", rows: NDArray[Any], numbers: NDArray[np.float64], faults: dict[int, str]
) -> None:
    """Read again the values that were not read as finite numbers; null and NaN are missing."""
    present = rows[series.is_not_null().to_numpy()[rows]].tolist()
    tokens = series.gather(present).to_list()
    read = {token: read_number(token) for token in set(tokens)}
    for row, token in zip(present, tokens, strict=True):
        number = read[token]
        if number is None:
            faults.setdefault(row, _not_a_number(series.name, token))
        numbers[row] = np.nan if number is None else number


def read_number(token: str) -> float | None:
    """Return the number that a token is, NaN where it stands for a missing one, else None."""
    bare = token.translate(IN_ASCII).strip(BLANKS)
    if bare in MISSING or bare.lower() in PLACEHOLDERS:
        return np.nan
    return float(bare) if NUMBER.fullmatch(bare.encode()) else None


def _is_plain(token: str) -> bool:
    """Whether a token is a number as programs write it, infinite ones too, or a missing one."""
    return read_number(token) is not None or _is_infinite(token)


def _is_infinite(token: str) -> bool:
    return bool(NOT_FINITE.fullmatch(token.strip(BLANKS).encode()))


def _not_a_number(name: str, token: str) -> str:
    if _is_infinite(token):
        return f"{shown(token.encode())} in column '{name}' is not finite"
    return Word(name, f"{shown(token.encode())} in column '{name}' is not a finite number")


class ColumnStatistics:
    """Exact running statistics of each column; the same, to rounding, however rows are cut.

    Blocks are merged as in Chan, Golub & LeVeque, "Updating formulae and a pairwise algorithm for
    computing sample variances" (1979): with d the difference of the means of two parts,
    mean = mean₁ + d·n₂/n and M₂ = M₂₁ + M₂₂ + d²·n₁·n₂/n.
    """

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.values = values  # (len(FIELDS), n_columns)

    @classmethod
    def empty(cls, n_columns: int) -> "ColumnStatistics":
        """Return statistics of no rows."""
        values = np.zeros((len(FIELDS), n_columns))
        values[FIELDS.index("low")] = np.inf
        values[FIELDS.index("high")] = -np.inf
        return cls(values)

    def add(self, block: NDArray[np.float64]) -> None:
        """Take in rows, NaN where a value is missing."""
        present = ~np.isnan(block)
        n_new = present.sum(axis=0).astype(np.float64)
        own = np.maximum(n_new, 1)
        new_mean = np.where(present, block, 0).sum(axis=0) / own
        apart = np.where(present, block - new_mean, 0)
        rest = apart.sum(axis=0) / own  # what rounding left
        new_m2 = (apart * apart).sum(axis=0) - rest * rest * n_new
        low = np.fmin.reduce(block, axis=0, initial=np.inf)
        high = np.fmax.reduce(block, axis=0, initial=-np.inf)
        n_missing = len(block) - n_new
        self.merge(np.stack([n_new, new_mean + rest, np.maximum(new_m2, 0), low, high, n_missing]))

    def merge(self, values: NDArray[np.float64]) -> None:
        """Take in the statistics of other rows."""
        count, mean, m2, low, high, n_missing = self.values
        n_new, new_mean, new_m2, new_low, new_high, new_missing = values
        total = np.maximum(count + n_new, 1)
        difference = np.where(n_new > 0, new_mean - mean, 0)
        mean += difference * (n_new / total)
        m2 += new_m2 + difference * difference * (count * n_new / total)
        count += n_new
        n_missing += new_missing
        np.minimum(low, new_low, out=low)
        np.maximum(high, new_high, out=high)

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean of each column; 0 where all is missing."""
        _, mean, _, low, high, _ = self.values
        return np.where(low <= high, np.clip(mean, low, high), 0)

    @property
    def deviation(self) -> NDArray[np.float64]:
        """The standard deviation of each column, or 1 where all values are equal."""
        count, _, m2, low, high, _ = self.values
        deviation = np.sqrt(m2 / np.maximum(count, 1))
        with np.errstate(invalid="ignore"):  # of a column without values
            width = high - low
        # Squares of small differences underflow; half the width is what the deviation is at most.
        deviation = np.where(width < SMALLEST_WIDTH, np.maximum(width / 2, LEAST), deviation)
        # Equal values can leave a deviation that is all rounding.
        return np.where(low < high, deviation, 1)

    def finished(self, numbers: NDArray[Any], missing: str, *, scale: bool) -> NDArray[np.float64]:
        """Return rows with gaps filled by the mean or by zero, scaled to deviation 1 or not."""
        filled = np.where(np.isnan(numbers), self.mean if missing == "mean" else 0.0, numbers)
        return shortened((filled - self.mean) / self.deviation) if scale else filled

    def ends_and_means(self) -> list[list[float]]:
        """Return the least numbers of the columns, their means and the largest."""
        places = [FIELDS.index(name) for name in ("low", "mean", "high")]
        found: list[list[float]] = self.values[places].tolist()
        return found

    def unscaled(self, scaled: Any, columns: Any = ...) -> NDArray[np.float64]:
        """Return the numbers that scaled ones stand for, of some columns or of all in a row."""
        size = np.abs(scaled)
        far = STRAIGHT * np.exp(np.maximum(size, STRAIGHT) - STRAIGHT) * np.sign(scaled)
        plain = np.where(size <= STRAIGHT, scaled, far)
        return np.asarray(self.mean[columns] + plain * self.deviation[columns])

    def in_file(self, scaled: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the numbers of a file that scaled ones were made of, without rounding in them.

        Fractions have up to ``DIGITS`` digits, counted from the first of the column's largest.
        """
        numbers = self.unscaled(scaled)
        for column in numbers.T:
            largest = float(np.abs(column).max(initial=LEAST))
            column[:] = column.round(max(0, DIGITS - 1 - math.floor(math.log10(largest))))
        return numbers


def shortened(scaled: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scaled numbers with those far out drawn nearer: beyond 3 deviations by the logarithm.

    z stays as it is up to 3, then it is 3 + ln(z/3): a value 1,000 deviations away counts as 8.8.

    >>> shortened(np.array([-1.0, 2.5, 3000.0])).round(2).tolist()
    [-1.0, 2.5, 9.91]
    """
    size = np.abs(scaled)
    far = size > STRAIGHT
    if not far.any():
        return scaled
    drawn = np.sign(scaled) * (STRAIGHT + np.log(np.maximum(size, STRAIGHT) / STRAIGHT))
    return np.where(far, drawn, scaled)


class RowSample:
    """Every k-th row of a stream, where k doubles when there is no more room.

    It depends on the rows and their order alone, however they are cut into blocks.
    """

    def __init__(self, n_columns: int, most: int = MOST_SAMPLED) -> None:
        self._room = max(most // max(n_columns, 1), FEWEST_SAMPLED)
        self._rows = np.empty((0, n_columns))
        self._n_seen = 0
        self._step = 1

    def add(self, block: NDArray[np.float64]) -> None:
        """Take in rows."""
        first = -self._n_seen % self._step
        self._rows = np.concatenate([self._rows, block[first :: self._step]])
        self._n_seen += len(block)
        while len(self._rows) > self._room:
            self._rows, self._step = self._rows[::2], 2 * self._step

    def edges(self, n_bins: int) -> list[NDArray[np.float64]]:
        """Return the edges between so many bins of each column; what is missing has none."""
        return [quantile_edges(column, n_bins) for column in self.columns()]

    def columns(self) -> list[NDArray[np.float64]]:
        """Return the numbers of each column, without those that are missing."""
        return [column[~np.isnan(column)] for column in self._rows.T]


def code_columns(
    table: Table, columns: Sequence[InputColumn], numbers: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Return the numbers of columns that may be codes: whole and few, each several times."""
    found: dict[str, NDArray[np.float64]] = {}
    for column, own in zip(columns, numbers.T, strict=True):
        values, uses = np.unique(own[np.isfinite(own)], return_counts=True)
        few = 2 < len(values) <= min(MOST_CODES, uses.sum() / FEWEST_USES)
        plain = not column.form and table.frame[column.name].dtype != pl.Duration
        if few and plain and (values == np.floor(values)).all():
            found[column.name] = own
    return found


def quantile_edges(values: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    """Return the edges between ranges of about equally many values; values that are equal meet.

    >>> quantile_edges(np.array([1.0, 2.0, 3.0, 4.0]), 2).tolist()
    [2.5]
    >>> quantile_edges(np.array([0.0, 0.0, 0.0, 9.0]), 4).tolist()
    [4.0]
    """
    if not len(values):
        return np.empty(0)
    ascending = np.sort(values)
    places = -(-np.arange(1, n_bins) * (len(values) - 1) // n_bins)  # rounded up
    above = np.unique(ascending[places])
    above = above[above > ascending[0]]
    below = ascending[np.searchsorted(ascending, above) - 1]
    return np.array([*map(edge_between, below.tolist(), above.tolist())])


def edge_between(low: float, high: float) -> float:
    """Return a number midway between two, with the fewest digits in the middle half.

    On an edge that is itself a value, rounding by the writer of a file would decide.

    >>> edge_between(19.87, 20.16), edge_between(1234.0, 1235.0), edge_between(-1.0, 1.25)
    (20.0, 1234.5, 0.0)
    """
    middle, room = low + (high - low) / 2, (high - low) / 4
    first = -math.floor(math.log10(max(-low, high)))
    for digits in range(first, first + 18):
        edge = round(middle, digits)
        if low < edge and abs(edge - middle) <= room:
            return edge
    return high  # the next number after the lower one


class NumberBins:
    """Indicators of the ranges of numeric columns, with the numbers that their features have."""

    def __init__(
        self, edges: Sequence[NDArray[np.float64]], features: Sequence[NDArray[np.int32]]
    ) -> None:
        self.edges = list(edges)
        self.features = features  # of the ranges of each column, behind the numbers; −1: it has one

    @classmethod
    def named(
        cls,
        edges: Sequence[NDArray[np.float64]],
        columns: Sequence[FeatureColumn],
        numbering: Numbering,
    ) -> "NumberBins":
        """Return bins whose features have numbers and names in a numbering."""
        pairs = zip(edges, columns, strict=True)
        return cls(edges, [_features(own, column, numbering) for own, column in pairs])

    def part(self, numbers: NDArray[np.float64]) -> Batch:
        """Return the feature of the range of each number of rows, none where it is missing."""
        found = np.full(numbers.shape, -1, np.int32)
        for k, (edges, features) in enumerate(zip(self.edges, self.features, strict=True)):
            found[:, k] = features[np.searchsorted(edges, numbers[:, k], side="right")]
        found[np.isnan(numbers)] = -1
        return indicator_part(found)


def _features(
    edges: NDArray[np.float64], column: FeatureColumn, numbering: Numbering
) -> NDArray[np.int32]:
    """Return the feature of each range of a column; a column of one range has none."""
    if not len(edges):
        return np.full(1, -1, np.int32)
    texts = [f"{edge:.15g}" for edge in edges]
    between = [f"from {a} to {b}" for a, b in pairwise(texts)]
    names = [f"below {texts[0]}", *between, f"from {texts[-1]}"]
    seed = column_seed("bin", column.title)
    keys = [term_hash(str(k).encode(), seed) for k in range(len(names))]
    named = zip(keys, names, strict=True)
    numbers = [numbering.level(column.place, key, name.encode(), 0) for key, name in named]
    return np.array(numbers, np.int32)

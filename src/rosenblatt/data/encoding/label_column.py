"""Which column holds the labels, the class of each row, and which columns give it away."""

import math
import re
from collections.abc import Callable, Collection, Generator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding.features import (
    BLANKS,
    MISSING,
    InputColumn,
    plainly_typed,
    replaced_values,
)
from rosenblatt.data.encoding.numbers import (
    MOST_CODES,
    all_numbers,
    code_columns,
    read_number,
    read_numbers,
)
from rosenblatt.data.labels import IN_LISTS, Classes, Label, LabelSet, checked_text, read_label_set
from rosenblatt.data.polars import pl
from rosenblatt.data.tables.arrays import VECTOR, labels_beside
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError, Parameter, Question, Sentence
from rosenblatt.kernels.rows import mixed_words
from rosenblatt.wording import counted

STRONG_NAMES = ("label", "labels", "class", "target", "outcome")  # of labels, in any case
MOST_WORDS = 100  # that a column without such a name may have to be taken for the labels
MOST_NUMBERS = 30
MOST_GRADES = 10  # different numbers of a named column that are classes rather than a count
CLEARLY_FEWER = 5  # times fewer values than the first column decide for the last
COLUMNS_SHOWN = 20  # in a message
LINES_SHOWN = 12  # of likely columns
VALUES_SHOWN = 4
MOST_FRACTIONS = 10  # numbers that are not whole, and yet classes
MOST_WHOLE = 100  # whole numbers that are surely classes
LARGE_SHARE = 0.1  # of the rows: so many different whole numbers are no classes
FEWEST_ROWS = 20  # by which a column is judged

# Patterns of names, compiled where a table is looked through: all take 2 ms, of every start.
# Columns that have few values and yet are not what anyone predicts, unless it is said.
NEVER_GUESSED = (
    r"(?i)(?:.*[^a-z])?(?:year|month|week|weekday|day|dow|hour|minute|date|time|datetime|timestamp"
    r"|quarter|id|index|fold|split)"
    r"(?:[^a-z]?(?:of|in)[^a-z]?(?:week|month|year|day))?(?:[^a-z].*)?"
)

# What people predict, by the letters of its name: it decides where no strong name does.
OUTCOME = (
    r"(?:is)?(?:attrition|approved|cancell?ed|churn|churned|clicked|converted|choice|dead|death"
    r"|default|defaulted|deceased|diagnosis|died|exited|fraud|fraudulent|purchased|readmitted|response|sentiment|spam"
    r"|species|subscribed|survived|toxic|vote)"
)
# What may be predicted, by its last word: beside such a column no other one is clear.
HINT = r"(?i)(?:.*[^a-z])?(?:status|result|event|type|category|grade|severity)"

# What rows have rather than what is predicted: listed last where a person has to choose.
ATTRIBUTE = (
    r"(?i)(?:.*[^a-z])?(?:age|sex|gender|female|male|race|ethnic|ethnicity|nationality|country|region"
    r"|state|city|county|province|continent|language|island|origin|marital|married|smoker|colou?r|season"
    r"|holiday|weekend)(?:[^a-z].*)?"
)
# What is set rather than found out: never taken for the label by itself, but it may be meant.
FACTOR = r"(?i)(?:.*[^a-z])?(?:treatment|treat|trt|drug|block|subject|name|location|source|period)"
# How a missing label is written.
NO_LABEL = frozenset({"", "NA", "N/A", "nan", "NaN", "null", "NULL"})
UNNAMED = "column_[0-9]+"
LEAST_ROWS = 10  # of a class, and of the others
SHARE_WRONG = 0.02  # of the rows of the rarer side, at most
MOST_TEXTS = 1000  # that are looked through for words
LONGEST_WORDS = 2000  # characters of a text that are looked through
WORD = r"[\p{L}\p{M}\p{N}]+"
MOST_ROWS = 10_000  # from all over a file, by which columns are suspected to know the label
MOST_CELLS = 1 << 18  # of them
FEW_ROWS = 1000  # that are kept, however many columns there are
MOST_WRONG = 0.04  # of the rows that the largest class is not: of two equal classes 2 % of all rows
MOST_LEVELS = 0.1  # of the rows: a column with more values may decide by naming the rows
BINS = 64
JUDGED = ("label", "numeric", "category", "text")  # roles
SEPARATORS = (";", "|", ",", " ")  # that labels of a row may have between them
FEWER_PARTS = 2  # times fewer labels than different texts of them
SHARE_OF_SEVERAL = 0.2  # of the rows


class LabelGuess(NamedTuple):
    """Which column holds the labels, and why."""

    column: str
    reason: str  # "the last column"


class _Candidate(NamedTuple):
    name: str
    values: tuple[str, ...]  # that it has, sorted
    numeric: bool
    gaps: bool  # whether some rows have no value

    @property
    def n_values(self) -> int:
        return len(self.values)

    @property
    def two(self) -> bool:
        return self.n_values == 2

    def called(self, pattern: str) -> bool:
        return bool(re.fullmatch(pattern, self.name.strip()))

    def guess(self, which: str) -> LabelGuess:
        return LabelGuess(self.name, f"the {which}")  # the sample need not have all its values

    def shown(self) -> str:
        some = ", ".join(" ".join(value.split())[:20] for value in self.values[:VALUES_SHOWN])
        more = "" if self.n_values <= VALUES_SHOWN else f", … {self.n_values} values"
        return f"'{self.name}' ({some}{more})"


def is_outcome(name: str) -> bool:
    """Return whether a column has the name of something that people predict.

    >>> is_outcome("Is_Fraud"), is_outcome("Survived"), is_outcome("age")
    (True, True, False)
    """
    return bool(re.fullmatch(OUTCOME, re.sub("[^a-z]", "", name.lower())))


def guess_label(table: Table, taken: Collection[str]) -> LabelGuess:
    """Return the column that holds the labels, where the sample makes it clear.

    The file itself marks it, or its name does; else it is a column with few different values: the
    only such column, the only one of words, or the last one, if no other is as likely; where
    columns have no names, the first or the last one. ``taken`` columns are something else.
    """
    heading = table.heading
    if table.frame.height == 1 and heading is not None and not heading.header:
        raise InputError(f"{table.file} has only one line: there is nothing to learn from.")
    names = [name for name in table.frame.columns if name not in taken]
    marked = None if heading is None else heading.label
    if marked in names:
        return LabelGuess(str(marked), "as the header says")
    judged = {name: _candidate(table, name) for name in names}
    found = {name: one if isinstance(one, _Candidate) else None for name, one in judged.items()}
    candidates = [one for one in found.values() if one is not None]
    strong = [name for name in names if name.strip().lower() in STRONG_NAMES]
    weak = [name for name in names if name.strip().lower() == "y" and found[name]]
    outcomes = [one.name for one in candidates if is_outcome(one.name) and one.n_values > 1]
    if outcomes and len(strong) == 1 and strong[0].strip().lower() == "class":
        strong += outcomes  # the class of a traveller, or the labels
    named = next((matching for matching in (strong, weak, outcomes) if matching), [])
    if len(named) == 1:
        return LabelGuess(named[0], "by its name")
    if not named and heading is not None and heading.kind(names[-1]) == "category":
        return LabelGuess(names[-1], "the last attribute, which is nominal")
    if not named and len(names) > 1:
        unnamed = all(re.fullmatch(UNNAMED, name) for name in names)
        guess = _first_or_last([*found.values()]) if unnamed else _clear(candidates, names)
        hints = [one.name for one in candidates if one.called(HINT) and one.n_values > 1]
        clear = guess is not None and not re.fullmatch(FACTOR, guess.column.strip())
        if guess is not None and clear and (not hints or guess.column in hints):
            return guess
    likely = [one for one in candidates if one.n_values > 1 and (not strong or one.name in strong)]
    if likely:
        raise Question(_question(table, likely))
    if table.frame.columns == [VECTOR]:
        raise InputError(f"{table.file} has no labels; {labels_beside(table.file)}.")
    passed = [_passed_over(name, one) for name, one in judged.items()]
    passed[LINES_SHOWN:] = [f"{len(passed) - LINES_SHOWN} more"] * (len(passed) > LINES_SHOWN)
    raise InputError(
        f"{table.file}: no column has few different words or whole numbers, as labels have. ",
        "; ".join(passed),
        f". If one does hold classes, name it with {Parameter('label')}.",
    )


def _question(table: Table, likely: Sequence[_Candidate]) -> Sentence:
    """Return what asks for the column of the labels, the likeliest of them first."""

    def rank(one: _Candidate) -> tuple[bool, ...]:
        first = not is_outcome(one.name), not one.called(HINT), one.numeric > one.two
        return *first, one.called(ATTRIBUTE), one.name != table.frame.columns[-1]

    ranked = sorted(likely, key=rank)
    lines = [f"  {one.shown()}" for one in ranked[:LINES_SHOWN]]
    more = [f"  and {len(ranked) - LINES_SHOWN} more"] if len(ranked) > LINES_SHOWN else []
    return Sentence(
        f"{table.file}: which column holds the labels? These could:\n",
        "\n".join([*lines, *more]),
        f"\nName it, for example: {Parameter('label', ranked[0].name)}",
    )


def _passed_over(name: str, judged: _Candidate | str) -> str:
    if isinstance(judged, str):
        return f"'{name}': {judged}"
    return f"'{name}': one value alone, {judged.values[0]!r:.40}"


def _clear(candidates: Sequence[_Candidate], names: Sequence[str]) -> LabelGuess | None:
    """Return the guess among named columns, None where it is not clear."""
    usual = [one for one in candidates if not one.called(ATTRIBUTE)]
    able = [one for one in usual if one.n_values > 1 and not one.gaps]
    if any(one.gaps and one.two for one in usual):
        return None  # it may well be meant: some rows have no label
    surely = [one for one in able if not one.numeric or one.n_values <= MOST_GRADES]
    last = next((one for one in surely if one.name == names[-1]), None)
    varied = [one for one in candidates if one.n_values > 1]
    others = [one for one in (varied if last and last.numeric else able) if one is not last]
    if last is not None and not any(_as_likely(one, last, names[0]) for one in others):
        return last.guess("last column")
    words = [one for one in able if not one.numeric]
    if len(able) == 1 and (words or able[0].two):
        return able[0].guess("only likely column")
    if len(words) == 1 and not any(one.two for one in able if one.numeric):
        return words[0].guess("only column of words")
    return None


def _as_likely(one: _Candidate, last: _Candidate, first: str) -> bool:
    """Whether a named column may be the label just as well as the last one."""
    if last.numeric:
        return one.n_values <= last.n_values
    if one.numeric:
        return one.two and one.name == first
    return one.n_values <= last.n_values and (one.two or one.name == first)


def _first_or_last(candidates: Sequence[_Candidate | None]) -> LabelGuess | None:
    """Return the guess among unnamed columns in order, None where it is not clear."""
    first, last = (one if one and not one.gaps else None for one in (candidates[0], candidates[-1]))
    fewer = first and last and CLEARLY_FEWER * last.n_values <= first.n_values
    chosen, which = (first, "first column") if last is None else (None, "")
    if last and (first is None or first.numeric > last.numeric or fewer):
        chosen, which = last, "last column"
    # One word alone may come from a file sorted by its labels
    varies = chosen is not None and (chosen.n_values > 1 or not chosen.numeric)
    return chosen.guess(which) if chosen and varies else None


def label_separator(table: Table, name: str, said: str | None) -> str:
    """Return what stands between the labels of a row; "" where every row has one.

    A user says so, or the first rows have lists of labels. Raises InputError where the values of
    the column can be no labels.
    """
    series = table.frame[name]
    texts = _plain_texts(series)
    lists = series.dtype.is_nested() or (
        texts.dtype == pl.String and texts.str.contains(IN_LISTS, literal=True).any()
    )
    separator = said or (IN_LISTS if lists else "")
    if separator:
        parts = texts.cast(pl.String).str.replace_all(IN_LISTS, separator, literal=True)
        parts = parts.str.split(separator).explode().str.strip_chars(BLANKS)
        _check_parts(table, name, parts.filter(parts != ""), separator)
    else:
        check_labels(table, name)
        check_first_row(table, name)
    return separator


def _plain_texts(series: "pl.Series") -> "pl.Series":
    """Return a column of lists as texts with something between, any other one plainly typed."""
    if isinstance(series.dtype, pl.Array):
        series = series.arr.to_list()
    if not isinstance(series.dtype, pl.List) or series.dtype.inner.is_nested():
        return plainly_typed(series)
    inner = series.explode()
    if inner.dtype.is_float() and bool((inner == inner.floor()).fill_null(value=True).all()):
        series = series.cast(pl.List(pl.Int64))
    return series.cast(pl.List(pl.String)).list.join(IN_LISTS, ignore_nulls=True)


def _likely_separator(values: "pl.Series") -> str | None:
    """Return what separates labels, where many different texts are made of a few parts."""
    n_texts = values.n_unique()
    for separator in SEPARATORS if n_texts >= FEWEST_ROWS else ():
        has = values.str.contains(separator, literal=True)
        n_parts = values.unique().str.split(separator).explode().str.strip_chars().n_unique()
        often = has.sum() >= SHARE_OF_SEVERAL * len(values)
        if often and FEWER_PARTS * n_parts <= n_texts:
            return separator
    return None


def _check_parts(table: Table, name: str, parts: "pl.Series", separator: str) -> None:
    """Raise InputError where rows have more different labels than there are rows."""
    n_values, n_rows = parts.n_unique(), table.frame.height
    if n_values > n_rows >= FEWEST_ROWS:
        raise InputError(
            f"{table.file}: column '{name}' has {n_values:,} different labels in {n_rows:,} rows:"
            f" it is no column of labels, or {Parameter('label_separator', separator)} is not what"
            " stands between them."
        )


def check_labels(table: Table, name: str) -> None:
    """Raise InputError where the values of a column are no classes but quantities or names."""
    values = table.frame[name].drop_nulls()
    if values.dtype == pl.String and all_numbers(values):
        values = values.cast(pl.Float64, strict=False).drop_nulls()
    n_values, n_rows = values.n_unique(), len(values)
    if values.dtype.is_numeric():
        whole = bool((values == values.floor()).all())
        check_quantity(table.file, n_values, n_rows, whole=whole, column=name)
    elif n_rows >= FEWEST_ROWS and 2 * n_values > n_rows:
        likely = _likely_separator(values) if values.dtype == pl.String else None
        separator = Parameter("label_separator", likely)
        raise InputError(
            f"{table.file}: column '{name}' has {n_values:,} different values in {n_rows:,} rows,"
            " so that nearly every row would be a class of its own; name another column with "
            f"{Parameter('label')}",
            "" if likely is None else f", or, if rows have several labels, use {separator}",
            ".",
        )


def check_quantity(
    file: str, n_values: int, n_rows: int, *, whole: bool, column: str | None = None
) -> None:
    """Raise InputError if the labels look like a quantity."""
    most = max(MOST_WHOLE, LARGE_SHARE * n_rows) if whole else MOST_FRACTIONS
    if n_rows < FEWEST_ROWS or n_values <= most:
        return
    labels = "the labels" if column is None else f"the labels, column '{column}',"
    other = Sentence(f", or name another column with {Parameter('label')}")
    raise InputError(
        f"{file}: {labels} are {n_values:,} different numbers in the first {n_rows:,} rows: a"
        " quantity, not classes. Make classes of it first, for instance low and high",
        "" if column is None else other,
        ".",
    )


def label_notes(table: Table, name: str) -> list[str]:
    """Return a sentence where labels differ only in case, so that they are several classes."""
    values = table.frame[name].drop_nulls()
    if values.dtype != pl.String:
        return []
    likely = _likely_separator(values)
    if likely is not None:
        return [
            Sentence(
                f"The labels in column '{name}' look as if rows had several: if they have, use "
                f"{Parameter('label_separator', likely)}."
            )
        ]
    if values.n_unique() > MOST_WORDS:
        return []
    by_case: dict[str, list[str]] = {}
    for value in sorted({str(value).strip(BLANKS) for value in values.unique().to_list()}):
        by_case.setdefault(value.casefold(), []).append(value)
    alike = next((same for same in by_case.values() if len(same) > 1), None)
    if alike is None:
        return []
    quoted = " and ".join(f"'{value}'" for value in alike[:2])
    return [f"The labels {quoted} in column '{name}' differ only in case; they are two classes."]


def check_first_row(table: Table, name: str) -> None:
    """Raise InputError where the first row may be a header: its label occurs in no other row."""
    heading = table.heading
    labels = table.frame[name]
    if heading is None or heading.header or not heading.detected or len(labels) < FEWEST_ROWS:
        return
    counts = labels.value_counts(sort=False, name="rows")
    once = counts.filter(counts["rows"] == 1).to_series(0).to_list()
    if table.first_row == 1 and once == [labels[0]] and labels[0] is not None:
        raise InputError(
            f"{table.file}: the first line may be a header, since its label '{labels[0]}' is in no"
            f" other row. If it names the columns, use {Parameter('header', value=True)}, else "
            f"{Parameter('header', value=False)}."
        )


def listed_columns(names: Sequence[str]) -> str:
    """Return a sentence that names the columns there are."""
    return f"The columns are {quoted_columns(names)}."


def quoted_columns(names: Sequence[str]) -> str:
    """Return names as a list; of a long one the last ones, too: labels often stand there."""
    items = [repr(name) for name in names]
    middle = len(items) - COLUMNS_SHOWN
    if middle > 0:
        items[COLUMNS_SHOWN - 3 : -3] = [f"{middle} more"]
    return ", ".join(items)


def table_labels(
    table: Table,
    name: str | None,
    classes: Classes | None,
    *,
    required: bool,
    separator: str = "",
) -> NDArray[np.int32]:
    """Return the class of each row; −1 where there is none, which is an error if it is required.

    With a separator it is a set of labels, which may be empty.
    """
    there = name in table.frame.columns
    if name is None or classes is None or not (there or required):
        return np.full(table.frame.height, -1, np.int32)
    if not there:
        raise InputError(
            f"{table.file} has no column '{name}', which holds the labels."
            f" {listed_columns(table.frame.columns)}"
        )
    series, labels, faults = _read_labels(table, name, separator)
    for value, fault in faults.items():
        if fault or required:
            missing = Sentence(
                f": the label, column '{name}', is missing; leave the row out, or name another"
                f" column with {Parameter('label')}"
            )
            place = table.place(series.index_of(value) or 0)
            raise InputError(place, f", {fault}" if fault else missing, ".")
    codes = classes.codes([*labels.values()])
    return replaced_values(series, dict(zip(labels, codes.tolist(), strict=True)))


def label_faults(table: Table, name: str, separator: str) -> dict[int, str]:
    """Return what is wrong with labels by row, "" where there is none."""
    if name not in table.frame.columns:
        return {}
    series, _, faults = _read_labels(table, name, separator)
    if not faults:
        return {}
    return {row: faults[value] for row, value in enumerate(series) if value in faults}


def labelled_rows(table: Table, name: str, separator: str) -> Table:
    """Return the rows of a table that have a label; all of them where none has."""
    usable = np.ones(table.frame.height, bool)
    usable[[*label_faults(table, name, separator)]] = False
    return table.filtered(usable) if usable.any() else table


def _read_labels(
    table: Table, name: str, separator: str
) -> "tuple[pl.Series, dict[Any, Label | LabelSet], dict[Any, str]]":
    """Return a column, the label of each value, and what is wrong with others; "": missing."""
    series = (_plain_texts if separator else plainly_typed)(table.frame[name])
    if series.dtype.is_float():
        series = series.fill_nan(None)
    elif not series.dtype.is_numeric() and series.dtype not in (pl.String, pl.Boolean, pl.Null):
        raise InputError(
            f"{table.file}: column '{name}' holds {series.dtype}, which can't be labels; name the"
            f" column of the labels with {Parameter('label')}."
        )
    labels: dict[Any, Label | LabelSet] = {}
    faults: dict[Any, str] = {}
    for value in series.unique(maintain_order=True).to_list():
        try:
            label = _label_set(value, separator) if separator else _label(value)
        except ValueError as error:
            faults[value] = f"column '{name}': {error}"
        else:
            if label is None:
                faults[value] = ""
            else:
                labels[value] = label
    return series, labels, faults


def _label_set(value: Any, separator: str) -> LabelSet:
    """Return the labels that a value of a column holds, none where it is missing."""
    label = _label(value) if not isinstance(value, str) else value
    text = "" if label is None or value in NO_LABEL else str(label)
    return read_label_set(text, separator, BLANKS)


def _label(value: Any) -> Label | None:
    """Return the label that a value of a column is: text as written; None for a missing one."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if IN_LISTS in value:
            first, second, *_ = value.split(IN_LISTS)
            raise ValueError(f"the labels '{first}' and '{second}', where one was expected")
        bare = value.strip(BLANKS)
        return None if bare in NO_LABEL else checked_text(bare)
    if isinstance(value, int):
        return value
    number = float(value)
    if math.isinf(number):
        raise ValueError(f"label '{number}' is not finite")
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _candidate(table: Table, name: str) -> _Candidate | str:
    """Return a column as a candidate, or why its values can't well be labels."""
    values = table.frame[name]
    if values.dtype in (pl.Categorical, pl.Enum):
        values = values.cast(pl.String)
    if not (values.dtype in (pl.String, pl.Boolean) or values.dtype.is_numeric()):
        return "no value" if values.dtype == pl.Null else f"of the type {values.dtype}"
    if re.fullmatch(NEVER_GUESSED, name.strip()):
        return "a time, a key or a split by its name"
    return _few_values(name, values)


def _few_values(name: str, values: "pl.Series") -> _Candidate | str:
    """Return a column of few different words or whole numbers, or what it has instead."""
    is_text = values.dtype == pl.String
    n_present, most = len(values) - values.null_count(), MOST_WORDS + len(MISSING) + 1
    n_values = values.n_unique()
    if n_values > most:  # each call of polars costs 0.1 ms, and there may be many columns
        return _many(n_values - (n_present < len(values)), n_present, values.dtype.is_numeric())
    distinct = sorted(value for value in values.unique().to_list() if value is not None)
    absent = [value for value in distinct if is_text and value in MISSING and value != "None"]
    if absent:
        n_present -= int(values.is_in(absent).sum())
        distinct = [value for value in distinct if value not in absent]
    n_values = len(distinct)
    if not n_values:
        return "no value"
    numbers: list[Any] = [read_number(value) if is_text else value for value in distinct]
    numeric = values.dtype.is_numeric() or (is_text and None not in numbers)
    if n_values > MOST_WORDS or 2 * n_values >= n_present:
        return _many(n_values, n_present, numeric)
    if numeric:
        fraction = next((n for n in numbers if math.isfinite(n) and n % 1), None)
        if fraction is not None:
            return f"numbers that are not whole, such as {fraction:.6g}"
        if n_values > MOST_NUMBERS:
            return f"{n_values:,} different numbers"
        size = dict(zip(distinct, numbers, strict=True))
        distinct.sort(key=lambda value: (not math.isfinite(size[value]), size[value]))
    return _Candidate(name, tuple(map(str, distinct)), numeric, n_present < len(values))


def _many(n_values: int, n_rows: int, numeric: bool) -> str:
    what = "numbers" if numeric else "values"
    return f"{n_values:,} different {what} in {counted(n_rows, 'row')}"


class Leak(NamedTuple):
    """A feature that tells a class from the others, but for a few rows; both by number."""

    class_: int
    feature: int
    n_wrong: int


def leaks(wrong: NDArray[np.int64], sizes: Sequence[int]) -> list[Leak]:
    """Return for each class the first of the best features, where it is wrong on few rows alone.

    Of more than two classes, half at least must be given away; of two, the second is looked at.
    ``wrong`` (n_features, n_classes) counts the rows on which a feature is wrong about a class.
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


def stump_errors(values: NDArray[Any], positive: NDArray[Any]) -> int:
    """Return how many rows the best threshold on one feature gets wrong.

    >>> stump_errors(np.array([0.0, 1.0, 1.0, 2.0]), np.array([False, False, True, True]))
    1
    """
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    below = np.cumsum(positive[order])[ends]  # positive rows up to each threshold
    n_positive = int(positive.sum())
    wrong = below + (len(values) - n_positive) - (ends + 1 - below)  # where above is positive
    return int(min(wrong.min(), (len(values) - wrong).min(), n_positive, len(values) - n_positive))


class SpreadRows:
    """Rows from all over a stream: all at first, half of them whenever there is no more room.

    Chance chooses them, by their numbers: the stream may be sorted, or repeat a cycle.
    """

    def __init__(self, most: int) -> None:
        self._most, self._limit, self._n_seen = most, (1 << 64) - 1, 0
        self._kept: list[tuple[NDArray[np.uint64], Any]] = []

    @property
    def parts(self) -> list[Any]:
        """The rows, in their order."""
        return [rows for _, rows in self._kept]

    def add(self, n_rows: int, take: Callable[[NDArray[np.int64]], Any]) -> None:
        """Take in the next rows, of which ``take`` returns those at some places."""
        keys = mixed_words(np.arange(self._n_seen, self._n_seen + n_rows, dtype=np.uint64))
        self._n_seen += n_rows
        places = np.flatnonzero(keys <= self._limit)
        while len(places) + sum(len(own) for own, _ in self._kept) > self._most:
            self._limit //= 2
            places = places[keys[places] <= self._limit]
            at = [np.flatnonzero(own <= self._limit) for own, _ in self._kept]
            kept = zip(self._kept, at, strict=True)
            self._kept = [(own[some], rows[some]) for (own, rows), some in kept if len(some)]
        if len(places):
            self._kept.append((keys[places], take(places)))


class LabelledSample:
    """Rows from all over tables, by which columns are suspected to know the label."""

    def __init__(self, columns: Sequence[InputColumn], most: int = MOST_ROWS) -> None:
        self._columns = {one.name: one.role for one in columns if one.role in JUDGED}
        self._rows = SpreadRows(min(most, max(MOST_CELLS // len(self._columns), FEW_ROWS)))

    def passing(self, tables: Generator[Table, None, None]) -> Generator[Table, None, None]:
        """Yield tables, and keep some of their rows."""
        for table in tables:
            self.add(table)
            yield table

    def add(self, table: Table) -> None:
        """Keep some of the rows of a table."""
        self._rows.add(table.frame.height, lambda places: self._taken(table, places))

    def frames(self) -> "list[pl.DataFrame]":
        """Return the rows in parts: numbers, lengths of time and texts."""
        return self._rows.parts

    def _taken(self, table: Table, places: NDArray[np.int64]) -> "pl.DataFrame":
        own = pl.DataFrame({name: table.frame[name] for name in self._columns})
        taken = own[places]
        plain = {name: _plain(taken[name], role) for name, role in self._columns.items()}
        # Texts share the memory of their whole table until they are copied.
        return pl.read_ipc(pl.DataFrame(plain).write_ipc(None).getvalue())


def _plain(series: "pl.Series", role: str) -> "pl.Series":
    """Return a column as numbers, lengths of time or texts that are not long; null: anything else.

    Successive tables of JSON may give a column different types.
    """
    if series.dtype == pl.Float64 or (series.dtype == pl.Duration and role == "numeric"):
        return series
    if series.dtype.is_numeric():
        return series.cast(pl.Float64)
    if series.dtype.is_nested() or series.dtype == pl.Binary:
        return pl.Series([None] * len(series), dtype=pl.String)
    texts = series.cast(pl.String)
    return texts.str.slice(0, LONGEST_WORDS) if role == "text" else texts


def deciding_columns(frames: "Sequence[pl.DataFrame]", columns: Sequence[InputColumn]) -> list[str]:
    """Return sentences on columns, or words, that alone tell the label of nearly every row.

    Such a column is right on nearly all rows on which always predicting the largest class is wrong,
    or it is filled, or missing, in rows of one class alone.
    """
    label = next((one for one in columns if one.role == "label"), None)
    if label is None or label.form or not frames:
        return []
    frame = pl.concat(frames, how="vertical_relaxed")
    frame = frame.filter(~_gaps(frame[label.name], NO_LABEL))
    (codes,) = _codes(frame, [label.name])
    classes, sizes = frame[label.name].unique().sort().to_list(), np.bincount(codes)[1:]
    names = [f"{one:g}" if isinstance(one, float) else str(one) for one in classes]
    n_rows, codes = len(codes), codes - 1
    n_others = n_rows - int(sizes.max(initial=0))
    if n_others < LEAST_ROWS:
        return []
    # Rows that each column gets wrong: the commonest class of each group is decided
    table = Table(frame, "", 1, None, 0)
    numeric = [one for one in columns if one.role == "numeric"]
    read, _ = read_numbers(table, numeric)
    numbers = dict(zip(numeric, read.T, strict=True))
    coded = code_columns(table, numeric, read)
    groups = {one: _near(values) for one, values in numbers.items()}
    categories = [one for one in columns if one.role == "category" and one.parts == ("",)]
    levels = zip(categories, _codes(frame, [one.name for one in categories]), strict=True)
    groups |= {one: own for one, own in levels if own.max(initial=0) <= MOST_LEVELS * n_rows}
    wrong = {one: n_rows - _decided(own, codes) for one, own in groups.items()}
    for one, values in numbers.items() if len(sizes) == 2 else ():
        filled = np.where(np.isnan(values), -np.inf, values)
        wrong[one] = min(wrong[one], stump_errors(filled, codes == 1))
    notes = _deciding_words(frame, codes, columns)
    always = f"(always {names[sizes.argmax()]}: {100 * sizes.max() / n_rows:.3g} %)"
    for one in columns:
        if one.role not in JUDGED or one is label:
            continue
        gaps = np.isnan(numbers[one]) if one in numbers else _gaps(frame[one.name], MISSING)
        told = _told_by_gaps(np.asarray(gaps), codes, names)
        decides = not told and wrong.get(one, n_rows) <= MOST_WRONG * n_others
        if decides:
            told = f" alone decides {100 * (1 - wrong[one] / n_rows):.3g} % of {n_rows:,} rows"
            told += f" {always}"
        notes += [_note(one.name, told, coded=decides and one.name in coded)] if told else []
    return notes


def _decided(groups: NDArray[np.int64], codes: NDArray[np.int64]) -> int:
    """Return how many rows have the commonest class of their group."""
    n_classes = int(codes.max()) + 1
    size = (int(groups.max()) + 1) * n_classes
    counts = np.bincount(groups * n_classes + codes, minlength=size)
    return int(counts.reshape(-1, n_classes).max(axis=1).sum())


def _told_by_gaps(gaps: NDArray[np.bool_], codes: NDArray[np.int64], names: Sequence[str]) -> str:
    """Say that a column is filled, or missing, in rows of one class alone, and in most of them."""
    sizes, n_rows = np.bincount(codes), len(codes)
    kinds = ((gaps, "missing"), (~gaps, "filled"))
    for such, what in sorted(kinds, key=lambda kind: int(kind[0].sum())):  # the rarer one first
        counts = np.bincount(codes[such], minlength=len(sizes))
        class_, n_such = int(counts.argmax()), int(counts.sum())
        own, size, strangers = int(counts[class_]), int(sizes[class_]), n_such - counts.max()
        expected = n_such * (1 - size / n_rows)  # of other classes, by chance
        few = expected >= LEAST_ROWS and strangers <= MOST_WRONG * expected
        if few and 2 * own >= size:
            rows = f"{own:,} of {size:,} rows of class {names[class_]}"
            return f" is {what} in {rows}, and in {strangers:,} of {n_rows - size:,} others"
    return ""


def _gaps(series: "pl.Series", absent: Collection[str]) -> "pl.Series":
    """Return in which rows a column has no value, or one of these texts."""
    if series.dtype == pl.String:
        return series.is_null() | series.str.strip_chars(BLANKS).is_in(list(absent))
    return series.is_null() | series.is_nan() if series.dtype.is_float() else series.is_null()


def _note(name: str, decides: str, *, coded: bool = False) -> Sentence:
    known = f"is it known when you predict? If not, leave it out with {Parameter('ignore', name)}."
    codes = f" If its numbers are codes, use {Parameter('category', name)}." if coded else ""
    return Sentence(f"Column '{name}'{decides}: {known}{codes}")


def _codes(frame: "pl.DataFrame", names: Sequence[str]) -> list[NDArray[np.int64]]:
    """Return for each of these columns a number of each value in order, from 1 on; 0: none."""
    own = pl.DataFrame([frame[name].alias(str(k)) for k, name in enumerate(names)])
    ranked = own.select(pl.all().rank("dense").fill_null(0)).get_columns()
    return [np.asarray(series.to_numpy(), np.int64) for series in ranked]


def _near(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a group for each number of a column: its value, or of many values those near it.

    Missing ones are group 0.
    """
    near, present = np.zeros(len(numbers), np.int64), ~np.isnan(numbers)
    n_rows = int(present.sum())
    _, groups, counts = np.unique(numbers[present], return_inverse=True, return_counts=True)
    if len(counts) > min(MOST_LEVELS * n_rows, MOST_CODES):
        n_smaller = np.cumsum(counts) - counts
        groups = (n_smaller * max(min(BINS, n_rows // 5), 1) // n_rows)[groups]
    near[present] = groups + 1
    return near


def _deciding_words(
    frame: "pl.DataFrame", codes: NDArray[np.int64], columns: Sequence[InputColumn]
) -> list[str]:
    """Return sentences on text columns of which single words tell the label; codes number it."""
    texts = [column for column in columns if column.role == "text"]
    some = np.random.default_rng(0).permutation(len(codes) if texts else 0)[:MOST_TEXTS]
    codes = codes[np.sort(some)]
    _, classes, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    notes: list[str] = []
    for column in texts:
        words, wrong = _word_errors(frame[column.name].gather(np.sort(some)), classes, sizes)
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
    """Return the words of texts, and on how many rows each is wrong about who is of a class."""
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

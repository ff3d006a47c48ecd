"""What each column is taken for: as a person says, else as a sample of its rows suggests."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding.columns import MISSING, DatePart, FeatureColumn, InputColumn, Role
from rosenblatt.data.encoding.dates import date_form
from rosenblatt.data.encoding.label_column import (
    LabelGuess,
    check_first_row,
    check_labels,
    guess_label,
    label_notes,
    quoted_columns,
)
from rosenblatt.data.encoding.leaks import deciding_words
from rosenblatt.data.encoding.numbers import (
    PLACEHOLDERS,
    all_numbers,
    decimal_mark,
    number_form,
    plain_numbers,
    read_numbers,
    thousands,
)
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.wording import counted, nearest, word_list

if TYPE_CHECKING:
    import polars as pl

TEXT_ROWS = 1000  # that decide between text and category
FEWEST_WORDS = 3  # on average, in a column of text whose values mostly differ
WORD_USES = 4  # of each word, on average, where two words a value are text
SURELY_TEXT = 8  # words on average, in any column of text
FEWEST_ROWS = 20  # from where on it is odd that all values differ
MOSTLY = 0.9  # of the rows
MOST_UNREMARKED = 20  # values of a category that may look like numbers
CODE = r"^\s*0[0-9]"
NUMBER_AND_UNIT = r"^[-+($€£]*[0-9][0-9.,' ]*[)%€]?\s*[\p{L}°µ/²³]{0,6}\.?$"
NEARLY_ALL = 0.99
WORD = r"\p{L}{2,}"
# Letters of scripts that put no blanks between words.
UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
FEWEST_ALIKE = 3  # notes that become one
LETTERS_A_WORD = 3  # about, of such a script
LONG_WORDS = 12  # letters on average, from where on words are none
UNSPACED_NGRAMS = (1, 3)  # characters, the default of texts without words

IDENTIFIER = re.compile(r"(?:.*[^a-z])?(?:id|key|uuid|guid|index|rowid|rownum)|.*[a-z](?:Id|ID)")
LEAST_DECIDED = 0.98  # of the rows, by a column that is suspected to know the label
MOST_COMMON = 0.9  # of the rows: where one class has more, a column that knows it is no surprise
MOST_LEVELS = 0.1  # of the rows: a column with more values may decide by naming the rows
LONG_KEY, LONGEST_KEY = 1e16, 1e22  # keys of 17 to 22 digits; quantities so large are not exact
BINS = 64
MOST_ROWS = 5000  # by which that is judged
AT_A_TIME = 1 << 20  # numbers that are sorted together
ABSENT = {None, *MISSING, *PLACEHOLDERS}
MARK_ROWS = 200  # in which a mark before decimals or thousands is looked for


class ColumnChoice(NamedTuple):
    """The columns of a sample with their roles, and what a person should know of them."""

    columns: tuple[InputColumn, ...]
    label: LabelGuess | None
    notes: list[str]


class Sample:
    """The first rows, by which columns are judged; each is looked through once."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._present: dict[str, pl.Series] = {}
        self._distinct: dict[str, pl.Series] = {}

    def look_through(self, names: Sequence[str]) -> None:
        """Look through columns of text together: a query for each costs more than its answer."""
        import polars as pl

        own = [self.table.frame[name] for name in names]
        columns = [pl.col(str(k)) for k in range(len(own))]
        there = [~column.str.strip_chars().is_in(list(MISSING)) for column in columns]  # or null
        found = pl.DataFrame([series.alias(str(k)) for k, series in enumerate(own)]).select(
            *[(~here).any().alias(f"gaps {k}") for k, here in enumerate(there)],
            *[
                column.filter(here).unique(maintain_order=True).implode()
                for column, here in zip(columns, there, strict=True)
            ],
        )
        for k, (name, series) in enumerate(zip(names, own, strict=True)):
            gaps = found[f"gaps {k}"][0] or series.null_count()
            self._present[name] = _present(series) if gaps else series
            self._distinct[name] = found[str(k)][0]

    def present(self, name: str) -> "pl.Series":
        """Return the values of a column that are not missing."""
        if name not in self._present:
            self._present[name] = _present(self.table.frame[name])
        return self._present[name]

    def distinct(self, name: str) -> "pl.Series":
        """Return the different ones among them, in the order in which they come."""
        if name not in self._distinct:
            self._distinct[name] = self.present(name).unique(maintain_order=True)
        return self._distinct[name]


def detected_column(table: Table, name: str, *, lenient: bool = False) -> InputColumn:
    """Return what a column is taken for; see ``detected_columns``."""
    return detected_columns(Sample(table), [name], lenient=lenient)[0]


def detected_columns(
    sample: Sample, names: Sequence[str], *, lenient: bool = False
) -> list[InputColumn]:
    """Return what columns are taken for.

    Numeric if all values are numbers, or lengths of time; with ``lenient`` 99 % of them are enough,
    where rows with other values will be left out. True and false are categories, in text and typed.
    Dates and times become categories of year, month, weekday and hour. Text if its values have at
    least three words on average and more than half of them differ, or at least eight words; a word
    is here two letters or more in a row. Everything else is a category. A column that counts or
    names the rows is left out.
    """
    import polars as pl

    table = sample.table
    own = dict(zip(table.frame.columns, table.frame.get_columns(), strict=True))
    text = [name for name in names if own[name].dtype == pl.String]
    frame = pl.DataFrame([own[name].alias(str(k)) for k, name in enumerate(text)])
    numbers = np.asarray(frame.cast(pl.Float64, strict=False).to_numpy(), np.float64)
    numbers = numbers.reshape(table.frame.height, len(text))
    plain = np.isfinite(numbers).sum(axis=0) == [len(own[n]) - own[n].null_count() for n in text]
    plain_whole = plain & np.all((numbers == np.floor(numbers)) | np.isnan(numbers), axis=0)
    place = {name: k for k, name in enumerate(text)}
    heading = table.heading
    comma = heading is not None and heading.dialect.separator == ";"
    counters = dict(zip(text, _counters(text, numbers), strict=True))
    sample.look_through([name for name in text if not plain[place[name]]])
    detected = []
    for name in names:
        series = own[name]
        if series.dtype != pl.String:
            column = _column_of_type(table, name)
        elif plain[place[name]] and series.null_count() < len(series):
            whole = plain_whole[place[name]]
            column = InputColumn(name, "category" if whole and _are_codes(series) else "numeric")
        else:
            column = _column_of_text(name, sample, comma=comma, lenient=lenient)
        if column.role == "ignored":
            reason = column.reason
        elif column.role != "numeric" or column.form or series.dtype == pl.Boolean:
            reason = _names_rows(column, sample)
        elif name in counters:
            reason = counters[name]
        else:
            reason = _counters([name], _floats(series)[:, None])[0]
        detected.append(InputColumn(name, "ignored", reason=reason) if reason else column)
    return detected


def _are_codes(values: "pl.Series") -> bool:
    """Whether whole numbers name something: 01234 is a code, if it is not all but unique."""
    return bool(values.str.contains(CODE).any()) and 2 * values.n_unique() <= len(values)


def _column_of_type(table: Table, name: str) -> InputColumn:
    import polars as pl

    kind = table.frame[name].dtype
    if kind in (pl.Date, pl.Datetime, pl.Time):
        day: tuple[DatePart, ...] = () if kind == pl.Time else ("year", "month", "weekday")
        hour: tuple[DatePart, ...] = () if kind == pl.Date else ("hour",)
        return InputColumn(name, "category", day + hour)
    if kind.is_numeric() or kind == pl.Duration:
        return InputColumn(name, "numeric")
    if kind in (pl.Boolean, pl.Categorical, pl.Enum, pl.Null):
        return InputColumn(name, "category")
    return InputColumn(name, "ignored", reason=f"it holds {_of_type(kind)}")


def _of_type(kind: Any) -> str:
    """Return what a column holds that can't become features.

    >>> import polars as pl
    >>> _of_type(pl.List(pl.Int64)), _of_type(pl.Struct({"x": pl.Int64})), _of_type(pl.Binary())
    ('lists', 'objects', 'bytes')
    """
    import polars as pl

    if kind == pl.List(pl.Null):
        return "lists or objects"
    names = {pl.List: "lists", pl.Array: "lists", pl.Struct: "objects", pl.Binary: "bytes"}
    return next((words for one, words in names.items() if kind == one), f"{kind}")


def _column_of_text(name: str, sample: Sample, *, comma: bool, lenient: bool) -> InputColumn:
    values, distinct = sample.present(name), sample.distinct(name)
    if not len(values):
        return InputColumn(name, "category")
    form = number_form(distinct, comma=comma)
    if form is not None:
        return InputColumn(name, "numeric", form=form)
    form, parts = date_form(distinct)
    if form:
        return InputColumn(name, "category", parts, form)
    if lenient:
        for form in ("", "point", "comma"):
            if _share_of_numbers(values, form) >= NEARLY_ALL:
                return InputColumn(name, "numeric", form=form)
    return InputColumn(name, _text_or_category(values))


def _text_or_category(values: "pl.Series") -> Role:
    some = values.head(TEXT_ROWS)
    n_words = _mean_matches(some, WORD) + _mean_matches(some, UNSPACED) / LETTERS_A_WORD
    mostly_differ = 2 * some.n_unique() > len(some)
    enough = n_words >= FEWEST_WORDS or (n_words >= 2 and _words_recur(some))
    return "text" if n_words >= SURELY_TEXT or (enough and mostly_differ) else "category"


def _words_recur(values: "pl.Series") -> bool:
    """Whether values are made of few words, as titles and queries are, but names are not."""
    words = values.str.extract_all(WORD).explode()
    return len(words) >= WORD_USES * words.n_unique()


def _mean_matches(values: "pl.Series", pattern: str) -> float:
    mean = values.str.count_matches(pattern).mean()
    return float(mean) if isinstance(mean, (int, float)) else 0.0


def unspaced_note(table: Table, columns: Sequence[InputColumn]) -> str | None:
    """Return a sentence on columns of text that has no words between blanks; None without any."""
    import polars as pl

    reasons = []
    for column in columns:
        if column.role != "text" or table.frame[column.name].dtype != pl.String:
            continue
        some = _present(table.frame[column.name]).head(TEXT_ROWS)
        letters, words = (_mean_matches(some, pattern) for pattern in (r"\p{L}", r"\p{L}+"))
        if 2 * _mean_matches(some, UNSPACED) > letters:
            reasons.append(f"'{column.name}' has no blanks between its words")
        elif letters > LONG_WORDS * words:
            reasons.append(f"'{column.name}' has words of {letters / words:.0f} letters on average")
    if not reasons:
        return None
    low, high = UNSPACED_NGRAMS
    return Sentence(
        f"Column {' and '.join(reasons)}: runs of {low} to {high} characters are features of"
        f" texts, too. Choose their lengths, or 0 for none, with {Parameter('char_ngrams')}."
    )


def _share_of_numbers(values: "pl.Series", form: str) -> float:
    import polars as pl

    plain = plain_numbers(values, form) if form else values.str.strip_chars()
    return 1 - plain.cast(pl.Float64, strict=False).null_count() / len(values)


def _counters(names: Sequence[str], numbers: NDArray[np.float64]) -> list[str]:
    """Return for each column of numbers why it only counts the rows, empty where it does not."""
    n_rows = len(numbers)
    if n_rows < FEWEST_ROWS:
        return [""] * len(names)
    reasons, empty = [""] * len(names), np.all(np.isnan(numbers), axis=0)
    counting = np.all(np.diff(numbers, axis=0) == 1, axis=0)
    long = np.all((numbers >= LONG_KEY) & (numbers < LONGEST_KEY), axis=0)
    for k, name in enumerate(names):
        if empty[k]:
            reasons[k] = f"it has no value in the first {n_rows:,} rows"
        elif counting[k]:
            first = ", ".join(f"{number:g}" for number in numbers[:3, k])
            reasons[k] = f"it counts the rows: {first}, …"
        elif long[k] and len(np.unique(numbers[:, k])) > MOSTLY * n_rows:
            reasons[k] = "its numbers have more than 15 digits and are different, as keys are"
        elif IDENTIFIER.fullmatch(name.strip()) or IDENTIFIER.fullmatch(name.lower()):
            own = numbers[:, k]
            is_whole = bool(np.isfinite(own).all() and (own == np.floor(own)).all())
            if is_whole and len(np.unique(own)) == n_rows:
                reasons[k] = "it has a different number in every row, and its name is that of a key"
    return reasons


def _names_rows(column: InputColumn, sample: Sample) -> str:
    """Return why a category only names the rows, empty where it does not."""
    n_rows = sample.table.frame.height
    if column.role != "category" or column.parts != ("",) or n_rows < FEWEST_ROWS:
        return ""
    values = sample.present(column.name)
    if not len(values):
        return f"it has no value in the first {n_rows:,} rows"
    n_values = len(sample.distinct(column.name))
    if len(values) < FEWEST_ROWS or n_values < MOSTLY * len(values):
        return ""
    if n_values == len(values):
        return "it has a different value in every row"
    return f"it has {n_values:,} different values in {len(values):,} rows"


def _floats(series: "pl.Series") -> NDArray[np.float64]:
    import polars as pl

    return np.asarray(series.cast(pl.Float64, strict=False).to_numpy(), np.float64)


def oddities(sample: Sample, column: InputColumn) -> list[str]:
    """Return sentences on what a person might not know of a column and should."""
    if column.role == "numeric" and not column.form:
        return []
    n_rows, name = sample.table.frame.height, column.name
    values = sample.present(name)
    if not len(values):
        rows = f"the first {n_rows:,} rows" if n_rows else "the file"
        return [f"Column '{name}' has no value in {rows}; it is taken for a category."]
    if column.role == "numeric":
        return [_form_note(column, values)]
    if column.role != "category" or column.parts != ("",) or len(values) < FEWEST_ROWS:
        return []
    return _category_notes(name, values, sample.distinct(name))


def _category_notes(name: str, values: "pl.Series", distinct: "pl.Series") -> list[str]:
    """Return a sentence on a category that may be meant as numbers."""
    example, word = _written_oddly(values, distinct), _word_among_numbers(values, distinct)
    if example is not None:
        return [
            Sentence(
                f"Column '{name}' is taken for a category: its {len(distinct):,} values such as "
                f"{example!r} are not plain numbers. If they should be, mend the file and use "
                f"{Parameter('numeric', name)}."
            )
        ]
    if word is None:
        return []
    return [
        Sentence(
            f"Column '{name}' is taken for a category, since {word!r} in it is not a number; if it"
            f" should be one, mend the file and use {Parameter('numeric', name)}."
        )
    ]


def _form_note(column: InputColumn, values: "pl.Series") -> str:
    import polars as pl

    plain = plain_numbers(values, column.form)
    changed = (plain != values).arg_true()
    row = int(changed[0]) if len(changed) else 0
    number = plain.cast(pl.Float64, strict=False)[row]
    return f"Column '{column.name}' has numbers such as '{values[row]}', read as {number:.15g}."


def _written_oddly(values: "pl.Series", distinct: "pl.Series") -> str | None:
    """Return a value of a column of many that look like numbers and cannot be read as such."""
    import polars as pl

    if values.dtype != pl.String or len(distinct) <= MOST_UNREMARKED:
        return None
    bare = values.str.strip_chars()
    odd = bare.filter(bare.cast(pl.Float64, strict=False).is_null())
    alike = bare.str.contains(NUMBER_AND_UNIT).sum() >= MOSTLY * len(values)
    return str(odd[0])[:40] if alike and len(odd) > (1 - MOSTLY) * len(values) else None


def _word_among_numbers(values: "pl.Series", distinct: "pl.Series") -> str | None:
    """Return the first word of a column that is all but numbers, None of any other."""
    import polars as pl

    if values.dtype != pl.String or not np.isfinite(_floats(distinct)).any():
        return None
    is_word = values.str.strip_chars().cast(pl.Float64, strict=False).is_null()
    if not 0 < is_word.sum() <= (1 - MOSTLY) * len(values):
        return None
    return str(values.filter(is_word)[0])[:40]


def _present(series: "pl.Series") -> "pl.Series":
    import polars as pl

    values = series.drop_nulls() if series.null_count() else series
    if values.dtype == pl.String:
        absent = values.str.strip_chars().is_in(list(MISSING))
        values = values.filter(~absent) if absent.any() else values
    return values


def assigned_columns(
    table: Table,
    label: str | int | None,
    asked: Mapping[str, Iterable[str | int]],
    *,
    has_label: bool,
    lenient: bool = False,
    decimal: str | None = None,
) -> ColumnChoice:
    """Return the columns of a table with their roles, and sentences on what is odd about them.

    ``asked`` has for a role the columns that a person gave it, by name or number; ``decimal`` is
    what stands before decimals, where a person said it.
    """
    roles: dict[str, Role] = {}
    guess = None
    if label is not None and has_label:
        guess = LabelGuess(column_name(table, label, "label"), "as you said")
        roles[guess.column] = "label"
    for role in get_args(Role):
        parameter = "ignore" if role == "ignored" else role
        for name in column_names(table, asked.get(role, ()), parameter):
            if roles.setdefault(name, role) != role:
                msg = f"Column '{name}' can't be both {roles[name]} and {role}; choose one."
                raise InputError(msg)
    if has_label and guess is None:
        guess = guess_label(table, roles)
        roles[guess.column] = "label"
    if guess is not None:
        check_labels(table, guess.column)
        check_first_row(table, guess.column)
    free = [name for name in table.frame.columns if name not in roles]
    sample = Sample(table)
    detected = {column.name: column for column in detected_columns(sample, free, lenient=lenient)}
    if not any(role not in ("label", "weight", "ignored") for role in roles.values()):
        detected = _with_something(table, detected)
    marked = () if table.heading is None else table.heading.others
    detected |= {
        name: InputColumn(name, "ignored", reason="the header marks it so")
        for name in detected.keys() & set(marked)
    }
    columns = _with_decimals(
        sample,
        [
            detected[name] if name in detected else _asked_column(table, name, roles[name])
            for name in table.frame.columns
        ],
        decimal,
    )
    if not any(column.required for column in columns):
        msg = f"{table.file}: no column is left to learn from."
        raise InputError(msg)
    notes = [note for column in columns if column.required for note in oddities(sample, column)]
    if guess is not None:
        notes += label_notes(table, guess.column)
        notes += deciding_columns(table, guess.column, columns)
    return ColumnChoice(columns, guess, merged_notes(notes))


def merged_notes(notes: Sequence[str]) -> list[str]:
    """Return notes, those that say the same of several columns as one.

    >>> print(*merged_notes([f"Column '{name}' is odd: '{name}.'." for name in "abcd"]))
    Column 'a' is odd: 'a.'. The same holds for 'b', 'c' and 'd'.
    """
    groups: dict[str, list[str]] = {}
    for note in notes:
        groups.setdefault(re.sub(r"'[^']*'|[0-9.,]+", "", note), []).append(note)
    merged: list[str] = []
    for alike in groups.values():
        names = [re.match("Column ('.*?')(?= |:)", note) for note in alike]
        others = [name[1] for name in names[1:] if name]
        if len(alike) < FEWEST_ALIKE or len(others) < len(alike) - 1:
            merged += alike
        else:
            merged.append(Sentence(alike[0], f" The same holds for {word_list(others)}."))
    return merged


def _with_decimals(
    sample: Sample, columns: Sequence[InputColumn], decimal: str | None
) -> tuple[InputColumn, ...]:
    """Return columns whose numbers are read by the decimal mark: as said, or as others prove it.

    Raises InputError with a question where numbers may have decimals or thousands.
    """
    import polars as pl

    if decimal not in (None, "point", "comma"):
        words = f" must be 'point' or 'comma'; got {decimal!r}."
        raise InputError(Sentence(Parameter("decimal"), words))
    frame, heading = sample.table.frame, sample.table.heading
    written = [one for one in columns if one.role in ("numeric", "weight")]
    written = [one for one in written if frame[one.name].dtype == pl.String]
    first = {
        one: [value for value in frame[one.name].head(MARK_ROWS).to_list() if value not in ABSENT]
        for one in written
    }
    proven = {decimal_mark(values, one.form) for one, values in first.items()} - {None}
    said = decimal or (proven.pop() if len(proven) == 1 else None)
    read: dict[str, InputColumn] = {}
    for column, values in first.items():
        for mark in ".,":
            name = column.name
            if thousands(values, mark) is None:
                continue
            every = [value for value in sample.distinct(name).to_list() if value not in ABSENT]
            found = thousands(every, mark)
            if found is None:
                continue
            semicolon = heading is not None and heading.dialect.separator == ";"
            if said is None and (mark == "." or semicolon):
                raise InputError(_decimal_question(sample.table.file, name, mark, *found))
            form = "comma" if said == "comma" else "point" if mark == "," or column.form else ""
            read[name] = column._replace(form=form)
    return tuple(read.get(one.name, one) for one in columns)


def _decimal_question(file: str, name: str, mark: str, number: str, whole: str) -> Sentence:
    own, other = ("point", "comma") if mark == "." else ("comma", "point")
    plain = re.sub(r"[^0-9]", "", number)
    return Sentence(
        f"{file}: is '{number}' in column '{name}', beside '{whole}', the number {plain} or one"
        f" with decimals? For {plain} use {Parameter('decimal', other)}, for decimals "
        f"{Parameter('decimal', own)}."
    )


def _asked_column(table: Table, name: str, role: Role) -> InputColumn:
    """Return a column with the role that a person gave it; numbers keep the form they have."""
    import polars as pl

    series = table.frame[name]
    values = _present(series)
    if role not in ("numeric", "weight") or series.dtype != pl.String or not len(values):
        return InputColumn(name, role)
    form = number_form(values)
    if form is None:
        form = max(("", "point", "comma"), key=lambda one: _share_of_numbers(values, one))
    return InputColumn(name, role, form=form)


def _with_something(table: Table, detected: dict[str, InputColumn]) -> dict[str, InputColumn]:
    """Return columns of which one at least is learned from: of names, the words."""
    import polars as pl

    if any(column.required for column in detected.values()):
        return detected
    revived = dict(detected)
    for name, column in detected.items():
        if column.reason:
            values = _present(table.frame[name])
            role: Role = "category"
            if values.dtype.is_numeric() or (values.dtype == pl.String and all_numbers(values)):
                role = "numeric"
            elif values.dtype == pl.String and values.str.contains(r"\p{L}").any():
                role = "text"
            revived[name] = InputColumn(name, role)
    return revived


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
    return deciding_words(table, codes, columns) + [
        Sentence(
            f"Column '{column.name}' alone decides {100 * shares[column.name]:.3g} % of the first "
            f"{n_rows:,} rows: is it known when you predict? If not, leave it out with "
            f"{Parameter('ignore', column.name)}."
        )
        for column in columns
        if shares.get(column.name, 0) >= LEAST_DECIDED
    ]


def _codes(table: Table, names: Sequence[str]) -> list[NDArray[np.int64]]:
    """Return for each of these columns the same number, from 0 on, for the same value."""
    import polars as pl

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


def column_names(table: Table, listed: Iterable[str | int], parameter: str) -> list[str]:
    """Return the names of the columns that are meant; "a,b" are two, unless one is so called."""
    names: list[str] = []
    for which in listed:
        if isinstance(which, str) and "," in which and which not in table.frame.columns:
            names += [column_name(table, one.strip(), parameter) for one in which.split(",")]
        else:
            names.append(column_name(table, which, parameter))
    return names


def column_name(table: Table, which: str | int, parameter: str) -> str:
    """Return the name of the column that a person means by a name or a number from 0.

    Text that is no name and a whole number means the number: from 1 on as people count, and from −1
    backwards.
    """
    names = table.frame.columns
    if isinstance(which, int) and -len(names) <= which < len(names):
        return names[which]
    if isinstance(which, str) and which in names:
        return which
    if isinstance(which, str) and re.fullmatch("-?[1-9][0-9]*", which):
        number = int(which)
        if -len(names) <= number <= len(names):
            return names[number - 1 if number > 0 else number]
    raise InputError(_no_column(table, which, parameter))


def _no_column(table: Table, which: str | int, parameter: str) -> Sentence:
    """Return what says that there is no such column, and which one may be meant."""
    names = table.frame.columns
    shown = f"'{which}'" if isinstance(which, str) else f"number {which}"
    meant = nearest(which, names) if isinstance(which, str) else None
    advice = f"The file has {counted(len(names), 'column')}: {quoted_columns(names)}."
    advice = advice if meant is None else f"Did you mean '{meant}'?"
    named = Parameter(parameter)
    return Sentence(f"{table.file} has no column {shown}, named by ", named, f". {advice}")

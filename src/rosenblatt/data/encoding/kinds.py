"""What each column is taken for: as a person says, else as a sample of its rows suggests."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding.categories import date_form, read_dates, read_lists
from rosenblatt.data.encoding.features import MISSING, Columns, DatePart, InputColumn, Role
from rosenblatt.data.encoding.label_column import (
    FEWEST_ROWS,
    LabelGuess,
    guess_label,
    label_notes,
    label_separator,
    labelled_rows,
    quoted_columns,
)
from rosenblatt.data.encoding.numbers import (
    PLACEHOLDERS,
    all_numbers,
    decimal_mark,
    number_form,
    plain_numbers,
    thousands,
)
from rosenblatt.data.encoding.vectors import is_vector, vector_width
from rosenblatt.data.polars import pl
from rosenblatt.data.tables.table import MOST_FIELDS, Table, found_name
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.wording import counted, nearest, word_list

TEXT_ROWS = 1000  # that decide between text and category
FEWEST_WORDS = 3  # on average, in a column of text whose values mostly differ
FEWEST_WHOLE = 1.5  # without digits beside them, which is so in names and titles, but not in keys
SURELY_TEXT = 8  # words on average, in any column of text
MOSTLY = 0.9  # of the rows
MOST_UNREMARKED = 20  # values of a category that may look like numbers
DIGIT = re.compile("[0-9]")
CODE = r"^\s*0[0-9]"
NUMBER_AND_UNIT = r"^[-+($€£]*[0-9][0-9.,' ]*[)%€]?\s*[\p{L}°µ/²³]{0,6}\.?$"
NEARLY_ALL = 0.99
WORD = r"[\p{L}\p{M}]{2,}"
# Letters of scripts that put no blanks between words.
UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
FEWEST_ALIKE = 3  # notes that become one
LETTERS_A_WORD = 3  # about, of such a script
LONG_WORDS = 12  # letters on average, from where on words are none
USUAL_NGRAMS = (2, 5)  # characters, where only these are features of texts
UNSPACED_NGRAMS = (1, 3)  # characters, the default of texts without words

IDENTIFIER = re.compile(r"(?:.*[^a-z])?(?:id|key|uuid|guid|index|rowid|rownum)|.*[a-z](?:Id|ID)")
NOT_NUMBERS = "not all of its values are numbers"  # but nearly all, and they differ

LONG_KEY, LONGEST_KEY = 1e16, 1e22  # keys of 17 to 22 digits; quantities so large are not exact
ABSENT = {None, *MISSING, *PLACEHOLDERS}
SWAPPED = {"dmy": "mdy", "mdy": "dmy"}
MARK_ROWS = 200  # in which a mark before decimals or thousands is looked for


class Sample:
    """The first rows, by which columns are judged; each is looked through once."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.present = cache(lambda name: _without_null(self._frame[name]))  # of a column
        # The different ones among them, in the order in which they come
        self.distinct = cache(lambda name: self.present(name).unique(maintain_order=True))

    @cached_property
    def _frame(self) -> "pl.DataFrame":
        """The rows with null where a text stands for it, in all columns at once: may be many."""
        return self.table.frame.with_columns(_text_or_null())


def detected_columns(
    sample: Sample, names: Sequence[str], *, lenient: bool = False
) -> list[InputColumn]:
    """Return what columns are taken for.

    Numeric if all values are numbers, or lengths of time; with ``lenient`` 99 % of them are enough.
    Dates and times become categories of their parts, lists of words several categories. Text if its
    values have at least three words on average, or mostly two without digits, and more than half of
    them differ, or at least eight words. Everything else is a category. A column that counts or
    names the rows is left out.
    """
    frame, heading = sample.table.frame, sample.table.heading
    comma = heading is not None and heading.dialect.separator == ";"
    detected = []
    for name in names:
        own, text = frame[name], frame[name].dtype == pl.String
        able = text or own.dtype.is_numeric() or own.dtype == pl.Duration
        read = own.cast(pl.Float64, strict=False).to_numpy() if able else ()
        numbers = np.asarray(read, np.float64)
        kind = "" if heading is None else heading.kind(name)
        if kind in ("numeric", "category"):
            column = InputColumn(name, cast("Role", kind))
        elif not text:
            column = _column_of_type(sample.table, name)
        elif 0 < np.isfinite(numbers).sum() == len(own) - own.null_count():
            whole = np.all((numbers == np.floor(numbers)) | np.isnan(numbers))
            codes = whole and own.str.contains(CODE).any()  # 01234, if they recur
            codes = codes and 2 * own.n_unique() <= len(own)
            column = InputColumn(name, "category" if codes else "numeric")
        else:
            column = _column_of_text(name, sample, comma=comma, lenient=lenient)
            if kind in ("dmy", "mdy") and column.form in ("dmy", "mdy"):
                column = column._replace(form=kind)
        is_number = column.role == "numeric" and not column.form
        reason = column.reason or _names_rows(column, sample)
        reason = _counts_rows(name, numbers) if is_number else reason
        detected.append(InputColumn(name, "ignored", reason=reason) if reason else column)
    return detected


def _column_of_type(table: Table, name: str) -> InputColumn:
    kind = table.frame[name].dtype
    if kind in (pl.Date, pl.Datetime, pl.Time):
        day: tuple[DatePart, ...] = () if kind == pl.Time else ("year", "month", "weekday")
        hour: tuple[DatePart, ...] = () if kind == pl.Date else ("hour",)
        return InputColumn(name, "category", day + hour)
    if kind.is_numeric() or kind == pl.Duration:
        return InputColumn(name, "numeric")
    if kind in (pl.Boolean, pl.Categorical, pl.Enum, pl.Null):
        return InputColumn(name, "category")
    if is_vector(kind) and (width := vector_width(table.frame[name])):
        return InputColumn(name, "vector", form=str(width))
    if isinstance(kind, (pl.List, pl.Array)) and kind.inner in (pl.String, pl.Categorical, pl.Enum):
        return InputColumn(name, "list")
    names = {"List": "lists", "Array": "lists", "Struct": "objects", "Binary": "bytes"}
    held = names.get(str(kind.base_type()), f"{kind}")
    if kind == pl.List(pl.Null):
        held = f"lists of lists or of objects, or an object of more than {MOST_FIELDS} fields"
    return InputColumn(name, "ignored", reason=f"it holds {held}")


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
    n_spaced, n_letters, n_whole = _mean_matches(some, WORD, UNSPACED, rf"\b{WORD}\b")
    n_words = n_spaced + n_letters / LETTERS_A_WORD
    mostly_differ = 2 * some.n_unique() > len(some)
    enough = n_words >= FEWEST_WORDS or n_whole >= FEWEST_WHOLE
    return "text" if n_words >= SURELY_TEXT or (enough and mostly_differ) else "category"


def _mean_matches(values: "pl.Series", *patterns: str) -> list[float]:
    own = pl.col("values").str
    means = [own.count_matches(one).mean().alias(str(k)) for k, one in enumerate(patterns)]
    return [mean or 0.0 for mean in values.to_frame("values").select(means).row(0)]


def unspaced_note(table: Table, columns: Sequence[InputColumn]) -> str | None:
    """Return a sentence on columns of text that has no words between blanks; None without any."""
    reasons = []
    for column in columns:
        if column.role != "text" or table.frame[column.name].dtype != pl.String:
            continue
        some = _present(table.frame[column.name]).head(TEXT_ROWS)
        letters, words, unspaced = _mean_matches(some, r"\p{L}", r"[\p{L}\p{M}]+", UNSPACED)
        if 2 * unspaced > letters:
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
    plain = plain_numbers(values, form) if form else values.str.strip_chars()
    return 1 - plain.cast(pl.Float64, strict=False).null_count() / len(values)


def _counts_rows(name: str, numbers: NDArray[np.float64]) -> str:
    """Return why a column of numbers only counts or names the rows, empty where it does not."""
    n_rows = len(numbers)
    if n_rows < FEWEST_ROWS:
        return ""
    if np.isnan(numbers).all():
        return f"it has no value in the first {n_rows:,} rows"
    if (np.diff(numbers) == 1).all():
        first = ", ".join(f"{number:g}" for number in numbers[:3])
        return f"it counts the rows: {first}, …"
    long = ((numbers >= LONG_KEY) & (numbers < LONGEST_KEY)).all()
    if long and len(np.unique(numbers)) > MOSTLY * n_rows:
        return "its numbers have more than 15 digits and are different, as keys are"
    named = IDENTIFIER.fullmatch(name.strip()) or IDENTIFIER.fullmatch(name.lower())
    whole = named and np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all()
    if whole and len(np.unique(numbers)) == n_rows:
        return "it has a different number in every row, and its name is that of a key"
    return ""


def _names_rows(column: InputColumn, sample: Sample) -> str:
    """Return why a category only names the rows, empty where it does not."""
    n_rows, is_list = sample.table.frame.height, column.role == "list"
    able = is_list or column.role == "category"
    if not able or column.parts != ("",) or n_rows < FEWEST_ROWS:
        return ""
    values = sample.present(column.name)
    if is_list:
        values = read_lists(sample.table, column.name).explode().drop_nulls()
    if not len(values):
        return f"it has no value in the first {n_rows:,} rows"
    n_values = values.n_unique() if is_list else len(sample.distinct(column.name))
    if len(values) < FEWEST_ROWS or n_values < MOSTLY * len(values):
        return ""
    if not is_list and _few_words(values) is not None:
        return NOT_NUMBERS
    if n_values == len(values) and not is_list:
        return "it has a different value in every row"
    where = "list entries" if is_list else "rows"
    return f"it has {n_values:,} different values in {len(values):,} {where}"


def oddities(sample: Sample, column: InputColumn) -> list[str]:
    """Return sentences on what a person might not know of a column and should."""
    if column.role == "numeric" and not column.form:
        return []
    n_rows, name = sample.table.frame.height, column.name
    values = sample.present(name)
    if not len(values):
        rows = f"the first {n_rows:,} rows" if n_rows else "the file"
        return [f"Column '{name}' has no value in {rows}; it is taken for a category."]
    distinct = sample.distinct(name)
    if column.role == "numeric":
        return [_number_note(name, distinct, column.form)]
    if column.form in SWAPPED:
        return _date_notes(name, distinct, column.form)
    is_plain = column.role == "category" and column.parts == ("",) and len(values) >= FEWEST_ROWS
    if not is_plain and column.role != "ignored":
        return []
    state = "taken for a category" if is_plain else "left out"
    return _category_notes(name, values, distinct, state)


def _number_note(name: str, distinct: "pl.Series", form: str) -> str:
    """Return how numbers are read that people wrote, shares with and without a sign above all."""
    plain = plain_numbers(distinct, form)
    numbers = plain.cast(pl.Float64, strict=False)
    marked = distinct.str.contains("%", literal=True)
    rows = [*(plain != distinct).arg_true()[:1], *marked.arg_true()[:1]][-1:] or [0]
    told = f"Column '{name}' has numbers such as '{distinct[rows[0]]}', read as"
    told = f"{told} {numbers[rows[0]]:.15g}"
    bare = (~marked & numbers.is_not_null()).arg_true()
    if not marked.any() or not len(bare):
        return f"{told}."
    other = f"beside '{distinct[bare[0]]}', read as {numbers[bare[0]]:.15g}"
    return f"{told}, {other}: if they mean the same, write all with a percent sign or none."


def _date_notes(name: str, distinct: "pl.Series", form: str) -> list[str]:
    """Return a sentence on dates whose day and month may be exchanged."""
    read, other = (read_dates(distinct, one) for one in (form, SWAPPED[form]))
    unlike = (read != other).arg_true()
    if other.null_count() or not len(unlike):
        return []
    value, day, swapped = (dates[int(unlike[0])] for dates in (distinct, read, other))
    unclear = (
        f"day and month cannot be told apart in dates such as '{value}', read as {day:%Y-%m-%d}"
    )
    return [f"Column '{name}': {unclear}. If it is {swapped:%Y-%m-%d}, write dates in that way."]


def _few_words(values: "pl.Series") -> str | None:
    """Return the first value that is no number, where few are none."""
    if values.dtype != pl.String:
        return None
    numbers = values.str.strip_chars().cast(pl.Float64, strict=False)
    odd = values.filter(numbers.is_null())
    few = 0 < len(odd) <= (1 - MOSTLY) * len(values) and numbers.is_finite().any()
    return str(odd[0]) if few else None


def _category_notes(name: str, values: "pl.Series", distinct: "pl.Series", state: str) -> list[str]:
    if values.dtype != pl.String or not any(map(DIGIT.search, distinct.to_list())):
        return []
    word, bare = _few_words(values), values.str.strip_chars()
    if word is not None:
        why = f", since {word[:40]!r} in it is not a number; if it should be one,"
    elif (
        len(distinct) > MOST_UNREMARKED
        and bare.str.contains(NUMBER_AND_UNIT).sum() >= MOSTLY * len(values)
        and (odd := bare.cast(pl.Float64, strict=False).is_null()).sum()
        > (1 - MOSTLY) * len(values)
    ):
        why = f": its {len(distinct):,} values such as {str(values.filter(odd)[0])[:40]!r} are"
        why += " not plain numbers. If they should be,"
    else:
        return []
    advice = f"use {Parameter('numeric', name)}."
    return [Sentence(f"Column '{name}' is {state}{why} {advice}")]


def _present(series: "pl.Series") -> "pl.Series":
    return _without_null(series.to_frame().with_columns(_text_or_null()).to_series())


def _without_null(series: "pl.Series") -> "pl.Series":
    return series.drop_nulls() if series.null_count() else series


def _text_or_null() -> "pl.Expr":
    """Return the columns of text, null where a value stands for a missing one."""
    own = pl.col(pl.String)
    return pl.when(~own.str.strip_chars().is_in(list(MISSING))).then(own).name.keep()


def assigned_columns(
    table: Table, said: Columns, *, labelled: bool, lenient: bool = False
) -> tuple[tuple[InputColumn, ...], LabelGuess | None, list[str]]:
    """Return the columns of a table with their roles, that of the labels, and what is odd."""
    roles: dict[str, Role] = {}
    guess = None
    for role in get_args(Role):
        if role == "label" and not labelled:
            continue
        parameter = "ignore" if role == "ignored" else role
        alone = role == "label"  # its name may have a comma
        for name in column_names(table, said.asked(role), parameter, alone=alone):
            if roles.setdefault(name, role) != role:
                msg = f"Column '{name}' can't be both {roles[name]} and {role}; choose one."
                raise InputError(msg)
            guess = LabelGuess(name, "as you said") if role == "label" else guess
    if labelled and guess is None:
        guess = guess_label(table, roles)
        roles[guess.column] = "label"
    separator = ""
    if guess is not None:
        separator = label_separator(table, guess.column, said.label_separator)
        table = labelled_rows(table, guess.column, separator)
    free = [name for name in table.frame.columns if name not in roles]
    sample = Sample(table)
    detected = {column.name: column for column in detected_columns(sample, free, lenient=lenient)}
    if not any(role not in ("label", "weight", "group", "ignored") for role in roles.values()):
        detected = _with_something(table, detected)
    columns = _with_decimals(
        sample,
        [
            detected[name] if name in detected else _asked_column(table, name, roles, separator)
            for name in table.frame.columns
        ],
        said.decimal,
    )
    if not any(column.required for column in columns):
        why = "; ".join(f"'{one.name}': {one.reason}" for one in columns if one.reason)
        raise InputError(f"{table.file}: no column is left to learn from. {why}".strip())
    told = [one for one in columns if one.required or one.reason == NOT_NUMBERS]
    notes = [note for column in told for note in oddities(sample, column)]
    if guess is not None and not separator:
        notes += label_notes(table, guess.column)
    return columns, guess, merged_notes(notes)


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
    """Return columns whose numbers are read by the decimal mark: as said, or as others prove it."""
    if decimal not in (None, "point", "comma"):
        words = f" must be 'point' or 'comma'; got {decimal!r}."
        raise InputError(Parameter("decimal"), words)
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


def _asked_column(
    table: Table, name: str, roles: Mapping[str, Role], separator: str
) -> InputColumn:
    """Return a column with the role that a person gave it; numbers keep the form they have."""
    series, role = table.frame[name], roles[name]
    if role == "label":
        return InputColumn(name, role, form=separator)
    if role == "category" and isinstance(series.dtype, (pl.List, pl.Array)):
        return InputColumn(name, "list")
    values = _present(series)
    if role not in ("numeric", "weight") or series.dtype != pl.String or not len(values):
        return InputColumn(name, role)
    form = number_form(values)
    if form is None:
        form = max(("", "point", "comma"), key=lambda one: _share_of_numbers(values, one))
    return InputColumn(name, role, form=form)


def _with_something(table: Table, detected: dict[str, InputColumn]) -> dict[str, InputColumn]:
    """Return columns of which one at least is learned from: of names, the words.

    Without any words, what is left are numbers that count the rows, and the like.
    """
    if any(column.required for column in detected.values()):
        return detected
    revived = dict[str, InputColumn]()
    for name, column in detected.items():
        values = _present(table.frame[name])
        if column.reason and not values.dtype.is_nested() and values.dtype != pl.Binary:
            role: Role = "category"
            if values.dtype.is_numeric() or (values.dtype == pl.String and all_numbers(values)):
                role = "numeric"
            elif values.dtype == pl.String and values.str.contains(r"\p{L}").any():
                role = "text"
            revived[name] = InputColumn(name, role)
    texts = {name: column for name, column in revived.items() if column.role == "text"}
    return detected | (texts or revived)


def column_names(
    table: Table, listed: Iterable[str | int], parameter: str, *, alone: bool
) -> list[str]:
    """Return the names of the columns that are meant; "a,b" are two, unless one is so called."""
    names: list[str] = []
    for which in listed:
        known = alone or found_name(str(which), table.frame.columns) is not None
        if isinstance(which, str) and "," in which and not known:
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
    own = found_name(which, names) if isinstance(which, str) else None
    if own is not None:
        return own
    if isinstance(which, str) and re.fullmatch("-?[1-9][0-9]*", which):
        number = int(which)
        if -len(names) <= number <= len(names):
            return names[number - 1 if number > 0 else number]
    shown = f"'{which}'" if isinstance(which, str) else f"number {which}"
    meant = nearest(which, names) if isinstance(which, str) else None
    advice = f"The file has {counted(len(names), 'column')}: {quoted_columns(names)}."
    advice = advice if meant is None else f"Did you mean '{meant}'?"
    msg = f"{table.file} has no column {shown}, named by {Parameter(parameter)}. {advice}"
    raise InputError(msg)

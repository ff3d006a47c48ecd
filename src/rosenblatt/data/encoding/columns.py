"""What each column of a table is taken for, and what its features are called."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from rosenblatt.data.encoding.vocabulary import Numbering
from rosenblatt.data.polars import pl
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.parameters import DEFAULTS

Role = Literal["label", "weight", "numeric", "category", "text", "ignored"]
DatePart = Literal["", "year", "month", "weekday", "hour"]
CHARACTERS = "characters"  # the part of a text that its n-grams are
NumberForm = Literal["", "point", "comma"]  # plain; as in $1,234.5; as in 1.234,5
DateForm = Literal["", "ymd", "dmy", "mdy", "dby", "bdy", "time"]  # b: the name of a month

ROLES: tuple[str, ...] = get_args(Role)
PARTS: tuple[str, ...] = get_args(DatePart)
NUMBER_FORMS: tuple[str, ...] = get_args(NumberForm)
DATE_FORMS: tuple[str, ...] = get_args(DateForm)

# How a missing value is written in a column of text, blanks around it aside; null is missing too.
MISSING = frozenset({"", "?", "NA", "N/A", "nan", "NaN", "null", "NULL", "None"})
BLANKS = " \t\n\r\v\f"


def plainly_typed(series: "pl.Series") -> "pl.Series":
    """Return a column as text where it is text in all but its type, with the same shortest texts.

    A decimal is the text that its file has: 3.10. A single float is 0.1, not 0.10000000149.
    """
    if series.dtype in (pl.Categorical, pl.Enum) or series.dtype.is_decimal():
        return series.cast(pl.String)
    return series.cast(pl.String).cast(pl.Float64) if series.dtype == pl.Float32 else series


def unusable(file: str, series: "pl.Series", what: str) -> InputError:
    """Return the error for a column whose type cannot be what it is to be."""
    msg = f"{file}: column '{series.name}' holds {series.dtype}, {what}; leave it out with "
    return InputError(Sentence(f"{msg}{Parameter('ignore', series.name)}."))


@dataclass(frozen=True)
class Columns:
    """What a user says of the columns of tables; what is left open is found out."""

    label: str | int | None = DEFAULTS["label"]
    text: Sequence[str | int] = DEFAULTS["text"]
    category: Sequence[str | int] = DEFAULTS["category"]
    numeric: Sequence[str | int] = DEFAULTS["numeric"]
    ignore: Sequence[str | int] = DEFAULTS["ignore"]
    weight: str | int | None = DEFAULTS["weight"]
    scale: bool = DEFAULTS["scale"]
    missing: str = DEFAULTS["missing"]
    decimal: str | None = DEFAULTS["decimal"]
    hash_bits: int | None = DEFAULTS["hash_bits"]
    word_pairs: bool = DEFAULTS["word_pairs"]
    min_count: int | None = DEFAULTS["min_count"]
    char_ngrams: tuple[int, int] | None = DEFAULTS["char_ngrams"]
    bins: int | None = DEFAULTS["bins"]
    degree: int = DEFAULTS["degree"]

    def asked(self, role: Role) -> Sequence[str | int]:
        """Return the columns that have a role, by name or number."""
        columns: Any = getattr(self, "ignore" if role == "ignored" else role)
        alone = role in ("label", "weight")
        return columns if not alone else () if columns is None else (columns,)


class InputColumn(NamedTuple):
    """A column of the tables that an encoding takes, in the order of the first one."""

    name: str
    role: Role
    parts: tuple[DatePart, ...] = ("",)  # of a date or a time; anything else is whole
    form: str = ""  # how numbers or dates are written in text: a NumberForm or a DateForm
    reason: str = ""  # why it is left out, where nobody asked for that

    @property
    def required(self) -> bool:
        """Whether rows can't be encoded without it."""
        return self.role not in ("label", "weight", "ignored")


class FeatureColumn(NamedTuple):
    """A column, or a part of a date or a time, that becomes features."""

    name: str
    role: Role
    part: str = ""  # a DatePart or CHARACTERS
    form: str = ""
    place: int = 0  # among those that become features

    @property
    def title(self) -> str:
        """What names of features begin with."""
        return f"{self.name} {self.part}" if self.part else self.name


def feature_columns(
    columns: tuple[InputColumn, ...], *, characters: bool = False
) -> tuple[FeatureColumn, ...]:
    """Return what becomes features, in order; with ``characters`` those of texts come last."""
    whole = [
        FeatureColumn(column.name, column.role, part, column.form)
        for column in columns
        if column.required
        for part in column.parts
    ]
    texts = [column.name for column in whole if column.role == "text" and characters]
    whole += [FeatureColumn(name, "text", CHARACTERS) for name in texts]
    return tuple(column._replace(place=place) for place, column in enumerate(whole))


def feature_name(
    index: int,
    columns: Sequence[FeatureColumn],
    numeric: Sequence[FeatureColumn],
    numbering: Numbering,
) -> str:
    """Return what a feature is called.

    "age" for a number, "age is missing", "age from 20 to 30" for a bin of it, "colour=red",
    "colour=(missing)", "review: not good" for a pair of words or, where the text is all there is,
    "not good", "characters 'ing '" for an n-gram, and "hash 17" for a hashed one. ``numeric`` are
    those of the columns that hold numbers.
    """
    n_features = len(numeric) + len(numbering)
    if not 0 <= index < n_features:
        msg = f"There is no feature {index}; they count from 0 to {n_features - 1}."
        raise InputError(msg)
    if index < len(numeric):
        return numeric[index].title
    number = index - len(numeric)
    known = numbering.name(number)
    if known is None:
        return f"hash {number}"
    column, term = columns[known[0]], known[1]
    if column.role == "numeric":
        return f"{column.title} {term or 'is missing'}"
    if column.role == "category":
        return f"{column.title}={term or '(missing)'}"
    if column.part == CHARACTERS:
        term = f"characters '{term}'"
    return term if len({one.name for one in columns}) == 1 else f"{column.name}: {term}"

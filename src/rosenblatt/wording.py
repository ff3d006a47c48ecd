"""Numbers, shares, counts and lists as people and JSON read them, and what they may have meant."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

MISSING = "–"


class Bar(NamedTuple):
    """A bar in a table: to the right for a positive value, to the left for a negative one."""

    value: float
    longest: float  # the magnitude that fills its side


Cell = str | int | float | Bar | None  # of a table; None: a number that does not exist


def printable(text: str) -> str:
    r"""Return text with its control characters escaped.

    >>> print(printable("red: \x1b[31m"))
    red: \x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def number(value: float | None) -> str:
    """Return a number for people: whole ones with commas, others with four digits that count.

    >>> number(1234567), number(0.123456), number(-1e-9), number(None)
    ('1,234,567', '0.1235', '-1e-09', '–')
    """
    if value is None:
        return MISSING
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"


def told_apart(*values: float) -> list[str]:
    """Return numbers for people, with as many digits as tell them apart.

    >>> told_apart(2016.6, 2017.4), told_apart(2016.0, 2018.0)
    (['2,016.6', '2,017.4'], ['2,016', '2,018'])
    """
    texts = [number(value) for value in values]
    for digits in range(5, 18):
        if len({*texts}) == len({*values}):
            break
        texts = [f"{value:,.{digits}g}" for value in values]
    return texts


def decimals(value: float | None) -> str:
    """Return a figure between 0 and 1 with three decimals."""
    return MISSING if value is None else f"{value:.3f}"


UNSURE = "± shows how unsure the model is of a weight: 1 at first, less the more rows taught it."


def unsure(uncertainty: float | None) -> str:
    """Return what stands under ±: two decimals are enough for a measure of doubt.

    >>> unsure(0.0512), unsure(None)
    ('0.05', '')
    """
    return "" if uncertainty is None else f"{uncertainty:.2f}"


def signed(value: float) -> str:
    """Return a number with its sign, and four digits that count.

    >>> signed(0.5), signed(-12345.6), signed(0.0)
    ('+0.5000', '-12,346', '0')
    """
    if value == 0:
        return "0"
    return f"{value:+,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:+#.4g}"


def percent(share: float | None) -> str:
    """Return a share in per cent, with enough digits near 0 % and 100 %.

    >>> percent(0.12345), percent(0.00012), percent(1.0), percent(None)
    ('12.35%', '0.012%', '100.00%', '–')
    """
    if share is None:
        return MISSING
    return f"{share:.3%}" if 0 < min(share, 1 - share) < 0.001 else f"{share:.2%}"


def counted(n: int, noun: str) -> str:
    """Return a number of things.

    >>> counted(1, "row"), counted(1200, "row"), counted(0, "class")
    ('1 row', '1,200 rows', '0 classes')
    """
    plural = noun if n == 1 else f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{n:,} {plural}"


def cell_text(value: object) -> str:
    """Return a value of a row as text; of a vector, its length.

    >>> cell_text(2.5), cell_text([0.5, 0.25])
    ('2.5', '[2 numbers]')
    """
    return f"[{counted(len(value), 'number')}]" if isinstance(value, list) else str(value).strip()


def clause(of_one: str, n: int) -> str:
    """Return a clause about one thing in the singular or plural.

    >>> clause("it has no value", 2), clause("it holds lists", 2), clause("as you said", 2)
    ('they have no value', 'they hold lists', 'as you said')
    """
    subject, _, rest = of_one.partition(" ")
    if n == 1 or subject != "it":
        return of_one
    verb, _, rest = rest.partition(" ")
    return f"they {'have' if verb == 'has' else verb.removesuffix('s')} {rest}"


def size_text(n_bytes: int) -> str:
    """Return a number of bytes for people.

    >>> size_text(999), size_text(123456), size_text(5_000_000_000)
    ('999 B', '123 kB', '5.0 GB')
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= factor:
            value = n_bytes / factor
            return f"{value:.0f} {unit}" if value >= 10 else f"{value:.1f} {unit}"
    return f"{n_bytes} B"


def word_list(words: Iterable[object], most: int = 10, joint: str = " and ") -> str:
    """Return words as a list to read, not too long.

    >>> word_list("abc"), word_list("abcd", 2), word_list("ab", joint=" or "), word_list("a")
    ('a, b and c', 'a, b and 2 more', 'a or b', 'a')
    >>> word_list("abc", joint=", "), word_list("abcd", 2, ", ")
    ('a, b, c', 'a, b and 2 more')
    """
    texts = [str(word) for word in words]
    if len(texts) > most:
        joint = " and " if joint == ", " else joint
        texts = [*texts[:most], f"{len(texts) - most:,} more"]
    return joint.join([", ".join(texts[:-1])] * (len(texts) > 1) + texts[-1:])


def finite(value: Any) -> Any:
    """Return a value, None for a number that is not finite."""
    return None if isinstance(value, float) and value - value != 0.0 else value


def plain(value: Any, leaf: Callable[[Any], Any] = finite, key: Callable[[Any], str] = str) -> Any:
    """Return a value as JSON has it: NumPy's arrays as lists, records by their fields.

    ``leaf`` gives what stands for a value that holds no others, ``key`` the text of a key.

    >>> plain({1: (0.5, float("inf"))})
    {'1': [0.5, None]}
    """
    if hasattr(value, "as_json"):
        return value.as_json()
    for method in ("tolist", "_asdict"):
        value = getattr(value, method)() if hasattr(value, method) else value
    if isinstance(value, dict):
        return {key(name): plain(inner, leaf, key) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, leaf, key) for inner in value]
    return leaf(value)


CLOSE = 0.75  # of two spellings, from where on one is likely to be meant by the other


def composed(text: str) -> str:
    """Return a text with one character for a letter and its marks, by which texts are compared.

    >>> composed("e\N{COMBINING ACUTE ACCENT}") == "é"
    True
    """
    return unicodedata.normalize("NFC", text)


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return which of these names is likely to be meant, None where none is.

    >>> nearest("attrition", ["Age", "Attrition"]), nearest("petal_len", ["petal.length", "x"])
    ('Attrition', 'petal.length')
    >>> nearest("age", ["colour"])
    """
    from difflib import get_close_matches

    plain = {re.sub(r"[\W_]+", "", one.casefold()): one for one in reversed([*names])}
    close = get_close_matches(re.sub(r"[\W_]+", "", name.casefold()), plain, 1, CLOSE)
    return plain[close[0]] if close else None

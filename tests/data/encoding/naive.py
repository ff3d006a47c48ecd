"""The encoding of tables in plain Python, as its documentation says it; imports nothing of ours."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

MISSING = ("", "?", "NA", "N/A", "nan", "NaN", "null", "NULL", "None")

# A letter or digit, a mark or modifier, a joiner, a picture, a letter of a flag, a symbol, a blank
TOKEN = re.compile("(?P<word>[wm][wmj]*)|p(?:[mj]|(?<=j)p)*|ff?[mj]*|s[smj]*")

Value = str | None
Row = Mapping[str, Value]


def naive_kind(character: str) -> str:
    """Return what a character is, by a letter.

    >>> "".join(map(naive_kind, "é9_+\u094d\u200d😀🏽🇩 "))
    'wwssmjpmfb'
    """
    point, category = ord(character), unicodedata.category(character)
    if character in "\u200c\u200d":
        return "j"
    if 0x1F1E6 <= point < 0x1F200:
        return "f"
    if 0x1F3FB <= point < 0x1F400 or 0xE0020 <= point < 0xE0080 or category[0] == "M":
        return "m"
    if category in ("So", "Cn", "Co", "Cs"):
        return "p"
    return {"L": "w", "N": "w", "P": "s", "S": "s"}.get(category[0], "b")


def naive_tokens(text: Value) -> tuple[list[str], list[str]]:
    """Return the words of a text, and its other tokens, in lower case and composed."""
    lower = naive_text(text)
    found = [*TOKEN.finditer("".join(map(naive_kind, lower)))]
    words = [lower[slice(*one.span())] for one in found if one["word"]]
    return words, [lower[slice(*one.span())] for one in found if not one["word"]]


def naive_text(text: Value) -> str:
    """Return a text in lower case and composed."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text or "").lower())


def naive_counts(text: Value, *, pairs: bool = True) -> dict[str, int]:
    """Return how often a text has each term: a word, then its pair, last what is no word."""
    words, others = naive_tokens(text)
    terms: list[str] = []
    for k, word in enumerate(words):
        terms.append(word)
        if pairs and k:
            terms.append(f"{words[k - 1]} {word}")
    return dict(Counter(terms + others))


def naive_terms(
    text: Value, known: Collection[str] | None = None, idf: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Return the known terms of a text, or all, in order of appearance, each with its weight."""
    counts = {t: n for t, n in naive_counts(text).items() if known is None or t in known}
    weights = {t: (1 + math.log(n)) * (1 if idf is None else idf[t]) for t, n in counts.items()}
    length = math.sqrt(sum(weight**2 for weight in weights.values()))
    return {term: weight / length for term, weight in weights.items()}


def naive_number(value: Value) -> float:
    """Return the number that is written, NaN for a missing one."""
    return math.nan if value is None or value.strip() in MISSING else float(value)


def naive_column(name: str, role: str, value: Value, *, alone: bool = False) -> dict[str, float]:
    """Return what a column gives to a row of a block beside its number, by name.

    Of texts these are counts of terms, below 0 for pairs.
    """
    if role == "numeric":
        return {f"{name} is missing": 1.0} if math.isnan(naive_number(value)) else {}
    if role == "category":
        level = (value or "").strip()
        return {f"{name}={'(missing)' if level in MISSING else level}": 1.0}
    terms = {term: -n if " " in term else n for term, n in naive_counts(value).items()}
    return {term if alone else f"{name}: {term}": float(n) for term, n in terms.items()}


def naive_features(row: Row, roles: Mapping[str, str]) -> dict[str, float]:
    """Return the features of a row of a block, by name: nothing is scaled or weighed."""
    features = {name: naive_number(row[name]) for name in roles if roles[name] == "numeric"}
    for name, role in roles.items():
        features |= naive_column(name, role, row[name], alone=len(roles) == 1)
    return features


def naive_names(tables: Sequence[Sequence[Row]], roles: Mapping[str, str]) -> list[str]:
    """Return the names of all features of successive tables in the order of their numbers."""
    names = dict.fromkeys(name for name in roles if roles[name] == "numeric")
    for rows in tables:
        for name, role in roles.items():
            for row in rows:
                names |= dict.fromkeys(naive_column(name, role, row[name], alone=len(roles) == 1))
    return list(names)

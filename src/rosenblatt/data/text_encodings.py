"""Which encodings a text may have that is not UTF-8: those that give words as people write them."""

import re
import unicodedata
from itertools import pairwise

# Of one byte a letter first: they seldom give such words where others are right.
ENCODINGS = (
    *("latin-1", "cp1252", "cp1251", "koi8-r", "cp1253", "cp1250"),
    *("cp932", "gb18030", "cp949", "big5", "euc_jp", "mac_roman", "cp850"),
)
MOST_NAMED = 3
LONGEST_READ = 30  # letters that are shown
LONG_RUN = "y" * 3  # letters beyond ASCII in a row, which no Latin word has
NO_TEXT = {"Cc", "Cn", "Co", "Cs"}  # kinds of characters that no text has
USUAL_SIGNS = set("’‘“”„–—…€£§°«»¿¡·©®•")
ALPHABETS = {"LATIN", "CYRILLIC", "GREEK"}


def likely_encodings(text: bytes) -> dict[str, str]:
    """Return at most three encodings that decode a text, each with the first word that it reads.

    >>> likely_encodings("Zürich".encode("latin-1"))
    {'latin-1': 'Zürich'}
    >>> [*likely_encodings("Привет, мир".encode("cp1251"))][0]
    'cp1251'
    """
    shares, words = dict[str, float](), dict[str, str]()
    for name in ENCODINGS:
        try:
            read = text.decode(name)
        except UnicodeDecodeError:
            continue
        share, found = _odd_share(read), re.search(r"\S*[^\x00-\x7f]\S*", read)
        word = found[0][:LONGEST_READ] if found else ""
        if share is not None and word not in words.values():
            shares[name], words[name] = share, word
    least = min(shares.values(), default=0.0)
    best = [name for name, share in shares.items() if share == least]
    return {name: words[name] for name in best[:MOST_NAMED]}


def _odd_share(text: str) -> float | None:
    """Return the share of odd words among those beyond ASCII; None for what is no text."""
    if any(unicodedata.category(one) in NO_TEXT and one not in "\t\r\n" for one in text):
        return None
    words = re.findall(r"[^\s\x00-\x40\x5b-\x60\x7b-\x7f]+", text)
    words = [word.strip("".join(USUAL_SIGNS)) for word in words if not word.isascii()]
    return sum(map(_is_odd, words)) / max(1, len(words))


def _is_odd(word: str) -> bool:
    """Whether a word mixes alphabets, or letters and signs, or has a capital behind a letter."""
    marks = (unicodedata.category(one) in ("Mn", "Mc") for one in word)
    if not all(one.isalpha() or mark for one, mark in zip(word, marks, strict=True)):
        return not {one for one in word if not one.isalpha()} <= USUAL_SIGNS
    scripts = {unicodedata.name(one, "?").split()[0].split("-")[0] for one in word}
    beyond = "".join("x" if one.isascii() else "y" for one in word)
    if len(ALPHABETS & scripts) > 1 or "HALFWIDTH" in scripts:
        return True
    if any(before.islower() and after.isupper() for before, after in pairwise(word)):
        return True
    if scripts == {"LATIN"}:
        return LONG_RUN in beyond
    return bool(ALPHABETS & scripts) != ALPHABETS.issuperset(scripts) and "x" in beyond

"""Which encodings a text may have that is not UTF-8: those that give words as people write them."""

import re
import unicodedata
from itertools import pairwise

ENCODINGS = (  # of one byte a letter
    *("latin-1", "cp1252", "cp1254", "cp1251", "cp1255", "koi8-r", "cp1253", "cp1250"),
    *("cp1256", "cp874", "cp866", "mac_roman", "cp850"),
)
WIDE_ENCODINGS = {  # of two bytes a letter, with the first bytes of those that are used most
    "cp932": range(0x81, 0x98),
    "gb18030": range(0xB0, 0xD8),
    "cp949": range(0xB0, 0xC9),
    "big5": range(0xA4, 0xC7),
    "euc_jp": range(0xA4, 0xD0),
}
UTF = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
MOST_NAMED = 3
MOSTLY = 0.8  # of the letters
FEWEST_ZEROS = 0.03  # of the bytes of wide text, which has them in newlines and separators
MOST_STRAY = 3  # of them, which may stand in any text
LONGEST_READ = 30  # letters that are shown
LONG_RUN = "y" * 3  # letters beyond ASCII in a row, which no Latin word has
NO_TEXT = {"Cc", "Cn", "Co", "Cs"}  # kinds of characters that no text has
QUOTES, JOINTS, SIGNS = "’‘“”„–—…«»¿¡·", set("’–—·"), set("€£§°©®•")
ALPHABETS = {"LATIN", "CYRILLIC", "GREEK"}


def likely_encodings(text: bytes) -> dict[str, str]:
    """Return at most three encodings that decode a text, each with the first word that it reads.

    >>> likely_encodings("Zürich".encode("latin-1"))
    {'latin-1': 'Zürich'}
    >>> [*likely_encodings("Привет, мир".encode("cp1251"))][0]
    'cp1251'
    """
    shares, words = dict[str, float](), dict[str, str]()
    for name in (*ENCODINGS, *WIDE_ENCODINGS):
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
    usual = {name: _usual_share(text, name) for name in best if name in WIDE_ENCODINGS}
    wide = sorted(usual, key=lambda name: -usual[name])
    n_wide = sum(share > MOSTLY for share in usual.values()) or 1
    narrow = [name for name in best if name not in usual]
    best = narrow[: MOST_NAMED - min(n_wide, 2, len(wide))] + wide
    return {name: words[name] for name in best[:MOST_NAMED]}


def utf_without_mark(text: bytes) -> str | None:
    r"""Return which encoding of 16 or 32 bits a character the beginning of a text has, if any.

    Nearly half of the bytes of newlines or more, which letters have too, then are in one.

    >>> utf_without_mark("имя,y\nКиев,1\n".encode("utf-16-be"))
    'utf-16-be'
    """
    if text.count(b"\0") < max(MOST_STRAY, len(text) * FEWEST_ZEROS):
        return None
    for name in reversed(UTF):
        read, size = text.decode(name, "ignore"), int(name[4:6]) // 8
        kinds = {unicodedata.category(one) for one in read if one not in "\t\r\n"}
        whole = size * len(read) > len(text) - size and not kinds & NO_TEXT
        if whole and 2 * read.count("\n") > MOSTLY * text.count(b"\n"):
            return name
    return None


def _usual_share(text: bytes, encoding: str) -> float:
    """Return the share of letters of two bytes that are often used."""
    letters = [one.encode(encoding) for one in text.decode(encoding) if one > "\x7f"]
    return sum(one[0] in WIDE_ENCODINGS[encoding] for one in letters) / max(1, len(letters))


def _odd_share(text: str) -> float | None:
    """Return the share of odd words among those beyond ASCII; None for what is no text."""
    if any(unicodedata.category(one) in NO_TEXT and one not in "\t\r\n" for one in text):
        return None
    words = re.findall(r"[^\s\x00-\x40\x5b-\x60\x7b-\x7f]+", text)
    words = [word.strip(QUOTES) for word in words if not word.isascii()]
    return sum(map(_is_odd, words)) / max(1, len(words))


def _is_odd(word: str) -> bool:
    """Whether a word mixes alphabets, or letters and signs, or capitals behind small letters."""
    if {one for one in word if not one.isascii()} <= SIGNS:
        return False
    letters = [one for one in word if one not in JOINTS]
    if not all(one.isalpha() or unicodedata.category(one) in ("Mn", "Mc") for one in letters):
        return True
    word = "".join(letters)
    scripts = {unicodedata.name(one, "?").split()[0].split("-")[0] for one in word}
    beyond = "".join("x" if one.isascii() else "y" for one in word)
    if len(ALPHABETS & scripts) > 1 or "HALFWIDTH" in scripts:
        return True
    if any(before.islower() and after.isupper() for before, after in pairwise(word)):
        return True
    if scripts == {"LATIN"}:
        return LONG_RUN in beyond
    return bool(ALPHABETS & scripts) != ALPHABETS.issuperset(scripts) and "x" in beyond

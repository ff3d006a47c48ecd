"""Templates: what of a token and of its neighbours makes a feature.

A template is a tuple of macros, each a place relative to the token, a column and a function of the
word there. Template files of CRF++ and of Wapiti are read as they are.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.sequences.words import (
    AFFIXES,
    BIAS,
    CAPITAL,
    DIGIT,
    HYPHEN,
    LONGEST_RUN,
    LOWER,
    PREFIX,
    SHAPE,
    SUFFIX,
    WORD,
)

FUNCTIONS = {
    "word": WORD,
    "lower": LOWER,
    "shape": SHAPE,
    **{f"suffix{n}": SUFFIX + n for n in range(1, AFFIXES + 1)},
    **{f"prefix{n}": PREFIX + n for n in range(1, AFFIXES + 1)},
    "capital": CAPITAL,
    "digit": DIGIT,
    "hyphen": HYPHEN,
    "bias": BIAS,
}
NAMES = {number: name for name, number in FUNCTIONS.items()}
OWN = (  # functions of the word itself
    *("word", "lower", "shape"),
    *(f"suffix{n}" for n in range(1, 6)),
    *(f"prefix{n}" for n in range(1, 5)),
    *("capital", "digit", "hyphen", "bias"),
)
NEIGHBOURS = (-1, 1, -2, 2)
MACRO = re.compile(r"%[xX]\[\s*([+-]?\d+)\s*,\s*(\d+)\s*\]")
OTHER_MACRO = re.compile(r"%[a-zA-Z]\[[^\]]*\]?")
FARTHEST = 64  # tokens from a token to a word that a template looks at
CASES = {1: "all", 2: "first", 3: "none", 4: "other"}  # values of the function "capital"
DIGITS = {1: "all", 2: "some"}


class Macro(NamedTuple):
    """A word that a template looks at."""

    offset: int  # from the token
    column: int
    function: int


Template = tuple[Macro, ...]


def word_templates(column: int = 0) -> tuple[Template, ...]:
    """Return the templates for words of a text."""
    own = [(Macro(0, column, FUNCTIONS[name]),) for name in OWN]
    others = [(Macro(offset, column, f),) for offset in NEIGHBOURS for f in (LOWER, SHAPE)]
    here = Macro(0, column, LOWER)
    pairs = [(Macro(-1, column, LOWER), here), (here, Macro(1, column, LOWER))]
    return (*own, *others, *pairs)


def template_name(template: Template) -> str:
    """Return the name of a template, from which its features have theirs.

    >>> template_name(word_templates()[-1])
    'lower|lower[+1]'
    """
    return "|".join(
        NAMES[macro.function]
        + (f":{macro.column}" if macro.column else "")
        + (f"[{macro.offset:+d}]" if macro.offset else "")
        for macro in template
    )


def read_templates(text: str, name: str) -> tuple[Template, ...]:
    """Return the templates of a file of CRF++ or Wapiti of this name.

    Of observations there are ``U`` lines, of pairs of tags the line ``B``, which is learned in any
    case; ``*`` stands for both where it has no macro. What is not known is refused with its line.
    """
    found = []
    for number, whole in enumerate(text.split("\n"), 1):
        line = whole.split("#", 1)[0].strip()
        where = f"{name}, line {number}"
        if not line:
            continue
        kind, macros = line[0], MACRO.findall(line)
        strange = OTHER_MACRO.search(MACRO.sub("", line))
        if strange:
            raise InputError(
                f"{where}: {strange[0]} is a macro that is not available; %x[row,column] is."
            )
        if kind not in "UuBb*":
            raise InputError(f"{where}: a template begins with U, B or *; got {line[:40]!r}.")
        if kind in "Bb*" and macros:
            raise InputError(
                f"{where}: {line[:40]!r} joins words with pairs of tags, which is not available; "
                "begin the line with U to join them with tags."
            )
        if kind in "Uu*":
            found.append(_template(macros, where))
    if not found:
        raise InputError(f"{name} has no template; a line such as U00:%x[0,0] is one.")
    return tuple(dict.fromkeys(found))


def _template(macros: Sequence[tuple[str, str]], where: str) -> Template:
    """Return a template of places and columns; without any it is the constant feature."""
    template = tuple(Macro(int(offset), int(column), WORD) for offset, column in macros)
    far = [macro.offset for macro in template if abs(macro.offset) > FARTHEST]
    if far:
        raise InputError(f"{where}: a row is at most {FARTHEST} away; got {far[0]}.")
    return template or (Macro(0, 0, BIAS),)


def check_columns(templates: Iterable[Template], n_columns: int) -> None:
    """Raise InputError where templates ask for a column that there is not."""
    most = max((macro.column for one in templates for macro in one), default=0)
    if most >= n_columns:
        there = "column 0 alone" if n_columns == 1 else f"columns 0 to {n_columns - 1}"
        raise InputError(
            f"{Parameter('templates')} asks for column {most}, and the tokens have {there} "
            "beside their tags."
        )


def of_json(stored: Sequence[Sequence[Sequence[int]]]) -> tuple[Template, ...]:
    """Return templates as a model file has them, checked."""
    found = tuple(tuple(Macro(*map(int, macro)) for macro in template) for template in stored)
    for macro in (macro for template in found for macro in template):
        if abs(macro.offset) > FARTHEST or macro.column < 0 or macro.function not in NAMES:
            raise InputError(f"its templates have a macro that is not known, {tuple(macro)}.")
    return found


def shape(word: str) -> str:
    """Return a word with the kinds of its characters, of a run no more than three.

    >>> shape("McDonald's"), shape("1234-A")
    ("XxXxxx'x", 'ddd-X')
    """
    marks: list[str] = []
    for c in word:
        kind = kind_of(c)
        mark = c if kind is None else kind
        if marks[-LONGEST_RUN:] != [mark] * LONGEST_RUN:
            marks.append(mark)
    return "".join(marks)


def kind_of(character: str) -> str | None:
    """Return X for upper case, x for other letters, d for digits, and None for the rest."""
    if character.isupper():
        return "X"
    if character.isdigit():
        return "d"
    return "x" if character.isalpha() else None


def function_text(function: int, word: str) -> str:
    """Return what a function makes of a word, as the name of a feature has it."""
    name = NAMES[function]
    if name.startswith("suffix"):
        return word.lower()[-int(name[6:]) :]
    if name.startswith("prefix"):
        return word.lower()[: int(name[6:])]
    kinds = [kind_of(c) for c in word]
    if name == "capital":
        upper, small = "X" in kinds, "x" in kinds
        case = 1 if len(word) > 1 and upper and not small else 2 if kinds[:1] == ["X"] else 4
        return CASES[3 if case == 4 and small and not upper else case]
    if name == "digit":
        return DIGITS[1 if set(kinds) == {"d"} else 2]
    texts = {"word": word, "lower": word.lower(), "hyphen": "yes", "bias": "1"}
    return texts[name] if name in texts else shape(word)


def edge_text(distance: int, *, before: bool) -> str:
    """Return what stands for a word outside of the sentence.

    >>> edge_text(1, before=True)
    '<start-1>'
    """
    return f"<start-{distance}>" if before else f"<end+{distance}>"

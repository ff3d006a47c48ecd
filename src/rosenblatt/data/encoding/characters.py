"""Which characters make words, and their lower case: those of Python's ``str``.

A word is a maximal run of letters and digits, ``str.isalnum``, in text that ``str.lower`` has made.
"""

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

WORD = re.compile(r"[^\W_]+")

N_CODE_POINTS = 0x110000
CAPITAL_SIGMA = 0x3A3  # the lower case of Σ depends on the letters around it
DOTTED_I = 0x130  # the lower case of İ is two characters
IN_CONTEXT = (chr(CAPITAL_SIGMA), chr(DOTTED_I))


@cache
def word_characters() -> NDArray[np.int32]:
    """Return for each code point its lower case, or −1 where that belongs to no word.

    For all but the two of ``IN_CONTEXT``, whose rows have to be in lower case already. Takes 40 ms,
    so it is made only where there is text beyond ASCII.
    """
    points = np.arange(N_CODE_POINTS, dtype=np.int32)
    points[[CAPITAL_SIGMA, DOTTED_I]] = ord("?")  # any character that stays as it is
    every = points.astype("<i4").tobytes().decode("utf-32-le", "surrogatepass")
    lower = every.lower()
    characters = np.frombuffer(lower.encode("utf-32-le", "surrogatepass"), "<i4").astype(np.int32)
    in_word = np.zeros(N_CODE_POINTS, bool)
    for run in WORD.finditer(lower):
        in_word[run.start() : run.end()] = True
    characters[~in_word] = -1
    return characters

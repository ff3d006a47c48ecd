"""Columns of words: numbered, and made into the keys of features.

A word here is a distinct value of a column. What templates make of a word is found once for each
word, not for each token. Before and after a sentence stand words of their own, by their distance.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import Changed, compiled, inlined
from rosenblatt.kernels.text.hashing import (
    CHUNK_FACTOR,
    LAST_FACTOR,
    LENGTH_FACTOR,
    SEED,
)

U = np.uint64
BY_LENGTH, BY_CHUNK, BY_LAST = U(LENGTH_FACTOR), U(CHUNK_FACTOR), U(LAST_FACTOR)
NOTHING = U(0)  # the value of a function that a word does not have, as of a suffix longer than it

AFFIXES = 5  # characters
WORD, LOWER, SHAPE, SUFFIX, PREFIX, CAPITAL, DIGIT, HYPHEN, BIAS = 0, 1, 2, 2, 7, 13, 14, 15, 16
N_FUNCTIONS = 17  # suffixes of 1 to 5 characters follow SUFFIX, prefixes PREFIX
LONGEST_RUN = 3  # of characters of a kind that a shape shows
UPPER_CASE, LOWER_CASE, DIGITS = 1, 2, 3  # kinds of characters; 0: others
LONGEST_WORD = 256  # characters whose case and kind are looked at

EDGE = 4  # words by distance before a sentence, and as many after it
FIRST_WORD = 2 * EDGE


@inlined
def last_mix(mixed: Any) -> Any:
    """Return a hash whose bits all depend on all bits of another one."""
    mixed *= BY_LAST
    return mixed ^ (mixed >> U(29))


@inlined
def pair_key(first: Any, second: Any) -> Any:
    """Return the hash of two terms, as ``hashing.pair_hash`` does."""
    mixed = (first * BY_LENGTH) ^ second
    return last_mix(mixed ^ (mixed >> U(32)))


@inlined
def term_key(text: NDArray[np.uint8], start: int, stop: int) -> Any:
    """Return the hash of bytes, as ``hashing.term_hash`` does."""
    mixed = U(SEED) ^ (U(stop - start) * BY_LENGTH)
    for first in range(start, stop, 8):
        chunk = U(0)
        for b in range(min(8, stop - first)):
            chunk |= U(text[first + b]) << U(8 * b)
        mixed = (mixed ^ chunk) * BY_CHUNK
        mixed ^= mixed >> U(32)
    return last_mix(mixed)


@inlined
def slot_of(key: Any, slots: NDArray[np.uint64]) -> Any:
    """Return where a key stands in a table of open addressing, or would."""
    mask = U(len(slots) - 1)
    slot = key & mask
    while slots[slot, 1] != U(0) and slots[slot, 0] != key:
        slot = (slot + U(1)) & mask
    return slot


@inlined
def place_of(key: Any, slots: NDArray[np.uint64]) -> Any:
    """Return the number of a key; −1 where it has none."""
    return np.int64(slots[slot_of(key, slots), 1]) - 1


class Known(NamedTuple):
    """What has a number: keys in their order, and the table that finds them."""

    slots: NDArray[np.uint64]
    keys: NDArray[np.uint64]


@inlined
def is_full(n: int, known: Known) -> bool:
    """Return whether one more key needs more room."""
    return n >= len(known.keys) or 2 * n >= len(known.slots)


@inlined
def enter(key: Any, slot: Any, n: int, known: Known) -> None:
    """Write a new key, whose number is n."""
    known.slots[slot, 0] = key
    known.slots[slot, 1] = U(n + 1)
    known.keys[n] = key


@compiled
def enter_keys(known: Changed[Known], n: int) -> None:
    """Enter the first keys into an empty table."""
    for i in range(n):
        enter(known.keys[i], slot_of(known.keys[i], known.slots), i, known)


@compiled
def number_words(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    column: Any,  # the hash of the column
    known: Changed[Known],
    spelled: Changed[tuple[NDArray[np.int64], NDArray[np.int64]]],  # where each word stands
    n_words: int,
    begin: int,  # token to go on with
    words: Changed[NDArray[np.int32]],
) -> Any:
    """Write the number of the word of each token; return where it stopped, and how many words.

    It stops where there is no room for a new word.
    """
    for t in range(begin, len(words)):
        key = pair_key(column, term_key(text, starts[t], stops[t]))
        slot = slot_of(key, known.slots)
        if known.slots[slot, 1] == U(0):
            if is_full(n_words, known):
                return t, n_words
            enter(key, slot, n_words, known)
            spelled[0][n_words], spelled[1][n_words] = starts[t], stops[t]
            n_words += 1
        words[t] = np.int64(known.slots[slot, 1]) - 1
    return len(words), n_words


class Characters(NamedTuple):
    """What is known of characters, by their code points; and room for those of a word."""

    lower: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    word: NDArray[np.int64]


@inlined
def write_points(text: NDArray[np.uint8], start: int, stop: int, room: NDArray[Any]) -> int:
    """Write the code points of UTF-8, as many as there is room for; return how many."""
    n, i = 0, start
    while i < stop and n < len(room):
        byte = np.int64(text[i])
        more = 0 if byte < 0xC0 else 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
        point = byte if byte < 0x80 else byte & (0x3F >> more)
        for j in range(1, more + 1):
            if i + j < stop:
                point = (point << 6) | (np.int64(text[i + j]) & 0x3F)
        room[n] = point
        i, n = i + more + 1, n + 1
    return n


@inlined
def lower_of(point: int, characters: Characters) -> Any:
    """Return the lower case of a code point."""
    return np.int64(characters.lower[point]) if point < len(characters.lower) else point


@inlined
def kind_of(point: int, characters: Characters) -> Any:
    """Return the kind of a code point; without case, letters are of lower case."""
    return np.int64(characters.kinds[point]) if point < len(characters.kinds) else LOWER_CASE


@compiled
def write_functions(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    keys: NDArray[np.uint64],
    first: int,
    last: int,
    characters: Changed[Characters],
    values: Changed[NDArray[np.uint64]],  # (words, functions)
) -> None:
    """Write what each function makes of words from ``first`` to ``last``, as a hash."""
    before: Any
    for v in range(first, last):
        n = write_points(text, starts[v], stops[v], characters.word)
        lower, shape, run, before = U(SEED), U(SEED), 0, np.int64(-1)
        upper, small, digits, hyphen = 0, 0, 0, False
        for i in range(n):
            point = characters.word[i]
            kind = kind_of(point, characters)
            lower = pair_key(lower, U(lower_of(point, characters)))
            mark = kind if kind > 0 else point + 4
            run = run + 1 if mark == before else 1
            before = mark
            if run <= LONGEST_RUN:
                shape = pair_key(shape, U(mark))
            upper += kind == UPPER_CASE
            small += kind == LOWER_CASE
            digits += kind == DIGITS
            hyphen = hyphen or (point == 45 and 0 < i < n - 1)
            if i < AFFIXES:
                values[v, PREFIX + 1 + i] = lower
        suffix = U(SEED)
        for i in range(AFFIXES):
            if i < n:
                suffix = pair_key(suffix, U(lower_of(characters.word[n - 1 - i], characters)))
            else:
                values[v, PREFIX + 1 + i] = NOTHING
            values[v, SUFFIX + 1 + i] = suffix if i < n else NOTHING
        case = 4
        if n > 1 and upper > 0 and small == 0:
            case = 1
        elif n > 0 and kind_of(characters.word[0], characters) == UPPER_CASE:
            case = 2
        elif small > 0 and upper == 0:
            case = 3
        values[v, WORD], values[v, LOWER], values[v, SHAPE] = keys[v], lower, shape
        values[v, CAPITAL] = U(case)
        values[v, DIGIT] = U(1) if digits == n else U(2) if digits > 0 else NOTHING
        values[v, HYPHEN] = U(1) if hyphen else NOTHING
        values[v, BIAS] = U(1)


class Combinations(NamedTuple):
    """Templates of several words: of each the words and functions from ``bounds`` on."""

    bounds: NDArray[np.int64]
    offsets: NDArray[np.int64]
    columns: NDArray[np.int64]
    functions: NDArray[np.int64]
    seeds: NDArray[np.uint64]  # the hash of each template


@inlined
def word_at(words: NDArray[Any], column: int, place: int, first: int, last: int) -> Any:
    """Return the word at a place; around the sentence from ``first`` to ``last`` stand edges."""
    if place < first:
        return min(first - place - 1, EDGE - 1)
    if place >= last:
        return EDGE + min(place - last, EDGE - 1)
    return np.int64(words[column, place])


@inlined
def combination_key(
    words: NDArray[Any],
    t: int,
    first: int,
    last: int,
    f: int,
    combinations: Combinations,
    functions: NDArray[np.uint64],
) -> Any:
    """Return the key of what combination f makes of token t; ``NOTHING``: no feature."""
    key = combinations.seeds[f]
    for m in range(combinations.bounds[f], combinations.bounds[f + 1]):
        place = t + combinations.offsets[m]
        v = word_at(words, combinations.columns[m], place, first, last)
        value = functions[v, combinations.functions[m]]
        if value == NOTHING:
            return NOTHING
        key = pair_key(key, value)
    return key


@compiled
def write_keys(
    functions: NDArray[np.uint64],
    first: int,
    last: int,
    columns: NDArray[np.int16],  # of words; those of edges are in every column
    template_columns: NDArray[np.int64],
    template_functions: NDArray[np.int64],
    seeds: NDArray[np.uint64],
    keys: Changed[NDArray[np.uint64]],  # (words, templates)
) -> None:
    """Write the key of what each template of one word makes of words."""
    for v in range(first, last):
        for f in range(len(seeds)):
            value = functions[v, template_functions[f]]
            own = v < FIRST_WORD or columns[v] == template_columns[f]
            keys[v, f] = pair_key(seeds[f], value) if own and value != NOTHING else NOTHING


@compiled
def write_combinations(
    words: NDArray[Any],
    bounds: NDArray[np.int64],
    combinations: Combinations,
    functions: NDArray[np.uint64],
    keys: Changed[NDArray[np.uint64]],  # (tokens, combinations)
) -> None:
    """Write the key of what each combination makes of each token."""
    for i in range(len(bounds) - 1):
        first, last = bounds[i], bounds[i + 1]
        for t in range(first, last):
            for f in range(len(combinations.seeds)):
                keys[t, f] = combination_key(words, t, first, last, f, combinations, functions)


@compiled
def find_keys(
    keys: NDArray[np.uint64], slots: NDArray[np.uint64], numbers: Changed[NDArray[np.int32]]
) -> None:
    """Write the number of each key; −1 where it has none."""
    for i in range(len(keys)):
        numbers[i] = -1 if keys[i] == NOTHING else place_of(keys[i], slots)


@compiled
def number_keys(
    keys: NDArray[np.uint64],
    begin: int,
    known: Changed[Known],
    n_known: int,
    numbers: Changed[NDArray[np.int32]],
    places: Changed[NDArray[np.int64]],  # where in keys each stands first
) -> Any:
    """Write the number of each key, new ones in order of appearance; stop where room ends."""
    for i in range(begin, len(keys)):
        key = keys[i]
        numbers[i] = -1
        if key != NOTHING:
            slot = slot_of(key, known.slots)
            if known.slots[slot, 1] == U(0):
                if is_full(n_known, known):
                    return i, n_known
                enter(key, slot, n_known, known)
                places[n_known] = i
                n_known += 1
            numbers[i] = np.int64(known.slots[slot, 1]) - 1
    return len(keys), n_known


class Tokens(NamedTuple):
    """The features that templates make of the words and of the tokens."""

    offsets: NDArray[np.int64]  # of templates of one word
    columns: NDArray[np.int64]
    singles: NDArray[np.int32]  # (words, templates), numbers of features
    combined: NDArray[np.int32]  # (tokens, combinations)


@compiled
def count_features(
    words: NDArray[Any], bounds: NDArray[np.int64], tokens: Tokens, counts: Changed[NDArray[Any]]
) -> None:
    """Add how often each feature comes."""
    for i in range(len(bounds) - 1):
        first, last = bounds[i], bounds[i + 1]
        for t in range(first, last):
            for f in range(len(tokens.offsets)):
                v = word_at(words, tokens.columns[f], t + tokens.offsets[f], first, last)
                feature = tokens.singles[v, f]
                if feature >= 0:
                    counts[feature] += 1
            for f in range(tokens.combined.shape[1]):
                if tokens.combined[t, f] >= 0:
                    counts[tokens.combined[t, f]] += 1


@compiled
def write_features(
    words: NDArray[Any],
    bounds: NDArray[np.int64],
    tokens: Tokens,
    starts: Changed[NDArray[np.int64]],
    features: Changed[NDArray[np.int32]],
) -> None:
    """Write the features of each token: of one word in the order of templates, then combined."""
    n = 0
    starts[0] = 0
    for i in range(len(bounds) - 1):
        first, last = bounds[i], bounds[i + 1]
        for t in range(first, last):
            for f in range(len(tokens.offsets)):
                v = word_at(words, tokens.columns[f], t + tokens.offsets[f], first, last)
                if tokens.singles[v, f] >= 0:
                    features[n] = tokens.singles[v, f]
                    n += 1
            for f in range(tokens.combined.shape[1]):
                if tokens.combined[t, f] >= 0:
                    features[n] = tokens.combined[t, f]
                    n += 1
            starts[t + 1] = n

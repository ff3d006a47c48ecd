"""The features of tokens by templates: numbered for training, then kept with their weights.

A feature is known by the hash of its template and words. A model keeps no hash: of each feature it
has the template and words that show it, its *witness*, from which hash and name are made.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from math import isfinite
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.sequences.templates import (
    Template,
    check_columns,
    function_text,
    of_json,
    template_name,
)
from rosenblatt.data.sequences.words import (
    TokenColumns,
    WordTable,
    bounds_of,
    columns_of,
    grown,
    hash_of,
    word_marks,
)
from rosenblatt.data.sequences.words import slots_for as table_of
from rosenblatt.errors import InputError
from rosenblatt.kernels.sequences.paths import NO_ROW
from rosenblatt.kernels.sequences.words import (
    EDGE,
    FIRST_WORD,
    Combinations,
    Known,
    Tokens,
    count_features,
    number_keys,
    write_combinations,
    write_features,
    write_keys,
)

NO_WORD = -1  # of a witness with fewer words


class Witnesses(NamedTuple):
    """A template and words that show each feature."""

    templates: NDArray[np.uint16]
    words: NDArray[np.int32]  # (features, most words of a template)

    def take(self, numbers: NDArray[Any]) -> "Witnesses":
        """Return those of some features."""
        return Witnesses(self.templates[numbers], self.words[numbers])


class Candidates(NamedTuple):
    """The features of tokens, which may get weights: first those that have some."""

    bounds: NDArray[np.int64]  # of the tokens of sentences
    starts: NDArray[np.int64]  # of the features of tokens
    features: NDArray[np.int32]
    values: NDArray[Any]
    n_known: int
    keys: NDArray[np.uint64]
    witnesses: Witnesses


class TemplateLayout:
    """Templates as the kernels read them: of one word first, those of one place together."""

    def __init__(self, templates: Sequence[Template]) -> None:
        self.columns = sorted({macro.column for one in templates for macro in one})
        at = {column: place for place, column in enumerate(self.columns)}
        singles = sorted(
            (one for one in templates if len(one) == 1),
            key=lambda one: (one[0].column, abs(one[0].offset), one[0].offset),
        )
        combined = [one for one in templates if len(one) > 1]
        self.templates: tuple[Template, ...] = (*singles, *combined)
        self.n_singles = len(singles)
        self.offsets = _numbers(one[0].offset for one in singles)
        self.places = _numbers(at[one[0].column] for one in singles)
        self.functions = _numbers(one[0].function for one in singles)
        seeds = np.array([hash_of(template_name(one)) for one in self.templates], np.uint64)
        self.seeds = seeds[: len(singles)]
        macros = [macro for one in combined for macro in one]
        self.combinations = Combinations(
            np.cumsum([0, *map(len, combined)]),
            _numbers(macro.offset for macro in macros),
            _numbers(at[macro.column] for macro in macros),
            _numbers(macro.function for macro in macros),
            seeds[len(singles) :],
        )
        where = np.stack([self.places, self.offsets])
        new = np.flatnonzero((where[:, 1:] != where[:, :-1]).any(axis=0)) + 1
        self.groups = np.concatenate([[0], new, [len(singles)]] if singles else [[0]])
        self.most_words = max(map(len, self.templates))


@lru_cache(maxsize=16)
def layout_of(templates: tuple[Template, ...]) -> TemplateLayout:
    """Return templates as the kernels read them; a service asks for the same ones all the time."""
    return TemplateLayout(templates)


def _numbers(values: Iterator[int]) -> NDArray[np.int64]:
    return np.array([*values], np.int64)


class SentenceEncoding(Protocol):
    """Makes features of tokens, and knows which have weights."""

    @property
    def n_features(self) -> int:
        """Number of features with weights."""

    @property
    def known(self) -> Sequence[Any]:
        """What tells features with weights from others, in the order of their rows."""

    def bare(self) -> "SentenceEncoding":
        """Return the encoding without any feature or word."""

    def joined(self, others: Sequence[Any]) -> "SentenceEncoding":
        """Return the encoding with the features of others of its kind behind its own."""

    def columns(self, sentences: Sequence[Sequence[Any]]) -> Any:
        """Return sentences as they are encoded; they have ``bounds``."""

    def marks(self, columns: Any) -> NDArray[np.uint32]:
        """Return what tells words of the first column from others, where there are any."""

    def candidates(self, columns: Any, min_count: int = 1) -> Candidates:
        """Return the features of tokens; new ones are those that come so often."""

    def extended(self, new: Candidates, rows: NDArray[np.int32]) -> "SentenceEncoding":
        """Return the encoding with candidates that got rows of weights, in the order of these."""

    def selected(self, numbers: NDArray[Any]) -> "SentenceEncoding":
        """Return the encoding with these features alone, in this order."""

    def name(self, feature: int) -> str:
        """Return the name of a feature."""

    def as_json(self) -> dict[str, Any]:
        """Return what a model file holds beside ``arrays``."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the large parts."""


@dataclass(frozen=True)
class WordEncoding:
    """Templates, and the features that have weights in the order of their rows."""

    templates: tuple[Template, ...]
    n_columns: int = 1  # that a token has beside its tag
    words: WordTable = field(default_factory=lambda: WordTable(()), repr=False)
    keys: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64), repr=False)
    witnesses: Witnesses | None = field(default=None, repr=False)
    kind: ClassVar[str] = "words"

    @classmethod
    def empty(cls, templates: Sequence[Template], n_columns: int) -> "WordEncoding":
        """Return the encoding before the first sentence."""
        check_columns(templates, n_columns)
        return cls(TemplateLayout(templates).templates, n_columns).bare()

    @property
    def layout(self) -> TemplateLayout:
        """The templates as the kernels read them."""
        return layout_of(self.templates)

    @property
    def known(self) -> list[int]:
        """What tells features with weights from others, in the order of their rows."""
        found: list[int] = self.keys.tolist()
        return found

    @property
    def n_features(self) -> int:
        """Number of features with weights."""
        return len(self.keys)

    def columns(self, sentences: Sequence[Sequence[Any]]) -> TokenColumns:
        """Return the columns that templates look at, of lists of words or of cells."""
        return columns_of(sentences, self.layout.columns)

    def marks(self, columns: TokenColumns) -> NDArray[np.uint32]:
        """Return what tells words of the first column from others."""
        return word_marks(columns)

    def candidates(self, columns: TokenColumns, min_count: int = 1) -> Candidates:
        """Return the features of tokens; new ones are those that come so often."""
        layout, words = self.layout, self.words
        numbers = words.numbers(columns)
        singles = np.empty((words.n, layout.n_singles), np.uint64)
        write_keys(
            *(words.functions, 0, words.n, words.column),
            *(layout.places, layout.functions, layout.seeds, singles),
        )
        combined = np.empty((columns.n_tokens, len(layout.combinations.seeds)), np.uint64)
        write_combinations(numbers, columns.bounds, layout.combinations, words.functions, combined)
        table = _KeyNumbers(self.keys)
        of_words, of_tokens = table.numbers(singles), table.numbers(combined)
        tokens = Tokens(layout.offsets, layout.places, of_words, of_tokens)
        counts = np.zeros(table.n, np.int64)
        count_features(numbers, columns.bounds, tokens, counts)
        kept = counts >= max(min_count, 1)
        kept[: self.n_features] = True
        renumbered = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)
        tokens = tokens._replace(singles=renumbered[of_words], combined=renumbered[of_tokens])
        features = np.empty(int(counts[kept].sum()), np.int32)
        starts = np.empty(columns.n_tokens + 1, np.int64)
        write_features(numbers, columns.bounds, tokens, starts, features)
        new = np.flatnonzero(kept[self.n_features :]) + self.n_features
        witnesses = self._witnesses(table.places[new], numbers, columns.bounds, singles.size)
        ones = np.ones(len(features), bool)
        found = columns.bounds, starts, features, ones, self.n_features
        return Candidates(*found, table.keys[new], witnesses)

    def _witnesses(
        self,
        places: NDArray[Any],
        numbers: NDArray[Any],
        bounds: NDArray[Any],
        n_singles: int,  # places of words times templates, before those of tokens
    ) -> Witnesses:
        """Return what shows features, by where their keys stand first."""
        layout = self.layout
        templates = np.empty(len(places), np.uint16)
        words = np.full((len(places), layout.most_words), NO_WORD, np.int32)
        alone = places < n_singles
        if layout.n_singles:
            templates[alone] = places[alone] % layout.n_singles
            words[alone, 0] = places[alone] // layout.n_singles
        combinations = layout.combinations
        n_combined = max(len(combinations.seeds), 1)
        token, which = np.divmod(places[~alone] - n_singles, n_combined)
        templates[~alone] = layout.n_singles + which
        found = np.full((len(token), layout.most_words), NO_WORD, np.int32)
        sentence = np.searchsorted(bounds, token, side="right") - 1
        for f in range(len(combinations.seeds)):
            own = which == f
            here, first, last = token[own], bounds[sentence[own]], bounds[sentence[own] + 1]
            for m, macro in enumerate(range(combinations.bounds[f], combinations.bounds[f + 1])):
                place = here + combinations.offsets[macro]
                inside = np.clip(place, first, last - 1)
                word = numbers[combinations.columns[macro], inside]
                before = np.minimum(first - place - 1, EDGE - 1)
                after = EDGE + np.minimum(place - last, EDGE - 1)
                word = np.where(place < first, before, np.where(place >= last, after, word))
                found[own, m] = word
        words[~alone] = found
        return Witnesses(templates, words)

    def extended(self, new: Candidates, rows: NDArray[np.int32]) -> "WordEncoding":
        """Return the encoding with candidates that got rows of weights, in the order of these."""
        own = rows[self.n_features :]
        given = np.flatnonzero(own != NO_ROW)
        given = given[np.argsort(own[given], kind="stable")]
        if not len(given):
            return self
        seen = new.witnesses.take(given)
        before = self.witnesses or seen.take(given[:0])
        both = Witnesses(
            np.concatenate([before.templates, seen.templates]),
            np.concatenate([before.words, seen.words]),
        )
        keys = np.concatenate([self.keys, new.keys[given]])
        return WordEncoding(self.templates, self.n_columns, self.words, keys, both)

    def selected(self, numbers: NDArray[Any]) -> "WordEncoding":
        """Return the encoding with these features alone, in this order."""
        seen = None if self.witnesses is None else self.witnesses.take(numbers)
        return WordEncoding(self.templates, self.n_columns, self.words, self.keys[numbers], seen)

    def name(self, feature: int) -> str:
        """Return the name of a feature, as suffix3=ing."""
        if self.witnesses is None:
            return f"{self.keys[feature]:x}"
        template = self.templates[self.witnesses.templates[feature]]
        words = self.witnesses.words[feature].tolist()
        return feature_name(template, [self.words.text(w) for w in words[: len(template)]], words)

    def as_json(self) -> dict[str, Any]:
        """Return what a model file holds beside ``arrays``."""
        stored = [[list(macro) for macro in template] for template in self.templates]
        return {"kind": self.kind, "templates": stored, "n_columns": self.n_columns}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the large parts: the words that show features, and which show which."""
        seen, used = self.shown_by, self.used
        place = self.placed(used, np.arange(len(used)) + FIRST_WORD)
        letters = self.words.letters(used)
        return {
            "letters": np.frombuffer(b"".join(letters), np.uint8),
            "lengths": np.array([*map(len, letters)], np.uint16),
            "columns": self.words.column[used].astype(np.uint8),
            "templates": seen.templates,
            "words": place[seen.words],
        }

    @property
    def shown_by(self) -> Witnesses:
        """What shows each feature; raise InputError where that is not known."""
        if self.witnesses is None:
            raise InputError("These features have no words.")
        return self.witnesses

    @property
    def used(self) -> NDArray[Any]:
        """The words that show features, without those of edges."""
        words = self.shown_by.words
        return np.unique(words[words >= FIRST_WORD])

    def placed(self, used: NDArray[Any], numbers: NDArray[Any]) -> NDArray[np.int32]:
        """Return where words stand elsewhere: these have such numbers, edges their own."""
        place = np.zeros(self.words.n + 1, np.int32)
        place[used] = numbers
        place[:FIRST_WORD] = np.arange(FIRST_WORD)
        place[NO_WORD] = NO_WORD
        return place

    def bare(self) -> "WordEncoding":
        """Return the encoding without any feature or word."""
        none = Witnesses(np.empty(0, np.uint16), np.empty((0, self.layout.most_words), np.int32))
        words = WordTable(self.layout.columns)
        return WordEncoding(self.templates, self.n_columns, words, witnesses=none)

    def joined(self, others: "Sequence[WordEncoding]") -> "WordEncoding":
        """Return the encoding with the features of others of its templates behind its own."""
        seen, keys = [self.shown_by], [self.keys]
        for other in others:
            used, own = other.used, other.shown_by
            letters = other.words.letters(used)
            text = np.frombuffer(b"".join(letters), np.uint8)
            lengths = np.array([*map(len, letters)], np.int64)
            place = other.placed(used, self.words.entered(text, lengths, other.words.column[used]))
            keys.append(other.keys)
            seen.append(own._replace(words=place[own.words]))
        both = Witnesses(*(np.concatenate(parts) for parts in zip(*seen, strict=True)))
        return WordEncoding(self.templates, self.n_columns, self.words, np.concatenate(keys), both)

    @classmethod
    def stored(cls, stored: Any, arrays: Any) -> "WordEncoding":
        """Return the encoding that ``as_json`` and ``arrays`` gave, checked."""
        empty = cls.empty(of_json(stored["templates"]), int(stored["n_columns"]))
        layout, table = empty.layout, empty.words
        if layout.templates != empty.templates:
            raise InputError("its templates are not in their order.")
        lengths = arrays["lengths"].astype(np.int64)
        stops = np.cumsum(lengths)
        column = arrays["columns"]
        letters = arrays["letters"].astype(np.uint8, copy=False)
        good = len(column) == len(lengths) and int(stops[-1:].sum()) == len(letters)
        if not good or (column >= len(layout.columns)).any():
            raise InputError("its words do not fit together.")
        number = np.append(np.arange(FIRST_WORD), table.entered(letters, lengths, column))
        templates, words = arrays["templates"], arrays["words"]
        good = words.shape == (len(templates), layout.most_words)
        if not good or (templates >= len(layout.templates)).any() or (words >= len(number)).any():
            raise InputError("its features do not fit together.")
        seen = Witnesses(templates, np.where(words >= 0, number[words], NO_WORD).astype(np.int32))
        return cls(layout.templates, empty.n_columns, table, _keys(layout, table, seen), seen)


def feature_name(template: Template, texts: Sequence[str], words: Sequence[int]) -> str:
    """Return the name of what a template makes of these words."""
    values = [
        text if word < FIRST_WORD else function_text(macro.function, text)
        for macro, text, word in zip(template, texts, words, strict=False)
    ]
    return f"{template_name(template)}={'|'.join(values)}"


def _keys(layout: TemplateLayout, table: WordTable, seen: Witnesses) -> NDArray[np.uint64]:
    """Return the keys of features by their witnesses."""
    keys = np.empty(len(seen.templates), np.uint64)
    singles = np.empty((table.n, layout.n_singles), np.uint64)
    write_keys(
        *(table.functions, 0, table.n, table.column),
        *(layout.places, layout.functions, layout.seeds, singles),
    )
    alone = seen.templates < layout.n_singles
    keys[alone] = singles[seen.words[alone, 0], seen.templates[alone]]
    combinations = layout.combinations
    for f in range(len(combinations.seeds)):
        own = np.flatnonzero(seen.templates == layout.n_singles + f)
        macros = slice(int(combinations.bounds[f]), int(combinations.bounds[f + 1]))
        alone_one = Combinations(
            np.array([0, macros.stop - macros.start]),
            np.zeros(macros.stop - macros.start, np.int64),
            np.arange(macros.stop - macros.start),
            combinations.functions[macros],
            combinations.seeds[f : f + 1],
        )
        found = np.empty((len(own), 1), np.uint64)
        tokens = np.ascontiguousarray(seen.words[own, : macros.stop - macros.start].T)
        bounds = np.array([0, len(own)])
        write_combinations(tokens, bounds, alone_one, table.functions, found)
        keys[own] = found[:, 0]
    return keys


class _KeyNumbers:
    """Keys by the order in which they appear, behind those that are known."""

    def __init__(self, known: NDArray[np.uint64]) -> None:
        self.n = len(known)
        self.keys = grown(known, max(1 << 12, 2 * len(known)))
        self.places = np.zeros(len(self.keys), np.int64)  # where each stands first
        self._slots = table_of(self.keys, self.n)
        self._seen = 0

    def numbers(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the number of each key; −1 for none."""
        flat = keys.reshape(-1)
        found = np.empty(len(flat), np.int32)
        begin, first = 0, self.n
        while True:
            known = Known(self._slots, self.keys)
            begin, self.n = number_keys(flat, begin, known, self.n, found, self.places)
            if begin == len(flat):
                break
            room = max(4 * self.n, len(self.keys))
            self.keys, self.places = grown(self.keys, room), grown(self.places, room)
            self._slots = table_of(self.keys, self.n)
        self.places[first : self.n] += self._seen
        self._seen += len(flat)
        return found.reshape(keys.shape)


@dataclass(frozen=True)
class NamedTokens:
    """Sentences whose tokens are given as dictionaries of features."""

    tokens: list[dict[str, float]]  # names with values
    bounds: NDArray[np.int64]

    @property
    def n_tokens(self) -> int:
        """Number of tokens."""
        return len(self.tokens)


@dataclass(frozen=True)
class NamedEncoding:
    """Features that have names of their own, in the order of their rows of weights."""

    names: tuple[str, ...] = ()
    kind: ClassVar[str] = "named"

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each name."""
        return {name: number for number, name in enumerate(self.names)}

    @property
    def n_features(self) -> int:
        """Number of features with weights."""
        return len(self.names)

    @property
    def known(self) -> Sequence[str]:
        """What tells features with weights from others, in the order of their rows."""
        return self.names

    def bare(self) -> "NamedEncoding":
        """Return the encoding without any feature."""
        return NamedEncoding()

    def joined(self, others: "Sequence[NamedEncoding]") -> "NamedEncoding":
        """Return the encoding with the features of others behind its own."""
        return NamedEncoding((*self.names, *chain.from_iterable(one.names for one in others)))

    def columns(self, sentences: Sequence[Sequence[Any]]) -> NamedTokens:
        """Return sentences of dictionaries: a word is name=word, True is 1, False is no feature."""
        tokens = [named_values(token) for sentence in sentences for token in sentence]
        return NamedTokens(tokens, bounds_of(map(len, sentences)))

    def marks(self, _: NamedTokens) -> NDArray[np.uint32]:
        """Return nothing: features are no words."""
        return np.empty(0, np.uint32)

    def candidates(self, columns: NamedTokens, min_count: int = 1) -> Candidates:
        """Return the features of tokens; new ones are those that come so often."""
        counts = Counter(chain.from_iterable(columns.tokens))
        places = dict(self.places)
        for name, count in counts.items():
            if count >= min_count:
                places.setdefault(name, len(places))
        rows = [
            [(places[name], x) for name, x in t.items() if name in places] for t in columns.tokens
        ]
        flat = [*chain.from_iterable(rows)]
        values = np.array([x for _, x in flat], np.float64)
        if (values == 1.0).all():
            values = np.ones(len(values), bool)
        features = np.array([feature for feature, _ in flat], np.int32)
        new = np.array([*places][self.n_features :], object)
        none = Witnesses(np.empty(0, np.uint16), np.empty((0, 0), np.int32))
        starts = bounds_of(map(len, rows))
        return Candidates(columns.bounds, starts, features, values, self.n_features, new, none)

    def extended(self, new: Candidates, rows: NDArray[np.int32]) -> "NamedEncoding":
        """Return the encoding with candidates that got rows of weights, in the order of these."""
        own = rows[self.n_features :]
        given = np.flatnonzero(own != NO_ROW)
        given = given[np.argsort(own[given], kind="stable")]
        return NamedEncoding((*self.names, *new.keys[given].tolist()))

    def selected(self, numbers: NDArray[Any]) -> "NamedEncoding":
        """Return the encoding with these features alone, in this order."""
        return NamedEncoding(tuple(self.names[number] for number in numbers.tolist()))

    def name(self, feature: int) -> str:
        """Return the name of a feature."""
        return self.names[feature]

    def as_json(self) -> dict[str, Any]:
        """Return what a model file holds beside ``arrays``."""
        return {"kind": self.kind}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the names, one after the other."""
        coded = [name.encode() for name in self.names]
        letters = np.frombuffer(b"".join(coded), np.uint8)
        return {"letters": letters, "lengths": np.array([*map(len, coded)], np.uint32)}

    @classmethod
    def stored(cls, _: Any, arrays: Any) -> "NamedEncoding":
        """Return the encoding that ``as_json`` and ``arrays`` gave, checked."""
        stops = np.cumsum(arrays["lengths"].astype(np.int64))
        text = arrays["letters"].astype(np.uint8).tobytes()
        if int(stops[-1:].sum()) != len(text):
            raise InputError("its names of features do not fit together.")
        starts = [0, *stops.tolist()]
        pieces = (text[a:b] for a, b in pairwise(starts))
        return cls(tuple(piece.decode("utf-8", "replace") for piece in pieces))


def named_values(token: Mapping[str, Any]) -> dict[str, float]:
    """Return the features of a token by name, as sklearn-crfsuite reads dictionaries.

    >>> named_values({"word": "Rome", "title": True, "length": 4, "last": False})
    {'word=Rome': 1.0, 'title': 1.0, 'length': 4.0}
    """
    found: dict[str, float] = {}
    for name, value in token.items():
        if isinstance(value, Mapping):
            inner = named_values(value)
            found |= {f"{name}:{other}": x for other, x in inner.items()}
        elif isinstance(value, (list, tuple, set)):
            found |= {f"{name}:{one}": 1.0 for one in value}
        elif isinstance(value, str):
            found[f"{name}={value}"] = 1.0
        elif isinstance(value, (bool, np.bool_)):
            found |= {name: 1.0} if value else {}
        elif isinstance(value, Real) and isfinite(value):
            found |= {name: float(value)} if value else {}
        elif value is not None:
            raise InputError(
                f"The feature {name!r:.60} of a token must be a word, a finite number, True or "
                f"False; got {value!r:.60}."
            )
    return found


KINDS: dict[str, Callable[[Any, Any], SentenceEncoding]] = {
    WordEncoding.kind: WordEncoding.stored,
    NamedEncoding.kind: NamedEncoding.stored,
}


def stored_encoding(stored: Any, arrays: Any) -> SentenceEncoding:
    """Return the encoding that a model file holds; raise InputError where it is damaged."""
    try:
        return KINDS[stored["kind"]](stored, arrays)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise InputError(f"its encoding of sentences cannot be used: {error}") from error

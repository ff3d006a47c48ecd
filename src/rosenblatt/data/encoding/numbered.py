"""Encodings of svmlight text, scaled features and conjunctions; any encoding of a model file."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.conjunctions import (
    MOST_TOGETHER,
    ColumnPairs,
    ConjunctionNumbering,
    HashedConjunctions,
    KnownConjunctions,
    blocks,
    conjunctions,
    features_of,
    has_keys,
)
from rosenblatt.data.encoding.familiarity import FIELDS as SUMMARY_FIELDS
from rosenblatt.data.encoding.familiarity import MOST_KEPT, SeenRows
from rosenblatt.data.encoding.features import (
    DATE_FORMS,
    FOLDING,
    LETTERS,
    NUMBER_FORMS,
    PARTS,
    ROLES,
    TOKENS,
    DocumentCounts,
    FeatureColumn,
    FeatureEncoding,
    HashedNumbering,
    InputColumn,
    KeptNumbering,
    TermArrays,
    feature_columns,
    spelled_hashes,
)
from rosenblatt.data.encoding.grids import (
    GRIDS_VERSION,
    INNER,
    LEVELS,
    MOST_JOINED,
    OWN_CODES,
    Block,
    ColumnGrids,
    GridEncoding,
)
from rosenblatt.data.encoding.numbers import FIELDS, ColumnStatistics
from rosenblatt.data.encoding.table_encoding import (
    MOST_FEATURES,
    ColumnFacts,
    Settings,
    TableEncoding,
)
from rosenblatt.data.stored_arrays import ArraySpec, StoredArrays
from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import CSR
from rosenblatt.kernels.text.hashing import HASH_VERSION

CONJUNCTIONS_VERSION = SCALING_VERSION = 1
TABLES = {2: "pairs", 3: "triples"}
OWNER = "The encoding of this model"
MOST_BITS = 30
ARRAYS = {
    "statistics": ArraySpec((np.float64,), (len(FIELDS), "numeric")),
    "vector_statistics": ArraySpec((np.float64,), (len(FIELDS), "vector values")),
    "summaries": ArraySpec((np.float64,), (len(SUMMARY_FIELDS), "columns")),
    "seen_rows": ArraySpec((np.uint64,), ("sampled",)),  # the limit and digests of a sample
    "term_hashes": ArraySpec((np.uint64,), ("terms",)),
    "term_columns": ArraySpec((np.int32,), ("terms",), 0, "columns"),  # whose terms they are
    "term_letters": ArraySpec((np.uint8,), ("letters",)),
    "term_offsets": ArraySpec((np.int64,), ("terms+1",), 0, order="rising"),
    "term_documents": ArraySpec((np.int32,), ("terms",), 0),  # how many texts have each term
    "term_places": ArraySpec((np.int32,), ("terms",), 0, "hashed", "ascending"),  # that occur
    "bin_edges": ArraySpec((np.float64,), ("edges",), -inf),
    "bin_offsets": ArraySpec((np.int64,), ("numeric+1",), 0, order="rising"),
    "pairs": ArraySpec((np.int64,), ("pairs",), 0, "all pairs", "ascending"),
    "triples": ArraySpec((np.int64,), ("triples",), 0, "all triples", "ascending"),
    "grid_codes": ArraySpec((np.int32,), ("inner features",), -1),
    "grid_levels": ArraySpec((np.int32,), ("edges",), LEVELS[0], LEVELS[-1] + 1),
    "grid_cells": ArraySpec((np.int64,), ("cells",), 0),
    "grid_offsets": ArraySpec((np.int64,), ("blocks+1",), 0, order="rising"),
    "centre": ArraySpec((np.float64,), ("features",), -inf),
    "divisor": ArraySpec((np.float64,), ("features",), -inf),
}


class SvmlightEncoding(FeatureEncoding):
    """Features as they are numbered in svmlight text.

    >>> SvmlightEncoding(zero_based=False, n_features=20).name(16)
    'feature 17'
    """

    kind = "svmlight"

    def __init__(self, *, zero_based: bool, n_features: int) -> None:
        self.zero_based = zero_based
        self.n_features = n_features

    @property
    def inner(self) -> "SvmlightEncoding":
        """The encoding of what files hold."""
        return self

    def name(self, index: int) -> str:
        """Return what a feature is called: its number in the file."""
        self.check_index(index)
        return f"feature {index + (not self.zero_based)}"

    def as_json(self) -> dict[str, Any]:
        """Return what ``encoding_from`` needs."""
        return {"kind": self.kind, "zero_based": self.zero_based, "n_features": self.n_features}


class ConjoinedEncoding(FeatureEncoding):
    """Features of a frozen encoding, then pairs and triples of those that stand in one row.

    Pairs are named ``excellent-and-not``; where there are too many to keep, they share columns by
    their hash and have no names. Cells of chosen pairs of columns are ``sea=yes and rooms from 3``.
    """

    kind = "conjunctions"

    def __init__(
        self,
        inner: TableEncoding | SvmlightEncoding,
        degree: int,
        numbering: ConjunctionNumbering | ColumnPairs,
    ) -> None:
        self.inner, self.degree, self.numbering = inner, degree, numbering
        self.n_features = numbering.n_columns  # with all conjunctions

    @property
    def table(self) -> TableEncoding | None:
        """The encoding of columns, if the rows come from a table."""
        return self.inner.table

    def expand(self, batch: Batch) -> Batch:
        """Return the rows of a batch of the inner encoding with their conjunctions."""
        known = batch.below(self.inner.n_features)  # svmlight rows may have more than is known
        if isinstance(self.numbering, ColumnPairs):
            return self.numbering.expand(known)
        rows = conjunctions(known, self.degree, self.numbering)
        n_features = int(rows.indices.max(initial=-1)) + 1
        indices = rows.indices.astype(np.int32)
        return batch.with_rows(rows._replace(indices=indices, n_features=n_features))

    def expanded(self, batch: Batch) -> Iterator[Batch]:
        """Yield the rows with their conjunctions, as many at a time as memory bears."""
        whole = isinstance(self.numbering, ColumnPairs) or batch.bad  # whose places count from here
        ends = [] if whole else [*blocks(batch, self.degree, MOST_TOGETHER)]
        for start, stop in ends if len(ends) > 1 else [(0, batch.n_rows)]:
            part = batch.block(start, stop)
            if batch.kept is not None:
                part = part._replace(kept={k: v[start:stop] for k, v in batch.kept.items()})
            yield self.expand(part._replace(first_line=batch.first_line + start))

    def unscaled_rows(self, rows: CSR) -> CSR:
        """Return rows with the numbers of the file; products of scaled ones stay as they are."""
        return self.inner.unscaled_rows(rows) if self.column_pairs else rows

    def name(self, index: int) -> str:
        """Return what a feature or a conjunction is called."""
        n = self.inner.n_features
        if index < n:
            return self.inner.name(index)
        self.check_index(index)
        if isinstance(self.numbering, HashedConjunctions):
            return f"conjunction {index - n}"
        place = index - n
        for degree, table in self.numbering.tables.items():
            if place < len(table):
                features = features_of(table[place : place + 1], n, degree)[0].tolist()
                if isinstance(self.numbering, ColumnPairs):
                    features.sort(key=self.numbering.owners.__getitem__)
                joint = " and " if isinstance(self.numbering, ColumnPairs) else "-and-"
                return joint.join(self.inner.name(feature) for feature in features)
            place -= len(table)
        raise AssertionError

    def as_json(self) -> dict[str, Any]:
        """Return what ``encoding_from`` needs beside the arrays."""
        return {
            "kind": self.kind,
            "version": CONJUNCTIONS_VERSION,
            "hash_version": HASH_VERSION,
            "degree": self.degree,
            "hash_bits": self.numbering.bits
            if isinstance(self.numbering, HashedConjunctions)
            else None,
            "inner": self.inner.as_json(),
        } | ({"column_pairs": self.column_pairs} if self.column_pairs else {})

    @property
    def column_pairs(self) -> list[list[int]]:
        """The places of the columns of chosen pairs, the first chosen first."""
        if not isinstance(self.numbering, ColumnPairs):
            return []
        return [[*pair] for pair in self.numbering.pairs]

    def pair_titles(self) -> list[list[str]]:
        """Return the names of the columns of chosen pairs."""
        columns = () if self.table is None else self.table.features
        return [[columns[place].title for place in pair] for pair in self.column_pairs]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the large parts of the encoding."""
        arrays = {f"{INNER}{name}": array for name, array in self.inner.arrays().items()}
        if not isinstance(self.numbering, HashedConjunctions):
            arrays |= {TABLES[degree]: table for degree, table in self.numbering.tables.items()}
        return arrays


class ScaledEncoding(FeatureEncoding):
    """Each feature as (x − centre)/divisor, as the scalers of scikit-learn make it of an array.

    A feature that a sparse row leaves out is 0 before it is scaled.
    """

    kind = "scaled"

    def __init__(
        self,
        centre: NDArray[Any],
        divisor: NDArray[Any],
        names: tuple[str, ...] | None = None,
    ) -> None:
        self.n_features = len(centre)
        self.inner = SvmlightEncoding(zero_based=True, n_features=self.n_features)
        self.centre, self.divisor, self.known_names = centre, divisor, names

    def expand(self, batch: Batch) -> Batch:
        """Return the rows of a batch, scaled; none of their values is left out."""
        known, n = batch.below(self.n_features), self.n_features
        values = np.zeros((batch.n_rows, n))
        values[known.row_numbers, known.indices] = known.data
        values -= self.centre
        values /= self.divisor
        return batch._replace(
            data=values.reshape(-1),
            indices=np.tile(np.arange(n, dtype=np.int32), batch.n_rows),
            indptr=np.arange(batch.n_rows + 1, dtype=np.int64) * n,
            n_features=n,
        )

    def name(self, index: int) -> str:
        """Return what a feature is called."""
        return self.inner.name(index) if self.known_names is None else self.known_names[index]

    def as_json(self) -> dict[str, Any]:
        """Return what ``encoding_from`` needs beside the arrays."""
        names = None if self.known_names is None else list(self.known_names)
        return {"kind": self.kind, "version": SCALING_VERSION, "names": names}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the large parts of the encoding."""
        return {"centre": self.centre, "divisor": self.divisor}


def check_width(stored: Any, n_features: int) -> None:
    """Raise InputError where a hashed encoding makes more features than there are weights."""
    settings = stored.get("settings") if isinstance(stored, dict) else None
    bits = settings.get("hash_bits") if isinstance(settings, dict) else None
    if type(bits) is int and bits > 0 and (bits > MOST_BITS or 1 << bits > n_features):
        widths = f"it hashes to {bits} bits, and the model has {n_features:,} features"
        raise InputError(f"{OWNER} is damaged: {widths}.")


def encoding_from(
    stored: Any, arrays: Mapping[str, NDArray[Any]]
) -> TableEncoding | SvmlightEncoding | ConjoinedEncoding | GridEncoding | ScaledEncoding:
    """Return the frozen encoding that ``as_json`` and ``arrays`` gave, checked."""
    found = StoredArrays(arrays, ARRAYS, OWNER)
    kind = _entry(found, stored, "kind", str)
    if kind == SvmlightEncoding.kind:
        n_features = _entry(found, stored, "n_features", int)
        found.check("n_features", 0 <= n_features <= MOST_FEATURES)
        zero_based = _entry(found, stored, "zero_based", bool)
        return SvmlightEncoding(zero_based=zero_based, n_features=n_features)
    if kind == "conjunctions":
        return _conjoined_encoding(found, stored, arrays)
    if kind == "scaled":
        return _scaled_encoding(found, stored)
    if kind == GridEncoding.kind:
        return _grid_encoding(found, stored, arrays)
    found.check("kind", kind == "table")
    return _table_encoding(found, stored)


def _check_versions(found: StoredArrays, stored: Any, **versions: tuple[int, ...]) -> None:
    """Raise InputError for an encoding of other versions than these, the newest first."""
    for name, known in versions.items():
        version = _entry(found, stored, name, int)
        if version not in known:
            advice = "use a newer one" if version > known[0] else "train the model again"
            msg = f"{OWNER} has {name} {version}, and this rosenblatt knows {known[0]}; {advice}."
            raise InputError(msg)


def _scaled_encoding(found: StoredArrays, stored: Any) -> ScaledEncoding:
    _check_versions(found, stored, version=(SCALING_VERSION,))
    centre, divisor, names = found["centre"], found["divisor"], stored.get("names")
    found.check("divisor", divisor.all())
    if names is not None:
        listed = isinstance(names, list) and [*map(type, names)] == [str] * len(centre)
        found.check("names", listed)
    return ScaledEncoding(centre, divisor, None if names is None else tuple(names))


def _conjoined_encoding(
    found: StoredArrays, stored: Any, arrays: Mapping[str, NDArray[Any]]
) -> ConjoinedEncoding:
    _check_versions(found, stored, version=(CONJUNCTIONS_VERSION,), hash_version=(HASH_VERSION,))
    degree, bits = _entry(found, stored, "degree", int), stored.get("hash_bits")
    inner_json = _entry(found, stored, "inner", dict)
    found.check("inner", inner_json.get("kind") not in ("conjunctions", "grids", "scaled"))
    found.check("degree", degree in TABLES)
    inner: Any = encoding_from(inner_json, _inner_arrays(arrays))
    n = inner.n_features
    if bits is not None:
        found.check("hash_bits", type(bits) is int and 1 <= bits <= MOST_BITS)
        return ConjoinedEncoding(inner, degree, HashedConjunctions(bits, n))
    found.expect({f"all {name}": n**size for size, name in TABLES.items()})
    found.check("degree", has_keys(n, degree))
    tables = {size: found[TABLES[size]] for size in range(2, degree + 1)}
    if stored.get("column_pairs"):  # cells of chosen pairs of columns
        return ConjoinedEncoding(inner, 2, _column_pairs(found, stored, inner, tables[2]))
    return ConjoinedEncoding(inner, degree, KnownConjunctions(tables, n))


def _grid_encoding(
    found: StoredArrays, stored: Any, arrays: Mapping[str, NDArray[Any]]
) -> GridEncoding:
    """Return the encoding of a table with blocks of cells."""
    _check_versions(found, stored, version=(GRIDS_VERSION,))
    inner_json = _entry(found, stored, "inner", dict)
    found.check("inner", inner_json.get("kind") == TableEncoding.kind)
    inner = encoding_from(inner_json, _inner_arrays(arrays))
    if not isinstance(inner, TableEncoding) or inner.owners() is None:
        found.fail("inner")
    blocks = [_block(found, one) for one in _entry(found, stored, "blocks", list)]
    n_edges = 0 if inner.bins is None else sum(map(len, inner.bins.edges))
    found.expect({"inner features": inner.n_features, "edges": n_edges, "blocks": len(blocks)})
    codes, cells = found["grid_codes"], found["grid_cells"]
    most = inner.n_features + OWN_CODES  # before memory is taken for so many
    found.check("grid_codes", codes.max(initial=0) < most)
    levels = found["grid_levels"]
    found.check("grid_levels", {*np.unique(levels).tolist()} <= {*LEVELS})
    grids = ColumnGrids(inner, codes, levels)
    found.check("blocks", {place for one in blocks for place in one.columns} <= {*grids.places})
    found.check("grid_codes", grids.codes_fit())
    ends = found.ends("grid_offsets", len(cells)).tolist()
    parts = [cells[a:b] for a, b in pairwise(ends)]
    for block, own in zip(blocks, parts, strict=True):
        n = 0 if len(block.columns) == 1 else grids.n_cells(block)
        ascending = not len(own) or (bool((np.diff(own) > 0).all()) and int(own[-1]) < n)
        found.check("grid_cells", ascending)
    return GridEncoding(grids, inner, blocks, parts)


def _block(found: StoredArrays, stored: Any) -> Block:
    """Return a block of cells."""
    found.check("blocks", isinstance(stored, list) and len(stored) == len(Block._fields))
    columns, level, shifted = stored
    listed = isinstance(columns, list) and 0 < len(columns) <= MOST_JOINED
    found.check("blocks", listed and [*map(type, columns)] == [int] * len(columns))
    found.check("blocks", len({*columns}) == len(columns) and level in LEVELS)
    found.check("blocks", type(shifted) is bool and not (shifted and level == LEVELS[-1]))
    return Block(tuple(columns), level, shifted)


def _inner_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {n.removeprefix(INNER): a for n, a in arrays.items() if n.startswith(INNER)}


def _column_pairs(
    found: StoredArrays, stored: Any, inner: Any, table: NDArray[np.int64]
) -> ColumnPairs:
    """Return the cells of pairs of columns of a table."""
    pairs, owners = _entry(found, stored, "column_pairs", list), None
    if isinstance(inner, TableEncoding):
        owners = inner.owners()
        places = range(len(inner.features))
        listed = (isinstance(p, list) and [*map(type, p)] == [int, int] for p in pairs)
        found.check("column_pairs", all(listed) and all(k in places for p in pairs for k in p))
    if owners is None:
        found.fail("column_pairs")
    return ColumnPairs([(a, b) for a, b in pairs], owners, table)


def _table_encoding(found: StoredArrays, stored: Any) -> TableEncoding:
    versions = TOKENS, LETTERS, FOLDING
    _check_versions(found, stored, version=versions, hash_version=(HASH_VERSION,))
    # The columns and settings
    columns = tuple(_column(found, one) for one in _entry(found, stored, "columns", list))
    roles = [column.role for column in columns]
    twice = len({column.name for column in columns}) < len(columns)
    found.check(
        "columns", not twice and all(roles.count(one) < 2 for one in ("label", "weight", "group"))
    )
    values = Settings._field_defaults | _entry(found, stored, "settings", dict)
    found.check("settings", set(values) == set(Settings._fields))
    try:
        settings = Settings.checked(**values)
    except InputError:
        found.fail("settings")
    n_texts = _entry(found, stored, "n_texts", int)
    found.check("n_texts", 0 <= n_texts < 1 << 63)
    # The arrays
    n_numeric = roles.count("numeric")
    features = feature_columns(columns, **settings.text_parts)
    found.expect({"numeric": n_numeric, "columns": len(features)})
    statistics = _statistics(found, "statistics")
    numbering = _numbering(found, settings, features, n_texts)
    numbering.version = stored["version"]
    summaries = None
    if "summaries" in found:  # files of older versions have none
        summaries = found["summaries"]
        shares = summaries[:2]
        found.check("summaries", not (np.isinf(summaries).any() or (abs(shares - 0.5) > 0.5).any()))
    vectors = {column.place: int(column.form) for column in features if column.role == "vector"}
    vector_statistics = {}
    if vectors:
        ends = np.cumsum([*vectors.values()])
        found.expect({"vector values": int(ends[-1])})
        parts = np.split(_statistics(found, "vector_statistics").values, ends, axis=1)
        pairs = zip(vectors, parts, strict=False)
        vector_statistics = {place: ColumnStatistics(values) for place, values in pairs}
    edges = None
    if settings.bins is not None:
        values = found["bin_edges"]
        edges = [values[a:b] for a, b in pairwise(found.ends("bin_offsets", len(values)).tolist())]
        found.check("bin_edges", all((np.diff(own) > 0).all() for own in edges))
    facts = ColumnFacts(statistics, vector_statistics, edges, summaries, _seen_rows(found, stored))
    return TableEncoding(columns, settings, numbering, facts)


def _numbering(
    found: StoredArrays, settings: Settings, features: tuple[FeatureColumn, ...], n_texts: int
) -> HashedNumbering | KeptNumbering:
    """Return the numbers of terms, with how many texts have each where there are texts."""
    documents = DocumentCounts(n_texts=n_texts)
    has_text = any(column.role == "text" for column in features)
    if settings.hash_bits:
        if has_text:
            found.expect({"hashed": 1 << settings.hash_bits})
            counts = np.zeros(1 << settings.hash_bits, np.int32)
            counts[found["term_places"]] = found["term_documents"]  # terms may share a number
            documents = DocumentCounts(counts, n_texts)
        return HashedNumbering(settings.hash_bits, documents)
    room = settings.max_features - found.sizes["numeric"]
    terms = _terms(found, features)
    found.check("max_features", len(terms.hashes) <= room)
    if has_text:
        counts = found["term_documents"]
        found.check("term_documents", int(counts.max(initial=0)) <= n_texts)
        documents = DocumentCounts(counts, n_texts)
    return KeptNumbering(room, terms, documents)


def _column(found: StoredArrays, stored: Any) -> InputColumn:
    role, parts = _entry(found, stored, "role", str), _entry(found, stored, "parts", list)
    known = role in ROLES and parts and all(parts.count(p) == 1 and p in PARTS for p in parts)
    if not known or (parts != [""] and (role != "category" or "" in parts)):
        found.fail("parts")
    form = stored.get("form", "")  # files of older versions have none
    if role == "vector":
        found.check("form", str(form).isdecimal() and 0 < int(form) <= MOST_FEATURES)
        return InputColumn(_entry(found, stored, "name", str), role, form=form)
    dates = DATE_FORMS if parts != [""] else ("",)
    if role == "label":
        found.check("form", isinstance(form, str))
        return InputColumn(_entry(found, stored, "name", str), role, form=form)
    found.check("form", form in (NUMBER_FORMS if role in ("numeric", "weight") else dates))
    return InputColumn(_entry(found, stored, "name", str), role, tuple(parts), form)


def _statistics(found: StoredArrays, name: str) -> ColumnStatistics:
    values = found[name]
    count, mean, m2, low, high, n_missing = values
    whole = np.isfinite(values).all(axis=0) & (low <= high)
    nothing = (low == np.inf) & (high == -np.inf) & (mean == 0) & (m2 == 0)
    amounts = (count >= 0) & (m2 >= 0) & (n_missing >= 0) & np.isfinite(n_missing)
    found.check(name, (np.where(count == 0, nothing, whole) & amounts).all())
    return ColumnStatistics(np.array(values))


def _seen_rows(found: StoredArrays, stored: Any) -> SeenRows | None:
    if "seen_rows" not in found:
        return None
    values, repeated = found["seen_rows"], _entry(found, stored, "repeated_rows", float)
    found.check("seen_rows", 2 < len(values) <= MOST_KEPT + 2 and 0.0 <= repeated <= 1.0)
    return SeenRows(int(values[0]), values[1:], repeated)


def _terms(found: StoredArrays, features: tuple[FeatureColumn, ...]) -> TermArrays:
    terms = TermArrays(*(found[f"term_{field}"] for field in TermArrays._fields))
    offsets = found.ends("term_offsets", len(terms.letters))
    inner = offsets[offsets < len(terms.letters)]
    try:
        terms.letters.tobytes().decode("utf-8")
        whole = not (terms.letters[inner] & 0xC0 == 0x80).any()  # no name begins in a letter
    except UnicodeDecodeError:
        whole = False
    found.check("term_letters", whole)
    spelled = terms.hashes == 0
    if spelled.any():  # in files of older versions none is
        terms = terms._replace(
            hashes=np.where(spelled, spelled_hashes(terms, features), terms.hashes)
        )
    return terms


def _entry(found: StoredArrays, stored: Any, name: str, kind: type) -> Any:
    value = stored.get(name) if isinstance(stored, dict) else None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        found.fail(name)
    return value

"""Encodings as JSON and arrays for a model file, and back from a file that nobody trusts."""

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.conjunctions import HashedConjunctions, KnownConjunctions, has_keys
from rosenblatt.data.encoding.columns import (
    DATE_FORMS,
    NUMBER_FORMS,
    PARTS,
    ROLES,
    InputColumn,
    feature_columns,
)
from rosenblatt.data.encoding.familiarity import FIELDS as SUMMARY_FIELDS
from rosenblatt.data.encoding.familiarity import Summaries
from rosenblatt.data.encoding.numbers import FIELDS, ColumnStatistics
from rosenblatt.data.encoding.seen_rows import MOST_KEPT, SeenRows
from rosenblatt.data.encoding.table_encoding import MOST_FEATURES, Settings
from rosenblatt.data.encoding.vocabulary import (
    DocumentCounts,
    HashedNumbering,
    KeptNumbering,
    TermArrays,
)
from rosenblatt.data.svmlight import SvmlightEncoding
from rosenblatt.errors import InputError
from rosenblatt.kernels.text.hashing import HASH_VERSION

if TYPE_CHECKING:
    from rosenblatt.data.conjunctions import ConjoinedEncoding, OuterEncoding
    from rosenblatt.data.encoding.table_encoding import TableEncoding

# 1: texts were not weighed; 2: True and true, 1.0 and 1 were two levels; 3: no number was
# shortened; 4: 2.50 and 2.5 were one level
VERSION = 5
FOLDING = 4
STATISTICS = "statistics"
SUMMARIES = "summaries"  # files of older versions have none
SEEN, REPEATED = "seen_rows", "repeated_rows"  # limit and digests of the sample; a share
TERM_ARRAYS = {
    "hashes": "term_hashes",
    "columns": "term_columns",
    "letters": "term_letters",
    "offsets": "term_offsets",
}
BIN_EDGES, BIN_OFFSETS = "bin_edges", "bin_offsets"
MOST_BITS = 30
DOCUMENTS, PLACES = "term_documents", "term_places"  # places: of hashed terms, those that occur


def table_json(encoding: "TableEncoding") -> dict[str, Any]:
    """Return the small parts of an encoding."""
    return {
        "kind": encoding.kind,
        "version": FOLDING if encoding.numbering.folds else VERSION,
        "hash_version": HASH_VERSION,
        "columns": [
            {
                "name": column.name,
                "role": column.role,
                "parts": list(column.parts),
                "form": column.form,
            }
            for column in encoding.columns
        ],
        "settings": encoding.settings._asdict(),
        "n_texts": encoding.numbering.documents.n_texts,
        REPEATED: 0.0 if encoding.seen is None else encoding.seen.repeated,
    }


def table_arrays(encoding: "TableEncoding") -> dict[str, NDArray[Any]]:
    """Return the large parts of an encoding."""
    arrays: dict[str, NDArray[Any]] = {STATISTICS: encoding.statistics.values}
    if encoding.seen is not None:
        limit = np.array([encoding.seen.limit], np.uint64)
        arrays[SEEN] = np.concatenate([limit, [encoding.seen.whole], encoding.seen.digests])
    if encoding.summaries is not None:
        arrays[SUMMARIES] = encoding.summaries
    if isinstance(encoding.numbering, KeptNumbering):
        terms = encoding.numbering.vocabulary.arrays()._asdict()
        arrays |= {name: terms[field] for field, name in TERM_ARRAYS.items()}
    if encoding.bins is not None:
        lengths = [len(edges) for edges in encoding.bins.edges]
        arrays[BIN_EDGES] = np.concatenate([np.empty(0), *encoding.bins.edges])
        arrays[BIN_OFFSETS] = np.cumsum([0, *lengths]).astype(np.int64)
    if encoding.has_text:
        counts = encoding.numbering.documents.of(len(encoding.numbering))
        if not isinstance(encoding.numbering, KeptNumbering):
            places = np.flatnonzero(counts)
            arrays[PLACES], counts = places.astype(np.int32), counts[places]
        arrays[DOCUMENTS] = counts
    return arrays


def check_width(stored: Any, n_features: int) -> None:
    """Raise InputError where a hashed encoding makes more features than there are weights."""
    settings = stored.get("settings") if isinstance(stored, dict) else None
    bits = settings.get("hash_bits") if isinstance(settings, dict) else None
    if type(bits) is int and bits > 0 and (bits > MOST_BITS or 1 << bits > n_features):
        _damaged(f"it hashes to {bits} bits, and the model has {n_features:,} features")


def encoding_from(
    stored: Any, arrays: Mapping[str, NDArray[Any]]
) -> "TableEncoding | SvmlightEncoding | OuterEncoding":
    """Return the frozen encoding that ``as_json`` and ``arrays`` gave.

    Raises InputError where they are not what those two can give.
    """
    kind = _field(stored, "kind", str)
    if kind == SvmlightEncoding.kind:
        n_features = _field(stored, "n_features", int)
        if not 0 <= n_features <= MOST_FEATURES:
            _damaged(f"it can't have {n_features} features")
        return SvmlightEncoding(
            zero_based=_field(stored, "zero_based", bool), n_features=n_features
        )
    if kind == "conjunctions":
        return _conjoined_encoding(stored, arrays)
    if kind == "scaled":
        return _scaled_encoding(stored, arrays)
    if kind != "table":
        _damaged(f"there is no kind {kind!r}")
    for name, known in (("version", VERSION), ("hash_version", HASH_VERSION)):
        found = _field(stored, name, int)
        if found != known and (name, found) != ("version", FOLDING):
            msg = (
                f"The encoding of this model has {name} {found}, and this rosenblatt knows {known};"
                f" {'use a newer one' if found > known else 'train the model again'}."
            )
            raise InputError(msg)
    return _table_encoding(stored, arrays)


def _scaled_encoding(stored: Any, arrays: Mapping[str, NDArray[Any]]) -> "OuterEncoding":
    from rosenblatt.data.scaling import ARRAYS, VERSION, ScaledEncoding

    if _field(stored, "version", int) != VERSION:
        msg = "The scaling of this model is of a newer rosenblatt; use that."
        raise InputError(msg)
    centre, divisor = (_array(arrays, name, np.float64, 1) for name in ARRAYS)
    names = stored.get("names")
    usable = np.isfinite(centre).all() and np.isfinite(divisor).all() and divisor.all()
    if len(centre) != len(divisor) or not usable:
        _damaged("its scaling must be two finite numbers a feature, the second not 0")
    listed = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if names is not None and not (listed and len(names) == len(centre)):
        _damaged("its scaling must have a name for each feature, or none")
    return ScaledEncoding(centre, divisor, None if names is None else tuple(names))


def _conjoined_encoding(stored: Any, arrays: Mapping[str, NDArray[Any]]) -> "ConjoinedEncoding":
    from rosenblatt.data.conjunctions import (
        INNER,
        TABLES,
        VERSION,
        ConjoinedEncoding,
        OuterEncoding,
    )

    known = {"version": VERSION, "hash_version": HASH_VERSION}
    if any(_field(stored, name, int) != number for name, number in known.items()):
        msg = "The conjunctions of this model are of a newer rosenblatt; use that."
        raise InputError(msg)
    degree, bits = _field(stored, "degree", int), stored.get("hash_bits")
    inner_arrays = {
        name.removeprefix(INNER): array for name, array in arrays.items() if name.startswith(INNER)
    }
    inner_json = _field(stored, "inner", dict)
    if degree not in TABLES or inner_json.get("kind") in {"conjunctions", "scaled"}:
        _damaged("its conjunctions are not pairs or triples of features")
    inner = encoding_from(inner_json, inner_arrays)
    if isinstance(inner, OuterEncoding):
        _damaged("its conjunctions are not of features")
    if bits is not None:
        if type(bits) is not int or not 1 <= bits <= 30:
            _damaged(f"it can't have {bits!r} hash bits")
        return ConjoinedEncoding(inner, degree, HashedConjunctions(bits, inner.n_features))
    n = inner.n_features
    tables = {size: _array(arrays, TABLES[size], np.int64, 1) for size in range(2, degree + 1)}
    for size, table in tables.items():
        if not has_keys(n, size) or (len(table) and not 0 <= table[0] <= table[-1] < n**size):
            _damaged("its conjunctions are of features that there are not")
        if (np.diff(table) <= 0).any():
            _damaged("its conjunctions are not in order")
    return ConjoinedEncoding(inner, degree, KnownConjunctions(tables, n))


def _table_encoding(stored: Any, arrays: Mapping[str, NDArray[Any]]) -> "TableEncoding":
    from rosenblatt.data.encoding.table_encoding import TableEncoding

    columns = tuple(_column(one) for one in _field(stored, "columns", list))
    names = [column.name for column in columns]
    roles = [column.role for column in columns]
    if len(set(names)) < len(names) or max(roles.count("label"), roles.count("weight")) > 1:
        _damaged("a column stands in it twice")
    values = Settings._field_defaults | _field(stored, "settings", dict)
    if set(values) != set(Settings._fields):
        _damaged("its settings are not the known ones")
    try:
        settings = Settings.checked(**values)
    except InputError as error:
        _damaged(str(error).rstrip("."))
    n_numeric = sum(column.role == "numeric" for column in columns)
    statistics = _statistics(_array(arrays, STATISTICS, np.float64, 2), n_numeric)
    n_places = len(feature_columns(columns, characters=settings.char_ngrams is not None))
    room = settings.max_features - n_numeric
    has_text = any(column.role == "text" for column in columns)
    n_texts = _field(stored, "n_texts", int)
    if n_texts < 0:
        _damaged("it was learned from fewer than no rows")
    documents = DocumentCounts(n_texts=n_texts)
    if settings.hash_bits:
        if has_text:
            documents = _hashed_documents(arrays, n_texts, settings.hash_bits)
        numbering: HashedNumbering | KeptNumbering = HashedNumbering(settings.hash_bits, documents)
    else:
        terms = _terms(arrays, n_places, room)
        if has_text:
            documents = _documents(arrays, n_texts, len(terms.hashes))
        numbering = KeptNumbering(room, terms, documents)
    numbering.folds = stored["version"] == FOLDING
    encoding = TableEncoding(
        columns,
        settings,
        statistics=statistics,
        numbering=numbering,
        summaries=_summaries(arrays, n_places),
    )
    encoding.freeze()
    encoding.seen = _seen_rows(stored, arrays)
    if settings.bins is not None:
        encoding.set_bins(_edges(arrays, n_numeric), growing=False)
    return encoding


def _edges(arrays: Mapping[str, NDArray[Any]], n_numeric: int) -> list[NDArray[np.float64]]:
    values = _array(arrays, BIN_EDGES, np.float64, 1)
    offsets = _array(arrays, BIN_OFFSETS, np.int64, 1)
    ends = len(offsets) == n_numeric + 1 and offsets[0] == 0 and offsets[-1] == len(values)
    if not ends or (np.diff(offsets) < 0).any() or not np.isfinite(values).all():
        _damaged("its bins have no edges")
    edges = [values[a:b] for a, b in pairwise(offsets.tolist())]
    if any((np.diff(own) <= 0).any() for own in edges):
        _damaged("the edges of its bins do not ascend")
    return edges


def _column(stored: Any) -> InputColumn:
    role, parts = _field(stored, "role", str), _field(stored, "parts", list)
    known = role in ROLES and parts and len(parts) <= len(PARTS) and all(p in PARTS for p in parts)
    if not known or (parts != [""] and (role != "category" or "" in parts)):
        _damaged(f"a column can't be {role!r} with the parts {parts!r}")
    if len(set(parts)) < len(parts):
        _damaged("a part of a date stands in it twice")
    form = stored.get("form", "")  # files of older versions have none
    forms = (
        NUMBER_FORMS if role in ("numeric", "weight") else DATE_FORMS if parts != [""] else ("",)
    )
    if form not in forms:
        _damaged(f"a column can't be written as {form!r}")
    return InputColumn(_field(stored, "name", str), role, tuple(parts), form)


def _statistics(values: NDArray[Any], n_numeric: int) -> ColumnStatistics:
    if values.shape != (len(FIELDS), n_numeric):
        _damaged(f"its statistics are {values.shape}, for {n_numeric} numeric columns")
    count, mean, m2, low, high, n_missing = values
    empty = count == 0
    whole = np.isfinite(values).all(axis=0) & (low <= high)
    nothing = (low == np.inf) & (high == -np.inf) & (mean == 0) & (m2 == 0)
    amounts = (count >= 0) & (m2 >= 0) & (n_missing >= 0) & np.isfinite(n_missing)
    if not (np.where(empty, nothing, whole) & amounts).all():
        _damaged("its statistics are not those of numbers")
    return ColumnStatistics(np.array(values))


def _summaries(arrays: Mapping[str, NDArray[Any]], n_places: int) -> Summaries | None:
    if SUMMARIES not in arrays:
        return None
    values = _array(arrays, SUMMARIES, np.float64, 2)
    if values.shape != (len(SUMMARY_FIELDS), n_places) or np.isinf(values).any():
        _damaged(f"its summaries are {values.shape}, for {n_places} columns")
    return values


def _seen_rows(stored: Any, arrays: Mapping[str, NDArray[Any]]) -> SeenRows | None:
    if SEEN not in arrays:
        return None
    values, repeated = _array(arrays, SEEN, np.uint64, 1), _field(stored, REPEATED, float)
    if not 2 < len(values) <= MOST_KEPT + 2 or not 0.0 <= repeated <= 1.0:
        _damaged("its sample of rows is not one")
    return SeenRows(int(values[0]), values[1:], repeated)


def _terms(arrays: Mapping[str, NDArray[Any]], n_columns: int, room: int) -> TermArrays:
    kinds = {"hashes": np.uint64, "columns": np.int32, "letters": np.uint8, "offsets": np.int64}
    terms = TermArrays(
        **{field: _array(arrays, name, kinds[field], 1) for field, name in TERM_ARRAYS.items()}
    )
    n_terms = len(terms.hashes)
    if n_terms > room or len(terms.columns) != n_terms or len(terms.offsets) != n_terms + 1:
        _damaged("its lists of terms differ in length")
    if n_terms and (terms.columns.min() < 0 or terms.columns.max() >= n_columns):
        _damaged("a term belongs to no column")
    steps = np.diff(terms.offsets)
    ends = terms.offsets[0] == 0 and terms.offsets[-1] == len(terms.letters)
    if not ends or (steps < 0).any():
        _damaged("the names of its terms have no end")
    inner = terms.offsets[(terms.offsets > 0) & (terms.offsets < len(terms.letters))]
    try:
        terms.letters.tobytes().decode("utf-8")
    except UnicodeDecodeError:
        _damaged("the names of its terms are not text")
    if (terms.letters[inner] & 0xC0 == 0x80).any():
        _damaged("the names of its terms are not text")
    return terms


def _documents(
    arrays: Mapping[str, NDArray[Any]], n_texts: int, n_terms: int, *, shared: bool = False
) -> DocumentCounts:
    """Return the counts; where terms may share a number, a text counts for each of them."""
    counts = _array(arrays, DOCUMENTS, np.int32, 1)
    if len(counts) != n_terms:
        _damaged("it does not know in how many texts its terms stand")
    if n_terms and (counts.min() < 0 or (counts.max() > n_texts and not shared)):
        _damaged("a term stands in more texts than there were")
    return DocumentCounts(counts, n_texts)


def _hashed_documents(
    arrays: Mapping[str, NDArray[Any]], n_texts: int, bits: int
) -> DocumentCounts:
    places = _array(arrays, PLACES, np.int32, 1)
    found = _documents(arrays, n_texts, len(places), shared=True)
    if len(places) and (places[0] < 0 or places[-1] >> bits or (np.diff(places) <= 0).any()):
        _damaged("the places of its terms are not in order")
    counts = np.zeros(1 << bits, np.int32)
    counts[places] = found.counts
    return DocumentCounts(counts, n_texts)


def _array(arrays: Mapping[str, NDArray[Any]], name: str, kind: Any, n_axes: int) -> NDArray[Any]:
    array = arrays.get(name)
    if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != n_axes:
        _damaged(f"{name} is not there, or not what it must be")
    return np.require(array, kind, ["C", "W"])  # compiled code knows no array that can't be written


def _field(stored: Any, name: str, kind: type) -> Any:
    value = stored.get(name) if isinstance(stored, dict) else None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        _damaged(f"{name} is not there, or not what it must be")
    return value


def _damaged(what: str) -> NoReturn:
    msg = f"The encoding of this model is damaged: {what}."
    raise InputError(msg)

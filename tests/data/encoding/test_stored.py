import json
import random
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rosenblatt.data.encoding import SvmlightEncoding, TableEncoding, encoding_from
from rosenblatt.errors import InputError
from tests.data.encoding.samples import (
    ROLES,
    Rows,
    drawn_rows,
    encoding_for,
    table_of,
)
from tests.examples import tries

SAMPLE: Rows = [
    {"age": "1", "colour": "red", "review": "a good film é", "size": "?"},
    {"age": "3", "colour": None, "review": "not a good film", "size": "?"},
]


def _fitted(rows: Rows = SAMPLE, **options: Any) -> TableEncoding:
    return encoding_for(rows, **options)


def _loaded(encoding: TableEncoding) -> TableEncoding:
    stored = json.loads(json.dumps(encoding.as_json()))
    arrays = {name: array.copy() for name, array in encoding.arrays().items()}
    for array in arrays.values():
        array.flags.writeable = False  # as an array in a file that is mapped
    loaded = encoding_from(stored, arrays)
    assert isinstance(loaded, TableEncoding)
    return loaded


@tries(40)
@given(drawn_rows(), drawn_rows(), st.sampled_from([None, 3, 12]), st.booleans())
def test_a_loaded_encoding_gives_the_same_rows(
    rows: Rows, others: Rows, bits: int | None, scale: bool
) -> None:
    """Rows seen and unseen are encoded as before, to the bit, and features keep their names."""
    encoding = _fitted(rows, hash_bits=bits, scale=scale)
    loaded = _loaded(encoding)
    for data in (table_of(rows, list(ROLES)), table_of(others, list(ROLES))):
        one, other = encoding.encode(data, None), loaded.encode(data, None)
        assert all(map(np.array_equal, one[:4], other[:4]))
    some = range(min(encoding.n_features, 300))
    assert encoding.names(some) == loaded.names(some)
    assert encoding.columns == loaded.columns
    assert encoding.n_features == loaded.n_features


def test_numbered_features_are_stored_too() -> None:
    """Features of svmlight text are called as in the file."""
    for zero_based, name in ((True, "feature 4"), (False, "feature 5")):
        encoding = SvmlightEncoding(zero_based=zero_based, n_features=5)
        loaded = encoding_from(json.loads(json.dumps(encoding.as_json())), encoding.arrays())
        assert isinstance(loaded, SvmlightEncoding)
        assert loaded.names([4]) == [name]
        assert loaded.as_json() == encoding.as_json()
        with pytest.raises(InputError, match="There is no feature 5"):
            loaded.name(5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "magic"}, "kind is not there, or not what it must be"),
        ({"kind": None}, "kind is not there, or not what it must be"),
        ({"version": "1"}, "version is not there, or not what it must be"),
        ({"columns": {}}, "columns is not there"),
        ({"columns": [{"name": "x", "role": "king", "parts": [""]}]}, "parts is not"),
        ({"columns": [{"name": "x", "role": "text", "parts": ["hour"]}]}, "parts is not"),
        ({"columns": [{"name": "x", "role": "category", "parts": []}]}, "parts is not"),
        ({"columns": [{"name": "x", "role": "category", "parts": [[]]}]}, "parts is not"),
        ({"columns": [{"name": "x", "role": "text", "parts": [""]}] * 2}, "columns is not"),
        ({"columns": [{"name": 3, "role": "text", "parts": [""]}]}, "name is not there"),
        ({"n_texts": 10**400}, "n_texts is not there, or not what it must be"),
        ({"settings": {}}, "settings is not there, or not what it must be. Copy the file again"),
    ],
)
def test_damaged_json_is_an_error(change: dict[str, Any], words: str) -> None:
    """Whatever stands in a model file is looked at before it is used."""
    encoding = _fitted()
    with pytest.raises(InputError, match="The encoding of this model is damaged: ") as error:
        encoding_from(encoding.as_json() | change, encoding.arrays())
    assert words in str(error.value)


@pytest.mark.parametrize("stored", [None, 3, [], {}, "table"])
def test_json_that_is_no_encoding_is_an_error(stored: Any) -> None:
    """Anything but an encoding is refused."""
    with pytest.raises(InputError, match="The encoding of this model is damaged: "):
        encoding_from(stored, {})


@pytest.mark.parametrize(("name", "known"), [("version", 6), ("hash_version", 1)])
def test_an_encoding_of_the_future_is_refused(name: str, known: int) -> None:
    """A file of a newer release says that it is one, and one of an older release too."""
    encoding = _fitted()
    older = 3 if name == "version" else 0
    for other, advice in ((known + 1, "use a newer one"), (older, "train the model again")):
        with pytest.raises(InputError) as error:
            encoding_from(encoding.as_json() | {name: other}, encoding.arrays())
        assert str(error.value) == (
            f"The encoding of this model has {name} {other}, and this rosenblatt knows {known};"
            f" {advice}."
        )


@pytest.mark.parametrize("bits", [None, 12])
def test_an_encoding_of_version_4_knows_levels_as_it_did(bits: int | None) -> None:
    """There 2.50 was the level 2.5, and True was true; it is stored again as it was."""
    rows: Rows = [{"colour": level} for level in ("2.5", "true", "1")]
    roles = {"colour": "category"}
    encoding = encoding_for(rows, roles, hash_bits=bits)
    before = encoding.encode(table_of(rows, ["colour"]), None).indices.tolist()
    old = encoding_from(encoding.as_json() | {"version": 4}, encoding.arrays())
    assert isinstance(old, TableEncoding)
    others: Rows = [{"colour": level} for level in ("2.50", "True", "1.0")]
    assert old.encode(table_of(others, ["colour"]), None).indices.tolist() == before
    assert old.as_json()["version"] == 4


def test_hashes_that_follow_from_the_names_are_not_stored() -> None:
    """Words, pairs, characters and levels have 0 in their place; bins and gaps their hash."""
    texts = ["a b", "Ärger über Größen", "x" * 20 + " " + "y" * 300, "日本語 です", "eightbyt es"]
    rows: Rows = [
        {"text": text, "colour": f"level {k}", "size": None if k == 2 else str(k)}
        for k, text in enumerate(texts)
    ]
    roles = {"text": "text", "colour": "category", "size": "numeric"}
    encoding = encoding_for(rows, roles, char_ngrams=(1, 3), bins=2)
    arrays = encoding.arrays()
    odd = {encoding.name(1 + k) for k in np.flatnonzero(arrays["term_hashes"]).tolist()}
    cut = {name for name in map(encoding.name, range(encoding.n_features)) if "y" * 99 in name}
    assert odd == cut | {"size is missing", "size below 2", "size from 2"}
    found = encoding_from(encoding.as_json(), arrays)
    stored, before = (cast("Any", one).numbering.vocabulary.arrays() for one in (found, encoding))
    assert np.array_equal(stored.hashes, before.hashes)


def _with(name: str, value: Any) -> dict[str, NDArray[Any]]:
    return _fitted().arrays() | {name: value}


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        _with("statistics", np.zeros((6, 3))),
        _with("statistics", np.zeros((6, 2), np.float32)),
        _with("statistics", np.full((6, 2), np.nan)),
        _with("statistics", np.full((6, 2), -1.0)),
        _with("statistics", [[0.0] * 2] * 6),
        _with("summaries", np.full((5, 4), -0.5)),
        _with("summaries", np.full((5, 4), 1.5)),
        _with("term_hashes", np.zeros(3, np.uint64)),
        _with("term_offsets", np.zeros(3, np.int64)),
        _with("term_columns", np.full(len(_fitted().arrays()["term_columns"]), 4, np.int32)),
        _with("term_columns", np.full(len(_fitted().arrays()["term_columns"]), -1, np.int32)),
        _with("term_letters", np.full(len(_fitted().arrays()["term_letters"]), 0xE9, np.uint8)),
        _with("term_letters", _fitted().arrays()["term_letters"][:-1]),
        _with("term_offsets", _fitted().arrays()["term_offsets"][::-1]),
        _with("term_offsets", _fitted().arrays()["term_offsets"] + 1),
    ],
)
def test_damaged_arrays_are_an_error(arrays: dict[str, NDArray[Any]]) -> None:
    """Types, shapes, ranges and text are looked at."""
    with pytest.raises(InputError, match="The encoding of this model is damaged: "):
        encoding_from(_fitted().as_json(), arrays)


def test_random_damage_never_comes_up_later() -> None:
    """With any few numbers changed, loading fails, or everything afterwards works."""
    generator, n_loaded = random.Random(0), 0  # noqa: S311  # no secret
    encoding = _fitted()
    for _ in range(300):
        arrays = {name: array.copy() for name, array in encoding.arrays().items()}
        array = arrays[generator.choice(list(arrays))]
        raw = array.view(np.uint8).reshape(-1)
        for _ in range(generator.randint(1, 3)):
            raw[generator.randrange(len(raw))] = generator.choice((0, 1, 127, 128, 255))
        try:
            loaded = encoding_from(encoding.as_json(), arrays)
        except InputError:
            continue
        assert isinstance(loaded, TableEncoding)
        n_loaded += 1
        loaded.names(range(loaded.n_features))
        batch = loaded.encode(table_of(SAMPLE, list(ROLES)), None)
        assert batch.n_features <= loaded.n_features
        assert (batch.indices >= 0).all()
    assert 30 < n_loaded < 270

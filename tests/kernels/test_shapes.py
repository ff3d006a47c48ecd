"""Rows as a whole, in either format, against plain NumPy on dense arrays."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from rosenblatt import RuleClassifier, train_files
from rosenblatt.kernels.binary import activations
from rosenblatt.kernels.rows import CSR, Dense, Rows
from rosenblatt.kernels.shapes import (
    GrowingArray,
    RowStore,
    as_rows,
    between,
    canonical,
    dense_values,
    entries,
    gathered,
    in_format_of,
    join,
    matrix_of,
    place_of,
    stored_values,
    take,
    touched_features,
    variance,
    without_zeros,
)
from tests.examples import FORMATS, same_bits

RNG = np.random.default_rng(0)
VALUES = (RNG.integers(0, 256, (40, 7)) * (RNG.random((40, 7)) < 0.4)).astype(np.float64)
EVERY_FORMAT = pytest.mark.parametrize("form", FORMATS)


@EVERY_FORMAT
def test_taken_and_cut(form: str) -> None:
    """Rows by their numbers and rows between two are those of the dense array."""
    rows = FORMATS[form](VALUES.tolist(), 1.0)
    numbers = np.array([3, 0, 3, 39])
    assert same_bits(dense_values(take(rows, numbers)), VALUES[numbers])
    assert same_bits(dense_values(take(rows, numbers[:0])), VALUES[:0])
    for start, stop in [(0, 40), (5, 9), (7, 7), (39, 40)]:
        part = between(rows, start, stop)
        assert type(part) is type(rows)
        assert part.shape == (stop - start, 7)
        assert np.shares_memory(stored_values(part), stored_values(rows)) == (stop > start)
        assert same_bits(dense_values(part), VALUES[start:stop])


@pytest.mark.parametrize("room", [0, 3, 1000])
def test_gathered(room: int) -> None:
    """Parts that come one by one, of other types too, are the whole, however much room there is."""
    rows: Any = FORMATS["csr"](VALUES.tolist(), 1.0)
    parts: list[Any] = [between(rows, 0, 5), between(rows, 5, 5), between(rows, 5, 40)]
    parts[0] = parts[0]._replace(data=parts[0].data.astype(np.uint8))
    whole = gathered(iter(parts), room)
    assert same_bits(dense_values(whole), VALUES)
    assert whole.constant == 1.0
    with pytest.raises(ValueError, match="no parts"):
        gathered(iter([]), 1)


@EVERY_FORMAT
def test_joined(form: str) -> None:
    """Parts of either format joined are the whole in the format of the first."""
    rows = FORMATS[form](VALUES.tolist(), 1.0)
    other = FORMATS["csr" if form == "dense" else "dense"](VALUES.tolist(), 1.0)
    whole = join([between(rows, 0, 5), between(other, 5, 5), between(other, 5, 40)])
    assert type(whole) is type(rows)
    assert same_bits(dense_values(whole), VALUES)
    assert join([rows]) is rows


def test_rows_begin_in_64_bits() -> None:
    """Of a matrix nothing is copied but where its rows begin; a join goes beyond 32 bits."""
    matrix = sparse.csr_matrix(VALUES)
    rows: Any = as_rows(matrix, 1.0)
    assert matrix.indptr.dtype == np.int32
    assert rows.indptr.dtype == np.int64
    assert np.shares_memory(rows.data, matrix.data)
    assert np.shares_memory(rows.indices, matrix.indices)
    empty = np.zeros(0, np.int32)
    far = CSR(np.zeros(0), empty, np.array([0, 2**31 - 1]), 3, 1.0)
    near = CSR(np.zeros(0), empty, np.array([0, 2]), 3, 1.0)
    assert join([far, near]).indptr.tolist() == [0, 2**31 - 1, 2**31 + 1]  # type: ignore[union-attr]


@EVERY_FORMAT
def test_there_and_back(form: str) -> None:
    """A matrix of rows and rows of a matrix are each other's inverse; formats change likewise."""
    rows: Rows = FORMATS[form](VALUES.tolist(), 1.0)
    matrix = matrix_of(rows)
    assert sparse.issparse(matrix) == (form == "csr") == rows.sparse
    back = as_rows(matrix, 1.0)
    assert type(back) is type(rows)
    assert same_bits(stored_values(back), stored_values(rows))
    for other in FORMATS:
        changed = in_format_of(rows, FORMATS[other]([[1.0] * 7], 0.0))
        assert changed.sparse == (other == "csr")
        assert changed.constant == 1.0
        assert same_bits(dense_values(changed), VALUES)


@EVERY_FORMAT
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_what_is_not_zero(form: str, dtype: Any) -> None:
    """Rows without zeros, single entries and places of stored values agree with the array."""
    rows = FORMATS[form](VALUES.astype(dtype).tolist(), 1.0, dtype)
    numbers = np.array([2, 2, 0])
    assert np.array_equal(dense_values(without_zeros(rows, numbers)), VALUES[numbers])
    features, values = entries(rows, 4)
    assert features.tolist() == np.flatnonzero(VALUES[4]).tolist()
    assert values.tolist() == VALUES[4][features].tolist()
    for number, value in enumerate(stored_values(rows)):
        assert VALUES[place_of(rows, number)] == value
    assert variance(rows) == pytest.approx(VALUES.var(), rel=1e-13)


def test_features_that_a_pass_can_touch() -> None:
    """Of few sparse values only their features and the bias; else everything."""
    few = CSR(np.ones(2), np.array([90, 7], np.int32), np.array([0, 1, 2]), 100, 1.0)
    assert touched_features(few).tolist() == [7, 90, 100]  # type: ignore[union-attr]
    assert touched_features(Dense(np.ones((1, 3)), 1.0)) == slice(None)


@pytest.mark.parametrize("csr", [True, False])
def test_rows_that_are_added_to(csr: bool) -> None:
    """A store holds what was appended, in the format of the first and the widest type so far."""
    forms = {True: FORMATS["csr"], False: FORMATS["dense"]}
    store = RowStore(forms[csr](VALUES[:2].astype(np.uint8).tolist(), 1.0, np.uint8))
    for start in range(2, 40, 11):
        part = VALUES[start : start + 11].tolist()
        store.append(forms[start % 2 == 0](part, 1.0, np.float32))
    found = matrix_of(store.rows)
    assert sparse.issparse(found) == csr
    assert found.dtype == np.float32
    assert np.array_equal(dense_values(store.rows), VALUES)
    assert len(store) == 40


def test_growing_takes_room_by_doubling() -> None:
    """A thousand additions of one value move what is there a handful of times."""
    column, moves = GrowingArray(np.empty(0, np.int64)), 0
    for i in range(1000):
        before = column.values.base
        column.append([i])
        moves += column.values.base is not before
    assert column.values.tolist() == list(range(1000))
    assert moves <= 12


@pytest.mark.parametrize(
    ("values", "compacted"),
    [
        ([1.0, 255.0, 0.0], True),
        ([1.0, 256.0], False),
        ([1.0, 0.5], False),
        ([1.0, -1.0], False),
        ([1.0, -0.0], False),
        ([1.0, np.nan], False),
        ([1.0, np.inf], False),
        ([], True),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counts_take_a_byte(values: list[float], compacted: bool, dtype: type) -> None:
    """Values become bytes if that changes none of them, wherever the first other one stands."""
    ones = 1500 * (len(values) > 0)
    data: NDArray[Any] = np.append(np.ones(ones), values).astype(dtype)
    rows = CSR(data, np.zeros(len(data), np.int32), np.array([0, len(data)]), 1, 1.0)
    found = rows.compact()
    assert (found.data.dtype == np.uint8) == compacted
    assert found.data.astype(dtype).tobytes() == data.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("n_features", [1, 7, 64, 65, 100_000])
def test_rows_in_any_order_become_canonical(dtype: type, index: type, n_features: int) -> None:
    """Entries in any order, some of them twice, become what SciPy makes of them, in a copy."""
    generator = np.random.default_rng(n_features)
    indptr: NDArray[Any] = np.cumsum([0, 0, *generator.integers(0, 90, 30), 0]).astype(index)
    indices = generator.integers(0, n_features, indptr[-1]).astype(index)
    data = generator.integers(1, 3, indptr[-1]).astype(dtype)
    given = sparse.csr_matrix((data, indices, indptr), shape=(32, n_features))
    kept, expected = given.copy(), given.copy()
    expected.sum_duplicates()
    found = canonical(given)
    assert found.has_canonical_format
    for name in ("data", "indices", "indptr"):
        assert same_bits(getattr(found, name), getattr(expected, name)), name
        assert same_bits(getattr(given, name), getattr(kept, name)), name
    assert canonical(found) is found


def test_ones_become_bools() -> None:
    """Values that are all 1 become bools, and give the same products."""
    rows = CSR(np.ones(8), np.arange(8, dtype=np.int32), np.array([0, 3, 8]), 8, 1.0)
    assert rows.compact().data.dtype == bool
    assert rows._replace(indices=np.arange(8)).compact().data.dtype == np.uint8
    for other in (2.0, 0.0):
        values = np.append(np.ones(7), other)
        assert rows._replace(data=values).compact().data.dtype == np.uint8
    w, found, expected = np.linspace(0.1, 0.9, 9), np.empty(2), np.empty(2)
    activations(rows.compact(), w, found)
    activations(rows, w, expected)
    assert same_bits(found, expected)


@pytest.mark.parametrize("rule", ["perceptron", "pa1", "arow"])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("most", [1, 255])
def test_counts_in_a_byte_teach_the_same(
    rule: str, n_classes: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The weights are the same bits whether counts are stored in one byte or in eight."""
    rng = np.random.default_rng(n_classes)
    X = sparse.csr_matrix(rng.poisson(0.7, (200, 30)).clip(max=most).astype(float))
    y = rng.integers(n_classes, size=200)
    weights = []
    for compact in (CSR.compact, lambda rows: rows):
        monkeypatch.setattr(CSR, "compact", compact)
        clf = RuleClassifier(rule=rule, max_iter=4).fit(X, y)
        weights.append(np.hstack([clf.coef_, clf.intercept_[:, None]]))
    assert weights[0].tobytes() == weights[1].tobytes()
    assert weights[0].any()


@pytest.mark.parametrize("rule", ["perceptron", "arow"])
def test_counts_of_a_file_take_a_byte(
    rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of a file are learned from in bytes, too, and give the model of doubles."""
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix(rng.poisson(0.7, (200, 30)).astype(float))
    path = tmp_path / "counts.svm"
    dump_svmlight_file(X, rng.integers(2, size=200), str(path), zero_based=False)
    found, compact = [], CSR.compact

    def noted(rows: CSR) -> CSR:
        found.append(compact(rows))
        return found[-1]

    models = []
    for way in (noted, lambda rows: rows):
        monkeypatch.setattr(CSR, "compact", way)
        models.append(train_files(str(path), rule=rule, max_iter=4))
    assert found[0].data.dtype == np.uint8
    assert same_bits(models[0].coef_, models[1].coef_)

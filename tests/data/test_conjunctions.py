import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.batch import Batch
from rosenblatt.data.conjunctions import HashedConjunctions, conjunctions
from rosenblatt.kernels.text.hashing import pair_hash

rows_of_features = st.lists(
    st.dictionaries(st.integers(0, 2**31 - 2), st.sampled_from([0.0, 1.0, 2.0, -3.0]), max_size=5),
    max_size=5,
)


def naive_bucket(features: tuple[int, ...], bits: int) -> int:
    """Return the bucket of a conjunction by Python's own integers."""
    mixed = features[0]
    for feature in features[1:]:
        mixed = pair_hash(mixed, feature)
    return mixed >> (64 - bits)


@pytest.mark.parametrize("degree", [2, 3])
@given(rows=rows_of_features, bits=st.integers(1, 30))
def test_rows_in_any_order_of_indices_equal_a_naive_expansion(
    degree: int, rows: list[dict[int, float]], bits: int
) -> None:
    """Every row has its own features and the sums of its conjunctions, indices ascending."""
    n_features = 2**31 - 1
    data = np.array([v for row in rows for v in row.values()], np.float64)
    indices = np.array([j for row in rows for j in row], np.int32)
    indptr = np.cumsum([0, *map(len, rows)])
    numbering = HashedConjunctions(bits, n_features)
    found = conjunctions(Batch(data, indices, indptr), degree, numbering)
    for i, row in enumerate(rows):
        expected = dict(row)
        present = sorted(j for j, v in row.items() if v)
        for size in range(2, degree + 1):
            for features in combinations(present, size):
                column = n_features + naive_bucket(features, bits)
                value = math.prod(row[j] for j in features)
                expected[column] = expected.get(column, 0.0) + value
        here = slice(found.indptr[i], found.indptr[i + 1])
        columns = found.indices[here].tolist()
        assert columns == sorted(expected)
        assert found.data[here].tolist() == [expected[column] for column in columns]
    assert len(found.indptr) == len(rows) + 1


def test_float32_stays_float32() -> None:
    """Rows keep their type."""
    ones = np.ones(2, np.float32)
    found = conjunctions(
        Batch(ones, np.array([0, 1]), np.array([0, 2])), 2, HashedConjunctions(4, 2)
    )
    assert found.data.dtype == np.float32
    assert found.indices.dtype == np.int32

"""How the values of features spread, against NumPy on the dense matrix."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.kernels.spread import feature_spread


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n_rows", "n_features"), [(50, 7), (3, 400), (1, 1)])
def test_it_is_that_of_the_dense_matrix(n_rows: int, n_features: int, dtype: type) -> None:
    """Lowest, highest value and deviation count the zeros; features without values have 0."""
    generator = np.random.default_rng(n_features)
    dense: NDArray[Any] = generator.normal(3.0, 2.0, (n_rows, n_features)).astype(dtype)
    dense[generator.random((n_rows, n_features)) < 0.6] = 0.0
    dense[:, 0] = 5.0  # in every row: its lowest value is not 0
    rows = sparse.csr_array(dense)
    low, high, deviation = feature_spread(rows.data, rows.indices, n_rows, n_features)
    assert np.array_equal(low, dense.min(axis=0))
    assert np.array_equal(high, dense.max(axis=0))
    np.testing.assert_allclose(deviation, dense.astype(float).std(axis=0), atol=1e-9)

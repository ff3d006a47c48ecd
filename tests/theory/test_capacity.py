"""How many labellings are separable: Cover's count against trying all of them."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from rosenblatt import diagnose
from rosenblatt.errors import InputError
from rosenblatt.theory.capacity import separable_share


@pytest.mark.parametrize(("n_rows", "n_features"), [(4, 1), (5, 2), (7, 2), (6, 4), (8, 3)])
def test_share_is_that_of_all_labellings(n_rows: int, n_features: int) -> None:
    """Of all 2ⁿ labellings of random points, which are in general position, so many separate."""
    X = np.random.default_rng(n_rows).standard_normal((n_rows, n_features))
    points = np.column_stack([X, np.ones(n_rows)])
    found = 0
    for sides in product((-1.0, 1.0), repeat=n_rows):
        system = -np.array(sides)[:, None] * points
        free = [(None, None)] * (n_features + 1)
        found += linprog(np.zeros(n_features + 1), system, -np.ones(n_rows), bounds=free).success
    assert found / 2**n_rows == pytest.approx(separable_share(n_rows, n_features), abs=1e-12)


def test_a_verdict_says_what_it_is_worth() -> None:
    """Random labels of few rows in many dimensions are separable, and that is said."""
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((50, 60)), generator.integers(0, 2, 50)
    told = "50 rows in general position in 60 dimensions are separable whatever their labels"
    for rows in (X, sparse.csr_array(np.pad(X, [(0, 0), (0, 40)]))):  # 40 features unused
        verdict = diagnose(rows, y)
        assert verdict.status == "separable"
        assert any(note.startswith(told) for note in verdict.notes)
    few = diagnose(np.sort(X[:, :27], axis=0), np.arange(50) > 24)
    assert few.status == "separable"
    assert any("with random labels" in note and "80.42%" in note for note in few.notes)
    sure = diagnose(np.arange(50.0)[:, None], np.arange(50) > 24)
    assert sure.notes == ()


def test_permuted_labels_say_what_a_verdict_is_worth() -> None:
    """Many dimensions separate any permutation of the labels; few separate the true one alone."""
    X = np.random.default_rng(0).standard_normal((40, 50))
    y = X[:, 0] > 0
    wide = diagnose(X, y, permute=5)
    assert wide.permuted == {"separable": 5, "inseparable": 0, "undecided": 0}
    assert "5 of 5 random permutations of the labels are separable" in str(wide)
    narrow = diagnose(X[:, :3], y, permute=5)
    assert narrow.status == "separable"
    assert narrow.permuted == {"separable": 0, "inseparable": 5, "undecided": 0}
    assert narrow.as_json()["permuted"]["inseparable"] == 5
    assert diagnose(X, y).permuted is None
    with pytest.raises(InputError, match="permute must be at least 0; got -1"):
        diagnose(X, y, permute=-1)

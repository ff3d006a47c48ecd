"""Dot products of bytes, and the kernel perceptron in plain Python."""

import numpy as np
import pytest

from rosenblatt.kernels.byte_dots import (
    LANES,
    MOST_FEATURES,
    fill_panels,
    pack_pairs,
    pair_sums,
    panel_dots,
)
from tests.processes import printed

# Kernel, budget and vote; prints the bits of all scores.
PROGRAM = """
import hashlib, warnings
import numpy as np
from rosenblatt import KernelPerceptron
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X, y = rng.integers(0, 9, (40, 7)), rng.integers(0, 3, 40)
for kind in (np.uint8, np.float64):
    for how in ({}, {"multi_class": "one-vs-rest", "rule": "pa2"}, {"max_support": 6},
                {"max_support": 6, "budget": "forgetron", "memory": "last"},
                {"max_support": 6, "budget": "random", "memory": "last"}):
        clf = KernelPerceptron(kernel="poly", gamma=1.0, coef0=1.0, degree=2, max_iter=2, **how)
        for scores in clf.fit(X.astype(kind), y).decision_functions(X).values():
            print(hashlib.sha256(scores.tobytes()).hexdigest())
"""


@pytest.mark.parametrize("n_features", [1, 2, 9, 784])
def test_instructions_and_plain_python(n_features: int) -> None:
    """The vector instructions give what whole numbers in plain Python give."""
    rng = np.random.default_rng(n_features)
    rows = rng.integers(0, 256, (70, n_features)).astype(np.uint8)
    rows[rng.random(rows.shape) < 0.5] = 0
    room = len(rows) * -(-n_features // 2)
    words, places = np.empty(room, np.int32), np.empty(room, np.uint16)
    ends = np.empty(len(rows), np.int64)
    n_pairs = pack_pairs(rows, words, places, ends)
    assert n_pairs == sum(
        int((row[j : j + 2] != 0).any()) for row in rows for j in range(0, n_features, 2)
    )
    panels = np.zeros((3, -(-n_features // 2), LANES, 2), np.int16)
    fill_panels(rows, panels)
    bounds = np.append(0, ends)
    found, plain = np.empty((70, 96), np.int32), np.empty((70, 96), np.int32)
    panel_dots(words, places, bounds, np.arange(70), panels, 0, 70, found)
    for i in range(70):
        for panel in range(3):
            start, where = panel * panels[0].size, i * 96 + panel * LANES
            pair_sums(words, places, bounds[i], bounds[i + 1], panels, start, plain, where)
    assert np.array_equal(found, plain)
    expected = rows.astype(np.int64) @ rows.T.astype(np.int64)
    assert np.array_equal(found[:, :70], expected)
    assert not found[:, 70:].any()


def test_the_widest_rows_fit() -> None:
    """At the most features allowed the largest sum is still a number of 32 bits."""
    assert MOST_FEATURES * 255**2 < 2**31 <= (MOST_FEATURES + 1) * 255**2


def test_plain_python_gives_the_same_bits() -> None:
    """With ROSENBLATT_PLAIN=1 the whole machine runs without a compiler, to the same scores."""
    told = [printed(PROGRAM, ROSENBLATT_PLAIN=flag).split() for flag in ("0", "1")]
    assert len(told[0]) == 2 * (3 + 3 + 2 + 1 + 1)
    assert told[0] == told[1]

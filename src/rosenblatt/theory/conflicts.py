"""Rows that are equal in every feature and differ in the label: no function tells them apart."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rosenblatt.theory.labelled_rows import LabelledRows

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def find_conflicts(rows: LabelledRows) -> list[tuple[int, ...]]:
    """Return groups of equal rows that hold more than one label, in the order of their first row.

    One pass makes a number of 64 bits from each row; only rows with equal numbers are compared.
    """
    keys = _keys(rows)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    labels = rows.numbers[order]
    lowest, highest = np.minimum.reduceat(labels, starts), np.maximum.reduceat(labels, starts)
    stops = np.append(starts[1:], len(order))
    groups: list[tuple[int, ...]] = []
    for g in np.flatnonzero(lowest != highest):
        groups += _equal_groups(rows, order[starts[g] : stops[g]])
    return sorted(groups)


def _equal_groups(rows: LabelledRows, candidates: NDArray[Any]) -> list[tuple[int, ...]]:
    """Split rows of one key into groups of truly equal ones; keep those with several labels."""
    by_content: dict[bytes, list[int]] = {}
    for i in candidates.tolist():
        features, values = rows.row(i)
        if rows.is_sparse:
            order = np.argsort(features)
            features, values = features[order], values[order]
        content = features.astype(np.int64).tobytes() + values.tobytes()  # zeros are left out
        by_content.setdefault(content, []).append(i)
    return [
        tuple(group) for group in by_content.values() if len(set(rows.numbers[group].tolist())) > 1
    ]


def _keys(rows: LabelledRows) -> NDArray[np.uint64]:
    generator = np.random.Generator(np.random.PCG64(0))
    columns = generator.integers(1, 2**64, rows.n_features, dtype=np.uint64) | np.uint64(1)
    keys = np.zeros(rows.n_rows, np.uint64)
    for part, block in rows.blocks():
        if sparse.issparse(block):
            terms = np.append(_mixed(block.data) * columns[block.indices], np.uint64(0))
            sums = np.append(np.uint64(0), np.cumsum(terms))  # modulo 2⁶⁴, so that nothing is lost
            keys[part] = sums[block.indptr[1:]] - sums[block.indptr[:-1]]
        else:
            keys[part] = (_mixed(block) * columns).sum(axis=1, dtype=np.uint64)
    return keys


def _mixed(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the bits of each value stirred, 0 for zero of either sign.

    Whole numbers differ in their leading bits alone, which a product modulo 2⁶⁴ would lose.
    """
    bits = (values + 0.0).view(np.uint64)  # −0 becomes 0
    bits ^= bits >> np.uint64(32)
    bits *= MULTIPLIER
    bits ^= bits >> np.uint64(29)
    return bits

"""How many labellings of rows a boundary can separate, whatever the labels are."""

from rosenblatt.theory.labelled_rows import LabelledRows
from rosenblatt.wording import percent

FEWEST_ROWS = 20  # with fewer, nobody takes it for a finding
LEAST_CHANCE = 0.01


def separable_share(n_rows: int, n_features: int) -> float:
    """Return the share of all ways to give rows one of two labels that a boundary separates.

    For rows in general position, with a bias, it is 2^(1 − n)·Σ C(n − 1, k) over k ≤ d: 1 up to
    n = d + 1, one half at n = 2(d + 1) (T. M. Cover, "Geometrical and statistical properties of
    systems of linear inequalities", IEEE Transactions on Electronic Computers 14, 1965).

    >>> [round(separable_share(n, 9), 4) for n in (10, 20, 40)]
    [1.0, 0.5, 0.0005]
    """
    from scipy.special import bdtr

    return float(bdtr(min(n_features, n_rows - 1), n_rows - 1, 0.5))


def capacity_notes(rows: LabelledRows) -> list[str]:
    """Return a note if two classes would be separable with many other labels, too."""
    if len(rows.classes) != 2 or rows.n_rows < FEWEST_ROWS:
        return []
    n, d = rows.n_rows, rows.n_used
    share, where = separable_share(n, d), f"{n:,} rows in general position in {d:,} dimensions"
    if share == 1.0:
        return [f"{where} are separable whatever their labels: this says nothing about the labels"]
    if share < LEAST_CHANCE:
        return []
    return [f"with random labels, {where} are separable in {percent(share)} of all cases"]

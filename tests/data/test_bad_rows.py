"""Rows that cannot be read are counted wherever they are read."""

import pickle

import pytest

from rosenblatt.data.batch import BadRow, BadRows
from rosenblatt.errors import InputError


def test_counts_travel_to_another_process() -> None:
    """A worker of a cluster is given the counts, and goes on counting with them."""
    rows = BadRows(skip=True, max_share=0.2)
    rows.add([BadRow(2, "a.csv, line 3", "it has 4 fields")])
    rows.pass_by(9)
    other = pickle.loads(pickle.dumps(rows))  # noqa: S301  # our own
    assert other.as_json() == rows.as_json()
    other.add([BadRow(5, "a.csv, line 7", "it is cut"), BadRow(5, "a.csv, line 8", "it is empty")])
    assert (rows.n_bad, other.n_bad) == (1, 3)
    with pytest.raises(InputError, match="3 of 12 rows cannot be read, more than 20 %"):
        other.check()

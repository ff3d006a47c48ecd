"""Rows in memory as tables."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from rosenblatt.data.tables.frames import frame_tables
from rosenblatt.data.tables.table import Selection
from rosenblatt.errors import InputError

CELLS: dict[str, Any] = {
    "arrays": [np.zeros(2), np.ones(2)],
    "objects": [object(), {1, 2}],
    "lists": [[1, 2], [3]],
    "kinds": [b"x", 1.5],
}


@pytest.mark.parametrize("cells", CELLS.values(), ids=CELLS)
def test_columns_that_nobody_wants(cells: list[Any]) -> None:
    """Whatever stands in the cells of another column, those that are wanted are read."""
    wanted = Selection(("a",), frozenset())
    X = pd.DataFrame({"a": [1.0, np.nan], "other": cells})
    for rows in (X, X.to_dict("records")):
        (table,) = frame_tables(rows, wanted)
        assert table.frame.to_dict(as_series=False) == {"a": [1.0, None]}
    with pytest.raises(InputError, match="X has no column 'b'; it has 'a', 'other'"):
        frame_tables(X, Selection(("b",), frozenset()))


def test_rows_that_are_arrays() -> None:
    """A list of arrays has no named columns, which is said."""
    with pytest.raises(InputError, match="X must hold named columns: give a data frame"):
        frame_tables([np.zeros(2), np.ones(2)])

"""Tables made by hand, and tables that hypothesis draws."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding import EncodingFit, TableEncoding
from rosenblatt.data.tables.table import Table

Rows = list[dict[str, str | None]]

NUMBERS = st.one_of(
    st.floats(-1e6, 1e6, allow_nan=False).map(repr),
    st.integers(-50, 50).map(str),
    st.sampled_from([None, "?", "NA", "1e3", "+2.", ".5", "-0"]),
)
LEVELS = st.sampled_from(["red", "green", "blue", "bl ue", "Zürich", None, "?", "N/A", "None"])
WORDS = st.sampled_from(["good", "Good", "not", "film", "Ä", "ΣΑΣ", "İx", "it's", "x_y", "42", "…"])
TEXTS = st.one_of(st.none(), st.lists(WORDS, max_size=12).map(" ".join), st.text(max_size=20))
ROLES = {"age": "numeric", "colour": "category", "review": "text", "size": "numeric"}
DRAWN = {"numeric": NUMBERS, "category": LEVELS, "text": TEXTS}


def table(columns: Mapping[str, Sequence[Any]], first_row: int = 1) -> Table:
    """Return a table of these columns, as the reader of a CSV file with a header gives it."""
    frame = pl.DataFrame(
        {name: pl.Series(values, dtype=pl.String) for name, values in columns.items()}
    )
    lines = np.arange(first_row + 1, first_row + 1 + frame.height)
    return Table(frame, "data.csv", first_row, lines, 100)


def typed(columns: Mapping[str, Any]) -> Table:
    """Return a table of these columns, as the reader of a typed file gives it."""
    return Table(pl.DataFrame(columns), "data.parquet", 1, None, 0)


def table_of(rows: Rows, names: Sequence[str], first_row: int = 1) -> Table:
    """Return a table of these rows."""
    return table({name: [row[name] for row in rows] for name in names}, first_row)


def drawn_rows(roles: Mapping[str, str] = ROLES, most: int = 12) -> st.SearchStrategy[Rows]:
    """Return rows with these columns."""
    row = st.fixed_dictionaries({name: DRAWN[role] for name, role in roles.items()})
    return st.lists(row, min_size=1, max_size=most)


def fit_for(rows: Rows, roles: Mapping[str, str] = ROLES, **options: Any) -> EncodingFit:
    """Return the beginning of an encoding with these roles, for rows without labels."""
    asked: dict[str, Any] = {
        role: [name for name in roles if roles[name] == role]
        for role in ("numeric", "category", "text")
    }
    return EncodingFit.from_sample(table_of(rows, list(roles)), labelled=False, **asked, **options)


def encoding_for(rows: Rows, roles: Mapping[str, str] = ROLES, **options: Any) -> TableEncoding:
    """Return the encoding of rows with these roles."""
    return encoding_of(fit_for(rows, roles, **options), table_of(rows, list(roles)))


def encoding_of(fit: EncodingFit, *tables: Table) -> TableEncoding:
    """Return the encoding of these tables."""
    for one in tables:
        fit.learn(one)
    return fit.encoding()[0]


def single_rows(encoding: TableEncoding, batch: Batch) -> list[dict[str, float]]:
    """Return the rows of a batch as dictionaries from feature name to value, in order."""
    rows = []
    for i in range(batch.n_rows):
        own = slice(batch.indptr[i], batch.indptr[i + 1])
        names = encoding.names(batch.indices[own])
        assert len(set(names)) == len(names)
        rows.append(dict(zip(names, batch.data[own].tolist(), strict=True)))
    return rows

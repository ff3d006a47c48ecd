"""Tables of bounded size."""

from collections.abc import Iterator

import polars as pl

from rosenblatt.data.tables.table import Table

MOST_ROWS = 1 << 16  # in a table
MOST_BYTES = 4 << 20  # about, in memory


def in_slices(table: Table, *, most_rows: int = MOST_ROWS) -> Iterator[Table]:
    """Yield a table as it is, or in successive parts that are not too long."""
    frame = table.frame
    for start in range(0, frame.height, most_rows):
        part = frame if frame.height <= most_rows else frame.slice(start, most_rows)
        lines = table.lines
        if lines is not None and part is not frame:
            lines = lines.slice(start, most_rows)
        yield table._replace(frame=part, first_row=table.first_row + start, lines=lines)


def rows_for(frame: pl.DataFrame) -> int:
    """Return how many rows like those of this frame make a table of about the most bytes."""
    bytes_a_row = max(1, int(frame.estimated_size()) // max(1, frame.height))
    return min(MOST_ROWS, max(1, MOST_BYTES // bytes_a_row))

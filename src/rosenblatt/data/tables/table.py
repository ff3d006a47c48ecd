"""Rows of named columns on their way from a file to an encoding."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl


class Table(NamedTuple):
    """Successive rows of one file.

    From CSV and TSV every column is text (``pl.String``) without blanks around it, and an empty
    field is null. From JSON lines, Parquet and Arrow columns have the type that the file gives.
    """

    frame: "pl.DataFrame"
    file: str  # as messages call it
    first_row: int  # number of the first row in the file, counted from 1
    lines: "pl.Series | None"  # line on which each row begins, counted from 1; None where no lines
    bytes_read: int  # of the file, packed as it may be, up to the end of the table or a little more

    def place(self, row: int) -> str:
        """Return where a row of this table stands, as an error message says it."""
        if self.lines is None:
            return f"{self.file}, row {self.first_row + row}"
        return f"{self.file}, line {self.lines[row]}"

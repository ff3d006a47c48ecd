"""Tabular files as tables of named columns, in memory that does not grow with the files."""

from rosenblatt.data.tables.batches import table_batches
from rosenblatt.data.tables.table import Table

__all__ = ["Table", "table_batches"]

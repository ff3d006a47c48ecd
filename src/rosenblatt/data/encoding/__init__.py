"""Columns of a table to rows of features, and the names of the features."""

from rosenblatt.data.encoding.features import InputColumn
from rosenblatt.data.encoding.numbered import (
    ConjoinedEncoding,
    ScaledEncoding,
    SvmlightEncoding,
    encoding_from,
)
from rosenblatt.data.encoding.table_encoding import RowUse, TableEncoding

__all__ = [
    "ConjoinedEncoding",
    "InputColumn",
    "RowUse",
    "ScaledEncoding",
    "SvmlightEncoding",
    "TableEncoding",
    "encoding_from",
]

"""Columns of a table to rows of features, and the names of the features."""

from rosenblatt.data.conjunctions import ConjoinedEncoding
from rosenblatt.data.encoding.columns import InputColumn
from rosenblatt.data.encoding.stored import encoding_from
from rosenblatt.data.encoding.table_encoding import PreparedTable, TableEncoding
from rosenblatt.data.svmlight import SvmlightEncoding

__all__ = [
    "ConjoinedEncoding",
    "InputColumn",
    "PreparedTable",
    "SvmlightEncoding",
    "TableEncoding",
    "encoding_from",
]

"""Columns of a table to rows of features, and the names of the features."""

from rosenblatt.data.encoding.columns import InputColumn
from rosenblatt.data.encoding.conjoined import ConjoinedEncoding
from rosenblatt.data.encoding.stored import encoding_from
from rosenblatt.data.encoding.svmlight_encoding import SvmlightEncoding
from rosenblatt.data.encoding.table_encoding import Prepared, TableEncoding

__all__ = [
    "ConjoinedEncoding",
    "InputColumn",
    "Prepared",
    "SvmlightEncoding",
    "TableEncoding",
    "encoding_from",
]

"""Columns of a table to rows of features, and the names of the features."""

from rosenblatt.data.conjunctions import ConjoinedEncoding, OuterEncoding
from rosenblatt.data.encoding.columns import InputColumn
from rosenblatt.data.encoding.stored import encoding_from
from rosenblatt.data.encoding.table_encoding import RowUse, TableEncoding
from rosenblatt.data.scaling import ScaledEncoding
from rosenblatt.data.svmlight import SvmlightEncoding

__all__ = [
    "ConjoinedEncoding",
    "InputColumn",
    "OuterEncoding",
    "RowUse",
    "ScaledEncoding",
    "SvmlightEncoding",
    "TableEncoding",
    "encoding_from",
]

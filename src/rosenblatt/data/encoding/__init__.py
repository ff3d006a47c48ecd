"""Columns of a table to rows of features, and the names of the features."""

from rosenblatt.data.encoding.features import InputColumn
from rosenblatt.data.encoding.fitting import EncodingFit
from rosenblatt.data.encoding.grids import GridEncoding
from rosenblatt.data.encoding.numbered import (
    ConjoinedEncoding,
    ScaledEncoding,
    SvmlightEncoding,
    encoding_from,
)
from rosenblatt.data.encoding.parsing import BlockFeatures, RowUse
from rosenblatt.data.encoding.table_encoding import TableEncoding, encoded_block

__all__ = [
    "BlockFeatures",
    "ConjoinedEncoding",
    "EncodingFit",
    "GridEncoding",
    "InputColumn",
    "RowUse",
    "ScaledEncoding",
    "SvmlightEncoding",
    "TableEncoding",
    "encoded_block",
    "encoding_from",
]

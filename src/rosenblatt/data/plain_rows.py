"""A block of svmlight text parsed in plain Python, line by line.

For small inputs: at 2 to 6 MB/s they are read before numba is even imported, which takes a third of
a second. For machines where nothing is compiled. And to find what is wrong where the scan stopped.
"""

from typing import Any

import numpy as np

from rosenblatt.data.labels import Label
from rosenblatt.data.line import LineError, Numbering, parse_line
from rosenblatt.data.parsed import Parsed
from rosenblatt.kernels.text import MOST_FEATURE, NO_QUERY


def parse_plain(text: bytes, numbering: Numbering, dtype: np.dtype[Any]) -> Parsed:
    """Return the rows of a text that ends in a newline; raise LineError at the first bad line."""
    lines = text.split(b"\n")[:-1]
    data: list[float] = []
    indices: list[int] = []
    indptr, labels, queries = [0], [], []
    distinct: dict[Label, int] = {}
    for number, line in enumerate(lines):
        try:
            row = parse_line(line, numbering)
        except LineError as error:
            raise LineError(error.column, error.clause, number) from None
        if row is None:
            continue
        data += row.values
        indices += row.indices
        indptr.append(len(indices))
        labels.append(distinct.setdefault(row.label, len(distinct)))
        queries.append(row.query)
    any_query = any(query != NO_QUERY for query in queries)
    return Parsed(
        np.array(data, dtype),
        np.array(indices, np.int32),
        np.array(indptr, np.int64),
        np.array(labels, np.int32),
        list(distinct),
        np.array(queries, np.int64) if any_query else None,
        min(indices, default=MOST_FEATURE),
        max(indices, default=-1) + 1,
        len(lines),
    )

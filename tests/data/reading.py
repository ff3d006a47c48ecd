"""All rows of an svmlight file at once."""

from typing import Any

import numpy as np

from rosenblatt.data.batch import Batch, join
from rosenblatt.data.svmlight import svmlight_batches


def read_svmlight(source: Any, **options: Any) -> Batch:
    """Return all rows of a file as one batch; the options are those of ``svmlight_batches``."""
    batches = list(svmlight_batches(source, **options))
    nothing = Batch(np.empty(0), np.empty(0, np.int32), np.zeros(1, np.int64))
    return join(batches) if batches else nothing

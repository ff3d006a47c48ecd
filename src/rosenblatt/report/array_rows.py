"""Rows of arrays as the batches that a report judges a model by."""

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import Classes
from rosenblatt.errors import InputError
from rosenblatt.models.model import Model


def array_rows(model: Model, X: Any, y: Any) -> Batch:
    """Return the rows of X with the labels y, the classes of the model first."""
    from scipy import sparse

    checked = check_array(X, accept_sparse="csr")
    labels = column_or_1d(y)
    check_consistent_length(checked, labels)
    if checked.shape[1] != model.n_features:
        msg = (
            f"X has {checked.shape[1]} features, but the model knows {model.n_features}: give rows "
            "with the columns that it was fitted on."
        )
        raise InputError(msg)
    rows = sparse.csr_array(checked, dtype=np.float64)
    rows.sum_duplicates()
    classes = Classes(model.classes)
    numbers = classes.codes(labels.tolist())
    return Batch(
        data=rows.data,
        indices=rows.indices.astype(np.int32),
        indptr=rows.indptr.astype(np.int64),
        labels=numbers,
        classes=classes.labels,
        queries=None,
        n_features=rows.shape[1],
        zero_based=True,
        file="X",
        first_line=1,
        n_lines=rows.shape[0],
        bytes_read=0,
    )

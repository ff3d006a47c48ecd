"""Real data sets, found in the folder that ROSENBLATT_DATA names."""

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

VARIABLE = "ROSENBLATT_DATA"


class MissingDataError(Exception):
    """A data set is not on this machine."""


def data_file(name: str) -> Path:
    """Return where a file or folder of the data sets is."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        msg = f"{VARIABLE} is not set"
        raise MissingDataError(msg)
    path = Path(folder) / name
    if not path.exists():
        msg = f"{VARIABLE} has no {name}"
        raise MissingDataError(msg)
    return path


def svmlight(name: str) -> tuple[sparse.csr_matrix, NDArray[Any]]:
    """Return the rows and labels of a file in svmlight format."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(data_file(f"{name}.svm.gz")))
    # The loader gives 64-bit indices, which scikit-learn's own perceptron refuses.
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def imdb_words() -> tuple[sparse.csr_matrix, NDArray[Any]]:
    """Return the word counts of the film reviews, as float64, and their labels."""
    from sklearn.feature_extraction.text import CountVectorizer

    with gzip.open(data_file("imdb.train.tsv.gz"), "rt", encoding="utf-8") as lines:
        fields = [line.rstrip("\n").split("\t", 2) for line in lines]
    X = CountVectorizer(dtype=np.float64).fit_transform(text for _, _, text in fields)
    return X, np.array([label for label, _, _ in fields])


def mnist(part: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the images of a part, "train" or "t10k", as rows of bytes, and their digits."""
    images = _idx(f"mnist/{part}-images-idx3-ubyte.gz", header=16)
    return images.reshape(-1, 784), _idx(f"mnist/{part}-labels-idx1-ubyte.gz", header=8)


def _idx(name: str, header: int) -> NDArray[Any]:
    with gzip.open(data_file(name)) as file:
        return np.frombuffer(file.read(), np.uint8, offset=header).copy()

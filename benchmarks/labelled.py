"""Files of real rows with a label in front, to be written again in parts or with other labels."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproduction.data_sets import DataFolder, contents, data_file

MOST_IMAGES = 5000


class LabelledLines(NamedTuple):
    """The rows of a file: what stands behind the label of each."""

    name: str
    labels: NDArray[Any]
    rests: list[str]
    separator: str
    ending: str
    label_separator: str = ""  # where rows have any number of labels

    @property
    def layout(self) -> dict[str, Any]:
        """How ``train_files`` reads them."""
        between = {"label_separator": self.label_separator} if self.label_separator else {}
        return {} if self.ending == "svm" else {"label": "1", "header": False} | between

    def write(self, folder: Path, labels: NDArray[Any], rows: NDArray[Any] | None = None) -> str:
        """Write rows, by default all, under these labels; return the path."""
        numbers = range(len(self.rests)) if rows is None else rows.tolist()
        path = folder / f"{self.name}-{len(numbers)}.{self.ending}"
        lines = (f"{labels[k]}{self.separator}{self.rests[k]}\n" for k in numbers)
        path.write_text("".join(lines), encoding="utf-8")
        return str(path)


def labelled_sets() -> Iterator[LabelledLines]:
    """Yield small tables, a large one, texts of two and of twenty classes, and digits."""
    for name in ("iris", "wine", "banknote_authentication", "phoneme"):
        yield _lines(name, f"small/{name}.csv", ",", last=True)
    yield _lines("adult", "adult.train.csv.gz", ",", last=True)
    yield _lines("sms_spam", "sms_spam.tsv.gz", "\t")
    yield _lines("20news", "20news.train.tsv.gz", "\t")
    images, labels = DataFolder.from_environment().images("train")
    rows = [
        " ".join(f"{k}:{image[k]}" for k in np.flatnonzero(image)) for image in images[:MOST_IMAGES]
    ]
    yield LabelledLines("mnist", labels[:MOST_IMAGES].astype(str), rows, " ", "svm")


def tagged_sets() -> Iterator[LabelledLines]:
    """Yield rows with any number of labels: tags of packages, and numbers of the size of yeast."""
    from sklearn.datasets import make_multilabel_classification

    yield _lines("debtags", "debtags.train.tsv.gz", "\t", labels=" ")
    size = {"n_samples": 2417, "n_features": 103, "n_classes": 14, "n_labels": 4, "length": 500}
    X, given = make_multilabel_classification(**size, random_state=0)
    names = np.array([f"class{k}" for k in range(14)])
    labels = np.array([" ".join(names[row == 1]) for row in given])
    rests = [",".join(map(str, row)) for row in X.astype(int).tolist()]
    yield LabelledLines("synthetic", labels, rests, ",", "csv", " ")


def _lines(
    name: str, file: str, separator: str, *, last: bool = False, labels: str = ""
) -> LabelledLines:
    lines = [line for line in contents(data_file(file)).decode().splitlines() if line.strip()]
    parts = [
        line.rpartition(separator)[::-2] if last else line.split(separator, 1) for line in lines
    ]
    firsts, rests = zip(*parts, strict=True)
    words = np.array([label.strip() for label in firsts])
    ending = "csv" if separator == "," else "tsv"
    return LabelledLines(name, words, list(rests), separator, ending, labels)

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

    @property
    def layout(self) -> dict[str, Any]:
        """How ``train_files`` reads them."""
        return {} if self.ending == "svm" else {"label": "1", "header": False}

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


def _lines(name: str, file: str, separator: str, *, last: bool = False) -> LabelledLines:
    lines = [line for line in contents(data_file(file)).decode().splitlines() if line.strip()]
    parts = [
        line.rpartition(separator)[::-2] if last else line.split(separator, 1) for line in lines
    ]
    labels, rests = zip(*parts, strict=True)
    words = np.array([label.strip() for label in labels])
    ending = "csv" if separator == "," else "tsv"
    return LabelledLines(name, words, list(rests), separator, ending)

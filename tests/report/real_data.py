"""Reports on samples of real data sets, or on all of them."""

import gzip
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from click.testing import CliRunner
from numpy.typing import NDArray

from rosenblatt import AveragedPerceptron
from rosenblatt.cli import main
from rosenblatt.report import write_report

PARTS = ("images-idx3-ubyte", "labels-idx1-ubyte")
LOOKED_AT = 30_000  # lines of a file; a sample is spread over them, since some files are sorted


class DataSet(NamedTuple):
    """Files with labels, and how they are read."""

    train: str
    test: str | None  # None: the last fifth of the rows is for the test
    options: tuple[str, ...]
    n_rows: int  # of the sample, of either part


SETS = {
    "adult": DataSet("adult.train.csv", "adult.test.csv", ("--calibrate",), 800),
    "imdb": DataSet("imdb.train.tsv", "imdb.test.tsv", ("--label", "1", "--rule", "pa1"), 150),
    "covtype": DataSet("covtype.csv", None, ("--label", "Cover_Type", "--calibrate"), 1500),
    "sms_spam": DataSet("sms_spam.tsv", None, ("--label", "1", "--rule", "perceptron"), 800),
}


def report_of(name: str, data: Path, folder: Path, *, whole: bool = False) -> Path:
    """Train on a data set or a sample of it, write the report into a folder, return its path."""
    page = folder / f"{name}.html"
    if name == "mnist":
        n = 60_000 if whole else 500
        X, y = (_idx(data / "mnist" / f"train-{part}.gz")[:n] for part in PARTS)
        X_test, y_test = (_idx(data / "mnist" / f"t10k-{part}.gz")[: n // 2] for part in PARTS)
        model = AveragedPerceptron(max_iter=3, record_mistakes=True).fit(X.reshape(len(X), -1), y)
        write_report(model, page, X_test.reshape(len(X_test), -1), y_test, name="mnist")
        return page
    chosen = SETS[name]
    learned = _lines(data, chosen.train, chosen.n_rows, whole=whole)
    if chosen.test is None:
        cut, header = len(learned) * 4 // 5, learned[:1] * (name == "covtype")
        learned, judged = learned[:cut], header + learned[cut:]
    else:
        judged = _lines(data, chosen.test, chosen.n_rows, whole=whole)
    paths = [folder / f"{name}.{part}{Path(chosen.train).suffix}" for part in ("train", "test")]
    for path, rows in zip(paths, (learned, judged), strict=True):
        path.write_text("".join(rows), encoding="utf-8")
    model_path = str(folder / f"{name}.model")
    run("train", str(paths[0]), *chosen.options, "--record-mistakes", "-o", model_path)
    run("report", model_path, "--test", str(paths[1]), "-o", str(page))
    return page


def run(*arguments: str) -> None:
    """Run a command, which must succeed."""
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output


def _lines(data: Path, name: str, n_rows: int, *, whole: bool) -> list[str]:
    with gzip.open(data / f"{name}.gz", "rt", encoding="utf-8") as file:
        found = list(file if whole else islice(file, LOOKED_AT))
    if name == "adult.test.csv":  # its labels end in a full stop, those of the training rows do not
        found = [line.replace("K.", "K") for line in found]
    return found if whole else found[:: max(1, len(found) // n_rows)]


def _idx(path: Path) -> NDArray[Any]:
    with gzip.open(path) as file:
        data = file.read()
    n_axes = data[3]
    shape = np.frombuffer(data, ">i4", n_axes, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * n_axes).reshape(shape)

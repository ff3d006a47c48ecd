"""From raw text in a file to a model, against scikit-learn's hashed words and its perceptron.

Both run in this process, so neither the start nor the imports count; ours may use all cores. That
the model is as good as scikit-learn's is measured on the test file, outside of the time.
"""

import gc
import gzip
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

from benchmarks.figure import Amount, Figure, Skipped, Target, speed_up
from benchmarks.stopwatch import Scale
from benchmarks.svmlight_text import FOLDER
from reproduction.data_sets import MissingDataError, data_file
from rosenblatt.data.files import Layout
from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files

SPEED_UP = 10.0
SLOW_ROUNDS = 3  # of half a minute each


class TextSet(NamedTuple):
    """Columns that give the label away, and how many times as fast as a linear SVM."""

    ignored: tuple[str, ...]
    target: float


SETS = {"20news": TextSet((), 5.0), "imdb": TextSet(("column_2",), 8.0)}
LAYOUT = Layout(header=False)
WORDS = "--no-word-pairs --max-iter 3 --no-early-stopping"
PEER = "HashingVectorizer, Perceptron"
LINEAR_SVC = "TfidfVectorizer, LinearSVC"

Score = Callable[[Path], float]  # share of the rows of a file that a model gets right


@dataclass(frozen=True)
class Times:
    """The median seconds of several runs."""

    wall: float
    processor: float


def defaults(name: str, scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield speed and accuracy of the defaults against TF-IDF and a linear SVM."""
    try:
        train, test = (_unpacked(f"{name}.{part}.tsv", scale) for part in ("train", "test"))
    except MissingDataError as missing:
        yield Skipped(name, str(missing))
        return
    contenders: dict[str, Callable[[], Score]] = {
        "ours": _ours(train, ignore=SETS[name].ignored),
        LINEAR_SVC: _sklearn(train, svm=True),
    }
    accuracy = {who: contender()(test) for who, contender in contenders.items()}
    times = _times(contenders, replace(scale, rounds=min(scale.rounds, SLOW_ROUNDS)))
    ours, peer = times["ours"], times[LINEAR_SVC]
    note = f"processor time {ours.processor:.2f} and {peer.processor:.2f} s"
    errors = " and ".join(f"{1 - right:.1%}" for right in accuracy.values())
    what = f"{name}, file to model by default, errors {errors}"
    yield speed_up(what, ours.wall, peer.wall, LINEAR_SVC, SETS[name].target, note)


def figures(scale: Scale) -> Iterator[Figure | Skipped]:
    """Yield speed and accuracy of the fastest setting that is good enough, and of the defaults."""
    for name, (ignored, _) in SETS.items():
        try:
            train, test = (_unpacked(f"{name}.{part}.tsv", scale) for part in ("train", "test"))
        except MissingDataError as missing:
            yield Skipped(name, str(missing))
            continue
        words = {"word_pairs": False, "max_iter": 3, "early_stopping": False}
        contenders: dict[str, Callable[[], Score]] = {
            WORDS: _ours(train, ignore=ignored, **words),
            "defaults": _ours(train, ignore=ignored),
            PEER: _sklearn(train),
        }
        accuracy = {who: contender()(test) for who, contender in contenders.items()}
        times = _times(contenders, scale)
        peer = times[PEER]
        for setting, target in ((WORDS, SPEED_UP), ("defaults", None)):
            what, ours = f"{name}, {setting}", times[setting]
            note = f"processor time {ours.processor:.2f} and {peer.processor:.2f} s"
            yield speed_up(what, ours.wall, peer.wall, PEER, target, note)
            right, peer_right = accuracy[setting], accuracy[PEER]
            yield Figure(
                f"{what}: test accuracy",
                Amount(100 * right, "%"),
                Amount(100 * peer_right, "%"),
                PEER,
                Amount(100 * (right - peer_right), "%"),
                Target("≥", 0.0),
            )


def _unpacked(name: str, scale: Scale) -> Path:
    """Return a file with the lines of a packed one, or with a part of them."""
    packed = data_file(f"{name}.gz")
    path = FOLDER / f"{scale.divisor}-{name}"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        with gzip.open(packed) as lines:
            path.write_bytes(b"".join(list(lines)[:: scale.divisor]))
    return path


def _ours(train: Path, **parameters: Any) -> Callable[[], Score]:
    def contender() -> Score:
        model = model_from_files(str(train), header=False, **parameters)
        return lambda test: _accuracy(model, test)

    return contender


def _accuracy(model: Model, test: Path) -> float:
    found: Any = model.evaluate(str(test), layout=LAYOUT)
    return found.accuracy or 0.0


def _sklearn(train: Path, *, svm: bool = False) -> Callable[[], Score]:
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
    from sklearn.linear_model import Perceptron
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    def contender() -> Score:
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)  # the terms of our defaults
        steps = (words, LinearSVC()) if svm else (HashingVectorizer(), Perceptron())
        model = make_pipeline(*steps).fit(*_fields(train))
        return lambda test: float(model.score(*_fields(test)))

    return contender


def _fields(path: Path) -> tuple[list[str], list[str]]:
    """Return the last and the first field of each line."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        fields = [line.rstrip("\n").split("\t") for line in lines]
    return [row[-1] for row in fields], [row[0] for row in fields]


def _times(contenders: Mapping[str, Callable[[], object]], scale: Scale) -> dict[str, Times]:
    """Return the times of contenders that have run once and now take turns."""
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for _ in range(scale.rounds):
        for name, contender in contenders.items():
            gc.collect()
            processor, wall = process_time(), perf_counter()
            contender()
            runs[name].append((perf_counter() - wall, process_time() - processor))
    return {name: Times(*map(median, zip(*run, strict=True))) for name, run in runs.items()}

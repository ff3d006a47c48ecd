"""Defaults against defaults: ``python -m benchmarks.defaults [SET or FILE …]``.

It writes docs/defaults.json. Files are of data that nothing was chosen on: CSV with a header and
the labels in the last column, TSV of label and text, or svmlight.

``rosenblatt train`` as it comes, and LinearSVC, LogisticRegression and SGDClassifier of
scikit-learn in the pipelines that a user would write, on random splits of the *training* rows of
real data sets; test files are not opened. All read the same file and are told where the label is.
``--ours`` measures ours alone again, ``--boosting`` HistGradientBoosting on the
first splits of tables, ``--few`` tries the first splits alone, and ``--page`` writes the tables of
docs/defaults.md from the results.
"""

import gzip
import json
import math
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import LinearSVC

from reproduction.data_sets import data_file
from reproduction.digest import digest_of
from reproduction.machine import made_now
from rosenblatt.models.train import model_from_files

ROWS = 20_000  # of a set, drawn at random from more
FEWER_ROWS = {  # of sets on which a learner of scikit-learn takes minutes
    "kdd99": 8_000,
    "covtype": 8_000,
    "debian_paths": 8_000,
    "imdb": 6_000,
    "20news": 5_000,
    "mnist": 5_000,
}
NOT_WAITED_FOR = {"20news": {"LogisticRegression"}, "debian_paths": {"LogisticRegression"}}
SPLITS, SMALL_SPLITS = 5, 20
FEW_ROWS = 5_000  # up to here there are more splits
TEST_SHARE = 0.2
PROBE_ROWS = 600  # of the made-up files that tell whether the defaults are still the same
DOCS = Path(__file__).parents[1] / "docs"
RESULTS = DOCS / "defaults.json"
PAGE = DOCS / "defaults.md"
LEARNERS: dict[str, Callable[[], Any]] = {
    "LinearSVC": LinearSVC,
    "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
    "SGDClassifier": lambda: SGDClassifier(random_state=0),
}
BOOSTING = "HistGradientBoosting"  # on tables, beside the linear learners
BOOSTED_SPLITS = 3
FAILED = 0.2  # more errors than the best linear learner: boosting went astray
FEW_SPLITS, FEW_SMALL_SPLITS = 3, 8  # where time is short


def boosting() -> Any:
    """Return what sees combinations of columns, as it comes."""
    return HistGradientBoostingClassifier(random_state=0)


class DataSet(NamedTuple):
    """The training rows of a set as lines of a file."""

    kind: str  # "text": label, tab, text; "table": the label last; "svmlight"
    lines: list[str]
    labels: list[str]
    header: str | None = None


def text_set(name: str, columns: Sequence[int] = (0, 1)) -> DataSet:
    """Return the rows of a file with tabs."""
    fields = [line.split("\t") for line in _lines(name)]
    lines = ["\t".join(row[k] for k in columns) for row in fields]
    return DataSet("text", lines, [row[0] for row in fields])


def table_set(name: str, *, header: bool = False) -> DataSet:
    """Return the rows of a CSV file whose last column holds the labels."""
    first, *others = _lines(name)
    lines = others if header else [first, *others]
    return DataSet(
        "table", lines, [line.rpartition(",")[2] for line in lines], first if header else None
    )


def svmlight_set(name: str) -> DataSet:
    """Return the rows of an svmlight file."""
    lines = list(_lines(name))
    return DataSet("svmlight", lines, [line.split(maxsplit=1)[0] for line in lines])


def file_set(path: Path) -> DataSet:
    """Return the rows of a file of one's own."""
    lines = [line for line in path.read_text().split("\n") if line.strip()]
    if path.suffix == ".csv":
        head, *lines = lines
        return DataSet("table", lines, [line.rpartition(",")[2] for line in lines], head)
    kind = "text" if path.suffix == ".tsv" else "svmlight"
    return DataSet(kind, lines, [line.split(maxsplit=1)[0] for line in lines])


def mnist() -> DataSet:
    """Return digits as svmlight rows of values from 0 to 1."""
    images = gzip.decompress(data_file("mnist/train-images-idx3-ubyte.gz").read_bytes())[16:]
    labels = gzip.decompress(data_file("mnist/train-labels-idx1-ubyte.gz").read_bytes())[8:]
    X = np.frombuffer(images, np.uint8).reshape(-1, 784)[:ROWS]
    lines = [
        f"{label} {' '.join(f'{k + 1}:{row[k] / 255:.3f}' for k in np.flatnonzero(row).tolist())}"
        for row, label in zip(X, labels, strict=False)
    ]
    return DataSet("svmlight", lines, [line[0] for line in lines])


def flights() -> DataSet:
    """Return flights of which the delay beyond a quarter of an hour is to be told."""
    frame = pd.read_parquet(data_file("flights3m.parquet")).sample(ROWS, random_state=0)
    frame["late"] = np.where(frame.pop("delay") > 15, "late", "in time")
    head, *lines = frame.to_csv(index=False).splitlines()
    return DataSet("table", lines, [line.rpartition(",")[2] for line in lines], head)


SMALL = (
    *("banknote_authentication", "breast-cancer-wisconsin", "german", "glass", "haberman"),
    *("ionosphere", "iris", "mammography", "phoneme", "pima-indians-diabetes", "sonar", "wine"),
)
TABLES = ("adult", "elec2", "kdd99", "covtype", "flights3m")
SETS: dict[str, Callable[[], DataSet]] = {
    **{name: (lambda name=name: table_set(f"small/{name}.csv")) for name in SMALL},  # type: ignore[misc]
    "sms_spam": lambda: text_set("sms_spam.tsv.gz"),
    "rcv1_small": lambda: svmlight_set("rcv1_small.svm.gz"),
    "mushrooms": lambda: svmlight_set("mushrooms.svm.gz"),
    "a9a": lambda: svmlight_set("a9a.svm.gz"),
    "w8a": lambda: svmlight_set("w8a.svm.gz"),
    "adult": lambda: table_set("adult.train.csv.gz"),
    "elec2": lambda: table_set("elec2.csv.gz", header=True),
    "kdd99": lambda: table_set("kdd99.train.csv.gz"),
    "covtype": lambda: table_set("covtype.csv.gz", header=True),
    "flights3m": flights,
    "debian_paths": lambda: text_set("debian_paths.train.tsv.gz"),
    "imdb": lambda: text_set("imdb.train.tsv.gz", (0, 2)),
    "20news": lambda: text_set("20news.train.tsv.gz"),
    "mnist": mnist,
}
ENDINGS = {"text": ".tsv", "table": ".csv", "svmlight": ".svm"}


class Score(NamedTuple):
    """What a learner did on one split."""

    error: float
    seconds: float  # of processor time, from the file to the fitted model
    size: int  # bytes of the model


def measured(
    data: DataSet, folder: Path, most: int, peers: Mapping[str, Callable[[], Any]]
) -> Iterator[dict[str, Score]]:
    """Yield the scores of all learners on split after split; with boosting alone, of that."""
    generator = np.random.default_rng(0)
    labels = np.array(data.labels)
    chosen = np.arange(len(labels))
    if len(chosen) > most:
        chosen = np.sort(generator.choice(len(chosen), most, replace=False))
    counts = pd.Series(labels[chosen]).value_counts()
    chosen = chosen[counts[labels[chosen]].to_numpy() >= 5]  # a class of four cannot be split
    n_splits = SMALL_SPLITS if len(chosen) <= FEW_ROWS else SPLITS
    splits = StratifiedShuffleSplit(n_splits, test_size=TEST_SHARE, random_state=0)
    for train, test in splits.split(chosen, labels[chosen]):
        paths = _files(data, folder, (chosen[train], chosen[test]))
        alone = BOOSTING in peers
        scores = {} if alone else {"rosenblatt": _ours(data, paths[0], paths[1], folder)}
        for name, learner in peers.items():
            scores[name] = _theirs(data, learner(), paths[0], paths[1])
        yield scores


def _files(data: DataSet, folder: Path, parts: Sequence[NDArray[Any]]) -> list[Path]:
    """Write the rows of these numbers to learn from and to test on."""
    paths = [folder / f"{name}{ENDINGS[data.kind]}" for name in ("train", "test")]
    head = [] if data.header is None else [data.header]
    for path, numbers in zip(paths, parts, strict=True):
        path.write_text("\n".join([*head, *(data.lines[k] for k in numbers), ""]))
    return paths


def _trained(data: DataSet, train: Path) -> Any:
    label = {"text": "column_1", "table": f"column_{data.lines[0].count(',') + 1}"}.get(data.kind)
    if data.header is not None:
        label = data.header.rpartition(",")[2]
    return model_from_files(str(train), label=label)


def _ours(data: DataSet, train: Path, test: Path, folder: Path) -> Score:
    started = process_time()
    model = _trained(data, train)
    seconds = process_time() - started
    model.save(folder / "m.model")
    error = model.evaluate(str(test)).error
    return Score(math.nan if error is None else error, seconds, (folder / "m.model").stat().st_size)


def _theirs(data: DataSet, learner: Any, train: Path, test: Path) -> Score:
    started = process_time()
    X, y = _read(data, train)
    pipeline, boosts = learner, isinstance(learner, HistGradientBoostingClassifier)
    if data.kind == "text":
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
        pipeline = make_pipeline(words, learner)
    elif data.kind == "table":
        numbers = make_pipeline(SimpleImputer(), StandardScaler())
        categories: Any = OneHotEncoder(handle_unknown="ignore")
        if boosts:
            categories = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        columns = make_column_transformer(
            (numbers, make_column_selector(dtype_include="number")),
            (categories, make_column_selector(dtype_exclude="number")),
            sparse_threshold=0.0 if boosts else 0.3,  # boosting takes arrays
        )
        pipeline = make_pipeline(columns, learner)
    pipeline.fit(X, y)
    seconds = process_time() - started
    X, y = _read(data, test, pipeline)
    error = float(np.mean(pipeline.predict(X) != y))
    return Score(error, seconds, len(pickle.dumps(pipeline)))


def _read(data: DataSet, path: Path, fitted: Any = None) -> tuple[Any, Any]:
    """Return the rows and labels of a file, of a test file as wide as the training file was."""
    if data.kind == "svmlight":
        width = getattr(fitted, "n_features_in_", None)
        X, y = load_svmlight_file(str(path))
        X.resize(X.shape[0], width or X.shape[1])  # without features that were not learned
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return X, y
    if data.kind == "text":
        rows = [line.split("\t", 1) for line in path.read_text().splitlines()]
        return [text for _, text in rows], np.array([label for label, _ in rows])
    header = None if data.header is None else 0
    frame = pd.read_csv(path, header=header, skipinitialspace=True, na_values="?")
    frame.columns = [str(name) for name in frame.columns]
    frame = frame.drop(columns="Unnamed: 0", errors="ignore")  # the counter of elec2
    if "date" in frame and not pd.api.types.is_numeric_dtype(frame["date"]):
        date = pd.to_datetime(frame.pop("date"))
        for part in ("month", "weekday", "hour"):
            frame.insert(0, part, getattr(date.dt, part))
    labels = frame.pop(frame.columns[-1])
    return frame, labels.astype(str).to_numpy()


def _lines(name: str) -> Iterator[str]:
    path = data_file(name)
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode(
        "utf-8", "replace"
    )
    return (line.rstrip("\r") for line in text.split("\n") if line.strip())


def interval(values: Sequence[float]) -> float:
    """Return half of the 95 % interval of a mean over splits (Nadeau & Bengio 2003)."""
    k = len(values)
    spread = float(np.std(values, ddof=1)) * math.sqrt(1 / k + TEST_SHARE / (1 - TEST_SHARE))
    return float(stats.t.ppf(0.975, k - 1)) * spread


def table(results: dict[str, Any]) -> str:
    """Return the results as a table of the page."""
    every = ["rosenblatt", *LEARNERS]
    headings = [
        *("set", "rows", *(f"{name}, error %" for name in [*every, BOOSTING])),
        *("ours − best, %", "time, ours : fastest", "size, ours : best"),
    ]
    lines = [
        f"| {' | '.join(headings)} |",
        f"| --- | ---: |{' ---: |' * (len(every) + 4)}",
    ]
    for name, result in results.items():
        names = [learner for learner in every if learner in result["scores"]]
        scores = {learner: [Score(*s) for s in result["scores"][learner]] for learner in names}
        errors = {learner: [100 * s.error for s in scores[learner]] for learner in names}
        means = {learner: float(np.mean(errors[learner])) for learner in names}
        best = min(names[1:], key=lambda learner: means[learner])
        pairs = zip(errors["rosenblatt"], errors[best], strict=False)  # on the same splits
        difference = [a - b for a, b in pairs]
        half, gap = interval(difference), float(np.mean(difference))
        mark = " **worse**" if gap > half else " better" if gap < -half else ""
        times = {
            learner: float(np.median([s.seconds for s in scores[learner]])) for learner in names
        }
        fastest = min(times[learner] for learner in names[1:])
        sizes = scores["rosenblatt"][0].size / 1e3, scores[best][0].size / 1e3
        cells = [
            f"{means[n]:.2f} ± {interval(errors[n]):.2f}" if n in names else "not waited for"
            for n in every
        ]
        boosted = [100 * Score(*s).error for s in result["scores"].get(BOOSTING, ())]
        cells.append(f"{np.mean(boosted):.2f} ± {interval(boosted):.2f}" if boosted else "")
        lines.append(
            f"| {name} | {result['rows']:,} | {' | '.join(cells)} | {gap:+.2f} ± {half:.2f}{mark} "
            f"| {times['rosenblatt']:.2f} : {fastest:.2f} s "
            f"| {sizes[0]:,.0f} : {sizes[1]:,.0f} kB |"
        )
    return "".join(f"{line}\n" for line in lines)


def way_to_boosting(results: Mapping[str, Any]) -> str:
    """Return a sentence on how far ours comes from the best linear learner to boosting.

    All three by the splits that boosting was tried on, where it came near the others at all.
    """
    means: dict[str, list[float]] = {"linear": [], "ours": [], "boosting": []}
    failed = []
    for name, result in results.items():
        n_splits = len(result["scores"].get(BOOSTING, ()))
        if not n_splits:
            continue
        found = {key: [s[0] for s in one[:n_splits]] for key, one in result["scores"].items()}
        errors = {key: float(np.mean(one)) for key, one in found.items()}
        linear = min(errors[key] for key in LEARNERS if key in errors)
        if errors[BOOSTING] > linear + FAILED:
            failed.append(name)
            continue
        for key, error in zip(means, (linear, errors["rosenblatt"], errors[BOOSTING]), strict=True):
            means[key].append(error)
    if not means["ours"]:
        return ""
    linear, ours, boosted = (100 * float(np.mean(one)) for one in means.values())
    but = f" (without {', '.join(failed)}, on which boosting failed)" if failed else ""
    return (
        f"Mean error of the splits with boosting on {len(means['ours'])} tables{but}: the best "
        f"linear learner {linear:.2f} %, ours {ours:.2f} %, boosting {boosted:.2f} %: "
        f"{(linear - ours) / (linear - boosted):.0%} of the way.\n\n"
    )


def default_digest() -> str:
    """Return a digest of what ``train`` makes by default of a small table, texts and sparse rows.

    Where a default comes to be chosen otherwise, or to give another model, it changes.
    """
    generator = np.random.default_rng(0)
    y = generator.integers(2, size=PROBE_ROWS)
    numbers = generator.integers(100, size=(PROBE_ROWS, 3)) + 20 * (y == 1)[:, np.newaxis]
    numbers[:, 1] = (1000 * generator.random(PROBE_ROWS) ** 9).astype(int)  # few are far out
    kinds = np.array(["red", "green", "blue", "grey"])[generator.integers(4, size=PROBE_ROWS)]
    common = (60 * generator.random((PROBE_ROWS, 20)) ** 3).astype(int)  # some far more than others
    words = common + 2 * y[:, np.newaxis]
    columns = (numbers.tolist(), kinds, words.tolist(), y.tolist())
    rows = list(zip(*columns, strict=True))
    table_rows = [f"{a},{b},{c},{kind},class{k}" for (a, b, c), kind, _, k in rows]
    texts = [f"class{k}\t{' '.join(f'w{word}' for word in text)}" for *_, text, k in rows]
    sparse_rows = [f"{k} 1:{a} 2:{b} {c + 3}:1" for (a, b, c), *_, k in rows]
    halves, found = np.split(np.arange(PROBE_ROWS), [PROBE_ROWS // 2]), []
    with tempfile.TemporaryDirectory() as folder:
        for kind, lines in (("table", table_rows), ("text", texts), ("svmlight", sparse_rows)):
            data = DataSet(kind, lines, [])
            train, test = _files(data, Path(folder), halves)
            judged = _trained(data, train).evaluate(str(test))
            found += [judged.error, judged.scores_for(1)]
    return digest_of(found)


def measure(
    given: str, learners: Mapping[str, Callable[[], Any]], *, few: bool = False
) -> dict[str, Any]:
    """Return the scores on a set, or on a file of one's own, and what made them."""
    own = Path(given).suffix in ENDINGS.values()
    data = file_set(Path(given)) if own else SETS[given]()
    most = FEWER_ROWS.get(given, ROWS)
    left_out = NOT_WAITED_FOR.get(given, set())
    peers = {name: learner for name, learner in learners.items() if name not in left_out}
    made, n_splits = made_now(), BOOSTED_SPLITS if BOOSTING in peers else None
    if few:
        small = min(len(data.lines), most) <= FEW_ROWS
        n_splits = FEW_SMALL_SPLITS if small else FEW_SPLITS
    with tempfile.TemporaryDirectory() as folder:
        scores = list(islice(measured(data, Path(folder), most, peers), n_splits))
    date, versions = made["date"], made["versions"]
    theirs = {"date": date, "by": f"scikit-learn {versions['scikit-learn']}"}
    ours = {"date": date, "by": f"rosenblatt {versions['rosenblatt']}", "digest": default_digest()}
    return {
        "rows": min(len(data.lines), most),
        "scores": {name: [list(s[name]) for s in scores] for name in scores[0]},
        "made": {name: ours if name == "rosenblatt" else theirs for name in scores[0]},
    }


def made_by(results: Mapping[str, Any]) -> str:
    """Return a sentence on which versions measured a table, and when."""
    found: dict[str, list[str]] = {}
    for name, result in results.items():
        for made in result["made"].values():
            mark = f", digest {made['digest']}" if made.get("digest") else ""
            sets = found.setdefault(f"{made['by']} on {made['date']}{mark}", [])
            sets += [name] if name not in sets else []
    whole = [made for made, sets in found.items() if len(sets) == len(results)]
    parts = [f"{made} ({', '.join(sets)})" for made, sets in found.items() if made not in whole]
    return f"Measured by {'; '.join([*whole, *parts])}."


def page(text: str, results: Mapping[str, Any]) -> str:
    """Return a page with its tables made of these results."""
    for title, shared in (("table", True), ("table of strangers", False)):
        begin, end = f"<!-- {title} -->\n", f"<!-- end of {title} -->\n"
        head, _, rest = text.partition(begin)
        shown = {key: found for key, found in results.items() if (key in SETS) == shared}
        if rest and shown:
            table_ = f"{made_by(shown)}\n\n{way_to_boosting(shown)}{table(shown)}"
            text = head + begin + table_ + end + rest.partition(end)[2]
    return text


def main(arguments: Sequence[str]) -> None:
    """Measure the sets named, or all, and write what is known by now after each."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    warnings.simplefilter("ignore")  # that a learner of scikit-learn did not converge
    names = [name for name in arguments if not name.startswith("--")]
    learners = {} if "--ours" in arguments else LEARNERS
    tables = [name for name in SETS if name in (*SMALL, *TABLES)]
    if "--boosting" in arguments:
        learners, names = {BOOSTING: boosting}, names or tables
    for given in () if "--page" in arguments else names or SETS:
        name = Path(given).stem if Path(given).suffix in ENDINGS.values() else given
        found = measure(given, learners, few="--few" in arguments)
        before = results.get(name, {"scores": {}, "made": {}})
        for part in ("scores", "made"):
            found[part] = before[part] | found[part]
        results[name] = found
        first = [key for key in SETS if key in results]
        results = {key: results[key] for key in dict.fromkeys([*first, *results])}
        RESULTS.write_text(json.dumps(results, separators=(",", ":")) + "\n")
        print(table({name: results[name]}), end="", flush=True)  # its output
    PAGE.write_text(page(PAGE.read_text(), results))


if __name__ == "__main__":
    main(sys.argv[1:])

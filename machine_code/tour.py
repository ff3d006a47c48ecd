"""A tour of the library: every rule, memory, row format, element type and command, on a few rows.

Each function visits one part. What a part does depends on types and on choices; so each is visited
with every combination of those that its documentation names, and on data of no particular sense.
"""

import gzip
import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from io import BytesIO, StringIO
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
from click.testing import CliRunner
from numpy.typing import NDArray
from scipy import sparse

import rosenblatt
from machine_code.recording import Call, recording
from rosenblatt import (
    AveragedPerceptron,
    KernelPerceptron,
    MultilabelClassifier,
    OnlineLearner,
    SequencePerceptron,
    TableEncoder,
    TextEncoder,
    VotedPerceptron,
)
from rosenblatt.cli import main
from rosenblatt.data.svmlight import svmlight_batches
from rosenblatt.errors import InputError
from rosenblatt.kernels.finite import first_not_finite
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import as_rows, canonical, copied_rows
from rosenblatt.kernels.spread import feature_spread
from rosenblatt.models.continuation import learn_batch
from rosenblatt.models.feature_spaces import ArrayFeatures, NamedFeatures
from rosenblatt.models.file import read_from, write_to
from rosenblatt.models.learner import Learner
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.model import Model
from rosenblatt.models.weights import weights_of
from rosenblatt.parameters import GOALS, MEMORIES
from rosenblatt.rules import RULES
from rosenblatt.service.learner import ServedLearner
from rosenblatt.tasks.leads import targets_of
from rosenblatt.training import places
from rosenblatt.training.examples import MANY_VALUES, Examples, Order, row_numbers
from rosenblatt.training.state import WORTH_COMPACTING, State, fit

N_ROWS, N_FEATURES = 40, 5
N_LINES = 300  # of a file: enough to hold rows out in blocks of 1 kB
CLASS_COUNTS = (2, 3)
DTYPES = (np.float64, np.float32, np.uint8)
INDEX_TYPES = (np.int32, np.int64)


def arrays() -> Iterator[Any]:
    """Yield the same numbers as arrays and CSR matrices of every documented type."""
    values = np.random.default_rng(0).integers(0, 3, (N_ROWS, N_FEATURES))
    for dtype in DTYPES:
        yield values.astype(dtype)
        yield from _indexed(values.astype(dtype))


def ones() -> Any:
    """Return a CSR matrix of ones, of which a training of several passes reads none."""
    values = np.random.default_rng(0).integers(0, 2, (N_ROWS, N_FEATURES))
    return next(_indexed(values.astype(np.float64)))


def _indexed(values: NDArray[Any]) -> Iterator[Any]:
    """Yield a CSR matrix with each type of indices."""
    for index in INDEX_TYPES:
        yield _with_indices(sparse.csr_matrix(values), index)


def _with_indices(matrix: Any, index: Any) -> Any:
    """Return a CSR matrix with indices of this type."""
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def real_arrays() -> Iterator[Any]:
    """Yield numbers that are not whole, for what has faster ways with whole ones."""
    values = np.random.default_rng(1).standard_normal((N_ROWS, N_FEATURES))
    for dtype, sparse_rows in product((np.float64, np.float32), (False, True)):
        yield sparse.csr_matrix(values.astype(dtype)) if sparse_rows else values.astype(dtype)


def sparse_arrays() -> Iterator[Any]:
    """Yield rows of so few values that their products look for features that match."""
    values = sparse.random(N_ROWS, 300, density=0.01, format="csr", random_state=0)
    for dtype, index in product(DTYPES, INDEX_TYPES):
        yield _with_indices((values * 9).astype(dtype), index)


def labels(n_classes: int) -> NDArray[Any]:
    """Return labels of which every class has some."""
    return np.arange(N_ROWS) * 7 % 11 % n_classes


def learners() -> Iterator[Learner]:
    """Yield every rule; what else a pass depends on is not compiled."""
    for rule in RULES:
        yield Learner(rule=rule, memory="average", max_iter=2, early_stopping=True)


def visit_learners() -> None:
    """Train every learner on every input, go on learning, and score."""
    for n_classes, learner in product(CLASS_COUNTS, learners()):
        model, examples = _trained(learner, as_rows(ones(), 1.0).compact(), n_classes)
        model.state.scores(examples.rows)
    for n_classes, X, learner in product(CLASS_COUNTS, arrays(), learners()):
        rows = as_rows(X, 1.0)
        model, examples = _trained(learner, rows, n_classes)
        learn_batch(model, learner, examples)
        model.state.scores(rows)
        first_not_finite(X.data if rows.sparse else X)
        rows.compact()
        if rows.sparse:
            canonical(_with_indices(X[:, ::-1], X.indices.dtype))


def _trained(
    learner: Learner, rows: Rows, n_classes: int, *, by_feature: bool = False
) -> tuple[Model, Examples]:
    """Return a model of rows, and the examples that taught it."""
    examples = Examples(rows, targets_of(labels(n_classes), n_classes))
    made_by, state = (
        LearnerRecord.of(learner, "Perceptron", {}),
        learner.start(N_FEATURES, n_classes, by_feature=by_feature),
    )
    model = Model.empty(made_by, np.arange(n_classes), weights_of(learner, state))
    fit(model.state, examples, learner.plan(), np.random.default_rng(0))
    return model, examples


def visit_places() -> None:
    """Train every rule on sparse input with weights of which few exist, score, save and load."""
    with patch.object(places, "MANY_WEIGHTS", 0), patch.object(State, "stand_if_many"):
        inputs = [as_rows(ones(), 1.0).compact()]
        inputs += [as_rows(X, 1.0) for X in arrays() if sparse.issparse(X)]
        for rows, learner in product(inputs, learners()):
            model, _ = _trained(learner, rows, 3, by_feature=True)
            model.state.scores(rows)
            file = BytesIO()
            write_to(file, model)
            file.seek(0)
            read_from(file).state.scores(rows)
            at: Any = model.state.at
            places.stretched(places.scattered(at, model.state.taken))


def visit_labels() -> None:
    """Train every rule on rows with several labels, to each goal that it has."""
    Y = np.stack([labels(2), 1 - labels(2), labels(2)], axis=1)
    passes = [*((X, 2) for X in arrays()), (ones(), WORTH_COMPACTING)]
    for (X, max_iter), rule in product(passes, RULES):
        for goal in GOALS[: 1 + (RULES[rule].order == 1)]:
            clf = MultilabelClassifier(rule=rule, goal=goal, max_iter=max_iter, early_stopping=True)
            clf.fit(X, Y).predict(X)


def visit_estimators() -> None:
    """Fit, go on, score and explain with the estimators, of which each has ways of its own."""
    for n_classes, X in product(CLASS_COUNTS, arrays()):
        y = labels(n_classes)
        for name in rosenblatt.__all__:
            kind = getattr(rosenblatt, name)
            if not (isinstance(kind, type) and hasattr(kind, "decision_function")):
                continue
            if kind is rosenblatt.Classifier and sparse.issparse(X):
                continue  # it takes columns
            clf = kind(max_iter=2).fit(X, y)
            clf.predict(X)
            if not hasattr(clf, "partial_fit"):
                continue
            clf.partial_fit(X, y)
            for i in (0, 1, 2):
                clf.partial_fit(X[i : i + 1], y[i : i + 1])
                clf.predict(X[i : i + 1])
            if "record_mistakes" in clf.get_params():
                clf.set_params(record_mistakes=True).fit(X, y)
                rosenblatt.why(clf, X, np.ones(N_FEATURES))


def visit_sequences() -> None:
    """Learn paths of tags by every rule, from words and from dictionaries, and answer in each way.

    Numbers as features are read by kernels of their own.
    """
    X: list[list[Any]] = [["a", "Bc", "d-1"], ["Bc"], ["a", "e"]] * 6
    y = [["B-X", "I-X", "O"], ["B-Y"], ["?", "O"]] * 6
    named = [[{"w": word, "first": True} for word in one] for one in X]
    valued = [[{"w": word, "n": 0.5} for word in one] for one in X]
    for rule, sentences in product(RULES, (X, named, valued)):
        clf = SequencePerceptron(rule=rule, max_iter=2, early_stopping=True).fit(sentences, y)
        clf.predict(sentences)
        clf.predict_nbest(sentences, 2)
    clf = SequencePerceptron(max_iter=2, templates="U:%x[0,0]\nU:%x[-1,0]/%x[0,0]").fit(X, y)
    SequencePerceptron.of_model(clf.model_).predict(X)


def visit_rows() -> None:
    """Shuffle rows by groups, bring rows of files together, and measure the values of features."""
    Order(
        row_numbers(N_ROWS),
        shuffle=True,
        generator=np.random.default_rng(0),
        n_values=MANY_VALUES + 1,
    ).next()
    for dtype in (np.float64, np.float32):  # of tables and svmlight, and of texts
        matrix = sparse.csr_matrix(np.ones((N_ROWS, N_FEATURES), dtype))
        kept: Any = as_rows(matrix, 1.0)
        copied_rows(kept, row_numbers(N_ROWS))
        for index in INDEX_TYPES:
            feature_spread(kept.data, kept.indices.astype(index), N_ROWS, N_FEATURES)


def visit_votes() -> None:
    """Count votes on every input by teachers of every input."""
    inputs = [*arrays(), *real_arrays()]
    for n_classes, X, zero in product(CLASS_COUNTS, inputs, ("mistake", "positive")):
        clf = VotedPerceptron(max_iter=2, zero=zero).fit(X, labels(n_classes))
        for other in inputs:
            clf.decision_function(other)


def _product(left: Any, right: Any) -> Any:
    """Return a kernel of one's own."""
    found = left @ right.T
    return found.toarray() if sparse.issparse(found) else found


def visit_kernels() -> None:
    """Fit and score with every kernel on every input, and with every rule on one."""
    kernels: list[Any] = ["linear", "poly", "rbf", "precomputed", _product]
    inputs = [*arrays(), *real_arrays(), *sparse_arrays()]
    for X, kernel in product(inputs, kernels):
        clf = KernelPerceptron(kernel=kernel, max_iter=2)
        _visit_kernel_machine(clf, _product(X, X) if kernel == "precomputed" else X, labels(2))
    choices = product(RULES, (False, True), ("joint", "one-vs-rest"))
    for n_classes, (rule, early, machine) in product(CLASS_COUNTS, choices):
        how: dict[str, Any] = {"rule": rule, "early_stopping": early, "multi_class": machine}
        clf = KernelPerceptron(max_iter=2, **how)
        _visit_kernel_machine(clf, next(arrays()), labels(n_classes))


def _visit_kernel_machine(clf: KernelPerceptron, data: Any, y: NDArray[Any]) -> None:
    try:
        clf.fit(data, y)
        clf.decision_functions(data)
        if clf.kernel != "precomputed":
            clf.partial_fit(data, y)
    except InputError:  # not available together
        return


def visit_tables() -> None:
    """Encode columns and texts of data frames and learn from them, and read svmlight."""
    frame = pl.read_csv(StringIO(TABLE))
    X, y = frame.drop("label"), frame["label"].to_numpy()
    for encoder, data in ((TableEncoder(), X), (TextEncoder(), X["words"].to_list())):
        encoded = encoder.fit_transform(data)
        AveragedPerceptron(max_iter=2).fit(encoded, y).predict(encoded)
    with TemporaryDirectory() as name:
        for rows in (SVMLIGHT, "0 3:1 1:2.5\n1 2:4 1:1\n"):  # in order, and not
            path = Path(name, "rows.svm")
            path.write_text(rows)
            list(svmlight_batches(path))


def visit_online() -> None:
    """Learn from single rows, by name and by place, and decide them."""
    rows: list[Any] = [{"one": 1.0, "two": 2.0}, np.ones(N_FEATURES)]
    for rule, memory, x in product(RULES, MEMORIES, rows):
        for goal in GOALS[: 1 + (RULES[rule].order == 1)]:
            learner = OnlineLearner(rule, memory=memory, goal=goal)
            space = NamedFeatures() if isinstance(x, dict) else ArrayFeatures()
            served = ServedLearner.new(Learner(rule, memory).of_task(goal), space)
            row: Any = x if isinstance(x, dict) else x.tolist()
            for several in (("a",), ("b",), ()):
                learner.learn_one(x, several)
                learner.predict_one(x)
                served.learn(row, several)
                served.decided(row)
            served.scores([row])
            served.fold([(row, ("a",))])
    for rule, memory, n_classes in product(RULES, MEMORIES, CLASS_COUNTS):
        for x in rows:
            for scale in (False, True):
                learner = OnlineLearner(rule, memory=memory, classes=range(n_classes), scale=scale)
                for label in range(n_classes):
                    learner.learn_one(x, label)
                    learner.predict_one(x)
            served = ServedLearner.new(
                Learner(rule, memory),
                NamedFeatures() if isinstance(x, dict) else ArrayFeatures(),
                range(n_classes),
            )
            row = x if isinstance(x, dict) else x.tolist()
            for label in range(n_classes):
                served.learn(row, label)
                served.decided(row)
            served.scores([row])
            served.fold([(row, 0)])


SVMLIGHT = "".join(
    f"{i % 3} qid:{i} " + " ".join(f"{j}:{(i * j) % 7 / 4}" for j in range(1, 6)) + "\n"
    for i in range(N_LINES)
)
TABLE = "label,size,colour,words\n" + "".join(
    f"{'abc'[i % 3]},{i * 7 % 13},{['red', 'green', 'blue'][i % 2]},some naïve words and more {i}\n"
    for i in range(N_LINES)
)


def files(folder: Path) -> Iterator[list[str]]:
    """Write small files of two and of three classes; yield each with options that go with it."""
    for n_classes in CLASS_COUNTS:
        rows = [line for line in SVMLIGHT.splitlines() if int(line[0]) < n_classes]
        (folder / f"rows{n_classes}.svm").write_text("\n".join(rows) + "\n")
        head, *lines = TABLE.splitlines()
        chosen = [head, *(line for line in lines if line[0] in "abc"[:n_classes])]
        (folder / f"table{n_classes}.csv").write_text("\n".join(chosen) + "\n", encoding="utf-8")
        yield [f"rows{n_classes}.svm"]
        yield [f"rows{n_classes}.svm", "--class-weight", "balanced"]
        table = [f"table{n_classes}.csv", "--label", "label", "--text", "words"]
        yield table
        yield [f"table{n_classes}.csv", "--label", "label", "--ignore", "words"]
        yield [*table, "--ignore", "size,colour", "--min-count", "2"]  # texts alone
        yield [*table, "--char-ngrams", "3-4"]
        yield [*table, "--hash-bits", "12"]


def other_files(folder: Path) -> Iterator[list[str]]:
    """Write files of other formats, as they also come; yield each with options that go with it."""
    head, *lines = TABLE.splitlines()
    names = head.split(",")
    (folder / "unordered.svm").write_text("0 3:1 1:2.5\n1 2:4 1:1\n0 5:1 2:-3.25e-2\n" * 80)
    with gzip.open(folder / "packed.svm.gz", "wt") as packed:
        packed.write(SVMLIGHT)
    rows = [dict(zip(names, line.split(","), strict=True)) for line in lines]
    for row in rows:
        row["size"] = float(row["size"])  # type: ignore[assignment]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    yield ["unordered.svm"]
    yield ["packed.svm.gz"]
    frame = pl.DataFrame(rows)
    frame.write_parquet(folder / "rows.parquet")
    frame.write_ipc(folder / "rows.arrow")
    frame.write_csv(folder / "rows.tsv", separator="\t")
    (folder / "rows.txt").write_text(
        "".join(f"__label__{row['label']} {row['words']}\n" for row in rows), encoding="utf-8"
    )
    for name in ("rows.jsonl", "rows.parquet", "rows.arrow", "rows.tsv"):
        yield [name, "--label", "label"]
    yield ["rows.txt", "--format", "fasttext"]
    table = ["table3.csv", "--label", "label"]
    yield [*table, "--ignore", "size,words"]  # categories alone
    yield [*table, "--ignore", "words", "--bins", "4"]
    yield [*table, "--ignore", "words", "--weight", "size"]
    yield [*table, "--text", "words", "--hash-bits", "12", "--char-ngrams", "2-3"]


@contextmanager
def among_files() -> Iterator[list[list[str]]]:
    """Work in a folder of small files; give each with options that go with it."""
    with TemporaryDirectory() as name:
        home = Path.cwd()
        os.chdir(name)
        try:
            yield [*files(Path(name))]
        finally:
            os.chdir(home)


def visit_files(n_classes: int) -> None:
    """Train, judge, predict and explain from svmlight files and tables of so many classes."""
    with among_files() as chosen:
        for data, *options in chosen:
            if f"{n_classes}." in data:
                _visit_file(data, options)


def visit_other_files() -> None:
    """Do so from files of all other formats."""
    with among_files():
        for data, *options in other_files(Path()):
            _visit_file(data, options)


def visit_choices() -> None:
    """Visit every rule and memory by commands, and what is asked for seldom."""
    with among_files():
        for n_classes in CLASS_COUNTS:
            _visit_choices(f"rows{n_classes}.svm")
        _visit_rare_ways()


def visit_label_files() -> None:
    """Visit every rule and goal on files whose rows have several labels."""
    with among_files():
        _visit_label_files()


def _visit_file(data: str, options: list[str]) -> None:
    chosen = [data, *options, "--max-iter", "2"]
    run("train", *chosen, "-o", "a.model", "--test", data)
    run("train", *chosen, "-o", "b.model", "--buffer", "1K", "--calibrate")
    run("train", "--from", "a.model", data, "-o", "c.model")
    for model in ("a.model", "b.model"):
        run("predict", model, data, "--scores")
        run("evaluate", model, data)
        run("explain", model, data)
        run("weights", model)
    run("export", "a.model", "-o", "a.json")


def _visit_choices(data: str) -> None:
    """Visit every rule and memory, and the commands that learn in ways of their own."""
    for rule, memory in product(RULES, (*MEMORIES, "vote")):
        chosen = [data, "--rule", rule, "--memory", memory, "--max-iter", "2"]
        if memory == "vote" and not RULES[rule].fixed_step:  # not available together
            continue
        run("train", *chosen, "-o", "a.model", "--shuffle", "full", "--buffer", "1K")
        run("predict", "a.model", data)
        if RULES[rule].order == 1:
            run("train", *chosen, "-o", "b.model", "--record-mistakes")
            run("explain", "b.model", data, "--why")
    run("trace", data, "--json")
    run("diagnose", data)
    run("evaluate", data, "--folds", "2")
    for kernel in ("rbf", "poly"):
        run("train", data, "--kernel", kernel, "--max-iter", "2", "-o", "k.model")
        run("evaluate", "k.model", data)
    run("report", "b.model", "--test", data, "-o", "report.html")


def _visit_label_files() -> None:
    head, *lines = TABLE.splitlines()
    several = [f"{line[0]};{'de'[i % 2]}{line[1:]}" for i, line in enumerate(lines)]
    Path("labels.csv").write_text("\n".join([head, *several]) + "\n", encoding="utf-8")
    table = ["labels.csv", "--label", "label", "--label-separator", ";", "--max-iter", "2"]
    columns = (["--text", "words"], ["--ignore", "words"], ["--ignore", "size,words"])
    for rule, others in product(RULES, (*columns, ["--ignore", "size,colour"])):
        for goal in GOALS[: 1 + (RULES[rule].order == 1)]:
            chosen = [*table, *others, "--rule", rule, "--goal", goal]
            run("train", *chosen, "-o", "a.model", "--calibrate")
            run("train", *chosen, "-o", "b.model", "--buffer", "1K", "--recipe", "plain")
            run("train", "--from", "a.model", "labels.csv", "-o", "c.model")
            run("predict", "a.model", "labels.csv", "--top", "2")
            run("evaluate", "b.model", "labels.csv")


def _visit_rare_ways() -> None:
    """Read standard input and bad rows, and search for the best choices."""
    for data, *options in (["rows2.svm"], ["table3.csv", "--label", "label", "--text", "words"]):
        run("train", "-", *options, "-o", "a.model", given=Path(data).read_bytes())
    Path("bad.svm").write_text("0 1:1 2:2.5\n1 1:bad 2:1\n1 3:1 4:2\n" * 8)
    skip = ["--bad-rows", "skip", "--max-bad-share", "0.5"]
    run("train", "bad.svm", *skip, "-o", "a.model")
    run("predict", "a.model", "bad.svm", *skip)
    rows = Path("rows2.svm").read_text().splitlines(keepends=True)
    Path("few.svm").write_text("".join(rows[:60]))
    run("tune", "few.svm", "--folds", "1", "-o", "tuned.model")
    for kind in ("projections", "errors"):
        run("plot", kind, "few.svm", "-o", "plot.svg")


def run(*arguments: str, given: bytes | None = None) -> None:
    """Run a command, which must be able to."""
    done = CliRunner().invoke(main, arguments, input=given)
    if done.exit_code not in {0, 1}:
        msg = f"rosenblatt {' '.join(arguments)}: {done.output}"
        raise RuntimeError(msg) from done.exception


VISITS: dict[str, Callable[[], None]] = {
    "learners": visit_learners,
    "places": visit_places,
    "labels": visit_labels,
    "estimators": visit_estimators,
    "rows": visit_rows,
    "sequences": visit_sequences,
    "votes": visit_votes,
    "kernels": visit_kernels,
    "tables": visit_tables,
    "online": visit_online,
    "labels of files": visit_label_files,
    "choices": visit_choices,
    "other files": visit_other_files,
    **{f"files of {n} classes": partial(visit_files, n) for n in CLASS_COUNTS},
}


def walk(names: Iterable[str] = VISITS) -> None:
    """Visit everything, or what is named."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            VISITS[name]()


def recorded(jobs: int, names: Iterable[str] = VISITS) -> dict[str, Call]:
    """Return the calls of visits, each made in a process of its own, the last of them first."""
    calls: dict[str, Call] = {}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for found in pool.map(_recorded, [*names][::-1]):  # the longest come last there
            calls |= found
    return calls


def _recorded(name: str) -> dict[str, Call]:
    with recording() as calls:
        walk([name])
    return calls

"""A tour of the library: every rule, memory, row format, element type and command, on a few rows.

Each function visits one part. What a part does depends on types and on choices; so each is visited
with every combination of those that its documentation names, and on data of no particular sense.
"""

import gzip
import json
import os
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from click.testing import CliRunner
from numpy.typing import NDArray
from scipy import sparse

import rosenblatt
from rosenblatt import (
    ConfidenceWeightedClassifier,
    KernelPerceptron,
    OnlineLearner,
    VotedPerceptron,
)
from rosenblatt.cli import main
from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import Dense
from rosenblatt.kernels.shapes import as_rows
from rosenblatt.models.fitting import empty_model, fit_model, learn_batch
from rosenblatt.models.learner import MEMORIES, TRAINED_MEMORIES, Learner
from rosenblatt.models.scoring import linear_scores
from rosenblatt.rules import RULES
from rosenblatt.service.features import ArrayFeatures, NamedFeatures
from rosenblatt.service.learner import ServedLearner
from rosenblatt.training.examples import Examples, row_numbers, targets_of
from rosenblatt.training.order import Order

N_ROWS, N_FEATURES = 40, 5
CLASS_COUNTS = (2, 3)
DTYPES = (np.float64, np.float32, np.uint8)
INDEX_TYPES = (np.int32, np.int64)


def arrays() -> Iterator[Any]:
    """Yield the same numbers as arrays and CSR matrices of every documented type."""
    values = np.random.default_rng(0).integers(0, 3, (N_ROWS, N_FEATURES))
    for dtype in DTYPES:
        yield values.astype(dtype)
        for index in INDEX_TYPES:
            matrix = sparse.csr_matrix(values.astype(dtype))
            matrix.indices, matrix.indptr = (
                matrix.indices.astype(index),
                matrix.indptr.astype(index),
            )
            yield matrix


def real_arrays() -> Iterator[Any]:
    """Yield numbers that are not whole, for what has faster ways with whole ones."""
    values = np.random.default_rng(1).standard_normal((N_ROWS, N_FEATURES))
    for dtype, sparse_rows in product((np.float64, np.float32), (False, True)):
        yield sparse.csr_matrix(values.astype(dtype)) if sparse_rows else values.astype(dtype)


def labels(n_classes: int) -> NDArray[Any]:
    """Return labels of which every class has some."""
    return np.arange(N_ROWS) * 7 % 11 % n_classes


def learners() -> Iterator[Learner]:
    """Yield every rule with every memory, with and without what else changes a pass."""
    for rule, memory in product(RULES, TRAINED_MEMORIES):
        whole = (False, True) if RULES[rule].order == 2 else (False,)
        for recorded, stopping, full in product((False, True), (False, True), whole):
            try:
                yield Learner(
                    rule=rule,
                    memory=memory,
                    max_iter=2,
                    record_mistakes=recorded,
                    early_stopping=stopping,
                    full_covariance=full,
                )
            except InputError:  # not available together
                continue


def visit_learners() -> None:
    """Train every learner on every input, go on learning, and score."""
    forms = [as_rows(X, 1.0) for X in arrays()]
    for n_classes, rows, weighted in product(CLASS_COUNTS, forms, (False, True)):
        y = labels(n_classes)
        weight = np.ones(N_ROWS) if weighted else None
        examples = Examples(rows, targets_of(y, n_classes), weight)
        for learner in learners():
            if learner.full_covariance and not isinstance(rows, Dense):
                continue
            model = empty_model("Perceptron", learner, np.arange(n_classes), N_FEATURES)
            try:
                model, _ = fit_model(model, learner, examples, np.random.default_rng(0))
            except InputError:  # not available together
                continue
            learn_batch(model, learner, examples)
            linear_scores(model.state, rows)


def visit_estimators() -> None:
    """Fit, go on, score and explain with the estimators, of which each has ways of its own."""
    for n_classes, X in product(CLASS_COUNTS, arrays()):
        y = labels(n_classes)
        for name in rosenblatt.__all__:
            kind = getattr(rosenblatt, name)
            if not (isinstance(kind, type) and hasattr(kind, "predict")):
                continue
            clf = kind(max_iter=2).fit(X, y)
            clf.predict(X)
            clf.partial_fit(X, y)
            for i in (0, 1, 2):
                clf.partial_fit(X[i : i + 1], y[i : i + 1])
                clf.predict(X[i : i + 1])
            if "record_mistakes" in clf.get_params():
                clf.set_params(record_mistakes=True).fit(X, y)
                rosenblatt.why(clf, X, np.ones(N_FEATURES))


def visit_orders() -> None:
    """Shuffle rows by blocks."""
    rows = as_rows(next(arrays()), 1.0)
    Order(row_numbers(N_ROWS), "blocks", np.random.default_rng(0), rows).next()


def visit_votes() -> None:
    """Count votes on every input by teachers of every input."""
    inputs = [*arrays(), *real_arrays()]
    for n_classes, X, other in product(CLASS_COUNTS, inputs, inputs):
        for zero in ("mistake", "positive"):
            clf = VotedPerceptron(max_iter=2, zero=zero).fit(X, labels(n_classes))
            clf.decision_function(other)


def _product(left: Any, right: Any) -> Any:
    """Return a kernel of one's own."""
    found = left @ right.T
    return found.toarray() if sparse.issparse(found) else found


def visit_kernels() -> None:
    """Fit and score with every kernel on every input, and with every rule and budget on one."""
    kernels: list[Any] = ["linear", "poly", "rbf", "precomputed", _product]
    inputs = [*arrays(), *real_arrays()]
    for n_classes, X, kernel in product(CLASS_COUNTS, inputs, kernels):
        for max_support, stopping in ((None, False), (None, True), (6, False)):
            clf = KernelPerceptron(
                kernel=kernel, max_support=max_support, early_stopping=stopping, max_iter=2
            )
            dots = _product(X, X) if kernel == "precomputed" else X
            _visit_kernel_machine(clf, dots, labels(n_classes))
    budgets: list[dict[str, Any]] = [
        {},
        {"early_stopping": True},
        {"max_support": 6, "memory": "last", "budget": "random"},
        {"max_support": 6, "memory": "last", "budget": "forgetron"},
        {"max_support": 6, "memory": "average", "budget": "projectron"},
    ]
    choices = product(RULES, budgets, ("joint", "one-vs-rest"), (None, {0: 2.0}))
    for n_classes, (rule, budget, machine, weight) in product(CLASS_COUNTS, choices):
        clf = KernelPerceptron(
            rule=rule, multi_class=machine, class_weight=weight, max_iter=2, **budget
        )
        _visit_kernel_machine(clf, next(arrays()), labels(n_classes))

    values = next(real_arrays())
    orders = np.argsort(values[:, 0])
    for n_classes, machine, max_iter in product(CLASS_COUNTS, ("joint", "one-vs-rest"), range(7)):
        y = np.empty(N_ROWS, int)  # separable: few mistakes at the end are counted once more
        y[orders] = np.arange(N_ROWS) * n_classes // N_ROWS
        clf = KernelPerceptron(
            kernel="rbf", multi_class=machine, memory="last", max_iter=max_iter + 1
        )
        _visit_kernel_machine(clf, values, y)


def _visit_kernel_machine(clf: KernelPerceptron, data: Any, y: NDArray[Any]) -> None:
    try:
        clf.fit(data, y)
        clf.decision_functions(data)
        if clf.kernel != "precomputed":
            clf.partial_fit(data, y)
    except InputError:  # not available together
        return


def visit_online() -> None:
    """Learn from single rows, by name and by place, and decide them."""
    for rule, memory, n_classes in product(RULES, MEMORIES, CLASS_COUNTS):
        for x in ({"one": 1.0, "two": 2.0}, np.ones(N_FEATURES)):
            learner = OnlineLearner(rule, memory=memory, classes=range(n_classes))
            for label in range(n_classes):
                learner.learn_one(x, label)
                learner.predict_one(x)
            served = ServedLearner(
                Learner(rule, memory),
                NamedFeatures() if isinstance(x, dict) else ArrayFeatures(),
                range(n_classes),
            )
            row: Any = x if isinstance(x, dict) else x.tolist()
            for label in range(n_classes):
                served.learn(row, label)
                served.decided(row)
            served.scores([row])
            served.fold([(row, 0)])
    X, y = next(arrays()), labels(2)
    clf = ConfidenceWeightedClassifier(covariance="full").fit(X, y)
    for label in (0, 1):
        clf.partial_fit(X[:1], [label])
        clf.predict(X[:1])


SVMLIGHT = "".join(
    f"{i % 3} qid:{i} " + " ".join(f"{j}:{(i * j) % 7 / 4}" for j in range(1, 6)) + "\n"
    for i in range(60)
)
TABLE = "label,size,colour,words\n" + "".join(
    f"{'abc'[i % 3]},{i * 7 % 13},{['red', 'green', 'blue'][i % 2]},some naïve words and more {i}\n"
    for i in range(60)
)


def files(folder: Path) -> Iterator[list[str]]:
    """Write small files of two and of three classes; yield each with options that go with it."""
    for n_classes in CLASS_COUNTS:
        rows = [line for line in SVMLIGHT.splitlines() if int(line[0]) < n_classes]
        (folder / f"rows{n_classes}.svm").write_text("\n".join(rows) + "\n")
        head, *lines = TABLE.splitlines()
        chosen = [head, *(line for line in lines if line[0] in "abc"[:n_classes])]
        (folder / f"table{n_classes}.csv").write_text("\n".join(chosen) + "\n")
        yield [f"rows{n_classes}.svm"]
        yield [f"rows{n_classes}.svm", "--class-weight", "balanced"]
        table = [f"table{n_classes}.csv", "--label", "label", "--text", "words"]
        yield table
        yield [f"table{n_classes}.csv", "--label", "label", "--ignore", "words"]
        yield [*table, "--ignore", "size,colour", "--min-count", "2"]  # texts alone
        yield [*table, "--char-ngrams", "3-4"]
        yield [*table, "--hash-bits", "12"]
        yield [*table, "--pairs"]


def other_files(folder: Path) -> Iterator[list[str]]:
    """Write files of other formats, as they also come; yield each with options that go with it."""
    head, *lines = TABLE.splitlines()
    names = head.split(",")
    (folder / "unordered.svm").write_text("0 3:1 1:2.5\n1 2:4 1:1\n0 5:1 2:-3.25e-2\n" * 8)
    (folder / "bad.svm").write_text("0 1:1 2:2.5\n1 1:bad 2:1\n1 3:1 4:2\n" * 8)
    with gzip.open(folder / "packed.svm.gz", "wt") as packed:
        packed.write(SVMLIGHT)
    rows = [dict(zip(names, line.split(","), strict=True)) for line in lines]
    for row in rows:
        row["size"] = float(row["size"])  # type: ignore[assignment]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    yield ["unordered.svm"]
    yield ["bad.svm", "--bad-rows", "skip", "--max-bad-share", "0.5"]
    yield ["packed.svm.gz"]
    yield ["rows.jsonl", "--label", "label"]
    table = ["table3.csv", "--label", "label"]
    yield [*table, "--ignore", "size,words"]  # categories alone
    yield [*table, "--ignore", "words", "--bins", "4"]
    yield [*table, "--ignore", "words", "--weight", "size"]
    yield [*table, "--text", "words", "--hash-bits", "12", "--char-ngrams", "2-3"]


def visit_commands() -> None:
    """Train, judge, predict, explain and trace from files."""
    with TemporaryDirectory() as name:
        home = Path.cwd()
        os.chdir(name)
        try:
            for (data, *options), rule, memory in product(
                files(Path(name)), RULES, TRAINED_MEMORIES
            ):
                _visit_file(data, options, rule, memory)
            for data, *options in other_files(Path(name)):
                for memory in TRAINED_MEMORIES:
                    _visit_file(data, options, "perceptron", memory)
            for n_classes in CLASS_COUNTS:
                run("diagnose", f"rows{n_classes}.svm")
                run("evaluate", f"rows{n_classes}.svm", "--folds", "2")
                run("tune", f"rows{n_classes}.svm", "-o", "tuned.model")
        finally:
            os.chdir(home)


def _visit_file(data: str, options: list[str], rule: str, memory: str) -> None:
    chosen = ["--rule", rule, "--memory", memory, "--max-iter", "2"]
    trained = run("train", data, *options, *chosen, "-o", "a.model", "--test", data)
    if not trained:  # not available together
        return
    run("train", data, *options, *chosen, "-o", "b.model", "--shuffle", "no")
    run("train", data, *options, *chosen, "-o", "b.model", "--buffer", "1K")
    run("train", data, *options, *chosen, "-o", "b.model", "--record-mistakes", "--calibrate")
    run("train", "--from", "a.model", data, "-o", "c.model")
    for model in ("a.model", "b.model"):
        run("predict", model, data, "--scores")
        run("evaluate", model, data)
        run("explain", model, data, "--why")
        run("weights", model)
    run("trace", data, *chosen, "--json")


def run(*arguments: str) -> bool:
    """Run a command; return whether it could."""
    done = CliRunner().invoke(main, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code in {0, 1}


VISITS: tuple[Callable[[], None], ...] = (
    visit_learners,
    visit_estimators,
    visit_orders,
    visit_votes,
    visit_kernels,
    visit_online,
    visit_commands,
)


def walk() -> None:
    """Visit everything."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for visit in VISITS:
            visit()

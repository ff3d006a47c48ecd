"""``rosenblatt.train_files``: what a command does, as one call that returns a model."""

import csv
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rosenblatt
from rosenblatt import (
    AveragedPerceptron,
    ConfidenceWeightedClassifier,
    PassiveAggressiveClassifier,
    load,
    trace,
)
from rosenblatt.cli.spelling import flag
from rosenblatt.cli.train import train
from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.rows import CSR
from rosenblatt.models.held_out import coarse, rounded
from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files, plan_of
from rosenblatt.tasks.calibration import fit_calibration
from rosenblatt.training.history import PassRecord
from rosenblatt.training.holdout import folds
from tests.cli.running import ran, run
from tests.models.models import linear

EXACT: dict[str, Any] = {"scale": False, "shuffle": False, "early_stopping": False, "max_iter": 4}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Write a table of two numbers and a category, whose labels a line separates."""
    rng = np.random.default_rng(0)
    rows = rng.integers(-9, 10, (400, 2)).tolist()
    lines = [f"{'yes' if a + 2 * b > 0 else 'no'},{a},{b},{'xy'[a % 2]}" for a, b in rows]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["label,a,b,kind", *lines]) + "\n")
    return path


def test_it_is_the_command(table: Path, tmp_path: Path) -> None:
    """The same parameters give the file that the command writes, but for the seconds."""
    options = ("--ignore", "kind", "--no-scale", "--rule", "pa1", "-C", "0.5", "--seed", "3")
    ran("train", str(table), *options, "--memory", "last", "-o", "m.model", folder=tmp_path)
    ours = model_from_files(
        str(table), ignore="kind", scale=False, rule="pa1", C=0.5, random_state=3, memory="last"
    )
    theirs = Model.load(tmp_path / "m.model")
    assert ours.weights.tobytes() == theirs.weights.tobytes()
    assert (ours.learner, ours.options) == (theirs.learner, theirs.options)
    assert (ours.encoding, ours.training) == (theirs.encoding, theirs.training)


def test_it_is_the_estimator(table: Path) -> None:
    """Rows of a file give the weights that the same rows give in memory."""
    model = model_from_files(table.as_posix(), ignore=["kind"], **EXACT)
    text = np.genfromtxt(table, delimiter=",", skip_header=1, dtype=str)
    X, y = text[:, 1:3].astype(float), text[:, 0]
    clf = PassiveAggressiveClassifier(shuffle=False, max_iter=4).fit(X, y)
    assert np.array_equal(model.deciding_weights[0, :-1], clf.coef_[0])
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert model.predict(frame).tolist() == clf.predict(X).tolist()


@pytest.mark.parametrize("shuffle", [True, "once", False])
@pytest.mark.parametrize("kind", ["label", "kind"])  # two classes, and three
def test_train_is_fit_is_trace(table: Path, tmp_path: Path, shuffle: bool | str, kind: str) -> None:
    """For the same seed and shuffle a file, an array and a trace give the same weights."""
    text = np.genfromtxt(table, delimiter=",", skip_header=1, dtype=str)
    X, y = text[:, 1:3].astype(float), text[:, 0 if kind == "label" else 3]
    y[0] = "z" if kind == "kind" else y[0]
    path = tmp_path / "plain.csv"
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X.astype(int), y, strict=True)]
    path.write_text("\n".join(["a,b,label", *lines]))
    given: dict[str, Any] = {"shuffle": shuffle, "random_state": 5, "max_iter": 3}
    plain: dict[str, Any] = {"scale": False, "early_stopping": False, "memory": "average"}
    model = model_from_files(str(path), **plain, **given)
    fitted = AveragedPerceptron(**given).fit(X, y)
    followed = trace(X, y, averaged=True, **given)
    assert np.array_equal(model.deciding_weights[:, :-1], fitted.coef_)
    assert np.array_equal(model.deciding_weights[:, -1], fitted.intercept_)
    assert np.array_equal(np.atleast_2d(followed.steps[-1].w), model.weights[:, :-1])


def test_row_weights_are_sample_weights(table: Path, tmp_path: Path) -> None:
    """A column of weights gives the bits that the estimator gives; weight 0 leaves a row out."""
    text = np.genfromtxt(table, delimiter=",", skip_header=1, dtype=str)
    X, y = text[:, 1:3].astype(float), text[:, 0]
    weight = np.arange(len(X)) % 4 / 2
    lines = [f"{a},{b},{w},{label}" for (a, b), w, label in zip(X, weight, y, strict=True)]
    path = tmp_path / "weighted.csv"
    path.write_text("\n".join(["a,b,importance,label", *lines]))
    for rule in ("perceptron", "arow"):
        given: dict[str, Any] = {"random_state": 5, "max_iter": 3, "rule": rule}
        small = {"buffer": 2000, "shuffle": False}
        fixed: dict[str, Any] = {"weight": "importance", "scale": False, "early_stopping": False}
        model = model_from_files(str(path), **fixed, **given)
        del given["rule"]
        fitted = (
            AveragedPerceptron(**given)
            if rule == "perceptron"
            else ConfidenceWeightedClassifier(rule="arow", **given)
        )
        fitted.fit(X, y, sample_weight=weight)
        assert np.array_equal(model.deciding_weights[0, :-1], fitted.coef_[0])
        assert model.training["n_rows"] == 300
        stream = model_from_files(str(path), **fixed, **given | small, rule=rule)
        whole = model_from_files(str(path), **fixed, **given, shuffle=False, rule=rule)
        assert np.array_equal(stream.weights, whole.weights)
    balanced: dict[str, Any] = {"class_weight": "balanced", "random_state": 5, "max_iter": 3}
    model = model_from_files(str(path), **fixed, **balanced, rule="perceptron")
    fitted = AveragedPerceptron(**balanced).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.deciding_weights[0, :-1], fitted.coef_[0], rtol=1e-12)
    assert model.training["decisions"]["weight"] == "importance"
    assert model.evaluate(str(table)).n_rows == 400  # which needs no weights


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("-2", "line 5: the weight, column 'w', is '-2'; it must be a number of at least 0."),
        ("", "line 5: the weight, column 'w', is missing."),
        ("many", "line 5: the weight, column 'w', is 'many'; it must be a number of at least 0."),
        ("inf", "line 5: the weight, column 'w', is 'inf'; it must be a number of at least 0."),
    ],
)
def test_bad_row_weights(tmp_path: Path, value: str, told: str) -> None:
    """A weight that cannot multiply a step is an error with its line, or a row to be skipped."""
    weights = ["1"] * 40
    weights[3] = value
    lines = [f"{i % 5},{w},{'ab'[i % 2]}" for i, w in enumerate(weights)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["x,w,label", *lines]))
    with pytest.raises(InputError) as error:
        model_from_files(str(path), weight="w")
    assert told in str(error.value)
    assert model_from_files(str(path), weight="w", bad_rows="skip").training["n_rows"] == 39


def test_row_weights_need_columns(tmp_path: Path) -> None:
    """A file of numbered features has no column to take weights from."""
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n0 2:1\n" * 10)
    with pytest.raises(InputError, match="weight= needs named columns; svmlight files have none"):
        model_from_files(str(path), weight="w")


def test_every_option_of_the_command_is_a_parameter() -> None:
    """Whoever knows the command knows the function: each option names a parameter."""
    named = set(inspect.signature(rosenblatt.train_files).parameters) | set(
        rosenblatt.rules.rule_parameters()
    )
    options = {option for parameter in train.params for option in parameter.opts}
    spelled = {flag(Parameter(name)) for name in named}
    ours = {
        *("--output", "-o", "--force", "--from", "--test", "--json"),
        *("--engine", "--workers", "--worker-memory", "--scheduler", "--tls-ca", "--tls-cert"),
        *("--tls-key", "--unencrypted", "--shards", "--mixing", "--shuffle-shards"),
        *("--tune", "--folds", "--metric"),  # of rosenblatt.tune
        *("--verbose", "--help-all"),  # of what is printed
        "--max-size",  # of rosenblatt.prune
        *("--template", "--transitions"),  # of files of sentences
    }
    assert {option for option in options if option.startswith("-")} - ours <= spelled


def test_a_model_is_used_without_a_command(table: Path, tmp_path: Path) -> None:
    """It judges files, explains a row by its columns, and becomes an estimator by its file."""
    model = model_from_files(str(table), **EXACT)
    error = model.evaluate(str(table)).error
    assert error is not None
    assert error < 0.1
    row = next(iter(model.rows(str(table))))
    one = row._replace(
        data=row.data[: row.indptr[1]],
        indices=row.indices[: row.indptr[1]],
        indptr=row.indptr[:2],
        labels=row.labels[:1],
    )
    found = model.explain(one)
    assert {"a", "b"} <= {term.name for term in found.terms}
    assert found.total == pytest.approx(model.scores(one)[0])
    model.save(tmp_path / "m.model")
    clf = load(tmp_path / "m.model")
    assert clf.model_.weights.tobytes() == model.weights.tobytes()
    assert clf.encoding_.n_features == model.n_features


def test_passes_are_watched_and_rows_judged(table: Path) -> None:
    """Observers see every pass, probabilities are fitted, and a verdict is kept in the model."""
    records: list[PassRecord] = []
    model = model_from_files(
        str(table), calibrate=True, verdict=True, observers=[records.append], max_iter=3
    )
    assert [record.pass_ for record in records] == [*range(1, len(model.history) + 1)]
    assert model.verdict is not None
    assert model.verdict["status"] == "separable"
    shares = model.probabilities(next(iter(model.rows(str(table)))))
    assert np.allclose(shares.sum(axis=1), 1.0)


def test_it_goes_on_from_a_checkpoint(table: Path, tmp_path: Path) -> None:
    """A training that was interrupted after any pass ends with the weights of a whole one."""
    whole = model_from_files(str(table), max_iter=5, early_stopping=False)
    point = tmp_path / "point"

    def stop(record: PassRecord) -> None:
        if record.pass_ == 3:
            raise KeyboardInterrupt

    given: dict[str, Any] = {"max_iter": 5, "early_stopping": False, "checkpoint": point}
    with pytest.raises(KeyboardInterrupt):
        model_from_files(str(table), **given, checkpoint_seconds=0.0, observers=[stop])
    said: list[str] = []
    resumed = model_from_files(str(table), **given, tell=said.append)
    assert said == [f"Going on from {point}: pass 3."]
    assert resumed.weights.tobytes() == whole.weights.tobytes()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"rule": "kernel"}, "The parameter rule of train_files must be 'perceptron', "),
        ({"memory": "best"}, "The parameter memory of train_files must be 'last', 'average' or"),
        ({"max_iter": 0}, "max_iter of train_files must be an integer of at least 1; got 0"),
        ({"C": 2.0, "rule": "perceptron"}, "C= has no effect with rule='perceptron'"),
        ({"margin": 2.0}, "margin= has no effect with rule='perceptron'"),
        ({"eta0": 0.0}, "eta0= must be a finite number above 0; got 0.0"),
        ({"rule": "pa", "memory": "vote"}, "memory='vote' is not available with rule='pa'"),
        ({"label": "nothing"}, "has no column 'nothing', named by label="),
        ({"record_mistakes": True, "checkpoint": "p"}, "record_mistakes=True keeps a list that a"),
    ],
)
def test_bad_parameters_are_named_as_in_python(
    table: Path, given: dict[str, Any], sentence: str
) -> None:
    """Errors name the parameter as it is typed in Python, and no option of a command."""
    with pytest.raises(InputError) as error:
        model_from_files(str(table), **given)
    assert sentence in str(error.value)
    assert "--" not in str(error.value)


def test_it_returns_what_load_returns(table: Path, tmp_path: Path) -> None:
    """An estimator with a short repr, which predicts, scores and holds the whole record."""
    model = model_from_files(str(table))
    clf = rosenblatt.train_files(str(table))
    rosenblatt.save(clf, tmp_path / "t.model")
    loaded = rosenblatt.load(tmp_path / "t.model")
    assert repr(clf) == repr(loaded)
    assert len(repr(clf)) < 200
    assert isinstance(clf, type(loaded))
    rows = list(csv.DictReader(table.read_text().splitlines()))
    labels = [row.pop("label") for row in rows]
    assert clf.predict(rows).tolist() == loaded.predict(rows).tolist()
    assert 1.0 - clf.score(rows, labels) == model.evaluate(str(table)).error
    assert clf.model_.training == model.training | {"label_type": clf.classes_.dtype.str}


def test_unknown_parameters(table: Path) -> None:
    """A parameter that no rule has is refused, as Python refuses it."""
    with pytest.raises(TypeError, match="no parameter 'eta1'"):
        model_from_files(str(table), eta1=1.0)  # type: ignore[call-arg]


def test_second_order_is_trained_again_with_all_passes(tmp_path: Path) -> None:
    """Held-out rows do not choose the pass, unless a race or a fit to them says so."""
    generator = np.random.default_rng(4)
    words = [[f"w{k}" for k in generator.integers(0, 40, 8)] for _ in range(2500)]
    noise = generator.random(2500) < 0.3
    labels = ["yes" if ("w1" in row) ^ odd else "no" for row, odd in zip(words, noise, strict=True)]
    path = tmp_path / "texts.tsv"
    path.write_text(
        "".join(f"{y}\t{' '.join(row)}\n" for y, row in zip(labels, words, strict=True))
    )
    model = model_from_files(str(path), label="column_1", text="column_2", rule="arow")
    assert model.training["held_out_rows"] >= 200
    assert model.outcome["best_pass"] < model.training["refit_passes"] == 5
    fitted = model_from_files(str(path), label="column_1", text="column_2", calibrate=True)
    assert fitted.training["refit_passes"] == fitted.outcome["best_pass"]


def test_few_rows_are_calibrated_in_folds(tmp_path: Path) -> None:
    """Where few rows are held out every row has its say, scored by a model that has not seen it."""
    generator = np.random.default_rng(2)
    y = np.arange(150) % 3
    X = np.round(generator.normal(size=(150, 2)) + y[:, None], 2)
    path = tmp_path / "few.csv"
    lines = [f"{a},{b},c{k}" for (a, b), k in zip(X, y, strict=True)]
    path.write_text("\n".join(["a,b,label", *lines]))
    model = model_from_files(str(path), scale=False, bins=0, calibrate=True)
    scores = np.empty((150, 3))
    for learned, tried in folds(y, 5, 0):
        clf = PassiveAggressiveClassifier(random_state=0, max_iter=10)
        clf.fit(X[learned], y[learned])
        scores[tried] = clf.decision_function(X[tried])
    expected = fit_calibration(scores, y, "temperature")
    assert model.calibration is not None
    assert model.calibration.n_rows == 150
    assert model.calibration.slope == pytest.approx(expected.slope)
    assert model.training["refit_passes"] == 10
    plain = model_from_files(str(path), scale=False, bins=0)
    assert np.array_equal(model.weights, plain.weights)


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ({}, ["read", "hold out", "try", "fit", "fit again"]),
        ({"recipe": "plain", "refit": False}, ["read", "hold out", "fit"]),
        ({"early_stopping": False}, ["read", "fit"]),
        ({"early_stopping": False, "threshold": "f1"}, ["read", "hold out", "fit"]),
        ({"kernel": "rbf"}, ["read", "hold out", "fit", "fit again"]),
    ],
    ids=str,
)
def test_the_plan_says_what_will_happen(
    table: Path, tmp_path: Path, options: dict[str, Any], steps: list[str]
) -> None:
    """What is held out, tried and fitted again is known first, and is what happens."""
    plan = plan_of(str(table), **options)
    lines = dict(plan.lines())
    assert list(lines) == steps
    assert str(table) in lines["read"]
    model = model_from_files(str(table), **options)
    assert lines["fit"].startswith(model.training["title"])
    assert (model.training["held_out_rows"] > 0) == ("hold out" in steps)
    assert (model.training.get("recipe") is not None) == ("try" in steps)
    assert model.training["refit"] == ("fit again" in steps)
    if not options:
        done = run("train", str(table), "--verbose", "-o", "m.model", folder=tmp_path)
        told = [f"  {step}: {words}" for step, words in plan.lines()]
        assert done.stderr.splitlines()[: len(told)] == told


@pytest.mark.parametrize("options", [{}, {"rule": "pa1", "min_count": 1}])
def test_large_models_are_rounded_where_nothing_changes(
    options: dict[str, Any], tmp_path: Path
) -> None:
    """Weights and state are those of float32, the file has just them, and learning goes on."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, 9_000, (600, 40))
    lines = [f"{'low' if row[0] < 4_500 else 'high'}\tw{' w'.join(map(str, row))}" for row in words]
    path = tmp_path / "texts.tsv"
    path.write_text("\n".join(["label\ttext", *lines]))
    model = model_from_files(str(path), word_pairs=False, **options)
    assert model.weights.size > 8_192
    assert model.training["float32_rows"] == 600
    state = [part for part in (model.weights, model.ledger, model.variance) if part is not None]
    assert len(state) == 2
    for part in state:
        assert np.array_equal(part.astype(np.float32).astype(np.float64), part)
    model.save(tmp_path / "m.model")
    found = Model.load(tmp_path / "m.model")
    for name in ("weights", "ledger", "variance"):
        assert np.array_equal(getattr(found, name), getattr(model, name))  # None == None, too
    assert model.spread is not None
    assert model.spread.high.dtype == np.float32
    assert np.allclose(coarse(np.array([0.0, 1.0, -3.0, 0.1])), [0.0, 1.0, -3.0, 0.1], 1 / 2_000, 0)
    assert np.array_equal(coarse(np.arange(-4.0, 5.0)), np.arange(-4.0, 5.0))
    per_feature = (tmp_path / "m.model").stat().st_size / model.n_features
    assert per_feature < 30  # of 8 × 2 for the state alone
    exact = rounded(model, CSR(np.zeros(0), np.zeros(0, np.int32), np.zeros(1, np.int64), 0, 1.0))
    assert exact.training["float32_rows"] == 0


def test_a_prediction_that_would_change_keeps_all_bits() -> None:
    """A row whose score float32 would turn round leaves the model as it is."""
    n = 10_000
    weights = np.zeros((1, n + 1))
    weights[0, :2] = 1.0 + 1e-12, -1.0
    model = linear("Perceptron", {}, (0, 1), weights)
    ones = CSR(np.ones(2), np.array([0, 1], np.int32), np.array([0, 2]), n, 1.0)
    assert rounded(model, ones) is model
    one = CSR(np.ones(1), np.array([0], np.int32), np.array([0, 1]), n, 1.0)
    assert rounded(model, one).weights[0, 0] == 1.0
    huge = linear("Perceptron", {}, (0, 1), weights * 1e300)
    assert rounded(huge, one) is huge


def test_printing_a_plan_changes_nothing(tmp_path: Path) -> None:
    """The steps of a training follow from the plan, whose reader is as before."""
    path = tmp_path / "rows.csv"
    path.write_text("text,n,y\n" + "some words,1,a\nother words,2,b\n" * 60)
    plan = plan_of(str(path), text="text", label="y")
    before = vars(plan.source).copy()
    steps = dict(plan.lines())
    assert "try" in steps
    assert vars(plan.source) == before
    assert dict(plan.lines()) == steps

"""``rosenblatt.train_files``: what a command does, as one call that returns a model."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rosenblatt
from rosenblatt import AveragedPerceptron, diagnose, load, train_files
from rosenblatt.cli.spelling import flag
from rosenblatt.cli.train import train
from rosenblatt.errors import InputError, Parameter
from rosenblatt.models.model import Model
from rosenblatt.training.history import PassRecord
from tests.cli.running import ran

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
    ours = train_files(
        str(table), ignore="kind", scale=False, rule="pa1", C=0.5, random_state=3, memory="last"
    )
    theirs = Model.load(tmp_path / "m.model")
    assert ours.weights.tobytes() == theirs.weights.tobytes()
    assert (ours.learner, ours.options) == (theirs.learner, theirs.options)
    assert (ours.encoding, ours.training) == (theirs.encoding, theirs.training)


def test_it_is_the_estimator(table: Path) -> None:
    """Rows of a file give the weights that the same rows give in memory."""
    model = train_files(table.as_posix(), ignore=["kind"], **EXACT)
    text = np.genfromtxt(table, delimiter=",", skip_header=1, dtype=str)
    X, y = text[:, 1:3].astype(float), text[:, 0]
    clf = AveragedPerceptron(shuffle=False, max_iter=4).fit(X, y)
    assert np.array_equal(model.deciding_weights[0, :-1], clf.coef_[0])
    assert model.predict(X).tolist() == clf.predict(X).tolist()


def test_every_option_of_the_command_is_a_parameter() -> None:
    """Whoever knows the command knows the function: each option names a parameter."""
    named = set(inspect.signature(train_files).parameters) | set(rosenblatt.rules.rule_parameters())
    options = {option for parameter in train.params for option in parameter.opts}
    spelled = {flag(Parameter(name)) for name in named}
    ours = {
        *("--output", "-o", "--force", "--test", "--json", "--pairs", "--triples"),
        *("--engine", "--workers", "--worker-memory", "--scheduler", "--tls-ca", "--tls-cert"),
        *("--tls-key", "--unencrypted", "--shards", "--mixing", "--shuffle-shards"),
    }
    assert {option for option in options if option.startswith("-")} - ours <= spelled


def test_a_model_is_used_without_a_command(table: Path, tmp_path: Path) -> None:
    """It judges files, explains a row by its columns, and becomes an estimator by its file."""
    model = train_files(str(table), **EXACT)
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
    model = train_files(
        str(table), calibrate=True, verdict=diagnose, observers=[records.append], max_iter=3
    )
    assert [record.pass_ for record in records] == [*range(1, len(model.history) + 1)]
    assert model.verdict is not None
    assert model.verdict["status"] == "separable"
    shares = model.probabilities(next(iter(model.rows(str(table)))))
    assert np.allclose(shares.sum(axis=1), 1.0)


def test_it_goes_on_from_a_checkpoint(table: Path, tmp_path: Path) -> None:
    """A training that was interrupted after any pass ends with the weights of a whole one."""
    whole = train_files(str(table), max_iter=5, early_stopping=False)
    point = tmp_path / "point"

    def stop(record: PassRecord) -> None:
        if record.pass_ == 3:
            raise KeyboardInterrupt

    given: dict[str, Any] = {"max_iter": 5, "early_stopping": False, "checkpoint": point}
    with pytest.raises(KeyboardInterrupt):
        train_files(str(table), **given, checkpoint_seconds=0.0, observers=[stop])
    said: list[str] = []
    resumed = train_files(str(table), **given, tell=said.append)
    assert said == [f"Going on from {point}: pass 3."]
    assert resumed.weights.tobytes() == whole.weights.tobytes()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"rule": "kernel"}, "The parameter rule of train_files must be 'perceptron', "),
        ({"memory": "best"}, "The parameter memory of train_files must be 'last', 'average' or"),
        ({"max_iter": 0}, "max_iter of train_files must be an integer of at least 1; got 0"),
        ({"C": 2.0}, "C= has no effect with rule='perceptron'"),
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
        train_files(str(table), **given)
    assert sentence in str(error.value)
    assert "--" not in str(error.value)


def test_unknown_parameters(table: Path) -> None:
    """A parameter that no rule has is refused, as Python refuses it."""
    with pytest.raises(TypeError, match="no parameter 'eta1'"):
        train_files(str(table), eta1=1.0)

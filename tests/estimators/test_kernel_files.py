"""Kernel perceptrons to files and back."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from rosenblatt import KernelPerceptron, load, save
from rosenblatt.errors import InputError
from rosenblatt.models.export import to_onnx
from rosenblatt.models.file import read, write
from tests.cli.running import run
from tests.estimators.test_fit import quiet_fit
from tests.estimators.test_kernel import digits
from tests.examples import same_bits
from tests.models.models import with_list

FORMS: dict[str, Any] = {
    "float64": np.asarray,
    "bytes": lambda X: X.astype(np.uint8),
    "sparse": sparse.csr_matrix,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("how", [{}, {"multi_class": "one-vs-rest", "memory": "vote"}])
def test_a_loaded_model_goes_on(how: dict[str, Any], form: str, tmp_path: Path) -> None:
    """It predicts and learns on as the one that was saved, bit for bit."""
    X, y = digits()
    rows = FORMS[form](X)
    clf = quiet_fit(KernelPerceptron(gamma=0.001, max_iter=2, **how), rows[:200], y[:200])
    save(clf, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.get_params() == clf.get_params()
    for name in ("n_iter_", "n_mistakes_", "converged_", "stop_reason_", "history_"):
        assert getattr(loaded, name) == getattr(clf, name)
    for one in (clf, loaded):
        one.partial_fit(rows[200:300], y[200:300])
    assert np.array_equal(loaded.support_, clf.support_)
    assert np.array_equal(loaded.n_support_, clf.n_support_)
    for memory, scores in clf.decision_functions(rows).items():
        assert same_bits(loaded.decision_functions(rows)[memory], scores)
    save(loaded, tmp_path / "again")
    assert same_bits(load(tmp_path / "again").decision_function(rows), clf.decision_function(rows))


def test_two_classes_scale_and_precomputed(tmp_path: Path) -> None:
    """γ = "scale" is the one found in the rows; a Gram matrix need not be in the file."""
    X, y = digits()
    X, y = X[y < 2], np.array(["zero", "one"])[y[y < 2]]
    clf = quiet_fit(KernelPerceptron(memory="vote"), X, y)
    save(clf, tmp_path / "m")
    assert same_bits(load(tmp_path / "m").decision_function(X), clf.decision_function(X))
    gram = X @ X.T
    clf = quiet_fit(KernelPerceptron(kernel="precomputed"), gram, y)
    save(clf, tmp_path / "m")
    assert load(tmp_path / "m").predict(gram).tolist() == clf.predict(gram).tolist()


@pytest.mark.parametrize("limit", [{"max_support": 25}, {"budget": "projectron"}])
def test_a_limit_of_an_older_version_is_refused(limit: dict[str, Any], tmp_path: Path) -> None:
    """A machine that dropped rows is not read as one that kept them; without limit it is."""
    clf = KernelPerceptron().fit([[0.0], [1.0]], [0, 1])
    save(clf, tmp_path / "m")
    model = read(tmp_path / "m")
    nothing = {"max_support": None, "budget": None, "eta": 0.1}
    older = replace(model.made_by, options=model.options | nothing)
    write(replace(model, made_by=older), tmp_path / "m")
    assert load(tmp_path / "m").get_params() == clf.get_params()
    older = replace(model.made_by, options=model.options | nothing | limit)
    write(replace(model, made_by=older), tmp_path / "m")
    with pytest.raises(InputError, match="it limits its support rows, which this version does not"):
        load(tmp_path / "m")


def test_a_function_cannot_be_saved(tmp_path: Path) -> None:
    """A file holds no code, and says so before anything is written."""
    clf = KernelPerceptron(kernel=lambda a, b: a @ b.T).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputError, match="cannot hold a kernel that is a function"):
        save(clf, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def _changed(arrays: dict[str, Any], name: str, change: Any) -> dict[str, Any]:
    found = arrays | {name: change(arrays[name].copy())}
    return {name: array for name, array in found.items() if array is not None}


def _put(place: Any, value: Any) -> Any:
    def change(array: Any) -> Any:
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("how", "name", "change"),
    [
        ({}, "mistakes.row", _put(0, 10_000)),
        ({}, "mistakes.row", _put(0, -1)),
        ({}, "mistakes.label", _put(0, 10)),
        ({}, "mistakes.tau", _put(0, np.nan)),
        ({}, "mistakes.tau", lambda a: a[:-1]),
        ({}, "mistakes.seen", _put(0, 0)),
        ({}, "mistakes.seen", _put(-1, 1)),
        ({}, "mistakes.seen", _put(-1, 10**9)),
        ({}, "mistakes.seen", lambda _: None),
        ({}, "mistakes.numbers", lambda a: a.astype(np.float64)),
        ({}, "mistakes.numbers", _put(0, -5)),
        ({}, "kernel.labels", _put(0, 10)),
        ({}, "kernel.gamma", _put(0, -1.0)),
        ({}, "kernel.gamma", lambda a: a[:0]),
        ({}, "kernel.met", _put(0, 1)),
        ({}, "mistakes.values", lambda a: a[:, :-1]),
        ({}, "mistakes.values", _put((0, 0), np.inf)),
        ({}, "mistakes.values", lambda _: None),
        ({"sparse": True}, "mistakes.indices", _put(0, 64)),
        ({"sparse": True}, "mistakes.indices", lambda a: a.astype(np.float32)),
        ({"sparse": True}, "mistakes.indptr", _put(1, 10**6)),
        ({"sparse": True}, "mistakes.indptr", lambda a: a[::-1]),
        ({"sparse": True}, "mistakes.data", _put(0, np.nan)),
    ],
)
def test_damage(how: dict[str, Any], name: str, change: Any, tmp_path: Path) -> None:
    """A file whose arrays do not fit together is refused by name, with what does not fit."""
    X, y = digits(150)
    how = dict(how)
    rows = sparse.csr_matrix(X) if how.pop("sparse", False) else X
    clf = quiet_fit(KernelPerceptron(gamma=0.001, max_iter=2, **how), rows, y)
    save(clf, tmp_path / "m")
    model = read(tmp_path / "m")
    write(with_list(model, _changed(model.machine.arrays(), name, change)), tmp_path / "m")
    with pytest.raises(
        InputError, match="m cannot be used: The list of mistakes in the model is damaged: "
    ):
        load(tmp_path / "m")


def test_commands_that_need_weights_refuse(tmp_path: Path) -> None:
    """The command line says what the model is, in place of predicting from weights of zero."""
    X, y = digits(100)
    model = tmp_path / "kernel.model"
    save(quiet_fit(KernelPerceptron(), X, y), model)
    done = run("weights", str(model), folder=tmp_path)
    assert done.returncode == 2
    assert "A KernelPerceptron has no weights" in " ".join(done.stderr.split())
    with pytest.raises(InputError, match="has no weights: it predicts by kernel values"):
        to_onnx(read(model))

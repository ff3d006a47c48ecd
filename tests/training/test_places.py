"""Weights of which few exist: the same models to the last bit as where all stand."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import rosenblatt
from rosenblatt import ConfidenceWeightedClassifier, PassiveAggressiveClassifier
from rosenblatt.kernels import stretches
from rosenblatt.kernels.shapes import as_rows
from rosenblatt.models import file
from rosenblatt.models.learner import Learner
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.model import Model
from rosenblatt.models.weights import weights_of
from rosenblatt.rules import RULES
from rosenblatt.tasks import CLASSES, many_classes, task_of
from rosenblatt.tasks.leads import targets_of
from rosenblatt.training import places
from rosenblatt.training.examples import Examples
from rosenblatt.training.history import Outcome
from rosenblatt.training.places import Scattered, few_exist
from rosenblatt.training.state import State, fit
from tests.processes import plainly

N_ROWS, N_FEATURES = 480, 2000
X = sparse.random(N_ROWS, N_FEATURES, density=0.004, format="csr", random_state=1)
Y = np.random.default_rng(2).integers(0, 40, N_ROWS)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Store weights by places from the first on, and for good; rows learn in small parts."""
    monkeypatch.setattr(places, "MANY_WEIGHTS", 0)
    monkeypatch.setattr(places, "ROOM", 4000)
    monkeypatch.setattr(State, "stand_if_many", lambda _: None)
    return monkeypatch


def _trained(rule: str, n_classes: int, memory: str, *, early: bool) -> tuple[Model, Outcome]:
    learner = Learner(rule, memory, max_iter=3, early_stopping=early)
    state = learner.start(N_FEATURES, n_classes, by_feature=True)
    made_by = LearnerRecord.of(learner, "Perceptron", {})
    model = Model.empty(made_by, np.arange(n_classes), weights_of(learner, state))
    examples = Examples(as_rows(X, 1.0), targets_of(Y % n_classes, n_classes))
    return model, fit(model.state, examples, learner.plan(), np.random.default_rng(0))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_classes", [3, 5, 40])
def test_places_give_the_same_bits(rule: str, n_classes: int, few: pytest.MonkeyPatch) -> None:
    """Every rule learns the same weights, averages and variances, and scores the same."""
    for memory, early in (("last", False), ("average", True)):
        model, outcome = _trained(rule, n_classes, memory, early=early)
        few.setattr(places, "MANY_WEIGHTS", 1 << 40)
        standing, expected = _trained(rule, n_classes, memory, early=early)
        few.setattr(places, "MANY_WEIGHTS", 0)
        assert model.state.at is not None
        assert standing.state.at is None
        rows = as_rows(X, 1.0)
        scores = model.state.scores(rows), standing.state.scores(rows)
        assert scores[0].tobytes() == scores[1].tobytes()
        for name, array in standing.state.vectors.items():
            np.testing.assert_array_equal(array, model.state.vectors[name])
        assert [made[:2] for made in outcome.history] == [made[:2] for made in expected.history]
        some = np.array([0, 3, 1999])
        np.testing.assert_array_equal(
            model.state.select(some).weights, standing.state.select(some).weights
        )
        model.state.stand()
        assert np.array_equal(model.state.weights, standing.state.weights)


@pytest.mark.usefixtures("few")
def test_stretches_are_taken_again() -> None:
    """What a feature leaves for a longer stretch serves another one: little is wasted."""
    model, _ = _trained("arow", 40, "last", early=False)
    at: Any = model.state.at
    lengths = at.bounds[:, 1]
    assert len(np.unique(lengths)) > 5
    assert int(at.end[0]) < 2 * int(lengths.sum()) + 64


def test_a_file_has_the_same_bytes(few: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """However weights are stored in memory; what is read goes on learning as what was written."""
    texts = [f"w{i % 37} v{i % 11} u{i}" for i in range(300)]
    labels = [f"c{i * 7 % 13}" for i in range(300)]
    path = tmp_path / "texts.csv"
    path.write_text(
        "y,t\n" + "".join(f"{y},{t}\n" for y, t in zip(labels, texts, strict=True)),
        encoding="utf-8",
    )
    how: dict[str, Any] = {"label": "y", "text": "t", "recipe": "plain", "rule": "arow"}
    found = []
    for many in (0, 1 << 40):
        few.setattr(places, "MANY_WEIGHTS", many)
        few.setattr("rosenblatt.training.loop.perf_counter", lambda: 0.0)
        model = rosenblatt.train_files(path, **how).model_
        written = BytesIO()
        file.write_to(written, model)
        read = file.read_from(BytesIO(written.getvalue()))
        assert (model.state.at is None) == (many > 0)
        assert read.predict(texts).tolist() == model.predict(texts).tolist()
        answering = file.read_from(BytesIO(written.getvalue()), to_learn=False)
        assert answering.variance is None
        assert answering.predict(texts).tolist() == model.predict(texts).tolist()
        again = BytesIO()
        file.write_to(again, read)
        assert again.getvalue() == written.getvalue()
        found.append(written.getvalue())
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", [PassiveAggressiveClassifier, ConfidenceWeightedClassifier])
def test_estimators_go_on(kind: Any, few: pytest.MonkeyPatch) -> None:
    """Fitted, taught more, by single rows too: the same weights."""
    found = []
    for many in (0, 1 << 40):
        few.setattr(places, "MANY_WEIGHTS", many)
        clf = kind(max_iter=2).fit(X, Y)
        clf.partial_fit(X[:20], Y[:20])
        clf.partial_fit(X[3:4], Y[3:4])
        fitted = kind(max_iter=2).fit(X, Y)
        found.append((clf.coef_, clf.intercept_, fitted.decision_function(X.toarray())))
    for few_, all_ in zip(*found, strict=True):
        np.testing.assert_array_equal(few_, all_)


def test_one_place_decides(few: pytest.MonkeyPatch) -> None:
    """Two classes have one vector, and few weights or many that exist stand all."""
    assert few_exist(9, task_of(CLASSES, 3))
    assert not few_exist(9, task_of(CLASSES, 2))
    few.setattr(places, "MANY_WEIGHTS", 30)
    assert not few_exist(9, task_of(CLASSES, 3))
    few.undo()
    few.setattr(places, "MANY_WEIGHTS", 0)
    model, _ = _trained("pa1", 3, "last", early=False)
    assert model.state.at is None  # a third of them exist


def test_the_scattered_are_the_whole() -> None:
    """Numbers that are not as most are, and back."""
    array = np.array([[1.0, 1.0, 0.5], [2.0, 1.0, 1.0]])
    part = Scattered.of_array(array, 1.0)
    assert part.flat.tolist() == [2, 3]
    np.testing.assert_array_equal(part.whole(), array)


@pytest.mark.usefixtures("few")
def test_plain_python_learns_the_same() -> None:
    """The kernels of places give in Python what machine code gives."""
    for rule, kernel in (("pa1", "multiclass_pass"), ("arow", "second_order_multiclass_pass")):
        expected, _ = _trained(rule, 40, "last", early=False)
        with plainly(many_classes, kernel), plainly(stretches, "new_place"):
            model, _ = _trained(rule, 40, "last", early=False)
        for name, array in expected.state.vectors.items():
            np.testing.assert_array_equal(array, model.state.vectors[name])

"""Going on with a model: the same weights as ``partial_fit``, each row predicted before it."""

from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rosenblatt import AveragedPerceptron, Perceptron, load
from rosenblatt.errors import InputError
from rosenblatt.models.continuation import Milestone, learn_files
from rosenblatt.models.model import Model
from rosenblatt.models.train import model_from_files

EXACT: dict[str, Any] = {"scale": False, "shuffle": False, "early_stopping": False, "max_iter": 2}


def rows_file(path: Path, n_rows: int, first: int = 0, flip: int = 10**9) -> tuple[Any, Any]:
    """Write rows of two whole numbers; from row ``flip`` on the labels are the other way round."""
    rng = np.random.default_rng(first)
    X = rng.integers(-9, 10, (n_rows, 2))
    high = (X @ [1, 2] + rng.integers(-3, 4, n_rows) > 0) != (np.arange(n_rows) >= flip)
    y = np.where(high, "yes", "no")
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join(["a,b,label", *lines]) + "\n")
    return X.astype(float), y


@pytest.mark.parametrize("how", [{"record_mistakes": True}, {"memory": "vote"}])
def test_the_list_of_the_old_model_stays(tmp_path: Path, how: dict[str, Any]) -> None:
    """A model that goes on has a list of its own, in memory as from a file."""
    rows_file(tmp_path / "old.csv", 60)
    rows_file(tmp_path / "new.csv", 40, first=1, flip=0)
    old = model_from_files(str(tmp_path / "old.csv"), rule="perceptron", **how, **EXACT)
    second = learn_files(old, str(tmp_path / "new.csv"))
    before = listed(second)
    third = learn_files(second, str(tmp_path / "new.csv"))
    assert listed(second) == before
    after = listed(third)
    assert after[0] > before[0]
    assert (before[1], after[1]) == (161, 201)


def listed(model: Model) -> tuple[int, int, int]:
    """Return the length of a list of mistakes, up to which row it goes, and how many vectors."""
    mistakes = model.mistakes
    assert mistakes is not None
    return len(mistakes), mistakes.end, len(mistakes.lifetimes)


@pytest.mark.parametrize(
    ("kind", "memory"), [(AveragedPerceptron, "average"), (Perceptron, "last")]
)
@pytest.mark.filterwarnings("ignore:Perceptron stopped after max_iter")
def test_it_is_partial_fit(tmp_path: Path, kind: Any, memory: str) -> None:
    """Weights and progressive errors are those of predict and partial_fit, row by row."""
    X, y = rows_file(tmp_path / "old.csv", 200)
    new_X, new_y = rows_file(tmp_path / "new.csv", 150, first=1, flip=100)
    old = model_from_files(str(tmp_path / "old.csv"), memory=memory, **EXACT)
    met: list[Milestone] = []
    new = learn_files(old, str(tmp_path / "new.csv"), watch=met.append, ahead=1)
    naive = kind(shuffle=False, max_iter=2).fit(X, y)
    wrong = []
    for x, label in zip(new_X, new_y, strict=True):
        wrong.append(naive.predict([x])[0] != label)
        naive.partial_fit([x], [label])
    assert np.array_equal(new.deciding_weights[:, :-1], naive.coef_)
    assert [one.n_rows for one in met] == [1, 2, 4, 8, 16, 32, 64, 128, 150]
    assert [one.n_wrong for one in met] == [sum(wrong[: one.n_rows]) for one in met]
    assert [one.n_wrong_since for one in met[1:]] == [
        sum(wrong[before.n_rows : one.n_rows]) for before, one in pairwise(met)
    ]
    assert met[-1].label == new_y[-1]
    together = learn_files(old, str(tmp_path / "new.csv"))
    assert np.array_equal(together.weights, new.weights)
    assert old.count == 401  # it stays as it was
    assert together.training["progressive"][-1]["n_rows"] == 150
    assert together.training["class_counts"] == [
        int((y == label).sum() + (new_y == label).sum()) for label in ("no", "yes")
    ]


def test_the_record_of_the_old_model_stays(tmp_path: Path) -> None:
    """Learning on, also with a class that is new, leaves what the old model says of itself."""
    rows_file(tmp_path / "old.csv", 60)
    (tmp_path / "new.csv").write_text("a,b,label\n" + "1,2,no\n-3,4,other\n" * 20)
    old = model_from_files(str(tmp_path / "old.csv"), **EXACT)
    record = deepcopy(old.record)
    new = learn_files(old, str(tmp_path / "new.csv"))
    clf = load(old)
    clf.partial_fit(pd.DataFrame({"a": [1.0], "b": [2.0]}), ["other"])
    assert new.outcome["n_mistakes"] > old.outcome["n_mistakes"]
    assert clf.n_mistakes_ > old.outcome["n_mistakes"]
    assert old.record == record


def test_more_than_two_classes_go_on(tmp_path: Path) -> None:
    """Weights of three classes change with the rows that are learned, as by partial_fit."""
    X, y = rows_file(tmp_path / "old.csv", 200)
    third = np.where(X[:, 0] > 6, "far", y)
    lines = [f"{a:g},{b:g},{label}" for (a, b), label in zip(X.tolist(), third, strict=True)]
    (tmp_path / "old.csv").write_text("\n".join(["a,b,label", *lines]) + "\n")
    old = model_from_files(str(tmp_path / "old.csv"), memory="last", **EXACT)
    new = learn_files(old, str(tmp_path / "old.csv"))
    expected = Perceptron(shuffle=False, max_iter=2).fit(X, third).partial_fit(X, third)
    assert np.array_equal(new.weights[:, :-1], expected.coef_)
    assert not np.array_equal(new.weights, old.weights)


@pytest.mark.parametrize("more", [{}, {"rule": "arow"}, {"kernel": "rbf"}, {"calibrate": True}])
def test_partial_fit_of_a_trained_model(tmp_path: Path, more: dict[str, Any]) -> None:
    """What ``train`` made with its defaults goes on by partial_fit as by ``train --from``."""
    rows_file(tmp_path / "old.csv", 200)
    X, y = rows_file(tmp_path / "new.csv", 150, first=1)
    old = model_from_files(str(tmp_path / "old.csv"), **more)
    estimator = load_saved(old, tmp_path)
    frame = pd.DataFrame(X, columns=["a", "b"])
    for k in range(len(y)):
        estimator.partial_fit(frame[k : k + 1], y[k : k + 1])
    assert estimator.score(frame, y) > 0.8
    if "kernel" not in more:
        new = learn_files(old, str(tmp_path / "new.csv"))
        assert np.array_equal(estimator.model_.weights, new.weights)
        assert new.count == estimator.model_.count


@pytest.mark.parametrize("class_weight", [{"yes": 3.0}, "balanced"])
def test_class_weights_go_on(tmp_path: Path, class_weight: Any) -> None:
    """What multiplied the steps of a class in training does so for the new rows as well."""
    X, y = rows_file(tmp_path / "old.csv", 200)
    new_X, new_y = rows_file(tmp_path / "new.csv", 150, first=1)
    given: dict[str, Any] = {"rule": "perceptron", "memory": "average"}
    old = model_from_files(str(tmp_path / "old.csv"), class_weight=class_weight, **given, **EXACT)
    n = {label: int((y == label).sum()) for label in ("no", "yes")}
    weights = (
        {"no": 1.0, "yes": 3.0}
        if class_weight != "balanced"
        else {label: 200 / (2 * n[label]) for label in n}
    )
    naive = AveragedPerceptron(shuffle=False, max_iter=2, class_weight=weights).fit(X, y)
    naive.partial_fit(new_X, new_y)
    new = learn_files(old, str(tmp_path / "new.csv"))
    assert np.array_equal(new.deciding_weights[:, :-1], naive.coef_)


def test_what_is_new_is_learned_or_said(tmp_path: Path) -> None:
    """New classes and numbered features get weights; new categories are left out; all is said."""
    (tmp_path / "old.svm").write_text("a 1:1 2:1\nb 2:1\n" * 20)
    (tmp_path / "new.svm").write_text("a 1:1\nc 4:1\nc 4:2\n" * 5)
    old = model_from_files(str(tmp_path / "old.svm"), early_stopping=False, memory="last")
    said: list[str] = []
    new = learn_files(old, str(tmp_path / "new.svm"), tell=said.append)
    assert (new.classes, new.n_features) == (("a", "b", "c"), 4)
    assert said[:2] == ["New classes were learned: c.", "2 new features got weights."]
    new.save(tmp_path / "new.model")
    assert Model.load(tmp_path / "new.model").evaluate(str(tmp_path / "new.svm")).n_wrong == 0
    assert load(tmp_path / "new.model").n_features_in_ == 4

    (tmp_path / "old.csv").write_text("colour,label\n" + "red,1\nblue,0\n" * 20)
    (tmp_path / "new.csv").write_text("colour,label\n" + "red,1\ngreen,0\n" * 20)
    old = model_from_files(str(tmp_path / "old.csv"), early_stopping=False)
    said.clear()
    new = learn_files(old, str(tmp_path / "new.csv"), tell=said.append)
    assert new.n_features == old.n_features == 2
    assert any(s.startswith("20 words and categories, counted once a row, are new") for s in said)


def test_votes_go_on(tmp_path: Path) -> None:
    """A voted model votes by its old vectors and the new ones."""
    rows_file(tmp_path / "old.csv", 60)
    rows_file(tmp_path / "new.csv", 40, first=1)
    old = model_from_files(str(tmp_path / "old.csv"), memory="vote", **EXACT)
    new = learn_files(old, str(tmp_path / "new.csv"))
    new.save(tmp_path / "new.model")
    _, y = rows_file(tmp_path / "new.csv", 40, first=1)
    naive = load_saved(old, tmp_path).partial_fit(pd.read_csv(tmp_path / "new.csv"), y)
    rows_file(tmp_path / "more.csv", 50, first=2)
    X = pd.read_csv(tmp_path / "more.csv")
    assert load(tmp_path / "new.model").predict(X).tolist() == naive.predict(X).tolist()


def load_saved(model: Model, folder: Path) -> Any:
    """Return a model as an estimator."""
    model.save(folder / "saved.model")
    return load(folder / "saved.model")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n1,2\n", "has no column 'label'"),
        ("a,b,label\n1,2,\n", "No row has a label"),
        ("a,label\n1,yes\n", "has no column 'b'"),
        ("a,b,label\n", "There are no rows to learn from"),
    ],
)
def test_bad_rows_to_go_on_with(tmp_path: Path, text: str, told: str) -> None:
    """Rows that lack a label or a column of the model are an error that says which."""
    rows_file(tmp_path / "old.csv", 60)
    old = model_from_files(str(tmp_path / "old.csv"), **EXACT)
    (tmp_path / "new.csv").write_text(text)
    with pytest.raises(InputError) as error:
        learn_files(old, str(tmp_path / "new.csv"))
    assert told in str(error.value)


def test_labels_of_another_type(tmp_path: Path) -> None:
    """Words do not join numbers as classes; numbers among words are words."""
    (tmp_path / "old.csv").write_text("x,label\n" + "1,1\n0,0\n" * 20)
    (tmp_path / "new.csv").write_text("x,label\n1,many\n")
    old = model_from_files(str(tmp_path / "old.csv"), **EXACT)
    with pytest.raises(InputError, match="of another type than the classes learned so far"):
        learn_files(old, str(tmp_path / "new.csv"))
    (tmp_path / "words.csv").write_text("x,label\n" + "1,1\n0,0\n2,many\n" * 20)
    words = model_from_files(str(tmp_path / "words.csv"), **EXACT)
    assert words.classes == ("0", "1", "many")
    assert words.evaluate(str(tmp_path / "words.csv")).n_unknown == 0

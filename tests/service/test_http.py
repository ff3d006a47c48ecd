"""What clients can ask over HTTP, and what they are told where they ask wrongly."""

import asyncio
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import msgspec
import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from rosenblatt import AveragedPerceptron, guarantee, save
from rosenblatt.models.continuation import learn_files
from rosenblatt.models.guarantee import with_guarantee
from rosenblatt.models.train import model_from_files
from rosenblatt.service import create_app
from rosenblatt.service.access import digest_of
from rosenblatt.service.history import file_of, model_from, new_learner
from rosenblatt.service.limits import Limits
from rosenblatt.service.requests import ModelSpec

from .conftest import Asked, command, same

MODEL = "/v1/models/m"


def learn(asked: Asked, features: Any, label: Any, **more: Any) -> dict[str, Any]:
    """Return the answer to one example."""
    answer = asked.ask("POST", f"{MODEL}/learn", {"features": features, "label": label, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def predict(asked: Asked, features: Any, **more: Any) -> dict[str, Any]:
    """Return the prediction for one row."""
    answer = asked.ask("POST", f"{MODEL}/predict", {"features": features, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def refused(asked: Asked, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, str]:
    """Return the status and the sentence of an answer that is an error and nothing else."""
    answer = asked.ask(method, path, body, **more)
    assert list(answer.json()) == ["error"]
    return answer.status_code, answer.json()["error"]


@pytest.fixture
def asked(service: Asked) -> Asked:
    """Return a service with a model that knows two classes."""
    assert service.ask("PUT", MODEL, {}).status_code == 201
    learn(service, {"good": 1}, "yes")
    learn(service, {"bad": 1}, "no")
    return service


def test_create_describe_list_delete(service: Asked) -> None:
    """A model is created once, the same again is no error, and it is gone after it is deleted."""
    spec = {"rule": "pa1", "parameters": {"C": 0.5}, "classes": ["b", "a"]}
    first = service.ask("PUT", MODEL, spec).json()
    assert (first["rule"], first["memory"], first["classes"]) == ("pa1", "average", ["a", "b"])
    assert service.ask("PUT", MODEL, spec).status_code == 201
    status, sentence = refused(service, "PUT", MODEL, {})
    assert (status, sentence[:26]) == (409, "There is a model 'm' alrea")
    assert service.ask("GET", MODEL).json() == first
    assert service.ask("GET", "/v1/models").json() == {"models": [first]}
    assert service.ask("DELETE", MODEL).status_code == 204
    assert refused(service, "GET", MODEL) == (404, "There is no model 'm'.")


def test_learn_and_predict(asked: Asked) -> None:
    """Learning answers with number, version and prediction; predictions name the version."""
    answer = learn(asked, {"good": 2, "colour": "red", "new": True, "gone": None}, "yes", id="x")
    assert answer == {
        "sequence": 3,
        "version": 3,
        "mistake": answer["mistake"],
        "updated": True,
        "predicted": answer["predicted"],
        "duplicate": False,
    }
    found = predict(asked, {"good": 1.0})
    assert (found["label"], found["version"]) == ("yes", 3)
    many = asked.ask("POST", f"{MODEL}/predict", {"rows": [{"good": 1}, {"bad": 1}]}).json()
    assert many["labels"] == ["yes", "no"]
    assert many["scores"][0] == found["score"]


def test_predictions_before_the_second_class(service: Asked) -> None:
    """A model without classes predicts nothing, one with a single class that class."""
    service.ask("PUT", MODEL, {})
    assert predict(service, {"x": 1}) == {"label": None, "score": None, "version": 0, "id": None}
    learn(service, {"x": 1}, "only")
    assert predict(service, {"x": 1})["label"] == "only"


def test_many_clients_equal_partial_fit(service: Asked) -> None:
    """Examples from many clients at once give partial_fit in the order of the journal."""
    generator = np.random.default_rng(3)
    X, y = generator.normal(size=(60, 4)), generator.integers(0, 3, 60)
    service.ask("PUT", MODEL, {"features": {"kind": "array"}})
    requests = [
        ("POST", f"{MODEL}/learn", {"features": x.tolist(), "label": int(label), "id": str(i)})
        for i, (x, label) in enumerate(zip(X, y, strict=True))
    ]
    answers = [answer.json() for answer in service.all(requests)]
    order = np.argsort([answer["sequence"] for answer in answers])
    assert sorted(answer["sequence"] for answer in answers) == list(range(1, 61))
    estimator = AveragedPerceptron()
    for i in order:
        estimator.partial_fit(X[[i]], y[[i]])
    answer = service.ask("POST", f"{MODEL}/predict", {"rows": X.tolist()}).json()
    assert np.array_equal(answer["scores"], estimator.decision_function(X))


def test_batches(asked: Asked) -> None:
    """A list and NDJSON are learned alike, all or nothing."""
    examples = [{"features": {"good": 1}, "label": "yes"}, {"features": {"x": 1}, "label": "no"}]
    answer = asked.ask("POST", f"{MODEL}/learn", {"examples": examples}).json()
    assert [one["sequence"] for one in answer["results"]] == [3, 4]
    lines = "\n".join(json.dumps(one) for one in examples)
    headers = {"content-type": "application/x-ndjson"}
    answer = asked.ask("POST", f"{MODEL}/learn", content=lines, headers=headers).json()
    assert answer["version"] == 6
    status, _ = refused(asked, "POST", f"{MODEL}/learn", {"examples": [*examples, {"label": 1}]})
    assert status == 422
    status, sentence = refused(
        asked, "POST", f"{MODEL}/learn", {"examples": [*examples, {"features": {}, "label": 1}]}
    )
    assert status == 422
    assert sentence == (
        "Example 3: The label 1 is of another type than the classes so far, 'no', 'yes'."
    )
    assert asked.ask("GET", MODEL).json()["version"] == 6


def test_feedback_teaches_a_prediction(asked: Asked) -> None:
    """The label of an earlier prediction teaches its features, once."""
    predict(asked, {"good": 1, "odd": 3}, id="p1")
    answer = asked.ask("POST", f"{MODEL}/feedback", {"id": "p1", "label": "no"}).json()
    assert answer["sequence"] == 3
    again = asked.ask("POST", f"{MODEL}/feedback", {"id": "p1", "label": "no"}).json()
    assert (again["sequence"], again["duplicate"]) == (3, True)
    assert refused(asked, "POST", f"{MODEL}/feedback", {"id": "p1", "label": "yes"})[0] == 409
    status, sentence = refused(asked, "POST", f"{MODEL}/feedback", {"id": "p2", "label": "no"})
    assert (status, sentence[:24]) == (404, "No prediction 'p2' is re")


def test_a_trained_model_goes_on_learning(service: Asked, tmp_path: Path) -> None:
    """A model that train made of columns is served with them, and learns new rows of them."""
    (tmp_path / "mail.csv").write_text(
        "text,colour,size,label\n" + "buy cheap pills now,red,1,spam\nsee you at lunch,blue,2,ham\n"
        "cheap money now,red,3,spam\nmeeting at noon,blue,1,ham\n" * 3
    )
    model = model_from_files(str(tmp_path / "mail.csv"), text="text", label="label")
    model.save(tmp_path / "mail.model")
    file = msgspec.to_builtins((tmp_path / "mail.model").read_bytes())
    described = service.ask("PUT", MODEL, {"file": file}).json()
    assert described["columns"] == {"text": "text", "colour": "category", "size": "numeric"}
    row = {"text": "cheap lunch", "colour": "green", "size": 2}
    (tmp_path / "new.csv").write_text("text,colour,size\ncheap lunch,green,2\n")
    batch = next(iter(model.rows(str(tmp_path / "new.csv"), need_labels=False)))
    assert predict(service, row)["score"] == model.scores(batch)[0]
    assert learn(service, row, "ham")["sequence"] == 1
    assert predict(service, row)["score"] < model.scores(batch)[0]
    status, sentence = refused(service, "POST", f"{MODEL}/predict", {"features": {"sise": 1}})
    assert (status, sentence[:30]) == (422, "The model has no column 'sise'")


def test_names_of_columns_are_compared_once_composed(service: Asked, tmp_path: Path) -> None:
    """A request may write é as one character or two, as a file may; not both for one column."""
    one, two = "\u00e9tat", "e\u0301tat"
    rows = [f"{'red' if k % 3 else 'blue'},{k % 7},{'yes' if k % 3 else 'no'}" for k in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join([f"{one},size,label", *rows]), "utf-8")
    model = model_from_files(str(tmp_path / "rows.csv"))
    model.save(tmp_path / "rows.model")
    file = msgspec.to_builtins((tmp_path / "rows.model").read_bytes())
    assert list(service.ask("PUT", MODEL, {"file": file}).json()["columns"]) == [one, "size"]
    for word in ("red", "blue"):
        asked = [predict(service, {name: word, "size": 3}) for name in (one, two)]
        assert asked[0]["score"] == asked[1]["score"] == model.scores([{one: word, "size": 3}])[0]
    assert learn(service, {two: "red", "size": 3}, "yes")["sequence"] == 1
    features = {one: "red", two: "blue"}
    status, sentence = refused(service, "POST", f"{MODEL}/predict", {"features": features})
    assert status == 422
    assert sentence == f"The model has no column {two!r}; it has {one!r}, 'size'."


def test_pairs_of_columns_are_served(service: Asked, tmp_path: Path) -> None:
    """A model of shapes and maps answers and learns; of the same columns it tells one term."""
    rows = [f"{k % 13 - 6},{'ab'[k % 2]},{'xy'[(k % 13 > 6) ^ (k % 2)]}" for k in range(390)]
    (tmp_path / "rows.csv").write_text("\n".join(["size,kind,label", *rows, ""]))
    how: Any = {"label": "label", "form": "pairs", "recipe": "plain", "numeric": "size"}
    model = model_from_files(str(tmp_path / "rows.csv"), **how)
    model.save(tmp_path / "rows.model")
    service.ask("PUT", MODEL, {"file": msgspec.to_builtins((tmp_path / "rows.model").read_bytes())})
    row = {"size": 3, "kind": "b"}
    before = predict(service, row)["score"]
    assert before == pytest.approx(float(model.scores([row])[0]), abs=1e-12)
    told = service.ask("POST", f"{MODEL}/explain", {"features": row}).json()
    names = [term["name"] for term in told["terms"]]
    assert len(names) == 3
    assert sum(" and kind=b" in name for name in names) == 1
    assert math.fsum([told["bias"], *(term["amount"] for term in told["terms"])]) == pytest.approx(
        told["total"]
    )
    other = "x" if before > 0 else "y"
    assert learn(service, row, other)["updated"]
    assert predict(service, row)["score"] != before


def test_vectors_are_lists(service: Asked, tmp_path: Path) -> None:
    """A column of vectors is served with lists of numbers, and learns from them."""
    rows = [{"v": [k % 7, 1.5, -(k % 5)], "label": "ab"[k % 7 > 3]} for k in range(60)]
    (tmp_path / "rows.jsonl").write_bytes(msgspec.json.Encoder().encode_lines(rows))
    model = model_from_files(str(tmp_path / "rows.jsonl"), label="label")
    model.save(tmp_path / "rows.model")
    file = msgspec.to_builtins((tmp_path / "rows.model").read_bytes())
    described = service.ask("PUT", MODEL, {"file": file}).json()
    assert described["columns"] == {"v": "vector"}
    row = {"v": [6.0, 1.5, -1.0]}
    assert predict(service, row)["score"] == pytest.approx(model.scores([row])[0])
    assert learn(service, row, "a")["sequence"] == 1
    for wrong in ({"v": 3.0}, {"v": [1.0, 2.0]}, {"w": [1.0, 2.0, 3.0]}):
        status, _ = refused(service, "POST", f"{MODEL}/predict", {"features": wrong})
        assert status == 422


def test_a_wrong_value_of_a_column(service: Asked, tmp_path: Path) -> None:
    """The answer says what is wrong with the request, and nothing of options of training."""
    rows = [f"{k % 7},2024-0{k % 9 + 1}-11,{'ab'[k % 2]}" for k in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["size,day,label", *rows, ""]))
    model = model_from_files(str(tmp_path / "rows.csv"), label="label", numeric="size")
    model.save(tmp_path / "rows.model")
    service.ask("PUT", MODEL, {"file": msgspec.to_builtins((tmp_path / "rows.model").read_bytes())})
    good, bad = {"size": 2}, {"size": "big; really"}
    fault = "'big; really' in column 'size' is not a finite number."
    for body, sentence in (
        ({"features": bad}, f"features: {fault}"),
        ({"features": {"day": "noon"}}, "features: 'noon' in column 'day' is not a date."),
        ({"rows": [good, bad]}, f"features, row 2: {fault}"),
    ):
        assert refused(service, "POST", f"{MODEL}/predict", body) == (422, sentence)
    many = [{"features": one, "label": "a"} for one in (good, good, bad)]
    assert refused(service, "POST", f"{MODEL}/learn", {"examples": many}) == (
        422,
        f"Example 3: features: {fault}",
    )


def test_rows_that_do_not_fit(service: Asked, tmp_path: Path) -> None:
    """The answer names columns whose values are new or missing, for a single row as well."""
    rows = [f"{meal},{30 + k % 40},{'yes' if k % 3 else 'no'}" for k in range(150) for meal in "ab"]
    (tmp_path / "rows.csv").write_text("\n".join(["meal,age,label", *rows, ""]))
    model = model_from_files(str(tmp_path / "rows.csv"), label="label", numeric="age")
    model.save(tmp_path / "rows.model")
    service.ask("PUT", MODEL, {"file": msgspec.to_builtins((tmp_path / "rows.model").read_bytes())})
    assert "unfamiliar" not in predict(service, {"meal": "a", "age": 31})
    assert predict(service, {"meal": "A"})["unfamiliar"] == [
        "Column 'meal': its only value, 'A', was not seen in training.",
        "Column 'age': missing; none were in training.",
    ]
    many = {"rows": [{"meal": "a", "age": 30_000 + k} for k in range(30)]}
    answer = service.ask("POST", f"{MODEL}/predict", many).json()
    assert answer["unfamiliar"] == [
        "Column 'age': the median is 630 times that of the training rows."
    ]


def test_labels_and_categories_are_texts(service: Asked, tmp_path: Path) -> None:
    """3.1 and 3.10 are two; a number finds the only text of it, and a text the number."""
    (tmp_path / "rows.csv").write_text("zip,label\n" + "01,3.1\n02,3.10\n03,7\n" * 10)
    model_from_files(str(tmp_path / "rows.csv"), label="label").save(tmp_path / "rows.model")
    file = msgspec.to_builtins((tmp_path / "rows.model").read_bytes())
    assert service.ask("PUT", MODEL, {"file": file}).json()["classes"] == ["3.1", "3.10", "7"]
    assert predict(service, {"zip": "02"})["label"] == "3.10"
    assert predict(service, {"zip": 2})["label"] == "3.10"
    learn(service, {"zip": "03"}, 7)
    learn(service, {"zip": "03"}, "7")
    assert service.ask("GET", MODEL).json()["classes"] == ["3.1", "3.10", "7"]


def test_a_model_of_numbered_features(service: Asked, tmp_path: Path) -> None:
    """A model of svmlight files takes the numbers of its features as names."""
    (tmp_path / "rows.svm").write_text("yes 1:1 3:2\nno 2:1 3:-1\n" * 5)
    model = model_from_files(str(tmp_path / "rows.svm"), zero_based=False)
    model.save(tmp_path / "rows.model")
    file = msgspec.to_builtins((tmp_path / "rows.model").read_bytes())
    assert service.ask("PUT", MODEL, {"file": file}).json()["features"] == "numbered"
    batch = next(iter(model.rows(str(tmp_path / "rows.svm"))))
    assert predict(service, {"3": 2, "1": 1, "99": 4})["score"] == model.scores(batch)[0]
    learn(service, {"2": 1}, "yes")
    status, sentence = refused(service, "POST", f"{MODEL}/predict", {"features": {"x": 1}})
    assert (status, sentence) == (422, "The model numbers its features; got the name 'x'.")
    assert refused(service, "POST", f"{MODEL}/predict", {"features": {"0": 1}})[0] == 422


def test_a_model_of_arrays_goes_on_as_partial_fit(service: Asked, tmp_path: Path) -> None:
    """A saved estimator is served, and learns as its partial_fit does."""
    generator = np.random.default_rng(5)
    X, y = generator.normal(size=(30, 3)), generator.integers(0, 2, 30)
    estimator = AveragedPerceptron(max_iter=3).fit(X, y)
    save(estimator, tmp_path / "array.model")
    file = msgspec.to_builtins((tmp_path / "array.model").read_bytes())
    service.ask("PUT", MODEL, {"file": file})
    for x, label in zip(X[:10], y[:10], strict=True):
        learn(service, x.tolist(), int(1 - label))
        estimator.partial_fit([x], [1 - label])
    answer = service.ask("POST", f"{MODEL}/predict", {"rows": X.tolist()}).json()
    assert np.array_equal(answer["scores"], estimator.decision_function(X))


def test_arrays_whose_classes_are_known_first(service: Asked) -> None:
    """A model that knows its classes, but not how long a row is, learns that from the first row."""
    service.ask("PUT", MODEL, {"classes": ["no", "yes"], "features": {"kind": "array"}})
    assert (predict(service, [1, 2])["label"], predict(service, [1])["score"]) == ("no", 0.0)
    assert learn(service, [1, 2], "yes")["predicted"] == "no"
    assert predict(service, [1, 2])["label"] == "yes"
    status, sentence = refused(service, "POST", f"{MODEL}/predict", {"features": [1]})
    assert (status, sentence) == (422, "features has 1 numbers; the model has 2 features.")


@pytest.mark.parametrize("weights", [{0: 3.0, 1: 0.5}, {1: 0.0}])
def test_class_weights_of_a_trained_model(
    service: Asked, tmp_path: Path, weights: dict[int, float]
) -> None:
    """Steps are multiplied by the weight of the class, as partial_fit does, after a replay too."""
    generator = np.random.default_rng(6)
    X, y = generator.integers(-3, 4, size=(40, 3)).astype(float), generator.integers(0, 2, 40)
    estimator = AveragedPerceptron(max_iter=3, class_weight=weights).fit(X, y)
    save(estimator, tmp_path / "weighted.model")
    file = msgspec.to_builtins((tmp_path / "weighted.model").read_bytes())
    service.ask("PUT", MODEL, {"file": file})
    for x, label in zip(X, y, strict=True):
        learn(service, x.tolist(), int(1 - label))
        estimator.partial_fit([x], [1 - label])
    expected = estimator.decision_function(X)
    for version in (None, 40):  # as it is, and replayed from the journal
        entry = service.writer.entries["m"]
        replayed: Any = entry.shown.learner
        if version:
            replayed = service.app.versions.new(entry.record, 40)
        assert np.array_equal(replayed.scores(X.tolist()), expected)
    spec = ModelSpec(file=b"")
    again: Any = new_learner(spec, service.writer.limits, file_of(replayed.model()))
    assert again.class_weights == {0: 1.0, 1: 1.0} | weights


def test_balanced_weights_are_those_of_the_training(service: Asked, tmp_path: Path) -> None:
    """Balanced classes go on with the weights they had, or are refused where these are lost."""
    (tmp_path / "rows.csv").write_text("a,b,label\n" + "1,2,no\n" * 6 + "2,1,yes\n" * 2)
    model = model_from_files(str(tmp_path / "rows.csv"), label="label", class_weight="balanced")
    model.save(tmp_path / "rows.model")
    file = msgspec.to_builtins((tmp_path / "rows.model").read_bytes())
    assert service.ask("PUT", MODEL, {"file": file}).status_code == 201
    served: Any = service.writer.entries["m"].shown.learner
    assert served.class_weights == {"no": 8 / 12, "yes": 2.0}
    estimator = AveragedPerceptron(class_weight="balanced").fit([[0.0], [1.0]], [0, 1])
    save(estimator, tmp_path / "lost.model")
    file = msgspec.to_builtins((tmp_path / "lost.model").read_bytes())
    status, sentence = refused(service, "PUT", "/v1/models/lost", {"file": file})
    assert (status, sentence[:56]) == (
        422,
        "The model was trained with class_weight='balanced' and d",
    )


def exported(asked: Asked) -> Any:
    """Return the model as a file has it."""
    return model_from(asked.ask("GET", f"{MODEL}/export").content)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_answers_say_what_is_promised_of_them(
    service: Asked, tmp_path: Path, n_classes: int
) -> None:
    """A file with a guarantee gives the error at most of each answer, until it learns."""
    generator = np.random.default_rng(n_classes)
    numbers = generator.integers(0, n_classes, 900)
    X = np.round(generator.normal(size=(900, 2)) + 2 * numbers[:, None] * [1, -1], 2)
    clf = AveragedPerceptron().fit(X[:300], numbers[:300])
    sure = guarantee(clf, X[300:], numbers[300:])
    save(with_guarantee(clf.model_, sure.apart), tmp_path / "m")
    file = msgspec.to_builtins((tmp_path / "m").read_bytes())
    service.ask("PUT", MODEL, {"file": file})
    found = [predict(service, x)["error_at_most"] for x in X[:40].tolist()]
    many = service.ask("POST", f"{MODEL}/predict", {"rows": X[:40].tolist()}).json()
    assert many["errors_at_most"] == found
    for error in (0.02, 0.1, 0.5):
        answered = [
            one is not None for one in replace(sure, error=error).predict(X[:40], abstain=None)
        ]
        assert [bound <= error for bound in found] == answered
    assert len({*found}) > 3
    learn(service, X[0].tolist(), 0)
    assert "error_at_most" not in predict(service, X[0].tolist())


@pytest.mark.parametrize(
    "options",
    [
        {"calibrate": True},
        {"threshold": "balanced-accuracy"},
        {"calibrate": True, "memory": "last"},
    ],
)
@pytest.mark.parametrize("label", ["yes", "perhaps"])
def test_a_moved_bias_goes_on_as_train_does(
    service: Asked, tmp_path: Path, options: dict[str, Any], label: str
) -> None:
    """A calibrated model, or one with a threshold, learns new rows as train --from does."""
    generator = np.random.default_rng(8)
    numbers = generator.integers(-9, 10, size=(400, 2))
    labels = np.where(numbers.sum(1) + generator.integers(-9, 10, 400) > 5, "yes", "no")
    lines = [f"{a},{b},{word}" for (a, b), word in zip(numbers, labels, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,label", *lines]))
    model = model_from_files(str(tmp_path / "rows.csv"), label="label", bins=0, **options)
    assert model.training["bias_moved"] != 0
    model.save(tmp_path / "rows.model")
    file = msgspec.to_builtins((tmp_path / "rows.model").read_bytes())
    service.ask("PUT", MODEL, {"file": file})
    batch = next(iter(model.rows(str(tmp_path / "rows.csv"))))
    row = {"a": int(numbers[0, 0]), "b": int(numbers[0, 1])}
    assert predict(service, row)["score"] == model.scores(batch)[0]
    assert exported(service).calibration == model.calibration
    new = [(3, 1, label), (-4, 2, "yes"), (5, 5, "no"), (1, 0, "yes")]
    text = "a,b,label\n" + "".join(f"{a},{b},{word}\n" for a, b, word in new)
    (tmp_path / "new.csv").write_text(text)
    expected = learn_files(model, str(tmp_path / "new.csv"))
    bad = [{"features": {"a": 3, "b": 1}, "label": label}, {"features": {"c": 1}, "label": "no"}]
    assert service.ask("POST", f"{MODEL}/learn", {"examples": bad}).status_code == 422
    assert predict(service, row)["score"] == model.scores(batch)[0]
    service.ask("POST", f"{MODEL}/rollback", {"version": 0})
    for a, b, word in new:
        learn(service, {"a": a, "b": b}, word)
    found = exported(service)
    assert np.array_equal(found.weights, expected.weights)
    assert (found.ledger is None) == (options.get("memory") == "last")
    if found.ledger is not None and expected.ledger is not None:
        assert np.array_equal(found.ledger, expected.ledger)
    assert found.calibration is expected.calibration is None
    entry = service.writer.entries["m"]
    assert same(entry.own.learner, service.app.versions.new(entry.record, entry.shown.version))
    why = service.ask("POST", f"{MODEL}/why", {"features": row, "top": 1000}).json()
    teachers = sum(teacher["amount"] for teacher in why["teachers"])
    assert math.isclose(why["total"], why["start"] + teachers, abs_tol=1e-9)


NO_EFFECT = {
    "limit": {"features": {"kind": "hashed", "limit": 5}},
    "when_full": {"features": {"kind": "array", "when_full": "ignore"}},
    "bits": {"features": {"bits": 4}},
    "n_features": {"features": {"kind": "names", "n_features": 4}},
}


@pytest.mark.parametrize("name", NO_EFFECT)
def test_what_would_have_no_effect_is_refused(service: Asked, name: str) -> None:
    """A specification that says what would be ignored is refused."""
    status, sentence = refused(service, "PUT", MODEL, NO_EFFECT[name])
    assert (status, sentence.partition(" with")[0]) == (422, f"features.{name} has no effect")


def test_a_file_says_what_its_model_is(service: Asked, tmp_path: Path) -> None:
    """With a model file, rule, memory, parameters and kinds of features are not chosen again."""
    save(AveragedPerceptron().fit([[0.0], [1.0]], ["no", "yes"]), tmp_path / "a.model")
    file = msgspec.to_builtins((tmp_path / "a.model").read_bytes())
    for name, value in (
        *(("rule", "pa1"), ("memory", "last"), ("parameters", {"eta0": 2})),
        *(("zero", "negative"), ("fit_intercept", False), ("classes", ["no"])),
    ):
        status, sentence = refused(service, "PUT", MODEL, {"file": file, name: value})
        assert (status, sentence) == (
            422,
            f"{name} has no effect with file: the model file says it. Leave it out.",
        )
    for features in ({"kind": "hashed"}, {"limit": 3}, {"kind": "names", "bits": 3}):
        assert refused(service, "PUT", MODEL, {"file": file, "features": features})[0] == 422


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("after=x", "after must be a whole number of at least 0; got 'x'."),
        ("limit=99999", "limit must be at most 10000; got 99999."),
        ("mistakes=yes", "mistakes must be 0, 1, false, true; got 'yes'."),
        ("x=&" * 500, "Unknown query parameter 'x'; known: after, limit, mistakes."),
        ("Limit=3", "Unknown query parameter 'Limit'; known: after, limit, mistakes."),
    ],
)
def test_queries_are_checked(asked: Asked, query: str, sentence: str) -> None:
    """What stands behind the question mark is known and of its kind, or refused."""
    assert refused(asked, "GET", f"{MODEL}/journal?{query}", None) == (422, sentence)


BAD = {
    "no JSON": ("{", 400, "The body is not JSON"),
    "NaN": ('{"features": {"x": NaN}, "label": "a"}', 400, "The body is not JSON"),
    "infinite": ('{"features": {"x": 1e999}, "label": "a"}', 422, "Number out of range"),
    "a word for a number": ('{"features": ["1"], "label": "a"}', 422, "a list of numbers; got '1'"),
    "a number for a truth": ('{"features": [true], "label": "a"}', 422, "Expected `"),
    "unknown field": ('{"feature": {}, "label": "a"}', 422, "unknown field `feature`"),
    "too large a number": ('{"features": {"x": 1e99}, "label": "a"}', 422, "at most 1e+30"),
    "no label": ('{"features": {"x": 1}}', 422, "Give either features with a label or examples"),
    "null label": ('{"features": {}, "label": null}', 422, "got `null`"),
    "long label": (json.dumps({"features": {}, "label": "a" * 201}), 422, "1 to 200 characters"),
    "huge label": ('{"features": {}, "label": 1e300}', 422, "below 2^53"),
    "long id": (json.dumps({"features": {}, "label": "a", "id": "a" * 201}), 422, "200 characters"),
    "long name": (json.dumps({"features": {"a" * 1001: 1}, "label": "a"}), 422, "1,000 are taken"),
    "long word": (
        json.dumps({"features": {"a": "b" * 1001}, "label": "a"}),
        422,
        "1,000 are taken",
    ),
    "many features": (
        json.dumps({"features": dict.fromkeys(map(str, range(20_001)), 1), "label": "a"}),
        *(422, "at most 20,000"),
    ),
    "a list": ('{"features": [1, 2], "label": "a"}', 422, "must be an object of names"),
    "two at once": ('{"features": {}, "label": "a", "examples": []}', 422, "Give either"),
    "not UTF-8": (b'{"features": {"\xff": 1}, "label": "a"}', 400, "The body is not JSON"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_bodies(asked: Asked, name: str) -> None:
    """A body that does not fit gets a sentence that says why, and changes nothing."""
    body, status, sentence = BAD[name]
    headers = {"content-type": "application/json"}
    answer = refused(asked, "POST", f"{MODEL}/learn", content=body, headers=headers)
    assert answer[0] == status
    assert sentence in answer[1]
    assert asked.ask("GET", MODEL).json()["version"] == 2


def test_bad_models(service: Asked) -> None:
    """What cannot be created is refused: names, rules, parameters, files."""
    assert refused(service, "PUT", "/v1/models/-x", {})[0] == 422
    assert refused(service, "PUT", f"/v1/models/{'x' * 65}", {})[0] == 422
    assert refused(service, "PUT", "/v1/models/..%2fx", {})[0] in {404, 422}
    for spec, sentence in [
        ({"rule": "magic"}, "There is no rule 'magic'"),
        ({"parameters": {"C": 1}}, 'C has no effect with rule "perceptron"; use it'),
        ({"parameters": {"c": 1}}, "No rule has a parameter 'c'; known are eta0, "),
        ({"memory": "vote"}, "Invalid request body"),
        ({"features": {"kind": "hashed", "bits": 30}}, "bits must be at most 22"),
        ({"features": {"limit": 1 << 30}}, "limit must be at most"),
        ({"classes": ["a", 1]}, "all words, all numbers or all truth values"),
        ({"file": "bm90IGEgbW9kZWw="}, "The model file is not a rosenblatt model"),
        ({"file": "%%"}, "Invalid request body"),
    ]:
        status, found = refused(service, "PUT", MODEL, spec)
        assert status == 422
        assert sentence in found
    assert service.ask("GET", "/v1/models").json() == {"models": []}


def test_limits_of_requests(tmp_path: Path) -> None:
    """Each limit has its own error: body, batch, models, rate."""
    asked = Asked(tmp_path, Limits(body=1000, batch=3, models=1, remembered=2))
    asked.ask("PUT", MODEL, {})
    path = f"{MODEL}/predict"
    assert refused(asked, "POST", path, {"features": {"x" * 1001: 1}}) == (
        413,
        "The body may have 1,000 bytes at most.",
    )
    assert refused(asked, "POST", path, {"rows": [{}] * 4})[0] == 413
    assert refused(asked, "PUT", "/v1/models/other", {})[1].startswith("There are 1 models already")
    for i in range(3):
        predict(asked, {"x": 1}, id=str(i))
    assert refused(asked, "POST", f"{MODEL}/feedback", {"id": "0", "label": "a"})[0] == 404
    asked.close()


def test_a_slow_body_times_out(tmp_path: Path) -> None:
    """A client that does not send its body is told so and does not hold a place for ever."""
    asked = Asked(tmp_path, Limits(body_seconds=0.01))
    asked.ask("PUT", MODEL, {})
    sent: list[Any] = []

    async def run() -> None:
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope: dict[str, Any] = {
            "type": "http",
            "method": "POST",
            "path": f"{MODEL}/predict",
            "headers": headers,
        }
        scope |= {"query_string": b"", "root_path": ""}

        async def never() -> Any:
            await asyncio.sleep(3600)

        async def send(message: Any) -> None:
            sent.append(message)

        await asked.app(scope, never, send)

    asked.run(run())
    assert sent[0]["status"] == 408
    asked.close()


def test_only_json_from_this_host(asked: Asked) -> None:
    """Other types of content, other hosts and pages of other hosts are refused."""
    path = f"{MODEL}/predict"
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = refused(asked, "POST", path, content="{}", headers={"content-type": kind})
        assert answer[0] == 415
    for host in ("evil.example", "127.0.0.1:evil.com", "127.0.0.1:80:80", "127.0.0.1.evil.com:80"):
        assert refused(asked, "GET", MODEL, headers={"host": host}) == (
            421,
            f"Unknown host name {host.removesuffix(':80')!r}; the service must be started with it.",
        )
    for host in ("127.0.0.1", "localhost:8765", "[::1]", "[::1]:8765"):
        assert asked.ask("GET", MODEL, headers={"host": host}).status_code == 200
    assert refused(asked, "GET", MODEL, headers={"origin": "http://evil.example"})[0] == 403
    assert asked.ask("GET", MODEL, headers={"origin": "http://127.0.0.1"}).status_code == 200
    assert refused(asked, "GET", "/nothing")[0] == 404
    assert refused(asked, "DELETE", path)[0] == 405


def test_tokens(asked: Asked) -> None:
    """A token opens what its scopes say, of its models alone; the secret is shown once."""

    def token(name: str, *scopes: str, **more: Any) -> dict[str, str]:
        answer = asked.ask("POST", "/v1/tokens", {"name": name, "scopes": scopes, **more})
        assert answer.status_code == 201, answer.text
        return {"authorization": f"Bearer {answer.json()['token']}"}

    asked.headers = token("root", "admin")
    reader = token("reader", "predict", models=["m"])
    teacher = token("teacher", "teach")
    asked.ask("PUT", "/v1/models/other", {})
    row = {"features": {"good": 1}}
    assert asked.ask("POST", f"{MODEL}/predict", row, headers=reader).status_code == 200
    status, sentence = refused(asked, "POST", "/v1/models/other/predict", row, headers=reader)
    assert (status, sentence) == (403, "Token 'reader' lacks the scope 'predict' of 'other'.")
    example = {**row, "label": "yes"}
    assert refused(asked, "POST", f"{MODEL}/learn", example, headers=reader)[0] == 403
    assert asked.ask("POST", f"{MODEL}/learn", example, headers=teacher).status_code == 200
    assert refused(asked, "DELETE", MODEL, headers=teacher)[0] == 403
    for wrong in ("", "Bearer", "Bearer nonsense", f"Basic {reader['authorization'][7:]}"):
        answer = asked.ask("GET", MODEL, headers={"authorization": wrong})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
    listed = asked.ask("GET", "/v1/tokens").json()["tokens"]
    assert [(one["name"], one["token"]) for one in listed] == [
        ("reader", None),
        ("root", None),
        ("teacher", None),
    ]
    secret = asked.headers["authorization"][7:].encode()
    for file in asked.writer.folder.rglob("*"):
        assert file.is_dir() or secret not in file.read_bytes()
    assert asked.ask("DELETE", "/v1/tokens/reader").status_code == 204
    assert refused(asked, "POST", f"{MODEL}/predict", row, headers=reader)[0] == 401


def test_an_admin_of_one_model_has_no_say_in_tokens(asked: Asked) -> None:
    """A token with the scope admin of one model neither makes, lists nor removes tokens."""
    boss = asked.ask("POST", "/v1/tokens", {"name": "boss", "scopes": ["admin"]}).json()
    asked.headers = {"authorization": f"Bearer {boss['token']}"}
    body = {"name": "one", "scopes": ["admin"], "models": ["m"]}
    one = asked.ask("POST", "/v1/tokens", body).json()
    asked.headers = {"authorization": f"Bearer {one['token']}"}
    sentence = "Token 'one' is for some models only; this needs one for all."
    for scopes, models in ((["admin"], None), (["predict"], None), (["teach"], ["m"])):
        made = {"name": "new", "scopes": scopes, "models": models}
        assert refused(asked, "POST", "/v1/tokens", made) == (403, sentence)
    assert refused(asked, "GET", "/v1/tokens") == (403, sentence)
    assert refused(asked, "DELETE", "/v1/tokens/boss") == (403, sentence)
    assert {token.name for token in asked.writer.tokens.values()} == {"boss", "one"}
    assert asked.ask("POST", f"{MODEL}/rollback", {"version": 1}).status_code == 200


LAST_ADMIN = (
    "Token 'boss' is the last one with the scope 'admin' for all models, and nobody could make "
    "another: make one first, or start the service with a token of the operator."
)


def test_the_last_admin_token_stays(asked: Asked) -> None:
    """The last token that may make tokens cannot be removed, so somebody always gets in."""
    for name, models in (("boss", None), ("part", ["m"])):
        body = {"name": name, "scopes": ["admin"], "models": models}
        token = asked.ask("POST", "/v1/tokens", body).json()["token"]
        asked.headers = asked.headers or {"authorization": f"Bearer {token}"}
    assert refused(asked, "DELETE", "/v1/tokens/none") == (404, "There is no token 'none'.")
    assert refused(asked, "DELETE", "/v1/tokens/boss") == (409, LAST_ADMIN)
    assert asked.ask("DELETE", "/v1/tokens/part").status_code == 204
    assert refused(asked, "DELETE", "/v1/tokens/boss") == (409, LAST_ADMIN)
    second = asked.ask("POST", "/v1/tokens", {"name": "second", "scopes": ["admin"]}).json()
    assert asked.ask("DELETE", "/v1/tokens/boss").status_code == 204
    assert refused(asked, "GET", MODEL) == (401, "Unknown token.")
    asked.headers = {"authorization": f"Bearer {second['token']}"}
    assert asked.ask("GET", MODEL).status_code == 200


@pytest.mark.parametrize("again", [False, True])
def test_no_removal_opens_a_service(tmp_path: Path, again: bool) -> None:
    """A service that had a token at its start, or since, asks for one until it ends."""
    asked = Asked(tmp_path)
    token = asked.ask("POST", "/v1/tokens", {"name": "x", "scopes": ["admin"]}).json()["token"]
    if again:
        asked.close()
        asked = Asked(tmp_path)
    headers = {"authorization": f"Bearer {token}"}
    assert asked.ask("GET", "/v1/models", headers=headers).status_code == 200
    command(asked.writer, lambda: asked.writer.remove_token("x", keep_admin=False))
    assert not asked.writer.tokens
    status, sentence = refused(asked, "GET", "/v1/models")
    assert (status, sentence[:17]) == (401, "A token is needed")
    assert refused(asked, "GET", "/v1/models", headers=headers) == (401, "Unknown token.")
    asked.close()


def test_the_operator_may_remove_all_tokens(tmp_path: Path) -> None:
    """Who started the service with a token removes the last other one, and it stays closed."""
    asked = Asked(tmp_path, operator=digest_of("boss"))
    headers = {"authorization": "Bearer boss"}
    body = {"name": "x", "scopes": ["admin"]}
    assert asked.ask("POST", "/v1/tokens", body, headers=headers).status_code == 201
    assert asked.ask("DELETE", "/v1/tokens/x", headers=headers).status_code == 204
    assert refused(asked, "GET", "/v1/models")[0] == 401
    assert asked.ask("GET", "/v1/models", headers=headers).status_code == 200
    asked.close()


@pytest.mark.parametrize("name", ["evil\n", "a b", "", "é", "x" * 65])
def test_names_of_tokens_match_as_a_whole(asked: Asked, name: str) -> None:
    """A name with anything else than the allowed characters is refused, a last newline too."""
    body = {"name": name, "scopes": ["teach"]}
    assert asked.ask("POST", "/v1/tokens", body).status_code == 422
    body = {"name": "good", "scopes": ["teach"], "models": [name]}
    assert asked.ask("POST", "/v1/tokens", body).status_code == 422
    body = {"name": "good", "scopes": ["teach\n"]}
    status, sentence = refused(asked, "POST", "/v1/tokens", body)
    assert (status, sentence[:23]) == (422, "Invalid request body: I")
    assert not asked.writer.tokens


def test_the_operator_has_its_name_alone(asked: Asked) -> None:
    """No token may be called as the operator's is in the journal."""
    body = {"name": "operator", "scopes": ["teach"]}
    assert refused(asked, "POST", "/v1/tokens", body) == (
        422,
        "The name 'operator' is reserved for the token of the operator; choose another.",
    )


DUPLICATES = {
    "top level": (f"{MODEL}/predict", b'{"features": {"a": 1}, "features": {"b": 1}}', "features"),
    "a feature": (f"{MODEL}/predict", b'{"features": {"a": 1, "a": 2}}', "a"),
    "by escape": (f"{MODEL}/predict", b'{"features": {"a": 1, "\\u0061": 2}}', "a"),
    "beside a colon": (f"{MODEL}/predict", b'{"features": {"a": 1, "t": "12:30", "a": 2}}', "a"),
    "in rows": (f"{MODEL}/predict", b'{"rows": [{"a": 1}, {"b": 1, "b": 1}]}', "b"),
    "null twice": (f"{MODEL}/predict", b'{"features": {"a": 1}, "id": null, "id": null}', "id"),
    "in examples": (
        f"{MODEL}/learn",
        b'{"examples": [{"features": {"a": 1}, "label": "yes", "label": "no"}]}',
        "label",
    ),
    "parameters": ("/v1/models/n", b'{"rule": "pa1", "parameters": {"C": 1, "C": 2}}', "C"),
}


@pytest.mark.parametrize("name", DUPLICATES)
def test_a_key_that_stands_twice(asked: Asked, name: str) -> None:
    """A body in which a key stands twice is refused; nobody knows which was meant."""
    path, body, key = DUPLICATES[name]
    method = "PUT" if path.endswith("/n") else "POST"
    headers = {"content-type": "application/json"}
    status, sentence = refused(asked, method, path, content=body, headers=headers)
    assert (status, sentence) == (
        422,
        f"Invalid request body: the key {key!r} stands twice in one place.",
    )
    assert asked.writer.entries["m"].shown.version == 2
    assert set(asked.writer.entries) == {"m"}


def test_a_key_that_stands_twice_in_a_line(asked: Asked) -> None:
    """Lines of NDJSON are looked at one by one: the same key in two of them is usual."""
    line = b'{"features": {"t": "at 12:30"}, "label": "yes"}\n'
    headers = {"content-type": "application/x-ndjson"}
    path = f"{MODEL}/learn"
    assert asked.ask("POST", path, content=line * 2, headers=headers).status_code == 200
    bad = line + line.replace(b'{"t"', b'{"t": 1, "t"')
    assert asked.ask("POST", path, content=bad, headers=headers).status_code == 422
    assert asked.writer.entries["m"].shown.version == 4


def test_a_feature_named_as_if_forgotten(asked: Asked) -> None:
    """A name that a client chose has the weight that it taught, whatever was forgotten before."""
    learn(asked, {"secret": 1}, "yes", id="s")
    job = asked.ask("POST", f"{MODEL}/forget", {"id": "s"}).json()["job"]
    while asked.ask("GET", f"{MODEL}/jobs/{job}").json()["status"] == "waiting":
        pass
    for number in range(4):
        plain, named = predict(asked, {}), predict(asked, {f"(forgotten {number})": 5})
        assert named["score"] == plain["score"]
    learn(asked, {"(forgotten 2)": 1}, "no")
    names = asked.writer.entries["m"].shown.learner.space.names()
    assert names == ("good", "bad", "(forgotten 2)")


def test_rate_of_a_token(tmp_path: Path) -> None:
    """A caller that asks too often is told to wait."""
    asked = Asked(tmp_path, Limits(rate=3.0), clock=lambda: 0.0)
    answers = [asked.ask("GET", "/v1/models") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert answers[-1].headers["retry-after"] == "1"
    asked.close()


def test_health_ready_metrics(asked: Asked) -> None:
    """Health, readiness and counters are there, with the reason while it is read-only."""
    assert asked.ask("GET", "/health").json()["ready"] is True
    assert asked.ask("GET", "/ready").json() == {"ready": True, "reason": None}
    predict(asked, {"good": 1})
    text = asked.ask("GET", "/metrics").text
    assert 'rosenblatt_examples_total{model="m"} 2' in text
    assert 'rosenblatt_predictions_total{model="m"} 1' in text
    assert "rosenblatt_read_only 0" in text
    asked.writer.failure = "the disk is full"
    assert asked.ask("GET", "/ready").status_code == 503
    assert "rosenblatt_read_only 1" in asked.ask("GET", "/metrics").text
    assert predict(asked, {"good": 1})["version"] == 2
    asked.writer.failure = None


def test_mounted_in_another_application(tmp_path: Path) -> None:
    """Another Starlette application can mount the service, with its page and its errors."""
    inner = create_app(tmp_path, names=["outer"])
    path = "/models/v1/models/m"

    async def ask(lifespan: Any) -> None:
        outer = Starlette(routes=[Mount("/models", inner)], lifespan=lifespan)
        transport = httpx.ASGITransport(outer)
        async with (
            outer.router.lifespan_context(outer),
            httpx.AsyncClient(transport=transport, base_url="http://outer") as client,
        ):
            answer = await client.put(path, json={"classes": ["no", "yes"]})
            assert answer.status_code == 201
            example = {"features": {"x": 1}, "label": "yes"}
            learned = (await client.post(f"{path}/learn", json=example)).json()
            found = (await client.post(f"{path}/predict", json={"features": {"x": 1}})).json()
            assert (found["label"], found["version"]) == ("yes", learned["version"])
            page = (await client.get("/models/")).text
            for part in re.findall(r'(?:src|href)="([\w./]+)"', page):
                assert (await client.get(f"/models/{part}")).status_code == 200
            missing = await client.get("/models/v1/nothing")
            assert (missing.status_code, missing.json()) == (404, {"error": "Not found."})
            refused = await client.post(path, json={})
            assert refused.headers["allow"] == "DELETE, GET, HEAD, PUT"
            sentence = "Method not allowed; use DELETE or GET or HEAD or PUT."
            assert (refused.status_code, refused.json()) == (405, {"error": sentence})

    asyncio.run(ask(None))
    asyncio.run(ask(inner.lifespan))
    inner.close()


def test_nested_rows_are_those_of_files(service: Asked, tmp_path: Path) -> None:
    """Objects and lists in a request are columns and categories, as in the file of training."""
    rows: list[Any] = []
    for k in range(60):
        tags = ["old", "big"][: 1 + k % 2] if k % 3 else ["new"]
        label = "no" if tags == ["new"] else "yes"
        rows.append({"user": {"age": 20 + k % 9}, "tags": tags, "label": label})
    (tmp_path / "rows.jsonl").write_bytes(msgspec.json.Encoder().encode_lines(rows))
    model = model_from_files(str(tmp_path / "rows.jsonl"))
    model.save(tmp_path / "rows.model")
    file = msgspec.to_builtins((tmp_path / "rows.model").read_bytes())
    described = service.ask("PUT", MODEL, {"file": file}).json()
    assert described["columns"] == {"user.age": "numeric", "tags": "list"}
    row = {"user": {"age": 30}, "tags": ["old", "big"]}
    assert predict(service, row)["score"] == pytest.approx(model.scores([row])[0])
    asked = [row, {"user.age": 30, "tags": "new"}, {"user": {"age": 30}, "tags": ["new", None]}]
    answer = service.ask("POST", f"{MODEL}/predict", {"rows": asked}).json()
    assert answer["labels"] == ["yes", "no", "no"]
    assert learn(service, row, "no")["sequence"] == 1
    wrong: list[tuple[Any, str]] = [
        ({"user": {"size": 3}}, "The model has no column 'user.size'; it has 'user.age', 'tags'."),
        ({"user": {"age": [3]}}, "'user.age' must be a number or a word; got a list or an object."),
        ({"user": {"age": 3}, "user.age": 4}, "features: 'user.age' is a column by itself and "),
        ({"user": {"age": 10**400}}, "features: a number is beyond the range of float64."),
        ({"user": {"tags": [["x"]]}}, "features: a list must hold numbers or words; got a list"),
    ]
    for features, reason in wrong:
        status, sentence = refused(service, "POST", f"{MODEL}/predict", {"features": features})
        assert status == 422
        assert sentence.startswith(reason)


def test_names_of_nested_features(service: Asked) -> None:
    """A model of names has user.age for an object, and a feature for each word of a list."""
    service.ask("PUT", MODEL, {})
    for label, word in (("a", "x"), ("b", "y")) * 2:
        learn(service, {"user": {"age": 2, "home": word}, "tags": [word, "z"]}, label)
    features = {"user": {"home": "y"}, "tags": ["y", "new"]}
    answer = service.ask("POST", f"{MODEL}/explain", {"features": features}).json()
    assert {term["name"] for term in answer["terms"]} == {"user.home=y", "tags=y"}
    assert answer["unknown"] == 1
    assert predict(service, features)["label"] == "b"

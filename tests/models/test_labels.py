"""Files whose rows may have several labels: learned, judged, gone on with, exported."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import accuracy_score, f1_score, hamming_loss, precision_score, recall_score

from rosenblatt import MultilabelClassifier, load, save, train_files, why
from rosenblatt.errors import InputError
from rosenblatt.models.continuation import learn_files
from rosenblatt.models.export import to_json, to_onnx
from rosenblatt.models.model import Model
from rosenblatt.tasks.evaluation import LabelEvaluation
from rosenblatt.tasks.label_sets import label_losses
from rosenblatt.tasks.label_thresholds import fitted_thresholds
from rosenblatt.training.holdout import HoldOut, some_folds

WORDS = {
    "game": ["chess", "board", "arcade"],
    "gui": ["window", "widget"],
    "mail": ["mail", "smtp", "inbox"],
    "perl": ["perl", "cpan"],
}
PLAIN: dict[str, Any] = {"rule": "pa1", "recipe": "plain", "early_stopping": False, "max_iter": 3}


def made(n_rows: int, seed: int = 0, noise: float = 0.1) -> tuple[list[list[str]], list[str]]:
    """Return the labels of rows, and their texts."""
    rng = np.random.default_rng(seed)
    labels, texts = [], []
    for _ in range(n_rows):
        own = [label for label in WORDS if rng.random() < 0.35]
        told = [one for one in own if rng.random() > noise]
        words = [str(rng.choice(WORDS[one])) for one in told for _ in range(2)]
        words += [str(one) for one in rng.choice(["the", "a", "tool", "library"], 3)]
        labels.append(own)
        texts.append(" ".join(words))
    return labels, texts


LABELS, TEXTS = made(400)


def indicator(rows: Any, labels: Any = tuple(WORDS)) -> Any:
    """Return which row has which label, as scikit-learn has it."""
    return np.array([[label in row for label in labels] for row in rows]).astype(int)


def written(folder: Path, form: str, labels: Any = LABELS, texts: Any = TEXTS) -> str:
    """Return the name of a file of these rows."""
    path = folder / f"rows.{form}"
    if form == "tsv":
        lines = [f"{';'.join(own)}\t{text}" for own, text in zip(labels, texts, strict=True)]
        path.write_text("\n".join(["tags\ttext", *lines]) + "\n")
    elif form == "txt":
        marked = [" ".join(f"__label__{one}" for one in own) for own in labels]
        path.write_text("".join(f"{m} {t}\n" for m, t in zip(marked, texts, strict=True)))
    elif form == "jsonl":
        pairs = zip(labels, texts, strict=True)
        path.write_text("".join(json.dumps({"tags": o, "text": t}) + "\n" for o, t in pairs))
    else:
        frame = pl.DataFrame(
            {"tags": labels, "text": texts}, schema_overrides={"tags": pl.List(pl.String)}
        )
        frame.write_parquet(path)
    return str(path)


HOW: dict[str, dict[str, Any]] = {
    "tsv": {"label": "tags", "label_separator": ";"},
    "txt": {},
    "jsonl": {"label": "tags"},
    "parquet": {"label": "tags"},
}


@pytest.mark.parametrize("form", HOW)
@pytest.mark.parametrize("goal", ["each", "ranking"])
def test_files_give_the_weights_of_the_estimator(tmp_path: Path, form: str, goal: str) -> None:
    """Rows of any format are learned as fit learns them, rows without a label among them."""
    path = written(tmp_path, form)
    clf: Any = train_files(path, text="text", goal=goal, **HOW[form], **PLAIN)
    rows = clf.encoding_.encode_frame(TEXTS)
    X = sparse.csr_array(
        (rows.data, rows.indices, rows.indptr), (len(TEXTS), clf.model_.n_features)
    )
    expected = MultilabelClassifier(goal=goal, max_iter=3, thresholds=False).fit(X, LABELS)
    assert isinstance(clf, MultilabelClassifier)
    assert clf.classes_.tolist() == sorted(WORDS)
    assert [] in LABELS
    np.testing.assert_allclose(clf.coef_, expected.coef_, rtol=1e-9, atol=1e-12)
    assert clf.predict_labels(TEXTS) == expected.predict_labels(X)
    assert clf.model_.training["class_counts"] == indicator(LABELS).sum(axis=0).tolist()
    assert clf.model_.training["n_rows"] == 400


def test_large_files_give_the_same_weights(tmp_path: Path) -> None:
    """Rows that are read in many blocks are learned as those that fit into memory."""
    path, how = written(tmp_path, "tsv"), HOW["tsv"] | PLAIN | {"text": "text", "shuffle": False}
    whole: Any = train_files(path, **how)
    parts: Any = train_files(path, buffer=4096, **how)
    assert np.array_equal(whole.coef_, parts.coef_)


@pytest.mark.parametrize("calibrate", [False, True])
def test_measures_are_those_of_scikit_learn(tmp_path: Path, calibrate: bool) -> None:
    """Every figure of an evaluation is the one that scikit-learn has for the same labels."""
    path = written(tmp_path, "tsv")
    clf: Any = train_files(path, text="text", calibrate=calibrate, **HOW["tsv"])
    labels, texts = made(300, seed=1)
    (tmp_path / "new").mkdir()
    found = clf.model_.evaluate(written(tmp_path / "new", "tsv", labels, texts))
    truth, said, scores = indicator(labels), clf.predict(texts), clf.decision_function(texts)
    for average, figures in (("micro", found.micro), ("macro", found.macro)):
        measures = {"precision": precision_score, "recall": recall_score, "f1": f1_score}
        for name, measure in measures.items():
            value = measure(truth, said, average=average, zero_division=np.nan)
            assert figures[name] == pytest.approx(value)
    assert found.exact_match == pytest.approx(accuracy_score(truth, said))
    assert found.hamming_loss == pytest.approx(hamming_loss(truth, said))
    for k, value in found.precision_at.items():
        first = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        assert value == pytest.approx(np.take_along_axis(truth, first, 1).mean())
    own = f1_score(truth, said, average=None)
    assert [one.f1 for one in found.by_class] == pytest.approx(own.tolist())
    always = f1_score(truth, np.ones_like(truth), average=None)
    assert [found.always_f1(one) for one in found.by_class] == pytest.approx(always.tolist())
    kept, f1 = found.baseline(clf.model_.training["class_counts"])
    fixed = np.tile(indicator([kept]), (300, 1))
    assert f1 == pytest.approx(f1_score(truth, fixed, average="micro"))
    assert found.micro["f1"] > 0.85 > f1
    if calibrate:
        shares = clf.predict_proba(texts)
        assert shares.shape == (300, 4)
        assert abs(shares.mean(axis=0) - truth.mean(axis=0)).max() < 0.06


def test_labels_that_the_model_does_not_know_are_missed(tmp_path: Path) -> None:
    """A row with an unknown label is wrong, and the label counts as never found."""
    clf: Any = train_files(written(tmp_path, "tsv"), text="text", **HOW["tsv"])
    labels, texts = made(50, seed=2)
    labels[7] = [*labels[7], "ruby"]
    names = [*WORDS, "ruby"]
    (tmp_path / "new").mkdir()
    found = clf.model_.evaluate(written(tmp_path / "new", "tsv", labels, texts))
    truth = indicator(labels, names)
    said = np.pad(clf.predict(texts), ((0, 0), (0, 1)))
    assert found.labels == tuple(names)
    assert found.n_unknown == 1
    assert found.micro["f1"] == pytest.approx(f1_score(truth, said, average="micro"))
    assert found.macro["f1"] == pytest.approx(f1_score(truth, said, average="macro"))
    assert found.exact_match == pytest.approx(accuracy_score(truth, said))


@given(st.lists(st.sets(st.integers(0, 4)), min_size=1, max_size=20), st.integers(0, 99))
def test_ranking_losses_are_those_of_a_plain_list(rows: list[set[int]], seed: int) -> None:
    """The share of a row's labels that are not among as many of the highest scores."""
    scores = np.random.default_rng(seed).integers(-3, 4, (len(rows), 5)).astype(float)
    different = list(dict.fromkeys(map(frozenset, rows)))
    members = np.array([label for one in different for label in sorted(one)], np.int32)
    ends = np.cumsum([0, *map(len, different)])
    numbers = np.array([different.index(frozenset(row)) for row in rows])
    expected = []
    for row, own in zip(rows, scores.tolist(), strict=True):
        first = sorted(range(5), key=lambda label: (-own[label], label))[: len(row)]
        expected.append(len(row - set(first)) / len(row) if row else 0.0)
    assert label_losses(scores, (members, ends), numbers).tolist() == pytest.approx(expected)


def test_thresholds_come_from_rows_that_were_not_learned(tmp_path: Path) -> None:
    """Where no rows are held out, thresholds are 0; else weights are those of all rows."""
    path, how = written(tmp_path, "tsv"), HOW["tsv"] | {"text": "text", "recipe": "plain"}
    how |= {"shuffle": False, "C": 0.01}  # small steps: a score of 0 is no good threshold
    none: Any = train_files(path, early_stopping=False, **how)
    some: Any = train_files(path, **how)
    assert not none.thresholds_.any()
    assert some.thresholds_.any()
    training = some.model_.training
    assert training["refit"]
    assert training["held_out_rows"] > 0
    assert training["held_out_labels"]["micro"]["f1"] > 0.8
    passes = {"max_iter": training["refit_passes"], "rule": none.rule}
    again: Any = train_files(path, early_stopping=False, **how | passes)
    assert np.array_equal(again.coef_, some.coef_)


def test_thresholds_of_files_are_fitted_to_the_held_out_rows(tmp_path: Path) -> None:
    """They are those of the rows that the seed holds out, scored by weights of the others."""
    how = HOW["tsv"] | {"text": "text", "recipe": "plain", "refit": False, "C": 0.01}
    clf: Any = train_files(written(tmp_path, "tsv"), **how)
    held_out = HoldOut.drawn(0.1, np.random.default_rng(0)).between(0, 400).tried
    assert len(held_out) == clf.model_.training["held_out_rows"]
    scores = clf.decision_function([TEXTS[k] for k in held_out])
    truth = indicator([LABELS[k] for k in held_out]).astype(bool)
    expected = fitted_thresholds(scores, truth)
    np.testing.assert_allclose(clf.model_.thresholds, expected, rtol=1e-9)


def test_thresholds_of_few_rows_are_fitted_to_all_in_turn(tmp_path: Path) -> None:
    """Where few rows are held out, each row is scored by weights of the other folds."""
    how = HOW["tsv"] | {"text": "text", "recipe": "plain", "rule": "pa1", "C": 0.01, "max_iter": 3}
    clf: Any = train_files(written(tmp_path, "tsv"), **how)
    rows = clf.encoding_.encode_frame(TEXTS)
    X = sparse.csr_array((rows.data, rows.indices, rows.indptr), (400, clf.model_.n_features))
    other = MultilabelClassifier(parameters={"C": 0.01}, max_iter=3, thresholds=False)
    scores, truth = np.zeros((400, 4)), indicator(LABELS)
    for learned, tried in some_folds(np.zeros(400), 0):
        other.fit(X[learned], truth[learned])
        scores[tried] = other.decision_function(X[tried])
    expected = fitted_thresholds(scores, truth.astype(bool))
    np.testing.assert_allclose(clf.model_.thresholds, expected, rtol=1e-9)


def test_going_on_is_partial_fit(tmp_path: Path) -> None:
    """A model goes on with new rows, and with labels that come up, as the estimator does."""
    how = HOW["tsv"] | PLAIN | {"text": "text", "memory": "last"}
    path = written(tmp_path, "tsv", LABELS[:200], TEXTS[:200])
    first: Any = train_files(path, **how)
    labels = [[*own, "odd"] if k % 5 == 0 else own for k, own in enumerate(LABELS[200:])]
    new = written(tmp_path, "tsv", labels, TEXTS[200:])
    seen: list[Any] = []
    told: list[str] = []
    model = learn_files(first.model_, new, watch=seen.append, tell=told.append)
    expected = first.partial_fit(TEXTS[200:], labels)
    assert model.classes == tuple(sorted([*WORDS, "odd"]))
    np.testing.assert_allclose(model.weights[:, :-1], expected.coef_, rtol=1e-9, atol=1e-12)
    assert seen[-1].n_rows == 200
    assert seen[0].label == ", ".join(sorted(labels[0]))
    assert "New labels were learned: odd." in told
    counts = dict(zip(model.classes, model.training["class_counts"], strict=True))
    assert counts["odd"] == 40


@pytest.mark.parametrize("goal", ["each", "ranking"])
def test_a_model_file_keeps_thresholds_and_probabilities(tmp_path: Path, goal: str) -> None:
    """What is loaded predicts as what was saved, and what does not fit is said."""
    path = written(tmp_path, "tsv")
    clf: Any = train_files(path, text="text", goal=goal, calibrate=True, **HOW["tsv"])
    save(clf, tmp_path / "tags.model")
    model = Model.load(tmp_path / "tags.model")
    assert model.predict(TEXTS).tolist() == clf.predict_labels(TEXTS)
    assert np.array_equal(model.probabilities(TEXTS), clf.predict_proba(TEXTS))
    assert load(tmp_path / "tags.model").goal == goal
    model.arrays["thresholds"] = np.zeros(3)
    with pytest.raises(InputError, match=r"its thresholds must be float64 of shape \(5,\)"):
        model.save(tmp_path / "bad.model")


def test_exports_say_which_row_has_which_label() -> None:
    """JSON has a vector for each label, ONNX says which are above their thresholds."""
    onnxruntime = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    for n_labels in (1, 2, 4):
        Y = (X @ rng.standard_normal((5, n_labels)) > 0.5).astype(int)
        clf = MultilabelClassifier().fit(X, sparse.csr_array(Y))
        document = json.loads(to_json(clf.model_))
        assert [one["class"] for one in document["vectors"]] == list(range(n_labels))
        assert all("against" not in one for one in document["vectors"])
        session = onnxruntime.InferenceSession(to_onnx(clf.model_))
        labels, scores = session.run(None, {"X": X})
        assert np.array_equal(labels.astype(int), clf.predict(X))
        np.testing.assert_allclose(scores, clf.decision_function(X), rtol=1e-12)


def test_bad_rows_are_skipped(tmp_path: Path) -> None:
    """A label that can be none is a fault of its row; a row without labels is none."""
    path = tmp_path / "rows.tsv"
    written(tmp_path, "tsv")
    path.write_text(path.read_text() + "game;" + "x" * 2000 + "\tchess\n")
    how = HOW["tsv"] | PLAIN | {"text": "text"}
    with pytest.raises(InputError, match=r"line 402: column 'tags': label 'x+…' is longer"):
        train_files(str(path), **how)
    clf = train_files(str(path), bad_rows="skip", **how)
    assert clf.model_.training["bad_rows"]["count"] == 1
    assert clf.model_.training["n_rows"] == 400


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"class_weight": "balanced"}, "class_weight= is not available where a row may have"),
        ({"threshold": "f1"}, "threshold= is not available where a row may have several"),
        ({"kernel": "rbf"}, "kernel= is not available where a row may have several labels"),
        ({"record_mistakes": True, "rule": "arow"}, "its weights are not the sum of its mistakes"),
        ({"memory": "vote"}, "memory='vote' is not available where a row may have several"),
        ({"verdict": True}, "verdict= is not available where a row may have several labels"),
        ({"goal": "ranking", "rule": "arow"}, "goal='ranking' needs a first-order rule"),
        ({"goal": "both"}, "goal of train_files must be 'each', 'ranking' or 'sequences'"),
        ({"label": "text", "label_separator": " ", "text": "tags"}, "different labels in 30 rows"),
        ({"label_separator": None, "goal": "each"}, "goal='each' is for rows with several"),
    ],
)
def test_what_cannot_be_is_said(tmp_path: Path, given: dict[str, Any], words: str) -> None:
    """Each parameter that needs one label a row has its sentence."""
    texts = [f"{text} word{k} other{k}" for k, text in enumerate(TEXTS[:30])]
    labels = [[own[0] if own else "none"] for own in LABELS[:30]]
    path = written(tmp_path, "tsv", labels, texts)
    with pytest.raises(InputError, match=words):
        train_files(path, **{"text": "text", **HOW["tsv"], **given})


def test_no_label_at_all_is_an_error(tmp_path: Path) -> None:
    """There must be a label to learn."""
    path = written(tmp_path, "tsv", [[]] * 40, TEXTS[:40])
    with pytest.raises(InputError, match="None of the 40 rows has a label"):
        train_files(path, text="text", **HOW["tsv"])


def test_several_labels_are_suspected(tmp_path: Path) -> None:
    """Many different texts made of a few parts look like several labels a row."""
    rng = np.random.default_rng(0)
    names = [f"tag{k}" for k in range(12)]
    labels = [sorted(map(str, rng.choice(names, 3, replace=False))) for _ in range(400)]
    path = written(tmp_path, "tsv", [*labels, *labels[:150]], [*TEXTS, *TEXTS[:150]])
    clf = train_files(path, label="tags", text="text", **PLAIN)
    notes = clf.model_.training["notes"]
    assert any("look as if rows had several: if they have, use" in str(note) for note in notes)
    names = [f"tag{k}" for k in range(25)]
    labels = [sorted(map(str, rng.choice(names, 3, replace=False))) for _ in range(400)]
    with pytest.raises(InputError, match=r"if rows have several labels, use label_separator=';'"):
        train_files(written(tmp_path, "tsv", labels, TEXTS), label="tags", text="text")


def test_no_row_is_judged_as_nothing() -> None:
    """Shares of nothing are None."""
    found = LabelEvaluation(("a", "b"))
    assert found.error is None
    assert found.micro == {"precision": None, "recall": None, "f1": None}
    assert found.precision_at == {1: None}


def test_a_label_that_comes_late_is_learned(tmp_path: Path) -> None:
    """One pass that learns while it reads begins again where a later block has a new label."""
    labels = [*LABELS[:399], ["late"]]
    path, how = written(tmp_path, "tsv", labels), HOW["tsv"] | PLAIN | {"text": "text"}
    how |= {"shuffle": False, "max_iter": 1, "hash_bits": 10}
    whole: Any = train_files(path, **how)
    parts: Any = train_files(path, buffer=4096, **how)
    assert "late" in parts.classes_.tolist()
    assert np.array_equal(whole.coef_, parts.coef_)


def test_a_training_that_was_stopped_goes_on(tmp_path: Path) -> None:
    """From a checkpoint the weights and thresholds are those of a training without a pause."""
    path, how = written(tmp_path, "tsv"), HOW["tsv"] | {"text": "text", "rule": "pa1"}
    point = str(tmp_path / "pause")
    whole: Any = train_files(path, **how)
    first: Any = train_files(path, checkpoint=point, checkpoint_seconds=0.0, time_limit=1e-9, **how)
    assert first.stop_reason_ == "time_limit"
    rest: Any = train_files(path, checkpoint=point, **how)
    assert np.array_equal(whole.coef_, rest.coef_)
    assert np.array_equal(whole.thresholds_, rest.thresholds_)


def test_rows_of_validation_choose_the_thresholds(tmp_path: Path) -> None:
    """Rows of another file are never learned from; a label that only they have is an error."""
    labels, texts = made(100, seed=3)
    (tmp_path / "other").mkdir()
    other = written(tmp_path / "other", "tsv", labels, texts)
    how = HOW["tsv"] | {"text": "text", "recipe": "plain"}
    clf: Any = train_files(written(tmp_path, "tsv"), validation=other, **how)
    assert clf.model_.training["held_out_rows"] == 100
    assert clf.model_.training["held_out_labels"]["rows"] == 100
    assert clf.model_.training["n_rows"] == 400
    other = written(tmp_path / "other", "tsv", [*labels[1:], ["strange"]], texts)
    with pytest.raises(InputError, match="no row to learn from has the label 'strange'"):
        train_files(written(tmp_path, "tsv"), validation=other, **how)


def test_thresholds_of_older_files(tmp_path: Path) -> None:
    """Files that hold a threshold for each label, and none for the best of them, are read."""
    clf = MultilabelClassifier().fit(
        np.eye(4).tolist() * 10, [{"a"}, {"b"}, {"a", "b"}, set()] * 10
    )
    model = clf.model_
    model.arrays["thresholds"] = np.append(model.thresholds[:-1], np.inf)
    save(model, tmp_path / "new.model")
    before: Any = load(tmp_path / "new.model")
    with patch("rosenblatt.models.file._check_labels"):
        model.arrays["thresholds"] = model.thresholds[:-1]
        save(model, tmp_path / "old.model")
    after: Any = load(tmp_path / "old.model")
    np.testing.assert_array_equal(after.thresholds_, before.thresholds_)


@pytest.mark.parametrize("goal", ["each", "ranking"])
def test_one_label_is_a_model_of_two_classes(tmp_path: Path, goal: str) -> None:
    """It scores, predicts, has probabilities and explains as the label does among the others."""
    path, how = written(tmp_path, "tsv"), HOW["tsv"] | {"text": "text", "goal": goal}
    clf = train_files(path, calibrate=True, record_mistakes=True, **how)
    model: Model = clf.model_
    every, shares, texts = model.scores(TEXTS), model.probabilities(TEXTS), TEXTS[:5]
    for number, label in enumerate(model.classes):
        one = model.of_label(label)
        assert one.classes == (f"(not {label})", label)
        assert one.scores(TEXTS) == pytest.approx(every[:, number] - model.thresholds[number])
        above = every[:, number] > model.thresholds[number]
        assert one.predict(TEXTS).tolist() == [one.classes[int(own)] for own in above]
        assert one.probabilities(TEXTS)[:, 1] == pytest.approx(shares[:, number])
        save(one, tmp_path / "one.model")
        loaded: Any = load(tmp_path / "one.model")
        assert np.array_equal(loaded.predict(TEXTS), one.predict(TEXTS))
        for text in texts:
            whole, alone = why(model, None, [text], label), why(loaded, None, [text])
            assert [term.amount for term in whole.terms] == [term.amount for term in alone.terms]
            assert {term.label for term in alone.terms} <= {*one.classes}
            assert alone.remainder == pytest.approx(-model.thresholds[number])
    assert len(model.classes) == 4  # it stays as it was
    with pytest.raises(InputError, match="knows no label 'x'; it knows game, gui, mail and perl"):
        model.of_label("x")


def test_ranking_is_learned_by_the_averaged_perceptron(tmp_path: Path) -> None:
    """That is MMP; a rule or a parameter that is named stays."""
    path, how = written(tmp_path, "tsv"), HOW["tsv"] | {"text": "text", "goal": "ranking"}
    for named, expected in (
        ({}, ("perceptron", "average", {})),
        ({"memory": "last"}, ("perceptron", "last", {})),
        ({"C": 0.5}, ("pa1", "average", {"C": 0.5})),
        ({"rule": "pa1"}, ("pa1", "average", {})),
    ):
        learner = train_files(path, **how, **named).model_.made_by.learner
        assert (learner.rule, learner.memory, learner.chosen) == expected

"""Sentences in the service: learned, tagged, explained, forgotten and served from a file."""

import itertools
import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from rosenblatt import SequencePerceptron, load, save
from rosenblatt.errors import InputError, WeightOverflowError
from rosenblatt.models.sequences import SequenceModel
from rosenblatt.service.history import at_version, file_of
from rosenblatt.service.limits import Limits, RequestError
from rosenblatt.service.writer import Writer

from .conftest import Asked, counts, crash, create, taught, teach, why
from .test_forgetting import forget

MODEL = "/v1/models/m"
TAGGER = {"goal": "sequences", "rule": "pa1"}
WORDS = ["ab", "cd", "ef", "Gh", "12", "i-j", "kl"]
FORMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "phrases": {"classes": ["B-X", "B-Y", "I-X", "I-Y", "O"]},
    "named": {"features": {"kind": "names"}},
    "templates": {"features": {"templates": "U0:%x[0,0]\nU1:%x[-1,0]/%x[0,1]\nB\n"}},
    "perceptron": {"rule": "perceptron", "memory": "last"},
    "arow": {"rule": "arow"},
}


def sentences(
    n: int, form: str = "plain", seed: int = 0
) -> list[tuple[list[Any], tuple[str, ...]]]:
    """Return sentences with tags, of which some are not known."""
    generator = np.random.default_rng(seed)
    tags = ["B-X", "I-X", "O"] if form == "phrases" else ["N", "V", "D", "P"]
    found = []
    for i in range(n):
        numbers = generator.integers(0, len(WORDS), generator.integers(1, 7)).tolist()
        said = [tags[number % (2 + i % (len(tags) - 1))] for number in numbers]
        if form == "phrases":  # a phrase begins with B
            said = ["B-X" if tag == "I-X" and before == "O" else tag
                    for before, tag in zip(["O", *said], said, strict=False)]  # fmt: skip
        elif i % 3 == 2:
            said[0] = "?"
        words: list[Any] = [WORDS[number] for number in numbers]
        if form == "named":
            words = [{"last": True, "size": float(len(word)), "word": word} for word in words]
        if form == "templates":
            words = [[word, word[:1]] for word in words]
        found.append((words, tuple(said)))
    return found


def bits(served: Any) -> Any:
    """Return all that a tagger has learned, feature by feature."""
    fitted = SequenceModel.of_model(served.model())
    names = [fitted.encoding.name(k) for k in range(fitted.encoding.n_features)]
    parts = [fitted.state.weights, fitted.state.ledger, fitted.state.variance]
    arrays = [None if part is None else part.tobytes() for part in parts]
    return names, fitted.tags, fitted.state.count, arrays, fitted.vocabulary.tobytes()


def examples(batch: Any) -> list[Any]:
    """Return sentences as the writer takes them, each with an id."""
    return [taught(x, tags, f"id{i}") for i, (x, tags) in enumerate(batch)]


@pytest.mark.parametrize("form", FORMS)
def test_served_is_learned(tmp_path: Path, form: str) -> None:
    """One by one, in groups, replayed and after a crash: the bits of partial_fit, always."""
    batch = sentences(40, form)
    writer = Writer(tmp_path)
    entry = create(writer, **{**TAGGER, **FORMS[form]})
    known = FORMS[form].get("classes")
    columns = {"templates": FORMS[form]["features"]["templates"]} if form == "templates" else {}
    rule, memory = entry.spec.rule, entry.own.learner.learner.memory
    plain = SequencePerceptron(rule=rule, memory=memory, **columns)
    for one in examples(batch)[:25]:
        said = entry.shown.learner.said([one.features], one=True).labels[0]
        answer = teach(writer, entry, one)[0]
        pairs = zip(answer.predicted, said, one.label, strict=True)
        assert all(a == (b if tag != "?" else "?") for a, b, tag in pairs)
        plain.partial_fit([one.features], [one.label], classes=known)
    version = entry.shown.version
    old = bits(entry.own.learner)
    teach(writer, entry, *examples(batch)[25:])
    for x, tags in batch[25:]:
        plain.partial_fit([x], [tags])
    found = bits(entry.own.learner)
    theirs = SequenceModel.of_model(plain.model_)
    assert found[0] == [theirs.encoding.name(k) for k in range(theirs.encoding.n_features)]
    assert found[1:3] == (theirs.tags, theirs.state.count)
    assert found[3][0] == theirs.state.weights.tobytes()
    own = entry.shown.learner.said([x for x, _ in batch], one=False)
    assert [list(path) for path in own.labels] == plain.predict([x for x, _ in batch])
    best = plain.predict_nbest([x for x, _ in batch], 1)
    assert np.allclose(own.scores, [paths[0].score for paths in best], rtol=1e-12)
    assert (counts(entry)[0], entry.shown.version) == (40, 40)
    for at, bits_then in ((version, old), (40, found)):
        assert bits(at_version(writer.journal, None, entry.record, at, Limits())) == bits_then
    crash(writer)
    again = Writer(tmp_path)
    assert bits(again.entries["m"].own.learner) == found
    again.close()  # which writes a snapshot
    again = Writer(tmp_path)
    after = again.entries["m"]
    assert bits(after.own.learner) == found
    assert after.shown.learner.said([x for x, _ in batch], one=False) == own
    more = sentences(9, form, seed=1)
    teach(again, after, *(taught(x, tags) for x, tags in more))
    for x, tags in more:
        plain.partial_fit([x], [tags])
    assert (
        bits(after.own.learner)[3][0]
        == SequenceModel.of_model(plain.model_).state.weights.tobytes()
    )
    again.close()


@pytest.mark.parametrize("form", ["plain", "phrases", "arow"])
def test_a_refused_request_leaves_nothing(tmp_path: Path, form: str) -> None:
    """New words, tags and weights of a request that is refused are gone, for readers as well."""
    writer = Writer(tmp_path, Limits(classes=5))
    entry = create(writer, **{**TAGGER, **FORMS[form]})
    batch = examples(sentences(20, form))
    teach(writer, entry, *batch[:10])
    before, places = bits(entry.own.learner), dict(entry.own.learner.tagger.places)
    said = entry.shown.learner.said([one.features for one in batch], one=False)
    bad = [
        taught(["new", "words"], ("N",)),
        taught(["new", "words"], ("N", 1)),
        taught(["new", "words"], tuple("JK")),
        taught(["x"] * 6, tuple("ABCDEF")),
        taught({"a": 1.0}, ("N",)),
        taught([1.0], ("N",)),
        taught([{"a": 1.0}], ("N",)),
        taught(["new"], "N"),
    ]
    for one in bad[3:] if form == "plain" else bad:
        for request in ([one], [*batch[10:], one], [taught(["odd"], ("Z",)), one]):
            with pytest.raises((InputError, RequestError)):
                teach(writer, entry, *request)
            assert bits(entry.own.learner) == before
            assert entry.own.learner.tagger.places == places
    assert entry.shown.learner.said([one.features for one in batch], one=False) == said
    teach(writer, entry, *batch[10:])
    other = Writer(tmp_path / "other")
    clean = create(other, **{**TAGGER, **FORMS[form]})
    teach(other, clean, *batch)
    assert bits(entry.own.learner) == bits(clean.own.learner)
    rows = [one.features for one in batch]
    assert entry.shown.learner.said(rows, one=False) == clean.shown.learner.said(rows, one=False)
    writer.close()
    other.close()


def test_a_model_that_is_full_refuses_new_features(tmp_path: Path) -> None:
    """Sentences with features beyond the limit are refused; those without are still learned."""
    writer = Writer(tmp_path, Limits(model_features=60))
    entry = create(writer, **TAGGER)
    teach(writer, entry, taught(["ab", "cd"], ("N", "V")))
    before = bits(entry.own.learner)
    with pytest.raises(InputError, match="the model has all 60 that it may have"):
        teach(writer, entry, taught(["other", "words", "than", "those"], ("V", "N", "V", "N")))
    assert bits(entry.own.learner) == before
    teach(writer, entry, taught(["cd", "ab"], ("V", "N")))
    assert entry.shown.version == 2
    writer.close()


def test_values_that_overflow_are_undone(tmp_path: Path) -> None:
    """A sentence that would take weights out of float64 is refused, and nothing is left of it."""
    writer = Writer(tmp_path, Limits(magnitude=math.inf))
    entry = create(writer, goal="sequences", rule="perceptron", features={"kind": "names"})
    teach(writer, entry, taught([{"a": 1.0}, {"b": 1.0}], ("X", "Y")))
    before = bits(entry.own.learner)
    huge = taught([{"a": 1e308, "c": 1e308}, {"b": 1e308, "c": -1e308}], ("Y", "X"))
    for request in ([huge], [taught([{"d": 1.0}], ("Z",)), huge]):
        with pytest.raises(WeightOverflowError, match="would overflow on this example"):
            teach(writer, entry, *request)
        assert bits(entry.own.learner) == before
    assert entry.shown.learner.said([[{"d": 1.0}]], one=True).labels[0][0] in ("X", "Y")
    writer.close()


@pytest.mark.parametrize("form", ["plain", "phrases", "perceptron", "named"])
def test_why_is_the_sum_of_sentences(tmp_path: Path, form: str) -> None:
    """The lead of a tag is the sum of what each sentence added to it."""
    writer = Writer(tmp_path)
    entry = create(writer, **{**TAGGER, **FORMS[form]})
    batch = sentences(30, form)
    teach(writer, entry, *examples(batch))
    tagger = entry.shown.learner
    for x, _ in batch[:6]:
        for token in range(len(x)):
            found: Any = why(writer, entry, x, 1000, token=token)
            assert (found.token, found.others, found.start) == (token, 0, 0.0)
            assert list(found.label) == [*tagger.said([x], one=True).labels[0]]
            assert found.label[token] == found.positive != found.negative
            assert found.rival[token] == found.negative
            amounts = [one.amount for one in found.teachers]
            assert math.fsum(amounts) == pytest.approx(found.total, rel=1e-9, abs=1e-9)
            assert amounts == sorted(amounts, key=lambda amount: -abs(amount))
            least = why(writer, entry, x, 3)
            assert least.total <= found.total + 1e-12
            assert len(least.teachers) <= 3
    assert {one.id for one in found.teachers} <= {f"id{i}" for i in range(30)}
    with pytest.raises(RequestError, match=f"token must be below {len(x)}"):
        why(writer, entry, x, 5, token=len(x))
    with pytest.raises(InputError, match="The model knows no tag 'Q'"):
        why(writer, entry, x, 5, label="Q")
    writer.close()


def test_without_a_sum_there_is_no_why(tmp_path: Path) -> None:
    """Rules that keep variances have no sum of sentences, and a model of one tag no rival."""
    writer = Writer(tmp_path)
    entry = create(writer, **{**TAGGER, **FORMS["arow"]})
    teach(writer, entry, *examples(sentences(9)))
    with pytest.raises(RequestError, match="The weights of the rule arow are not the sum"):
        why(writer, entry, ["ab"], 5)
    other = create(writer, "one", **TAGGER)
    teach(writer, other, taught(["ab"], ("N",)))
    with pytest.raises(RequestError, match="fewer than 2 tags; there is nothing to explain yet"):
        why(writer, other, ["ab"], 5)
    writer.close()


def test_over_http(service: Asked, tmp_path: Path) -> None:
    """Sentences are taught, tagged, explained, forgotten and rolled back as rows are."""
    made = service.ask("PUT", MODEL, {**TAGGER, "classes": ["N"]}).json()
    assert (made["goal"], made["features"], made["classes"]) == ("sequences", "sentences", ["N"])
    batch = sentences(30)
    lines = [
        {"features": x, "label": [None if tag == "?" else tag for tag in tags], "id": f"id{i}"}
        for i, (x, tags) in enumerate(batch)
    ]
    answer = service.ask("POST", f"{MODEL}/learn", {"examples": lines})
    assert [one["duplicate"] for one in answer.json()["results"]] == [False] * 30
    again = service.ask("POST", f"{MODEL}/learn", lines[3]).json()
    assert again["duplicate"]
    assert again | {"duplicate": False} == answer.json()["results"][3]
    words = ["ab", "cd", "ef"]
    found = service.ask("POST", f"{MODEL}/predict", {"features": words, "id": "asked"}).json()
    rows = service.ask("POST", f"{MODEL}/predict", {"rows": [words, []]}).json()
    assert (found["label"], found["score"]) == (rows["labels"][0], rows["scores"][0])
    assert rows["labels"][1] == []
    explained = service.ask(
        "POST", f"{MODEL}/explain", {"features": words, "token": 1, "top": 1000}
    ).json()
    assert (explained["label"], explained["positive"]) == (found["label"], found["label"][1])
    assert sum(term["amount"] for term in explained["terms"]) == pytest.approx(explained["total"])
    assert {term["token"] for term in explained["terms"]} <= {0, 1, 2, None}
    reasons = service.ask("POST", f"{MODEL}/why", {"features": words, "token": 1, "top": 99}).json()
    assert reasons["total"] == pytest.approx(explained["total"])
    assert reasons["rival"] == explained["rival"]
    line = service.ask("POST", f"{MODEL}/feedback", {"id": "asked", "label": ["N", "V", "?"]})
    assert line.json()["sequence"] == 31
    wrong = [
        one
        for one in service.ask("GET", f"{MODEL}/journal?limit=100").text.splitlines()
        if (event := msgspec.json.decode(one))["predicted"] != event["label"]
    ]
    described = service.ask("GET", f"{MODEL}?curve=1").json()
    assert (described["wrong"], described["learned"]) == (len(wrong), 31)
    assert described["curve"][-1]["wrong"] == len(wrong)
    onnx = service.ask("GET", f"{MODEL}/export?format=onnx")
    assert onnx.json()["error"] == "format must be model or json; got 'onnx'."
    features = service.ask("GET", f"{MODEL}/export?format=json").json()["features"]
    (tmp_path / "m.model").write_bytes(service.ask("GET", f"{MODEL}/export").content)
    tagger = load(tmp_path / "m.model")
    now = service.ask("POST", f"{MODEL}/predict", {"features": words}).json()
    assert tagger.predict([words]) == [now["label"]]
    assert tagger.n_features_ == len(features)
    assert tagger.partial_fit([["new"]], [["Q"]]).n_features_ > len(features)
    service.ask("POST", f"{MODEL}/rollback", {"version": 20})
    assert service.ask("GET", MODEL).json()["learned"] == 20
    at = service.ask("POST", f"{MODEL}/predict", {"features": words, "version": 31}).json()
    assert (at["label"], at["score"]) == (found["label"], found["score"]) or at["version"] == 31


def test_forgotten_sentences_were_never_there(tmp_path: Path) -> None:
    """What is forgotten leaves the bits of a service that never saw it."""
    asked, other = Asked(tmp_path / "one"), Asked(tmp_path / "two")
    batch = sentences(30)
    lines = [{"features": x, "label": y, "id": f"id{i}"} for i, (x, y) in enumerate(batch)]
    for service, kept in ((asked, lines), (other, lines[:7] + lines[8:])):
        service.ask("PUT", MODEL, {**TAGGER, "classes": list("DNPV")})
        service.ask("POST", f"{MODEL}/learn", {"examples": kept})
    forget(asked, id="id7")
    one, two = (service.writer.entries["m"] for service in (asked, other))
    assert bits(one.own.learner) == bits(two.own.learner)
    rows = [x for x, _ in batch]
    assert one.shown.learner.said(rows, one=False) == two.shown.learner.said(rows, one=False)
    asked.close()
    other.close()


def test_a_trained_tagger_goes_on(service: Asked, tmp_path: Path) -> None:
    """A model file is served as it predicts, with its probabilities, and learns on as elsewhere."""
    batch = sentences(60)
    X, y = [x for x, _ in batch], [tags for _, tags in batch]
    tagger = SequencePerceptron(calibrate=True).fit(X, y)
    save(tagger, tmp_path / "t.model")
    file = msgspec.to_builtins((tmp_path / "t.model").read_bytes())
    assert service.ask("PUT", MODEL, {"file": file}).status_code == 201
    for x, path, shares in zip(X, tagger.predict(X), tagger.predict_marginals(X), strict=True):
        found = service.ask("POST", f"{MODEL}/predict", {"features": x}).json()
        places = np.searchsorted(tagger.classes_, path)
        assert found["label"] == path
        assert np.allclose(found["probability"], shares[np.arange(len(x)), places])
    exported = service.ask("GET", f"{MODEL}/export").content
    (tmp_path / "again.model").write_bytes(exported)
    assert load(tmp_path / "again.model").predict(X) == tagger.predict(X)
    for x, tags in sentences(12, seed=3):
        service.ask("POST", f"{MODEL}/learn", {"features": x, "label": tags})
        tagger.set_params(calibrate=False).partial_fit([x], [tags])
    found = service.ask("POST", f"{MODEL}/predict", {"features": X[0]}).json()
    assert "probability" not in found
    served = service.writer.entries["m"].own.learner
    theirs = SequenceModel.of_model(tagger.model_)
    assert bits(served)[3][0] == theirs.state.weights.tobytes()
    assert bits(served)[4] == theirs.vocabulary.tobytes()
    (tmp_path / "more.model").write_bytes(service.ask("GET", f"{MODEL}/export").content)
    assert load(tmp_path / "more.model").predict(X) == tagger.predict(X)
    reasons = service.ask("POST", f"{MODEL}/why", {"features": X[0], "top": 1000}).json()
    amounts = [one["amount"] for one in reasons["teachers"]]
    assert reasons["start"] + sum(amounts) == pytest.approx(reasons["total"])
    assert file_of(served.model())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"scale": True}, "scale has no effect with sentences"),
        ({"fit_intercept": False}, "fit_intercept has no effect with sentences"),
        ({"features": {"kind": "hashed"}}, "features.kind must be names or left out with sent"),
        ({"features": {"limit": 3}}, "features.limit has no effect with sentences of such"),
        ({"features": {"kind": "names", "templates": "U0"}}, "features.templates has no effect"),
        ({"features": {"templates": "U0:%y[0,0]"}}, "features.templates, line 1: "),
        ({"classes": ["A", 1]}, "classes must be at most 1000 tags, which are words"),
        ({"rule": "arow", "memory": "vote"}, "memory"),
        ({"parameters": {"odd": 1}}, "odd"),
    ],
)
def test_bad_specifications(service: Asked, spec: dict[str, Any], message: str) -> None:
    """What would have no effect on sentences is refused, in words."""
    answer = service.ask("PUT", MODEL, {"goal": "sequences", **spec})
    assert answer.status_code == 422
    assert message in answer.json()["error"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"features": {"a": 1}}, "The model tags sentences: features must be a list of words."),
        ({"features": [1.5]}, "The model tags sentences: features must be a list of words."),
        ({"features": ["a", 1]}, "The model tags sentences: features must be a list of words."),
        ({"features": ["x" * 1001]}, "A word has 1,001 characters; at most 1,000 are taken."),
        ({"features": ["x"] * 20001}, "features has 20,001 tokens; at most 20,000 are taken."),
    ],
)
def test_bad_sentences(service: Asked, body: dict[str, Any], message: str) -> None:
    """What is no sentence is refused, whether or not the model knows a tag."""
    service.ask("PUT", MODEL, TAGGER)
    for _ in range(2):
        for verb, more in (("predict", {}), ("learn", {"label": ["N"]}), ("why", {})):
            answer = service.ask("POST", f"{MODEL}/{verb}", body | more)
            assert answer.status_code in ((422, 409) if verb == "why" else (422,))
            if verb != "why":
                assert answer.json()["error"] == message
        service.ask("POST", f"{MODEL}/learn", {"features": ["a", "b"], "label": ["N", "V"]})


def test_rows_are_no_sentences(service: Asked) -> None:
    """A model of rows refuses words in a list, tags that are not known, and a token."""
    service.ask("PUT", MODEL, {"features": {"kind": "array"}})
    service.ask("POST", f"{MODEL}/learn", {"features": [1, 2], "label": "a"})
    service.ask("POST", f"{MODEL}/learn", {"features": [2, 1], "label": "b"})
    refused = [
        ("predict", {"features": ["a", "b"]}, "features must be a list of numbers; got 'a'."),
        ("learn", {"features": [1, 2], "label": ["a", None]}, "one label"),
        ("explain", {"features": [1, 2], "token": 0}, "token is of a sentence"),
    ]
    for verb, body, message in refused:
        answer = service.ask("POST", f"{MODEL}/{verb}", body)
        assert (answer.status_code, message in answer.json()["error"]) == (422, True), answer.text
    service.ask("PUT", "/v1/models/sets", {"goal": "each"})
    body = {"features": {"a": 1}, "label": ["x", None]}
    assert service.ask("POST", "/v1/models/sets/learn", body).status_code == 422


def test_features_of_many_sentences_are_joined(tmp_path: Path) -> None:
    """A tagger that met many sentences alone still names each feature, and forgets none."""
    writer = Writer(tmp_path)
    entry = create(writer, **TAGGER)
    plain = SequencePerceptron()
    for i, (x, tags) in enumerate(itertools.islice(itertools.cycle(sentences(30)), 150)):
        own = [f"{word}{i}" for word in x]
        teach(writer, entry, taught(own, tags))
        plain.partial_fit([own], [tags])
    fitted = SequenceModel.of_model(plain.model_)
    names = [fitted.encoding.name(k) for k in range(fitted.encoding.n_features)]
    assert bits(entry.own.learner)[0] == names
    writer.close()

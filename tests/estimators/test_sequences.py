"""SequencePerceptron: fit, partial_fit, answers of every kind, clone, files, and bad input."""

import gzip
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import rosenblatt
from rosenblatt import SequencePerceptron
from rosenblatt.errors import InputError
from rosenblatt.models.model import Model
from rosenblatt.rules import RULES
from rosenblatt.tasks.phrases import Phrase

NAMES = ["Rome", "Paris", "Berlin", "Oslo"]
VERBS = ["sees", "likes", "visits"]
GENRES = [f"{a}{b}{c}" for a in "pk" for b in "aou" for c in ("lly", "nner", "rk")]


def corpus(n: int, seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    """Return sentences with phrases of names in BIO, most words of which are met again."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words: list[str] = []
        tags: list[str] = []
        for _ in range(int(rng.integers(1, 4))):
            length = int(rng.integers(1, 4))
            words += [NAMES[k] for k in rng.integers(0, 4, length)]
            tags += ["B-PLACE", *["I-PLACE"] * (length - 1)]
            words += [VERBS[rng.integers(3)], GENRES[rng.integers(len(GENRES))]]
            tags += ["O", "B-THING"]
        X.append(words)
        y.append(tags)
    return X, y


X, Y = corpus(60)
UNSEEN, TRUTH = corpus(40, 1)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_learns(rule: str) -> None:
    """On a corpus that its words decide no token is wrong after a few passes."""
    model = SequencePerceptron(rule=rule, max_iter=8).fit(X, Y)
    assert model.score(UNSEEN, TRUTH) > 0.99
    assert model.score(UNSEEN, TRUTH, metric="phrases") > 0.98
    assert model.score(UNSEEN, TRUTH, "sentences") <= model.score(UNSEEN, TRUTH)
    assert model.classes_.tolist() == ["B-PLACE", "B-THING", "I-PLACE", "O"]
    assert model.n_iter_ == len(model.history_) <= 8
    assert model.n_mistakes_ == sum(one.mistakes for one in model.history_) > 0


def test_same_seed_same_bits_and_another_seed_another_order() -> None:
    """The order of sentences is all that chance decides."""
    one, two, other = (
        SequencePerceptron(random_state=seed, max_iter=3).fit(X, Y).model_.weights
        for seed in (3, 3, 4)
    )
    assert one.tobytes() == two.tobytes()
    assert other.shape != one.shape or other.tobytes() != one.tobytes()


def named_weights(model: SequencePerceptron) -> dict[str, list[float]]:
    """Return the weights of features by name, and those of steps."""
    own = model.sequence_model_
    first, w = len(own.tags.inner) + 2, own.state.average()
    found = {own.encoding.name(f): w[first + f].tolist() for f in range(own.encoding.n_features)}
    return found | {f"step {j}": w[j].tolist() for j in range(first)}


@pytest.mark.parametrize("rule", ["perceptron", "pa1", "arow"])
def test_any_sequence_of_calls_is_one_pass(rule: str) -> None:
    """partial_fit in pieces, sentence by sentence, and fit by one pass in order are the same."""
    how: Any = {"rule": rule, "memory": "average"}
    tags = sorted({tag for one in Y for tag in one})
    whole = SequencePerceptron(max_iter=1, shuffle=False, **how).fit(X, Y)
    pieces = SequencePerceptron(**how)
    for start in (0, 1, 2, 30):
        stop = {0: 1, 1: 2, 2: 30, 30: 60}[start]
        pieces.partial_fit(X[start:stop], Y[start:stop], classes=tags)
    assert named_weights(pieces) == named_weights(whole)
    again = SequencePerceptron.of_model(pieces.model_)
    for model in (again, pieces):
        model.partial_fit(UNSEEN, TRUTH)
    assert named_weights(again) == named_weights(pieces)


def test_new_tags_may_come_late() -> None:
    """What the others have learned stays, and the new ones are learned."""
    y = [["?" if tag == "B-THING" else tag for tag in one] for one in Y]
    model = SequencePerceptron(memory="last").partial_fit(X, y)
    before = named_weights(model)
    tags = ["B-PLACE", "B-THING", "I-PLACE", "O"]
    model.sequence_model_.add_tags(tags)
    after = named_weights(model)
    place = [model.sequence_model_.tags.inner.index(t) for t in ("B-PLACE", "O", "S-PLACE")]
    for name, values in before.items():
        if "=" in name:
            assert {*after[name]} - {0.0} == {*values} - {0.0}
            assert len([after[name][k] for k in place]) == 3
    for _ in range(5):
        model.partial_fit(X, Y)
    assert model.classes_.tolist() == tags
    assert model.score(UNSEEN, TRUTH) > 0.99


def test_answers_of_every_kind_agree(tmp_path: Path) -> None:
    """The best path is the first of the n best, and its marginals are the largest."""
    model = SequencePerceptron(calibrate=True, max_iter=5).fit(X, Y)
    said = model.predict(UNSEEN)
    best = model.predict_nbest(UNSEEN, 3)
    assert [one[0].tags for one in best] == said
    for paths in best:
        scores = [path.score for path in paths]
        assert scores == sorted(scores, reverse=True)
    for tags, probabilities in zip(said, model.predict_marginals(UNSEEN), strict=True):
        assert probabilities.shape == (len(tags), 4)
        assert np.allclose(probabilities.sum(axis=1), 1.0)
        assert model.classes_[probabilities.argmax(axis=1)].tolist() == tags
    words = ["Rome", "Oslo", "sees", "pally"]
    assert model.predict_spans([words]) == [[Phrase(0, 2, "PLACE"), Phrase(3, 4, "THING")]]
    rosenblatt.save(model, tmp_path / "m")
    loaded: Any = rosenblatt.load(tmp_path / "m")
    assert isinstance(loaded, SequencePerceptron)
    for again in (loaded, pickle.loads(pickle.dumps(model))):  # noqa: S301  # our own
        assert again.predict(UNSEEN) == said
        assert again.get_params() == model.get_params()
        one, two = (m.predict_marginals(UNSEEN) for m in (again, model))
        assert all((p == q).all() for p, q in zip(one, two, strict=True))
    assert Model.load(tmp_path / "m").task.noun == "tag"
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(AttributeError):
        _ = copy.classes_


def test_illegal_steps_are_impossible_and_free_ones_are_not() -> None:
    """No phrase begins inside; with free transitions, or tags in no scheme, any step goes."""
    model = SequencePerceptron(max_iter=2).fit(X, Y)
    free = SequencePerceptron(max_iter=2, transitions="free").fit(X, Y)
    own, other = model.sequence_model_.tags, free.sequence_model_.tags
    assert own.inner != own.outer == other.inner
    forced: list[list[str | None]] = [["I-PLACE", *[None] * (len(x) - 1)] for x in UNSEEN]
    assert all(one[0] == "I-PLACE" for one in free.predict(UNSEEN, forced))
    for tags in model.predict(UNSEEN):
        assert all(t > 0 for t, tag in enumerate(tags) if tag[0] == "I")


def test_a_corpus_that_breaks_its_scheme_is_told_of() -> None:
    """Then any tag may follow any other."""
    with pytest.warns(UserWarning, match="look like BIO, but some follow others"):
        model = SequencePerceptron(max_iter=2).fit([*X, ["Rome", "sees"]], [*Y, ["I-PLACE", "O"]])
    assert not model.sequence_model_.tags.strict
    assert not model.sequence_model_.tags.barred.any()


def test_forced_tags_are_obeyed() -> None:
    """Tokens have the tag that they must have, others the best that goes with it."""
    model = SequencePerceptron(max_iter=3).fit(X, Y)
    said = model.predict(UNSEEN)
    assert model.predict(UNSEEN, [[None] * len(x) for x in UNSEEN]) == said
    assert model.predict(UNSEEN, said) == said
    rng = np.random.default_rng(0)
    for tag in ("O", "B-THING", "B-PLACE"):
        places = [int(rng.integers(len(x))) for x in UNSEEN]
        forced = [
            [tag if t == place else None for t in range(len(x))]
            for x, place in zip(UNSEEN, places, strict=True)
        ]
        found = model.predict(UNSEEN, forced)
        assert all(one[place] == tag for one, place in zip(found, places, strict=True))
    with pytest.raises(InputError, match="The model knows no tag 'X'; it knows B-PLACE"):
        model.predict([["Rome"]], [["X"]])
    with pytest.raises(InputError, match="forced must have a tag or None for each token"):
        model.predict([["Rome"]], [["O", "O"]])


@pytest.mark.parametrize("hidden", ["?", None])
def test_partial_tags_teach(hidden: Any) -> None:
    """Where half of the tags are hidden, the others still decide all of them."""
    rng = np.random.default_rng(0)
    partial = [[tag if rng.random() < 0.5 else hidden for tag in one] for one in Y]
    model = SequencePerceptron(max_iter=8).fit(X, partial)
    assert model.score(UNSEEN, TRUTH) > 0.97
    assert "?" not in model.classes_
    before = named_weights(model)
    model.partial_fit(UNSEEN, [[hidden] * len(x) for x in UNSEEN])
    after = named_weights(model)
    assert before.keys() == after.keys()
    assert model.score(X, partial) > 0.97


def test_columns_templates_and_dictionaries(tmp_path: Path) -> None:
    """Tokens of several columns by a template file, and of features made elsewhere."""
    rows = [[[word, word[0]] for word in x] for x in X]
    path = tmp_path / "my.tpl"
    path.write_text("U00:%x[0,0]\nU01:%x[0,1]/%x[-1,1]\nB\n")
    by_file = SequencePerceptron(templates=str(path), max_iter=5).fit(rows, Y)
    by_text = SequencePerceptron(templates=path.read_text(), max_iter=5).fit(rows, Y)
    assert named_weights(by_file) == named_weights(by_text)
    assert {name.split("=")[0] for name in named_weights(by_file)} > {"word", "word:1|word:1[-1]"}

    def features(x: list[str]) -> list[dict[str, Any]]:
        return [{"w": w, "first": t == 0, "length": len(w) / 2} for t, w in enumerate(x)]

    dicts = [features(x) for x in X]
    model = SequencePerceptron(max_iter=5, calibrate=True).fit(dicts, Y)
    unseen = [features(x) for x in UNSEEN]
    assert model.score(unseen, TRUTH) > 0.99
    assert {"first", "length", "w=Rome"} < named_weights(model).keys()
    assert [one[0].tags for one in model.predict_nbest(unseen, 2)] == model.predict(unseen)
    rosenblatt.save(model, tmp_path / "d")
    assert rosenblatt.load(tmp_path / "d").predict(unseen) == model.predict(unseen)
    model = SequencePerceptron(max_iter=2).fit(dicts, Y).partial_fit(unseen, TRUTH)
    assert model.score(dicts, Y) > 0.99


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([["a"]], [], "X has 1 sentences and y has 0"),
        ([["a", "b"]], [["O"]], "Sentence 0 has 2 tokens and 1 tags"),
        ([["a"]], ["O"], "y must be a list of tags for each sentence"),
        (["a b"], [["O"]], "X must be a list of sentences"),
        ([["a"]], [["?"]], "There is no tag to learn"),
        ([], [], "There is no tag to learn"),
        ([["a", 1]], [["O", "O"]], "A token must be a word or a list of words; got 1"),
    ],
)
def test_bad_input_is_told(X: Any, y: Any, words: str) -> None:
    """What and where."""
    with pytest.raises(InputError, match=words):
        SequencePerceptron().fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"rule": "crf"}, "rule"),
        ({"memory": "vote"}, "vote"),
        ({"min_count": 0}, "min_count of SequencePerceptron must be an integer of at least 1"),
        ({"transitions": "no"}, "transitions of SequencePerceptron must be 'auto' or 'free'"),
        ({"parameters": {"C": -1.0}}, "C= must be a number above 0"),
        ({"parameters": {"eta0": 1.0}}, "eta0= has no effect with rule='pa1'"),
        ({"templates": "nowhere.tpl"}, "nowhere.tpl cannot be read"),
        ({"calibrate": True}, "too few to fit probabilities"),
    ],
)
def test_bad_parameters_are_told(parameters: Any, words: str) -> None:
    """By their names."""
    with pytest.raises(InputError, match=words):
        SequencePerceptron(**parameters).fit([["a"]], [["O"]])


def test_small_and_empty_things() -> None:
    """No sentence, an empty one, a single tag, one token."""
    model = SequencePerceptron().fit([["a"], [], ["b", "c"]], [["X"], [], ["X", "X"]])
    assert model.predict([]) == []
    assert model.predict([[], ["z", "a"], []]) == [[], ["X", "X"], []]
    assert model.predict_nbest([[], ["a"]], 3)[0] == []
    assert model.stop_reason_ == "converged"
    again = SequencePerceptron.of_model(model.model_)
    assert again.predict([["a"]]) == [["X"]]
    stopped = SequencePerceptron(early_stopping=True, max_iter=30, n_iter_no_change=2).fit(X, Y)
    assert 1 <= stopped.best_iter_ <= stopped.n_iter_ <= 30
    assert stopped.history_[0].validation_score is not None
    assert stopped.score(UNSEEN, TRUTH) > 0.98
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SequencePerceptron(max_iter=2, verbose=False).fit(X, Y)
    with pytest.raises(InputError, match="train it with calibrate"):
        stopped.predict_marginals(X)
    with pytest.raises(InputError, match="sees no held-out sentences"):
        SequencePerceptron(calibrate=True).partial_fit(X, Y)


def sentences(path: Path, column: int) -> tuple[list[list[str]], list[list[str]]]:
    """Return the words of a shared file and the tags of a column."""
    text = gzip.decompress(path.read_bytes()).decode()
    rows = [[line.split("\t") for line in s.split("\n")] for s in text.strip().split("\n\n")]
    return [[r[0] for r in s] for s in rows], [[r[column] for r in s] for s in rows]


@pytest.mark.data
@pytest.mark.parametrize(("column", "least"), [(1, 0.952), (2, 0.948)])
def test_words_of_the_web_get_their_tags(data_folder: Path, column: int, least: float) -> None:
    """English Web Treebank: universal and Penn tags of the test part, by the defaults."""
    train, test = (
        sentences(data_folder / f"ewt.{part}.conll.gz", column) for part in ("train", "test")
    )
    assert SequencePerceptron().fit(*train).score(*test) >= least


@pytest.mark.data
def test_addresses_are_divided_into_fields(data_folder: Path) -> None:
    """US addresses: the mean of six orders, since one of 1,094 tokens is a tenth of a point."""
    train, test = (
        sentences(data_folder / f"usaddress.{part}.conll.gz", 1) for part in ("train", "test")
    )
    models = [SequencePerceptron(random_state=seed).fit(*train) for seed in range(6)]
    assert np.mean([model.score(*test) for model in models]) >= 0.98
    assert np.mean([model.score(*test, "sentences") for model in models]) >= 0.91

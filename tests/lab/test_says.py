"""What the scenes and the chapters say in numbers is what the library computes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rosenblatt import FeatureConjunctions, Perceptron, SequencePerceptron, diagnose, trace
from rosenblatt.lab.document import Document
from rosenblatt.lab.toy_sets import toy_set
from rosenblatt.models.tag_export import tags_to_json
from tests.lab.engine import Engine

LEARN = Path(__file__).parents[2] / "docs" / "learn"


class Book:
    """All scenes, asked for what a page says and what it shows."""

    def __init__(self, scenes: list[dict[str, Any]]) -> None:
        self.pages = {
            (scene["name"], n): page for scene in scenes for n, page in enumerate(scene["pages"], 1)
        }

    def says(self, name: str, page: int) -> str:
        """Return words and answer of a page."""
        found = self.pages[name, page]
        return " ".join([*found["words"], *found.get("answer", [])])

    def document(self, name: str, page: int) -> Document:
        """Return what a page shows."""
        found = self.pages[name, page]
        begun = toy_set(found["toy"]).plain() if "toy" in found else {}
        return Document.from_plain({**begun, **found.get("document", {})})


@pytest.fixture(scope="module")
def book(engine: Engine) -> Book:
    """Return the scenes of the page."""
    return Book(engine.ask("scenes"))


def chapter(name: str) -> str:
    """Return the text of a chapter."""
    return " ".join((LEARN / f"{name}.md").read_text("utf-8").split())


def shown(value: float, digits: int = 4) -> str:
    """Return a number as the page writes it."""
    return f"{value:.{digits}g}".replace("-", "−")


def widest(X: NDArray[Any], y: NDArray[Any]) -> tuple[float, NDArray[Any]]:
    """Return the margin without a bias and its unit vector: that of rows and mirror images."""
    verdict = diagnose(np.vstack([X, -X]), np.append(y, -y))
    assert verdict.w is not None
    return verdict.margin_high, verdict.w / np.linalg.norm(verdict.w)


def test_theorem(book: Book) -> None:
    """Γ, R and the bound, the updates and every angle, without a bias and with one."""
    document = book.document("theorem", 1)
    X, y = document.X, document.y
    gamma, star = widest(X, y)
    radius = np.hypot(*X.T).max()
    text = book.says("theorem", 1)
    assert f"γ = {shown(gamma)} and R = {shown(radius)}" in text
    bound = f"R²/γ² = {shown(radius**2)}/{shown(gamma**2)} = {shown(radius**2 / gamma**2)}"
    assert bound in text
    updates = [step for step in trace(X, y, fit_intercept=False) if step.mistake]
    assert f"It took {len(updates)} updates." in text
    angles = [np.degrees(np.arccos(step.w @ star / np.linalg.norm(step.w))) for step in updates]
    assert angles[3] > angles[2] + 10  # it rises at the fourth
    said = "{}°, {}°, {}°, and then up to {}° at the fourth update, before it falls to {}°"
    for words in (book.says("theorem", 3), chapter("theorem")):
        assert said.format(*(shown(angle, 3) for angle in angles)) in words
    other = book.document("theorem", 4)
    count = sum(step.mistake for step in trace(other.X, other.y, fit_intercept=False))
    assert f"{count} updates in place of {len(updates)}" in book.says("theorem", 4)
    assert sorted(other.points) == sorted(document.points)
    verdict = diagnose(X, y)
    assert verdict.bound is not None
    for words in (book.says("theorem", 6), chapter("theorem")):
        assert f"from {shown(radius**2)} to {shown(radius**2 + 1)}" in words
        assert shown(verdict.bound) in words
    visits = [t for t, step in enumerate(trace(X, y, fit_intercept=False), 1) if step.mistake]
    assert [book.pages["theorem", page]["at"] for page in (2, 3)] == visits[1:3]


def test_mistake(book: Book) -> None:
    """The activation before and after the update, term by term."""
    document = book.document("mistake", 2)
    steps = trace(document.X, document.y)
    step = steps[book.pages["mistake", 2]["at"] - 1]
    x = document.X[step.row]
    after = step.w @ x + step.b
    sum_ = f"{shown(step.activation, 3)} + {shown(x @ x)} + 1 = {shown(after)}"
    for words in (book.says("mistake", 2), chapter("mistake")):
        assert sum_ in words
    third = steps[book.pages["mistake", 3]["at"] - 1]
    assert f"the activation was {shown(third.activation)}" in book.says("mistake", 3)
    assert third.y == -1
    document = book.document("mistake", 4)
    x, y = document.X[0], document.y[0]
    before = x @ document.start[:2] + document.start[2]
    said = f"from {shown(before)} to {shown(before + y * (x @ x + 1))}"
    for words in (book.says("mistake", 4), chapter("mistake")):
        assert said in words


def test_order_and_geometry(book: Book) -> None:
    """Passes and mistakes of both orders; where the bias puts the threshold."""
    document = book.document("order", 2)
    given, mixed = (
        Perceptron(shuffle=shuffle, random_state=document.seed).fit(document.X, document.y)
        for shuffle in (False, True)
    )
    words = {2: "two", 7: "seven"}
    said = (
        f"As given: {words[given.n_iter_]} passes and {given.n_mistakes_} mistakes. "
        f"Shuffled: {words[mixed.n_iter_]} passes and {mixed.n_mistakes_} mistakes"
    )
    assert said in book.says("order", 2)
    first = trace(document.X, document.y)[: len(document.y)]
    assert sum(step.mistake for step in first) == 3
    assert "Of thirty rows three have taught." in book.says("order", 1)
    start = book.document("geometry", 4).start
    threshold = -start[2] / float(np.linalg.norm(start[:2]))
    for text in (book.says("geometry", 4), chapter("geometry")):
        assert shown(threshold, 1) in text
    assert start[:2] == book.document("geometry", 2).start[:2]  # the same w, the same length


def test_stopping(book: Book) -> None:
    """The held-out error of an averaged kernel perceptron, pass by pass."""
    document = book.document("stopping", 1)
    learned, held = (np.arange(len(document.y)) % 3 != 2, np.arange(len(document.y)) % 3 == 2)

    def kernel(A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
        distances = ((A[:, None] - B[None]) ** 2).sum(axis=2)
        return np.asarray(np.exp(-document.gamma * distances) + 1)  # the bias is a constant feature

    X, y = document.X[learned], document.y[learned]
    G, H = kernel(X, X), kernel(document.X[held], X)
    alpha, total, errors = np.zeros(len(X)), np.zeros(len(X)), []
    for _ in range(document.max_iter):
        for i in range(len(X)):
            alpha[i] += y[i] * (y[i] * (G[i] @ alpha) <= 0)
            total += alpha
        wrong = [
            np.mean((K @ total > 0) * 2 - 1 != own) for K, own in ((G, y), (H, document.y[held]))
        ]
        errors.append(wrong)
    text = book.says("stopping", 2)
    assert f"{shown(100 * errors[-1][0], 3)} % of the points learned are wrong" in text
    assert f"and {shown(100 * errors[-1][1])} % of those held out" in text
    least = min(error for _, error in errors)
    assert f"After pass 2 it was {shown(100 * errors[1][1])} %." in text
    assert errors[1][1] == least


def test_sureness_and_xor(book: Book) -> None:
    """Variances and steps of AROW; mistakes and weights for the combination of two features."""
    document = book.document("sureness", 2)
    steps = trace(document.X, document.y, rule="arow", fit_intercept=False)
    before, after = steps[5], steps[6]
    assert before.variance_w is not None
    variance = before.variance_w[0]
    assert f"{shown(variance, 2)}: that weight is known to ±{shown(variance**0.5, 2)}" in book.says(
        "sureness", 1
    )
    moved = np.abs(after.w - before.w)
    for text in (book.says("sureness", 2), chapter("sureness")):
        assert f"by {moved[1]:.2f}" in text
        assert f"by {moved[0]:.2f}" in text
    document = book.document("xor", 3)
    X = np.column_stack([document.X, document.X.prod(axis=1)])
    assert np.array_equal(X, FeatureConjunctions().fit_transform(document.X))
    count = sum(step.mistake for step in trace(X, document.y))
    assert f"after {count} mistakes" in book.says("xor", 3)
    assert np.array_equal(X @ [1, 1, -2] - 0.5, [-0.5, 0.5, -0.5, 0.5])
    document = book.document("xor", 4)
    X = np.column_stack([document.X, document.X.prod(axis=1)])
    assert np.array_equal(X @ [1, 0, -2], document.y)
    assert diagnose(document.X, document.y).status == "inseparable"


def test_scaling(book: Book) -> None:
    """Mistakes, passes and bounds of the rows as they are and scaled; where a new row goes."""
    plain, scaled = book.document("scaling", 1), book.document("scaling", 2)
    mean, deviation = plain.X.mean(axis=0), plain.X.std(axis=0)
    assert np.array_equal(((plain.X - mean) / deviation).round(2), scaled.X)
    for page, document, noun in ((1, plain, "after"), (2, scaled, "takes")):
        model = Perceptron(shuffle=False, max_iter=document.max_iter).fit(document.X, document.y)
        verdict = diagnose(document.X, document.y)
        assert verdict.bound is not None
        said = f"{noun} {model.n_mistakes_:,} mistakes in {model.n_iter_} passes"
        assert said in book.says("scaling", page)
        bound = f"{verdict.bound:,.0f}" if verdict.bound > 1e3 else shown(verdict.bound)
        for words in (book.says("scaling", page), chapter("scaling")):
            assert f" {bound}." in words
        if page == 1:
            (w,), (b,) = model.coef_, model.intercept_
            for words in (book.says("scaling", 1), chapter("scaling")):
                assert f"{shown(w[0])}, {shown(w[1])} and {shown(b)}" in words
    place = ((np.array([60, 0.4]) - mean) / deviation).round(2)
    assert book.document("scaling", 3).held_out == ((*place, 1),)
    assert f"the place ({shown(place[0])}, {shown(place[1])})" in book.says("scaling", 3)


def test_three_classes(book: Book, engine: Engine) -> None:
    """The page trains several classes as the library does, and says how many mistakes there are."""
    for name in ("three", "two", "between"):
        found = engine.ask("classes", set=name)
        points = np.array(found["points"])
        X, y = points[:, :2], points[:, 2].astype(int)
        steps = trace(X, y, fit_intercept=found["bias"])
        assert [step["mistake"] for step in found["steps"]] == [step.mistake for step in steps]
        weights = np.array(found["weights"][-1])
        if name == "two":  # the library has one vector for both, half the difference
            weights = (weights[1] - weights[0])[None] / 2
        assert np.allclose(weights[:, :2], np.atleast_2d(steps[-1].w), atol=1e-12)
        assert np.allclose(weights[:, 2], steps[-1].b)
        for own, step in zip(found["steps"], steps, strict=True):
            assert own["row"] == step.row
            assert not own["mistake"] or name == "two" or own["rival"] == step.rival
    three = engine.ask("classes", set="three")
    count = sum(step["mistake"] for step in three["steps"])
    assert f"right after {count} mistakes" in book.says("classes", 2)
    assert f"After {count} mistakes all rows are right" in chapter("classes")
    between = np.array(engine.ask("classes", set="between")["points"])
    assert diagnose(between[:, :2], between[:, 2] == 0).status == "inseparable"


def test_paths_of_tags(book: Book, engine: Engine) -> None:
    """The page learns sentences as the library does, step by step, and says what happened."""
    found = engine.ask("paths")
    tagger = SequencePerceptron(rule="perceptron", memory="last")
    for at, step in enumerate(found["steps"]):
        words, tags = found["sentences"][step["row"]]
        x = [[{"word": word} for word in words]]
        if at:
            (best,) = tagger.predict_nbest(x, 1)[0]
            assert (best.tags, best.score) == (step["path"], step["score"])
        assert step["mistake"] == (step["path"] != tags)
        tagger.partial_fit(x, [tags], classes=found["tags"])
        model = json.loads(tags_to_json(tagger.model_))
        own = {
            f"{name[5:]}/{k}": w
            for name, part in model["features"].items()
            for k, w in part.items()
        }
        before = {"start": model["start"], **model["steps"]}
        own |= {f"{j} → {k}": w for j, part in before.items() for k, w in part.items()}
        own |= {f"{j} → end": w for j, w in model["end"].items()}
        assert {part: w for part, w in found["weights"][at + 1].items() if w} == own
    steps = found["steps"]
    count = sum(step["mistake"] for step in steps)
    said = f"right after {count} mistakes in {steps[-1]['pass']} passes"
    assert said in book.says("paths", 4)
    assert f"After {count} mistakes all sentences are right" in chapter("paths")
    second, met = steps[8], book.says("paths", 2)
    assert f"with a score of {second['score']}. The true path has {second['trueScore']}." in met
    assert sorted(second["changes"].values()) == [-1, -1, -1, 1, 1, 1]
    weights = found["weights"][5]
    assert (steps[5]["mistake"], weights["fly/N"], weights.get("fly/V", 0)) == (False, 1, 0)
    rival = sum(weights.get(part, 0) for part in ("I/P", "fly/N", "start → P", "P → N", "N → end"))
    for words in (book.says("paths", 3), chapter("paths")):
        assert f"P V scores {steps[5]['score']} and P N only {rival}" in words
    assert "4 × 4 × 4 × 4 = 256" in book.says("paths", 1)


def test_counts_and_weights(book: Book) -> None:
    """The index counts its chapters, each scene has one, and the text model is the one quoted."""
    names = list(dict.fromkeys(name for name, _ in book.pages))
    listed = (LEARN / "index.md").read_text("utf-8").rpartition(":hidden:\n")[2].split()[:-1]
    assert listed == names
    assert len(names) == 16
    assert "Sixteen short chapters. Ten follow chapter 4" in chapter("index")
    text = (LEARN.parents[1] / "src/rosenblatt/lab/assets/text_model.js").read_text("utf-8")
    model = json.loads(text.partition("TEXT_MODEL = ")[2].rstrip(";\n"))
    assert "“worst” counts −46 wherever" in book.says("weights", 2)
    assert model["weights"]["worst"] == -46
    assert f"they get {100 * model['error']:.0f} % of 25,000 other reviews wrong" in chapter(
        "weights"
    )
    assert "“not” has a small weight" in book.says("weights", 2)
    assert abs(model["weights"].get("not", 0.0)) < 15

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, margin
from rosenblatt.lab.document import Document
from rosenblatt.lab.pictures import Pictures
from rosenblatt.lab.run import Run
from rosenblatt.lab.toy_sets import toy_set
from rosenblatt.lab.votes import Votes


def pictures_of(document: Document) -> tuple[Run, Pictures, int]:
    """Return a training that was followed to its end, and its last place."""
    run = Run(document)
    return run, Pictures(run), run.place(0, "end")


@pytest.mark.parametrize("name", ["overlapping", "circles", "xor"])
@pytest.mark.parametrize("zero", ["mistake", "positive"])
def test_errors_are_those_of_the_estimators(name: str, zero: str) -> None:
    """How many rows each memory has wrong is what the estimator with that memory has wrong."""
    document = replace(toy_set(name), max_iter=4, zero=zero)
    _, pictures, at = pictures_of(document)
    kinds = {"last": Perceptron, "average": AveragedPerceptron, "vote": VotedPerceptron}
    found = pictures.frame(at)["errors"]
    for memory, kind in kinds.items():
        clf = kind(shuffle=False, max_iter=4, zero=zero)
        with pytest.warns() if memory == "last" else _nothing():
            clf.fit(document.X, document.y)
        assert found[memory] == int((clf.predict(document.X) != document.y).sum()), memory


class _nothing:  # noqa: N801
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


def test_votes_are_those_of_the_voted_perceptron() -> None:
    """The lead in votes anywhere in the plane is VotedPerceptron's, going on or going back."""
    document = replace(toy_set("overlapping"), max_iter=3)
    run, _, at = pictures_of(document)
    places = np.random.default_rng(0).uniform(-3, 3, (200, 2))  # no activation is 0 there
    votes = Votes(run.space.products(places), document.zero)
    clf = VotedPerceptron(shuffle=False, max_iter=3).fit(document.X, document.y)
    whole = votes.share(run.moment(at).updates, at)
    np.testing.assert_allclose(whole, clf.decision_function(places), atol=1e-12)
    early = votes.share(run.moment(60).updates, 60)
    clf = VotedPerceptron(shuffle=False, max_iter=1).fit(document.X, document.y)
    np.testing.assert_allclose(early, clf.decision_function(places), atol=1e-12)
    again = votes.share(run.moment(at).updates, at)
    np.testing.assert_array_equal(again, whole)


def test_band_is_the_margin() -> None:
    """The band of a perceptron that separates is as wide as the margin of its weights."""
    document = toy_set("separable")
    run, pictures, at = pictures_of(document)
    frame = pictures.frame(at)
    moment = run.moment(at)
    expected = margin(document.X, document.y, moment.weights[:2], moment.weights[2], normalize=True)
    assert frame["band"]["width"] == pytest.approx(expected)
    assert min(map(abs, frame["projections"]["values"])) == pytest.approx(expected)
    assert pictures.frame(1)["band"] is None  # some row is on the wrong side
    aggressive = Pictures(Run(replace(document, rule="pa")))
    assert aggressive._run.place(0, "step") == 1  # noqa: SLF001
    assert aggressive.frame(1)["band"]["level"] == 1.0


def test_feet_and_arrow() -> None:
    """Feet lie on the boundary at the distance shown; the arrow stands at right angles to it."""
    document = toy_set("separable")
    run, pictures, at = pictures_of(document)
    frame = pictures.frame(at)
    *w, b = run.moment(at).weights
    feet = np.array(frame["feet"])
    np.testing.assert_allclose(feet @ w + b, 0.0, atol=1e-12)
    distances = np.linalg.norm(document.X - feet, axis=1)
    np.testing.assert_allclose(distances, np.abs(frame["projections"]["values"]))
    arrow = next(arrow for arrow in frame["arrows"] if arrow["name"] == "after")
    start, tip = np.array(arrow["from"]), np.array(arrow["to"])
    assert start @ w + b == pytest.approx(0.0, abs=1e-9)
    assert np.cross([*(tip - start), 0.0], [*w, 0.0]) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("settings", "at", "words"),
    [
        ({}, 0, "Before the first row all weights are 0, and so is every activation."),
        (
            {},
            1,
            (
                "Pass 1, row 0 (class −1): the activation is 0, which counts as a mistake. "
                "The row is taken from the weights: w = (0, 0), b = −1."
            ),
        ),
        (
            {"zero": "negative"},
            1,
            (
                "Pass 1, row 0 (class −1): the activation is 0, which counts as class −1, right. "
                "Nothing changes."
            ),
        ),
        (
            {"eta0": 0.5},
            2,
            (
                "Pass 1, row 1 (class +1): the activation is −0.5, on the wrong side. "
                "The row is added to the weights 0.5 times: w = (0, 0.5), b = 0."
            ),
        ),
        (
            {"kernel": "rbf"},
            2,
            (
                "Pass 1, row 1 (class +1): the activation is −1.368, on the wrong side. "
                "The row is added to the weights: its own weight is now 1."
            ),
        ),
        (
            {"map": "conjunction", "rule": "pa"},
            5,
            (
                "Pass 2, row 0 (class −1): the activation is 0.5, on the wrong side. "
                "The row is taken from the weights 1.5 times: w = (0.5, 0.5, −0.5), b = −1."
            ),
        ),
        (
            {"points": ((1.0, 0.0, 1), (1.0, 1.0, 1)), "rule": "margin", "margin": 3.0},
            2,
            (
                "Pass 1, row 1 (class +1): the activation is 2, on the right side but too close. "
                "The row is added to the weights: w = (2, 1), b = 2."
            ),
        ),
    ],
)
def test_sentences(settings: dict[str, Any], at: int, words: str) -> None:
    """One plain sentence or two say what a step met and did."""
    run = Run(replace(toy_set("xor"), **settings))
    run.place(at)
    assert Pictures(run).frame(at)["sentence"] == words


def test_last_sentence() -> None:
    """The last one says why training ended."""
    _, pictures, at = pictures_of(toy_set("separable"))
    assert pictures.frame(at)["sentence"].endswith(
        "All rows are now on their side: training has ended."
    )
    _, pictures, at = pictures_of(replace(toy_set("xor"), max_iter=2))
    assert pictures.frame(at)["sentence"].endswith(
        "the last pass that is allowed: training has ended."
    )


def test_counts() -> None:
    """Mistakes are counted in all and by pass, up to where one stands."""
    run, pictures, at = pictures_of(replace(toy_set("xor"), max_iter=3))
    by_pass = [sum(v.mistake for v in run.visits if v.pass_ == p) for p in (1, 2, 3)]
    assert pictures.frame(at)["per_pass"] == by_pass
    assert pictures.frame(at)["mistakes"] == sum(by_pass)
    assert pictures.frame(6)["per_pass"][0] == by_pass[0]
    assert len(pictures.frame(6)["per_pass"]) == 2
    assert pictures.frame(0)["per_pass"] == []

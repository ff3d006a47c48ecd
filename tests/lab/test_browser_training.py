"""In Chromium: what a person sees of a training is what the library does."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rosenblatt.lab.pictures import grid
from rosenblatt.lab.toy_sets import toy_set
from rosenblatt.tracing import trace
from tests.lab.browser import Visit, number

pytestmark = pytest.mark.explore  # the page waits for ever in a step of these: see docs/lab.md


def places_of(d: str, view: tuple[float, float, float, float]) -> NDArray[Any]:
    """Return the places of a line that is drawn, in the coordinates of the data."""
    units = np.array([[float(v) for v in place.split()] for place in d[1:].split("L")]) / 1000
    left, right, bottom, top = view
    return np.column_stack(
        [left + units[:, 0] * (right - left), top - units[:, 1] * (top - bottom)]
    )


@pytest.mark.parametrize(("name", "count"), [("xor", 13), ("separable", 30)])
def test_frame_by_frame(lab: Visit, name: str, count: int) -> None:
    """Each step's row, activation, weights and boundary are those of ``trace``."""
    document = toy_set(name)
    if name != "separable":
        lab.load(name, len(document.points))
    steps = trace(document.X, document.y)[:count]
    for step, line in zip(steps, lab.frames(count), strict=True):
        assert (int(line["row"]), int(line["pass"])) == (step.row, step.pass_)
        assert number(line["activation"]) == pytest.approx(step.activation, rel=1e-3)
        assert (line["outcome"] == "wrong") == step.mistake
        w = [number(v) for v in line["w"].strip("()").split(", ")]
        assert w == pytest.approx(step.w.tolist(), rel=1e-3)
        assert number(line["b"]) == pytest.approx(step.b, rel=1e-3)
        assert line["sentence"].startswith(f"Pass {step.pass_}, row {step.row} (class")
        corners = grid(document.view, 1) @ step.w + step.b
        if corners.min() < 0 < corners.max():
            places = places_of(line["boundary"], document.view)
            extent = np.hypot(*step.w) * (document.view[1] - document.view[0])
            assert np.abs(places @ step.w + step.b).max() < 1e-3 * extent
        else:
            assert line["boundary"] == "" or not corners.all()
    ring = lab.page.locator(".rings .current")
    assert ring.count() == 1
    x, y = lab.pixels(*document.X[steps[-1].row])
    box = ring.bounding_box()
    assert box["x"] + box["width"] / 2 == pytest.approx(x, abs=1)
    assert box["y"] + box["height"] / 2 == pytest.approx(y, abs=1)


def test_ways(lab: Visit) -> None:
    """One goes by a mistake, a pass, to the end and back; the charts and the verdict follow."""
    document = toy_set("separable")
    steps = trace(document.X, document.y)
    lab.go("mistake")
    lab.go("mistake")
    assert lab.state["at"] == ["2"]
    lab.go("pass")
    assert lab.state["at"] == ["24"]
    lab.go("end")
    assert lab.state["at"] == [str(len(steps))]
    assert "training has ended" in lab.sentence
    lab.until_verdict("separable")
    mistakes = sum(step.mistake for step in steps)
    told = f"{mistakes} mistakes; the theorem allows at most 45.12."
    assert told in lab.page.inner_text(".right")
    assert "Separable" in lab.page.inner_text(".verdict")
    assert lab.page.locator(".rings .proof").count() == 2
    assert lab.page.get_attribute("[data-way=step]", "aria-disabled") == "true"
    lab.go("back")
    assert lab.state["at"] == [str(len(steps) - 1)]
    lab.go("start")
    assert "at" not in lab.state


def test_play(lab: Visit) -> None:
    """It plays by itself at the speed that is chosen, quietly, until it is paused."""
    lab.page.select_option("[aria-label='Steps a second']", "25")
    lab.page.click("[data-way=play]")
    assert lab.page.get_attribute(".sentence", "aria-live") == "off"
    lab.page.wait_for_function(
        "() => Number(new URLSearchParams(location.hash.slice(1)).get('at')) >= 5"
    )
    lab.page.click("[data-way=play]")
    assert lab.page.get_attribute(".sentence", "aria-live") == "polite"
    assert lab.page.inner_text("[data-way=play]").strip() == "Play"


def test_curves_and_memories(lab: Visit) -> None:
    """A kernel bends the boundary; average and vote are drawn beside the last weights."""
    lab.load("circles", 40)
    lab.set("kernel", "rbf")
    lab.page.check(".key-average input")
    lab.page.check(".key-vote input")
    lab.go("end")
    for name in ("last", "average", "vote"):
        assert len(lab.page.get_attribute(f".boundaries .{name}", "d").split("L")) > 20
    assert "last weights (0 wrong)" in lab.page.inner_text(".legend")
    assert lab.page.locator(".chart.weights .new").count() == 8
    lab.set("memory", "vote")
    lab.page.wait_for_function(
        "() => document.querySelector('.projections').textContent.includes('votes')"
    )
    lab.set("kernel", "none")
    lab.set("memory", "last")
    lab.page.check(".key-feet input")
    lab.page.wait_for_selector(".feet path", state="attached")
    assert lab.page.locator(".feet path").count() == 40


def test_no_step_is_lost(lab: Visit) -> None:
    """Steps that are asked for faster than they are answered are all made."""
    lab.page.evaluate(
        "for (let k = 0; k < 7; k++) document.querySelector('[data-way=step]').click()"
    )
    lab.until_step(7)

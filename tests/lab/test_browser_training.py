"""In Chromium: what a person sees of a training is what the library does."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rosenblatt.lab.toy_sets import toy_set
from rosenblatt.tracing import trace
from tests.lab.browser import Visit, new_context, number, visit


def places_of(d: str, view: tuple[float, float, float, float]) -> NDArray[Any]:
    """Return the places of a line that is drawn, in the coordinates of the data."""
    units = np.array([[float(v) for v in place.split()] for place in d[1:].split("L")])
    left, right, bottom, top = view
    return np.column_stack(
        [left + units[:, 0] * (right - left), top - units[:, 1] * (top - bottom)]
    )


def end_of(lab: Visit, selector: str) -> tuple[float, float]:
    """Return where an arrow of the plane ends, in pixels of the picture."""
    d = lab.page.get_attribute(selector, "d")
    x, y = d.split("M")[1].split("L")[1].split()
    return float(x), float(y)


@pytest.mark.parametrize(("name", "count"), [("xor", 13), ("separable", 30)])
def test_frame_by_frame(lab: Visit, name: str, count: int) -> None:
    """Each step's row, activation, weights and boundary are those of ``trace``."""
    document = toy_set(name)
    if name != "separable":
        lab.load(name, len(document.points))
    lab.page.emulate_media(reduced_motion="reduce")
    steps = trace(document.X, document.y)[:count]
    for step, line in zip(steps, lab.frames(count), strict=True):
        assert (int(line["row"]), int(line["pass"])) == (step.row + 1, step.pass_)
        assert number(line["activation"]) == pytest.approx(step.activation, rel=1e-3)
        assert (line["outcome"] == "wrong") == step.mistake
        w = [number(v) for v in line["w"].strip("()").split(", ")]
        assert w == pytest.approx(step.w.tolist(), rel=1e-3)
        assert number(line["b"]) == pytest.approx(step.b, rel=1e-3)
        assert line["sentence"].startswith(f"Pass {step.pass_}, row {step.row + 1} (class")
        if line["boundary"]:
            places = places_of(line["boundary"], document.view)
            extent = np.hypot(*step.w) * (document.view[1] - document.view[0])
            assert np.abs(places @ step.w + step.b).max() < 1e-9 * extent
    x, y = lab.pixels(*document.X[steps[-1].row])
    box = lab.page.locator(".rings .current").bounding_box()
    assert box["x"] + box["width"] / 2 == pytest.approx(x, abs=1)
    assert box["y"] + box["height"] / 2 == pytest.approx(y, abs=1)


def test_ways(lab: Visit) -> None:
    """One goes by a mistake, a pass, to the end and back; the theorem and the verdict follow."""
    document = toy_set("separable")
    steps = trace(document.X, document.y)
    lab.look_at("theorem")
    for way, at in {"mistake": 1, "pass": 24, "end": len(steps), "back": len(steps) - 1}.items():
        lab.go(way)
        lab.until_step(at)
        updates = sum(step.step != 0 for step in steps[:at])
        assert lab.page.inner_text(".figures b >> nth=0") == str(updates)
    lab.go("end")
    assert lab.page.get_attribute("[data-way=step]", "aria-disabled") == "true"
    assert lab.sentence.endswith("Every row is now right: training has ended.")
    verdict = (
        "Separable, with a margin of 0.3347; at most 45 mistakes "
        "(with the bias as a weight: γ = 0.3153, R = 2.118)."
    )
    assert lab.page.inner_text(".verdict-words") == verdict
    w = np.append(steps[-1].w, steps[-1].b)
    assert number(lab.page.inner_text(".figures b >> nth=1")) == pytest.approx(
        np.linalg.norm(w), rel=1e-3
    )
    lab.go("start")
    lab.until_step(0)


def test_slider_scrubs_the_whole_training(lab: Visit) -> None:
    """The slider has every step at once, and the table draws only lines in view."""
    lab.load("overlapping", 60)
    lab.look_at("trace")
    slider = lab.page.locator(".scrub input")
    assert slider.get_attribute("max") == "1200"
    slider.fill("777")
    lab.until_step(777)
    steps = trace(toy_set("overlapping").X, toy_set("overlapping").y, max_iter=20)
    assert lab.sentence.startswith(f"Pass 13, row {steps[776].row + 1} ")
    lab.page.wait_for_selector(".trace tr.now[data-t='776']")
    assert lab.page.locator(".trace tbody tr").count() < 60
    lab.page.click(".trace tr.now + tr")
    lab.until_step(778)


def test_play(lab: Visit) -> None:
    """It plays by itself at the speed that is chosen, quietly, until it is paused."""
    lab.page.select_option("[aria-label='Steps a second']", "25")
    lab.page.click("[data-way=play]")
    assert lab.page.get_attribute(".sentence", "aria-live") == "off"
    lab.until("Number(document.querySelector('.scrub input').value) >= 5")
    lab.page.click("[data-way=play]")
    assert lab.page.get_attribute(".sentence", "aria-live") == "polite"
    assert lab.page.inner_text("[data-way=play]").strip() == "Play"


def test_no_step_is_lost(lab: Visit) -> None:
    """Steps that are asked for faster than they are drawn are all made."""
    lab.page.evaluate(
        "for (let k = 0; k < 7; k++) document.querySelector('[data-way=step]').click()"
    )
    lab.until_step(7)


@pytest.mark.explore
def test_update_is_seen(browser: Any, address: str) -> None:
    """W from the origin, y·x on its tip and their sum; without motion they stand at once."""
    document = toy_set("separable")
    steps = trace(document.X, document.y)
    for motion in ("no-preference", "reduce"):
        with visit(new_context(browser, reduced_motion=motion)) as lab:
            lab.open(address)
            lab.go("step")
            lab.go("step")
            lab.page.wait_for_selector(".plane .halo:text('w')")  # it stands at the end
            origin = np.array(lab.pixels(0, 0)) - np.array(
                [lab.page.locator(".plane").bounding_box()[k] for k in "xy"]
            )
            tips = {
                name: np.array(end_of(lab, f".arrow.{name}")) - origin
                for name in ("old", "step", "now")
            }
            assert tips["step"] == pytest.approx(tips["now"], abs=0.5)
            ratio = np.hypot(*tips["old"]) / np.hypot(*tips["now"])
            lengths = [np.hypot(*steps[k].w) for k in (0, 1)]
            assert ratio == pytest.approx(lengths[0] / lengths[1], rel=0.02)


def test_all_speaks_of_the_weights_chosen(lab: Visit) -> None:
    """With the average chosen, arrow, neuron and sentence show the average; the vote has none."""
    document = toy_set("separable")
    lab.go("pass")
    lab.page.click("text=Average")
    step = trace(document.X, document.y, averaged=True)[23]
    assert step.average_w is not None
    lab.until("document.querySelector('.neuron').textContent.includes('average w')")
    shown = re.findall(r"× (−?[\d.]+)", lab.page.text_content(".neuron"))
    expected = [*step.average_w, step.average_b]
    assert [number(v) for v in shown] == pytest.approx(expected, rel=6e-3)
    assert "The average of all weights so far is" in lab.sentence
    box = lab.page.locator(".plane").bounding_box()
    origin = np.array(lab.pixels(0, 0)) - np.array([box["x"], box["y"]])
    tip = np.array(end_of(lab, ".arrow.now")) - origin
    angle = np.arctan2(-tip[1], tip[0])
    assert angle == pytest.approx(np.arctan2(*step.average_w[::-1]), abs=0.02)
    lab.page.click("text=Vote")
    lab.until("!document.querySelector('.arrow.now') && document.querySelector('.voter')")
    assert "The vote has no weights of its own." in lab.page.text_content(".neuron-panel")


@pytest.mark.explore
def test_curves(lab: Visit) -> None:
    """A kernel bends the boundary; other memories can be drawn beside the chosen one."""
    lab.load("circles", 40)
    lab.set("kernel", "rbf")
    lab.page.click(".legend summary")
    lab.page.check("[data-layer=average]")
    lab.page.check("[data-layer=vote]")
    lab.go("end")
    for name in ("last", "average", "vote"):
        lab.until(f"document.querySelector('.boundaries .{name}')?.getAttribute('d').length > 400")
    assert lab.page.locator(".plane .point.wrong").count() == 0
    lab.until_verdict("separable")
    assert "through the kernel" in lab.page.text_content(".neuron-panel")


def test_how_sure_the_weights_are(lab: Visit) -> None:
    """A second-order rule has an ellipse of one deviation at the tip of w, ± at the neuron."""
    lab.set("kernel", "rbf")
    lab.set("rule", "arow")
    assert lab.page.input_value("select[name=kernel]") == "none"
    lab.page.emulate_media(reduced_motion="reduce")
    lab.frames(5)
    document = toy_set("separable")
    step = trace(document.X, document.y, rule="arow")[4]
    assert step.variance_w is not None
    radii = [float(lab.page.get_attribute(".sureness", name)) for name in ("rx", "ry")]
    origin, right, up = (lab.pixels(*place) for place in ((0, 0), (1, 0), (0, 1)))
    units = np.array([right[0] - origin[0], origin[1] - up[1]]) * np.sqrt(step.variance_w)
    assert radii[0] / radii[1] == pytest.approx(units[0] / units[1], rel=1e-3)
    lab.look_at("neuron")
    assert f"± {np.sqrt(step.variance_w[0]):.2f}"[:5] in lab.page.inner_html(".neuron")
    lab.set("kernel", "polynomial")
    assert lab.page.input_value("select[name=rule]") == "perceptron"


@pytest.mark.explore
def test_orders_passes_and_space(lab: Visit) -> None:
    """Two orders run side by side, held-out points have their error, XOR has a third axis."""
    lab.load("sorted labels", 30)
    lab.look_at("orders")
    lab.go("end")
    assert "At the end 17, all right after 7 passes." in lab.page.inner_text(".half-0")
    assert "At the end 3, all right after 2 passes." in lab.page.inner_text(".half-1")
    lab.look_at("passes")
    lab.page.click(".panel >> text=Hold out a third")
    lab.until_points(20)
    assert lab.page.locator(".plane .point.held").count() == 10
    lab.until("document.querySelector('.chart.errors .held-dot')")
    lab.load("xor", 4)
    lab.set("map", "conjunction")
    lab.go("end")
    lab.look_at("space")
    assert lab.page.locator(".space .sheet").count() == 1
    assert "The sheet has every point on its side." in lab.page.inner_text(".panel")


def test_cycle_and_meeting_point(lab: Visit) -> None:
    """XOR's cycle is announced, and the point where both mixtures meet is drawn."""
    lab.load("xor", 4)
    lab.go("pass")
    assert "The weights are again what they were at the start" in lab.sentence
    lab.page.click("text=Why?")
    box = lab.page.locator(".meeting").bounding_box()
    x, y = lab.pixels(0.5, 0.5)
    assert box["x"] + box["width"] / 2 == pytest.approx(x, abs=1)
    assert box["y"] + box["height"] / 2 == pytest.approx(y, abs=1)
    assert "1/2 × row 2 (+1)" in lab.page.inner_text(".proof-rows")

"""In Chromium: points are put, moved and deleted by mouse, finger and keyboard, and read."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosenblatt.tracing import trace
from tests.lab.browser import Visit, new_context, visit


def test_placing_points(lab: Visit) -> None:
    """A click puts a point of the chosen class where it was made; others delete it."""
    lab.clear()
    lab.page.mouse.click(*lab.pixels(1.0, 0.5))
    lab.until_points(1)
    lab.page.click(".tools .face >> nth=1")
    lab.page.mouse.click(*lab.pixels(-1.0, -1.25))
    lab.until_points(2)
    assert lab.points[0] == pytest.approx([1.0, 0.5, 1], abs=0.02)
    assert lab.points[1] == pytest.approx([-1.0, -1.25, -1], abs=0.02)
    assert lab.page.locator(".plane .points circle.positive").count() == 1
    assert lab.page.locator(".plane .points rect.negative").count() == 1
    lab.page.mouse.click(*lab.pixels(*lab.points[0][:2]), button="right")
    lab.until_points(1)
    lab.page.click(".tools .face >> nth=2")
    lab.page.mouse.click(*lab.pixels(*lab.points[0][:2]))
    lab.until_points(0)


def test_points_at_one_place(context: Any, address: str) -> None:
    """Two classes at one place show half a mark each, and each half is its own point to delete."""
    with visit(context) as lab:
        lab.open(f"{address}#points=1,1,p~1,1,n~-1,-1,n~-1,-1,n~0,-1,p")
        assert lab.page.locator(".plane .point[clip-path]").count() == 2
        assert lab.page.locator(".plane .counts text").all_text_contents() == ["×2", "×2"]
        x, y = lab.pixels(1, 1)
        lab.page.mouse.click(x + 3, y, button="right")  # the right half is the negative one
        lab.until_points(4)
        assert [1.0, 1.0, 1] in lab.points
        lab.until("document.querySelectorAll('.plane .point[clip-path]').length === 0")


def test_clicks_on_the_axes_put_nothing(lab: Visit) -> None:
    """A click on the numbers and names of the axes is none on the plane."""
    box = lab.page.locator(".plane").bounding_box()
    for x, y in ((5, box["height"] / 2), (box["width"] / 2, box["height"] - 5), (5, 5)):
        lab.page.mouse.click(box["x"] + x, box["y"] + y)
    lab.go("step")
    lab.until_points(24)


def test_dragging(lab: Visit) -> None:
    """A dragged point ends where it is dropped, and the training is that of the new points."""
    lab.load("xor", 4)
    lab.go("end")
    lab.until_verdict("inseparable")
    lab.page.mouse.move(*lab.pixels(1.0, 1.0))
    lab.page.mouse.down()
    for share in (0.3, 0.6, 1.0):
        lab.page.mouse.move(*lab.pixels(1.0 - 1.5 * share, 1.0 - 1.5 * share))
    lab.page.mouse.up()
    lab.until_verdict("separable")
    lab.until("location.hash.includes('-0.5,-0.5,n')")
    assert lab.points[2] == pytest.approx([-0.5, -0.5, -1], abs=0.02)
    points = np.array(lab.points)
    steps = trace(points[:, :2], points[:, 2].astype(int))
    lab.until_step(len(steps))
    assert "training has ended" in lab.sentence
    lab.page.keyboard.press("Control+z")
    lab.until("location.hash.includes('1,1,n')")
    lab.page.keyboard.press("Control+Shift+z")
    lab.until("location.hash.includes('-0.5,-0.5,n')")


def test_a_drag_that_moves_nothing_erases_nothing(lab: Visit) -> None:
    """Crosses, ring and distances stay where a drag is too short or goes against the border."""
    lab.load("overlapping", 60)
    lab.go("pass")
    lab.page.click(".legend summary")
    lab.page.check("[data-layer=feet]")
    lab.page.click(".legend summary")

    def drawn() -> list[int]:
        selectors = (".plane .point.wrong", ".rings .current", ".feet path")
        return [lab.page.locator(selector).count() for selector in selectors]

    before = drawn()
    assert before[0] > 0
    assert before[1:] == [1, 60]
    x, y = lab.pixels(*lab.points[0][:2])
    lab.page.mouse.move(x, y)
    lab.page.mouse.down()
    lab.page.mouse.move(x + 0.4, y)
    lab.page.mouse.up()
    assert drawn() == before
    lab.page.mouse.move(x, y)
    lab.page.mouse.down()
    for far in (400, 900, 901):
        lab.page.mouse.move(x - far, y)
    lab.page.mouse.up()
    lab.until("location.hash.includes('points=-3,')")
    assert drawn()[1:] == [1, 60]
    assert drawn()[0] > 0


@pytest.mark.explore
def test_touch(browser: Any, address: str) -> None:
    """A tap puts a point, and a finger drags one."""
    with visit(new_context(browser, has_touch=True)) as lab:
        lab.open(address)
        lab.clear()
        lab.page.touchscreen.tap(*lab.pixels(1.0, 1.0))
        lab.until_points(1)
        session = lab.page.context.new_cdp_session(lab.page)

        def finger(kind: str, *places: tuple[float, float]) -> None:
            points = [{"x": x, "y": y} for x, y in places]
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        finger("touchStart", lab.pixels(*lab.points[0][:2]))
        finger("touchMove", lab.pixels(0.5, 0.0))
        finger("touchMove", lab.pixels(-1.0, -1.0))
        finger("touchEnd")
        lab.until("location.hash.includes('points=-')")
        assert lab.points == [pytest.approx([-1.0, -1.0, 1], abs=0.02)]


@pytest.mark.explore
def test_keyboard_only(lab: Visit) -> None:
    """Without a mouse one puts, chooses, moves, turns, holds out and deletes points, and trains."""
    press = lab.page.keyboard.press

    def tab_to(selector: str, key: str = "Tab") -> None:
        for _ in range(60):
            if lab.page.evaluate("s => document.activeElement.matches(s)", selector):
                return
            press(key)
        pytest.fail(f"{key} does not lead to {selector}")

    tab_to("[data-drawer=points]")
    press("Enter")
    tab_to(".drawer-body > .fields > button")
    press("Enter")
    lab.until_points(0)
    press("Escape")
    tab_to(".plane", "Shift+Tab")
    assert lab.page.locator(".cursor path").count() == 1
    press("+")
    lab.until_points(1)
    for _ in range(3):
        press("Shift+ArrowRight")
    press("-")
    lab.until_points(2)
    assert lab.points == [[0, 0, 1], [1.5, 0, -1]]
    press("n")
    press("ArrowUp")
    lab.until("location.hash.includes('0.1')")
    assert lab.points[0] == [0, 0.1, 1]
    assert "row 1, class +1, at (0, 0.1)" in lab.page.inner_text(".hints")
    assert "row 1" in lab.page.inner_text(".point-card")
    press("c")
    lab.until("!location.hash.includes(',p')")
    assert lab.points[0][2] == -1
    press("h")
    lab.until("location.hash.includes('held_out=0,0.1,n')")
    press("h")
    lab.until_points(2)
    press("Delete")
    lab.until_points(1)
    press("Escape")
    press("Shift+ArrowLeft")
    press("Enter")
    lab.until_points(2)
    press("s")
    lab.until_step(1)
    tab_to("[data-way=end]")
    press("Enter")
    lab.until("document.querySelector('.sentence').textContent.includes('ended')")
    tab_to("[role=tab][aria-selected=true]")
    press("ArrowRight")
    lab.page.wait_for_selector("[data-panel=axis][aria-selected=true]")


@pytest.mark.explore
def test_w_is_turned_by_hand(lab: Visit) -> None:
    """Before the first row w can be pulled by its ring, or turned by keys; training begins so."""
    box = lab.page.locator(".handle").bounding_box()
    ring = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    lab.page.mouse.move(*ring)
    lab.page.mouse.down()
    for share in (0.5, 1.0):
        way = np.array(lab.pixels(1.0 * share, 0.5 * share)) - np.array(lab.pixels(0, 0))
        lab.page.mouse.move(*(ring + way))
    lab.page.mouse.up()
    lab.until("location.hash.includes('start=')")
    w = [float(v) for v in lab.state["start"][0].split(",")]
    assert w[1] / w[0] == pytest.approx(0.5, abs=0.05)
    assert w[2] == 0
    assert lab.sentence.startswith("Training starts from w = (")
    lab.page.focus(".handle")
    lab.page.keyboard.press("ArrowLeft")
    lab.until("!location.hash.includes(`start=${value}`)", lab.state["start"][0])
    turned = [float(v) for v in lab.state["start"][0].split(",")]
    angles = [np.degrees(np.arctan2(v[1], v[0])) for v in (w, turned)]
    assert angles[1] - angles[0] == pytest.approx(5, abs=0.5)
    lab.go("step")
    assert not lab.page.is_visible(".handle")


@pytest.mark.explore
def test_looking_at_a_point(lab: Visit) -> None:
    """A point under the pointer tells its numbers and when it taught; a line shows its point."""
    lab.look_at("trace")
    lab.go("end")
    lab.until_points(24)
    document = trace(np.array(lab.points)[:, :2], [int(p[2]) for p in lab.points])
    lab.page.mouse.move(*lab.pixels(*lab.points[16][:2]))
    lab.page.wait_for_selector(".point-card:not([hidden])")
    card = lab.page.inner_text(".point-card")
    a = float(document[-1].w @ lab.points[16][:2] + document[-1].b)
    assert "row 17" in card
    assert f"{a:.4g}" in card
    assert "17, 41" in card.replace("\n", " ")
    lab.page.mouse.move(5, 5)
    lab.page.hover(".trace tr.now")
    x, y = lab.pixels(*lab.points[document[-1].row][:2])
    box = lab.page.locator(".rings .looked-at").bounding_box()
    assert box["x"] + box["width"] / 2 == pytest.approx(x, abs=1)
    assert box["y"] + box["height"] / 2 == pytest.approx(y, abs=1)


def test_table(lab: Visit, tmp_path: Path) -> None:
    """A person's own table becomes points; an error is gone as soon as a good file comes."""
    long_name = "a name of a column that is forty letters"
    path = tmp_path / "flowers.csv"
    path.write_text(
        f"{long_name},petal,kind\n5.1,1.4,a\n7.0,4.7,b\n6.3,6.0,c\nNA,1.5,a\n6.0,4.0,b\n"
    )
    lab.drawer("points")
    words = tmp_path / "words.csv"
    words.write_text("a,b,label\n")
    lab.page.set_input_files("input[type=file]", words)
    lab.page.wait_for_selector(".failure:not([hidden])")
    assert "words.csv has a line of names and no rows." in lab.page.inner_text(".failure")
    lab.page.set_input_files("input[type=file]", path)
    lab.page.wait_for_selector(".failure", state="hidden")
    lab.page.select_option(".chooser label:has-text('Positive class') select", "a")
    lab.page.select_option(".chooser label:has-text('Across') select", "petal")
    lab.page.select_option(".chooser label:has-text('Up') select", long_name)
    lab.page.click("text=Use these columns")
    lab.until_points(4)
    assert lab.points[0] == [1.4, 5.1, 1]
    assert [side for _, _, side in lab.points] == [1, -1, -1, -1]
    assert "1 row with a missing value was left out." in lab.page.inner_text(".drawer-body")
    assert lab.page.text_content(".axes .title >> nth=0") == "petal"
    for scheme in (1280, 390):
        lab.page.set_viewport_size({"width": scheme, "height": 844})
        lab.until("document.documentElement.scrollWidth <= innerWidth")
        tool = lab.page.locator(".tools .face >> nth=2").bounding_box()
        assert tool["x"] + tool["width"] <= scheme

"""In Chromium: points are put, moved and deleted by mouse, finger and keyboard, and read."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosenblatt.lab.server import LabServer
from rosenblatt.tracing import trace
from tests.lab.browser import Visit, new_context, visit

pytestmark = pytest.mark.explore  # the page waits for ever in a step of these: see docs/lab.md


def test_placing_points(lab: Visit) -> None:
    """A click puts a point of the chosen class where it was made; others delete it."""
    lab.page.click("text=Clear all points")
    lab.until_points(0)
    lab.page.mouse.click(*lab.pixels(1.0, 0.5))
    lab.until_points(1)
    lab.page.click("input[value=negative]")
    lab.page.mouse.click(*lab.pixels(-1.0, -1.25))
    lab.until_points(2)
    assert lab.points[0] == pytest.approx([1.0, 0.5, 1], abs=0.02)
    assert lab.points[1] == pytest.approx([-1.0, -1.25, -1], abs=0.02)
    assert lab.page.locator(".plane .points circle.positive").count() == 1
    assert lab.page.locator(".plane .points rect.negative").count() == 1
    lab.page.mouse.click(*lab.pixels(*lab.points[0][:2]), button="right")
    lab.until_points(1)
    lab.page.click("input[value=delete]")
    lab.page.mouse.click(*lab.pixels(*lab.points[0][:2]))
    lab.until_points(0)


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
    assert lab.points[2] == pytest.approx([-0.5, -0.5, -1], abs=0.02)
    points = np.array(lab.points)
    steps = trace(points[:, :2], points[:, 2].astype(int))
    lab.page.wait_for_function(f"() => location.hash.endsWith('&at={len(steps)}')")
    assert "training has ended" in lab.sentence


def test_touch(browser: Any, server: LabServer) -> None:
    """A tap puts a point, and a finger drags one."""
    with visit(new_context(browser, has_touch=True)) as lab:
        lab.open(server.url)
        lab.page.click("text=Clear all points")
        lab.until_points(0)
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
        lab.page.wait_for_function("() => location.hash.includes('points=-')")
        assert lab.points == [pytest.approx([-1.0, -1.0, 1], abs=0.02)]


def test_keyboard_only(lab: Visit) -> None:
    """Without a mouse one puts, chooses, moves, turns and deletes points, and trains."""
    press = lab.page.keyboard.press

    def tab_to(selector: str) -> None:
        for _ in range(60):
            if lab.page.evaluate("s => document.activeElement.matches(s)", selector):
                return
            press("Tab")
        pytest.fail(f"Tab does not lead to {selector}")

    tab_to(".points button")
    press("Enter")
    lab.until_points(0)
    tab_to(".plane")
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
    lab.page.wait_for_function("() => location.hash.includes('0.1')")
    assert lab.points[0] == [0, 0.1, 1]
    assert "row 0, class +1, at (0, 0.1)" in lab.page.inner_text(".hints")
    press("c")
    lab.page.wait_for_function("() => !location.hash.includes(',p')")
    assert lab.points[0][2] == -1
    press("Delete")
    lab.until_points(1)
    press("Escape")
    press("Shift+ArrowLeft")
    press("Enter")
    lab.until_points(2)
    press("s")
    lab.page.wait_for_function("() => location.hash.endsWith('at=1')")
    tab_to("[data-way=end]")
    press("Enter")
    lab.page.wait_for_function(
        "() => document.querySelector('.sentence').textContent.includes('ended')"
    )
    tab_to("select[name=rule]")
    press("ArrowDown")
    lab.page.wait_for_function("() => location.hash.includes('rule=margin')")


def test_table(lab: Visit, tmp_path: Path) -> None:
    """A person's own table becomes points: two chosen columns and a label."""
    path = tmp_path / "flowers.csv"
    path.write_text("sepal,petal,kind\n5.1,1.4,a\n7.0,4.7,b\n6.3,6.0,c\n4.9,1.5,a\n6.0,4.0,b\n")
    lab.page.set_input_files("input[type=file]", path)
    lab.page.select_option("text=Label >> select", "kind")
    lab.page.select_option("text=Positive class >> select", "a")
    lab.page.select_option("text=Across >> select", "petal")
    lab.page.select_option("text=Up >> select", "sepal")
    lab.page.click("text=Use these columns")
    lab.until_points(5)
    assert lab.points[0] == [1.4, 5.1, 1]
    assert [side for _, _, side in lab.points] == [1, -1, -1, 1, -1]
    assert lab.page.text_content(".axes .title >> nth=0") == "petal"
    path = tmp_path / "words.csv"
    path.write_text("a,b\nonly,words\nin,here\n")
    lab.page.set_input_files("input[type=file]", path)
    lab.page.click("text=Use these columns")
    lab.page.wait_for_selector(".failure:not([hidden])")
    assert "a column for x is needed" in lab.page.inner_text(".failure")
    lab.troubles.clear()

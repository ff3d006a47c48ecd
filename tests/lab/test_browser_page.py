"""In Chromium: one screen, links, scenes, downloads, accessibility, the widget."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rosenblatt.lab.page import module_text, style_text, write_page
from rosenblatt.lab.toy_sets import toy_set
from tests.lab.browser import Visit, new_context, visit
from tests.lab.engine import Engine

NOTEBOOK = """async ([text, given]) => {
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const { default: widget } = await import(url);
    const heard = {};
    window.model = {
        values: { document: given },
        get(name) { return this.values[name]; },
        set(name, value) { this.values[name] = value; },
        save_changes() { this.saved = (this.saved ?? 0) + 1; },
        on(name, listener) { (heard[name] ??= []).push(listener); },
        off(name, listener) { heard[name] = heard[name].filter((other) => other !== listener); },
        fire(name) { for (const listener of heard[name]) listener(); },
    };
    window.closeLab = widget.render({ model: window.model, el: document.querySelector("main") });
}"""


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_one_screen(browser: Any, address: str, width: int, height: int) -> None:
    """Plane, sentence, Step and Play are seen together, on a laptop and on a phone."""
    with visit(new_context(browser)) as lab:
        lab.page.set_viewport_size({"width": width, "height": height})
        lab.open(address)
        lab.go("mistake")
        for selector in (".plane", ".sentence", "[data-way=step]", "[data-way=play]", ".scrub"):
            box = lab.page.locator(selector).bounding_box()
            assert box["y"] >= 0, selector
            assert box["y"] + box["height"] <= height, selector
            assert box["x"] + box["width"] <= width, selector
        side = lab.page.locator(".plane").bounding_box()["width"]
        assert side >= 0.8 * min(width, height)
        for scene in ("theorem", "averaging", "xor"):  # those with the most words
            lab.page.evaluate("h => { location.hash = h }", f"scene={scene}")
            lab.page.wait_for_selector(".guide:not([hidden])")
            lab.until(
                "document.querySelector('[data-way=step]').getBoundingClientRect().bottom <= value",
                height,
            )


def test_menus_stay_in_the_window(browser: Any, address: str) -> None:
    """On a phone, a tablet and a screen every menu and drawer is within the window."""
    with visit(new_context(browser)) as lab:
        for width in (390, 768, 1280):
            lab.page.set_viewport_size({"width": width, "height": 844})
            lab.open(address)
            lab.page.click(".legend summary")
            boxes = [lab.page.locator(".legend-body").bounding_box()]
            lab.page.click(".legend summary")
            for name in ("scenes", "points", "settings", "share"):
                lab.drawer(name)
                boxes.append(lab.page.locator(".drawer").bounding_box())
                lab.drawer(name)
            assert all(box["width"] > 100 for box in boxes)
            assert all(0 <= box["x"] <= width - box["width"] for box in boxes), (width, boxes)


def test_own_points_by_keyboard(browser: Any, address: str) -> None:
    """Whoever puts points of their own stands on the plane, where the keys place them."""
    with visit(new_context(browser)) as lab:
        lab.page.goto(address)
        lab.page.wait_for_selector(".welcome")
        lab.page.focus("[data-welcome=own]")
        lab.page.keyboard.press("Enter")
        lab.until("document.activeElement.matches('.plane, .plane *')")


@pytest.mark.explore
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_every_scene_opens(browser: Any, engine: Engine, address: str, width: int) -> None:
    """Each page of each scene opens without an error, and none is wider than the window."""
    with visit(new_context(browser)) as lab:
        troubles: list[str] = []
        lab.page.on("pageerror", lambda error: troubles.append(str(error)))
        lab.page.set_viewport_size({"width": width, "height": 844})
        lab.open(address)
        for scene in engine.ask("scenes"):
            for number in range(1, len(scene["pages"]) + 1):
                link = f"scene={scene['name']}&page={number}"
                lab.page.evaluate("h => { location.hash = h }", link)
                lab.until(
                    "document.querySelector('.guide .note').textContent.includes(value)",
                    f"{number} of {len(scene['pages'])}",
                )
                excess = lab.page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert (link, troubles, excess <= 0) == (link, [], True)


@pytest.mark.explore
def test_plane_uses_a_large_window(browser: Any, address: str) -> None:
    """On a large screen the plane is as large as the screen is high."""
    with visit(new_context(browser)) as lab:
        lab.page.set_viewport_size({"width": 2560, "height": 1400})
        lab.open(address)
        assert lab.page.locator(".plane").bounding_box()["width"] > 1200


@pytest.mark.explore
def test_address(context: Any, lab: Visit) -> None:
    """The address alone brings points, settings and step back on another page."""
    lab.load("xor", 4)
    lab.set("rule", "pa1")
    lab.drawer("settings")
    lab.page.fill("input[name=C]", "0.5")
    lab.page.press("input[name=C]", "Enter")
    lab.until("location.hash.includes('C=0.5')")
    lab.drawer("settings")
    lab.set("map", "conjunction")
    lab.go("pass")
    lab.until("location.hash.endsWith('at=4')")
    with visit(context) as other:
        other.open(lab.page.url)
        assert other.sentence == lab.sentence
        other.drawer("settings")
        assert other.page.input_value("input[name=C]") == "0.5"
        assert other.page.input_value("select[name=map]") == "conjunction"


@pytest.mark.parametrize("damage", ["points=0,0", "points=0,0,p&rule=svm", "scene=none", "rule=pa"])
def test_damaged_link(context: Any, address: str, damage: str) -> None:
    """A damaged link is told of, and the page shows the set that it begins with."""
    with visit(context) as lab:
        lab.open(f"{address}#{damage}")
        assert "This is the set that the lab begins with." in lab.page.inner_text(".failure")
        assert lab.page.locator(".plane .point").count() == 24


def test_scenes(context: Any, engine: Engine, address: str) -> None:
    """Every page of every scene opens by its link, without an error, with its words and a state."""
    with visit(context) as lab:
        lab.open(address)
        for scene in engine.ask("scenes"):
            for number, page in enumerate(scene["pages"], 1):
                lab.page.evaluate(
                    "h => { location.hash = h }", f"scene={scene['name']}&page={number}"
                )
                lab.until(
                    "document.querySelector('.guide .note').textContent.includes(value)",
                    f"{number} of {len(scene['pages'])}",
                )
                lab.until(
                    "document.querySelector('.guide h2').textContent === value", scene["title"]
                )
                assert page["words"][0][:40] in lab.page.text_content(".guide-words")
                assert (
                    lab.page.get_attribute(f"[data-panel={page['panel']}]", "aria-selected")
                    == "true"
                )
                if "question" in page:
                    assert not lab.page.is_visible(".answer")
        lab.page.click(".guide >> text=Next scene")
        lab.until("document.querySelector('.guide h2').textContent === 'The neuron'")
        lab.page.go_back()  # a page of a scene is a place to come back to
        lab.until("document.querySelector('.guide h2').textContent === 'Tasks'")
        lab.page.click("[aria-label=Undo]")
        lab.until("document.querySelector('.guide h2').textContent === 'The neuron'")
        lab.page.click("[aria-label='Leave the scene']")
        lab.until("location.hash.includes('points=')")


def test_first_screen(browser: Any, address: str) -> None:
    """It plays one pass by itself, unless calm is asked for; then the tour, or own points."""
    with visit(new_context(browser)) as lab:
        lab.page.goto(address)
        lab.until("document.querySelector('.count')?.textContent.startsWith('step 24 ')")
        lab.page.wait_for_selector("[data-way=play]:has-text('Play')")  # and no further
        for hidden in (".tabs", ".verdict", ".memory", ".panel-place"):
            assert not lab.page.is_visible(hidden), hidden
        assert "#" not in lab.page.url
        lab.page.click("[data-welcome=tour]")
        lab.until("location.hash === '#scene=neuron'")
        assert lab.page.is_visible(".tabs")
    with visit(new_context(browser, reduced_motion="reduce")) as lab:
        lab.page.goto(address)
        lab.settle()
        lab.until_step(0)
        lab.page.click("[data-welcome=own]")
        lab.until_points(0)
        lab.page.mouse.click(*lab.pixels(1, 1))
        lab.until_points(1)


def test_tasks(context: Any, address: str) -> None:
    """A task is ticked when it is done, and the link holds task, points and tick."""
    with visit(context) as lab:
        lab.open(f"{address}#scene=tasks")
        lab.page.wait_for_selector(".task[data-done=false]")
        near = "1.95,1.9,p~1.95,2,n~-2,-2,n~-1.9,-2,p"
        lab.page.evaluate("h => { location.hash = h }", f"scene=tasks&max_iter=200&points={near}")
        lab.page.wait_for_selector(".task[data-done=true]")
        assert lab.page.is_visible("[data-way=reset]")
        with visit(context) as other:
            other.open(lab.page.url)
            other.page.wait_for_selector(".task[data-done=true]")
        lab.page.click("[data-way=reset]")
        lab.page.wait_for_selector(".task[data-done=false]")
        for number, points in (
            (5, "zero=negative&points=0,1,n~1,1,p&at=1"),
            (6, "points=-1,0,p~0,0,n~-1,1,p~0,1,n"),
            (7, "map=conjunction&start=1,1,-2,-0.5&points=0,0,n~0,1,p~1,1,n~1,0,p"),
            (8, "bias=false&points=2,1,p~-1,-2,n~1,2,p~-2,-1,n"),
        ):
            lab.page.evaluate("h => { location.hash = h }", f"scene=tasks&page={number}")
            lab.until(
                "document.querySelector('.guide .note').textContent.includes(value)", f"{number} of"
            )
            lab.page.wait_for_selector(".task[data-done=false]")
            lab.page.evaluate("h => { location.hash = h }", f"scene=tasks&page={number}&{points}")
            lab.page.wait_for_selector(".task[data-done=true]")


def test_keys_and_bare(context: Any, address: str) -> None:
    """Keys work wherever the focus is; w hides no point; a bare figure shows what it needs."""
    with visit(context) as lab:
        lab.open(address)
        lab.page.click("[data-way=step]")
        lab.page.keyboard.press("s")
        lab.until_step(2)
        lab.page.keyboard.press("Home")
        lab.until_step(0)
        handle = lab.page.locator(".handle").bounding_box()
        x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
        point = lab.pixels(-0.02, -0.01)
        assert max(abs(point[0] - x), abs(point[1] - y)) > 20
        lab.page.mouse.move(x, y)
        lab.page.mouse.down()
        lab.page.mouse.move(x + 60, y - 60, steps=3)
        lab.page.mouse.up()
        lab.until("location.hash.includes('start=')")
        lab.page.keyboard.press("Control+z")
        lab.until("!location.hash.includes('start=')")
        lab.page.evaluate("location.hash = 'scene=theorem&page=2&bare'")
        lab.page.wait_for_selector(".rosenblatt-lab.bare")
        for hidden in ("header", ".tools", ".guide", ".tabs", "[data-way=pass]"):
            assert not lab.page.is_visible(hidden), hidden
        for there in (
            ".plane",
            ".sentence",
            "[data-way=step]",
            "[data-way=play]",
            ".chart.theorem",
        ):
            assert lab.page.is_visible(there), there
        lab.page.keyboard.press("s")
        lab.until("location.hash.endsWith('&at=3&bare')")


def test_labels_of_large_numbers(context: Any, address: str) -> None:
    """A minus sign stands within the picture, however many digits follow."""
    with visit(context) as lab:
        lab.open(f"{address}#view=%5B0,29000,-23100,3000%5D&points=1,-20000,p~20000,1,n")
        left = lab.page.locator(".plane").bounding_box()["x"]
        label = lab.page.locator(".plane .axes text:text-is('−20000')").bounding_box()
        title = lab.page.locator(".plane .axes .title >> nth=1").bounding_box()
        assert label["x"] >= left
        assert label["x"] >= title["x"] + title["width"] - 2


TIMERS_BY_HAND = """() => {
    const waiting = [];
    window.setTimeout = (run) => waiting.push(run);
    window.clearTimeout = (n) => { if (waiting[n - 1]) waiting[n - 1] = () => {}; };
    window.follow = (hash) => { // a timer fires before the page is told of the link
        location.hash = hash;
        for (const run of waiting.splice(0)) run();
    };
}"""


def test_a_link_followed_while_the_address_is_written(context: Any, address: str) -> None:
    """A link is opened even if the page was about to write its address in that moment."""
    with visit(context) as lab:
        lab.page.add_init_script(f"({TIMERS_BY_HAND})()")
        lab.open(address)
        for number in (1, 2):
            lab.page.evaluate("hash => follow(hash)", f"scene=theorem&page={number}")
            lab.until(
                "document.querySelector('.guide .note').textContent.includes(value)",
                f"{number} of ",
            )


def test_downloads(lab: Visit, tmp_path: Path) -> None:
    """Data, trace and the page itself, at its step, can be taken home."""
    lab.drawer("share")

    def taken(words: str) -> str:
        with lab.page.expect_download() as waiting:
            lab.page.click(f"text={words}")
        return Path(waiting.value.path()).read_text(encoding="utf-8")

    assert json.loads(taken("Data, JSON")) == toy_set("separable").plain()
    assert len(taken("Trace, CSV").splitlines()) == 73
    lab.drawer("share")
    lab.go("mistake")
    at = lab.page.inner_text(".count")
    lab.drawer("share")
    page = taken("This page, HTML")
    assert page.startswith("<!doctype html>")
    assert '"token"' not in page.split('id="given">')[1].split("</script>")[0]
    path = tmp_path / "taken.html"
    path.write_text(page, encoding="utf-8")
    lab.page.goto(path.as_uri())
    lab.settle()
    assert lab.page.inner_text(".count") == at


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
@pytest.mark.explore
def test_accessible(browser: Any, address: str, scheme: str, width: int) -> None:
    """Axe finds nothing, in light and dark, on a phone and on a screen, whatever is open."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")

    def check(where: str) -> None:
        found = axe.Axe().run(lab.page).response["violations"]
        assert [(where, rule["id"], rule["nodes"][0]["html"][:200]) for rule in found] == []

    with visit(new_context(browser, color_scheme=scheme)) as lab:
        lab.page.set_viewport_size({"width": width, "height": 844})
        lab.page.goto(address)
        lab.page.wait_for_selector(".welcome")
        check("welcome")
        lab.open(address)
        lab.go("mistake")
        lab.go("mistake")
        for panel in ("neuron", "axis", "theorem", "passes", "orders", "trace", "proof"):
            lab.look_at(panel)
            check(panel)
        for name in ("scenes", "points", "settings", "share"):
            lab.drawer(name)
            check(name)
            lab.drawer(name)
        lab.page.click(".legend summary")
        check("legend")
        lab.page.click(".legend summary")
        lab.page.evaluate("location.hash = 'scene=xor&page=3'")
        lab.page.wait_for_selector(".guide:not([hidden])")
        lab.page.click(".reveal summary")
        check("scene")
        for scene in ("weights", "network", "classes", "paths", "scaling", "tasks"):
            lab.page.evaluate("h => { location.hash = h }", f"scene={scene}")
            lab.until("location.hash === value", f"#scene={scene}")
            lab.page.wait_for_selector(".guide:not([hidden])")
            check(scene)
        overflow = lab.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, "the page is wider than the screen"


@pytest.mark.explore
def test_colour_switch(lab: Visit) -> None:
    """The switch changes the colours against those of the system, for the next visit, too."""
    paper = "getComputedStyle(document.querySelector('.rosenblatt-lab')).backgroundColor"
    light = lab.page.evaluate(paper)
    lab.drawer("settings")
    lab.page.select_option("[aria-label=Colours]", "dark")
    dark = lab.page.evaluate(paper)
    assert dark != light
    lab.page.reload()
    lab.settle()
    assert lab.page.evaluate(paper) == dark
    lab.page.click("[data-drawer=settings]")
    lab.page.select_option("[aria-label=Colours]", "auto")
    assert lab.page.evaluate(paper) == light


def test_exported_file(context: Any, tmp_path: Path) -> None:
    """The file is the same live page: it computes, takes changes, and asks nobody."""
    path = tmp_path / "xor.html"
    write_page(toy_set("xor"), str(path))
    with visit(context) as lab:
        lab.open(path.as_uri())
        lab.set("map", "conjunction")
        lab.go("end")
        assert lab.sentence.endswith("Every row is now right: training has ended.")
        lab.look_at("proof")
        lab.page.mouse.click(*lab.pixels(1.5, 1.5))
        lab.until_points(5)
        asked = {url.partition("#")[0] for url in lab.requests if not url.startswith("data:")}
        assert asked == {path.as_uri()}


def widget(lab: Visit, style: str) -> None:
    """Show the widget in a page that stands for a notebook."""
    lab.page.set_content(
        f"<!doctype html><html lang=en><title>Notebook</title><body {style}><main>"
    )
    lab.page.add_style_tag(content=style_text())
    lab.page.evaluate(NOTEBOOK, [module_text(), toy_set("xor").plain()])
    lab.settle()


def test_as_a_widget(context: Any) -> None:
    """The module alone, given a model as a notebook gives it, tells and follows its document."""
    with visit(context) as lab:
        widget(lab, "")
        lab.page.click("[data-way=pass]")
        lab.until_step(4)
        lab.drawer("settings")
        lab.page.select_option("select[name=rule]", "pa")
        lab.until("model.saved && model.values.document.rule === 'pa'")
        assert "#" not in lab.page.url
        lab.page.evaluate(
            """() => {
                model.values.document = { ...model.values.document, points: [[1, 1, 1]] };
                model.fire("change:document");
            }"""
        )
        lab.until("document.querySelectorAll('.plane .point').length === 1")
        lab.page.evaluate("closeLab()")


@pytest.mark.explore
def test_widget_follows_the_notebook(context: Any) -> None:
    """In a dark notebook it is dark, whatever the system has, and it is compact."""
    with visit(context) as lab:
        theme: Callable[[], str] = lambda: lab.page.get_attribute(".rosenblatt-lab", "data-theme")  # noqa: E731
        widget(lab, "style='background: #111'")
        assert theme() == "dark"
        lab.page.evaluate("document.body.style.background = '#fff'")
        lab.until("document.querySelector('.rosenblatt-lab').dataset.theme === 'light'")
        assert lab.page.locator(".rosenblatt-lab").bounding_box()["height"] < 640
        assert not lab.page.is_visible("h1")

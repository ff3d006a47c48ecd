"""In Chromium: the address, downloads, accessibility, the file and the widget."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rosenblatt.lab.export import write_page
from rosenblatt.lab.messages import Session
from rosenblatt.lab.page import module_text, style_text
from rosenblatt.lab.server import LabServer
from rosenblatt.lab.toy_sets import toy_set
from rosenblatt.tracing import trace
from tests.lab.browser import Visit, new_context, number, visit

pytestmark = pytest.mark.explore  # the page waits for ever in a step of these: see docs/lab.md

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
        async send(message) {
            const answer = await window.answer(message);
            for (const listener of heard["msg:custom"]) listener(answer);
        },
        fire(name) { for (const listener of heard[name]) listener(); },
    };
    window.closeLab = widget.render({ model: window.model, el: document.querySelector("main") });
}"""


def test_address(context: Any, lab: Visit) -> None:
    """The address alone brings points, settings and step back on another page."""
    lab.load("xor", 4)
    lab.set("rule", "pa1")
    lab.page.fill("input[name=C]", "0.5")
    lab.page.press("input[name=C]", "Enter")
    lab.page.wait_for_function("() => location.hash.includes('C=0.5')")
    lab.set("map", "conjunction")
    lab.go("pass")
    with visit(context) as other:
        other.open(lab.page.url)
        assert other.state == lab.state
        assert other.sentence == lab.sentence
        assert other.page.input_value("input[name=C]") == "0.5"
        assert other.page.input_value("select[name=map]") == "conjunction"
        other.page.goto(f"{lab.page.url.partition('#')[0]}#points=0,0,p&rule=svm")
        other.page.wait_for_selector(".failure:not([hidden])")
        assert "The part rule of the document must be one of" in other.page.inner_text(".failure")
        other.troubles.clear()  # the browser tells of the refusal on its console


def test_downloads(lab: Visit) -> None:
    """Data, trace and the whole session can be taken home."""

    def taken(words: str) -> str:
        with lab.page.expect_download() as waiting:
            lab.page.click(f"text={words}")
        return Path(waiting.value.path()).read_text(encoding="utf-8")

    document = toy_set("separable")
    assert json.loads(taken("Data, JSON")) == document.plain()
    rows = list(csv.DictReader(io.StringIO(taken("Trace, CSV"))))
    steps = trace(document.X, document.y)
    assert [float(row["w x₁"]) for row in rows] == [step.w[0] for step in steps]
    assert "recorded session" in taken("All as HTML")


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1400)])
def test_accessible(
    browser: Any, server: LabServer, scheme: str, width: int, tmp_path: Path
) -> None:
    """Axe finds nothing serious, in light and dark, on a phone and on a screen."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    with visit(new_context(browser, color_scheme=scheme)) as lab:
        lab.page.set_viewport_size({"width": width, "height": 900})
        lab.open(server.url)
        lab.go("mistake")
        lab.go("mistake")
        lab.until_verdict("separable")
        for details in lab.page.locator("summary").all():
            details.click()
        found = axe.Axe().run(lab.page).response["violations"]
        serious = [rule for rule in found if rule["impact"] in ("serious", "critical")]
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in serious] == []
        overflow = lab.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, "the page is wider than the screen"
        picture = tmp_path / f"{scheme}-{width}.png"
        lab.page.screenshot(path=picture, full_page=True)
        assert picture.stat().st_size > 20_000


def test_colour_switch(lab: Visit) -> None:
    """The switch changes the colours against those of the system."""
    paper = "getComputedStyle(document.querySelector('.rosenblatt-lab')).backgroundColor"
    light = lab.page.evaluate(paper)
    lab.page.select_option("[aria-label=Colours]", "dark")
    assert lab.page.evaluate(paper) != light


def test_exported_file(context: Any, tmp_path: Path) -> None:
    """The exported file shows the same steps without Python, and says what it cannot do."""
    document = replace(toy_set("xor"), max_iter=3)
    path = tmp_path / "xor.html"
    assert write_page(document, str(path)) == 12
    steps = trace(document.X, document.y, max_iter=3)
    with visit(context) as lab:
        lab.open(path.as_uri())
        for step, line in zip(steps, lab.frames(12), strict=True):
            assert line["sentence"].startswith(f"Pass {step.pass_}, row {step.row} (class")
            assert number(line["b"]) == step.b
        assert "This is a recorded session" in lab.page.inner_text(".recorded")
        assert lab.page.is_disabled("select[name=rule]")
        box = lab.page.locator(".plane").bounding_box()
        lab.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 3)
        assert lab.page.locator(".points .hit").count() == 4
        lab.page.click("[data-way=start]")
        lab.page.click("[data-way=pass]")
        lab.until_step(4)
        with lab.page.expect_download() as waiting:
            lab.page.click("text=Trace, JSON")
        assert len(json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))) == 12
        assert {url.partition("?")[0] for url in lab.requests if url.startswith("file:")} == {
            path.as_uri()
        }


def test_as_a_widget(context: Any) -> None:
    """The module alone, given a model as a notebook gives it, asks Python by messages."""
    session = Session()
    with visit(context) as lab:
        lab.page.expose_function("answer", session.answer)
        lab.page.set_content("<!doctype html><html lang=en><title>Notebook</title><main></main>")
        lab.page.add_style_tag(content=style_text())
        lab.page.evaluate(NOTEBOOK, [module_text(), toy_set("xor").plain()])
        lab.settle()
        lab.page.click("[data-way=pass]")
        lab.until_step(4)
        lab.page.select_option("select[name=rule]", "pa")
        lab.page.wait_for_function("model.saved && model.values.document.rule === 'pa'")
        assert "#" not in lab.page.url
        lab.page.evaluate(
            """() => {
                model.values.document = { ...model.values.document, points: [[1, 1, 1]] };
                model.fire("change:document");
            }"""
        )
        lab.page.wait_for_function("document.querySelectorAll('.plane .hit').length === 1")
        lab.page.evaluate("closeLab()")

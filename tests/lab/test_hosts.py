"""One lab in three places: the exported page, a notebook, the site. Every scene, at three sizes."""

import functools
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from rosenblatt.lab.page import module_text, style_text
from rosenblatt.lab.toy_sets import toy_set
from tests.lab.browser import Visit, new_context, visit
from tests.lab.engine import Engine

ROOT = Path(__file__).parents[2]
SIZES = ((1280, 720), (1920, 1080), (390, 844))
# As JupyterLab styles them; a site has other margins.
HOSTILE = (
    "<style>dt { float: left; width: 20%; margin: 1em } dd { float: left; width: 80%;"
    " margin: 0 0 0 2rem } p { margin: 2em } h2 { border-bottom: 3px solid } </style>"
)

# What is wrong with a lab: its step, a panel that is cut off, a control that is clipped, figures
# that lie on one another.
JUDGE = """window.judge = (root, at) => {
    const seen = (node) => node.getClientRects().length > 0;
    const found = [];
    const count = root.querySelector(".count").textContent;
    const [, here, length] = /step (\\d+) of (\\d+)/.exec(count);
    const expected = at === "end" ? Number(length) : at ?? 0;
    if (Number(here) !== expected) found.push(`${count}, not ${at}`);
    const panel = root.querySelector(".panel-place");
    const [visible, needed] = [panel.clientHeight, panel.scrollHeight];
    if (visible < 40 || visible < needed) found.push(`the panel shows ${visible} of ${needed} px`);
    const frame = root.getBoundingClientRect();
    const box = (node) => node.getBoundingClientRect();
    if (box(panel).bottom > frame.bottom + 1) found.push("the panel goes beyond the lab");
    const controls = "button, select, summary, .face, .plane, .chart, h2";
    for (const node of root.querySelectorAll(controls)) {
        if (!seen(node)) continue;
        const flows = !(node instanceof SVGElement) && node.tagName !== "SELECT";
        const cut = flows && node.scrollWidth > node.clientWidth + 1;
        const { left, right } = box(node);
        if (!cut && left >= frame.left - 1 && right <= frame.right + 1) continue;
        found.push(`clipped: ${node.textContent.slice(0, 30) || node.className}`);
    }
    for (const name of root.querySelectorAll(".figures dt")) {
        const [above, below] = [box(name), box(name.nextSibling)];
        if (above.bottom <= below.top + 1 && Math.abs(above.left - below.left) <= 1) continue;
        found.push(`figures lie on one another or are shifted: ${name.textContent}`);
    }
    if (document.documentElement.scrollWidth > innerWidth) found.push("wider than the window");
    return found;
};
window.frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
window.settled = async () => { // one frame to measure, one to draw
    await frame();
    await frame();
};"""

ON_THE_PAGE = """async (pages) => {
    const found = [];
    for (const { scene, number, at } of pages) {
        location.hash = `scene=${scene}&page=${number}`;
        await new Promise((done) => addEventListener("hashchange", done, { once: true }));
        await settled();
        const wrong = judge(document.querySelector(".rosenblatt-lab"), at);
        found.push(...wrong.map((words) => `${scene} ${number}: ${words}`));
    }
    return found;
}"""

IN_A_NOTEBOOK = """async (pages) => {
    const root = document.querySelector(".rosenblatt-lab");
    const found = [];
    for (const { scene, number, at } of pages) {
        if (number === 1) {
            root.querySelector("[data-drawer=scenes]").click();
            root.querySelector(`.scenes a[href$="#scene=${scene}"]`).click();
        } else root.querySelector(".guide .primary").click();
        await settled();
        found.push(...judge(root, at).map((words) => `${scene} ${number}: ${words}`));
    }
    return found;
}"""

# As Backbone's: whoever sets a value hears of it at once.
FIRING_MODEL = """async ([text, given]) => {
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const { default: widget } = await import(url);
    const heard = {};
    window.model = {
        values: { document: given },
        get(name) { return this.values[name]; },
        set(name, value) {
            if (JSON.stringify(this.values[name]) === JSON.stringify(value)) return;
            this.values[name] = value;
            for (const listener of heard[`change:${name}`] ?? []) listener();
        },
        save_changes() { // the kernel sends back what it has kept
            this.set("document", JSON.parse(JSON.stringify(this.values.document)));
        },
        on(name, listener) { (heard[name] ??= []).push(listener); },
        off() {},
    };
    widget.render({ model: window.model, el: document.querySelector("main") });
}"""

ON_THE_SITE = """async (steps) => {
    await settled();
    const found = [];
    for (const place of document.querySelectorAll(".live-lab")) {
        const { scene, page } = place.dataset;
        const root = place.querySelector(".rosenblatt-lab");
        const wrong = judge(root, steps[`${scene} ${page}`]);
        found.push(...wrong.map((words) => `${scene} ${page}: ${words}`));
    }
    return found;
}"""


@pytest.fixture(scope="module")
def pages(engine: Engine) -> list[dict[str, Any]]:
    """Return every page of every scene, with the step that it opens at."""
    return [
        {"scene": scene["name"], "number": number, "at": page.get("at")}
        for scene in engine.ask("scenes")
        for number, page in enumerate(scene["pages"], 1)
    ]


def silent(context: Any, own: str = "file:///") -> Iterator[Visit]:
    """Open a page on which the console may say nothing; the theme of the site names its colours."""

    def listen(said: Any) -> None:
        if not said.text.startswith("[PST]"):
            lab.troubles.append(said.text)

    with visit(context, own) as lab:
        lab.page.on("console", listen)
        lab.page.add_init_script(JUDGE)
        yield lab


def test_on_the_page(browser: Any, address: str, pages: list[dict[str, Any]]) -> None:
    """In the exported file every page of every scene is whole."""
    for lab in silent(new_context(browser)):
        lab.open(address)
        for width, height in SIZES:
            lab.page.set_viewport_size({"width": width, "height": height})
            assert (width, lab.page.evaluate(ON_THE_PAGE, pages)) == (width, [])


def test_in_a_notebook(browser: Any, pages: list[dict[str, Any]]) -> None:
    """So it is in a notebook, whose model tells of every change and has styles of its own."""
    for lab in silent(new_context(browser)):
        lab.page.goto("about:blank")
        lab.page.set_content(f"<!doctype html><html lang=en><title>Notebook</title>{HOSTILE}<main>")
        lab.page.add_style_tag(content=style_text())
        lab.page.evaluate(FIRING_MODEL, [module_text(), toy_set("separable").plain()])
        lab.settle()
        for width, height in SIZES:
            lab.page.set_viewport_size({"width": width, "height": height})
            assert (width, lab.page.evaluate(IN_A_NOTEBOOK, pages)) == (width, [])


def test_a_change_in_a_notebook_keeps_the_step(browser: Any) -> None:
    """What the lab sets itself does not bring it back to its start."""
    for lab in silent(new_context(browser)):
        lab.page.goto("about:blank")
        lab.page.set_content("<!doctype html><html lang=en><title>Notebook</title><main>")
        lab.page.add_style_tag(content=style_text())
        lab.page.evaluate(FIRING_MODEL, [module_text(), toy_set("overlapping").plain()])
        lab.settle()
        lab.go("end")
        lab.page.click("text=Average")
        lab.until("model.values.document.memory === 'average'")
        lab.until_step(1200)
        lab.go("start")
        lab.go("mistake")
        lab.page.mouse.click(*lab.pixels(-2, 2.5))
        lab.until("model.values.document.points.length === 61")
        lab.page.wait_for_timeout(400)  # the kernel's answer has come
        lab.until_step(1)


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_: Any) -> None:
        """Keep silent."""


@pytest.fixture(scope="module")
def chapters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build the chapters alone, as the site has them, and serve them."""
    pytest.importorskip("pydata_sphinx_theme", reason="pip install --group docs")
    folder = tmp_path_factory.mktemp("chapters")
    docs = folder / "docs"
    apart = {"learn": [], "static": [], "templates": [], "gallery": ["*.md"]}
    for name, left_out in apart.items():
        shutil.copytree(ROOT / "docs" / name, docs / name, ignore=shutil.ignore_patterns(*left_out))
    shutil.copy(ROOT / "docs" / "conf.py", docs)
    (folder / "src").symlink_to(ROOT / "src")
    (docs / "index.md").write_text("# Site\n\n```{toctree}\nlearn/index\n```\n")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", str(docs), str(folder / "out")]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603  # our own program
    handler = functools.partial(QuietHandler, directory=folder / "out")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_on_the_site(browser: Any, chapters: str, pages: list[dict[str, Any]]) -> None:
    """So are the figures of every chapter on the site, and every scene has a chapter."""
    steps = {f"{page['scene']} {page['number']}": page["at"] for page in pages}
    for lab in silent(new_context(browser), chapters):
        for name in dict.fromkeys(page["scene"] for page in pages):
            lab.page.goto(f"{chapters}learn/{name}.html")
            places = lab.page.locator(".live-lab").count()
            assert places >= 1
            lab.until("document.querySelectorAll('.sentence:not(:empty)').length === value", places)
            for width, height in SIZES:
                lab.page.set_viewport_size({"width": width, "height": height})
                assert (name, width, lab.page.evaluate(ON_THE_SITE, steps)) == (name, width, [])

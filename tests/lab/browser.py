"""A lab in a real Chromium, and what a person does there."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import pytest

from rosenblatt.lab.document import Document

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 600_000  # milliseconds: a page that never gets there fails, however busy the machine is

STEPPING = """async (count) => {
    const texts = (selector) => [...document.querySelectorAll(selector)].map((n) => n.textContent);
    const next = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
    document.querySelector("[data-panel=trace]").click();
    const found = [];
    for (let k = 0; k < count; k++) {
        const before = texts(".count")[0];
        document.querySelector("[data-way=step]").click();
        while (texts(".count")[0] === before) await next();
        const cells = texts(".trace tbody tr.now td");
        const line = Object.fromEntries(texts(".trace th").map((name, j) => [name, cells[j]]));
        const boundary = document.querySelector(".boundaries .chosen").getAttribute("d");
        found.push({ ...line, boundary, sentence: texts(".sentence")[0] });
    }
    return found;
}"""


def chromium_path() -> str:
    """Return where Chromium is, or skip and say how to get it."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("Chromium is not installed: apt-get install chromium, or set CHROMIUM=PATH")
    return found


@contextmanager
def chromium() -> Iterator[Any]:
    """Run a browser with an empty profile."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    path = chromium_path()
    with playwright.sync_playwright() as running:
        try:
            browser = running.chromium.launch(executable_path=path, args=FLAGS, timeout=PATIENCE)
        except playwright.Error as error:  # a stand-in that says how to install it, or no libraries
            pytest.skip(f"{path} does not start: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


class Visit(NamedTuple):
    """A page that is open, with what went wrong and where it asked."""

    page: Any
    troubles: list[str]
    requests: list[str]

    def open(self, address: str) -> None:
        """Go to an address, wait for the first picture, and leave the first screen."""
        self.page.goto(address)
        self.settle()
        if self.page.locator(".welcoming").count():
            self.page.click("[data-welcome=all]")
            self.until_step(0)

    def settle(self) -> None:
        """Wait until the first picture is there."""
        self.page.wait_for_selector(".sentence:not(:empty)")

    def until(self, condition: str, value: Any = None) -> None:
        """Wait until an expression in JavaScript of ``value`` is true."""
        try:
            self.page.wait_for_function(f"value => {condition}", arg=value)
        except Exception as error:  # noqa: BLE001  # of a module that may not be installed
            said = self.page.evaluate("document.body.innerText.slice(0, 600)")
            pytest.fail(f"Never true: {condition}, of {value!r} ({error}). The page says: {said}")

    def until_verdict(self, status: str) -> None:
        """Wait for a verdict."""
        self.page.wait_for_selector(f".verdict[data-status={status}]", state="attached")

    def until_step(self, at: int) -> None:
        """Wait until the page stands after so many steps."""
        self.until("document.querySelector('.count').textContent.startsWith(`step ${value} `)", at)

    def frames(self, count: int) -> list[dict[str, str]]:
        """Press Step so often; return the line of the table, the boundary and the sentence.

        All in the page, as the way there and back takes longer than a step.
        """
        found: list[dict[str, str]] = self.page.evaluate(STEPPING, count)
        return found

    def go(self, way: str) -> None:
        """Press a button of the transport and wait until the page is there."""
        before = self.page.inner_text(".count")
        self.page.click(f"[data-way={way}]")
        self.until("document.querySelector('.count').textContent !== value", before)

    def look_at(self, panel: str) -> None:
        """Open a panel."""
        self.page.click(f"[data-panel={panel}]")
        self.page.wait_for_selector(f"[data-panel={panel}][aria-selected=true]")

    def drawer(self, name: str) -> None:
        """Open a drawer, or close it where it is open."""
        self.page.click(f"[data-drawer={name}]")

    def set(self, name: str, value: str) -> None:
        """Choose a setting and wait until the address follows."""
        self.drawer("settings")
        self.page.select_option(f".drawer select[name='{name}']", value)
        self.drawer("settings")
        usual = str(getattr(Document(), name))
        self.until(
            "new URLSearchParams(location.hash.slice(1)).get(value[0]) === value[1]",
            [name, None if value == usual else value],
        )

    def load(self, name: str, n_points: int) -> None:
        """Load a toy set and wait until its points are there."""
        self.drawer("points")
        self.page.click(f"[data-toy='{name}']")
        self.until_points(n_points)
        self.drawer("points")

    def clear(self) -> None:
        """Delete all points."""
        self.drawer("points")
        self.page.click("text=Clear all points")
        self.until_points(0)
        self.drawer("points")

    def until_points(self, count: int) -> None:
        """Wait until the address has so many points."""
        self.until(
            "new URLSearchParams(location.hash.slice(1)).get('points')"
            "?.split('~').filter(Boolean).length === value",
            count,
        )

    @property
    def state(self) -> dict[str, list[str]]:
        """What stands in the address."""
        return parse_qs(self.page.url.partition("#")[2])

    @property
    def points(self) -> list[list[float]]:
        """The points in the address: two coordinates and a class."""
        found = self.state.get("points", [""])[0]
        parts = [text.split(",") for text in found.split("~") if text]
        return [[float(x), float(y), 1 if side == "p" else -1] for x, y, side in parts]

    @property
    def sentence(self) -> str:
        """What is said of the step."""
        return str(self.page.inner_text(".sentence"))

    def pixels(self, x: float, y: float) -> tuple[float, float]:
        """Return where on the screen a place of the plane is, from the border and the view."""
        *box, view = self.page.evaluate(  # at one go: a picture may be drawn anew between two
            """() => {
                const border = document.querySelector(".plane .border");
                const box = border.getBoundingClientRect();
                return [box.x, box.y, box.width, box.height, border.dataset.view];
            }"""
        )
        left, right, bottom, top = json.loads(view)
        across = box[0] + (x - left) / (right - left) * box[2]
        down = box[1] + (top - y) / (top - bottom) * box[3]
        return across, down


def new_context(browser: Any, **options: Any) -> Any:
    """Return a context of the browser, in which pages share nothing with those of another."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, **options)
    context.set_default_timeout(PATIENCE)
    return context


@contextmanager
def visit(context: Any, own: str = "file:///") -> Iterator[Visit]:
    """Open a page; at the end nothing may have gone wrong or asked elsewhere than ``own``."""
    page = context.new_page()
    found = Visit(page, [], [])

    def listen(said: Any) -> None:
        if said.type == "error":
            found.troubles.append(said.text)

    page.on("console", listen)
    page.on("pageerror", lambda error: found.troubles.append(str(error)))
    page.on("request", lambda request: found.requests.append(request.url))
    yield found
    page.close()
    known = (own, "blob:", "data:", "about:")
    elsewhere = [url for url in found.requests if not url.startswith(known)]
    assert elsewhere == []
    assert found.troubles == [], found.troubles  # no assertion is rewritten here


def number(text: str) -> float:
    """Return a number as the page writes it."""
    return float(text.replace("−", "-"))

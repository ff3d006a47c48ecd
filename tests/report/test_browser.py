"""Reports on real data, in Chromium."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.browser import chromium, new_context
from tests.report.real_data import report_of

TABLE, CLASSES, TEXT = "adult", "covtype", "sms_spam"
NAMES = (TABLE, CLASSES, TEXT, "imdb", "mnist")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Run a browser."""
    with chromium() as running:
        yield running


def check(browser: Any, path: Path, scheme: str, width: int) -> None:
    """Open a page and unfold what it shows; nothing may be said, broken, too wide or inaccessible.

    Of folded parts that follow each other the first stands for all: axe takes seconds for each.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = new_context(browser, color_scheme=scheme)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(path.as_uri())
    page.evaluate(
        "document.querySelectorAll('section > :not(details) + details')"
        ".forEach((node) => (node.open = true))"
    )
    broken = "[...document.images].filter((image) => !image.naturalWidth).length"
    assert page.evaluate(broken) == 0
    assert page.locator("svg image").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    found = axe.Axe().run(page).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found] == []
    assert said == []
    context.close()


@pytest.mark.data
@pytest.mark.parametrize("name", [TABLE, CLASSES, TEXT])
def test_sample(browser: Any, data_folder: Path, tmp_path: Path, name: str) -> None:
    """The report on a sample has no message, broken picture or axe finding, dark and on a phone."""
    path = report_of(name, data_folder, tmp_path)
    assert str(tmp_path) not in path.read_text(encoding="utf-8")
    check(browser, path, "dark", 390)


PRINTED = """() => {
    const hidden = [...document.querySelectorAll("section")].filter((one) => !one.offsetHeight);
    const wide = [...document.querySelectorAll(".wide, figure svg")].filter(
        (one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1
    );
    const cut = [...document.querySelectorAll(".wide")].filter(
        (one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1
    );
    return [...hidden, ...wide, ...cut].map((one) => one.outerHTML.slice(0, 80));
}"""


@pytest.mark.data
@pytest.mark.parametrize("name", [TABLE, CLASSES, TEXT])
def test_print(browser: Any, data_folder: Path, tmp_path: Path, name: str) -> None:
    """On paper every section is there, and no table or picture is cut."""
    page = new_context(browser).new_page()
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 without its margins
    page.goto(report_of(name, data_folder, tmp_path).as_uri())
    page.emulate_media(media="print")
    assert page.evaluate(PRINTED) == []


@pytest.mark.data
@pytest.mark.explore
@pytest.mark.parametrize("name", NAMES)
def test_whole(browser: Any, data_folder: Path, tmp_path: Path, name: str) -> None:
    """The report on all rows likewise, light and dark, on a screen and on a phone."""
    path = report_of(name, data_folder, tmp_path, whole=True)
    for scheme, width in (("light", 1280), ("dark", 1280), ("light", 390)):
        check(browser, path, scheme, width)

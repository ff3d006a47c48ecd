"""The browser and the page that all browser tests share."""

from collections.abc import Iterator
from typing import Any

import pytest

from rosenblatt.lab.page import write_page
from rosenblatt.lab.toy_sets import toy_set
from tests.lab.browser import Visit, chromium, new_context, visit
from tests.lab.engine import Engine


@pytest.fixture(scope="package")
def engine() -> Iterator[Engine]:
    """Run one engine in Node for all."""
    running = Engine()
    yield running
    running.close()


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Run one browser for all; it ends with this folder, as its event loop would hinder others."""
    with chromium() as running:
        yield running


@pytest.fixture(scope="package")
def context(browser: Any) -> Any:
    """Open one context for the pages that want nothing special."""
    return new_context(browser)


@pytest.fixture(scope="package")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write one page for all and return where it is."""
    path = tmp_path_factory.mktemp("lab") / "lab.html"
    write_page(toy_set("separable"), str(path))
    return path.as_uri()


@pytest.fixture
def lab(context: Any, address: str) -> Iterator[Visit]:
    """Open a page of one's own, which may neither err nor ask elsewhere."""
    with visit(context) as found:
        found.open(address)
        yield found

"""The browser and the server that all browser tests share."""

from collections.abc import Iterator
from typing import Any

import pytest

from rosenblatt.lab.server import LabServer
from rosenblatt.lab.toy_sets import toy_set
from tests.lab.browser import Visit, chromium, new_context, serving, visit
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
def server() -> Iterator[LabServer]:
    """Serve one lab for all: it only hands out the page."""
    with serving(toy_set("separable")) as running:
        yield running


@pytest.fixture
def lab(context: Any, server: LabServer) -> Iterator[Visit]:
    """Open a page of one's own, which may neither err nor ask elsewhere."""
    with visit(context) as found:
        found.open(server.url)
        yield found

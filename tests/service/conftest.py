"""A service in this process, asked as clients ask it but without a socket."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import httpx
import numpy as np
import pytest
from msgspec import convert

from rosenblatt.service.access import Access
from rosenblatt.service.app import Application
from rosenblatt.service.limits import Limits
from rosenblatt.service.operations import OPERATIONS
from rosenblatt.service.reasons import why_answer
from rosenblatt.service.requests import Example, ExplainRequest, ModelSpec, WhyAnswer
from rosenblatt.service.writer import Entry, Writer

Result = TypeVar("Result")


def command(writer: Writer, run: Callable[[], Any]) -> Any:
    """Return the answer to a command."""
    return writer.command(run).result()


def create(writer: Writer, name: str = "m", **spec: Any) -> Any:
    """Return a new model, which learns rows or sentences."""
    return command(writer, lambda: writer.create(name, convert(spec, ModelSpec)))


def why(writer: Writer, entry: Entry, features: Any, top: int, **asked: Any) -> WhyAnswer:
    """Return the examples behind an answer."""
    return why_answer(writer, entry, ExplainRequest(features=features, top=top, **asked))


def taught(features: Any, label: Any, id_: str | None = None) -> Example:
    """Return an example as the writer takes it."""
    return Example(features=features, label=label, id=id_)


def teach(writer: Writer, entry: Entry, *examples: Example, token: str | None = None) -> Any:
    """Return the answers to examples of one request."""
    return writer.teach(entry, examples, token).result()


def counts(entry: Entry) -> tuple[int, int, int]:
    """Return what readers see of how many examples a model learned, and how well."""
    return entry.shown.learned, entry.shown.wrong, entry.shown.mistakes


def crash(writer: Writer) -> None:
    """End a writer as a killed process ends: nothing more is written."""
    writer._snapshot = lambda *_, **__: None  # type: ignore[method-assign]  # noqa: SLF001
    writer.close()


def same(one: Any, other: Any) -> bool:
    """Return whether two learners have the same bits, classes and names."""
    pairs = [
        (getattr(one.state, name), getattr(other.state, name)) for name in ("weights", "ledger")
    ]
    return (
        one.classes == other.classes
        and one.state.count == other.state.count
        and (one.space.names() or ())[: one.n_features]
        == (other.space.names() or ())[: other.n_features]
        and all(
            a is b is None or (a is not None and b is not None and np.array_equal(a, b))
            for a, b in pairs
        )
    )


class Asked:
    """A service in this process and what it is asked, one request after the other."""

    def __init__(self, folder: Path, limits: Limits | None = None, **access: Any) -> None:
        self.writer = Writer(folder, limits)
        self.app = Application(
            self.writer,
            Access(lambda: self.writer.tokens, rate=self.writer.limits.rate, **access),
            OPERATIONS,
        )
        self.headers: dict[str, str] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.run(self._begin())

    async def _begin(self) -> None:
        self.app.begin()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Return what a coroutine gives in the loop of the service."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """End the service."""
        self.writer.post = lambda function: function()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self.app.close()

    def ask(self, method: str, path: str, json: Any = None, **more: Any) -> httpx.Response:
        """Return the answer to one request."""
        return self.all([(method, path, json)], **more)[0]

    def all(self, requests: Sequence[tuple[str, str, Any]], **more: Any) -> list[httpx.Response]:
        """Return the answers to requests that are sent together."""
        return self.run(self._all(requests, **more))

    async def _all(
        self, requests: Sequence[tuple[str, str, Any]], **more: Any
    ) -> list[httpx.Response]:
        headers = {**self.headers, **more.pop("headers", {})}
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app, raise_app_exceptions=False),
            base_url="http://127.0.0.1",
            headers=headers,
        ) as client:
            return await asyncio.gather(
                *(
                    client.request(method, path, **({} if json is None else {"json": json}), **more)
                    for method, path, json in requests
                )
            )


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Asked]:
    """Return a new service in a folder of its own."""
    asked = Asked(tmp_path / "service")
    yield asked
    asked.close()

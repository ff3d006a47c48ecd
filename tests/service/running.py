"""A service on a free port of this machine, in a thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import uvicorn

from rosenblatt.service.server import ModelServer

from .client import Client


@contextmanager
def serving(folder: Path, **options: Any) -> Iterator[ModelServer]:
    """Run a service until the block ends."""
    server = ModelServer(folder, port=0, **options)
    running = uvicorn.Server(server.config())
    thread = Thread(target=running.run, args=([server._socket],))  # noqa: SLF001
    thread.start()
    try:
        with Client(server.url) as client:
            client.wait()
        yield server
    finally:
        running.should_exit = True
        thread.join()
        server.close()

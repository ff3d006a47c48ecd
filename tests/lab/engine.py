"""The engine of the page, asked from Python by way of Node."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest


class Engine:
    """A Node process that runs ``engine.mjs`` and answers one question a line."""

    def __init__(self) -> None:
        node = shutil.which("node")
        if node is None:
            pytest.skip("Node is not installed: apt-get install nodejs")
        self._process = subprocess.Popen(  # noqa: S603  # our own script
            [node, str(Path(__file__).with_name("engine.mjs"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, kind: str, **question: Any) -> Any:
        """Return the answer to a question."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"kind": kind, **question}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        with self._process:  # closes both ends and waits
            self._process.stdin.close()

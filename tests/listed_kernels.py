"""Commands call no kernel that is not in the machine code of the wheel."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner


@contextmanager
def listed_kernels() -> Iterator[None]:
    """Fail where a command calls a kernel that is not in the list that .ci/run makes."""
    listed = os.environ.get("ROSENBLATT_KERNELS")
    if not listed:
        yield
        return
    from machine_code.recording import recording
    from rosenblatt.cli import main
    from rosenblatt.kernels.compiling.signatures import is_ours

    known, usual = set(Path(listed).read_text().splitlines()), CliRunner.invoke

    def invoke(runner: CliRunner, *arguments: Any, **options: Any) -> Any:
        if arguments[0] is not main:  # reproduce is no command of the package
            return usual(runner, *arguments, **options)
        with recording(plain=False) as calls:
            result = usual(runner, *arguments, **options)
        missing = [*filter(is_ours, calls.keys() - known)]
        assert not missing, f"{arguments}: not on the tour of machine_code/tour.py: {missing}"
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CliRunner, "invoke", invoke)
        yield

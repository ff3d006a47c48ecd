"""Shells complete commands, options and files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("rosenblatt ev", ["plain,evaluate"]),
        ("rosenblatt train --valid", ["plain,--validation-fraction", "plain,--validation"]),
        ("rosenblatt train --rule pa", ["plain,pa", "plain,pa1", "plain,pa2"]),
        ("rosenblatt predict spam", ["file,spam"]),
    ],
)
def test_completion(tmp_path: Path, words: str, expected: list[str]) -> None:
    """What bash asks for when the tabulator is pressed is answered."""
    asked = {
        "_ROSENBLATT_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    program = "from rosenblatt.cli import main; main(prog_name='rosenblatt')"
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == expected

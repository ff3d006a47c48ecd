"""The line that moves while a training is under way."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import PROGRAM, without_notice
from tests.cli.test_train import svmlight_file


def test_bytes_rows_mistakes_and_time(tmp_path: Path) -> None:
    """On a terminal a training shows bytes, rows, rows a second, mistakes and the time left."""
    data = svmlight_file(tmp_path / "toy.svm", n_rows=20_000)
    ours, theirs = pytest.importorskip("pty").openpty()
    with subprocess.Popen(  # noqa: S603  # our own program
        [*PROGRAM, "train", data, "--buffer", "50K", "--max-iter", "3"],
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    assert process.returncode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    assert re.search(r"kB of [0-9]+ kB  [0-9,]+ rows  [0-9,]+ rows/s", text)
    assert re.search(r"pass 3 .*[0-9,]+ rows  [0-9.]+% mistakes  [0-9,]+ rows/s", text)


def test_nothing_moves_elsewhere(tmp_path: Path) -> None:
    """Where standard error is no terminal, nothing is written to it."""
    data = svmlight_file(tmp_path / "toy.svm")
    done = subprocess.run(  # noqa: S603  # our own program
        [*PROGRAM, "train", data], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert without_notice(done.stderr) == ""

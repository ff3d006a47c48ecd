"""What all tests of commands share."""

from pathlib import Path

import pytest

from rosenblatt.cli.screen import CompilationNotice


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands write what they write by default where nothing else is."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def no_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no command say that it compiles: whether it does depends on what ran before."""
    monkeypatch.setattr(CompilationNotice, "emit", lambda *_: None)

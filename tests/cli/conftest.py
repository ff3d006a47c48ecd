"""What all tests of commands share."""

import pytest

from rosenblatt.cli.screen import CompilationNotice


@pytest.fixture(autouse=True)
def no_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no command say that it compiles: whether it does depends on what ran before."""
    monkeypatch.setattr(CompilationNotice, "emit", lambda *_: None)

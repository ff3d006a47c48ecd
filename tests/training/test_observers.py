"""Progress and logging."""

import io
import logging

import pytest
from rich.console import Console

from rosenblatt.training.history import PassRecord, ProgressBar, log_pass


def test_log_line(caplog: pytest.LogCaptureFixture) -> None:
    """One line a pass, at level INFO, with the held-out accuracy where there is one."""
    with caplog.at_level(logging.INFO, logger="rosenblatt"):
        log_pass(PassRecord(1, 17, 20, 3.5, None, 0.25))
        log_pass(PassRecord(2, 9, 11, 1.25, 0.875, 0.25))
    assert caplog.messages == [
        "pass 1: 17 mistakes, 20 updates, loss 3.5, 0.250 s",
        "pass 2: 9 mistakes, 11 updates, loss 1.25, held-out accuracy 0.8750, 0.250 s",
    ]


def test_progress_bar(capsys: pytest.CaptureFixture[str]) -> None:
    """The bar says the mistakes of the pass and so far, on standard error."""
    with ProgressBar(10) as bar:
        bar(PassRecord(1, 17, 17, 3.5, None, 0.25))
        bar(PassRecord(2, 9, 9, 1.25, 0.5, 0.25))
    assert bar.mistakes == 26
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "2/10" in shown.err
    assert "9 mistakes, 26 so far" in shown.err


def test_progress_bar_on_a_terminal() -> None:
    """On a terminal it redraws itself in place."""
    screen = io.StringIO()
    bar = ProgressBar(10)
    bar._progress.live.console = Console(file=screen, force_terminal=True)  # noqa: SLF001
    with bar:
        bar(PassRecord(1, 17, 17, 3.5, None, 0.25))
    assert "17 mistakes" in screen.getvalue()

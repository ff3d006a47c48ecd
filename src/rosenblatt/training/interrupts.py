"""Ctrl-C between passes, never within one."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """Whether Ctrl-C has been pressed."""

    def __init__(self) -> None:
        self.pressed = False

    def press(self, _number: int, _frame: FrameType | None) -> None:
        """Note the first press; a second one does what it always did."""
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True


@contextmanager
def held_interrupt() -> Iterator[Interrupt]:
    """Hold Ctrl-C back so that the pass under way can be finished and kept.

    Signals reach the main thread only, and a handler other than Python's own belongs to somebody
    else: there nothing is held back.
    """
    interrupt = Interrupt()
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield interrupt
        return
    signal.signal(signal.SIGINT, interrupt.press)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)

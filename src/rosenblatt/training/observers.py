"""Observers of training: anything that can be called with the record of a pass."""

import logging
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rosenblatt.training.history import PassRecord

Observer = Callable[[PassRecord], object]

logger = logging.getLogger("rosenblatt")


def log_pass(record: PassRecord) -> None:
    """Write one line a pass to the logger "rosenblatt" at level INFO."""
    held_out = record.validation_score
    logger.info(
        "pass %d: %d mistakes, %d updates, loss %.6g%s, %.3f s",
        record.pass_,
        record.mistakes,
        record.updates,
        record.loss,
        "" if held_out is None else f", held-out accuracy {held_out:.4f}",
        record.seconds,
    )


class ProgressBar:
    """A bar on standard error with the mistakes so far; use it as a context manager."""

    def __init__(self, total: int, description: str = "passes", unit: str = "") -> None:
        from rich.console import Console  # slow to import, and wanted by few
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        self.mistakes = 0
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(f"{unit}{{task.fields[told]}}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
        )
        self._task = self._progress.add_task(description, total=total, told="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __call__(self, record: PassRecord) -> None:
        """Move the bar by one pass."""
        self._progress.update(self._task, completed=record.pass_, told=self._told(record))

    def _told(self, record: PassRecord) -> str:
        self.mistakes += record.mistakes
        told = f"{record.mistakes} mistakes, {self.mistakes} so far"
        if record.validation_score is not None:
            told += f", held-out accuracy {record.validation_score:.4f}"
        return told

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

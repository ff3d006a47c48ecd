"""How a training on a cluster is getting on, as a bar on standard error."""

from types import TracebackType
from typing import Self

from rosenblatt.training.history import PassRecord


class ShardBar:
    """Shards done in the epoch under way, mistakes so far; use it as a context manager."""

    def __init__(self, n_shards: int) -> None:
        from rich.console import Console  # slow to import, and wanted by few
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        self.mistakes = 0
        self._n_shards = n_shards
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("shards{task.fields[told]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task("loading", total=n_shards, told="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def watch(self, epoch: int, n_done: int) -> None:
        """Show how many shards are done."""
        self._bar.update(self._task, description=f"epoch {epoch}", completed=n_done)

    def __call__(self, record: PassRecord) -> None:
        """Show what an epoch did."""
        self.mistakes += record.mistakes
        told = f", {record.mistakes} mistakes, {self.mistakes} so far"
        if record.validation_score is not None:
            told += f", held-out accuracy {record.validation_score:.4f}"
        self._bar.update(self._task, completed=self._n_shards, told=told)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

"""The progress bar of a training."""

from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import Self

from rosenblatt.data.batch import Batch
from rosenblatt.training.loop import Progress
from rosenblatt.training.state import State
from rosenblatt.wording import size_text


class TrainingBar:
    """Bytes, rows, rows a second, mistakes and the time that is left; a context manager."""

    def __init__(self, n_bytes: int | None, learned: float = 1.0) -> None:
        from rich.console import Console  # only where there is a terminal
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[told]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bars.add_task("reading", total=n_bytes, told="")
        self._n_bytes = n_bytes
        self._learned = learned  # share of the rows, the others are held out
        self._rows_read = 0
        self._n_rows: float | None = None
        self._passes = 0

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def reading(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield the batches, and show how far they have come."""
        self._rows_read, started = 0, perf_counter()
        whole = "" if self._n_bytes is None else f" of {size_text(self._n_bytes)}"
        for batch in batches:
            if not self._rows_read:
                started = perf_counter()  # what came before was not reading
            self._rows_read += batch.n_rows
            speed = self._rows_read / max(perf_counter() - started, 0.01)
            done = f"{size_text(batch.bytes_read)}{whole}  {self._rows_read:,} rows"
            line = f"{done}  {speed:,.0f} rows/s"
            self._bars.update(self._task, completed=batch.bytes_read, told=line)
            yield batch
        self._n_rows = self._rows_read * self._learned

    def __call__(self, _state: State, progress: Progress) -> None:
        """Show a part of a pass."""
        share = progress.counts.mistakes / max(progress.rows, 1)
        line = f"{progress.rows:,} rows  {share:.2%} mistakes"
        if progress.seconds > 0.0:
            line += f"  {progress.rows / progress.seconds:,.0f} rows/s"
        if progress.bytes_read:  # learning while reading: the bar is that of the bytes
            self._bars.update(self._task, description=f"pass {progress.pass_}", told=line)
            return
        if progress.pass_ != self._passes:
            self._passes = progress.pass_
            self._bars.reset(self._task, total=self._n_rows, description=f"pass {self._passes}")
        self._bars.update(self._task, completed=progress.rows, told=line)

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

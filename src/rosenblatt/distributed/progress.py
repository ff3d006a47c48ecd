"""How a training on a cluster is getting on, as a bar on standard error."""

from rosenblatt.training.history import PassRecord
from rosenblatt.training.observers import ProgressBar


class ShardBar(ProgressBar):
    """Shards done in the epoch under way, mistakes so far; use it as a context manager."""

    def __init__(self, n_shards: int) -> None:
        super().__init__(n_shards, "loading", "shards")
        self._n_shards = n_shards

    def watch(self, epoch: int, n_done: int) -> None:
        """Show how many shards are done."""
        self._progress.update(self._task, description=f"epoch {epoch}", completed=n_done)

    def __call__(self, record: PassRecord) -> None:
        """Show what an epoch did."""
        told = f", {self._told(record)}"
        self._progress.update(self._task, completed=self._n_shards, told=told)

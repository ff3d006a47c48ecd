"""The engine: shards as futures that stay in the workers of a Dask cluster.

Plain futures only: whatever a worker held when it was lost, Dask computes again from its source,
and an epoch that was lost with its weights is begun again from those of the coordinator.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from itertools import pairwise
from operator import getitem
from typing import Any, TypeVar
from uuid import uuid4

import dask
import numpy as np
from distributed import Client, Future, KilledWorker
from distributed.comm import CommClosedError

from rosenblatt.distributed.mixing import (
    EpochSettings,
    Share,
    Start,
    add_shares,
    count_wrong,
    run_epoch,
    tree,
)
from rosenblatt.distributed.shards import (
    Recipe,
    ShardFacts,
    assemble,
    bounds,
    cut,
    deal,
    facts,
    homes_of,
    spread,
)
from rosenblatt.errors import RosenblattError
from rosenblatt.models.model import Spread

Result = TypeVar("Result")
ShardWatcher = Callable[[int, int], object]  # number of the epoch, shards done in it

TRIES = 5  # of one and the same epoch
PATIENCE = 300  # seconds until a cluster without workers is given up
LOST = (KilledWorker, CancelledError, CommClosedError, TimeoutError)


class LostClusterError(RosenblattError):
    """The workers were lost again and again."""


class DaskEngine:
    """Runs the shards where they are."""

    def __init__(
        self,
        client: Client,
        shards: Sequence[Future],
        n_classes: int,
        watch: ShardWatcher | None = None,
    ) -> None:
        self._client, self._shards, self._watch = client, list(shards), watch
        self.facts: list[ShardFacts] = self._retried(
            lambda: client.gather(client.map(facts, self._shards, n_classes=n_classes, pure=False))
        )
        self.n_shards = len(self._shards)
        self.n_rows = sum(fact.n_learned for fact in self.facts)
        self.n_held_out = sum(fact.n_held_out for fact in self.facts)
        self.sparse = self.facts[0].sparse

    def epoch(self, start: Start, epoch: int, settings: EpochSettings) -> Share:
        """Return the sum of what all shards do in an epoch."""

        def add(shares: Sequence[Future]) -> Future:
            return self._client.submit(add_shares, list(shares), pure=False)

        def attempt() -> Share:
            shares = self.on_shards(run_epoch, start, epoch=epoch, settings=settings)
            self._watch_shares(shares, epoch)
            share: Share = tree(shares, add).result()
            return share

        return self._retried(attempt)

    def wrong(self, start: Start, zero: int, *, tried: bool) -> int:
        """Count the rows, those held out or the others, that these weights misclassify."""
        return sum(self.gathered(count_wrong, start, zero=zero, tried=tried))

    def gathered(
        self, function: Callable[..., Result], start: Start, **parameters: Any
    ) -> list[Result]:
        """Return what a function of each shard and these weights gives, in order."""
        return self._retried(
            lambda: self._client.gather(self.on_shards(function, start, **parameters))
        )

    def spread(self) -> Spread | None:
        """Return how the features of the first shard spread, if its rows are sparse."""
        if not self.sparse:
            return None
        first = self._shards[0]
        found: Spread = self._retried(
            lambda: self._client.submit(spread, first, pure=False).result()
        )
        return found

    def on_shards(self, function: Callable[..., Any], start: Start, **parameters: Any) -> Any:
        """Broadcast the weights and begin on every shard, each where it is.

        Left to itself the scheduler moves shards to even out the tasks, since every worker has the
        weights; which worker has a shard is asked each time, as one may have been lost.
        """
        given = self._client.scatter(start, broadcast=True, hash=False)
        held = self._client.who_has(self._shards)
        name = f"{function.__name__}-{uuid4().hex}"
        homes = {f"{name}-{k}": list(held[shard.key]) for k, shard in enumerate(self._shards)}
        with dask.annotate(workers=lambda key: homes.get(key, []), allow_other_workers=True):
            return self._client.map(
                function, self._shards, start=given, key=list(homes), pure=False, **parameters
            )

    def _watch_shares(self, shares: Sequence[Future], epoch: int) -> None:
        watch = self._watch
        if watch is None:
            return
        done = set()

        def note(future: Future) -> None:
            done.add(future.key)
            watch(epoch, len(done))

        for share in shares:
            share.add_done_callback(note)

    def _retried(self, attempt: Callable[[], Result]) -> Result:
        """Return what the attempt gives, begun again where workers were lost with it."""
        for tries_left in reversed(range(TRIES)):
            try:
                return attempt()
            except LOST as error:
                if not tries_left:
                    raise LostClusterError(
                        f"The workers of the cluster were lost {TRIES} times in one epoch "
                        f"({type(error).__name__}): look at their logs, and whether their memory "
                        "holds the shards."
                    ) from error
                self._client.wait_for_workers(1, timeout=PATIENCE)
                self._client.retry([shard for shard in self._shards if shard.status == "error"])
        raise AssertionError


def shards_of(
    client: Client,
    parts: Sequence[Future],
    lengths: Sequence[int],
    n_shards: int,
    recipe: Recipe,
    *,
    shuffled: bool = False,
) -> list[Future]:
    """Begin to make shards of successive parts, or ``shuffled``: of rows dealt out at random.

    Shards are cut by rows, so they are the same however the data are divided into parts. Each is
    asked to stay with one worker, its neighbours with the same one; another will do if it is lost.
    """
    firsts = np.cumsum([0, *lengths]).tolist()
    ends = bounds(firsts[-1], n_shards)
    if shuffled:
        hands = [
            client.submit(deal, part, first, n_shards, recipe.seed, pure=False)
            for part, first in zip(parts, firsts[:-1], strict=True)
        ]
        pieces = [
            [client.submit(getitem, hand, k, pure=False) for hand in hands] for k in range(n_shards)
        ]
    else:
        pieces = [_pieces(client, parts, firsts, start, stop) for start, stop in pairwise(ends)]
    homes = homes_of(client, n_shards)
    kind: dict[str, Any] = {"allow_other_workers": True, "pure": False}
    return [
        client.submit(assemble, pieces[k], k, ends[k], recipe, workers=homes[k], **kind)
        for k in range(n_shards)
    ]


def _pieces(
    client: Client, parts: Sequence[Future], firsts: Sequence[int], start: int, stop: int
) -> list[Future]:
    """Return what makes up the rows from start to stop."""
    pieces = []
    for part, first, end in zip(parts, firsts[:-1], firsts[1:], strict=True):
        low, high = max(start, first), min(stop, end)
        if low < high:
            whole = (low, high) == (first, end)
            rows = low - first, high - first
            pieces.append(part if whole else client.submit(cut, part, *rows, pure=False))
    return pieces

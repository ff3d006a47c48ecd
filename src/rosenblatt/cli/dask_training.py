"""What ``train --engine dask`` does: a cluster, and one call."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.options import EngineOptions
from rosenblatt.cli.screen import Screen
from rosenblatt.errors import InputError

if TYPE_CHECKING:
    from rosenblatt.models.model import Model

REFUSED = {
    "calibrate": "--calibrate looks at all held-out rows at once",
    "record_mistakes": "--record-mistakes keeps the rows that made them in one place",
    "verdict": "--verdict looks at all rows at once",
    "buffer": "--buffer says how one process reads",
    "cache": "--cache says where one process keeps parsed rows",
}


def train_on_dask(
    data: Sequence[str],
    given: dict[str, Any],
    engine: EngineOptions,
    screen: Screen,
    verdicts: list[Any],
) -> "Model":
    """Train on a cluster; what is proved of the rows is added to the list."""
    try:
        import distributed  # noqa: F401  # to say how to get it, before anything is begun
    except ModuleNotFoundError:
        msg = "--engine dask needs Dask: pip install 'rosenblatt[dask]'"
        raise InputError(msg) from None
    for name, why in REFUSED.items():
        if given.pop(name):
            msg = f"{why}: leave it or --engine dask out."
            raise InputError(msg)
    from rosenblatt.distributed.train import ShardBar, check_mixing, train_files
    from rosenblatt.models.train import settings

    kept = {name: given.pop(name) for name in ("checkpoint", "checkpoint_seconds")}
    layout, columns, learner = settings(**given)
    mixing: Any = engine.mixing or "uniform"
    check_mixing(learner, mixing)
    if kept["checkpoint"] is not None and Path(kept["checkpoint"]).exists():
        screen.say(f"Going on from {kept['checkpoint']}.")
    with _client(engine) as client:
        return train_files(
            client,
            data,
            layout,
            columns,
            learner,
            n_shards=engine.shards,
            mixing=mixing,
            shuffle_shards=engine.shuffle_shards,
            progress=ShardBar if screen.draws_talk else None,
            tell=screen.warn,
            prove=verdicts.append,
            **kept,
        )


@contextmanager
def _client(engine: EngineOptions) -> Iterator[Any]:
    from rosenblatt.distributed.cluster import local_client, remote_client

    if engine.scheduler is None:
        n_workers = engine.workers or os.cpu_count() or 1
        with local_client(n_workers, engine.worker_memory or "auto") as client:
            yield client
        return
    with remote_client(
        engine.scheduler,
        tls_ca=engine.tls_ca,
        tls_cert=engine.tls_cert,
        tls_key=engine.tls_key,
        unencrypted=engine.unencrypted,
    ) as client:
        yield client

"""From the options of ``train`` to a model: one call, in this process or on a Dask cluster."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.screen import Screen
from rosenblatt.errors import InputError
from rosenblatt.parameters import ClusterSettings

if TYPE_CHECKING:
    from rosenblatt.models.model import Model

REFUSED = {
    "weight": "--weight applies to a single process",
    "kernel": "--kernel needs all rows in one place",
    "gamma": "--gamma is a parameter of --kernel",
    "kernel_degree": "--kernel-degree is a parameter of --kernel",
    "bins": "--bins needs the numbers of all rows in one place",
    "class_weight": "--class-weight needs the labels of all rows in one place",
    "threshold": "--threshold needs all held-out rows in one place",
    "calibrate": "--calibrate needs all held-out rows in one place",
    "record_mistakes": "--record-mistakes needs all rows in one place",
    "verdict": "--verdict needs all rows in one place",
    "buffer": "--buffer applies to a single process",
    "cache": "--cache applies to a single process",
}


def train_here(
    data: Sequence[str], given: dict[str, Any], screen: Screen, verdicts: list[Any]
) -> "Model":
    """Train in this process; a verdict is added to the list."""
    from rosenblatt.models.train import trained_model

    def prove(X: Any, y: Any, mistakes: int | None) -> Any:
        from rosenblatt import diagnose

        verdicts.append(diagnose(X, y, mistakes=mistakes))
        return verdicts[0]

    shown: dict[str, Any] = {"tell": screen.say}
    if screen.draws_talk:
        from rosenblatt.cli.progress import TrainingBar

        shown["progress"] = TrainingBar
    return trained_model(data, given | shown, prove if given["verdict"] else None)


def train_on_dask(
    data: Sequence[str],
    given: dict[str, Any],
    engine: ClusterSettings,
    screen: Screen,
    verdicts: list[Any],
) -> "Model":
    """Train on a cluster; a verdict is added to the list."""
    try:
        import distributed  # noqa: F401  # to say how to get it, before anything is begun
    except ModuleNotFoundError:
        msg = "--engine dask needs Dask; install it with: pip install 'rosenblatt[dask]'"
        raise InputError(msg) from None
    for name, why in REFUSED.items():
        if given.pop(name):
            msg = f"{why} and cannot be used with --engine dask."
            raise InputError(msg)
    from rosenblatt.distributed.train import ShardBar, check_mixing, train_files
    from rosenblatt.models.train import settings

    kept = {name: given.pop(name) for name in ("checkpoint", "checkpoint_seconds")}
    given.pop("refit")  # shards keep the weights of the best epoch, as the help says
    given["rule"] = given["rule"] or "perceptron"  # the steps of which every mixing weighs
    layout, columns, learner = settings(**given)
    mixing: Any = engine["mixing"] or "uniform"
    check_mixing(learner, mixing)
    if kept["checkpoint"] is not None and Path(kept["checkpoint"]).exists():
        screen.say(f"Resuming from {kept['checkpoint']}.")
    with _client(engine) as client:
        return train_files(
            client,
            data,
            layout,
            columns,
            learner,
            n_shards=engine["shards"],
            mixing=mixing,
            shuffle_shards=engine["shuffle_shards"],
            progress=ShardBar if screen.draws_talk else None,
            tell=screen.warn,
            prove=verdicts.append,
            **kept,
        )


@contextmanager
def _client(engine: ClusterSettings) -> Iterator[Any]:
    from rosenblatt.distributed.cluster import local_client, remote_client

    if engine["scheduler"] is None:
        n_workers = engine["workers"] or os.cpu_count() or 1
        with local_client(n_workers, engine["worker_memory"] or "auto") as client:
            yield client
        return
    with remote_client(
        engine["scheduler"],
        tls_ca=engine["tls_ca"],
        tls_cert=engine["tls_cert"],
        tls_key=engine["tls_key"],
        unencrypted=engine["unencrypted"],
    ) as client:
        yield client

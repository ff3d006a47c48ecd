"""Workers and coordinators that are killed: the run goes on, to the same bits."""

# ruff: noqa: SLF001  # faults are put where no user reaches

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
from distributed import Client, KilledWorker

from rosenblatt.distributed import DaskAveragedPerceptron, DaskConfidenceWeightedClassifier
from rosenblatt.distributed import engine as engine_module
from rosenblatt.distributed.engine import DaskEngine, LostClusterError
from rosenblatt.errors import InputError
from tests.distributed.clusters import rows, same_model, threads

N_SHARDS = 6


def pids(client: Client) -> list[int]:
    """Return the processes of the workers."""
    return list(client.run(os.getpid).values())


def test_killed_workers(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """One, then all workers killed when some shards of an epoch are done change not one bit."""

    def victims(epoch: int, workers: list[int]) -> list[int]:
        return workers[:epoch]

    check_killed_workers(client, DaskConfidenceWeightedClassifier, victims, 2, monkeypatch)


@pytest.mark.explore
def test_workers_killed_at_random(
    client: Client, random_seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None, one or both of them killed in each of many epochs change not one bit."""
    generator = np.random.default_rng(random_seed)

    def victims(_epoch: int, workers: list[int]) -> list[int]:
        return [pid for pid in workers if generator.random() < 0.5]

    check_killed_workers(client, DaskAveragedPerceptron, victims, 30, monkeypatch)


def check_killed_workers(
    client: Client,
    kind: Any,
    victims: Callable[[int, list[int]], list[int]],
    epochs: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Train while workers are killed, and compare with the simulation."""
    X, y = rows(300)
    clf = kind(client=client, n_shards=N_SHARDS, max_iter=epochs)
    expected = clf.simulate(X, y)
    killed: dict[int, list[int]] = {}
    watch_shares = DaskEngine._watch_shares

    def kill(epoch: int, _n_done: int) -> None:
        if epoch in killed:
            return
        killed[epoch] = victims(epoch, workers[epoch])
        for pid in killed[epoch]:
            os.kill(pid, signal.SIGKILL)

    workers: dict[int, list[int]] = {}

    def watched(self: DaskEngine, shares: Any, epoch: int) -> None:
        client.wait_for_workers(2)
        workers.setdefault(epoch, pids(client))
        self._watch = kill
        watch_shares(self, shares, epoch)

    monkeypatch.setattr(DaskEngine, "_watch_shares", watched)
    clf.fit(da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=50))
    assert same_model(clf, expected)
    assert sum(map(len, killed.values())) >= epochs
    client.wait_for_workers(2)
    assert not set(pids(client)) & {pid for epoch in killed.values() for pid in epoch}


def test_an_epoch_that_is_always_lost_is_given_up() -> None:
    """After some tries the sentence says what to look at; an error in a task is no lost worker."""
    engine: Any = object.__new__(DaskEngine)
    waited: list[int] = []

    class Cluster:
        def wait_for_workers(self, n_workers: int, timeout: float) -> None:
            waited.append(n_workers)
            assert timeout > 0

        def retry(self, futures: list[Any]) -> None:
            assert not futures

    engine._client, engine._shards = Cluster(), []
    tries, told = [], "run_epoch"

    def lost() -> None:
        tries.append(1)
        raise KilledWorker(told, None, 3)

    with pytest.raises(LostClusterError, match=r"were lost 5 times in one epoch \(KilledWorker\)"):
        engine._retried(lost)
    assert len(tries) == engine_module.TRIES == len(waited) + 1
    with pytest.raises(ZeroDivisionError):
        engine._retried(lambda: 1 // 0)


PROGRAM = """
import os, signal, sys
import dask.array as da
import numpy as np
from rosenblatt.distributed import DaskConfidenceWeightedClassifier
from tests.distributed.clusters import rows, threads

def kill(record):
    if record.pass_ == 3:
        os.kill(os.getpid(), signal.SIGKILL)

X, y = rows(300)
with threads(2) as client:
    clf = DaskConfidenceWeightedClassifier(
        client=client, n_shards=3, max_iter=5, checkpoint=sys.argv[1], observers=[kill],
        early_stopping=True, n_iter_no_change=9, average=True,
    )
    clf.fit(da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=50))
"""


def test_killed_coordinator(tmp_path: Path) -> None:
    """A coordinator killed in epoch 3 goes on from the checkpoint of epoch 2, to the same bits."""
    point = tmp_path / "run.checkpoint"
    program = [sys.executable, "-c", PROGRAM, str(point)]
    root = Path(__file__).parents[2]
    ended = subprocess.run(program, cwd=root, check=False, capture_output=True)  # noqa: S603
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    assert point.exists()
    X, y = rows(300)
    epochs: list[int] = []
    clf = DaskConfidenceWeightedClassifier(
        n_shards=3,
        max_iter=5,
        checkpoint=point,
        observers=[lambda record: epochs.append(record.pass_)],
        early_stopping=True,
        n_iter_no_change=9,
        average=True,
    )
    with threads(3) as client:
        clf.set_params(client=client)
        other = DaskConfidenceWeightedClassifier(**clf.get_params(deep=False) | {"n_shards": 4})
        with pytest.raises(InputError, match="another training: n_shards= was 3 and is now 4"):
            other.fit(da.from_array(X, chunks=(60, -1)), da.from_array(y, chunks=60))
        changed = X.copy()
        changed[17, 2] += 1
        with pytest.raises(InputError, match="another training: rows was"):
            clf.fit(da.from_array(changed, chunks=(60, -1)), da.from_array(y, chunks=60))
        clf.fit(da.from_array(X, chunks=(60, -1)), da.from_array(y, chunks=60))
    assert epochs == [3, 4, 5]
    assert same_model(clf, clf.simulate(X, y))
    assert not point.exists()


def test_parameters_of_numpy_go_into_a_checkpoint(tmp_path: Path) -> None:
    """A checkpoint is written whatever types the parameters have, and the fit removes it."""
    X, y = rows(60)
    point = tmp_path / "point"
    seen: list[bool] = []
    options: dict[str, Any] = {"n_shards": np.int64(2), "max_iter": np.int64(3)}
    clf = DaskAveragedPerceptron(
        **options,
        class_weight={np.str_("ant"): np.float64(2.0)},
        random_state=np.random.default_rng(0),
        observers=[lambda _: seen.append(point.exists())],
        checkpoint=point,
    )
    with threads(1) as client:
        clf.set_params(client=client)
        clf.fit(da.from_array(X, chunks=(30, -1)), da.from_array(y, chunks=30))
    assert seen == [True, True, True]
    assert not point.exists()

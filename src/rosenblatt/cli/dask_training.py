"""From files to a model on a Dask cluster: what ``train --engine dask`` does."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rosenblatt.cli.course import Course
from rosenblatt.cli.engine_options import EngineOptions
from rosenblatt.cli.screen import Screen
from rosenblatt.cli.training import Trainee
from rosenblatt.data.files import Columns, Layout
from rosenblatt.errors import InputError
from rosenblatt.rules import RULES

REFUSED = {
    "calibrate": "--calibrate looks at all held-out rows at once",
    "record_mistakes": "--record-mistakes keeps the rows that made them in one place",
    "verdict": "--verdict looks at all rows at once",
    "buffer": "--buffer says how one process reads",
    "cache": "--cache says where one process keeps parsed rows",
}


def train_on_dask(
    paths: list[str],
    layout: Layout,
    columns: Columns,
    course: Course,
    engine: EngineOptions,
    screen: Screen,
    *,
    checkpoint: str | None = None,
    checkpoint_seconds: float = 30.0,
) -> Trainee:
    """Return the model that the course makes of the files on a cluster."""
    _check(course, engine)
    from rosenblatt.distributed.files import read_files
    from rosenblatt.distributed.fitting import Run, fit_collected
    from rosenblatt.distributed.kept import fill, remember
    from rosenblatt.distributed.progress import ShardBar
    from rosenblatt.estimators.files import LEARNERS
    from rosenblatt.estimators.stored import model_of

    learner = course.learner
    plain: Any = LEARNERS[learner.estimator](**course.options())
    with _client(engine) as client, ExitStack() as stack:
        read = read_files(client, paths, layout, columns, 1.0 if course.fit_intercept else 0.0)
        n_rows = sum(read.collected.lengths)
        n_shards = engine.shards or min(len(client.nthreads()), n_rows)
        described = {"layout": asdict(layout), "columns": asdict(columns)}
        run = Run(
            course.plan(),
            learner.averaged,
            course.seed,
            n_shards,
            "mistakes" if engine.mixing == "mistakes" else "uniform",
            engine.shuffle_shards,
            checkpoint=checkpoint,
            checkpoint_seconds=checkpoint_seconds,
            learner=learner.estimator,
            options=course.options(),
            described=described,
        )
        if checkpoint is not None and Path(checkpoint).exists():
            screen.say(f"Going on from {checkpoint}.")
        observers, watch = [], None
        if screen.draws_talk:
            bar = stack.enter_context(ShardBar(n_shards))
            observers, watch = [bar], bar.watch
        fitted = fit_collected(
            client,
            read.collected,
            run,
            tell=screen.warn,
            observers=observers,
            watch_shards=watch,
        )
    fill(plain, read.collected, fitted)
    remember(plain, read, fitted)
    title = f"{learner.title} on {n_shards} shard{'s' * (n_shards != 1)}"
    return Trainee(model_of(plain), fitted.outcome, title, read.notes, fitted.verdict)


def _check(course: Course, engine: EngineOptions) -> None:
    try:
        import distributed  # noqa: F401  # to say how to get it, before anything is begun
    except ModuleNotFoundError:
        msg = "--engine dask needs Dask: pip install 'rosenblatt[dask]'"
        raise InputError(msg) from None
    for name, why in REFUSED.items():
        if getattr(course, name):
            msg = f"{why}: leave it or --engine dask out."
            raise InputError(msg)
    if course.learner.voted:
        msg = "--memory vote keeps the rows of all mistakes in one place: leave --engine dask out."
        raise InputError(msg)
    if engine.mixing == "mistakes" and not RULES[course.learner.rule].fixed_step:
        msg = (
            "--mixing mistakes goes with --rule perceptron or --rule margin: the steps of the "
            "passive-aggressive rules differ in length, so their number says little."
        )
        raise InputError(msg)


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

"""From files to a model on a cluster, and what a training there leaves behind."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, get_args

from rosenblatt.data.files import Columns, Layout
from rosenblatt.data.sources import kept_names, places_digest
from rosenblatt.distributed.mixing import Mixing
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.models.learner import Learner
from rosenblatt.models.model import Model
from rosenblatt.rules import RULES
from rosenblatt.training.history import PassRecord, ProgressBar

if TYPE_CHECKING:
    from distributed import Client

    from rosenblatt.distributed.files import ClusterFiles
    from rosenblatt.distributed.fitting import ClusterOutcome
    from rosenblatt.theory.verdict import Verdict


def train_files(
    client: "Client",
    paths: Sequence[str],
    layout: Layout,
    columns: Columns,
    learner: Learner,
    *,
    n_shards: int | None = None,
    mixing: Mixing = "uniform",
    shuffle_shards: bool = False,
    checkpoint: str | None = None,
    checkpoint_seconds: float = 30.0,
    progress: Callable[[int], AbstractContextManager[Any]] | None = None,
    tell: Callable[[str], object] = lambda _: None,
    prove: "Callable[[Verdict], object]" = lambda _: None,
) -> Model:
    """Return the model that a learner makes of the rows of files, which the workers read.

    Parameters
    ----------
    client : Client
        The cluster; every worker must find every file under its name.
    paths, layout, columns, learner :
        See ``rosenblatt.models.train.settings``.
    n_shards, mixing, shuffle_shards :
        As in ``DaskAveragedPerceptron``.
    checkpoint, checkpoint_seconds :
        As in ``rosenblatt.train_files``.
    progress, tell, prove :
        A bar to show, a function of a sentence to tell the user, and one of the verdict where the
        last weights separate all rows.
    """
    from rosenblatt.distributed.files import read_files
    from rosenblatt.distributed.fitting import ClusterPlan, fit_cluster

    check_mixing(learner, mixing)
    read = read_files(client, paths, layout, columns, learner.constant)
    n_shards = n_shards or min(len(client.nthreads()), sum(read.collected.lengths))
    run = ClusterPlan(
        learner,
        n_shards,
        mixing,
        shuffle_shards,
        checkpoint=checkpoint,
        checkpoint_seconds=checkpoint_seconds,
        described={"layout": asdict(layout), "columns": asdict(columns)},
    )
    fitted = fit_cluster(client, read.collected, run, tell=tell, progress=progress)
    if fitted.verdict is not None:
        prove(fitted.verdict)
    classes = read.collected.classes
    model = Model.fitted(
        learner.estimator, learner.options(), classes, fitted.state, fitted.outcome
    )
    model = with_files(model, read, fitted)
    return replace(model, training=model.training | {"n_shards": n_shards, "title": learner.title})


def check_mixing(learner: Learner, mixing: str) -> None:
    """Raise InputError for what shards cannot learn."""
    if mixing not in get_args(Mixing):
        msg: str = f"mixing must be one of {', '.join(get_args(Mixing))}; got {mixing!r}."
        raise InputError(msg)
    if learner.voted:
        msg = Sentence(
            f"{Parameter('memory', 'vote')} keeps the rows of all mistakes in one place: train in"
            " one process."
        )
        raise InputError(msg)
    if mixing == "mistakes" and not RULES[learner.rule].fixed_step:
        msg = Sentence(
            f"{Parameter('mixing', 'mistakes')} is not available with the rule {learner.rule},"
            f" whose steps differ in length; use {Parameter('mixing', 'uniform')}."
        )
        raise InputError(msg)


def with_files(model: Model, read: "ClusterFiles", fitted: "ClusterOutcome") -> Model:
    """Return the model with what the files it learned from say of it."""
    encoding, verdict, collected = read.encoding, fitted.verdict, read.collected
    return replace(
        model,
        encoding=encoding.as_json(),
        encoding_arrays=encoding.arrays(),
        spread=fitted.spread,
        verdict=None if verdict is None else verdict.as_json(),
        outcome=model.outcome | {"n_learned": fitted.outcome.n_rows},
        training=model.training
        | {
            "files": kept_names(read.names),
            "places": places_digest(read.names),
            "format": str(read.format),
            "n_rows": int(sum(collected.lengths)),
            "class_counts": collected.class_counts.tolist(),
            "held_out_rows": fitted.n_held_out,
            "held_out_error": fitted.outcome.held_out_error,
            "n_wrong": fitted.n_wrong,
            "notes": read.notes,
        },
    )


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

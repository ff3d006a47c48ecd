"""How far a training has come, as a model file, so that a run that was killed can go on."""

import json
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.counts import Counts
from rosenblatt.models.file import read, write
from rosenblatt.models.learner import Learner
from rosenblatt.models.learner_record import LearnerRecord
from rosenblatt.models.model import Model
from rosenblatt.models.record import Record, pass_facts
from rosenblatt.models.weights import Weights
from rosenblatt.training.loop import Best, Progress
from rosenblatt.training.state import EVERYTHING, Snapshot, State
from rosenblatt.training.streaming import ResumePoint

PARTS = ("weights", "ledger", "variance")  # of the best state
NO_PARAMETERS = ("files", "rows", "layout", "columns")  # of what decides a training


class Checkpoint:
    """A file that is written during a training; ``run`` is all that decides what it computes."""

    def __init__(self, path: str, run: dict[str, Any], learner: Callable[[], Learner]) -> None:
        self._path = path
        decisive = {name: value for name, value in run.items() if name != "time_limit"}
        self._run: dict[str, Any] = json.loads(json.dumps(decisive))
        self._learner = learner  # the chosen one once a race is over

    def writer(self, seconds: float) -> Callable[[State, Progress], None]:
        """Return a watcher that writes the checkpoint at this interval, and when time is up."""
        due = monotonic() + seconds

        def write(state: State, progress: Progress) -> None:
            nonlocal due
            if monotonic() >= due or progress.is_last:
                self.write(state, progress)
                due = monotonic() + seconds

        return write

    def write(self, state: State, progress: Progress) -> None:
        """Write the file, whole or not at all."""
        best, learner = progress.best, self._learner()
        snapshot: Any = best and best.snapshot
        count = 0 if snapshot is None else snapshot.count
        arrays = {f"best_{part}": getattr(snapshot, part, None) for part in PARTS}
        kept = {
            "run": self._run,
            "parts": progress.parts,
            "rows": progress.rows,
            "counts": list(progress.counts),
            "seconds": progress.seconds,
            "drawing": json.dumps(progress.drawing),  # as text: its integers have 128 bits
            "best": best and {"score": best.score, "pass": best.pass_, "count": count},
        }
        made_by = LearnerRecord.of(learner)
        model = Model(
            made_by=made_by.with_options(**made_by.options),
            classes=progress.classes,
            machine=Weights(state),
            record=Record(pass_facts(progress.history), training={"checkpoint": kept}),
            arrays={name: array for name, array in arrays.items() if array is not None},
        )
        write(model, self._path, deflate=False)  # soon written again

    def read(self) -> ResumePoint | None:
        """Return where to go on from; None where there is no checkpoint yet."""
        if not Path(self._path).exists():
            return None
        model = read(self._path)
        kept = model.training.get("checkpoint")
        if not isinstance(kept, dict) or not isinstance(kept.get("run"), dict):
            msg = f"{self._path} is a model but no checkpoint: name another file for that."
            raise InputError(msg)
        self._check_run(kept["run"])
        try:
            return _resumed(model, kept)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            msg = f"{self._path} is damaged ({error!r}): remove it to begin anew."
            raise InputError(msg) from error

    def _check_run(self, run: dict[str, Any]) -> None:
        names = [*self._run, *(name for name in run if name not in self._run)]
        for name in names:
            before, now = run.get(name), self._run.get(name)
            if before != now:
                what = name if name in NO_PARAMETERS else Parameter(name)
                raise InputError(
                    f"{self._path} is the checkpoint of another training: ",
                    what,
                    f" was {before!r} and is now {now!r}. Go on as it was begun, or remove the"
                    " file to begin anew.",
                )


def _resumed(model: Model, kept: dict[str, Any]) -> ResumePoint:
    mistakes, updates, loss = kept["counts"]
    best, leader = None, kept["best"]
    if leader is not None:
        arrays: dict[str, Any] = {part: model.arrays.get(f"best_{part}") for part in PARTS}
        known, count = arrays["weights"] is not None, int(leader["count"])
        snapshot = Snapshot(EVERYTHING, **arrays, count=count) if known else None
        best = Best(float(leader["score"]), int(leader["pass"]), snapshot)
    progress = Progress(
        classes=model.classes,
        history=model.record.passes,
        best=best,
        parts=int(kept["parts"]),
        rows=int(kept["rows"]),
        counts=Counts(int(mistakes), int(updates), float(loss)),
        seconds=float(kept["seconds"]),
        drawing=json.loads(kept["drawing"]),
    )
    return ResumePoint(model.state, progress)

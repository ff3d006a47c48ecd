"""From files to a model: what the command ``train`` does, apart from its options and its talk."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.checkpoint import Checkpoint
from rosenblatt.cli.learner import Learner
from rosenblatt.cli.screen import Screen
from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding import ConjoinedEncoding, TableEncoding
from rosenblatt.data.files import Columns, Files, Layout, TrainingFiles
from rosenblatt.errors import InputError
from rosenblatt.kernels.rows import CSR
from rosenblatt.kernels.spread import feature_spread
from rosenblatt.rules import ZERO_CONVENTIONS
from rosenblatt.store.model import Calibration, Model, Spread
from rosenblatt.training.fit import Plan
from rosenblatt.training.held_out import EarlyStopping
from rosenblatt.training.kept_rows import Draw
from rosenblatt.training.order import Shuffle
from rosenblatt.training.progress import Progress
from rosenblatt.training.reading import BLOCK_BYTES
from rosenblatt.training.state import State
from rosenblatt.training.stream_fit import Trained, fit_stream

DEFAULT_LEARNER = Learner()
MOST_DENSE_COLUMNS = 200
ONE_PASS_BYTES = 16 << 20
ENDED_EARLY = ("interrupted", "time_limit")
SHUFFLES: dict[str, Shuffle] = {"every-pass": True, "once": "once", "no": False}


@dataclass(frozen=True)
class Course:
    """How to train, as the options of the command say."""

    learner: Learner = DEFAULT_LEARNER
    max_iter: int | None = None
    early_stopping: bool = True
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    shuffle: str = "every-pass"
    zero: str = "mistake"
    fit_intercept: bool = True
    time_limit: float | None = None
    seed: int = 0
    calibrate: bool = False
    record_mistakes: bool = False
    verdict: bool = False
    buffer: int | None = None
    cache: str | None = None

    @property
    def passes(self) -> int:
        """How many passes are made at most."""
        return self.learner.max_iter if self.max_iter is None else self.max_iter

    @property
    def held_out(self) -> float:
        """Which share of the rows is held out."""
        return self.validation_fraction if self.early_stopping or self.calibrate else 0.0

    @property
    def block_bytes(self) -> int:
        """How much is shuffled together: new memory costs more time than it saves in one pass."""
        if self.buffer is not None:
            return self.buffer
        return ONE_PASS_BYTES if self.passes == 1 else BLOCK_BYTES

    def plan(self) -> Plan:
        """Return what the loop over passes is told."""
        stopping = EarlyStopping(self.validation_fraction, self.n_iter_no_change)
        return Plan(
            self.learner.step(),
            self.passes,
            ZERO_CONVENTIONS[self.zero],
            SHUFFLES[self.shuffle],
            stopping if self.held_out else None,
            self.time_limit,
            self.record_mistakes,
        )

    def options(self) -> dict[str, Any]:
        """Return the parameters of the same learner in Python."""
        return {
            **self.learner.parameters(),
            "max_iter": self.passes,
            "shuffle": SHUFFLES[self.shuffle],
            "zero": self.zero,
            "fit_intercept": self.fit_intercept,
            "early_stopping": self.early_stopping,
            "validation_fraction": self.validation_fraction,
            "n_iter_no_change": self.n_iter_no_change,
            "time_limit": self.time_limit,
            "record_mistakes": self.record_mistakes,
            "random_state": self.seed,
        }


class ShownFiles(TrainingFiles):
    """Files to learn from, with a bar that shows how far they have been read."""

    bar: Any = None

    def batches(self) -> Iterator[Batch]:
        """Read the files from the start."""
        batches = super().batches()
        return batches if self.bar is None else self.bar.reading(batches)


@dataclass(frozen=True)
class Trainee:
    """A model and how it came about."""

    model: Model
    trained: Trained
    title: str  # of the learner, in a sentence
    notes: list[str]
    verdict: Any = None  # a Verdict, where one was asked for


def train_files(
    paths: list[str],
    layout: Layout,
    columns: Columns,
    course: Course,
    screen: Screen,
    *,
    checkpoint: str | None = None,
    checkpoint_seconds: float = 30.0,
) -> Trainee:
    """Return the model that the course makes of the files."""
    source = ShownFiles(Files(paths, layout), columns)
    point = None
    if checkpoint is not None and course.record_mistakes:
        msg = (
            "--record-mistakes keeps a list that a checkpoint does not hold: leave one of them out."
        )
        raise InputError(msg)
    if checkpoint is not None:
        run = _run(source.files, layout, columns, course)
        point = Checkpoint(checkpoint, run, course.learner.estimator, course.options())
    resumed = None if point is None else point.read()
    if resumed is not None:
        screen.say(f"Going on from {checkpoint}: pass {resumed.progress.pass_}.")
    with ExitStack() as stack:
        watchers = []
        if screen.draws_talk:
            from rosenblatt.cli.progress import TrainingBar

            source.bar = stack.enter_context(
                TrainingBar(source.files.n_bytes, 1.0 - course.held_out)
            )
            watchers.append(source.bar)
        if point is not None:
            watchers.append(point.writer(checkpoint_seconds))

        def watch(state: State, progress: Progress) -> None:
            for watcher in watchers:
                watcher(state, progress)

        trained = fit_stream(
            source,
            course.plan(),
            Draw(np.random.default_rng(course.seed), SHUFFLES[course.shuffle], course.held_out),
            averaged=course.learner.averaged,
            constant=1.0 if course.fit_intercept else 0.0,
            watch=watch,
            resumed=resumed,
            block_bytes=course.block_bytes,
            cache=None if course.cache is None else Path(course.cache),
        )
    trained.reading.close()  # an interrupted one may still be reading, which changes the encoding
    verdict = _verdict(trained, course) if course.verdict else None
    model = replace(
        _model(source, course, trained), verdict=None if verdict is None else verdict.as_json()
    )
    notes = _notes(source)
    if course.calibrate and model.calibration is None:
        notes.append("No calibration was fitted: training ended before any row was held out.")
    if course.verdict and verdict is None:
        notes.append("No verdict: it looks at all rows at once, and they do not fit into --buffer.")
    return Trainee(model, trained, course.learner.title, notes, verdict)


def _run(files: Files, layout: Layout, columns: Columns, course: Course) -> dict[str, Any]:
    """Return all that decides what a training computes, in words for who compares two of them."""
    if not files.rereadable:
        msg = "A training from standard input cannot be taken up again: --checkpoint needs files."
        raise InputError(msg)
    stats = {name: Path(name).stat() for name in files.names}
    described = {"files": {name: [s.st_size, s.st_mtime_ns] for name, s in stats.items()}}
    for part in (replace(course, cache=None), layout, columns):
        described |= json.loads(json.dumps(asdict(part), default=str))
    return described


def _notes(source: TrainingFiles) -> list[str]:
    encoding = source.encoding
    if isinstance(encoding, ConjoinedEncoding):
        encoding = encoding.inner
    if not isinstance(encoding, TableEncoding):
        return []
    notes = list(encoding.notes)
    if encoding.n_unknown:
        notes.append(
            f"{encoding.n_unknown:,} words were left out: there were {encoding.n_features:,} "
            "features already. --hash-bits bounds the features without leaving any out."
        )
    return notes


def _model(source: TrainingFiles, course: Course, trained: Trained) -> Model:
    state, reading, outcome = trained.state, trained.reading, trained.outcome
    encoding = source.encoding
    if encoding is None:
        msg = "A source that has been read to its end has an encoding."
        raise AssertionError(msg)
    state.widen(encoding.n_features)
    counts = np.zeros(len(reading.classes), np.int64)
    counts[reading.ranks] = reading.class_counts
    return Model(
        learner=course.learner.estimator,
        options=course.options(),
        classes=reading.classes,
        **state.vectors(),
        encoding=encoding.as_json(),
        encoding_arrays=encoding.arrays(),
        spread=_spread(trained, encoding.n_features),
        calibration=_calibration(course, trained),
        arrays=_mistakes(trained),
        history=tuple(asdict(record) for record in outcome.history),
        outcome={
            "stop_reason": outcome.stop_reason,
            "best_pass": outcome.best_pass,
            "n_iter": len(outcome.history),
            "n_mistakes": sum(record.mistakes for record in outcome.history),
            "n_learned": outcome.n_rows,
        },
        training={
            "files": source.files.names,
            "format": str(source.files.format),
            "n_rows": reading.n_rows,
            "class_counts": counts.tolist(),
            "held_out_rows": trained.supply.n_held_out,
            "held_out_error": held_out_error(trained),
        },
    )


def _verdict(trained: Trained, course: Course) -> Any:
    """Prove whether the rows, held-out ones too, as they were learned from, can be separated."""
    from scipy import sparse

    from rosenblatt.theory.diagnosis import diagnose

    reading, rows = trained.reading, trained.sample
    if not reading.first.last:
        return None
    X = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape)
    y = np.array(reading.classes)[reading.ranks[reading.first.labels]]
    # The bound is on the mistakes of a perceptron with a bias; an average makes the same ones.
    bounded = course.learner.rule == "perceptron" and course.fit_intercept
    made = sum(record.mistakes for record in trained.outcome.history)
    mistakes = made if bounded else None
    return diagnose(X if rows.shape[1] > MOST_DENSE_COLUMNS else X.toarray(), y, mistakes=mistakes)


def _mistakes(trained: Trained) -> dict[str, Any]:
    """Return the list of mistakes with their rows, where it was recorded and the rows are kept."""
    mistakes, rows = trained.outcome.mistakes, trained.supply.rows()
    if mistakes is None or not isinstance(rows, CSR):
        return {}
    from rosenblatt.recorded import recorded_arrays

    return recorded_arrays(mistakes, rows)


def held_out_error(trained: Trained) -> float | None:
    """Return the error of the final weights on the rows that were held out."""
    outcome = trained.outcome
    score = outcome.history[outcome.best_pass - 1].validation_score if outcome.history else None
    return None if score is None else 1.0 - score


def _spread(trained: Trained, n_features: int) -> Spread:
    """Measure the features on the first block, which is all there is of most files."""
    rows = trained.sample
    low, high, deviation = feature_spread(rows.data, rows.indices, rows.shape[0], n_features)
    return Spread(low, high, deviation, rows.shape[0])


def _calibration(course: Course, trained: Trained) -> Calibration | None:
    if not course.calibrate:
        return None
    from rosenblatt.calibration import fit_calibration
    from rosenblatt.training.held_out_scores import part_scores

    if not trained.supply.n_held_out and trained.outcome.stop_reason in ENDED_EARLY:
        return None
    if not trained.supply.n_held_out:
        msg = "--calibrate needs held-out rows, and there are too few rows to hold any out."
        raise InputError(msg)
    parts = [part_scores(trained.state, part) for part in trained.supply.held_out_parts()]
    scores, numbers = (np.concatenate(side) for side in zip(*parts, strict=True))
    return fit_calibration(scores, numbers)

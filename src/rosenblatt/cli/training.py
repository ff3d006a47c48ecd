"""From files to a model: what the command ``train`` does, apart from its options and its talk."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.cli.course import SHUFFLES, Course
from rosenblatt.cli.screen import Screen
from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding import ConjoinedEncoding, TableEncoding
from rosenblatt.data.files import Columns, Files, Layout, TrainingFiles
from rosenblatt.errors import InputError
from rosenblatt.kernels.spread import feature_spread
from rosenblatt.models.checkpoint import Checkpoint
from rosenblatt.models.model import Calibration, Model, Spread
from rosenblatt.rules import ZERO_CONVENTIONS
from rosenblatt.training.fit import Outcome
from rosenblatt.training.kept_rows import Draw
from rosenblatt.training.progress import Progress
from rosenblatt.training.state import State
from rosenblatt.training.stream_fit import Trained, fit_stream
from rosenblatt.training.vote_arrays import vote_arrays
from rosenblatt.training.votes import Votes

MOST_DENSE_COLUMNS = 200
ENDED_EARLY = ("interrupted", "time_limit")


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
    outcome: Outcome
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
    if checkpoint is not None and course.records:
        option = "--record-mistakes" if course.record_mistakes else "--memory vote"
        msg = f"{option} keeps a list that a checkpoint does not hold: leave one of them out."
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
    return Trainee(model, trained.outcome, course.learner.title, notes, verdict)


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
    votes, encoding = _votes(trained), source.encoding
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
        calibration=_calibration(course, trained, votes),
        arrays={} if votes is None else vote_arrays(votes),
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


def _votes(trained: Trained) -> Votes | None:
    """Return the mistakes that the weights are made of, with their rows, if they were recorded."""
    mistakes, rows = trained.outcome.mistakes, trained.supply.rows()
    if mistakes is None or rows is None:
        return None
    return Votes.of(mistakes.before(trained.state.count), rows)


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


def _calibration(course: Course, trained: Trained, votes: Votes | None) -> Calibration | None:
    if not course.calibrate:
        return None
    from rosenblatt.models.calibration import fit_calibration
    from rosenblatt.training.held_out_scores import part_scores

    if not trained.supply.n_held_out and trained.outcome.stop_reason in ENDED_EARLY:
        return None
    if not trained.supply.n_held_out:
        msg = "--calibrate needs held-out rows, and there are too few rows to hold any out."
        raise InputError(msg)
    voted = votes if course.learner.voted else None
    zero = ZERO_CONVENTIONS[course.zero]
    parts = [
        part_scores(trained.state, part, voted, zero) for part in trained.supply.held_out_parts()
    ]
    scores, numbers = (np.concatenate(side) for side in zip(*parts, strict=True))
    return fit_calibration(scores, numbers)

"""From files to a model, in one call."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Unpack

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.files import Columns, Files, Layout, TrainingFiles
from rosenblatt.data.sources import kept_names, places_digest
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.kernels.spread import feature_spread
from rosenblatt.lazy import public_name
from rosenblatt.models.bin_choice import BinTrial, new_bins
from rosenblatt.models.checkpoint import Checkpoint
from rosenblatt.models.evaluation import neglected
from rosenblatt.models.held_out import Fits, HeldOutFit, few_held_out, recorded
from rosenblatt.models.learner import Learner, plain_options
from rosenblatt.models.model import Model, Spread, record_of
from rosenblatt.parameters import (
    SETTINGS,
    Names,
    TrainingSettings,
    check_parameters,
    with_keywords,
)
from rosenblatt.rules import RULES, RuleValues, rule_parameters
from rosenblatt.training.examples import ArraySupply, ClassWeight
from rosenblatt.training.history import ENDED_EARLY, Observer, Outcome
from rosenblatt.training.loop import Progress
from rosenblatt.training.reading import BLOCK_BYTES, RowSource
from rosenblatt.training.state import State
from rosenblatt.training.stream_fit import StreamFit, fit_again, fit_stream
from rosenblatt.training.stream_supply import Sampling

if TYPE_CHECKING:
    from rosenblatt.models.kernel_machine import KernelChoice

# Chosen on splits of the training rows of real data: see docs/defaults.md.
TABLE_RULE, TEXT_RULE = "pa1", "arow"
ONE_PASS_BYTES = 16 << 20  # new memory costs more time than it saves in one pass
PARTS: dict[Any, set[str]] = {  # parameters of ``train_files`` by what they describe
    kind: {entry.name for entry in fields(kind)} - {"values"} for kind in (Layout, Columns, Learner)
}
DEFAULTS = {
    name: SETTINGS[name].default
    for name in TrainingSettings.__annotations__
    if name not in RuleValues.__annotations__
}


class Run(NamedTuple):
    """The parameters of ``train_files`` that say how a training runs and what becomes of it."""

    refit: bool
    class_weight: ClassWeight | None
    threshold: str | None
    calibrate: bool
    buffer: int | None
    cache: str | None
    checkpoint: str | None
    checkpoint_seconds: float
    observers: Sequence[Observer] | None
    progress: "Bars | None"
    tell: Callable[[str], object] | None


class Watch(Protocol):
    """What shows how far a training has come."""

    def reading(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield the batches that are read."""

    def __call__(self, state: State, progress: Progress) -> None:
        """Look at a training after every part of a pass."""


Bars = Callable[
    [int | None, float], AbstractContextManager[Watch]
]  # of bytes and share learned from


@with_keywords(TrainingSettings)
def model_from_files(paths: Names, **given: Unpack[TrainingSettings]) -> Model:
    r"""Learn from the rows of files; return what ``rosenblatt.load`` returns of a saved model.

    The format, and what the columns are, is found out where you do not say it. Files of any size
    are read in blocks; rows that do not fit into memory are kept in a temporary file.

    Parameters
    ----------
    paths : str or sequence of str
        Files or patterns of their names, all of one format; ``"-"`` is standard input.
    {parameters}

    Returns
    -------
    fitted estimator
        Its ``model_`` is a ``Model``, with ``evaluate`` for files and ``save``. The ``training`` of
        that says what it learned from, with ``notes`` on what was unusual.

    Examples
    --------
    >>> from rosenblatt import train_files
    >>> path = getfixture("tmp_path") / "mail.csv"
    >>> _ = path.write_text("label,body\n" + "spam,buy now\nham,see you\n" * 20)
    >>> clf = train_files(str(path), text="body")
    >>> clf.predict(["buy"]).tolist(), clf.score(["see you", "buy now"], ["ham", "spam"])
    (['spam'], 1.0)
    >>> clf.model_.training["n_rows"], clf.model_.evaluate(str(path)).error
    (40, 0.0)
    """
    return trained_model(paths, given, public_name("diagnose") if given.get("verdict") else None)


def trained_model(
    paths: Names, given: Mapping[str, Any], prove: Callable[..., Any] | None
) -> Model:
    """Return the model that these parameters of ``train_files`` make; ``prove`` gives a verdict."""
    how = DEFAULTS | dict(given)
    run = Run(**{name: how.pop(name) for name in Run._fields})
    check_parameters("train_files", {"class_weight": run.class_weight})
    choice = kernel_choice(*(how.pop(name) for name in ("kernel", "gamma", "kernel_degree")))
    del how["verdict"]  # which is what ``prove`` says
    if choice is not None:
        return _kernel_model(paths, choice, how, run, proves=prove is not None)
    source, learner = settings_for(paths, **how)
    wanted = HeldOutFit(learner, calibrate=run.calibrate, threshold=run.threshold)
    tried = tries_bins(source.columns, learner)
    trial = BinTrial(learner, partial(new_bins, source)) if tried else None
    done = _fit(source, wanted, trial, run)
    model = _model(source, learner, done.trained, prove)
    # What was decided on the way
    bin_choice = None if trial is None else trial.choice
    if bin_choice is not None and bin_choice.chosen:
        model.training["read_as"].append(["bins", bin_choice.words])
    model.training |= {
        "bins_tried": None if bin_choice is None else bin_choice._asdict(),
        "held_out_rows": done.n_held_out,
        "refit": done.refit is not None,
        "refit_passes": 0 if done.refit is None else len(done.refit.history),
        "refit_converged": done.refit is not None and done.refit.converged,
    }
    model.training["notes"] += wanted.notes(done.fits)
    if run.class_weight is not None:
        model.options |= plain_options({"class_weight": run.class_weight})
    model.training["notes"] += neglected(done.confusion, model.classes, model.options)
    return done.fits.applied_to(model)


def _fit(source: "ShownFiles", wanted: HeldOutFit, trial: BinTrial | None, run: Run) -> "SourceFit":
    """Train on files, from a checkpoint where there is one, with a bar where one is wanted."""
    learner, files = wanted.learner, source.files
    held_out = learner.validation_fraction if learner.early_stopping or wanted else 0.0
    point = _checkpoint(source, learner, run)
    resumed = None if point is None else point.read()
    if resumed is not None and run.tell is not None:
        run.tell(f"Going on from {run.checkpoint}: pass {resumed.progress.pass_}.")
    with ExitStack() as stack:
        watchers: list[Callable[[State, Progress], None]] = []
        if run.progress is not None:
            source.bar = stack.enter_context(run.progress(files.n_bytes, 1.0 - held_out))
            watchers.append(source.bar)
        if point is not None:
            watchers.append(point.writer(run.checkpoint_seconds))

        def watch(state: State, progress: Progress) -> None:
            for watcher in watchers:
                watcher(state, progress)

        fitting: dict[str, Any] = {
            "prepare": trial,
            "observers": run.observers or (),
            "watch": watch,
            "resumed": resumed,
            "block_bytes": run.buffer or (ONE_PASS_BYTES if learner.passes == 1 else BLOCK_BYTES),
            "cache": None if run.cache is None else Path(run.cache),
            "class_weight": run.class_weight,
        }
        return source.read(
            lambda: fit_source(source, wanted, held_out=held_out, refit=run.refit, **fitting)
        )


class SourceFit(NamedTuple):
    """What a training gives, with what was fitted to held-out rows before all rows were used."""

    trained: StreamFit
    fits: Fits
    n_held_out: int
    refit: Outcome | None  # of the training on all rows, where there was one
    confusion: NDArray[np.int64]  # of the held-out rows, before that


def fit_source(
    source: RowSource, wanted: HeldOutFit, *, held_out: float, refit: bool, **how: Any
) -> SourceFit:
    """Train on a source, fit what is wanted to held-out rows, and train again on all of them."""
    learner = wanted.learner
    trained = fit_stream(
        source,
        learner.plan(hold_out=bool(wanted)),
        Sampling(np.random.default_rng(learner.random_state), learner.plan().shuffle, held_out),
        start=wanted.start,
        vote=learner.voted,
        constant=learner.constant,
        **how,
    )
    trained.reading.close()  # an interrupted one may still be reading, which changes the encoding
    supply, n_held_out = trained.supply, trained.supply.n_held_out
    whole = trained.outcome.stop_reason not in ENDED_EARLY
    again, few = refit and learner.early_stopping and whole, few_held_out(learner, n_held_out)
    in_folds = again and few and isinstance(supply, ArraySupply) and not learner.voted
    fits = wanted.fit(trained, in_folds=in_folds)
    confusion = wanted.confusion(trained, fits)
    if not (again and n_held_out):
        return SourceFit(trained, fits, n_held_out, None, confusion)
    passes = trained.outcome.best_pass
    # What was fitted to held-out rows belongs to the pass that they chose.
    if (few and in_folds) or ((few or learner.second_order) and not wanted):
        passes = learner.passes
    trained, outcome = fit_again(trained, learner.plan(), passes, vote=learner.voted)
    return SourceFit(trained, fits, n_held_out, outcome, confusion)


class ShownFiles(TrainingFiles):
    """Files to learn from, with a bar that shows how far they have been read."""

    bar: Watch | None = None

    def batches(self) -> Iterator[Batch]:
        """Read the files from the start."""
        batches = super().batches()
        return batches if self.bar is None else self.bar.reading(batches)


def tries_bins(columns: Columns, learner: Learner) -> bool:
    """Return whether bins are tried: nobody has said how many, and rows are held out anyway."""
    return columns.bins is None and learner.early_stopping and not learner.voted


def kernel_choice(
    kernel: str | None, gamma: float | str | None, kernel_degree: int | None
) -> "KernelChoice | None":
    """Return the kernel that these parameters of ``train_files`` name; None for no kernel."""
    if kernel is None and gamma is None and kernel_degree is None:
        return None
    from rosenblatt.models.kernel_machine import KernelChoice

    return KernelChoice.of(kernel, gamma, kernel_degree)


def kernel_settings(
    paths: Names, choice: "KernelChoice", given: Mapping[str, Any], others: Mapping[str, Any]
) -> "tuple[ShownFiles, Learner]":
    """Return the files and the learner of a kernel machine, which can do no more."""
    found = settings_for(paths, **dict(given) | {"rule": given.get("rule") or "perceptron"})
    choice.check(found[1], **others)
    return found


def settings_for(paths: Names, **given: Any) -> "tuple[ShownFiles, Learner]":
    """Return the files and the learner, whose rule may depend on the columns."""
    layout, columns, learner = settings(**given)
    source = ShownFiles(Files(_names(paths), layout), columns)
    if given.get("rule") is None and learner.suits_texts and source.has_text():
        learner = replace(learner, rule=TEXT_RULE, memory=given.get("memory") or "")
    return source, learner


def settings(**given: Any) -> tuple[Layout, Columns, Learner]:
    """Return what the parameters of ``train_files`` say of files, columns and learner, checked."""
    checked = {name: given[name] for name in given if name in PARTS[Learner]}
    check_parameters("train_files", {name: v for name, v in checked.items() if v is not None})
    given["memory"] = given.get("memory") or ""
    given |= {name: _names(v) for name, v in given.items() if DEFAULTS.get(name) == ()}
    layout, columns, learner = (
        {name: given.pop(name) for name in names & given.keys()} for names in PARTS.values()
    )
    unknown = set(given) - set(rule_parameters())
    if unknown:
        msg = f"train_files has no parameter {min(unknown)!r}."
        raise TypeError(msg)
    learner["rule"] = learner.get("rule") or _open_rule(learner["memory"], given)
    return Layout(**layout), Columns(**columns), Learner(**learner, values=given)


def _open_rule(memory: str, values: Mapping[str, float | None]) -> str:
    """Return the rule where nobody names one: with a memory or a step the perceptron is meant."""
    of_table = {parameter.name for parameter in RULES[TABLE_RULE].parameters}
    other = {name for name, value in values.items() if value is not None} - of_table
    return "perceptron" if memory or other else TABLE_RULE


def _names(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _checkpoint(source: TrainingFiles, learner: Learner, run: Run) -> Checkpoint | None:
    """Return the checkpoint that is asked for, with all that decides what a training computes."""
    files = source.files
    if run.checkpoint is None:
        return None
    if learner.records:
        listed = Parameter("record_mistakes", value=True)
        option = listed if learner.record_mistakes else Parameter("memory", "vote")
        msg: str = Sentence(
            option, " keeps a list that a checkpoint does not hold: leave one of them out."
        )
        raise InputError(msg)
    if not files.rereadable:
        msg = Sentence(
            f"A training from standard input cannot be taken up again: {Parameter('checkpoint')}"
            " needs files."
        )
        raise InputError(msg)
    stats = {name: Path(name).stat() for name in files.names}
    described: dict[str, Any] = {
        "files": {name: [s.st_size, s.st_mtime_ns] for name, s in stats.items()}
    }
    for part in (learner, files.layout, source.columns):
        described |= json.loads(json.dumps(asdict(part), default=str))
    described |= described.pop("values")
    described |= {"calibrate": run.calibrate, "buffer": run.buffer}
    described |= plain_options({"class_weight": run.class_weight, "threshold": run.threshold})
    return Checkpoint(str(run.checkpoint), described, learner.estimator, learner.options())


def _model(
    source: TrainingFiles,
    learner: Learner,
    trained: StreamFit,
    prove: Callable[..., Any] | None,
) -> Model:
    state, reading, outcome = trained.state, trained.reading, trained.outcome
    votes, encoding = recorded(trained), source.encoding
    if encoding is None:
        msg = "A source that has been read to its end has an encoding."
        raise AssertionError(msg)
    state.widen(encoding.n_features)
    counts = np.zeros(len(reading.classes), np.int64)
    np.add.at(counts, reading.ranks, reading.class_counts)
    found = None if prove is None else _verdict(prove, trained, learner)
    training = _file_record(source.files, encoding, learner.title, source.columns)
    if prove is not None and found is None:
        training["notes"].append(
            Sentence(
                "No verdict: it looks at all rows at once, and they do not fit into "
                f"{Parameter('buffer')}."
            )
        )
    arrays = {}
    if votes is not None:
        from rosenblatt.mistakes.arrays import list_arrays

        arrays = list_arrays(votes)
    record = record_of(outcome)
    record["outcome"]["n_learned"] = outcome.n_rows
    return Model(
        learner=learner.estimator,
        options=learner.options(),
        classes=reading.classes,
        **state.vectors(copied=False),
        encoding=encoding.as_json(),
        encoding_arrays=encoding.arrays(),
        spread=_spread(trained, encoding.n_features),
        arrays=arrays,
        **record,
        training=training
        | {
            "n_rows": reading.n_rows,
            "class_counts": counts.tolist(),
            "held_out_rows": trained.supply.n_held_out,
            "held_out_error": trained.outcome.held_out_error,
        },
        verdict=None if found is None else found.as_json(),
    )


def _kernel_model(
    paths: Names, choice: "KernelChoice", given: Mapping[str, Any], run: Run, *, proves: bool
) -> Model:
    """Return the model of a kernel machine that saw all rows of files in memory."""
    from rosenblatt.models.kernel_machine import kernel_model
    from rosenblatt.models.rows import source_rows

    names = ("threshold", "calibrate", "checkpoint", "buffer", "cache")
    others = {name: getattr(run, name) for name in names} | {"verdict": proves}
    source, learner = kernel_settings(paths, choice, given, others)
    rows = source_rows(source, fit_intercept=learner.fit_intercept)
    if rows.encoding is None:
        msg = "Rows that have been read have an encoding."
        raise AssertionError(msg)
    model = kernel_model(
        choice,
        learner,
        rows,
        refit=run.refit,
        class_weight=run.class_weight,
        observers=run.observers or (),
    )
    found, counts = rows.rows, np.bincount(rows.numbers, minlength=len(rows.classes))
    spread = feature_spread(found.data, found.indices, *found.shape)
    record = _file_record(rows.files, rows.encoding, choice.title(learner), source.columns)
    return replace(
        model,
        encoding=rows.encoding.as_json(),
        encoding_arrays=rows.encoding.arrays(),
        spread=Spread(*spread, found.shape[0]),
        training={
            **record,
            **model.training,
            "n_rows": found.shape[0],
            "class_counts": counts.tolist(),
        },
    )


def _file_record(files: Files, encoding: Any, title: str, columns: Columns) -> dict[str, Any]:
    """Return what a model says of the files that it was trained on, and of how they were read."""
    decisions = files.decisions
    decided = [] if decisions is None else decisions.notes
    others = [note for note in encoding_notes(encoding) if note not in decided]
    return {
        "files": kept_names(files.names),
        "places": places_digest(files.names),
        "format": str(files.format),
        "title": title,
        "decisions": None if decisions is None else decisions.as_json(),
        "read_as": [] if decisions is None else [list(line) for line in decisions.lines()],
        "bad_rows": files.bad_rows.as_json(),
        "notes": [
            *(*decided, *others, *files.notes, *idle_text_options(columns, encoding)),
            *(*files.bad_rows.notes(), *files.classes.notes()),
        ],
    }


def idle_text_options(columns: Columns, encoding: Any) -> list[str]:
    """Return a sentence for each option of texts that was given though no column holds text."""
    table = encoding.table
    roles = set() if table is None else {column.role for column in table.features}
    if "text" in roles:
        return []
    names = ["word_pairs", "min_count", "char_ngrams"]
    names += [] if "category" in roles else ["hash_bits"]  # which categories have, too
    given = {name: getattr(columns, name) for name in names}
    return [
        Sentence(
            f"{Parameter(name, False if value is False else None)} has no effect: no column is "
            f"read as text; name one with {Parameter('text')}."
        )
        for name, value in given.items()
        if value != getattr(Columns, name)
    ]


def encoding_notes(encoding: Any) -> list[str]:
    """Return what was unusual about the columns of files."""
    encoding = encoding.table
    if encoding is None:
        return []
    notes: list[str] = list(encoding.notes)
    n_left_out = encoding.n_left_out if encoding.reads_twice else encoding.n_unknown
    if n_left_out:
        notes.append(
            Sentence(
                f"{n_left_out:,} words were left out: there were {encoding.n_features:,} features"
                f" already. {Parameter('hash_bits')} bounds the features without leaving any out."
            )
        )
    return notes


def _verdict(diagnose: Callable[..., Any], trained: StreamFit, learner: Learner) -> Any:
    """Prove whether the rows, held-out ones too, as they were learned from, can be separated."""
    from scipy import sparse

    from rosenblatt.models.rows import MOST_DENSE_COLUMNS

    reading, rows = trained.reading, trained.sample
    if not reading.first.last:
        return None
    X = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape)
    y = np.array(reading.classes)[reading.ranks[reading.first.labels]]
    # The bound is on the mistakes of a perceptron with a bias; an average makes the same ones.
    bounded = learner.rule == "perceptron" and learner.fit_intercept
    made = sum(record.mistakes for record in trained.outcome.history)
    X = X if rows.shape[1] > MOST_DENSE_COLUMNS else X.toarray()
    return diagnose(X, y, mistakes=made if bounded else None)


def _spread(trained: StreamFit, n_features: int) -> Spread:
    """Measure the features on the first block, which is all there is of most files."""
    rows = trained.sample
    low, high, deviation = feature_spread(rows.data, rows.indices, rows.shape[0], n_features)
    return Spread(low, high, deviation, rows.shape[0])

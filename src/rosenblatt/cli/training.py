"""What ``train`` does: make a new model, here or on a Dask cluster, or go on with an old one."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from itertools import chain
from pathlib import Path, PurePath
from time import perf_counter
from typing import Any

import click

from rosenblatt.cli.options import LAYOUT, check_engine, is_given, refuse
from rosenblatt.cli.screen import Screen
from rosenblatt.cli.spelling import flag
from rosenblatt.cli.training_report import report, show, show_continued
from rosenblatt.cli.tune import run_search, show_search, train_command
from rosenblatt.data.atomic import check_target
from rosenblatt.data.batch import Batch
from rosenblatt.data.files import Files, Layout
from rosenblatt.data.formats import PACKINGS, SENTENCE_SUFFIXES, SUFFIXES
from rosenblatt.data.sources import expand, places_digest
from rosenblatt.errors import InputError, Parameter
from rosenblatt.lazy import installing
from rosenblatt.models.continuation import Milestone, continuable, learn_files
from rosenblatt.models.guarantee import certainty_of, guaranteed
from rosenblatt.models.model import Model
from rosenblatt.models.train import TrainingPlan, settings, trained_model
from rosenblatt.parameters import ClusterSettings
from rosenblatt.tasks.held_out_fits import TriedRows
from rosenblatt.training.history import ENDED_EARLY, TerminalBar
from rosenblatt.training.loop import Progress
from rosenblatt.training.state import State
from rosenblatt.wording import counted, percent, printable, size_text

Options = dict[str, Any]

COMMAND = (  # options that say nothing of the model
    *("output", "force", "start", "test", "layout", "tune", "folds", "metric", "verbose"),
    "max_size",
)
WITH_FROM = (
    *("start", "data", "output", "force", "test", "guarantee", "as_json", "label", *LAYOUT),
)
HEADINGS = f"{'rows':>12}  {'error':>8}  {'since last':>10}  {'features':>8}  label -> predicted"
REFUSED = {  # what a cluster does not take, by the reason
    "applies to a single process": "validation group weight label_separator goal buffer cache",
    "needs all rows in one place": "kernel column_pairs record_mistakes verdict",
    "needs the numbers of all rows in one place": "bins",
    "needs the labels of all rows in one place": "class_weight",
    "needs all held-out rows in one place": "threshold calibrate",
    "is a parameter of --kernel": "gamma kernel_degree",
}


def run(screen: Screen, data: Sequence[str], options: Options) -> None:
    """Train as the options say, write the model and print how it went."""
    own: Options = {name: options.pop(name) for name in COMMAND} | {"verdicts": []}
    own["engine"] = {name: options.pop(name) for name in ClusterSettings.__annotations__}
    check_engine(own["engine"])
    layout, test, start = own["layout"], own["test"], own["start"]
    if start is not None:
        _check_alone(click.get_current_context())
    path = own["output"] or free_model_path(data, force=own["force"], new=start is None)
    others = data, test, _guarantee_files(options["guarantee"], own)
    _check_paths(path, others, layout, options["checkpoint"], options["cache"])
    if start is not None:
        model = _continued(screen, start, data, layout, options["label"])
    else:
        options |= asdict(layout)
        if own["tune"]:
            options |= _search(screen, data, options, own)
        else:
            refuse(["folds"], "--tune")
        make = _train_on_dask if own["engine"]["engine"] == "dask" else _train_here
        model = make(screen, data, dict(options), own)
        if own["max_size"] is not None:
            model = _pruned(screen, model, own["max_size"], test or options["validation"], layout)
    if options["guarantee"] is not None and certainty_of(model) is None:
        tell = screen.warn if start is not None else lambda _: None  # other notes are shown below
        model = guaranteed(model, data, options["guarantee"], layout, tell)
    model.save(path)
    screen.wrote(path)
    if options["checkpoint"] is not None:
        _end_checkpoint(screen, options["checkpoint"], model)
    evaluation = model.evaluate(test, layout=layout) if test else None
    if start is not None:
        show_continued(screen, model, path, start, evaluation, test)
    elif screen.wants_json:
        for note in model.training["notes"]:
            screen.warn(note)
        screen.json(report(model, path, evaluation, own["verdicts"]))
    else:
        show(screen, model, path, evaluation, test, own["verdicts"], verbose=own["verbose"])


def _guarantee_files(wanted: float | str | None, own: Options) -> list[str]:
    """Return the files that --guarantee names; raise UsageError where it may not be a share."""
    alone = own["start"] is None and not own["tune"] and own["engine"]["engine"] == "process"
    if isinstance(wanted, float) and not alone:
        msg = "--guarantee SHARE cannot be used with --from, --tune or --engine dask; name a file."
        raise click.UsageError(msg)
    return [wanted] if isinstance(wanted, str) else []


def _pruned(
    screen: Screen, model: Model, most: int, paths: Sequence[str] | str | None, layout: Layout
) -> Model:
    """Return a model of at most so many bytes, and say what that costs on these files."""
    from rosenblatt.models.pruning import pruned_to_size

    found, _, n_dropped = pruned_to_size(model, most)
    said = f"--max-size: dropped {n_dropped:,} of {model.n_features:,} features, the weakest"
    if n_dropped and not paths:
        screen.say(f"{said}; --test or --validation would show what that costs.")
    elif n_dropped and paths:
        errors = (one.evaluate(paths, layout=layout).error for one in (model, found))
        before, after = (percent(error or 0.0) for error in errors)
        screen.say(f"{said}: error {before} before, {after} after.")
    return found


def _train_here(screen: Screen, data: Sequence[str], options: Options, own: Options) -> Model:
    def show_plan(plan: TrainingPlan) -> None:
        for step, words in plan.lines() if own["verbose"] else ():
            screen.say(f"  {step}: {printable(words)}")

    shown: dict[str, Any] = {"tell": screen.say}
    if screen.draws_talk:
        shown["progress"] = _alone(screen, TrainingBar)
    prove = own["verdicts"].append if options["verdict"] else None
    if not own["tune"]:  # which has judged by it
        options["metric"] = own["metric"]
    return trained_model(data, options | shown, prove, show_plan)


def _alone(screen: Screen, bar: Callable[..., TerminalBar]) -> Callable[..., TerminalBar]:
    """Return what makes a bar once the line of the screen is gone."""

    def made(*args: Any) -> TerminalBar:
        screen.clear_bar()
        return bar(*args)

    return made


def _train_on_dask(screen: Screen, data: Sequence[str], options: Options, own: Options) -> Model:
    try:
        import distributed  # noqa: F401  # to say how to get it, before anything is begun
    except ModuleNotFoundError:
        msg = f"--engine dask needs Dask; install it with: {installing('dask')}"
        raise InputError(msg) from None
    if own["metric"] != "error":
        msg = "--metric needs all held-out rows in one place and cannot be used with --engine dask."
        raise InputError(msg)
    for why, names in REFUSED.items():
        for name in names.split():
            if options.pop(name):
                said = flag(Parameter(name))
                raise InputError(f"{said} {why} and cannot be used with --engine dask.")
    from rosenblatt.distributed.fitting import ClusterPlan, ShardBar, train_files

    kept = {name: options.pop(name) for name in ("checkpoint", "checkpoint_seconds")}
    options.pop("recipe")  # nothing is tried there
    options.pop("guarantee")  # comes last
    options.pop("refit")  # shards keep the weights of the best epoch, as the help says
    options["rule"] = options["rule"] or "perceptron"  # the steps of which every mixing weighs
    layout, columns, learner = settings(**options)
    engine: ClusterSettings = own["engine"]
    mixing: Any = engine["mixing"] or "uniform"
    shuffled = engine["shuffle_shards"]
    plan = ClusterPlan(learner, engine["shards"], mixing, shuffled=shuffled, **kept)
    if kept["checkpoint"] is not None and Path(kept["checkpoint"]).exists():
        screen.say(f"Resuming from {kept['checkpoint']}.")
    with _client(engine) as client:
        return train_files(
            client,
            data,
            layout,
            columns,
            plan,
            progress=_alone(screen, ShardBar) if screen.draws_talk else None,
            tell=screen.warn,
            prove=own["verdicts"].append,
        )


def _client(engine: ClusterSettings) -> AbstractContextManager[Any]:
    from rosenblatt.distributed.cluster import local_client, remote_client

    if engine["scheduler"] is None:
        n_workers = engine["workers"] or os.cpu_count() or 1
        return local_client(n_workers, engine["worker_memory"] or "auto")
    keys: Any = {name: engine[name] for name in ("tls_ca", "tls_cert", "tls_key", "unencrypted")}
    return remote_client(engine["scheduler"], **keys)


def _search(screen: Screen, data: Sequence[str], options: Options, own: Options) -> Options:
    if own["engine"]["engine"] == "dask" or options["checkpoint"] is not None:
        msg = "--tune searches in this process: leave --engine dask and --checkpoint out."
        raise click.UsageError(msg)
    if options["validation"]:
        msg = "--tune judges by folds of DATA: leave --validation out, or use --group."
        raise click.UsageError(msg)
    if options["kernel"] is not None:
        raise click.UsageError("--tune tries kernels by itself: leave --kernel out.")
    limit = options["time_limit"]
    chosen, search = run_search(screen, data, options, own["folds"], own["metric"], limit)
    show_search(screen, search, train_command(data, chosen))
    screen.show()
    return chosen | {"time_limit": None}


def _continued(
    screen: Screen, start: str, data: Sequence[str], layout: Layout, label: str | None
) -> Model:
    """Go on with the model of a file, and print how it does; return the new one."""
    old = continuable(start)
    own = None if old.table is None else old.table.label
    if label not in (None, own) and f"column_{label}" != own:  # of a file without a header
        known = "has no column of labels" if own is None else f"learned its labels from '{own}'"
        msg = f"--label {label} does not fit --from: {start} {known}; leave --label out."
        raise InputError(msg)
    tried = TriedRows.told(old.training)
    error = old.task.tried_error(tried)
    if error is not None:
        rows = counted(tried.n_rows, "held-out row")
        screen.show(f"{printable(start)} had an error of {percent(error)} on {rows}.")
    screen.show(f"{old.task.error_on('new rows')}, each predicted before it is learned:")
    screen.show(HEADINGS)

    def show_milestone(milestone: Milestone) -> None:
        pair = " -> ".join(printable(str(one)) for one in (milestone.label, milestone.predicted))
        screen.show(
            f"{milestone.n_rows:>12,}  {percent(milestone.error):>8}  "
            f"{percent(milestone.error_since):>10}  {milestone.n_features:>8,}  {pair}"
        )
        screen.flush()

    return learn_files(old, data, layout=layout, watch=show_milestone, tell=screen.warn)


def _check_alone(context: click.Context) -> None:
    for option in context.command.params:
        if option.name not in WITH_FROM and is_given(context, option):
            raise click.UsageError(
                f"{option.opts[-1]} cannot be used with --from: rule, columns and settings are "
                "those of the model, and each row is learned once, in the order of the file."
            )


def _end_checkpoint(screen: Screen, path: str, model: Model) -> None:
    """Remove the checkpoint of a training that came to its end; one cut short can go on."""
    if model.outcome["stop_reason"] not in ENDED_EARLY:
        Path(path).unlink(missing_ok=True)
    elif Path(path).exists():
        screen.say(f"The same command resumes from {path}.")


def _check_paths(
    path: str,
    others: Sequence[Sequence[str]],
    layout: Layout,
    checkpoint: str | None,
    cache: str | None,
) -> None:
    for target in (path, checkpoint):
        if target is not None:
            check_target(target, list(chain(*others)))
    if cache is not None and not Path(cache).is_dir():
        raise InputError(f"The folder {cache} of --cache does not exist.")
    for names in others[1:]:
        if names:
            Files(names, layout)


def free_model_path(data: Sequence[str], *, force: bool, new: bool) -> str:
    """Return the default output file: the data file's name with the ending .model.

    Without force only a new model of the same data replaces another.
    """
    path = default_model_path(data[0])
    if force or not Path(path).exists():
        return path
    what = "already exists"
    if new:
        try:
            training = Model.load(path).training
        except InputError:
            msg = f"{path} already exists and is not a model; choose another output file with -o."
            raise InputError(msg) from None
        files = training.get("files", [])
        if "-" not in files and training.get("places") == places_digest(expand(data)):
            return path
        source = f" trained on {printable(str(files[0]))}" if files and files != ["-"] else ""
        what = f"already exists and holds another model{source}"
    msg = f"{path} {what}; choose another output file with -o, or replace it with --force."
    raise InputError(msg)


def default_model_path(data: str) -> str:
    """Return the name of the data file with the ending .model, in the current folder.

    >>> default_model_path("logs/sales.2024.csv.gz"), default_model_path("part-*.csv")
    ('sales.2024.model', 'part.model')
    >>> default_model_path("-"), default_model_path("a9a")
    ('rosenblatt.model', 'a9a.model')
    """
    name = "" if data == "-" else PurePath(data).name
    for endings in (PACKINGS, {*SUFFIXES, *SENTENCE_SUFFIXES}):
        if PurePath(name).suffix.lower() in endings:
            name = PurePath(name).stem
    stem = name.translate(dict.fromkeys(map(ord, "*?[]"))).strip("-_. ")
    return f"{stem or 'rosenblatt'}.model"


class TrainingBar(TerminalBar):
    """Bytes, rows, rows a second, mistakes and the time that is left; a context manager."""

    def __init__(self, n_bytes: int | None, learned: float = 1.0) -> None:
        super().__init__(n_bytes, "reading", parts=False)
        self._n_bytes = n_bytes
        self._learned = learned  # share of the rows, the others are held out
        self._rows_read = 0
        self._n_rows: float | None = None
        self._passes = 0

    def reading(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield the batches, and show how far they have come."""
        self._rows_read, self._n_rows, started = 0, None, perf_counter()
        whole = "" if self._n_bytes is None else f" of {size_text(self._n_bytes)}"
        for batch in batches:
            if not self._rows_read:
                started = perf_counter()  # what came before was not reading
            self._rows_read += batch.n_rows
            speed = self._rows_read / max(perf_counter() - started, 0.01)
            done = f"{size_text(batch.bytes_read)}{whole}  {self._rows_read:,} rows"
            line = f"{done}  {speed:,.0f} rows/s"
            self._progress.update(self._task, completed=batch.bytes_read, text=line)
            yield batch
        self._n_rows = self._rows_read * self._learned

    def __call__(self, _state: State, progress: Progress) -> None:
        """Show a part of a pass."""
        share = progress.counts.mistakes / max(progress.rows, 1)
        line = f"{progress.rows:,} rows  {share:.2%} mistakes"
        if progress.seconds > 0.0:
            line += f"  {progress.rows / progress.seconds:,.0f} rows/s"
        if self._n_rows is None:  # learning while reading: the bar is that of the bytes
            self._progress.update(self._task, description=f"pass {progress.pass_}", text=line)
            return
        if progress.pass_ != self._passes:
            self._passes = progress.pass_
            self._progress.reset(self._task, total=self._n_rows, description=f"pass {self._passes}")
        self._progress.update(self._task, completed=progress.rows, text=line)

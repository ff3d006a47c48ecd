"""From files to a model, in one call."""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.encoding import GridEncoding
from rosenblatt.data.files import Columns, Encoding, Files, Layout, TrainingFiles
from rosenblatt.data.sources import Paths
from rosenblatt.errors import InputError, Parameter, Sentence
from rosenblatt.kernels.rows import CSR
from rosenblatt.kernels.shapes import dense_values, matrix_of
from rosenblatt.kernels.spread import feature_spread
from rosenblatt.models.checkpoint import Checkpoint
from rosenblatt.models.file_rows import StoredEncoding
from rosenblatt.models.guarantee import guaranteed
from rosenblatt.models.held_out import (
    HeldOutFit,
    coarse,
    few_held_out,
    rounded,
    with_held_out,
)
from rosenblatt.models.learner import Learner
from rosenblatt.models.learner_record import LearnerRecord, plain_options
from rosenblatt.models.model import Model, Spread
from rosenblatt.models.race import (
    Race,
    RaceResult,
    race_of_codes,
    race_of_parts,
    race_of_texts,
)
from rosenblatt.models.record import Record, TrainingFacts, facts_of, file_record
from rosenblatt.models.rows import MOST_DENSE_COLUMNS, source_rows, verdict_on
from rosenblatt.models.search import Settings
from rosenblatt.models.weights import trained_weights
from rosenblatt.parameters import (
    SETTINGS,
    Names,
    TrainingSettings,
    check_parameters,
    check_setting,
    with_keywords,
)
from rosenblatt.rules import RULES, RuleValues, rule_parameters
from rosenblatt.rules.confidence_weighted import PAST_THE_GOAL
from rosenblatt.tasks import Task, asked_task
from rosenblatt.tasks.evaluation import LEAST_HELD_OUT, neglected
from rosenblatt.tasks.held_out_fits import HeldOutFits, TriedRows
from rosenblatt.training.examples import ArraySupply, ClassWeight
from rosenblatt.training.history import ENDED_EARLY, Observer
from rosenblatt.training.holdout import HoldOut, row_draw
from rosenblatt.training.loop import Plan, Progress
from rosenblatt.training.state import State
from rosenblatt.training.streaming import (
    BLOCK_BYTES,
    Form,
    Reading,
    RowSource,
    Sampling,
    StartState,
    StreamFit,
    fit_again,
    fit_stream,
)
from rosenblatt.wording import counted, word_list

if TYPE_CHECKING:
    from rosenblatt.models.kernel_machine import KernelChoice

# Chosen on splits of the training rows of real data: see docs/defaults.md.
TABLE_RULE, TEXT_RULE = "pa1", "arow"
LEARNERS: dict[str, tuple[Settings, ...]] = {  # that a race tries, the default first
    TABLE_RULE: (
        (("rule", "pa1"),),
        (("rule", "pa1"), ("C", 0.01)),
        (("rule", "arow"),),
    ),
    TEXT_RULE: (
        (("rule", "arow"),),
        (("rule", "arow"), ("r", 10.0)),
        (("rule", "pa1"), ("C", 0.1)),
    ),
}
TEXT_LEARNERS: tuple[Settings, ...] = ((("rule", "arow"),), (("rule", "pa1"), ("C", 0.1)))
MIXED_LEARNERS: tuple[Settings, ...] = ((("rule", "pa1"), ("C", 0.01)),)  # beside these
PAIRS_SHOWN = 6
NO_VERDICT = Sentence(
    "No verdict: it looks at all rows at once, and they do not fit into ", Parameter("buffer"), "."
)
ONE_PASS_BYTES = 16 << 20  # new memory costs more time than it saves in one pass
PARTS: dict[Any, set[str]] = {  # parameters of ``train_files`` by what they describe
    kind: {entry.name for entry in fields(kind)} - {"values"} for kind in (Layout, Columns, Learner)
}
DEFAULTS = {
    name: SETTINGS[name].default
    for name in TrainingSettings.__annotations__
    if name not in RuleValues.__annotations__
}


class RunOptions(NamedTuple):
    """The parameters of ``train_files`` that say how a training runs, not what it computes."""

    buffer: int | None
    cache: str | None
    checkpoint: str | None
    checkpoint_seconds: float
    observers: Sequence[Observer] | None
    progress: "Bars | None"
    tell: Callable[[str], object] | None


Bars = Callable[[int | None, float], AbstractContextManager[Any]]  # of bytes and share learned from
Fitted = tuple[StreamFit, HeldOutFits]
RacedColumns = dict[str, RaceResult | None]  # by what was raced


@dataclass(frozen=True)
class TrainingPlan:
    """The plan of a training: read, decide columns, try recipes, encode, fit, fit again."""

    source: TrainingFiles
    learner: Learner
    kernel: "KernelChoice | None"  # sees the rows in place of weights
    wanted: HeldOutFit
    refit: bool
    class_weight: ClassWeight | None
    learners: tuple[Settings, ...] = ()  # that are raced; none where the learner is decided
    races: bool = True  # whether what is left open is decided by held-out rows
    metric: str = "error"  # by which they decide

    @property
    def validated(self) -> bool:
        """Whether the user names the rows that are held out."""
        return self.source.validation is not None

    @property
    def holdout(self) -> float:
        """The share of the rows that is not learned from at first."""
        return self.learner.plan(hold_out=bool(self.wanted)).holdout

    @property
    def is_open(self) -> bool:
        """Whether something is open that held-out rows decide."""
        learner, said = self.learner, self.source.columns
        learns = self.kernel is None and not learner.voted and learner.early_stopping
        some_form = said.bins is None or (said.bins and said.column_pairs is None)
        return self.races and learns and bool(some_form or self.learners)

    def checked(self) -> "TrainingPlan":
        """Return the plan; raise InputError where a metric is named that decides nothing."""
        if self.metric != "error" and not self.is_open:
            idle = " has no effect: held-out rows have nothing to decide."
            raise InputError(Sentence(Parameter("metric", self.metric), idle))
        return self

    def race(self) -> Race | None:
        """Return the race that chooses the recipe, if something is open and rows are held out.

        Where nothing is open, it makes the form or the pairs of columns that are asked for.
        """
        learner, said, is_open = self.learner, self.source.columns, self.is_open
        if not (is_open or said.column_pairs or said.form):
            return None
        own: Settings = (
            ("rule", learner.rule),
            ("memory", learner.memory),
            *learner.chosen.items(),
        )
        learners = self.learners if is_open else ()
        metric = self.metric
        return Race(self.source, learner, learners or (own,), tries=is_open, metric=metric)

    @property
    def weighted(self) -> bool:
        """Whether rows have weights, by their class or by a column."""
        return self.class_weight is not None or self.source.columns.weight is not None

    def with_raced_columns(self) -> "tuple[TrainingPlan, RacedColumns]":
        """Return the plan in which some of the first rows decide how columns are read, where open.

        Whole numbers may be categories, and texts may have features of characters.
        """
        race, texts = self.race() if self.is_open else None, None
        if race is None:
            return self, dict.fromkeys(("codes", "texts", "parts"))
        plan, learners = self, race.learners
        is_open = bool(self.learners) and self.learner.answer.races
        source, texts = race_of_texts(
            self.source, self.learner, TEXT_LEARNERS if is_open else learners, self.metric
        )
        mixed = (*TEXT_LEARNERS, *MIXED_LEARNERS) if is_open else learners
        source, parts = race_of_parts(source, self.learner, mixed, self.metric)
        if is_open and parts is not None:
            learners = *self.learners, *MIXED_LEARNERS
            if source.begun is not None and not source.begun.fit.has_text:
                learners = LEARNERS[TABLE_RULE]
                plan = replace(plan, learner=replace(plan.learner, rule=TABLE_RULE, memory=""))
            plan = replace(plan, learners=learners)
        source, codes = race_of_codes(source, plan.learner, learners, self.metric)
        return replace(plan, source=source), {"texts": texts, "parts": parts, "codes": codes}

    @property
    def tried_by(self) -> dict[str, Any] | None:
        """By which files or groups rows are held out; None: each by itself."""
        validation, group = self.source.validation, self.source.columns.group
        files = {} if validation is None else {"files": list(validation.names)}
        return files | ({} if group is None else {"group": group}) or None

    @property
    def title(self) -> str:
        """What the learner is called in a sentence."""
        return self.learner.title if self.kernel is None else self.kernel.title(self.learner)

    def lines(self) -> list[tuple[str, str]]:
        """Return the steps that are known before a row is read, and what each does."""
        names, share, source = self.source.files.names, f"{self.holdout:.0%}", self.source
        share += " of the rows" + ", whole groups" * (source.columns.group is not None)
        share = share if source.validation is None else word_list(source.validation.names, 3)
        steps = {
            "read": word_list(names, 3),
            "hold out": share if self.holdout else "",
            "try": "recipes on rows that are not learned from" if self.race() else "",
            "fit": f"{self.title}, {counted(self.learner.passes, 'pass')} at most",
            "fit again": "on all rows" if self._refits else "",
        }
        return [(step, words) for step, words in steps.items() if words]

    @property
    def _refits(self) -> bool:
        """Whether all rows are learned from once held-out rows have had their say."""
        return self.refit and self.learner.early_stopping and not self.validated

    def _first_plan(self, learner: Learner) -> Plan:
        """Return the plan of the training that rows are held out of.

        An average that takes long to judge is not judged where no pass can be the last before the
        limit.
        """
        plan = learner.plan(hold_out=bool(self.wanted))
        in_time = learner.n_iter_no_change < learner.passes - plan.average_after
        if not in_time and self._refits and learner.averaged and not learner.answer.judged_at_all:
            plan = replace(plan, early_stopping=None)
        return plan

    def fit(self, source: RowSource, race: Race | None = None, **how: Any) -> Fitted:
        """Race, train on a source, fit what is wanted to held-out rows, and train on all."""
        learner, wanted = self.learner, self.wanted

        def prepare(reading: Reading) -> tuple[Plan, StartState, Form | None]:
            nonlocal learner, wanted
            learner, form = self.learner, None
            if race is not None:
                learner, form = race(reading), race.form
            wanted = replace(wanted, learner=learner)
            return self._first_plan(learner), wanted.start, form

        generator = np.random.default_rng(learner.random_state)
        grouped = self.validated or self.source.columns.group is not None
        holdout = HoldOut.drawn(self.holdout, generator)
        trained = fit_stream(
            source,
            self._first_plan(learner),
            Sampling(generator, learner.plan().shuffle, holdout, grouped=grouped),
            start=wanted.start,
            constant=learner.constant,
            class_weight=self.class_weight,
            prepare=None if race is None else prepare,
            **how,
        )
        trained.reading.close()  # an interrupted one may still be reading and change the encoding
        whole = trained.outcome.stop_reason not in ENDED_EARLY
        again = self._refits and whole
        few = few_held_out(learner, trained.n_held_out)
        in_memory = isinstance(trained.supply, ArraySupply) and not learner.voted
        in_folds = again and few and in_memory
        fitted = wanted.fit(trained, in_folds=in_folds)
        if not (again and trained.n_held_out):
            return trained, fitted
        passes = trained.outcome.best_pass
        settled = learner.second_order and (race is None or race.all_passes)
        # What was fitted to held-out rows belongs to the pass that they chose.
        if in_folds or ((few or settled) and not wanted):
            passes = learner.passes
        return fit_again(trained, learner.plan(), passes), fitted


def plan_of(paths: Paths | Files, **given: Any) -> TrainingPlan:
    """Return the plan of these parameters of ``train_files``; the rule may depend on the head."""
    given = {
        name: DEFAULTS[name] for name in DEFAULTS.keys() - {*RunOptions._fields, "verdict"}
    } | given
    names = ("class_weight", "threshold", "calibrate", "refit", "validation", "guarantee")
    class_weight, threshold, calibrate, refit, other, apart = map(given.pop, names)
    recipe, metric = map(given.pop, ("recipe", "metric"))
    asked = given.pop("goal")
    said = {"class_weight": class_weight, "recipe": recipe, "metric": metric}
    check_parameters("train_files", said)
    kernel = None
    seen = {name: given.pop(name) for name in ("kernel", "gamma", "kernel_degree")}
    if any(value is not None for value in seen.values()):
        from rosenblatt.models.kernel_machine import KernelChoice

        kernel = KernelChoice.from_parameters(**seen)
        given["rule"] = given.get("rule") or "perceptron"
    layout, columns, learner = settings(**given)
    if columns.column_pairs and kernel is not None:
        chosen, rival = Parameter("column_pairs"), Parameter("kernel", kernel.kernel)
        raise InputError(f"{chosen} is not available with {rival}: leave one out.")
    draw = row_draw(apart, drawn=False)
    files = paths if isinstance(paths, Files) else Files(paths, layout, draw=draw)
    if files.draw is not None and (columns.group is not None or not files.rereadable):
        alone = Parameter("group") if files.rereadable else "standard input"
        share = Parameter("guarantee", apart)
        raise InputError(f"{share} draws rows of files one by one; with {alone} name a file.")
    if kernel is not None and columns.group is not None:
        both = Parameter("group"), " is not available with ", Parameter("kernel"), "."
        raise InputError(Sentence(*both))
    if other:
        holds = learner.early_stopping or calibrate or threshold
        _check_validation(_names(other), kernel, holds=holds)
    source = TrainingFiles(files, columns, Files(other, layout) if other else None)
    refused = {"class_weight": class_weight, "threshold": threshold, "kernel": kernel}
    refused |= {"column_pairs": columns.column_pairs}
    open_rule = not (given["rule"] or learner.voted or learner.chosen)
    separator = source.begun.fit.label_separator if source.begun else ""
    task = asked_task(asked, separator)
    learner = _task_learner(learner, task, refused, open_rule=open_rule)
    plain = open_rule and not learner.records  # which the second order cannot
    if open_rule and learner.answer.races and source.begun and source.begun.fit.has_text:
        if not plain:
            source.files.notes.append(
                f"Mistakes are recorded, so the rule is {learner.rule}, whose weights are sums of "
                f"mistakes, and not {TEXT_RULE}, the default for text."
            )
        else:
            learner = replace(learner, rule=TEXT_RULE, memory=given.get("memory") or "")
    wanted = HeldOutFit(learner, calibrate=calibrate, threshold=threshold)
    # Of sets of labels a race of few passes prefers larger steps than all passes do.
    open_form = plain and not given.get("memory") and learner.answer.races
    raced = LEARNERS[learner.rule] if open_form else ()
    learner.answer.check_metric(metric, searched=True)
    how: Any = {"races": recipe == "auto", "metric": metric}
    return TrainingPlan(
        source, learner, kernel, wanted, refit, class_weight, raced, **how
    ).checked()


def _task_learner(
    learner: Learner, task: Task, refused: Mapping[str, Any], *, open_rule: bool
) -> Learner:
    """Return the learner for a task; raise InputError for what this cannot have."""
    for name, value in refused.items():
        if value:
            task.refuse(Parameter(name))
    if task.rule and open_rule:
        learner = replace(learner, rule=task.rule)
    return learner.of_task(task.name)


def _check_validation(names: tuple[str, ...], kernel: Any, *, holds: object) -> None:
    """Raise InputError where rows of validation cannot be used."""
    if "-" in names:
        why = Sentence(" needs a file: standard input cannot be read beside the training rows.")
    elif kernel is not None:
        why = Sentence(f" is not available with {Parameter('kernel')}.")
    else:
        why = Sentence(f" needs {Parameter('early_stopping', value=True)}.")
    if "-" in names or kernel is not None or not holds:
        raise InputError(Sentence(Parameter("validation"), why))


@with_keywords(TrainingSettings)
def model_from_files(paths: Paths, **given: Unpack[TrainingSettings]) -> Model:
    r"""Learn from the rows of files; return what ``rosenblatt.load`` returns of a saved model.

    The format, and what the columns are, is found out where you do not say it. Files of any size
    are read in blocks; rows that do not fit into memory are kept in a temporary file.

    Parameters
    ----------
    paths : path, or sequence of paths
        Files or patterns of their names, all of one format; ``"-"`` is standard input.
    {parameters}

    Returns
    -------
    fitted estimator
        Its ``model_`` is a ``Model``, with ``evaluate`` for files and ``save``. The ``training`` of
        that says what it learned from, with ``notes`` on what was unusual.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rosenblatt import train_files
    >>> _ = Path("mail.csv").write_text("label,body\n" + "spam,buy now\nham,see you\n" * 20)
    >>> clf = train_files("mail.csv", text="body")
    >>> clf.predict(["buy"]).tolist(), clf.score(["see you", "buy now"], ["ham", "spam"])
    (['spam'], 1.0)
    >>> clf.model_.training["n_rows"], clf.model_.evaluate("mail.csv").error
    (40, 0.0)
    """
    return trained_model(paths, given, (lambda _: None) if given.get("verdict") else None)


def trained_model(
    paths: Paths | Files,
    given: Mapping[str, Any],
    prove: Callable[[Any], object] | None,
    show: Callable[[TrainingPlan], object] = lambda _: None,
) -> Model:
    """Return the model of these parameters of ``train_files``; ``prove`` is handed the verdict."""
    how = DEFAULTS | dict(given) | {"verdict": prove is not None}
    others = {
        name: how[name] for name in ("threshold", "calibrate", "verdict", *RunOptions._fields[:3])
    }
    run = RunOptions(**{name: how.pop(name) for name in RunOptions._fields})
    plan = plan_of(paths, **{name: value for name, value in how.items() if name != "verdict"})
    if prove is not None:
        plan.learner.answer.refuse(Parameter("verdict"))
    show(plan)
    if plan.kernel is None:
        plan, raced = plan.with_raced_columns()
        model, rows, counts, encoding = _weights_model(plan, raced, run, prove)
    else:
        plan.kernel.check(plan.learner, **others)
        from rosenblatt.models.kernel_machine import kernel_model

        read = source_rows(plan.source, fit_intercept=plan.learner.fit_intercept).of_class(None)
        model, rows = kernel_model(plan, read, observers=run.observers or ()), read.rows
        counts, encoding = np.bincount(read.numbers, minlength=len(read.classes)), read.encoding
    # What the model says of the files
    with ThreadPoolExecutor(2) as beside:
        parts = rows.data, rows.indices, rows.shape[0], encoding.n_features
        spread, arrays = beside.submit(feature_spread, *parts), beside.submit(encoding.arrays)
        model = rounded(model, rows) if plan.kernel is None else model
    short = coarse if "float32_rows" in model.training else np.asarray
    low, high, deviation = (short(part) for part in spread.result())
    files = plan.source.files
    decided = [] if files.decisions is None else files.decisions.notes
    notes = [
        *(*decided, *(note for note in encoding_notes(encoding) if note not in decided)),
        *(*files.notes, *idle_text_options(plan.source.columns, encoding)),
        *(*files.bad_rows.notes(), *files.classes.notes()),
        *([] if plan.source.validation is None else plan.source.validation.bad_rows.notes()),
    ]
    facts = file_record(files, plan.title, notes)
    facts["notes"] += model.training.pop("notes", [])
    facts["read_as"] += model.training.pop("read_as", [])
    n_rows = model.training.pop("n_rows", int(counts.sum()))
    facts |= model.training
    facts |= {"n_rows": n_rows, "class_counts": counts.tolist()}
    model = replace(
        model,
        stored_encoding=StoredEncoding(encoding.as_json(), arrays.result()),
        spread=Spread(low, high, deviation, rows.shape[0]),
        record=replace(model.record, training=facts),
    )
    if how["guarantee"] is None:
        return model
    return guaranteed(model, files.names, how["guarantee"], files.layout)


def _fit(plan: TrainingPlan, race: Race | None, run: RunOptions) -> Fitted:
    """Train on files, from a checkpoint where there is one, with a bar where one is wanted."""
    source, learner = plan.source, plan.learner
    point = _checkpoint(plan, run, race)
    resumed = None if point is None else point.read()
    if resumed is not None and run.tell is not None:
        run.tell(f"Going on from {run.checkpoint}: pass {resumed.progress.pass_}.")
    watchers: list[Callable[[State, Progress], None]] = []

    def watch(state: State, progress: Progress) -> None:
        for watcher in watchers:
            watcher(state, progress)

    how: dict[str, Any] = {
        "race": race,
        "observers": run.observers or (),
        "watch": watch,
        "resumed": resumed,
        "block_bytes": run.buffer or (ONE_PASS_BYTES if learner.passes == 1 else BLOCK_BYTES),
        "cache": None if run.cache is None else Path(run.cache),
    }
    with ExitStack() as stack:
        if run.progress is not None:
            bar = stack.enter_context(run.progress(source.files.n_bytes, 1.0 - plan.holdout))
            how["show"] = bar.reading
            watchers.append(bar)
        if point is not None:
            watchers.append(point.writer(run.checkpoint_seconds))
        return source.read(lambda: plan.fit(source, **how))


def settings(**given: Any) -> tuple[Layout, Columns, Learner]:
    """Return what the parameters of ``train_files`` say of files, columns and learner, checked."""
    checked = {name: given[name] for name in given if name in PARTS[Learner]}
    check_parameters("train_files", {name: v for name, v in checked.items() if v is not None})
    given["memory"] = given.get("memory") or ""
    if given.get("column_pairs") is not None:
        check_setting("column_pairs", given["column_pairs"])
    given |= {name: _names(v) for name, v in given.items() if DEFAULTS.get(name) == ()}
    layout, columns, learner = (
        {name: given.pop(name) for name in names & given.keys()} for names in PARTS.values()
    )
    unknown = set(given) - set(rule_parameters())
    if unknown:
        raise TypeError(f"train_files has no parameter {min(unknown)!r}.")
    learner["rule"] = learner.get("rule") or _open_rule(learner["memory"], given)
    return Layout(**layout), Columns(**columns), Learner(**learner, values=given)


def _open_rule(memory: str, values: Mapping[str, float | None]) -> str:
    """Return the default rule: the perceptron if a memory or a step is given."""
    of_table = {parameter.name for parameter in RULES[TABLE_RULE].parameters}
    other = {name for name, value in values.items() if value is not None} - of_table
    return "perceptron" if memory or other else TABLE_RULE


def _names(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _checkpoint(plan: TrainingPlan, run: RunOptions, race: Race | None) -> Checkpoint | None:
    """Return the checkpoint that is asked for, with all that decides what a training computes."""
    files, learner = plan.source.files, plan.learner
    if run.checkpoint is None:
        return None
    if learner.records:
        listed = Parameter("record_mistakes", value=True)
        option = listed if learner.record_mistakes else Parameter("memory", "vote")
        msg = f"{option} keeps a list that a checkpoint does not hold: leave one of them out."
        raise InputError(msg)
    if not files.rereadable:
        raise InputError(
            f"A training from standard input cannot be taken up again: {Parameter('checkpoint')}"
            " needs files."
        )
    others = () if plan.source.validation is None else plan.source.validation.names
    stats = {name: Path(name).stat() for name in (*files.names, *others)}
    described: dict[str, Any] = {
        "files": {name: [s.st_size, s.st_mtime_ns] for name, s in stats.items()}
    }
    for part in (learner, files.layout, plan.source.columns):
        described |= json.loads(json.dumps(asdict(part), default=str))
    described |= described.pop("values")
    described["goal"] = described.pop("task")
    described |= {"calibrate": plan.wanted.calibrate, "buffer": run.buffer}
    described |= {"recipe": "auto" if plan.races else "plain", "metric": plan.metric}
    described |= {"validation": list(others)} if others else {}
    described |= {} if files.draw is None else {"guarantee": files.draw.share}
    chosen = {"class_weight": plan.class_weight, "threshold": plan.wanted.threshold}
    described |= plain_options(chosen)
    return Checkpoint(
        str(run.checkpoint), described, lambda: learner if race is None else race.learner
    )


def _weights_model(
    plan: TrainingPlan,
    columns: RacedColumns,
    run: RunOptions,
    prove: Callable[[Any], object] | None,
) -> tuple[Model, CSR, NDArray[Any], Encoding]:
    """Return a model of files, some rows as they were learned from, rows by class, the encoding."""
    source, race = plan.source, plan.race()
    trained, fitted = _fit(plan, race, run)
    learner, found = (plan.learner, None) if race is None else (race.learner, race.result)
    state, reading, outcome = trained.state, trained.reading, trained.outcome
    refit, fitted_form = trained.refit, None if race is None else race.fitted
    own_encoding = cast("Encoding", source.encoding)
    encoding = own_encoding if fitted_form is None else fitted_form.encoding
    state.widen(encoding.n_features)
    verdict = None if prove is None else _verdict(trained, learner, encoding, prove)
    made_by = LearnerRecord.of(learner)
    if plan.class_weight is not None:
        made_by = made_by.with_options(class_weight=plan.class_weight)
    own = made_by.options
    races = {"recipe": found, **columns}
    raced = {kind: one and one.as_json() for kind, one in races.items()}
    facts: TrainingFacts = {
        "refit": refit is not None,
        "refit_passes": 0 if refit is None else len(refit.history),
        "refit_converged": refit is not None and refit.converged,
        "read_as": [
            *(
                line
                for kind, own in {**columns, "recipe": found}.items()
                if own is not None
                for line in (
                    [kind, own.chosen if kind == "recipe" else own.form],
                    ["tried", own.words],
                )
            ),
            *_combined(source, encoding),
        ],
        "notes": [
            *([NO_VERDICT] if verdict is None and prove is not None else []),
            *plan.wanted.notes(fitted),
            *([PAST_THE_GOAL] if learner.rule == "cw" and plan.weighted else []),
        ],
    }
    if fitted.confusion.size:
        facts["notes"] += neglected(fitted.confusion, reading.classes, own, least=LEAST_HELD_OUT)
    tried = TriedRows(trained.n_held_out, outcome.tried_error, plan.tried_by).record()
    about: TrainingFacts = {
        "n_rows": int(reading.class_counts.sum()),
        "title": learner.title,
    }
    record = Record.of(
        outcome, facts_of(about, tried, cast("TrainingFacts", raced), facts), counted=True
    )
    if verdict is not None:
        record = replace(record, verdict=verdict.as_json())
    model = Model(made_by, reading.classes, trained_weights(learner, trained), record=record)
    return with_held_out(model, fitted), trained.sample, reading.label_counts, encoding


def _combined(source: TrainingFiles, encoding: Encoding) -> list[list[str]]:
    """Return a line that lists the chosen pairs of columns, or says that there are none."""
    titles = []
    if isinstance(encoding, GridEncoding):
        titles = [" and ".join(map(repr, encoding.titles(one))) for one in encoding.terms]
    if titles:
        return [["combined", f"{len(titles)}: {word_list(titles, PAIRS_SHOWN, ', ')}"]]
    return (
        [["combined", "no pair of columns stands out from chance"]]
        if source.columns.column_pairs
        else []
    )


def idle_text_options(columns: Columns, encoding: Any) -> list[str]:
    """Return a sentence for each option of texts that was given though no column holds text."""
    table = encoding.table
    roles = set() if table is None else {column.role for column in table.features}
    if "text" in roles:
        return []
    names = ["words", "word_pairs", "min_count", "char_ngrams"]
    names += [] if roles & {"category", "list"} else ["hash_bits"]  # which these have, too
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
    if encoding.n_left_out:
        notes.append(
            Sentence(
                f"{encoding.n_left_out:,} words were left out: there were"
                f" {encoding.n_features:,} features already. {Parameter('hash_bits')} bounds the"
                " features without leaving any out."
            )
        )
    return notes


def _verdict(
    trained: StreamFit, learner: Learner, encoding: Encoding, prove: Callable[[Any], object]
) -> Any:
    """Prove whether the rows, held-out ones too, as they were learned from, can be separated."""
    reading, rows = trained.reading, trained.sample
    if not reading.first.last:
        return None
    y = np.array(reading.classes)[reading.met.ranks[reading.first.labels[: rows.shape[0]]]]
    # The bound is on the mistakes of a perceptron with a bias; an average makes the same ones.
    bounded = learner.rule == "perceptron" and learner.fit_intercept
    made = sum(record.mistakes for record in trained.outcome.history)
    shaped = matrix_of if rows.shape[1] > MOST_DENSE_COLUMNS else dense_values
    found = verdict_on(rows, y, encoding, shaped, mistakes=made if bounded else None)
    found = found if bounded else replace(found, mistakes=None)  # those of its own search
    prove(found)
    return found

"""The race of recipes: the search of ``tune``, with few ways to learn, before a training begins."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import VALIDATION, Batch
from rosenblatt.data.encoding.kinds import USUAL_NGRAMS
from rosenblatt.data.encoding.numbers import quantile_edges
from rosenblatt.data.files import BETTER_WITHOUT, Beginning, TrainingFiles
from rosenblatt.data.tables.table import Table
from rosenblatt.kernels.shapes import gathered, take
from rosenblatt.models.forms import (
    BINS,
    FEW_BINS,
    FORMS,
    MORE_PAIRS,
    PAIRS,
    PLAIN,
    TRIPLES,
    WITH_PAIRS,
    CodedRows,
    FittedForm,
    TableForms,
    taken,
)
from rosenblatt.models.learner import Learner
from rosenblatt.models.search import (
    Candidate,
    EncodedRows,
    RowJudge,
    Rung,
    Search,
    Settings,
    Trial,
    halving,
)
from rosenblatt.rules import RULES
from rosenblatt.tasks import task_of
from rosenblatt.tasks.metrics import METRICS
from rosenblatt.training.examples import Examples
from rosenblatt.training.streaming import Form, Reading
from rosenblatt.wording import counted, percent, word_list

# Chosen on splits of the training rows of real data: see docs/defaults.md.
FEW_BINNED = 5_000  # rows; with fewer, 10 bins do better than 20
FEWEST_ROWS = 100  # with fewer, nothing is tried
# What a race may cost, in values of rows times classes times passes: 0.1 s, or about as much as the
# training that follows. Counts and no clock, so that the choice is the same everywhere.
LEAST_COST = 80_000_000
LEAST_TEXT_COST = 400_000_000
COST = 12  # passes over all rows
MOST_SEEN = 100_000  # rows
JUDGED = 2_000, 10_000  # rows, where not all are judged in turn: a tenth of all between these
FOLDS = 5  # of rows that are judged in turn by what was learned from the others
FIRST_SHARE = 1 / 3  # of the rows on which all candidates are tried
FIRST_FOLDS = 2
CACHED = 1 << 17  # weights
WEIGHT_COST = 10  # of a weight in all passes of a trial, beside what rows cost
FEWEST_FIRST = 1_000  # of them; with fewer all candidates run on all rows
FINALISTS = 5  # about
PASSES = {1: 5, 2: 5}
# Of forms of tables: many rows are judged, which is cheap, and few learned from
MOST_LEARNED = MOST_JUDGED = 8_000  # rows
VERY_FEW, FEW_ROWS = 1_000, 3_000  # with fewer, five folds; three folds
SAMPLED = 3 * MOST_LEARNED  # rows from which on the richer form is favoured
FEW_ROWS_MARGIN, MARGIN = 1.0, 0.5  # standard errors within which the favoured form is taken
MOST_READ = 60  # shapes, maps and triples; with more a form must be better by a standard error
# What a race of forms may cost, in values of rows times classes times passes: about what boosting
# takes on the same rows, which grows with rows, columns and classes
LEAST_FORM_COST = 80_000_000
BOOSTED = 12  # looks at each value for each class
DRAWS = 40  # of the judged rows, by which the standard error of other metrics than error is known
FORM_PASSES = 40  # of all learners of a form over rows that are learned from, about
CLASSES_AT_ONCE = 3.0  # weights of a feature side by side that take the time of one
GENTLE = 0.6  # by which a step of PA-I moves its row's score at most, however many blocks it has
EAGER: Settings = (("rule", "arow"), ("r", 100.0), ("memory", "average"))
LAST: Settings = (("rule", "arow"),)  # the last weights, which rare levels learn fastest by
PLAIN_PASSES: dict[Settings, tuple[int, ...]] = {  # after which learners of plain rows are judged
    (("rule", "pa1"),): (5,),
    (("rule", "pa1"), ("C", 0.01)): (10,),
    LAST: (5,),
    (("rule", "pa1"), ("C", 0.001)): (10, 20),
    EAGER: (5, 10),
}
# By which it is decided how texts are read: of a sample, bytes times passes times classes, where
# a pass of words, of characters and of both takes about 5 values a byte; and bytes.
TEXT_COST = 80_000_000
TEXT_BYTES = 4 << 20
TEXT_ROWS = 8_000
TEXT_JUDGED = 4_000  # rows at most, each fold a fifth of all
TEXT_PARTS = 3  # of which one is judged, where one fold is all that it may cost
CODED_ROWS = 10_000  # by which it is decided whether whole numbers are categories
CODED_VALUES = 1 << 19  # of all numeric columns that are looked through for such numbers
MOST_CODED = 10  # columns that are tried as categories
FEWEST_DEVIATIONS = 3.0  # from chance, of the classes of a value
STANDARD_ERRORS = 1.0  # by which a recipe must be better than a simpler one

RowMaker = Callable[[Settings], EncodedRows]  # by encoding


@dataclass(frozen=True)
class RaceResult:
    """What a race found."""

    chosen: str
    n_rows: int  # that were judged
    tried: list[dict[str, Any]]  # name, error, parameters and passes; on the most rows, best first
    form: str  # how its rows are encoded, whoever learns from them later
    metric: str = "error"

    @property
    def words(self) -> str:
        """One line for people."""
        last = [one for one in self.tried if one["share"] == 1.0]
        last.sort(key=lambda one: one["name"] != self.chosen)
        best = {one["name"].partition(",")[0]: one for one in reversed(last)}  # of each form
        metric, measure = self.metric, METRICS[self.metric]
        shown = sorted(best.values(), key=lambda one: -measure.sign * float(one[metric]))
        words = percent if metric == "error" else "{:.3f}".format
        errors = ", ".join(f"{one['name']} {words(one[metric])}" for one in shown)
        recipes = counted(len(self.tried), "recipe")
        rows, by = counted(self.n_rows, "row"), "" if metric == "error" else f" by {measure.title}"
        judged = f"{recipes}, judged{by} on {rows} that they had not seen"
        return f"{judged}; the best of each form: {errors}"

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return {"chosen": self.chosen, "rows": self.n_rows, "tried": self.tried}


def default_bins(n_rows: int) -> int:
    """Return the default number of bins.

    >>> default_bins(1_000), default_bins(20_000)
    (10, 20)
    """
    return 10 if n_rows < FEW_BINNED else 20


class Race:
    """Tries recipes on the rows of a reading before they are learned from.

    A recipe is a learner with a form of the rows; all are judged on rows that they have not
    learned from.
    """

    def __init__(
        self,
        source: TrainingFiles,
        learner: Learner,
        learners: Sequence[Settings],
        *,
        tries: bool = True,
        metric: str = "error",
    ) -> None:
        self.learner = learner  # the chosen one, once the race is over
        self.result: RaceResult | None = None
        self.learners, self._source, self._tries, self._metric = learners, source, tries, metric
        self.all_passes = True  # whether later passes of the chosen learner do no harm
        self.fitted: FittedForm | None = None  # the chosen form, once the race is over

    @property
    def form(self) -> Form | None:
        """What gives rows the chosen form; None where it is the one that they need anyway."""
        return None if self.fitted is None or self.fitted.name == PLAIN else self.fitted.form

    def __call__(self, reading: Reading) -> Learner:
        """Choose the learner, and the form in which the rows of a reading are finished."""
        reading.check_classes()
        forms = TableForms(self._source, reading, self.learner)
        chosen = forms.names[-1 if forms.asked and not self._tries else 0]
        is_open = len(self.learners) > 1 or len(forms.names) > 1
        if self._tries and is_open and reading.n_rows >= FEWEST_ROWS:
            chosen = self._tried(reading, forms) or chosen
        self.fitted = forms.of_all(chosen, reading)
        return self.learner

    def _tried(self, reading: Reading, forms: TableForms) -> str:
        """Return the form that held-out rows choose, "" where nothing can be afforded."""
        size = FormRaceSize.affordable(reading, forms)
        if size is None:
            return self._plain_tried(reading, forms)
        race = FormRace(reading, forms, self.learner, self.learners, size, self._metric)
        best = race.best
        if best is None:
            return ""
        form = str(dict(best.candidate.encoding)["form"])
        self._take(best.candidate.learner, best.passes, race.result(best), least=form == PLAIN)
        return form

    def _plain_tried(self, reading: Reading, forms: TableForms) -> str:
        """Try learners on rows as they are, or with the bins asked for."""
        form = forms.names[0]
        way: Settings = (("form", form),)
        width = len(reading.kept.indices) / reading.n_rows + 1.0
        cost = values_of(width, forms.plain.n_features, len(reading.classes))
        has_text = forms.plain.table is not None and forms.plain.table.has_text
        least = LEAST_TEXT_COST if has_text else LEAST_COST
        n_tried = len(self.learners)
        size = RaceSize.affordable(reading.n_rows, *cost, n_tried, least) if n_tried > 1 else None
        if size is None:
            return form
        rows = RaceRows(reading, forms, self.learner.constant, size.n_rows)
        pool = [Candidate(own, way) for own in self.learners]
        made = rows.made(forms.of_all(form, reading))
        held = HeldRace(pool, lambda _: made, size, self.learner, self._metric)
        best = held.best
        if best is not None:
            self.all_passes = not held.surpasses(best, best, PASSES[2])
            self._take(best.candidate.learner, None, held.result(best, {way: forms.title(form)}))
        return form

    def _take(
        self, learner: Settings, passes: int | None, result: RaceResult, *, least: bool = False
    ) -> None:
        """Take a learner and its passes; where these are the least, its usual ones if more."""
        values = dict(learner)
        kept: dict[str, Any] = {"rule": values.pop("rule"), "memory": values.pop("memory", "")}
        chosen = replace(self.learner, **kept, values=values)
        if passes is not None and chosen.max_iter is None and (passes > chosen.passes or not least):
            chosen = replace(chosen, max_iter=passes)
        self.learner, self.result = chosen, result


class RaceRows:
    """Rows from all over a reading in the forms that are tried."""

    def __init__(self, reading: Reading, forms: TableForms, constant: float, n_rows: int) -> None:
        self._reading, self._forms, self._constant = reading, forms, constant
        self._drawn = np.arange(n_rows) * reading.n_rows // n_rows
        labels, self._weights = reading.labels(self._drawn)
        self.numbers, groups = reading.met.ranks[labels], reading.kept.groups
        self._groups = None if groups is None else groups[self._drawn]
        self._targets, self._sets = reading.met.targets(labels), reading.met.sets
        self.n_classes = len(reading.classes)
        self._inner: dict[int, Batch] = {}  # by the encoding

    def of_inner(self, name: str) -> Batch:
        """Return the rows as they are before their cells are looked up."""
        inner, ends = self._forms.inner(name), self._reading.kept.indptr
        if id(inner) not in self._inner:
            n, parts = inner.n_features, self._reading.taken(self._drawn)
            rows = (self._forms.encoded(name, part).csr(n, self._constant) for part in parts)
            held = gathered(rows, int((ends[self._drawn + 1] - ends[self._drawn]).sum()))
            self._inner[id(inner)] = Batch(held.data, held.indices, held.indptr, n_features=n)
        return self._inner[id(inner)]

    def coded(self, name: str, numbers: NDArray[Any]) -> CodedRows:
        """Return some rows with the grids that they have."""
        return self._forms.coded(name, taken(self.of_inner(name), numbers))

    def made(self, fitted: FittedForm) -> EncodedRows:
        """Return all rows in a form."""
        rows = self.of_inner(fitted.name)
        rows = rows if fitted.name == PLAIN else fitted.encoding.expand(rows)
        csr = rows.csr(fitted.encoding.n_features, self._constant)
        examples = Examples(csr, self._targets, self._weights, sets=self._sets)
        return EncodedRows(examples, self.numbers, self.n_classes, groups=self._groups)


class FormRaceSize(NamedTuple):
    """How many rows a race of forms has, and how they are divided."""

    n_rows: int  # that it takes
    n_parts: int
    n_folds: int  # parts that are judged

    @classmethod
    def affordable(cls, reading: Reading, forms: TableForms) -> "FormRaceSize | None":
        """Return the size of a race of forms; None where there is one form, or none is so cheap."""
        if len(forms.names) == 1 and not forms.pairs:
            return None
        n_rows, n_classes = reading.n_rows, len(reading.classes)
        own = len(reading.kept.indices) / n_rows + 1.0
        classes = 1.0 if n_classes == 2 else n_classes / CLASSES_AT_ONCE
        cost = (own + forms.most_added) * classes * FORM_PASSES
        budget = max(LEAST_FORM_COST, BOOSTED * n_rows * own * n_classes)
        affordable = int(budget / cost)
        if affordable < min(n_rows, FEWEST_FIRST):
            return None
        return cls.of_rows(n_rows, affordable)

    @classmethod
    def of_rows(cls, n_rows: int, affordable: int = 1 << 62) -> "FormRaceSize":
        """Return the size for so many rows, of which as many may be learned from.

        >>> FormRaceSize.of_rows(700)
        FormRaceSize(n_rows=700, n_parts=5, n_folds=5)
        >>> FormRaceSize.of_rows(5_000)
        FormRaceSize(n_rows=5000, n_parts=3, n_folds=1)
        >>> FormRaceSize.of_rows(1_000_000)
        FormRaceSize(n_rows=16000, n_parts=2, n_folds=1)
        """
        if n_rows < FEW_ROWS:
            parts = 5 if n_rows < VERY_FEW else 3
            return cls(n_rows, parts, max(min(parts, affordable // n_rows), 1))
        learned = min(MOST_LEARNED, affordable)
        judged = min(max(n_rows // 3, VERY_FEW), MOST_JUDGED, learned)
        drawn = min(judged + learned, n_rows)
        return cls(drawn, max(round(drawn / judged), 2), 1)


class FormRace:
    """A finished race of forms, each with the learners that suit it.

    Rows as they are and with bins run first, then pairs that the rows which are learned from ask
    for; where pairs lead, triples and more pairs with the better of their learners, else few bins.
    A learner is judged after some of its passes, as long as that helps.
    """

    def __init__(
        self,
        reading: Reading,
        forms: TableForms,
        learner: Learner,
        learners: Sequence[Settings],
        size: FormRaceSize,
        metric: str = "error",
    ) -> None:
        self._forms, self._own, self._is_open = forms, learners, len(learners) > 1
        self._rows = RaceRows(reading, forms, learner.constant, size.n_rows)
        self._reading_rows, numbers = reading.n_rows, self._rows.numbers
        self._stops: dict[Candidate, tuple[int, ...]] = {}
        self._pairs: dict[int, list[tuple[int, int]]] = {}  # by fold
        self._rows_coded: dict[tuple[bool, int], CodedRows] = {}
        self._fitted: dict[tuple[str, int], FittedForm] = {}
        self._made: dict[tuple[str, int], EncodedRows] = {}
        self.search = Search(metric, len(numbers), size.n_folds, size.n_parts)
        shared = {name: getattr(learner, name) for name in ("zero", "fit_intercept", "task")}
        shared |= {"shuffle": bool(learner.shuffle), "random_state": learner.random_state}
        base = self._rows.made(forms.as_it_is)
        if base.groups is not None:
            few = RaceSize(len(numbers), size.n_folds, size.n_parts, 1.0).of_groups(base.groups)
            self.search = Search(metric, len(numbers), few.n_folds, few.n_parts)
        how: Any = kept_by(metric) | {"stops": self._stops.__getitem__}
        self._judge = RowJudge(self._encoded, base, self.search, shared, **how)
        halving(self.search, self._rungs(), self._judge)
        if self.search.ending == "interrupted":
            raise KeyboardInterrupt

    def _encoded(self, way: Settings, fold: int) -> EncodedRows:
        """Return all rows in a form that knows those which are learned from."""
        key = str(dict(way)["form"]), fold
        if key not in self._made:
            self._made[key] = self._rows.made(self._form(*key))
        return self._made[key]

    def _form(self, name: str, fold: int) -> FittedForm:
        """Return a form that knows the rows which are learned from, pairs by their classes."""
        if (name, fold) not in self._fitted:
            made = self._forms.as_it_is
            if name != PLAIN:
                coded = self._coded(name, fold)
                made = self._forms.fitted(name, coded, self._pairs_of(name, coded, fold))
            self._fitted[name, fold] = made
        return self._fitted[name, fold]

    def _coded(self, name: str, fold: int) -> CodedRows:
        key = name == FEW_BINS, fold
        if key not in self._rows_coded:
            self._rows_coded[key] = self._rows.coded(name, self._judge.folds[fold][0])
        return self._rows_coded[key]

    def _pairs_of(self, name: str, coded: CodedRows, fold: int) -> list[tuple[int, int]]:
        if name in WITH_PAIRS and fold not in self._pairs:
            numbers = self._rows.numbers[self._judge.folds[fold][0]]
            self._pairs[fold] = self._forms.picked_pairs(coded, numbers, self._rows.n_classes)
        return self._pairs.get(fold, [])

    def _rungs(self) -> Iterator[Rung]:
        names = self._forms.names
        yield 1.0, lambda _: self._pool([name for name in names if name in (PLAIN, BINS)])
        if PAIRS in names:
            yield 1.0, lambda _: self._pool([PAIRS])
        yield 1.0, self._last_pool

    def _last_pool(self, search: Search) -> list[Candidate]:
        """Return richer forms where pairs lead, else the simplest one with bins."""
        best = search.best
        if best is None or _form_of(best) != PAIRS:
            return self._pool([FEW_BINS] if FEW_BINS in self._forms.names else [])
        first = self._form(PAIRS, 0).encoding
        richer = [name for name in (TRIPLES, MORE_PAIRS) if name in self._forms.names]
        new = [
            name for name in richer if self._form(name, 0).encoding.n_features > first.n_features
        ]
        rule = dict(best.candidate.learner)["rule"]
        return self._pool(new, rule, best.passes / 2.0)

    def _pool(self, names: Sequence[str], rule: str = "", least: float = 0.0) -> list[Candidate]:
        """Return the learners of some forms, those of a rule alone, with the passes to judge."""
        self._made.clear()
        pool = []
        for name in names:
            way: Settings = (("form", name),)
            for learner, stops in self._learners(name):
                if not rule or dict(learner)["rule"] == rule:
                    candidate = Candidate(learner, way)
                    self._stops[candidate] = tuple(n for n in stops if n >= least)
                    pool.append(candidate)
        return pool

    def _learners(self, name: str) -> list[tuple[Settings, tuple[int, ...]]]:
        """Return the learners of a form and the passes after which each is judged."""
        n = self._reading_rows
        if not self._is_open:
            orders = [RULES[dict(own)["rule"]].order for own in self._own]
            return [*zip(self._own, ([(2, 5, 10), (2, 5)][k - 1] for k in orders), strict=True)]
        own = [(one, PLAIN_PASSES.get(one, (PASSES[1],))) for one in self._own]
        own += [one for one in PLAIN_PASSES.items() if one[0] not in self._own]
        if name == PLAIN and BINS in self._forms.names:
            return own
        n_blocks = max(self._form(name, k).n_blocks for k in range(self.search.folds))
        gentle: Settings = (("rule", "pa1"), ("C", float(f"{GENTLE / n_blocks:.2g}")))
        stops = ((5, 20), (5, 20)) if n < VERY_FEW else ((2, 5, 10), (5, 10, 20))
        added = [*zip((gentle, EAGER), stops, strict=True)]
        added += [(LAST, (5,))] if name == BINS else []
        return added if name != PLAIN else [*own, *added]

    @property
    def best(self) -> Trial | None:
        """The chosen trial; None if all overflow.

        Of the best of each form the simplest that is not worse than the best by more than a part
        of a standard error; where the race saw a sample of the rows, the richest. A form of many
        terms has to be better than all others by a standard error. Of few rows the first learner of
        the form that is not worse by one.
        """
        ranked = self.search.ranked()
        if not ranked or not np.isfinite(ranked[0].mean):
            return None
        best = {_form_of(one): one for one in reversed(ranked) if np.isfinite(one.mean)}
        order = [best[name] for name in FORMS if name in best]
        form = _form_of(self._readable(order))
        own = [one for one in ranked if _form_of(one) == form and np.isfinite(one.mean)]
        if self._reading_rows >= FEW_ROWS:
            return own[0]
        places = {candidate: k for k, candidate in enumerate(self._stops)}
        order = sorted(own, key=lambda one: places[one.candidate])
        return next(one for one in order if self._behind(one, own[0]) <= FEW_ROWS_MARGIN)

    def _readable(self, order: Sequence[Trial]) -> Trial:
        """Return the favoured trial; one of many terms where it is better by a standard error."""
        top = self._favoured(order)
        few = [one for one in order if self._form(_form_of(one), 0).n_terms <= MOST_READ]
        if not few or top in few:
            return top
        readable = self._favoured(few)
        return top if self._behind(readable, top) > STANDARD_ERRORS else readable

    def _favoured(self, order: Sequence[Trial]) -> Trial:
        least = max(order, key=self.search.goodness)
        margin = FEW_ROWS_MARGIN if self._reading_rows < VERY_FEW else MARGIN
        rich_first = self._reading_rows >= SAMPLED
        within = (one for one in (order[::-1] if rich_first else order))
        return next(one for one in within if self._behind(one, least) <= margin)

    def _behind(self, one: Trial, better: Trial) -> float:
        """Return by how many standard errors of the difference a trial is worse."""
        losses = [kept_losses(self._judge, self.search, trial) for trial in (one, better)]
        if self.search.metric != "error":
            return behind_by_draws(self._judge, self.search.folds, *losses)
        gain = losses[0] - losses[1]
        return _in_errors(float(gain.mean()), float(gain.std()) / math.sqrt(len(gain)))

    def result(self, best: Trial) -> RaceResult:
        """Return the result of the race."""
        first = dict(self._own[0])
        names: dict[Settings, str] = {(("form", name),): self._forms.title(name) for name in FORMS}
        tried = [_tried(trial, first, names, self.search.metric) for trial in self.search.ranked()]
        chosen, form = _name(best.candidate, first, names), names[best.candidate.encoding]
        n_rows = len(kept_losses(self._judge, self.search, best))
        return RaceResult(chosen, n_rows, tried, form, self.search.metric)


def kept_by(metric: str) -> dict[str, Any]:
    """Return what a judge keeps of rows: whether each is wrong, or scores for another metric."""
    return {"weighted": metric == "error", "kept": metric != "error"}


def kept_losses(
    judge: RowJudge, search: Search, trial: Trial, passes: int | None = None
) -> NDArray[Any]:
    """Return what is kept of the judged rows of all folds, by default after the best pass."""
    own = (judge.losses[trial.candidate, trial.share, k] for k in range(search.folds))
    passes = passes or trial.passes
    return np.concatenate([kept[min(passes, len(kept)) - 1] for kept in own])


def behind_by_draws(
    judge: RowJudge, n_folds: int, one: NDArray[Any], better: NDArray[Any]
) -> float:
    """Return by how many standard errors a metric of scores is worse: those of rows drawn again."""
    numbers = np.concatenate([judge.folds[k][1] for k in range(n_folds)])
    sign, generator = METRICS[judge.metric].sign, np.random.default_rng(0)
    n = len(numbers)
    rows = [np.arange(n), *(generator.integers(0, n, n) for _ in range(DRAWS))]
    gains = [
        sign * (judge.measure(better[own], numbers[own]) - judge.measure(one[own], numbers[own]))
        for own in rows
    ]
    return _in_errors(gains[0], float(np.std(gains[1:])))


def _in_errors(gain: float, error: float) -> float:
    return gain / error if error else math.copysign(math.inf, gain) if gain else 0.0


def _form_of(trial: Trial) -> str:
    return str(dict(trial.candidate.encoding)["form"])


class HeldRace:
    """A finished race: the losses of its candidates, and the best of them."""

    def __init__(
        self,
        pool: Sequence[Candidate],
        rows: RowMaker,
        size: "RaceSize",
        learner: Learner,
        metric: str = "error",
    ) -> None:
        self._pool, base = pool, rows(pool[0].encoding)
        size = size if base.groups is None else size.of_groups(base.groups)
        self.search = Search(metric, len(base.numbers), size.n_folds, size.n_parts)
        shared = {name: getattr(learner, name) for name in ("zero", "fit_intercept")}
        shared |= {"shuffle": bool(learner.shuffle), "random_state": learner.random_state}
        shared["task"] = learner.task
        made = cache(rows)
        how = kept_by(metric)
        self._judge = RowJudge(lambda way, _: made(way), base, self.search, shared, PASSES, **how)
        halving(self.search, _rungs(pool, size.first_share), self._judge)
        if self.search.ending == "interrupted":
            raise KeyboardInterrupt

    @property
    def best(self) -> Trial | None:
        """The first candidate of the simplest form that none surpasses; None if all overflow."""
        last = [trial for trial in self.search.ranked() if trial.share == 1.0]
        if not np.isfinite(last[0].mean):  # an overflow is to be met where it counts
            return None
        order = {candidate: number for number, candidate in enumerate(self._pool)}
        best = {one.candidate.encoding: one for one in reversed(last)}
        forms = sorted(best.values(), key=lambda trial: order[trial.candidate])
        form = self._first(forms).candidate.encoding
        own = [trial for trial in last if trial.candidate.encoding == form]
        return self._first(sorted(own, key=lambda trial: order[trial.candidate]))

    def _first(self, trials: Sequence[Trial]) -> Trial:
        """Return the first of some trials that the best of them does not surpass."""
        best = max(trials, key=self.search.goodness)
        return next(trial for trial in trials if not self.surpasses(best, trial))

    def surpasses(self, better: Trial, worse: Trial, passes: int | None = None) -> bool:
        """Return whether a trial is better than another after these passes by a standard error."""
        losses = self.losses(better), self.losses(worse, passes)
        if self.search.metric == "error":
            return _surpasses(*losses)
        return behind_by_draws(self._judge, self.search.folds, *losses[::-1]) > STANDARD_ERRORS

    def losses(self, trial: Trial, passes: int | None = None) -> NDArray[Any]:
        """Return the loss of each judged row after this number of passes, by default the best."""
        return kept_losses(self._judge, self.search, trial, passes)

    def result(self, best: Trial, names: Mapping[Settings, str]) -> RaceResult:
        """Return the result, with the names of forms."""
        first = dict(self._pool[0].learner)
        tried = [_tried(trial, first, names, self.search.metric) for trial in self.search.ranked()]
        chosen = _name(best.candidate, first, names)
        form, metric = names[best.candidate.encoding], self.search.metric
        return RaceResult(chosen, len(self.losses(best)), tried, form, metric)


Raced = tuple[TrainingFiles, RaceResult | None]  # files that are read as a race decided


def race_of_texts(
    source: TrainingFiles, learner: Learner, learners: Sequence[Settings], metric: str = "error"
) -> Raced:
    """Try words of texts, runs of characters, and both; have the texts read as is best."""
    begun, said = source.begun, source.columns
    is_open = said.char_ngrams is None and said.words is not False
    if begun is None or not begun.fit.has_text or not is_open:
        return source, None
    passes = sum(PASSES[RULES[dict(own)["rule"]].order] for own in learners)
    sample, n_classes = begun.text_sample(TEXT_COST / passes, TEXT_ROWS, TEXT_BYTES)
    n_rows, (low, high) = sample.frame.height, USUAL_NGRAMS
    if n_rows < FEWEST_ROWS:
        return source, None
    both = f"words and {low} to {high} characters"
    names: dict[Settings, str] = {
        (("words", True), ("char_ngrams", (0, 0))): "words",
        (("words", False), ("char_ngrams", USUAL_NGRAMS)): f"{low} to {high} characters",
        (("words", True), ("char_ngrams", USUAL_NGRAMS)): both,
    }
    if said.words:
        del names[("words", False), ("char_ngrams", USUAL_NGRAMS)]
    n_bytes = sample.frame.estimated_size() * (n_classes if n_classes > 2 else 1)
    folds = min(int(TEXT_COST / (passes * n_bytes)), FOLDS, -(-FOLDS * TEXT_JUDGED // n_rows)) or 1
    size = RaceSize(n_rows, folds, FOLDS if folds > 1 else TEXT_PARTS, 1.0)
    held = _held_sample(begun, sample, [*names], learner, learners, lambda *_: size, metric)
    best = None if held is None else held.best
    if held is None or best is None:
        return source, None
    return source.with_columns(**dict(best.candidate.encoding)), held.result(best, names)


def race_of_parts(
    source: TrainingFiles, learner: Learner, learners: Sequence[Settings], metric: str = "error"
) -> Raced:
    """Try columns of texts and the others without each other; leave out what does harm."""
    begun, said = source.begun, source.columns
    texts, others = begun.parts if begun is not None else ([], [])
    if begun is None or not texts or not others:
        return source, None
    passes = sum(PASSES[RULES[dict(own)["rule"]].order] for own in learners)
    sample, _ = begun.text_sample(TEXT_COST / passes, TEXT_ROWS, TEXT_BYTES)
    n_rows = sample.frame.height
    if n_rows < FEWEST_ROWS:
        return source, None
    may_have_bins = said.bins is None and not said.hash_bits
    form: Settings = (("bins", default_bins(n_rows)),) if may_have_bins else ()
    parts = {"table and texts": [], "table": texts, "texts": others}
    names: dict[Settings, str] = {
        (*form, ("ignore", tuple(left))): name for name, left in parts.items()
    }
    folds = 1 if n_rows > TEXT_JUDGED else FOLDS
    size = RaceSize(n_rows, folds, FOLDS if folds > 1 else TEXT_PARTS, 1.0)
    held = _held_sample(begun, sample, [*names], learner, learners, lambda *_: size, metric)
    best = None if held is None else held.search.best
    if held is None or best is None or not np.isfinite(best.mean):
        return source, None
    left = dict(best.candidate.encoding)["ignore"]
    return source.without(left, BETTER_WITHOUT), held.result(best, names)


def race_of_codes(
    source: TrainingFiles, learner: Learner, learners: Sequence[Settings], metric: str = "error"
) -> Raced:
    """Try whole numbers of few values as categories; have them read so if that helps.

    Those columns are tried in whose bins the classes differ from value to value.
    """
    begun, said = source.begun, source.columns
    if begun is None:
        return source, None
    sample = begun.sample(CODED_ROWS)
    if sample.frame.height < FEWEST_ROWS:
        return source, None
    able, labels = begun.codes(sample, CODED_VALUES, said.numeric)
    may_have_bins = said.bins is None and not said.hash_bits
    n_bins = default_bins(sample.frame.height) if may_have_bins else said.bins or 1
    least = max(FEWEST_DEVIATIONS, math.sqrt(2.0 * math.log(max(len(able), 1))))
    found = {name: _unlike_values(own, labels, n_bins) for name, own in able.items()}
    codes = sorted((name for name in found if found[name] > least), key=lambda k: -found[k])
    codes = codes[:MOST_CODED]
    if not codes:
        return source, None
    plain: Settings = (("bins", n_bins),) if may_have_bins else ()
    coded: Settings = (*plain, ("category", tuple(codes)))
    held = _held_sample(
        begun, sample, (plain, coded), learner, learners, RaceSize.affordable, metric
    )
    best = None if held is None else held.best
    if held is None or best is None:
        return source, None
    if best.candidate.encoding == coded:
        source = source.with_columns(category=(*said.category, *codes))
    kind = "as a category" if len(codes) == 1 else "as categories"
    names = {plain: "numbers", coded: f"{word_list(map(repr, codes))} {kind}"}
    return source, held.result(best, names)


def _unlike_values(numbers: NDArray[Any], labels: NDArray[Any], n_bins: int) -> float:
    """Return by how many standard deviations classes differ between the values of a bin.

    With n rows of a value and p the share of a class in its bin, Σ (count − n·p)²/(n·p) has about
    the mean f and the variance 2f by chance, where f are the degrees of freedom of all bins.
    """
    present = np.isfinite(numbers)
    numbers, labels, n_classes = numbers[present], labels[present], int(labels.max()) + 1
    values, codes = np.unique(numbers, return_inverse=True)
    counts = np.bincount(codes * n_classes + labels, minlength=len(values) * n_classes)
    counts = counts.reshape(len(values), n_classes)
    bins = np.searchsorted(quantile_edges(numbers, n_bins), values, side="right")
    of_bins = np.zeros((int(bins.max()) + 1, n_classes))
    np.add.at(of_bins, bins, counts)
    shares = of_bins / of_bins.sum(axis=1, keepdims=True)
    expected = counts.sum(axis=1, keepdims=True) * shares[bins]
    distance = np.square(counts - expected) / np.maximum(expected, 1e-9)
    freedom = int(((np.bincount(bins) - 1) * ((of_bins > 0).sum(axis=1) - 1)).sum())
    return float(distance.sum() - freedom) / math.sqrt(2.0 * freedom) if freedom else 0.0


def _held_sample(
    begun: Beginning,
    sample: Table,
    ways: Sequence[Settings],
    learner: Learner,
    learners: Sequence[Settings],
    size_of: "Callable[[int, float, float, int], RaceSize | None]",
    metric: str,
) -> HeldRace | None:
    """Return the race of ways to encode a sample; None where too few rows can be afforded."""
    batches = [begun.rows(sample, **dict(way)) for way in ways]
    numbers, classes, groups = batches[0].labels, batches[0].classes, batches[0].groups
    labels, sets = learner.answer.read(classes)
    n_classes = len(labels)
    if n_classes < 2 or (groups is not None and len(np.unique(groups)) < 2):
        return None
    width = max(len(batch.indices) for batch in batches) / len(numbers)
    cost = values_of(width, max(batch.n_features for batch in batches), n_classes)
    size = size_of(len(numbers), *cost, len(ways) * len(learners))
    if size is None or size.n_rows < FEWEST_ROWS:
        return None
    drawn = np.arange(size.n_rows) * len(numbers) // size.n_rows
    numbers, groups = numbers[drawn], None if groups is None else groups[drawn]
    targets = task_of(learner.task, n_classes).targets(numbers)
    encoded = {}
    for way, batch in zip(ways, batches, strict=True):
        rows = take(batch.csr(batch.n_features, learner.constant), drawn)
        encoded[way] = EncodedRows(
            Examples(rows, targets, sets=sets), numbers, n_classes, groups=groups
        )
    pool = [Candidate(own, way) for way in ways for own in learners]
    return HeldRace(pool, encoded.__getitem__, size, learner, metric)


def values_of(width: float, n_features: int, n_classes: int) -> tuple[float, float]:
    """Return the cost of a row of this width, in weights, and the number of weights.

    The classes of a feature stand side by side: where all weights stay in the cache, three of them
    take the time of one.
    """
    n_weights = n_features * (n_classes if n_classes > 2 else 1)
    near = n_weights <= CACHED and n_classes > 2
    return width * n_weights / max(n_features, 1) / (3.0 if near else 1.0), n_weights


class RaceSize(NamedTuple):
    """How large a race is."""

    n_rows: int  # that it takes
    n_folds: int  # of them that are tried
    n_parts: int  # of how many
    first_share: float  # of the rows on which all candidates run; 1.0: there is no first rung

    def of_groups(self, groups: NDArray[np.uint64]) -> "RaceSize":
        """Return the size for rows in groups: no more parts than these, one test of validation."""
        n_parts = min(self.n_parts, len(np.unique(groups)))
        n_folds = 1 if (groups == np.uint64(VALIDATION)).any() else min(self.n_folds, n_parts)
        return self._replace(n_folds=n_folds, n_parts=n_parts)

    @classmethod
    def affordable(
        cls,
        n_rows: int,
        width: float,
        n_weights: float,
        n_candidates: int,
        least: float = LEAST_COST,
    ) -> "RaceSize | None":
        """Return the largest race that costs no more than it may; None where none is so cheap.

        ``width`` is the number of weights that a pass looks at for a row.

        >>> RaceSize.affordable(1_000, 10.0, 10, 10)
        RaceSize(n_rows=1000, n_folds=5, n_parts=5, first_share=1.0)
        >>> RaceSize.affordable(250_000, 60.0, 300, 10)
        RaceSize(n_rows=81982, n_folds=1, n_parts=8, first_share=0.3333333333333333)
        >>> RaceSize.affordable(4_000, 6_000.0, 40_000_000, 3)
        """
        most = max(least, COST * n_rows * width)
        few = n_candidates <= FINALISTS or FIRST_SHARE * n_rows < FEWEST_FIRST
        share = 1.0 if few else FIRST_SHARE
        for folds in range(FOLDS, 0, -1):
            first = n_candidates * (folds if few else min(folds, FIRST_FOLDS))
            last = 0 if few else FINALISTS * folds
            room = most - (first + last) * WEIGHT_COST * n_weights
            learned = room / (width * PASSES[1] * (first * share + last))
            if learned >= n_rows:
                return cls(n_rows, folds, FOLDS, share)
        if learned < FEWEST_FIRST:
            return None
        judged = min(max(n_rows // 10, JUDGED[0]), JUDGED[1], int(learned) // 3)
        n_drawn = min(int(min(learned, MOST_SEEN)) + judged, n_rows)
        return cls(n_drawn, 1, n_drawn // judged, share)


def _rungs(pool: Sequence[Candidate], first_share: float) -> Iterator[Rung]:
    """Yield the rungs: all candidates on a part of the rows, the best of each form on all."""
    if first_share < 1.0:
        yield first_share, lambda _: pool
    yield 1.0, lambda search: _finalists(pool, search) if search.trials else pool


def _finalists(pool: Sequence[Candidate], search: Search) -> list[Candidate]:
    """Return the first candidate and the two best of each form."""
    ranked = [trial.candidate for trial in search.ranked()]
    forms = dict.fromkeys(one.encoding for one in ranked)
    best = [[one for one in ranked if one.encoding == form][:2] for form in forms]
    return list(dict.fromkeys([pool[0], *(one for some in best for one in some)]))


def _surpasses(better: NDArray[Any], worse: NDArray[Any]) -> bool:
    """Return whether losses are smaller by more than a standard error of the difference."""
    gain = worse - better
    return bool(gain.sum() > STANDARD_ERRORS * math.sqrt(float(np.square(gain).sum())))


def _tried(
    trial: Trial, first: Mapping[str, Any], names: Mapping[Settings, str], metric: str
) -> dict[str, Any]:
    """Return what a race says of a trial, as what JSON can hold."""
    return {
        "name": _name(trial.candidate, first, names),
        metric: trial.mean,
        "share": trial.share,
        "passes": trial.passes,
        **trial.candidate.parameters,
    }


def _name(candidate: Candidate, first: Mapping[str, Any], names: Mapping[Settings, str]) -> str:
    """Return the name of a recipe: its form, and where its learner differs from the first."""
    given, form = dict(candidate.learner), names[candidate.encoding]
    rule = given["rule"]
    words = [] if rule == first["rule"] else [RULES[rule].title.rpartition("(")[2].rstrip(")")]
    words += [f"{name} {value:g}" for name, value in given.items() if isinstance(value, float)]
    return ", ".join([form, " ".join(words)]) if words else form

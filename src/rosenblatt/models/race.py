"""The race of recipes: the search of ``tune``, with few ways to learn, before a training begins."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import VALIDATION, first_values
from rosenblatt.data.batch import join as joined
from rosenblatt.data.conjunctions import ColumnPairs
from rosenblatt.data.encoding import ConjoinedEncoding, TableEncoding
from rosenblatt.data.encoding.features import Columns
from rosenblatt.data.encoding.kinds import USUAL_NGRAMS
from rosenblatt.data.encoding.numbers import RowSample, quantile_edges
from rosenblatt.data.files import BETTER_WITHOUT, Beginning, Encoding, TrainingFiles
from rosenblatt.data.tables.table import Table
from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.shapes import gathered, take
from rosenblatt.models.column_pairs import offered_pairs
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
from rosenblatt.training.examples import Examples
from rosenblatt.training.streaming import Form, Reading
from rosenblatt.wording import counted, percent, word_list

# Chosen on splits of the training rows of real data: see docs/defaults.md.
FEW_ROWS = 5_000  # with fewer, 10 bins do better than 20
FEWEST_ROWS = 100  # with fewer, nothing is tried
# What a race may cost, in values of rows times classes times passes: 0.1 s, or about as much as the
# training that follows. Counts and no clock, so that the choice is the same everywhere.
LEAST_COST = 80_000_000
LEAST_TEXT_COST = 400_000_000
COST = 12  # passes over all rows
MOST_LEARNED = 100_000  # rows
MOST_PAIRED = 20_000  # rows by which pairs of columns are chosen
JUDGED = 2_000, 10_000  # rows, where not all are judged in turn: a tenth of all between these
FOLDS = 5  # of rows that are judged in turn by what was learned from the others
FIRST_SHARE = 1 / 3  # of the rows on which all candidates are tried
FIRST_FOLDS = 2
CACHED = 1 << 17  # weights
WEIGHT_COST = 10  # of a weight in all passes of a trial, beside what rows cost
FEWEST_FIRST = 1_000  # of them; with fewer all candidates run on all rows
FINALISTS = 5  # about
PASSES = {1: 5, 2: 5}
PAIR_LEARNERS: tuple[Settings, ...] = (
    (("rule", "pa1"), ("C", 0.01)),
    (("rule", "pa1"), ("C", 0.1)),
    (("rule", "arow"), ("r", 100.0)),
)
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

RowMaker = Callable[[Settings], EncodedRows]  # by encoding, each made once


class Offer(NamedTuple):
    """A form in which the rows of a reading can be learned from."""

    name: str  # in plain words
    settings: Settings  # parameters of ``train_files`` that ask for it; of no two the same
    encoding: Encoding
    form: Form  # gives blocks this encoding
    n_added: float = 0.0  # values in a row, beside those that its block has
    learners: tuple[Settings, ...] = ()  # to be tried with it where the learner is open


@dataclass(frozen=True)
class RaceResult:
    """What a race found."""

    chosen: str
    n_rows: int  # that were judged
    tried: list[dict[str, Any]]  # name, error, parameters and passes; on the most rows, best first
    form: str  # how its rows are encoded, whoever learns from them later

    @property
    def words(self) -> str:
        """One line for people."""
        last = [one for one in self.tried if one["share"] == 1.0]
        last.sort(key=lambda one: one["name"] != self.chosen)
        best = {one["name"].partition(",")[0]: one for one in reversed(last)}  # of each form
        shown = sorted(best.values(), key=lambda one: float(one["error"]))
        errors = ", ".join(f"{one['name']} {percent(one['error'])}" for one in shown)
        recipes = counted(len(self.tried), "recipe")
        rows = counted(self.n_rows, "row")
        return (
            f"{recipes}, judged on {rows} that they had not seen; the best of each form: {errors}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return {"chosen": self.chosen, "rows": self.n_rows, "tried": self.tried}


def default_bins(n_rows: int) -> int:
    """Return the default number of bins.

    >>> default_bins(1_000), default_bins(20_000)
    (10, 20)
    """
    return 10 if n_rows < FEW_ROWS else 20


def offers(
    source: TrainingFiles, reading: Reading, said: Columns, learner: Learner
) -> Iterator[Offer]:
    """Yield the encodings that the blocks of a reading can have, the simplest first.

    The first is that of the files. Where pairs of columns are asked for, they are the one form.
    """
    encoding: Any = source.encoding
    asked, table = said.column_pairs, encoding.table
    name = "plain" if table is None or table.settings.bins is None else "bins"
    plain = Offer(name, (), encoding, source.encoded, -source.n_rare)
    if not asked:
        yield plain
    can_have_bins = table is not None and table.n_numeric and not table.settings.hash_bits
    if said.bins is None and isinstance(encoding, TableEncoding) and can_have_bins:
        sample = RowSample(encoding.n_numeric)
        for blocks in reading.stored():
            numbers = first_values(blocks.data, blocks.indptr, encoding.n_numeric)
            sample.add(numbers[blocks.learnable])
        n_bins = default_bins(reading.n_rows)
        binned = encoding.with_bins(n_bins, sample.edges(n_bins))
        form, n_added = partial(source.encoded, encoding=binned), encoding.n_numeric
        plain = Offer("bins", (("bins", n_bins),), binned, form, plain.n_added + n_added)
        if not asked:
            yield plain
    is_open = asked is None and said.bins != 0 and isinstance(encoding, TableEncoding)
    is_open = is_open and learner.answer.races
    if asked or (is_open and reading.n_rows >= FEWEST_ROWS):
        yield from _paired(source, reading, plain, asked, learner)


def _paired(
    source: TrainingFiles, reading: Reading, base: Offer, asked: Any, learner: Learner
) -> Iterator[Offer]:
    """Yield a form with pairs of columns beside it; where none stands out, the form."""
    encoding = base.encoding
    if not isinstance(encoding, TableEncoding):
        named = Parameter("column_pairs")
        raise InputError(f"{named} needs named columns; svmlight files have none.")
    owners = encoding.owners()
    if asked is None and (owners is None or np.count_nonzero(np.bincount(owners + 1)[1:]) < 2):
        return  # features are hashed, or there is no pair of columns, as in files of texts
    n_rows = reading.n_rows - reading.n_validation
    drawn = np.arange(0, n_rows, -(-n_rows // MOST_PAIRED))
    rows = joined([base.form(part) for part in reading.taken(drawn)])
    numbers, n_classes = reading.met.ranks[reading.labels(drawn)[0]], len(reading.classes)
    found = offered_pairs(encoding, owners, rows, numbers, n_classes, asked, learner)

    def offer(n: int, pairs: ColumnPairs) -> Offer:
        words, conjoined = counted(n, "pair"), ConjoinedEncoding(encoding, 2, pairs)
        return Offer(
            f"bins with {words}" if base.name == "bins" else words,
            (*base.settings, ("column_pairs", n)),
            conjoined,
            partial(source.encoded, encoding=conjoined),
            base.n_added + n,
            () if asked else PAIR_LEARNERS,
        )

    yield from [offer(n, pairs) for n, pairs in found.items()] or [base] * bool(asked)


class Race:
    """Tries recipes on the rows of a reading before they are learned from.

    A recipe is a learner with a form of the rows. All learn from the same rows and are judged on
    the same others: all rows in turn where there are few. The simplest form is chosen whose best
    learner is not surpassed by more than one standard error of the difference, and with it the
    first learner of which the same is true.
    """

    def __init__(
        self,
        learner: Learner,
        learners: Sequence[Settings],
        offers: Callable[[Reading], Iterator[Offer]],
    ) -> None:
        self.learner = learner  # the chosen one, once the race is over
        self.result: RaceResult | None = None
        self.learners, self._offers = learners, offers
        self.all_passes = True  # whether later passes of the chosen learner do no harm
        self.offer: Offer | None = None  # the chosen form, once the race is over

    @property
    def form(self) -> Form | None:
        """What gives rows the chosen form; None where it is the one that they need anyway."""
        return self.offer.form if self.offer is not None and self.offer.settings else None

    def __call__(self, reading: Reading) -> Learner:
        """Choose the learner, and the form in which the rows of a reading are finished."""
        reading.check_classes()
        few = reading.n_rows < FEWEST_ROWS
        offered = self._offers(reading)
        forms = {offer.settings: offer for offer in (islice(offered, 1) if few else offered)}
        is_open = len(self.learners) > 1
        pool = [
            Candidate(learner, encoding)
            for encoding, offer in forms.items()
            for learner in (is_open and offer.learners) or self.learners
        ]
        if len(pool) > 1 and not few:
            added = sum(offer.n_added for offer in forms.values()) / len(forms)
            width = len(reading.kept.indices) / reading.n_rows + 1.0 + added
            n_features = max(offer.encoding.n_features for offer in forms.values())
            cost = values_of(width, n_features, len(reading.classes))
            least = LEAST_COST
            if any(one.encoding.table and one.encoding.table.has_text for one in forms.values()):
                least = LEAST_TEXT_COST
            size = RaceSize.affordable(reading.n_rows, *cost, len(pool), least)
            if size is not None:
                rows = _race_rows(reading, forms, self.learner.constant, size.n_rows)
                self._choose(HeldRace(pool, rows, size, self.learner), forms)
        self.offer = self.offer or next(iter(forms.values()))
        return self.learner

    def _choose(self, held: "HeldRace", forms: dict[Settings, Offer]) -> None:
        best = held.best
        if best is None:
            return
        values = dict(best.candidate.learner)
        kept = {"rule": values.pop("rule"), "memory": values.pop("memory", ""), "values": values}
        self.learner = replace(self.learner, **kept)
        self.all_passes = not _surpasses(held.losses(best), held.losses(best, PASSES[2]))
        self.offer = forms[best.candidate.encoding]
        self.result = held.result(best, {form: offer.name for form, offer in forms.items()})


class HeldRace:
    """A finished race: the losses of its candidates, and the best of them."""

    def __init__(
        self, pool: Sequence[Candidate], rows: RowMaker, size: "RaceSize", learner: Learner
    ) -> None:
        self._pool, base = pool, rows(pool[0].encoding)
        size = size if base.groups is None else size.of_groups(base.groups)
        self.search = Search("error", len(base.numbers), size.n_folds, size.n_parts)
        shared = {name: getattr(learner, name) for name in ("zero", "fit_intercept")}
        shared |= {"shuffle": bool(learner.shuffle), "random_state": learner.random_state}
        shared["task"] = learner.task
        self._judge = RowJudge(rows, base, self.search, shared, PASSES, weighted=True)
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
        least = self.losses(min(trials, key=lambda trial: trial.mean))
        return next(trial for trial in trials if not _surpasses(least, self.losses(trial)))

    def losses(self, trial: Trial, passes: int | None = None) -> NDArray[Any]:
        """Return the loss of each judged row after this number of passes, by default the best."""
        one, share = trial.candidate, trial.share
        folds = (self._judge.losses[one, share, fold] for fold in range(self.search.folds))
        passes = passes or trial.passes
        return np.concatenate([losses[min(passes, len(losses)) - 1] for losses in folds])

    def result(self, best: Trial, names: Mapping[Settings, str]) -> RaceResult:
        """Return the result, with the names of forms."""
        first = dict(self._pool[0].learner)
        tried = [
            {
                "name": _name(trial.candidate, first, names),
                "error": trial.mean,
                "share": trial.share,
                "passes": trial.passes,
                **trial.candidate.parameters,
            }
            for trial in self.search.ranked()
        ]
        chosen = _name(best.candidate, first, names)
        return RaceResult(chosen, len(self.losses(best)), tried, names[best.candidate.encoding])


Raced = tuple[TrainingFiles, RaceResult | None]  # files that are read as a race decided


def race_of_texts(source: TrainingFiles, learner: Learner, learners: Sequence[Settings]) -> Raced:
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
    held = _held_sample(begun, sample, [*names], learner, learners, lambda *_: size)
    best = None if held is None else held.best
    if held is None or best is None:
        return source, None
    return source.with_columns(**dict(best.candidate.encoding)), held.result(best, names)


def race_of_parts(source: TrainingFiles, learner: Learner, learners: Sequence[Settings]) -> Raced:
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
    held = _held_sample(begun, sample, [*names], learner, learners, lambda *_: size)
    best = None if held is None else held.search.best
    if held is None or best is None or not np.isfinite(best.mean):
        return source, None
    left = dict(best.candidate.encoding)["ignore"]
    return source.without(left, BETTER_WITHOUT), held.result(best, names)


def race_of_codes(source: TrainingFiles, learner: Learner, learners: Sequence[Settings]) -> Raced:
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
    held = _held_sample(begun, sample, (plain, coded), learner, learners, RaceSize.affordable)
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
    return HeldRace(pool, encoded.__getitem__, size, learner)


def _race_rows(
    reading: Reading, forms: dict[Settings, Offer], constant: float, n_rows: int
) -> RowMaker:
    """Return a function that gives ``n_rows`` rows of a reading a form."""
    drawn, n_classes = np.arange(n_rows) * reading.n_rows // n_rows, len(reading.classes)
    labels, weights = reading.labels(drawn)
    numbers, groups = reading.met.ranks[labels], reading.kept.groups
    groups, ends = None if groups is None else groups[drawn], reading.kept.indptr

    @cache
    def made(form: Settings) -> EncodedRows:
        offer = forms[form]
        n = offer.encoding.n_features
        parts = (offer.form(part).csr(n, constant) for part in reading.taken(drawn))
        rows = gathered(parts, int((ends[drawn + 1] - ends[drawn]).sum()))
        examples = Examples(rows, reading.met.targets(labels), weights, sets=reading.met.sets)
        return EncodedRows(examples, numbers, n_classes, groups=groups)

    return made


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
        n_drawn = min(int(min(learned, MOST_LEARNED)) + judged, n_rows)
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


def _name(candidate: Candidate, first: Mapping[str, Any], names: Mapping[Settings, str]) -> str:
    """Return the name of a recipe: its form, and where its learner differs from the first."""
    given, form = dict(candidate.learner), names[candidate.encoding]
    rule = given["rule"]
    words = [] if rule == first["rule"] else [RULES[rule].title.rpartition("(")[2].rstrip(")")]
    words += [f"{name} {value:g}" for name, value in given.items() if isinstance(value, float)]
    return ", ".join([form, " ".join(words)]) if words else form

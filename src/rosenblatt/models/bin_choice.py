"""Choose by held-out error whether numeric columns get bins."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.encoding import TableEncoding
from rosenblatt.data.encoding.numbers import NumberBins, RowSample
from rosenblatt.data.files import TrainingFiles
from rosenblatt.errors import WeightOverflowError
from rosenblatt.kernels.shapes import join
from rosenblatt.models.held_out import dealt, fold_scores
from rosenblatt.models.learner import Learner
from rosenblatt.training.examples import Examples, targets_of, winners
from rosenblatt.training.reading import Reading

# Chosen on splits of the training rows of real tables: see docs/defaults.md.
FEW_ROWS = 5_000  # with fewer, 10 bins do better than 20
FEWEST_ROWS = 100  # with fewer, nothing is tried
MOST_ROWS = 20_000  # that are tried, drawn from all over the source
JUDGED = 2_000  # rows whose errors are compared, about; all of fewer
SHARES = 0.1, 0.2  # of the rows that a training holds out
PASSES = 5
STANDARD_ERRORS = 1.0  # by which bins must be better

Form = Callable[[Batch], Batch]


class BinChoice(NamedTuple):
    """What a trial of bins found."""

    n_bins: int
    error: float  # with bins
    plain_error: float
    n_rows: int  # that were judged
    chosen: bool

    @property
    def words(self) -> str:
        """What a person is told."""
        return (
            f"{self.n_bins} for each number: error {100 * self.error:.1f} % on {self.n_rows:,} "
            f"held-out rows, without them {100 * self.plain_error:.1f} %"
        )


class BinOffer(NamedTuple):
    """Two ways to finish the rows of a reading: without bins and with them."""

    n_bins: int
    n_features: int  # with bins
    plain: Form
    binned: Form
    choose: Callable[[], object]  # lets the source finish its rows with bins


def new_bins(source: TrainingFiles, reading: Reading) -> BinOffer | None:
    """Return bins for rows that have been read, if these can have any."""
    encoding = source.encoding
    if not isinstance(encoding, TableEncoding) or not encoding.may_have_bins:
        return None
    sample = RowSample(encoding.n_numeric)
    for rows in reading.stored():
        sample.add(encoding.numbers_of(rows))
    n_bins = default_bins(reading.n_rows)
    edges = sample.edges(n_bins)
    bins = NumberBins.numbered_from(len(encoding.numbering), edges)
    return BinOffer(
        n_bins,
        encoding.n_features + sum(len(own) + 1 for own in edges if len(own)),
        plain=partial(encoding.finished, bins=None),
        binned=partial(encoding.finished, bins=bins),
        choose=partial(encoding.add_bins, n_bins, edges),
    )


def default_bins(n_rows: int) -> int:
    """Return how many bins are tried where nobody says how many.

    >>> default_bins(1_000), default_bins(20_000)
    (10, 20)
    """
    return 10 if n_rows < FEW_ROWS else 20


class BinTrial:
    """Tries bins on the rows of a reading before they are learned from.

    A short training learns with and without bins from the same rows, and both are tried on the
    same others: all rows in turn where there are few. Bins are chosen where they are better by more
    than one standard error of the difference.
    """

    def __init__(self, learner: Learner, offer: Callable[[Reading], BinOffer | None]) -> None:
        self._learner, self._offer = learner, offer
        self.choice: BinChoice | None = None

    def __call__(self, reading: Reading) -> None:
        """Choose the form in which the rows of a reading are finished."""
        reading.check_classes()
        offer = self._offer(reading) if reading.n_rows >= FEWEST_ROWS else None
        if offer is None:
            return
        self.choice = self._choice(offer, reading)
        if self.choice.chosen:
            offer.choose()

    def _choice(self, offer: BinOffer, reading: Reading) -> BinChoice:
        drawn = np.arange(0, reading.n_rows, -(-reading.n_rows // MOST_ROWS))
        labels, weights = reading.labels(drawn)
        numbers, n_classes = reading.ranks[labels], len(reading.classes)
        folds = _folds(len(drawn), self._learner.random_state)
        wrong = []
        for form in (offer.plain, offer.binned):
            parts = (form(part) for part in reading.taken(drawn))
            rows = join([part.csr(offer.n_features, self._learner.constant) for part in parts])
            examples = Examples(rows, targets_of(numbers, n_classes), weights)
            try:
                wrong.append(self._wrong(examples, numbers, n_classes, folds))
            except WeightOverflowError:  # to be met where it counts
                return BinChoice(offer.n_bins, math.nan, math.nan, 0, chosen=False)
        judged = folds >= 0
        weight = np.ones(judged.sum()) if weights is None else weights[judged]
        plain, binned = (weight * found[judged] for found in wrong)
        gain = plain - binned
        better = gain.sum() > STANDARD_ERRORS * math.sqrt(float(np.square(gain).sum()))
        error, plain_error = (float(found.sum() / weight.sum()) for found in (binned, plain))
        n_judged = int(judged.sum())
        return BinChoice(offer.n_bins, error, plain_error, n_judged, chosen=bool(better))

    def _wrong(
        self, examples: Examples, numbers: NDArray[Any], n_classes: int, folds: NDArray[Any]
    ) -> NDArray[np.bool_]:
        """Return which rows of folds are wrong, each by what was learned from the other rows."""
        learner, wrong = self._learner, np.zeros(len(numbers), bool)
        for tried, scores in fold_scores(learner, examples, n_classes, folds, PASSES):
            guess = winners(scores, positive=learner.zero == "positive")
            wrong[tried] = guess != numbers[tried]
        return wrong


def _folds(n_rows: int, seed: Any) -> NDArray[np.int64]:
    """Return for each row the fold in which it is judged, −1 for rows that never are.

    >>> folds = _folds(20_000, 0)
    >>> np.unique(folds, return_counts=True)
    (array([-1,  0]), array([18000,  2000]))
    """
    share = min(max(JUDGED / n_rows, SHARES[0]), SHARES[1])
    n_folds = round(1 / share)
    n_judged = min(n_folds, -(-JUDGED // (n_rows // n_folds)))
    folds = dealt(n_rows, n_folds, seed)
    return np.where(folds < n_judged, folds, -1)

"""Which rows are held out: drawn by a seed, in whole groups, in a file of their own, or in folds.

A model is never judged by rows that it learned from. Every division of rows is made here, for early
stopping, probabilities, thresholds, guarantees, races, folds and pictures; rows of one group are on
one side of it.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from heapq import heapreplace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import VALIDATION, drawn_rows
from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.rows import mixed_words
from rosenblatt.parameters import check_parameters
from rosenblatt.rules import Interval
from rosenblatt.training.examples import Examples, distinct, permute

N_FOLDS = 5
SHARE = Interval(high=1.0)


class Division(NamedTuple):
    """Numbers of rows: those that a model learns from, and those that it is judged by."""

    learned: NDArray[np.int64]
    tried: NDArray[np.int64]

    @classmethod
    def of(cls, tried: NDArray[np.bool_]) -> "Division":
        """Return the division of successive rows."""
        return cls(np.flatnonzero(~tried), np.flatnonzero(tried))


@dataclass(frozen=True)
class HoldOut:
    """Rows that are not learned from: a share of all, or some that are chosen.

    Each of the share is drawn by its number and the key alone, so that a stream holds out rows
    before it knows how many there are, and the same ones in every pass.
    """

    share: float = 0.0
    key: int = 0
    chosen: NDArray[np.bool_] | None = None  # of each row

    @classmethod
    def drawn(cls, share: float, generator: "np.random.Generator") -> "HoldOut":
        """Return a share that is drawn by a copy of a generator."""
        return cls(share, int(deepcopy(generator.bit_generator).random_raw()))

    @classmethod
    def of_classes(
        cls, strata: NDArray[Any], share: float, generator: "np.random.Generator"
    ) -> "HoldOut":
        """Return the same share of each class, rounded down."""
        chosen = np.zeros(len(strata), bool)
        for stratum in distinct(strata):
            members = np.flatnonzero(strata == stratum)
            permute(members, generator)
            chosen[members[: int(share * len(members))]] = True
        return cls(share, chosen=chosen)

    @classmethod
    def of_rows(cls, tried: NDArray[np.int64], n_rows: int) -> "HoldOut":
        """Return the rows of these numbers, of so many."""
        chosen = np.zeros(n_rows, bool)
        chosen[tried] = True
        return cls(chosen=chosen)

    @classmethod
    def all_but(cls, learned: NDArray[np.int64], n_rows: int) -> "HoldOut":
        """Return all of so many rows but those of these numbers."""
        return cls(chosen=~cls.of_rows(learned, n_rows).mask(np.arange(n_rows)))

    def of_groups(self, groups: NDArray[np.uint64] | None) -> "HoldOut":
        """Return whole groups in place of single rows, where rows have any.

        They have about that share of the rows, at most twice as many unless the smallest group has
        more. Rows of validation are held out, and where there are any, no others.

        >>> groups = np.array([4, 4, 4, 7, 7, 9], np.uint64)
        >>> HoldOut(0.2).of_groups(groups).between(0, 6)
        Division(learned=array([0, 1, 2, 5]), tried=array([3, 4]))
        """
        if groups is None:
            return self
        validation: NDArray[np.bool_] = groups == np.uint64(VALIDATION)
        if validation.any() or not self.share:
            return HoldOut(self.share, self.key, validation & (self.share > 0.0))
        different, group, counts = np.unique(groups, return_inverse=True, return_counts=True)
        if len(different) < 2:
            named = Parameter("group")
            raise InputError(f"{named}: all rows are of one group, so that none can be held out.")
        chosen, n_chosen, wanted = np.zeros(len(different), bool), 0, self.share * len(groups)
        for number in np.argsort(mixed_words(different, self.key), kind="stable").tolist():
            if n_chosen + counts[number] <= 2 * wanted:
                chosen[number] = True
                n_chosen += int(counts[number])
            if n_chosen >= wanted:
                break
        if not n_chosen:
            chosen[np.argmin(counts)] = True
        return HoldOut(self.share, self.key, chosen[group])

    def mask(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each of these rows, by their numbers, whether it is held out."""
        if self.chosen is not None:
            return self.chosen[rows]
        return drawn_rows(rows.astype(np.uint64) + np.uint64(1), self.share, self.key)

    def division(self, rows: NDArray[np.int64]) -> Division:
        """Return which of these rows, by their numbers, are learned from, and which are not."""
        tried = self.mask(rows)
        return Division(rows[~tried], rows[tried])

    def between(self, first: int, end: int) -> Division:
        """Return which of successive rows are learned from, and which are not."""
        return self.division(np.arange(first, end))


NOTHING_HELD_OUT = HoldOut()


class RowDraw(NamedTuple):
    """Rows of files that are drawn for a guarantee, each by its number, or all others."""

    share: float  # of the rows
    drawn: bool  # whether those drawn are read, or the others

    def __call__(self, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which rows of these numbers are read."""
        return np.asarray(drawn_rows(numbers, self.share) == self.drawn)


def row_draw(wanted: Any, *, drawn: bool) -> RowDraw | None:
    """Return which rows a share for the guarantee means: those drawn, or all others."""
    if wanted is None or isinstance(wanted, str | Sequence):
        return None
    check_parameters("train_files", {"guarantee": wanted}, {"guarantee": SHARE})
    return RowDraw(float(wanted), drawn)


def holding_out(examples: Examples, share: float, generator: "np.random.Generator") -> Examples:
    """Return examples that hold out a share of each class, unless they say what is held out.

    Where rows have several labels, the share is of all alike.
    """
    if examples.holdout is not None or not share:
        return examples
    counted = examples.numbers()
    strata = examples.targets[counted] if examples.sets is None else np.zeros(len(counted))
    tried = HoldOut.of_classes(strata, share, generator).between(0, len(counted)).tried
    if not len(tried):
        raise InputError(
            f"validation_fraction={share} of {len(counted)} rows leaves no row of any class to "
            "validate on; give more rows, a larger fraction, or early_stopping=False."
        )
    return replace(examples, holdout=HoldOut.of_rows(counted[tried], len(examples.targets)))


def folds(
    strata: NDArray[Any],
    n_folds: int,
    seed: Any,
    groups: NDArray[np.uint64] | None = None,
    first: NDArray[Any] | None = None,
) -> list[Division]:
    """Return the division of each fold; folds have equal shares of a class.

    Rows of one group are in one fold. Where there are rows of validation, they alone are tried.
    Without groups, a row is in the fold of that whose number ``first`` has for it.

    >>> [tried.tolist() for _, tried in folds(np.array([0, 0, 0, 1, 1, 1]), 3, 0)]
    [[2, 4], [0, 5], [1, 3]]
    """
    if n_folds < 2 or n_folds > len(strata):
        raise InputError(
            f"{Parameter('folds')} must be at least 2 and at most the number of rows, "
            f"{len(strata):,}; got {n_folds}."
        )
    if groups is not None:
        return _folds_of_groups(groups, n_folds, seed)
    generator, fold = np.random.default_rng(seed), np.empty(len(strata), np.int64)
    dealt = 0
    for stratum in distinct(strata):
        members = np.flatnonzero(strata == stratum)
        permute(members, generator)
        fold[members] = (np.arange(len(members)) + dealt) % n_folds
        dealt += len(members)
    if first is None:
        return _divisions(fold, n_folds)
    n_different = len(distinct(first))
    if n_different < n_folds:
        raise InputError(
            f"{Parameter('folds')} must be at most the number of different rows, "
            f"{n_different:,}; got {n_folds}."
        )
    if len(distinct(fold[first])) < n_folds:  # few rows, most of them copies
        return _folds_of_groups(first.astype(np.uint64), n_folds, seed)
    return _divisions(fold[first], n_folds)


def some_folds(
    strata: NDArray[Any], seed: Any, groups: NDArray[np.uint64] | None = None
) -> list[Division]:
    """Return five folds, or as many as there are rows or groups."""
    most = len(strata) if groups is None else len(distinct(groups))
    return folds(strata, min(N_FOLDS, most), seed, groups)


def _divisions(fold: NDArray[np.int64], n_folds: int) -> list[Division]:
    return [Division.of(fold == k) for k in range(n_folds)]


def _folds_of_groups(groups: NDArray[np.uint64], n_folds: int, seed: Any) -> list[Division]:
    """Return folds of whole groups: the largest first, each to the fold with the fewest rows."""
    validation = groups == np.uint64(VALIDATION)
    if validation.any():
        return [Division.of(validation)] * n_folds
    different, group, counts = np.unique(groups, return_inverse=True, return_counts=True)
    if len(different) < n_folds:
        few = f"has {len(different)} values, too few for {n_folds} folds."
        raise InputError(f"{Parameter('group')} {few}")
    order = np.arange(len(different))
    permute(order, np.random.default_rng(seed))
    order = order[np.argsort(-counts[order], kind="stable")]
    sizes, fold = [(0, k) for k in range(n_folds)], np.empty(len(different), np.int64)
    for number in order.tolist():
        n_rows, fold[number] = sizes[0]
        heapreplace(sizes, (n_rows + int(counts[number]), int(fold[number])))
    return _divisions(fold[group], n_folds)

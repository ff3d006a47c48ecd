"""The labels of rows that are read, in order of appearance, as a training numbers them.

What the rows hold says which they are: labels of one class each, or sets of labels.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Label, classes_of, single_labels
from rosenblatt.errors import InputError, Parameter
from rosenblatt.tasks.label_sets import Sets, has_one
from rosenblatt.tasks.leads import ranks_of, targets_of

NO_RANKS = np.zeros(0, np.int32)


@dataclass(frozen=True)
class LabelsMet:
    """Labels of which each row has one."""

    classes: tuple[Label, ...] = ()  # sorted: those known and those met
    ranks: NDArray[np.int32] = field(default_factory=lambda: NO_RANKS)  # places of those met
    sets: Sets | None = None  # labels of each that was met, where it stands for several
    fewest: ClassVar[int] = 2  # classes, below which there is nothing to learn

    def targets(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return numbers in order of appearance as targets."""
        return targets_of(self.ranks[labels], len(self.classes))

    def written(self, met: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what the ranks stand for as batches have it: the classes."""
        return self.classes

    def counts(self, of_met: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many rows have each class, by how many have what was met."""
        counts = np.zeros(len(self.classes), np.int64)
        np.add.at(counts, self.ranks, of_met)
        return counts

    def has(self, numbers: NDArray[Any], number: int) -> NDArray[np.bool_]:
        """Return which rows have the class of a number, by the ranks of what they have."""
        found: NDArray[np.bool_] = numbers == number
        return found

    def check(self, n_rows: int) -> None:
        """Raise InputError where these are all classes and there is nothing to tell apart."""
        if len(self.classes) >= self.fewest:
            return
        if n_rows == 1:
            raise InputError("There is only one row: there is nothing to tell apart.")
        raise InputError(
            f"All {n_rows:,} rows have the label {self.classes[0]!r}: there is nothing "
            "to tell apart. Is that the column of the labels?"
        )

    def check_one_class(self, file: str) -> None:
        """Raise InputError unless each row has one class."""


@dataclass(frozen=True)
class SetsMet(LabelsMet):
    """Sets of labels, of which each row has any number."""

    sets: Sets = field(default_factory=lambda: (NO_RANKS, np.zeros(1, np.int64)))
    fewest: ClassVar[int] = 1

    def targets(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of sets as they are."""
        return labels

    def written(self, met: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what the ranks stand for as batches have it: the sets."""
        return met

    def counts(self, of_met: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many rows have each label, by how many have each set."""
        counts = np.zeros(len(self.classes), np.int64)
        members, ends = self.sets
        np.add.at(counts, members, np.repeat(of_met, np.diff(ends)))
        return counts

    def has(self, numbers: NDArray[Any], number: int) -> NDArray[np.bool_]:
        """Return which rows have the label of a number, by the numbers of their sets."""
        return has_one(self.sets, numbers, number)

    def check(self, n_rows: int) -> None:
        """Raise InputError where no row has a label."""
        if len(self.classes) < self.fewest:
            raise InputError(f"None of the {n_rows:,} rows has a label.")

    def check_one_class(self, file: str) -> None:
        """Raise InputError: a row has any number of labels."""
        raise one_label_error(f"The rows of {file} have")


def one_label_error(what: str) -> InputError:
    """Return the error for rows, or a model, with any number of labels where one is needed."""
    how = Parameter("class_")
    msg = f"{what} any number of labels, and this needs exactly one: choose it with {how}."
    return InputError(msg)


def labels_met(met: Sequence[Any], known: Sequence[Label] = ()) -> LabelsMet:
    """Return the classes of labels or sets of them in order of appearance, and of others known.

    >>> labels_met(["spam", "ham"]).ranks
    array([1, 0], dtype=int32)
    >>> labels_met([("spam", "new"), ()]).classes
    ('new', 'spam')
    """
    labels = single_labels(met)
    classes = sorted_classes((*known, *labels))
    ranks = ranks_of(labels, classes)
    if not (met and isinstance(met[0], tuple)):
        return LabelsMet(classes, ranks)
    place = dict(zip(labels, ranks.tolist(), strict=True))
    members = [sorted({place[label] for label in one}) for one in met]
    ends = np.cumsum([0, *map(len, members)])
    sets = np.array([*chain.from_iterable(members)], np.int32), ends
    return SetsMet(classes, np.arange(len(met), dtype=np.int32), sets)


def sorted_classes(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Return the classes that labels name, in order; see ``classes_of``."""
    different: set[Any] = {*classes_of(labels).values()}
    return tuple(sorted(different))

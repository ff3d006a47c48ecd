"""What is learned from, and in what order: rows, the target of each, and how much it counts.

Targets are labels as the kernels read them: −1 and +1 for two classes, class numbers for more.

Rows come in the order given, shuffled once, or shuffled for every pass; many rows by small groups
of neighbours, since rows from all over the memory have to be waited for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Label
from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.rows import Rows, write_groups
from rosenblatt.kernels.rows import shuffle as exchange
from rosenblatt.kernels.shapes import take
from rosenblatt.tasks.label_sets import Sets
from rosenblatt.tasks.leads import numbers_of, targets_of
from rosenblatt.training.loop import Shuffle, Supply

if TYPE_CHECKING:
    from rosenblatt.training.holdout import HoldOut

ClassWeight = str | Mapping[Any, float]  # "balanced", or what multiplies the steps of a class
BLOCK = 1 << 16  # rows at a time, so that a wide intermediate never has the length of the data
NO_ROWS = np.empty(0, np.int64)


def row_numbers(n_rows: int) -> NDArray[Any]:
    """Return 0 … n_rows − 1 in the one type that the kernels take for an order."""
    return np.arange(n_rows, dtype=np.int64)


@dataclass(frozen=True)
class Examples:
    """Rows with their targets (see ``encode``) and what multiplies each one's step.

    A part of a pass also has the order in which some or all of its rows come.
    """

    rows: Rows
    targets: NDArray[Any]
    weight: NDArray[Any] | None = None  # None: 1 for all
    order: NDArray[Any] = field(default_factory=lambda: NO_ROWS)  # of a part: numbers of rows
    first_row: int = 0  # number of the first row among all rows
    sets: Sets | None = None  # labels of each target, where it stands for a set
    holdout: "HoldOut | None" = None  # None: nothing is

    def pieces(self) -> "Iterator[Examples]":
        """Yield the rows of a part in their order, as it is quickest to learn from them."""
        yield self

    def numbers(self) -> NDArray[Any]:
        """Return the numbers of the rows that count at all; weight zero is as if not given."""
        numbers = row_numbers(len(self.targets))
        return numbers if self.weight is None else numbers[self.weight != 0.0]

    def take(self, numbers: NDArray[Any], copy: Callable[..., Rows] = take) -> "Examples":
        """Return a copy of the examples of these numbers, as a part in their order."""
        weight = None if self.weight is None else self.weight[numbers]
        rows, order = copy(self.rows, numbers), row_numbers(len(numbers))
        return Examples(rows, self.targets[numbers], weight, order, sets=self.sets)


def distinct(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the labels that there are, sorted."""
    if labels.dtype != object:
        return np.unique(labels, return_counts=True)[0]  # which does without numpy.ma
    return np.array(sorted({*labels.tolist()}), object)  # 20 times as fast as to sort them all


def known_numbers(labels: NDArray[Any], classes: NDArray[Any], name: str = "y") -> NDArray[Any]:
    """Return the number of each label; raise InputError for a label unknown to the model."""
    strange = np.setdiff1d(labels, classes)
    if len(strange):
        raise InputError(
            f"The label {strange.tolist()[0]!r} in {name} is not a class of the model; the classes "
            f"are {classes.tolist()}."
        )
    return numbers_of(labels, classes)


def encode(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the target of each label."""
    parts = (y[start : start + BLOCK] for start in range(0, max(len(y), 1), BLOCK))
    return np.concatenate([targets_of(numbers_of(part, classes), len(classes)) for part in parts])


def class_weights(
    class_weight: ClassWeight | None, classes: Sequence[Label], counts: NDArray[Any]
) -> NDArray[np.float64] | None:
    """Return the factor of each class on the steps of its rows, from the class counts.

    None stands for 1 for all. Balanced classes count alike: n / (K·count), as in scikit-learn. A
    class may be named by its text.

    >>> class_weights("balanced", ("ham", "spam"), np.array([30, 10]))
    array([0.66666667, 2.        ])
    >>> class_weights({"1": 5}, (0, 1), np.array([30, 10]))
    array([1., 5.])
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        return np.asarray(counts.sum() / (len(classes) * np.where(counts > 0, counts, 1.0)))
    weights, texts = np.ones(len(classes)), [str(label) for label in classes]
    for label, value in class_weight.items():
        if label in classes:
            number = list(classes).index(label)
        elif str(label) in texts:
            number = texts.index(str(label))
        else:
            known = f" names {label!r}, which is not a class; the classes are {list(classes)}."
            raise InputError(Parameter("class_weight"), known)
        if not (np.isfinite(value) and value >= 0):
            needed = f" of {label!r} must be a number of at least 0; got {value!r}."
            raise InputError(Parameter("class_weight"), needed)
        weights[number] = value
    return weights


WORDS_AT_A_TIME = 1 << 16
# Rows of more values than this, 16 MB of doubles, are shuffled by groups of neighbours, which the
# memory gives faster than rows from everywhere; so many groups are mixed, since a rare class may
# stand together. A number of the machine would make the model depend on it.
MANY_VALUES = 1 << 21
GROUP = 8  # rows
GROUPS = 512  # shuffled together


def permute(order: NDArray[Any], generator: "np.random.Generator") -> None:
    """Change order to a random permutation of itself."""
    position = len(order) - 1
    while position > 0:
        words = generator.bit_generator.random_raw(min(position, WORDS_AT_A_TIME))
        exchange(order, words, position)
        position -= len(words)


def _by_groups(n_values: int, shuffle: Shuffle) -> bool:
    return shuffle is True and n_values > MANY_VALUES


def words_of_a_pass(n_rows: int, n_values: int, shuffle: Shuffle) -> int:
    """Return how many random words ``shuffled`` takes."""
    if _by_groups(n_values, shuffle):
        return -(-n_rows // GROUP) - 1 + n_rows
    return max(n_rows - 1, 0)


def shuffled(
    rows: NDArray[Any], n_values: int, shuffle: Shuffle, generator: "np.random.Generator"
) -> NDArray[Any]:
    """Return rows in a random order: one of all, or of a mixture of groups if they are large."""
    if not _by_groups(n_values, shuffle):
        order: NDArray[Any] = rows.copy()
        permute(order, generator)
        return order
    first = np.arange(0, len(rows), GROUP)
    permute(first, generator)
    order = np.empty_like(rows)
    write_groups(rows, first, GROUP, order)
    for start in range(0, len(order), GROUP * GROUPS):
        mixed = order[start : start + GROUP * GROUPS]
        words = generator.bit_generator.random_raw(len(mixed))
        exchange(mixed, words[:0:-1].copy(), len(mixed) - 1)  # the last row takes the last word
    return order


def cut(items: NDArray[Any], lengths: NDArray[Any], room: int) -> list[NDArray[Any]]:
    """Split successive items into pieces of about ``room`` length each."""
    return np.split(items, np.flatnonzero(np.diff(np.cumsum(lengths) // room)) + 1)


class Order:
    """The rows of pass after pass, which depend on the generator and on the data alone.

    ``n_values`` is the number of stored values of all rows.
    """

    def __init__(
        self,
        rows: NDArray[Any],
        shuffle: Shuffle,
        generator: "np.random.Generator",
        n_values: int = 0,
    ) -> None:
        self._shuffle, self._generator, self._n_values = shuffle, generator, n_values
        self._rows = shuffled(rows, n_values, shuffle, generator) if shuffle == "once" else rows

    def next(self) -> NDArray[Any]:
        """Return the rows of the next pass."""
        if self._shuffle in (False, "once"):
            return self._rows
        return shuffled(self._rows, self._n_values, self._shuffle, self._generator)


class RowSupply(Supply, Protocol):
    """A source of rows that can be tried again; parts are ``Examples``."""

    def sweep(self) -> Iterator[Examples]:
        """Yield the rows learned from, in the order of the source."""

    def tried(self) -> Iterator[Examples]:
        """Yield the rows that are held out, in the order of the source."""

    def rows(self) -> Rows | None:
        """Return all rows by their numbers, where they are kept."""

    def learn_from_all(self) -> None:
        """Hold no rows out from now on."""


class ArraySupply:
    """Rows that are in memory: every pass is one part."""

    def __init__(
        self, examples: Examples, shuffle: Shuffle, generator: "np.random.Generator"
    ) -> None:
        self.generator = generator
        self.examples, self._shuffle = examples, shuffle
        self._compacted = examples  # in fewer bytes, perhaps
        self._divide(examples.holdout)

    def _divide(self, holdout: "HoldOut | None") -> None:
        counted = self.examples.numbers()
        self.learning, self.left_out = counted, NO_ROWS
        if holdout is not None:
            self.learning, self.left_out = holdout.division(counted)
        self.n_rows, self.n_held_out = len(self.learning), len(self.left_out)
        values = self.examples.rows.n_values
        self._order = Order(self.learning, self._shuffle, self.generator, values)

    def parts(self) -> Iterator[Examples]:
        """Yield the rows of the next pass."""
        yield replace(self._compacted, order=self._order.next())

    def compact(self) -> None:
        """Make passes faster, at the cost of a look at all values."""
        self._compacted = replace(self.examples, rows=self.examples.rows.compact())

    def sweep(self) -> Iterator[Examples]:
        """Yield the rows learned from."""
        yield replace(self._compacted, order=self.learning)

    def tried(self) -> Iterator[Examples]:
        """Yield the rows that are held out."""
        yield replace(self._compacted, order=self.left_out)

    def rows(self) -> Rows:
        """Return all rows by their numbers."""
        return self.examples.rows

    def learn_from_all(self) -> None:
        """Hold no rows out from now on."""
        self._divide(None)

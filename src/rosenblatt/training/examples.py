"""What is learned from, and in what order: rows, the target of each, and how much it counts.

Targets are labels as the kernels read them: −1 and +1 for two classes, class numbers for more.

Rows come in the order given, shuffled once, or shuffled for every pass; many rows by small groups
of neighbours, since rows from all over the memory have to be waited for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import VALIDATION
from rosenblatt.data.labels import Label
from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.rows import Rows, mixed_words, write_groups
from rosenblatt.kernels.rows import shuffle as exchange
from rosenblatt.kernels.shapes import take
from rosenblatt.tasks.label_sets import Sets
from rosenblatt.tasks.leads import numbers_of, targets_of
from rosenblatt.training.loop import Shuffle, Supply

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
    sets: Sets | None = None  # labels of each target, where a row may have several
    held_out: NDArray[np.bool_] | None = None  # of each row, where the user chose them

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
        return np.unique(labels)
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


def held_out_mask(first: int, n_rows: int, fraction: float, key: int) -> NDArray[Any]:
    """Return for each of successive rows whether it is held out, by its number and the key alone.

    So a stream can hold out rows before it knows how many there are, and the same ones in every
    pass.
    """
    if not fraction:
        return np.zeros(n_rows, bool)
    drawn: NDArray[Any] = random_words(key, first, n_rows) < np.uint64(fraction * 2.0**64)
    return drawn


def held_out_groups(groups: NDArray[np.uint64], fraction: float, key: int) -> NDArray[np.bool_]:
    """Return for each row whether it is held out: whole groups, by their numbers and the key.

    They have about that share of the rows, at most twice as many unless the smallest group has
    more. Rows of validation are held out, and where there are any, no others.

    >>> held_out_groups(np.array([4, 4, 4, 7, 7, 9], np.uint64), 0.2, 0)
    array([False, False, False,  True,  True, False])
    """
    validation: NDArray[np.bool_] = groups == np.uint64(VALIDATION)
    if validation.any() or not fraction:
        return validation & (fraction > 0.0)
    different, group, counts = np.unique(groups, return_inverse=True, return_counts=True)
    if len(different) < 2:
        named = Parameter("group")
        raise InputError(f"{named}: all rows are of one group, so that none can be held out.")
    chosen, n_held_out, wanted = np.zeros(len(different), bool), 0, fraction * len(groups)
    for number in np.argsort(mixed_words(different, key), kind="stable").tolist():
        if n_held_out + counts[number] <= 2 * wanted:
            chosen[number] = True
            n_held_out += int(counts[number])
        if n_held_out >= wanted:
            break
    if not n_held_out:
        chosen[np.argmin(counts)] = True
    return np.asarray(chosen[group])


def random_words(key: int, first: int, length: int) -> NDArray[np.uint64]:
    """Return a random word for each of successive rows, by its number and the key alone.

    So a stream draws the same in calls of any length, and in every pass.
    """
    return mixed_words(np.arange(first + 1, first + length + 1, dtype=np.uint64), key)


class RowSupply(Supply, Protocol):
    """A source of rows that can be tried again; parts are ``Examples``."""

    def sweep(self, *, held_out: bool) -> Iterator[Examples]:
        """Yield the rows that are held out, or those learned from, in the order of the source."""

    def rows(self) -> Rows | None:
        """Return all rows by their numbers, where they are kept."""

    def learn_from_all(self) -> None:
        """Hold no rows out from now on."""


class ArraySupply:
    """Rows that are in memory: every pass is one part."""

    def __init__(
        self,
        examples: Examples,
        shuffle: Shuffle,
        generator: "np.random.Generator",
        fraction: float = 0.0,  # of the rows to be held out, unless the user chose them
    ) -> None:
        self.generator = generator
        self.examples, self._shuffle = examples, shuffle
        self._compacted = examples  # in fewer bytes, perhaps
        learning = examples.numbers()
        if examples.held_out is not None:
            held_out = examples.held_out[learning]
            self._divide(learning[~held_out], learning[held_out])
        elif fraction:
            self._divide(*split(examples, fraction, generator))
        else:
            self._divide(learning, NO_ROWS)

    def _divide(self, learning: NDArray[Any], held_out: NDArray[Any]) -> None:
        self.learning, self.held_out = learning, held_out
        self.n_rows, self.n_held_out = len(learning), len(held_out)
        self._order = Order(learning, self._shuffle, self.generator, self.examples.rows.n_values)

    def parts(self) -> Iterator[Examples]:
        """Yield the rows of the next pass."""
        yield replace(self._compacted, order=self._order.next())

    def compact(self) -> None:
        """Make passes faster, at the cost of a look at all values."""
        self._compacted = replace(self.examples, rows=self.examples.rows.compact())

    def sweep(self, *, held_out: bool) -> Iterator[Examples]:
        """Yield the rows that are held out, or those learned from."""
        yield replace(self._compacted, order=self.held_out if held_out else self.learning)

    def rows(self) -> Rows:
        """Return all rows by their numbers."""
        return self.examples.rows

    def learn_from_all(self) -> None:
        """Hold no rows out from now on."""
        self._divide(self.examples.numbers(), NO_ROWS)


def split(
    examples: Examples, fraction: float, generator: "np.random.Generator"
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the numbers of rows to learn from and of rows held out, drawn class by class.

    Rows with several labels are drawn from all alike.
    """
    numbers = examples.numbers()
    targets = examples.targets[numbers] if examples.sets is None else np.zeros(len(numbers))
    held_out = np.zeros(len(numbers), bool)
    for target in np.unique(targets):
        members = np.flatnonzero(targets == target)
        permute(members, generator)
        held_out[members[: int(fraction * len(members))]] = True
    if not held_out.any():
        raise InputError(
            f"validation_fraction={fraction} of {len(numbers)} rows leaves no row of any class to "
            "validate on; give more rows, a larger fraction, or early_stopping=False."
        )
    return numbers[~held_out], numbers[held_out]

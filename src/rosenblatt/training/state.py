"""The weights, what is needed to go on learning, and the compiled passes that change them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isinf
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import Parameter, WeightOverflowError, score_overflow
from rosenblatt.kernels.binary import activations
from rosenblatt.kernels.counts import Counts, Log, empty_log
from rosenblatt.kernels.finite import first_not_finite
from rosenblatt.kernels.multiclass import class_scores
from rosenblatt.kernels.rows import CSR, Rows
from rosenblatt.kernels.stretches import PlacedRows, Stretches
from rosenblatt.mistakes.threads import run_in_parts
from rosenblatt.mistakes.updates import Mistakes
from rosenblatt.rules import Rule
from rosenblatt.tasks import CLASSES, Task, task_of
from rosenblatt.training.examples import ArraySupply, Examples, RowSupply
from rosenblatt.training.history import Observer, Outcome
from rosenblatt.training.holdout import holding_out
from rosenblatt.training.loop import NONE_YET, PartResult, Plan, Progress, together, train
from rosenblatt.training.places import (
    Scattered,
    all_weights,
    copied_places,
    few_exist,
    no_places,
    parts_with_room,
    scattered,
    stretched,
    wider,
    with_room,
)

if TYPE_CHECKING:
    from rosenblatt.training.memory import Vote

Index = slice | NDArray[Any]
EVERYTHING = slice(None)
FEW_NUMBERS = 1 << 18  # of the average that are computed entry by entry: 2 MB
WORTH_COMPACTING = 3  # passes
LINES_AT_ONCE = 1 << 20  # of a log: 32 MB
PIECE = 1 << 15  # numbers that are worked on at a time: 256 KB, which stay in the cache


@dataclass(frozen=True)
class Snapshot:
    """The weights of some features at some time."""

    features: Index
    weights: NDArray[Any]
    count: int
    ledger: NDArray[Any] | None = None
    variance: NDArray[Any] | None = None
    at: Stretches | None = None


class Average(NamedTuple):
    """The weights that decide, at a count of rows and in a layout."""

    seen: int
    by_feature: bool
    weights: NDArray[Any]


@dataclass
class State:
    """Weights, the ledger of their average and the number of rows seen.

    The task says how many vectors of n_features + 1 weights there are, the bias last in each. More
    than one are stored by class or by feature, whichever the rows that came last read faster (see
    ``kernels.rows``). A second-order rule keeps the variance of each weight beside it. Where there
    are very many, only those that a step has reached are stored, by places.
    """

    weights: NDArray[Any]
    ledger: NDArray[Any] | None  # Algorithm 7's u and β; None where no average is kept
    task: Task
    count: int = 1  # Algorithm 7's c: one more than the rows seen
    by_feature: bool = False
    variance: NDArray[Any] | None = None  # as the weights; 1 before the first row
    at: Stretches | None = None  # the places of weights where but few exist; None: all stand
    _average: "Average | None" = field(default=None, repr=False)  # the last that was asked for

    @classmethod
    def zeros(
        cls,
        n_features: int,
        n_classes: int,
        *,
        averaged: bool,
        uncertain: bool = False,
        task: str = CLASSES,
        by_feature: bool = False,
    ) -> "State":
        """Return the state before the first row; ``uncertain``: with a variance for each weight.

        Rows that read weights ``by_feature`` begin sooner: 300 labels of a hundred thousand words
        take a second to be laid out anew.
        """
        found = task_of(task, n_classes)
        by_feature &= found.n_vectors > 1
        shape: tuple[int, ...] = (found.n_vectors, n_features + 1)
        if by_feature and few_exist(n_features, found):
            parts = [np.zeros(0) if kept else None for kept in (averaged, uncertain)]
            at = no_places(n_features, found.n_vectors)
            return cls(np.zeros(0), parts[0], found, 1, by_feature, parts[1], at)
        if by_feature:
            shape = shape[::-1]
        elif found.flat:
            shape = shape[1:]
        ledger = np.zeros(shape) if averaged else None
        variance = np.ones(shape) if uncertain else None
        return cls(np.zeros(shape), ledger, found, 1, by_feature, variance)

    @classmethod
    def of_vectors(
        cls,
        weights: NDArray[Any],
        ledger: NDArray[Any] | None,
        variance: NDArray[Any] | None,
        task: Task,
        count: int,
    ) -> "State":
        """Return the state of these weights by class, in the same memory; see ``vectors``."""
        by_feature = len(weights) > 1 and not weights.flags.c_contiguous
        parts: list[Any] = [weights, ledger, variance]
        if by_feature:
            parts = [None if part is None else part.T for part in parts]
        elif task.flat:
            parts = [None if part is None else part[0] for part in parts]
        weights, ledger, variance = parts
        return cls(weights, ledger, task, count, by_feature, variance)

    @classmethod
    def of_scattered(cls, parts: Mapping[str, Scattered], task: Task, count: int) -> "State":
        """Return the state of these weights, of which few exist."""
        arrays, at = stretched(parts)
        found = {name: arrays.get(name) for name in ("ledger", "variance")}
        w, u, sigma = arrays["weights"], found["ledger"], found["variance"]
        return cls(w, u, task, count, by_feature=True, variance=sigma, at=at)

    @property
    def _arrays(self) -> dict[str, NDArray[Any]]:
        """What is kept for each weight: itself, its part of the ledger, its variance."""
        arrays = {"weights": self.weights, "ledger": self.ledger, "variance": self.variance}
        return {name: array for name, array in arrays.items() if array is not None}

    def restart(self) -> None:
        """Change to the state before the first row, in the same memory."""
        self.count, self._average = 1, None
        if self.at is not None:
            empty = no_places(self.n_features, self.task.n_vectors)
            self.at = empty._replace(classes=self.at.classes)
            return
        for name, array in self._arrays.items():
            array[...] = float(name == "variance")

    def become(
        self,
        weights: NDArray[Any],
        ledger: NDArray[Any] | None,
        variance: NDArray[Any] | None,
        count: int,
    ) -> None:
        """Change to other weights in the same layout."""
        self.weights, self.ledger, self.variance = weights, ledger, variance
        self.count, self._average = count, None

    def start_average(self) -> None:
        """Let an average begin with the weights as they are now."""
        if self.ledger is not None:
            self.ledger[:] = 0.0
            self.count = 1

    @property
    def vectors(self) -> dict[str, NDArray[Any]]:
        """What is kept for each weight by class: views, which change with the state."""
        return {name: self.by_class(array) for name, array in self._arrays.items()}

    def copy(self) -> "State":
        """Return a state of its own memory."""
        arrays: Any = {name: copied(array) for name, array in self.taken.items()}
        at = self.at and copied_places(self.at)
        return replace(self, **arrays, at=at, _average=None)

    def select(self, features: NDArray[Any]) -> "State":
        """Return the state of these features alone, in memory of its own."""
        places = np.append(features, self.n_features)  # and the bias
        if self.at is not None:
            return self._standing(places)
        arrays: Any = {name: self._view(array)[places] for name, array in self._arrays.items()}
        return replace(self, **arrays, by_feature=self.weights.ndim > 1, _average=None)

    # Weights of which few exist

    @property
    def stored(self) -> Mapping[str, NDArray[Any] | Scattered]:
        """What a file has for each weight, by class: of those that exist where few do."""
        return self.vectors if self.at is None else scattered(self.at, self.taken)

    @property
    def taken(self) -> dict[str, NDArray[Any]]:
        """What is kept for each weight that exists: views, which change with the state."""
        end = None if self.at is None else int(self.at.end[0])
        return {name: array[:end] for name, array in self._arrays.items()}

    def read_by(self, rows: Rows) -> Any:
        """Return rows as a pass reads them: with the places of these weights, where they have any.

        Then the weights may be others, of the same places.
        """
        if self.at is None:
            return rows
        nothing = np.empty(0)
        beside = [nothing if part is None else part for part in (self.ledger, self.variance)]
        return PlacedRows(cast("CSR", rows), self.at, self.weights, *beside)

    def lay_out_for(self, rows: Rows) -> None:
        """Change the layout of K-class weights to one that a pass over these rows reads."""
        if self.at is None or not rows.sparse:
            self.arrange_for(rows)

    def make_room(self, rows: Rows, order: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Yield successive rows of an order, each time with room for the weights of their steps."""
        if self.at is None:
            yield order
            return
        for some in parts_with_room(cast("CSR", rows), order, self.task.n_vectors):
            arrays, self.at = with_room(self._arrays, self.at)
            self._take(arrays)
            yield some

    def stand(self) -> None:
        """Give all weights a place of their own."""
        if self.at is not None:
            standing = self._standing()
            self.weights, self.ledger, self.variance = (
                standing.weights,
                standing.ledger,
                standing.variance,
            )
            self.at = self._average = None

    def stand_if_many(self) -> None:
        """Give all weights a place of their own where about a third exists."""
        most = (self.n_features + 1) * self.task.n_vectors // 3
        if self.at is not None and int(self.at.end[0]) > most:
            self.stand()

    def _standing(self, features: NDArray[Any] | None = None) -> "State":
        at: Any = self.at
        arrays: Any = {
            name: all_weights(at, array, float(name == "variance"), features)
            for name, array in self._arrays.items()
        }
        return replace(self, **arrays, at=None, by_feature=True, _average=None)

    def _take(self, arrays: dict[str, Any]) -> None:
        for name, array in arrays.items():
            setattr(self, name, array)

    def move_bias(self, by: float) -> None:
        """Change the bias of two classes."""
        self.by_class(self.weights)[0, -1] += by
        self._average = None

    @property
    def n_classes(self) -> int:
        """Number of classes, or of labels."""
        return self.task.n_classes

    @property
    def n_features(self) -> int:
        """Number of features, without the constant one."""
        if self.at is not None:
            return len(self.at.bounds) - 1
        return int(self.weights.shape[0 if self.by_feature else -1]) - 1

    def arrange_for(self, rows: Rows) -> None:
        """Change the layout of K-class weights to the one that these rows read."""
        self.arrange(by_feature=rows.sparse)

    def arrange(self, *, by_feature: bool) -> None:
        """Change the layout of K-class weights to one where all stand."""
        self.stand()
        if self.weights.ndim == 1 or by_feature == self.by_feature:
            return
        for name, array in self._arrays.items():
            setattr(self, name, contiguous(array.T))
        self.by_feature = by_feature
        self._average = None

    def widen(self, n_features: int) -> None:
        """Change to that many features; the new ones have had the weight zero all along."""
        if n_features <= self.n_features:
            return
        few = few_exist(n_features, self.task) and not few_exist(self.n_features, self.task)
        if few and self.by_feature:
            parts = {
                name: Scattered.of_array(array, float(name == "variance"))
                for name, array in self.vectors.items()
            }
            arrays, self.at = stretched(parts)
            self._take(arrays)
        if self.at is not None:
            self.at, self._average = wider(self.at, n_features), None
            return
        axis = 0 if self.by_feature or self.weights.ndim == 1 else 1
        shape = list(self.weights.shape)
        shape[axis] = n_features + 1
        for name, array in self._arrays.items():
            wide = np.full(shape, float(name == "variance"))
            old, new = self._view(array), self._view(wide)
            new[: len(old) - 1] = old[:-1]
            new[-1] = old[-1]  # the bias stands last
            setattr(self, name, wide)
        self._average = None

    def keep_average(self, wanted: bool) -> None:
        """Begin an average with the weights as they are now, or give it up; else change nothing."""
        if wanted == (self.ledger is not None):
            return
        self._average = None  # its count will come again
        self.ledger = np.zeros(self.weights.shape) if wanted else None
        if wanted:
            self.count = 1

    def average(self, *, by_feature: bool | None = None) -> NDArray[Any]:
        """Return the mean of all weight vectors so far, w − u/c (Algorithm 7), by default as here.

        Where no average is kept it is the weights. It is computed once for a count of rows.
        """
        if self.at is not None:
            every = all_weights(self.at, self._deciding(), 0.0)
            return contiguous(every.T) if by_feature is False else every
        if by_feature is None or self.weights.ndim == 1:
            by_feature = self.by_feature
        if self.ledger is None and by_feature == self.by_feature:
            return self.weights
        known = self._average
        if known is None or (known.seen, known.by_feature) != (self.count, by_feature):
            found = self.weights
            if self.ledger is not None:
                found = averaged(found, self.ledger, self.count)
            found = found if by_feature == self.by_feature else contiguous(found.T)
            known = self._average = Average(self.count, by_feature, found)
        return known.weights

    def _deciding(self) -> NDArray[Any]:
        """Return the average of the weights that exist, by their places."""
        taken, known = self.taken, self._average
        if self.ledger is None:
            return np.asarray(taken["weights"], np.float64)
        if known is None or known.seen != self.count:
            found = averaged(taken["weights"], taken["ledger"], self.count)
            known = self._average = Average(self.count, self.by_feature, found)
        return known.weights

    def scores(self, rows: Rows, *, lasting: bool = True) -> NDArray[Any]:
        """Return what rows score by the average: (n,) for two classes, else (n, K).

        Weights that are not ``lasting`` change before many rows are scored: few rows then need the
        average of their own features alone, and it is not kept. Raises where a score overflows.
        """
        binary, weights = self.task.flat, None
        if self.at is not None and rows.sparse:
            weights = self._deciding()
            rows = replace(self, weights=weights, ledger=None, variance=None).read_by(rows)
        few = (
            self.at is None
            and not lasting
            and self.ledger is not None
            and (binary or self.by_feature)
        )
        if few and isinstance(rows, CSR):
            if len(rows.indices) * self.task.n_vectors <= FEW_NUMBERS:
                rows, weights = self._of_entries(rows)
            elif not binary:
                rows, weights = self._of_features(rows)
        if weights is None:
            weights = np.asarray(self.average(by_feature=rows.sparse), np.float64)
        scores = np.empty(rows.shape[0] if binary else (rows.shape[0], self.task.n_vectors))
        (activations if binary else class_scores)(rows, weights, scores)
        bad = first_not_finite(scores)
        if bad >= 0:
            raise score_overflow(bad if binary else bad // scores.shape[1])
        return scores

    def _of_entries(self, rows: CSR) -> tuple[CSR, NDArray[Any]]:
        """Return rows whose entries have a feature each, and the average of these features."""
        n = len(rows.indices)
        at = np.append(rows.indices, self.n_features)  # the bias stands last
        places = np.arange(n, dtype=rows.indices.dtype)
        return rows._replace(indices=places, n_features=n), self._averages(at)

    def _of_features(self, rows: CSR) -> tuple[CSR, NDArray[Any]]:
        """Return rows of the features that they have, and the average of these features."""
        used = np.zeros(self.n_features + 1, bool)
        used[rows.indices] = True
        used[-1] = True  # the bias
        place = np.cumsum(used, dtype=rows.indices.dtype) - 1
        own = rows._replace(indices=place[rows.indices], n_features=int(place[-1]))
        return own, self._averages(np.flatnonzero(used))

    def _averages(self, features: NDArray[Any]) -> NDArray[Any]:
        ledger: Any = self.ledger
        return averaged(self.weights, ledger, self.count, features=features)

    def by_class(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return weights of this layout with one row a class; one row for two classes.

        That is a view where all weights stand.
        """
        if self.at is not None and weights.ndim == 1:
            weights = all_weights(self.at, weights, float(weights is self.variance))
        return np.atleast_2d(weights.T if self.by_feature else weights)

    def snapshot(self, features: Index = EVERYTHING, room: Snapshot | None = None) -> Snapshot:
        """Return a copy of the weights of these features, in the memory of an older one."""
        parts = {
            name: copied(
                array if self.at else self._view(array)[features], getattr(room, name, None)
            )
            for name, array in self.taken.items()
        }
        at = self.at and copied_places(self.at)
        return Snapshot(features, count=self.count, at=at, **parts)

    def restore(self, saved: Snapshot) -> None:
        """Change the weights back to a snapshot of this state."""
        if saved.at is not None:
            self._take({name: copied(getattr(saved, name)) for name in self._arrays})
            self.at, self.count, self._average = copied_places(saved.at), saved.count, None
            return
        for name, array in self._arrays.items():
            self._view(array)[saved.features] = getattr(saved, name)
        self.count = saved.count

    def _view(self, weights: NDArray[Any]) -> NDArray[Any]:
        """The same weights with features along the first axis."""
        return weights if self.by_feature or weights.ndim == 1 else weights.T

    def with_classes(self, kept: NDArray[Any], n_classes: int, scale: float) -> "State":
        """Return the state with new classes, whose weights have been zero all along.

        ``kept`` says which of the new class numbers each of the old classes now has. Where two
        classes become more, each takes its side of the one vector: −scale·w and +scale·w.
        """
        self.stand()
        grown = State.zeros(
            self.n_features,
            n_classes,
            averaged=self.ledger is not None,
            uncertain=self.variance is not None,
            task=self.task.name,
        )
        grown.count = self.count
        if self.n_classes < self.task.fewest:  # one class alone has taught nothing yet
            return grown
        new = grown._arrays  # noqa: SLF001  # its own
        for name, array in self._arrays.items():
            if name != "variance" and array.ndim == 1:
                new[name][kept] = np.stack([-scale * array, scale * array])
            else:
                new[name][kept] = self.by_class(array)  # of two classes both have one variance
        return grown

    def check_finite(self, loss: float, features: Index, when: str, rule: Rule) -> None:
        """Raise if the pass of a rule that ended with this loss left the range of float64."""
        if not np.isfinite(loss) or not all(
            is_finite(array if self.at else self._view(array)[features])
            for array in self.taken.values()
        ):
            raise overflow(when, rule)


def averaged(
    weights: NDArray[Any],
    ledger: NDArray[Any],
    count: int,
    room: NDArray[Any] | None = None,
    features: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return w − u/c of float64 or float32 numbers, in room, or of some places of the first axis.

    It goes in pieces that stay in the cache, so that three arrays of 300 MB are read but once.
    """
    if room is None:
        n_places = len(weights) if features is None else len(features)
        room = np.empty((n_places, *weights.shape[1:]))

    def write(piece: slice) -> None:
        places = piece if features is None else features[piece]
        mean = np.divide(ledger[places], count, dtype=np.float64)
        np.subtract(weights[places], mean, out=room[piece])

    _in_pieces(write, room)
    return room


def is_finite(array: NDArray[Any]) -> bool:
    """Return whether all numbers are finite."""
    array = array.reshape(-1, order="A")
    found: list[bool] = []
    _in_pieces(lambda piece: found.append(bool(np.isfinite(array[piece]).all())), array)
    return all(found)


def copied(
    array: NDArray[Any], room: NDArray[Any] | None = None, dtype: Any = None
) -> NDArray[Any]:
    """Return a copy of an array, of another type or written over another one of its shape."""
    if room is None or room.shape != array.shape:
        room = np.empty_like(array, dtype)
    if array.ndim == 2 and not array.flags.c_contiguous:  # pieces of what stands together
        array, there = array.T, room.T
    else:
        there = room
    _in_pieces(lambda piece: there.__setitem__(piece, array[piece]), array)
    return room


def contiguous(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with its rows one after the other, copied where they are not.

    The weights of 300 labels and 120,000 features take 0.2 s in place of 0.5.
    """
    if array.flags.c_contiguous:
        return array
    return copied(array, np.empty(array.shape, array.dtype))


def _in_pieces(work: Callable[[slice], object], array: NDArray[Any]) -> None:
    """Call work for slices of the first axis, side by side where there are many."""
    if array.size <= PIECE:
        work(EVERYTHING)
        return
    length = max(1, PIECE * len(array) // array.size)

    def some(begin: int, end: int) -> None:
        for start in range(begin * length, min(end * length, len(array)), length):
            work(slice(start, min(start + length, len(array))))

    run_in_parts(some, -(-len(array) // length))


def overflow(when: str, rule: Any) -> WeightOverflowError:
    """Return the error that says when the weights of a rule overflowed and what to do."""
    numbers = getattr(rule, "_fields", ())
    limited = "C" in numbers and not ("phi" in numbers and isinf(rule.C))  # as CW
    softer = Parameter("rule", "scw1" if "phi" in numbers else "pa1")
    cure = f"use {softer} with a finite {Parameter('C')}"
    for verb, name in (("lower", "eta0"), ("raise", "r"), ("lower", "C")):
        if name in numbers and (name != "C" or limited):
            cure = f"{verb} {Parameter(name)}"
    return WeightOverflowError(
        f"The weights overflowed {when}: the values in X or the steps are too large for float64; "
        f"scale the features, or {cure}."
    )


def run_pass(
    state: State, examples: Examples, order: NDArray[Any], rule: Rule, zero: int
) -> Counts:
    """Change the state by one visit to each row of the order."""
    state.lay_out_for(examples.rows)
    counts = NONE_YET
    for some in state.make_room(examples.rows, order):
        counts = together(counts, state.task.run_pass(state, examples, some, rule, zero))
        state.count += len(some)
    return counts


def count_mistakes(
    state: State, weights: NDArray[Any], examples: Examples, order: NDArray[Any], zero: int
) -> int:
    """Count the rows of the order that weights of this state's layout misclassify."""
    return state.task.count_mistakes(state, weights, examples, order, zero)


def recorded_pass(
    state: State, examples: Examples, order: NDArray[Any], rule: Rule, zero: int
) -> tuple[Counts, Log]:
    """Do what ``run_pass`` does; return the updates, too."""
    state.arrange_for(examples.rows)
    counts, found, lines = NONE_YET, Mistakes(), state.task.lines_of_a_row()
    n_rows = min(max(1, LINES_AT_ONCE // max(lines, 1)), len(order))
    log = empty_log(n_rows * lines)
    for start in range(0, len(order), n_rows):
        some = order[start : start + n_rows]
        made, n_lines = state.task.logged_pass(state, examples, some, rule, zero, log)
        counts = together(counts, made)
        state.count += len(some)
        found.extend(log, n_lines, state.count)
    return counts, found.updates


class LinearTraining:
    """Changes a state by passes over the rows of a supply."""

    def __init__(
        self, state: State, supply: RowSupply, plan: Plan, vote: "Vote | None" = None
    ) -> None:
        self.state, self.supply, self.restore = state, supply, state.restore
        self.updates = Mistakes() if plan.record else None
        self._rule, self._zero = plan.rule, plan.zero
        self._average_after = plan.average_after
        if plan.average_after and state.count == 1:  # else it goes on with what there is
            state.keep_average(wanted=False)
        self._vote = vote
        self._mean: NDArray[Any] | None = None  # room for the average
        self._best: Snapshot | None = None  # room for the best weights

    def learn(self, part: Examples) -> PartResult:
        """Change the state by the rows of a part."""
        state = self.state
        state.widen(part.rows.shape[1])
        if self.updates is None:
            counts = NONE_YET
            for piece in part.pieces():
                made = run_pass(state, piece, piece.order, self._rule, self._zero)
                counts = together(counts, made)
        else:
            counts, log = recorded_pass(state, part, part.order, self._rule, self._zero)
            log.row[:] += part.first_row
            self.updates.extend(log, len(log.row), state.count)
        return PartResult(counts, len(part.order))

    def finish_pass(self, counts: Counts, pass_: int) -> None:
        """Raise if the weights have left the range of float64; begin the average if it is due."""
        self.state.check_finite(counts.loss, EVERYTHING, f"in pass {pass_}", self._rule)
        self.state.stand_if_many()
        if pass_ == self._average_after and self.state.ledger is None:
            self.state.keep_average(wanted=True)
            if self.updates is not None:
                self.updates.count_anew()

    def mistakes(self) -> int:
        """Count the rows learned from that the last weights misclassify."""
        state = self._laid_out()
        return sum(
            state.task.count_mistakes(state, state.weights, part, part.order, self._zero)
            for part in self.supply.sweep()
        )

    def tried_mistakes(self) -> float:
        """Return the loss on held-out rows of what would be returned now."""
        if self._vote is not None and self.updates is not None:
            return self._vote.tried_mistakes(self.state, self.supply, self.updates)
        state, parts = self._laid_out(), self.supply.tried()
        return state.task.tried_loss(state, parts, self._zero, self._average)

    def _average(self) -> NDArray[Any]:
        """Return the weights that would be returned now, in memory that is used again.

        20 classes of text have 12 MB of them, and new memory costs twice the arithmetic.
        """
        state = self._laid_out()
        if state.ledger is None:
            return state.weights
        taken = state.taken
        if self._mean is None or self._mean.shape != taken["weights"].shape:
            self._mean = np.empty_like(taken["weights"])
        return averaged(taken["weights"], taken["ledger"], state.count, self._mean)

    def snapshot(self) -> Snapshot:
        """Return a copy of the weights, in the memory of the last one."""
        self._best = self.state.snapshot(room=self._best)
        return self._best

    def _laid_out(self) -> State:
        """Return the state, laid out for the rows: a resumed one may not have met any yet."""
        rows = self.supply.rows()
        if rows is not None:
            self.state.lay_out_for(rows)
        return self.state


def fit(
    state: State,
    examples: Examples,
    plan: Plan,
    generator: "np.random.Generator",
    observers: Sequence[Observer] = (),
    vote: "Vote | None" = None,
) -> Outcome:
    """Change the state by passes over rows in memory; see ``loop.train``."""
    if plan.holdout:
        examples = holding_out(examples, plan.holdout, generator)
    supply = ArraySupply(examples, plan.shuffle, generator)
    return fit_supply(state, supply, plan, observers, vote=vote)


def fit_supply(
    state: State,
    supply: RowSupply,
    plan: Plan,
    observers: Sequence[Observer] = (),
    *,
    watch: Any = None,
    progress: Progress | None = None,
    vote: "Vote | None" = None,
) -> Outcome:
    """Change the state by passes over the rows of a supply; see ``loop.train``.

    ``watch`` is called with the state and the progress.
    """
    goes_on = state.ledger is not None and state.count > 1
    if progress is None and goes_on:  # with its average, so that every pass is judged
        plan = replace(plan, average_after=0)
    worth_it = plan.max_iter >= WORTH_COMPACTING and vote is None and not plan.record
    if worth_it and isinstance(supply, ArraySupply):
        supply.compact()
    training = LinearTraining(state, supply, plan, vote)
    watched = None if watch is None else lambda progress: watch(state, progress)
    outcome = train(training, plan, observers, watch=watched, progress=progress)
    return replace(outcome, mistakes=training.updates)

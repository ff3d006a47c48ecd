"""Kernel machines that learn: passes in the dual, and what the loop asks about them.

The scores of all rows under the weights at the start of a pass are kept. A block of rows first
catches up on the rows that taught since: their kernel values are computed together. Then the block
is visited row by row with the values among its own rows. So a pass costs as many kernel values as
there are rows times rows that taught in this very pass, however many taught before. With a budget
only few rows are kept, and a block is scored against those.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import WeightOverflowError
from rosenblatt.kernels.budget import budget_block
from rosenblatt.kernels.counts import Counts, Log, empty_log
from rosenblatt.kernels.dual import column_block, column_mistakes, joint_block, joint_mistakes
from rosenblatt.kernels.prefix_sums import Steps
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import GrowingArray, join, take
from rosenblatt.kernels.shuffling import random_words
from rosenblatt.mistakes.budget import BudgetState
from rosenblatt.mistakes.gram import GramCache, Sizes, gram_between
from rosenblatt.mistakes.kernel import Kernel
from rosenblatt.mistakes.machine import DualState
from rosenblatt.mistakes.products import Panel
from rosenblatt.mistakes.scores import Tally, add_in_threads, update_chunks
from rosenblatt.mistakes.updates import Mistakes, n_columns, steps_of
from rosenblatt.rules import Rule
from rosenblatt.training.examples import Examples, Order, or_empty, split, winners
from rosenblatt.training.loop import PartResult, Plan
from rosenblatt.training.state import overflow

KernelState = DualState | BudgetState

BUDGET_BLOCK = 64  # rows at a time
SAFE = 1e100  # kernel values up to this cannot overflow a score of any number of rows


@dataclass(frozen=True)
class Targets:
    """What rows should score, and how much each row counts."""

    joint: bool  # one machine for all classes; else one learner for each column
    values: NDArray[Any]  # joint: (rows,) class numbers; else (columns, rows) signs
    weight: NDArray[Any] | None

    @classmethod
    def of_numbers(
        cls, numbers: NDArray[Any], n_classes: int, joint: bool, weight: NDArray[Any] | None
    ) -> "Targets":
        """Return the targets of rows of these class numbers."""
        if joint and n_classes > 2:
            return cls(joint=True, values=numbers.astype(np.int32), weight=weight)
        first = n_classes - n_columns(n_classes)  # of two classes the second has the column
        classes = np.arange(first, n_classes)[:, None]
        signs = np.where(numbers == classes, np.int8(1), np.int8(-1))
        return cls(joint=False, values=signs, weight=weight)

    def take(self, rows: NDArray[Any]) -> "Targets":
        """Return the targets of some rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Targets(self.joint, np.ascontiguousarray(self.values[..., rows]), weight)

    def visit(
        self, gram: NDArray[Any], rule: Rule, zero: int, scores: NDArray[Any], seen: int
    ) -> tuple[Counts, Log]:
        """Change the scores of these rows by a visit to each; return the updates that it made."""
        log = empty_log(scores.shape[1] if self.joint else scores.size)
        visit = joint_block if self.joint else column_block
        weight = or_empty(self.weight)
        counts = visit(self.values, weight, gram, rule, zero, scores, seen, log)
        return counts, Log(*(column[: counts.updates] for column in log))

    def mistakes(self, scores: NDArray[Any], zero: int) -> int:
        """Count the mistakes under these scores."""
        return (joint_mistakes if self.joint else column_mistakes)(self.values, scores, zero)


class _Block(NamedTuple):
    """Rows that were visited together, and how many rows had taught by then."""

    rows: NDArray[Any]
    n_taught: int


class DualPasses:
    """Passes over rows that extend a list of mistakes without a limit; ``finish`` adds to it."""

    def __init__(
        self,
        state: DualState,
        kernel: Kernel,
        examples: Examples,  # targets: class numbers
        plan: Plan,
        sizes: Sizes,
    ) -> None:
        self._state, self._kernel, self._examples = state, kernel, examples
        rows = examples.rows
        n_rows = rows.shape[0]
        self._given = kernel.name == "precomputed"
        self._values = gram_between(kernel, np.arange(n_rows) if self._given else rows, rows)
        self._gram = GramCache(self._values, n_rows, sizes.kept if plan.max_iter > 1 else 0.0)
        self._scores = np.zeros((state.n_columns, n_rows))
        if len(state.support):
            try:
                self._scores = state.scores(kernel, rows, sizes)["last"]
            except WeightOverflowError as error:
                raise overflow(
                    when="in these rows, which are not learned", rule=plan.rule
                ) from error
        self._targets = Targets.of_numbers(
            examples.targets, state.n_classes, state.joint, examples.weight
        )
        self._rule, self._zero, self._sizes = plan.rule, plan.zero, sizes
        self.updates = Mistakes(end=state.count)  # of all passes; rows by their numbers
        self._taught = GrowingArray(np.empty(0, np.int64))  # in this pass: row numbers
        self._pass_updates = Mistakes()  # of this pass; rows by their place among the taught
        self._blocks: list[_Block] = []
        self._tallies: list[tuple[NDArray[Any], Tally]] = []  # of held-out rows
        self._n_tallied = 0

    def blocks(self, order: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Yield the rows of a pass, block by block, each to be visited before the next."""
        self._catch_up()
        order = order.copy()  # its blocks are needed when the next pass begins
        for start in range(0, len(order), self._sizes.block):
            yield order[start : start + self._sizes.block]

    def visit(self, here: NDArray[Any]) -> Counts:
        """Change everything by a visit to each of these rows."""
        panel = self._gram.panel(here)
        scores = np.ascontiguousarray(self._scores[:, here])
        self._add_steps(panel, 0, scores)
        gram, count = panel(here), self.updates.end
        counts, log = self._targets.take(here).visit(gram, self._rule, self._zero, scores, count)
        if not np.isfinite(scores).all():
            raise overflow(when="in these rows, which are not learned", rule=self._rule)
        self._scores[:, here] = scores
        count += len(here)
        places, which = np.unique(log.row, return_inverse=True)  # in the order of the visit
        self.updates.extend(log._replace(row=here[log.row]), counts.updates, count)
        placed = log._replace(row=len(self._taught) + which)
        self._pass_updates.extend(placed, counts.updates, count)
        self._gram.keep(here[places], here, gram[places])
        self._taught.append(here[places])
        self._blocks.append(_Block(here, len(self._taught)))
        return counts

    def mistakes(self, order: NDArray[Any]) -> int:
        """Count the mistakes that the last weights make on these rows."""
        self._catch_up()
        scores = np.ascontiguousarray(self._scores[:, order])
        return self._targets.take(order).mistakes(scores, self._zero)

    def held_out_scores(
        self, numbers: NDArray[Any], memory: str, *, positive: bool
    ) -> NDArray[Any]:
        """Return the scores by a memory of rows that are not learned from, always the same ones.

        Only the updates since the last call are looked at.
        """
        if not self._tallies:
            self._begin_tallies(numbers, memory, positive=positive)
        steps = steps_of(self.updates.since(self._n_tallied), joint=self._targets.joint)
        parts = update_chunks(steps, self._sizes.block)
        for here, tally in self._tallies:
            tally.advance(parts, self._values.panel(here))
        self._n_tallied, count = len(self.updates), self.updates.end
        return np.concatenate(
            [tally.scores_of(memory, count) for _, tally in self._tallies], axis=1
        )

    def _begin_tallies(self, numbers: NDArray[Any], memory: str, *, positive: bool) -> None:
        """Score held-out rows by what the state was before this training."""
        state, size = self._state, self._sizes.block
        steps = steps_of(state.mistakes.updates, joint=self._targets.joint)
        parts = update_chunks(steps, size)
        for start in range(0, len(numbers), size):
            here = numbers[start : start + size]
            tally = Tally(
                len(here), state.n_classes, joint=state.joint, memories=(memory,), positive=positive
            )
            if state.rows is not None:
                gram = gram_between(self._kernel, state.rows, take(self._examples.rows, here))
                tally.advance(parts, gram.panel(np.arange(len(here))))
            self._tallies.append((here, tally))

    def snapshot(self) -> tuple[int, int]:
        """Return how long the list is, and the counter."""
        return len(self.updates), self.updates.end

    def restore(self, snapshot: tuple[int, int]) -> None:
        """Forget the updates since a snapshot; nothing is learned after that."""
        n_updates, count = snapshot
        kept = Mistakes()
        kept.extend(self.updates.updates, n_updates, count)
        self.updates = kept

    def finish(self) -> None:
        """Change the state by all that was learned."""
        examples = self._examples
        self._state.extend(
            None if self._given else examples.rows,
            examples.targets,
            self.updates.updates,
            n_rows=examples.rows.shape[0],
            count=self.updates.end,
        )

    def _add_steps(self, panel: Panel, first: int, scores: NDArray[Any]) -> None:
        """Change scores by the steps of the rows that taught in this pass from the first on."""
        taught = self._taught.values
        steps = steps_of(self._pass_updates.updates, joint=self._targets.joint)
        for start in range(first, len(taught), self._sizes.tile):
            stop = min(start + self._sizes.tile, len(taught))
            gram = panel(taught[start:stop])
            some = slice(*np.searchsorted(steps.row, [start, stop]))
            here = Steps(steps.row[some] - start, *(column[some] for column in steps[1:]))
            add_in_threads(here, gram, scores)

    def _catch_up(self) -> None:
        """Change the scores to those under the last weights."""
        for rows, n_taught in self._blocks:
            if n_taught < len(self._taught):
                scores = np.ascontiguousarray(self._scores[:, rows])
                self._add_steps(self._gram.panel(rows), n_taught, scores)
                self._scores[:, rows] = scores
        self._gram.complete(self._taught.values)
        self._taught, self._pass_updates = GrowingArray(np.empty(0, np.int64)), Mistakes()
        self._blocks = []


class BudgetPasses:
    """Passes over rows that change a state with a budget on the way."""

    def __init__(
        self,
        state: BudgetState,
        kernel: Kernel,
        examples: Examples,  # targets: class numbers
        plan: Plan,
        sizes: Sizes,
    ) -> None:
        self._state, self._kernel, self._sizes = state, kernel, sizes
        self._rows, self._weight = examples.rows, examples.weight
        self._labels = examples.targets.astype(np.int64)
        self._rule, self._zero = plan.rule, plan.zero
        self._first = state.n_met  # the number of the first row
        state.n_met += examples.rows.shape[0]

    def blocks(self, order: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Yield the rows of a pass, block by block, each to be visited before the next."""
        for start in range(0, len(order), BUDGET_BLOCK):
            yield order[start : start + BUDGET_BLOCK]

    def visit(self, here: NDArray[Any]) -> Counts:
        """Change the state by a visit to each of these rows."""
        state, size = self._state, len(here)
        state.make_room(size)
        gram = self._gram(here)
        largest = np.abs(gram).max()
        before = copy.deepcopy((state.slots, state.n_kept)) if largest > SAFE else None
        state.slots.column[state.by_age] = np.arange(state.n_kept)
        mistakes, updates, loss, state.n_kept = budget_block(
            self._labels[here],
            or_empty(None if self._weight is None else self._weight[here]),
            gram,
            self._rule,
            self._zero,
            state.joint and state.n_classes > 2,
            state.limit,
            random_words(state.key, state.count, size),
            state.count,
            state.n_kept,
            state.slots,
            np.empty(state.n_columns),
            np.empty(state.n_columns),
            np.empty(len(state.slots.ages)),
        )
        finite = np.isfinite(loss) and np.isfinite(state.slots.coef[state.by_age]).all()
        if before is not None and not (finite and np.isfinite(largest)):
            state.slots, state.n_kept = before
            raise overflow(
                when=f"in a block of {size} rows, which are not learned", rule=self._rule
            )
        state.count += size
        if updates:
            self._take_in(here)
        return Counts(mistakes, updates, loss)

    def mistakes(self, order: NDArray[Any]) -> int:
        """Count the mistakes that the last weights make on these rows."""
        state, found = self._state, 0
        last = state.coefficients(averaged=False)
        joint = state.joint and state.n_classes > 2
        for here in self.blocks(order):
            scores = state.kept_scores(self._kernel, take(self._rows, here), last)
            targets = Targets.of_numbers(self._labels[here], state.n_classes, joint, None)
            found += targets.mistakes(scores, self._zero)
        return found

    def held_out_scores(
        self, numbers: NDArray[Any], memory: str, *, positive: bool
    ) -> NDArray[Any]:
        """Return the scores by a memory of rows that are not learned from."""
        rows = take(self._rows, numbers)
        found = self._state.scores(self._kernel, rows, self._sizes, (memory,), positive=positive)
        return found[memory]

    def snapshot(self) -> dict[str, Any]:
        """Return a copy of what a pass changes."""
        kept = {name: getattr(self._state, name) for name in ("rows", "numbers", "labels")}
        counted = {"n_kept": self._state.n_kept, "count": self._state.count}
        return kept | counted | {"slots": copy.deepcopy(self._state.slots)}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Change the state back to a snapshot."""
        for name, value in snapshot.items():
            setattr(self._state, name, value)

    def finish(self) -> None:
        """Nothing to do: the state has been changed on the way."""

    def _gram(self, here: NDArray[Any]) -> NDArray[Any]:
        """Return the kernel values of these rows against those that are kept, then themselves."""
        state, rows = self._state, take(self._rows, here)
        left = np.concatenate([state.numbers, here]) if self._is_given else self._with_kept(rows)
        gram = gram_between(self._kernel, left, rows)
        values = gram.panel(np.arange(len(here)))(np.arange(state.n_kept + len(here)))
        return np.ascontiguousarray(values.T)

    def _with_kept(self, rows: Rows) -> Rows:
        return rows if self._state.rows is None else join([self._state.rows, rows])

    @property
    def _is_given(self) -> bool:
        return self._kernel.name == "precomputed"

    def _take_in(self, here: NDArray[Any]) -> None:
        """Change the rows of the state to those that now stand in its slots."""
        state = self._state
        where = state.slots.column[state.by_age]
        if not self._is_given:
            state.rows = take(self._with_kept(take(self._rows, here)), where)
        state.numbers = np.concatenate([state.numbers, self._first + here.astype(np.int64)])[where]
        state.labels = np.concatenate([state.labels, self._labels[here]])[where]


def kernel_passes(
    state: KernelState, kernel: Kernel, examples: Examples, plan: Plan, sizes: Sizes
) -> DualPasses | BudgetPasses:
    """Return what changes this state by passes over these rows, whose targets are class numbers."""
    if isinstance(state, BudgetState):
        return BudgetPasses(state, kernel, examples, plan, sizes)
    return DualPasses(state, kernel, examples, plan, sizes)


class KernelTraining:
    """Passes of a kernel machine over rows, as the loop asks for them."""

    def __init__(
        self,
        passes: DualPasses | BudgetPasses,
        examples: Examples,  # targets: class numbers
        plan: Plan,
        generator: np.random.Generator,
        memory: str,
    ) -> None:
        self.generator = generator
        self._passes, self._labels = passes, examples.targets
        self._memory, self._positive = memory, plan.zero > 0
        self._learning = examples.numbers()
        self._held_out = self._learning[:0]
        if plan.early_stopping is not None:
            fraction = plan.early_stopping.validation_fraction
            self._learning, self._held_out = split(examples, fraction, generator)
        self._order = Order(self._learning, plan.shuffle, generator)
        self.n_rows, self.n_held_out = len(self._learning), len(self._held_out)

    def parts(self) -> Iterator[NDArray[Any]]:
        """Yield the rows of the next pass, block by block."""
        return self._passes.blocks(self._order.next())

    def learn(self, part: NDArray[Any]) -> PartResult:
        """Visit the rows of a block."""
        return PartResult(self._passes.visit(part), len(part))

    def skip(self, part: NDArray[Any]) -> None:
        """Nothing: no kernel training is resumed within a pass."""

    def check(self, counts: Counts, pass_: int) -> None:
        """Nothing: every block is checked when it is learned."""

    def mistakes(self) -> int:
        """Count the mistakes that the last weights make on the rows learned from."""
        return self._passes.mistakes(self._learning)

    def held_out_mistakes(self) -> int:
        """Count the held-out rows that the memory misclassifies."""
        how = {"positive": self._positive}
        scores = self._passes.held_out_scores(self._held_out, self._memory, **how)
        found = winners(scores[0] if len(scores) == 1 else scores.T, **how)
        return int(np.count_nonzero(found != self._labels[self._held_out]))

    def snapshot(self) -> Any:
        """Return what is needed to go back to this moment."""
        return self._passes.snapshot()

    def restore(self, snapshot: Any) -> None:
        """Change back to the moment of a snapshot."""
        self._passes.restore(snapshot)

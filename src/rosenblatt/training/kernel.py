"""Kernel machines that learn: passes in the dual, and what the loop asks about them.

The scores of all rows under the weights at the start of a pass are kept. A block of rows first
catches up on the rows that taught since: their kernel values are computed together. Then the block
is visited row by row with the values among its own rows. So a pass costs as many kernel values as
there are rows times rows that taught in this very pass, however many taught before.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import WeightOverflowError
from rosenblatt.kernels.counts import Counts, Log, empty_log
from rosenblatt.kernels.dual import column_block, joint_block
from rosenblatt.kernels.prefix_sums import Steps
from rosenblatt.kernels.shapes import GrowingArray, take
from rosenblatt.mistakes.gram import GramCache, Panel, Sizes, gram_between
from rosenblatt.mistakes.kernel import Kernel
from rosenblatt.mistakes.machine import DualState
from rosenblatt.mistakes.scores import Tally, add_in_threads, update_chunks
from rosenblatt.mistakes.updates import Mistakes, steps_of
from rosenblatt.tasks.leads import leads_of, winners
from rosenblatt.tasks.task import or_empty
from rosenblatt.training.examples import ArraySupply, Examples
from rosenblatt.training.holdout import holding_out
from rosenblatt.training.loop import PartResult, Plan
from rosenblatt.training.state import overflow

BLOCK = "in these rows, which are not learned"


class KernelTraining(ArraySupply):
    """Extends the list of mistakes of a kernel machine by passes over rows, block by block.

    The state is changed by ``finish``.
    """

    def __init__(
        self,
        state: DualState,
        kernel: Kernel,
        examples: Examples,  # targets: class numbers
        plan: Plan,
        sizes: Sizes,
        generator: "np.random.Generator",
        memory: str = "last",
    ) -> None:
        # Groups of neighbours are for the memory of rows; here a matrix is read.
        shuffle = "full" if plan.shuffle is True else plan.shuffle
        super().__init__(holding_out(examples, plan.holdout, generator), shuffle, generator)
        self.supply = self
        self._state, self._kernel, self._sizes = state, kernel, sizes
        self._rule, self._zero, self._memory = plan.rule, plan.zero, memory
        self._block = sizes.block
        self._given = kernel.name == "precomputed"
        rows = examples.rows
        n_rows = rows.shape[0]
        self._values = gram_between(kernel, np.arange(n_rows) if self._given else rows, rows)
        self._gram = GramCache(self._values, n_rows, sizes.kept if plan.max_iter > 1 else 0.0)
        self._scores = np.zeros((state.n_columns, n_rows))
        if len(state.support):
            try:
                self._scores = state.scores(kernel, rows, sizes)["last"]
            except WeightOverflowError as error:
                raise overflow(BLOCK, plan.rule) from error
        self.updates = Mistakes(end=state.count)  # of all passes; rows by their numbers
        self._taught = GrowingArray(np.empty(0, np.int64))  # in this pass: row numbers
        self._pass_updates = Mistakes()  # of this pass; rows by their place among the taught
        self._visited: list[tuple[NDArray[Any], int]] = []  # blocks, and how many had taught
        self._tallies: list[tuple[NDArray[Any], Tally]] = []  # of held-out rows
        self._n_tallied = 0

    def parts(self) -> Iterator[Examples]:
        """Yield the rows of the next pass, block by block, each to be learned before the next."""
        return self.blocks(self._order.next().copy())

    def blocks(self, order: NDArray[Any]) -> Iterator[Examples]:
        """Yield the rows of a pass in this order, block by block."""
        self._catch_up()
        return self._blocks(order)

    def _blocks(self, order: NDArray[Any]) -> Iterator[Examples]:
        for start in range(0, len(order), self._block):
            yield replace(self.examples, order=order[start : start + self._block])

    def finish_pass(self, counts: Counts, pass_: int) -> None:
        """Nothing: every block is checked when it is learned."""

    def mistakes(self) -> int:
        """Count the rows learned from that the last weights misclassify, or of each column."""
        self._catch_up()
        scores = np.ascontiguousarray(self._scores[:, self.learning])
        targets, zero = self._targets(self.learning), self._zero
        if not self._state.pairs:
            margins = targets * scores
            right = (margins > 0.0) | ((margins == 0.0) & (targets == zero))
        elif zero:
            right = winners(scores.T, positive=zero > 0) == targets
        else:
            right = leads_of(scores.T.copy(), targets)[0] > 0.0
        return int(np.count_nonzero(~right))

    def tried_mistakes(self) -> int:
        """Count the held-out rows that the memory misclassifies."""
        scores = self._tried_scores()
        found = winners(scores[0] if len(scores) == 1 else scores.T, positive=self._zero > 0)
        return int(np.count_nonzero(found != self.examples.targets[self.left_out]))

    def _targets(self, here: NDArray[Any]) -> NDArray[Any]:
        """Return the class numbers of rows, or (columns, rows) signs if each column learns alone.

        Of two classes the second has the column.
        """
        numbers, state = self.examples.targets[here], self._state
        if state.pairs:
            return np.asarray(numbers, np.int32)
        classes = np.arange(state.n_classes - state.n_columns, state.n_classes)
        return np.where(numbers == classes[:, None], np.int8(1), np.int8(-1))

    def _weight(self, here: NDArray[Any]) -> NDArray[Any]:
        weight = self.examples.weight
        return or_empty(None if weight is None else weight[here])

    def learn(self, part: Examples) -> PartResult:
        """Visit the rows of a block."""
        here = part.order
        panel = self._gram.panel(here)
        scores = np.ascontiguousarray(self._scores[:, here])
        self._add_steps(panel, 0, scores)
        gram, count, pairs = panel(here), self.updates.end, self._state.pairs
        log = empty_log(len(here) if pairs else scores.size)
        visit = joint_block if pairs else column_block
        targets, weight = self._targets(here), self._weight(here)
        counts = visit(targets, weight, gram, self._rule, self._zero, scores, count, log)
        log = Log(*(column[: counts.updates] for column in log))
        if not np.isfinite(scores).all():
            raise overflow(BLOCK, self._rule)
        self._scores[:, here] = scores
        count += len(here)
        places, which = np.unique(log.row, return_inverse=True)  # in the order of the visit
        self.updates.extend(log._replace(row=here[log.row]), counts.updates, count)
        placed = log._replace(row=len(self._taught) + which)
        self._pass_updates.extend(placed, counts.updates, count)
        self._gram.keep(here[places], here, gram[places])
        self._taught.append(here[places])
        self._visited.append((here, len(self._taught)))
        return PartResult(counts, len(here))

    def _tried_scores(self) -> NDArray[Any]:
        """Return the scores of the held-out rows; only updates since the last call are new."""
        if not self._tallies:
            self._begin_tallies()
        steps = steps_of(self.updates.since(self._n_tallied), joint=self._state.pairs)
        chunks = update_chunks(steps, self._block)
        for here, tally in self._tallies:
            tally.advance(chunks, self._values(here))
        self._n_tallied, count = len(self.updates), self.updates.end
        scores = [tally.scores_of(self._memory, count) for _, tally in self._tallies]
        return np.concatenate(scores, axis=1)

    def _begin_tallies(self) -> None:
        """Score held-out rows by what the state was before this training."""
        state = self._state
        how: dict[str, Any] = {"memories": (self._memory,), "positive": self._zero > 0}
        chunks = update_chunks(steps_of(state.mistakes.updates, joint=state.pairs), self._block)
        for part in self._blocks(self.left_out):
            here = part.order
            tally = Tally(len(here), state.n_classes, joint=state.joint, **how)
            if state.rows is not None:
                gram = gram_between(self._kernel, state.rows, take(part.rows, here))
                tally.advance(chunks, gram(np.arange(len(here))))
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
        examples = self.examples
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
        steps = steps_of(self._pass_updates.updates, joint=self._state.pairs)
        for start in range(first, len(taught), self._sizes.tile):
            stop = min(start + self._sizes.tile, len(taught))
            gram = panel(taught[start:stop])
            some = slice(*np.searchsorted(steps.row, [start, stop]))
            here = Steps(steps.row[some] - start, *(column[some] for column in steps[1:]))
            add_in_threads(here, gram, scores)

    def _catch_up(self) -> None:
        """Change the scores to those under the last weights."""
        for rows, n_taught in self._visited:
            if n_taught < len(self._taught):
                scores = np.ascontiguousarray(self._scores[:, rows])
                self._add_steps(self._gram.panel(rows), n_taught, scores)
                self._scores[:, rows] = scores
        self._gram.complete(self._taught.values)
        self._taught, self._pass_updates = GrowingArray(np.empty(0, np.int64)), Mistakes()
        self._visited = []

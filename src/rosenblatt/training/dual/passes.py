"""One pass in the dual, block by block.

The scores of all rows under the weights at the start of the pass are kept. A block of rows first
catches up on the rows that taught since: their kernel values are computed together. Then the block
is visited row by row with the values among its own rows. So a pass costs as many kernel values as
there are rows times rows that taught in this very pass, however many taught before.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.counts import Counts
from rosenblatt.kernels.dual import Steps, add_steps
from rosenblatt.kernels.shapes import GrowingArray
from rosenblatt.rules import Rule
from rosenblatt.training.dual.gram import Gram, KeptGram
from rosenblatt.training.dual.products import Panel
from rosenblatt.training.dual.sizes import Sizes
from rosenblatt.training.dual.step_list import StepList
from rosenblatt.training.dual.targets import Targets
from rosenblatt.training.dual.threads import shared
from rosenblatt.training.state import overflow


class _Block(NamedTuple):
    """Rows that were visited together, and how many rows had taught by then."""

    rows: NDArray[Any]
    n_taught: int


class DualPasses:
    """Scores of rows that are learned from, pass after pass, and the steps that were taken."""

    def __init__(
        self,
        gram: Gram,
        targets: Targets,
        scores: NDArray[Any],  # (columns, rows) under the weights to start from; changed
        rule: Rule,
        zero: int,
        count: int,  # Algorithm 7's c
        sizes: Sizes,
        *,
        keep: bool,  # kernel values for later passes
    ) -> None:
        n_rows = scores.shape[1]
        self._gram = KeptGram(gram, n_rows, sizes.kept) if keep else gram
        self._targets, self._scores = targets, scores
        self._rule, self._zero, self._sizes = rule, zero, sizes
        self.count = count
        self.steps = StepList.empty()  # of all passes; rows by their numbers
        self._taught = GrowingArray(np.empty(0, np.int64))  # in this pass: row numbers
        self._pass_steps = StepList.empty()  # of this pass; rows by their place among the taught
        self._blocks: list[_Block] = []

    def blocks(self, order: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Yield the rows of a pass, block by block, each to be visited before the next."""
        self._catch_up()
        order = order.copy()  # its blocks are needed when the next pass begins
        for start in range(0, len(order), self._sizes.block):
            yield order[start : start + self._sizes.block]

    def mistakes(self, order: NDArray[Any]) -> int:
        """Count the mistakes that the last weights make on these rows."""
        self._catch_up()
        scores = np.ascontiguousarray(self._scores[:, order])
        return self._targets.of(order).mistakes(scores, self._zero)

    def visit(self, here: NDArray[Any]) -> Counts:
        """Change everything by a visit to each of these rows."""
        panel = self._gram.panel(here)
        scores = np.ascontiguousarray(self._scores[:, here])
        self._add_steps(panel, 0, scores)
        gram = panel(here)
        targets = self._targets.of(here)
        counts, steps = targets.visit(gram, self._rule, self._zero, scores, self.count)
        if not np.isfinite(scores).all():
            raise overflow(when="in these rows, which are not learned")
        self._scores[:, here] = scores
        self.count += len(here)
        places, which = np.unique(steps.row, return_inverse=True)  # in the order of the visit
        self.steps.append(steps._replace(row=here[steps.row]))
        self._pass_steps.append(steps._replace(row=len(self._taught) + which))
        if isinstance(self._gram, KeptGram):
            self._gram.keep(here[places], here, gram[places])
        self._taught.append(here[places])
        self._blocks.append(_Block(here, len(self._taught)))
        return counts

    def _add_steps(self, panel: Panel, first: int, scores: NDArray[Any]) -> None:
        """Change scores by the steps of the rows that taught in this pass from the first on."""
        taught, steps = self._taught.values, self._pass_steps.values
        for start in range(first, len(taught), self._sizes.tile):
            stop = min(start + self._sizes.tile, len(taught))
            gram = panel(taught[start:stop])
            some = slice(*np.searchsorted(steps.row, [start, stop]))
            add_in_threads(
                Steps(steps.row[some] - start, *(column[some] for column in steps[1:])),
                gram,
                scores,
            )

    def _catch_up(self) -> None:
        """Change the scores to those under the last weights."""
        for rows, n_taught in self._blocks:
            if n_taught < len(self._taught):
                scores = np.ascontiguousarray(self._scores[:, rows])
                self._add_steps(self._gram.panel(rows), n_taught, scores)
                self._scores[:, rows] = scores
        if isinstance(self._gram, KeptGram):
            self._gram.complete(self._taught.values)
        self._taught, self._pass_steps = GrowingArray(np.empty(0, np.int64)), StepList.empty()
        self._blocks = []


def add_in_threads(steps: Steps, gram: NDArray[Any], scores: NDArray[Any]) -> None:
    """Change scores by these steps, the rows at hand shared among threads."""
    row, column, size, _ = steps
    shared(
        lambda begin, end: add_steps(row, column, size, gram, begin, end, scores),
        scores.shape[1],
    )

"""The forms that rows of a table can have: as they are, with bins, and with pairs and triples.

Each form is a sum of blocks of cells (``data/encoding/grids``). Which blocks, and what they may
cost, was chosen on held-out rows of training: see docs/defaults.md.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch, first_values, join
from rosenblatt.data.encoding import GridEncoding, TableEncoding
from rosenblatt.data.encoding.features import Columns
from rosenblatt.data.encoding.grids import FINEST, Block, ColumnGrids, NestedEdges, nested_edges
from rosenblatt.data.encoding.numbers import RowSample
from rosenblatt.data.files import Encoding, TrainingFiles
from rosenblatt.errors import InputError, Parameter
from rosenblatt.kernels.shapes import copied_rows
from rosenblatt.models.column_pairs import (
    beyond_chance,
    first_scores,
    named_pairs,
    ranked_pairs,
)
from rosenblatt.models.learner import Learner
from rosenblatt.training.streaming import Form, Reading

PLAIN, FEW_BINS, BINS, PAIRS, TRIPLES, MORE_PAIRS = FORMS = (  # the simplest first
    "plain",
    "few-bins",
    "bins",
    "pairs",
    "triples",
    "more-pairs",
)
WITH_PAIRS = (PAIRS, TRIPLES, MORE_PAIRS)
Grids = tuple[tuple[int, bool], ...]  # ranges, and whether they are shifted by half of one
PAIR_GRIDS: Grids = (
    *((4, False), (4, True), (8, False), (8, True)),
    *((16, False), (16, True), (32, False)),
)
WIDE_GRIDS: Grids = ((4, False), (8, False), (16, False), (32, False))  # of pairs beyond the first
TRIPLE_GRIDS: Grids = ((4, False), (8, False), (16, False))
OWN_GRID: Grids = ((FINEST, False),)  # of bins whose number is asked for
RANKED_LEVEL = 8  # on which pairs are compared
FIRST_PAIRS = 20
MOST_PAIRS, PAIR_BUDGET = 400, 30.0  # beyond the first
MOST_TRIPLES, TRIPLE_BUDGET = 60, 20.0
MOST_TRIPLED = 10  # columns, those most often in the first pairs
FULL_CELLS = 256  # of a set of columns that costs 1; smaller ones cost their share
MOST_PICKED = 20_000  # rows by which pairs are chosen
MOST_FITTED = 100_000  # rows that say which cells occur


class FittedForm(NamedTuple):
    """A form in which the rows of a reading can be learned from."""

    name: str
    encoding: Encoding
    form: Form  # gives blocks this encoding

    @property
    def n_blocks(self) -> int:
        """How many indicators a row has."""
        table = self.encoding.table
        own = [] if table is None else [one for one in table.features if one.role == "category"]
        edges = () if table is None or table.bins is None else table.bins.edges
        n_ranged = sum(len(one) > 0 for one in edges)
        blocks = self.encoding.blocks if isinstance(self.encoding, GridEncoding) else ()
        return max(len(own) + n_ranged + len(blocks), 1)

    @property
    def n_terms(self) -> int:
        """How many shapes, maps and triples a reader has to look at."""
        table = self.encoding.table
        own = 0 if table is None else len(table.features)
        return own + (len(self.encoding.terms) if isinstance(self.encoding, GridEncoding) else 0)


class CodedRows(NamedTuple):
    """Rows of the inner encoding of a form, and the codes of their columns on grids."""

    rows: Batch
    grids: ColumnGrids
    codes: NDArray[np.int32]  # (n_columns, n_rows)


class TableForms:
    """The forms of the rows of a reading, each made of some rows when it is wanted."""

    def __init__(self, source: TrainingFiles, reading: Reading, learner: Learner) -> None:
        self._source, self._learner = source, learner
        said: Columns = source.columns
        self.bins, self.pairs, self.asked = said.bins, said.column_pairs, said.form
        self.plain = cast("Encoding", source.encoding)
        known = isinstance(self.plain, TableEncoding) and self.plain.owners() is not None
        table = self.plain.table if known else None  # no two columns share a feature
        self._check(table)
        self._edges: list[NestedEdges] = []
        if table is not None and table.n_numeric and self.bins is None:
            sample = RowSample(table.n_numeric)
            for blocks in reading.stored():
                numbers = first_values(blocks.data, blocks.indptr, table.n_numeric)
                sample.add(numbers[blocks.learnable])
            self._edges = [nested_edges(own) for own in sample.columns()]
        self.fine = self._binned(table, FINEST)
        self.coarse = self._binned(table, 8)

    def _check(self, table: TableEncoding | None) -> None:
        """Raise InputError where pairs are asked for that there cannot be."""
        if self.pairs and table is None:
            named = Parameter("column_pairs")
            if isinstance(self.plain, TableEncoding):
                raise InputError(f"{named} is not available with {Parameter('hash_bits')}.")
            raise InputError(f"{named} needs named columns; svmlight files have none.")

    def _binned(self, table: TableEncoding | None, level: int) -> TableEncoding | None:
        """Return the encoding with numbers on a grid; with the bins asked for, where they are."""
        if table is None or not self._edges:
            return table
        return table.with_bins(level, [own.of_level(level).edges for own in self._edges])

    @property
    def names(self) -> list[str]:
        """The forms that there can be, the simplest first."""
        if self.fine is None or self.bins == 0:
            return [PLAIN]
        able = [one for one in self.fine.features if one.role in ("numeric", "category")]
        bins = [FEW_BINS, BINS] if self._edges else []
        paired = len(able) > 1 and self._learner.answer.races and self.pairs != 0
        if self.pairs:
            return [PAIRS]
        found = [PLAIN, *bins, *((PAIRS, TRIPLES, MORE_PAIRS) if paired else ())]
        most = FORMS.index(self.asked or MORE_PAIRS)
        return [name for name in found if FORMS.index(name) <= most]

    def title(self, name: str) -> str:
        """Return what a form is called."""
        binned = name == PLAIN and self.bins
        return "bins" if binned else name.replace("-", " ")

    @property
    def most_added(self) -> float:
        """How many values a row has in the form of pairs beside those of its block, about."""
        n_levels = sum(len(np.unique(own.levels)) for own in self._edges)
        return n_levels + (FIRST_PAIRS * len(PAIR_GRIDS) if PAIRS in self.names else 0)

    def inner(self, name: str) -> Encoding:
        """Return the encoding in which rows of a form are before their cells are looked up."""
        if name == PLAIN or self.fine is None:
            return self.plain
        return self.coarse if name == FEW_BINS and self.coarse is not None else self.fine

    def encoded(self, name: str, blocks: Batch) -> Batch:
        """Return blocks as rows of the inner encoding of a form."""
        return self._source.encoded(blocks, encoding=self.inner(name))

    def coded(self, name: str, rows: Batch) -> CodedRows:
        """Return rows of the inner encoding of a form with the grids that they have."""
        inner = cast("TableEncoding", self.inner(name))
        grids = ColumnGrids.of_rows(inner, self._levels(name), [rows])
        return CodedRows(rows, grids, grids.of_rows_in(rows))

    @property
    def as_it_is(self) -> FittedForm:
        """The plain form."""
        return FittedForm(PLAIN, self.plain, partial(self._source.encoded, encoding=self.plain))

    def fitted(
        self, name: str, coded: CodedRows, pairs: Sequence[tuple[int, int]] = ()
    ) -> FittedForm:
        """Return a form with blocks of cells by rows that say which of them occur."""
        inner, grids = cast("TableEncoding", self.inner(name)), coded.grids
        blocks = self._blocks(name, grids, pairs)
        encoding = GridEncoding.of_rows(grids, inner, blocks, coded.codes)
        return FittedForm(name, encoding, partial(self._source.encoded, encoding=encoding))

    def _levels(self, name: str) -> NDArray[np.int32]:
        """Return the coarsest grid of each edge; edges that were asked for are on one grid."""
        inner = self.inner(name)
        bins = inner.bins if isinstance(inner, TableEncoding) else None
        n_edges = 0 if bins is None else sum(map(len, bins.edges))
        if not self._edges:
            return np.full(n_edges, FINEST, np.int32)
        most = 8 if name == FEW_BINS else FINEST
        return np.concatenate([own.of_level(most).levels for own in self._edges])

    def _blocks(
        self, name: str, grids: ColumnGrids, pairs: Sequence[tuple[int, int]]
    ) -> list[Block]:
        """Return the blocks of a form beside those of its inner encoding."""
        own = self._edges != []
        found = grids.singles() if own else []
        if name in (FEW_BINS, BINS):
            return found
        first = pairs if self.pairs else pairs[:FIRST_PAIRS]
        usual = PAIR_GRIDS if own or not self.bins else OWN_GRID
        found += [block for pair in first for block in grids.distinct(pair, usual)]
        if name in (TRIPLES, MORE_PAIRS):
            triples = _affordable(grids, _triples(first), TRIPLE_BUDGET, MOST_TRIPLES, 8)
            found += [block for one in triples for block in grids.distinct(one, TRIPLE_GRIDS)]
        if name == MORE_PAIRS:
            rest = _affordable(grids, pairs[FIRST_PAIRS:], PAIR_BUDGET, MOST_PAIRS, 32)
            found += [block for pair in rest for block in grids.distinct(pair, WIDE_GRIDS)]
        return found

    def picked_pairs(
        self, coded: CodedRows, numbers: NDArray[Any], n_classes: int
    ) -> list[tuple[int, int]]:
        """Return the pairs that rows of these classes ask for most, or those asked for."""
        if self.pairs and not isinstance(self.pairs, int):
            return named_pairs(cast("TableEncoding", self.inner(PAIRS)), self.pairs)
        encoding = self.fitted(BINS, coded).encoding
        rows, n_features = encoding.expand(coded.rows), encoding.n_features
        scores = first_scores(self._learner, rows, n_features, numbers, n_classes)
        level = RANKED_LEVEL if self._edges else FINEST
        cells = {place: coded.grids.cells(place, 3, level) for place in coded.grids.places}
        ranked = ranked_pairs(cells, coded.codes, numbers, scores)
        if isinstance(self.pairs, int) and self.pairs:
            ranked = beyond_chance(ranked)[: self.pairs]
        return [pair.columns for pair in ranked]

    def of_all(self, name: str, reading: Reading) -> FittedForm:
        """Return a form by rows from all over a reading."""
        if name == PLAIN:
            return self.as_it_is
        pairs: list[tuple[int, int]] = []
        if name in WITH_PAIRS:
            drawn, rows = self._drawn(name, reading, MOST_PICKED)
            numbers = reading.met.ranks[reading.labels(drawn)[0]]
            pairs = self.picked_pairs(self.coded(name, rows), numbers, len(reading.classes))
        return self.fitted(
            name, self.coded(name, self._drawn(name, reading, MOST_FITTED)[1]), pairs
        )

    def _drawn(self, name: str, reading: Reading, most: int) -> tuple[NDArray[Any], Batch]:
        """Return at most so many rows from all over a reading, as a form has them inside."""
        n_rows = reading.n_rows - reading.n_validation
        drawn = np.arange(0, n_rows, -(-n_rows // most))
        return drawn, self.encoded(name, join([*reading.taken(drawn)]))


def taken(rows: Batch, numbers: NDArray[Any]) -> Batch:
    """Return copies of some rows, without their labels."""
    some = copied_rows(rows.csr(rows.n_features, 0.0), numbers)
    return Batch(some.data, some.indices, some.indptr, n_features=rows.n_features)


def _triples(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Return triples of the columns that are most often in pairs, of the first columns first."""
    often = Counter(place for pair in pairs for place in pair)
    top = [place for place, _ in often.most_common(MOST_TRIPLED)]
    chosen = sorted(combinations(range(len(top)), 3), key=lambda one: (one[2], one))
    return [tuple(top[k] for k in one) for one in chosen]


def _affordable(
    grids: ColumnGrids, sets: Sequence[tuple[int, ...]], budget: float, most: int, level: int
) -> list[tuple[int, ...]]:
    """Return the first sets of columns that do not cost too much together."""
    found, cost = list[tuple[int, ...]](), 0.0
    for columns in sets:
        widths = [grids.cells(place, len(columns), level).size - 1 for place in columns]
        cost += min(1.0, float(np.prod(widths)) / FULL_CELLS)
        if cost > budget or len(found) == most:
            break
        found.append(columns)
    return found

"""Cells of columns on nested grids: with them a table is a sum of shapes, maps and triples.

A number has up to 64 ranges of about equal weight, and coarser grids that keep every second edge,
every fourth …, so that each grid is a union of cells of the finest. A grid may be shifted by half a
cell. A block is one, two or three columns on a grid: each row has one of its cells. All blocks of
the same columns add up to one table over their finest cells, exactly, which ``merged`` makes: a
shape of one column, a map of two (additive models with pairs: Lou, Caruana, Gehrke & Hooker,
"Accurate intelligible models with pairwise interactions", KDD 2013).
"""

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch, running_sums
from rosenblatt.data.conjunctions import levels_of
from rosenblatt.data.encoding.features import FeatureEncoding
from rosenblatt.data.encoding.numbers import edge_between
from rosenblatt.data.encoding.table_encoding import TableEncoding
from rosenblatt.kernels.cells import CellPlaces, LevelCodes, write_cells

GRIDS_VERSION = 1
LEVELS = (4, 8, 16, 32, 64)  # how many ranges grids have at most
FINEST = LEVELS[-1]
CAPPINGS = 8  # rounds in which the weight of a frequent value is bounded
MOST_PAIRED = 255  # categories of a column in its pairs, the most frequent; in triples the level
MOST_JOINED = 3  # columns of a block
FEWEST_IN_CELL = 2  # rows; cells of pairs and triples with fewer share a feature with new ones
OWN_CODES = 2  # beside those of levels
MISSING, RARE = 0, 1  # codes of a category; those of its levels follow, the most frequent first
OTHERS = "others"  # cells and categories without a feature of their own
INNER = "inner."  # begins the names of arrays of an encoding within another


class NestedEdges(NamedTuple):
    """The edges between the ranges of a number, and the coarsest grid that has each."""

    edges: NDArray[np.float64]  # ascending
    levels: NDArray[np.int32]

    def of_level(self, level: int) -> "NestedEdges":
        """Return the edges of a coarser grid."""
        kept = self.levels <= level
        return NestedEdges(self.edges[kept], self.levels[kept])


def nested_edges(values: NDArray[np.float64]) -> NestedEdges:
    """Return the edges of grids of 64, 32, 16, 8 and 4 ranges of about equal weight.

    A value weighs as many rows as have it, but at most a 64th of all weight, so that a frequent 0
    has one range and leaves the others to the rest.

    >>> found = nested_edges(np.array([0.0] * 90 + [1.0, 2.0, 3.0]))
    >>> found.edges.tolist(), found.levels.tolist()
    ([0.5, 1.5, 2.5], [4, 4, 4])
    """
    values, counts = np.unique(values, return_counts=True)
    if len(values) < 2:
        return NestedEdges(np.empty(0), np.empty(0, np.int32))
    weights = counts.astype(float)
    for _ in range(CAPPINGS):
        weights = np.minimum(counts, weights.sum() / FINEST)
    below = (np.cumsum(weights) - weights) / weights.sum()
    coarsest = np.zeros(len(values), np.int32)  # of the edge below each value; 0: there is none
    for level in reversed(LEVELS):
        places = np.searchsorted(below, np.arange(1, level) / level - 1e-12)
        coarsest[places[(places > 0) & (places < len(values))]] = level
    above = np.flatnonzero(coarsest)
    pairs = zip(values[above - 1].tolist(), values[above].tolist(), strict=True)
    edges = np.array([edge_between(low, high) for low, high in pairs])
    return NestedEdges(edges, coarsest[above])


class Block(NamedTuple):
    """The cells of some columns on a grid, of which a row has one."""

    columns: tuple[int, ...]  # places
    level: int
    shifted: bool = False  # by half a cell


class Cells(NamedTuple):
    """The cells of a column on a grid."""

    numbers: NDArray[np.int32]  # of each code of the finest grid
    size: int


class ColumnGrids:
    """The grids of the columns of an encoding, and the code of each of its levels."""

    def __init__(
        self, inner: TableEncoding, codes: NDArray[np.int32], levels: NDArray[np.int32]
    ) -> None:
        self.codes, self.levels = codes, levels  # of features, −1: no level; of edges
        owners = inner.owners()
        self.owners: NDArray[np.int32] = np.empty(0, np.int32) if owners is None else owners
        own = inner.bins.edges if inner.bins is not None else [np.empty(0)] * inner.n_numeric
        ends = np.cumsum([0, *map(len, own)]).tolist()
        numeric = iter(range(inner.n_numeric))
        self._levels: dict[int, NDArray[np.int32]] = {}  # of the edges of a number, by its place
        self._n_codes: dict[int, int] = {}
        for column in inner.features:
            if column.role == "numeric":
                k = next(numeric)
                self._levels[column.place] = levels[ends[k] : ends[k + 1]]
            elif column.role == "category":
                known = codes[self.owners == column.place]
                self._n_codes[column.place] = max(int(known.max(initial=RARE)) + 1, 2)
        self.places = [*sorted({*self._levels, *self._n_codes})]
        self.default = np.full(len(inner.features), RARE, np.int32)  # of a row without a level
        self.default[[*self._levels]] = 0
        self._known: dict[tuple[int, int, int, bool], Cells] = {}

    @classmethod
    def of_rows(
        cls, inner: TableEncoding, levels: NDArray[np.int32], rows: Iterable[Batch]
    ) -> "ColumnGrids":
        """Return the grids of an encoding; rows say which categories are frequent."""
        owners = inner.owners()
        if owners is None:
            raise ValueError("Hashed features belong to no column.")
        counts = np.zeros(inner.n_features, np.int64)
        for part in rows:
            counts += np.bincount(part.indices, minlength=inner.n_features)[: len(counts)]
        codes, n, gaps = np.full(inner.n_features, -1, np.int32), inner.n_numeric, inner.gaps()
        bins = iter([] if inner.bins is None else inner.bins.features)
        for column in inner.features:
            own = np.flatnonzero(owners == column.place)
            if column.role == "numeric":
                ranges = next(bins, np.empty(0, np.int32))
                ranges = ranges[ranges >= 0] + n
                codes[own] = max(len(ranges), 1)  # a missing value comes last
                codes[ranges] = np.arange(len(ranges))
            elif column.role == "category":
                order = own[np.argsort(-counts[own], kind="stable")]
                order = order[(counts[order] >= FEWEST_IN_CELL) & ~gaps[order]]
                codes[own] = np.where(gaps[own], MISSING, RARE)
                codes[order] = RARE + 1 + np.arange(len(order))
        return cls(inner, codes, levels)

    def is_category(self, place: int) -> bool:
        """Whether a column holds categories."""
        return place in self._n_codes

    def cells(self, place: int, n_columns: int, level: int, shifted: bool = False) -> Cells:
        """Return the cells of a column on a grid, in blocks of so many columns."""
        key = place, min(n_columns, 3), level, shifted
        if key not in self._known:
            self._known[key] = self._cells(*key)
        return self._known[key]

    def _cells(self, place: int, n_columns: int, level: int, shifted: bool) -> Cells:
        if place in self._n_codes:
            n = self._n_codes[place]
            most = {1: n, 2: MOST_PAIRED, 3: level}[n_columns] + RARE + 1
            codes = np.arange(n, dtype=np.int32)
            return Cells(np.where(codes < most, codes, RARE).astype(np.int32), min(n, most))
        known = self._levels[place]
        finer = 2 * level if shifted else level
        numbers = np.r_[0, np.cumsum(known <= finer)]
        if shifted:
            numbers = (numbers + 1) // 2
        count = int(numbers[-1]) + 2
        return Cells(np.r_[numbers, count - 1].astype(np.int32), count)

    def of_rows_in(self, rows: Batch) -> NDArray[np.int32]:
        """Return the code of each column in each row, (n_columns, n_rows)."""
        levels = levels_of(rows, self.owners)
        found = np.repeat(self.default[:, None], rows.n_rows, axis=1)
        for place in self.places:
            if place < levels.shape[1]:
                own = levels[:, place]
                found[place] = np.where(own >= 0, self.codes[own], self.default[place])
        return found

    def keys(self, codes: NDArray[np.int32], block: Block) -> tuple[NDArray[np.int64], int]:
        """Return the cell of each row in a block, and how many cells there are."""
        found, n = np.zeros(codes.shape[1], np.int64), 1
        for place in block.columns:
            numbers, count = self.cells(place, len(block.columns), block.level, block.shifted)
            found = found * count + numbers[codes[place]]
            n *= count
        return found, n

    def n_cells(self, block: Block) -> int:
        """Return how many cells a block has."""
        n, level, shifted = len(block.columns), block.level, block.shifted
        return math.prod(self.cells(place, n, level, shifted).size for place in block.columns)

    def codes_fit(self) -> bool:
        """Return whether no code is beyond those of its column."""
        counts = {place: len(levels) + 2 for place, levels in self._levels.items()}
        known = self.codes >= 0
        most = np.array([counts.get(k, self._n_codes.get(k, 0)) for k in range(len(self.default))])
        own = self.owners[known]
        return bool((own >= 0).all() and (self.codes[known] < most[own]).all())

    def distinct(self, columns: tuple[int, ...], grids: Iterable[tuple[int, bool]]) -> list[Block]:
        """Return blocks of these columns without those that have the cells of an earlier one."""
        seen, found = set(), []
        for level, shifted in grids:
            own = [self.cells(place, len(columns), level, shifted) for place in columns]
            key = b"".join(cells.numbers.tobytes() for cells in own)
            if key not in seen:
                seen.add(key)
                found.append(Block(columns, level, shifted))
        return found

    def singles(self) -> list[Block]:
        """Return the blocks of numbers on grids that are coarser than their finest."""
        found = []
        for place in self._levels:
            sizes = {int(count): level for level in LEVELS for count in [self._width(place, level)]}
            finest = self._width(place, FINEST)
            coarser = [(size, level) for size, level in sizes.items() if 2 < size < finest]
            found += [Block((place,), level) for _, level in coarser]
        return found

    def _width(self, place: int, level: int) -> int:
        return self.cells(place, 1, level).size


class GridEncoding(FeatureEncoding):
    """Features of a table with bins, and behind them the cells of blocks of its columns.

    A block of one column has a feature for each cell. One of several has a feature for each cell
    that two rows or more had, and before them one for all others.
    """

    kind = "grids"

    def __init__(
        self,
        grids: ColumnGrids,
        inner: TableEncoding,
        blocks: Sequence[Block],
        cells: Sequence[NDArray[np.int64]],
    ) -> None:
        self.grids, self.inner, self.blocks = grids, inner, tuple(blocks)
        self.cells = tuple(cells)  # ascending keys of those that have features; of one column none
        sizes = [self._size(*own) for own in zip(self.blocks, self.cells, strict=True)]
        self.first = inner.n_features + running_sums(np.array(sizes, np.int64))
        self.n_features = int(self.first[-1])

    def _size(self, block: Block, cells: NDArray[np.int64]) -> int:
        return self.grids.n_cells(block) if len(block.columns) == 1 else len(cells) + 1

    @classmethod
    def of_rows(
        cls,
        grids: ColumnGrids,
        inner: TableEncoding,
        blocks: Sequence[Block],
        codes: NDArray[np.int32],
    ) -> "GridEncoding":
        """Return the encoding in which cells have features that occur in rows of these codes."""
        cells = []
        for block in blocks:
            found = np.empty(0, np.int64)
            if len(block.columns) > 1:
                keys, n = grids.keys(codes, block)
                found = np.flatnonzero(np.bincount(keys, minlength=n) >= FEWEST_IN_CELL)
            cells.append(found)
        return cls(grids, inner, blocks, cells)

    @property
    def table(self) -> TableEncoding:
        """The encoding of columns."""
        return self.inner

    @cached_property
    def lookups(self) -> list[NDArray[np.int32]]:
        """The feature of each cell of each block."""
        found = []
        for block, cells, first in zip(self.blocks, self.cells, self.first.tolist(), strict=False):
            n = self.grids.n_cells(block)
            if len(block.columns) == 1:
                own = np.arange(first, first + n, dtype=np.int32)
            else:
                own = np.full(n, first, np.int32)
                own[cells] = np.arange(first + 1, first + 1 + len(cells))
            found.append(own)
        return found

    def expand(self, batch: Batch) -> Batch:
        """Return rows of the inner encoding with the features of their cells behind their own."""
        known = batch.below(self.inner.n_features)
        if not self.blocks:
            return known
        ends = known.indptr - known.indptr[0]
        indptr = ends + len(self.blocks) * np.arange(len(ends))
        indices = np.empty(indptr[-1], np.int32)
        data = np.empty(indptr[-1], known.data.dtype if len(known.data) else np.float64)
        room = np.empty(len(self.grids.default), np.int32)
        levels = LevelCodes(self.grids.owners, self.grids.codes, self.grids.default)
        rows = known.csr(self.inner.n_features, 0.0)
        write_cells(rows, levels, self._places, room, data, indices)
        return batch.with_rows(Batch(data, indices, indptr, n_features=self.n_features))

    @cached_property
    def _places(self) -> CellPlaces:
        """Where the features of cells are looked up."""
        shape = len(self.blocks), MOST_JOINED
        places, sizes = np.full(shape, -1, np.int32), np.ones(shape, np.int64)
        starts, numbers = np.zeros(shape, np.int64), list[NDArray[Any]]()
        known, end = dict[Any, int](), 0
        for b, block in enumerate(self.blocks):
            for k, place in enumerate(block.columns):
                own = place, len(block.columns), block.level, block.shifted
                cells = self.grids.cells(*own)
                if own not in known:
                    known[own], end = end, end + len(cells.numbers)
                    numbers.append(cells.numbers)
                places[b, k], sizes[b, k], starts[b, k] = place, cells.size, known[own]
        lengths = np.array([len(own) for own in self.lookups], np.int64)
        together = np.concatenate(numbers), running_sums(lengths)[:-1]
        return CellPlaces(places, starts, sizes, *together, np.concatenate(self.lookups))

    @property
    def is_merged(self) -> bool:
        """Whether there is one block of the same columns, and for each alone its levels serve."""
        joined = {one.columns for one in self.blocks if len(one.columns) > 1}
        return len(joined) == len(self.blocks)

    @property
    def terms(self) -> list[tuple[int, ...]]:
        """The sets of several columns that add to the scores together, the first chosen first."""
        return [*dict.fromkeys(one.columns for one in self.blocks if len(one.columns) > 1)]

    def cell_features(self, columns: tuple[int, int], a: NDArray[Any], b: NDArray[Any]) -> Any:
        """Return the feature of each level of a column with each level of another, (n, m).

        Of blocks that are merged; levels are features of the inner encoding, −1 the one of a number
        that has no ranges.
        """
        k = next(k for k, block in enumerate(self.blocks) if block.columns == columns)
        one, other = (
            self.grids.cells(place, 2, self.blocks[k].level, self.blocks[k].shifted)
            for place in columns
        )
        codes = [np.where(own < 0, 0, self.grids.codes[own]) for own in (a, b)]
        keys = one.numbers[codes[0]][:, None] * other.size + other.numbers[codes[1]][None]
        return self.lookups[k][keys]

    def part_of(self, index: int) -> tuple[tuple[int, ...], int]:
        """Return the columns that a feature is of, and on how fine a grid; a text is its own."""
        inner = self.inner
        if index < inner.n_numeric:
            numeric = [one.place for one in inner.features if one.role == "numeric"]
            return (numeric[index],), 0
        if index < inner.n_features:
            place = int(self.grids.owners[index])
            return ((place,), FINEST) if place >= 0 else ((-1, index), 0)
        block = self.blocks[int(np.searchsorted(self.first, index, side="right")) - 1]
        return block.columns, 2 * block.level - block.shifted

    def titles(self, columns: Iterable[int]) -> list[str]:
        """Return what columns are called."""
        return [self.inner.features[place].title for place in columns]

    def name(self, index: int) -> str:
        """Return what a feature is called: a cell by the ranges and categories of its columns."""
        if index < self.inner.n_features:
            return self.inner.name(index)
        self.check_index(index)
        k = int(np.searchsorted(self.first, index, side="right")) - 1
        block, place = self.blocks[k], index - int(self.first[k])
        if len(block.columns) > 1:
            if not place:
                return f"{' and '.join(self.titles(block.columns))}: {OTHERS}"
            place = int(self.cells[k][place - 1])
        texts = list[str]()
        for column in reversed(block.columns):
            own = self.grids.cells(column, len(block.columns), block.level, block.shifted)
            place, number = divmod(place, own.size)
            texts.append(self._cell_name(column, own, number))
        return " and ".join(reversed(texts))

    def _cell_name(self, place: int, cells: Cells, number: int) -> str:
        """Return what a cell of a column is called."""
        column, codes = self.inner.features[place], np.flatnonzero(cells.numbers == number)
        if self.grids.is_category(place):
            level = OTHERS
            if len(codes) == 1 and codes[0] != RARE:
                own = np.flatnonzero((self.grids.owners == place) & (self.grids.codes == codes[0]))
                level = self.inner.name(int(own[0])) if len(own) else "(missing)"
            return level if level.startswith(column.title) else f"{column.title}={level}"
        if number == cells.size - 1:
            return f"{column.title} is missing"
        edges = [f"{edge:.15g}" for edge in self._edges(place)]
        low, high = int(codes[0]), int(codes[-1])
        if not edges:
            return f"{column.title} is there"
        if low == 0:
            return f"{column.title} below {edges[high]}" if high < len(edges) else column.title
        end = f" to {edges[high]}" if high < len(edges) else ""
        return f"{column.title} from {edges[low - 1]}{end}"

    def _edges(self, place: int) -> list[float]:
        numeric = [one.place for one in self.inner.features if one.role == "numeric"]
        bins = self.inner.bins
        own: list[float] = [] if bins is None else bins.edges[numeric.index(place)].tolist()
        return own

    def merged(self) -> "MergedCells":
        """Return the encoding in which all blocks of the same columns are one, on their finest."""
        blocks, adds = list[Block](), list[Moved]()
        for columns in dict.fromkeys(block.columns for block in self.blocks):
            own = [k for k, block in enumerate(self.blocks) if block.columns == columns]
            if len(columns) == 1:
                adds += [self._moved_to_levels(k) for k in own]
            else:
                each = [self.blocks[k] for k in own]
                blocks.append(Block(columns, max(one.level << one.shifted for one in each)))
        n_cells = [self.grids.n_cells(block) for block in blocks]
        cells = [np.arange(n) for n in n_cells]
        found = GridEncoding(self.grids, self.inner, blocks, cells)
        for block, n, first in zip(blocks, n_cells, found.first.tolist(), strict=False):
            parts = [k for k, one in enumerate(self.blocks) if one.columns == block.columns]
            targets = first + 1 + np.arange(n)
            adds += [Moved(targets, self.lookups[k][self._coarser(block, k)]) for k in parts]
        return MergedCells(found, adds, self._alike(found), self.n_features)

    def _alike(self, finer: "GridEncoding") -> "Moved":
        """Return features of blocks on finest grids, and those here that stand for the same."""
        known = {block: k for k, block in enumerate(self.blocks)}
        pairs = list[Moved]()
        for k, block in enumerate(finer.blocks):
            own = known.get(block)
            if own is not None:
                first = int(finer.first[k]) + 1
                pairs.append(Moved(first + self.cells[own], self.lookups[own][self.cells[own]]))
        targets = [np.empty(0, np.int64), *(one.targets for one in pairs)]
        sources = [np.empty(0, np.int64), *(one.sources for one in pairs)]
        return Moved(np.concatenate(targets), np.concatenate(sources))

    def _moved_to_levels(self, k: int) -> "Moved":
        """Return which levels of a column the cells of one of its blocks are made of."""
        block = self.blocks[k]
        (place,) = block.columns
        own = np.flatnonzero(self.grids.owners == place)
        numbers = self.grids.cells(place, 1, block.level, block.shifted).numbers
        return Moved(own, self.lookups[k][numbers[self.grids.codes[own]]])

    def _coarser(self, block: Block, k: int) -> NDArray[np.int64]:
        """Return the cell of a block in which each cell of a finer one lies."""
        other, n_columns = self.blocks[k], len(block.columns)
        found = np.zeros(1, np.int64)
        for place in block.columns:
            fine = self.grids.cells(place, n_columns, block.level, block.shifted)
            coarse = self.grids.cells(place, n_columns, other.level, other.shifted)
            within = np.zeros(fine.size, np.int64)
            within[fine.numbers] = coarse.numbers  # all codes of a cell lie in one
            found = np.add.outer(found * coarse.size, within).ravel()
        return found

    def as_json(self) -> dict[str, Any]:
        """Return what ``encoding_from`` needs beside the arrays."""
        blocks = [[[*one.columns], one.level, one.shifted] for one in self.blocks]
        own = {"kind": self.kind, "version": GRIDS_VERSION, "blocks": blocks}
        return own | {"inner": self.inner.as_json()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the large parts of the encoding."""
        arrays = {f"{INNER}{name}": array for name, array in self.inner.arrays().items()}
        arrays["grid_codes"], arrays["grid_levels"] = self.grids.codes, self.grids.levels
        arrays["grid_cells"] = np.concatenate([np.empty(0, np.int64), *self.cells])
        arrays["grid_offsets"] = running_sums(np.array([len(own) for own in self.cells], np.int64))
        return arrays


class Moved(NamedTuple):
    """Features to whose values those of others are added, one each."""

    targets: NDArray[Any]
    sources: NDArray[Any]


class MergedCells(NamedTuple):
    """An encoding with one block for the same columns, and what its features are sums of."""

    encoding: GridEncoding
    moved: list[Moved]
    alike: Moved  # cells that stood in the encoding before, and their features there
    n_features: int  # before

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of the features by those before; one more, of the bias, may come last."""
        n, rest = self.encoding.inner.n_features, values.shape[-1] - self.n_features
        found = np.zeros((*values.shape[:-1], self.encoding.n_features + rest))
        found[..., :n] = values[..., :n]
        for targets, sources in self.moved:
            found[..., targets] += values[..., sources]
        if rest:
            found[..., -rest:] = values[..., -rest:]
        return found

    def finest(self, values: NDArray[Any], others: float = 0.0) -> NDArray[Any]:
        """Return values of the features that were there before, and one for all others."""
        n = self.encoding.inner.n_features
        found = np.full(self.encoding.n_features, others, values.dtype)
        found[:n] = values[:n]
        found[self.alike.targets] = values[self.alike.sources]
        return found

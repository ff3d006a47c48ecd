"""What columns add to the scores, over their values: bins make an additive model of numbers."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.conjunctions import ColumnPairs, keys
from rosenblatt.data.encoding import ConjoinedEncoding, GridEncoding, TableEncoding
from rosenblatt.data.encoding.features import FeatureColumn
from rosenblatt.data.encoding.numbers import STRAIGHT
from rosenblatt.errors import InputError
from rosenblatt.models.model import Model
from rosenblatt.wording import word_list

REACH = 0.25  # of the width between the outer edges: the outer ranges are drawn no wider
NARROWEST = 0.1  # of all values: as wide a last range is drawn that has but one
MISSING = "is missing"
PAIR = 2  # columns


class Levels(NamedTuple):
    """The levels of a column: ranges of a number, categories, and missing values."""

    names: list[str]
    features: NDArray[np.int64]  # of their indicators; −1 for the one range of a straight number
    ends: NDArray[np.float64]  # (n, 2), where ranges begin and end; NaN for other levels
    scaled: NDArray[np.float64]  # (n, 2), the number's own feature there
    number: int = -1  # the number's own feature; −1 is the bias
    mean: float = 0.0  # of that feature over all rows

    @property
    def straight(self) -> bool:
        """Whether it is a number without bins: a line."""
        return self.number >= 0 and self.features[0] < 0

    def sums(self, values: NDArray[Any], power: int = 1) -> NDArray[np.float64]:
        """Return what levels have at both ends by values of features, (n_scores, n, 2)."""
        own = np.where(self.features < 0, 0.0, values[:, self.features])
        slope = values[:, self.number] if self.number >= 0 else np.zeros(len(values))
        found: NDArray[np.float64] = own[..., None] + slope[:, None, None] * self.scaled**power
        return found


class ColumnShape(NamedTuple):
    """What a column, or two together, add to the scores; on the mean of all rows it is 0.

    Between more than two classes scores are less the mean of all classes.
    """

    columns: tuple[str, ...]  # the name of one, or of two
    levels: tuple[Levels, ...]  # of each
    amounts: NDArray[np.float64]  # (n_scores, n, 2) at both ends, or of a pair (n_scores, n, n)
    deviations: NDArray[np.float64] | None
    shares: NDArray[np.float64]  # of the rows that have each level, or each cell of a pair
    importance: float  # the largest standard deviation of a score; of a pair that of its cells

    @property
    def title(self) -> str:
        """What it is called."""
        return " and ".join(self.columns)

    @property
    def straight(self) -> bool:
        """Whether it is the line of a number without bins, which its weight says as well."""
        one = self.levels[0]
        alone = len(self.levels) == 1 and one.number >= 0
        return alone and np.count_nonzero(~np.isnan(one.ends[:, 0])) == 1

    def of_scores(self, numbers: Sequence[int]) -> "ColumnShape":
        """Return the shape of some scores."""
        unsure = None if self.deviations is None else self.deviations[numbers]
        return self._replace(amounts=self.amounts[numbers], deviations=unsure)


def has_shapes(model: Model) -> bool:
    """Return whether columns add to scores of classes that compete, and have names."""
    named = model.table is not None and model.table.owners() is not None
    return named and model.has_weights and model.task.contrasts


def column_shapes(model: Model, wanted: Sequence[str] = ()) -> list[ColumnShape]:
    """Return the shapes of columns, and of pairs "A:B" that were chosen; by default of all.

    Deviations are those of the weights where the rule keeps them. Else they are 1/√n for n rows of
    a level: what chance does to the mean of n labels of ±1.
    """
    _ = model.state  # raises where there are no weights
    model = model.merged
    encoder, table = model.encoder, model.table
    if table is None or table.owners() is None:
        raise InputError("The shape of columns needs a model of a table whose features have names.")
    columns = {one.title: one for one in table.features if one.role in ("numeric", "category")}
    titles = _pair_titles(encoder)
    names = {name: [name] for name in columns} | {":".join(pair): pair for pair in titles}
    for name in wanted:
        if name not in names:
            listed = word_list(map(repr, names), 12)
            msg = f"The model has no column or pair of columns {name!r}; it has {listed}."
            raise InputError(msg)
    found = []
    for name in wanted or names:
        levels = [column_levels(table, columns[one]) for one in names[name]]
        if all(own.names for own in levels):
            found.append(_shape(model, names[name], levels))
    return found


def triple_importances(model: Model) -> list[tuple[str, float]]:
    """Return the names of triples of columns, with the largest standard deviation of a score."""
    model = model.merged
    encoder = model.encoder
    if not isinstance(encoder, GridEncoding):
        return []
    w, found = model.deciding_weights, []
    w = w - w.mean(axis=0) if len(w) > 1 else w
    ends = zip(encoder.blocks, encoder.first.tolist(), encoder.first[1:].tolist(), strict=False)
    for block, first, end in ends:
        if len(block.columns) > PAIR:
            shares = _shares(model, np.arange(first, end))
            own = w[:, first:end]
            apart = np.square(own.T - (own * shares).sum(axis=1)).T * shares
            importance = float(np.sqrt(apart.sum(axis=1).max()))
            found.append((" and ".join(encoder.titles(block.columns)), importance))
    return found


def _pair_titles(encoder: Any) -> list[list[str]]:
    """Return the names of the columns of pairs."""
    if isinstance(encoder, GridEncoding):
        return [encoder.titles(one) for one in encoder.terms if len(one) == PAIR]
    return encoder.pair_titles() if isinstance(encoder, ConjoinedEncoding) else []


def column_levels(table: TableEncoding, column: FeatureColumn) -> Levels:
    """Return the levels of a column in the order of their features, ranges of a number first."""
    own = np.flatnonzero(np.asarray(table.owners()) == column.place)
    texts = [table.name(int(k)).removeprefix(column.title).lstrip(" =") for k in own]
    if column.role != "numeric":
        return Levels(texts, own, np.full((len(own), 2), np.nan), np.zeros((len(own), 2)))
    numeric = [one.place for one in table.features if one.role == "numeric"]
    number, statistics = numeric.index(column.place), table.statistics
    # Ranges, or one where there are no bins, and the missing values behind them
    bins = [k for k, text in enumerate(texts) if text != MISSING]
    gaps = [k for k, text in enumerate(texts) if text == MISSING]
    names = [*([texts[k] for k in bins] or ["all"]), *([MISSING] * len(gaps))]
    features = np.array([*(own[bins] if bins else [-1]), *own[gaps]], np.int64)
    edges = np.empty(0) if table.bins is None else table.bins.edges[number]
    low, high = statistics.values[3:5, number].tolist()
    low, high = (low, high) if low <= high else (0.0, 0.0)
    reach = REACH * (edges[-1] - edges[0]) if len(edges) > 1 else np.inf
    mean, far = statistics.mean[number], STRAIGHT * statistics.deviation[number]
    limits = [max(low, mean - far), min(high, mean + far)]
    if len(edges):
        # Behind the last edge, a single value has a place too
        wide = high if high > edges[-1] else high + NARROWEST * (high - low)
        limits = [max(low, edges[0] - reach), *edges, min(wide, edges[-1] + reach)]
    ends = np.full((len(names), 2), np.nan)
    ends[: len(limits) - 1] = np.column_stack([limits[:-1], limits[1:]])
    # The number's own feature at these ends
    rows = np.full((ends.size, len(numeric)), np.nan)
    rows[:, number] = ends.ravel()
    finished = statistics.finished(rows, table.settings.missing, scale=table.settings.scale)
    mean = 0.0 if table.settings.scale else float(mean)
    return Levels(names, features, ends, finished[:, number].reshape(ends.shape), number, mean)


def _shape(model: Model, names: Sequence[str], levels: Sequence[Levels]) -> ColumnShape:
    w, variance = model.deciding_weights, model.variance
    w = w - w.mean(axis=0) if len(w) > 1 else w
    features = levels[0].features if len(levels) == 1 else _cells(model, names, *levels)
    shares = _shares(model, features)
    amounts = _together(w, levels, features, 1)
    # The mean over all rows, and how far they are from it
    if len(levels) == 1:
        own = np.where(features < 0, 0.0, w[:, features]) * shares
        mean = own.sum(axis=1) + (w[:, levels[0].number] * levels[0].mean)
        middle = amounts.mean(axis=2)
    else:
        mean = (amounts * shares).sum(axis=(1, 2))
        middle = np.where(features < 0, 0.0, w[:, features])
        middle = (middle.T - (middle * shares).sum(axis=(1, 2)) + mean).T
    apart = np.square(middle.T - mean).T * shares
    importance = float(np.sqrt(apart.reshape(len(w), -1).sum(axis=1).max()))
    if levels[0].straight and len(levels) == 1 and model.spread is not None:
        number = levels[0].number
        importance = float(np.abs(w[:, number] * model.spread.deviation[number]).max())
    # How sure it is
    deviations = None
    if variance is not None:
        deviations = np.sqrt(_together(np.asarray(variance), levels, features, 2))
    elif model.spread is not None:
        chance = 1.0 / np.sqrt(np.maximum(shares * model.spread.n_rows, 1.0))
        deviations = np.broadcast_to(chance if len(levels) == 2 else chance[:, None], amounts.shape)
    amounts = amounts - mean[:, None, None]
    return ColumnShape(tuple(names), tuple(levels), amounts, deviations, shares, importance)


def _together(
    values: NDArray[Any], levels: Sequence[Levels], features: NDArray[np.int64], power: int
) -> NDArray[np.float64]:
    """Return the sums of one column at both ends, or of two and their cells between them."""
    own = [one.sums(values, power) for one in levels]
    if len(own) == 1:
        return own[0]
    first, other = (one.mean(axis=2) for one in own)
    cells = np.where(features < 0, 0.0, values[:, features])
    found: NDArray[np.float64] = first[:, :, None] + other[:, None, :] + cells
    return found


def _cells(model: Model, names: Sequence[str], one: Levels, other: Levels) -> NDArray[np.int64]:
    """Return the feature of each cell of two columns, −1 for those that have none."""
    if isinstance(model.encoder, GridEncoding):
        places = {column.title: column.place for column in model.encoder.inner.features}
        columns = places[names[0]], places[names[1]]
        found: NDArray[np.int64] = model.encoder.cell_features(
            columns, one.features, other.features
        )
        return found
    numbering: Any = model.encoder.numbering  # type: ignore[union-attr]
    pairs: ColumnPairs = numbering
    a, b = np.meshgrid(one.features, other.features, indexing="ij")
    wanted = keys(np.stack([np.minimum(a, b), np.maximum(a, b)]), pairs.n_features)
    table = pairs.tables[2]
    place = np.minimum(np.searchsorted(table, wanted), len(table) - 1)
    known = (table[place] == wanted) & (a >= 0) & (b >= 0)
    return np.where(known, pairs.n_features + place, -1)


def _shares(model: Model, features: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share of the rows that has each feature, from the deviations of indicators.

    That of p of the rows has the variance p(1 − p), so p is known up to 1 − p; at most one feature
    has more than half of the rows, which is then what the others leave.
    """
    deviation = np.zeros(features.shape)
    if model.spread is not None:
        deviation = np.where(features < 0, 0.0, model.spread.deviation[features])
    shares: NDArray[np.float64] = (1.0 - np.sqrt(1.0 - np.minimum(4.0 * deviation**2, 1.0))) / 2.0
    line = features.ndim == 1 and features[0] < 0  # of a number without bins
    most = np.unravel_index(0 if line else int(shares.argmax()), shares.shape)
    shares[most] += max(1.0 - float(shares.sum()), 0.0)
    return np.asarray(shares / shares.sum())

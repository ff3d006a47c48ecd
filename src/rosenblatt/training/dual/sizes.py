"""How many rows to take at a time, so that the kernel values under way stay within a limit."""

import math
from typing import NamedTuple

MEGABYTE = 1 << 20
MOST_UNDER_WAY = 64 * MEGABYTE  # more is no faster
VALUE = 12  # bytes of a kernel value and of the dot product that it is made of
LEAST = 32


class Sizes(NamedTuple):
    """Rows of a block, rows on the left of a tile, and bytes left for values to be kept."""

    block: int
    tile: int
    kept: float

    def rows_against(self, n_left: int) -> int:
        """Return how many rows can be scored at a time against so many, all of them at once."""
        return max(LEAST // 2, min(2 * self.block, self.block * self.tile // max(n_left, 1)))


def sizes_within(cache_size: float, n_features: int) -> Sizes:
    """Return the sizes for a limit in megabytes.

    A block of 256 rows costs 256 values a row among themselves, which is little against the rows
    that taught, and keeps the products of matrices efficient.
    """
    limit = cache_size * MEGABYTE
    under_way = min(limit / 2, MOST_UNDER_WAY)
    block = LEAST * int(math.sqrt(under_way / (4 * VALUE)) // LEAST)
    block = max(LEAST, min(256, block))
    tile = int(under_way / 2 // (VALUE * block + 16 * n_features))
    return Sizes(block, max(LEAST, min(4096, tile)), max(0.0, limit - under_way))

"""What an activation of exactly zero means, where authors differ."""

import sys
from typing import Final

# The label that a zero activation predicts while training; 0: neither, so that it is a mistake for
# both labels (CIML, Algorithm 5). At test time a zero activation has to predict something: the
# positive class under "positive", else the negative one.
ZERO_CONVENTIONS: Final[dict[str, int]] = {"mistake": 0, "negative": -1, "positive": 1}

SMALLEST: Final = sys.float_info.min  # right, by as little as a normal number can say


def settle(margin: float, side: int, zero: int) -> float:
    """Return the margin, made positive where a zero activation counts as right for this side.

    ``side`` is the label of the row, −1 or +1. With this every rule need only compare with 0.
    """
    return SMALLEST if margin == 0.0 and side == zero else margin

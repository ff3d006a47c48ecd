"""How large and how often: the real sizes, or smaller ones for a quick look."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Rows are divided by ``divisor``; contenders take turns for so many rounds and seconds."""

    divisor: int
    rounds: int  # at least
    seconds: float  # at least

    def rows(self, n_rows: int) -> int:
        """Return how many rows stand in for n_rows."""
        return n_rows // self.divisor


FULL = Scale(divisor=1, rounds=5, seconds=10.0)
QUICK = Scale(divisor=10, rounds=3, seconds=2.0)

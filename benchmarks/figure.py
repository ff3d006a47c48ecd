"""One measured figure: ours, the peer's, and whether the target is met."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

DECIMALS = {"ms": 2, "MB": 1, "s": 2, "×": 2, "%": 1, "rows/s": 0, "/s": 0, "": 2}
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "≥": operator.ge,
    "≤": operator.le,
    "<": operator.lt,
}


@dataclass(frozen=True)
class Amount:
    """A number with its unit."""

    value: float
    unit: str

    def __str__(self) -> str:
        space = "" if self.unit in {"×", ""} else " "
        return f"{self.value:,.{DECIMALS[self.unit]}f}{space}{self.unit}"


@dataclass(frozen=True)
class Target:
    """A bound on the ratio of a figure, or on our own amount where no ratio is promised."""

    side: Literal["≥", "≤", "<"]
    value: float
    bounds: Literal["ratio", "ours"] = "ratio"


@dataclass(frozen=True)
class Figure:
    """A line of the table; ``note`` tells what would make the line mean something else."""

    what: str
    ours: Amount
    peer: Amount
    peer_name: str
    ratio: Amount
    target: Target | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.target is None:
            return None
        value = (self.ratio if self.target.bounds == "ratio" else self.ours).value
        return COMPARISONS[self.target.side](value, self.target.value)

    @property
    def target_text(self) -> str:
        """The target with the unit of what it bounds."""
        if self.target is None:
            return ""
        unit = (self.ratio if self.target.bounds == "ratio" else self.ours).unit
        space = "" if unit in {"×", ""} else " "
        return f"{self.target.side} {self.target.value:,g}{space}{unit}"

    def as_record(self) -> dict[str, Any]:
        """Return what the JSON file keeps of it."""
        return {
            "what": self.what,
            "ours": self.ours.value,
            "peer": self.peer.value,
            "unit": self.ours.unit,
            "peer_name": self.peer_name,
            "ratio": self.ratio.value,
            "ratio_unit": self.ratio.unit,
            "target": self.target_text,
            "met": self.met,
            "note": self.note,
        }


@dataclass(frozen=True)
class Skipped:
    """A figure that this machine cannot give, and why."""

    what: str
    reason: str


def speed_up(
    what: str, ours: float, peer: float, peer_name: str, at_least: float | None, note: str = ""
) -> Figure:
    """Return how many times the peer's seconds are ours."""
    target = None if at_least is None else Target("≥", at_least)
    times = Amount(1e3 * ours, "ms"), Amount(1e3 * peer, "ms")
    return Figure(what, *times, peer_name, Amount(peer / ours, "×"), target, note)


def price(
    what: str, ours: float, base: float, base_name: str, at_most: float, note: str = ""
) -> Figure:
    """Return how many times the seconds of something simpler ours are."""
    times = Amount(1e3 * ours, "ms"), Amount(1e3 * base, "ms")
    return Figure(what, *times, base_name, Amount(ours / base, "×"), Target("≤", at_most), note)


def share_of_limit(what: str, ours: float, limit: float, at_least: float | None = None) -> Figure:
    """Return how near our seconds come to those of the dot products alone."""
    target = None if at_least is None else Target("≥", at_least)
    times = Amount(1e3 * ours, "ms"), Amount(1e3 * limit, "ms")
    return Figure(what, *times, "dot products alone", Amount(limit / ours, ""), target)

"""One figure of a paper beside ours."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from reproduction.estimate import Estimate, estimate

Verdict = Literal["reproduced", "differs", "undecided"]
Relation = Literal["about", "above", "below"]

VERDICTS: tuple[Verdict, ...] = ("reproduced", "differs", "undecided")
SIGNS = {"about": "", "above": "> ", "below": "< "}
NEGLIGIBLE = 0.1  # percentage points of error


@dataclass(frozen=True)
class Line:
    """What a paper says of something, what we measured, and whether they agree.

    A figure ("about") is reproduced where ours is within the tolerance of it, and differs where it
    is outside by more than the uncertainty of ours. Between, and where the uncertainty is larger
    than the tolerance, it is undecided. That something is above or below a value is reproduced
    where ours is by more than the uncertainty, and differs where even with the uncertainty it is by
    less than the tolerance, which then is the least that would matter.
    """

    claim: str  # what is claimed, the same for all lines that test it
    subject: str  # of what: a data set, a setting
    paper: float
    ours: Estimate
    relation: Relation = "about"
    tolerance: float = 0.0  # how far ours may be from the paper's without mattering
    uncertainty: float = 0.0  # of ours, where the tolerance does not hold it already
    decimals: int = 1  # that are printed
    variant: str = ""  # which of several measured on the subject
    is_mean: bool = False  # of the lines before it

    @property
    def name(self) -> str:
        """The subject with its variant."""
        return f"{self.subject} ({self.variant})" if self.variant else self.subject

    @property
    def difference(self) -> float:
        """Ours less the paper's."""
        return self.ours.mean - self.paper

    @property
    def verdict(self) -> Verdict:
        """Whether it reproduces."""
        if self.relation == "about":
            return self._agreement()
        beyond = self.difference if self.relation == "above" else -self.difference
        if beyond > self.uncertainty:
            return "reproduced"
        return "differs" if beyond + self.uncertainty < self.tolerance else "undecided"

    def _agreement(self) -> Verdict:
        apart = abs(self.difference)
        if apart > self.tolerance + self.uncertainty:
            return "differs"
        known = self.uncertainty <= self.tolerance
        return "reproduced" if known and apart <= self.tolerance else "undecided"

    def as_json(self) -> dict[str, Any]:
        """Return the line as a JSON document."""
        return {
            "claim": self.claim,
            "subject": self.subject,
            "variant": self.variant,
            "relation": self.relation,
            "paper": self.paper,
            "ours": self.ours.mean,
            "deviation": self.ours.deviation,
            "runs": self.ours.n,
            "difference": self.difference,
            "tolerance": self.tolerance,
            "uncertainty": self.uncertainty,
            "verdict": self.verdict,
            "decimals": self.decimals,
            "is_mean": self.is_mean,
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "Line":
        """Return the line that such a document was made of."""
        ours = Estimate(document["ours"], document["deviation"], document["runs"])
        names = {entry.name for entry in fields(cls)} - {"ours"}
        return cls(ours=ours, **{name: document[name] for name in names})


def higher_error(claim: str, subject: str, ours: Estimate, variant: str = "") -> Line:
    """Return the line of a claim that one error in per cent is higher than another."""
    return Line(
        claim, subject, 0.0, ours, "above", NEGLIGIBLE, ours.uncertainty, 2, variant=variant
    )


def ratio_above_one(claim: str, subject: str, ours: Estimate) -> Line:
    """Return the line of a claim that one mean is larger than another, as their ratio."""
    return Line(claim, subject, 1.0, ours, "above", uncertainty=ours.uncertainty, decimals=2)


def pooled(lines: Sequence[Line], subject: str) -> Line:
    """Return the mean of lines that test one claim, its uncertainty that between them."""
    ours = estimate([line.ours.mean for line in lines])
    return replace(lines[0], subject=subject, ours=ours, uncertainty=ours.uncertainty, is_mean=True)


def means_of_sets(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the mean of each claim and variant over the sets that it was tested on."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        groups.setdefault((line.claim, line.variant), []).append(line)
    for group in groups.values():
        if len(group) > 1:
            yield pooled(group, f"mean of the {len(group)} sets")


def number(value: float, decimals: int, sign: str = "") -> str:
    """Return a number with so many decimals; what rounds to zero has no minus.

    >>> number(-0.001, 2), number(1234.5, 0), number(0.25, 1, "+")
    ('0.00', '1,234', '+0.2')
    """
    return f"{round(value, decimals) + 0.0:{sign},.{decimals}f}"


def paper_cell(line: Line) -> str:
    """Return what the paper says: a figure, or what ours must be above or below."""
    if line.relation == "about":
        return number(line.paper, line.decimals)
    return f"{SIGNS[line.relation]}{line.paper:g}"

"""A table of figures beside ours: what is known of it, and what it says in the end."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reproduction.line import VERDICTS, Line, number, paper_cell

Cell = str | int | float


@dataclass(frozen=True)
class Grid:
    """Figures that no paper has, for those who want to know more."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass
class Table:
    """What was found, line by line."""

    name: str
    title: str
    source: str  # whose figures or claims they are
    method: str  # what was done
    tolerance: str  # how far ours may be off, in words
    quick: bool  # a subset of the lines, or fewer runs
    complete: bool = False
    lines: list[Line] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    made: dict[str, Any] = field(default_factory=dict)  # when, and by which versions
    digest: str = ""  # of what the experiment gave on made-up data
    data: dict[str, str] = field(default_factory=dict)  # digests of the files, by name

    def add(self, item: Line | Grid | str) -> None:
        """Take in a line, a grid or a note."""
        if isinstance(item, Line):
            self.lines.append(item)
        elif isinstance(item, Grid):
            self.grids.append(item)
        else:
            self.notes.append(item)

    @property
    def conclusion(self) -> list[str]:
        """One sentence for each claim, from the verdicts of its lines."""
        claims = dict.fromkeys(line.claim for line in self.lines)
        return [
            _sentence(claim, [line for line in self.lines if line.claim == claim])
            for claim in claims
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the table as a JSON document."""
        document = {name: getattr(self, name) for name in PLAIN}
        document["conclusion"] = self.conclusion
        document["lines"] = [line.as_json() for line in self.lines]
        document["grids"] = [
            {"title": g.title, "headings": list(g.headings), "rows": [list(r) for r in g.rows]}
            for g in self.grids
        ]
        return document

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "Table":
        """Return the table that such a document was made of."""
        table = cls(**{name: document[name] for name in PLAIN if name in document})
        table.lines = [Line.from_json(line) for line in document["lines"]]
        table.grids = [Grid(**grid) for grid in document["grids"]]
        return table


PLAIN = (
    "name",
    "title",
    "source",
    "method",
    "tolerance",
    "quick",
    "complete",
    "notes",
    "seconds",
    "made",
    "digest",
    "data",
)


def _sentence(claim: str, lines: Sequence[Line]) -> str:
    """Return what comes of a claim: on the mean of its lines, where there is one, and on each."""
    told = [
        f"{line.verdict} on the {line.name} ({number(line.ours.mean, line.decimals)}; paper: "
        f"{paper_cell(line)})"
        for line in lines
        if line.is_mean
    ]
    single = [line for line in lines if not line.is_mean]
    for verdict in VERDICTS if single else ():
        subjects = [line.name for line in single if line.verdict == verdict]
        if verdict == "reproduced":
            told.append(f"{verdict} in {len(subjects)} of {len(single)} lines")
        elif subjects:
            told.append(f"{verdict} in {len(subjects)} ({', '.join(subjects)})")
    return f"{claim}: {'; '.join(told)}."

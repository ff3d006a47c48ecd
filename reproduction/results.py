"""The tables made so far, kept in a folder as JSON and as a page in Markdown."""

import json
from collections.abc import Sequence
from pathlib import Path

from reproduction import TABLES
from reproduction.line import VERDICTS, Line, number, paper_cell
from reproduction.machine import told
from reproduction.table import Table
from rosenblatt.data.atomic import replacing
from rosenblatt.errors import InputError

DOCUMENT, PAGE = "reproduction.json", "reproduction.md"
HEADINGS = (
    "figure",
    "paper",
    "ours",
    "±",
    "runs",
    "difference",
    "tolerance",
    "uncertainty",
    "result",
)

INTRODUCTION = """\
# Reproduction

Does this library give what the papers say? Of {} lines with a figure or a claim of theirs {} are
reproduced, {} differ, and {} are undecided.

- *Reproduced*: ours is within the tolerance of the paper's, or a claim that something is larger, or
  smaller, holds by more than chance.
- *Differs*: it does not.
- *Undecided*: our runs vary too much to tell.
"""
METHOD = """\
## How to repeat it, and how it is judged

Point `ROSENBLATT_DATA` at the data sets and run `make reproduce`, which takes less than an hour on
two cores and says how far it is; `python -m reproduction --quick` takes a subset and less than two
minutes, `--only TABLE` one table. Everything that is random follows from seeds 0, 1, 2, …, so the
same versions print the same figures.

The figures are those of the code beside this page. Each table keeps a digest of what its experiment
gives on small made-up data, which changes where rows come to be encoded, ordered or learned
otherwise; a test fails where the code of today gives another one, and `python -m reproduction
--resume -o docs` then makes those tables again. The experiments state how they encode texts (counts
of words) and tables (standardised numbers, indicators of categories), whatever `train` does with
them by default.

Each line ends in a verdict that is computed from its figures. *Reproduced*: ours is within the
tolerance of the paper's, or above (>) or below (<) a value by more than our uncertainty. *Differs*:
it is not, by more than the uncertainty; or what is claimed to be there is, if at all, smaller than
the tolerance. *Undecided*: our runs vary too much to tell. Tolerances follow the rule that each
table states. The rules were settled while first figures were being looked at, so they are no blind
test. Under ± stands the deviation between runs.
"""


def line_cells(line: Line) -> list[str]:
    """Return a line as the cells under ``HEADINGS``."""
    digits, ours = line.decimals, line.ours
    spreads = (ours.deviation if ours.n > 1 else 0.0, line.tolerance, line.uncertainty)
    deviation, tolerance, uncertainty = (
        number(spread, max(digits, 1)) if spread else "" for spread in spreads
    )
    return [
        line.name,
        paper_cell(line),
        number(ours.mean, digits),
        deviation,
        str(ours.n),
        number(line.difference, digits, "+"),
        tolerance,
        uncertainty,
        line.verdict,
    ]


def without_empty_columns(
    headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    """Return a table without the columns in which no row has anything."""
    kept = [k for k in range(len(headings)) if any(row[k] for row in rows)]
    return [headings[k] for k in kept], [[row[k] for k in kept] for row in rows]


def lines_by_claim(table: Table) -> dict[str, list[Line]]:
    """Return the lines of a table by what they test."""
    found: dict[str, list[Line]] = {}
    for line in table.lines:
        found.setdefault(line.claim, []).append(line)
    return found


def page(tables: Sequence[Table]) -> str:
    """Return the page of these tables."""
    parts = [_overview(tables), METHOD, _makers(tables), *map(_section, tables)]
    return "\n".join(parts)


def counted_verdicts(table: Table) -> list[int]:
    """Return how many lines have each of ``VERDICTS``."""
    return [sum(line.verdict == verdict for line in table.lines) for verdict in VERDICTS]


def state_of(table: Table) -> str:
    """Return whether a table is whole."""
    if not table.complete:
        return "interrupted"
    return "a subset (--quick)" if table.quick else "whole"


def _overview(tables: Sequence[Table]) -> str:
    counts = [sum(some) for some in zip(*map(counted_verdicts, tables), strict=True)]
    rows = [
        [f"[{t.title}](#{_anchor(t)})", *map(str, counted_verdicts(t)), state_of(t)] for t in tables
    ]
    missed = [
        [
            f"[{table.title}](#{_anchor(table)}): {claim}",
            f"{sum(line.verdict == 'differs' for line in lines)} of {len(lines)}",
        ]
        for table in tables
        for claim, lines in lines_by_claim(table).items()
        if any(line.verdict == "differs" for line in lines)
    ]
    parts = [
        INTRODUCTION.format(sum(counts), *counts),
        _grid(("what", *VERDICTS, "result"), rows),
    ]
    if missed:
        parts.append("The sections below say by how much these differ, and what is known of why:\n")
        parts.append(_grid(("what differs", "lines"), missed))
    return "\n".join(parts)


def _makers(tables: Sequence[Table]) -> str:
    made = dict.fromkeys(told(table.made) for table in tables)
    return "Made by:\n\n" + "".join(f"- {one}\n" for one in made)


def _section(table: Table) -> str:
    made = f"made on {table.made['date']} in {time_in_words(table.seconds)}"
    parts = [
        f"## {table.title}\n",
        f"`{table.name}`: {state_of(table)}, {made}, digest {table.digest}.\n",
        f"*Source.* {table.source}\n",
        f"*Here.* {table.method}\n",
        f"*Tolerance.* {table.tolerance}\n",
        "*Result.*\n\n" + "".join(f"- {sentence}\n" for sentence in table.conclusion),
    ]
    for claim, lines in lines_by_claim(table).items():
        cells = without_empty_columns(HEADINGS, [line_cells(line) for line in lines])
        parts.append(f"**{claim}**\n\n{_grid(*cells)}")
    for grid in table.grids:
        rows = [[str(cell) for cell in row] for row in grid.rows]
        parts.append(f"**{grid.title}**\n\n{_grid(grid.headings, rows)}")
    parts += [f"{note}\n" for note in table.notes]
    return "\n".join(parts)


def _grid(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    ruler = ["---", *("---:" for _ in headings[1:])]
    return "".join(f"| {' | '.join(line)} |\n" for line in (headings, ruler, *rows))


def _anchor(table: Table) -> str:
    kept = "".join(c for c in table.title.lower() if c.isalnum() or c in " -")
    return kept.replace(" ", "-")


def time_in_words(seconds: float) -> str:
    """Return a time for people.

    >>> time_in_words(83.2), time_in_words(4.9)
    ('1 min 23 s', '5 s')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


class Results:
    """Tables by name; those of earlier runs stay until they are made again."""

    def __init__(self, folder: Path, tables: dict[str, Table]) -> None:
        self.folder = folder
        self.tables = tables

    @classmethod
    def of(cls, folder: Path) -> "Results":
        """Return what a folder holds.

        Raises
        ------
        InputError
            Where there is no such folder, or its document is none of ours.
        """
        if not folder.is_dir():
            msg = f"{folder} is no folder: make it first, or name another one with -o."
            raise InputError(msg)
        path = folder / DOCUMENT
        if not path.exists():
            return cls(folder, {})
        try:
            documents = json.loads(path.read_text("utf-8"))["tables"]
            tables = [Table.from_json(document) for document in documents]
        except (ValueError, KeyError, TypeError) as error:
            msg = (
                f"{path} is not a result of python -m reproduction that can be read: move it away, "
                "or name another folder with -o."
            )
            raise InputError(msg) from error
        return cls(folder, {table.name: table for table in tables})

    def keep(self, table: Table) -> None:
        """Put a table among the results, and write them."""
        self.tables[table.name] = table
        tables = sorted(self.tables.values(), key=_place)
        with replacing(self.folder / DOCUMENT, "w") as file:
            file.write(f'{{"tables": [\n{_stored(tables)}\n]}}\n')
        with replacing(self.folder / PAGE, "w") as file:
            file.write(page(tables))


def _stored(tables: Sequence[Table]) -> str:
    """Return tables as JSON, a line for each figure; what follows from others is left out."""
    texts = []
    for table in tables:
        document = table.as_json()
        del document["conclusion"]
        lines, grids = document.pop("lines"), document.pop("grids")
        for line in lines:
            del line["difference"], line["verdict"]
        rest = json.dumps(document, ensure_ascii=False)[:-1]
        of_lines, of_grids = (
            ",\n".join(json.dumps(one, ensure_ascii=False) for one in part)
            for part in (lines, grids)
        )
        texts.append(f'{rest},\n"lines": [\n{of_lines}],\n"grids": [\n{of_grids}]}}')
    return ",\n".join(texts)


def _place(table: Table) -> int:
    """Return where a table stands on the page; one that is no longer made stands last."""
    return TABLES.index(table.name) if table.name in TABLES else len(TABLES)

"""The table of ``docs/speed.md``: rows that are measured one by one, and kept until all are there.

A run that was stopped goes on where it was; rows of another version are measured again.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np

from benchmarks import averaged, csr, dense, files, multiclass, startup, text
from benchmarks.figure import Amount, Figure, Skipped
from benchmarks.report import RESULTS, put
from benchmarks.stopwatch import Scale
from reproduction.machine import made_now

Measure = Callable[[Scale], Iterator[Figure | Skipped]]

ROWS: dict[str, Measure] = {
    **{f"dense-{case[1]}-{np.dtype(case[2])}": partial(dense.epoch, *case) for case in dense.CASES},
    "csr": partial(csr.epoch, "CSR float64"),
    "csr-averaged": partial(averaged.epoch, "CSR"),
    **{name.split()[0]: partial(csr.epoch, name) for name in ("a9a", "w8a", "imdb words")},
    "20news": multiclass.newsgroups,
    "mnist": multiclass.digits,
    "files": partial(files.commands, "rows like text"),
    "large-files": partial(files.commands, "many rows like text"),
    "small-files": startup.commands,
    **{f"text-{name}": partial(text.defaults, name) for name in text.SETS},
}
LEFT_OUT = ("share of the limit", "price of the average")  # which the groups show
HEAD = (
    "| what | ours | the other | which | ratio | target |\n"
    "| --- | ---: | ---: | --- | ---: | ---: |"
)
PAGE, PLACE = Path(__file__).parents[1] / "docs" / "speed.md", "speeds"


def table(names: Sequence[str], scale: Scale) -> str:
    """Return the table, its rows measured now or found in the file of results."""
    path, made = RESULTS / f"table-{scale.divisor}.json", made_now()
    kept: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    if kept.get("versions") != made["versions"]:
        kept = {**made, "rows": {}}
    lines = [f"Measured on {kept['date']} by rosenblatt {made['versions']['rosenblatt']}.\n", HEAD]
    for name in names or ROWS:
        if name not in kept["rows"]:
            started = perf_counter()
            found = [one for one in ROWS[name](scale) if not one.what.endswith(LEFT_OUT)]
            _tell(name, found, perf_counter() - started)
            if any(isinstance(one, Skipped) for one in found):
                continue
            kept["rows"][name] = [_line(one) for one in found if isinstance(one, Figure)]
            RESULTS.mkdir(exist_ok=True)
            path.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", "utf-8")
        lines += kept["rows"][name]
    return "\n".join(lines)


def write(text: str) -> None:
    """Put the table into its page."""
    put(PLACE, text, PAGE)


def _tell(name: str, found: Sequence[Figure | Skipped], seconds: float) -> None:
    """Say how long a row took, and what the table leaves out."""
    click.echo(f"{name}, {seconds:.0f} s", err=True)
    for one in found:
        remark = one.note if isinstance(one, Figure) else f"skipped: {one.reason}"
        if remark:
            click.echo(f"  {one.what}: {remark}", err=True)


def _line(one: Figure) -> str:
    peer = one.peer_name.replace("sklearn ", "")
    target = one.target_text.replace("≥ ", "")
    cells = one.what, _shown(one.ours), _shown(one.peer), peer, f"{one.ratio.value:.1f}×", target
    return f"| {' | '.join(cells)} |"


def _shown(amount: Amount) -> str:
    """Return a time with three digits."""
    milliseconds = amount.value
    if milliseconds >= 999.5:
        return f"{milliseconds / 1e3:.3g} s"
    return f"{milliseconds:.3g} ms"

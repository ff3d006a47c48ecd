"""The table of ``docs/speed.md``: rows that are measured one by one, and kept until all are there.

A run that was stopped goes on where it was; rows of another version are measured again.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks import averaged, csr, dense, files, multiclass, text
from benchmarks.figure import Amount, Figure, Skipped
from benchmarks.report import RESULTS
from benchmarks.stopwatch import Scale
from reproduction.machine import made_now, told

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
    **{f"text-{name}": partial(text.defaults, name) for name in text.SETS},
}
LEFT_OUT = ("share of the limit", "price of the average")  # which the groups show
HEAD = ["| | ours | the other | | ratio | target |", "| --- | ---: | ---: | --- | ---: | ---: |"]


def measured(names: Sequence[str], scale: Scale) -> Iterator[str]:
    """Yield the table, line by line, as its rows are measured or found in the file of results."""
    path = RESULTS / f"table-{scale.divisor}.json"
    made = made_now()
    kept: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    if kept.get("versions") != made["versions"]:
        kept = {**made, "rows": {}}
    yield from HEAD
    for name in names or ROWS:
        if name in kept["rows"]:
            yield from kept["rows"][name]
            continue
        found = [one for one in ROWS[name](scale) if not one.what.endswith(LEFT_OUT)]
        lines = [_line(one) for one in found]
        if all(isinstance(one, Figure) for one in found):
            kept["rows"][name] = lines
            RESULTS.mkdir(exist_ok=True)
            path.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", "utf-8")
        yield from lines
    yield f"\nMeasured on {told(kept)}"


def _line(one: Figure | Skipped) -> str:
    if isinstance(one, Skipped):
        return f"| {one.what} | | | skipped: {one.reason} | | |"
    what = f"{one.what} ({one.note})" if one.note else one.what
    peer = one.peer_name.replace("sklearn", "scikit-learn")
    target = one.target_text.replace("≥ ", "")
    cells = what, _shown(one.ours), _shown(one.peer), peer, f"{one.ratio.value:.1f}×", target
    return f"| {' | '.join(cells)} |"


def _shown(amount: Amount) -> str:
    """Return a time with three digits."""
    milliseconds = amount.value
    if milliseconds >= 999.5:
        return f"{milliseconds / 1e3:.3g} s"
    return f"{milliseconds:.3g} ms"

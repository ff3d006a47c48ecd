"""A trace as data: JSON lines and data frames."""

import json
from dataclasses import asdict
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.lazy import installing
from rosenblatt.wording import plain

if TYPE_CHECKING:
    from rosenblatt.tracing.steps import Step, Trace

SCALARS = ("pass", "row", "y", "mistake", "step", "rival")
MOST_COLUMNS = 10_000  # of a data frame; a column has a fixed cost, however short

LIBRARIES = ("polars", "pandas")


def json_lines(trace: "Trace") -> str:
    """Return one JSON object a line; a sparse row is an object of feature number: value."""
    return "".join(
        json.dumps(plain(_record(step, trace)), ensure_ascii=False, allow_nan=False) + "\n"
        for step in trace
    )


def _record(step: "Step", trace: "Trace") -> dict[str, Any]:
    indices, values = step.entries
    entries = dict(zip(map(str, indices.tolist()), values.tolist(), strict=True))
    record = {
        "pass": step.pass_,
        "row": step.row + trace.first_row,
        "x": entries if step.rows.sparse else step.x.tolist(),
    }
    for name in ("y", "activation", "mistake", "step", "rival", "w", "b"):
        record[name] = getattr(step, name)
    if step.average_w is not None:
        record |= {"average_w": step.average_w, "average_b": step.average_b}
    if step.variance is not None:
        for name in ("margin", "variance", "beta", "variance_w", "variance_b"):
            record[name] = getattr(step, name)
    if step.proof is not None:
        record["proof"] = asdict(step.proof)
    return record


def data_frame(trace: "Trace", library: str = "polars") -> Any:
    """Return a data frame of polars or pandas: a row a step, a column a feature and a weight."""
    if library not in LIBRARIES:
        msg = f"The library of a data frame must be 'polars' or 'pandas'; got {library!r}."
        raise InputError(msg)
    if not find_spec(library):
        how = installing("io") if library == "polars" else "pip install pandas"
        raise InputError(f"A data frame of {library} needs {library}: {how}")
    return import_module(library).DataFrame(_columns(trace))


def _columns(trace: "Trace") -> dict[str, Any]:
    """Return the columns by name: x_… and w_… by feature, and by class where there are many."""
    d = trace[0].w.shape[-1] if trace else 0
    features = [f"_{name}" for name in (range(d) if trace.names is None else trace.names)]
    ends = [""] if len(trace.classes) == 2 else [f"_{label}" for label in trace.classes]
    kept = [""]
    if trace:
        more = ("average_", "variance_")
        kept += [name for name in more if getattr(trace[0], f"{name}w") is not None]
    width = d + (d + 2) * len(ends) * len(kept)
    if width > MOST_COLUMNS:
        raise InputError(
            f"A data frame of this trace would have {width} columns, more than {MOST_COLUMNS}: "
            "use to_json_lines(), or trace fewer features."
        )
    records = [_record(step, trace) for step in trace]
    columns: dict[str, Any] = {name: [r[name] for r in records] for name in SCALARS}
    columns |= _block("activation", [""], ends, [[r["activation"]] for r in records])
    columns |= _block("x", features, [""], [step.x for step in trace])
    for prefix in kept:
        if prefix == "variance_":
            columns |= {n: [r[n] for r in records] for n in ("margin", "variance", "beta")}
        columns |= _block(f"{prefix}w", features, ends, [r[f"{prefix}w"].T for r in records])
        columns |= _block(f"{prefix}b", [""], ends, [[r[f"{prefix}b"]] for r in records])
    if trace.bound is not None:
        for name in ("angle", "projection", "projection_bound", "sqnorm", "sqnorm_bound"):
            columns[name] = [None if s.proof is None else getattr(s.proof, name) for s in trace]
    return columns


def _block(word: str, names: list[str], ends: list[str], values: list[Any]) -> dict[str, Any]:
    """Return one column for each name and each class, from arrays (name, class) of every step."""
    table = np.array(values, np.float64).reshape(len(values), len(names), len(ends))
    return {
        f"{word}{name}{end}": table[:, j, k]
        for j, name in enumerate(names)
        for k, end in enumerate(ends)
    }

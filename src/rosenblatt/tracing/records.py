"""A trace as data: JSON lines and data frames."""

import json
from dataclasses import asdict
from importlib.util import find_spec
from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.tracing.steps import Step, Trace
from rosenblatt.wording import plain

MOST_COLUMNS = 10_000  # of a data frame; a column has a fixed cost, however short

LIBRARIES = {"polars": "pip install 'rosenblatt[io]'", "pandas": "pip install pandas"}


def json_lines(trace: Trace) -> str:
    """Return one JSON object a line; a sparse row as an object of feature number: value."""
    return "".join(
        json.dumps(plain(_record(step, trace)), ensure_ascii=False, allow_nan=False) + "\n"
        for step in trace
    )


def _record(step: Step, trace: Trace) -> dict[str, Any]:
    x: Any = step.x.tolist() if not step.rows.sparse else _entries(step)
    record = {
        "pass": step.pass_,
        "row": step.row + trace.first_row,
        "x": x,
        "y": step.y,
        "activation": step.activation,
        "mistake": step.mistake,
        "step": step.step,
        "rival": step.rival,
        "w": step.w,
        "b": step.b,
    }
    if step.average_w is not None:
        record |= {"average_w": step.average_w, "average_b": step.average_b}
    if step.variance is not None:
        record |= {"margin": step.margin, "variance": step.variance, "beta": step.beta}
        record |= {"variance_w": step.variance_w, "variance_b": step.variance_b}
    if step.proof is not None:
        record["proof"] = asdict(step.proof)
    return record


def _entries(step: Step) -> dict[str, float]:
    indices, values = step.entries
    return dict(zip(map(str, indices.tolist()), values.tolist(), strict=True))


def data_frame(trace: Trace, library: str) -> Any:
    """Return a data frame with one row a step, and one column a feature and a weight."""
    if library not in LIBRARIES:
        msg = f"The library of a data frame must be 'polars' or 'pandas'; got {library!r}."
        raise InputError(msg)
    if not find_spec(library):
        msg = f"A data frame of {library} needs {library}: {LIBRARIES[library]}."
        raise InputError(msg)
    columns = _columns(trace)
    if library == "polars":
        import polars as pl

        return pl.DataFrame(columns)
    import pandas as pd

    return pd.DataFrame(columns)


def _columns(trace: Trace) -> dict[str, Any]:
    """Return the columns by name: x_… and w_… by feature, and by class where there are many."""
    d = trace[0].w.shape[-1] if trace else 0
    names = [str(j) for j in range(d)] if trace.names is None else list(trace.names)
    ends = [""] if len(trace.classes) == 2 else [f"_{label}" for label in trace.classes]
    averaged = bool(trace) and trace[0].average_w is not None
    uncertain = bool(trace) and trace[0].variance is not None
    width = d + (d + 2) * len(ends) * (1 + averaged + uncertain)
    if width > MOST_COLUMNS:
        msg = (
            f"A data frame of this trace would have {width} columns, more than {MOST_COLUMNS}: "
            "use to_json_lines(), or trace fewer features."
        )
        raise InputError(msg)
    columns: dict[str, Any] = {
        "pass": [step.pass_ for step in trace],
        "row": [step.row + trace.first_row for step in trace],
        "y": [step.y for step in trace],
        "mistake": [step.mistake for step in trace],
        "step": [step.step for step in trace],
        "rival": [step.rival for step in trace],
    }
    columns |= _block("activation", [""], ends, [[step.activation] for step in trace])
    columns |= _block("x", [f"_{name}" for name in names], [""], [step.x for step in trace])
    columns |= _weights("", names, ends, [(step.w, step.b) for step in trace])
    if averaged:
        averages = [(step.average_w, step.average_b) for step in trace]
        columns |= _weights("average_", names, ends, averages)
    if uncertain:
        for name in ("margin", "variance", "beta"):
            columns[name] = [getattr(step, name) for step in trace]
        variances = [(step.variance_w, step.variance_b) for step in trace]
        columns |= _weights("variance_", names, ends, variances)
    if trace.bound is not None:
        for name in ("angle", "projection", "projection_bound", "sqnorm", "sqnorm_bound"):
            values = [None if step.proof is None else getattr(step.proof, name) for step in trace]
            columns[name] = values
    return columns


def _weights(prefix: str, names: list[str], ends: list[str], parts: list[Any]) -> dict[str, Any]:
    weights = _block(f"{prefix}w", [f"_{n}" for n in names], ends, [w.T for w, _ in parts])
    return weights | _block(f"{prefix}b", [""], ends, [[b] for _, b in parts])


def _block(word: str, names: list[str], ends: list[str], values: list[Any]) -> dict[str, Any]:
    """Return one column for each name and each class, from arrays (name, class) of every step."""
    table = np.array(values, np.float64).reshape(len(values), len(names), len(ends))
    return {
        f"{word}{name}{end}": table[:, j, k]
        for j, name in enumerate(names)
        for k, end in enumerate(ends)
    }

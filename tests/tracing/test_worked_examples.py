"""The two worked tables of the introduction, as printed there."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from rosenblatt.tracing import Step, Trace, trace
from tests.examples import WORKED_X, WORKED_Y, XOR_X, XOR_Y

WORKED = """
[0 0 0 0] | [0 0 0 1] | 0 ≤ 0 | + | Wrong. Add sample | [0 0 0 1]
[0 0 0 1] | [0 0 1 1] | 1 > 0 | + | OK | No Change
[0 0 0 1] | [0 1 0 1] | 1 > 0 | - | Wrong. Subtract sample | [0 -1 0 0]
[0 -1 0 0] | [0 1 1 1] | -1 < 0 | - | OK | No Change
[0 -1 0 0] | [1 0 0 1] | 0 ≤ 0 | + | Wrong. Add sample | [1 -1 0 1]
[1 -1 0 1] | [1 0 1 1] | 2 > 0 | + | OK | No Change
[1 -1 0 1] | [1 1 0 1] | 1 > 0 | - | Wrong. Subtract sample | [0 -2 0 0]
[0 -2 0 0] | [1 1 1 1] | -2 < 0 | - | OK | No Change

[0 -2 0 0] | [0 0 0 1] | 0 ≤ 0 | + | Wrong. Add sample | [0 -2 0 1]
[0 -2 0 1] | [0 0 1 1] | 1 > 0 | + | OK | No Change
[0 -2 0 1] | [0 1 0 1] | -1 < 0 | - | OK | No Change
[0 -2 0 1] | [0 1 1 1] | -1 < 0 | - | OK | No Change
[0 -2 0 1] | [1 0 0 1] | 1 > 0 | + | OK | No Change
[0 -2 0 1] | [1 0 1 1] | 1 > 0 | + | OK | No Change
[0 -2 0 1] | [1 1 0 1] | -1 < 0 | - | OK | No Change
[0 -2 0 1] | [1 1 1 1] | -1 < 0 | - | OK | No Change

[0 -2 0 1] | [0 0 0 1] | 1 > 0 | + | OK | No Change
[0 -2 0 1] | [0 0 1 1] | 1 > 0 | + | OK | No Change
[0 -2 0 1] | [0 1 0 1] | -1 < 0 | - | OK | No Change
[0 -2 0 1] | [0 1 1 1] | -1 < 0 | - | OK | No Change
[0 -2 0 1] | [1 0 0 1] | 1 > 0 | + | OK | No Change
[0 -2 0 1] | [1 0 1 1] | 1 > 0 | + | OK | No Change
[0 -2 0 1] | [1 1 0 1] | -1 < 0 | - | OK | No Change
[0 -2 0 1] | [1 1 1 1] | -1 < 0 | - | OK | No Change
"""

XOR = """
[0 0 0] | [0 0 1] | 0 ≤ 0 | - | OK | No Change
[0 0 0] | [0 1 1] | 0 ≤ 0 | + | Wrong. Add sample | [0 1 1]
[0 1 1] | [1 1 1] | 2 > 0 | - | Wrong. Subtract sample | [-1 0 0]
[-1 0 0] | [1 0 1] | -1 < 0 | + | Wrong. Add sample | [0 0 1]

[0 0 1] | [0 0 1] | 1 > 0 | - | Wrong. Subtract sample | [0 0 0]
[0 0 0] | [0 1 1] | 0 ≤ 0 | + | Wrong. Add sample | [0 1 1]
[0 1 1] | [1 1 1] | 2 > 0 | - | Wrong. Subtract sample | [-1 0 0]
[-1 0 0] | [1 0 1] | -1 < 0 | + | Wrong. Add sample | [0 0 1]
"""


def vector(values: Any) -> str:
    """Return whole numbers as the tables have them."""
    return f"[{' '.join(f'{value:.0f}' for value in np.asarray(values) + 0.0)}]"


def printed(step: Step, before: Any) -> str:
    """Return a step as a line of the tables."""
    a = step.activation + 0.0
    sign = ">" if a > 0 else "<" if a < 0 else "≤"
    comment, after = "OK", "No Change"
    if step.mistake:
        comment = f"Wrong. {'Add' if step.y > 0 else 'Subtract'} sample"
        after = vector([*step.w, step.b])
    label = "+" if step.y > 0 else "-"
    data = vector([*step.x, 1])
    return f"{vector(before)} | {data} | {a:.0f} {sign} 0 | {label} | {comment} | {after}"


def table(steps: Trace) -> str:
    """Return a trace from zero weights as the tables have it, an empty line between passes."""
    lines, before, pass_ = [], np.zeros(steps[0].w.shape[-1] + 1), 0
    for step in steps:
        if step.pass_ != pass_:
            lines.append("")
            pass_ = step.pass_
        lines.append(printed(step, before))
        before = np.append(step.w, step.b)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_the_worked_example_is_as_printed(form: Any) -> None:
    """Three passes over eight points in three dimensions, line by line."""
    steps = trace(form(WORKED_X), WORKED_Y)
    assert table(steps) == WORKED
    assert steps.stop_reason == "converged"


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_exclusive_or_is_as_printed(form: Any) -> None:
    """Two passes in which a zero predicts the negative class, line by line."""
    steps = trace(form(XOR_X), XOR_Y, zero="negative", max_iter=2)
    assert table(steps) == XOR
    assert steps.stop_reason == "max_iter"

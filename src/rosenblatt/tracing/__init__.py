"""Training step by step: what each row met and did, and the forms to read it in.

Names are resolved on first use: ``trace`` checks its input as the estimators do and so imports
scikit-learn, which takes a second, and a command goes without.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.tracing.steps import Step, Trace
    from rosenblatt.tracing.stepwise import trace
    from rosenblatt.training.trace_proof import ProofStep

__all__ = ["ProofStep", "Step", "Trace", "trace"]

_HOMES = {
    "ProofStep": "rosenblatt.training.trace_proof",
    "Step": "rosenblatt.tracing.steps",
    "Trace": "rosenblatt.tracing.steps",
    "trace": "rosenblatt.tracing.stepwise",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module 'rosenblatt.tracing' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(_HOMES[name]), name)

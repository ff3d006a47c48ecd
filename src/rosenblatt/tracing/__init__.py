"""Training step by step: what each row met and did, and the forms to read it in.

Names are resolved on first use: ``trace`` checks its input as the estimators do and so imports
scikit-learn, which takes a second, and a command goes without.
"""

from typing import TYPE_CHECKING

from rosenblatt.lazy import lazy_names

if TYPE_CHECKING:
    from rosenblatt.tracing.convergence import ProofStep
    from rosenblatt.tracing.steps import Step, Trace
    from rosenblatt.tracing.stepwise import trace

__all__ = ["ProofStep", "Step", "Trace", "trace"]

__getattr__ = lazy_names(
    __name__,
    {
        "ProofStep": "rosenblatt.tracing.convergence",
        "Step": "rosenblatt.tracing.steps",
        "Trace": "rosenblatt.tracing.steps",
        "trace": "rosenblatt.tracing.stepwise",
    },
)

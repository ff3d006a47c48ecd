"""Feature maps: what a line can't separate, it often can once features are combined.

The transformer is resolved on first use: it imports scikit-learn, which takes a second, and a
command that expands rows itself goes without.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.features.conjunctions import FeatureConjunctions

__all__ = ["FeatureConjunctions"]


def __getattr__(name: str) -> Any:
    if name != "FeatureConjunctions":
        msg = f"module 'rosenblatt.features' has no attribute {name!r}"
        raise AttributeError(msg)
    from rosenblatt.features.conjunctions import FeatureConjunctions

    return FeatureConjunctions

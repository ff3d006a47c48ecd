"""scikit-learn's base classes with types, which it does not ship.

Without them a type checker takes every keyword of a constructor, misspelled ones too.
"""

# ruff: noqa: D102  # their docstrings are those of scikit-learn

from typing import TYPE_CHECKING, Any, Self

__all__ = ["BaseEstimator", "ClassifierMixin", "TransformerMixin"]

if TYPE_CHECKING:

    class BaseEstimator:
        """The parameters of an estimator by name."""

        @classmethod
        def _get_param_names(cls) -> list[str]: ...

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

        def set_params(self, **params: Any) -> Self: ...

        def set_fit_request(self, **requests: Any) -> Self: ...

        def set_partial_fit_request(self, **requests: Any) -> Self: ...

        def set_score_request(self, **requests: Any) -> Self: ...

        def get_metadata_routing(self) -> Any: ...

        def __sklearn_tags__(self) -> Any: ...

        def __sklearn_clone__(self) -> Any: ...

    class ClassifierMixin:
        """The score of a classifier."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class TransformerMixin:
        """What follows from ``fit`` and ``transform``."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...

        def set_output(self, *, transform: str | None = None) -> Self: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

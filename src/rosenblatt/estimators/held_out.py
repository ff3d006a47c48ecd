"""Rows that a user holds out in ``fit``: rows of their own, or whole groups."""

from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from rosenblatt.errors import InputError
from rosenblatt.estimators.validation import check_rows
from rosenblatt.kernels.rows import Rows
from rosenblatt.kernels.shapes import join
from rosenblatt.models.learner import generator_from
from rosenblatt.training.examples import Examples, held_out_groups, known_numbers


class HeldOutRows(NamedTuple):
    """Rows with labels, or the group of each row that is learned from."""

    X: Any = None
    y: Any = None
    groups: Any = None

    @classmethod
    def checked(cls, X: Any, y: Any, groups: Any) -> "HeldOutRows":
        """Return what was given of the parameters of ``fit``."""
        if (X is None) != (y is None):
            msg = "fit needs X_val and y_val, or neither; got one of them."
            raise InputError(msg)
        if X is not None and groups is not None:
            msg = "X_val and groups both say which rows are held out: leave one of them out."
            raise InputError(msg)
        return cls(X, y, groups)

    def chosen(self, estimator: Any, examples: Examples, classes: NDArray[Any]) -> Examples:
        """Return examples that say which of their rows are held out; own rows are added to them."""
        if not (estimator.early_stopping or (estimator.calibrate and self.X is not None)):
            what = "groups are" if self.X is None else "X_val and y_val are"
            msg = f"{what} held out for early stopping: set early_stopping=True."
            raise InputError(msg)
        if self.groups is not None:
            return replace(examples, held_out=self._of_groups(estimator, len(examples.targets)))
        rows, y = self.rows(estimator)
        known_numbers(y, classes, "y_val")
        if not estimator.early_stopping:
            return examples
        n_rows = len(examples.targets)
        weight = examples.weight
        weight = None if weight is None else np.concatenate([weight, np.ones(len(y))])
        own = estimator._encode(y, classes)  # noqa: SLF001  # ours
        targets, held_out = np.concatenate([examples.targets, own]), np.arange(n_rows + len(y))
        return Examples(join([examples.rows, rows]), targets, weight, held_out=held_out >= n_rows)

    def rows(self, estimator: Any) -> tuple[Rows, NDArray[Any]]:
        """Return own rows and their labels, checked."""
        if get_tags(estimator).input_tags.pairwise:
            msg = "X_val is not available with a precomputed kernel: give the kernel as a function."
            raise InputError(msg)
        return check_rows(estimator, self.X, self.y, reset=False)

    def _of_groups(self, estimator: Any, n_rows: int) -> NDArray[np.bool_]:
        groups = np.asarray(self.groups)
        if groups.shape != (n_rows,):
            msg = f"groups must have one value per row, {n_rows} in all; got shape {groups.shape}."
            raise InputError(msg)
        numbers = np.unique(groups, return_inverse=True)[1].astype(np.uint64)
        key = deepcopy(generator_from(estimator.random_state).bit_generator).random_raw()
        return held_out_groups(numbers, float(estimator.validation_fraction), int(key))

"""Classes that are known, and classes that come later."""

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.errors import InputError
from rosenblatt.rules import Rule, pair_scale
from rosenblatt.training.labels import numbers_of
from rosenblatt.training.state import State

TEXT = "OSUT"  # NumPy's kinds of labels that do not compare with numbers


def all_known(y: NDArray[Any], classes: NDArray[Any]) -> bool:
    """Return whether every label is one of the classes."""
    if len(classes) == 0 or not _comparable(y, classes):
        return False
    return bool((classes[numbers_of(y, classes)] == y).all())


def first_classes(y: NDArray[Any], named: ArrayLike | None) -> NDArray[Any]:
    """Return the classes of a first batch: those named, which must hold all that came."""
    if named is None:
        return np.unique(y)
    classes = np.unique(np.asarray(named))
    strange = np.setdiff1d(y, classes)
    if len(strange):
        msg = f"The label {strange.tolist()[0]!r} in y is not in classes={classes.tolist()}."
        raise InputError(msg)
    return classes


def grown(
    state: State, classes: NDArray[Any], seen: NDArray[Any], rule: Rule
) -> tuple[State, NDArray[Any]]:
    """Return a copy of the state, and the classes, with those added that it has not met."""
    if not _comparable(seen, classes):
        msg = (
            f"The labels {seen.tolist()[:3]} are of another type than the classes learned so far, "
            f"{classes.tolist()[:3]}: give labels of one type."
        )
        raise InputError(msg)
    together = np.union1d(classes, seen)
    if len(together) == len(classes):
        return copy.deepcopy(state), classes
    kept = np.searchsorted(together, classes)
    return state.with_classes(kept, len(together), pair_scale(rule)), together


def _comparable(y: NDArray[Any], classes: NDArray[Any]) -> bool:
    return (y.dtype.kind in TEXT) == (classes.dtype.kind in TEXT)

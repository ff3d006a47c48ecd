"""The parameters that the classifiers on a cluster have beside those of the plain ones."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client
from numpy.typing import NDArray

from rosenblatt.estimators.validation import row_weights
from rosenblatt.models.parameters import AT_LEAST_ONE, FLAG, Check

MIXINGS = ("uniform", "mistakes")
CHECKS: dict[str, Check] = {
    "client": ("None or a dask.distributed.Client", lambda v: v is None or isinstance(v, Client)),
    "n_shards": ("None or an integer of at least 1", lambda v: v is None or AT_LEAST_ONE[1](v)),
    "mixing": ("'uniform' or 'mistakes'", lambda v: isinstance(v, str) and v in MIXINGS),
    "shuffle_shards": FLAG,
    "checkpoint": ("None or the name of a file", lambda v: v is None or isinstance(v, str | Path)),
}
UNDECIDING = ("observers", "verbose")


def seed_from(random_state: Any) -> int:
    """Return the number from which the orders of all epochs and shards follow."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if random_state is None or isinstance(random_state, np.random.Generator):
        return int(np.random.default_rng(random_state).integers(2**63))
    return int(random_state)


def class_weights(
    class_weight: Any, classes: NDArray[Any], counts: NDArray[Any]
) -> NDArray[np.float64] | None:
    """Return what multiplies the steps of each class, of which there are so many rows."""
    if isinstance(class_weight, str):  # "balanced"
        balanced: NDArray[np.float64] = counts.sum() / (len(classes) * counts)
        return balanced
    return row_weights(class_weight, None, classes, classes)


def plain_values(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that decide a training, as a checkpoint can hold them."""
    kept = {name: value for name, value in parameters.items() if name not in UNDECIDING}
    weight = kept["class_weight"]
    if isinstance(weight, Mapping):
        kept["class_weight"] = [[_plain(label), float(value)] for label, value in weight.items()]
    return {name: _plain(value) for name, value in kept.items()}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value

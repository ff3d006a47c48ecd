"""Training on many machines by iterative parameter mixing, on Dask.

Names are resolved on first use: the mathematics (``mixing``, ``simulation``) needs no Dask.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.distributed.classifiers import (
        DaskAveragedPerceptron,
        DaskPassiveAggressiveClassifier,
        DaskPerceptron,
    )
    from rosenblatt.distributed.cluster import local_client, remote_client
    from rosenblatt.distributed.simulation import simulate
    from rosenblatt.distributed.skew import ShardWarning

__all__ = [
    "DaskAveragedPerceptron",
    "DaskPassiveAggressiveClassifier",
    "DaskPerceptron",
    "ShardWarning",
    "local_client",
    "remote_client",
    "simulate",
]

_HOMES = {
    "DaskAveragedPerceptron": "classifiers",
    "DaskPassiveAggressiveClassifier": "classifiers",
    "DaskPerceptron": "classifiers",
    "ShardWarning": "skew",
    "local_client": "cluster",
    "remote_client": "cluster",
    "simulate": "simulation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module 'rosenblatt.distributed' has no attribute {name!r}"
        raise AttributeError(msg)
    try:
        module = import_module(f"rosenblatt.distributed.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        if error.name not in {"dask", "distributed"}:
            raise
        msg = f"{name} needs Dask: pip install 'rosenblatt[dask]'"
        raise ModuleNotFoundError(msg, name=error.name) from None
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

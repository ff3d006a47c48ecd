"""Training on many machines by iterative parameter mixing, on Dask.

Names are resolved on first use: the mathematics (``mixing``, ``simulation``) needs no Dask.
"""

from typing import TYPE_CHECKING, Any

from rosenblatt.lazy import lazy_names

if TYPE_CHECKING:
    from rosenblatt.distributed.classifiers import (
        DaskAveragedPerceptron,
        DaskConfidenceWeightedClassifier,
        DaskPassiveAggressiveClassifier,
        DaskPerceptron,
    )
    from rosenblatt.distributed.cluster import local_client, remote_client
    from rosenblatt.distributed.shards import ShardWarning
    from rosenblatt.distributed.simulation import simulate

__all__ = [
    "DaskAveragedPerceptron",
    "DaskConfidenceWeightedClassifier",
    "DaskPassiveAggressiveClassifier",
    "DaskPerceptron",
    "ShardWarning",
    "local_client",
    "remote_client",
    "simulate",
]

_CLASSIFIERS = "rosenblatt.distributed.classifiers"
_find = lazy_names(
    "rosenblatt.distributed",
    {
        "DaskAveragedPerceptron": _CLASSIFIERS,
        "DaskConfidenceWeightedClassifier": _CLASSIFIERS,
        "DaskPassiveAggressiveClassifier": _CLASSIFIERS,
        "DaskPerceptron": _CLASSIFIERS,
        "ShardWarning": "rosenblatt.distributed.shards",
        "local_client": "rosenblatt.distributed.cluster",
        "remote_client": "rosenblatt.distributed.cluster",
        "simulate": "rosenblatt.distributed.simulation",
    },
)


def __getattr__(name: str) -> Any:
    try:
        return _find(name)
    except ModuleNotFoundError as error:
        if error.name not in {"dask", "distributed"}:
            raise
        msg = f"{name} needs Dask: pip install 'rosenblatt[dask]'"
        raise ModuleNotFoundError(msg, name=error.name) from None


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

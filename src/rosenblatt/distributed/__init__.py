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

_HOMES = {
    "classifiers": __all__[:4],
    "shards": ["ShardWarning"],
    "cluster": ["local_client", "remote_client"],
    "simulation": ["simulate"],
}
_find = lazy_names(
    __name__, {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names}
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

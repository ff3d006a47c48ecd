"""Training on many machines by iterative parameter mixing, on Dask.

Names are resolved on first use. The mathematics (``mixing``, ``simulation``) needs no Dask, nor
does ``simulate`` of the classifiers.
"""

from typing import Any

from rosenblatt.lazy import lazy_names

_find, __dir__, __all__ = lazy_names(__name__, __file__)


def __getattr__(name: str) -> Any:
    try:
        return _find(name)
    except ModuleNotFoundError as error:
        if error.name not in {"dask", "distributed"}:
            raise
        msg = f"{name} needs Dask: pip install 'rosenblatt[dask]'"
        raise ModuleNotFoundError(msg, name=error.name) from None

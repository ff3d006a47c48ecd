"""Training on many machines by iterative parameter mixing, on Dask.

Names are resolved on first use. The mathematics (``mixing``) needs no Dask, nor does ``simulate``
of the classifiers.
"""

from rosenblatt.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__, __file__, "dask", dask="Dask", distributed="Dask"
)

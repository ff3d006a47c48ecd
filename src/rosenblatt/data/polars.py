"""polars, which is an extra and takes a while: imported when a table is first read."""

from typing import TYPE_CHECKING

from rosenblatt.lazy import LazyModule

if TYPE_CHECKING:
    import polars as pl
else:
    pl = LazyModule("polars")

__all__ = ["pl"]

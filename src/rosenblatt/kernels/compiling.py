"""How code is compiled: options, methods of named tuples, a cache that is never stale."""

import glob
import hashlib
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numba import config, njit, typeof, types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.extending import overload_method
from numba.np import linalg

if "scipy.linalg" not in sys.modules and find_spec("scipy"):
    # numba imports scipy.linalg only to see that it is there, for functions that no kernel calls: a
    # fifth of a second for a command that would do without. It is told so instead.
    looks, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        import numba.np.arraymath  # noqa: F401  # as the first compilation would
    finally:
        linalg.ensure_blas = looks

Function = TypeVar("Function", bound=Callable[..., Any])

# No fastmath: a fixed order of additions gives the same bits on every machine. The numpy error
# model drops the test for a zero divisor from the inner loops; the rules make that test themselves.
OPTIONS = {"nogil": True, "error_model": "numpy"}
INLINED = {**OPTIONS, "forceinline": True}

COMPILED_FOLDERS = ("kernels", "rules")  # where what is compiled stands


def source_digest() -> str:
    """Return a digest of every file whose code can end up inside a compiled kernel."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for folder in COMPILED_FOLDERS:
        for file in sorted((Path(__file__).parents[1] / folder).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()


SOURCE_DIGEST = source_digest()


class SignatureFiles(IndexDataCacheFile):
    """Compiled code on disk, one file a signature, named by all that the code depends on.

    By itself numba notices an edit only in the kernel's own file, but a kernel inlines the rule and
    the row format from others: so the name has the digest of all of them. And numba numbers its
    files and keeps an index: two processes that compile at the same time can take the same number,
    and then one signature is answered with the code of another. A name made from the key can't be
    taken twice.
    """

    def load(self, key: object) -> object:
        """Return the code saved for this key, or None."""
        try:
            return self._load_data(self._file_name(key))
        except OSError:
            return None

    def save(self, key: object, data: object) -> None:
        """Write the code for this key, and remove what older sources left behind."""
        self._save_data(self._file_name(key), data)
        for file in Path(self._cache_path).glob(f"{glob.escape(self._base)}.*.nbc"):
            if not file.name.startswith(self._fresh):
                file.unlink(missing_ok=True)

    def flush(self) -> None:
        """Nothing to do: there is no index."""

    @property
    def _base(self) -> str:
        return str(self._index_name.removesuffix(".nbi"))

    @property
    def _fresh(self) -> str:
        """How the names of code from these sources begin."""
        return f"{self._base}.{SOURCE_DIGEST[:16]}."

    def _file_name(self, key: object) -> str:
        signature = hashlib.sha256(f"{self._version} {key}".encode()).hexdigest()
        return f"{self._fresh}{signature[:32]}.nbc"


class SignatureCache(FunctionCache):
    """numba's cache of a function, with files of ours."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = SignatureFiles(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=SOURCE_DIGEST,
        )


def compiled(function: Function) -> Function:
    """Compile on first call, from the cache on disk where it has this signature already."""
    if config.DISABLE_JIT:
        silent = np.errstate(over="ignore", invalid="ignore")  # as compiled code is
        return silent(function)
    dispatcher = njit(**OPTIONS)(function)
    dispatcher._cache = SignatureCache(function)  # noqa: SLF001  # as cache=True does
    return cast("Function", dispatcher)


def inlined(function: Function) -> Function:
    """Compile a small function into whatever kernel calls it."""
    return cast("Function", njit(**INLINED)(function))


def specialised(kernel: Function, *arguments: object) -> Function:
    """Return the kernel compiled for arguments of just these types, without the look at each call.

    A call costs 0.5 µs in place of 2.2; whoever uses it must pass the same types every time.
    """
    if config.DISABLE_JIT:
        return kernel
    dispatcher = cast("Any", kernel)
    return cast("Function", dispatcher.compile(tuple(typeof(a) for a in arguments)))


def compiled_method(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register how a method of a named tuple is compiled; in plain Python the method itself runs.

    The decorated function is given the numba types of the call and returns the implementation, or
    None where the tuple is not one that it knows. Inlining lets LLVM drop what a rule does not ask
    for: the perceptron ignores ‖x‖², and a CSR pass is a third faster for it.
    """
    return cast(
        "Callable[[Callable[..., Any]], Callable[..., Any]]",
        overload_method(
            types.BaseNamedTuple,
            name,
            jit_options=INLINED,
            strict=False,  # else numba compares type annotations, which the rules have
        ),
    )


@compiled_method("step")
def _rule_step(self: Any, margin: Any, sqnorm: Any) -> Any:
    return getattr(self.instance_class, "step", None)

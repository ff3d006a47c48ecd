"""Machine code in this process: which processor it is for, where it is found, how it is loaded."""

import hashlib
import logging
import os
import platform
import sys
import threading
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from rosenblatt.errors import InputError
from rosenblatt.kernels.compiling import calling
from rosenblatt.kernels.compiling.cache import UserCache
from rosenblatt.kernels.compiling.signatures import is_ours, symbol_of
from rosenblatt.wording import word_list

log = logging.getLogger("rosenblatt.kernels")

X86_64 = ["x86-64-v3", "x86-64-v2", "x86-64"]  # the best first
FEATURES = (  # of each level the processor's features that the one below lacks, the best last
    ("cx16", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"),
    ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
)
COMPILED_FOLDERS = ("kernels", "rules")  # where what is compiled stands


@cache
def source_digest() -> str:
    """Return a digest of every file whose code can end up inside a compiled kernel."""
    digest = hashlib.sha256()
    for folder in COMPILED_FOLDERS:
        for file in sorted((calling.PACKAGE / folder).rglob("*.py")):
            digest.update(file.relative_to(calling.PACKAGE).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


class Loaded(NamedTuple):
    """Machine code that can be called."""

    address: int
    result: str  # its form, see ``signatures``


@cache
def machine_code_source() -> str | None:
    """Return where machine code comes from: "package", or "compiler" and its cache, or None."""
    if _linked_kernels() is not None:
        return "package"
    return "compiler" if _loads() and find_spec("numba") is not None else None


def _loads() -> bool:
    """Return whether object files can be loaded."""
    return sys.byteorder == "little" and find_spec("llvmlite") is not None


@cache
def _linked_kernels() -> Any:
    """Return what finds kernels that are linked into the C module; None where there are none.

    In a checkout, which has the C file too, they may be older than the Python files.
    """
    module = calling.machine
    if _trusted is False or not module or not module.n_kernels:
        return None
    stale = calling.C_FILE.exists() and module.kernel_sources != source_digest()
    return None if stale else module.kernel


@cache
def processor() -> str:
    """Return the kind of processor that machine code is made for and loaded for here.

    Raises
    ------
    InputError
        Where ROSENBLATT_PROCESSOR names one that this machine is not.
    """
    fitting = _fitting_processors()
    chosen = os.environ.get("ROSENBLATT_PROCESSOR") or fitting[0]
    if chosen not in fitting:  # LLVM would abort the process
        names = word_list(fitting, joint=" or ")
        msg = f"ROSENBLATT_PROCESSOR must be {names} on this machine; got {chosen!r}."
        raise InputError(msg)
    return chosen


def _fitting_processors() -> list[str]:
    """Return the kinds of processor whose code runs here, the best first."""
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return ["generic"]
    level = calling.machine.level() if calling.machine else 0
    if level == 0:  # nobody to ask but LLVM
        known = import_module("llvmlite.binding").get_host_cpu_features() if _loads() else {}
        v2, v3 = (all(map(known.get, features)) for features in FEATURES)
        level = 3 if v2 and v3 else 2 if v2 else 1
    return X86_64[-level:]


_lock = threading.RLock()
_loaded: dict[str, Loaded | None] = {}


def _new_lock() -> None:
    global _lock  # noqa: PLW0603  # a thread that held it is not in the child
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


def machine_code(
    name: str, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> Loaded | None:
    """Return a kernel for arguments like these, compiled if need be; None where it can't be."""
    with _lock:
        if name not in _loaded:
            loaded = _linked(name) if is_ours(name) else None
            _loaded[name] = loaded or _compiled(name, function, arguments)
        return _loaded[name]


def _linked(name: str) -> Loaded | None:
    """Return a kernel that is linked into the C module, once one has proved to be right."""
    kernels = _linked_kernels()
    kernel = kernels(symbol_of(name), processor()) if kernels and _agrees() else None
    return kernel and Loaded(*kernel)


_trusted: bool | None = None  # before the trial


def _agrees() -> bool:
    """Return whether linked kernels do as plain Python; try one at the first time, and warn."""
    global _trusted  # noqa: PLW0603  # of this process
    if _trusted is None:
        _trusted = True  # in the trial itself
        _trusted = import_module("rosenblatt.kernels.compiling.trial").agrees()
        if not _trusted:
            msg = (
                "The machine code of this package does not compute what plain Python computes on "
                "this machine, and is not used. Please report it with the kind of processor."
            )
            warnings.warn(msg, RuntimeWarning, stacklevel=6)
            _loaded.clear()
            _linked_kernels.cache_clear()
            machine_code_source.cache_clear()
    return _trusted


def _compiled(name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Loaded | None:
    """Return machine code of this name from the cache, or compile it."""
    cache = UserCache(source_digest(), processor()) if is_ours(name) and _loads() else None
    code = cache.load(name) if cache else None
    if code is None:
        if compiler_problem() is not None:
            _missing()
            return None
        told = {"kept": cache is not None and cache.keeps(), "calls": calling.calls}
        log.info("Compiling %s", name, extra=told)
        compiler = import_module("rosenblatt.kernels.compiling.compiler")
        target = compiler.Target(processor())
        kinds = compiler.numba_type(arguments)
        result, objects = compiler.compile_kernel(function, kinds, symbol_of(name), target)
        code = result, objects[target]
        if cache is not None:
            cache.save(name, code)
    return _load(symbol_of(name), *code)


def missing_code() -> list[str]:
    """Return the names of the kernels that run as plain Python for want of machine code."""
    return [name for name, found in _loaded.items() if found is None]


def _missing() -> None:
    """Say once that kernels run as plain Python."""
    if not missing_code():
        msg = (
            "A part of rosenblatt runs as plain Python, a hundred times slower, because this "
            f"installation has no machine code for it. {compiler_problem()}"
        )
        warnings.warn(msg, RuntimeWarning, stacklevel=6)


@cache
def compiler_problem() -> str | None:
    """Import numba; return why it cannot compile here and what to do, or None."""
    if not _loads() or find_spec("numba") is None:
        return "The compiler is missing: pip install numba."
    try:
        import_module("numba")
    except Exception as error:  # noqa: BLE001  # whatever versions that do not fit raise
        from importlib.metadata import version

        versions = f"numba {version('numba')} cannot be imported with NumPy {version('numpy')}"
        reason = str(error).rstrip(".")
        return f"{versions} ({reason}). Install versions that fit: pip install --upgrade numba."
    return None


@cache
def _engine() -> Any:
    """Return LLVM's loader of object files, and what has to live as long as it."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def _load(symbol: str, result: str, code: bytes) -> Loaded:
    import llvmlite.binding as llvm

    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return Loaded(engine.get_function_address(symbol), result)

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
from rosenblatt.kernels.compiling.forms import (
    Form,
    TupleForm,
    modules_of,
    parsed_result,
    qualified_name,
)
from rosenblatt.kernels.compiling.store import Record, source_digest
from rosenblatt.wording import word_list

log = logging.getLogger("rosenblatt.kernels")

# The levels of x86-64, the best first, each by the features that the next lacks.
LEVELS = {
    "x86-64-v3": ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
    "x86-64-v2": ("cx16", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"),
    "x86-64": (),
}
GENERIC = "generic"  # of arm64 and others, which have none


class Loaded(NamedTuple):
    """Machine code that can be called."""

    address: int
    result: Form


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


def _has_levels() -> bool:
    return platform.machine().lower() in {"x86_64", "amd64"}


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
    if not _has_levels():
        return [GENERIC]
    levels = calling.machine.levels() if calling.machine else ()
    if levels:
        return list(levels)
    if not _loads():
        return ["x86-64"]
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    fitting: list[str] = []
    for level in reversed(LEVELS):
        if not all(features.get(feature) for feature in LEVELS[level]):
            break
        fitting.insert(0, level)
    return fitting


_lock = threading.RLock()
_loaded: dict[str, Loaded | None] = {}


def _new_lock() -> None:
    global _lock  # noqa: PLW0603  # a thread that held it is not in the child
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


def machine_code(function: Callable[..., Any], signature: TupleForm) -> Loaded | None:
    """Return a kernel for arguments of this form, compiled if need be; None where it can't be."""
    name = kernel_name(function, signature)
    modules = {function.__module__, *modules_of(signature)}
    ours = all(module.partition(".")[0] == "rosenblatt" for module in modules)
    with _lock:
        if name not in _loaded:
            loaded = _linked(name) if ours else None
            _loaded[name] = loaded or _compiled(name, function, signature, ours=ours)
        return _loaded[name]


def _linked(name: str) -> Loaded | None:
    """Return a kernel that is linked into the C module, once one has proved to be right."""
    kernels = _linked_kernels()
    kernel = kernels(symbol_of(name), processor()) if kernels and _agrees() else None
    return kernel and Loaded(kernel[0], parsed_result(kernel[1]))


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


def _compiled(
    name: str, function: Callable[..., Any], signature: TupleForm, *, ours: bool
) -> Loaded | None:
    """Return machine code of this name from the cache, or compile it."""
    if not _loads():
        _missing()
        return None
    symbol = symbol_of(name)
    record = _stored(name, symbol) if ours else None
    if record is None:
        if compiler_problem() is not None:
            _missing()
            return None
        cache = UserCache(source_digest(), processor())
        told = {"kept": ours and cache.keeps(), "calls": calling.calls}
        log.info("Compiling %s", name, extra=told)
        compiler = import_module("rosenblatt.kernels.compiling.compiler")
        target = compiler.Target(processor())
        code = compiler.compile_kernel(function, signature, symbol, target)
        data = code.data[target]
        record = Record(name, str(code.result), processor(), source_digest(), data)
        if ours:
            cache.save(symbol, record)
    return _load(symbol, record)


def kernel_name(function: Callable[..., Any], signature: TupleForm) -> str:
    """Return the name of a kernel for one signature."""
    return f"{qualified_name(function)}{signature}"


def symbol_of(name: str) -> str:
    """Return the name that machine code has for the loader."""
    return f"kernel_{hashlib.sha256(name.encode()).hexdigest()[:32]}"


def _stored(name: str, symbol: str) -> Record | None:
    """Return the record of a name in the cache that fits this process."""
    record = UserCache(source_digest(), processor()).load(symbol)
    fits = record and record[:1] + record[2:4] == (name, processor(), source_digest())
    return record if fits else None


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


def _load(symbol: str, record: Record) -> Loaded:
    import llvmlite.binding as llvm

    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(record.code))
    engine.finalize_object()
    address = engine.get_function_address(symbol)
    return Loaded(address, parsed_result(record.result))

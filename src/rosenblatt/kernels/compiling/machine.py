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
from rosenblatt.kernels.compiling.cache import UserCache
from rosenblatt.kernels.compiling.forms import (
    Form,
    TupleForm,
    modules_of,
    parsed_result,
    qualified_name,
)
from rosenblatt.kernels.compiling.store import (
    FOLDER,
    Record,
    package_code,
    source_digest,
)
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
    if not _loads():
        return None
    if FOLDER.is_dir() and package_code(processor()).sources == source_digest():
        return "package"
    return None if find_spec("numba") is None else "compiler"


def _loads() -> bool:
    """Return whether machine code can be loaded."""
    return sys.byteorder == "little" and find_spec("llvmlite") is not None


def package_processors() -> tuple[str, ...]:
    """Return the kinds of processor that a package for this kind of machine has code for."""
    return ("x86-64-v3", "x86-64-v2") if _has_levels() else (GENERIC,)


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

    def make(symbol: str) -> Any:
        compiler = import_module("rosenblatt.kernels.compiling.compiler")
        return compiler.compile_kernel(function, signature, symbol, processor())

    return _found(name, make, ours=all(m.partition(".")[0] == "rosenblatt" for m in modules))


def kernel_name(function: Callable[..., Any], signature: TupleForm) -> str:
    """Return the name of a kernel for one signature."""
    return f"{qualified_name(function)}{signature}"


def symbol_of(name: str) -> str:
    """Return the name that machine code has for the loader."""
    return f"kernel_{hashlib.sha256(name.encode()).hexdigest()[:32]}"


def builtin_code(module: str, name: str) -> int | None:
    """Return the address of a function that Python itself calls."""

    def make(symbol: str) -> Any:
        compiler = import_module("rosenblatt.kernels.compiling.compiler")
        function = getattr(import_module(module), name)
        return compiler.compile_builtin(function, symbol, processor())

    found = _found(f"{module}.{name}", make, ours=True)
    return None if found is None else found.address


def _found(name: str, make: Callable[[str], Any], *, ours: bool) -> Loaded | None:
    """Return machine code of this name from the package or the cache, or make it."""
    with _lock:
        if name in _loaded:
            return _loaded[name]
        symbol = symbol_of(name)
        if not _loads():
            _missing(name)
            return None
        record = _stored(name, symbol) if ours else None
        if record is None:
            if find_spec("numba") is None:
                _missing(name)
                return None
            cache = UserCache(source_digest(), processor())
            log.info("Compiling %s", name, extra={"kept": ours and cache.keeps()})
            code = make(symbol)
            data = code.data[processor()]
            record = Record(name, str(code.result), processor(), source_digest(), data)
            if ours:
                cache.save(symbol, record)
        found = _load(symbol, record)
        _loaded[name] = found
        return found


def _stored(name: str, symbol: str) -> Record | None:
    """Return the record of a name that fits this process."""
    for place in (package_code(processor()), UserCache(source_digest(), processor())):
        record = place.load(symbol)
        if record and record[:1] + record[2:4] == (name, processor(), source_digest()):
            return record
    return None


def missing_code() -> list[str]:
    """Return the names of the kernels that run as plain Python for want of machine code."""
    return [name for name, found in _loaded.items() if found is None]


def _missing(name: str) -> None:
    """Say once that kernels run as plain Python."""
    if not missing_code():
        msg = (
            "A part of rosenblatt runs as plain Python, a hundred times slower, because this "
            "installation has no machine code for it. Install the compiler: "
            "pip install 'rosenblatt[jit]'."
        )
        warnings.warn(msg, RuntimeWarning, stacklevel=5)
    _loaded[name] = None


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

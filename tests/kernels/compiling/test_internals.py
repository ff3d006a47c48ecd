"""What numba and llvmlite do not promise to keep, and the versions that it was read in."""

import ast
import inspect
import pkgutil
import re
from collections.abc import Iterator

import pytest

from rosenblatt.kernels.compiling import target
from rosenblatt.kernels.compiling.calling import PACKAGE
from tests.processes import ROOT

WRITTEN_FOR = {"numba": "0.68.1", "llvmlite": "0.50.0"}
PUBLIC = {"numba", "numba.extending", "llvmlite", "llvmlite.ir", "llvmlite.binding"}
# Each name that is imported from elsewhere, and what it is for.
INTERNALS = {
    "numba.core.cgutils": "loops and branches in LLVM code, as extensions write them",
    "numba.core.codegen.AOTCPUCodegen": "LLVM code without a process that runs it",
    "numba.core.codegen.AOTCodeLibrary": "the code of a function and of all that it calls",
    "numba.core.compiler_lock.global_compiler_lock": "held while a library is linked",
    "numba.core.cpu.CPUContext": "how a processor does what a function says",
    "numba.core.dispatcher.Dispatcher": "a function that kernels call",
    "numba.core.registry.CPUTarget": "the contexts of a target",
    "numba.core.registry.cpu_target": "the context that numba's run time is made by",
    "numba.core.runtime.context.NRTContext": "what emits the counting of references",
    "numba.core.runtime.rtsys": "the run time, made before our target asks for it",
    "numba.core.target_extension.CPU": "the target that ours is one of",
    "numba.core.target_extension.dispatcher_registry": "what our target calls functions by",
    "numba.core.target_extension.jit_registry": "what makes functions of our target",
    "numba.core.target_extension.target_registry": "the name of our target",
    "numba.np.numpy_support.as_dtype": "the size of an element",
}
# Attributes of what numba hands over, by the class that has them.
ATTRIBUTES = (
    "numba.core.codegen.CodeLibrary.finalize",
    "numba.core.codegen.CodeLibrary.get_llvm_str",
    "numba.core.funcdesc.FunctionDescriptor.llvm_cfunc_wrapper_name",
    "numba.core.types.BaseTuple.from_types",
)
# What the classes in target.py override: how numba calls it, or what kind of thing it is.
OVERRIDDEN = {
    "KernelContext.get_executable": "(self, library, fndesc, env)",
    "KernelContext.get_function": "(self, fn, sig, _firstcall=True)",
    "KernelContext.init": "(self)",
    "KernelContext.nrt": "cached_property",
    "KernelFunction.add_overload": "(self, cres)",
    "KernelTarget._toplevel_target_context": "threadsafe_cached_property",
    "LinkedCode._optimize_final_module": "(self)",
    "Linker._library_class": "ABCMeta",
    "NoReferences.decref": "(self, builder, typ, value)",
    "NoReferences.incref": "(self, builder, typ, value)",
}


def imported() -> Iterator[str]:
    """Yield the names that the compiler imports of numba and llvmlite."""
    for folder in ("compiling", "emission"):
        for path in (PACKAGE / "kernels" / folder).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module:
                    yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("package", WRITTEN_FOR)
def test_the_version_is_the_one_that_was_read(package: str) -> None:
    """Another pinned version fails here, until what is listed has been compared with it."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pinned = re.findall(rf"^{package}==(\S+)$", text, re.MULTILINE)
    assert pinned == [WRITTEN_FOR[package]], (
        f"constraints.txt pins {package} {pinned}, but kernels/compiling was written for "
        f"{WRITTEN_FOR[package]}. Compare what {__name__} lists with the new sources, run the "
        "tests of kernels and `make module`, then write the new version into WRITTEN_FOR."
    )


def test_every_internal_is_listed() -> None:
    """What is imported from a place that is not public is in the list, and nothing else."""
    found = {name for name in imported() if name.partition(".")[0] in WRITTEN_FOR}
    assert {name for name in found if name.rpartition(".")[0] not in PUBLIC} == set(INTERNALS)


@pytest.mark.parametrize("name", [*INTERNALS, *ATTRIBUTES])
def test_an_internal_is_where_it_was(name: str) -> None:
    """The installed version has it."""
    assert pkgutil.resolve_name(name) is not None


def test_what_is_overridden_is_as_it_was() -> None:
    """The classes of the target override what the list says, and numba calls it like that."""
    found = {}
    for kind in vars(target).values():
        if inspect.isclass(kind) and kind.__module__ == target.__name__:
            for name in vars(kind):
                if hasattr(kind.__base__, name) and not name.startswith(("__", "_abc_")):
                    usual = inspect.getattr_static(kind.__base__, name)
                    shape = inspect.signature if inspect.isfunction(usual) else _kind_of
                    found[f"{kind.__name__}.{name}"] = str(shape(usual))
    assert found == OVERRIDDEN


def _kind_of(thing: object) -> str:
    return type(thing).__name__

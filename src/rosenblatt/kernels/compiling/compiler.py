"""From a kernel and a signature to machine code, by numba and LLVM.

numba makes LLVM code of the kernel, called by a C function that takes the address of a frame. What
that code refers to outside, the reports of exceptions and the release of arrays, is never reached
from a kernel, which neither raises nor makes arrays: it is replaced by nothing, so that the machine
code stands by itself. Imported only where something is to be compiled.
"""

from collections.abc import Callable, Iterator
from functools import cache, reduce, wraps
from importlib import import_module
from inspect import Parameter, Signature, getclosurevars
from itertools import count
from types import CellType, FunctionType
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic, overload_method
from numba.np.numpy_support import as_dtype

from rosenblatt.kernels.compiling.calling import DONE
from rosenblatt.kernels.compiling.function import (
    INLINED,
    INSTRUCTIONS,
    METHODS,
    CompiledFunction,
)
from rosenblatt.kernels.compiling.signatures import BOOL, FLOAT, INT, UNSIGNED, qualified_name
from rosenblatt.kernels.compiling.target import kernel_jit

# No fastmath: a fixed order of additions gives the same bits on every machine. The numpy error
# model drops the test for a zero divisor from the inner loops; the rules make that test themselves.
ENTRY = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True}
CALLED = {**ENTRY, "no_cfunc_wrapper": True}  # by other code alone
INLINE = {**CALLED, "forceinline": True}

WORD = ir.IntType(64)

# Found in every process: LLVM's own, and what it makes of loops that copy.
OUTSIDE = ("llvm.", "memcpy", "memmove", "memset")
ROOTS = {"sqrt": ("double", "f64"), "sqrtf": ("float", "f32")}  # an instruction, exact everywhere
# What numba refers to for the release of arrays and for exceptions.
UNREACHED = (
    "NRT_Free",
    "NRT_MemInfo_call_dtor",
    "Py",
    "_Py",
    "numba_gil_",
    "numba_unpickle",
    "numba_runtime_build_excinfo",
)


class Target(NamedTuple):
    """What machine code is made for: this process, or an extension module of some system."""

    processor: str
    triple: str = ""  # of the system, as LLVM calls it; for this process, none


class TypedKernel(NamedTuple):
    """A kernel as LLVM code, with a C function of this name to call it."""

    code: str
    entry: str
    result: Any  # the type of what the kernel returns


def compile_kernel(
    function: Callable[..., Any], kinds: Any, symbol: str, *targets: Target
) -> tuple[str, dict[Target, bytes]]:
    """Compile a kernel for arguments of these types, under this name, for these targets.

    Returns the form of its result, and an object file for each target.
    """
    typed = typed_kernel(function, kinds)
    return result_form(typed.result), _object_files(typed, symbol, targets)


@global_compiler_lock  # type: ignore[untyped-decorator]
def typed_kernel(function: Callable[..., Any], kinds: Any) -> TypedKernel:
    """Return a kernel for arguments of these types, by numba."""
    kernel, read = _dispatcher(function), _reader(kinds)

    def entry(frame):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        write(frame, kernel(*read(frame)))
        return DONE

    entry.__qualname__ = function.__qualname__
    made = kernel_jit(**ENTRY)(entry)
    made.compile(types.int64(types.int64))
    (compiled,) = made.overloads.values()
    compiled.library.finalize()
    name, code = compiled.fndesc.llvm_cfunc_wrapper_name, compiled.library.get_llvm_str()
    return TypedKernel(code, name, kernel.overloads[tuple(kinds)].signature.return_type)


@cache
def _dispatcher(function: Callable[..., Any]) -> Any:
    """Return what numba calls for a function of ours."""
    for name in METHODS:  # more may come with the next module
        _register_method(name)
    if isinstance(function, CompiledFunction):
        function = function.__wrapped__
    if function in INSTRUCTIONS:
        emitter = function.__module__.rpartition(".")[2]
        module = import_module(f"rosenblatt.kernels.emission.{emitter}")
        return getattr(module, function.__name__)
    return kernel_jit(**(INLINE if function in INLINED else CALLED))(_translated(function))


def _ours(value: object) -> bool:
    """Whether numba would not know what to make of this, but we do."""
    if isinstance(value, CompiledFunction):
        return True
    return isinstance(value, FunctionType) and (value in INLINED or value in INSTRUCTIONS)


def _translated(function: Any) -> Any:
    """Return the function with all that it calls of ours in the form that numba knows."""
    variables = getclosurevars(function)
    names = {k: _dispatcher(v) for k, v in variables.globals.items() if _ours(v)}
    cells = function.__closure__ and tuple(
        CellType(_dispatcher(cell.cell_contents)) if _ours(cell.cell_contents) else cell
        for cell in function.__closure__
    )
    if not names and cells == function.__closure__:
        return function
    made = FunctionType(
        function.__code__,
        {**function.__globals__, **names},
        function.__name__,
        function.__defaults__,
        cells,
    )
    return wraps(function)(made)


@cache
def _register_method(name: str) -> None:
    """Tell numba that a method of named tuples is compiled as it stands."""

    def implementation(*arguments: Any) -> Any:
        method = getattr(arguments[0].instance_class, name, None)
        return None if method is None else _translated(method)

    parameters = [Parameter(one, Parameter.POSITIONAL_OR_KEYWORD) for one in METHODS[name]]
    implementation.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    # not strict: else numba compares type annotations, which the methods have
    overload_method(types.BaseNamedTuple, name, jit_options=INLINE, strict=False)(implementation)


def numba_type(value: object) -> Any:
    """Return what numba calls a value; whether an array may be written to is not its concern."""
    if isinstance(value, tuple):
        return types.BaseTuple.from_types([*map(numba_type, value)], type(value))
    kind = typeof(value)
    return kind.copy(readonly=False) if isinstance(kind, types.Array) else kind


def result_form(kind: Any) -> str:
    """Return the form of what a kernel returns: as a signature, of numbers that are words."""
    if kind == types.none:
        return str(None)
    if isinstance(kind, types.BaseTuple):
        name = qualified_name(kind.instance_class) if hasattr(kind, "instance_class") else ""
        return f"{name}({','.join(map(_number_form, kind))})"
    return _number_form(kind)


def _number_form(kind: Any) -> str:
    if isinstance(kind, types.Boolean):
        return BOOL
    if isinstance(kind, types.Integer):
        return INT if kind.signed or kind.bitwidth < 64 else UNSIGNED
    if isinstance(kind, types.Float):
        return FLOAT
    msg = f"A kernel returns numbers, not {kind}."
    raise TypeError(msg)


def _reader(kinds: Any) -> Any:
    """Return an intrinsic that makes the arguments, a tuple, from the words of a frame."""

    @intrinsic  # type: ignore[untyped-decorator]
    def read(typing_context: Any, frame: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _value(context, builder, kinds, _places(builder, arguments[0]))

        return kinds(types.int64), codegen

    return read


@intrinsic  # type: ignore[untyped-decorator]
def write(typing_context: Any, frame: Any, result: Any) -> Any:
    """Write what a kernel returns to the words of a frame."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = _places(builder, arguments[0])
        for kind, value in _numbers(builder, signature.args[1], arguments[1]):
            word = types.float64 if isinstance(kind, types.Float) else types.int64
            word_value = context.cast(builder, value, kind, word)
            builder.store(builder.bitcast(word_value, WORD), next(places))
        return context.get_dummy_value()

    return types.void(types.int64, types.unliteral(result)), codegen


def _places(builder: Any, frame: Any) -> Iterator[Any]:
    """Yield the addresses of the words of a frame."""
    words = builder.inttoptr(frame, WORD.as_pointer())
    return (builder.gep(words, [WORD(k)]) for k in count())


def _value(context: Any, builder: Any, kind: Any, places: Iterator[Any]) -> Any:
    """Emit the reading of a value of this type."""
    if kind == types.none:
        return context.get_dummy_value()
    if isinstance(kind, types.BaseTuple):
        fields = [_value(context, builder, field, places) for field in kind]
        return context.make_tuple(builder, kind, fields)
    if isinstance(kind, types.Array):
        return _array(context, builder, kind, places)
    word = builder.load(next(places))
    if kind == types.float64:
        return builder.bitcast(word, ir.DoubleType())
    return builder.icmp_signed("!=", word, WORD(0)) if kind == types.boolean else word


def _array(context: Any, builder: Any, kind: Any, places: Iterator[Any]) -> Any:
    (data, *numbers) = [builder.load(next(places)) for _ in range(1 + 2 * kind.ndim)]
    array = context.make_array(kind)(context, builder)
    array.data = builder.inttoptr(data, context.get_data_type(kind.dtype).as_pointer())
    array.shape = cgutils.pack_array(builder, numbers[: kind.ndim], ty=WORD)
    array.strides = cgutils.pack_array(builder, numbers[kind.ndim :], ty=WORD)
    array.nitems = reduce(builder.mul, numbers[: kind.ndim], WORD(1))
    array.itemsize = WORD(as_dtype(kind.dtype).itemsize)
    return array._getvalue()  # noqa: SLF001  # so named by numba, and how extensions read it


def _numbers(builder: Any, kind: Any, value: Any) -> list[tuple[Any, Any]]:
    """Return the types and values of the numbers that a result is made of."""
    if kind == types.none:
        return []
    if isinstance(kind, types.BaseTuple):
        return [(field, builder.extract_value(value, k)) for k, field in enumerate(kind)]
    return [(kind, value)]


def _object_files(
    typed: TypedKernel, symbol: str, targets: tuple[Target, ...]
) -> dict[Target, bytes]:
    """Return the object files of a kernel, which refer to nothing else outside."""
    module = llvm.parse_assembly(typed.code)
    module.link_in(llvm.parse_assembly(_supplement(module)))
    for thing in (*module.functions, *module.global_variables):
        if not thing.is_declaration:
            thing.linkage = "internal"
    module.get_function(typed.entry).linkage = "external"
    made = {}
    for target in targets:
        copy, machine = module.clone(), target_machine(target)
        entry = copy.get_function(typed.entry)
        entry.name = symbol_for(symbol, target)
        if target.triple:
            copy.triple, copy.data_layout = target.triple, str(machine.target_data)
            entry.visibility = "hidden"
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(copy, builder)
        strange = [f.name for f in copy.functions if f.is_declaration]
        strange = [name for name in strange if not name.startswith(OUTSIDE)]
        if strange:
            msg = f"{typed.entry} calls what is in numba alone: {', '.join(strange)}."
            raise TypeError(msg)
        made[target] = bytes(machine.emit_object(copy))
    return made


def symbol_for(symbol: str, target: Target) -> str:
    """Return the name of a kernel for one target: a module holds it for many processors."""
    return f"{symbol}_{target.processor.replace('-', '_')}" if target.triple else symbol


def _supplement(module: Any) -> str:
    """Return LLVM code that defines what is never reached as nothing, and roots."""
    lines = [f'target triple = "{module.triple}"']
    for name, (kind, short) in ROOTS.items():
        lines.append(f"declare {kind} @llvm.sqrt.{short}({kind})")
        body = f"%root = call {kind} @llvm.sqrt.{short}({kind} %x) ret {kind} %root"
        lines.append(f"define {kind} @{name}({kind} %x) {{ {body} }}")
    for function in module.functions:
        name = function.name
        if function.is_declaration and name.startswith(UNREACHED):
            kind = str(function.global_value_type)
            result = kind[: kind.index(" (")]
            parameters = kind[kind.index(" (") + 1 :]
            returned = "ret void" if result == "void" else f"ret {result} zeroinitializer"
            lines.append(f'define {result} @"{name}"{parameters} {{ {returned} }}')
    for variable in module.global_variables:
        if variable.is_declaration:
            kind = variable.global_value_type
            lines.append(f'@"{variable.name}" = global {kind} zeroinitializer')
    return "\n".join(lines)


@cache
def target_machine(target: Target) -> Any:
    """Return LLVM's machine for a target; it contracts no multiplication with an addition."""
    if target.triple:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        system, place = llvm.Target.from_triple(target.triple), ("pic", "default")
    else:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        system, place = llvm.Target.from_default_triple(), ("static", "large")
    return system.create_target_machine(
        cpu=target.processor, opt=3, reloc=place[0], codemodel=place[1]
    )

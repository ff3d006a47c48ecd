"""From a kernel and a signature to machine code, by numba and LLVM.

numba makes LLVM code of the kernel, called by a C function that takes the address of a frame. What
that code refers to outside, the reports of exceptions and the release of arrays, is never reached
from a kernel, which neither raises nor makes arrays: it is replaced by nothing, so that the machine
code stands by itself. Imported only where something is to be compiled.
"""

from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, Signature, getclosurevars
from types import CellType, FunctionType
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload_method
from numba.np.numpy_support import as_dtype

from rosenblatt.kernels.compiling.calling import DONE
from rosenblatt.kernels.compiling.forms import (
    BOOL,
    FLOAT,
    INT,
    UNSIGNED,
    ArrayForm,
    Form,
    TupleForm,
)
from rosenblatt.kernels.compiling.function import (
    INLINED,
    INSTRUCTIONS,
    METHODS,
    CompiledFunction,
)
from rosenblatt.kernels.compiling.target import EntryPoint, kernel_jit

# No fastmath: a fixed order of additions gives the same bits on every machine. The numpy error
# model drops the test for a zero divisor from the inner loops; the rules make that test themselves.
OPTIONS = {"nogil": True, "error_model": "numpy"}
CALLED = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # by other code alone
INLINE = {**CALLED, "forceinline": True}

NUMBERS = {INT: types.int64, FLOAT: types.float64, BOOL: types.boolean, UNSIGNED: types.uint64}
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


class ObjectCode(NamedTuple):
    """Machine code as an object file for each target, and the form of what it returns."""

    data: dict[Target, bytes]
    result: Form


def compile_kernel(
    function: Callable[..., Any], signature: TupleForm, symbol: str, *targets: Target
) -> ObjectCode:
    """Compile a kernel for arguments of this form, under this name, for these targets."""
    code, result = typed_kernel(function, signature)
    return ObjectCode(_object_files(code, symbol, targets), form_of_type(result))


def typed_kernel(function: Callable[..., Any], signature: TupleForm) -> tuple[Any, Any]:
    """Return a kernel as a C function of numba's, and the type of what the kernel returns."""
    kernel = _dispatcher(function)
    result: list[Any] = []
    read, write = _reader(numba_type(signature)), _writer(result)

    def entry(frame):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        write(frame, kernel(*read(frame)))
        return DONE

    entry.__qualname__ = function.__qualname__
    made = EntryPoint(entry, ((types.int64,), types.int64), {}, OPTIONS)
    made.compile()
    return made, result[0]


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


def numba_type(form: Form) -> Any:
    """Return what numba calls this form."""
    if form is None:
        return types.none
    if isinstance(form, str):
        return NUMBERS[form]
    if isinstance(form, ArrayForm):
        dtype = types.boolean if form.dtype == "bool" else getattr(types, form.dtype)
        return types.Array(dtype, form.ndim, form.layout)
    fields = [numba_type(field) for field in form.fields]
    if form.kind is tuple:
        return types.Tuple(fields)
    alike = len(set(fields)) == 1
    if alike:
        return types.NamedUniTuple(fields[0], len(fields), form.kind)
    return types.NamedTuple(fields, form.kind)


def form_of_type(kind: Any) -> Form:
    """Return the form of a numba type that a kernel returns."""
    if kind == types.none:
        return None
    if isinstance(kind, types.BaseTuple):
        return TupleForm(getattr(kind, "instance_class", tuple), tuple(map(form_of_type, kind)))
    if isinstance(kind, types.Boolean):
        return BOOL
    if isinstance(kind, types.Integer):
        return INT if kind.signed or kind.bitwidth < 64 else UNSIGNED
    if isinstance(kind, types.Float):
        return FLOAT
    msg = f"A kernel returns numbers, not {kind}."
    raise TypeError(msg)


def _reader(kind: Any) -> Any:
    """Return an intrinsic that makes the arguments, a tuple, from the words of a frame."""

    @intrinsic  # type: ignore[untyped-decorator]
    def read(typing_context: Any, frame: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            words = builder.inttoptr(arguments[0], WORD.as_pointer())
            return _Words(context, builder, words).value(kind)

        return kind(types.int64), codegen

    return read


class _Words:
    """The words of a frame, read or written one after the other."""

    def __init__(self, context: Any, builder: Any, words: Any) -> None:
        self.context, self.builder, self.words = context, builder, words
        self.place = 0

    def _next(self) -> Any:
        address = self.builder.gep(self.words, [WORD(self.place)])
        self.place += 1
        return address

    def value(self, kind: Any) -> Any:
        """Emit the reading of a value of this type."""
        builder = self.builder
        if kind == types.none:
            return self.context.get_dummy_value()
        if isinstance(kind, types.BaseTuple):
            fields = [self.value(field) for field in kind]
            return self.context.make_tuple(builder, kind, fields)
        if isinstance(kind, types.Array):
            return self._array(kind)
        address = self._next()
        if kind == types.float64:
            return builder.load(builder.bitcast(address, ir.DoubleType().as_pointer()))
        word = builder.load(address)
        return builder.icmp_signed("!=", word, WORD(0)) if kind == types.boolean else word

    def _array(self, kind: Any) -> Any:
        context, builder = self.context, self.builder
        element = context.get_data_type(kind.dtype)
        data, shape, strides = (
            [builder.load(self._next()) for _ in range(n)] for n in (1, kind.ndim, kind.ndim)
        )
        array = context.make_array(kind)(context, builder)
        array.data = builder.inttoptr(data[0], element.as_pointer())
        array.shape = cgutils.pack_array(builder, shape, ty=WORD)
        array.strides = cgutils.pack_array(builder, strides, ty=WORD)
        n_items = WORD(1)
        for length in shape:
            n_items = builder.mul(n_items, length)
        array.nitems = n_items
        array.itemsize = WORD(as_dtype(kind.dtype).itemsize)
        return array._getvalue()  # noqa: SLF001  # so named by numba, and how extensions read it

    def write(self, kind: Any, value: Any) -> None:
        """Emit the writing of numbers."""
        builder = self.builder
        if kind == types.none:
            return
        if isinstance(kind, types.BaseTuple):
            for k, field in enumerate(kind):
                self.write(field, builder.extract_value(value, k))
            return
        address = self._next()
        if isinstance(kind, types.Float):
            if kind.bitwidth < 64:
                value = builder.fpext(value, ir.DoubleType())
            builder.store(value, builder.bitcast(address, ir.DoubleType().as_pointer()))
            return
        if value.type.width < 64:
            signed = isinstance(kind, types.Integer) and kind.signed
            value = (builder.sext if signed else builder.zext)(value, WORD)
        builder.store(value, address)


def _writer(result: list[Any]) -> Any:
    """Return an intrinsic that writes what a kernel returns to a frame, and notes its type."""

    @intrinsic  # type: ignore[untyped-decorator]
    def write(typing_context: Any, frame: Any, value: Any) -> Any:
        value = types.unliteral(value)
        result[:] = [value]

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            words = builder.inttoptr(arguments[0], WORD.as_pointer())
            _Words(context, builder, words).write(value, arguments[1])
            return context.get_dummy_value()

        return types.void(types.int64, value), codegen

    return write


def _object_files(code: Any, symbol: str, targets: tuple[Target, ...]) -> dict[Target, bytes]:
    """Return the object files of a C function of numba's that refers to nothing else outside."""
    module = llvm.parse_assembly(code.inspect_llvm())
    module.link_in(llvm.parse_assembly(_supplement(module)))
    for thing in (*module.functions, *module.global_variables):
        if not thing.is_declaration:
            thing.linkage = "internal"
    module.get_function(code.native_name).linkage = "external"
    made = {}
    for target in targets:
        copy, machine = module.clone(), target_machine(target)
        entry = copy.get_function(code.native_name)
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
            msg = f"{code.__qualname__} calls what is in numba alone: {', '.join(strange)}."
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

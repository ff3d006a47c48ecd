"""The vector instructions of ``rosenblatt.kernels.vector``."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rosenblatt.kernels.vector import LANES

DOUBLE = ir.DoubleType()
INT32 = ir.IntType(32)
INT64 = ir.IntType(64)


@intrinsic  # type: ignore[untyped-decorator]
def lane_dot(typing_context: Any, x: Any, x_start: Any, y: Any, y_start: Any, length: Any) -> Any:
    """Return Σ x.flat[x_start + j]·y.flat[y_start + j] over ``length`` elements, in 16 lanes."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left = _Operand(context, builder, x, arguments[0], arguments[1])
        right = _Operand(context, builder, y, arguments[2], arguments[3])
        return _dots(builder, left, [right], arguments[4])[0]

    return types.float64(x, types.intp, y, types.intp, types.intp), codegen


@intrinsic  # type: ignore[untyped-decorator]
def lane_dot_pair(
    typing_context: Any, x: Any, x_start: Any, y: Any, first: Any, second: Any, length: Any
) -> Any:
    """Return the products of x with y.flat[first:] and with y.flat[second:], each as lane_dot.

    x is loaded and converted once for both: ten products on MNIST take 50 ms in place of 73.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left = _Operand(context, builder, x, arguments[0], arguments[1])
        rights = [_Operand(context, builder, y, arguments[2], start) for start in arguments[3:5]]
        totals = _dots(builder, left, rights, arguments[5])
        return context.make_tuple(builder, signature.return_type, totals)

    both = types.UniTuple(types.float64, 2)
    return both(x, types.intp, y, types.intp, types.intp, types.intp), codegen


def _dots(builder: Any, left: "_Operand", rights: "list[_Operand]", length: Any) -> list[Any]:
    """Multiply one operand with each of the others, all in one loop over it."""
    vector = ir.VectorType(DOUBLE, LANES)
    zero = ir.Constant(vector, [0.0] * LANES)
    lanes = [cgutils.alloca_once_value(builder, zero) for _ in rights]
    whole = builder.and_(length, INT64(-LANES))
    with cgutils.for_range_slice(builder, INT64(0), whole, INT64(LANES), INT64) as (j, _):
        _accumulate(builder, left, rights, lanes, j, LANES)
    folded = (_fold(builder, builder.load(lane)) for lane in lanes)
    totals = [cgutils.alloca_once_value(builder, total) for total in folded]
    with cgutils.for_range_slice(builder, whole, length, INT64(1), INT64) as (j, _):
        _accumulate(builder, left, rights, totals, j, 1)
    return [builder.load(total) for total in totals]


def _accumulate(
    builder: Any, left: "_Operand", rights: "list[_Operand]", sums: list[Any], j: Any, width: int
) -> None:
    """Add the products at position j, ``width`` of them at once, to each sum."""
    x = left.load(j, width)
    for right, total in zip(rights, sums, strict=True):
        product = builder.fmul(x, right.load(j, width))
        builder.store(builder.fadd(builder.load(total), product), total)


def _fold(builder: Any, lanes: Any) -> Any:
    """Add the upper half of the lanes to the lower half until one is left."""
    width = LANES
    while width > 1:
        half = width // 2
        index = ir.VectorType(INT32, half)
        low = builder.shuffle_vector(lanes, lanes, ir.Constant(index, list(range(half))))
        high = builder.shuffle_vector(lanes, lanes, ir.Constant(index, list(range(half, width))))
        lanes, width = builder.fadd(low, high), half
    return builder.extract_element(lanes, INT32(0))


class _Operand:
    """Loads elements of an array as doubles, one at a time or ``LANES`` at once."""

    def __init__(self, context: Any, builder: Any, array_type: Any, array: Any, start: Any) -> None:
        struct = context.make_array(array_type)(context, builder, array)
        self.builder = builder
        self.element = context.get_data_type(array_type.dtype)
        self.size = array_type.dtype.bitwidth // 8
        self.first = builder.gep(struct.data, [start])

    def load(self, j: Any, width: int) -> Any:
        address = self.builder.gep(self.first, [j])
        target: Any = DOUBLE
        if width > 1:
            address = self.builder.bitcast(address, ir.VectorType(self.element, width).as_pointer())
            target = ir.VectorType(DOUBLE, width)
        value = self.builder.load(address, align=self.size)
        if isinstance(self.element, ir.FloatType):
            return self.builder.fpext(value, target)
        if isinstance(self.element, ir.IntType):  # images: bytes without a sign
            return self.builder.uitofp(value, target)
        return value


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def prefetch(typing_context: Any, rows: Any, field: Any, offset: Any) -> Any:
    """Ask for the cache line of rows[field].flat[offset], without waiting for it.

    It takes the whole tuple: an array taken out of it would be counted as one more reference and
    then one less, which at a call like this numba does not optimise away (28 ns a row).
    """
    number = field.literal_value

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = builder.extract_value(arguments[0], number)
        struct = context.make_array(rows[number])(context, builder, array)
        byte = ir.IntType(8).as_pointer()
        address = builder.bitcast(builder.gep(struct.data, [arguments[2]]), byte)
        function_type = ir.FunctionType(ir.VoidType(), [byte, INT32, INT32, INT32])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        read, keep, data = INT32(0), INT32(3), INT32(1)
        builder.call(function, [address, read, keep, data])
        return context.get_dummy_value()

    return types.void(rows, field, types.intp), codegen

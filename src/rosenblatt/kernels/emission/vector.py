"""The vector instructions of ``rosenblatt.kernels.rows``."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rosenblatt.kernels.rows import CACHE_LINE, FAR, LANES, NEAR, SPARSE_LANES

DOUBLE = ir.DoubleType()
INT32 = ir.IntType(32)
INT64 = ir.IntType(64)
MOST_CLASSES = 32  # whose sums are in registers at once
WEIGHTS_AHEAD = 16  # features of a row whose weights of all classes are asked for
WEIGHTS_LINE = 8  # of them in a cache line


@intrinsic  # type: ignore[untyped-decorator]
def lane_dot(typing_context: Any, x: Any, x_start: Any, y: Any, y_start: Any, length: Any) -> Any:
    """Return Σ x.flat[x_start + j]·y.flat[y_start + j] over ``length`` elements, in 16 lanes."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left = _Operand(context, builder, x, arguments[0], arguments[1])
        right = _Operand(context, builder, y, arguments[2], arguments[3])
        return _dots(builder, left, [right], arguments[4])[0]

    return types.float64(x, types.intp, y, types.intp, types.intp), codegen


@intrinsic  # type: ignore[untyped-decorator]
def lane_dot_ahead(
    typing_context: Any,
    x: Any,
    x_start: Any,
    y: Any,
    y_start: Any,
    length: Any,
    near: Any,
    far: Any,
) -> Any:
    """Return what lane_dot does; meanwhile ask for x.flat[near:] and x.flat[far:], line by line."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, *later = (
            _Operand(context, builder, x, arguments[0], start)
            for start in (arguments[1], *arguments[5:7])
        )
        right = _Operand(context, builder, y, arguments[2], arguments[3])
        return _dots(builder, left, [right], arguments[4], later=later)[0]

    return types.float64(x, types.intp, y, *[types.intp] * 4), codegen


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


def _dots(
    builder: Any,
    left: "_Operand",
    rights: Any,
    length: Any,
    n_lanes: int = LANES,
    later: "Sequence[_Operand]" = (),
) -> list[Any]:
    """Multiply one operand with each of the others, all in one loop over it.

    Two operands that come later, near and far, are asked for in the same loop.
    """
    vector = ir.VectorType(DOUBLE, n_lanes)
    zero = ir.Constant(vector, [0.0] * n_lanes)
    lanes = [cgutils.alloca_once_value(builder, zero) for _ in rights]
    whole = builder.and_(length, INT64(-n_lanes))
    with cgutils.for_range_slice(builder, INT64(0), whole, INT64(n_lanes), INT64) as (j, _):
        for k in range(0, n_lanes if later else 0, CACHE_LINE // left.size):
            _ask_for_all(builder, later, builder.add(j, INT64(k)))
        _accumulate(builder, left, rights, lanes, j, n_lanes)
    _ask_for_all(builder, later, builder.sub(length, INT64(1)))
    folded = (_fold(builder, builder.load(lane)) for lane in lanes)
    totals = [cgutils.alloca_once_value(builder, total) for total in folded]
    with cgutils.for_range_slice(builder, whole, length, INT64(1), INT64) as (j, _):
        _accumulate(builder, left, rights, totals, j, 1)
    return [builder.load(total) for total in totals]


def _ask_for_all(builder: Any, later: "Sequence[_Operand]", j: Any) -> None:
    """Ask for position j of an operand that is near and of one that is far, if there are any."""
    for operand, level in zip(later, (NEAR, FAR), strict=False):
        ask(builder, builder.gep(operand.first, [j]), level)


def _accumulate(
    builder: Any, left: "_Operand", rights: Any, sums: list[Any], j: Any, width: int
) -> None:
    """Add the products at position j, ``width`` of them at once, to each sum."""
    x = left.load(j, width)
    for right, total in zip(rights, sums, strict=True):
        product = builder.fmul(x, right.load(j, width))
        builder.store(builder.fadd(builder.load(total), product), total)


def _fold(builder: Any, lanes: Any) -> Any:
    """Add the upper half of the lanes to the lower half until one is left."""
    width = lanes.type.count
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

    def index(self, j: Any) -> Any:
        """Load a number of a row or a feature, which has no sign."""
        value = self.builder.load(self.builder.gep(self.first, [j]))
        return value if value.type.width == 64 else self.builder.zext(value, INT64)

    def store(self, j: Any, value: Any, width: int) -> None:
        address = self.builder.gep(self.first, [j])
        if width > 1:
            address = self.builder.bitcast(address, value.type.as_pointer())
        self.builder.store(value, address, align=self.size)


@intrinsic  # type: ignore[untyped-decorator]
def sparse_dot(typing_context: Any, x: Any, indices: Any, start: Any, stop: Any, w: Any) -> Any:
    """Return Σ x[p]·w[indices[p]] for p from start to stop, in 4 lanes."""
    if w.layout != "C":
        return None

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x_data, index_data, start, stop, w_data = arguments
        values = _Operand(context, builder, x, x_data, start)
        weights = _Gathered(
            _Operand(context, builder, indices, index_data, start),
            _Operand(context, builder, w, w_data, INT64(0)),
        )
        return _dots(builder, values, [weights], builder.sub(stop, start), SPARSE_LANES)[0]

    return types.float64(x, indices, types.intp, types.intp, w), codegen


@intrinsic  # type: ignore[untyped-decorator]
def sparse_scores(
    typing_context: Any, x: Any, indices: Any, start: Any, stop: Any, w: Any, out: Any
) -> Any:
    """Write Σ x[p]·w[indices[p]] for p from start to stop to out, of w's rows.

    As many sums as fit stay in registers while the row is read: 20 newsgroups, K = 20, take 13.0 ms
    a pass in place of 19.6.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x_data, index_data, start, stop, w_data, out_data = arguments
        scores = context.make_array(out)(context, builder, out_data)
        row = _Scores(
            _Operand(context, builder, x, x_data, start),
            _Operand(context, builder, indices, index_data, start),
            _Operand(context, builder, w, w_data, INT64(0)),
            _Operand(context, builder, out, out_data, INT64(0)),
            builder.sub(stop, start),
            builder.extract_value(scores.shape, 0),
        )
        # 32 classes at a time, then the fours that are left at once, then the last three
        whole = builder.and_(row.n_classes, INT64(-MOST_CLASSES))
        fours = builder.and_(row.n_classes, INT64(-4))
        with cgutils.for_range_slice(builder, INT64(0), whole, INT64(MOST_CLASSES), INT64) as (
            k,
            _,
        ):
            row.emit(builder, k, MOST_CLASSES, 4)
        done = builder.append_basic_block("fours_done")
        choice = builder.switch(builder.sub(fours, whole), done)
        for width in range(4, MOST_CLASSES, 4):
            block = builder.append_basic_block(f"fours_{width}")
            choice.add_case(INT64(width), block)
            builder.position_at_end(block)
            row.emit(builder, whole, width, 4)
            builder.branch(done)
        builder.position_at_end(done)
        with cgutils.for_range_slice(builder, fours, row.n_classes, INT64(1), INT64) as (k, _):
            row.emit(builder, k, 1, 1)
        return context.get_dummy_value()

    return types.void(x, indices, types.intp, types.intp, w, out), codegen


class _Scores(NamedTuple):
    """A sparse row, the weights of all classes by feature, and where their scores go."""

    values: "_Operand"
    indices: "_Operand"
    weights: "_Operand"
    scores: "_Operand"
    length: Any
    n_classes: Any

    def emit(self, builder: Any, first: Any, n_classes: int, width: int) -> None:
        """Emit the sums of some classes from the first on, in vectors of this width."""
        zero = ir.Constant(_lanes(DOUBLE, width), [0.0] * width if width > 1 else 0.0)
        sums = [cgutils.alloca_once(builder, zero.type) for _ in range(0, n_classes, width)]
        for total in sums:
            builder.store(zero, total)
        last = builder.sub(self.length, INT64(1))
        with cgutils.for_range(builder, self.length, intp=INT64) as loop:
            later = builder.add(loop.index, INT64(WEIGHTS_AHEAD))
            later = builder.select(builder.icmp_signed("<", later, last), later, last)
            for k in range(0, n_classes, WEIGHTS_LINE):
                ask(builder, self._address(builder, later, first, k))
            x = _splat(builder, self.values.load(loop.index, 1), width)
            for k, total in enumerate(sums):
                address = self._address(builder, loop.index, first, k * width)
                address = builder.bitcast(address, zero.type.as_pointer())
                product = builder.fmul(x, builder.load(address, align=8))
                builder.store(builder.fadd(builder.load(total), product), total)
        for k, total in enumerate(sums):
            place = builder.add(first, INT64(k * width))
            self.scores.store(place, builder.load(total), width)

    def _address(self, builder: Any, p: Any, first: Any, k: int) -> Any:
        """Return the address of the weight of class first + k for value p."""
        feature = builder.mul(self.indices.index(p), self.n_classes)
        return builder.gep(self.weights.first, [builder.add(builder.add(feature, first), INT64(k))])


def _lanes(element: Any, width: int) -> Any:
    return ir.VectorType(element, width) if width > 1 else element


def _splat(builder: Any, value: Any, width: int) -> Any:
    """Return the value in each of so many lanes."""
    if width == 1:
        return value
    lanes = ir.Constant(_lanes(DOUBLE, width), ir.Undefined)
    for k in range(width):
        lanes = builder.insert_element(lanes, value, INT32(k))
    return lanes


def ask(builder: Any, address: Any, level: int = NEAR) -> None:
    """Ask for the cache line at an address, without waiting for it."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, INT32, INT32, INT32])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    read, data = INT32(0), INT32(1)
    builder.call(function, [builder.bitcast(address, byte), read, INT32(level), data])


class _Gathered:
    """Loads the elements of an array that indices name."""

    def __init__(self, indices: "_Operand", array: "_Operand") -> None:
        self.builder, self.indices, self.array = indices.builder, indices, array

    def load(self, j: Any, width: int) -> Any:
        lanes = ir.Constant(ir.VectorType(DOUBLE, width), ir.Undefined)
        for k in range(width):
            number = self.indices.index(self.builder.add(j, INT64(k)))
            value = self.array.load(number, 1)
            if width == 1:
                return value
            lanes = self.builder.insert_element(lanes, value, INT32(k))
        return lanes


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing_context: Any, array: Any, offset: Any, level: Any) -> Any:
    """Ask for array.flat[offset] in the cache of this level, without waiting for it."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _Operand(context, builder, array, *arguments[:2]).first
        near = builder.icmp_signed("==", arguments[2], INT64(NEAR))  # known once it is inlined
        with builder.if_else(near) as (is_near, is_far):
            with is_near:
                ask(builder, address, NEAR)
            with is_far:
                ask(builder, address, FAR)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), codegen

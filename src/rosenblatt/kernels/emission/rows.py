"""The vector instructions of ``rosenblatt.kernels.rows``, which says what each does."""

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature, signature
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype

from rosenblatt.kernels.rows import CACHE_LINE, FAR, LANES, MANY_VALUES, NEAR, SPARSE_LANES

DOUBLE = ir.DoubleType()
INT32 = ir.IntType(32)
INT64 = ir.IntType(64)
INT, FLOAT, NOTHING = types.intp, types.float64, types.void
ARRAY = None  # of any type; the function that emits is given its Elements
MOST_CLASSES = 32  # whose sums are in registers at once
WEIGHTS_AHEAD = 16  # features of a row whose weights of all classes are asked for
WEIGHTS_LINE = 8  # of them in a cache line
TWO_52 = 2.0**52  # below 2⁵³ the last bit of a double is 1: byte b as its lowest makes it 2⁵² + b
TWO_52_BITS = 0x4330000000000000
SHORT = 16  # values, of which a row that is multiplied without a branch has fewer
FEW_WEIGHTS = 1 << 15  # which stay in the second-level cache


def emitted(result: Any, *arguments: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return what makes an instruction of these types of a function that emits its LLVM code."""

    def make(emit: Callable[..., Any]) -> Any:
        def typed(_typing_context: Any, *kinds: Any) -> Any:
            known = [k if a is ARRAY else a for k, a in zip(kinds, arguments, strict=True)]
            if any(isinstance(kind, types.Array) and kind.layout != "C" for kind in known):
                return None

            def codegen(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
                given = [
                    Elements.of(context, builder, kind, value) if a is ARRAY else value
                    for kind, a, value in zip(known, arguments, values, strict=True)
                ]
                made = emit(builder, *given)
                if isinstance(made, list):
                    return context.make_tuple(builder, result, made)
                return context.get_dummy_value() if made is None else made

            return result(*known), codegen

        names = ["typing_context", *list(signature(emit).parameters)[1:]]  # numba counts them
        kind = Parameter.POSITIONAL_OR_KEYWORD
        typed.__signature__ = Signature([Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
        typed.__name__, typed.__doc__ = emit.__name__, emit.__doc__
        return intrinsic(typed)

    return make


class Elements(NamedTuple):
    """Elements of an array from some place on, loaded as doubles, one at a time or several."""

    builder: Any
    first: Any  # address of the first one
    kind: Any  # numba's type of an element
    length: Any  # of the first axis of the array
    width: Any  # of the last axis

    @classmethod
    def of(cls, context: Any, builder: Any, kind: Any, array: Any) -> "Elements":
        """Return all elements of an array."""
        struct = context.make_array(kind)(context, builder, array)
        lengths = (builder.extract_value(struct.shape, axis) for axis in (0, kind.ndim - 1))
        return cls(builder, struct.data, kind.dtype, *lengths)

    def since(self, start: Any) -> "Elements":
        """Return the elements from a place on."""
        return self._replace(first=self.address(start))

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return as_dtype(self.kind).itemsize

    @property
    def all_ones(self) -> bool:
        """Whether no element is read, since each is 1."""
        return isinstance(self.kind, types.Boolean)

    def address(self, j: Any, width: int = 1) -> Any:
        """Return the address of so many elements from place j on."""
        address = self.builder.gep(self.first, [j])
        if width == 1:
            return address
        return self.builder.bitcast(address, _lanes(address.type.pointee, width).as_pointer())

    def load(self, j: Any, width: int = 1) -> Any:
        """Return elements as doubles."""
        target = _lanes(DOUBLE, width)
        if self.all_ones:
            return ir.Constant(target, [1.0] * width if width > 1 else 1.0)
        value = self.builder.load(self.address(j, width), align=self.size)
        if self.kind == types.float64:
            return value
        if self.kind == types.uint8 and width > 1:
            return self._doubles_of_bytes(value, width)
        convert = self.builder.fpext if self.kind == types.float32 else self.builder.uitofp
        return convert(value, target)

    def _doubles_of_bytes(self, value: Any, width: int) -> Any:
        """Convert bytes by bits and a subtraction, which is exact.

        x86 converts whole numbers to doubles half as fast: a product of 784 bytes takes 103 ns by
        that, 89 so.
        """
        builder, words = self.builder, ir.VectorType(INT64, width)
        bits = builder.or_(builder.zext(value, words), ir.Constant(words, [TWO_52_BITS] * width))
        target = _lanes(DOUBLE, width)
        return builder.fsub(builder.bitcast(bits, target), ir.Constant(target, [TWO_52] * width))

    def number(self, j: Any) -> Any:
        """Return the number of a row or a feature, which has no sign."""
        value = self.builder.load(self.address(j))
        return value if value.type.width == 64 else self.builder.zext(value, INT64)

    def store(self, j: Any, value: Any, width: int) -> None:
        """Write doubles."""
        self.builder.store(value, self.address(j, width), align=self.size)


class Gathered(NamedTuple):
    """Elements that indices name."""

    indices: Elements
    array: Elements

    def load(self, j: Any, width: int = 1) -> Any:
        """Return elements as doubles."""
        builder = self.array.builder
        found = [
            self.array.load(self.indices.number(builder.add(j, INT64(k)))) for k in range(width)
        ]
        return found[0] if width == 1 else _vector(builder, found)


def _lanes(element: Any, width: int) -> Any:
    return ir.VectorType(element, width) if width > 1 else element


def _zeros(width: int) -> Any:
    return ir.Constant(_lanes(DOUBLE, width), [0.0] * width if width > 1 else 0.0)


def _vector(builder: Any, values: Sequence[Any]) -> Any:
    """Return a vector of these values."""
    lanes = ir.Constant(ir.VectorType(DOUBLE, len(values)), ir.Undefined)
    for k, value in enumerate(values):
        lanes = builder.insert_element(lanes, value, INT32(k))
    return lanes


@emitted(FLOAT, ARRAY, INT)
def value_at(_builder: Any, x: Elements, place: Any) -> Any:
    """Load one value."""
    return x.load(place)


@emitted(FLOAT, ARRAY, INT, ARRAY, INT, INT)
def lane_dot(
    builder: Any, x: Elements, x_start: Any, y: Elements, y_start: Any, length: Any
) -> Any:
    """Multiply and add in 16 lanes."""
    return _dots(builder, x.since(x_start), [y.since(y_start)], length)[0]


@emitted(FLOAT, ARRAY, INT, ARRAY, INT, INT, INT, INT)
def lane_dot_ahead(
    builder: Any,
    x: Elements,
    x_start: Any,
    y: Elements,
    y_start: Any,
    length: Any,
    near: Any,
    far: Any,
) -> Any:
    """Do as lane_dot does, and ask for later values in the same loop."""
    later = (x.since(near), NEAR), (x.since(far), FAR)
    return _dots(builder, x.since(x_start), [y.since(y_start)], length, later=later)[0]


@emitted(types.UniTuple(FLOAT, 2), ARRAY, INT, ARRAY, INT, INT, INT)
def lane_dot_pair(
    builder: Any, x: Elements, x_start: Any, y: Elements, first: Any, second: Any, length: Any
) -> Any:
    """Load and convert x once for both products: ten on MNIST take 50 ms in place of 73."""
    return _dots(builder, x.since(x_start), [y.since(first), y.since(second)], length)


@emitted(FLOAT, ARRAY, ARRAY, INT, INT, ARRAY)
def sparse_dot(
    builder: Any, x: Elements, indices: Elements, start: Any, stop: Any, w: Elements
) -> Any:
    """Multiply and add in 4 lanes, in the cache without a branch on the number of values.

    Each wrong guess of it takes as long as eight values, and the lengths of short rows cannot be
    guessed. So products beyond the end of a row are made, too, and not added: a pass over w8a takes
    0.7 ms in place of 1. What is not in the cache is waited for, so no more of it is read than
    needed.
    """
    values, weights = x.since(start), Gathered(indices.since(start), w)
    length = builder.sub(stop, start)
    whole = builder.and_(length, INT64(-SPARSE_LANES))
    beyond = _may_read_beyond(builder, builder.add(start, whole), indices, w)
    short = builder.and_(beyond, builder.icmp_signed("<", length, INT64(SHORT)))
    lanes = cgutils.alloca_once_value(builder, _zeros(SPARSE_LANES))
    with builder.if_else(short) as (is_short, is_long):
        with is_short:
            for block in range(0, SHORT - SPARSE_LANES, SPARSE_LANES):
                before = builder.load(lanes)
                _accumulate(builder, values, [weights], [lanes], INT64(block), SPARSE_LANES)
                within = _places_below(builder, block, whole)
                builder.store(builder.select(within, builder.load(lanes), before), lanes)
        with is_long, _blocks(builder, INT64(0), whole, SPARSE_LANES) as (j, _):
            _accumulate(builder, values, [weights], [lanes], j, SPARSE_LANES)
    total = cgutils.alloca_once_value(builder, _fold(builder, builder.load(lanes)))
    with builder.if_else(beyond) as (at_once, one_by_one):
        with at_once:
            rest = builder.fmul(values.load(whole, SPARSE_LANES), weights.load(whole, SPARSE_LANES))
            within = _places_below(builder, 0, builder.sub(length, whole))
            rest = builder.select(within, rest, _zeros(SPARSE_LANES))  # adding 0 changes nothing
            for k in range(SPARSE_LANES - 1):
                value = builder.extract_element(rest, INT32(k))
                builder.store(builder.fadd(builder.load(total), value), total)
        with one_by_one, _blocks(builder, whole, length, 1) as (j, _):
            _accumulate(builder, values, [weights], [total], j, 1)
    return builder.load(total)


def _may_read_beyond(builder: Any, place: Any, indices: Elements, w: Elements) -> Any:
    """Whether as many values as a short row has can be read from a place on, and are in the cache.

    All but the place is the same for every row.
    """
    few_values = builder.icmp_signed("<=", indices.length, INT64(MANY_VALUES))
    few_weights = builder.icmp_signed("<=", w.length, INT64(FEW_WEIGHTS))
    last = builder.sub(indices.length, INT64(SHORT))
    last = builder.select(builder.and_(few_values, few_weights), last, INT64(-1))
    return builder.icmp_signed("<=", place, last)


def _places_below(builder: Any, first: int, limit: Any) -> Any:
    """Return which places of the lanes, counted from the first on, are below a limit."""
    numbers = [float(first + k) for k in range(SPARSE_LANES)]  # doubles, as what is chosen by them
    places = ir.Constant(_lanes(DOUBLE, SPARSE_LANES), numbers)
    limits = _vector(builder, [builder.sitofp(limit, DOUBLE)] * SPARSE_LANES)
    return builder.fcmp_ordered("<", places, limits)


def _dots(
    builder: Any,
    left: Elements,
    rights: Sequence[Elements],
    length: Any,
    later: Sequence[tuple[Elements, int]] = (),
) -> list[Any]:
    """Multiply elements with each of the others, all in one loop over them.

    What comes later is asked for meanwhile, in the cache of its level.
    """

    def ask_for_later(j: Any) -> None:
        for elements, level in later:
            ask(builder, elements.address(j), level)

    lanes = [cgutils.alloca_once_value(builder, _zeros(LANES)) for _ in rights]
    whole = builder.and_(length, INT64(-LANES))
    with _blocks(builder, INT64(0), whole, LANES) as (j, _):
        for k in range(0, LANES, CACHE_LINE // left.size):
            ask_for_later(builder.add(j, INT64(k)))
        _accumulate(builder, left, rights, lanes, j, LANES)
    ask_for_later(builder.sub(length, INT64(1)))
    folded = (_fold(builder, builder.load(lane)) for lane in lanes)
    totals = [cgutils.alloca_once_value(builder, total) for total in folded]
    with _blocks(builder, whole, length, 1) as (j, _):
        _accumulate(builder, left, rights, totals, j, 1)
    return [builder.load(total) for total in totals]


def _blocks(builder: Any, start: Any, stop: Any, width: int) -> Any:
    """Emit a loop over blocks of this width; it yields where each begins."""
    return cgutils.for_range_slice(builder, start, stop, INT64(width), INT64)


def _accumulate(
    builder: Any,
    left: Elements,
    rights: Sequence[Elements | Gathered],
    sums: list[Any],
    j: Any,
    width: int,
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


@emitted(NOTHING, ARRAY, ARRAY, INT, INT, ARRAY, INT, ARRAY)
def sparse_scores(
    builder: Any,
    x: Elements,
    indices: Elements,
    start: Any,
    stop: Any,
    w: Elements,
    first: Any,
    out: Elements,
) -> None:
    """Keep as many sums as fit in registers while the row is read.

    20 newsgroups, K = 20, take 13.0 ms a pass in place of 19.6.
    """
    values, numbers, weights = x.since(start), indices.since(start), w.since(first)
    length = builder.sub(stop, start)

    def place(p: Any, k: Any, more: int) -> Any:
        """Return where the weight of class k + more for value p stands."""
        feature = builder.mul(numbers.number(p), weights.width)
        return builder.add(builder.add(feature, k), INT64(more))

    def emit(k: Any, n_classes: int, width: int) -> None:
        """Emit the sums of some classes from k on, in vectors of this width."""
        zero = _zeros(width)
        sums = [cgutils.alloca_once(builder, zero.type) for _ in range(0, n_classes, width)]
        for total in sums:
            builder.store(zero, total)
        last = builder.sub(length, INT64(1))
        with cgutils.for_range(builder, length, intp=INT64) as loop:
            later = builder.add(loop.index, INT64(WEIGHTS_AHEAD))
            later = builder.select(builder.icmp_signed("<", later, last), later, last)
            for more in range(0, n_classes, WEIGHTS_LINE):
                ask(builder, weights.address(place(later, k, more)))
            value = values.load(loop.index)
            value = value if width == 1 else _vector(builder, [value] * width)
            for more, total in zip(range(0, n_classes, width), sums, strict=True):
                weight = weights.load(place(loop.index, k, more), width)
                product = builder.fmul(value, weight)
                builder.store(builder.fadd(builder.load(total), product), total)
        for more, total in zip(range(0, n_classes, width), sums, strict=True):
            out.store(builder.add(k, INT64(more)), builder.load(total), width)

    # 32 classes at a time, then the fours that are left at once, then the last three
    whole = builder.and_(out.length, INT64(-MOST_CLASSES))
    fours = builder.and_(out.length, INT64(-4))
    with _blocks(builder, INT64(0), whole, MOST_CLASSES) as (k, _):
        emit(k, MOST_CLASSES, 4)
    done = builder.append_basic_block("fours_done")
    choice = builder.switch(builder.sub(fours, whole), done)
    for width in range(4, MOST_CLASSES, 4):
        block = builder.append_basic_block(f"fours_{width}")
        choice.add_case(INT64(width), block)
        builder.position_at_end(block)
        emit(whole, width, 4)
        builder.branch(done)
    builder.position_at_end(done)
    with _blocks(builder, fours, out.length, 1) as (k, _):
        emit(k, 1, 1)


def ask(builder: Any, address: Any, level: int = NEAR) -> None:
    """Ask for the cache line at an address, without waiting for it."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, INT32, INT32, INT32])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    read, data = INT32(0), INT32(1)
    builder.call(function, [builder.bitcast(address, byte), read, INT32(level), data])


@emitted(NOTHING, ARRAY, INT, INT)
def prefetch(builder: Any, array: Elements, offset: Any, level: Any) -> None:
    """Ask for the cache line of an element, unless no element is read."""
    if array.all_ones:
        return
    near = builder.icmp_signed("==", level, INT64(NEAR))  # known once it is inlined
    with builder.if_else(near) as (is_near, is_far):
        with is_near:
            ask(builder, array.address(offset), NEAR)
        with is_far:
            ask(builder, array.address(offset), FAR)

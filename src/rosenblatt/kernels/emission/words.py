"""The instructions of ``rosenblatt.kernels.text.words``."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rosenblatt.kernels.text.words import SPAN

BYTE = ir.IntType(8)
WORD = ir.IntType(64)
DOUBLE_WORD = ir.IntType(128)
VECTOR = ir.VectorType(BYTE, SPAN)


def _load(builder: Any, arguments: Any, kind: Any) -> Any:
    """Load a value of this LLVM type from an address, the first argument, plus an offset."""
    address = builder.inttoptr(builder.add(arguments[0], arguments[1]), kind.as_pointer())
    return builder.load(address, align=1)


@intrinsic  # type: ignore[untyped-decorator]
def byte_at(typing_context: Any, text: Any, position: Any) -> Any:
    """Return the byte at this position of the text."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.zext(_load(builder, arguments, BYTE), WORD)

    return types.intp(types.intp, types.intp), codegen


@intrinsic  # type: ignore[untyped-decorator]
def word_at(typing_context: Any, text: Any, position: Any) -> Any:
    """Return the eight bytes from this position on as one word, the first byte lowest."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _load(builder, arguments, WORD)

    return types.uint64(types.intp, types.intp), codegen


@intrinsic  # type: ignore[untyped-decorator]
def nondigits_at(typing_context: Any, text: Any, position: Any) -> Any:
    """Return a mask of the 64 bytes from here on: a bit is set where no decimal digit stands."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        span = _load(builder, arguments, VECTOR)
        above_zero = builder.sub(span, ir.Constant(VECTOR, [ord("0")] * SPAN))
        nine = ir.Constant(VECTOR, [9] * SPAN)
        return builder.bitcast(builder.icmp_unsigned(">", above_zero, nine), WORD)

    return types.uint64(types.intp, types.intp), codegen


@intrinsic  # type: ignore[untyped-decorator]
def count_at(typing_context: Any, text: Any, position: Any, byte: Any) -> Any:
    """Return how many of the 64 bytes from here on are this one, a constant of the program."""
    if not isinstance(byte, types.IntegerLiteral):
        return None
    wanted = byte.literal_value

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        span = _load(builder, arguments, VECTOR)
        equal = builder.icmp_unsigned("==", span, ir.Constant(VECTOR, [wanted] * SPAN))
        return builder.ctpop(builder.bitcast(equal, WORD))

    return types.intp(types.intp, types.intp, byte), codegen


@intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Return the number of the lowest bit that is set; 64 where none is."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(0))

    return types.intp(types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def leading_zeros(typing_context: Any, word: Any) -> Any:
    """Return how many bits above the highest one that is set; 64 where none is."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.IntType(1)(0))

    return types.intp(types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def high_product(typing_context: Any, left: Any, right: Any) -> Any:
    """Return the upper 64 of the 128 bits of a product; the lower ones are left * right."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = [builder.zext(argument, DOUBLE_WORD) for argument in arguments]
        product = builder.mul(*wide)
        return builder.trunc(builder.lshr(product, DOUBLE_WORD(64)), WORD)

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def double_of_bits(typing_context: Any, word: Any) -> Any:
    """Return the double whose bits these are."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), codegen


def _pointer(builder: Any, arguments: Any, kind: Any) -> Any:
    """Return a pointer to a value of this LLVM type at an address plus an offset."""
    return builder.inttoptr(builder.add(arguments[0], arguments[1]), kind.as_pointer())


def _all(byte: int) -> Any:
    return ir.Constant(VECTOR, [byte] * SPAN)


@intrinsic  # type: ignore[untyped-decorator]
def word_bytes_at(typing_context: Any, text: Any, position: Any) -> Any:
    """Return a mask of the 64 bytes from here on: a bit is set for A-Z, a-z, 0-9 and above 127."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        span = builder.load(_pointer(builder, arguments, VECTOR), align=1)
        letter = builder.sub(builder.or_(span, _all(0x20)), _all(ord("a")))
        digit = builder.sub(span, _all(ord("0")))
        found = builder.or_(
            builder.icmp_unsigned("<", letter, _all(26)),
            builder.icmp_unsigned("<", digit, _all(10)),
        )
        found = builder.or_(found, builder.icmp_signed("<", span, _all(0)))
        return builder.bitcast(found, WORD)

    return types.uint64(types.intp, types.intp), codegen


@intrinsic  # type: ignore[untyped-decorator]
def store_word(typing_context: Any, text: Any, position: Any, word: Any) -> Any:
    """Write eight bytes from this position on, the first one lowest in the word."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _pointer(builder, arguments, WORD), align=1)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def store_byte(typing_context: Any, text: Any, position: Any, byte: Any) -> Any:
    """Write one byte at this position."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        low = builder.trunc(arguments[2], BYTE)
        builder.store(low, _pointer(builder, arguments, BYTE), align=1)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp), codegen


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing_context: Any, base: Any, offset: Any) -> Any:
    """Ask the memory for the line at this address; changes nothing, whatever the address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, number = BYTE.as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read, keep, data = number(0), number(3), number(1)
        builder.call(function, [_pointer(builder, arguments, BYTE), read, keep, data])
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), codegen

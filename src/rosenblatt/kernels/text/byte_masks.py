"""What the scan of words asks of the processor: masks of word bytes, stores, prefetches.

Text is given by its address, as in ``rosenblatt.kernels.text.words``.
"""

# an intrinsic is given more than it looks at

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rosenblatt.kernels.text.words import BYTE, SPAN, VECTOR, WORD


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

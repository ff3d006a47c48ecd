"""The instructions of ``rosenblatt.kernels.text.words``, which says what each does."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rosenblatt.kernels.emission.rows import FLOAT, INT, NOTHING, emitted
from rosenblatt.kernels.text.words import SPAN

BYTE = ir.IntType(8)
WORD = ir.IntType(64)
DOUBLE_WORD = ir.IntType(128)
VECTOR = ir.VectorType(BYTE, SPAN)
UNSIGNED = types.uint64


def _place(builder: Any, text: Any, position: Any, kind: Any) -> Any:
    """Return a pointer to a value of this LLVM type at an address plus an offset."""
    return builder.inttoptr(builder.add(text, position), kind.as_pointer())


def _load(builder: Any, text: Any, position: Any, kind: Any) -> Any:
    return builder.load(_place(builder, text, position, kind), align=1)


def _all(byte: int) -> Any:
    return ir.Constant(VECTOR, [byte] * SPAN)


@emitted(INT, INT, INT)
def byte_at(builder: Any, text: Any, position: Any) -> Any:
    """Load a byte."""
    return builder.zext(_load(builder, text, position, BYTE), WORD)


@emitted(UNSIGNED, INT, INT)
def word_at(builder: Any, text: Any, position: Any) -> Any:
    """Load a word."""
    return _load(builder, text, position, WORD)


@emitted(UNSIGNED, INT, INT)
def nondigits_at(builder: Any, text: Any, position: Any) -> Any:
    """Compare 64 bytes with the digits."""
    above_zero = builder.sub(_load(builder, text, position, VECTOR), _all(ord("0")))
    return builder.bitcast(builder.icmp_unsigned(">", above_zero, _all(9)), WORD)


@intrinsic  # type: ignore[untyped-decorator]
def count_at(typing_context: Any, text: Any, position: Any, byte: Any) -> Any:
    """Compare 64 bytes with one, a constant of the program, and count."""
    if not isinstance(byte, types.IntegerLiteral):
        return None
    wanted = _all(byte.literal_value)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        span = _load(builder, arguments[0], arguments[1], VECTOR)
        equal = builder.icmp_unsigned("==", span, wanted)
        return builder.ctpop(builder.bitcast(equal, WORD))

    return INT(INT, INT, byte), codegen


@emitted(INT, UNSIGNED)
def trailing_zeros(builder: Any, word: Any) -> Any:
    """Count them."""
    return builder.cttz(word, ir.IntType(1)(0))


@emitted(INT, UNSIGNED)
def leading_zeros(builder: Any, word: Any) -> Any:
    """Count them."""
    return builder.ctlz(word, ir.IntType(1)(0))


@emitted(UNSIGNED, UNSIGNED, UNSIGNED)
def high_product(builder: Any, left: Any, right: Any) -> Any:
    """Multiply in 128 bits."""
    product = builder.mul(builder.zext(left, DOUBLE_WORD), builder.zext(right, DOUBLE_WORD))
    return builder.trunc(builder.lshr(product, DOUBLE_WORD(64)), WORD)


@emitted(FLOAT, UNSIGNED)
def double_of_bits(builder: Any, word: Any) -> Any:
    """Take the bits as they are."""
    return builder.bitcast(word, ir.DoubleType())


def _letters_and_digits(builder: Any, span: Any) -> Any:
    letter = builder.sub(builder.or_(span, _all(0x20)), _all(ord("a")))
    digit = builder.sub(span, _all(ord("0")))
    return builder.or_(
        builder.icmp_unsigned("<", letter, _all(26)), builder.icmp_unsigned("<", digit, _all(10))
    )


@emitted(UNSIGNED, INT, INT)
def word_bytes_at(builder: Any, text: Any, position: Any) -> Any:
    """Compare 64 bytes with letters, digits and what is above 127."""
    span = _load(builder, text, position, VECTOR)
    found = _letters_and_digits(builder, span)
    return builder.bitcast(builder.or_(found, builder.icmp_signed("<", span, _all(0))), WORD)


@emitted(UNSIGNED, INT, INT)
def symbol_bytes_at(builder: Any, text: Any, position: Any) -> Any:
    """Compare 64 bytes with letters, digits, spaces and what is not shown."""
    span = _load(builder, text, position, VECTOR)
    hidden = builder.or_(
        builder.icmp_unsigned("<", span, _all(0x21)), builder.icmp_unsigned("==", span, _all(0x7F))
    )
    found = builder.or_(_letters_and_digits(builder, span), hidden)
    return builder.not_(builder.bitcast(found, WORD))


@emitted(NOTHING, INT, INT, UNSIGNED)
def store_word(builder: Any, text: Any, position: Any, word: Any) -> None:
    """Store a word."""
    builder.store(word, _place(builder, text, position, WORD), align=1)


@emitted(NOTHING, INT, INT, INT)
def store_byte(builder: Any, text: Any, position: Any, byte: Any) -> None:
    """Store the lowest byte of a word."""
    builder.store(builder.trunc(byte, BYTE), _place(builder, text, position, BYTE), align=1)

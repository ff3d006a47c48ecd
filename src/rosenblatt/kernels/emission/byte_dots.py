"""The instructions of ``rosenblatt.kernels.byte_dots``."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rosenblatt.kernels.byte_dots import LANES

INT16, INT32, INT64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
WIDTH = 8  # sums of one vector
SUMS = ir.VectorType(INT32, WIDTH)
PAIRS = ir.VectorType(INT16, 2 * WIDTH)
PRODUCTS = ir.VectorType(INT32, 2 * WIDTH)


@intrinsic  # type: ignore[untyped-decorator]
def pair_sums(
    typing_context: Any,
    words: Any,
    places: Any,
    start: Any,
    stop: Any,
    panel: Any,
    first: Any,
    out: Any,
    where: Any,
) -> Any:
    """Write to out.flat[where:] the dot products of one row on the left with the 32 of a panel.

    ``words`` and ``places`` from start to stop are its pairs, two numbers of 16 bits in each word;
    the panel begins at panel.flat[first].
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = [
            cgutils.create_struct_proxy(kind)(context, builder, value).data
            for kind, value in zip(signature.args, arguments, strict=True)
            if isinstance(kind, types.Array)
        ]
        _emit(builder, *arrays, *(arguments[p] for p in (2, 3, 5, 7)))
        return context.get_dummy_value()

    index = types.intp
    return types.void(words, places, index, index, panel, index, out, index), codegen


def _emit(
    builder: Any,
    words: Any,
    places: Any,
    panel: Any,
    out: Any,
    start: Any,
    stop: Any,
    first: Any,
    where: Any,
) -> None:
    before = builder.block
    head, body, done = (builder.append_basic_block(name) for name in ("head", "body", "done"))
    builder.branch(head)
    builder.position_at_end(head)
    p = builder.phi(INT64)
    sums = [builder.phi(SUMS) for _ in range(LANES // WIDTH)]
    p.add_incoming(start, before)
    for total in sums:
        total.add_incoming(ir.Constant(SUMS, [0] * WIDTH), before)
    builder.cbranch(builder.icmp_signed("<", p, stop), body, done)

    builder.position_at_end(body)
    word = builder.load(builder.gep(words, [p]))
    place = builder.zext(builder.load(builder.gep(places, [p])), INT64)
    spread = builder.insert_element(ir.Constant(SUMS, ir.Undefined), word, INT32(0))
    spread = builder.shuffle_vector(spread, spread, ir.Constant(SUMS, [0] * WIDTH))
    left = builder.sext(builder.bitcast(spread, PAIRS), PRODUCTS)
    row = builder.gep(panel, [builder.add(first, builder.mul(place, INT64(2 * LANES)))])
    for v, total in enumerate(sums):
        here = builder.bitcast(builder.gep(row, [INT64(2 * WIDTH * v)]), PAIRS.as_pointer())
        right = builder.sext(builder.load(here, align=2), PRODUCTS)
        products = builder.mul(left, right)  # with the two lines below: one vpmaddwd
        even, odd = (
            builder.shuffle_vector(products, products, ir.Constant(SUMS, [*range(side, 16, 2)]))
            for side in (0, 1)
        )
        total.add_incoming(builder.add(total, builder.add(even, odd)), body)
    p.add_incoming(builder.add(p, INT64(1)), body)
    builder.branch(head)

    builder.position_at_end(done)
    for v, total in enumerate(sums):
        here = builder.gep(out, [builder.add(where, INT64(WIDTH * v))])
        builder.store(total, builder.bitcast(here, SUMS.as_pointer()), align=4)

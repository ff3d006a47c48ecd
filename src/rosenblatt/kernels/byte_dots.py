"""Dot products of rows of bytes in whole numbers: exact, and faster than BLAS in float32.

Features are taken in pairs. A row on the left is the list of its pairs that are not zero; rows on
the right stand in panels of 32, feature by feature, so that one pair on the left meets 32 rows in
four instructions that multiply 16 numbers of 16 bits and add them by twos. Nothing is done for what
is zero on the left, which in pictures is most. Measured on MNIST, 2,048 × 256 rows: 1.6 ms in one
thread, against 4.8 ms for BLAS in float32 in two, which at this size is not even exact by itself.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from rosenblatt.kernels.compiling import compiled

LANES = 32  # rows of a panel; with 16 or 64 the same takes 2.0 ms
MOST_FEATURES = (2**31 - 1) // 255**2  # beyond, a sum could leave 32 bits

INT16, INT32, INT64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
WIDTH = 8  # sums of one vector
SUMS = ir.VectorType(INT32, WIDTH)
PAIRS = ir.VectorType(INT16, 2 * WIDTH)
PRODUCTS = ir.VectorType(INT32, 2 * WIDTH)


def pair_sums_reference(
    words: NDArray[Any],
    places: NDArray[Any],
    start: int,
    stop: int,
    panel: NDArray[Any],
    first: int,
    out: NDArray[Any],
    where: int,
) -> None:
    """Do in plain Python what ``pair_sums`` does."""
    rows = panel.reshape(-1)[first:].reshape(-1, LANES, 2)
    low, high = words[start:stop] & 0xFFFF, words[start:stop] >> 16
    pairs = rows[places[start:stop]].astype(np.int32)
    sums = (low[:, None] * pairs[..., 0] + high[:, None] * pairs[..., 1]).sum(axis=0)
    out.reshape(-1)[where : where + LANES] = sums


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


if config.DISABLE_JIT:
    pair_sums = pair_sums_reference


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


@compiled
def pack_pairs(
    rows: NDArray[Any],  # of bytes
    words: NDArray[Any],  # changed: int32, room for every pair
    places: NDArray[Any],  # changed: uint16, likewise
    ends: NDArray[Any],  # changed: where each row's pairs end
) -> int:
    """Write the pairs of features that are not zero, and return how many they are."""
    n_features, p = rows.shape[1], 0
    for i in range(len(rows)):
        for j in range(0, n_features, 2):
            word = np.int32(rows[i, j])
            if j + 1 < n_features:
                word |= np.int32(rows[i, j + 1]) << 16
            if word != 0:
                words[p] = word
                places[p] = j // 2
                p += 1
        ends[i] = p
    return p


@compiled
def fill_panels(rows: NDArray[Any], panels: NDArray[Any]) -> None:
    """Change panels, zeros of shape (n_panels, n_pairs, 32, 2), to hold these rows of bytes."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            panels[i // LANES, j // 2, i % LANES, j % 2] = rows[i, j]


@compiled
def panel_dots(
    words: NDArray[Any],
    places: NDArray[Any],
    bounds: NDArray[Any],  # where the pairs of each packed row begin, and the last ends
    chosen: NDArray[Any],  # which of the packed rows
    panels: NDArray[Any],
    begin: int,
    end: int,  # of the chosen ones, so that threads can share the work
    out: NDArray[Any],  # changed: int32, (chosen, 32·panels)
) -> None:
    """Write the dot products of packed rows with all rows of the panels."""
    size = panels.shape[1] * LANES * 2
    for panel in range(panels.shape[0]):
        for i in range(begin, end):
            start, stop = bounds[chosen[i]], bounds[chosen[i] + 1]
            where = i * out.shape[1] + panel * LANES
            pair_sums(words, places, start, stop, panels, panel * size, out, where)

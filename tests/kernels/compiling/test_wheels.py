"""What wheels are made of: the table of kernels, what a module needs, and the comparison."""

import sys
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from machine_code.check import Comparison
from machine_code.linking import kernel_table
from machine_code.platforms import PLATFORMS
from rosenblatt.kernels.binary import activations
from rosenblatt.kernels.compiling.function import CompiledFunction
from rosenblatt.kernels.finite import first_not_finite
from rosenblatt.kernels.rows import Dense


def test_the_table_of_kernels() -> None:
    """Kernels stand in the order of their symbols, with a function for each level."""
    results = {"kernel_b": "None", "kernel_a": "int64"}
    table = kernel_table(PLATFORMS["windows-x86_64"], results)
    rows = [line for line in table.splitlines() if line.startswith('{"')]
    assert rows == [
        '{"kernel_a", "int64", {kernel_a_x86_64_v3, kernel_a_x86_64_v2}},',
        '{"kernel_b", "None", {kernel_b_x86_64_v3, kernel_b_x86_64_v2}},',
    ]
    assert "extern word kernel_b_x86_64_v2(word *);" in table
    assert '{"generic"}' in kernel_table(PLATFORMS["macos-arm64"], results)


def test_every_platform_has_its_own_tag() -> None:
    """Modules of two platforms never share a folder."""
    assert len({platform.tag for platform in PLATFORMS.values()}) == len(PLATFORMS) == 5


def test_equal_kernels_do_not_differ() -> None:
    """What a kernel returns and writes is compared three times, and no more."""
    comparison = Comparison()
    with comparison.running():
        for _ in range(5):
            out = np.zeros(2)
            activations(Dense(np.ones((2, 3)), 1.0), np.ones(4), out)
            assert list(out) == [4.0, 4.0]
    assert comparison.differing == set()
    assert list(comparison.calls.values()) == [3]


def test_another_result_or_another_array_is_found() -> None:
    """A kernel that returns other bits than plain Python is named, and one that writes others."""

    def other(*arguments: Any) -> None:
        arguments[-1][:] = np.nextafter(4.0, 9.0)

    dense = Dense(np.ones((2, 3)), 1.0), np.ones(4), np.zeros(2)
    cases: list[tuple[Any, Any, tuple[Any, ...]]] = [
        (first_not_finite, lambda _: 7, (np.zeros(3),)),
        (activations, other, dense),
    ]
    for function, plain, arguments in cases:
        kernel = CompiledFunction(function.__wrapped__)
        kernel.plain = plain
        comparison = Comparison()
        with comparison.running():
            kernel(*arguments)
        assert len(comparison.differing) == 1


def test_what_a_module_needs() -> None:
    """The C file compiled here refers to Python's stable interface and the C library alone."""
    pytest.importorskip("abi3info")
    pytest.importorskip("elftools")
    wheels = pytest.importorskip("machine_code.wheels")
    from rosenblatt.kernels.compiling import calling

    if not calling.machine or not sys.platform.startswith("linux"):
        pytest.skip("the C file is not compiled here")
    wheels.check_symbols(Path(calling.machine.__file__))
    library = Path(sysconfig.get_path("stdlib"), "lib-dynload")
    for module in library.glob("math.*.so"):  # part of the interpreter in some builds
        with pytest.raises(Exception, match="which neither Python nor libc has"):
            wheels.check_symbols(module)

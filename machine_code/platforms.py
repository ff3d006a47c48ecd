"""The platforms that wheels are made for, each with what LLVM, the linker and pip call it."""

import platform
import sys
from typing import NamedTuple

from rosenblatt.kernels.compiling.compiler import Target

X86_64 = ("x86-64-v3", "x86-64-v2")  # the best first
ARM64 = ("generic",)


class Platform(NamedTuple):
    """A system on a kind of processor."""

    triple: str  # LLVM
    linker: str  # zig
    tag: str  # the wheel
    processors: tuple[str, ...]
    module: str = "_machine.abi3.so"

    @property
    def targets(self) -> tuple[Target, ...]:
        """What each kernel is compiled for."""
        return tuple(Target(processor, self.triple) for processor in self.processors)


PLATFORMS = {
    "linux-x86_64": Platform(
        "x86_64-unknown-linux-gnu", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64", X86_64
    ),
    "linux-aarch64": Platform(
        "aarch64-unknown-linux-gnu", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64", ARM64
    ),
    "macos-arm64": Platform(
        "arm64-apple-macosx11.0", "aarch64-macos.11.0", "macosx_11_0_arm64", ARM64
    ),
    "macos-x86_64": Platform(
        "x86_64-apple-macosx10.13", "x86_64-macos.10.13", "macosx_10_13_x86_64", X86_64
    ),
    "windows-x86_64": Platform(
        "x86_64-pc-windows-gnu", "x86_64-windows-gnu", "win_amd64", X86_64, "_machine.pyd"
    ),
}


def this_platform() -> str:
    """Return the name of the platform that this runs on."""
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    return f"{system}-{'x86_64' if machine == 'amd64' else machine}"

"""``python -m machine_code.wheels``: a wheel for every module that is linked, each looked at."""

import hashlib
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import click
from abi3info import DATAS, FUNCTIONS
from elftools.elf.elffile import ELFFile

from machine_code.bill_of_materials import write_bill_of_materials
from machine_code.platforms import PLATFORMS, this_platform
from rosenblatt.kernels.compiling.calling import C_FILE
from rosenblatt.kernels.compiling.machine import source_digest
from rosenblatt.version import __version__

MODULES, WHEELS = Path("build/machine_code"), Path("dist")
LIBC = {"bsearch", "calloc", "free", "malloc", "memcpy", "memmove", "memset", "strcmp"}
LIBC |= {"bzero", "__bzero", "memset_pattern16", "dyld_stub_binder"}  # of macOS
LOADER = {"__cxa_finalize", "__gmon_start__", "_ITM_deregisterTMCloneTable"}
LOADER |= {"_ITM_registerTMCloneTable"}  # of Linux, if it has them
MACH_O, SYMBOL_TABLE = b"\xcf\xfa\xed\xfe", 2


def undefined_symbols(module: Path) -> Iterator[str]:
    """Yield what a module for Linux or macOS refers to outside; one for Windows names its DLLs."""
    data = module.read_bytes()
    if data.startswith(b"\x7fELF"):
        with module.open("rb") as file:
            for symbol in ELFFile(file).get_section_by_name(".dynsym").iter_symbols():
                if symbol.name and symbol["st_shndx"] == "SHN_UNDEF":
                    yield symbol.name
    elif data.startswith(MACH_O):
        (n_commands,), place = struct.unpack_from("<I", data, 16), 32
        for _ in range(n_commands):
            command, size, first, n_symbols, names = struct.unpack_from("<5I", data, place)
            for k in range(n_symbols if command == SYMBOL_TABLE else 0):
                name, kind = struct.unpack_from("<IB", data, first + 16 * k)
                if kind & 0xEE == 0:  # neither of a debugger, nor in a section
                    start = names + name
                    yield data[start : data.index(b"\0", start)].decode().removeprefix("_")
            place += size


def check_symbols(module: Path) -> None:
    """Raise unless a module needs Python and the C library alone."""
    known = {symbol.name for symbol in (*FUNCTIONS, *DATAS)} | LIBC | LOADER
    strange = sorted(set(undefined_symbols(module)) - known)
    if strange:
        msg = f"{module} refers to {', '.join(strange)}, which neither Python nor libc has."
        raise click.ClickException(msg)


def build_wheel(module: Path) -> Path:
    """Build and check the wheel of a module."""
    check_symbols(module)
    write_bill_of_materials(module)
    _build(ROSENBLATT_MODULE=str(module))
    tag = module.parent.name
    wheel = WHEELS / f"rosenblatt-{__version__}-cp311-abi3-{tag}.whl"
    _run("abi3audit", "--strict", str(wheel))
    if "linux" in tag:
        _run("auditwheel", "show", str(wheel))
    return wheel


def _build(**settings: str) -> None:
    environment = {**os.environ, **settings}
    _run("hatchling", "build", "-t", "wheel", "-d", str(WHEELS), environment=environment)


def _run(module: str, *arguments: str, environment: dict[str, str] | None = None) -> None:
    command = [sys.executable, "-m", module, *arguments]
    subprocess.run(command, check=True, env=environment, stdout=sys.stderr)  # noqa: S603


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--this", is_flag=True, help="The wheel of this platform alone.")
def main(*, this: bool) -> None:
    """Build the wheels of all modules below build/machine_code, into dist; print their names.

    And the wheel without machine code, for all other platforms.
    """
    if not this:
        _build(ROSENBLATT_MODULE="none")
    for module in sorted(MODULES.glob("*/_machine.*")):
        digests = source_digest(), hashlib.sha256(C_FILE.read_bytes()).hexdigest()
        if not all(digest.encode() in module.read_bytes() for digest in digests):
            click.echo(f"{module} was made from other sources: left out", err=True)
        elif not this or module.parent.name == PLATFORMS[this_platform()].tag:
            started = perf_counter()
            wheel = build_wheel(module)
            size = wheel.stat().st_size / 1e6
            click.echo(f"{wheel}: {size:.1f} MB, {perf_counter() - started:.0f} s", err=True)
            click.echo(wheel)


if __name__ == "__main__":
    main()

"""Kernels and the C file linked to one extension module, for any platform, by zig."""

import hashlib
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from machine_code.platforms import Platform
from rosenblatt.kernels.compiling.calling import C_FILE
from rosenblatt.kernels.compiling.compiler import symbol_for
from rosenblatt.kernels.compiling.machine import source_digest

ZIG = (sys.executable, "-m", "ziglang")

# What Python.h asks of a platform, by what the compiler knows of it. That of this Python says what
# this machine has.
PYCONFIG = """
#define SIZEOF_SHORT __SIZEOF_SHORT__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define HAVE_LONG_LONG 1
#define HAVE_STDINT_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_PROTOTYPES 1
#ifdef _WIN32
#define MS_WINDOWS 1
#define MS_WIN64 1
#define HAVE_DECLSPEC_DLL 1
#define Py_ENABLE_SHARED 1
typedef __INTPTR_TYPE__ ssize_t;
#define HAVE_SSIZE_T 1
#else
#define HAVE_UNISTD_H 1
#define HAVE_SSIZE_T 1
#endif
"""


def link_module(
    platform: Platform,
    objects: Path,
    results: dict[str, str],
    output: Path,
    compiler: tuple[str, ...] = (),
) -> Path:
    """Link the object files of a folder, whose kernels return these forms; return the module.

    The compiler of C is zig, unless another is given that is of this platform.
    """
    build = objects / "build"
    build.mkdir(exist_ok=True)
    (build / "kernel_table.h").write_text(kernel_table(platform, results))
    headers = python_headers(build)
    names = [symbol_for(s, target) for s in results for target in platform.targets]
    (build / "objects").write_text("".join(f"{objects / name}.o\n" for name in names))
    digest = hashlib.sha256(C_FILE.read_bytes()).hexdigest()
    output.mkdir(parents=True, exist_ok=True)
    module = output / platform.module
    compiler = compiler or (*ZIG, "cc", "-target", platform.linker)
    options = ["-shared", "-fPIC", "-O2", "-s", "-Wall", "-Werror", "-DHAS_KERNELS"]
    options += ["-Wno-macro-redefined"]  # by macOS's own headers of Python, to the same
    options += [f'-DSOURCE_DIGEST="{digest}"', f"-I{headers}", f"-I{build}"]
    options += [str(C_FILE), f"@{build / 'objects'}", *_python_library(platform, build)]
    subprocess.run([*compiler, *options, "-o", module], check=True)  # noqa: S603
    return module


def kernel_table(platform: Platform, results: dict[str, str]) -> str:
    """Return the C code of the table of kernels; see the first comment of the C file."""
    rows = {s: [symbol_for(s, target) for target in platform.targets] for s in sorted(results)}
    levels = _listed(f'"{processor}"' for processor in platform.processors)
    lines = [f"extern word {name}(word *);" for names in rows.values() for name in names]
    lines += [f'static const char table_sources[] = "{source_digest()}";']
    lines += [f"static const char *const table_levels[] = {levels};"]
    lines += ["static const struct kernel table[] = {"]
    lines += [f'{{"{s}", "{results[s]}", {_listed(names)}}},' for s, names in rows.items()]
    return "\n".join([*lines, "};", ""])


def _listed(items: Iterable[str]) -> str:
    return f"{{{', '.join(items)}}}"


def python_headers(build: Path) -> Path:
    """Return a copy of the headers of Python that holds for every platform."""
    headers = build / "include"
    shutil.copytree(sysconfig.get_path("include"), headers, dirs_exist_ok=True)
    (headers / "pyconfig.h").write_text(PYCONFIG)
    return headers


def _python_library(platform: Platform, build: Path) -> list[str]:
    """Return what tells the linker that Python itself is found when the module is loaded."""
    if "macos" in platform.linker:
        name = f"-Wl,-install_name,@rpath/{platform.module}"  # else the place where it was built
        return ["-Wl,-undefined,dynamic_lookup", name]
    if "windows" not in platform.linker:
        return ["-Wl,-z,undefs"]
    from abi3info import DATAS, FUNCTIONS

    names = [*(f.name for f in FUNCTIONS), *(f"{data.name} DATA" for data in DATAS)]
    exports = build / "python3.def"
    exports.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *sorted(names), ""]))
    library = build / "python3.lib"
    command = [*ZIG, "dlltool", "-m", "i386:x86-64", "-d", str(exports), "-l", str(library)]
    subprocess.run(command, check=True)  # noqa: S603
    return [str(library)]

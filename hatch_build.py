"""What the wheel is: for one kind of machine with its machine code, or for any, with the compiler.

``python -m machine_code`` puts machine code into the source tree. Where it is there and was made
from these sources, the wheel holds it and does not depend on numba.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

C_FILE = "src/rosenblatt/_machine.c"
STORE = "src/rosenblatt/kernels/compiling/store.py"


def has_machine_code(root: str) -> bool:
    """Return whether the source tree holds machine code that was made from it."""
    spec = spec_from_file_location("store", Path(root, STORE))
    if spec is None or spec.loader is None:
        return False
    store = module_from_spec(spec)
    spec.loader.exec_module(store)
    codes = [store.PackageCode(path) for path in store.FOLDER.glob("*.code")]
    return bool(codes) and all(code.sources == store.source_digest() for code in codes)


def platform_tag() -> str:
    """Return the tag of this kind of machine; machine code asks nothing of the C library."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return platform.replace("linux_", "manylinux_2_17_", 1)


def compile_c_module(root: Path) -> str | None:
    """Compile the C file of a checkout beside itself; return why it can't be, or None."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this Python has no stable binary interface."
    source, headers = root / C_FILE, Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").exists():
        return "the headers of Python are not installed."
    digest = f'-DSOURCE_DIGEST="{hashlib.sha256(source.read_bytes()).hexdigest()}"'
    if os.name == "nt":
        target, names = source.with_suffix(".pyd"), ["cl"]
        libraries = Path(sys.base_prefix, "libs")
        options = ["/nologo", "/LD", "/O2", digest.replace("-D", "/D"), f"/I{headers}", str(source)]
        options += [f"/Fe{target}", f"/Fo{root / 'build'}", "/link", f"/LIBPATH:{libraries}"]
    else:
        target = source.with_suffix(".abi3.so")
        names = [*(sysconfig.get_config_var("CC") or "cc").split()[:1], "cc", "gcc", "clang"]
        shared = ["-bundle", "-undefined", "dynamic_lookup"]
        options = shared if sys.platform == "darwin" else ["-shared"]
        options += ["-fPIC", "-O2", digest, f"-I{headers}", str(source), "-o", str(target)]
    compiler = next(filter(None, map(shutil.which, names)), None)
    if compiler is None:
        return "there is no C compiler."
    command = [compiler, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return None if done.returncode == 0 else done.stdout + done.stderr


class MachineCodeHook(BuildHookInterface[Any]):
    """Says for which kind of machine the wheel is, and leaves out machine code that is stale."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Set the tag of the wheel."""
        if version == "editable":
            problem = compile_c_module(Path(self.root))
            if problem is not None:
                self.app.display_warning(f"{C_FILE} is not compiled: {problem}")
            return
        if has_machine_code(self.root):
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform_tag()}"
        else:
            build_data["artifacts"].clear()

"""What the wheel is: for one platform with its machine code, or for any.

``python -m machine_code`` links kernels and the C file to an extension module, in a folder named by
the tag of its platform. Where ``ROSENBLATT_MODULE`` names it, the wheel holds it.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

C_FILE = "src/rosenblatt/_machine.c"
MODULE = os.environ.get("ROSENBLATT_MODULE", "")


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


class LinkHook(MetadataHookInterface):
    """Links to where the package is built: a workflow knows the address, the sources do not."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the links."""
        names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_REF_NAME")
        server, repository, version = (os.environ.get(name) for name in names)
        if server and repository and version:
            source = f"{server}/{repository}"
            metadata["urls"] = {
                "Documentation": f"{source}/blob/{version}/docs/index.md",
                "Changelog": f"{source}/blob/{version}/CHANGELOG.md",
                "Source": source,
                "Issues": f"{source}/issues",
            }


class MachineCodeHook(BuildHookInterface[Any]):
    """Compiles the C file of a checkout; puts the extension module into the wheel of a platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Set what the wheel holds, and its tag."""
        if version == "editable":
            problem = compile_c_module(Path(self.root))
            if problem is not None:
                self.app.display_warning(f"{C_FILE} is not compiled: {problem}")
        elif MODULE:
            module = Path(MODULE).resolve()
            build_data["force_include"][str(module)] = f"rosenblatt/{module.name}"
            build_data["sbom_files"] += map(str, module.parent.glob("*.cdx.json"))
            build_data["pure_python"] = False
            build_data["tag"] = f"cp311-abi3-{module.parent.name}"

"""What the wheel is: with the machine code of one platform, with the C file compiled, or for any.

``python -m machine_code`` links kernels and the C file to an extension module, in a folder named by
the tag of its platform. Where ``ROSENBLATT_MODULE`` names it, the wheel holds it. Else numba
compiles kernels when they are used, and the wheel requires it; the wheel holds the C file compiled
for this platform, unless there is no C compiler or ``ROSENBLATT_MODULE`` is "none".
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

C_FILE = "src/rosenblatt/_machine.c"
MODULE = os.environ.get("ROSENBLATT_MODULE", "")
NO_MODULE = "none"


def compile_c_module(source: Path, target: Path) -> str | None:
    """Compile the C file to a module; return why it can't be, or None."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this Python has no stable binary interface."
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").exists():
        return "the headers of Python are not installed."
    digest = f'-DSOURCE_DIGEST="{hashlib.sha256(source.read_bytes()).hexdigest()}"'
    if os.name == "nt":
        names, libraries = ["cl"], Path(sys.base_prefix, "libs")
        options = ["/nologo", "/LD", "/O2", digest.replace("-D", "/D"), f"/I{headers}", str(source)]
        options += [f"/Fe{target}", f"/Fo{target.with_suffix('.obj')}"]
        options += ["/link", f"/LIBPATH:{libraries}"]
    else:
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


class MetadataHook(MetadataHookInterface):
    """Requirements, by whether machine code is brought along, and links to where this is built.

    A workflow knows the address, the sources do not.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        """Set requirements and links."""
        compiler = [] if MODULE not in {"", NO_MODULE} else self.config["compiler"]
        metadata["dependencies"] = self.config["dependencies"] + compiler
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
    """Puts an extension module into the wheel, or beside the C file of a checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Set what the wheel holds, and its tag."""
        if MODULE == NO_MODULE:
            return
        if MODULE:
            module = Path(MODULE).resolve()
            build_data["sbom_files"] += map(str, module.parent.glob("*.cdx.json"))
            platform = module.parent.name
        else:
            self._folder = TemporaryDirectory()
            name = "_machine.pyd" if os.name == "nt" else "_machine.abi3.so"
            source, module = Path(self.root, C_FILE), Path(self._folder.name, name)
            problem = compile_c_module(source, module)
            if problem is not None:
                self.app.display_warning(f"{C_FILE} is not compiled: {problem}")
                return
            if version == "editable":
                shutil.copy(module, source.parent)
                return
            platform = self.build_config.builder.get_best_matching_tag().rpartition("-")[2]
        build_data["force_include"][str(module)] = f"rosenblatt/{module.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform}"

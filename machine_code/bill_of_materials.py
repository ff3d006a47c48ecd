"""What a wheel is made of, as a CycloneDX document that lies in its metadata (PEP 770)."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rosenblatt.version import __version__

TOOLS = ("hatchling", "llvmlite", "numba", "ziglang")
NAME = "rosenblatt.cdx.json"


def write_bill_of_materials(module: Path) -> None:
    """Write beside a module: the package, what the linker adds to it, and what it was made by."""
    package = _of_the_index("rosenblatt", __version__, type="library")
    package |= {"bom-ref": "rosenblatt", "licenses": _licence("BSD-3-Clause")}
    tools = [_of_the_index(tool, version(tool), type="application") for tool in TOOLS]
    added = [{"name": "compiler_rt", "version": version("ziglang"), "licenses": _licence("MIT")}]
    if module.suffix == ".pyd":
        added += [{"name": "mingw-w64", "licenses": _licence("ZPL-2.1")}]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": package, "tools": {"components": tools}},
        "components": [{"type": "library", "bom-ref": one["name"], **one} for one in added],
        "dependencies": [{"ref": "rosenblatt", "dependsOn": [one["name"] for one in added]}],
    }
    module.with_name(NAME).write_text(json.dumps(document, indent=2) + "\n")


def _of_the_index(name: str, release: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "version": release, "purl": f"pkg:pypi/{name}@{release}", **more}


def _licence(name: str) -> list[Any]:
    return [{"license": {"id": name}}]

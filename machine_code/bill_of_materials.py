"""What a wheel is made of, as a CycloneDX document that lies in its metadata (PEP 770)."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rosenblatt.version import __version__

TOOLS = ("hatchling", "llvmlite", "numba", "ziglang")
NAME = "rosenblatt.cdx.json"


def write_bill_of_materials(module: Path) -> None:
    """Write the document of a module beside it."""
    document = bill_of_materials(windows=module.suffix == ".pyd")
    module.with_name(NAME).write_text(json.dumps(document, indent=2) + "\n")


def bill_of_materials(*, windows: bool) -> dict[str, Any]:
    """Return the document: the package, what the linker adds to it, and what it was made by."""
    package = {
        "type": "library",
        "bom-ref": "rosenblatt",
        "name": "rosenblatt",
        "version": __version__,
        "purl": f"pkg:pypi/rosenblatt@{__version__}",
        "licenses": _licence("BSD-3-Clause"),
    }
    tools = [
        {
            "type": "application",
            "name": tool,
            "version": version(tool),
            "purl": f"pkg:pypi/{tool}@{version(tool)}",
        }
        for tool in TOOLS
    ]
    added = [{"name": "compiler_rt", "version": version("ziglang"), "licenses": _licence("MIT")}]
    if windows:
        added += [{"name": "mingw-w64", "licenses": _licence("ZPL-2.1")}]
    components = [{"type": "library", "bom-ref": one["name"], **one} for one in added]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": package, "tools": {"components": tools}},
        "components": components,
        "dependencies": [{"ref": "rosenblatt", "dependsOn": [one["name"] for one in added]}],
    }


def _licence(name: str) -> list[Any]:
    return [{"license": {"id": name}}]

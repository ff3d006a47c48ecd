"""The page around the module: its HTML, and the parts of the module joined into one.

The module is plain ES modules, which a browser could load as they stand. A notebook and a file take
one only, so the parts are joined: lines that import from a sibling are dropped, and the word export
where it stands first. No tool builds anything.
"""

import json
import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from rosenblatt.lab.document import Document

PARTS = (
    "elements.js",
    "address.js",
    "plane.js",
    "editing.js",
    "charts.js",
    "trace_table.js",
    "settings.js",
    "table_chooser.js",
    "transport.js",
    "questions.js",
    "verdict.js",
    "panels.js",
    "lab.js",
)
IMPORT = re.compile(r'^import \{[^}]*\} from "\./\w+\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) )", re.MULTILINE)


def asset(name: str) -> str:
    """Return the text of a file of the page."""
    return (files("rosenblatt.lab") / "assets" / name).read_text(encoding="utf-8")


@cache
def module_text() -> str:
    """Return the module that draws the lab, with ``render`` as anywidget wants it."""
    return "\n".join(EXPORT.sub("", IMPORT.sub("", asset(name))) for name in PARTS)


def style_text() -> str:
    """Return the style sheet."""
    return asset("lab.css")


def shim_text(name: str) -> str:
    """Return what stands in for a notebook: page.js asks a server, file.js a recording."""
    return asset(name)


def icon_text() -> str:
    """Return the icon of the page."""
    return asset("icon.svg")


def page_text(document: Document, token: str) -> str:
    """Return the page that the server serves."""
    given = {"document": document.plain(), "defaults": Document().plain(), "token": token}
    return (
        f"{_head()}"
        '<link rel="icon" href="/icon.svg">\n<link rel="stylesheet" href="/lab.css">\n'
        f"</head>\n<body>\n{data_element('given', given)}"
        '<main id="lab"></main>\n<script type="module" src="/page.js"></script>\n</body>\n</html>\n'
    )


def _head(title: str = "Rosenblatt lab") -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n"
    )


def data_element(name: str, value: Any) -> str:
    """Return values as an element of a page that no text within them can end."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>\n'


def standalone_page(value: Any) -> str:
    """Return a page that needs nothing but itself, for a recording."""
    from base64 import b64encode
    from hashlib import sha256

    module = module_text().replace("export default", "const lab =")
    script = f"\n{module}\n{shim_text('file.js')}".replace("</script", "<\\/script")
    style = f"\n{style_text()}"
    digests = [b64encode(sha256(text.encode()).digest()).decode() for text in (script, style)]
    policy = (
        f"default-src 'none'; script-src 'sha256-{digests[0]}'; style-src 'sha256-{digests[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        f"{_head('Rosenblatt lab: a recorded session')}"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<style>{style}</style>\n</head>\n<body>\n{data_element('recording', value)}"
        f'<main id="lab"></main>\n<script type="module">{script}</script>\n</body>\n</html>\n'
    )

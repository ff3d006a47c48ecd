"""The page: one HTML text with everything in it, as a file or on a site.

The modules in ``assets`` are plain ES modules. A page in one file and a notebook take one text, so
they are joined: each module becomes a function of its own that returns what it exports.
"""

import json
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from rosenblatt.data.atomic import replacing
from rosenblatt.lab.document import Document

IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)


def asset(name: str) -> str:
    """Return the text of a file of the page."""
    return (files("rosenblatt.lab") / "assets" / name).read_text(encoding="utf-8")


@cache
def joined_modules(name: str) -> str:
    """Return a module and all that it imports, each as ``const $name = (() => { … })();``."""
    texts: dict[str, str] = {}

    def join(module: str) -> None:
        text = asset(f"{module}.js")
        for _, other in IMPORT.findall(text):
            if other not in texts:
                join(other)
        names = EXPORT.findall(text)
        body = IMPORT.sub(lambda m: f"const {{{m[1]}}} = ${m[2]};\n", text)
        body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
        texts[module] = (
            f"const ${module} = (() => {{\n{body}\nreturn {{ {', '.join(names)} }};\n}})();"
        )

    join(name)
    return "\n".join(texts.values())


def style_text() -> str:
    """Return the style of the lab with its colours."""
    return asset("colours.css") + asset("lab.css")


def module_text() -> str:
    """Return the module of the widget, with ``render`` as anywidget wants it."""
    return f"{joined_modules('lab')}\nexport default {{ render: $lab.render }};\n"


def page_text(document: Document) -> str:
    """Return the page, which begins with a document and needs nothing but itself."""
    given = {"document": document.plain()}
    # No text within the data can end their element.
    data = json.dumps(given, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    script = f"\n{joined_modules('page')}\n".replace("</script", "<\\/script")
    style = f"\n{style_text()}"
    icon = f"data:image/svg+xml;base64,{b64encode(asset('icon.svg').encode()).decode()}"
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<title>Rosenblatt lab</title>\n<link rel="icon" href="{icon}">\n<style>{style}</style>\n'
        '</head>\n<body class="rosenblatt-page">\n'
        f'<script type="application/json" id="given">{data}</script>\n'
        f'<main id="lab"></main>\n<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def write_page(document: Document, path: str) -> None:
    """Write the page as one file, which works without Python and without a network."""
    with replacing(path) as stream:
        stream.write(page_text(document).encode())

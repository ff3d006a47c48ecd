"""The site: these pages, the live lab, and the reference from docstrings; ``make docs``."""

import json
import os
import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

import rosenblatt
from rosenblatt.lab.page import module_text, page_text, style_text
from rosenblatt.lab.toy_sets import toy_set

project = "Rosenblatt"
version = release = rosenblatt.__version__
html_title = "Rosenblatt"
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
]
exclude_patterns = ["_build"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc has them in words
numpydoc_show_class_members = False  # the template has them, with their docstrings
templates_path = ["templates"]
toc_object_entries_show_parents = "hide"

# Pages with a lab, or the 80 columns of a terminal, take the room of the column on the right, too.
WIDE = [
    "index",
    "compare",
    *(f"learn/{path.stem}" for path in Path(__file__).parent.glob("learn/*.md")),
    *(f"commands/{path.stem}" for path in Path(__file__).parent.glob("commands/*.md")),
]

html_theme = "pydata_sphinx_theme"
html_static_path = ["static"]
html_favicon = "../src/rosenblatt/lab/assets/icon.svg"
html_css_files = ["site.css"]
html_js_files = [("labs.js", {"type": "module"}), ("site.js", {"type": "module"})]
html_search_scorer = str(Path(__file__).parent / "static" / "scorer.js")
copyright = "The authors of Rosenblatt. BSD-3-Clause licence"  # noqa: A001  # so Sphinx calls it
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "logo": {"text": f"Rosenblatt {version}"},
    "header_links_before_dropdown": 8,
    "show_prev_next": True,
    "show_toc_level": 2,  # methods below their class
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"]} | {name: [] for name in WIDE},
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# A workflow knows the address of the source, a checkout does not.
server, repository = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
if server and repository:
    html_theme_options["external_links"] = [{"name": "Source", "url": f"{server}/{repository}"}]
ALONE = ("index", "learn/*", "gallery/*", "glossary", "changelog", "search")
html_sidebars = {name: [] for name in ALONE}  # chapters have a strip on top, others no neighbours
html_context = {"default_mode": "auto"}


class LiveLab(Directive):
    """``{lab} scene page``: a page of a scene as a figure; without them the whole lab."""

    optional_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Leave a place that labs.js fills."""
        scene, page = (*self.arguments, "", "1")[:2] if self.arguments else ("", "1")
        document = "" if scene else escape(json.dumps(toy_set("separable").plain()))
        html = (
            f'<div class="live-lab" data-scene="{scene}" data-page="{page or 1}"'
            f' data-document="{document}">'
            "<noscript>The lab on this page needs JavaScript.</noscript></div>"
        )
        return [nodes.raw("", html, format="html")]


class Chapters(Directive):
    """``{chapters}``: a strip of links to all chapters, in their order."""

    def run(self) -> list[nodes.Node]:
        """Return the strip; the chapter it stands in is marked."""
        here = Path(self.state.document.current_source).stem
        folder = Path(__file__).parent / "learn"
        names = (folder / "index.md").read_text("utf-8").rpartition(":hidden:\n")[2].split()[:-1]
        links = []
        for name in names:
            title = (folder / f"{name}.md").read_text("utf-8").partition("\n")[0].lstrip("# ")
            now = ' aria-current="page"' if name == here else ""
            links.append(f'<a href="{name}.html"{now}>{escape(title)}</a>')
        html = f'<nav class="chapters" aria-label="Chapters">{"".join(links)}</nav>'
        return [nodes.raw("", html, format="html")]


def write_lab(app: Any, failure: Exception | None) -> None:
    """Put the lab beside the pages: as a module for them, and as a page of its own."""
    if failure is not None or app.builder.name != "html":
        return
    out = Path(app.outdir)
    (out / "_static" / "lab.js").write_text(module_text(), encoding="utf-8")
    (out / "_static" / "lab.css").write_text(style_text(), encoding="utf-8")
    (out / "play.html").write_text(page_text(toy_set("separable")), encoding="utf-8")


def add_synonyms(app: Any, doctree: nodes.document) -> None:
    """Let a page be found by what others call its subject; the list stands beside the scorer."""
    text = Path(html_search_scorer).read_text("utf-8")
    synonyms = json.loads(re.search(r"(?s)const SYNONYMS = (\{.*?\n\});", text)[1])  # type: ignore[index]
    words = synonyms.get(app.env.docname, [])
    if words:
        found = ",".join(one for word in words for one in (word, *re.findall(r"\w+", word)))
        doctree.insert(0, nodes.meta("", name="keywords", content=found))


def skip_member(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class has from other packages: their pages describe it."""
    del app, what, name, skip, options
    home = getattr(getattr(obj, "fget", obj), "__module__", None)
    return None if home is not None and home.startswith("rosenblatt") else True


def setup(app: Any) -> dict[str, bool]:
    """Register the directive and the hook."""
    app.add_directive("lab", LiveLab)
    app.add_directive("chapters", Chapters)
    app.connect("doctree-read", add_synonyms)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("build-finished", write_lab)
    return {"parallel_read_safe": True}

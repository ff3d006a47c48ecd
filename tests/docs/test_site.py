"""The site: whole, static, and accessible."""

import functools
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

from tests.lab.browser import chromium, new_context

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PUBLIC = ("", ".plots", ".report", ".lab", ".service", ".distributed")
KINDS = (  # a page of each kind
    "index.html",
    "learn/index.html",
    "learn/order.html",
    "use.html",
    "commands/train.html",
    "files.html",
    "reproduction.html",
    "api.html",
    "generated/rosenblatt.Perceptron.html",
    "generated/rosenblatt.plots.write_picture.html",
    "gallery/README.html",
    "start.html",
    "choose.html",
    "teach.html",
    "glossary.html",
    "changelog.html",
    "search.html",
    "play.html",
)


def pages() -> list[Path]:
    """Return the sources of the site, without what Sphinx writes beside them."""
    return sorted(DOCS.rglob("*.md"))


def test_every_page_is_in_the_contents() -> None:
    """Each page stands in exactly one table of contents, so that nobody has to guess it."""
    listed = []
    for page in pages():
        for tree in re.findall(r"(?ms)^```\{toctree\}\n(.*?)^```", page.read_text("utf-8")):
            lines = [line for line in tree.splitlines() if line and not line.startswith(":")]
            names = [re.sub(r".*<(.*)>", r"\1", line) for line in lines]
            listed += [(page.parent / f"{name}.md").resolve() for name in names]
    assert sorted(listed) == sorted(set(pages()) - {DOCS / "index.md"})


def test_quoted_code_is_there() -> None:
    """What a page quotes of the source stands in that file, under that name."""
    quote = re.compile(r"\{literalinclude\} (\S+)\n:pyobject: (\S+)\n:caption: (\S+)\n")
    quotes = [
        (page, *found) for page in pages() for found in quote.findall(page.read_text("utf-8"))
    ]
    assert len(quotes) > 5
    for page, file, name, caption in quotes:
        source = (page.parent / file).resolve()
        assert source == ROOT / "src" / caption
        assert re.search(rf"(def|class) {name.rpartition('.')[2]}\b", source.read_text("utf-8"))


def test_links_between_files() -> None:
    """Each link to a file, from the docs and the README, leads to one."""
    for page in [*pages(), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        text = re.sub(r"(?ms)^```.*?^```", "", page.read_text("utf-8"))
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if urlsplit(target).scheme or target.startswith("#"):
                continue
            assert (page.parent / urldefrag(target).url).exists(), (page.name, target)


def test_every_public_name_has_a_reference() -> None:
    """What a module says is public stands in the reference, under its name."""
    text = "\n".join(page.read_text("utf-8") for page in sorted((DOCS / "api").glob("*.md")))
    listed = {
        f"{module}.{name}"
        for module, names in re.findall(
            r"(?s)currentmodule:: (\S+)\n(.*?)(?=currentmodule|\Z)", text
        )
        for name in re.findall(r"(?m)^   (\w+)$", names)
    }
    public = {
        f"rosenblatt{part}.{name}"
        for part in PUBLIC
        for name in importlib.import_module(f"rosenblatt{part}").__all__
    }
    assert listed == public


def synonyms() -> dict[str, list[str]]:
    """Return what people ask for under another name, by the page that answers."""
    text = (DOCS / "static" / "scorer.js").read_text("utf-8")
    found: dict[str, list[str]] = json.loads(text.partition("SYNONYMS = ")[2].partition(";\n")[0])
    return found


def test_synonyms_lead_to_a_page() -> None:
    """What others call a subject leads to one page, which is there."""
    for name in synonyms():
        assert (DOCS / f"{name}.md").exists(), name
    words = [word.casefold() for some in synonyms().values() for word in some]
    assert len(words) == len(set(words))


class Links(HTMLParser):
    """The addresses that a page names, and the places in it that have a name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element leads to and is called."""
        given = dict(attrs)
        self.names.update(filter(None, (given.get("id"), given.get("name"))))
        self.targets += [v for v in (given.get("href"), given.get("src")) if v and tag != "form"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; a warning is an error."""
    pytest.importorskip("pydata_sphinx_theme", reason="pip install --group docs")
    out = tmp_path_factory.mktemp("site")
    shutil.rmtree(DOCS / "generated", ignore_errors=True)  # pages of names that are gone
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", DOCS, out],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.explore
def test_every_link_leads_somewhere(site: Path) -> None:
    """Each link within the site leads to a page that is there, and to a place on it."""
    found = {path: Links(path.read_text("utf-8")) for path in site.rglob("*.html")}
    for path, links in found.items():
        if path.name in ("webpack-macros.html", "play.html"):
            continue
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme:
                assert parts.scheme in ("http", "https", "mailto", "data"), (path, target)
                continue
            where, place = urldefrag(urljoin(path.relative_to(site).as_posix(), target))
            there = path if not parts.path else site / unquote(urlsplit(where).path)
            assert there.exists(), (path, target)
            if place and there.suffix == ".html" and there.name != "play.html":  # the lab's own
                assert unquote(place) in found[there].names, (path, target)


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_: Any) -> None:
        """Keep silent."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Serve the site as any server of files would."""
    handler = functools.partial(QuietHandler, directory=site)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.explore
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_in_a_browser(address: str, scheme: str, width: int) -> None:
    """A page of each kind is silent and accessible, asks no other host, and its lab computes."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    with chromium() as browser:
        page = new_context(browser, color_scheme=scheme).new_page()
        page.set_viewport_size({"width": width, "height": 844})
        troubles: list[str] = []
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda m: troubles.extend([m.text] if m.type == "error" else []))
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        for name in KINDS:
            page.goto(address + name)
            if name in ("index.html", "play.html") or name.startswith("learn/o"):
                page.wait_for_selector(".sentence:not(:empty)")
                page.click("[data-way=step]")
                page.wait_for_function("document.querySelector('.scrub input').value > 0")
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, name
            assert (name, troubles) == (name, [])
            found = axe.Axe().run(page).response["violations"]
            assert [(name, rule["id"], rule["nodes"][0]["html"][:200]) for rule in found] == []
            troubles.clear()  # axe looks for style sheets that are not there
        page.goto(f"{address}search.html?q=averaged+perceptron")
        page.wait_for_selector("#search-results li a")
        assert "AveragedPerceptron" in page.locator("#search-results li a").first.inner_text()
        for query, title in (
            ("shap", "explain"),
            ("confusion+matrix", "Pictures"),
            ("csv", "Files"),
        ):
            page.goto(f"{address}search.html?q={query}")
            page.wait_for_selector("#search-results li a")
            assert title in page.locator("#search-results li a").first.inner_text()
        page.goto(f"{address}index.html")
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        for mark, typed in ((">>> ", "from rosenblatt import"), ("$ ", "rosenblatt train")):
            page.locator(".highlight", has_text=mark).first.locator(".copy-code").click()
            copied = page.evaluate("navigator.clipboard.readText()")
            assert typed in copied
            assert mark not in copied
        assert troubles == []
        assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


@pytest.mark.explore
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_every_page_opens(site: Path, address: str, width: int) -> None:
    """Each page opens without an error, and none is wider than the window."""
    with chromium() as browser:
        page = new_context(browser).new_page()
        page.set_viewport_size({"width": width, "height": 844})
        troubles: list[str] = []
        page.on("pageerror", lambda error: troubles.append(str(error)))
        for path in sorted(site.rglob("*.html")):
            name = path.relative_to(site).as_posix()
            if name.startswith("_static/"):
                continue
            page.goto(address + name)
            excess = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert (name, troubles, excess <= 0) == (name, [], True)

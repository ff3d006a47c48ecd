"""The page is one text, the same wherever it is shown."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from rosenblatt.lab.page import joined_modules, module_text, page_text, write_page
from rosenblatt.lab.toy_sets import toy_set


def test_every_module_is_in_it() -> None:
    """Each module is joined once, after those that it imports, and none is left over."""
    names = [path.name[:-3] for path in _assets() if path.name.endswith(".js")]
    text = joined_modules("page")
    for name in names:
        assert text.count(f"const ${name} = (() => {{") == 1
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)
    for user, used in re.findall(
        r"const \$(\w+) = \(\(\) => \{\n(.*?)\n\}\)\(\);", text, re.DOTALL
    ):
        for other in re.findall(r"\} = \$(\w+);", used):
            assert text.index(f"const ${other} =") < text.index(f"const ${user} =")


def _assets() -> list[Path]:
    return [Path(str(path)) for path in (files("rosenblatt.lab") / "assets").iterdir()]


def test_widget_module() -> None:
    """The module of the widget is the same without the page around it."""
    text = module_text()
    assert text.endswith("export default { render: $lab.render };\n")
    assert "$page" not in text


def test_policy() -> None:
    """The policy lets in the page's own script and style, by their digests, and nothing else."""
    text = page_text(toy_set("xor"))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    for tag, pattern in {
        "script": r'<script type="module">(.*?)</script>',
        "style": r"<style>(.*?)</style>",
    }.items():
        found = re.findall(pattern, text, re.DOTALL)
        assert len(found) == 1
        digest = b64encode(sha256(found[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1]
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", text)


def test_data_cannot_end_their_element() -> None:
    """A name of a column is data in the page, whatever it is called."""
    document = replace(toy_set("xor"), names=("</script><script>alert(1)", "y"))
    text = page_text(document)
    data = re.search(r'id="given">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["document"] == document.plain()


def test_written_file(tmp_path: Path) -> None:
    """The file is the page."""
    path = tmp_path / "lab.html"
    write_page(toy_set("xor"), str(path))
    assert path.read_text(encoding="utf-8") == page_text(toy_set("xor"))

import re
from collections import Counter

from rosenblatt.lab.page import PARTS, asset, data_element, module_text, page_text, style_text
from rosenblatt.lab.toy_sets import toy_set


def test_joined_module() -> None:
    """The parts join to one module that imports nothing and exports what anywidget wants."""
    module = module_text()
    assert not re.search(r"^import\b", module, re.MULTILINE)
    assert re.findall(r"^export .*", module, re.MULTILINE) == ["export default { render };"]
    names = re.findall(r"^(?:async )?(?:function|const|class|let) (\w+)", module, re.MULTILINE)
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_imports_name_what_there_is() -> None:
    """What a part imports another exports, and stands before it."""
    exported: dict[str, set[str]] = {}
    for name in PARTS:
        text = asset(name)
        for names, source in re.findall(
            r'^import \{([^}]*)\} from "\./(\w+\.js)";', text, re.MULTILINE
        ):
            assert {word.strip() for word in names.split(",")} <= exported[source], name
        exported[name] = set(
            re.findall(r"^export (?:async )?(?:function|const|class) (\w+)", text, re.MULTILINE)
        )


def test_nothing_comes_from_elsewhere() -> None:
    """No part names an address but that of SVG, which is a name and not a place."""
    texts = [module_text(), style_text(), asset("page.js"), asset("file.js"), asset("icon.svg")]
    texts.append(page_text(toy_set("xor"), "token"))
    addresses = {
        found for text in texts for found in re.findall(r"(?:https?:)?//[\w.]+[^\s\"')]*", text)
    }
    assert {found for found in addresses if found.startswith("http")} == {
        "http://www.w3.org/2000/svg"
    }
    assert "@import" not in style_text()
    assert "url(" not in style_text()


def test_data_cannot_end_their_element() -> None:
    """No name that a user gives can become markup."""
    text = data_element("given", {"names": ["</script><script>alert(1)</script>", "<!--"]})
    assert text.count("<") == 2
